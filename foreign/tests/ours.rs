//! Algorithms of `cwnd` inside noq and quinn, compared with the ones behind our own sender. The tolerances were written down before the
//! first run; that of the window was added when goodput alone had hidden that quinn's losses counted as old ones, and removed from `bbr3`,
//! whose bound is larger in noq, which acknowledges less often.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Sampling, Variation, run};

/// One flow of `spec`, from 5 s on: Mbit/s of payload, and its mean window in packets.
fn flow(spec: &Spec, path: &Dumbbell) -> [f64; 2] {
    let mut setup = path.setup(std::slice::from_ref(spec), Era::MODERN, Span::from_secs(20), Span::from_secs(5), 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup.sampling = Some(Sampling { interval: Span::from_millis(100), internals: false });
    let trace = run(&setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let flow = &trace.flows[0];
    let begin = flow.delivered.len() - 150;
    let delivered = flow.delivered[flow.delivered.len() - 1] - flow.delivered[begin - 1];
    let windows = &flow.window[begin..];
    [delivered as f64 * 1460.0 * 8.0 / 15e6, windows.iter().sum::<f64>() / windows.len() as f64]
}

/// Prints goodput and window of each algorithm behind our own sender and inside a stack, and fails where goodput differs by more than a
/// twentieth, or the mean window by more than a tenth. Where an algorithm sets a rate its window is a bound, and goodput alone counts.
fn is_alike(names: &[&str], paths: &[Dumbbell], inside: impl Fn(&Spec) -> Result<Spec, cwnd_quic::Unsupported>) {
    let mut misses = Vec::new();
    for name in names {
        let spec = Spec::parse(name).expect("registered");
        let inside = inside(&spec).expect("the stack can have it");
        for path in paths {
            let [[goodput, window], [inner_goodput, inner_window]] = [&spec, &inside].map(|spec| flow(spec, path));
            println!(
                "{name} {} {goodput:.3} {inner_goodput:.3} Mbit/s, {window:.1} {inner_window:.1} packets",
                path.rate
            );
            let alike = (0.95..=1.05).contains(&(inner_goodput / goodput));
            let bounded = ["rap", "bbr3"].contains(name);
            if !alike || !(bounded || (0.9..=1.1).contains(&(inner_window / window))) {
                misses.push(format!(
                    "{name} at {}: {inner_goodput:.3} for {goodput:.3}, {inner_window:.1} for {window:.1}",
                    path.rate
                ));
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

fn paths() -> [Dumbbell; 3] {
    [
        Dumbbell::new(10_000_000, Span::from_millis(40), QueueLimit::Packets(33)),
        Dumbbell::new(20_000_000, Span::from_millis(80), QueueLimit::Packets(133)),
        Dumbbell::new(50_000_000, Span::from_millis(20), QueueLimit::Packets(83)),
    ]
}

#[test]
fn the_shortest_path_alone() {
    is_alike(&["reno", "new-aimd"], &paths()[..1], cwnd_foreign::quinn_with);
    is_alike(&["reno", "new-aimd"], &paths()[..1], cwnd_foreign::noq_with);
}

#[test]
#[ignore = "minutes in a debug build: `cargo xtask test --long stacks`"]
fn algorithms_in_noq_are_like_those_behind_our_senders() {
    is_alike(&["reno", "cubic", "simd", "exp-tcp", "new-aimd", "rap", "bbr3"], &paths(), cwnd_foreign::noq_with);
}

#[test]
#[ignore = "minutes in a debug build: `cargo xtask test --long stacks`"]
fn algorithms_in_quinn_are_like_those_behind_our_senders() {
    is_alike(&["reno", "cubic", "simd", "exp-tcp", "new-aimd"], &paths(), cwnd_foreign::quinn_with);
}

#[test]
fn what_a_stack_cannot_have_is_refused_with_the_reason() {
    let parse = |name| Spec::parse(name).expect("registered");
    let reason = |name| cwnd_quic::quinn::Factory::new(parse(name), 1).expect_err("refused").to_string();
    assert!(reason("bbr3").contains("sets a rate"), "{}", reason("bbr3"));
    assert!(reason("tfrc").contains("reports of its receiver"), "{}", reason("tfrc"));
    assert!(cwnd_quic::quinn::Factory::new(parse("cubic"), 1).is_ok());
    assert!(cwnd_foreign::noq_with(&parse("xcp")).is_err());
}
