//! Wrong answers to losses and marks.

use super::{Fault, fault};
use crate::rules::{
    Base::{Cubic, Quic, Reno},
    Restored,
};

pub(super) const CUT: &[Fault] = &[
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
    fault("it panics at the third loss", &[(Reno, "lossy")], |r| r.cut.panics = 3),
];

pub(super) const RECOVERY: &[Fault] = &[
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

pub(super) const THRESHOLD: &[Fault] = &[
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

pub(super) const FLOOR: &[Fault] = &[
    fault("the threshold may be one packet", &[(Reno, "5681-threshold-floor"), (Cubic, "9438-loss-floor")], |r| {
        (r.cut.threshold_floor, r.cut.floor) = (1.0, 1.0);
    }),
    fault("a loss leaves ten packets at least", &[(Reno, "5681-small-window"), (Cubic, "9438-small-window")], |r| {
        r.cut.floor = 10.0;
    }),
    fault("a mark leaves ten packets at least", &[(Cubic, "9438-mark-floor")], |r| r.cut.mark_floor = 10.0),
];

pub(super) const MARKS: &[Fault] = &[
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

pub(super) const UNDO: &[Fault] = &[
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
