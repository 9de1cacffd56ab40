//! TFRC in packets.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, Setup, Source};

fn spec(name: &str) -> Spec {
    Spec::parse(name).expect("registered")
}

/// One flow over 100 Mbit/s and 50 ms that loses packets at random.
fn lossy(algorithm: &str, p: f64, seed: u64) -> Setup {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(p),
        ..Dumbbell::new(100_000_000, Span::from_millis(50), QueueLimit::Packets(400))
    };
    bell.setup(&[spec(algorithm)], Era::MODERN, Span::from_secs(200), Span::from_secs(20), seed)
}

/// Packets delivered per second after the warm-up, mean over three seeds.
fn rate(algorithm: &str, p: f64) -> f64 {
    let one = |seed| {
        let trace = cwnd_sim::run(&lossy(algorithm, p, seed), &mut |_| true).expect("a valid setup");
        let delivered = &trace.flows[0].delivered;
        let [.., before, after] = delivered[..] else { panic!("three samples") };
        (after - before) as f64 / 180.0
    };
    (1..=3).map(one).sum::<f64>() / 3.0
}

#[test]
fn as_fast_as_reno_at_one_percent_of_loss() {
    let (tfrc, reno) = (rate("tfrc", 0.01), rate("reno", 0.01));
    assert!((tfrc / reno - 1.0).abs() < 0.2, "{tfrc} packets/s, Reno {reno}");
}

#[test]
fn two_flows_share_a_line_and_fill_it() {
    let bell = Dumbbell::new(10_000_000, Span::from_millis(50), QueueLimit::Packets(40));
    let setup = bell.setup(&[spec("tfrc"), spec("tfrc")], Era::MODERN, Span::from_secs(120), Span::from_secs(20), 1);
    let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    let delivered: Vec<u64> = trace.flows.iter().map(|flow| flow.delivered[2] - flow.delivered[1]).collect();
    // 833 packets of 1500 bytes a second.
    let sum: u64 = delivered.iter().sum();
    assert!(sum > 83_333 * 9 / 10, "{delivered:?}");
    assert!(delivered.iter().all(|one| *one > sum / 4), "{delivered:?}");
}

#[test]
fn a_transfer_of_a_size_is_refused() {
    let mut setup = lossy("tfrc", 0.01, 1);
    setup.flows[0].source = Source::Packets(100);
    let error = setup.check().expect_err("nothing is sent twice").to_string();
    assert!(error.contains("`tfrc`, which sends nothing twice"), "{error}");
}
