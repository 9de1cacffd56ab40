//! CUBIC.

use cwnd::Spec;
use cwnd_sim::Loss;

use super::{
    ABOVE, Measured, cut, cut_above, first, growth, later_cut, marked_cut, need, outage, scattered, threshold_floor,
    timeout_threshold, timeout_window, two_cuts, wide,
};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::{Cut, Lab, Record, Unfit};
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
    basis: "a hundredth for whole packets, two for the lag of a window that follows its target by a round trip",
    absence: Absence::Departs,
    assumes: "",
    measure: beta,
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
        measure: beta,
        ..BASE
    },
    Check {
        id: "9438-beta-wire",
        section: "4.6",
        level: Level::Should,
        requirement: "a loss leaves seven tenths of what is sent per round trip",
        looks: Looks::Wire,
        measured: "packets sent in the third round trip after the cut over those in the one before it",
        accepted: Range::within(0.64, 0.79),
        basis: "the curve has risen by three round trips of 2 % each; round trips of a sender that paces run into each other",
        measure: beta_wire,
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
        measure: beta_second,
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
        measure: once,
        ..BASE
    },
    Check {
        id: "9438-concave",
        section: "4.4",
        level: Level::Must,
        requirement: "below W_max the window follows C (t - K)^3 + W_max",
        measured: "window at t = K/2 over the formula",
        measure: concave,
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
        measure: plateau,
        ..BASE
    },
    Check {
        id: "9438-convex",
        section: "4.5",
        level: Level::Must,
        requirement: "above W_max the window follows C (t - K)^3 + W_max",
        measured: "window at t = 2K over the formula",
        measure: convex,
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
        measure: constant,
        ..BASE
    },
    Check {
        id: "9438-increment",
        section: "4.4, 4.5",
        level: Level::Must,
        requirement: "each packet acknowledged adds (target - window) / window packets, and nothing of it is dropped",
        measured: "growth between 4 and 10 s after K on a path of 1 s over the sum of these increments",
        accepted: Range::within(0.9, 1.07),
        basis: "five in a hundred for what a smoothed round trip and whole packets change of the target, two for acknowledgements of eight packets, and two more; where what exceeds a whole packet is dropped, increments of a fifth to a third of a packet lose an eighth",
        measure: increment,
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
        measure: target,
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
        measure: cap,
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
        measure: monotone,
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
        measure: limited_clock,
        ..BASE
    },
    Check {
        id: "9438-friendly",
        section: "4.3",
        level: Level::Should,
        requirement: "in the Reno-friendly region the window grows by 3 (1 - beta) / (1 + beta) = 0.53 packets per round trip",
        measured: "growth below the last maximum on a path of 10 ms, packets per round trip",
        accepted: Range::within(0.47, 0.59),
        basis: "a tenth: a tenth of the interval lies beside the region",
        measure: friendly,
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
        measure: friendly_above,
        ..BASE
    },
    Check {
        id: "9438-friendly-reset",
        section: "4.3",
        requirement: "the estimate of Reno's window begins anew with each epoch, at the window that the cut left",
        measured: "growth below the maximum after a second cut on a path of 10 ms, packets per round trip",
        accepted: Range::within(0.47, 0.59),
        basis: "a tenth; an estimate that goes on takes the window back at once, and grows by one packet per round trip",
        measure: friendly_reset,
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
        measure: no_slower,
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
        measure: convergence,
        ..BASE
    },
    Check {
        id: "9438-convergence-k",
        section: "4.2, 4.7",
        requirement: "after fast convergence too K counts from the window at which the epoch began",
        measured: "window at t = K/2 after the second cut over the formula",
        measure: convergence_k,
        ..BASE
    },
    Check {
        id: "9438-no-convergence-above",
        section: "4.7",
        level: Level::Step,
        requirement: "a loss above the last W_max makes the window at that loss the new one",
        measured: "window at the plateau after the second cut over the window at that cut",
        accepted: Range::within(0.97, 1.02),
        basis: "a hundredth for whole packets, two for the lag",
        measure: convergence_above,
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
        measure: timeout_epoch,
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
        measure: slow_start,
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
        measure: mark,
        ..BASE
    },
    Check {
        id: "9438-mark-floor",
        section: "4.6",
        level: Level::Must,
        requirement: "marks that go on reduce the window to one packet (two in QUIC)",
        measured: "least window while each packet is marked for 4 s at 50 ms, packets",
        accepted: Range::at_most(2.0),
        basis: "exact",
        measure: mark_floor,
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
        id: "9438-undo",
        section: "4.9.2",
        level: Level::May,
        requirement: "a sender that undoes a spurious loss restores the window that was there before it, and not more",
        measured: "window at the undo over the one before the cut",
        accepted: Range::within(0.98, 1.1),
        basis: "growth while the flight that was late is acknowledged",
        absence: Absence::NotApplicable,
        measure: undo,
        ..BASE
    },
    Check {
        id: "9438-undo-curve",
        section: "4.9.2",
        level: Level::Should,
        requirement: "and its curve: W_max, K and the begin of its epoch",
        measured: "window 2 s after the undo over W_max of the epoch that goes on, at 100 ms",
        accepted: Range::within(0.95, 1.08),
        basis: "0.97 to 1.01 by the formula, for a clock that runs on in the stall or not; a curve of the cut that was undone stays at 0.86 to 0.89",
        absence: Absence::NotApplicable,
        measure: undo_curve,
        ..BASE
    },
];

/// K for a cut.
fn k(cut: &Cut) -> f64 {
    ((cut.before - cut.after) / 0.4).cbrt()
}

/// K after a cut with fast convergence: W_max is 0.85 of the window, and 0.7 are left.
fn k_converged(cut: &Cut) -> f64 {
    (0.15 * cut.before / 0.4).cbrt()
}

/// The window so long after a cut, by the formula.
fn curve(cut: &Cut, t: f64) -> f64 {
    0.4 * (t - k(cut)).powi(3) + cut.before
}

fn beta(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, ABOVE)?.ratio())
}

/// After the sawtooth has begun, so that what is lost is one packet and what is in flight one window.
fn beta_wire(lab: &Lab<'_>) -> Measured {
    let (record, [_, second]) = two_cuts(lab, 50, 4.0, 1.0)?;
    let rtt = record.rtt;
    let before = record.sent(second.at - rtt, second.at);
    let after = record.sent(second.at + 2.0 * rtt, second.at + 3.0 * rtt);
    need(before > 50, "too little is sent")?;
    Ok(after as f64 / before as f64)
}

fn beta_second(lab: &Lab<'_>) -> Measured {
    let (_, [first, second]) = two_cuts(lab, 100, 1.5, 1.0)?;
    need(second.before < 0.98 * first.before, "the second loss finds a window above the first")?;
    Ok(second.ratio())
}

fn once(lab: &Lab<'_>) -> Measured {
    let (record, at) = scattered(lab, 100)?;
    let cut = record.cut(at)?;
    Ok(record.smallest(cut.at, cut.at + 3.0 * record.rtt)? / cut.before)
}

fn concave(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 6.0)?;
    show(lab, &record, &cut);
    let t = 0.5 * k(&cut);
    Ok(record.window(cut.at + t)? / curve(&cut, t))
}

fn plateau(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 12.0)?;
    show(lab, &record, &cut);
    let aim = 0.98 * cut.before;
    let reached = record.between(cut.at + record.rtt, f64::INFINITY).find(|look| look.window >= aim);
    let reached = reached.ok_or_else(|| Unfit::Absent("the window does not get back".to_string()))?;
    let expected = k(&cut) - (0.02 * cut.before / 0.4).cbrt();
    Ok((reached.at - cut.at) / expected)
}

fn convex(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 15.0)?;
    show(lab, &record, &cut);
    let t = 2.0 * k(&cut);
    Ok(record.window(cut.at + t)? / curve(&cut, t))
}

fn constant(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 15.0)?;
    show(lab, &record, &cut);
    let t = 2.0 * k(&cut);
    Ok((record.window(cut.at + t)? - cut.before) / k(&cut).powi(3))
}

/// The formula in the plot.
fn show(lab: &Lab<'_>, record: &Record, cut: &Cut) {
    let end = record.trace.end as f64 / 1e9;
    lab.formula(cut.at, end, |at| curve(cut, at - cut.at));
}

/// The increments follow from the window that is seen, so that a window that lags behind its target asks for more. Senders begin an epoch at the
/// cut, or when recovery has ended a round trip later: the one that fits is taken.
fn increment(lab: &Lab<'_>) -> Measured {
    let (record, cut) = long(lab, 1000, 18.0)?;
    let middle = cut.at + k(&cut);
    need(record.between(middle, f64::INFINITY).count() > 100, "too little is acknowledged")?;
    let fits = [0.0, record.rtt].map(|late| {
        ratio_of_increments(&record, most(lab), cut.at + late, (k(&cut) + 4.0, k(&cut) + 10.0), |t| curve(&cut, t))
    });
    show(lab, &record, &cut);
    Ok(nearest(fits))
}

fn cap(lab: &Lab<'_>) -> Measured {
    let (record, cut) = long(lab, 2000, 20.0)?;
    growth(&record, cut.at + record.rtt, cut.at + 20.0)
}

/// A loss in the second flight of slow start on a path so long that windows grow much in a round trip, and so many seconds more. The first
/// timeout of a TCP would come before its first acknowledgement.
fn long(lab: &Lab<'_>, rtt_ms: u64, seconds: f64) -> Result<(Record, Cut), Unfit> {
    let rtt = rtt_ms as f64 / 1e3;
    let at = lab.handshake(rtt_ms) + rtt * (1.0 + lab.phase());
    let course = lab.course(1000, rtt_ms, 20_000, at + 4.0 * rtt + seconds).lose(at, 1);
    let record = lab.run(&course.with(|setup| setup.flows[0].era.initial_rto = cwnd::Span::from_secs(6)))?;
    let cut = record.cut(at)?;
    Ok((record, cut))
}

fn monotone(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 8.0)?;
    let looks: Vec<f64> = record.between(cut.at + record.rtt, f64::INFINITY).map(|look| look.window).collect();
    Ok(looks.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::min))
}

/// Bursts so long after one another that a clock that runs on is far ahead. A sender whose timeout is shorter restarts with each (RFC 5681
/// section 4.1), and is asked with bursts that begin less than a round trip after the last acknowledgement.
fn limited_clock(lab: &Lab<'_>) -> Measured {
    for (every_ms, bursts) in [(900, 34), (90, 100)] {
        let at = first(lab, 50) - 0.04;
        let begin = 1.5;
        let end = begin + f64::from(bursts) * every_ms as f64 / 1e3;
        let course = lab.course(1000, 50, 20_000, end + 1.0).lose(at, 1).trickle(begin, end, 1, every_ms);
        let record = lab.run(&course)?;
        record.cut(at)?;
        let before = record.window(begin)?;
        if record.smallest(begin, end)? > 0.6 * before {
            return Ok(record.window(end + 6.0 * record.rtt)? / before);
        }
    }
    Err(Unfit::NotApplicable("it restarts within two round trips, so that no pause goes on with its curve"))
}

/// A cut on a path of 10 ms at 150 to 300 packets.
fn short(lab: &Lab<'_>) -> Result<(Record, Cut, f64), Unfit> {
    let at = lab.handshake(10) + 0.04 + 0.01 * lab.phase();
    let record = lab.run(&lab.course(1000, 10, 20_000, 3.0).lose(at, 1))?;
    let cut = record.cut(at)?;
    let back = (cut.before - cut.after) / (0.9 / 1.7) * record.rtt;
    lab.formula(cut.at, cut.at + 3.0, |at| {
        let rounds = (at - cut.at) / record.rtt;
        if at < cut.at + back { cut.after + rounds * 0.9 / 1.7 } else { cut.before + (at - cut.at - back) / record.rtt }
    });
    Ok((record, cut, back))
}

fn friendly(lab: &Lab<'_>) -> Measured {
    let (record, cut, back) = short(lab)?;
    record.slope(cut.at + 0.3 * back, cut.at + 0.9 * back)
}

fn friendly_reset(lab: &Lab<'_>) -> Measured {
    let at = lab.handshake(10) + 0.04 + 0.01 * lab.phase();
    let course = lab.course(1000, 10, 20_000, 3.0).lose(at, 1);
    let once = lab.run(&course)?.cut(at)?;
    let record = lab.run(&course.lose(once.at + 0.5, 1))?;
    let cut = record.cut(once.at + 0.5)?;
    let back = (cut.before - cut.after) / (0.9 / 1.7) * record.rtt;
    record.slope(cut.at + 3.0 * record.rtt, cut.at + 0.9 * back)
}

fn friendly_above(lab: &Lab<'_>) -> Measured {
    let (record, cut, back) = short(lab)?;
    let from = cut.at + back + 10.0 * record.rtt;
    record.slope(from, from + 40.0 * record.rtt)
}

fn no_slower(lab: &Lab<'_>) -> Measured {
    let lossy = |spec: Spec| {
        let course = lab.course_of(spec, 200, 10, 20_000, 20.0);
        let record = lab.run(&course.with(|setup| setup.links[0].loss = Loss::Periodic(1000)))?;
        Ok(record.goodput(4.0, 20.0))
    };
    let reno = Spec::parse("reno").map_err(|error| Unfit::Unclear(error.to_string()))?;
    let reno: f64 = lossy(reno)?;
    let own: f64 = lossy(lab.subject().spec().clone())?;
    Ok(own / reno)
}

fn convergence(lab: &Lab<'_>) -> Measured {
    let (record, [once, second]) = two_cuts(lab, 100, 1.5, 8.0)?;
    need(second.before < 0.98 * once.before, "the second loss finds a window above the first")?;
    let t = k_converged(&second);
    lab.formula(second.at, second.at + 2.0 * t, |at| 0.4 * (at - second.at - t).powi(3) + 0.85 * second.before);
    Ok(record.window(second.at + t)? / second.before)
}

fn convergence_k(lab: &Lab<'_>) -> Measured {
    let (record, [once, second]) = two_cuts(lab, 100, 1.5, 8.0)?;
    need(second.before < 0.98 * once.before, "the second loss finds a window above the first")?;
    let formula = |t: f64| 0.4 * (t - k_converged(&second)).powi(3) + 0.85 * second.before;
    lab.formula(second.at, second.at + 2.0 * k_converged(&second), |at| formula(at - second.at));
    let t = 0.5 * k_converged(&second);
    Ok(record.window(second.at + t)? / formula(t))
}

fn convergence_above(lab: &Lab<'_>) -> Measured {
    let (record, second) = cut_above(lab, 8.0)?;
    show(lab, &record, &second);
    Ok(record.window(second.at + k(&second))? / second.before)
}

/// Everything is lost for three seconds on a path of 500 ms, and slow start takes the window back: the times at which the clock of the curve
/// may begin, when it has ended and with the acknowledgement after, and the window then.
fn timed_out(lab: &Lab<'_>) -> Result<(Record, [f64; 2], f64), Unfit> {
    lab.timeout()?;
    let (record, from, to) = outage(lab, 500, 3.0, 24.0)?;
    record.threshold(to)?;
    let least = record.between(from, f64::INFINITY).filter(|look| look.window <= 3.0).last();
    let least =
        least.ok_or_else(|| Unfit::Absent("the timeout does not reduce the window to its least".to_string()))?;
    let ended = record.between(least.at, f64::INFINITY).find(|look| look.window >= look.threshold);
    let ended = ended.ok_or_else(|| Unfit::Absent("slow start does not end".to_string()))?;
    let (at, window) = (ended.at, ended.window);
    lab.formula(at, at + 8.0, |now| window + 0.4 * (now - at).powi(3));
    let next =
        record.between(at, f64::INFINITY).find(|look| look.delivered > ended.delivered).map_or(at, |look| look.at);
    Ok((record, [at, next], window))
}

fn timeout_epoch(lab: &Lab<'_>) -> Measured {
    let (record, [ended, next], window) = timed_out(lab)?;
    // Flights come once in a round trip: the mean of one.
    let growth = |begin: f64| Ok((record.mean(begin + 8.0)? - window) / (0.4 * 8.0_f64.powi(3)));
    Ok(nearest([growth(ended)?, growth(next)?]))
}

fn target(lab: &Lab<'_>) -> Measured {
    let (record, begins, window) = timed_out(lab)?;
    let curve = |t: f64| 0.4 * t.powi(3) + window;
    Ok(nearest(begins.map(|begin| ratio_of_increments(&record, most(lab), begin, (3.0, 8.0), curve))))
}

/// The growth between two ages of a curve that begins at `begin`, over the sum of the increments by which the window approaches it; a target is
/// at most `most` windows.
fn ratio_of_increments(
    record: &Record,
    most: f64,
    begin: f64,
    (from, to): (f64, f64),
    curve: impl Fn(f64) -> f64,
) -> f64 {
    let looks: Vec<_> = record.between(begin + from, begin + to).collect();
    let due = looks.windows(2).map(|pair| {
        let window = pair[0].window;
        let target = curve(pair[1].at + record.rtt - begin).clamp(window, most * window);
        (pair[1].delivered - pair[0].delivered) as f64 * (target - window) / window
    });
    let found = looks.windows(2).map(|pair| pair[1].window - pair[0].window);
    found.sum::<f64>() / due.sum::<f64>()
}

/// The bound of the target, windows: RFC 8312 has none.
fn most(lab: &Lab<'_>) -> f64 {
    if lab.subject().follows_rfc8312() { f64::INFINITY } else { 1.5 }
}

/// Of two ratios the one nearer to one.
fn nearest(ratios: [f64; 2]) -> f64 {
    let [a, b] = ratios;
    if (a - 1.0).abs() <= (b - 1.0).abs() { a } else { b }
}

fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    Ok(record.window(begin + 4.5 * record.rtt)? / record.window(begin)?)
}

fn mark(lab: &Lab<'_>) -> Measured {
    Ok(marked_cut(lab, ABOVE)?.ratio())
}

fn mark_floor(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50);
    let record = lab.run(&wide(lab, 50, 4.0).mark(at, u32::MAX))?;
    super::marked(&record)?;
    record.smallest(at, at + 4.0)
}

fn undo(lab: &Lab<'_>) -> Measured {
    super::undone(lab)
}

fn undo_curve(lab: &Lab<'_>) -> Measured {
    let super::Undone { record, once, undo, .. } = super::undoing(lab, 100, 8.0)?;
    show(lab, &record, &once);
    Ok(record.window(undo + 2.0)? / once.before)
}
