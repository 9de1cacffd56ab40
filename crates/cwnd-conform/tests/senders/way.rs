//! The ways to be right, and the ways to be wrong.

use cwnd::Span;
use cwnd_conform::Law;

/// A way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The window is reduced for the first loss and for none after it.
    LaterLossesIgnored,
    /// No loss reduces the window but a timeout.
    LossesIgnored,
    /// Each loss of a window reduces it again.
    LossesOfOneWindow,
    /// The window grows while a loss is repaired.
    GrowsInRecovery,
    /// The last packet sent before a cut counts as sent after it.
    RecoveryEndsEarly,
    /// The first packet sent after a cut counts as sent before it.
    RecoveryEndsLate,
    /// No mark reduces the window.
    MarksIgnored,
    /// A mark reduces the window once, and no later one does.
    LaterMarksIgnored,
    /// CUBIC's target is the curve of now, not the one a round trip ahead.
    TargetOfNow,
    /// CUBIC's target has no bound.
    TargetUnbounded,
    /// CUBIC's first curve after a timeout aims at the maximum before it.
    TimeoutKeepsMaximum,
    /// CUBIC's first curve after a timeout has its middle at no packets.
    TimeoutZeroMaximum,
    /// CUBIC's estimate of Reno goes on from the last epoch.
    FriendlyKept,
    /// A timeout leaves the window as a loss does.
    TimeoutKeepsWindow,
    /// After a timeout slow start has no threshold.
    TimeoutForgetsThreshold,
    /// After a pause slow start has no threshold.
    RestartForgetsThreshold,
    /// After a pause the threshold is the restart window.
    RestartLowersThreshold,
    /// After a pause the window is the one before.
    RestartKeepsWindow,
    /// An undo restores all but the threshold.
    UndoForgetsThreshold,
    /// An undo restores all but CUBIC's curve.
    UndoForgetsCurve,
    /// An undo doubles the window.
    UndoDoubles,
    /// Paced at one window per round trip in slow start too.
    PacedWithoutGain,
    /// In congestion avoidance the window grows although it is not used.
    UnusedGrows,
    /// No loss in the slow start after a timeout reduces the window.
    LossAfterTimeoutIgnored,
    /// The slow start after a timeout grows by two packets for each one acknowledged.
    TwiceAfterTimeout,
    /// A loss leaves half of the window, also of one of which little is in flight.
    ThresholdOfWindow,
    /// No loss leaves less than ten packets.
    CutToTen,
    /// After a pause the window is the initial one, also where it was smaller.
    RestartRaises,
    /// A millisecond without data is a pause.
    RestartAtOnce,
    /// It panics at the third loss.
    Panics,
    /// The bound of the window is infinite from 64 packets on, and is what it returns.
    WindowUnbounded,
}

/// How congestion takes the window to what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    AtOnce,
    /// By a part of a packet for each packet acknowledged, over a round trip (RFC 9002 section 7.3.2).
    Proportional,
    /// The same in whole packets, rounded up (RFC 6937, RFC 9937).
    Prr,
    /// By a packet for each second acknowledgement.
    Halving,
}

/// What correct senders do in different ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) law: Law,
    /// The least timeout of its host, and of its own restart.
    pub(crate) least_timeout: Span,
    /// Packets that an acknowledgement of its host is for.
    pub(crate) acks: u32,
    pub(crate) paced: bool,
    /// Windows are whole packets, and what is missing to the next one is counted.
    pub(crate) whole: bool,
    /// CUBIC as in RFC 8312.
    pub(crate) rfc8312: bool,
    pub(crate) reduction: Reduction,
    /// An acknowledgement adds min(N, SMSS), for however many packets it is (RFC 5681 section 3.1).
    pub(crate) per_ack: bool,
    pub(crate) fault: Option<Fault>,
}

impl Way {
    pub(crate) fn of(law: Law) -> Self {
        Self {
            law,
            least_timeout: Span::from_secs(1),
            acks: 1,
            paced: false,
            whole: false,
            rfc8312: false,
            reduction: Reduction::AtOnce,
            per_ack: false,
            fault: None,
        }
    }
}
