//! The numbers of the properties, each a function of a run. [`PROPERTIES`](crate::property::PROPERTIES) defines them.

use cwnd_run::measure::{Curve, Window, fair_shares, flow_delay, recovery_time, utilisation};
use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use crate::observed::Observed;

pub(crate) fn progress(run: &Observed<'_>) -> Option<f64> {
    let link = run.link()?;
    let flows = run.trace.flows.len().max(1) as f64;
    run.bounded().map(|flow| longest_at_minimum(run.trace, link, flow, flows)).reduce(f64::max)
}

fn longest_at_minimum(trace: &Trace, link: &LinkTrace, flow: &FlowTrace, flows: f64) -> f64 {
    let (mut longest, mut now) = (0.0_f64, 0.0);
    for at in steps(trace) {
        let seconds = seconds(trace, at);
        let still = |counts: &[u64]| rise(counts, at) == 0;
        let room = bytes_per_second(trace, link, at) * flow.base_rtt as f64 * 1e-9 / f64::from(flow.packet.max(1));
        let at_minimum = flow.window[at - 1] <= MINIMUM && flow.window[at] <= MINIMUM;
        let quiet = [&flow.lost, &flow.timeouts, &flow.dropped, &flow.source_limited].into_iter().all(|one| still(one));
        now = if at_minimum && quiet && !still(&flow.delivered) && room >= ROOM * flows {
            now + seconds / flow.srtt[at].max(flow.base_rtt as f64 * 1e-9)
        } else {
            0.0
        };
        longest = longest.max(now);
    }
    longest
}

pub(crate) fn backlog_utilisation(run: &Observed<'_>) -> Option<f64> {
    let link = run.link()?;
    windows(run.trace).filter_map(|window| utilisation(run.trace, link, window)).reduce(f64::min)
}

pub(crate) fn starvation(run: &Observed<'_>) -> Option<f64> {
    let count = run.subjects().count();
    let goodputs: Option<Vec<f64>> = run.summary.flow_goodput_bps.iter().take(count).copied().collect();
    let goodputs = goodputs.filter(|goodputs| goodputs.len() > 1)?;
    let (least, most) = goodputs.iter().fold((f64::MAX, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
    (most > 0.0).then_some(least / most)
}

pub(crate) fn recovery(run: &Observed<'_>) -> Option<f64> {
    let outages = &run.scenario.document().dumbbell.as_ref()?.outage;
    let last = outages.last()?.value();
    let end = last.to?.as_nanos();
    let length = (end - last.from.as_nanos()) as f64 * 1e-9;
    let rest = run.trace.end.saturating_sub(end) as f64 * 1e-9;
    let taken = recovery_time(run.trace, run.link()?, end).unwrap_or(rest);
    Some(taken / length.max(1.0))
}

pub(crate) fn cause_of_cuts(run: &Observed<'_>) -> Option<f64> {
    run.bounded().map(|flow| largest_cut(run.trace, flow)).reduce(f64::max)
}

fn largest_cut(trace: &Trace, flow: &FlowTrace) -> f64 {
    let mut largest = 0.0_f64;
    for at in steps(trace) {
        let (before, after) = (flow.window[at - 1], flow.window[at]);
        if after < before && has_cause(trace, flow, at) == Some(false) {
            largest = largest.max(1.0 - after / before);
        }
    }
    largest
}

/// Whether a packet of the flow was lost, dropped or marked, or timed out, in the four round trips before a sample; none before a round-trip
/// time is known.
fn has_cause(trace: &Trace, flow: &FlowTrace, at: usize) -> Option<bool> {
    let srtt = flow.srtt[at].max(flow.srtt[at - 1]);
    let from = trace.at[at - 1].saturating_sub((4.0 * srtt * 1e9) as u64);
    let first = trace.at.partition_point(|instant| *instant <= from).saturating_sub(1);
    let causes = [&flow.lost, &flow.dropped, &flow.marked, &flow.timeouts];
    (!srtt.is_nan()).then(|| causes.into_iter().any(|counts| counts[first] != counts[at]))
}

pub(crate) fn depth_of_cuts(run: &Observed<'_>) -> Option<f64> {
    let deepest = |flow: &FlowTrace| {
        let cut = |at: usize| {
            let (before, after) = (flow.window[at - 1], flow.window[at]);
            let counts = before >= WIDE && after < before && rise(&flow.timeouts, at) == 0;
            (counts && has_cause(run.trace, flow, at) == Some(true)).then(|| 1.0 - after / before)
        };
        steps(run.trace).filter_map(cut).fold(0.0, f64::max)
    };
    run.bounded().map(deepest).reduce(f64::max)
}

/// None where little is sent: the packets of a handshake bring the receiver no data, and would count as repeats.
pub(crate) fn needless_repeats(run: &Observed<'_>) -> Option<f64> {
    let share = |flow: &FlowTrace| {
        let last = |counts: &[u64]| counts.last().copied().unwrap_or_default();
        let sent = last(&flow.sent);
        let needless = sent.saturating_sub(last(&flow.delivered) + last(&flow.dropped) + last(&flow.in_flight));
        (sent >= ENOUGH).then(|| needless as f64 / sent as f64)
    };
    run.subjects().filter_map(share).reduce(f64::max)
}

pub(crate) fn standing_queue(run: &Observed<'_>) -> Option<f64> {
    let (link, trace) = (run.link()?, run.trace);
    let rtt = run.subjects().map(|flow| flow.base_rtt).max()? as f64 * 1e-9;
    let product = link.rate? as f64 / 8.0 * rtt;
    let least = |window: Window| {
        let from = trace.at.partition_point(|at| *at < window.from);
        let to = trace.at.partition_point(|at| *at <= window.to);
        link.queue_bytes.get(from..to)?.iter().min().copied()
    };
    let standing = windows(trace).filter_map(least).max()? as f64;
    (product > 0.0).then_some(standing / product)
}

pub(crate) fn steady_loss(run: &Observed<'_>) -> Option<f64> {
    let link = run.link()?;
    let window = Window { from: run.trace.warmup, to: run.trace.end };
    let rise = |counts: &[u64]| Curve::new(&run.trace.at, counts).rise(window);
    let offered = rise(&link.offered);
    (offered > 0.0).then(|| rise(&link.dropped) / offered)
}

pub(crate) fn longest_silence(run: &Observed<'_>) -> Option<f64> {
    let trace = run.trace;
    let stages = run.scenario.document().dumbbell.iter().flat_map(|path| &path.outage).map(|stage| *stage.value());
    let out: f64 = stages
        .map(|stage| stage.to.map_or(trace.end, cwnd::Span::as_nanos) - stage.from.as_nanos())
        .sum::<u64>() as f64
        * 1e-9;
    let silence = |flow: &FlowTrace| {
        let (mut longest, mut now) = (0.0_f64, 0.0);
        for at in steps(trace) {
            let there = trace.at[at - 1] >= flow.start + flow.late
                && flow.stop.is_none_or(|stop| trace.at[at] <= stop)
                && flow.acknowledged.is_none_or(|took| trace.at[at] < flow.start + flow.late + took);
            let silent = there && rise(&flow.sent, at) == 0 && rise(&flow.source_limited, at) == 0;
            now = if silent { now + seconds(trace, at) } else { 0.0 };
            longest = longest.max(now);
        }
        longest
    };
    let longest = run.subjects().map(silence).reduce(f64::max)?;
    Some((longest - 2.0 * out).max(0.0))
}

/// Seconds; the property divides them by those of its rivals.
pub(crate) fn completion(run: &Observed<'_>) -> Option<f64> {
    let flow = run.subjects().next().filter(|flow| flow.size.is_some())?;
    Some(flow.completed.unwrap_or(2 * run.trace.end) as f64 * 1e-9)
}

pub(crate) fn unused_growth(run: &Observed<'_>) -> Option<f64> {
    run.bounded().map(|flow| largest_unused_growth(run.trace, flow)).reduce(f64::max)
}

fn largest_unused_growth(trace: &Trace, flow: &FlowTrace) -> f64 {
    let (mut largest, mut least) = (1.0_f64, f64::INFINITY);
    for at in steps(trace) {
        let most = flow.in_flight[at - 1] + rise(&flow.sent, at);
        let before = flow.window[at - 1];
        let unused = most as f64 <= UNUSED * before && rise(&flow.source_limited, at) > 0;
        least = if unused { least.min(before) } else { f64::INFINITY };
        largest = largest.max(flow.window[at] / least);
    }
    largest
}

pub(crate) fn doubling(run: &Observed<'_>) -> Option<f64> {
    run.bounded().map(|flow| fastest_growth(run.trace, flow)).reduce(f64::max)
}

fn fastest_growth(trace: &Trace, flow: &FlowTrace) -> f64 {
    let growth = |at: usize| {
        let round = flow.srtt[at].max(flow.base_rtt as f64 * 1e-9);
        let begin = trace.at[at].checked_sub((round * 1e9) as u64)?;
        let from = trace.at.partition_point(|instant| *instant <= begin).checked_sub(1)?;
        let grown = flow.window[at] - flow.window[from];
        let acknowledged = (flow.in_flight[from] + flow.sent[at] - flow.sent[from]).saturating_sub(flow.in_flight[at]);
        (grown.is_finite() && has_cause(trace, flow, at) == Some(false)).then(|| grown / acknowledged.max(1) as f64)
    };
    steps(trace).filter_map(growth).fold(0.0, f64::max)
}

/// None where no packet of a subject is marked.
pub(crate) fn unanswered_marks(run: &Observed<'_>) -> Option<f64> {
    let marked = run.bounded().filter(|flow| flow.marked.last().is_some_and(|marked| *marked > 0));
    marked.map(|flow| longest_without_answer(run.trace, flow)).reduce(f64::max)
}

fn longest_without_answer(trace: &Trace, flow: &FlowTrace) -> f64 {
    let mut longest = 0.0_f64;
    // The first mark without an answer, and the newest.
    let mut marks: Option<(u64, u64)> = None;
    for at in steps(trace) {
        let now = trace.at[at];
        let srtt = flow.srtt[at].max(flow.base_rtt as f64 * 1e-9);
        let answered = flow.window[at] < flow.window[at - 1] || flow.window[at] <= MINIMUM;
        marks = marks.filter(|(_, newest)| !answered && (now - newest) as f64 * 1e-9 <= srtt);
        if !answered && rise(&flow.marked, at) > 0 {
            let (first, _) = *marks.get_or_insert((now, now));
            marks = Some((first, now));
            longest = longest.max((now - first) as f64 * 1e-9 / srtt);
        }
    }
    longest
}

/// None where no competitor has a share.
pub(crate) fn classic_starved(run: &Observed<'_>) -> Option<f64> {
    let shares = fair_shares(run.trace, Window::measured(run.trace));
    let each = run.summary.flow_goodput_bps.iter().zip(shares).skip(run.subjects().count());
    let of = |(goodput, share): (&Option<f64>, Option<f64>)| {
        share.filter(|share| *share > 0.0).map(|share| goodput.unwrap_or(0.0) / share)
    };
    each.filter_map(of).reduce(f64::min)
}

pub(crate) fn l4s_delay(run: &Observed<'_>) -> Option<f64> {
    let rate = run.link()?.rate.filter(|rate| *rate > 0)? as f64;
    let window = Window::measured(run.trace);
    let delay = |flow: &FlowTrace| {
        let unavoidable = SPARED * 8.0 * f64::from(flow.packet) / rate;
        Some((flow_delay(run.trace, flow, window)?.p99 - unavoidable).max(0.0))
    };
    run.subjects().filter_map(delay).reduce(f64::max)
}

/// The indices of samples that have one before them.
fn steps(trace: &Trace) -> impl Iterator<Item = usize> + use<> {
    1..trace.at.len()
}

fn rise(counts: &[u64], at: usize) -> u64 {
    counts[at] - counts[at - 1]
}

fn seconds(trace: &Trace, at: usize) -> f64 {
    (trace.at[at] - trace.at[at - 1]) as f64 * 1e-9
}

/// What the link can carry between two samples.
fn bytes_per_second(trace: &Trace, link: &LinkTrace, at: usize) -> f64 {
    match link.capacity_bytes.is_empty() {
        true => link.rate.unwrap_or(0) as f64 / 8.0,
        false => rise(&link.capacity_bytes, at) as f64 / seconds(trace, at),
    }
}

/// The windows of 10 s after the warm-up, or of half of the measured time if that is shorter, one from each sample on.
fn windows(trace: &Trace) -> impl Iterator<Item = Window> + '_ {
    let length = LONG.min(trace.end.saturating_sub(trace.warmup) / 2);
    let from = trace.at.iter().copied().filter(move |from| *from >= trace.warmup && *from + length <= trace.end);
    from.map(move |from| Window { from, to: from + length }).filter(|window| !window.is_empty())
}

/// The minimum window of BBR; other algorithms have one or two packets.
const MINIMUM: f64 = 4.0;
/// Packets of each flow for which a path has to have room, so that a window at its minimum is a fault.
const ROOM: f64 = 8.0;
/// Packets of a window whose cut shows its factor, rounded to packets or not.
const WIDE: f64 = 16.0;
/// Packets among which those of a handshake, about seven, are few.
const ENOUGH: u64 = 100;
/// A window of which no larger share is in flight is not used.
const UNUSED: f64 = 0.5;
const LONG: u64 = 10_000_000_000;
/// Packets of which the delay is no fault: the one on the line, and the one that a low-latency queue does not mark (RFC 9332 appendix A.1).
const SPARED: f64 = 2.0;

#[cfg(test)]
mod tests {
    use cwnd_run::measure::{Summary, summarise};
    use cwnd_run::scenario::Scenario;

    use super::*;
    use crate::property::Promise;

    const TENTH: u64 = 100_000_000;
    const SAMPLES: u64 = 201;

    /// A flow of 80 packets per sample on a link of 12 Mbit/s (100 packets of 1500 B per sample) with 50 ms, for 20 s.
    fn trace() -> Trace {
        let count = |per: u64| (0..SAMPLES).map(|k| k * per).collect();
        let flow = FlowTrace {
            packet: 1500,
            payload: 1460,
            base_rtt: TENTH / 2,
            links: vec![0].into(),
            sent: count(80),
            delivered: count(80),
            lost: count(0),
            dropped: count(0),
            marked: count(0),
            timeouts: count(0),
            source_limited: count(0),
            window: (0..SAMPLES).map(|_| 40.0).collect(),
            srtt: (0..SAMPLES).map(|_| 0.05).collect(),
            ..FlowTrace::default()
        };
        let link = LinkTrace {
            rate: Some(12_000_000),
            offered: count(80),
            dropped: count(0),
            carried_bytes: count(120_000),
            queue_bytes: (0..SAMPLES).map(|_| 37_500).collect(),
            ..LinkTrace::default()
        };
        let at = (0..SAMPLES).map(|k| k * TENTH).collect();
        Trace { at, warmup: 50 * TENTH, end: 200 * TENTH, flows: vec![flow], links: vec![link], ..Trace::default() }
    }

    fn value(trace: &Trace, promise: &str) -> Option<f64> {
        value_on(trace, promise, "")
    }

    fn value_on(trace: &Trace, promise: &str, path: &str) -> Option<f64> {
        let text =
            format!("duration = \"20s\"\n[dumbbell]\nrate = \"12mbit\"\n{path}\n[[flow]]\nalgorithm = \"reno\"\n");
        let scenario = Scenario::read("test", &text, &[]).expect("it is valid");
        let summary: Summary = summarise(trace, 0);
        let promise: Promise = promise.parse().expect("it is registered");
        promise.number(&Observed { scenario: &scenario, trace, summary: &summary })
    }

    #[track_caller]
    fn close(value: Option<f64>, expected: f64) {
        assert!(value.is_some_and(|value| (value - expected).abs() < 1e-6), "{value:?}, not {expected}");
    }

    #[test]
    fn an_expression_has_the_measures_of_a_run_and_the_worst_of_its_flows() {
        let mut trace = trace();
        close(value(&trace, "utilisation - 2*loss_rate > 0.4"), 0.8);
        close(value(&trace, "flow_goodput_bps * rtt < 1e9"), 80.0 * 10.0 * 1460.0 * 8.0 * 0.05);
        let slow = FlowTrace { delivered: (0..SAMPLES).map(|k| k * 8).collect(), ..trace.flows[0].clone() };
        trace.flows.push(slow.clone());
        trace.flows.push(FlowTrace { name: "competitor".to_string(), delivered: slow.sent.clone(), ..slow });
        close(value(&trace, "flow_goodput_bps / goodput_bps > 0.1"), 1.0 / 21.0);
        close(value(&trace, "flow_goodput_bps / goodput_bps < 0.1"), 10.0 / 21.0);
        close(value(&trace, "flow_goodput_bps > 1"), 80.0 * 1460.0 * 8.0);
        // No number: a measure that this run lacks, and a division by zero.
        assert_eq!(["completion_time_s + 1 > 2", "1/loss_rate > 2"].map(|text| value(&trace, text)), [None; 2]);
        close(value(&trace, "if(utilisation > 0.5, 3, completion_time_s) > 2"), 3.0);
    }

    #[test]
    fn a_window_at_its_minimum_is_counted_in_round_trips_between_losses() {
        let mut trace = trace();
        close(value(&trace, "progress"), 0.0);
        trace.flows[0].window[100..=120].fill(2.0);
        close(value(&trace, "progress"), 40.0);
        trace.flows[0].lost[115..].fill(1);
        // 14 steps of two round trips up to the loss.
        close(value(&trace, "progress"), 28.0);
        // The path has room for 2 packets.
        trace.links[0].rate = Some(480_000);
        close(value(&trace, "progress"), 0.0);
    }

    #[test]
    fn utilisation_is_that_of_the_worst_window() {
        let mut trace = trace();
        close(value(&trace, "backlog-utilisation"), 0.8);
        for k in 100..SAMPLES {
            trace.links[0].carried_bytes[k as usize] = 12_000_000;
        }
        // Half of the measured 15 s, the last of them, after second 10.
        close(value(&trace, "backlog-utilisation"), 0.0);
    }

    #[test]
    fn starvation_needs_two_flows_and_leaves_out_the_competitor() {
        let mut trace = trace();
        assert_eq!(value(&trace, "starvation"), None);
        let slow = FlowTrace { delivered: (0..SAMPLES).map(|k| k * 8).collect(), ..trace.flows[0].clone() };
        trace.flows.push(slow.clone());
        close(value(&trace, "starvation"), 0.1);
        let none = FlowTrace { delivered: (0..SAMPLES).map(|_| 0).collect(), name: "competitor".to_string(), ..slow };
        trace.flows.push(none);
        close(value(&trace, "starvation"), 0.1);
    }

    #[test]
    fn recovery_counts_from_the_end_of_the_outage() {
        let mut trace = trace();
        for k in 0..SAMPLES as usize {
            let after = k.saturating_sub(100) as u64;
            trace.links[0].carried_bytes[k] = after * 150_000;
        }
        // The link is full from second 10 on: 5.2 s after the outage of 2 s, to the end of the first full 200 ms.
        close(value_on(&trace, "recovery", "outage = [\"3s..5s\"]"), 2.6);
        assert_eq!(value(&trace, "recovery"), None);
    }

    #[test]
    fn a_cut_needs_a_reason() {
        let mut trace = trace();
        trace.flows[0].window[100..].fill(20.0);
        close(value(&trace, "cause-of-cuts"), 0.5);
        trace.flows[0].lost[98..].fill(3);
        close(value(&trace, "cause-of-cuts"), 0.0);
        trace.flows[0].lost.fill(0);
        trace.flows[0].lost[90..].fill(3);
        close(value(&trace, "cause-of-cuts"), 0.5);
    }

    #[test]
    fn a_cut_is_as_deep_as_the_window_before_it_without_timeouts() {
        let mut trace = trace();
        close(value(&trace, "depth-of-cuts"), 0.0);
        trace.flows[0].window[100..].fill(24.0);
        trace.flows[0].window[120..].fill(10.0);
        // Without a cause it is no cut after a loss.
        close(value(&trace, "depth-of-cuts"), 0.0);
        trace.flows[0].dropped[99..].fill(1);
        trace.flows[0].dropped[119..].fill(2);
        close(value(&trace, "depth-of-cuts"), 14.0 / 24.0);
        trace.flows[0].timeouts[120..].fill(1);
        close(value(&trace, "depth-of-cuts"), 0.4);
        // The cuts of windows below 16 packets do not count.
        trace.flows[0].window[..100].fill(15.0);
        close(value(&trace, "depth-of-cuts"), 0.0);
    }

    #[test]
    fn a_sender_without_a_window_is_not_judged_by_it() {
        let mut trace = trace();
        trace.flows[0].in_flight = (0..SAMPLES).map(|_| 0).collect();
        trace.flows[0].marked[100..].fill(1);
        let properties =
            ["progress", "cause-of-cuts", "depth-of-cuts", "unused-growth", "doubling", "response-to-marks"];
        assert!(properties.iter().all(|property| value(&trace, property).is_some()));
        trace.flows[0].window.fill(f64::INFINITY);
        assert!(properties.iter().all(|property| value(&trace, property).is_none()));
    }

    #[test]
    fn a_repeat_is_needless_unless_a_packet_was_lost() {
        let mut trace = trace();
        close(value(&trace, "needless-repeats"), 0.0);
        trace.flows[0].delivered[200] = 10_000;
        close(value(&trace, "needless-repeats"), 0.375);
        trace.flows[0].in_flight = (0..SAMPLES).map(|_| 2000).collect();
        close(value(&trace, "needless-repeats"), 0.25);
        trace.flows[0].dropped[200] = 4000;
        close(value(&trace, "needless-repeats"), 0.0);
        trace.flows[0].sent.fill(99);
        assert_eq!(value(&trace, "needless-repeats"), None);
    }

    #[test]
    fn a_queue_stands_as_high_as_its_lowest_sample() {
        let mut trace = trace();
        // 75 kB are a bandwidth-delay product.
        close(value(&trace, "standing-queue"), 0.5);
        trace.links[0].queue_bytes[125] = 0;
        // A window of 7.5 s lies on each side of the dip but for one sample.
        close(value(&trace, "standing-queue"), 0.0);
    }

    #[test]
    fn loss_is_that_of_the_queue_after_the_warmup() {
        let mut trace = trace();
        trace.links[0].dropped[..50].fill(0);
        for k in 50..SAMPLES as usize {
            trace.links[0].dropped[k] = (k as u64 - 50) * 4;
        }
        close(value(&trace, "steady-loss"), 0.05);
    }

    #[test]
    fn silence_is_less_what_an_outage_explains() {
        let mut trace = trace();
        close(value(&trace, "no-deadlock"), 0.0);
        trace.flows[0].sent[100..].fill(8000);
        close(value(&trace, "no-deadlock"), 10.0);
        close(value_on(&trace, "no-deadlock", "outage = [\"3s..5s\"]"), 6.0);
        trace.flows[0].stop = Some(100 * TENTH);
        close(value(&trace, "no-deadlock"), 0.0);
    }

    #[test]
    fn a_transfer_that_does_not_end_counts_twice_the_run() {
        let mut trace = trace();
        assert_eq!(value(&trace, "completion"), None);
        trace.flows[0].size = Some(100);
        close(value(&trace, "completion"), 40.0);
        trace.flows[0].completed = Some(30 * TENTH);
        close(value(&trace, "completion"), 3.0);
    }

    #[test]
    fn growth_counts_while_little_is_in_flight() {
        let mut trace = trace();
        trace.flows[0].in_flight = (0..SAMPLES).map(|_| 0).collect();
        trace.flows[0].source_limited = (0..SAMPLES).map(|k| k * TENTH / 2).collect();
        trace.flows[0].window.fill(400.0);
        trace.flows[0].window[50..].fill(600.0);
        close(value(&trace, "unused-growth"), 1.5);
        // 80 packets per sample are more than half of 150.
        trace.flows[0].window[..100].fill(150.0);
        close(value(&trace, "unused-growth"), 1.0);
        trace.flows[0].window.fill(400.0);
        trace.flows[0].window[50..].fill(600.0);
        trace.flows[0].source_limited.fill(0);
        close(value(&trace, "unused-growth"), 1.0);
    }

    #[test]
    fn a_window_grows_by_what_is_acknowledged() {
        let mut trace = trace();
        let flow = &mut trace.flows[0];
        flow.in_flight = (0..SAMPLES).map(|_| 40).collect();
        // A round trip of two samples: 160 packets are acknowledged in each.
        flow.srtt.fill(0.2);
        flow.window.fill(100.0);
        flow.window[100..].fill(260.0);
        close(value(&trace, "doubling"), 1.0);
        trace.flows[0].window[101..].fill(340.0);
        close(value(&trace, "doubling"), 1.5);
        // Packets in flight are not acknowledged.
        trace.flows[0].in_flight[101] = 120;
        close(value(&trace, "doubling"), 3.0);
        // A packet is lost less than four round trips before the first of two ends.
        trace.flows[0].lost[93..].fill(1);
        close(value(&trace, "doubling"), 80.0 / 160.0);
    }

    #[test]
    fn marks_are_answered_by_a_smaller_window() {
        let mut trace = trace();
        assert_eq!(value(&trace, "response-to-marks"), None);
        // Marks in the samples 100 to 130 of a round trip of 100 ms each.
        trace.flows[0].srtt.fill(0.1);
        for k in 0..SAMPLES as usize {
            trace.flows[0].marked[k] = k.clamp(100, 130) as u64;
        }
        close(value(&trace, "response-to-marks"), 29.0);
        for k in 110..SAMPLES as usize {
            trace.flows[0].window[k] = 30.0;
        }
        close(value(&trace, "response-to-marks"), 19.0);
    }

    #[test]
    fn a_classic_flow_is_starved_below_a_sixteenth_of_its_share() {
        let mut trace = trace();
        assert_eq!(value(&trace, "classic-starved"), None);
        let name = "competitor".to_string();
        let classic = FlowTrace { delivered: (0..SAMPLES).map(|k| k * 20).collect(), name, ..trace.flows[0].clone() };
        trace.flows.push(classic);
        // Half of the line is 50 packets per sample.
        let promise: Promise = "classic-starved".parse().expect("registered");
        close(value(&trace, "classic-starved"), 0.4);
        assert!(promise.margin(0.4) > 0.0);
        trace.flows[1].delivered = (0..SAMPLES).map(|k| k * 3).collect();
        close(value(&trace, "classic-starved"), 0.06);
        assert!(promise.margin(0.06) < 0.0);
    }

    #[test]
    fn the_delay_of_l4s_is_less_two_packets() {
        let mut trace = trace();
        close(value(&trace, "l4s-delay"), 0.0);
        // Two packets take 2 ms. One of the 151 samples after the warm-up is above the 99th percentile.
        trace.flows[0].srtt[60..].fill(0.056);
        trace.flows[0].srtt[100] = 0.2;
        close(value(&trace, "l4s-delay"), 0.004);
        let promise: Promise = "l4s-delay".parse().expect("registered");
        assert!(promise.margin(0.004) > 0.0);
        trace.flows[0].srtt[100] = 0.056;
        trace.flows[0].srtt[100..102].fill(0.068);
        trace.flows[0].srtt[102] = 0.068;
        close(value(&trace, "l4s-delay"), 0.016);
        assert!(promise.margin(0.016) < 0.0);
    }

    #[test]
    fn measures_have_a_margin_in_units_of_the_bound() {
        let trace = trace();
        let promise: Promise = "utilisation > 0.5".parse().expect("a measure");
        close(value(&trace, "utilisation > 0.5"), 0.8);
        assert!((promise.margin(0.8) - 0.6).abs() < 1e-12 && promise.margin(0.4) < 0.0 && promise.margin(0.5) < 0.0);
        assert_eq!(promise.to_string(), "utilisation > 0.5");
        for (text, error) in [
            ("utilisation", "the measure `utilisation` needs a bound, such as `utilisation > 0.5`"),
            ("utilisation > x", "cannot read `x` as a bound: expected a finite number"),
            ("starvation < 1", "`starvation` is promised above a bound: write `starvation > 0.1`"),
            ("starvation > 1", "the bound of `starvation` is 1: accepted is 0 and more, below 1"),
            ("l4s-delay < -1", "the bound of `l4s-delay` is -1: accepted is above 0"),
            ("steady-loss < 2", "the bound of `steady-loss` is 2: accepted is above 0, up to 1"),
            ("classic-starved > -1", "the bound of `classic-starved` is -1: accepted is 0 and more"),
        ] {
            assert_eq!(text.parse::<Promise>().expect_err("it is wrong").to_string(), error);
        }
        let error = "starvtion".parse::<Promise>().expect_err("it is unknown").to_string();
        assert!(error.starts_with("unknown property `starvtion`; did you mean `starvation`?"), "{error}");
    }
}
