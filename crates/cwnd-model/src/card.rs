//! An axiom card: what an algorithm is like, in numbers that mean the same for all.
//!
//! Nothing here is a constant of an algorithm: each number results from running it in the synchronous-feedback host, rule applied
//! once per round trip, on a capacity of 100 packets and a round trip of 100 ms. Definitions follow Zarchy, Mittal, Schapira and
//! Shenker, "Axiomatizing congestion control" (2019), where they have one, simd section 1 otherwise.

use cwnd::registry::Spec;
use cwnd::units::Packets;

use crate::ShouldContinue;
use crate::rounds::{Clock, Event, FlowSetup, Run, Setup, run_while};

/// One number of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axiom {
    /// Its name.
    pub name: &'static str,
    /// None where the algorithm never reached the measured state.
    pub value: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: &'static str,
    /// What it means.
    pub definition: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
}

/// The card of an algorithm with its parameters.
#[must_use]
pub fn card(spec: &Spec, should_continue: ShouldContinue<'_>) -> [Axiom; 8] {
    let pair = settled(&[(spec, 10.0), (spec, 70.0)], should_continue);
    let reno = Spec::parse("reno").expect("registered");
    let beside_reno = settled(&[(spec, 50.0), (&reno, 50.0)], should_continue);
    let events = pair.as_ref().map(|pair| pair.events.as_slice()).unwrap_or_default();
    let means = pair.as_ref().map(|pair| pair.means.as_slice()).unwrap_or_default();
    let least = means.iter().copied().reduce(libm::fmin);
    let most = means.iter().copied().reduce(libm::fmax);
    let each = |of: fn(f64, f64, f64) -> f64| {
        let flows = |event: &Event| -> Vec<f64> {
            let windows = event.before.iter().zip(&event.after).zip(means);
            windows.map(|((before, after), mean)| of(*before, *after, *mean)).collect()
        };
        events.iter().flat_map(flows).collect::<Vec<f64>>()
    };
    let sums = |of: fn(&Event) -> &[f64]| events.iter().map(move |event| of(event).iter().sum::<f64>());
    [
        Axiom {
            name: "efficiency",
            value: sums(|event| &event.after).reduce(libm::fmin).map(|least| least / CAPACITY),
            unit: "",
            definition: "least sum of two flows over the capacity, once settled; 1 is never below it",
            source: ZARCHY,
        },
        Axiom {
            name: "fairness",
            value: least.zip(most).map(|(least, most)| least / most),
            unit: "",
            definition: "mean of the smaller of two flows over that of the larger, from 10 and 70 packets, once settled",
            source: ZARCHY,
        },
        Axiom {
            name: "convergence",
            value: each(|before, after, mean| libm::fmin(after / mean, 2.0 - before / mean))
                .into_iter()
                .reduce(libm::fmin),
            unit: "",
            definition: "largest a with every flow between a and 2 - a of its mean, once settled; 1 stands still",
            source: ZARCHY,
        },
        Axiom {
            name: "smoothness",
            value: each(|before, after, _| 1.0 - after / before).into_iter().reduce(libm::fmax),
            unit: "",
            definition: "largest share of its window that a flow gives up at once, once settled; 0 is smooth",
            source: SIMD,
        },
        Axiom {
            name: "aggressiveness",
            value: doubling(spec, should_continue),
            unit: "round trips",
            definition: "from half the capacity to all of it, alone, after congestion at half of it",
            source: SIMD,
        },
        Axiom {
            name: "responsiveness",
            value: halving(spec, should_continue),
            unit: "round trips",
            definition: "congestion without end, from its first sign until half is left; TCP's is 1",
            source: SIMD,
        },
        Axiom {
            name: "friendliness",
            value: beside_reno.map(|pair| pair.means[1] / pair.means[0]),
            unit: "",
            definition: "mean of a Reno flow next to it over its own; 1 or more is friendly",
            source: ZARCHY,
        },
        Axiom {
            name: "loss avoidance",
            value: sums(|event| &event.before).reduce(libm::fmax).map(|most| 1.0 - CAPACITY / most),
            unit: "",
            definition: "largest share of two flows' packets that the capacity does not carry in a round trip; 0 loses none",
            source: ZARCHY,
        },
    ]
}

/// The flows that a card starts, all together.
#[must_use]
pub fn starts(spec: &Spec) -> Setup {
    setup(&[10.0, 70.0, 50.0, CAPACITY / 4.0].map(|window| (spec, window)))
}

/// The second half of a long run.
struct Settled {
    events: Vec<Event>,
    /// Packets per round trip of each flow.
    means: Vec<f64>,
}

/// None if congestion never came.
fn settled(flows: &[(&Spec, f64)], should_continue: ShouldContinue<'_>) -> Option<Settled> {
    let Run { trace, events, .. } = run_while(&Setup { rounds: ROUNDS, ..setup(flows) }, should_continue);
    let half = trace.at.partition_point(|at| *at < trace.end / 2);
    let nanos = trace.end - trace.at.get(half)?;
    let mean = |delivered: &[u64]| {
        let packets = delivered.last().zip(delivered.get(half)).map_or(0, |(last, then)| last - then);
        packets as f64 * Setup::default().rtt.as_nanos() as f64 / nanos as f64
    };
    let means = trace.flows.iter().map(|flow| mean(&flow.delivered)).collect();
    let events: Vec<Event> = events.into_iter().filter(|event| event.at >= ROUNDS / 2.0).collect();
    (!events.is_empty()).then_some(Settled { events, means })
}

/// The capacity doubles when it is first reached.
fn doubling(spec: &Spec, should_continue: ShouldContinue<'_>) -> Option<f64> {
    let Run { trace, events, .. } = run_while(&Setup { events: 2, ..doubled(spec, &[]) }, should_continue);
    let [first, second] = events.as_slice() else { return None };
    let rtt = Setup::default().rtt.as_nanos() as f64;
    let samples = trace.at.iter().map(|at| *at as f64 / rtt).zip(&trace.flows[0].in_flight);
    // A cut is recorded a nanosecond after the congestion it answers.
    let mut since = samples.skip_while(|(at, _)| *at <= first.at + A_MOMENT);
    let (passed, _) = since.find(|(_, packets)| **packets as f64 >= CAPACITY / 2.0)?;
    Some(second.at - passed).filter(|rounds| *rounds > A_MOMENT)
}

/// When the doubled capacity is reached, it falls to a packet: every signal from then on is congestion. Each counts for the time
/// to the next.
fn halving(spec: &Spec, should_continue: ShouldContinue<'_>) -> Option<f64> {
    let events = run_while(&Setup { events: SIGNALS, ..doubled(spec, &[Packets(1.0)]) }, should_continue).events;
    let [_, first, second, ..] = events.as_slice() else { return None };
    let halved = events.iter().skip(1).find(|event| event.after[0] <= first.before[0] / 2.0)?;
    Some(halved.at - first.at + (second.at - first.at))
}

/// One flow that has been cut at half the capacity, so that its slow start is over, before it has all of it.
fn doubled(spec: &Spec, then: &[Packets]) -> Setup {
    let later = [&[Packets(CAPACITY)], then].concat();
    Setup { capacity: Packets(CAPACITY / 2.0), later, rounds: ROUNDS, ..setup(&[(spec, CAPACITY / 4.0)]) }
}

fn setup(flows: &[(&Spec, f64)]) -> Setup {
    let flow =
        |(spec, window): &(&Spec, f64)| FlowSetup { algorithm: (*spec).clone(), window: Packets(*window), rtt: None };
    let flows = flows.iter().map(flow).collect();
    Setup { flows, capacity: Packets(CAPACITY), clock: Clock::Rounds, ..Setup::default() }
}

const ZARCHY: &str = "Zarchy et al. 2019";
const SIMD: &str = "simd section 1";
/// Packets per round trip.
const CAPACITY: f64 = 100.0;
/// Round trips: longer than it takes to write an event down, shorter than any step.
const A_MOMENT: f64 = 1e-6;
/// Of congestion in a row; IIAD, which removes less than a packet at each, halves within eighty.
const SIGNALS: usize = 1000;
/// Even IIAD, the slowest of the papers, has settled after half of these.
const ROUNDS: f64 = 30_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, name: &str) -> f64 {
        let card = card(&Spec::parse(text).expect("an algorithm"), &|| true);
        let axiom = card.iter().find(|axiom| axiom.name == name).expect("on every card");
        axiom.value.unwrap_or_else(|| panic!("{text} has no {name}"))
    }

    #[test]
    fn a_card_changes_with_a_parameter() {
        for (gentle, rough) in [("aimd:b=1/8", "aimd:b=1/2"), ("simd:beta=1/16", "simd:beta=1/4")] {
            assert!(value(gentle, "smoothness") < value(rough, "smoothness"));
            assert!(value(gentle, "efficiency") > value(rough, "efficiency"));
            assert!(value(gentle, "responsiveness") > value(rough, "responsiveness"));
        }
    }

    #[test]
    fn the_card_of_reno() {
        // Two flows grow by two packets a round trip, so the sum stops between 100 and 102 and is halved.
        assert!((0.5..0.51).contains(&value("reno", "efficiency")));
        assert!((value("reno", "smoothness") - 0.5).abs() < 1e-9);
        assert!((value("reno", "aggressiveness") - 50.0).abs() < 1e-9);
        assert!(value("reno", "fairness") > 0.99 && (value("reno", "friendliness") - 1.0).abs() < 0.01);
        assert!(value("reno", "loss avoidance") < 0.02);
        // Floyd, Handley, Padhye and Widmer 2000: one round trip of persistent congestion.
        assert!((value("reno", "responsiveness") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn rates_respond_by_the_control_interval() {
        // (8/9)^6 is the first below one half: six cuts, one per 10 ms of a round trip of 100 ms.
        assert!((value("daimd", "responsiveness") - 0.6).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_fair_shows() {
        assert!(value("aiad", "fairness") < 0.6 && value("scalable", "fairness") < 0.2);
        assert!(value("scalable", "friendliness") < value("aimd:b=1/8", "friendliness"));
    }
}
