//! Every way to be wrong, by kind, with the check of its clause for each sender that it is tried with.

use cwnd::Span;

use super::rules::{Base, Restored, Rules, Unused};
use Base::{Burst, Cubic, HyStart, Quic, Reno};

/// A wrong sender is the right one with this change.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The senders, each with the check that must depart.
    pub(crate) checks: &'static [(Base, &'static str)],
    pub(crate) change: fn(&mut Rules),
}

/// The kinds.
pub(crate) const KINDS: &[(&str, &[Fault])] = &[
    ("start", START),
    ("growth", GROWTH),
    ("curve", CURVE),
    ("epoch", EPOCH),
    ("friendly", FRIENDLY),
    ("cut", CUT),
    ("recovery", RECOVERY),
    ("threshold", THRESHOLD),
    ("floor", FLOOR),
    ("timeout", TIMEOUT),
    ("restart", RESTART),
    ("undo", UNDO),
    ("limited", LIMITED),
    ("marks", MARKS),
    ("pacing", PACING),
    ("hystart", HYSTART),
];

const fn fault(name: &'static str, checks: &'static [(Base, &'static str)], change: fn(&mut Rules)) -> Fault {
    Fault { name, checks, change }
}

const START: &[Fault] = &[
    fault(
        "the first window is fourfold",
        &[(Reno, "5681-initial"), (Cubic, "5681-initial"), (Quic, "9002-initial")],
        |r| r.growth.initial = 4.0,
    ),
    fault("the first window is doubled", &[(Reno, "5681-initial"), (Quic, "9002-initial")], |r| r.growth.initial = 2.0),
    fault("the first window is two packets", &[(Quic, "9002-initial")], |r| r.growth.initial = 0.2),
    fault(
        "there is no slow start",
        &[(Reno, "5681-slow-start"), (Cubic, "9438-slow-start"), (Quic, "9002-slow-start")],
        |r| r.growth.threshold = 2.0,
    ),
    fault(
        "slow start ends at 32 packets",
        &[(Reno, "5681-slow-start-wire"), (Cubic, "9438-slow-start"), (Quic, "9002-slow-start")],
        |r| r.growth.threshold = 32.0,
    ),
];

const GROWTH: &[Fault] = &[
    fault(
        "slow start grows by two packets for one",
        &[(Reno, "5681-slow-start"), (Cubic, "5681-slow-start"), (Quic, "9002-slow-start")],
        |r| r.growth.ramp = 2.0,
    ),
    fault("slow start grows by a packet and a half", &[(Reno, "5681-slow-start"), (Quic, "9002-slow-start")], |r| {
        r.growth.ramp = 1.5;
    }),
    fault(
        "slow start grows by a quarter of a packet",
        &[(Reno, "5681-slow-start"), (Cubic, "9438-slow-start"), (Quic, "9002-slow-start")],
        |r| r.growth.ramp = 0.25,
    ),
    fault("slow start counts acknowledgements", &[(Quic, "9002-slow-start-acks")], |r| {
        r.growth.ramp_counts = |ack| ack.acks.min(ack.newly);
    }),
    fault("congestion avoidance counts acknowledgements", &[(Quic, "9002-acks")], |r| {
        r.growth.counts = |ack| ack.acks.min(ack.newly);
    }),
    fault("two packets per round trip", &[(Reno, "5681-avoidance"), (Quic, "9002-avoidance")], |r| {
        r.growth.increase = 2.0;
    }),
    fault("a third of a packet per round trip", &[(Reno, "5681-avoidance")], |r| {
        r.growth.increase = 1.0 / 3.0;
    }),
    fault("no growth in congestion avoidance", &[(Reno, "5681-avoidance"), (Quic, "9002-avoidance")], |r| {
        r.growth.increase = 0.0;
    }),
    fault("what exceeds a packet is dropped", &[(Cubic, "9438-increment")], |r| r.growth.drops_rest = true),
];

const CURVE: &[Fault] = &[
    fault("C is tenfold", &[(Cubic, "9438-concave")], |r| r.curve.c = 4.0),
    fault("C is doubled", &[(Cubic, "9438-c")], |r| r.curve.c = 0.8),
    fault("C is halved", &[(Cubic, "9438-c")], |r| r.curve.c = 0.2),
    fault("the curve is a parabola", &[(Cubic, "9438-convex")], |r| r.curve.power = 2),
    fault("the target is the curve of now", &[(Cubic, "9438-target")], |r| r.curve.ahead = 0.0),
    fault("the target is two round trips ahead", &[(Cubic, "9438-target")], |r| r.curve.ahead = 2.0),
    fault("the target has no bound", &[(Cubic, "9438-cap")], |r| r.curve.bound = f64::INFINITY),
    fault("the target may be three windows", &[(Cubic, "9438-cap")], |r| r.curve.bound = 3.0),
    fault("the target may be a hundredth above the window", &[(Cubic, "9438-increment")], |r| r.curve.bound = 1.01),
    fault("K counts from the part that a cut leaves", &[(Cubic, "9438-concave")], |r| {
        r.curve.missing = |maximum, _| 0.7 * maximum;
    }),
    fault("K is that of a cut from W_max, also after fast convergence", &[(Cubic, "9438-convergence-k")], |r| {
        r.curve.missing = |maximum, window| if window < maximum { 0.3 * maximum } else { 0.0 };
    }),
    fault("K is zero", &[(Cubic, "9438-concave")], |r| r.curve.missing = |_, _| 0.0),
    fault("K is doubled", &[(Cubic, "9438-plateau")], |r| r.curve.missing = |maximum, window| 8.0 * (maximum - window)),
    fault("W_max is the window after the cut", &[(Cubic, "9438-plateau")], |r| r.curve.maximum = |_, _, after| after),
];

const EPOCH: &[Fault] = &[
    fault("the clock goes on from the last epoch", &[(Cubic, "9438-plateau")], |r| r.curve.clock_kept = true),
    fault("the clock runs while the window is not used", &[(Cubic, "9438-limited-clock")], |r| {
        r.curve.clock_idles = true;
    }),
    fault("the clock after a timeout runs from the timeout", &[(Cubic, "9438-timeout-epoch")], |r| {
        r.curve.clock_of_timeout = true;
    }),
    fault("W_max after a timeout is the one before", &[(Cubic, "9438-timeout-epoch")], |r| {
        r.curve.maximum_again = |_, last| last;
    }),
    fault("W_max after a timeout is zero", &[(Cubic, "9438-timeout-epoch")], |r| r.curve.maximum_again = |_, _| 0.0),
    fault("no fast convergence", &[(Cubic, "9438-convergence")], |r| r.curve.maximum = |before, _, _| before),
    fault("fast convergence leaves seven tenths", &[(Cubic, "9438-convergence-k")], |r| {
        r.curve.maximum = |before, last, _| if before < last { 0.7 * before } else { before };
    }),
    fault("fast convergence at each cut", &[(Cubic, "9438-no-convergence-above")], |r| {
        r.curve.maximum = |before, _, _| 0.85 * before;
    }),
    fault("W_max is never lowered", &[(Cubic, "9438-convergence")], |r| {
        r.curve.maximum = |before, last, _| before.max(last);
    }),
];

const FRIENDLY: &[Fault] = &[
    fault("no estimate of Reno", &[(Cubic, "9438-friendly")], |r| r.curve.friendly = false),
    fault("the estimate grows as Reno throughout", &[(Cubic, "9438-friendly")], |r| r.curve.alpha = [1.0; 2]),
    fault("the estimate never grows as Reno", &[(Cubic, "9438-friendly-above")], |r| r.curve.alpha[1] = 0.9 / 1.7),
    fault("the estimate grows by two packets above the maximum", &[(Cubic, "9438-friendly-above")], |r| {
        r.curve.alpha[1] = 2.0;
    }),
    fault("the estimate goes on from the last epoch", &[(Cubic, "9438-friendly-reset")], |r| {
        r.curve.estimate_kept = true;
    }),
];

const CUT: &[Fault] = &[
    fault("a loss leaves three quarters", &[(Reno, "5681-halve"), (Cubic, "9438-beta"), (Quic, "9002-halve")], |r| {
        r.cut.loss = 0.75;
    }),
    fault("a loss leaves a quarter", &[(Reno, "5681-halve"), (Cubic, "9438-beta"), (Quic, "9002-halve")], |r| {
        r.cut.loss = 0.25;
    }),
    fault("a loss leaves half of the window, and not of what is in flight", &[(Reno, "5681-flight-size")], |r| {
        r.cut.flight = false;
    }),
    fault("CUBIC halves", &[(Cubic, "9438-beta")], |r| r.cut.loss = 0.5),
    fault("CUBIC of 2008: a loss leaves eight tenths", &[(Cubic, "9438-beta")], |r| r.cut.loss = 0.8),
    fault("a loss leaves the least window", &[(Reno, "5681-halve"), (Cubic, "9438-beta"), (Quic, "9002-halve")], |r| {
        r.cut.loss = 0.0;
    }),
    fault("fast convergence cuts the window", &[(Cubic, "9438-beta-second")], |r| r.cut.below_maximum = 0.85),
    fault("no loss is heeded", &[(Reno, "5681-halve"), (Cubic, "9438-beta"), (Quic, "9002-halve")], |r| {
        r.cut.losses = 0;
    }),
    fault(
        "the first loss alone is heeded",
        &[(Reno, "5681-halve"), (Cubic, "9438-beta"), (Quic, "9002-recovery-ends")],
        |r| r.cut.losses = 1,
    ),
];

const RECOVERY: &[Fault] = &[
    fault(
        "each loss of a window is heeded",
        &[(Reno, "6582-one-cut"), (Cubic, "9438-once"), (Quic, "9002-recovery-once")],
        |r| r.cut.each_loss = true,
    ),
    fault(
        "the last packet before a cut counts as sent after it",
        &[(Reno, "9002-recovery-last"), (Cubic, "9002-recovery-last"), (Quic, "9002-recovery-last")],
        |r| r.cut.edge = -1,
    ),
    fault(
        "the first packet after a cut counts as sent before it",
        &[(Reno, "9002-recovery-first"), (Cubic, "9002-recovery-first"), (Quic, "9002-recovery-first")],
        |r| r.cut.edge = 1,
    ),
    fault(
        "the window grows in recovery",
        &[(Reno, "9002-recovery-still"), (Cubic, "9002-recovery-still"), (Quic, "9002-recovery-still")],
        |r| r.cut.grows = true,
    ),
    fault(
        "losses of a thousand packets after a cut are not heeded",
        &[(Reno, "9002-recovery-ends"), (Cubic, "9002-recovery-ends"), (Quic, "9002-recovery-ends")],
        |r| r.cut.edge = 1000,
    ),
];

const THRESHOLD: &[Fault] = &[
    fault(
        "a loss leaves no threshold",
        &[(Reno, "9002-exit-on-loss"), (Cubic, "9002-exit-on-loss"), (Quic, "9002-exit-on-loss")],
        |r| r.cut.threshold = |_, _| f64::INFINITY,
    ),
    fault(
        "the threshold after a loss is the window before it",
        &[(Reno, "9002-exit-on-loss"), (Cubic, "9002-exit-on-loss"), (Quic, "9002-exit-on-loss")],
        |r| r.cut.threshold = |before, _| before,
    ),
    fault(
        "a mark leaves no threshold",
        &[(Reno, "9002-exit-on-mark"), (Cubic, "9002-exit-on-mark"), (Quic, "9002-exit-on-mark")],
        |r| r.cut.mark_threshold = |_, _| f64::INFINITY,
    ),
];

const FLOOR: &[Fault] = &[
    fault("the threshold may be one packet", &[(Reno, "5681-threshold-floor"), (Cubic, "9438-loss-floor")], |r| {
        (r.cut.threshold_floor, r.cut.floor) = (1.0, 1.0);
    }),
    fault("a loss leaves ten packets at least", &[(Reno, "5681-small-window"), (Cubic, "9438-small-window")], |r| {
        r.cut.floor = 10.0;
    }),
    fault("a mark leaves ten packets at least", &[(Cubic, "9438-mark-floor")], |r| r.cut.mark_floor = 10.0),
];

const TIMEOUT: &[Fault] = &[
    fault(
        "a timeout leaves what a loss does",
        &[(Reno, "5681-timeout-window"), (Cubic, "9438-timeout-window"), (Quic, "9002-persistent")],
        |r| r.timeout.window = None,
    ),
    fault(
        "a timeout leaves the initial window",
        &[(Reno, "5681-timeout-window"), (Cubic, "9438-timeout-window"), (Quic, "9002-persistent")],
        |r| r.timeout.window = Some(10.0),
    ),
    fault(
        "a timeout leaves no threshold",
        &[(Reno, "5681-timeout-threshold"), (Cubic, "9438-timeout-threshold")],
        |r| r.timeout.kept = f64::INFINITY,
    ),
    fault(
        "the threshold after a timeout is the window before it",
        &[(Reno, "5681-timeout-threshold"), (Cubic, "9438-timeout-threshold")],
        |r| r.timeout.kept = 1.0,
    ),
    fault(
        "the threshold after a timeout is the least",
        &[(Reno, "5681-timeout-threshold"), (Cubic, "9438-timeout-threshold")],
        |r| r.timeout.kept = 0.0,
    ),
    fault(
        "each expiry sets the threshold anew",
        &[(Reno, "5681-timeout-threshold"), (Cubic, "9438-timeout-threshold"), (Quic, "9002-persistent-resumes")],
        |r| r.timeout.again = true,
    ),
    fault(
        "slow start after a timeout grows by two packets for one",
        &[(Reno, "5681-rate-after-timeout"), (Cubic, "5681-rate-after-timeout")],
        |r| r.growth.ramp_again = 2.0,
    ),
    fault(
        "there is no slow start after a timeout",
        &[(Reno, "9002-persistent-resumes"), (Cubic, "9002-persistent-resumes"), (Quic, "9002-persistent-resumes")],
        |r| r.growth.ramp_again = 0.02,
    ),
    // Of Reno's, slow start ends at half of what was in flight: that is when the last of it is repaired, and before a new packet can be lost.
    fault("a loss in the slow start after a timeout is not heeded", &[(Cubic, "5681-loss-after-timeout")], |r| {
        r.cut.deaf_after_timeout = true;
    }),
];

const RESTART: &[Fault] = &[
    fault(
        "a pause leaves the window",
        &[(Reno, "5681-restart"), (Cubic, "5681-restart"), (Burst, "9002-burst")],
        |r| r.restart.after = f64::INFINITY,
    ),
    fault(
        "a pause leaves forty packets",
        &[(Reno, "5681-restart"), (Cubic, "5681-restart"), (Burst, "9002-burst")],
        |r| r.restart.window = |initial, before| before.min(4.0 * initial),
    ),
    fault("a pause doubles the window", &[(Reno, "5681-restart"), (Cubic, "5681-restart")], |r| {
        r.restart.window = |_, before| 2.0 * before;
    }),
    fault("a pause leaves no threshold", &[(Reno, "5681-restart-threshold"), (Cubic, "5681-restart-threshold")], |r| {
        r.restart.threshold = |_, _, _| f64::INFINITY;
    }),
    fault(
        "the threshold after a pause is the restart window",
        &[(Reno, "5681-restart-threshold"), (Cubic, "5681-restart-threshold")],
        |r| r.restart.threshold = |_, _, initial| initial,
    ),
    fault(
        "the restart window is larger than the window",
        &[(Reno, "5681-restart-window"), (Cubic, "5681-restart-window")],
        |r| {
            r.restart.window = |initial, _| initial;
        },
    ),
    fault(
        "a restart after a thousandth of a timeout",
        &[(Reno, "5681-restart-late"), (Cubic, "5681-restart-late")],
        |r| r.restart.after = 0.001,
    ),
    fault("five minutes of idleness leave the window", &[(Reno, "7661-five-minutes")], |r| {
        r.restart.after = f64::INFINITY;
    }),
    fault(
        "five minutes of idleness lower the threshold to the initial window",
        &[(Reno, "7661-five-minutes-threshold")],
        |r| {
            r.restart.threshold = |_, _, initial| initial;
        },
    ),
];

const UNDO: &[Fault] = &[
    fault("an undo doubles the window", &[(Reno, "spurious"), (Cubic, "9438-undo"), (Quic, "spurious")], |r| {
        r.undo.window = 2.0;
    }),
    fault("an undo leaves a tenth out", &[(Reno, "spurious"), (Cubic, "9438-undo"), (Quic, "spurious")], |r| {
        r.undo.window = 0.93;
    }),
    fault(
        "an undo leaves the threshold",
        &[(Reno, "spurious-threshold"), (Cubic, "spurious-threshold"), (Quic, "spurious-threshold")],
        |r| r.undo.threshold = |_, now| now,
    ),
    fault("after an undo there is no threshold", &[(Reno, "spurious-threshold"), (Cubic, "spurious-threshold")], |r| {
        r.undo.threshold = |_, _| f64::INFINITY;
    }),
    fault("an undo leaves the curve of the cut", &[(Cubic, "9438-undo-curve")], |r| r.undo.curve = Restored::Nothing),
    fault("an undo begins the epoch anew", &[(Cubic, "9438-undo-curve")], |r| r.undo.curve = Restored::Shape),
];

const LIMITED: &[Fault] = &[
    fault(
        "a window that is not used grows",
        &[(Reno, "9002-underused"), (Cubic, "7661-not-validated"), (Quic, "9002-underused")],
        |r| r.growth.unused = Unused::Grows,
    ),
    fault(
        "a window that is not used grows in slow start",
        &[(Reno, "7661-not-validated"), (Quic, "9002-underused")],
        |r| r.growth.unused = Unused::GrowsInSlowStart,
    ),
    fault(
        "a window that is not used grows in congestion avoidance",
        &[(Reno, "9002-underused-avoidance"), (Cubic, "9002-underused-avoidance"), (Quic, "9002-underused-avoidance")],
        |r| r.growth.unused = Unused::GrowsInAvoidance,
    ),
    fault("a window that is not used shrinks to two packets", &[(Reno, "9002-underused")], |r| {
        r.growth.unused = Unused::Shrinks;
    }),
    fault("a window that pacing holds back counts as not used", &[(Quic, "9002-paced-is-used")], |r| {
        r.growth.only_full = true;
    }),
];

const MARKS: &[Fault] = &[
    fault("no mark is heeded", &[(Reno, "3168-reacts"), (Cubic, "9438-mark"), (Quic, "3168-reacts")], |r| {
        r.cut.marks = 0;
    }),
    fault(
        "the first mark alone is heeded",
        &[(Reno, "3168-again"), (Cubic, "3168-again"), (Quic, "3168-again")],
        |r| r.cut.marks = 1,
    ),
    fault("each mark of a window is heeded", &[(Reno, "3168-once"), (Cubic, "3168-once"), (Quic, "3168-once")], |r| {
        r.cut.each_mark = true;
    }),
    fault(
        "a mark and a loss of a window are two events",
        &[(Reno, "3168-mark-and-loss"), (Cubic, "3168-mark-and-loss"), (Quic, "3168-mark-and-loss")],
        |r| r.cut.each_cause = true,
    ),
    fault(
        "a mark leaves 95 in a hundred",
        &[(Reno, "3168-reacts"), (Cubic, "9438-mark"), (Quic, "3168-reacts")],
        |r| {
            r.cut.mark = 0.95;
        },
    ),
    fault("a mark leaves nine tenths, and Reno eight", &[(Reno, "8511-reno")], |r| r.cut.mark = 0.87),
    fault("a mark leaves less than a loss", &[(Reno, "8511-no-deeper"), (Cubic, "8511-no-deeper")], |r| {
        r.cut.mark = 0.42;
    }),
    fault(
        "a mark leaves the least window",
        &[(Reno, "3168-reacts"), (Cubic, "9438-mark"), (Quic, "3168-reacts")],
        |r| {
            r.cut.mark = 0.0;
        },
    ),
];

const PACING: &[Fault] = &[
    fault(
        "one window per round trip in slow start",
        &[(Reno, "9002-paced-start"), (Cubic, "9002-paced-start"), (Quic, "9002-paced-start")],
        |r| r.pacing.gains = Some([1.0, 1.25]),
    ),
    fault("half a window per round trip", &[(Reno, "9002-paced-start"), (Quic, "9002-paced-start")], |r| {
        r.pacing.gains = Some([0.5; 2]);
    }),
    fault(
        "a window of 64 packets has no bound",
        &[(Reno, "9002-in-flight"), (Cubic, "9002-in-flight"), (Quic, "9002-in-flight")],
        |r| r.pacing.unbounded = 64.0,
    ),
    fault("no restart without pacing", &[(Burst, "9002-pace-limited")], |r| r.restart.after = f64::INFINITY),
    fault("ten windows per round trip and no restart", &[(Quic, "9002-pace-limited")], |r| {
        (r.pacing.gains, r.restart.after) = (Some([10.0; 2]), f64::INFINITY);
    }),
];

const HYSTART: &[Fault] = &[
    fault("no rise of the delay is seen", &[(HyStart, "9406-exit")], |r| {
        with(r, |h| (h.least, h.most) = (Span::from_secs(10), Span::from_secs(10)));
    }),
    fault("a sixteenth is a rise", &[(HyStart, "9406-small-rise")], |r| with(r, |h| h.part = 16)),
    fault("half of the round-trip time is a rise", &[(HyStart, "9406-rise")], |r| {
        with(r, |h| (h.part, h.most) = (2, Span::from_secs(1)));
    }),
    fault("a millisecond is a rise", &[(HyStart, "9406-least-threshold")], |r| {
        with(r, |h| h.least = Span::from_millis(1));
    }),
    fault("the rise that matters has no bound", &[(HyStart, "9406-largest-threshold")], |r| {
        with(r, |h| h.most = Span::from_secs(1));
    }),
    fault("a rise ends slow start at once", &[(HyStart, "9406-rounds")], |r| with(r, |h| h.rounds = 0)),
    fault("conservative slow start lasts two rounds", &[(HyStart, "9406-rounds")], |r| with(r, |h| h.rounds = 2)),
    fault("conservative slow start lasts ten rounds", &[(HyStart, "9406-rounds")], |r| with(r, |h| h.rounds = 10)),
    fault("conservative slow start grows as slow start", &[(HyStart, "9406-rise")], |r| with(r, |h| h.divisor = 1.0)),
    fault("conservative slow start grows by half", &[(HyStart, "9406-rise")], |r| with(r, |h| h.divisor = 2.0)),
    fault("conservative slow start never ends early", &[(HyStart, "9406-resume")], |r| with(r, |h| h.resumes = false)),
    fault("an acknowledgement counts for all of its packets", &[(HyStart, "9406-burst")], |r| {
        with(r, |h| h.most_per_ack = u32::MAX);
    }),
    fault("slow start ends at 100 packets", &[(HyStart, "9406-no-exit")], |r| r.growth.threshold = 100.0),
];

fn with(rules: &mut Rules, change: impl FnOnce(&mut super::rules::HyStart)) {
    rules.hystart.as_mut().map(change);
}
