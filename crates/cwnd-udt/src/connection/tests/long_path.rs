//! Long fat paths, with the settings of a user who chooses none.

use super::super::*;
use super::world::{PAYLOAD, World, agreed};

#[test]
fn windows_follow_a_long_fat_path() {
    // What Linux grants any socket, and 8 MiB.
    for backlog in [277, 5_461] {
        for (mbits, millis) in [(200, 100), (400, 200)] {
            let path = format!("{mbits} Mbit/s over {millis} ms, backlog {backlog}");
            let bounded = transfer(mbits, millis, Some(backlog));
            let unbounded = transfer(mbits, millis, None);
            assert!(bounded.share >= 0.85, "{path}: {bounded:?}");
            assert!(bounded.bytes >= unbounded.bytes * 0.95, "{path}: {bounded:?}, {unbounded:?}");
            assert!(bounded.held_by_peer < 0.05, "{path}: {bounded:?}");
            assert!(bounded.first_window < unbounded.first_window / 10, "{path}: {bounded:?}");
        }
    }
}

/// The outcome of a transfer of twelve seconds over a path with a queue of one bandwidth-delay product.
#[derive(Debug)]
struct Outcome {
    /// Read in all.
    bytes: f64,
    /// Read in the second half, as a share of what the path carries.
    share: f64,
    /// The share of the time in which the peer had no room.
    held_by_peer: f64,
    /// Packets the peer has room for at first.
    first_window: u64,
}

fn transfer(mbits: u64, millis: u64, backlog: Option<u32>) -> Outcome {
    let rate = mbits * 1_000_000;
    // A port lets packets leave in bursts of a millisecond.
    let settings = Settings { burst: Span::from_millis(1), backlog, ..Settings::default() };
    let mut world = World::with(&settings, &agreed(1000, Mode::Stream), millis / 2, Some(rate));
    world.ends[0].line.queue = (mbits * millis * 1000 / (8 * 1500)) as usize;
    world.ends[0].to_write = u64::MAX / 2;
    let first_window = world.ends[1].core.stats(world.now).rcv_space;
    world.run(6_000);
    let half = world.ends[1].read;
    world.run(6_000);
    let carried = 6.0 * rate as f64 / 8.0 * f64::from(PAYLOAD) / 1500.0;
    let spent = world.ends[0].core.stats(world.now).limited;
    Outcome {
        bytes: world.ends[1].read as f64,
        share: (world.ends[1].read - half) as f64 / carried,
        held_by_peer: spent.peer.as_secs_f64() / 12.0,
        first_window,
    }
}
