//! Settings that the sender and the receiver of a flow do not look at.

use cwnd::registry::Transport;
use cwnd::window::SlowStart;
use cwnd::{Ack, Algorithm, CongestionControl, Limit, Pacing, Packets, Rtt, Span, Spec, Start, Time, View};
use cwnd_sim::{
    CheckedSetup, Discipline, Era, FlowSetup, LinkSetup, LinuxHost, Loss, Phase, RateChange, SavedPath,
    Source as Traffic,
};
use cwnd_text::counted;

use super::paths::Party;
use super::words::{name as name_of, words};

/// Why the sender and the receiver of a flow do not look at a setting; `otherwise` is the era that it would have without one.
pub(super) fn unread(key: &str, flow: &FlowSetup, otherwise: &Era) -> Option<String> {
    let entry = flow.algorithm.entry();
    let name = entry.name;
    let protocol = match entry.transport {
        Transport::Acked | Transport::Routed => None,
        Transport::Reported => Some(format!("`{name}` runs over the protocol of UDT")),
        Transport::Datagram => {
            Some(format!("`{name}` runs over datagrams, each sent once and none acknowledged by itself"))
        }
        Transport::Stack => Some(format!("`{name}` is a whole stack, with ends of its own")),
    };
    match key {
        "handshake" if flow.handshake == 0 => None,
        "handshake" | "recovery" | "receiver" | "delayed_ack" | "ack_aggregation" => protocol,
        "host" if entry.transport != Transport::Acked => Some(format!("hosts of `{name}` are not those of TCP")),
        "max_window" if entry.transport == Transport::Stack => protocol,
        "rate_limited" if entry.transport == Transport::Stack || flow.algorithm.grows_unused() => protocol,
        "era" => {
            // Other protocols see of an era only whether windows grow that are not used, and a window of their own may hold any of them; and
            // some algorithms open with its window.
            let opens = |era: &Era| {
                let begin = Start::default().with_window(Packets(era.initial_window));
                (!flow.algorithm.is_outside()).then(|| flow.algorithm.start(&begin).control())
            };
            let same =
                flow.era.policy.holds_rates() == otherwise.policy.holds_rates() && opens(&flow.era) == opens(otherwise);
            protocol.filter(|_| same || entry.transport == Transport::Stack || flow.algorithm.grows_unused())
        }
        "slow_start" => match start(&flow.algorithm) {
            _ if protocol.is_some() => protocol,
            Some(algorithm) if algorithm.slow_start_threshold().is_none() => {
                Some(format!("`{name}` starts in a way of its own"))
            }
            Some(_)
                if matches!(flow.slow_start, Some(SlowStart::Limited { .. }))
                    && !limits_slow_start(&flow.algorithm) =>
            {
                Some(format!("`{name}` grows in slow start by a rule of its own"))
            }
            _ => None,
        },
        "resume" => match start(&flow.algorithm) {
            _ if protocol.is_some() => protocol,
            Some(algorithm) if algorithm.slow_start_threshold().is_none() => {
                Some(format!("`{name}` starts in a way of its own"))
            }
            _ => flow.resume.and_then(|saved| {
                let initial = counted(flow.era.initial_window, "packet");
                let fits = matches!(flow.source, Traffic::Packets(size) if size as f64 <= flow.era.initial_window);
                if small(&saved, flow) {
                    Some(format!("half of it is at most the initial window, {initial}"))
                } else {
                    fits.then(|| format!("the initial window, {initial}, carries all of its data"))
                }
            }),
        },
        "paced" if flow.paced => match start(&flow.algorithm) {
            _ if protocol.is_some() => protocol,
            Some(algorithm) if algorithm.control().pacing != Pacing::Off => {
                Some(format!("`{name}` spaces its packets itself"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The words of a `host` that change nothing in a flow, each with the reason.
pub(super) fn idle_words<'a>(text: &'a str, flow: &FlowSetup) -> Vec<(&'a str, String)> {
    let name = flow.algorithm.entry().name;
    let LinuxHost { fq, whole, min_rto, .. } = flow.host;
    let algorithm = start(&flow.algorithm);
    let paces = algorithm.as_ref().is_some_and(|algorithm| matches!(algorithm.control().pacing, Pacing::At(_)));
    let own = algorithm.is_some_and(|algorithm| algorithm.slow_start_threshold().is_none());
    let why = |word: &str| match name_of(word) {
        // One that spreads its window may do so in some phases alone.
        "fq" if fq && paces => Some(format!("`{name}` spaces its packets itself")),
        "whole" if whole && own => Some(format!("`{name}` keeps a window of its own")),
        "whole" if whole && flow.era.policy.truncate => Some("the era leaves whole packets anyway".to_string()),
        "min_rto" if min_rto == Some(flow.era.min_rto) => Some("the era has this timeout anyway".to_string()),
        _ => None,
    };
    words(text).filter_map(|word| Some((word, why(word)?))).collect()
}

/// The words of a `host` that change nothing in any of several flows.
pub(super) fn common_words(text: &str, flows: &[&FlowSetup]) -> Vec<(String, String)> {
    let tcp = flows.iter().filter(|flow| flow.algorithm.entry().transport == Transport::Acked);
    let idle: Vec<_> = tcp.map(|flow| idle_words(text, flow)).collect();
    let Some((first, others)) = idle.split_first() else { return Vec::new() };
    let everywhere = |word: &str| others.iter().all(|idle| idle.iter().any(|(other, _)| *other == word));
    first.iter().filter(|(word, _)| everywhere(word)).map(|(word, why)| (word.to_string(), why.clone())).collect()
}

/// Why a limit of slow start is above every window of a group's flows.
pub(super) fn short(party: &Party<'_>, flow: &FlowSetup) -> Option<String> {
    let Some(SlowStart::Limited { max_threshold }) = flow.slow_start else { return None };
    let packets = party.packets.filter(|_| party.key.starts_with("arrivals."))?;
    let largest = flow.era.initial_window + packets as f64;
    (f64::from(max_threshold) >= largest)
        .then(|| format!("no window grows so far with {} in a flow", counted(packets, "packet")))
}

/// Whether half of a saved window is no larger than the initial one.
fn small(saved: &SavedPath, flow: &FlowSetup) -> bool {
    saved.window as f64 / 2.0 <= flow.era.initial_window * f64::from(flow.packet.0)
}

/// Whether limited slow start makes an algorithm grow less: its first acknowledgements, under a limit that none of them meets.
fn limits_slow_start(algorithm: &Spec) -> bool {
    let grown = |slow_start| {
        let mut start = Start::default();
        start.policy.slow_start = slow_start;
        let mut sender = algorithm.start(&start);
        let mut view = View::new(Time::ZERO + Span::from_secs(1), &start);
        (view.next, view.in_flight, view.delivered, view.round) = (100, 100, 50, 5);
        (view.rtt, view.limit) = (Some(Rtt::fixed(Span::from_millis(100))), Limit::Window);
        sender.on_ack(&view, &Ack::fluid(&view, Packets(50.0)));
        sender.control().window
    };
    grown(SlowStart::Limited { max_threshold: 1 }) < grown(SlowStart::Standard)
}

/// The algorithm as it starts; none for one from outside, whose start is another's code, or a stack.
fn start(algorithm: &Spec) -> Option<Algorithm> {
    (!algorithm.is_outside()).then(|| algorithm.start(&Start::default()))
}

/// Whether a run may depend on its seed. Algorithms outside the window shell may draw.
pub(crate) fn is_drawn(setup: &CheckedSetup) -> bool {
    let variation = &setup.variation;
    let varied =
        variation.start.is_none_or(|start| start > Span::ZERO) || variation.rtt > 0.0 || variation.jitter > 0.0;
    let drawn = |link: &LinkSetup| {
        let later = link.phases.steps.iter().map(|(_, phase)| phase);
        let impairs = |Phase { loss, impairments, .. }: &Phase| {
            let held_back = impairments.jitter.is_some() || impairments.reordering.is_some();
            let damaged = impairments.corruption > 0.0 || impairments.duplication > 0.0;
            held_back || damaged || matches!(loss, Loss::Bernoulli(_) | Loss::GilbertElliott(_))
        };
        let fifo = matches!(link.discipline, Discipline::DropTail | Discipline::Drr(_) | Discipline::CoDel(_));
        !fifo || impairs(&link.first_phase()) || later.into_iter().any(impairs)
    };
    let steps =
        |change: RateChange| !matches!(change, RateChange::Constant | RateChange::Square(_) | RateChange::Frames(_));
    let draws = |flow: &FlowSetup| {
        let source = matches!(flow.source, Traffic::Rate(schedule) if steps(schedule.change));
        source || start(&flow.algorithm).is_none_or(|algorithm| algorithm.slow_start_threshold().is_none())
    };
    let cbr = setup.cbr.iter().any(|cbr| steps(cbr.rate.change));
    varied || cbr || !setup.flow_arrivals.is_empty() || setup.links.iter().any(drawn) || setup.flows.iter().any(draws)
}
