//! The host of the congestion control: facts go in, a window and a spacing come out.

use cwnd::host::{Facts, Moment};
use cwnd::{Ack, Algorithm, Congestion, CongestionControl, Control, Limit, Pacing, Rtt, Span, Start, Time};

use crate::settings::Settings;

/// An algorithm with the facts it is shown.
#[derive(Debug)]
pub(super) struct Host {
    algorithm: Algorithm,
    control: Control,
    /// Whole packets that may be in flight: at least one.
    window: u64,
    /// The time between two packets at the rate it asks for, if it asks for one: worked out once for many packets.
    interval: Option<Span>,
    pub(super) facts: Facts,
    /// The least time between two packets, by the user's choice.
    least_spacing: Option<Span>,
}

impl Host {
    /// Starts the algorithm of `settings`. The peer grants `peer_window` packets at most.
    pub(super) fn new(settings: &Settings, start: &Start, peer_window: u32, now: Time) -> Self {
        let algorithm = settings.algorithm.start(start);
        let control = algorithm.control();
        Self {
            algorithm,
            control,
            window: control.window.whole().max(1),
            interval: interval(&control),
            facts: Facts::new(now, peer_window.into(), start.packet, start.payload),
            least_spacing: settings.max_rate.map(|rate| rate.to_packets(start.packet).interval()),
        }
    }

    /// Packets `..acked` have arrived, as many of them for the first time as `ack` says.
    pub(super) fn on_ack(&mut self, moment: &Moment, acked: u64, ack: &Ack) {
        self.facts.counts.delivered += u64::from(ack.newly);
        self.facts.advance_round(acked, moment.next);
        self.algorithm.on_ack(&self.facts.view(moment), ack);
        self.ask();
    }

    /// Congestion was found; what it lost has been counted.
    pub(super) fn on_congestion(&mut self, moment: &Moment, event: &Congestion) {
        self.algorithm.on_congestion(&self.facts.view(moment), event);
        self.ask();
    }

    /// A lost packet has arrived.
    pub(super) fn on_recovered(&mut self, moment: &Moment) {
        self.algorithm.on_recovered(&self.facts.view(moment));
        self.ask();
    }

    /// A packet is about to be sent after `idle` without any in flight.
    pub(super) fn on_restart(&mut self, moment: &Moment, idle: Span) {
        self.algorithm.on_restart(&self.facts.view(moment), idle);
        self.ask();
    }

    /// The time the algorithm asked to be woken at may have come.
    pub(super) fn on_wake(&mut self, moment: &Moment) {
        if self.control.wake.is_some_and(|wake| wake <= moment.now) {
            self.algorithm.on_wake(&self.facts.view(moment));
            self.ask();
        }
    }

    /// The algorithm inside.
    pub(super) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// The requests of the congestion control.
    pub(super) fn control(&self) -> &Control {
        &self.control
    }

    /// Packets that may be in flight: at least one.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// The time between two packets, while departures are spaced.
    pub(super) fn spacing(&self) -> Option<Span> {
        let asked = match self.control.pacing {
            Pacing::At(_) => self.interval,
            Pacing::Spread { gain } => {
                let spread = |rtt: Rtt| rtt.smoothed.mul_f64(1.0 / (gain * self.control.window.0.max(1.0)));
                self.facts.rtt.get().map(spread)
            }
            Pacing::Off => None,
        };
        asked.max(self.least_spacing)
    }

    /// The limit that counts where only the spacing holds a packet back.
    pub(super) fn limit_of_spacing(&self) -> Limit {
        // Spreading a window over a round trip is not a limit of its own.
        if matches!(self.control.pacing, Pacing::At(_)) { Limit::Rate } else { Limit::Window }
    }

    /// Reads the algorithm's control after a signal.
    fn ask(&mut self) {
        self.control = self.algorithm.control();
        self.window = self.control.window.whole().max(1);
        self.interval = interval(&self.control);
    }
}

fn interval(control: &Control) -> Option<Span> {
    if let Pacing::At(rate) = control.pacing { Some(rate.interval()) } else { None }
}
