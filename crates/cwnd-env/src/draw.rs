//! Draws the network of an episode.

use cwnd::{Bytes, Span};
use cwnd_sim::{Loss, QueueLimit, Setup};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::options::{Options, Range};

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

/// The path of the first steered flow in an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnPath {
    /// Rate of the bottleneck when the run begins, bit/s.
    pub rate: u64,
    /// Round-trip time without queueing or transmission, before the random share of a flow is added, seconds.
    pub rtt: f64,
    /// How much can wait at the bottleneck, packets; infinite without a limit.
    pub queue: f64,
    /// Probability of random loss at the bottleneck; none if its losses are of another kind than independent ones.
    pub loss: Option<f64>,
}

/// Turns `setup`, a copy of the course's, into that of an episode, and gives the path of its first steered flow.
pub(crate) fn vary(
    setup: &mut Setup,
    path: Reference,
    options: &Options,
    random: &mut Xoshiro256PlusPlus,
) -> DrawnPath {
    let rate = options.rate.map_or(path.rate, |range| range.draw_log(random));
    let rtt = options.rtt.map_or(path.rtt, |range| whole_quarters(range.draw_log(random), range));
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
    let members = setup.flow_arrivals.iter_mut().map(|group| &mut group.flow);
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
    let link = &setup.links[path.link];
    let loss = match link.loss {
        Loss::None => Some(0.0),
        Loss::Bernoulli(p) => Some(p),
        _ => None,
    };
    let queue = match link.queue {
        QueueLimit::Packets(packets) => f64::from(packets),
        QueueLimit::Bytes(bytes) => 8.0 * bytes as f64 / path.packet.bits(),
        QueueLimit::Unlimited => f64::INFINITY,
    };
    DrawnPath { rate: link.rate.unwrap_or(0), rtt, queue, loss }
}

/// The nearest time whose quarter is a whole number of nanoseconds, so that a dumbbell of this round-trip time, which has four delays, is
/// the network that was drawn; a time that is not drawn stays as it is.
fn whole_quarters(rtt: f64, range: Range) -> f64 {
    if range.low < range.high { ((rtt * QUARTERS).round() / QUARTERS).clamp(range.low, range.high) } else { rtt }
}

fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round().max(1.0) as u64
}

/// Four nanoseconds in a second.
const QUARTERS: f64 = 2.5e8;
/// The longest queue that [`QueueLimit::Packets`] can express.
const MAX_QUEUE: f64 = u32::MAX as f64;
