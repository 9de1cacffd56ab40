//! Endpoints for algorithms whose receiver decides what it reports and when: nothing is sent twice, as in DCCP (RFC 4340).

use cwnd::host::{Facts, Moment};
use cwnd::{
    Ack, Algorithm, Arrival, Bytes, Congestion, CongestionControl, Control, Limit, Packets, Rate, ReceiverSide, Remote,
    Span, Time, View,
};

use crate::net::packet::{Body, Data, Header, Report};
use crate::pacer::{Pacer, Spacing};
use crate::protocol::{
    Received, ReceiverProtocol, SenderConfig, SenderProtocol, SenderState, Timers, collect, collected,
};
use crate::recent::Recent;
use crate::traffic::source::Backlog;

/// The end that sends data.
#[derive(Debug)]
pub(crate) struct Sender {
    algorithm: Algorithm,
    control: Control,
    facts: Facts,
    pacer: Pacer,
    backlog: Backlog,
    next: u64,
    /// All packets below have arrived or are lost.
    settled: u64,
}

/// The end that receives data, with the algorithm's half in it.
#[derive(Debug)]
pub(crate) struct Receiver {
    side: Box<dyn ReceiverSide>,
    packet: Bytes,
    /// The sender's round-trip time, as the packet under way has it.
    rtt: Option<Span>,
    arrivals: u32,
    recent: Recent,
    /// The newest packet, and when it arrived.
    newest: Option<(Data, Time)>,
}

impl Sender {
    /// A sender that starts at `now`.
    pub(crate) fn new(config: SenderConfig, now: Time) -> Self {
        Self {
            control: config.algorithm.control(),
            algorithm: config.algorithm,
            facts: Facts::new(now, Packets(config.max_window).whole(), config.packet, config.payload),
            pacer: Pacer::new(now, Spacing::AtOnce).with_ticks(config.tick),
            backlog: config.backlog,
            next: 0,
            settled: 0,
        }
    }

    /// Serves the sender as [`SenderProtocol::serve`] does, and appends departing packets to `sent`.
    #[inline(never)]
    fn send_to(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Timers {
        if let Some(Body::Report(report)) = body {
            self.on_report(now, report);
        }
        while let Some(body) = self.poll(now) {
            if !collect(sent, body) {
                break;
            }
        }
        Timers { release: self.next_release(), deadline: Time::MAX }
    }

    /// Takes in a report. Reports get lost, so it counts arrivals from the start. One that a later report has overtaken says nothing new.
    fn on_report(&mut self, now: Time, report: &Report) {
        let newly = report.arrivals.wrapping_sub(self.facts.counts.delivered as u32);
        if report.newest + 1 < self.settled || newly > u32::MAX / 2 {
            return;
        }
        let in_flight = self.in_flight();
        let lost = (report.newest + 1 - self.settled).saturating_sub(u64::from(newly));
        let first = std::mem::replace(&mut self.settled, report.newest + 1);
        self.facts.counts.delivered += u64::from(newly);
        self.facts.counts.lost += lost;
        self.facts.rtt.on_sample(now.since(report.echo) - Span::from_nanos(u64::from(report.held)), Span::ZERO);
        self.facts.advance_round(self.settled, self.next);
        let view = self.view(now, in_flight);
        if lost > 0 {
            self.algorithm.on_congestion(&view, &Congestion::loss(first, u32::try_from(lost).unwrap_or(u32::MAX)));
        }
        let remote = report.remote();
        self.algorithm.on_ack(&view, &Ack::new(newly, report.echo).with_remote(remote));
        self.control = self.algorithm.control();
        if in_flight > 0 && self.in_flight() == 0 {
            self.backlog.become_idle(now);
        }
    }

    /// The next packet to leave now, if one may.
    fn poll(&mut self, now: Time) -> Option<Body> {
        self.pacer.pass();
        let outstanding = self.in_flight() as f64 + 1.0;
        if outstanding > self.control.window.0.max(1.0) {
            self.facts.limits.set(now, Limit::Window);
            return None;
        }
        if !self.backlog.has(now, self.next) {
            self.facts.limits.set(now, Limit::Source);
            return None;
        }
        if self.in_flight() >= self.facts.peer_window {
            self.facts.limits.set(now, Limit::Peer);
            return None;
        }
        if self.pacer.holds(now, self.control.pacing, &mut self.facts.limits) {
            return None;
        }
        if self.in_flight() == 0
            && let Some(idle) = self.backlog.resume(now)
        {
            self.algorithm.on_restart(&self.view(now, 0), idle);
            self.control = self.algorithm.control();
        }
        let number = self.next;
        self.next += 1;
        self.facts.counts.sent += 1;
        let pair = self.pacer.sent(now, self.spacing(), self.control.probe, Some(number));
        let rtt = self.facts.rtt.get().map_or(Span::ZERO, |rtt| rtt.smoothed);
        Some(Body::Headed(Data { pair, ..Data::new(number, now) }, Header::Rtt(rtt)))
    }

    /// When it wants to be asked again without a report.
    fn next_release(&self) -> Time {
        let release = self.pacer.next().min(self.control.wake.unwrap_or(Time::MAX));
        if self.facts.limits.current() == Limit::Source { release.min(self.backlog.due()) } else { release }
    }

    fn view(&self, now: Time, in_flight: u64) -> View {
        self.facts.view(&Moment::new(now, self.next, in_flight))
    }
}

impl SenderProtocol for Sender {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        collected(send, |sent| self.send_to(now, body, sent))
    }

    fn on_wake(&mut self, now: Time) {
        if self.control.wake.is_some_and(|wake| wake <= now) {
            self.algorithm.on_wake(&self.view(now, self.in_flight()));
            self.control = self.algorithm.control();
        }
    }
}

impl SenderState for Sender {
    fn facts(&self) -> Option<&Facts> {
        Some(&self.facts)
    }

    fn algorithm(&self) -> Option<&Algorithm> {
        Some(&self.algorithm)
    }

    /// All packets below have arrived or are lost.
    fn acked(&self) -> u64 {
        self.settled
    }

    fn window(&self) -> Packets {
        self.control.window
    }

    /// Packets that have not been reported yet.
    fn in_flight(&self) -> u64 {
        self.next - self.settled
    }

    fn spacing(&self) -> Option<Span> {
        self.pacer.spacing(&self.facts.rtt, self.control.window, self.control.pacing)
    }
}

impl Receiver {
    /// A receiver of packets of `packet` bytes that hosts `side`.
    pub(crate) fn new(side: Box<dyn ReceiverSide>, packet: Bytes) -> Self {
        Self { side, packet, rtt: None, arrivals: 0, recent: Recent::default(), newest: None }
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, _answer: &mut Body) -> Received {
        if !self.recent.is_new(data.number) {
            return Received { new: false, answered: false };
        }
        self.arrivals = self.arrivals.wrapping_add(1);
        if self.newest.is_none_or(|(newest, _)| newest.number < data.number) {
            self.newest = Some((*data, now));
        }
        let mut arrival = Arrival::new(now, data.number, self.packet);
        arrival.sent_at = Some(data.sent_at);
        (arrival.rtt, arrival.pair, arrival.marked) = (self.rtt, data.pair, marked);
        self.side.on_packet(&arrival);
        Received { new: true, answered: false }
    }

    fn handle_header(&mut self, header: &Header) {
        if let Header::Rtt(rtt) = header {
            self.rtt = Some(*rtt).filter(|rtt| *rtt > Span::ZERO);
        }
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        let (newest, arrived) = self.newest.filter(|_| self.next_timeout() <= now)?;
        let held = u32::try_from(now.since(arrived).as_nanos()).unwrap_or(u32::MAX);
        let remote = self.side.report(now);
        Some(Body::Report(Report::new(&newest, held, self.arrivals, &remote)))
    }

    fn next_timeout(&self) -> Time {
        self.side.due().unwrap_or(Time::MAX)
    }
}

impl Report {
    /// What a receiver of `arrivals` packets says of itself and for its algorithm.
    fn new(newest: &Data, held: u32, arrivals: u32, remote: &Remote) -> Self {
        let known = |value: Option<f64>| value.map_or(f32::NAN, |value| value as f32);
        let measured = [
            remote.arrival_rate.map(|rate| rate.0),
            remote.loss_event_rate,
            remote.capacity.map(|rate| rate.0),
            remote.window.map(|window| window.0),
        ];
        Self { newest: newest.number, echo: newest.sent_at, held, arrivals, measured: measured.map(known) }
    }

    /// What it says for the algorithm.
    fn remote(&self) -> Remote {
        let [arrival_rate, loss_event_rate, capacity, window] =
            self.measured.map(|value| Some(f64::from(value)).filter(|value| !value.is_nan()));
        let mut remote = Remote::default();
        (remote.arrival_rate, remote.capacity) = (arrival_rate.map(Rate), capacity.map(Rate));
        (remote.loss_event_rate, remote.window) = (loss_event_rate, window.map(Packets));
        remote
    }
}
