//! What holds for every registered algorithm, whatever it is told.

use crate::host::{self, Flow, Random, acked, assert_close};
use cwnd::registry::Kind;
use cwnd::testing::{Case, check, in_shell};
use cwnd::{ALGORITHMS, Congestion, CongestionControl, Spec, Start};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every algorithm with its defaults.
fn defaults() -> impl Iterator<Item = Spec> {
    ALGORITHMS.iter().map(|entry| host::parse(entry.name))
}

/// The algorithms in the window shell.
fn shelled() -> impl Iterator<Item = &'static str> {
    let start = Start::default();
    defaults().filter(move |spec| in_shell(&spec.start(&start))).map(|spec| spec.entry().name)
}

/// Every algorithm with each parameter in turn at values far out, where it accepts them.
fn extremes() -> impl Iterator<Item = Spec> {
    const FAR_OUT: [&str; 14] =
        ["0", "1e-300", "1e-9", "1e-3", "0.100001", "0.5", "0.999999999", "1", "2", "4", "1e3", "1e6", "1e12", "1e300"];
    let texts = ALGORITHMS.iter().flat_map(|entry| {
        entry.parameters.iter().flat_map(move |parameter| {
            let values: &'static [&'static str] = match parameter.kind {
                Kind::Number { .. } => &FAR_OUT,
                Kind::Choice { options, .. } => options,
                Kind::BitRate => &["1bit", "1gbit", "1000000000tbit"],
                Kind::Span => &["0s", "1ns", "10ms", "1000h"],
                Kind::Text { .. } => &[],
            };
            values.iter().map(move |value| format!("{}:{}={value}", entry.name, parameter.name))
        })
    });
    texts.filter_map(|text| Spec::parse(&text).ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_list_of_signals(bytes in vec(any::<u8>(), 0..1500)) {
        let case = Case::decode(&bytes);
        defaults().for_each(|spec| check(&spec, &case));
    }
}

#[test]
fn any_list_of_signals_at_extreme_parameters() {
    let mut random = Random(1);
    let cases: Vec<Case> = (0..24)
        .map(|_| {
            let bytes: Vec<u8> = (0..400).map(|_| random.bits() as u8).collect();
            Case::decode(&bytes)
        })
        .collect();
    let mut tried = 0;
    for spec in extremes() {
        cases.iter().for_each(|case| check(&spec, case));
        tried += 1;
    }
    assert!(tried > 100, "only {tried} extreme parameters are accepted");
}

#[test]
fn one_decrease_per_window_of_data() {
    for name in shelled() {
        let mut flow = Flow::avoiding(name, 100.0);
        // New AIMD with its increments halved has nothing to give before it has added something.
        flow.rounds(3);
        let first = flow.view.next;
        flow.view.next += 100;
        let before = flow.w();
        flow.tell(&Congestion::loss(first, 3));
        let after = flow.w();
        assert!(after < before, "{name}: {before} to {after}");
        for packet in [first, first + 1, first + 99] {
            flow.tell(&Congestion::loss(packet, 1));
            flow.tell(&Congestion::mark(packet));
            assert_eq!(flow.w(), after, "{name}: packet {packet} is of the same window");
        }
        flow.tell(&Congestion::mark(first + 100));
        assert!(flow.w() < after, "{name}: packet {} is of the next window", first + 100);
    }
}

#[test]
fn a_batch_equals_its_packets() {
    for name in shelled() {
        for (at, policy) in [host::NS2, Start::default().policy].into_iter().enumerate() {
            let start = Start { policy, ..Start::default() };
            let mut single = Flow::new(name, &start);
            let mut batched = single.clone();
            // Through slow start, a cut, and an epoch after it.
            for packets in [1, 7, 400, 0, 60, 3000] {
                if packets == 0 {
                    single.lose();
                    batched.lose();
                }
                (0..packets).for_each(|_| single.algorithm.on_ack(&single.view, &acked(1)));
                batched.algorithm.on_ack(&batched.view, &acked(packets));
                assert_close(batched.w() / single.w(), 1.0, 1e-12);
            }
            assert!(single.w() > 10.0, "{name}, policy {at}: nothing happened");
        }
    }
}

/// (sum w)^2 / (n sum w^2), Jain, Chiu and Hawe 1984.
fn jain(flows: &[Flow]) -> f64 {
    let sum: f64 = flows.iter().map(Flow::w).sum();
    let squares: f64 = flows.iter().map(|flow| flow.w() * flow.w()).sum();
    sum * sum / (flows.len() as f64 * squares)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Chiu and Jain 1989: a proportional decrease keeps the index; a common additive increase raises it, a common
    /// multiplicative increase keeps it.
    #[test]
    fn proportional_decreases_keep_fairness_and_increases_do_not_lower_it(
        windows in vec(200.0..2000.0_f64, 2..6),
        a in 0.1..8.0_f64,
        b in 0.11..0.5_f64,
        cuts in vec(any::<bool>(), 1..16),
    ) {
        let specs = ["reno", "scalable", &format!("aimd:a={a},b={b}"), &format!("mimd:b={b}")];
        for spec in specs {
            let mut flows: Vec<Flow> = windows.iter().map(|w| Flow::avoiding(spec, *w)).collect();
            for cut in &cuts {
                let before = jain(&flows);
                if *cut && flows.iter().all(|flow| flow.w() > 20.0) {
                    flows.iter_mut().for_each(Flow::lose);
                    prop_assert!((jain(&flows) - before).abs() < 1e-12, "{spec}: a decrease changed the index");
                } else {
                    flows.iter_mut().for_each(Flow::round);
                    // A round trip acknowledges whole packets. Of a window of 20 up to one in 20 is left for the next, which
                    // turns a ratio of windows by at most 0.125/20 and the index by a quarter of that.
                    prop_assert!(jain(&flows) >= before - 2e-3, "{spec}: an increase lowered the index");
                }
            }
        }
    }
}

#[test]
fn a_common_additive_increase_raises_fairness() {
    let mut flows = [Flow::avoiding("reno", 10.0), Flow::avoiding("reno", 40.0)];
    let mut index = jain(&flows);
    for round in 0..25 {
        flows.iter_mut().for_each(Flow::round);
        let raised = jain(&flows);
        assert!(raised > index, "round {round}");
        index = raised;
    }
    // From (10, 40) to (35, 65): 50^2 / (2 (10^2 + 40^2)) = 0.735 to 100^2 / (2 (35^2 + 65^2)) = 0.917.
    assert_close(index, 0.917, 0.005);
}

#[test]
fn every_algorithm_says_where_it_comes_from() {
    for entry in ALGORITHMS {
        assert!(!entry.title.is_empty() && !entry.source.is_empty(), "{}", entry.name);
        for parameter in entry.parameters {
            assert!(!parameter.help.is_empty(), "{}: {}", entry.name, parameter.name);
        }
    }
}
