//! Draws the network of an episode.

use cwnd::{Bytes, Span};
use cwnd_sim::{Loss, QueueLimit, Setup};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::options::Options;

/// The path to which ranges refer, before anything is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Index of the bottleneck.
    pub(crate) link: usize,
    /// Its rate, bit/s.
    pub(crate) rate: f64,
    /// The round trip of the first steered flow without queueing or transmission, seconds.
    pub(crate) rtt: f64,
    pub(crate) packet: Bytes,
}

/// Turns `setup`, a copy of the course's, into that of an episode.
pub(crate) fn vary(setup: &mut Setup, path: Reference, options: &Options, random: &mut Xoshiro256PlusPlus) {
    let rate = options.rate.map_or(path.rate, |range| range.draw_log(random));
    let rtt = options.rtt.map_or(path.rtt, |range| range.draw_log(random));
    let queue = options.queue.map(|range| range.draw_log(random));
    let (rate_factor, rtt_factor) = (rate / path.rate, rtt / path.rtt);
    for link in &mut setup.links {
        if let Some(own) = &mut link.rate {
            *own = scaled(*own, rate_factor);
            let products = |bdp: f64| bdp * *own as f64 * rtt / path.packet.bits();
            link.queue = match (queue, link.queue) {
                (Some(bdp), _) => QueueLimit::Packets(products(bdp).round().clamp(1.0, MAX_QUEUE) as u32),
                (None, QueueLimit::Packets(packets)) => {
                    let more = f64::from(packets) * rate_factor * rtt_factor;
                    QueueLimit::Packets(more.round().clamp(f64::from(packets.min(1)), MAX_QUEUE) as u32)
                }
                (None, QueueLimit::Bytes(bytes)) => QueueLimit::Bytes(scaled(bytes, rate_factor * rtt_factor)),
                (None, QueueLimit::Unlimited) => QueueLimit::Unlimited,
            };
        }
        for (_, step) in &mut link.rate_steps.steps {
            *step = if *step == 0 { 0 } else { scaled(*step, rate_factor) };
        }
        link.delay = link.delay.mul_f64(rtt_factor);
        for (_, step) in &mut link.delay_steps.steps {
            *step = step.mul_f64(rtt_factor);
        }
    }
    let members = setup.crowds.iter_mut().map(|crowd| &mut crowd.flow);
    let access = setup.flows.iter_mut().chain(members).map(|flow| &mut flow.access_rtt);
    access.chain(setup.cbr.iter_mut().map(|cbr| &mut cbr.access_delay)).for_each(|delay: &mut Span| {
        *delay = delay.mul_f64(rtt_factor);
    });
    if let Some(range) = options.loss {
        let p = range.draw(random);
        setup.links[path.link].loss = if p > 0.0 { Loss::Bernoulli(p) } else { Loss::None };
    }
    // A scenario can be run by the same seed: files know signed numbers only.
    setup.seed = random.next_u64() >> 1;
}

fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round().max(1.0) as u64
}

/// The longest queue that [`QueueLimit::Packets`] can express.
const MAX_QUEUE: f64 = u32::MAX as f64;
