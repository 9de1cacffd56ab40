//! The known faults of these releases, on a path of packets and by conformance checks.

#[path = "../../tests/judging/mod.rs"]
mod judging;

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, Sampling, Setup, SetupError, run};

fn setup(name: &str) -> Setup {
    let specs = cwnd_foreign::stacks();
    let spec: Vec<Spec> = specs.into_iter().filter(|spec| spec.label() == name).collect();
    assert_eq!(spec.len(), 1, "{name}");
    let path = Dumbbell::new(20_000_000, Span::from_millis(50), QueueLimit::Packets(83));
    let mut setup = path.setup(&spec, Era::MODERN, Span::from_secs(30), Span::from_secs(1), 1);
    setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: true });
    setup
}

/// quinn#2640: where the window was below the last maximum CUBIC cuts it to 59.5 % (0.7 times 0.85) instead of 70 % (RFC 9438 sections 4.6
/// and 4.7); otherwise it cuts to 70 %.
#[test]
fn quinn_0_11_14_cuts_too_deep() {
    let trace = run(&setup("quinn-0.11.14:cubic"), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let windows = &trace.flows[0].window;
    let cuts = windows.windows(2).map(|pair| pair[1] / pair[0]).filter(|ratio| *ratio < 0.9);
    let cuts: Vec<f64> = cuts.collect();
    assert!(cuts.iter().any(|ratio| (0.59..0.60).contains(ratio)), "{cuts:?}");
}

/// moq#3536: BBRv3 computes below zero after a loss, where overflows are checked.
#[test]
fn noq_1_1_0_panics_on_a_loss_and_the_run_ends_with_the_message() {
    let mut setup = setup("noq-1.1.0:bbr3");
    setup.links[0].loss = Loss::Bernoulli(0.01);
    let error = run(&setup, &mut |_| true).expect_err("a debug build checks overflows");
    let SetupError::Stack(panic) = &error else { panic!("{error}") };
    assert!(panic.message.contains("overflow"), "{error}");
    assert_eq!((panic.seed, panic.stack.as_str()), (1, "noq-1.1.0:bbr3"));
}

/// The first cut is 0.7, and the second, below the last maximum, 0.595.
#[test]
fn a_conformance_check_finds_what_quinn_0_11_14_cuts() {
    judging::judge("quinn-0.11.14:cubic", "9438-beta").meets(0.69..0.71);
    judging::judge("quinn-0.11.14:cubic", "9438-beta-second").deviates(0.585..0.605);
}

/// smoltcp#1149: the window bounds the data sent at once and not the data in flight, so the first flight is all that the peer grants.
#[test]
fn a_conformance_check_finds_that_the_window_of_smoltcp_0_12_0_bounds_nothing() {
    judging::judge("smoltcp-0.12.0:reno", "5681-initial").deviates(20.0..100.0);
}

/// smoltcp#1155: a fast retransmission sends again all that the socket holds.
#[test]
fn a_conformance_check_finds_what_smoltcp_0_12_0_sends_again() {
    judging::judge("smoltcp-0.12.0:reno", "one-loss").deviates(1.5..2.0);
}

#[test]
fn a_conformance_check_finds_the_panic_of_noq_1_1_0() {
    judging::judge("noq-1.1.0:bbr3", "survives").deviates(0.999..1.001);
}
