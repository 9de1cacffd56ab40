//! The host of the congestion control: facts go in, a window and a spacing come out.

use cwnd::estimate::RttEstimator;
use cwnd::{
    Ack, Algorithm, Bytes, Congestion, CongestionControl, Control, Limit, Pacing, Packets, Remote, Span, Start, Time,
    View,
};

use super::limits::Limits;
use crate::settings::Settings;

/// An algorithm with the facts it is shown.
#[derive(Debug)]
pub(super) struct Host {
    algorithm: Algorithm,
    control: Control,
    pub(super) limits: Limits,
    /// Packets acknowledged, and found lost.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    round: u64,
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    packet: Bytes,
    payload: Bytes,
    /// The least time between two packets, by the user's choice.
    least_spacing: Option<Span>,
}

/// What only the sending half knows of the instant of a signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub(super) now: Time,
    pub(super) next: u64,
    pub(super) in_flight: u64,
    pub(super) in_recovery: bool,
    pub(super) peer_window: u64,
    pub(super) rtt: &'a RttEstimator,
}

impl Host {
    /// Starts the algorithm of `settings`.
    pub(super) fn new(settings: &Settings, start: &Start, now: Time) -> Self {
        let algorithm = settings.algorithm.start(start);
        let control = algorithm.control();
        Self {
            algorithm,
            control,
            limits: Limits::new(now),
            delivered: 0,
            lost: 0,
            round: 0,
            round_end: 0,
            packet: start.packet,
            payload: start.payload,
            least_spacing: settings.max_rate.map(|rate| rate.to_packets(start.packet).interval()),
        }
    }

    /// Packets `..acked` have arrived, `newly` of them for the first time; `rates` is what the receiver reports.
    pub(super) fn on_ack(&mut self, moment: &Moment<'_>, newly: u64, acked: u64, sent_at: Time, remote: Remote) {
        self.delivered += newly;
        if acked > self.round_end {
            self.round += 1;
            self.round_end = moment.next;
        }
        let newly = u32::try_from(newly).unwrap_or(u32::MAX);
        let ack = Ack { acks: 1, newly, marked: 0, sent_at, sample: None, remote };
        self.algorithm.on_ack(&self.view(moment), &ack);
        self.control = self.algorithm.control();
    }

    /// Something speaks of congestion.
    pub(super) fn on_congestion(&mut self, moment: &Moment<'_>, event: &Congestion) {
        self.algorithm.on_congestion(&self.view(moment), event);
        self.lost += u64::from(event.lost);
        self.control = self.algorithm.control();
    }

    /// What was lost has arrived.
    pub(super) fn on_recovered(&mut self, moment: &Moment<'_>) {
        self.algorithm.on_recovered(&self.view(moment));
        self.control = self.algorithm.control();
    }

    /// A packet is about to leave after `idle` without any in the network.
    pub(super) fn on_restart(&mut self, moment: &Moment<'_>, idle: Span) {
        self.algorithm.on_restart(&self.view(moment), idle);
        self.control = self.algorithm.control();
    }

    /// The time the algorithm asked to be woken at may have come.
    pub(super) fn on_wake(&mut self, moment: &Moment<'_>) {
        if self.control.wake.is_some_and(|wake| wake <= moment.now) {
            self.algorithm.on_wake(&self.view(moment));
            self.control = self.algorithm.control();
        }
    }

    /// The algorithm inside.
    pub(super) fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What it asks for.
    pub(super) fn control(&self) -> &Control {
        &self.control
    }

    /// Packets that may be in flight: at least one.
    pub(super) fn window(&self) -> u64 {
        self.control.window.whole().max(1)
    }

    /// The time between two packets, while departures are spaced.
    pub(super) fn spacing(&self, rtt: &RttEstimator) -> Option<Span> {
        let asked = match self.control.pacing {
            Pacing::At(rate) => Some(rate.interval()),
            Pacing::Spread { gain } => {
                rtt.get().map(|rtt| rtt.smoothed.mul_f64(1.0 / (gain * self.control.window.0.max(1.0))))
            }
            Pacing::Off => None,
        };
        asked.max(self.least_spacing)
    }

    /// What it counts as where only the spacing holds a packet back.
    pub(super) fn limit_of_spacing(&self) -> Limit {
        // Spreading a window over a round trip is not a limit of its own.
        if matches!(self.control.pacing, Pacing::At(_)) { Limit::Rate } else { Limit::Window }
    }

    fn view(&self, moment: &Moment<'_>) -> View {
        View {
            now: moment.now,
            next: moment.next,
            in_flight: moment.in_flight,
            in_recovery: moment.in_recovery,
            delivered: self.delivered,
            lost: self.lost,
            rtt: moment.rtt.get(),
            round: self.round,
            limit: self.limits.current(),
            peer_window: Packets(moment.peer_window as f64),
            packet: self.packet,
            payload: self.payload,
        }
    }
}
