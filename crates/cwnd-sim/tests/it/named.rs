//! The algorithms that the five papers only name: of each, one behaviour that its source describes.

use cwnd::window::SlowStart;
use cwnd::{Span, Spec};
use cwnd_sim::{
    AckEcho, Discipline, Dumbbell, Era, Fault, LinkId, Loss, QueueLimit, RedSetup, Sampling, Setup, Tap, Trace,
    Variation,
};

const MBIT: u64 = 1_000_000;

fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

fn last(curve: &[u64]) -> u64 {
    *curve.last().expect("sampled at the end")
}

/// Flows that start together, on a bottleneck with room for `queue` packets, sampled ten times per round trip.
fn setup(flows: &[Spec], mbit: u64, rtt: Span, queue: u32, seconds: u64) -> Setup {
    let bell = Dumbbell::new(mbit * MBIT, rtt, QueueLimit::Packets(queue));
    let mut setup = bell.setup(flows, Era::MODERN, Span::from_secs(seconds), Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.9 };
    setup.sampling = Some(Sampling { interval: rtt / 10, internals: true });
    // The papers' receivers acknowledge each packet.
    setup.flows.iter_mut().for_each(|flow| flow.delayed_ack = None);
    setup
}

/// RFC 9406 section 1: slow start sends too fast for too long, and loses much; HyStart++ is to lose less.
///
/// Where the window doubles, the queue is first seen in the round after the one that builds it. A queue of one bandwidth-delay
/// product overflows before that; from two on, the round that overflows grows by a quarter instead of doubling; sixteen hold
/// until the five careful rounds are over.
#[test]
fn hystart_overshoots_by_a_quarter_of_what_slow_start_does() {
    for (mbit, millis) in [(100, 50), (1000, 20), (20, 200)] {
        let lost = |slow_start, products: u64| {
            let queue = (products * mbit * 1000 * millis / 12_000) as u32;
            let mut setup = setup(&[spec("reno")], mbit, Span::from_millis(millis), queue, 10);
            setup.flows[0].slow_start = Some(slow_start);
            last(&run(&setup).links[0].dropped) as f64
        };
        for (products, share) in [(1, 1.0), (2, 0.5), (4, 0.3), (16, 0.0)] {
            let [standard, hystart] = [SlowStart::Standard, SlowStart::HyStart].map(|way| lost(way, products));
            let case = format!("{products} bandwidth-delay products at {mbit} Mbit/s: {hystart} and {standard} lost");
            assert!(standard > 0.0 && hystart <= share * standard, "{case}");
        }
    }
}

/// A fluid under SEARCH leaves slow start at 5.3 bandwidth-delay products, and up to 0.35 more until a bin ends (`window/search.rs`); packets leave
/// in bursts, so that the band is wider. Only a queue of almost five products holds all packets. One of a single product overflows before, and the
/// window is cut before SEARCH detects anything. With two products it overflows at a window of three, and the loss would be known at six: SEARCH
/// saves a fifth at most.
#[test]
fn search_leaves_slow_start_at_five_bandwidth_delay_products() {
    for (mbit, millis) in [(100, 50), (1000, 20), (20, 200)] {
        let product = (mbit * 1000 * millis) as f64 / 12_000.0;
        let start = |slow_start, products: f64| {
            let queue = (products * product) as u32;
            let mut setup = setup(&[spec("reno")], mbit, Span::from_millis(millis), queue, 4);
            setup.flows[0].slow_start = Some(slow_start);
            let trace = run(&setup);
            (last(&trace.links[0].dropped) as f64, threshold(&trace) / product)
        };
        let (lost, exit) = start(SlowStart::Search, 16.0);
        let case = format!("{mbit} Mbit/s, {millis} ms");
        assert!(lost == 0.0 && (4.9..6.1).contains(&exit), "{case}: {lost} lost, {exit} products");
        for (products, least) in [(1.0, 1.0), (2.0, 0.75)] {
            let [standard, search] = [SlowStart::Standard, SlowStart::Search].map(|way| start(way, products).0);
            let share = search / standard;
            assert!(
                standard > 0.0 && (least..=1.0).contains(&share),
                "{case}, {products} products: {search}, {standard}"
            );
        }
    }
}

/// The slow-start threshold of the first flow when it was first finite, packets.
fn threshold(trace: &Trace) -> f64 {
    let internal = trace.flows[0].internals.iter().find(|(name, _)| *name == "ssthresh");
    let (_, values) = internal.expect("window algorithms have one");
    values.iter().copied().find(|value| value.is_finite()).expect("slow start has ended")
}

/// The packets in the queue of the bottleneck from `from` on: the mean over time and the standard deviation.
fn queue(trace: &Trace, from: Span) -> (f64, f64) {
    let link = &trace.links[0];
    let settled = trace.at.partition_point(|at| *at < from.as_nanos());
    let packets: Vec<f64> = link.queue_bytes[settled..].iter().map(|bytes| *bytes as f64 / 1500.0).collect();
    let mean = packets.iter().sum::<f64>() / packets.len() as f64;
    let squares: f64 = packets.iter().map(|packets| (packets - mean) * (packets - mean)).sum();
    (mean, (squares / packets.len() as f64).sqrt())
}

/// Packets each flow delivered from `from` on.
fn delivered(trace: &Trace, from: Span) -> Vec<f64> {
    let since = trace.at.partition_point(|at| *at < from.as_nanos());
    trace.flows.iter().map(|flow| (last(&flow.delivered) - flow.delivered[since]) as f64).collect()
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// Brakmo and Peterson section III.B: between alpha = 1 and beta = 3 packets of each flow lie in the queue of the bottleneck.
#[test]
fn vegas_keeps_one_to_three_packets_per_flow_in_the_queue() {
    for flows in [1, 2, 4] {
        let trace = run(&setup(&vec![spec("vegas"); flows], 10, Span::from_millis(50), 200, 80));
        let (mean, deviation) = queue(&trace, Span::from_secs(40));
        let each = mean / flows as f64;
        // It stops growing where the estimate, not the queue, first touches alpha.
        assert!((0.9..=3.0).contains(&each) && deviation < 1.0, "{flows} flows: {each} +- {deviation} each");
        assert_eq!(last(&trace.links[0].dropped), 0, "{flows} flows");
    }
}

/// Jin, Wei and Low: in equilibrium each flow has alpha packets in queues, and so all have equal shares.
#[test]
fn fast_keeps_alpha_packets_per_flow_in_the_queue() {
    for flows in [1, 2, 4] {
        let trace = run(&setup(&vec![spec("fast:alpha=50"); flows], 100, Span::from_millis(50), 2000, 40));
        let (mean, deviation) = queue(&trace, Span::from_secs(20));
        let each = mean / flows as f64;
        assert!((48.0..=52.0).contains(&each) && deviation < 2.0, "{flows} flows: {each} +- {deviation} each");
        let fairness = jain(&delivered(&trace, Span::from_secs(20)));
        assert!(fairness > 0.999, "{flows} flows: {fairness}");
    }
}

/// A paced flow with one loss on a path of 100 ms without queueing: its windows once per round trip from the cut on, and the
/// internal of that name then.
fn after_a_loss(algorithm: &str, number: u64, seconds: u64, wanted: &str) -> (Vec<f64>, f64) {
    let mut setup = setup(&[spec(algorithm)], 10_000, Span::from_millis(100), 100_000, seconds);
    setup.taps =
        vec![Tap { link: LinkId(0), faults: vec![Fault::Data { flow: 0, number, transmission: 1 }], record: true }];
    setup.flows[0].paced = true;
    let flow = &run(&setup).flows[0];
    let internal = |name| &flow.internals.iter().find(|(each, _)| *each == name).expect("an internal").1;
    let cut = internal("ssthresh").iter().position(|threshold| threshold.is_finite()).expect("a cut");
    let values = internal(wanted);
    (flow.window[cut..].iter().step_by(10).copied().collect(), values[cut])
}

/// Xu, Harfoush and Rhee: additive by S_max while the maximum is far, then half the way in each round trip, then slow
/// start beyond it.
#[test]
fn bic_follows_its_binary_search_curve() {
    let (windows, w_max) = after_a_loss("bic", 2000, 5, "w_max");
    let gaps: Vec<f64> = windows.iter().map(|w| w_max - w).collect();
    let pairs = || gaps.windows(2).skip(2).map(|pair| (pair[0], pair[1]));
    let additive: Vec<f64> = pairs().filter(|(gap, _)| *gap > 100.0).map(|(gap, next)| gap - next).collect();
    assert!(additive.len() >= 3 && additive.iter().all(|step| (31.0..=32.5).contains(step)), "{additive:?}");
    let bisected: Vec<f64> =
        pairs().filter(|(gap, _)| (0.5..60.0).contains(gap)).map(|(gap, next)| next / gap).collect();
    assert!(bisected.len() >= 6 && bisected.iter().all(|share| (0.42..=0.58).contains(share)), "{bisected:?}");
    let probed = windows.last().expect("samples") - w_max;
    assert!(probed > 100.0, "{probed} beyond the maximum");
}

/// Leith and Shorten: one packet per round trip for a second, then the integral of 1 + 10 x + (x/2)^2 over two more seconds, in
/// round trips of 100 ms: 10 and 226.7 packets.
#[test]
fn htcp_grows_by_the_time_since_the_last_congestion() {
    let (windows, beta) = after_a_loss("htcp", 2000, 6, "beta");
    assert_eq!(beta, 0.5);
    let grown = |tenths: usize| windows[tenths] - windows[0];
    // Nothing grows in the round trip that repairs the loss.
    assert!((8.0..=10.0).contains(&grown(10)), "{}", grown(10));
    assert!((220.0..=237.0).contains(&grown(30)), "{}", grown(30));
}

/// The backoff factor is RTTmin/RTTmax: a queue of 33 packets makes 100 ms of 60 ms, and a cut to 0.6 just empties it.
#[test]
fn htcp_backs_off_by_what_the_queue_holds() {
    let trace = run(&setup(&[spec("htcp")], 10, Span::from_millis(60), 33, 60));
    let (_, beta) = trace.flows[0].internals.iter().find(|(name, _)| *name == "beta").expect("an internal");
    let settled = beta[beta.len() - 1];
    assert!((0.58..=0.64).contains(&settled), "{settled}");
    let load = delivered(&trace, Span::from_secs(20))[0] * 12_000.0 / (40.0 * 10e6);
    assert!(load > 0.98, "{load}");
}

/// Grieco and Mascolo: a random loss leaves the window at BWE RTTmin, so that losses of one percent cost far less than Reno's.
#[test]
fn westwood_keeps_more_than_reno_under_random_loss() {
    let [reno, westwood] = ["reno", "westwood"].map(|algorithm| {
        let mut setup = setup(&[spec(algorithm)], 10, Span::from_millis(100), 83, 200);
        setup.links[0].loss = Loss::Bernoulli(0.01);
        delivered(&run(&setup), Span::from_secs(20))[0]
    });
    assert!(westwood > 2.0 * reno, "{westwood} and {reno}");
}

/// Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.3: over a step at K the queue swings between K + N and
/// sqrt(2N (C RTT + K)) / 2 below, evenly in between.
#[test]
fn dctcp_holds_the_queue_at_the_step() {
    const STEP: f64 = 20.0;
    for flows in [1, 2, 4, 8] {
        let on_the_step = |algorithm, echo| {
            let mut setup = setup(&vec![spec(algorithm); flows], 1000, Span::from_millis(1), 500, 2);
            let red = RedSetup { min: STEP, max: STEP, weight: 1.0, mark: true, ..RedSetup::default() };
            setup.links[0].discipline = Discipline::Red(red);
            setup.flows.iter_mut().for_each(|flow| flow.ecn = Some(echo));
            run(&setup)
        };
        let settled = Span::from_millis(500);
        let load = |trace: &Trace| delivered(trace, settled).iter().sum::<f64>() * 12_000.0 / 1.5e9;
        let n = flows as f64;
        let amplitude = (2.0 * n * (1e6 / 12_000.0 + STEP)).sqrt() / 2.0;
        let trace = on_the_step("dctcp", AckEcho::PerPacket);
        let (mean, deviation) = queue(&trace, settled);
        let expected = (STEP + n - amplitude / 2.0, amplitude / 12.0_f64.sqrt());
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.2;
        let case = format!("{flows} flows: {mean} +- {deviation}, expected {expected:?}");
        assert!(close(mean, expected.0) && close(deviation, expected.1), "{case}");
        let fairness = jain(&delivered(&trace, settled));
        assert!(load(&trace) > 0.995 && fairness > 0.99, "{case}, fairness {fairness}");
        // Who halves for every mark empties the queue.
        assert!(load(&on_the_step("reno", AckEcho::Latch)) < 0.92, "{case}");
    }
}
