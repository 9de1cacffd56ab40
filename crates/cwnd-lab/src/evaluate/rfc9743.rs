//! The sections of RFC 9743 (BCP 133, *Specifying New Congestion Control Algorithms*, 2025), and the runs for each.
//!
//! Rate, round-trip time and buffer are crossed, as section 6 asks for a range of each; everything else is varied alone.

use cwnd::registry::Basis;
use cwnd::{Span, Spec};

use super::measure::Measure;
use super::{Bottleneck, Plan, REFERENCES, Traffic};
use cwnd_run::measure::table;
use cwnd_run::probe::Probe;
use cwnd_run::scenario::{FlowGroup, ScenarioError, Written};

const UTILISATION: Measure = Measure::Kept(&table::UTILISATION);
const JAIN: Measure = Measure::Kept(&table::JAIN);
const LOSS: Measure = Measure::Kept(&table::LOSS_RATE);
const DELAY: Measure = Measure::Kept(&table::QUEUE_DELAY_MEAN);
const DELAY_P99: Measure = Measure::Kept(&table::QUEUE_DELAY_P99);

pub(super) fn sections(plan: &mut Plan) -> Result<(), ScenarioError> {
    single(plan)?;
    mixed(plan)?;
    plan.section(
        "5.3.1",
        "Differences with Congestion Control Principles",
        "An explanation in words: the deviations listed in docs/algorithms.md are a beginning.",
    );
    plan.section("5.3.2", "Incremental Deployment", "A discussion of deployed equipment, which a simulator has not.");
    general(plan)?;
    special(plan)
}

/// Section 5.1.
fn single(plan: &mut Plan) -> Result<(), ScenarioError> {
    let (duration, warmup) = plan.scale.times();
    let rounds = (duration - warmup).as_secs_f64() / 0.05;
    plan.section(
        "5.1.1",
        "Protection Against Congestion Collapse",
        "Under persistent heavy loss a sender should come down to a packet per round trip and less; and a crowd on a thin path should \
         not fill it with packets that are dropped later. Metric: packets sent per round trip under 50 % random loss; loss and \
         retransmissions of 32 flows on 1 Mbit/s.",
    );
    let mut lossy = path("10mbit", "50ms", "droptail:1bdp");
    lossy.also.push("dumbbell.loss=0.5".to_string());
    plan.ask(lossy, "2 flows, 50 % random loss", &[Measure::SentPerRound(rounds)], |x| vec![summary([flows(x, 2)])])?;
    plan.ask(
        path("1mbit", "50ms", "droptail:10p"),
        "32 flows",
        &[LOSS, Measure::Kept(&table::RETRANSMISSION_RATIO), UTILISATION],
        |x| vec![summary([flows(x, 32)])],
    )?;
    plan.section(
        "5.1.2",
        "Protection Against Bufferbloat",
        "A sender should try not to keep long queues. Metric: the queueing delay of 2 flows in buffers of 4 and 16 \
         bandwidth-delay products.",
    );
    for queue in ["droptail:4bdp", "droptail:16bdp"] {
        plan.ask(path("10mbit", "50ms", queue), "2 flows", &[DELAY, DELAY_P99], |x| vec![summary([flows(x, 2)])])?;
    }
    plan.section(
        "5.1.3",
        "Protection Against High Packet Loss",
        "A sender should not cause high rates of loss. Metric: the loss of 8 flows in buffers below one and a half \
         bandwidth-delay products, where the RFC reports the failure of BBRv1.",
    );
    for queue in ["droptail:0.125bdp", "droptail:0.5bdp", "droptail:1bdp"] {
        plan.ask(path("10mbit", "50ms", queue), "8 flows", &[LOSS], |x| vec![summary([flows(x, 8)])])?;
    }
    plan.section(
        "5.1.4",
        "Fairness Within the Proposed Congestion Control Algorithm",
        "How the capacity is shared among flows of the algorithm alone. Metric: Jain's index for several numbers of flows that \
         start together, the time until a late starter has its share, and two flows of which one has three times the round-trip time.",
    );
    for count in [2, 8, 32] {
        plan.ask(path("100mbit", "50ms", "droptail:1bdp"), format!("{count} flows"), &[JAIN, Measure::Least], |x| {
            vec![summary([flows(x, count)])]
        })?;
    }
    let start = warmup.as_secs_f64();
    plan.ask(
        path("10mbit", "50ms", "droptail:1bdp"),
        "2 flows, the second starts at the end of the warm-up",
        &[Measure::Kept(&table::CONVERGENCE_TIME)],
        |x| vec![summary([flows(x, 1), FlowGroup { start: Some(seconds(start)), ..flows(x, 1) }])],
    )?;
    for queue in ["droptail:0.25bdp", "droptail:1bdp", "droptail:4bdp"] {
        plan.ask(path("10mbit", "50ms", queue), "2 flows, 50 and 150 ms", &[Measure::LongOverShort], |x| {
            vec![summary([flows(x, 1), FlowGroup { extra_rtt: Some(Written::literal("100ms")), ..flows(x, 1) }])]
        })?;
    }
    plan.section(
        "5.1.5",
        "Short Flows",
        "How short and long flows affect each other. Metric: the mean completion time of ten flows of 70 packets that start one \
         by one next to a long flow of the same algorithm.",
    );
    plan.ask(path("10mbit", "50ms", "droptail:1bdp"), "1 long and 10 short flows", &[Measure::Completion], |x| {
        vec![transfers(flows(x, 1), short(x, start))]
    })
}

/// Section 5.2.
fn mixed(plan: &mut Plan) -> Result<(), ScenarioError> {
    plan.section(
        "5.2.1",
        "Existing General-Purpose Congestion Control",
        "Whether flows under standard algorithms are harmed more than by each other. Metric: the share of the goodput, and harm to \
         goodput, delay and loss (Ware et al. 2019: what the others lose against having only themselves there). The columns of Reno \
         and CUBIC are the yardstick: the harm that the standard algorithms do in the same place.",
    );
    for opponent in REFERENCES {
        let other = Written::literal(opponent);
        for path in grid(plan) {
            let measures =
                [Measure::Share(1), Measure::GoodputHarm(1), Measure::DelayHarm, Measure::LossHarm, Measure::Least];
            plan.ask(path, format!("1 flow against 1 of {opponent}"), &measures, |x| {
                vec![summary([flows(x, 1), flows(&other, 1)]), summary([flows(&other, 1)])]
            })?;
        }
        let crowd = path("100mbit", "50ms", "droptail:1bdp");
        plan.ask(
            crowd,
            format!("8 flows against 8 of {opponent}"),
            &[Measure::Share(8), Measure::GoodputHarm(8)],
            |x| vec![summary([flows(x, 8), flows(&other, 8)]), summary([flows(&other, 8)])],
        )?;
    }
    plan.section(
        "5.2.2",
        "Real-Time Congestion Control",
        "Coexistence with senders that want little and want it soon. No adaptive one is here. Metric: delay and loss at the \
         queue that a constant 2 Mbit/s shares with 2 flows.",
    );
    for queue in ["droptail:1bdp", "droptail:4bdp"] {
        let mut shared = path("10mbit", "50ms", queue);
        shared.also.push("cbr=[{ rate = \"cbr:2mbit\" }]".to_string());
        plan.ask(shared, "2 flows with 2 Mbit/s of CBR", &[DELAY_P99, LOSS], |x| vec![summary([flows(x, 2)])])?;
    }
    plan.section(
        "5.2.3",
        "Short and Long Flows",
        "The same as 5.1.5 with flows under common algorithms. Metric: the mean completion time of ten flows of 70 packets under \
         Reno and CUBIC next to a long flow of the algorithm.",
    );
    let start = plan.scale.times().1.as_secs_f64();
    for opponent in REFERENCES {
        let other = Written::literal(opponent);
        plan.ask(
            path("10mbit", "50ms", "droptail:1bdp"),
            format!("1 long flow, 10 short of {opponent}"),
            &[Measure::Completion],
            |x| vec![transfers(flows(x, 1), short(&other, start))],
        )?;
    }
    Ok(())
}

/// Section 6.
fn general(plan: &mut Plan) -> Result<(), ScenarioError> {
    plan.section(
        "6.1",
        "Paths with Tail-Drop Queues",
        "First-in-first-out queues over a range of rates, delays and depths. Metric: 2 flows alone over the whole grid.",
    );
    for path in grid(plan) {
        plan.ask(path, "2 flows", &[UTILISATION, JAIN, DELAY, LOSS], |x| vec![summary([flows(x, 2)])])?;
    }
    plan.section("6.2", "Tunnel Behavior", "No tunnels and no nested control here.");
    plan.section(
        "6.3",
        "Wired Paths",
        "Stable capacity and no loss but that of queues: the grid of 6.1 is of this kind. Metric: one flow in the middle of it.",
    );
    plan.ask(path("100mbit", "50ms", "droptail:1bdp"), "1 flow", &[UTILISATION, DELAY, LOSS], |x| {
        vec![summary([flows(x, 1)])]
    })?;
    plan.section(
        "6.4",
        "Wireless Paths",
        "Losses that are no congestion, capacity that varies, jitter by repetition on the link. Metric: the first two; \
         `cwnd compare --jitter` has something like the third.",
    );
    for (loss, words) in [
        ("0.0001", "1 in 10 000 lost at random"),
        ("0.01", "1 % lost at random"),
        ("gilbert:to_bad=0.001,to_good=0.1", "1 % lost in bursts of 10"),
    ] {
        let mut path = path("10mbit", "50ms", "droptail:1bdp");
        path.also.push(format!("dumbbell.loss={loss}"));
        plan.ask(path, format!("2 flows, {words}"), &[UTILISATION], |x| vec![summary([flows(x, 2)])])?;
    }
    let mut varying = path("10mbit", "50ms", "droptail:60p");
    varying.also.push(schedule("{ at = \"1s\", rate = \"5mbit\" }", Some("2s")));
    plan.ask(varying, "2 flows, every second 5 Mbit/s", &[UTILISATION, DELAY_P99], |x| vec![summary([flows(x, 2)])])
}

/// Section 7.
fn special(plan: &mut Plan) -> Result<(), ScenarioError> {
    plan.section(
        "7.1",
        "Active Queue Management (AQM)",
        "Several queue disciplines, and a dual queue (RFC 9332) with the ECN of each algorithm. Metric: 2 flows alone at each, and the \
         share against CUBIC, or against Prague in the dual queue.",
    );
    for queue in ["red:1bdp", "codel:1000p", "pie:1000p", "fq_codel:1000p"] {
        plan.ask(path("10mbit", "50ms", queue), "2 flows", &[UTILISATION, DELAY, LOSS], |x| {
            vec![summary([flows(x, 2)])]
        })?;
        plan.ask(path("10mbit", "50ms", queue), "1 flow against 1 of cubic", &[Measure::Share(1)], |x| {
            vec![summary([flows(x, 1), flows(&Written::literal("cubic"), 1)])]
        })?;
    }
    let dual = || path("10mbit", "50ms", "dualpi2:250ms");
    plan.ask(dual(), "2 flows with ECN", &[UTILISATION, DELAY, LOSS], |x| vec![summary([with_ecn(x, 2)])])?;
    plan.ask(dual(), "1 flow with ECN against 1 of prague", &[Measure::Share(1)], |x| {
        vec![summary([with_ecn(x, 1), with_ecn(&Written::literal("prague"), 1)])]
    })?;
    plan.section("7.2", "Operation with the Envelope Set by Network Circuit Breakers", "No circuit breakers here.");
    plan.section(
        "7.3",
        "Paths with Varying Delay",
        "A minimum delay that changes. Metric: 20 ms more every other second.",
    );
    let mut varying = path("10mbit", "50ms", "droptail:1bdp");
    varying.also.push(schedule("{ at = \"1s\", extra_delay = \"20ms\" }", Some("2s")));
    plan.ask(varying, "2 flows", &[UTILISATION, DELAY], |x| vec![summary([flows(x, 2)])])?;
    plan.section("7.4", "Internet of Things and Constrained Nodes", "Power and processors are not modelled.");
    plan.section("7.5", "Paths with High Delay", "Satellites. Metric: 2 flows at a round-trip time of 600 ms.");
    let measures = [UTILISATION, Measure::Kept(&table::TIME_TO_90_UTILISATION), DELAY];
    plan.ask(path("50mbit", "600ms", "droptail:1bdp"), "2 flows", &measures, |x| vec![summary([flows(x, 2)])])?;
    plan.section("7.6", "Misbehaving Nodes", "All senders and receivers here do as they should.");
    plan.section(
        "7.7",
        "Extreme Packet Reordering",
        "No path of this evaluation reorders packets; `cwnd compare --reorder` does.",
    );
    let (duration, warmup) = plan.scale.times();
    let middle = (duration.as_secs_f64() + warmup.as_secs_f64()) / 2.0;
    plan.section(
        "7.8",
        "Transient Events",
        "Sudden congestion, routing changes, lost connectivity. Metric: an outage of one second in the middle of the \
         measured time.",
    );
    let mut outage = path("10mbit", "50ms", "droptail:1bdp");
    let back = middle + 1.0;
    outage.also.push(schedule(
        &format!("{{ at = \"{middle}s\", rate = \"outage\" }}, {{ at = \"{back}s\", rate = \"10mbit\" }}"),
        None,
    ));
    plan.ask(outage, "2 flows", &[UTILISATION, LOSS], |x| vec![summary([flows(x, 2)])])?;
    plan.section(
        "7.9",
        "Sudden Changes in the Path",
        "Another path from one moment to the next. Metric: in the middle of the measured time the rate is divided or \
         multiplied by 4 and the delay grows by 40 ms.",
    );
    for (to, words) in [("2500kbit", "to a quarter of the rate"), ("40mbit", "to four times the rate")] {
        let mut changed = path("10mbit", "50ms", "droptail:60p");
        changed
            .also
            .push(schedule(&format!("{{ at = \"{middle}s\", rate = \"{to}\", extra_delay = \"40ms\" }}"), None));
        plan.ask(changed, format!("2 flows, {words}"), &[UTILISATION, LOSS, DELAY_P99], |x| {
            vec![summary([flows(x, 2)])]
        })?;
    }
    plan.section("7.10", "Multipath Transport", "A flow has one path here.");
    plan.section(
        "7.11",
        "Data Centers",
        "Latencies below 2 ms. Metric: 8 flows at 1 Gbit/s and half a millisecond; no signalling beyond drops.",
    );
    plan.ask(path("1gbit", "500us", "droptail:100p"), "8 flows", &[UTILISATION, JAIN, LOSS, DELAY_P99], |x| {
        vec![summary([flows(x, 8)])]
    })
}

/// Rate by round-trip time by depth of a drop-tail buffer.
fn grid(plan: &Plan) -> Vec<Bottleneck> {
    let (rates, rtts): (&[&str], &[&str]) =
        if plan.scale.quick { (&["10mbit"], &["50ms"]) } else { (&["10mbit", "100mbit"], &["10ms", "50ms", "200ms"]) };
    let mut paths = Vec::new();
    for rate in rates {
        for rtt in rtts {
            paths.extend(DEPTHS.map(|depth| path(rate, rtt, &format!("droptail:{depth}bdp"))));
        }
    }
    paths
}

fn path(rate: &'static str, rtt: &'static str, queue: &str) -> Bottleneck {
    Bottleneck { rate: rate.to_string(), rtt: rtt.to_string(), queue: queue.to_string(), also: Vec::new() }
}

fn schedule(steps: &str, repeat: Option<&str>) -> String {
    let repeat = repeat.map_or(String::new(), |repeat| format!(", repeat = \"{repeat}\""));
    format!("dumbbell.schedule={{ steps = [{steps}]{repeat} }}")
}

fn flows(algorithm: &Written<Spec>, count: u32) -> FlowGroup {
    FlowGroup::new(algorithm.clone(), count)
}

/// Flows with the ECN of their kind: ECT(1) if they follow the share of marks, classic ECN if they answer marks, otherwise none.
fn with_ecn(algorithm: &Written<Spec>, count: u32) -> FlowGroup {
    let entry = algorithm.value().entry();
    let echo = if entry.basis == Basis::MarkedShare { Some("l4s") } else { entry.answers_marks().then_some("latch") };
    FlowGroup { ecn: echo.map(Written::literal), ..flows(algorithm, count) }
}

/// Ten flows of 70 packets, one a second from `start` on.
fn short(algorithm: &Written<Spec>, start: f64) -> impl Iterator<Item = FlowGroup> {
    let one = move |nth: i32| FlowGroup {
        size: Some(Written::literal("70p")),
        start: Some(seconds(start + f64::from(nth))),
        ..flows(algorithm, 1)
    };
    (0..10).map(one)
}

fn seconds(time: f64) -> Written<Span> {
    Span::from_secs_f64(time).into()
}

fn summary(flows: impl Into<Vec<FlowGroup>>) -> Traffic {
    Traffic { flows: flows.into(), probe: Probe::SUMMARY }
}

fn transfers(long: FlowGroup, short: impl Iterator<Item = FlowGroup>) -> Traffic {
    Traffic { flows: std::iter::once(long).chain(short).collect(), probe: Probe::TRANSFER }
}

/// Depths of a buffer, in bandwidth-delay products.
const DEPTHS: [&str; 3] = ["0.25", "1", "4"];
