//! The behaviour of an era, as data.

use crate::signal::View;

/// The growth of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlowStart {
    /// One packet per packet acknowledged (RFC 5681 section 3.1).
    Standard,
    /// About `max_threshold / 2` packets per round trip once the window passes `max_threshold` (RFC 3742 section 2); its
    /// rounding makes that up to 1.5 times as much.
    Limited {
        /// Packets, at least 1; 100 is the RFC's recommendation.
        max_threshold: u32,
    },
    /// HyStart++ (RFC 9406): the first slow start ends where the round-trip time rises, after a few careful rounds to make sure.
    HyStart,
    /// SEARCH (draft-chung-ccwg-search-09): the first slow start ends where less arrives than was sent one round trip before.
    Search,
}

/// When the shell halves the window instead of calling the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstCut {
    /// Never: the rule decides every cut.
    Rule,
    /// In slow start and at the very first decrease, a timeout's included (ns-2's `slowdown()`).
    Half,
}

/// How far a window may grow that is not used, because the application or the receiver holds the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimited {
    /// As if it were used (RFC 5681 section 3.1 has no limit; ns-2).
    None,
    /// Not at all (RFC 9002 section 7.8, RFC 9438 section 5.8, RFC 7661 section 4.4).
    Rfc9002,
    /// As in Linux since 3.16 (`tcp_is_cwnd_limited`): in slow start up to twice the largest flight of the last window of data, in congestion
    /// avoidance only after a flight that filled the window.
    Linux,
    /// Up to what one window of the largest flight since the last reduction would make of it (draft-ietf-ccwg-ratelimited-increase section 3).
    Draft11,
}

impl RateLimited {
    /// Every policy.
    pub const ALL: [Self; 4] = [Self::None, Self::Rfc9002, Self::Linux, Self::Draft11];

    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rfc9002 => "rfc9002",
            Self::Linux => "linux",
            Self::Draft11 => "draft-11",
        }
    }

    /// The policy called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// The behaviour of an era, as data: what simulators and standards changed over the years around unchanged algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The growth of slow start.
    pub slow_start: SlowStart,
    /// When the shell halves the window instead of calling the rule.
    pub first_cut: FirstCut,
    /// A timeout's threshold is half the window whatever the rule, at each expiry (ns-2); otherwise it is the rule's cut, at the
    /// first expiry for a packet (RFC 5681 section 3.1, RFC 9438 section 4.8).
    pub timeout_halves: bool,
    /// A window is truncated to whole packets before and after a cut (ns-2 before January 2006, `precisionReduce_` off).
    pub truncate: bool,
    /// How far a window grows that is not used. Rates do not grow then, except where windows do so without limit.
    pub rate_limited: RateLimited,
    /// A restart window after an idle time (RFC 5681 section 4.1), and cuts of the part of the window that is used (equation 4); ns-2 has
    /// neither.
    pub validate: bool,
    /// Growth counts acknowledgements (ns-2) instead of packets acknowledged (RFC 5681, byte counting).
    pub per_ack: bool,
    /// The least window that a loss leaves, or a rise of the delay, packets; a timeout leaves one. Two (RFC 5681 equation 4, RFC 9438
    /// section 4.6): a single packet would wait for the delayed acknowledgement. ns-2 has one.
    pub loss_floor: u8,
    /// The least window that a mark leaves, packets: one where the timer then paces the sender (RFC 3168 section 6.1.2, RFC 9438 section 4.6),
    /// two in Linux.
    pub mark_floor: u8,
}

impl Policy {
    /// As the current RFCs require.
    pub const MODERN: Self = Self {
        slow_start: SlowStart::Standard,
        first_cut: FirstCut::Rule,
        timeout_halves: false,
        truncate: false,
        rate_limited: RateLimited::Rfc9002,
        validate: true,
        per_ack: false,
        loss_floor: 2,
        mark_floor: 1,
    };

    /// Whether senders without a window of the shell keep their rate while the application or the receiver holds them. The limit of
    /// draft-ietf-ccwg-ratelimited-increase section 3.2.1 then holds too: their rate is not above the one before.
    #[must_use]
    pub fn holds_rates(&self) -> bool {
        self.rate_limited != RateLimited::None
    }

    /// Whether no rate may grow on what `view` reports: the application or the receiver held the sender, which therefore used less
    /// than its algorithm allowed (RFC 7661 section 4.4, RFC 9002 section 7.8).
    #[inline]
    #[must_use]
    pub fn withholds_growth(&self, view: &View) -> bool {
        self.holds_rates() && view.is_underused()
    }
}
