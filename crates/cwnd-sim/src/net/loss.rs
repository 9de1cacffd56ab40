//! Loss that has nothing to do with congestion.

use cwnd::Time;
use cwnd_trace::Passage;

use super::packet::Packet;
use super::phases::Phases;
use super::setup::{GilbertElliott, LinkSetup, Loss};
use super::tap::Tap;
use crate::random::{Stream, threshold};

/// Decides which packets a link loses.
#[derive(Debug)]
pub(crate) enum RandomLoss {
    None,
    Bernoulli {
        threshold: u64,
        stream: Stream,
    },
    Periodic {
        every: u64,
        left: u64,
    },
    Bursts(Box<Bursts>),
    /// One for each phase of the link.
    Changing(Box<Phases<RandomLoss>>),
    /// First what the tap says, then what the link does by itself.
    Tapped(Box<(Tap, RandomLoss)>),
}

/// The state of a Gilbert–Elliott channel.
#[derive(Debug)]
pub(crate) struct Bursts {
    bad: bool,
    /// Thresholds in the good and in the bad state: of losing a packet, and of leaving the state after it.
    lose: [u64; 2],
    leave: [u64; 2],
    stream: Stream,
}

impl RandomLoss {
    /// The loss of a link, drawn from a stream of its own.
    pub(crate) fn new(link: &LinkSetup, seed: u64) -> Self {
        let changing = Phases::new(link, |phase| phase.loss, |number, loss| Self::of(*loss, link, number, seed));
        changing.map_or_else(|| Self::of(link.loss, link, 0, seed), |phases| Self::Changing(Box::new(phases)))
    }

    /// The loss of the link called `link` with this number.
    fn of(loss: Loss, link: &LinkSetup, number: usize, seed: u64) -> Self {
        let stream = || match number {
            0 => Stream::new(seed, format_args!("link {}: loss", link.name)),
            _ => Stream::new(seed, format_args!("link {}: loss {number}", link.name)),
        };
        match loss {
            Loss::None => Self::None,
            Loss::Bernoulli(p) => Self::Bernoulli { threshold: threshold(p), stream: stream() },
            Loss::Periodic(every) => Self::Periodic { every, left: every },
            Loss::GilbertElliott(channel) => Self::Bursts(Box::new(Bursts::new(channel, stream()))),
        }
    }

    /// Puts a tap in front.
    pub(crate) fn tap(&mut self, tap: Tap) {
        let own = std::mem::replace(self, Self::None);
        *self = Self::Tapped(Box::new((tap, own)));
    }

    /// What its tap has recorded.
    pub(crate) fn passages(self) -> Vec<Passage> {
        match self {
            Self::Tapped(tapped) => tapped.0.passages,
            _ => Vec::new(),
        }
    }

    /// Whether the next packet is lost. A tap may mark it.
    #[inline]
    pub(crate) fn strikes(&mut self, now: Time, packet: &mut Packet) -> bool {
        // Most links lose nothing: they are not to pay for the others.
        !matches!(self, Self::None) && self.draw(now, packet)
    }

    fn draw(&mut self, now: Time, packet: &mut Packet) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli { threshold, stream } => stream.chance(*threshold),
            Self::Periodic { every, left } => {
                *left -= 1;
                let strikes = *left == 0;
                if strikes {
                    *left = *every;
                }
                strikes
            }
            Self::Bursts(bursts) => bursts.strikes(),
            Self::Changing(phases) => phases.at(now).strikes(now, packet),
            Self::Tapped(tapped) => tapped.0.strikes(now, packet) || tapped.1.strikes(now, packet),
        }
    }
}

impl Bursts {
    fn new(channel: GilbertElliott, stream: Stream) -> Self {
        Self {
            bad: false,
            lose: [channel.loss_good, channel.loss_bad].map(threshold),
            leave: [channel.to_bad, channel.to_good].map(threshold),
            stream,
        }
    }

    /// Two draws for every packet, whatever the state.
    fn strikes(&mut self) -> bool {
        let state = usize::from(self.bad);
        let lost = self.stream.chance(self.lose[state]);
        self.bad ^= self.stream.chance(self.leave[state]);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of packets lost and the mean number of packets lost in a row.
    fn measured(channel: GilbertElliott) -> (f64, f64) {
        let mut bursts = Bursts::new(channel, Stream::new(1, "bursts"));
        let n = 4_000_000;
        let (mut lost, mut runs, mut before) = (0, 0, false);
        for _ in 0..n {
            let now = bursts.strikes();
            lost += u32::from(now);
            runs += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost) / f64::from(n), f64::from(lost) / f64::from(runs))
    }

    #[test]
    fn a_gilbert_channel_loses_what_its_closed_forms_say() {
        // The bad state holds p / (p + r) of the time, for 1/r packets: 1/51 and 20.
        let (rate, burst) = measured(GilbertElliott { to_bad: 0.001, to_good: 0.05, loss_good: 0.0, loss_bad: 1.0 });
        assert!((rate * 51.0 - 1.0).abs() < 0.05, "{rate}");
        assert!((burst / 20.0 - 1.0).abs() < 0.05, "{burst}");
    }

    #[test]
    fn an_elliott_channel_loses_in_both_states() {
        // (r k' + p h') / (p + r) = (0.05 x 0.01 + 0.01 x 0.4) / 0.06 = 0.075.
        let (rate, _) = measured(GilbertElliott { to_bad: 0.01, to_good: 0.05, loss_good: 0.01, loss_bad: 0.4 });
        assert!((rate / 0.075 - 1.0).abs() < 0.02, "{rate}");
        // Without loss in the good state a loss is followed by another with probability (1 - r) h' = 0.38: 1 / 0.62 in a row.
        let (_, burst) = measured(GilbertElliott { to_bad: 0.01, to_good: 0.05, loss_good: 0.0, loss_bad: 0.4 });
        assert!((burst * 0.62 - 1.0).abs() < 0.01, "{burst}");
    }

    #[test]
    fn leaving_at_once_and_always_alternates() {
        let channel = GilbertElliott { to_bad: 1.0, to_good: 1.0, loss_good: 0.0, loss_bad: 1.0 };
        let mut bursts = Bursts::new(channel, Stream::new(1, "bursts"));
        let lost: Vec<_> = (0..6).map(|_| bursts.strikes()).collect();
        assert_eq!(lost, [false, true, false, true, false, true], "it begins in the good state");
    }
}
