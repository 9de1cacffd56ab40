//! The measures of the checks of CUBIC.

use cwnd::Spec;
use cwnd_sim::Loss;

use crate::checks::{
    ABOVE, Measured, Undone, cut, cut_above, first, growth, later_cut, markable, marked_cut, need, outage, scattered,
    two_cuts, undoing, undone, wide,
};
use crate::lab::Lab;
use crate::record::{Cut, Record};
use crate::unfit::Unfit;

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

pub(super) fn beta(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, ABOVE)?.ratio())
}

/// Once the sawtooth has begun, so that one packet is lost and the flight is one window.
pub(super) fn beta_wire(lab: &Lab<'_>) -> Measured {
    let (record, [_, second]) = two_cuts(lab, 50, 4.0, 1.0)?;
    let rtt = record.rtt;
    let before = record.sent(second.at - rtt, second.at);
    let after = record.sent(second.at + 2.0 * rtt, second.at + 3.0 * rtt);
    need(before > 50, "too little is sent")?;
    Ok(after as f64 / before as f64)
}

pub(super) fn beta_second(lab: &Lab<'_>) -> Measured {
    let (_, [first, second]) = two_cuts(lab, 100, 1.5, 1.0)?;
    need(second.before < 0.98 * first.before, "the second loss finds a window above the first")?;
    Ok(second.ratio())
}

pub(super) fn once(lab: &Lab<'_>) -> Measured {
    let (record, at) = scattered(lab, 100, usize::MAX)?;
    let cut = record.cut(at)?;
    Ok(record.smallest(cut.at, cut.at + 3.0 * record.rtt)? / cut.before)
}

pub(super) fn concave(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 6.0)?;
    show(lab, &record, &cut);
    let t = 0.5 * k(&cut);
    Ok(record.window(cut.at + t)? / curve(&cut, t))
}

pub(super) fn plateau(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 12.0)?;
    show(lab, &record, &cut);
    let aim = 0.98 * cut.before;
    let reached = record.between(cut.at + record.rtt, f64::INFINITY).find(|look| look.window >= aim);
    let reached = reached.ok_or_else(|| Unfit::Absent("the window does not get back".to_string()))?;
    let expected = k(&cut) - (0.02 * cut.before / 0.4).cbrt();
    Ok((reached.at - cut.at) / expected)
}

pub(super) fn convex(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut_above(lab, 15.0)?;
    show(lab, &record, &cut);
    let t = 2.0 * k(&cut);
    Ok(record.window(cut.at + t)? / curve(&cut, t))
}

pub(super) fn constant(lab: &Lab<'_>) -> Measured {
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
pub(super) fn increment(lab: &Lab<'_>) -> Measured {
    let (record, cut) = long(lab, 1000, 18.0)?;
    let middle = cut.at + k(&cut);
    need(record.between(middle, f64::INFINITY).count() > 100, "too little is acknowledged")?;
    let fits = [0.0, record.rtt].map(|late| {
        ratio_of_increments(&record, most(lab), cut.at + late, (k(&cut) + 8.0, k(&cut) + 13.0), |t| curve(&cut, t))
    });
    show(lab, &record, &cut);
    Ok(nearest(fits))
}

pub(super) fn cap(lab: &Lab<'_>) -> Measured {
    let (record, cut) = long(lab, 2000, 20.0)?;
    growth(&record, cut.at + record.rtt, cut.at + 20.0)
}

/// A loss in the second flight of slow start, with `seconds` after it, on a path so long that the window grows much in a round trip. The first
/// timeout of a TCP would come before its first acknowledgement.
fn long(lab: &Lab<'_>, rtt_ms: u64, seconds: f64) -> Result<(Record, Cut), Unfit> {
    let rtt = rtt_ms as f64 / 1e3;
    let at = lab.handshake(rtt_ms) + rtt * (1.0 + lab.phase());
    let testbed = lab.testbed(1000, rtt_ms, 20_000, at + 4.0 * rtt + seconds).lose(at, 1);
    let record = lab.run(&testbed.with(|setup| setup.flows[0].era.initial_rto = cwnd::Span::from_secs(6)))?;
    let cut = record.cut(at)?;
    Ok((record, cut))
}

pub(super) fn monotone(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 8.0)?;
    // A cut may last a round trip.
    let looks: Vec<f64> = record.between(cut.at + 1.5 * record.rtt, f64::INFINITY).map(|look| look.window).collect();
    Ok(looks.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::min))
}

/// Bursts so long after one another that a clock that runs on is far ahead. A sender whose timeout is shorter restarts with each (RFC 5681
/// section 4.1), and is asked with bursts that begin less than a round trip after the last acknowledgement.
pub(super) fn limited_clock(lab: &Lab<'_>) -> Measured {
    for (every_ms, bursts) in [(900, 34), (90, 100)] {
        let at = first(lab, 50) - 0.04;
        let begin = 1.5;
        let end = begin + f64::from(bursts) * every_ms as f64 / 1e3;
        let testbed = lab.testbed(1000, 50, 20_000, end + 1.0).lose(at, 1).trickle(begin, end, 1, every_ms);
        let record = lab.run(&testbed)?;
        record.cut(at)?;
        let before = record.window(begin)?;
        if record.smallest(begin, end)? > 0.6 * before {
            // An application hands more than a window over where windows are small.
            let sent: Vec<f64> = record.data.iter().map(|sent| sent.at as f64 / 1e9).collect();
            let inside = sent.windows(2).filter(|pair| pair[0] > begin && pair[1] < end);
            need(
                inside.map(|pair| pair[1] - pair[0]).any(|gap| gap > record.rtt),
                "its bursts follow each other at once",
            )?;
            return Ok(record.window(end + 6.0 * record.rtt)? / before);
        }
    }
    Err(Unfit::NotApplicable("it restarts within two round trips, so that no pause goes on with its curve"))
}

/// A cut on a path of 10 ms at 150 to 300 packets.
fn short(lab: &Lab<'_>) -> Result<(Record, Cut, f64), Unfit> {
    let at = lab.handshake(10) + 0.04 + 0.01 * lab.phase();
    let record = lab.run(&lab.testbed(1000, 10, 20_000, 3.0).lose(at, 1))?;
    let cut = record.cut(at)?;
    let back = (cut.before - cut.after) / (0.9 / 1.7) * record.rtt;
    lab.formula(cut.at, cut.at + 3.0, |at| {
        let rounds = (at - cut.at) / record.rtt;
        if at < cut.at + back { cut.after + rounds * 0.9 / 1.7 } else { cut.before + (at - cut.at - back) / record.rtt }
    });
    Ok((record, cut, back))
}

pub(super) fn friendly(lab: &Lab<'_>) -> Measured {
    let (record, cut, back) = short(lab)?;
    record.slope(cut.at + 0.3 * back, cut.at + 0.9 * back)
}

pub(super) fn friendly_reset(lab: &Lab<'_>) -> Measured {
    let at = lab.handshake(10) + 0.04 + 0.01 * lab.phase();
    let testbed = |seconds: f64| lab.testbed(1000, 10, 20_000, seconds).lose(at, 1);
    let once = lab.run(&testbed(at + 0.3))?.cut(at)?;
    let record = lab.run(&testbed(3.0).lose(once.at + 0.5, 1))?;
    let cut = record.cut(once.at + 0.5)?;
    let back = (cut.before - cut.after) / (0.9 / 1.7) * record.rtt;
    record.slope(cut.at + 3.0 * record.rtt, cut.at + 0.9 * back)
}

pub(super) fn friendly_above(lab: &Lab<'_>) -> Measured {
    let (record, cut, back) = short(lab)?;
    let from = cut.at + back + 10.0 * record.rtt;
    record.slope(from, from + 40.0 * record.rtt)
}

pub(super) fn no_slower(lab: &Lab<'_>) -> Measured {
    let lossy = |spec: Spec| {
        let testbed = lab.testbed_of(spec, 200, 10, 20_000, 20.0);
        let record = lab.run(&testbed.with(|setup| setup.links[0].loss = Loss::Periodic(1000)))?;
        Ok(record.goodput(4.0, 20.0))
    };
    let reno = Spec::parse("reno").map_err(|error| Unfit::Unclear(error.to_string()))?;
    let reno: f64 = lossy(reno)?;
    let own: f64 = lossy(lab.subject().spec().clone())?;
    Ok(own / reno)
}

pub(super) fn convergence(lab: &Lab<'_>) -> Measured {
    let (record, [once, second]) = two_cuts(lab, 100, 1.5, 8.0)?;
    need(second.before < 0.98 * once.before, "the second loss finds a window above the first")?;
    let t = k_converged(&second);
    lab.formula(second.at, second.at + 2.0 * t, |at| 0.4 * (at - second.at - t).powi(3) + 0.85 * second.before);
    Ok(record.window(second.at + t)? / second.before)
}

pub(super) fn convergence_k(lab: &Lab<'_>) -> Measured {
    let (record, [once, second]) = two_cuts(lab, 100, 1.5, 8.0)?;
    need(second.before < 0.98 * once.before, "the second loss finds a window above the first")?;
    let formula = |t: f64| 0.4 * (t - k_converged(&second)).powi(3) + 0.85 * second.before;
    lab.formula(second.at, second.at + 2.0 * k_converged(&second), |at| formula(at - second.at));
    let t = 0.5 * k_converged(&second);
    Ok(record.window(second.at + t)? / formula(t))
}

pub(super) fn convergence_above(lab: &Lab<'_>) -> Measured {
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

pub(super) fn timeout_epoch(lab: &Lab<'_>) -> Measured {
    let (record, [ended, next], window) = timed_out(lab)?;
    // Flights come once in a round trip: the mean of one.
    let growth = |begin: f64| Ok((record.mean(begin + 8.0)? - window) / (0.4 * 8.0_f64.powi(3)));
    Ok(nearest([growth(ended)?, growth(next)?]))
}

pub(super) fn target(lab: &Lab<'_>) -> Measured {
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

/// The ratio that is nearer to one.
fn nearest(ratios: [f64; 2]) -> f64 {
    let [a, b] = ratios;
    if (a - 1.0).abs() <= (b - 1.0).abs() { a } else { b }
}

pub(super) fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    Ok(record.window(begin + 4.5 * record.rtt)? / record.window(begin)?)
}

pub(super) fn mark(lab: &Lab<'_>) -> Measured {
    Ok(marked_cut(lab, ABOVE)?.ratio())
}

pub(super) fn mark_floor(lab: &Lab<'_>) -> Measured {
    markable(lab)?;
    let at = first(lab, 50);
    lab.run(&wide(lab, 50, 8.0).mark(at, u32::MAX))?.smallest(at, at + 8.0)
}

pub(super) fn undo(lab: &Lab<'_>) -> Measured {
    undone(lab)
}

/// At 300 to 600 packets and a long round trip, where Reno's growth does not hide the curve.
pub(super) fn undo_curve(lab: &Lab<'_>) -> Measured {
    let Undone { record, once, undo, .. } = undoing(lab, 200, 1.0)?;
    show(lab, &record, &once);
    Ok(record.window(undo + 2.0)? / once.before)
}
