//! The rules of a window sender by Reno (RFC 5681), CUBIC (RFC 9438) and the `NewReno` of QUIC (RFC 9002). Each number and each choice is a
//! field: a wrong sender is a right one with one field changed.

use std::sync::Arc;

use cwnd::{Ack, Limit, Span, Spec};
use cwnd_conform::{Host, Law, Subject};

use super::sender::Make;

/// A sender that is written from its RFC alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// RFC 9002, paced. What its host does after a timeout stands for persistent congestion.
    Quic,
    /// RFC 9002 without pacing.
    Burst,
    /// RFC 5681 with the slow start of RFC 9406.
    HyStart,
    /// RFC 5681 with draft-ietf-ccwg-ratelimited-increase.
    Limited,
    /// RFC 9438 with it.
    LimitedCubic,
}

/// All that a sender does.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) law: Law,
    pub(crate) host: Host,
    /// Probes stand in the place of the retransmission timeout.
    pub(crate) quic: bool,
    /// Windows are whole packets, and the fractions are counted up to the next packet.
    pub(crate) whole: bool,
    pub(crate) rfc8312: bool,
    pub(crate) growth: Growth,
    pub(crate) curve: Curve,
    pub(crate) cut: Cut,
    pub(crate) timeout: Timeout,
    pub(crate) restart: Restart,
    pub(crate) undo: Undo,
    pub(crate) pacing: Pacing,
    pub(crate) hystart: Option<HyStart>,
    /// By draft-ietf-ccwg-ratelimited-increase, in place of `growth.unused`.
    pub(crate) flights: Option<Flights>,
}

/// The first window, slow start, and Reno's congestion avoidance.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    /// The first window over the one that the host gives.
    pub(crate) initial: f64,
    /// The threshold before any congestion, packets.
    pub(crate) threshold: f64,
    /// Packets per packet that is counted, in slow start.
    pub(crate) ramp: f64,
    /// Packets per packet that is counted, in slow start after a timeout.
    pub(crate) ramp_again: f64,
    /// Packets per round trip in congestion avoidance.
    pub(crate) increase: f64,
    /// The packets for which an acknowledgement counts in slow start.
    pub(crate) ramp_counts: fn(&Ack) -> u32,
    /// The packets that an acknowledgement counts for in congestion avoidance.
    pub(crate) counts: fn(&Ack) -> u32,
    /// The use of a window that the application does not fill.
    pub(crate) unused: Unused,
    /// Only a window that is full counts as used.
    pub(crate) only_full: bool,
    /// For whole windows: the part above a packet is dropped, and not kept for the next one.
    pub(crate) drops_rest: bool,
}

/// The use of a window that the application does not fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unused {
    Stays,
    Grows,
    GrowsInSlowStart,
    GrowsInAvoidance,
    /// By 1 % with each acknowledgement.
    Shrinks,
}

/// CUBIC's congestion avoidance.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// C, packets per second cubed.
    pub(crate) c: f64,
    pub(crate) power: i32,
    /// The distance of the target, in round trips.
    pub(crate) ahead: f64,
    /// The largest target, windows.
    pub(crate) bound: f64,
    /// Whether the window is at least the estimate of Reno's.
    pub(crate) friendly: bool,
    /// Growth of the estimate below the last maximum and above it, packets per round trip.
    pub(crate) alpha: [f64; 2],
    /// An epoch goes on with the estimate of the last one.
    pub(crate) estimate_kept: bool,
    /// An epoch goes on with the clock of the last one.
    pub(crate) clock_kept: bool,
    /// The clock runs while the window is not used.
    pub(crate) clock_idles: bool,
    /// The clock of the first epoch after a timeout runs from the timeout on.
    pub(crate) clock_of_timeout: bool,
    /// `W_max` of the window before a cut, the last maximum, and the window after.
    pub(crate) maximum: fn(f64, f64, f64) -> f64,
    /// `W_max` after a timeout, of the window at which slow start ended, and the maximum before the timeout.
    pub(crate) maximum_again: fn(f64, f64) -> f64,
    /// C K^3, of `W_max` and the window at which an epoch begins.
    pub(crate) missing: fn(f64, f64) -> f64,
}

/// The effect of congestion other than a timeout.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// Parts are those of the flight (RFC 5681 equation 4), and not of the window.
    pub(crate) flight: bool,
    /// The part of the window that a loss leaves.
    pub(crate) loss: f64,
    /// The part of it that is left where the window is below the last maximum.
    pub(crate) below_maximum: f64,
    /// The part of the window that a mark leaves.
    pub(crate) mark: f64,
    /// The least window that a loss leaves, packets.
    pub(crate) floor: f64,
    /// The least window that a mark leaves, packets.
    pub(crate) mark_floor: f64,
    /// The least threshold, packets.
    pub(crate) threshold_floor: f64,
    /// The threshold, of the window before and after a loss.
    pub(crate) threshold: fn(f64, f64) -> f64,
    /// The threshold, of the window before and after a mark.
    pub(crate) mark_threshold: fn(f64, f64) -> f64,
    /// Losses and marks after this number change nothing.
    pub(crate) losses: u32,
    pub(crate) marks: u32,
    /// A loss of the same window is another congestion event, or a mark of the same window, or one of the two after the other.
    pub(crate) each_loss: bool,
    pub(crate) each_mark: bool,
    pub(crate) each_cause: bool,
    /// The first packet whose loss is another congestion event, counted from the first that is sent after the cut.
    pub(crate) edge: i64,
    /// The window grows in recovery.
    pub(crate) grows: bool,
    /// Losses in the slow start after a timeout change nothing.
    pub(crate) deaf_after_timeout: bool,
    /// The way in which the window reaches its reduced size.
    pub(crate) reduction: Reduction,
    /// The loss at which the sender panics, from 1 on.
    pub(crate) panics: u32,
}

/// The way in which congestion takes the window to its reduced size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    AtOnce,
    /// By a part of a packet for each packet acknowledged, over a round trip (RFC 9002 section 7.3.2).
    Proportional,
    /// As [`Proportional`](Self::Proportional) in whole packets, rounded up (RFC 6937, RFC 9937).
    Prr,
    /// By a packet for each second acknowledgement.
    Halving,
}

/// The effect of an expiry of the retransmission timer.
#[derive(Clone, Debug)]
pub(crate) struct Timeout {
    /// The window that is left, packets; as after a loss if none.
    pub(crate) window: Option<f64>,
    /// The threshold over the window before.
    pub(crate) kept: f64,
    /// A second expiry sets the threshold anew.
    pub(crate) again: bool,
}

/// The effect of a pause.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    /// The shortest length of a pause, in timeouts.
    pub(crate) after: f64,
    /// The window, of the initial one and the one before.
    pub(crate) window: fn(f64, f64) -> f64,
    /// The threshold, of the one before, the window before, and the initial window.
    pub(crate) threshold: fn(f64, f64, f64) -> f64,
}

/// The state that the sender restores when it finds out that a loss was none.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    /// The window over the one before the cut.
    pub(crate) window: f64,
    /// The threshold, of the one before the cut and the one after.
    pub(crate) threshold: fn(f64, f64) -> f64,
    pub(crate) curve: Restored,
}

/// The part of CUBIC's epoch that an undo restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restored {
    All,
    /// All but the begin of the epoch, which is now.
    Shape,
    Nothing,
}

/// The pacing of packets.
#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    /// Windows per round trip in slow start and after it; none for no pacing.
    pub(crate) gains: Option<[f64; 2]>,
    /// The window, packets, from which on the sender says that it has no bound.
    pub(crate) unbounded: f64,
}

/// The numbers of RFC 9406 section 4.3.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    /// The rise that matters, at least and at most.
    pub(crate) least: Span,
    pub(crate) most: Span,
    /// The rise as a part of the round-trip time, too: `1 / part`.
    pub(crate) part: u64,
    pub(crate) samples: u32,
    /// The divisor of growth in conservative slow start.
    pub(crate) divisor: f64,
    /// The number of rounds that it lasts.
    pub(crate) rounds: u32,
    /// It ends where the round-trip time falls below that at which it began.
    pub(crate) resumes: bool,
    /// The packets for which an acknowledgement counts at most without pacing.
    pub(crate) most_per_ack: u32,
}

/// draft-ietf-ccwg-ratelimited-increase section 3.
#[derive(Clone, Debug)]
pub(crate) struct Flights {
    /// `maxFS` begins at the initial window.
    pub(crate) initial: bool,
    /// It is taken when packets are acknowledged, without those.
    pub(crate) late: bool,
    /// It follows larger flights.
    pub(crate) follows: bool,
    /// The limit of slow start over it.
    pub(crate) ramp: f64,
    /// The limit of congestion avoidance above it, packets.
    pub(crate) step: f64,
    /// CUBIC's largest limit over it.
    pub(crate) bound: f64,
    /// The rule of congestion avoidance hears of acknowledgements that do not let the window grow.
    pub(crate) epoch_runs: bool,
    pub(crate) resets_on_loss: bool,
    pub(crate) resets_on_mark: bool,
    pub(crate) resets_on_timeout: bool,
    pub(crate) resets_on_restart: bool,
    /// A `maxFS` of zero limits the window.
    pub(crate) collapses: bool,
    /// The receiver's window is a limit too.
    pub(crate) peer: bool,
}

impl Flights {
    fn draft() -> Self {
        Self {
            initial: true,
            late: false,
            follows: true,
            ramp: 2.0,
            step: 1.0,
            bound: 1.5,
            epoch_runs: false,
            resets_on_loss: true,
            resets_on_mark: true,
            resets_on_timeout: true,
            resets_on_restart: true,
            collapses: false,
            peer: true,
        }
    }

    /// Whether a sender that is held by `limit` keeps to the limit of its flights.
    pub(crate) fn counts(&self, limit: Limit) -> bool {
        self.peer || limit != Limit::Peer
    }
}

impl Base {
    /// Its name in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Quic => "quic",
            Self::Burst => "quic-unpaced",
            Self::HyStart => "hystart++",
            Self::Limited => "limited",
            Self::LimitedCubic => "limited-cubic",
        }
    }

    /// Its rules.
    pub(crate) fn rules(self) -> Rules {
        let reno = Rules::reno();
        match self {
            Self::Reno => reno,
            Self::Cubic => Rules::cubic(),
            Self::Quic => Rules { pacing: Pacing { gains: Some([1.25; 2]), ..reno.pacing }, ..Self::Burst.rules() },
            Self::Burst => Rules {
                quic: true,
                cut: Cut { flight: false, mark_floor: 2.0, ..reno.cut },
                timeout: Timeout { window: Some(2.0), ..reno.timeout },
                ..reno
            },
            Self::HyStart => Rules { hystart: Some(HyStart::rfc9406()), ..reno },
            Self::Limited => Rules { flights: Some(Flights::draft()), ..reno },
            Self::LimitedCubic => Rules { flights: Some(Flights::draft()), ..Rules::cubic() },
        }
    }
}

impl Rules {
    fn reno() -> Self {
        Self {
            law: Law::Reno,
            host: Host::default(),
            quic: false,
            whole: false,
            rfc8312: false,
            growth: Growth {
                initial: 1.0,
                threshold: f64::INFINITY,
                ramp: 1.0,
                ramp_again: 1.0,
                increase: 1.0,
                ramp_counts: |ack| ack.newly,
                counts: |ack| ack.newly,
                unused: Unused::Stays,
                only_full: false,
                drops_rest: false,
            },
            curve: Curve::rfc9438(),
            cut: Cut {
                flight: true,
                loss: 0.5,
                below_maximum: 1.0,
                mark: 0.5,
                floor: 2.0,
                mark_floor: 1.0,
                threshold_floor: 2.0,
                threshold: |_, after| after,
                mark_threshold: |_, after| after,
                losses: u32::MAX,
                marks: u32::MAX,
                each_loss: false,
                each_mark: false,
                each_cause: false,
                edge: 0,
                grows: false,
                deaf_after_timeout: false,
                reduction: Reduction::AtOnce,
                panics: u32::MAX,
            },
            timeout: Timeout { window: Some(1.0), kept: 0.5, again: false },
            restart: Restart {
                after: 1.0,
                window: |initial, before| before.min(initial),
                threshold: |threshold, window, _| threshold.max(0.75 * window),
            },
            undo: Undo { window: 1.0, threshold: |before, _| before, curve: Restored::All },
            pacing: Pacing { gains: None, unbounded: f64::INFINITY },
            hystart: None,
            flights: None,
        }
    }

    fn cubic() -> Self {
        let reno = Self::reno();
        Self {
            law: Law::Cubic,
            cut: Cut { flight: false, loss: 0.7, mark: 0.7, ..reno.cut },
            timeout: Timeout { kept: 0.7, ..reno.timeout },
            ..reno
        }
    }

    /// A CUBIC as RFC 8312 had it: no bound of the target, and the same estimate of Reno's window throughout.
    pub(crate) fn by_rfc8312(mut self) -> Self {
        self.rfc8312 = true;
        self.curve.bound = f64::INFINITY;
        self.curve.alpha[1] = self.curve.alpha[0];
        self
    }

    /// Paced as Linux does.
    pub(crate) fn paced(mut self) -> Self {
        self.pacing.gains = Some([2.0, 1.25]);
        self
    }

    /// The subject called `name` that checks judge.
    pub(crate) fn subject(&self, name: &str) -> Subject {
        let subject = Subject::new(name, self.law, Spec::outside(name, Arc::new(Make(self.clone())))).hosted(self.host);
        let subject = if self.rfc8312 { subject.by_rfc8312() } else { subject };
        let subject = if self.quic { subject.without_timeout() } else { subject };
        let subject = if self.flights.is_some() { subject.with_rate_limited_increase() } else { subject };
        if self.hystart.is_some() { subject.with_hystart() } else { subject }
    }
}

impl Curve {
    fn rfc9438() -> Self {
        Self {
            c: 0.4,
            power: 3,
            ahead: 1.0,
            bound: 1.5,
            friendly: true,
            alpha: [3.0 * 0.3 / 1.7, 1.0],
            estimate_kept: false,
            clock_kept: false,
            clock_idles: false,
            clock_of_timeout: false,
            maximum: |before, last, _| if before < last { 0.85 * before } else { before },
            maximum_again: |window, _| window,
            missing: |maximum, window| maximum - window,
        }
    }
}

impl HyStart {
    fn rfc9406() -> Self {
        Self {
            least: Span::from_millis(4),
            most: Span::from_millis(16),
            part: 8,
            samples: 8,
            divisor: 4.0,
            rounds: 5,
            resumes: true,
            most_per_ack: 8,
        }
    }
}
