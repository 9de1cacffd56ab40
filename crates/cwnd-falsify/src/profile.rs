//! Profiles: the paths that are plausible at one place.

/// Which paths are plausible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Access over cable, DSL or fibre, with Wi-Fi: 5 to 50 Mbit/s, 10 to 100 ms.
    Home,
    /// Cellular access: 2 to 40 Mbit/s, 30 to 150 ms, deep queues.
    Mobile,
    /// Links within a building: 0.1 to 1 Gbit/s, 0.1 to 2 ms. Runs take 1 s.
    Datacentre,
    /// Satellites in low and geostationary orbits: 1 to 20 Mbit/s, 25 to 700 ms. Runs take 40 s.
    Satellite,
    /// Whatever can be built: 0.5 to 50 Mbit/s, 1 to 500 ms, queues of 0.05 to 20 bandwidth-delay products.
    Anything,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Home, Self::Mobile, Self::Datacentre, Self::Satellite, Self::Anything];

    /// Its name in commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Mobile => "mobile",
            Self::Datacentre => "datacentre",
            Self::Satellite => "satellite",
            Self::Anything => "anything",
        }
    }

    /// The profile called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Seconds of a run.
    pub(crate) const fn duration(self) -> f64 {
        match self {
            Self::Datacentre => 1.0,
            Self::Satellite => 40.0,
            Self::Home | Self::Mobile | Self::Anything => 20.0,
        }
    }
}
