//! The states and their gains: the table of section 5.6.1.

/// `BBR.state`. The numbers are those of the internal `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup = 0,
    Drain = 1,
    Down = 2,
    Cruise = 3,
    Refill = 4,
    Up = 5,
    ProbeRtt = 6,
}

impl State {
    /// `BBR.pacing_gain`. The pseudocode assigns the gains of some states only; the table has those of all.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// `BBR.cwnd_gain`.
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => 2.0,
        }
    }

    /// Section 5.3.3.9, `IsInAProbeBWState`.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Section 5.3.3.9, `IsProbingBW`.
    pub(super) const fn is_probing_bw(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// `BBR.StartupPacingGain`, 4 ln 2 as the draft rounds it.
pub(super) const STARTUP_PACING_GAIN: f64 = 2.77;
/// `BBR.ProbeRTTCwndGain`.
pub(super) const PROBE_RTT_CWND_GAIN: f64 = 0.5;
