//! What changes from episode to episode.

use cwnd::{Bytes, Span};
use cwnd_sim::{Loss, QueueLimit, Setup};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::course::Options;

/// From where to where a quantity is drawn; equal ends fix it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// The path that ranges refer to, as the course's setup has it.
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

impl Range {
    /// Ends in order, finite, and not below `least`.
    pub(crate) fn is_within(self, least: f64, most: f64) -> bool {
        least <= self.low && self.low <= self.high && self.high <= most
    }

    /// Evenly over the logarithm.
    fn draw_log(self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let share = unit(random);
        self.low * libm::pow(self.high / self.low, share)
    }

    fn draw(self, random: &mut Xoshiro256PlusPlus) -> f64 {
        self.low + (self.high - self.low) * unit(random)
    }
}

/// Makes `setup`, a copy of the course's, that of an episode.
pub(crate) fn vary(setup: &mut Setup, path: Reference, options: &Options, random: &mut Xoshiro256PlusPlus) {
    let rate = options.rate.map_or(path.rate, |range| range.draw_log(random));
    let rtt = options.rtt.map_or(path.rtt, |range| range.draw_log(random));
    let queue = options.queue.map(|range| range.draw_log(random));
    let (faster, longer) = (rate / path.rate, rtt / path.rtt);
    for link in &mut setup.links {
        if let Some(own) = &mut link.rate {
            *own = scaled(*own, faster);
            let products = |bdp: f64| bdp * *own as f64 * rtt / path.packet.bits();
            link.queue = match (queue, link.queue) {
                (Some(bdp), _) => QueueLimit::Packets(products(bdp).round().clamp(1.0, MAX_QUEUE) as u32),
                (None, QueueLimit::Packets(packets)) => {
                    let more = f64::from(packets) * faster * longer;
                    QueueLimit::Packets(more.round().clamp(f64::from(packets.min(1)), MAX_QUEUE) as u32)
                }
                (None, QueueLimit::Bytes(bytes)) => QueueLimit::Bytes(scaled(bytes, faster * longer)),
                (None, QueueLimit::Unlimited) => QueueLimit::Unlimited,
            };
        }
        for (_, step) in &mut link.rate_steps.steps {
            *step = if *step == 0 { 0 } else { scaled(*step, faster) };
        }
        link.delay = link.delay.mul_f64(longer);
        for (_, step) in &mut link.delay_steps.steps {
            *step = step.mul_f64(longer);
        }
    }
    let members = setup.crowds.iter_mut().map(|crowd| &mut crowd.flow);
    let access = setup.flows.iter_mut().chain(members).map(|flow| &mut flow.access_rtt);
    access.chain(setup.cbr.iter_mut().map(|cbr| &mut cbr.access_delay)).for_each(|delay: &mut Span| {
        *delay = delay.mul_f64(longer);
    });
    if let Some(range) = options.loss {
        let p = range.draw(random);
        setup.links[path.link].loss = if p > 0.0 { Loss::Bernoulli(p) } else { Loss::None };
    }
    setup.seed = random.next_u64();
}

fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round().max(1.0) as u64
}

fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 * libm::exp2(-53.0)
}

/// Four billion packets wait nowhere.
const MAX_QUEUE: f64 = 4_294_967_295.0;
