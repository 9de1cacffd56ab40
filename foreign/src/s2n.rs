//! s2n-quic-core: its congestion controllers alone, behind the simulator's own sender.
//!
//! The contract of `cwnd` reports no departures, which these controllers need one by one. They follow from the packets in flight at the next
//! signal, and are put as far apart as the controller's pacing rate has them, from the last signal on: a time may be wrong by as much as
//! two acknowledgements are apart. Without a signal of its own for it, a timeout is what QUIC calls persistent congestion (RFC 9002 section
//! 7.6, which has it take the place of TCP's timeout).

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cwnd::{
    Ack, Bytes, Cause, Congestion, CongestionControl, Control, Maker, Pacing, Packets, Rate, RateSample, Span, Spec,
    Start, Time, View,
};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random;
use s2n_quic_core::recovery::bandwidth::{self, Bandwidth};
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Publisher};
use s2n_quic_core::recovery::{CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};

/// s2n-quic's controllers; `name` is the part of their names before the colon.
pub(crate) fn controllers(name: &str) -> Vec<Spec> {
    let cubic = Factory(|datagram| CubicCongestionController::new(datagram, Default::default()));
    let bbr = Factory(|datagram| BbrCongestionController::new(datagram, Default::default()));
    vec![
        Spec::outside(&format!("{name}:cubic"), Arc::new(cubic)),
        Spec::outside(&format!("{name}:bbr2"), Arc::new(bbr)),
    ]
}

/// Makes controllers for datagrams of a size in bytes.
struct Factory<C>(fn(u16) -> C);

impl<C> fmt::Debug for Factory<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::any::type_name::<C>())
    }
}

impl<C: CongestionController + Sync> Maker for Factory<C> {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let datagram = u16::try_from(start.packet.0.saturating_sub(HEADERS)).unwrap_or(u16::MAX);
        Box::new(Adapter {
            controller: (self.0)(datagram),
            datagram: u32::from(datagram),
            rtt: RttEstimator::default(),
            random: Random(start.seed),
            pacing: Published::default(),
            departures: VecDeque::new(),
            reported: (Time::ZERO, 0),
            last_departure: None,
            last_lost: None,
        })
    }
}

/// A controller with what it wants of its transport.
#[derive(Clone, Debug)]
struct Adapter<C: CongestionController> {
    controller: C,
    /// Bytes of each packet without the network's headers.
    datagram: u32,
    rtt: RttEstimator,
    random: Random,
    pacing: Published,
    /// Packets that left, oldest first.
    departures: VecDeque<Departure<C::PacketInfo>>,
    /// When the last packet from the receiver arrived, and the packets delivered by then: it may give several signals.
    reported: (Time, u64),
    /// None before the first signal.
    last_departure: Option<Time>,
    /// The number of the packet that was lost last.
    last_lost: Option<u64>,
}

/// The data that the controller needs again when a packet is acknowledged or lost.
#[derive(Clone, Copy, Debug)]
struct Departure<I> {
    at: Time,
    /// Packets delivered before it left, and in flight with it.
    delivered: u64,
    in_flight: u64,
    info: I,
}

impl<C: CongestionController> Adapter<C> {
    /// Reports to the controller the departures since the last packet from the receiver, by which `delivered` packets had been delivered.
    fn catch_up(&mut self, view: &View, first_departure: Time) {
        let reported = std::mem::replace(&mut self.reported, (view.now, view.delivered));
        if reported == self.reported && self.last_departure.is_some() {
            return;
        }
        let (since, delivered) = if self.last_departure.is_none() { (first_departure, 0) } else { reported };
        let counted = u64::from(self.controller.bytes_in_flight() / self.datagram);
        for in_flight in counted..view.in_flight {
            let earliest = self.last_departure.map_or(since, |last| last + self.pacing.spacing(self.datagram));
            let at = earliest.max(since).min(view.now);
            let app_limited = Some(view.is_underused());
            let bytes = self.datagram as usize;
            let info = self.controller.on_packet_sent(timestamp(at), bytes, app_limited, &self.rtt, &mut self.pacing);
            self.departures.push_back(Departure { at, delivered, in_flight: in_flight + 1, info });
            self.last_departure = Some(at);
        }
        if view.in_flight < counted {
            let bytes = (counted - view.in_flight) * u64::from(self.datagram);
            self.controller.on_packet_discarded(bytes as usize, &mut self.pacing);
        }
    }

    /// The departure of the packet that `sample` is of; of the newest packet where there is none.
    fn departure(&self, sample: Option<&RateSample>) -> Option<Departure<C::PacketInfo>> {
        let Some(sample) = sample else { return self.departures.back().copied() };
        let key = (sample.prior_delivered, sample.prior_in_flight);
        let after = self.departures.partition_point(|left| (left.delivered, left.in_flight) <= key);
        self.departures.get(after.saturating_sub(1)).copied()
    }

    fn lose(&mut self, now: Time, number: u64, departure: &Departure<C::PacketInfo>, persistent: bool) {
        if self.controller.bytes_in_flight() < self.datagram {
            return;
        }
        let burst = self.last_lost.replace(number).is_none_or(|last| last + 1 != number);
        self.controller.on_packet_lost(
            self.datagram,
            departure.info,
            persistent,
            burst,
            &mut self.random,
            timestamp(now),
            &mut self.pacing,
        );
    }
}

impl<C: CongestionController + Sync> CongestionControl for Adapter<C> {
    fn control(&self) -> Control {
        let window = Packets(f64::from(self.controller.congestion_window()) / f64::from(self.datagram));
        let pacing = self.pacing.rate(self.datagram).map_or(Pacing::Off, Pacing::At);
        let quantum = self.pacing.0.map(|(_, quantum)| Bytes(quantum));
        let mut control = Control::window(Packets(window.0.max(1.0))).with_pacing(pacing);
        control.quantum = quantum;
        control
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.catch_up(view, ack.sent_at);
        let bytes = (ack.newly.saturating_mul(self.datagram)).min(self.controller.bytes_in_flight()) as usize;
        let (Some(newest), Some(rtt)) = (self.departure(ack.sample.as_ref()), view.rtt) else { return };
        if bytes == 0 {
            return;
        }
        let (sent, now) = (timestamp(newest.at), timestamp(view.now));
        let sample = Duration::from_nanos(rtt.latest.as_nanos());
        self.rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
        self.controller.on_rtt_update(sent, now, &self.rtt, &mut self.pacing);
        self.controller.on_ack(sent, bytes, newest.info, &self.rtt, &mut self.random, now, &mut self.pacing);
        // Packets found lost later left at most two windows before the packet acknowledged now.
        let kept = usize::try_from(2 * view.in_flight).unwrap_or(usize::MAX).saturating_add(REORDERED);
        let excess = self.departures.len().saturating_sub(kept);
        self.departures.drain(..excess);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.catch_up(view, view.now);
        match event.cause {
            Cause::Loss | Cause::Timeout => {
                let Some(departure) = self.departure(event.sample.as_ref()) else { return };
                let persistent = event.cause == Cause::Timeout;
                for number in event.first..event.first + u64::from(event.lost) {
                    self.lose(view.now, number, &departure, persistent);
                }
            }
            Cause::Mark => self.controller.on_explicit_congestion(1, timestamp(view.now), &mut self.pacing),
            Cause::Delay => {}
        }
    }

    fn on_restart(&mut self, view: &View, _idle: Span) {
        self.catch_up(view, view.now);
        self.last_departure = Some(view.now);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// The values that the controller publishes: the pacing rate and the bytes that leave at once. None before the first round-trip time.
#[derive(Clone, Copy, Debug, Default)]
struct Published(Option<(Bandwidth, u32)>);

impl Published {
    /// Packets of `datagram` bytes per second.
    fn rate(self, datagram: u32) -> Option<Rate> {
        let (rate, _) = self.0?;
        Some(Rate((rate.as_bytes_per_second() as f64 / f64::from(datagram)).max(LEAST_RATE)))
    }

    fn spacing(self, datagram: u32) -> Span {
        self.rate(datagram).map_or(Span::ZERO, |rate| Span::from_secs_f64(1.0 / rate.0))
    }
}

impl Publisher for Published {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _congestion_window: u32) {}

    fn on_delivery_rate_sampled(&mut self, _rate_sample: bandwidth::RateSample) {}

    fn on_pacing_rate_updated(&mut self, pacing_rate: Bandwidth, burst_size: u32, _gain: num_rational::Ratio<u64>) {
        self.0 = Some((pacing_rate, burst_size));
    }

    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

/// A seeded source of random numbers.
#[derive(Clone, Debug)]
struct Random(u64);

impl random::Generator for Random {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        crate::draws::fill(&mut self.0, dest);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.public_random_fill(dest);
    }
}

/// s2n-quic counts microseconds, from 1 on.
fn timestamp(at: Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_nanos(at.as_nanos())
}

/// IPv4 and UDP, bytes: what a packet is longer than QUIC's datagram.
const HEADERS: u32 = 28;
/// Packets per second: a rate must be above 0.
const LEAST_RATE: f64 = 1.0;
/// Departures kept in addition to two windows of them.
const REORDERED: usize = 64;
