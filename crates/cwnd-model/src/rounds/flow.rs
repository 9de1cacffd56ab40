//! One flow of the synchronous-feedback host.

use cwnd::host::{Facts, Moment};
use cwnd::random::uniform;
use cwnd::registry::Transport;
use cwnd::signal::{Ack, Arrival, Congestion, Remote, Start, View};
use cwnd::units::{Packets, Span, Time};
use cwnd::{Algorithm, Bytes, CongestionControl, Pacing, Probe, ReceiverSide};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::setup::Setup;
use crate::host::facts;

/// What flow `index` of the setup begins with: in congestion avoidance, at its window and the rate that this makes.
pub(super) fn start(setup: &Setup, index: usize) -> Start {
    let flow = &setup.flows[index];
    let seed = setup.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index as u64;
    let avoiding = Start::default().with_window(flow.window).with_threshold(flow.window);
    let mut start = avoiding.with_packet(setup.packet, setup.packet).with_seed(seed);
    start.rate = Some(flow.window / flow.rtt.unwrap_or(setup.rtt));
    start
}

/// An algorithm and what its host knows.
pub(super) struct SynchronousFlow {
    algorithm: Algorithm,
    receiver: Option<Box<dyn ReceiverSide>>,
    reports: bool,
    facts: Facts,
    rtt: Span,
    packet: Bytes,
    /// Packets delivered, a real number of them; the facts have the whole ones.
    delivered: f64,
    /// Packets that its receiver has seen, and those that it has acknowledged.
    shown: u64,
    acked: u64,
    /// Round trips; the facts have the whole ones.
    rounds: f64,
    losses: Xoshiro256PlusPlus,
}

/// A copy for a step that may be taken back; only for flows whose receiver keeps nothing.
impl Clone for SynchronousFlow {
    fn clone(&self) -> Self {
        Self {
            algorithm: self.algorithm.clone(),
            receiver: None,
            facts: self.facts.clone(),
            losses: self.losses.clone(),
            ..*self
        }
    }
}

impl SynchronousFlow {
    /// Flow `index` of the setup.
    pub(super) fn new(setup: &Setup, index: usize) -> Self {
        let flow = &setup.flows[index];
        let rtt = flow.rtt.unwrap_or(setup.rtt);
        let start = start(setup, index);
        Self {
            algorithm: flow.algorithm.start(&start),
            receiver: flow.algorithm.receiver(&start),
            reports: flow.algorithm.entry().transport == Transport::Reported,
            facts: facts(rtt, setup.packet),
            rtt,
            packet: setup.packet,
            delivered: 0.0,
            shown: 0,
            acked: 0,
            rounds: 0.0,
            losses: Xoshiro256PlusPlus::seed_from_u64(start.seed),
        }
    }

    /// Packets that its receiver has seen.
    pub(super) fn shown(&self) -> u64 {
        self.shown
    }

    /// Whether it has a receiver.
    pub(super) fn has_receiver(&self) -> bool {
        self.receiver.is_some()
    }

    pub(super) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }

    /// Packets delivered and packets lost.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.facts.counts.delivered, self.facts.counts.lost)
    }

    /// Packets in the network.
    pub(super) fn in_network(&self) -> f64 {
        let control = self.algorithm.control();
        match control.pacing {
            Pacing::At(rate) => (rate * self.rtt).0.min(control.window.0),
            _ => control.window.0,
        }
    }

    /// Packets in a round trip `rtt`.
    pub(super) fn load(&self, rtt: Span) -> f64 {
        self.in_network() * self.share(rtt)
    }

    /// `rounds` round trips of the setup pass, from `from` to `to`.
    pub(super) fn advance(&mut self, from: Time, to: Time, rounds: f64, setup: &Setup) {
        let own = rounds * self.share(setup.rtt);
        let acked = self.in_network() * own;
        self.account(acked, own);
        if self.reports {
            self.report((from, to), acked, setup);
        } else {
            self.algorithm.on_fluid(&self.view(to), Packets(acked));
        }
        if setup.loss > 0.0 && self.draws_loss(acked, setup.loss) {
            self.congest(to);
        }
    }

    /// Round trips of the setup pass without feedback.
    pub(super) fn pass_without_feedback(&mut self, rounds: f64, setup: &Setup) {
        self.account(self.load(setup.rtt) * rounds, rounds * self.share(setup.rtt));
    }

    /// A packet is lost, or marked: all the same here.
    pub(super) fn congest(&mut self, now: Time) {
        self.facts.counts.lost += 1;
        let view = self.view(now);
        self.algorithm.on_congestion(&view, &Congestion::loss(view.next, 1));
    }

    /// `acked` packets arrive in `rounds` of its round trips.
    fn account(&mut self, acked: f64, rounds: f64) {
        self.delivered += acked;
        self.rounds += rounds;
        self.facts.counts.delivered = self.delivered as u64;
        self.facts.round = self.rounds as u64;
    }

    /// How many of its round trips pass in one of `rtt`.
    fn share(&self, rtt: Span) -> f64 {
        rtt.as_secs_f64() / self.rtt.as_secs_f64()
    }

    /// Whether one of `acked` packets is lost.
    fn draws_loss(&mut self, acked: f64, p: f64) -> bool {
        uniform(self.losses.next_u64()) < 1.0 - libm::pow(1.0 - p, acked)
    }

    /// The receiver gets the `acked` packets that arrived evenly between two instants, and reports.
    fn report(&mut self, (from, to): (Time, Time), acked: f64, setup: &Setup) {
        if self.algorithm.control().wake.is_some_and(|wake| wake <= to) {
            self.algorithm.on_wake(&self.view(to));
        }
        let newly = self.facts.counts.delivered - self.acked;
        if newly == 0 {
            return;
        }
        let probe = self.algorithm.control().probe;
        let capacity = setup.capacity / setup.rtt;
        let (rtt, packet) = (self.rtt, self.packet);
        let mut remote = Remote::default();
        remote.capacity = Some(capacity);
        if let Some(receiver) = &mut self.receiver {
            let second = |number: u64| matches!(probe, Probe::PairEvery(n) if number % u64::from(n.max(2)) == 1);
            let mut show = |at: Time, number: u64, pair: bool| {
                let mut arrival = Arrival::new(at, number, packet);
                (arrival.rtt, arrival.pair) = (Some(rtt), pair);
                receiver.on_packet(&arrival);
            };
            let passed = to.since(from);
            while self.shown < self.facts.counts.delivered {
                // A packet has arrived when all of it has.
                let missing = (self.shown + 1) as f64 - (self.delivered - acked);
                let at = from + passed.mul_f64((missing / acked).clamp(0.0, 1.0));
                show(at, self.shown, false);
                self.shown += 1;
                // The second of a pair follows the first at the capacity's own pace.
                if second(self.shown) {
                    show(at + capacity.interval(), self.shown, true);
                    self.shown += 1;
                }
            }
            remote = receiver.report(to);
        }
        self.acked += newly;
        let newly = u32::try_from(newly).unwrap_or(u32::MAX);
        let ack = Ack::new(newly, from).with_remote(remote);
        self.algorithm.on_ack(&self.view(to), &ack);
    }

    fn view(&self, now: Time) -> View {
        let in_flight = self.in_network() as u64;
        let next = self.facts.counts.delivered + in_flight;
        self.facts.view(&Moment::new(now, next, in_flight))
    }
}
