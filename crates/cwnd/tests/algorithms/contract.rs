//! What holds for every registered algorithm, whatever signals it gets.

use crate::host::{self, Random, TestHost, acked, assert_close};
use cwnd::registry::{Kind, Measure};
use cwnd::testing::{Case, check, in_shell, rule};
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
                Kind::Quantity { measure: Measure::BitRate, .. } => &["1bit", "1gbit", "1000000000tbit"],
                Kind::Quantity { .. } => &["0s", "1ns", "10ms", "1000h"],
                Kind::Text { .. } | Kind::Flag => &[],
            };
            values.iter().map(move |value| format!("{}:{}={value}", entry.name, parameter.name))
        })
    });
    texts.filter_map(|text| Spec::parse(&text).ok())
}

/// The byte of `,cut=` in the texts of [`rule`].
const PART_CUT: u8 = 30;

#[test]
fn rules_at_the_edge_of_arithmetic() {
    let mut random = Random(2);
    let bytes: Vec<u8> = (0..1200).map(|_| random.bits() as u8).collect();
    let case = Case::decode(&bytes);
    for text in [
        "grow=w/0,cut=w/0",
        "grow=(w-w)/0,cut=(w-w)/0",
        "grow=w*1e300*1e300,cut=-1e300*w",
        "grow=-1e300,cut=1e300",
        "grow=-w,cut=ln(-w)",
        "grow=max(1/w, 0.4*(age-cbrt(0.75*peak))^3/w),cut=0.7*w",
        "grow=(min_rtt/rtt-0.5)/w,cut=min(w, peak)/2",
    ] {
        check(&host::parse(&format!("rule:{text}")), &case);
    }
    // Half of what the generator makes of single parts is valid, or the property below would say nothing.
    let valid = (0..=255).filter(|byte| Spec::parse(&rule(&[*byte])).is_ok()).count();
    assert!(valid > 60, "{valid}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_list_of_signals(bytes in vec(any::<u8>(), 0..1500)) {
        let case = Case::decode(&bytes);
        defaults().for_each(|spec| check(&spec, &case));
    }

    #[test]
    fn any_rule(text in vec(any::<u8>(), 0..12), cut in vec(any::<u8>(), 0..12), bytes in vec(any::<u8>(), 0..600)) {
        let text = rule(&[&text[..], &[PART_CUT], &cut].concat());
        // Few of the long ones are valid: none may panic.
        if let Ok(spec) = Spec::parse(&text) {
            check(&spec, &Case::decode(&bytes));
        }
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
        let mut flow = TestHost::avoiding(name, 100.0);
        // New AIMD with its increments halved has nothing to give before it has added something.
        flow.rounds(3);
        // A slowdown that the algorithm makes on its own is no response to congestion; slow start leads out of it.
        while flow.w() < flow.internal("ssthresh") {
            flow.round();
        }
        let first = flow.view.next;
        flow.view.next += 100;
        let before = flow.w();
        flow.on_congestion(&Congestion::loss(first, 3));
        let after = flow.w();
        assert!(after < before, "{name}: {before} to {after}");
        for packet in [first, first + 1, first + 99] {
            flow.on_congestion(&Congestion::loss(packet, 1));
            flow.on_congestion(&Congestion::mark(packet));
            assert_eq!(flow.w(), after, "{name}: packet {packet} is of the same window");
        }
        // Westwood+ cuts to what the path delivers: nothing where the window has not grown since.
        flow.round();
        let grown = flow.w();
        flow.on_congestion(&Congestion::mark(first + 100));
        assert!(flow.w() < grown, "{name}: packet {} is of the next window", first + 100);
    }
}

#[test]
fn a_batch_equals_its_packets() {
    for name in shelled() {
        for (at, policy) in [host::NS2, Start::default().policy].into_iter().enumerate() {
            let start = Start::default().with_policy(policy);
            let mut single = TestHost::new(name, &start);
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
fn jain(windows: &[f64]) -> f64 {
    let sum: f64 = windows.iter().sum();
    let squares: f64 = windows.iter().map(|w| w * w).sum();
    sum * sum / (windows.len() as f64 * squares)
}

proptest! {
    /// Chiu and Jain 1989, for flows with common feedback: a proportional decrease keeps the index, an additive increase raises
    /// it, a multiplicative one keeps it.
    #[test]
    fn proportional_decreases_keep_fairness_and_increases_do_not_lower_it(
        windows in vec(4.0..2000.0_f64, 2..6),
        a in 0.01..8.0_f64,
        b in 0.11..0.5_f64,
    ) {
        let additive = ["reno", &format!("aimd:a={a},b={b}")];
        for spec in additive.into_iter().chain(["scalable", &format!("mimd:b={b}")]) {
            let mut flows: Vec<TestHost> = windows.iter().map(|w| TestHost::avoiding(spec, *w)).collect();
            let index = jain(&windows);
            // A whole round trip at the increase the window has now: real windows do not end on whole packets.
            let increased: Vec<f64> = flows.iter().map(|flow| flow.w() + flow.increase()).collect();
            let raised = jain(&increased);
            prop_assert!(raised > index - 1e-9, "{spec}: an increase took the index from {index} to {raised}");
            prop_assert!(raised > index || !additive.contains(&spec) || index > 1.0 - 1e-9, "{spec}: not raised");
            flows.iter_mut().for_each(TestHost::lose);
            let cut: Vec<f64> = flows.iter().map(TestHost::w).collect();
            prop_assert!((jain(&cut) - index).abs() < 1e-12, "{spec}: a decrease changed the index");
        }
    }
}

#[test]
fn a_common_additive_increase_raises_fairness() {
    let mut flows = [10.0, 40.0].map(|w| TestHost::avoiding("reno", w));
    let mut index = jain(&flows.each_ref().map(TestHost::w));
    for round in 0..25 {
        flows.iter_mut().for_each(TestHost::round);
        let raised = jain(&flows.each_ref().map(TestHost::w));
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
