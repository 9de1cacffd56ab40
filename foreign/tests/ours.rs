//! Algorithms of `cwnd` inside noq, beside the same ones behind our own sender. The tolerance was written down before the first run.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Variation, run};

/// Mbit/s of one flow of `spec`, of payload, from 5 s on.
fn goodput(spec: &Spec, path: &Dumbbell) -> f64 {
    let mut setup = path.setup(std::slice::from_ref(spec), Era::MODERN, Span::from_secs(20), Span::from_secs(5), 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    let trace = run(&setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let delivered = &trace.flows[0].delivered;
    // Samples are taken at the start, at 5 s and at the end.
    (delivered[2] - delivered[1]) as f64 * 1460.0 * 8.0 / 15e6
}

#[test]
#[ignore = "minutes in a debug build"]
fn goodput_in_noq_is_within_a_twentieth_of_our_senders() {
    let paths = [
        Dumbbell::new(10_000_000, Span::from_millis(40), QueueLimit::Packets(33)),
        Dumbbell::new(20_000_000, Span::from_millis(80), QueueLimit::Packets(133)),
        Dumbbell::new(50_000_000, Span::from_millis(20), QueueLimit::Packets(83)),
    ];
    let mut misses = Vec::new();
    for name in ["reno", "cubic", "simd", "exp-tcp", "new-aimd", "rap", "bbr3"] {
        let spec = Spec::parse(name).expect("registered");
        let inside = cwnd_foreign::noq_with(&spec).expect("it sets a window or a rate");
        for path in &paths {
            let [ours, theirs] = [&spec, &inside].map(|spec| goodput(spec, path));
            println!("{name} {} {ours:.3} {theirs:.3} {:.3}", path.rate, theirs / ours);
            if !(0.95..=1.05).contains(&(theirs / ours)) {
                misses.push(format!("{name} at {}: {theirs:.3} for {ours:.3}", path.rate));
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
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
