//! UDT's profiles, and the rules in which the author's agents differ.

use crate::units::{BitRate, Packets};

/// Which UDT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// What daimd states, and release 1.1 without the mistakes of its code where daimd is silent.
    Paper,
    /// The author's ns-2 agent of release 1.1 (2003).
    Release11,
    /// That of release 2.0 (2004).
    Release20,
    /// That of release 2.2 (2006).
    Release22,
    /// Rules of the releases, chosen because they come nearest to the printed tables of daimd.
    Fitted,
    /// The library libudt 4.11.
    Udt4,
}

/// The rules in which the releases of the author's ns-2 agent differ, for sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Habits {
    /// The packet that an acknowledgement names.
    pub acknowledge: Acknowledge,
    /// The interval between reports of a missing packet.
    pub naks: Naks,
    /// Which NAKs cut.
    pub cuts: AgentCuts,
    /// The packets that the window limits.
    pub counts: Counts,
    /// The capacity is smoothed (7/8 old, 1/8 new); otherwise the newest report counts.
    pub smooths_capacity: bool,
    /// When the rate grows.
    pub grows: Grows,
    /// By how much the rate grows.
    pub step: Step,
    /// The conditions under which a packet leaves at once.
    pub at_once: AtOnce,
    /// The receiver warns of a rising delay, which cuts.
    pub delay_warnings: bool,
    /// The first NAK of an epoch is ignored once where it names fewer than two packets.
    pub forgives_single: bool,
    /// The first NAK of an epoch pauses the sender for a SYN.
    pub pauses: bool,
    /// The rate before each NAK counts as that before the last cut, whether the NAK cuts or not.
    pub remembers_each_nak: bool,
    /// Slow start sets the sending interval to that of the arrivals.
    pub slow_start_paces: bool,
    /// When the sending interval is bounded by the round trip.
    pub bound: Bound,
    /// While the window is full the sender waits for an ACK or a NAK; otherwise its timer goes on.
    pub stops_when_full: bool,
    /// The rate grows by 1/S packets per SYN at least, S bytes being the size of a packet; otherwise by no more than [`step`](Self::step).
    pub floors: bool,
    /// The window of eq. 21 is rounded up to whole packets.
    pub whole_window: bool,
    /// A NAK names its packets one by one, 300 at most, of which 75 arrive whole; otherwise as a range.
    pub lists_numbers: bool,
    /// Of a NAK whose first packet is acknowledged meanwhile, the last packet alone is taken.
    pub takes_last_of_old: bool,
    /// The removal of acknowledged packets from the list of lost ones skips every other entry.
    pub skips_entries: bool,
    /// Sorting the gaps of pairs takes gaps between arrivals for some of them.
    pub mixes_gaps: bool,
    /// The initial values, and the timeout.
    pub constants: Constants,
}

/// The packet that an acknowledgement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an agent has a rule for each")]
pub enum Acknowledge {
    /// The first packet missing.
    Cumulative,
    /// The packet after the highest that arrived, over any holes.
    OverHoles,
}

/// The interval between reports of a missing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naks {
    /// Once, as the gap is seen.
    Once,
    /// Again after a round trip, for as long as it is missing, and a repeated report may cut.
    Repeated,
    /// As [`Repeated`](Self::Repeated), and a repeated report never cuts.
    RepeatedUncut,
}

/// Which NAKs cut the rate. An epoch starts with a cut and ends with the loss of a packet sent after it; the first NAK of an epoch
/// always cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentCuts {
    /// All.
    PerNak,
    /// The first of each SYN.
    PerInterval,
    /// The first of each epoch alone.
    PerEpoch,
    /// Then the 18th, and later ones after 4, 8, 16, … more; the epoch stays (1.1).
    Doubling,
    /// Then each of a number drawn with the first, from 1 to a running mean; each starts an epoch (2.0).
    Random20,
    /// Then each of a number drawn with the first around a running mean of NAKs per epoch; each starts an epoch (2.2).
    Random22,
}

/// The packets that the window limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an agent has a rule for each")]
pub enum Counts {
    /// Everything from the first packet that is not acknowledged.
    Unacknowledged,
    /// Outstanding packets that were not reported missing and are not known to have arrived.
    InFlight,
}

/// When the rate grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grows {
    /// Every SYN, unless as many packets were reported lost in it as were sent (1.1).
    PerSyn,
    /// Every SYN with an acknowledgement and no loss; an acknowledgement counts for later SYNs until the rate grows (2.0).
    PerQuietSyn,
    /// Every SYN with an acknowledgement and without a NAK or a delay warning (daimd section II).
    PerCleanSyn,
    /// With every acknowledgement that advances (2.2).
    PerAck,
}

/// By how much the rate grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// daimd eq. 8.
    Eq8,
    /// Below the rate before the last cut as if a ninth of the capacity were spare, above it ten times eq. 8 (1.1).
    Ninth11,
    /// Below the rate before the last cut as if at most a ninth of the capacity were spare (2.0).
    Ninth20,
}

/// The conditions under which a packet leaves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtOnce {
    /// Nothing.
    Never,
    /// A NAK.
    Nak,
    /// A NAK, and an ACK that advances.
    AckAndNak,
}

/// When the sending interval is bounded by the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// Never.
    Never,
    /// After an ACK, which then lets a packet leave at once.
    Ack,
    /// After an ACK, which then lets a packet leave at once, and after a NAK.
    AckAndNak,
}

/// The free choices of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choices {
    /// The capacity of the path, or the wanted part of it; measured by packet pairs if none.
    pub capacity: Option<BitRate>,
    /// The window grows by the packets acknowledged, without pacing, until the first loss.
    pub slow_start: bool,
    /// The window at the start; that of the profile if none.
    pub initial_window: Option<Packets>,
    /// The rate at the start, where that is not slow start; one packet per SYN if none.
    pub initial_rate: Option<BitRate>,
    /// The least increase per SYN; that of the profile if none.
    pub floor: Option<Packets>,
    /// The share of the old window in eq. 21, above 0 and below 1.
    pub lambda: f64,
}

impl Default for Choices {
    fn default() -> Self {
        Self { capacity: None, slow_start: true, initial_window: None, initial_rate: None, floor: None, lambda: 0.875 }
    }
}

impl Habits {
    /// Release 1.1.
    pub const RELEASE_1_1: Self = Self {
        acknowledge: Acknowledge::Cumulative,
        naks: Naks::Repeated,
        cuts: AgentCuts::Doubling,
        counts: Counts::Unacknowledged,
        smooths_capacity: false,
        grows: Grows::PerSyn,
        step: Step::Ninth11,
        at_once: AtOnce::Never,
        delay_warnings: true,
        forgives_single: true,
        pauses: true,
        remembers_each_nak: false,
        slow_start_paces: true,
        bound: Bound::Never,
        stops_when_full: false,
        floors: true,
        whole_window: true,
        lists_numbers: true,
        takes_last_of_old: false,
        skips_entries: true,
        mixes_gaps: true,
        constants: Constants::Early,
    };

    /// Release 2.0.
    pub const RELEASE_2_0: Self = Self {
        cuts: AgentCuts::Random20,
        grows: Grows::PerQuietSyn,
        step: Step::Ninth20,
        at_once: AtOnce::Nak,
        delay_warnings: false,
        forgives_single: false,
        remembers_each_nak: true,
        slow_start_paces: false,
        bound: Bound::Ack,
        ..Self::RELEASE_1_1
    };

    /// Release 2.2.
    pub const RELEASE_2_2: Self = Self {
        acknowledge: Acknowledge::OverHoles,
        naks: Naks::Once,
        cuts: AgentCuts::Random22,
        smooths_capacity: true,
        grows: Grows::PerAck,
        step: Step::Eq8,
        at_once: AtOnce::AckAndNak,
        bound: Bound::AckAndNak,
        stops_when_full: true,
        lists_numbers: false,
        takes_last_of_old: true,
        skips_entries: false,
        mixes_gaps: false,
        constants: Constants::Late,
        ..Self::RELEASE_2_0
    };

    /// What daimd states; what it leaves open as in release 1.1, without the mistakes of its code. `papers/daimd/profile.toml` has the
    /// sentence or the reason of each rule.
    pub const PAPER: Self = Self {
        cuts: AgentCuts::PerNak,
        grows: Grows::PerCleanSyn,
        step: Step::Eq8,
        forgives_single: false,
        pauses: false,
        floors: false,
        whole_window: false,
        lists_numbers: false,
        skips_entries: false,
        mixes_gaps: false,
        ..Self::RELEASE_1_1
    };

    /// The nearest to the printed tables of daimd among the candidates of `papers/daimd/fitting.toml`: release 2.2 with the cuts and the
    /// clock of growth of release 1.1. No text of the author has it.
    pub const FITTED: Self = Self { cuts: AgentCuts::Doubling, grows: Grows::PerSyn, ..Self::RELEASE_2_2 };
}

/// The initial values and the timeout of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constants {
    /// To 2.0.
    Early,
    /// From 2.1 on.
    Late,
}

impl Constants {
    /// The window at the start, packets.
    #[must_use]
    pub const fn window(self) -> f64 {
        match self {
            Self::Early => 1.0,
            Self::Late => 2.0,
        }
    }

    /// The round trip, in seconds, before the first sample.
    #[must_use]
    pub const fn rtt(self) -> f64 {
        match self {
            Self::Early => 0.01,
            Self::Late => 1.0,
        }
    }

    /// Seconds that gaps between arrivals and those of pairs are before they are measured.
    #[must_use]
    pub const fn gaps(self) -> (f64, f64) {
        match self {
            Self::Early => (0.0, 0.0),
            Self::Late => (1.0, 1000.0),
        }
    }

    /// Seconds without an acknowledgement or a NAK after which all unacknowledged packets count as lost; at first, and later. None: twice
    /// the round trip and a SYN, with the timer running from the time 0.
    #[must_use]
    pub const fn timeouts(self) -> Option<(f64, f64)> {
        match self {
            Self::Early => None,
            Self::Late => Some((1.01, 1.0)),
        }
    }
}
