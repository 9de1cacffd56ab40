//! An experiment in the words of `network.tcl`.

use std::fmt::Write;

use cwnd::registry::Transport;
use cwnd::{Bytes, Span, Time};
use cwnd_run::scenario::Scenario;
use cwnd_sim::{
    Discipline, FlowArrivalsSetup, FlowSetup, Interarrival, LinkSetup, Loss, QueueLimit, RecoveryScheme, Setup, Sizes,
    Source,
};

/// The lines after `begin`. The error for an experiment that ns-2 cannot run names the unsupported part.
pub(crate) fn script(scenario: &Scenario, switches: &[String]) -> Result<String, String> {
    let setup = scenario.setup(0);
    if !setup.cbr.is_empty() {
        return Err("constant traffic".to_owned());
    }
    let mut text = String::new();
    let year = setup.flows.first().map(|flow| habits(flow.era.name)).ok_or("no flow")??;
    let _ = writeln!(text, "{year}");
    for switch in switches {
        let _ = writeln!(text, "switch_to {switch}");
    }
    let _ = writeln!(text, "nodes {}", setup.nodes.len());
    for link in &setup.links {
        let _ = writeln!(text, "{}", line(link, setup.flows[0].packet)?);
    }
    for flow in &setup.flows {
        let _ = writeln!(text, "{}", sender(&setup, flow)?);
    }
    for flows in &setup.flow_arrivals {
        let _ = writeln!(text, "{}", group(&setup, flows)?);
    }
    let interval = setup.sampling.map_or(setup.duration - setup.warmup, |sampling| sampling.interval);
    let bottleneck = setup.links.get(scenario.bottleneck()).ok_or("no bottleneck")?;
    let _ = writeln!(
        text,
        "measure {} {} {} {{{} {}}}",
        setup.warmup.as_secs_f64(),
        setup.duration.as_secs_f64(),
        interval.as_secs_f64(),
        bottleneck.from.0,
        bottleneck.to.0
    );
    Ok(text)
}

/// ns-2's switches of the year of an era.
fn habits(era: &str) -> Result<&'static str, String> {
    match era {
        "ns2-2001" => Ok("habits 2001"),
        "ns2-2001-precise" => Ok("habits 2001\nswitch_to Agent/TCP precisionReduce_ true"),
        "ns2-2004" => Ok("habits 2004"),
        "ns2-2006" => Ok("habits 2006"),
        // Only UDT is run without a year of TCP.
        "modern" => Ok("habits 2006"),
        other => Err(format!("the habits of `{other}`")),
    }
}

fn line(link: &LinkSetup, packet: Bytes) -> Result<String, String> {
    let constant = link.rate_steps.steps.is_empty() && link.delay_steps.steps.is_empty();
    let (Some(rate), true, Loss::None) = (link.rate, constant, link.loss) else {
        return Err(format!("link `{}` without a rate, with one that changes, or with random loss", link.name));
    };
    let QueueLimit::Packets(limit) = link.queue else {
        return Err(format!("link `{}` with a queue that is not counted in packets", link.name));
    };
    let ends = format!("{} {} {rate} {}", link.from.0, link.to.0, link.delay.as_secs_f64());
    match link.discipline {
        Discipline::DropTail => Ok(format!("droptail {ends} {limit}")),
        Discipline::Drr(drr) => Ok(format!("drr {ends} {} {}", u64::from(limit) * u64::from(packet.0), drr.quantum.0)),
        Discipline::Red(red) if !red.byte_mode => {
            let flag = |is: bool| if is { "true" } else { "false" };
            let marks =
                if red.mark { format!(" setbit_ true mark_p_ {}", red.mark_limit) } else { " setbit_ false".into() };
            Ok(format!(
                "red {ends} {limit} {{thresh_ {} maxthresh_ {} linterm_ {} q_weight_ {} gentle_ {} wait_ {} bytes_ false \
                 queue_in_bytes_ false mean_pktsize_ {size} idle_pktsize_ {size}{marks}}}",
                red.min,
                red.max,
                1.0 / red.max_p,
                red.weight,
                flag(red.gentle),
                flag(red.wait),
                size = red.mean_packet.0
            ))
        }
        other => Err(format!("link `{}` with {other:?}", link.name)),
    }
}

fn sender(setup: &Setup, flow: &FlowSetup) -> Result<String, String> {
    let (from, to, packet) = (flow.from.0, flow.to.0, flow.packet.0);
    let start = flow.start.as_secs_f64();
    if !flow.pauses.is_empty() || flow.source != Source::Bulk || flow.delayed_ack.is_some() || flow.paced {
        return Err(format!("flow `{}` with pauses, an end, delayed acknowledgements or pacing", flow.name));
    }
    if flow.algorithm.entry().transport == Transport::Reported {
        let spread = setup.variation.start.ok_or("agents of UDT without `variation.start`")?.as_secs_f64();
        return Ok(format!("udt {from} {to} {packet} {start} {spread}"));
    }
    if flow.algorithm.label() != "reno" {
        return Err(format!("algorithm `{}`", flow.algorithm.label()));
    }
    let kind = kind(flow.recovery);
    let [there, back] = setup.links.as_slice() else { return Err("TCP over more than one link".to_owned()) };
    let base = (there.delay + back.delay + flow.access_rtt).as_secs_f64();
    let late = overhead(setup, flow.packet);
    let spread = setup.variation.start.map_or(base, Span::as_secs_f64);
    let stop = flow.stop.map_or("{}".to_owned(), |stop| stop.as_secs_f64().to_string());
    Ok(format!(
        "tcp {kind} {from} {to} {packet} {} {} {} {late} {start} {spread} {stop} {} {base} {}",
        flow.ack.0,
        flow.max_window.unwrap_or(UNBOUNDED),
        u8::from(flow.ecn.is_some()),
        flow.access_rtt.as_secs_f64(),
        setup.variation.rtt
    ))
}

fn group(setup: &Setup, group: &FlowArrivalsSetup) -> Result<String, String> {
    let flow = &group.flow;
    let (Interarrival::Constant(gap), Sizes::Pareto { mean, shape }, None) = (group.gap, group.sizes, group.pages)
    else {
        return Err(format!("crowd `{}` with sizes or arrivals that are not Pareto's and Poisson's", flow.name));
    };
    if group.rtt_spread > Span::ZERO || flow.algorithm.label() != "reno" {
        return Err(format!("crowd `{}` with round trips of their own, or not under Reno", flow.name));
    }
    Ok(format!(
        "crowd {} {} {} {} {} {} {} {} {} {} {shape} {} {}",
        kind(flow.recovery),
        flow.from.0,
        flow.to.0,
        flow.packet.0,
        flow.ack.0,
        u8::from(flow.ecn.is_some()),
        overhead(setup, flow.packet),
        flow.access_rtt.as_secs_f64(),
        gap.as_secs_f64(),
        mean * (shape - 1.0) / shape,
        flow.start.as_secs_f64(),
        flow.stop.map_or(setup.duration.as_secs_f64(), Time::as_secs_f64)
    ))
}

/// ns-2's name for a sender.
fn kind(recovery: RecoveryScheme) -> &'static str {
    match recovery {
        RecoveryScheme::Tahoe => "Tahoe",
        RecoveryScheme::Reno => "Reno",
        RecoveryScheme::NewReno => "Newreno",
        // ns-2 has no other one with selective acknowledgements.
        RecoveryScheme::Sack | RecoveryScheme::Rack => "Sack1",
    }
}

/// How late a packet may leave, seconds: a share of its time on the slowest line.
fn overhead(setup: &Setup, packet: Bytes) -> f64 {
    let slowest = setup.links.iter().filter_map(|link| link.rate).min().unwrap_or(u64::MAX);
    setup.variation.jitter * packet.bits() / slowest as f64
}

/// A window that nothing fills.
const UNBOUNDED: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<String, String> {
        script(&Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}")), &[])
    }

    #[test]
    fn a_dumbbell_in_words_of_ns2() {
        let text = "duration = \"50s\"\nwarmup = \"10s\"\nera = \"ns2-2004\"\nrecovery = \"newreno\"\nsampling = \"1s\"\n\
                    packet = \"1000B\"\npayload = \"1000B\"\n[variation]\nrtt = 0.1\njitter = 0\nstart = \"5s\"\n\
                    [dumbbell]\nrate = \"10mbit\"\nrtt = \"80ms\"\nqueue = \"drr:50p,quantum=1000B\"\n\
                    [[flow]]\nalgorithm = \"reno\"\n";
        let lines = [
            "habits 2004",
            "nodes 2",
            "drr 0 1 10000000 0.02 50000 1000",
            "drr 1 0 10000000 0.02 50000 1000",
            "tcp Newreno 0 1 1000 40 1000000 0 0 0 5 {} 0.04 0.08 0.1",
            "measure 10 50 1 {0 1}",
            "",
        ];
        assert_eq!(written(text).as_deref(), Ok(lines.join("\n").as_str()));
    }

    #[test]
    fn what_ns2_is_not_set_up_for_is_named() {
        let text = "era = \"ns2-2004\"\n[dumbbell]\nloss = 0.01\n[[flow]]\nalgorithm = \"reno\"\n";
        assert!(written(text).is_err_and(|said| said.contains("random loss")));
        let text = "era = \"ns2-2004\"\n[dumbbell]\n[[flow]]\nalgorithm = \"cubic\"\n";
        assert_eq!(written(text), Err("algorithm `cubic`".to_owned()));
    }
}
