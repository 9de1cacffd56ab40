//! What BBR makes of acknowledgements that wait for holes to be filled.

use cwnd::Spec;

use super::super::*;
use super::world::{PAYLOAD, Parcel, World, agreed};

/// What a flow has of 200 Mbit/s, headers included, over 50 ms with a queue of one bandwidth-delay product, from the third second to the
/// twelfth, the mean of three runs. One packet of a thousand is lost, and every eighth acknowledged.
fn share(algorithm: &str) -> f64 {
    let settings = Settings { ack_every: 8, ..Settings::new(Spec::parse(algorithm).expect("registered")) };
    let shares = [1, 2, 3].map(|seed: u64| {
        let mut world = World::with(&settings, &agreed(1000, Mode::Stream), 25, Some(200_000_000));
        world.ends.iter_mut().for_each(|end| end.line.queue = 833);
        let mut state = seed;
        world.ends[0].line.loses = Box::new(move |_, parcel| {
            let data = matches!(parcel, Parcel::Data(_));
            if data {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            }
            data && state >> 32 < (1 << 32) / 1000
        });
        world.ends[0].to_write = u64::MAX;
        world.run(3000);
        let before = world.ends[1].read;
        world.run(9000);
        (world.ends[1].read - before) as f64 / f64::from(PAYLOAD) * 1500.0 * 8.0 / 9.0 / 200e6
    });
    shares.iter().sum::<f64>() / 3.0
}

/// Packets above a hole count as in flight until it is filled, a round trip later, so that sending on meanwhile takes two bandwidth-delay
/// products of window. Holes that come now and then find less: after a loss `inflight_shortterm` (draft-ietf-ccwg-bbr section 5.5.10.3)
/// allows what was delivered in a round trip, one product where there was no hole. The sender then stops for a part of each hole.
#[test]
fn rare_holes_stop_a_sender_whose_window_is_what_was_delivered() {
    let [all, without] = ["bbr3", "bbr3:without=short-term-volume"].map(share);
    assert!(all < 0.72 && without > 0.8, "{all} and {without}");
}
