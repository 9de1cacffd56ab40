//! The goals of `bbr3`, as figures with bounds that were fixed before the first run.

use cwnd::{Span, Spec, Time};
use cwnd_sim::{Loss, RateSchedule, Simulation, Source};

use super::cases::{Condition, condition, policed};
use super::path::{CRUISE, Change, PROBE_RTT, PathSetup, UP};

/// A group of figures.
pub(crate) struct Figure {
    pub(crate) title: &'static str,
    pub(crate) conditions: fn(&Spec) -> Vec<Condition>,
}

/// All of them.
pub(crate) const FIGURES: [Figure; 9] = [
    Figure { title: "The bandwidth is found, from 64 kbit/s to 10 Gbit/s and from 1 ms to 1 s", conditions: bandwidth },
    Figure { title: "Ten times the bandwidth", conditions: ten_times },
    Figure { title: "A tenth of the bandwidth", conditions: a_tenth },
    Figure { title: "Random loss at 200 Mbit/s and 50 ms", conditions: random_loss },
    Figure { title: "A policer of 10 Mbit/s", conditions: policer },
    Figure { title: "The queue of one flow", conditions: queueing },
    Figure { title: "Two flows started 10 s apart", conditions: two_flows },
    Figure { title: "Limited samples", conditions: limited },
    Figure { title: "Restart after 6 s of idleness", conditions: idle },
];

/// `max_bw` after a few cycles, before a ProbeRTT if there is time for that; at least 20 round trips, for Startup takes as many over the
/// fastest and longest path. The limit is that a run may deliver twelve million packets: 10 Gbit/s and 1 s would be twice that.
fn bandwidth(own: &Spec) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (rate, name) in [
        (64_000, ["64 kbit/s, 1 ms: within 2 %", "64 kbit/s, 30 ms: within 2 %", "64 kbit/s, 1 s: within 2 %"]),
        (10_000_000, ["10 Mbit/s, 1 ms: within 2 %", "10 Mbit/s, 30 ms: within 2 %", "10 Mbit/s, 1 s: within 2 %"]),
        (1_000_000_000, ["1 Gbit/s, 1 ms: within 2 %", "1 Gbit/s, 30 ms: within 2 %", "1 Gbit/s, 1 s: within 2 %"]),
        (10_000_000_000, ["10 Gbit/s, 1 ms: within 2 %", "10 Gbit/s, 30 ms: within 2 %", ""]),
    ] {
        for ((millis, seconds), name) in [(1, 3), (30, 4), (1000, 40)].into_iter().zip(name) {
            if name.is_empty() {
                continue;
            }
            let seconds = if rate < 1_000_000 { 60 } else { seconds };
            let log =
                PathSetup { rate, rtt: Span::from_millis(millis), queue: 4.0, seconds, ..PathSetup::of(own) }.run();
            let share = log.last().get("max_bw") / log.capacity;
            conditions.push(condition(name, (share - 1.0).abs() <= 0.02, format!("{share:.4}")));
        }
    }
    conditions
}

/// 10 to 100 Mbit/s at 40 ms, with queues of 1 and 4 BDP of the smaller rate, and where `inflight_longterm` was set before.
fn ten_times(own: &Spec) -> Vec<Condition> {
    [(4.0, "a queue of 4 BDP: 90 % within 20 rounds of PROBE_UP"), (0.2, "a queue of 0.2 BDP: 90 % within 20 rounds")]
        .map(|(queue, text)| {
            let nth = 4;
            let path = PathSetup {
                queue,
                seconds: 30,
                when: Some((CRUISE, nth)),
                changes: &[Change::Rate(10.0)],
                ..PathSetup::of(own)
            };
            let log = path.run();
            let begun = log.at(log.changed).expect("a change");
            let probe = log.next(UP, begun).expect("a probe");
            let found = log.looks[probe..].iter().find(|look| look.get("max_bw") >= 0.9 * 10.0 * log.capacity);
            let rounds = found.map(|look| look.get("round_count") - log.looks[probe].get("round_count"));
            let longterm = log.looks[probe].get("inflight_longterm");
            let found = rounds.map_or("never".to_string(), |rounds| format!("{rounds} rounds"));
            condition(
                text,
                rounds.is_some_and(|rounds| rounds <= 20.0),
                format!("{found}, from inflight_longterm {longterm:.0}"),
            )
        })
        .into()
}

/// 100 to 10 Mbit/s at 40 ms, with and without loss.
pub(super) fn a_tenth(own: &Spec) -> Vec<Condition> {
    [(4.0, "a queue of 4 BDP: within 5 % after two cycles"), (0.5, "a queue of 0.5 BDP: within 5 % after two cycles")]
        .map(|(queue, text)| {
            let log = PathSetup {
                rate: 100_000_000,
                queue,
                seconds: 30,
                when: Some((CRUISE, 1)),
                changes: &[Change::Rate(0.1)],
                ..PathSetup::of(own)
            }
            .run();
            let begun = log.at(log.changed).expect("a change");
            let first = log.next(UP, begun).and_then(|at| log.left(at));
            let second = first.and_then(|at| log.next(UP, at)).and_then(|at| log.left(at));
            let after = second.and_then(|at| {
                let rounds = log.looks[at].get("round_count");
                log.looks[at..].iter().find(|look| look.get("round_count") >= rounds + 2.0)
            });
            let share = after.map_or(f64::NAN, |look| look.get("max_bw") / (0.1 * log.capacity));
            let at = after.map_or(f64::NAN, |look| look.at - log.changed);
            condition(text, (share - 1.0).abs() <= 0.05, format!("{share:.3} of it, {at:.1} s after the change"))
        })
        .into()
}

/// Thirty seconds after ten, a queue of 1 BDP; the link itself carries `1 - p` of the packets offered to it.
pub(super) fn random_loss(own: &Spec) -> Vec<Condition> {
    let utilisation = |algorithm: &Spec, p: f64| {
        let path =
            PathSetup { rate: 200_000_000, rtt: Span::from_millis(50), queue: 1.0, seconds: 40, ..PathSetup::of(own) };
        let mut setup = path.setup(std::slice::from_ref(algorithm));
        setup.links[0].loss = Loss::Bernoulli(p);
        let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
        let timeouts = *trace.flows[0].timeouts.last().expect("a sample");
        (delivered(&setup, 10, 40)[0] / path.capacity() / 30.0, timeouts)
    };
    let cubic = Spec::parse("cubic").expect("registered");
    let runs = [(own, 0.001), (own, 0.01), (own, 0.02), (&cubic, 0.01)].map(|(algorithm, p)| utilisation(algorithm, p));
    let met = runs[1].0 >= 0.9;
    let [few, one, two, cubic] = runs.map(|(share, timeouts)| format!("{share:.3}, {timeouts} timeouts"));
    vec![
        condition("1 %: at least 90 % of the link", met, format!("{one}; cubic {cubic}")),
        condition("0.1 % and 2 %: shown", true, format!("{few}; {two}")),
    ]
}

fn policer(own: &Spec) -> Vec<Condition> {
    let log = policed(own, 40).run();
    let (share, lost) = (log.share(20.0, 40.0, 0.1 * log.capacity), log.lost_share(20.0, 40.0));
    vec![
        condition("at least 90 % of the tokens", share >= 0.9, format!("{share:.3}")),
        condition("at most 5 % lost", lost <= 0.05, format!("{lost:.4}")),
    ]
}

/// After the first quarter of a minute.
pub(super) fn queueing(own: &Spec) -> Vec<Condition> {
    let path = PathSetup { rate: 50_000_000, seconds: 60, ..PathSetup::of(own) };
    let setup = path.setup(std::slice::from_ref(own));
    let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    let wait = trace.links[0].wait.quantile(0.95).expect("packets waited") as f64 / path.rtt.as_nanos() as f64;
    vec![condition(
        "a queue of 4 BDP: 95 % wait at most half a base round trip",
        wait <= 0.5,
        format!("{wait:.3} round trips"),
    )]
}

/// Measured in the last ten of the thirty seconds after the second flow began.
pub(super) fn two_flows(own: &Spec) -> Vec<Condition> {
    [(1.0, "a queue of 1 BDP: Jain at least 0.95"), (4.0, "a queue of 4 BDP: Jain at least 0.95")]
        .map(|(queue, text)| {
            let path = PathSetup { rate: 50_000_000, queue, seconds: 40, ..PathSetup::of(own) };
            let mut setup = path.setup(&[own.clone(), own.clone()]);
            setup.flows[1].start = Time::ZERO + Span::from_secs(10);
            let rates = delivered(&setup, 30, 40);
            let [first, second] = [rates[0], rates[1]].map(|packets| packets / 10.0 / path.capacity());
            let jain = (first + second).powi(2) / (2.0 * (first * first + second * second));
            condition(text, jain >= 0.95, format!("{jain:.3}: {first:.3} and {second:.3}"))
        })
        .into()
}

/// A source of 30 Mbit/s on 100 Mbit/s. In the first round trips it waits for the window, and the data gathered meanwhile leaves faster:
/// samples that are not limited. Section 5.5.4 counts a limited sample above the estimate too, so the condition that none ever is cannot
/// hold.
fn limited(own: &Spec) -> Vec<Condition> {
    let source = Source::Rate(RateSchedule::constant(30_000_000));
    let log = PathSetup { rate: 100_000_000, source, seconds: 20, ..PathSetup::of(own) }.run();
    let most = log.looks.iter().map(|look| look.get("max_bw")).fold(0.0, f64::max) / log.capacity;
    let settled = log.looks[log.at(1.0).expect("a second")].get("max_bw") / log.capacity;
    vec![
        condition(
            "no sample raises max_bw once all are limited",
            most <= settled,
            format!("{settled:.3} of the bandwidth after 1 s, {most:.3} at most"),
        ),
        condition("max_bw is never above the bandwidth", most <= 1.02, format!("{most:.3} of the bandwidth")),
    ]
}

fn idle(own: &Spec) -> Vec<Condition> {
    let log = PathSetup {
        rate: 50_000_000,
        seconds: 14,
        when: Some((CRUISE, 1)),
        changes: &[Change::Pause(6000)],
        ..PathSetup::of(own)
    }
    .run();
    let resumed = log.changed + 6.0;
    let share = log.share(resumed + 2.0 * log.rtt, resumed + 10.0 * log.rtt, log.capacity);
    let probe = log.during(PROBE_RTT).any(|look| look.at > resumed && look.at < resumed + 4.0);
    let lost = log.last().lost;
    vec![
        condition("90 % of the link from two round trips on", share >= 0.9, format!("{share:.3}")),
        condition("no ProbeRTT, and nothing lost", !probe && lost == 0, format!("{lost} lost")),
    ]
}

/// Packets that each flow delivers between two times in seconds.
fn delivered(setup: &cwnd_sim::Setup, from: u64, to: u64) -> Vec<f64> {
    let mut simulation = Simulation::new(setup).expect("a valid setup");
    let mut counts = [from, to].map(|secs| {
        simulation.advance(Time::ZERO + Span::from_secs(secs), |_| true);
        (0..setup.flows.len()).map(|flow| simulation.state().flow(flow).delivered()).collect::<Vec<u64>>()
    });
    let [first, last] = &mut counts;
    last.iter().zip(first).map(|(last, first)| (last - *first) as f64).collect()
}
