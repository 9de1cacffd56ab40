//! The sending end: it keeps the state of the connection (packets in flight, losses, round-trip time) and obtains a window from its
//! algorithm.

use std::iter;
use std::ops::Range;

use cwnd::host::{Facts, Moment};
use cwnd::{
    Ack as AckSignal, Algorithm, Congestion, CongestionControl, Control, Limit, Pacing, Packets, Probe, RateSample,
    Remote, Span, Time, View, Visitor,
};

use super::linux::initial_window;
use super::linux_sender::{LinuxSender, pacing};
use super::marks::MarkDecoder;
use super::recovery::{AckOutcome, Rack, Recovery};
use super::timer::RetransmissionTimer;
use crate::era::MarkedAtOne;
use crate::net::packet::{Ack, Body, Data};
use crate::pacer::{Pacer, Spacing};
use crate::protocol::{SenderConfig, SenderProtocol, SenderState, Timers};
use crate::traffic::source::Backlog;

/// The part of an algorithm's [`Control`] that this sender applies, read after each signal.
#[derive(Clone, Copy, Debug)]
struct CachedControl {
    window: Packets,
    /// The window in whole packets; a sender may always have one in the network.
    allowed: u64,
    pacing: Pacing,
    probe: Probe,
    /// [`Time::MAX`] for never.
    wake: Time,
}

/// The view that an algorithm gets.
#[inline(always)]
fn shown(facts: &Facts, timer: &RetransmissionTimer, moment: &Moment) -> View {
    let mut view = facts.view(moment);
    view.timeout = Some(timer.timeout(&facts.rtt));
    view
}

/// Passes an acknowledgement to an algorithm and reads its control. Compiled for each algorithm: filling the whole view for one that
/// reads none of it would cost more than its rule.
struct Acknowledged<'a> {
    facts: &'a Facts,
    timer: &'a RetransmissionTimer,
    moment: Moment,
    ack: &'a Ack,
    newly: u64,
    /// Marks, of how many packets or acknowledgements.
    marks: (u32, u32),
    sample: Option<RateSample>,
    cached: &'a mut CachedControl,
}

/// A sender of what an application provides, with the loss recovery scheme `R`.
#[derive(Clone, Debug)]
pub(crate) struct Sender<R> {
    algorithm: Algorithm,
    cached: CachedControl,
    facts: Facts,
    recovery: R,
    timer: RetransmissionTimer,
    pacer: Pacer,
    /// Behaviours of Linux senders.
    linux: Option<Box<LinuxSender>>,
    /// Where acknowledgements count marks.
    marks: Option<Box<MarkDecoder>>,
    /// The counts have shown that the path does not carry ECT, which packets leave without.
    bare: bool,
    /// The number of the packet that carries CWR, which confirms a reaction to a mark; 0 before the first mark.
    confirming: u64,
    marked_at_one: MarkedAtOne,
    /// No new packet leaves before the timer has expired, since a mark found the window at one packet.
    waiting_for_rto: bool,
    /// The number of times that the next wait is doubled if it follows on that packet.
    doublings: u32,
    backlog: Backlog,
}

/// The packets that an acknowledgement releases.
#[derive(Clone, Debug)]
pub(crate) enum Released<N> {
    /// New packets, as if there were nothing to decide about each of them; they count as sent.
    New(N),
    /// That is to be asked for.
    Perhaps,
    /// Nothing, since it is not of the plain kind and has not been handled.
    Untouched,
}

impl<R: Recovery> Sender<R> {
    /// A sender that starts at `now`.
    pub(crate) fn new(config: SenderConfig, recovery: R, now: Time) -> Self {
        let linux = LinuxSender::of(&config.host, config.payload);
        let departures = match (&linux, config.paced) {
            (_, true) => Spacing::Evenly,
            (Some(_), false) => Spacing::BySender,
            (None, false) => Spacing::AtOnce,
        };
        let granted = config.host.autotune.map_or(u64::MAX, |_| initial_window(config.payload));
        Self {
            cached: CachedControl::of(&config.algorithm),
            algorithm: config.algorithm,
            facts: Facts::new(now, Packets(config.max_window).whole().min(granted), config.packet, config.payload),
            recovery,
            timer: RetransmissionTimer::new(&config.era),
            pacer: Pacer::new(now, departures).with_ticks(config.tick),
            linux,
            marks: config.echo.and_then(MarkDecoder::of).map(Box::new),
            bare: false,
            confirming: 0,
            marked_at_one: config.marked_at_one,
            waiting_for_rto: false,
            doublings: 0,
            backlog: config.backlog,
        }
    }

    /// Takes in an acknowledgement.
    #[inline(always)]
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if ack.window > 0 {
            self.on_grant(ack);
        }
        // Nearly all of them are plain ones, for which the compiler leaves out the handling of losses and recovery.
        if let Some(newly) = self.recovery.on_ack_in_order(now, ack) {
            let outcome = AckOutcome { newly, advanced: true, rearm: true, ..AckOutcome::default() };
            self.on_outcome(now, ack, self.in_flight() + newly, &outcome);
        } else {
            self.on_ack_slow(now, ack);
        }
    }

    /// Takes in an acknowledgement if it is of the plain kind.
    #[inline(always)]
    pub(crate) fn on_ack_in_order(&mut self, now: Time, ack: &Ack) -> Released<Range<u64>> {
        let Some(newly) = self.recovery.on_ack_in_order(now, ack) else { return Released::Untouched };
        let outcome = AckOutcome { newly, advanced: true, rearm: true, ..AckOutcome::default() };
        self.on_outcome(now, ack, self.in_flight() + newly, &outcome);
        let next = self.next();
        // The packet that confirms a reaction to a mark is not like the others.
        if !self.is_unbound(now) || self.confirming >= next {
            return Released::Perhaps;
        }
        let count = self.supply(now);
        self.recovery.send(now, count);
        self.facts.counts.sent += count;
        Released::New(next..next.saturating_add(count))
    }

    /// When it is to be called without an acknowledgement, once all that may leave has left.
    #[inline(always)]
    pub(crate) fn timers(&mut self, now: Time) -> Timers {
        if matches!(self.facts.limits.current(), Limit::Source | Limit::Peer) {
            let in_flight = self.in_flight();
            self.recovery.samples().into_iter().for_each(|samples| samples.on_limited(in_flight));
        }
        let mut deadline = Time::MAX;
        if let Some(rack) = self.recovery.rack() {
            if rack.is_probe_stale() {
                // The time until which the timer is known not to expire is not enough.
                self.timer.settle(&self.facts.rtt);
                rack.set_probe(now, self.timer.rtt(&self.facts.rtt).get(), self.timer.deadline());
            }
            deadline = rack.deadline();
        }
        Timers { release: self.next_release(), deadline: self.timer.deadline().min(deadline) }
    }

    /// The receiver says how much it has room for.
    #[cold]
    fn on_grant(&mut self, ack: &Ack) {
        if ack.cumulative >= self.acked() {
            self.facts.peer_window = ack.window.into();
            self.linux.iter_mut().for_each(|linux| linux.set_spin(ack.spin()));
        }
    }

    #[inline(never)]
    fn on_ack_slow(&mut self, now: Time, ack: &Ack) {
        let in_flight = self.in_flight();
        let outcome = self.recovery.on_ack(now, ack, |_, _| ());
        self.on_outcome(now, ack, in_flight, &outcome);
    }

    #[inline(always)]
    fn on_outcome(&mut self, now: Time, ack: &Ack, in_flight: u64, outcome: &AckOutcome) {
        self.facts.counts.delivered += outcome.newly + u64::from(outcome.unnamed);
        if outcome.newly > 0 {
            if !outcome.rearm {
                self.timer.settle(&self.facts.rtt);
            }
            let sample = now.since(ack.newest());
            self.timer.sample(now.since(ack.echo), sample, &self.facts.rtt);
            self.facts.rtt.on_sample(sample, Span::ZERO);
        }
        if outcome.advanced {
            self.timer.progress();
            self.facts.advance_round(self.acked(), self.next());
        }
        if outcome.rearm {
            self.timer.start(now, &self.facts.rtt);
        }
        if outcome.spurious {
            self.algorithm.on_spurious(&self.view(now, in_flight));
            self.update_control();
        }
        if outcome.lost > 0 {
            self.facts.counts.lost += outcome.lost;
            self.on_loss(now, in_flight, outcome);
        }
        let marked = match &mut self.marks {
            None => ack.marked,
            Some(decoder) => {
                let marks = decoder.on_ack(ack, outcome.newly + u64::from(outcome.unnamed));
                self.bare = decoder.has_failed();
                marks > 0
            }
        };
        if marked {
            self.on_mark(now, in_flight);
        }
        // RFC 5681 section 3.2: a duplicate changes no window before the recovery it announces, nor after a timeout, also where it
        // names arrived packets. An algorithm that follows samples receives all of them.
        let handed = outcome.advanced || self.recovery.in_recovery() || self.recovery.samples().is_some();
        if outcome.newly > 0 && handed {
            let marks = match &mut self.marks {
                None => (u32::from(ack.marked), 1),
                Some(decoder) => told(decoder, outcome.newly),
            };
            let min_rtt = self.facts.rtt.get().map(|rtt| rtt.min);
            let sample = self.recovery.samples().and_then(|samples| samples.take(min_rtt));
            let acknowledged = Acknowledged {
                facts: &self.facts,
                timer: &self.timer,
                moment: self.moment(now, in_flight),
                ack,
                newly: outcome.newly,
                marks,
                sample,
                cached: &mut self.cached,
            };
            acknowledged.pass_to(&mut self.algorithm);
        }
        if self.recovery.leave(outcome) {
            self.algorithm.on_recovered(&self.view(now, self.in_flight()));
            self.update_control();
        }
        self.recovery.on_window(outcome, self.cached.window);
        if self.outstanding() == 0 {
            if !self.waiting_for_rto {
                self.timer.stop();
            }
            self.backlog.become_idle(now);
        }
    }

    /// An acknowledgement has shown losses.
    fn on_loss(&mut self, now: Time, in_flight: u64, outcome: &AckOutcome) {
        let mut moment = self.moment(now, in_flight);
        moment.in_recovery &= !outcome.begun;
        let mut event = congestion(outcome);
        // Each packet is an event of its own where samples are taken, and the first of them begins the recovery.
        while let Some((first, sample)) = self.take_lost() {
            (event.sample, event.first, event.lost) = (Some(sample), first, 1);
            self.algorithm.on_congestion(&self.shown(&moment), &event);
            moment.in_recovery = self.recovery.in_recovery();
        }
        if event.sample.is_none() {
            self.algorithm.on_congestion(&self.shown(&moment), &event);
        }
        self.update_control();
    }

    /// An acknowledgement echoes a mark.
    fn on_mark(&mut self, now: Time, in_flight: u64) {
        let acked = self.acked();
        let one = self.cached.allowed == 1;
        self.algorithm.on_congestion(&self.view(now, in_flight), &Congestion::mark(acked.saturating_sub(1)));
        self.update_control();
        // Once per window, whether the algorithm cut for this mark or for a loss just before: without it the receiver would echo
        // for ever, and no window grows on an echo.
        if acked < self.confirming {
            return;
        }
        // A cut that ends at the floor would have ended below it.
        self.waiting_for_rto = one && self.cached.window.0 <= 1.0 && self.marked_at_one != MarkedAtOne::None;
        if self.waiting_for_rto {
            let doublings = if acked == self.confirming + 1 { self.doublings } else { 0 };
            self.doublings = doublings + u32::from(self.marked_at_one == MarkedAtOne::Backoff);
            self.timer.start_doubled(now, doublings, &self.facts.rtt);
        } else {
            self.doublings = 0;
        }
        self.confirming = self.next();
    }

    /// Routers reported something, in a packet whose acknowledgement is handled afterwards.
    pub(crate) fn on_remote(&mut self, now: Time, remote: Remote) {
        let signal = AckSignal::new(0, now).with_remote(remote);
        self.algorithm.on_ack(&self.view(now, self.in_flight()), &signal);
        self.update_control();
    }

    /// Hands all that may leave now to `send`.
    #[inline(always)]
    fn drain(&mut self, now: Time, mut send: impl FnMut(Data) -> bool) {
        if self.is_unbound(now) {
            let first = self.next();
            let end = first.saturating_add(self.supply(now));
            let mut next = first;
            while next < end {
                // Something is outstanding, so that none of these is packet 0.
                let reacted = next == self.confirming;
                let goes_on = send(Data { reacted, ..Data::new(next, now) });
                next += 1;
                if !goes_on {
                    break;
                }
            }
            self.recovery.send(now, next - first);
            self.facts.counts.sent += next - first;
        } else if self.linux.is_some() {
            self.drain_bursts(now, &mut send);
        } else {
            while self.may_send(now) {
                if !send(self.send_next(now)) {
                    return;
                }
            }
        }
    }

    /// Sends in segments like those of Linux: a partial segment waits for the next acknowledgement.
    #[inline(never)]
    fn drain_bursts(&mut self, now: Time, send: &mut dyn FnMut(Data) -> bool) {
        while !self.waits_for_more(now) {
            let mut left = self.segment();
            while left > 0 {
                let Some(data) = self.poll(now) else {
                    self.pacer.set_burst(false);
                    return;
                };
                left -= 1;
                self.pacer.set_burst(left > 0);
                let next = self.next();
                self.linux.iter_mut().for_each(|linux| linux.sent(now, next));
                if !send(data) {
                    self.pacer.set_burst(false);
                    return;
                }
            }
        }
    }

    /// The number of packets in one segment.
    fn segment(&self) -> u64 {
        let Some(linux) = &self.linux else { return 1 };
        let quantum = self.algorithm.control().quantum;
        let payload = u64::from(self.facts.payload().0.max(1));
        let rtt = self.timer.rtt(&self.facts.rtt);
        let spacing = self.pacer.spacing(rtt, self.cached.window, self.rate());
        linux.size(spacing, quantum.map(|quantum| u64::from(quantum.0) / payload))
    }

    /// How Linux paces where there is a fair queue; also what it makes segments by where there is none.
    fn rate(&self) -> Pacing {
        match self.cached.pacing {
            Pacing::Off => pacing(self.cached.window, self.algorithm.slow_start_threshold()),
            pacing => pacing,
        }
    }

    /// Whether what may leave is less than a segment and than a third of the window (`tcp_tso_win_divisor`), while more is to be sent and
    /// acknowledgements are about to make room for it.
    fn waits_for_more(&mut self, now: Time) -> bool {
        let rtt = self.timer.rtt(&self.facts.rtt).get().map(|rtt| rtt.smoothed);
        let acked = self.acked();
        let may_wait = self.linux.as_deref_mut().is_some_and(|linux| linux.may_wait(now, acked, rtt));
        let repairing = self.recovery.in_recovery() || self.recovery.waiting() || self.recovery.urgent();
        if !may_wait || self.waiting_for_rto || repairing {
            return false;
        }
        let outstanding = self.outstanding();
        let room = self.recovery.room(self.cached.allowed);
        let granted = self.facts.peer_window.saturating_sub(outstanding);
        let may = room.min(granted);
        let enough = self.segment().min(self.cached.allowed.min(self.facts.peer_window).div_ceil(3));
        let waits = (1..enough).contains(&may) && self.backlog.ahead(now, self.next()) > may;
        if waits {
            self.pacer.pass();
            self.facts.limits.set(now, if room <= granted { Limit::Window } else { Limit::Peer });
        }
        waits
    }

    /// Nothing but window, source and receiver holds packets back, and the timer runs: there is nothing to decide for each of them.
    #[inline(always)]
    fn is_unbound(&self, now: Time) -> bool {
        self.recovery.is_idle()
            && self.outstanding() > 0
            && !self.waiting_for_rto
            && !self.bare
            && self.cached.probe == Probe::None
            && !self.pacer.spaces(self.cached.pacing)
            && !self.pacer.waits(now)
    }

    /// The number of new packets that may leave now, if no other limit applies.
    #[inline(always)]
    fn supply(&mut self, now: Time) -> u64 {
        self.pacer.pass();
        let room = self.recovery.room(self.cached.allowed);
        // The source is only queried if the window has room.
        let handed = if room > 0 { self.backlog.ahead(now, self.next()) } else { u64::MAX };
        let granted = self.facts.peer_window.saturating_sub(self.outstanding());
        let short = handed.min(granted);
        if room <= short {
            self.facts.limits.set(now, Limit::Window);
            room
        } else {
            self.facts.limits.set(now, if handed <= granted { Limit::Source } else { Limit::Peer });
            short
        }
    }

    /// The next packet to leave now, if one may.
    fn poll(&mut self, now: Time) -> Option<Data> {
        self.may_send(now).then(|| self.send_next(now))
    }

    /// Whether a packet may leave now; what holds it back is recorded.
    #[inline(always)]
    fn may_send(&mut self, now: Time) -> bool {
        self.pacer.pass();
        if self.recovery.rack().is_some_and(|rack| rack.prefers_new()) && !self.has_new(now) {
            self.recovery.rack().into_iter().for_each(Rack::repair_at_once);
        }
        let urgent = self.recovery.urgent();
        if !urgent && (self.waiting_for_rto || self.recovery.room(self.cached.allowed) == 0) {
            self.facts.limits.set(now, Limit::Window);
            return false;
        }
        if !self.recovery.waiting() {
            if !self.backlog.has(now, self.next()) {
                self.facts.limits.set(now, Limit::Source);
                return false;
            }
            if self.outstanding() >= self.facts.peer_window {
                self.facts.limits.set(now, Limit::Peer);
                return false;
            }
        }
        // Last, since a spread window is no limit of its own: source or receiver are, where they hold the next packet too.
        urgent || !self.pacer.holds(now, self.cached.pacing, &mut self.facts.limits)
    }

    /// Sends the next packet.
    #[inline(never)]
    fn send_next(&mut self, now: Time) -> Data {
        let waiting = self.recovery.resend(now);
        let retransmission = waiting.is_some();
        let number = waiting.unwrap_or_else(|| {
            if self.outstanding() == 0 {
                self.restart(now);
            }
            self.recovery.send(now, 1)
        });
        self.facts.counts.sent += 1;
        self.facts.counts.retransmitted += u64::from(retransmission);
        if self.timer.deadline() == Time::MAX {
            self.timer.start(now, &self.facts.rtt);
        }
        let fresh = (!retransmission).then_some(number);
        let pair = self.pacer.sent(now, self.spacing(), self.cached.probe, fresh);
        let reacted = !retransmission && number > 0 && number == self.confirming;
        let spin = self.linux.as_deref().is_some_and(LinuxSender::spin);
        Data { number, sent_at: now, retransmission, reacted, pair, spin, bare: self.bare }
    }

    /// A timer of the recovery scheme has expired.
    #[cold]
    fn on_recovery_deadline(&mut self, now: Time) {
        let in_flight = self.in_flight();
        let new_data = self.has_new(now);
        let outcome = self.recovery.on_deadline(now, new_data);
        if outcome.rearm {
            self.timer.start(now, &self.facts.rtt);
        }
        if outcome.lost > 0 {
            self.facts.counts.lost += outcome.lost;
            self.on_loss(now, in_flight, &outcome);
        }
        self.recovery.on_window(&outcome, self.cached.window);
    }

    /// Source and receiver let a new packet leave.
    fn has_new(&mut self, now: Time) -> bool {
        self.outstanding() < self.facts.peer_window && self.backlog.has(now, self.next())
    }

    /// The next packet of those found lost last, where samples are taken.
    #[inline]
    fn take_lost(&mut self) -> Option<(u64, RateSample)> {
        self.recovery.samples()?.take_lost()
    }

    /// The number of the next new packet.
    #[inline(always)]
    fn next(&self) -> u64 {
        self.recovery.outstanding().end
    }

    /// Packets sent and not yet acknowledged cumulatively.
    #[inline(always)]
    fn outstanding(&self) -> u64 {
        let Range { start, end } = self.recovery.outstanding();
        end - start
    }

    /// The control that its algorithm requests.
    pub(crate) fn control(&self) -> Control {
        self.algorithm.control()
    }

    /// Reads the control of the algorithm after a signal.
    fn update_control(&mut self) {
        self.cached = CachedControl::of(&self.algorithm);
    }

    #[inline]
    fn moment(&self, now: Time, in_flight: u64) -> Moment {
        Moment::new(now, self.next(), in_flight).with_recovery(self.recovery.in_recovery())
    }

    #[inline(never)]
    fn view(&self, now: Time, in_flight: u64) -> View {
        self.shown(&self.moment(now, in_flight))
    }

    #[inline(never)]
    fn shown(&self, moment: &Moment) -> View {
        shown(&self.facts, &self.timer, moment)
    }

    /// When it may send again without an acknowledgement, or its algorithm requested a wake-up: pacing, wake-up or new data.
    #[inline]
    fn next_release(&self) -> Time {
        let release = self.pacer.next().min(self.cached.wake);
        if self.facts.limits.current() == Limit::Source { release.min(self.backlog.due()) } else { release }
    }

    /// A new packet is about to leave while none is in the network.
    #[cold]
    fn restart(&mut self, now: Time) {
        if let Some(idle) = self.backlog.resume(now) {
            self.algorithm.on_restart(&self.view(now, 0), idle);
            self.update_control();
        }
    }
}

impl<R: Recovery> SenderProtocol for Sender<R> {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, mut send: impl FnMut(Body) -> bool) -> Timers {
        if let Some(Body::Ack(ack)) = body {
            self.on_ack(now, ack);
        }
        self.drain(now, |data| send(Body::Data(data)));
        self.timers(now)
    }

    fn on_wake(&mut self, now: Time) {
        if self.cached.wake <= now {
            self.algorithm.on_wake(&self.view(now, self.in_flight()));
            self.update_control();
        }
    }

    fn on_deadline(&mut self, now: Time) {
        if self.recovery.rack().is_some_and(|rack| rack.deadline() <= now) {
            self.on_recovery_deadline(now);
        }
        if !self.timer.has_expired(now, &self.facts.rtt) {
            return;
        }
        if std::mem::take(&mut self.waiting_for_rto) && self.outstanding() == 0 {
            // Nothing is lost: this was the wait after a mark.
            self.timer.stop();
            return;
        }
        let moment = self.moment(now, self.in_flight());
        let lost = self.recovery.on_timeout(now);
        self.facts.counts.timeouts += 1;
        self.facts.counts.lost += lost;
        let mut event = Congestion::timeout(self.acked(), self.timer.is_backed_off());
        event.lost = u32::try_from(lost).unwrap_or(u32::MAX);
        let newest = iter::from_fn(|| self.take_lost()).last();
        event.sample = newest.map(|(_, sample)| sample);
        self.algorithm.on_congestion(&self.shown(&moment), &event);
        self.update_control();
        self.timer.back_off(now, &self.facts.rtt);
    }

    fn on_handshake(&mut self, _now: Time, rtt: Span, restarted: Option<Algorithm>) {
        self.timer.sample(rtt, rtt, &self.facts.rtt);
        self.facts.rtt.on_sample(rtt, Span::ZERO);
        if let Some(algorithm) = restarted {
            self.cached = CachedControl::of(&algorithm);
            self.algorithm = algorithm;
        }
    }
}

impl<R: Recovery> SenderState for Sender<R> {
    fn facts(&self) -> Option<&Facts> {
        Some(&self.facts)
    }

    fn algorithm(&self) -> Option<&Algorithm> {
        Some(&self.algorithm)
    }

    #[inline]
    fn acked(&self) -> u64 {
        self.recovery.outstanding().start
    }

    fn window(&self) -> Packets {
        self.cached.window
    }

    #[inline(always)]
    fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    fn spacing(&self) -> Option<Span> {
        if self.linux.as_deref().is_some_and(LinuxSender::is_paced) {
            // Linux paces by the round-trip time of its timer.
            self.pacer.spacing(self.timer.rtt(&self.facts.rtt), self.cached.window, self.rate())
        } else {
            self.pacer.spacing(&self.facts.rtt, self.cached.window, self.cached.pacing)
        }
    }
}

impl Acknowledged<'_> {
    /// Passes the acknowledgement to an algorithm. Inlined, it has the code of all algorithms at each place and for each kind of recovery. A
    /// module for browsers has that code once: after gzip it is a tenth smaller, and its first run takes half the processor time.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn pass_to(self, algorithm: &mut Algorithm) {
        algorithm.visit(self);
    }
}

impl Visitor for Acknowledged<'_> {
    type Output = ();

    #[inline(always)]
    fn visit<A: CongestionControl + ?Sized>(self, algorithm: &mut A) {
        let view = shown(self.facts, self.timer, &self.moment);
        let newly = u32::try_from(self.newly).unwrap_or(u32::MAX);
        let mut signal = AckSignal::new(newly, self.ack.newest()).with_sample(self.sample);
        (signal.marked, signal.acks) = self.marks;
        algorithm.on_ack(&view, &signal);
        *self.cached = CachedControl::of(algorithm);
    }
}

impl CachedControl {
    #[inline]
    fn of<A: CongestionControl + ?Sized>(algorithm: &A) -> Self {
        let Control { window, pacing, probe, wake, .. } = algorithm.control();
        let allowed = (window.0 as i64).max(1).cast_unsigned();
        Self { window, allowed, pacing, probe, wake: wake.unwrap_or(Time::MAX) }
    }
}

/// The marked ones of `newly` acknowledged packets, of how many. One acknowledgement without a mark stays one.
fn told(decoder: &mut MarkDecoder, newly: u64) -> (u32, u32) {
    let of = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    match decoder.tell(newly) {
        0 => (0, 1),
        marks => (of(marks), of(newly)),
    }
}

fn congestion(outcome: &AckOutcome) -> Congestion {
    let lost = u32::try_from(outcome.lost).unwrap_or(u32::MAX);
    let mut event = Congestion::loss(outcome.first_lost, lost);
    (event.restart, event.separate) = (outcome.restart, outcome.separate);
    event
}

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Spec, Start};

    use super::super::recovery::Sack;
    use super::*;
    use crate::era::Era;
    use crate::net::packet::Block;

    fn sender(era: Era) -> Sender<Sack> {
        let start = Start::default().with_window(Packets(era.initial_window));
        let config = SenderConfig {
            algorithm: Spec::parse("reno").expect("registered").start(&start),
            era,
            marked_at_one: era.marked_at_one,
            recovery: crate::RecoveryScheme::Sack,
            backlog: Backlog::default(),
            max_window: f64::INFINITY,
            packet: Bytes(1500),
            payload: Bytes(1460),
            paced: false,
            tick: None,
            echo: None,
            host: crate::LinuxHost::default(),
        };
        Sender::new(config, Sack::new(&era), Time::ZERO)
    }

    /// RFC 5681 section 3.2, step 1: the first two duplicates "MUST NOT change cwnd", whether or not they name arrived packets.
    #[test]
    fn duplicates_before_a_recovery_change_no_window() {
        let mut sender = sender(Era::MODERN);
        let mut window_after = |cumulative, arrived| {
            while sender.poll(Time::ZERO).is_some() {}
            let sack = [Block { first: u32::from(arrived > 0), end: arrived }, Block::default(), Block::default()];
            sender.on_ack(Time::from_nanos(1), &Ack { sack, ..Ack::of(cumulative, Time::ZERO) });
            (sender.window(), sender.counts().delivered)
        };
        // Slow start from ten packets. Packet 2 is lost, 3, 4 and 5 arrive: half of twelve.
        assert_eq!(window_after(2, 0), (Packets(12.0), 2));
        assert_eq!(window_after(2, 2), (Packets(12.0), 3));
        assert_eq!(window_after(2, 3), (Packets(12.0), 4));
        assert_eq!(window_after(2, 4), (Packets(6.0), 5));
    }

    /// RFC 3168 section 6.1.2: with a window of one packet, the next one leaves when the timer expires.
    #[test]
    fn a_mark_at_one_packet_waits_for_the_timer() {
        let waits = |marked_at_one| {
            let mut sender = sender(Era { marked_at_one, initial_window: 1.0, ..Era::NS2_2006 });
            let mut now = Time::ZERO;
            let rtt = Span::from_millis(100);
            // The first three packets are marked, the fourth is not, the fifth is.
            [true, true, true, false, true].map(|marked| {
                let sent = std::iter::from_fn(|| sender.poll(now)).map(|data| data.number).last();
                let cumulative = sent.expect("one may leave") + 1;
                let arrived = now + rtt;
                sender.on_ack(arrived, &Ack { marked, ..Ack::of(cumulative, now) });
                assert_eq!(
                    sender.timer.deadline() < Time::MAX,
                    sender.waiting_for_rto,
                    "nothing else is to be waited for"
                );
                now = arrived;
                if sender.waiting_for_rto {
                    assert!(sender.poll(now).is_none(), "nothing leaves before the timer expires");
                    now = sender.timer.deadline();
                    sender.on_deadline(now);
                }
                now.since(arrived)
            })
        };
        assert_eq!(waits(MarkedAtOne::None), [Span::ZERO; 5]);
        // The timeout of RFC 6298 after one, two and three samples of 100 ms; growth ends the row, and a window of two is cut.
        let micros = |all: [u64; 5]| all.map(Span::from_micros);
        assert_eq!(waits(MarkedAtOne::Timer), micros([300_000, 250_000, 212_500, 0, 0]));
        assert_eq!(waits(MarkedAtOne::Backoff), micros([300_000, 2 * 250_000, 4 * 212_500, 0, 0]));
    }
}
