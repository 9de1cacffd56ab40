//! What is known to be wrong with these releases, seen on a path of packets.

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
