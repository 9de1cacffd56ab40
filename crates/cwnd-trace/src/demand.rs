//! What a flow would carry alone.

/// The most that a flow would carry alone, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// It has no bound.
    #[default]
    Unbounded,
    /// Rates one after the other; the first holds from the start of the run on.
    Stages(Vec<DemandStage>),
    /// It has a bound that changes too often to be written down.
    Measured,
}

/// A rate that holds until the next stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DemandStage {
    /// From when on, nanoseconds since the start of the run.
    pub from: u64,
    /// Bit/s on the wire.
    pub rate: u64,
}

impl Demand {
    /// Always `rate`, bit/s on the wire.
    #[must_use]
    pub fn constant(rate: u64) -> Self {
        Self::Stages(vec![DemandStage { from: 0, rate }])
    }
}
