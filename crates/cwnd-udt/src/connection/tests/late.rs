//! Hosts that run the ends late, as those with more to do than processors.

use super::super::*;
use super::world::{Parcel, World, agreed};

/// Draws from 0 to 1: a linear congruential generator with Knuth's constants.
fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed ^ 0x1a7e;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A host that runs its end 60 us after a timer or an arrival, and with this chance later by 8 ms in the mean, exponentially.
///
/// Measured of a thread that sleeps for 0.5 ms and works for 0.1 ms next to eight busy loops on two processors (Linux 6.18): 55 us in the
/// median, 8 ms and 22 ms in the 99th and 99.9th percentiles; a chance of 0.03 has 9 and 27 ms.
fn late_host(seed: u64, chance: f64) -> Box<dyn FnMut() -> Span> {
    let mut unit = draws(seed);
    Box::new(move || {
        let late = unit() < chance;
        let more = if late { Span::from_secs_f64(-0.008 * (1.0 - unit()).ln()) } else { Span::ZERO };
        Span::from_micros(60) + more
    })
}

/// A flow over 200 Mbit/s and 50 ms.
struct Case {
    algorithm: &'static str,
    /// Packets of data lost at random.
    loss: f64,
    /// The chance of either host to be late.
    late: f64,
    /// Packets in the queue; the bandwidth-delay product is 833.
    queue: usize,
    catch_up: bool,
}

impl Case {
    /// Mbit/s of payload after the first two seconds, for `seconds`.
    fn goodput(&self, seed: u64, seconds: u32) -> f64 {
        let settings = Settings::new(cwnd::Spec::parse(self.algorithm).expect("registered"));
        let settings = Settings { ask_reports: true, prove_acks: true, ack_every: 8, ..settings };
        let settings = Settings { burst: Span::from_millis(1), catch_up: self.catch_up, ..settings };
        let mut world = World::with(&settings, &agreed(1000, Mode::Stream), 25, Some(200_000_000));
        let (mut unit, loss) = (draws(seed), self.loss);
        world.ends[0].line.queue = self.queue;
        world.ends[0].line.loses = Box::new(move |_, parcel| matches!(parcel, Parcel::Data(_)) && unit() < loss);
        for (end, seed) in world.ends.iter_mut().zip(2 * seed..) {
            end.lateness = Some(late_host(seed, self.late));
        }
        world.ends[0].to_write = u64::MAX / 2;
        world.run(2000);
        let before = world.ends[1].read;
        world.run(1000 * u64::from(seconds));
        (world.ends[1].read - before) as f64 * 8.0 / 1e6 / f64::from(seconds)
    }
}

/// A pacer that makes up for delays lets a flow on a busy host use most of the path. Without that, an algorithm that paces by the delivery
/// rate mistakes the delays of its host for those of the path.
#[test]
fn a_late_host_costs_a_paced_flow_little() {
    for (loss, late) in [(0.0, 0.03), (0.01, 0.1)] {
        let goodput = |catch_up| Case { algorithm: "bbr", loss, late, queue: 833, catch_up }.goodput(1, 3);
        let [without, with] = [false, true].map(goodput);
        assert!(with >= 150.0 && without <= 60.0, "{loss} lost, {late} late: {with} and {without} Mbit/s");
    }
}

/// Light acknowledgements can come alone for a while. A rule that waits for a round-trip sample grows all the same: otherwise it takes the
/// rounds without growth for a path that is full.
#[test]
fn a_late_host_ends_no_startup_early() {
    for seed in 1..=10 {
        let rate = Case { algorithm: "bbr", loss: 0.01, late: 0.1, queue: 833, catch_up: true }.goodput(seed, 1);
        assert!(rate >= 100.0, "seed {seed}: {rate} Mbit/s in the third second");
    }
}

/// Packets that a queue of `queue` packets drops in the two seconds after a sender is stopped once, in its fifth second over 200 Mbit/s and
/// 50 ms.
fn drops_after_a_stop(algorithm: &str, stop: Span, queue: usize, catch_up: bool) -> u64 {
    let settings = Settings::new(cwnd::Spec::parse(algorithm).expect("registered"));
    let settings = Settings { ask_reports: true, prove_acks: true, ack_every: 8, ..settings };
    let settings = Settings { burst: Span::from_millis(1), catch_up, ..settings };
    let mut world = World::with(&settings, &agreed(1000, Mode::Stream), 25, Some(200_000_000));
    world.ends[0].line.queue = queue;
    world.ends[0].to_write = u64::MAX / 2;
    world.run(5000);
    let before = world.ends[0].line.dropped;
    let mut stop = Some(stop);
    world.ends[0].lateness = Some(Box::new(move || stop.take().unwrap_or(Span::from_micros(60))));
    world.run(2000);
    world.ends[0].line.dropped - before
}

/// After a stop, as by SIGSTOP, nothing is in flight. A pacer that made up for half a round trip would overflow a queue of a quarter of one.
#[test]
fn a_host_that_was_stopped_makes_up_for_nothing() {
    for algorithm in ["udt", "bbr", "bbr3"] {
        let [without, with] =
            [false, true].map(|catch_up| drops_after_a_stop(algorithm, Span::from_millis(500), 208, catch_up));
        assert!(with <= without + 20, "{algorithm}: {with} dropped instead of {without}");
    }
}

#[test]
#[ignore = "prints drops after stops of the sender"]
fn the_table_of_stopped_hosts() {
    for algorithm in ["udt", "bbr", "bbr3"] {
        for queue in [833, 208] {
            for stop in [0, 20, 50, 100, 250, 500, 1000] {
                let of = |catch_up| drops_after_a_stop(algorithm, Span::from_millis(stop), queue, catch_up);
                println!("| {algorithm} | {queue} | {stop} ms | {} | {} |", of(false), of(true));
            }
        }
    }
}

#[test]
#[ignore = "prints the table of docs/udt.md, in two minutes"]
fn the_table_of_late_hosts() {
    for algorithm in ["udt", "bbr", "bbr3"] {
        for loss in [0.0, 0.001, 0.005, 0.01] {
            for late in [0.0, 0.03, 0.1] {
                for queue in [833, 208, 50] {
                    let cells = [false, true].map(|catch_up| {
                        let rates = (1..=3)
                            .map(|seed| Case { algorithm, loss, late, queue, catch_up }.goodput(seed, 8))
                            .map(|rate| format!("{rate:.0}"));
                        rates.collect::<Vec<_>>().join(", ")
                    });
                    println!("| {algorithm} | {} % | {late} | {queue} | {} |", loss * 100.0, cells.join(" | "));
                }
            }
        }
    }
}
