//! The sending half: new packets at the congestion control's pace while its window and the peer's have room, lost ones first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cwnd::estimate::RttEstimator;
use cwnd::host::Moment;
use cwnd::{Ack, Congestion, CongestionControl, Limit, Packets, Probe, Rate, RateSample, Remote, Span, Start, Time};

use super::allowance::{Allowance, Unproven};
use super::assumption::Assumption;
use super::covered::Covered;
use super::host::Host;
use super::lossless_rate::LosslessRate;
use super::outstanding::{Acked, GivenUp, Missing, Outstanding, Reading, Told};
use super::pacer::Pacer;
use super::packetizer::{Cut, Packetizer};
use super::proof::Proof;
use super::receive_window::MIN_WINDOW;
use super::samples::Samples;
use super::tag::Tag;
use super::timeouts::{MAX_RTT, SYN, exp_interval, probe_interval, reported_rtt};
use super::transmit::DataPacket;
use crate::handshake::Agreed;
use crate::number::{Seq, SocketId};
use crate::settings::Settings;
use crate::wire::{DataHeader, DropRequest, FullAck, LossList, Message, Reported};

/// The sending half of a connection.
#[derive(Debug)]
pub(super) struct Sender {
    isn: Seq,
    to: SocketId,
    opened: Time,
    pub(super) packetizer: Packetizer,
    pub(super) outstanding: Outstanding,
    pub(super) host: Host,
    pacer: Pacer,
    /// Packets after the acknowledged ones that fit into the peer's buffer.
    pub(super) peer_window: u64,
    /// The receiver computes the window of the algorithm and sends it in place of its own (daimd eq. 21). Then it is an input of the
    /// algorithm, which ignores it in slow start, and no limit of the receive buffer.
    window_from_receiver: bool,
    /// The end of the recovery: losses are being repaired until all packets below have arrived.
    recover: u64,
    /// The first packet after a recovery from losses found by a timeout, which is a slow start and not a fast recovery.
    slow_start_until: u64,
    /// The instant at which the oldest packet is retransmitted without a NAK, and the number of times in a row that this happened.
    probe_at: Time,
    probes: u32,
    /// The expiry of UDT's EXP timer, and the number of expiries in a row.
    exp_at: Time,
    exp_count: u32,
    /// Nothing has been acknowledged since the EXP timer expired.
    stalled: bool,
    /// The number of packets last marked lost because a later one had arrived.
    lost_again: u64,
    /// Everything sent has been acknowledged since.
    idle_since: Option<Time>,
    /// Messages given up whose drop request is to be sent.
    drops: VecDeque<GivenUp>,
    /// The rate at which packets were delivered without a loss.
    lossless_rate: LosslessRate,
    proof: Proof,
    /// The state of the proofs of acknowledgements.
    allowance: Option<Allowance>,
    /// The state while acknowledgements wait for a packet that was withheld and reported.
    assumption: Option<Box<Assumption>>,
    /// Packets below this number have been acknowledged or assumed to have arrived: they have been reported to the algorithm.
    credited: u64,
    /// Whether the peer reports arrivals above a hole.
    reports: Reports,
    /// The instant at which the newest packet named by a report was sent.
    newest_named: Time,
    /// The delivery-rate samples, for algorithms that ask for them.
    samples: Option<Box<Samples>>,
    pub(super) counts: Counts,
}

/// The kinds of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledged {
    Possible,
    /// Possibly forged by a third party: it concerns packets that were acknowledged long ago, or numbers that were never used.
    Impossible,
    /// An acknowledgement of a packet that was never sent. The peer lies.
    Withheld,
}

/// Reports of arrivals above a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reports {
    Unwanted,
    /// The peer has sent none; whether to ask for them.
    Wanted {
        ask: bool,
    },
    /// It sends them.
    Read,
}

/// Counters of the sending half that only some senders have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) bytes_sent: u64,
    pub(super) bytes_retransmitted: u64,
    pub(super) probes: u64,
    pub(super) abandoned: u64,
    /// Reports of the peer that cannot be true.
    pub(super) refused: u64,
}

impl Sender {
    /// A sender without data.
    pub(super) fn new(settings: &Settings, agreed: &Agreed, start: &Start, now: Time) -> Self {
        let host = Host::new(settings, start, agreed.peer_window, now);
        let samples = host.algorithm().wants_samples().then(Box::default);
        Self {
            isn: agreed.isn_ours,
            to: agreed.peer_id,
            opened: agreed.opened,
            packetizer: Packetizer::new(agreed.mode, agreed.payload),
            outstanding: Outstanding::default(),
            host,
            pacer: Pacer::new(now, settings.burst, settings.catch_up, agreed.peer_window.into()),
            peer_window: u64::from(agreed.peer_window),
            window_from_receiver: settings
                .algorithm
                .receiver(start)
                .is_some_and(|mut side| side.report(now).window.is_some()),
            recover: 0,
            slow_start_until: 0,
            probe_at: Time::MAX,
            probes: 0,
            exp_at: Time::MAX,
            exp_count: 0,
            stalled: false,
            lost_again: 0,
            idle_since: None,
            drops: VecDeque::new(),
            lossless_rate: LosslessRate::default(),
            proof: Proof::new(settings.prove_acks, agreed.seed),
            allowance: settings.prove_acks.then(|| Allowance::new(Arc::new(Mutex::new(Unproven::new())))),
            assumption: None,
            credited: 0,
            newest_named: Time::ZERO,
            reports: if settings.ask_reports { Reports::Wanted { ask: false } } else { Reports::Unwanted },
            samples,
            counts: Counts::default(),
        }
    }

    /// Handles an acknowledgement of the packets before `next`; `full` is the rest of a full acknowledgement.
    pub(super) fn on_ack(&mut self, now: Time, next: Seq, full: Option<&FullAck>) -> Acknowledged {
        let acked = self.outstanding.acked();
        let Some(upto) = next.number(self.isn, acked).filter(|upto| *upto <= self.outstanding.next()) else {
            self.counts.refused += 1;
            return Acknowledged::Impossible;
        };
        if upto < acked {
            return Acknowledged::Possible;
        }
        if self.proof.is_broken_by(upto) {
            self.counts.refused += 1;
            return Acknowledged::Withheld;
        }
        self.peer_window = match full {
            _ if self.window_from_receiver => self.host.facts.peer_window,
            Some(full) => u64::from(full.window).min(self.host.facts.peer_window),
            // The room itself is as it was.
            None => self.peer_window.saturating_sub(upto - acked),
        };
        let in_flight = self.outstanding.in_flight();
        let (repairing, in_recovery) = (acked < self.recover, self.in_recovery());
        let Some(Acked { sent_at, named, credit }) = self.outstanding.acknowledge(upto) else {
            return Acknowledged::Possible;
        };
        self.pay(now, credit);
        self.proof.on_acknowledged(upto, self.outstanding.next());
        // A light acknowledgement leaves at once, so that it has a sample too. Only the first one is taken: the estimate is of what full ones
        // report, and an algorithm that waits for a sample would not grow for as long as light ones come alone.
        let reported = full.and_then(reported_rtt);
        if full.is_some() || self.rtt().get().is_none() {
            let sample = reported.unwrap_or_else(|| now.since(sent_at));
            self.host.facts.rtt.on_sample(sample.min(MAX_RTT), Span::ZERO);
            if let Some(rtt) = self.host.facts.rtt.get() {
                self.pacer.set_min_rtt(rtt.min);
            }
        }
        self.lossless_rate.advance(now, upto);
        let remote = full.map_or_else(Remote::default, |full| self.remote(full));
        let moment = Moment::new(now, self.outstanding.next(), in_flight).with_recovery(in_recovery);
        let (newly, sample) = self.credit(now, upto, named);
        if self.assumption.as_ref().is_some_and(|assumption| assumption.ends_with(upto)) {
            self.assumption = None;
        }
        self.host.on_ack(&moment, upto, &Ack::new(newly, sent_at).with_sample(sample).with_remote(remote));
        if in_recovery && upto >= self.recover {
            let moment = self.moment(now);
            self.host.on_recovered(&moment);
        }
        self.probes = 0;
        self.stalled = false;
        if repairing && upto < self.recover {
            self.detect_lost_again(sent_at);
        } else {
            self.lost_again = 0;
        }
        if self.outstanding.is_empty() {
            self.probe_at = Time::MAX;
            self.exp_at = Time::MAX;
            self.idle_since = Some(now);
        } else {
            self.probe_at = now + probe_interval(self.rtt(), 0);
        }
        Acknowledged::Possible
    }

    /// Handles a NAK. Ranges that cannot be true are ignored.
    pub(super) fn on_nak(&mut self, now: Time, losses: LossList<'_>) {
        let (acked, next) = (self.outstanding.acked(), self.outstanding.next());
        let moment = self.moment(now);
        // A NAK received sooner than this after a retransmission was sent before the retransmission arrived.
        let age = self.rtt().get().map_or(Span::ZERO, |rtt| rtt.min.mul_f64(MIN_REPORT_AGE));
        // A receiver that has packets above one that is withheld reports that one.
        let credible = self.proof.unreported().unwrap_or(u64::MAX);
        let mut reading = Reading { age, budget: self.outstanding.len(), credible };
        let mut found = Missing::default();
        for range in losses.ranges() {
            let ends = range.first().number(self.isn, acked).zip(range.last().number(self.isn, acked));
            let Some((first, last)) = ends.filter(|(first, last)| first <= last && *last < next) else {
                self.counts.refused += 1;
                continue;
            };
            let (samples, proof) = (&mut self.samples, &mut self.proof);
            let part =
                self.outstanding.miss(now, first..last + 1, &mut reading, |number, told| match (told, &mut *samples) {
                    (Told::FirstTime, _) => proof.on_missed(number),
                    (Told::Lost, Some(samples)) => samples.miss(number),
                    (Told::Lost, None) => {}
                });
            found.credit += part.credit;
            found.revoked += part.revoked;
            found.first = found.first.or(part.first);
            found.lost += part.lost;
            found.withheld = found.withheld.or(part.withheld);
            if let Some(given_up) = part.given_up.and_then(|number| self.outstanding.given_up(number)) {
                self.request_drop(given_up);
            }
        }
        self.pay(now, found.credit);
        if let Some(allowance) = &mut self.allowance {
            allowance.revoke(found.revoked);
        }
        if let Some((withheld, due)) = self.proof.withheld().zip(found.withheld) {
            self.proof.on_report();
            self.lossless_rate.interrupt();
            self.probe_at = now + probe_interval(self.rtt(), self.probes);
            // Where a queue builds up, packets arrive more slowly than they were sent.
            let idle = self.rtt().get().is_some_and(|rtt| now.since(due) <= rtt.min + rtt.min.mul_f64(QUEUE));
            let idle = idle && self.reports != Reports::Read;
            self.assumption = idle.then(|| Box::new(Assumption::new(now, withheld, due, next)));
        }
        self.want_reports();
        if let Some(first) = found.first {
            self.assumption = None;
            self.probe_at = now + probe_interval(self.rtt(), self.probes);
            self.recover = next;
            self.lossless_rate.interrupt();
            self.host.facts.counts.lost += found.lost;
            self.report_loss(moment, first, found.lost);
        }
    }

    /// Handles a report of arrivals above a hole.
    pub(super) fn on_report(&mut self, now: Time, report: &Reported<'_>) -> Acknowledged {
        let covered = Covered::read(report, self.isn, self.outstanding.acked(), self.outstanding.next());
        let Some(covered) = covered.filter(|_| self.reports != Reports::Unwanted) else {
            self.counts.refused += 1;
            return Acknowledged::Impossible;
        };
        if self.proof.withheld().is_some_and(|withheld| covered.has(withheld)) {
            self.counts.refused += 1;
            return Acknowledged::Withheld;
        }
        self.reports = Reports::Read;
        self.assumption = None;
        let moment = self.moment(now);
        let (mut newest, mut newly) = (None, 0);
        for number in covered.arrived() {
            let Some((sent_at, credit)) = self.outstanding.name(number) else { continue };
            self.pay(now, credit);
            newly += u32::from(number >= self.credited);
            newest = newest.max(Some(sent_at));
            if let Some(samples) = &mut self.samples {
                samples.arrive(now, number);
            }
        }
        if let Some(sent_at) = newest {
            self.newest_named = self.newest_named.max(sent_at);
            let min_rtt = self.rtt().get().map(|rtt| rtt.min);
            let sample = self.samples.as_mut().and_then(|samples| samples.above_hole(min_rtt));
            self.host.on_ack(&moment, covered.end(), &Ack::new(newly, sent_at).with_sample(sample));
        }
        // A packet that was sent once is lost when a NAK says so, for which a receiver may wait.
        let then = self.overtaken_by(self.newest_named);
        for number in covered.missing() {
            if self.outstanding.resent_before(number, then) {
                self.lose(number);
            }
        }
        Acknowledged::Possible
    }

    /// The instant before which sent packets should have arrived, because a packet sent at `newest` has.
    fn overtaken_by(&self, newest: Time) -> Time {
        let slack = self.rtt().get().map_or(SYN, |rtt| rtt.min.mul_f64(REORDERING));
        Time::from_nanos(newest.as_nanos().saturating_sub(slack.as_nanos()))
    }

    /// Marks packet `number` lost, if it is not yet.
    fn lose(&mut self, number: u64) {
        if self.outstanding.mark_lost(number) {
            self.host.facts.counts.lost += 1;
            if let Some(samples) = &mut self.samples {
                samples.lose(number);
            }
        }
    }

    /// Asks for reports until one has come: with the first packet, so that the first hole hides nothing, and with each NAK, because the
    /// question may be lost.
    fn want_reports(&mut self) {
        if let Reports::Wanted { ask } = &mut self.reports {
            *ask = true;
        }
    }

    /// The question for reports, if it is due.
    pub(super) fn poll_ask(&mut self) -> Option<Message> {
        let Reports::Wanted { ask } = &mut self.reports else { return None };
        std::mem::take(ask).then_some(Message::AskReports)
    }

    /// Assumes that more packets have arrived, while acknowledgements wait for one that was withheld.
    fn assume(&mut self, now: Time) {
        let Some(assumption) = self.assumption.as_mut().filter(|assumption| assumption.due() <= now) else { return };
        let then = assumption.advance(now);
        let Some((upto, sent_at)) = self.outstanding.sent_by(assumption.upto, assumption.end, then) else { return };
        let arrival_rate = assumption.set_arrived(upto, sent_at);
        let moment = self.moment(now);
        self.outstanding.set_arrived(upto);
        let (newly, sample) = self.credit(now, upto, 0);
        let mut ack = Ack::new(newly, sent_at).with_sample(sample);
        ack.remote.arrival_rate = arrival_rate;
        self.host.on_ack(&moment, upto, &ack);
    }

    /// Credits packets of `bytes` in all as a proof that the peer receives.
    fn pay(&mut self, now: Time, bytes: u64) {
        if let Some(allowance) = self.allowance.as_mut().filter(|_| !self.proof.is_doubtful()) {
            allowance.credit(now, bytes);
        }
    }

    /// Bounds the unpaid data together with that of the other connections that have `unproven`.
    pub(super) fn share(&mut self, unproven: Arc<Mutex<Unproven>>) {
        self.allowance = self.allowance.is_some().then(|| Allowance::new(unproven));
    }

    /// Charges the allowance of a peer that has acknowledged a packet that was never sent.
    pub(super) fn on_lie(&mut self, now: Time) {
        if let Some(allowance) = &mut self.allowance {
            allowance.on_lie(now, self.counts.bytes_sent);
        }
    }

    /// Records that a packet of `bytes` is sent, new or again.
    fn owe(&mut self, now: Time, bytes: u64) {
        if let Some(allowance) = &mut self.allowance {
            allowance.on_send(now, bytes);
        }
    }

    /// The instant from which a packet may be sent by the proofs of the peer.
    fn allowed_from(&self) -> Time {
        self.allowance.as_ref().map_or(Time::ZERO, Allowance::allows_from)
    }

    /// Counts the packets below `upto` that have not been reported to the algorithm, where `named` of them were known from reports.
    /// Returns the count, and a sample if the algorithm asks for them.
    fn credit(&mut self, now: Time, upto: u64, named: u64) -> (u32, Option<RateSample>) {
        let min_rtt = self.rtt().get().map(|rtt| rtt.min);
        let sample = self.samples.as_mut().and_then(|samples| samples.acknowledge(now, upto, min_rtt));
        let newly = u32::try_from(upto.saturating_sub(self.credited + named)).unwrap_or(u32::MAX);
        self.credited = self.credited.max(upto);
        (newly, sample)
    }

    /// Reports `lost` packets that a NAK found lost, the first of them `first`, to the algorithm: one by one if samples are taken.
    fn report_loss(&mut self, mut moment: Moment, first: u64, lost: u64) {
        let Some(samples) = &mut self.samples else {
            let lost = u32::try_from(lost).unwrap_or(u32::MAX);
            self.host.on_congestion(&moment, &Congestion::loss(first, lost));
            return;
        };
        while let Some((number, sample)) = samples.take_missed() {
            self.host.on_congestion(&moment, &Congestion::loss(number, 1).with_sample(Some(sample)));
            moment.in_recovery = true;
        }
    }

    /// Records that a packet of any kind was received from the peer.
    pub(super) fn on_received(&mut self, now: Time) {
        self.exp_count = 0;
        if self.exp_at != Time::MAX {
            self.exp_at = now + exp_interval(self.rtt(), 1);
        }
    }

    /// Handles the timers of this half that are due.
    pub(super) fn on_timeout(&mut self, now: Time) {
        let moment = self.moment(now);
        self.host.on_wake(&moment);
        self.assume(now);
        if self.exp_at <= now {
            self.assumption = None;
            self.host.facts.counts.timeouts += 1;
            let first = self.outstanding.acked();
            let (lost, sample) = self.mark_lost(EXP_PACKETS);
            // A peer without room drops packets, so that a timeout is no sign of congestion.
            if self.peer_window > MIN_WINDOW {
                let mut event = Congestion::timeout(first, self.stalled).with_sample(sample);
                event.lost = u32::try_from(lost).unwrap_or(u32::MAX);
                self.host.on_congestion(&moment, &event);
                self.stalled = true;
                self.lossless_rate.interrupt();
            }
            self.recover = self.outstanding.next();
            self.slow_start_until = self.recover;
            self.exp_count = self.exp_count.saturating_add(1);
            self.exp_at = now + exp_interval(self.rtt(), u64::from(self.exp_count.min(MAX_EXP_COUNT)) + 1);
            // A peer that did not receive the retransmissions has not timed out for that.
            self.probe_at = now + probe_interval(self.rtt(), self.exp_count);
        } else if self.probe_at <= now {
            self.assumption = None;
            self.counts.probes += 1;
            self.mark_lost(1);
            self.probes += 1;
            self.probe_at = now + probe_interval(self.rtt(), self.probes);
        }
    }

    /// Returns the next packet to send now; none if none may be sent.
    pub(super) fn poll(&mut self, now: Time) -> Option<DataPacket> {
        if !self.pacer.in_pair() {
            while let Some(given_up) = self.outstanding.expire(now) {
                self.give_up(given_up);
            }
        }
        if let Some((message, lacks)) = self.packetizer.expire(now) {
            let given_up = self.outstanding.abandon(now, message.number, lacks, self.packetizer.cut_to());
            self.give_up(given_up);
            // There may be nothing else whose acknowledgement is awaited.
            self.probe_at = self.probe_at.min(now + probe_interval(self.rtt(), 0));
            return None;
        }
        // The withheld packet must not stay the last one for long, and written data should not wait for a round trip.
        if self.packetizer.is_empty()
            && let Some(withheld) = self.proof.release(self.outstanding.next())
        {
            self.outstanding.release(withheld);
        }
        let again = self.outstanding.has_lost() && !self.pacer.in_pair();
        if self.is_held(now, again) {
            None
        } else if again {
            self.resend(now)
        } else {
            self.send(now)
        }
    }

    /// Records the limit that keeps the next packet from being sent now, as [`poll`](Self::poll) does when it returns none.
    pub(super) fn record_limit(&mut self, now: Time) {
        let again = self.outstanding.has_lost() && !self.pacer.in_pair();
        self.is_held(now, again);
    }

    /// Whether a limit keeps the next packet, sent `again` or new, from being sent now; it is recorded.
    fn is_held(&mut self, now: Time, again: bool) -> bool {
        if let Some(limit) = self.blocked(again) {
            self.host.facts.limits.set(now, limit);
            if let Some(samples) = &mut self.samples {
                samples.blocked(limit, self.outstanding.in_flight());
            }
            let spacing = self.host.spacing();
            self.pacer.break_pair(spacing);
            self.pacer.rest(now);
            return true;
        }
        if now < self.allowed_from() {
            self.pacer.rest(now);
            self.host.facts.limits.set(now, Limit::Peer);
            return true;
        }
        let early = now < self.pacer.release();
        if early {
            self.host.facts.limits.set(now, self.host.limit_of_spacing());
        }
        early
    }

    /// The next drop request.
    pub(super) fn poll_drop(&mut self) -> Option<Message> {
        let GivenUp { message, packets } = self.drops.pop_front()?;
        let (first, last) = (self.isn + packets.start, self.isn + (packets.end - 1));
        Some(Message::DropRequest(DropRequest { message, first, last }))
    }

    /// Messages given up for which a drop request waits.
    #[cfg(test)]
    pub(super) fn waiting_drops(&self) -> usize {
        self.drops.len()
    }

    /// The next instant at which time alone changes something: a timer, or the release of the next packet.
    pub(super) fn next_timeout(&self) -> Time {
        let wake = self.host.control().wake.unwrap_or(Time::MAX);
        let assumed = self.assumption.as_ref().map_or(Time::MAX, |assumption| assumption.due());
        let timers = self.probe_at.min(self.exp_at).min(wake).min(self.packetizer.expires()).min(assumed);
        let again = self.outstanding.has_lost();
        let release = self.pacer.release().max(self.allowed_from());
        if self.blocked(again).is_some() { timers } else { timers.min(release) }
    }

    /// The round-trip time, which both halves of the connection sample.
    pub(super) fn rtt(&self) -> &RttEstimator {
        &self.host.facts.rtt
    }

    /// Whether nothing waits and nothing is unacknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.packetizer.is_empty() && self.outstanding.is_empty()
    }

    /// The offset below which bytes are not requested again.
    pub(super) fn released(&self) -> u64 {
        self.outstanding.oldest().map_or(self.packetizer.cut_to(), |record| record.start)
    }

    /// The limit that keeps the next packet from being sent, regardless of the time. A packet sent `again` replaces one that is no longer
    /// in flight, so only pacing delays it.
    fn blocked(&self, again: bool) -> Option<Limit> {
        if again {
            None
        } else if self.outstanding.in_flight() >= self.host.window() {
            Some(Limit::Window)
        } else if self.packetizer.is_empty() {
            Some(Limit::Source)
        } else {
            (self.outstanding.len() >= self.peer_window).then_some(Limit::Peer)
        }
    }

    fn send(&mut self, now: Time) -> Option<DataPacket> {
        if self.outstanding.is_empty() {
            if let Some(idle) = self.idle_since.take() {
                let moment = self.moment(now);
                self.host.on_restart(&moment, now.since(idle));
            }
            self.probe_at = now + probe_interval(self.rtt(), 0);
            self.exp_at = now + exp_interval(self.rtt(), 1);
            self.exp_count = 0;
        }
        let withheld = self.outstanding.next();
        if self.withholds(withheld) {
            let cut = self.packetizer.cut(withheld)?;
            self.outstanding.withhold(now, &cut);
            self.proof.withhold(withheld);
        }
        let number = self.outstanding.next();
        let cut = self.packetizer.cut(number)?;
        if let Some(samples) = &mut self.samples {
            samples.send(now, number, self.outstanding.in_flight());
        }
        self.outstanding.send(now, &cut);
        if number == 0 {
            self.want_reports();
        }
        let Cut { bytes, message, position, in_order, .. } = cut;
        let tag = Tag::new(position, in_order, message);
        let header = self.header(now, number, tag);
        let probe = self.host.control().probe;
        let pair = self.pacer.sent(now, self.host.spacing(), probe, Some(header.seq));
        if self.packetizer.is_empty() {
            let spacing = self.host.spacing();
            self.pacer.break_pair(spacing);
        }
        self.host.facts.counts.sent += 1;
        self.counts.bytes_sent += bytes.end - bytes.start;
        self.owe(now, bytes.end - bytes.start);
        Some(DataPacket { header, number, bytes, retransmission: false, pair })
    }

    fn resend(&mut self, now: Time) -> Option<DataPacket> {
        let in_flight = self.outstanding.in_flight();
        let (number, record) = self.outstanding.resend(now)?;
        if let Some(samples) = &mut self.samples {
            samples.send(now, number, in_flight);
        }
        // After a loss the queue may still be full, so that retransmissions are paced whatever the algorithm.
        let spread = || self.rtt().get().map(|rtt| rtt.smoothed / self.host.window());
        self.pacer.sent(now, self.host.spacing().or_else(spread), Probe::None, None);
        let bytes = record.start..record.start + u64::from(record.len);
        self.host.facts.counts.sent += 1;
        self.counts.bytes_sent += u64::from(record.len);
        self.owe(now, record.len.into());
        let retransmission = !self.proof.on_send(number);
        if retransmission {
            self.host.facts.counts.retransmitted += 1;
            self.counts.bytes_retransmitted += u64::from(record.len);
        }
        let header = self.header(now, number, record.tag);
        Some(DataPacket { header, number, bytes, retransmission, pair: false })
    }

    /// Whether packet `number`, the next one, is withheld. Others must follow it at once, so that the peer misses it. While too few
    /// follow to keep the peer busy for a round trip, the proof is postponed for some time.
    fn withholds(&self, number: u64) -> bool {
        let (wanted, overdue) = self.proof.wants(number);
        if !wanted || self.pacer.in_pair() || opens_or_closes_pair(self.isn + number) {
            return false;
        }
        let room = |following: u64| {
            let window = self.host.window().saturating_sub(self.outstanding.in_flight());
            let peer = self.peer_window.saturating_sub(self.outstanding.len());
            self.packetizer.expires() == Time::MAX
                && self.packetizer.packets() > following
                && window.min(peer) > following
        };
        room(FOLLOWING) || (overdue && room(1))
    }

    fn header(&self, now: Time, number: u64, tag: Tag) -> DataHeader {
        DataHeader {
            seq: self.isn + number,
            position: tag.position(),
            in_order: tag.in_order(),
            message: tag.message(),
            // The field wraps as libudt's does, after 71.6 minutes.
            timestamp_us: (now.since(self.opened).as_nanos() / 1000) as u32,
            to: self.to,
        }
    }

    /// Marks the first `count` packets lost, and the last one: when that arrives, the receiver reports all others that are missing.
    /// Returns the number of newly marked packets, and the sample of the last of these.
    fn mark_lost(&mut self, count: u64) -> (u64, Option<RateSample>) {
        let before = self.host.facts.counts.lost;
        let (first, next) = (self.outstanding.acked(), self.outstanding.next());
        let candidates = (first..next.min(first + count)).chain(next.checked_sub(1));
        let mut sample = None;
        for number in candidates {
            if self.outstanding.mark_lost(number) {
                self.host.facts.counts.lost += 1;
                sample = self.samples.as_mut().and_then(|samples| samples.lose(number));
            }
            if let Some(given_up) = self.outstanding.waits_for_drop(number) {
                self.request_drop(given_up);
            }
        }
        (self.host.facts.counts.lost - before, sample)
    }

    /// A packet sent at `newest` has arrived, and the oldest one outstanding, sent before it, has not. A receiver of libudt reports a loss
    /// once: if the retransmission is lost too, it sends nothing, and probes would repair one packet at a time. So the oldest packets that
    /// were sent before are marked lost, twice as many each time, as in slow start.
    fn detect_lost_again(&mut self, newest: Time) {
        let then = self.overtaken_by(newest);
        let first = self.outstanding.acked();
        if !self.outstanding.left_before(first, then) {
            return;
        }
        self.lost_again = (self.lost_again * 2).max(EXP_PACKETS).min(self.outstanding.len());
        for number in first..self.recover.min(first + self.lost_again) {
            if self.outstanding.left_before(number, then) {
                self.lose(number);
            }
        }
    }

    fn give_up(&mut self, given_up: GivenUp) {
        self.counts.abandoned += 1;
        self.request_drop(given_up);
    }

    fn request_drop(&mut self, given_up: GivenUp) {
        if self.drops.len() < MAX_DROPS && !self.drops.contains(&given_up) {
            self.drops.push_back(given_up);
        }
    }

    /// Whether the sender is in fast recovery.
    fn in_recovery(&self) -> bool {
        (self.slow_start_until..self.recover).contains(&self.outstanding.acked())
    }

    fn moment(&self, now: Time) -> Moment {
        let (next, in_flight) = (self.outstanding.next(), self.outstanding.in_flight());
        Moment::new(now, next, in_flight).with_recovery(self.in_recovery())
    }

    /// The report of the peer, for the algorithm.
    fn remote(&self, full: &FullAck) -> Remote {
        let rate = |rate: u32| (rate > 0).then(|| Rate(f64::from(rate)));
        let mut remote = Remote::default();
        if let Some(rates) = full.rates {
            remote.arrival_rate = rate(rates.arrival);
            remote.capacity = rate(rates.capacity).map(|capacity| self.lossless_rate.raise(capacity));
        }
        remote.window = Some(Packets(f64::from(full.window)));
        remote
    }
}

/// Whether a packet may be one of a probe pair, whose second part has the number after a multiple of 16.
fn opens_or_closes_pair(seq: Seq) -> bool {
    seq.get() % 16 <= 1
}

/// The smallest number of packets that follow a withheld one.
const FOLLOWING: u64 = 16;
/// Packets retransmitted when the EXP timer expires, in addition to the newest: enough for the receiver to answer, too few to add
/// congestion.
const EXP_PACKETS: u64 = 2;
/// libudt's limit for the EXP count, which here only bounds the time between two attempts.
const MAX_EXP_COUNT: u32 = 16;
/// Tolerated lateness as a part of the minimum round-trip time: a packet may be sent this much later and still arrive first.
const REORDERING: f64 = 0.25;
/// Queueing delay as a part of the minimum round-trip time above which a queue builds up.
const QUEUE: f64 = 0.125;
/// Tolerance as a part of the minimum round-trip time: receivers smooth their reports, which may slightly exceed the truth.
const MIN_REPORT_AGE: f64 = 0.75;
/// Messages whose drop requests may wait: a receiver asks again for those that do not fit.
const MAX_DROPS: usize = 64;
