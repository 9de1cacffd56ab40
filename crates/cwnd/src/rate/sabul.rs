//! SABUL: a rate that grows every 10 ms by a power of ten that follows the rate itself, and falls by a ninth.
//!
//! Gu and Grossman, "SABUL: a transport protocol for grid computing", Journal of Grid Computing 1, 2003, as the authors' release of
//! March 2003 has it: the ancestor of UDT, whose increase follows the spare capacity instead.

use alloc::boxed::Box;

use super::{GREATEST_WINDOW, bounded_window};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Congestion, Start, View};
use crate::units::{BitRate, Packets, Rate, Span, Time};

/// SABUL's sender.
#[derive(Clone, Debug)]
pub struct Sabul {
    /// The time between two packets, microseconds.
    interval: f64,
    /// Within what.
    longest: f64,
    shortest: f64,
    window: Packets,
    /// The smoothed loss rate.
    loss: f64,
    /// The next SYN, and the packets sent and lost at the last one.
    turn: Option<Time>,
    sent: u64,
    lost: u64,
    /// The next new packet at the first cut of the present event, and the NAKs since then; the 2^`cuts`-th cuts next.
    epoch_from: Option<u64>,
    naks: u64,
    cuts: u32,
    /// Nothing is sent until then: a SYN after the first cut of an event.
    unfreeze_at: Option<Time>,
    /// Application or receiver held the sender in this SYN, so that it does not grow.
    held: bool,
    /// No growth of unused rates or windows, as the era has it.
    validate: bool,
}

impl Sabul {
    /// A SYN has passed, or more than one.
    fn pass(&mut self, view: &View) {
        self.unfreeze_at = self.unfreeze_at.filter(|unfreeze_at| view.now < *unfreeze_at);
        self.held |= self.validate && view.is_underused();
        if self.turn.is_some_and(|turn| view.now < turn) {
            return;
        }
        if self.turn.is_some() {
            self.control(view);
        }
        self.turn = Some(view.now + SYN);
        (self.sent, self.lost, self.held) = (view.next, view.lost, false);
    }

    /// Grows, unless more than a packet in a thousand was lost lately.
    fn control(&mut self, view: &View) {
        let lost = view.lost.saturating_sub(self.lost) as f64;
        let sent = (view.next.saturating_sub(self.sent) as f64).max(lost);
        if sent == 0.0 {
            return;
        }
        self.loss = WEIGHT * self.loss + (1.0 - WEIGHT) * lost / sent;
        if self.loss <= LOSS_LIMIT && !self.held {
            let per_syn = SYN_MICROS / self.interval;
            let increase = (libm::pow(10.0, libm::ceil(libm::log10(per_syn))) / 1000.0).max(LEAST_INCREASE);
            self.set(self.interval * SYN_MICROS / (self.interval * increase + SYN_MICROS));
        }
    }

    fn set(&mut self, interval: f64) {
        self.interval = interval.max(self.shortest).min(self.longest);
    }
}

impl CongestionControl for Sabul {
    fn control(&self) -> Control {
        let micros = if self.unfreeze_at.is_some() { SYN_MICROS } else { self.interval };
        Control { pacing: Pacing::At(Rate(1e6 / micros)), wake: self.turn, ..Control::window(self.window) }
    }

    fn on_ack(&mut self, view: &View, _ack: &Ack) {
        self.pass(view);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.pass(view);
        if self.epoch_from.is_none_or(|from| event.first >= from) {
            (self.epoch_from, self.naks, self.cuts) = (Some(view.next), 1, FIRST_FURTHER);
            self.unfreeze_at = Some(view.now + SYN);
        } else {
            self.naks += 1;
            if self.naks < 1_u64.checked_shl(self.cuts).unwrap_or(u64::MAX) {
                return;
            }
            self.cuts += 1;
        }
        // The release lets a cut pass the lower limit of the rate until the next SYN that grows.
        self.interval = (self.interval * CUT).min(SLOWEST);
    }

    fn on_wake(&mut self, view: &View) {
        self.pass(view);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("loss", self.loss);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `sabul`.
pub const SABUL: Entry<Sabul> = Entry {
    name: "sabul",
    title: "SABUL: a rate that grows every 10 ms by a power of ten after the rate, and falls by a ninth",
    family: Family::Named,
    transport: Transport::Reported,
    basis: Basis::Losses,
    source: "Gu and Grossman, Journal of Grid Computing 1, 2003; the authors' release of March 2003",
    deviations: &[
        "a flow starts at the least rate; the release starts at the greatest unless another is set",
        "the pause of a SYN after the first NAK of an event is a rate of one packet per SYN",
        "packets sent again do not count as sent in the loss rate; a timeout and a mark count as a NAK",
        "a cut may take the rate below the least, but not below a packet a second",
        "the rate does not grow while application or receiver hold the sender, except in eras of ns-2",
    ],
    parameters: &[
        Parameter::bit_rate("initial_rate", "rate at the start; otherwise the least"),
        Parameter::bit_rate("least_rate", "the rate grows back to this at once; 1000 packets/s if not given"),
        Parameter::bit_rate("greatest_rate", "never faster; 100,000 packets/s if not given"),
        Parameter::number("window", 25_600.0, "packets that may be outstanding")
            .unit("packets")
            .at_least(1.0)
            .at_most(1e9),
    ],
    build: |values, start| {
        let gap = |name: &str, micros: f64| {
            let given = values.given(name).map(|rate| 1e6 / BitRate(rate).to_packets(start.packet).0);
            given.filter(|micros| *micros > 0.0).unwrap_or(micros).clamp(FASTEST, SLOWEST)
        };
        let longest = gap("least_rate", 1000.0);
        let shortest = gap("greatest_rate", 10.0).min(longest);
        let known = start.rate.map(|rate| (1e6 / rate.0).clamp(FASTEST, SLOWEST));
        Ok(new(
            known.unwrap_or_else(|| gap("initial_rate", longest)),
            (longest, shortest),
            values.number("window"),
            start,
        ))
    },
    receiver: None,
};

fn new(interval: f64, (longest, shortest): (f64, f64), window: f64, start: &Start) -> Sabul {
    let most = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
    let window = bounded_window(window, most);
    let (epoch_from, naks, cuts, unfreeze_at) = (None, 0, FIRST_FURTHER, None);
    let mut sabul = Sabul {
        interval,
        longest,
        shortest,
        window,
        loss: 0.0,
        turn: None,
        sent: 0,
        lost: 0,
        epoch_from,
        naks,
        cuts,
        unfreeze_at,
        held: false,
        validate: start.policy.holds_rates(),
    };
    sabul.set(interval);
    sabul
}

const SYN: Span = Span::from_millis(10);
const SYN_MICROS: f64 = 10_000.0;
/// Of the old loss rate.
const WEIGHT: f64 = 0.1;
const LOSS_LIMIT: f64 = 0.001;
/// Packets per SYN.
const LEAST_INCREASE: f64 = 1.0 / 1500.0;
const CUT: f64 = 1.125;
/// The 2^4-th NAK of an event cuts again.
const FIRST_FURTHER: u32 = 4;
/// Microseconds: a packet a second, and a packet a picosecond.
const SLOWEST: f64 = 1e6;
const FASTEST: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{ack, close, view};
    use crate::signal::Remote;

    #[test]
    fn ten_steps_by_hand() {
        let mut sabul = new(250.0, (1000.0, 10.0), 25_600.0, &Start::default());
        // When, packets sent and lost so far, whether a NAK came and on which packet; then the interval, microseconds.
        let script = [
            (0, 0, 0, None, 250.0),
            (5, 20, 0, None, 250.0),
            (10, 40, 0, None, 249.376_559), // 40 packets per SYN: 0.1 more, 250 * 10000 / 10025
            (20, 80, 0, None, 248.756_219), // 1 / (1/250 + 2 * 1e-5)
            (25, 100, 1, Some(90), 279.850_746), // 9/8
            (26, 100, 2, Some(95), 279.850_746), // of the same event
            (30, 100, 2, None, 279.850_746), // 2 of 20 lost: 0.9 * 0.1 = 0.09 is above 0.001
            (40, 120, 2, None, 279.850_746), // 0.009
            (50, 160, 2, None, 279.069_767), // 0.0009: 1 / (1/279.850746 + 1e-5)
            (55, 180, 3, Some(170), 313.953_488),
        ];
        for (millis, next, lost, nak, interval) in script {
            let view = View { next, lost, ..view(millis) };
            match nak {
                None => sabul.on_ack(&view, &ack(1, Remote::default())),
                Some(first) => sabul.on_congestion(&view, &Congestion::loss(first, 1)),
            }
            close(sabul.interval, interval);
        }
        assert_eq!(sabul.control().pacing, Pacing::At(Rate(100.0)), "a SYN of pause");
    }

    #[test]
    fn every_sixteenth_nak_of_an_event_cuts_again_then_every_thirty_second() {
        let mut sabul = new(100.0, (1000.0, 10.0), 25_600.0, &Start::default());
        let view = View { next: 1000, ..view(0) };
        let mut cuts = [0; 3];
        for nak in 1..=32 {
            let before = sabul.interval;
            sabul.on_congestion(&view, &Congestion::loss(900 + nak, 1));
            if sabul.interval > before {
                cuts.rotate_left(1);
                cuts[2] = nak;
            }
        }
        assert_eq!(cuts, [1, 16, 32]);
    }
}
