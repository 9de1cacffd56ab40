//! The measures of the checks of RFC 5681.

use cwnd::Span;
use cwnd_sim::{ReorderBy, Reordering};

use crate::checks::{
    Measured, cut, first, growth, later_cut, need, outage, packets_per_ack, per_packet, scattered, wide,
};
use crate::lab::Lab;
use crate::unfit::Unfit;

pub(super) fn first_flight(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    Ok(record.usual(begin - 0.001, begin + 0.5 * record.rtt).count() as f64)
}

pub(super) fn slow_start(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let begin = record.slow_start();
    let (from, to) = (begin + 0.5 * record.rtt, begin + 3.5 * record.rtt);
    Ok(counted(per_packet(&record, from, to)?, 0.5, packets_per_ack(&record, from, to)))
}

/// The growth per packet, or per acknowledgement if it is below `least`: RFC 5681 lets a sender count acknowledgements, of `packets` each.
fn counted(growth: f64, least: f64, packets: f64) -> f64 {
    if growth < least { growth * packets } else { growth }
}

pub(super) fn doubling(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&wide(lab, 100, 1.0))?;
    let (begin, rtt) = (record.slow_start() - 0.25 * record.rtt, record.rtt);
    let third = record.sent(begin + 2.0 * rtt, begin + 3.0 * rtt);
    let fourth = record.sent(begin + 3.0 * rtt, begin + 4.0 * rtt);
    need(third > 0, "nothing is sent")?;
    Ok(fourth as f64 / third as f64)
}

pub(super) fn avoidance(lab: &Lab<'_>) -> Measured {
    let (record, cut) = cut(lab, 50, 2.0)?;
    let from = cut.at + 4.0 * record.rtt;
    lab.formula(cut.at, cut.at + 2.0, |at| cut.after + (at - cut.at) / record.rtt);
    let to = from + 20.0 * record.rtt;
    Ok(counted(record.slope(from, to)?, 0.45, packets_per_ack(&record, from, to)))
}

pub(super) fn halve(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, 1.5)?.ratio())
}

pub(super) fn after_timeout(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (record, _, to) = outage(lab, 50, 8.0, 12.0)?;
    let threshold = record.threshold(to)?;
    let above = record.between(to, f64::INFINITY).find(|look| look.window >= threshold);
    let above = above.ok_or_else(|| Unfit::Absent("the window does not get back to the threshold".to_string()))?.at;
    growth(&record, above + record.rtt, above + 8.0 * record.rtt)
}

/// Growth per packet acknowledged in the slow start after a timeout.
pub(super) fn rate_after_timeout(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (record, _, to) = outage(lab, 50, 8.0, 12.0)?;
    let end = (0.8 * record.threshold(to)?).min(64.0);
    let reaches =
        |window: f64| record.between(to, f64::INFINITY).find(|look| look.window >= window).map(|look| look.at);
    let (Some(from), Some(to)) = (reaches(4.0), reaches(end)) else {
        return Err(Unfit::Absent("the window does not get back to the threshold".to_string()));
    };
    need(to > from, "slow start ends at once")?;
    per_packet(&record, from, to)
}

pub(super) fn duplicates(lab: &Lab<'_>) -> Measured {
    // Slow start is over before the queue is full.
    let testbed = wide(lab, 50, 0.25).with(|setup| {
        // A packet takes 12 us on the line: two overtake, while a flight lasts.
        let by = ReorderBy::Time(Span::from_micros(30));
        setup.links[0].impairments.reordering = Some(Reordering { probability: 0.01, by });
    });
    let record = lab.run(&testbed.with(|setup| setup.flows[0].max_window = Some(200.0)))?;
    let last = record.at(f64::INFINITY);
    Ok(1e3 * last.lost as f64 / last.sent as f64)
}

pub(super) fn restart(lab: &Lab<'_>) -> Measured {
    lab.timeout()?;
    let (from, to) = (0.45, 4.45);
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 0.5).pause(from, to))?;
    need(record.sent(from - 0.05, from) > 20, "too little is sent before the pause")?;
    // Retransmissions and probes of the pause are over by then.
    Ok(record.sent(to, to + 0.5 * record.rtt) as f64)
}

pub(super) fn restart_threshold(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 50);
    let from = at + 1.0;
    let to = from + 4.0;
    let record = lab.run(&lab.testbed(1000, 50, 20_000, to + 1.5).lose(at, 1).pause(from, to))?;
    record.cut(at)?;
    Ok(record.window(to + 20.0 * record.rtt)? / record.window(from)?)
}

pub(super) fn backoff(lab: &Lab<'_>) -> Measured {
    let (record, from, to) = outage(lab, 50, 40.0, 0.5)?;
    // An end also answers the probes of its peer, by packets without data.
    let largest = record.between_data(from + 1.0, to).map(|sent| sent.bytes).max().unwrap_or(0);
    let probes = record.between_data(from + 1.0, to).filter(|sent| 2 * sent.bytes > largest);
    let mut at: Vec<u64> = probes.map(|sent| sent.at).collect();
    // Probes of two packets are one.
    at.dedup_by(|later, earlier| *later - *earlier < 10_000_000);
    // A bound of a minute or more is allowed (RFC 6298 section 2.5), and 64 timeouts, as this program's hosts have it, are less where
    // the least is below a second.
    let short = lab.subject().host().least_timeout < Span::from_secs(1);
    let three = if short { at.first_chunk::<3>() } else { at.last_chunk::<3>() };
    let [a, b, c] = three.ok_or_else(|| Unfit::Absent("fewer than three probes".to_string()))?;
    Ok((c - b) as f64 / (b - a) as f64)
}

pub(super) fn one_cut(lab: &Lab<'_>) -> Measured {
    let (record, at) = scattered(lab, 100, usize::MAX)?;
    let cut = record.cut(at)?;
    Ok(record.smallest(cut.at, cut.at + 3.0 * record.rtt)? / cut.before)
}

pub(super) fn repair(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let testbed =
        [0.0, 0.01, 0.02, 0.03, 0.04].iter().fold(wide(lab, 100, 2.0), |testbed, late| testbed.lose(at + late, 1));
    let record = lab.run(&testbed)?;
    let last = at + 0.05;
    let sent = record.data.iter().filter(|sent| (sent.at as f64) < last * 1e9 && !sent.again).count() as u64;
    need(record.losses() >= 5, "too little is sent")?;
    let arrived = record.between(last, f64::INFINITY).find(|look| look.delivered >= sent);
    let arrived = arrived.ok_or_else(|| Unfit::Absent("it does not arrive".to_string()))?;
    Ok((arrived.at - at) / record.rtt)
}

pub(super) fn recovery_rate(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let record = lab.run(&wide(lab, 100, 1.0).lose(at, 1))?;
    let found = record.looks.iter().find(|look| look.lost > 0);
    if found.is_none() && record.window(at).is_err() {
        return Err(Unfit::NotApplicable("it shows no losses"));
    }
    let found = found.ok_or_else(|| Unfit::Absent("the loss is not found".to_string()))?.at;
    let before = record.full(found - record.rtt, found);
    need(before > 10.0, "too little is sent")?;
    Ok(record.full(found + record.rtt, found + 2.0 * record.rtt) / before)
}
