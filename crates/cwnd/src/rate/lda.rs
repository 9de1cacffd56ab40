//! LDA: the loss-delay based adjustment of a sender that receives a report every few seconds.
//!
//! Sisalem and Schulzrinne, "The loss-delay based adjustment algorithm: a TCP-friendly adaptation scheme", NOSSDAV 1998.

use alloc::boxed::Box;

use super::no_feedback::NoFeedbackTimer;
use super::{GREATEST_RATE, bounded, measured};
use crate::control::{CongestionControl, Control, Pacing, Probe, ReceiverSide};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::estimate::{NS2_PAIRS, PacketPairs};
use crate::parameter::{Parameter, Values};
use crate::signal::{Ack, Arrival, Congestion, Remote, Start, View};
use crate::units::{BitRate, Packets, Rate, Span, Time};

/// LDA's sender.
#[derive(Clone, Debug)]
pub struct Lda {
    /// The additive increase rate at the start, and now.
    first_increase: Rate,
    increase: Rate,
    /// R_f.
    reduction: f64,
    /// T, from one report to the next.
    interval: Span,
    rate: Rate,
    /// Packets delivered and lost at the last report.
    delivered: u64,
    lost: u64,
    timer: NoFeedbackTimer,
    /// No growth of unused rates or windows, as the era has it.
    validate: bool,
}

/// LDA's receiver: it reports on a clock, with the capacity that packet pairs show.
#[derive(Debug)]
pub struct Receiver {
    interval: Span,
    due: Option<Time>,
    pairs: PacketPairs<NS2_PAIRS>,
    last: Option<Arrival>,
}

impl Lda {
    /// No loss: the increase grows the more the less of the bottleneck the flow has, `AIR += AIR (1 - r/b)`, but the rate not
    /// faster than that of a TCP, which over T adds (T/tau + 1) / 2 packets per round trip of tau on average.
    fn grow(&mut self, view: &View, remote: &Remote) {
        let share = measured(remote.capacity).map_or(0.0, |capacity| (self.rate.0 / capacity.0).min(1.0));
        self.increase = Rate((self.increase.0 * (2.0 - share)).min(GREATEST_RATE));
        let tau = view.rtt.map_or(self.interval, |rtt| rtt.smoothed).max(SHORTEST).as_secs_f64();
        let tcp = (self.interval.as_secs_f64() / tau + 1.0) / (2.0 * tau);
        self.increase = Rate(self.increase.0.min(tcp));
        self.rate = bounded(self.rate.0 + self.increase.0);
    }

    /// A share `loss` was lost: `r = max(r (1 - l R_f), 1.22 / (tau sqrt(l)))`, not less than a TCP would have.
    fn shrink(&mut self, view: &View, loss: f64) {
        let tau = view.rtt.map_or(self.interval, |rtt| rtt.smoothed).max(SHORTEST).as_secs_f64();
        let tcp = 1.22 / (tau * libm::sqrt(loss));
        let reduced = self.rate.0 * (1.0 - loss * self.reduction).max(0.0);
        self.rate = bounded(reduced.max(tcp));
        self.increase = self.first_increase;
    }
}

impl CongestionControl for Lda {
    fn control(&self) -> Control {
        Control {
            pacing: Pacing::At(self.rate),
            probe: Probe::PairEvery(PAIRS),
            wake: self.timer.wake(),
            ..Control::window(Packets(f64::INFINITY))
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let delivered = view.delivered.saturating_sub(self.delivered);
        let lost = view.lost.saturating_sub(self.lost);
        (self.delivered, self.lost) = (view.delivered, view.lost);
        if lost > 0 {
            self.shrink(view, lost as f64 / lost.saturating_add(delivered) as f64);
        } else if delivered > 0 && !(self.validate && view.is_underused()) {
            self.grow(view, &ack.remote);
        }
        self.timer.on_report(view, self.rate);
    }

    /// The next report counts the losses.
    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn on_wake(&mut self, view: &View) {
        self.rate = self.timer.on_wake(view, self.rate);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("increase", self.increase.0);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl ReceiverSide for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        self.due.get_or_insert(arrival.at + self.interval);
        let last = self.last.replace(*arrival);
        if let Some(last) = last.filter(|last| arrival.pair && last.number + 1 == arrival.number) {
            self.pairs.on_pair(arrival.at.since(last.at));
        }
    }

    fn report(&mut self, now: Time) -> Remote {
        self.due = Some(now + self.interval);
        Remote { capacity: self.pairs.capacity(), ..Remote::default() }
    }

    fn due(&self) -> Option<Time> {
        self.due
    }
}

/// Registered as `lda`.
pub const LDA: Entry<Lda> = Entry {
    name: "lda",
    title: "LDA: reports every few seconds; growth by the share of the bottleneck, decrease in proportion to the loss",
    family: Family::Named,
    transport: Transport::Datagram,
    basis: Basis::Losses,
    source: "Sisalem and Schulzrinne, NOSSDAV 1998",
    deviations: &[
        "written from the scheme's description and its formulas; where they leave the unit open, rates are packets per second",
        "the rate does not grow while application or receiver hold the sender, except in eras of ns-2",
        "until packet pairs show a capacity the increase doubles with every report without loss",
        "where no report comes for two intervals or four round trips the rate is halved; the paper does not treat missing reports",
    ],
    parameters: &[
        Parameter::bit_rate("increase", "additive increase at the start and after a loss; 10 kbit/s if not given"),
        Parameter::number("reduction", 3.0, "how many times the loss the rate falls by; 2 to 5 in the paper")
            .above(0.0)
            .at_most(100.0),
        Parameter::span("interval", "from one report to the next; 5 s if not given, as for RTCP"),
        Parameter::bit_rate("initial_rate", "rate at the start; otherwise ten times the increase"),
    ],
    build: |values, start| Ok(new(values, start)),
    receiver: Some(|values, _start| {
        Box::new(Receiver { interval: interval(values), due: None, pairs: PacketPairs::ns2(), last: None })
    }),
};

fn new(values: &Values, start: &Start) -> Lda {
    let packets = |rate: f64| bounded(BitRate(rate).to_packets(start.packet).0);
    let bits = values.given("increase").unwrap_or(FIRST_INCREASE);
    let (increase, interval) = (packets(bits), interval(values));
    Lda {
        first_increase: increase,
        increase,
        reduction: values.number("reduction"),
        interval,
        rate: packets(values.given("initial_rate").unwrap_or(10.0 * bits)),
        delivered: 0,
        lost: 0,
        timer: NoFeedbackTimer::new(interval * 2),
        validate: start.policy.holds_rates(),
    }
}

fn interval(values: &Values) -> Span {
    values.given("interval").map_or(INTERVAL, Span::from_secs_f64).max(SHORTEST)
}

/// bit/s.
const FIRST_INCREASE: f64 = 10_000.0;
/// The least time between two reports of RTCP (RFC 3550 section 6.2).
const INTERVAL: Span = Span::from_secs(5);
/// Only mistyped units or a host without a round trip would cause shorter times.
const SHORTEST: Span = Span::from_millis(1);
/// One pair in this number of packets.
const PAIRS: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Spec;
    use crate::script::{ack, close, view};
    use crate::units::Bytes;

    #[test]
    fn ten_steps_by_hand() {
        // Packets of 1250 bytes: 10 kbit/s are one packet per second. The bottleneck is 1000.
        let start = Start { packet: Bytes(1250), ..Start::default() };
        let mut lda = Spec::parse("lda:initial_rate=1mbit").expect("registered").start(&start);
        // Delivered and lost in all; then the rate: after T = 5 s at tau = 0.1 s a TCP adds (50 + 1) / 0.2 = 255 packets/s at most.
        let script = [
            (500, 0, 101.9),       // AIR = 1 (2 - 0.1)
            (1000, 0, 105.506_39), // AIR = 1.9 (2 - 0.1019) = 3.606
            (1500, 0, 112.338_673),
            (2000, 0, 125.235_709),
            (2099, 1, 122.0),     // 1 of 100: 1 - 0.03 makes 121.5; 1.22 / (0.1 * 0.1) is more
            (2599, 1, 123.878),   // AIR = 1 (2 - 0.122)
            (2999, 101, 49.5512), // 100 of 500: 1 - 0.6; TCP would send 27.3
            (3499, 101, 51.501_649),
            (3999, 101, 55.302_095),
            (4499, 101, 62.692_815),
        ];
        for (step, (delivered, lost, expected)) in script.into_iter().enumerate() {
            let view = View { delivered, lost, ..view(5000 * step as u64) };
            let remote = Remote { capacity: Some(Rate(1000.0)), ..Remote::default() };
            lda.on_ack(&view, &ack(1, remote));
            let Pacing::At(rate) = lda.control().pacing else { panic!("a rate") };
            close(rate.0, expected);
        }
    }
}
