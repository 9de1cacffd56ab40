//! The environments, the measures and the choice of parameters.

use cwnd_trace::{Column, FlowTrace, LinkTrace, Trace};

use super::environment::{Environment, Router, Scheme, Scores, Setting, flows};
use crate::{Bench, Computed, Findings, Result};
use cwnd_run::measure::{Best, ranks};
use cwnd_run::probe::available;

pub(super) fn environments(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let environments = Environment::all(bench)?;
    let setting = Setting { recovery: "sack", router: Router::DropTail };
    let schemes: Vec<Scheme> = Scheme::chosen(bench)?.into_iter().take(2).collect();
    let scores = Scores::of(bench, setting, &schemes, &environments)?;
    let flows = flows(bench)?;
    for (index, environment) in environments.iter().enumerate() {
        let id = environment.id();
        let available = scores.score(0, index, "available_bps").map(|bps| bps * 1e-6 / flows);
        findings.extra(format!("{id}: available to a flow"), "Mbit/s", available);
        for (at, scheme) in schemes.iter().enumerate() {
            let row = format!("{id}: goodput of {}, SACK + DropTail", scheme.name);
            findings.extra(row, "", scores.score(at, index, "goodput"));
        }
    }
    Ok(())
}

/// Two flows deliver 375 and 225 packets of 10 000 bits in 10 s and lose 25 of 625, where 1 Mbit/s was available; two packets
/// waited 10 and 30 ms.
fn by_hand() -> (Trace, LinkTrace) {
    let flow = |sent, delivered, dropped| FlowTrace {
        packet: 1250,
        payload: 1250,
        sent: Column::from_slice(&[0, sent]),
        delivered: Column::from_slice(&[0, delivered]),
        dropped: Column::from_slice(&[0, dropped]),
        ..FlowTrace::default()
    };
    let mut link = LinkTrace::default();
    [10, 30].into_iter().for_each(|ms| link.wait.record(ms * 1_000_000));
    let trace = Trace {
        at: Column::from_slice(&[0, 10_000_000_000]),
        end: 10_000_000_000,
        flows: vec![flow(390, 375, 15), flow(235, 225, 10)],
        ..Trace::default()
    };
    (trace, link)
}

pub(super) fn metrics(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let (trace, link) = by_hand();
    let kept = available::scores(&trace, &link, 1e6);
    for (row, name) in [
        ("goodput of a hand-made trace", "goodput"),
        ("loss of a hand-made trace", "loss"),
        ("fairness of a hand-made trace", "fairness"),
        ("queueing delay of a hand-made trace", "delay"),
    ] {
        findings.value(row, kept.one(name).unwrap_or(f64::NAN));
    }
    let goodputs = [vec![0.9, 0.5, 0.8, 0.7], vec![0.6, 0.7, 0.8, 0.7], vec![0.7, 0.6, 0.9, 0.5]];
    let losses = [vec![1.0, 0.5, 0.3, 0.2], vec![0.5, 0.5, 0.2, 0.3], vec![0.9, 0.6, 0.4, 0.2]];
    for (what, rank) in [("goodputs", ranks(&goodputs, Best::Largest)), ("losses", ranks(&losses, Best::Smallest))] {
        let first = rank.and_then(|ranks| ranks.first().copied());
        let of = |part: fn(&cwnd_run::measure::Rank) -> f64| Computed::Exact(first.as_ref().map_or(f64::NAN, part));
        findings.value(format!("C of three {what}, first algorithm"), of(|rank| rank.worst));
        findings.value(format!("D of three {what}, first algorithm"), of(|rank| rank.total));
    }
    Ok(())
}

pub(super) fn parameters(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    for window in [12.0, 15.0, 20.0, 25.0] {
        findings.value(format!("10 % of {window} packets"), 0.1 * window);
    }
    let environments = Environment::available(bench)?;
    let setting = Setting { recovery: "sack", router: Router::DropTail };
    let low = environments.iter().find(|environment| environment.id() == "CL");
    for scheme in Scheme::chosen(bench)?.iter().take(2) {
        let Some(low) = low else { continue };
        let runs =
            bench.run_all(low.scenarios(bench, setting, scheme)?.into_iter().map(Ok), available::WINDOWS)?.concat();
        for what in ["increment", "decrement"] {
            let lowest = Computed::mean(&runs, &format!("lowest_{what}_packets"));
            if scheme.name == "AIMD" {
                findings.value(format!("lowest window at an {what} in CL").replace("an d", "a d"), lowest);
            } else {
                findings.extra(format!("{}: lowest window, {what} in CL", scheme.name), "packets", lowest);
            }
        }
    }
    Ok(())
}
