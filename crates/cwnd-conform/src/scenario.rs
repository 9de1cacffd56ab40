//! The run of a check as a scenario, which a link carries.

use std::fmt::Write as _;

use cwnd::quantity::exact;
use cwnd::window::{RateLimited, SlowStart};
use cwnd::{Span, Time};
use cwnd_run::address::Linked;
use cwnd_run::scenario::Scenario;
use cwnd_sim::{AckEcho, Fault, LinkSetup, QueueLimit, Setup, Source};

use crate::record::{Record, Sent};

/// The part of an address that runs `setup` again, under `title`, on the page of `cwnd live` or `cwnd site`. None where no scenario gives the
/// run of `record`, packet by packet: that of a sender outside of the registry, on a path that changes, or with too many faults for a link.
pub(crate) fn link(title: &str, setup: &Setup, record: &Record) -> Option<String> {
    let toml = written(title, setup, record)?;
    let scenario = Scenario::read(title, &toml, &[]).ok()?;
    let again = cwnd_sim::run_checked(&scenario.setup(setup.seed), &mut |_| true).ok()?;
    let digest = Some(again.digest).filter(|digest| *digest == record.trace.digest)?;
    Some(Linked { toml, digest: Some(digest), ..Linked::default() }.fragment())
}

/// The scenario, if it can have the parts of `setup` that the checks change.
fn written(title: &str, setup: &Setup, record: &Record) -> Option<String> {
    let [flow] = &setup.flows[..] else { return None };
    if flow.algorithm.is_outside() {
        return None;
    }
    let mut text = format!(
        "title = {title:?}\nduration = {:?}\nwarmup = \"0s\"\nseeds = 1\nfirst_seed = {}\n\n[variation]\nrtt = {}\njitter = 0\n",
        exact(setup.duration),
        setup.seed,
        setup.variation.rtt,
    );
    for (link, (from, to)) in setup.links.iter().zip([("left", "right"), ("right", "left")]) {
        let _ = write!(text, "\n[[link]]\nfrom = {from:?}\nto = {to:?}\nboth_ways = false\n{}", of_link(link)?);
    }
    let _ = write!(
        text,
        "\n[[flow]]\nalgorithm = {:?}\nfrom = \"left\"\nto = \"right\"\nextra_rtt = {:?}\ndelayed_ack = {:?}\n",
        flow.algorithm.label(),
        exact(flow.access_rtt),
        exact(flow.delayed_ack.unwrap_or(Span::ZERO)),
    );
    if let Some(most) = flow.max_window {
        let _ = writeln!(text, "max_window = {most}");
    }
    if flow.slow_start == Some(SlowStart::HyStart) {
        text.push_str("slow_start = \"hystart\"\n");
    }
    if flow.rate_limited == Some(RateLimited::Draft11) {
        text.push_str("rate_limited = \"draft-11\"\n");
    }
    for (key, time) in [("wake", flow.wake), ("timer", flow.timer)] {
        if let Some(time) = time {
            let _ = writeln!(text, "{key} = {:?}", exact(time));
        }
    }
    match flow.ecn {
        None => {}
        Some(AckEcho::Latch) => text.push_str("ecn = \"latch\"\n"),
        Some(AckEcho::PerPacket) => text.push_str("ecn = \"per-packet\"\n"),
        Some(_) => return None,
    }
    match &flow.source {
        Source::Bulk => {}
        Source::Packets(packets) => {
            let _ = writeln!(text, "size = \"{packets}p\"");
        }
        Source::Rate(_) => return None,
    }
    if !flow.pauses.is_empty() {
        let mut from = Span::ZERO;
        let mut on = Vec::new();
        for pause in &flow.pauses {
            on.push(format!("\"{}..{}\"", exact(from), exact(since_start(pause.from))));
            from = since_start(pause.to);
        }
        on.push(format!("\"{}..\"", exact(from)));
        let _ = writeln!(text, "on = [{}]", on.join(", "));
    }
    // A fault by time is one by number in this run.
    let lost = (1..).zip(&record.data).filter(|(_, sent)| sent.lost).map(|(nth, _)| nth);
    let mut marked = Vec::new();
    for fault in setup.taps.iter().flat_map(|tap| &tap.faults) {
        if let Fault::Mark { from, count, .. } = fault {
            let late = |sent: &&Sent| sent.at >= since_start(*from).as_nanos();
            marked.extend(record.data.iter().filter(late).take(*count as usize).map(|sent| sent.number + 1));
        }
    }
    for (key, packets) in [("drop = \"sent", listed(lost)?), ("mark = \"data", listed(marked.into_iter())?)] {
        if !packets.is_empty() {
            let _ = writeln!(text, "{key}:{packets}\"");
        }
    }
    Some(text)
}

/// The keys of a link, if it does not change.
fn of_link(link: &LinkSetup) -> Option<String> {
    let steady = link.rate_steps.steps.is_empty() && link.delay_steps.steps.is_empty() && link.phases.steps.is_empty();
    let queue = match link.queue {
        QueueLimit::Packets(packets) => format!("droptail:{packets}p"),
        QueueLimit::Unlimited => "droptail:unlimited".to_string(),
        QueueLimit::Bytes(_) => return None,
    };
    let rate = link.rate.filter(|_| steady)?;
    let mut text = format!("rate = \"{rate}bit\"\ndelay = {:?}\nqueue = {queue:?}\n", exact(link.delay));
    let bunches = link.impairments.aggregation.map(|time| format!("aggregate = {:?}", exact(time)));
    let thinned = link.impairments.ack_thinning.map(|packets| format!("thin_acks = {packets}"));
    let impairments: Vec<String> = [bunches, thinned].into_iter().flatten().collect();
    if !impairments.is_empty() {
        let _ = writeln!(text, "impairments = {{ {} }}", impairments.join(", "));
    }
    Some(text)
}

/// Numbers as a scenario lists them: `6,8-10`; none where they are more than it accepts.
fn listed(numbers: impl Iterator<Item = u64>) -> Option<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (nth, number) in numbers.enumerate() {
        match runs.last_mut() {
            _ if nth == MOST => return None,
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = runs.iter().map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    Some(text.collect::<Vec<_>>().join(","))
}

fn since_start(at: Time) -> Span {
    at.since(Time::ZERO)
}

/// The most packets in one list of a scenario.
const MOST: usize = 1000;
