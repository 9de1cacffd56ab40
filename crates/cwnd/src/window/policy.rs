//! The behaviour of an era, as data.

use crate::signal::View;

/// The growth of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// When the shell halves the window instead of calling the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstCut {
    /// Never: the rule decides every cut.
    Rule,
    /// In slow start and at the very first decrease, a timeout's included (ns-2's `slowdown()`).
    Half,
}

/// The behaviour of an era, as data: what simulators and standards changed over the years around unchanged algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// No growth while the source or the receiver holds the sender (RFC 9002 section 7.8), of rates as of windows, and a restart window
    /// after an idle time (RFC 5681 section 4.1); ns-2 grows on.
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
        validate: true,
        per_ack: false,
        loss_floor: 2,
        mark_floor: 1,
    };

    /// Whether nothing may grow on what `view` reports: the application or the receiver held the sender, which therefore used less
    /// than its algorithm allowed (RFC 7661 section 4.4, RFC 9002 section 7.8).
    #[inline]
    #[must_use]
    pub fn withholds_growth(&self, view: &View) -> bool {
        self.validate && view.is_underused()
    }
}
