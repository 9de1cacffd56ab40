//! Hosts as those of Linux: bursts of segmentation offload, pacing, merged arrivals, receive windows that grow.

use cwnd::{Bytes, Span, Spec};
use cwnd_sim::{
    Dumbbell, Era, LinkId, LinuxHost, Passing, QueueLimit, RecoveryScheme, Sampling, Setup, Source, Tap, Trace,
    Variation,
};

/// Flows of `algorithm` for ten seconds without anything drawn, recorded every 10 ms, on a path of `rate` Mbit/s and `rtt` ms whose queue
/// holds `queue` packets.
fn setup(algorithm: &str, (rate, rtt, queue): (u64, u64, u32), host: LinuxHost) -> Setup {
    let bell = Dumbbell::new(rate * 1_000_000, Span::from_millis(rtt), QueueLimit::Packets(queue));
    let spec = Spec::parse(algorithm).expect("registered");
    let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(10), Span::ZERO, 1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: false });
    setup.taps = [LinkId(0), LinkId(1)].map(|link| Tap { link, faults: Vec::new(), record: true }).to_vec();
    setup.flows[0].host = host;
    setup
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).expect("a valid setup")
}

const PLAIN: LinuxHost = LinuxHost { tso: false, fq: false, gro: None, autotune: None, whole: false, min_rto: None };
const TSO: LinuxHost = LinuxHost { tso: true, ..PLAIN };
const FQ: LinuxHost = LinuxHost { fq: true, ..PLAIN };

/// How many data packets reached the bottleneck at each instant between two times, in milliseconds.
fn bursts(trace: &Trace, (from, to): (u64, u64)) -> Vec<(u64, usize)> {
    let data = trace.links[0].passages.iter().filter(|passage| matches!(passage.what, Passing::Data { .. }));
    let at: Vec<u64> = data.map(|passage| passage.at).filter(|at| (from..to).contains(&(at / 1_000_000))).collect();
    at.chunk_by(|a, b| a == b).map(|burst| (burst[0], burst.len())).collect()
}

fn mean_burst(trace: &Trace, within: (u64, u64)) -> f64 {
    let bursts = bursts(trace, within);
    bursts.iter().map(|(_, packets)| *packets as f64).sum::<f64>() / bursts.len() as f64
}

/// Packets delivered in the last five seconds.
fn delivered(trace: &Trace) -> u64 {
    let curve = &trace.flows[0].delivered;
    curve[curve.len() - 1] - curve[curve.len() / 2]
}

/// Acknowledgements per data packet that reached the bottleneck, over the whole run.
fn acknowledged(trace: &Trace) -> f64 {
    let count = |link: usize| trace.links[link].passages.len() as f64;
    count(1) / count(0)
}

/// At 200 Mbit/s a millisecond holds 16 packets of 1500 bytes, at 1.2 times the window per round trip some 19.
#[test]
fn segments_hold_what_a_millisecond_carries() {
    let path = (200, 20, 333);
    let (plain, tso) = (run(&setup("cubic", path, PLAIN)), run(&setup("cubic", path, TSO)));
    let [few, many] = [&plain, &tso].map(|trace| mean_burst(trace, (5000, 10_000)));
    assert!(few < 2.5, "an acknowledgement for two packets releases two, and a third now and then: {few}");
    assert!((12.0..21.0).contains(&many), "{many}");
    let largest = bursts(&tso, (5000, 10_000)).into_iter().map(|(_, packets)| packets).max();
    assert!(largest <= Some(45), "64 KiB: {largest:?}");
    let share = delivered(&tso) as f64 / delivered(&plain) as f64;
    assert!((0.98..1.01).contains(&share), "bursts that the queue holds cost nothing: {share}");
}

/// LIMITATIONS had it: with a queue of a few packets, bursts lose packets at windows where single packets do not.
#[test]
fn bursts_need_a_queue_that_holds_them() {
    let path = (200, 20, 12);
    let share = |host| delivered(&run(&setup("reno", path, host))) as f64 / (5.0 * 200e6 / 12_000.0);
    let (plain, tso) = (share(PLAIN), share(TSO));
    assert!(tso < 0.8 * plain, "{plain} and {tso} of the rate");
}

#[test]
fn a_transfer_ends_with_a_segment_that_is_not_whole() {
    for packets in [1, 11, 100, 101, 103] {
        let mut setup = setup("cubic", (20, 40, 100), TSO);
        setup.flows[0].source = Source::Packets(packets);
        let trace = run(&setup);
        assert_eq!(trace.flows[0].delivered.last(), Some(&packets));
        assert_eq!(trace.flows[0].timeouts.last(), Some(&0), "{packets} packets: the last one waits for nothing");
    }
}

/// Windows of each size reach the receiver with bursts too, also those of one packet. Where the receiver's window holds the sender, a
/// segment of five packets that waits to be whole lengthens the round trip by a fiftieth and more.
#[test]
fn no_window_is_too_small_for_bursts() {
    for window in [1.0, 2.0, 3.0, 4.0, 7.0, 50.0] {
        let [plain, tso] = [PLAIN, TSO].map(|host| {
            let mut setup = setup("cubic", (100, 20, 200), host);
            setup.flows[0].max_window = Some(window);
            setup.flows[0].delayed_ack = None;
            delivered(&run(&setup)) as f64
        });
        assert!((0.94..1.02).contains(&(tso / plain)), "{window}: {plain} and {tso}");
    }
}

#[test]
fn with_fq_packets_are_paced_after_the_first_window() {
    let path = (100, 40, 333);
    let trace = run(&setup("cubic", path, FQ));
    // The first window leaves at once: there is no sample yet to spread it by. Its acknowledgements come over 10 packets' time; what they
    // release is spread over half a round trip.
    assert_eq!(bursts(&trace, (0, 30))[0].1, 10);
    let second = bursts(&trace, (55, 85));
    assert!(second.len() > 15 && second.iter().all(|(_, packets)| *packets == 1), "{second:?}");
    let gaps: Vec<u64> = second.windows(2).map(|pair| (pair[1].0 - pair[0].0) / 1000).collect();
    // Half of some 41 ms over windows of 11 to 20 packets.
    assert!(gaps.iter().all(|gap| (900..2100).contains(gap)), "{gaps:?} us");
}

/// In congestion avoidance, 1.2 times the window per smoothed round trip: a packet's time at least 1/1.2 of the even one.
#[test]
fn with_fq_congestion_avoidance_is_paced_1_2_times_as_fast_as_the_window() {
    let mut setup = setup("reno", (1000, 40, 100_000), FQ);
    setup.flows[0].max_window = Some(100.0);
    let trace = run(&setup);
    let gaps: Vec<u64> = bursts(&trace, (8000, 9000)).windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let least = gaps.iter().min().copied().expect("it sends");
    // Held at a window of 100 by its receiver, the sender never leaves slow start: 2 windows per round trip.
    assert!((195_000..206_000).contains(&least), "{least} ns");
    setup.flows[0].algorithm = Spec::parse("reno").expect("registered");
    setup.links[0].queue = QueueLimit::Packets(40);
    setup.links[0].rate = Some(20_000_000);
    setup.flows[0].max_window = None;
    let trace = run(&setup);
    let window = trace.flows[0].window[900];
    let srtt = trace.flows[0].srtt[900];
    let gaps: Vec<u64> = bursts(&trace, (8990, 9010)).windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let expected = srtt * 1e9 / (1.2 * window);
    let least = gaps.iter().min().copied().expect("it sends") as f64;
    assert!((0.9..1.1).contains(&(least / expected)), "{least} and {expected} ns");
}

#[test]
fn fq_leaves_algorithms_that_pace_alone() {
    let path = (50, 40, 200);
    for host in [PLAIN, FQ] {
        let trace = run(&setup("bbr3", path, host));
        assert_eq!(trace.digest, run(&setup("bbr3", path, PLAIN)).digest);
    }
}

/// With both, whole segments leave, and the pause after each is as long as its packets take.
#[test]
fn with_fq_and_tso_segments_are_paced() {
    let trace = run(&setup("cubic", (200, 20, 333), LinuxHost { tso: true, fq: true, ..PLAIN }));
    let bursts = bursts(&trace, (5000, 10_000));
    let mean = bursts.iter().map(|(_, packets)| *packets as f64).sum::<f64>() / bursts.len() as f64;
    assert!((8.0..21.0).contains(&mean), "{mean}");
    // None follows the one before in less than 80 % of a packet's time on the line for each packet of the former.
    let hasty = bursts.windows(2).filter(|pair| {
        let [(at, packets), (next, _)] = [pair[0], pair[1]];
        ((next - at) as f64) < 0.8 * 60_000.0 * packets as f64
    });
    assert!(hasty.count() * 20 < bursts.len(), "but for those that acknowledgements interrupt");
}

#[test]
fn merged_arrivals_are_acknowledged_together() {
    let path = (1000, 20, 1666);
    // At 1 Gbit/s a packet takes 12 us: up to nine arrive within 100 us.
    let merged = run(&setup("cubic", path, LinuxHost { gro: Some(Span::from_micros(100)), ..PLAIN }));
    let plain = run(&setup("cubic", path, PLAIN));
    let [few, many] = [&merged, &plain].map(acknowledged);
    assert!((0.49..0.52).contains(&many), "one for two: {many}");
    assert!((0.10..0.14).contains(&few), "one for nine: {few}");
    let share = delivered(&merged) as f64 / delivered(&plain) as f64;
    assert!((0.98..1.01).contains(&share), "{share}");
}

/// What bunches acknowledgements bunches what they release, as on real hosts; senders with bursts and merged arrivals lose no more than
/// the queue cannot hold.
#[test]
fn bursts_and_merged_arrivals_work_together_under_loss() {
    let host = LinuxHost { tso: true, gro: Some(Span::from_micros(100)), ..PLAIN };
    for scheme in RecoveryScheme::ALL {
        let [plain, linux] = [PLAIN, host].map(|host| {
            let mut setup = setup("cubic", (100, 20, 166), host);
            setup.flows[0].recovery = scheme;
            setup.links[0].loss = cwnd_sim::Loss::Bernoulli(1e-3);
            delivered(&run(&setup)) as f64
        });
        assert!((0.75..1.3).contains(&(linux / plain)), "{}: {plain} and {linux}", scheme.name());
    }
}

fn autotuned(buffer: u32) -> LinuxHost {
    LinuxHost { autotune: Some(Bytes(buffer)), ..PLAIN }
}

/// A window of half the buffer: 6 MB fill 40 % of 600 Mbit/s and 100 ms.
#[test]
fn the_window_grows_up_to_half_of_the_buffer() {
    let path = (600, 100, 10_000);
    let trace = run(&setup("cubic", path, autotuned(6_000_000)));
    let rate = delivered(&trace) as f64 * 12_000.0 / 5.0;
    // 2054 packets of 1460 bytes, each a packet's time longer under way than 100 ms.
    let expected = 2054.0 * 12_000.0 / 0.1;
    assert!((0.98..1.01).contains(&(rate / expected)), "{rate} and {expected} bit/s");
    let held = trace.flows[0].peer_limited.last().copied();
    assert!(held > Some(8_000_000_000), "the receiver holds the sender: {held:?} ns");
}

/// The receiver's window is twice what arrived in the last round trip, and more while that grows: a sender hardly runs into it.
#[test]
fn slow_start_does_not_run_into_a_window_that_grows() {
    let path = (600, 100, 10_000);
    let reached = |host| {
        let mut setup = setup("reno", path, host);
        setup.duration = Span::from_secs(2);
        let trace = run(&setup);
        let at = trace.flows[0].delivered.iter().position(|packets| *packets > 10_000);
        at.expect("within two seconds")
    };
    let (unbound, tuned) = (reached(PLAIN), reached(autotuned(64_000_000)));
    assert!(tuned <= unbound + 10, "within a round trip: {unbound} and {tuned} hundredths of a second");
    let mut fixed = setup("reno", path, PLAIN);
    fixed.flows[0].max_window = Some(44.0);
    assert!(run(&fixed).flows[0].delivered.last() < Some(&5000), "where it stays at 64 KiB");
}

/// A window of 7.5 packets is cut to three whole ones, and a timeout comes after 200 ms.
#[test]
fn windows_are_cut_to_whole_packets_and_timeouts_are_shorter() {
    let mut setup = setup("reno", (100, 20, 100), LinuxHost { whole: true, ..PLAIN });
    setup.links[0].loss = cwnd_sim::Loss::Bernoulli(0.01);
    let trace = run(&setup);
    let cuts: Vec<f64> =
        trace.flows[0].window.windows(2).filter(|pair| pair[1] < pair[0]).map(|pair| pair[1]).collect();
    let whole = cuts.iter().filter(|window| window.fract() == 0.0).count();
    assert!(cuts.len() > 20 && whole * 10 > cuts.len() * 6, "sampled every 10 ms, some have grown: {cuts:?}");
    let timeout = |min_rto| {
        let mut setup = self::setup("reno", (100, 20, 100), LinuxHost { min_rto, ..PLAIN });
        setup.flows[0].source = Source::Packets(1);
        setup.taps[0].faults.push(cwnd_sim::Fault::Data { flow: 0, number: 0, transmission: 1 });
        setup.flows[0].recovery = RecoveryScheme::Sack;
        setup.flows[0].era = Era { initial_rto: Span::from_millis(1), ..Era::MODERN };
        let trace = run(&setup);
        trace.flows[0].timeouts.iter().position(|timeouts| *timeouts > 0).expect("one") * 10
    };
    assert_eq!((timeout(Some(Span::from_millis(200))), timeout(None)), (200, 1000));
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = |change: &dyn Fn(&mut Setup)| {
        let mut setup = setup("reno", (100, 20, 100), PLAIN);
        change(&mut setup);
        setup.check().map_err(|error| error.to_string())
    };
    let refused = |change: &dyn Fn(&mut Setup), expected: &str| {
        let error = error(change);
        assert!(error.as_ref().is_err_and(|error| error.contains(expected)), "{error:?}");
    };
    refused(&|setup| setup.flows[0].host = LinuxHost { gro: Some(Span::ZERO), ..PLAIN }, "above zero");
    refused(&|setup| setup.flows[0].host = autotuned(2000), "holds 1 to 65535 packets");
    refused(&|setup| setup.flows[0].host = autotuned(u32::MAX), "holds 1 to 65535 packets");
    let both = |setup: &mut Setup| {
        setup.flows[0].host = FQ;
        setup.flows[0].paced = true;
    };
    refused(&both, "which paces by itself");
    let udt = |setup: &mut Setup| {
        setup.flows[0].algorithm = Spec::parse("udt").expect("registered");
        setup.flows[0].delayed_ack = None;
        setup.flows[0].host = TSO;
    };
    refused(&udt, "whose hosts are not those of TCP");
    assert_eq!(error(&|setup| setup.flows[0].host = LinuxHost { tso: true, fq: true, ..autotuned(6_000_000) }), Ok(()));
}
