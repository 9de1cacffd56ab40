//! Wrong timeouts, pauses, pacing and ends of the first slow start.

use cwnd::Span;

use super::{Fault, fault};
use crate::rules::{
    Base::{Burst, Cubic, HyStart, Quic, Reno},
    Rules,
};

pub(super) const TIMEOUT: &[Fault] = &[
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
    // Reno's slow start ends at half of the flight: that is when its last loss is repaired, and before a new packet can be lost.
    fault("a loss in the slow start after a timeout is not heeded", &[(Cubic, "5681-loss-after-timeout")], |r| {
        r.cut.deaf_after_timeout = true;
    }),
];

pub(super) const RESTART: &[Fault] = &[
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

pub(super) const PACING: &[Fault] = &[
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

pub(super) const HYSTART: &[Fault] = &[
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
    fault("slow start ends at 800 packets", &[(HyStart, "9406-no-exit")], |r| r.growth.threshold = 800.0),
    fault("slow start ends at 100 packets, paced", &[(HyStart, "9406-no-exit")], |r| {
        (r.growth.threshold, r.pacing.gains) = (100.0, Some([2.0, 1.25]));
    }),
    fault("a sixteenth is a rise, paced", &[(HyStart, "9406-small-rise")], |r| {
        r.pacing.gains = Some([2.0, 1.25]);
        with(r, |h| h.part = 16);
    }),
];

fn with(rules: &mut Rules, change: impl FnOnce(&mut crate::rules::HyStart)) {
    rules.hystart.as_mut().map(change);
}
