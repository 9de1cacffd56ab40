//! CUBIC.

mod runs;

use super::small;
use super::{threshold_floor, timeout_threshold, timeout_window};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::subject::Law;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc9438,
    section: "",
    level: Level::Step,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Law(Law::Cubic),
    measured: "",
    accepted: Range::within(0.97, 1.03),
    basis: "1 % for whole packets, 2 % for the lag of a window that follows its target by a round trip",
    absence: Absence::Deviates,
    assumes: "",
    measure: runs::beta,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "9438-beta",
        section: "4.6",
        level: Level::Should,
        requirement: "a loss leaves seven tenths of the window",
        measured: "window after the cut over the one before",
        accepted: Range::within(0.69, 0.71),
        basis: "whole packets at windows of a hundred and more",
        measure: runs::beta,
        ..BASE
    },
    Check {
        id: "9438-beta-wire",
        section: "4.6",
        level: Level::Should,
        requirement: "a loss leaves 0.7 of the data sent per round trip",
        looks: Looks::Wire,
        measured: "packets sent in the third round trip after the cut over those in the one before it",
        accepted: Range::within(0.64, 0.79),
        basis: "the curve has risen by three round trips of 2 % each; round trips of a sender that paces run into each other",
        measure: runs::beta_wire,
        ..BASE
    },
    Check {
        id: "9438-beta-second",
        section: "4.6",
        level: Level::Should,
        requirement: "a loss below the last maximum leaves seven tenths of the window, not less: fast convergence changes W_max alone",
        measured: "window after the second cut over the one before",
        accepted: Range::within(0.69, 0.71),
        basis: "whole packets at windows of a hundred and more",
        measure: runs::beta_second,
        ..BASE
    },
    Check {
        id: "9438-once",
        section: "4.6",
        level: Level::Must,
        requirement: "several losses in one window are one congestion event",
        measured: "window after losses of an eighth of a window over the one before",
        accepted: Range::within(0.66, 0.74),
        basis: "one cut; two would leave 0.49. What one acknowledgement adds in slow start may hide two packets of the window before",
        measure: runs::once,
        ..BASE
    },
    Check {
        id: "9438-concave",
        section: "4.4",
        level: Level::Must,
        requirement: "below W_max the window follows C (t - K)^3 + W_max",
        measured: "window at t = K/2 over the formula",
        measure: runs::concave,
        ..BASE
    },
    Check {
        id: "9438-plateau",
        section: "4.2",
        level: Level::Step,
        requirement: "K is the time in which the window gets back to W_max",
        measured: "time until 98 % of W_max over the formula",
        accepted: Range::within(0.92, 1.1),
        basis: "a round trip is three in a hundred of it, near the plateau a packet more or less is two, and acknowledgements for eight packets make it two more",
        measure: runs::plateau,
        ..BASE
    },
    Check {
        id: "9438-convex",
        section: "4.5",
        level: Level::Must,
        requirement: "above W_max the window follows C (t - K)^3 + W_max",
        measured: "window at t = 2K over the formula",
        measure: runs::convex,
        ..BASE
    },
    Check {
        id: "9438-c",
        section: "5.1",
        level: Level::Should,
        requirement: "C is 0.4 packets per second cubed",
        measured: "(window at 2K - W_max) / K^3, packets/s^3",
        accepted: Range::within(0.34, 0.44),
        basis: "a tenth, for the difference of two windows, and six in a hundred for a lag of a round trip",
        measure: runs::constant,
        ..BASE
    },
    Check {
        id: "9438-increment",
        section: "4.4, 4.5",
        level: Level::Must,
        requirement: "each packet acknowledged adds (target - window) / window packets, and nothing of it is dropped",
        measured: "growth between 8 and 13 s after K on a path of 1 s over the sum of these increments",
        accepted: Range::within(0.9, 1.07),
        basis: "five in a hundred for what a smoothed round trip and whole packets change of the target, two for acknowledgements of eight packets, and two more; where what exceeds a whole packet is dropped, increments of a fifth to a third of a packet lose an eighth",
        measure: runs::increment,
        ..BASE
    },
    Check {
        id: "9438-target",
        section: "4.2, 4.4",
        requirement: "the target is the curve a round trip ahead",
        measured: "growth from 3 to 8 s after slow start has ended, once after a timeout at 500 ms, over the sum of the increments (target - window) / window",
        accepted: Range::within(0.8, 1.2),
        basis: "no recovery comes before this curve, so that it begins at a known time; a target without the round trip gives a half",
        assumes: "timeouts below 3 s at 500 ms",
        measure: runs::target,
        ..BASE
    },
    Check {
        id: "9438-cap",
        section: "4.2",
        level: Level::Step,
        requirement: "the target is at most one and a half windows, so that no round trip grows faster",
        applies: Applies::Rfc9438,
        measured: "largest growth per round trip of 2 s, as a factor",
        accepted: Range::at_most(1.55),
        basis: "whole packets at windows of thirty",
        measure: runs::cap,
        ..BASE
    },
    Check {
        id: "9438-monotone",
        section: "4.2",
        level: Level::Step,
        requirement: "the target is at least the window: it never falls but at congestion",
        measured: "least growth between two acknowledgements after the cut, packets",
        accepted: Range::at_least(-0.001),
        basis: "rounding",
        measure: runs::monotone,
        ..BASE
    },
    Check {
        id: "9438-limited-clock",
        section: "4.2",
        level: Level::Must,
        requirement: "t leaves out the time in which the application limited the sender",
        measured: "window six round trips after 30 s of bursts of one window each 0.9 s over the one before",
        accepted: Range::within(0.95, 1.5),
        basis: "by hand 1.27 for a window of 100; a clock that ran on makes it 51 without the cap and 11 with it. With bursts of 90 ms 1.1 to 1.2, and 1.7 to 2.9",
        assumes: "a timeout above 0.9 s; with a shorter one a hundred bursts, 90 ms each",
        measure: runs::limited_clock,
        ..BASE
    },
    Check {
        id: "9438-friendly",
        section: "4.3",
        level: Level::Should,
        requirement: "in the Reno-friendly region the window grows by 3 (1 - beta) / (1 + beta) = 0.53 packets per round trip",
        measured: "growth below the last maximum on a path of 10 ms, packets per round trip",
        accepted: Range::within(0.47, 0.59),
        basis: "10 %: a tenth of the interval lies outside the region",
        measure: runs::friendly,
        ..BASE
    },
    Check {
        id: "9438-friendly-above",
        section: "4.3",
        level: Level::Should,
        requirement: "in that region it grows by one packet per round trip from the last maximum on",
        applies: Applies::Rfc9438,
        measured: "growth above the last maximum on a path of 10 ms, packets per round trip",
        accepted: Range::within(0.9, 1.1),
        basis: "a tenth",
        measure: runs::friendly_above,
        ..BASE
    },
    Check {
        id: "9438-friendly-reset",
        section: "4.3",
        requirement: "the estimate of Reno's window begins anew with each epoch, at the window that the cut left",
        measured: "growth below the maximum after a second cut on a path of 10 ms, packets per round trip",
        accepted: Range::within(0.47, 0.59),
        basis: "a tenth; an estimate that goes on takes the window back at once, and grows by one packet per round trip",
        measure: runs::friendly_reset,
        ..BASE
    },
    Check {
        id: "9438-no-slower",
        section: "4.3",
        level: Level::Step,
        requirement: "where Reno does well CUBIC gets as much: one loss in 1000 packets at 10 ms",
        looks: Looks::Wire,
        measured: "goodput over that of `reno` behind the simulator's sender",
        accepted: Range::within(0.85, 1.2),
        basis: "the model behind the increase is exact to a tenth",
        measure: runs::no_slower,
        ..BASE
    },
    Check {
        id: "9438-convergence",
        section: "4.7",
        level: Level::Should,
        requirement: "a loss below the last W_max sets W_max to (1 + beta)/2 of the window",
        measured: "window at the plateau after the second cut over the window at that cut",
        accepted: Range::within(0.83, 0.88),
        basis: "0.85; without fast convergence it is 1.0 there",
        measure: runs::convergence,
        ..BASE
    },
    Check {
        id: "9438-convergence-k",
        section: "4.2, 4.7",
        requirement: "after fast convergence too K counts from the window at which the epoch began",
        measured: "window at t = K/2 after the second cut over the formula",
        measure: runs::convergence_k,
        ..BASE
    },
    Check {
        id: "9438-no-convergence-above",
        section: "4.7",
        level: Level::Step,
        requirement: "a loss above the last W_max makes the window at that loss the new one",
        measured: "window at the plateau after the second cut over the window at that cut",
        accepted: Range::within(0.97, 1.02),
        basis: "1 % for whole packets, 2 % for the lag",
        measure: runs::convergence_above,
        ..BASE
    },
    Check {
        id: "9438-timeout-window",
        section: "4.8",
        level: Level::Step,
        requirement: "a timeout leaves one packet, as in Reno; two in QUIC, whose least window that is",
        measured: "window at the end of an outage of 8 s, packets",
        accepted: Range::at_most(2.0),
        basis: "exact",
        measure: timeout_window,
        ..BASE
    },
    Check {
        id: "9438-timeout-threshold",
        section: "4.8",
        level: Level::Step,
        requirement: "after a timeout slow start ends at seven tenths of the window before it",
        measured: "threshold after the outage over the largest window before",
        accepted: Range::within(0.65, 0.75),
        basis: "losses found before the timer expires cut a window that is a little smaller",
        measure: timeout_threshold,
        ..BASE
    },
    Check {
        id: "9438-timeout-epoch",
        section: "4.8",
        level: Level::Step,
        requirement: "the first curve after a timeout begins in its middle: K = 0, W_max the window at which slow start ended",
        measured: "growth in the 8 s after slow start has ended, at 500 ms, over the formula: 205 packets",
        accepted: Range::within(0.85, 1.15),
        basis: "of the two times at which the clock may begin, half a round trip apart, the one that fits; on a shorter path Reno's growth would hide the curve",
        assumes: "timeouts below 3 s at 500 ms",
        measure: runs::timeout_epoch,
        ..BASE
    },
    Check {
        id: "9438-slow-start",
        section: "4.10",
        level: Level::Must,
        requirement: "below the threshold the sender is in slow start",
        applies: Applies::Law(Law::Cubic),
        measured: "window after four round trips over the initial one",
        accepted: Range::within(8.0, 16.5),
        basis: "it doubles four times; a sender that paces is up to a round trip later",
        measure: runs::slow_start,
        ..BASE
    },
    Check {
        id: "9438-mark",
        section: "4.6",
        level: Level::Must,
        requirement: "an echo of a mark leaves seven tenths of the window",
        measured: "window after the cut over the one before",
        accepted: Range::within(0.69, 0.71),
        basis: "whole packets at windows of a hundred and more; RFC 8511 allows 0.85, which is a choice",
        measure: runs::mark,
        ..BASE
    },
    Check {
        id: "9438-mark-floor",
        section: "4.6",
        level: Level::Must,
        requirement: "marks that go on reduce the window to one packet (two in QUIC)",
        measured: "least window while each packet is marked for 8 s at 50 ms, packets",
        accepted: Range::at_most(2.5),
        basis: "parts of a packet are not sent; a floor of three packets or more is found",
        measure: runs::mark_floor,
        ..BASE
    },
    Check {
        id: "9438-loss-floor",
        section: "4.6",
        level: Level::Step,
        requirement: "the threshold is at least two packets",
        measured: "packets by which the threshold falls below two while three of ten packets are lost for 20 s",
        accepted: Range::at_most(0.0),
        basis: "exact",
        measure: threshold_floor,
        ..BASE
    },
    Check {
        id: "9438-small-window",
        section: "4.6",
        requirement: "a loss reduces a small window too: nothing but two packets bounds it",
        looks: Looks::Window,
        measured: "least window that one of eight losses leaves, four round trips apart, the first in the first flight, packets",
        accepted: Range::at_most(8.0),
        basis: "by hand 5 for seven tenths and two packets of growth between two losses; what a timeout leaves is not counted",
        measure: small::small_window,
        ..BASE
    },
    Check {
        id: "9438-undo",
        section: "4.9.2",
        level: Level::May,
        requirement: "a sender that undoes a spurious loss restores the window that was there before it, and not more",
        measured: "window at the undo over the one before the cut",
        accepted: Range::within(0.98, 1.1),
        basis: "growth while the flight that was late is acknowledged",
        absence: Absence::NotApplicable,
        measure: runs::undo,
        ..BASE
    },
    Check {
        id: "9438-undo-curve",
        section: "4.9.2",
        level: Level::Should,
        requirement: "and its curve: W_max, K and the begin of its epoch",
        measured: "window 2 s after the undo over W_max of the epoch that goes on, at 200 ms",
        accepted: Range::within(0.95, 1.08),
        basis: "0.96 to 1.01 by the formula, for a clock that runs on in the stall or not; the curve of the cut that was undone, and one that begins anew, reach 0.92 at most",
        absence: Absence::NotApplicable,
        measure: runs::undo_curve,
        ..BASE
    },
];
