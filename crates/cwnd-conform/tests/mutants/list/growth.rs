//! Wrong first windows and growth.

use super::{Fault, fault};
use crate::rules::{
    Base::{Cubic, Quic, Reno},
    Unused,
};

pub(super) const START: &[Fault] = &[
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

pub(super) const GROWTH: &[Fault] = &[
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

pub(super) const CURVE: &[Fault] = &[
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

pub(super) const EPOCH: &[Fault] = &[
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

pub(super) const FRIENDLY: &[Fault] = &[
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

pub(super) const LIMITED: &[Fault] = &[
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
