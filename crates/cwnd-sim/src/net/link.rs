//! A link with the queue in front of it.
//!
//! A first-in-first-out queue needs no event when a packet is taken from it: transmission starts when the line is next free,
//! which is known on arrival. A queue that decides later needs none either ([`scheduled`](super::queue::scheduled)): while packets
//! wait, one is in transmission, and the event of its arrival comes early enough to select the next one. A link thus needs one ring of
//! packets in flight, and one pending event for its head.

use std::sync::{Arc, Mutex};

use cwnd::{Bytes, Span, Time};
use cwnd_trace::Histogram;

use super::bucket::Bucket;
use super::channel::{Channel, Station};
use super::far_end::FarEnd;
use super::line::{Capacity, Line, Varying};
use super::loss::RandomLoss;
use super::packet::{Ecn, Packet};
use super::phases::Phases;
use super::queue::cake::Cake;
use super::queue::codel::CoDel;
use super::queue::decbit::DecBit;
use super::queue::drr::Drr;
use super::queue::dualpi2::DualPi2;
use super::queue::fifo::{Early, Fifo};
use super::queue::fq_codel::FqCoDel;
use super::queue::pie::Pie;
use super::queue::red::Red;
use super::queue::rio::Rio;
use super::queue::scheduled::{Scheduled, Scheduler};
use super::queue::tail::Tail;
use super::queue::vcp::Vcp;
use super::queue::waiting::Waiting;
use super::queue::xcp::Xcp;
use super::setup::{Discipline, HostPair, LinkSetup, QueueLimit, Tap as TapSetup};
use super::steps::Steps;
use super::tap::{Holds, Tap};
use crate::random::Stream;
use crate::ring::{Budget, Ring};

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    server: Server,
    /// No policer, a queue that decides on arrival, and a far end that holds nothing.
    plain: bool,
    policer: Option<Box<Policer>>,
    /// Limits of a queue that change.
    limits: Option<Box<Phases<QueueLimit>>>,
    /// None of a link of pure delay.
    capacity: Option<Box<Capacity>>,
    propagation: Propagation,
    far_end: Option<Box<FarEnd>>,
    pub(crate) loss: RandomLoss,
    dropped: Vec<Packet>,
    pub(crate) counts: Counts,
    pub(crate) waits: Waits,
}

/// Counts of the packets offered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    /// Without copies.
    pub(crate) carried: u64,
    pub(crate) carried_bytes: u64,
    /// Copies that packets were followed by.
    pub(crate) duplicated: u64,
}

/// The result of offering a packet to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It will arrive, and nothing had been on the way: the event of the link is to be set for this instant.
    First(Time),
    /// It will arrive behind others, or waits its turn.
    Behind,
    /// Packets are gone, it or others: [`Link::dropped`] hands them over.
    Dropped,
}

/// A token bucket that drops packets, the same all the time or another in each phase.
#[derive(Debug)]
enum Policer {
    Constant(Bucket),
    Changing(Phases<Option<Bucket>>),
}

/// The queueing delays of packets.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Packets that arrived before are not counted.
    from: Time,
    pub(crate) histogram: Histogram,
}

/// The queue and the line of a link. Its own tag makes one comparison per packet enough.
#[derive(Debug)]
#[repr(u8)]
enum Server {
    /// Nothing: a link of pure delay.
    None,
    Fifo(Fifo),
    /// One that decides when the line is free.
    Scheduled(Box<Scheduled<dyn Scheduler>>),
    /// One whose line shares a channel with others.
    Shared(Station),
}

/// The way to the far end.
#[derive(Debug)]
struct Propagation {
    delay: Span,
    steps: Option<Box<Steps<Span>>>,
    /// By arrival at the far end. A packet that waits in a first-in-first-out queue is here too.
    packets: Ring<Packet>,
}

impl Link {
    /// A link as set up, drawing from streams of its own.
    pub(crate) fn new(setup: &LinkSetup, seed: u64, measure_from: Time, budget: &Arc<Budget>) -> Self {
        let server = setup.rate.map_or(Server::None, |rate| Server::new(setup, rate, seed));
        let far_end = FarEnd::new(setup, seed);
        let policer = Policer::new(setup).map(Box::new);
        let limits = Phases::new(setup, |phase| phase.queue, |_, limit| *limit).map(Box::new);
        Self {
            plain: policer.is_none()
                && limits.is_none()
                && far_end.is_none()
                && !matches!(server, Server::Scheduled(_)),
            policer,
            limits,
            capacity: Capacity::of(setup).map(Box::new),
            server,
            far_end,
            propagation: Propagation {
                delay: setup.delay,
                steps: Steps::new(setup.delay, &setup.delay_steps).map(Box::new),
                packets: Ring::new(budget),
            },
            loss: RandomLoss::new(setup, seed),
            dropped: Vec::new(),
            counts: Counts::default(),
            waits: Waits { from: measure_from, histogram: Histogram::default() },
        }
    }

    /// Joins a channel, where it transmits only while no other link does.
    pub(crate) fn share(&mut self, channel: &Arc<Mutex<Channel>>) {
        let scheduled = match std::mem::replace(&mut self.server, Server::None) {
            Server::Fifo(Fifo { line, limit, .. }) => Box::new(Scheduled::new(line, Tail::new(limit))),
            Server::Scheduled(scheduled) => scheduled,
            // A setup is refused whose link has neither, or is in two channels.
            other @ (Server::None | Server::Shared(_)) => {
                self.server = other;
                return;
            }
        };
        self.server = Server::Shared(Station::join(channel, scheduled));
        self.plain = false;
    }

    /// Taps it: what the tap decides comes before the losses of the link.
    pub(crate) fn tap(&mut self, tap: &TapSetup, seed: u64, setup: &LinkSetup) {
        self.loss.tap(Tap::new(tap, seed, &setup.name));
        if let Some(holds) = Holds::new(&tap.faults) {
            self.far_end.get_or_insert_with(|| Box::new(FarEnd::of(setup, seed))).holds = Some(holds);
            self.plain = false;
        }
    }

    /// Tells its queue the hosts at both ends of a flow, as packets in its direction have them.
    pub(crate) fn assign(&mut self, flow: u32, hosts: HostPair) {
        match &mut self.server {
            Server::None | Server::Fifo(_) => {}
            Server::Scheduled(scheduled) => scheduled.queue.assign(flow, hosts),
            Server::Shared(station) => station.assign(flow, hosts),
        }
    }

    /// Offers a packet, which may be marked.
    #[inline(always)]
    pub(crate) fn offer(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        if self.plain { self.offer_plainly(now, packet) } else { self.offer_otherwise(now, packet) }
    }

    /// Whether it is known of a packet offered when it leaves, and that does not depend on the one before.
    pub(crate) fn is_foreseeable(&self) -> bool {
        self.plain && self.propagation.steps.is_none()
    }

    /// Offers a packet, which may be marked, to a link that [`is_foreseeable`](Self::is_foreseeable): what became of it, where it
    /// leaves before `horizon` nothing but when. For that one there is no event, and it has been counted.
    #[inline(always)]
    pub(crate) fn pass(&mut self, now: Time, horizon: Time, packet: &mut Packet) -> Result<Time, Verdict> {
        let Some(left) = self.admit(now, packet) else { return Err(self.drop_offered(packet)) };
        self.carry(left, horizon, packet.size).ok_or_else(|| self.enter(left, packet))
    }

    /// [`pass`](Self::pass) for a packet of `size` that only the room in the queue can refuse: the time when its last bit leaves the line. None,
    /// without a change, if the queue is full or something else decides. The packet is not counted as carried.
    #[inline(always)]
    pub(crate) fn pass_to_tail(&mut self, now: Time, size: Bytes) -> Option<Time> {
        let Server::Fifo(fifo) = &mut self.server else { return None };
        if !fifo.is_drop_tail() || !matches!(self.loss, RandomLoss::None) {
            return None;
        }
        let admitted = fifo.offer_to_tail(now, size)?;
        self.counts.offered += 1;
        self.waits.record(now, admitted.start);
        Some(admitted.finish)
    }

    /// When a packet arrives whose last bit left the line at `left`, if that is before `horizon`: it has been counted as carried.
    #[inline(always)]
    pub(crate) fn carry(&mut self, left: Time, horizon: Time, size: Bytes) -> Option<Time> {
        let at = left + self.propagation.delay;
        if at >= horizon {
            return None;
        }
        self.count_carried(size);
        Some(at)
    }

    /// Puts such a packet on its way where that is later.
    #[cold]
    pub(crate) fn enter(&mut self, left: Time, packet: &Packet) -> Verdict {
        self.propagation.enter(left, packet)
    }

    /// Takes out the packet at the front if it leaves before `horizon`.
    pub(crate) fn take_before(&mut self, horizon: Time) -> Option<Packet> {
        let packet = self.front().filter(|packet| packet.due < horizon).copied()?;
        self.remove_front(packet.size);
        Some(packet)
    }

    /// Puts packets back at the front that were taken out.
    pub(crate) fn put_back(&mut self, packets: Vec<Packet>) {
        for packet in packets.into_iter().rev() {
            self.counts.carried -= 1;
            self.counts.carried_bytes -= u64::from(packet.size.0);
            self.propagation.packets.push_front(packet);
        }
    }

    /// When the last bit of a packet leaves the line; none if it is lost or dropped.
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &mut Packet) -> Option<Time> {
        self.counts.offered += 1;
        if self.loss.strikes(now, packet) {
            self.counts.lost += 1;
            return None;
        }
        let Server::Fifo(fifo) = &mut self.server else { return Some(now) };
        let Some(admitted) = fifo.offer(now, packet) else {
            self.counts.dropped += 1;
            return None;
        };
        if admitted.marked {
            packet.ecn = Ecn::Congestion;
            self.counts.marked += 1;
        }
        self.waits.record(now, admitted.start);
        Some(admitted.finish)
    }

    /// No policer, a queue that decides on arrival, and a far end that holds nothing: what leaves is the [`front`](Self::front). Of another link
    /// [`take`](Self::take) returns what leaves.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Takes out the next packet that has left by `now`, which is never before its [`next`](Self::next); its `due` is the instant at which
    /// it did. [`dropped`](Self::dropped) hands over what the queue has dropped until now.
    pub(crate) fn take(&mut self, now: Time) -> Option<Packet> {
        self.advance(now);
        self.take_dropped();
        let Some(far_end) = &mut self.far_end else {
            let packet = self.front().filter(|packet| packet.due <= now).copied()?;
            self.remove_front(packet.size);
            return Some(packet);
        };
        if let Some(copy) = far_end.copy.take() {
            return Some(copy);
        }
        let leaving = loop {
            let Some(arrived) = self.propagation.packets.front().filter(|packet| packet.due <= now) else {
                break far_end.leave(now);
            };
            // What leaves before this one arrives goes first.
            if let Some(packet) = far_end.leave(arrived.due) {
                break Some(packet);
            }
            far_end.enter(*arrived);
            self.propagation.packets.pop_front();
        };
        self.counts.dropped += far_end.thinned.len() as u64;
        self.counts.lost += far_end.corrupted.len() as u64;
        self.dropped.append(&mut far_end.thinned);
        self.dropped.append(&mut far_end.corrupted);
        let leaving = leaving?;
        self.counts.duplicated += u64::from(far_end.double(&leaving));
        self.count_carried(leaving.size);
        Some(leaving)
    }

    /// The copy of the packet that was taken last, if it is to be taken next.
    pub(crate) fn copy(&self) -> Option<&Packet> {
        self.far_end.as_ref()?.copy.as_ref()
    }

    /// The packet that leaves now.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.propagation.packets.front()
    }

    /// Lets go of that packet, which has `size`.
    #[inline(always)]
    pub(crate) fn remove_front(&mut self, size: Bytes) {
        self.propagation.packets.pop_front();
        self.count_carried(size);
    }

    /// When the next packet leaves, or the link is to be looked at again; [`Time::MAX`] if never.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        let arrives = self.propagation.packets.front().map_or(Time::MAX, |packet| packet.due);
        let arrives = if let Server::Shared(station) = &self.server { arrives.min(station.wakes()) } else { arrives };
        self.far_end.as_ref().map_or(arrives, |far_end| arrives.min(far_end.next()))
    }

    /// Packets held back so far for others to overtake them.
    pub(crate) fn held_back(&self) -> u64 {
        self.far_end.as_ref().map_or(0, |far_end| far_end.held_back)
    }

    /// Whether there is a packet to be handed over that was lost or dropped.
    pub(crate) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Hands over a packet that was lost or dropped; none if that was the last one.
    pub(crate) fn dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Packets and bytes that wait at `now`.
    ///
    /// A look that changes nothing: packets that are found to be dropped count as being on their way until
    /// [`take`](Self::take).
    pub(crate) fn queue(&mut self, now: Time) -> (u64, u64) {
        self.advance(now);
        match &mut self.server {
            Server::None => (0, 0),
            Server::Fifo(fifo) => {
                fifo.waiting.advance(now);
                (fifo.waiting.packets(), fifo.waiting.bytes())
            }
            Server::Scheduled(scheduled) => scheduled.queue.backlog(),
            Server::Shared(station) => station.backlog(),
        }
    }

    /// Bytes it could have carried until `now`; none where that is the rate of its line all the time.
    pub(crate) fn capacity(&self, now: Time) -> Option<u64> {
        self.capacity.as_deref().and_then(|capacity| capacity.bytes(now))
    }

    /// Memory for packets, bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.propagation.packets.charged()
    }

    /// The number of packets that wait for its line, or are on it.
    pub(crate) fn waiting(&self, now: Time) -> usize {
        match &self.server {
            Server::None => 0,
            Server::Fifo(_) => {
                self.propagation.packets.iter().filter(|packet| packet.due > now + self.propagation.delay).count()
            }
            Server::Scheduled(scheduled) => scheduled.queue.backlog().0 as usize,
            Server::Shared(station) => station.backlog().0 as usize,
        }
    }

    /// Packets waiting or on their way, without a [`copy`](Self::copy).
    pub(crate) fn in_transit(&self) -> impl Iterator<Item = Packet> {
        let waiting = match &self.server {
            Server::None | Server::Fifo(_) => Vec::new(),
            Server::Scheduled(scheduled) => scheduled.queue.waiting().chain(&scheduled.dropped).copied().collect(),
            Server::Shared(station) => station.packets(),
        };
        let held = self.far_end.iter().flat_map(|far_end| far_end.packets());
        waiting.into_iter().chain(self.propagation.packets.iter().chain(held).copied())
    }

    #[cold]
    fn drop_offered(&mut self, packet: &Packet) -> Verdict {
        self.dropped.push(*packet);
        Verdict::Dropped
    }

    #[inline(always)]
    fn offer_plainly(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        match self.admit(now, packet) {
            Some(left) => self.propagation.enter(left, packet),
            None => self.drop_offered(packet),
        }
    }

    /// Kept apart from plain links, and compiled with the same effort.
    #[cold]
    fn offer_otherwise(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        self.offer_elaborately(now, packet)
    }

    #[inline(never)]
    fn offer_elaborately(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        if let Some(limits) = &mut self.limits {
            self.server.limit(*limits.at(now));
        }
        if self.policer.as_mut().is_some_and(|policer| !policer.admit(now, packet.size)) {
            self.counts.offered += 1;
            self.counts.dropped += 1;
            return self.drop_offered(packet);
        }
        let verdict = match self.server {
            Server::Scheduled(_) | Server::Shared(_) => self.offer_to_scheduled(now, packet),
            Server::None | Server::Fifo(_) => self.offer_plainly(now, packet),
        };
        match (verdict, &self.far_end) {
            // Others may be held at the far end, and leave before this one arrives.
            (Verdict::First(at), Some(far_end)) => Verdict::First(at.min(far_end.next())),
            _ => verdict,
        }
    }

    fn offer_to_scheduled(&mut self, now: Time, packet: &mut Packet) -> Verdict {
        self.counts.offered += 1;
        if self.loss.strikes(now, packet) {
            self.counts.lost += 1;
            return self.drop_offered(packet);
        }
        self.advance(now);
        let mut verdict = Verdict::Behind;
        // What waits will be on the road: room for it is made now, and the queue's own places are charged with it.
        if !self.propagation.packets.reserve(self.waiting(now) + 1) {
            return self.drop_offered(packet);
        }
        match &mut self.server {
            Server::None | Server::Fifo(_) => return self.propagation.enter(now, packet),
            Server::Scheduled(scheduled) => {
                if let Some(sent) = scheduled.offer(now, packet) {
                    self.waits.record(sent.arrived, sent.start);
                    verdict = self.propagation.enter(sent.finish, &sent.packet);
                }
            }
            Server::Shared(station) => {
                station.offer(now, packet);
                self.advance(now);
                verdict = Verdict::First(self.next());
            }
        }
        // A packet that was dropped gave way to another, which is on the line or on the road: no event is to be set.
        if self.take_dropped() { Verdict::Dropped } else { verdict }
    }

    /// Puts the packets on their way that a queue has sent since it was last looked at.
    fn advance(&mut self, now: Time) {
        loop {
            let sent = match &mut self.server {
                Server::None | Server::Fifo(_) => None,
                Server::Scheduled(scheduled) => scheduled.next(now),
                Server::Shared(station) => station.next(now),
            };
            let Some(sent) = sent else { return };
            self.waits.record(sent.arrived, sent.start);
            self.counts.marked += u64::from(sent.marked);
            self.propagation.enter(sent.finish, &sent.packet);
        }
    }

    #[inline(always)]
    fn count_carried(&mut self, size: Bytes) {
        self.counts.carried += 1;
        self.counts.carried_bytes += u64::from(size.0);
    }

    /// Whether such a queue has dropped anything.
    fn take_dropped(&mut self) -> bool {
        let mut dropped = match &mut self.server {
            Server::None | Server::Fifo(_) => return false,
            Server::Scheduled(scheduled) => std::mem::take(&mut scheduled.dropped),
            Server::Shared(station) => station.dropped(),
        };
        if dropped.is_empty() {
            return false;
        }
        self.counts.dropped += dropped.len() as u64;
        self.dropped.append(&mut dropped);
        true
    }
}

impl Policer {
    fn new(setup: &LinkSetup) -> Option<Self> {
        let changing = Phases::new(setup, |phase| phase.impairments.policer, |_, bucket| bucket.map(Bucket::new));
        let constant = || setup.impairments.policer.map(|bucket| Self::Constant(Bucket::new(bucket)));
        changing.map(Self::Changing).or_else(constant)
    }

    /// Whether a packet of `size` passes.
    fn admit(&mut self, now: Time, size: Bytes) -> bool {
        match self {
            Self::Constant(bucket) => bucket.admit(now, size),
            Self::Changing(phases) => phases.at(now).as_mut().is_none_or(|bucket| bucket.admit(now, size)),
        }
    }
}

impl Waits {
    /// A packet that arrived at `arrived` begins transmission at `start`.
    #[inline]
    fn record(&mut self, arrived: Time, start: Time) {
        if arrived >= self.from {
            self.histogram.record(start.since(arrived).as_nanos());
        }
    }
}

impl Server {
    fn new(setup: &LinkSetup, rate: u64, seed: u64) -> Self {
        let stream = |what: &str| Stream::new(seed, format_args!("link {}: {what}", setup.name));
        let line = Line::new(rate, Varying::of(setup, rate));
        let early = match setup.discipline {
            Discipline::DropTail => Early::Nothing,
            Discipline::Red(red) => Early::Red(Box::new(Red::new(red, rate, stream("RED")))),
            Discipline::Rio(rio) => Early::Rio(Box::new(Rio::new(rio, rate, |class| stream(&format!("RIO {class}"))))),
            Discipline::Pie(pie) => Early::Pie(Box::new(Pie::new(pie, stream("PIE")))),
            Discipline::Xcp(xcp) => Early::Xcp(Box::new(Xcp::new(xcp, rate))),
            Discipline::Vcp(vcp) => Early::Vcp(Box::new(Vcp::new(vcp, rate))),
            Discipline::DecBit(decbit) => Early::DecBit(Box::new(DecBit::new(decbit, rate))),
            Discipline::CoDel(codel) => return Self::scheduled(line, CoDel::new(codel, setup.queue)),
            Discipline::FqCoDel(fq) => {
                return Self::scheduled(line, FqCoDel::new(fq, setup.queue, stream("FQ-CoDel")));
            }
            Discipline::Cake(cake) => {
                return Self::scheduled(line, Cake::new(&cake, setup.queue, rate, stream("CAKE")));
            }
            Discipline::DualPi2(dual) => {
                return Self::scheduled(line, DualPi2::new(dual, setup.queue, stream("DualPI2")));
            }
            Discipline::Drr(drr) => return Self::scheduled(line, Drr::new(drr, setup.queue)),
        };
        Self::Fifo(Fifo { line, limit: setup.queue, early, waiting: Waiting::default() })
    }

    /// Changes the limit of the queue. Packets that wait remain.
    fn limit(&mut self, limit: QueueLimit) {
        match self {
            Self::None => {}
            Self::Fifo(fifo) => fifo.limit = limit,
            Self::Scheduled(scheduled) => scheduled.queue.set_limit(limit),
            Self::Shared(station) => station.set_limit(limit),
        }
    }

    fn scheduled(line: Line, queue: impl Scheduler + 'static) -> Self {
        Self::Scheduled(Box::new(Scheduled::new(line, queue)))
    }
}

impl Propagation {
    /// A packet whose last bit left the line at `left`, in the order they do.
    #[inline(always)]
    fn enter(&mut self, left: Time, packet: &Packet) -> Verdict {
        let at = if self.steps.is_some() { self.arrival_by_schedule(left) } else { left + self.delay };
        let first = self.packets.is_empty();
        // Where there is no memory for it the run ends.
        self.packets.push(Packet { due: at, ..*packet });
        if first { Verdict::First(at) } else { Verdict::Behind }
    }

    #[cold]
    fn arrival_by_schedule(&self, left: Time) -> Time {
        let delay = self.steps.as_ref().map_or(self.delay, |steps| steps.at(left.as_nanos()).0);
        let last = self.packets.back().map_or(Time::ZERO, |packet| packet.due);
        last.max(left + delay)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::Body;
    use crate::net::setup::{Class, DrrSetup, Loss, NodeId};
    use crate::net::steps::Schedule;

    fn packet(size: u32) -> Packet {
        let body = Body::ToSender(cwnd_udt::Message::KeepAlive);
        Packet { due: Time::ZERO, flow: 0, hop: 0, size: Bytes(size), ecn: Ecn::NotCapable, class: Class::Out, body }
    }

    fn setup(rate: Option<u64>, queue: QueueLimit) -> LinkSetup {
        LinkSetup::new("test".to_string(), (NodeId(0), NodeId(1)), rate, Span::from_nanos(7), queue)
    }

    fn link(setup: &LinkSetup) -> Link {
        Link::new(setup, 1, Time::ZERO, &Arc::new(Budget::new(u64::MAX)))
    }

    /// The queue as a server with a departure event per packet; times in units of 1/rate nanoseconds, so that all are whole.
    struct Model {
        rate: u128,
        limit: QueueLimit,
        /// End of the transmission under way.
        busy_until: Option<u128>,
        waiting: VecDeque<u32>,
        finished: Vec<u128>,
    }

    impl Model {
        fn transmission(&self, size: u32) -> u128 {
            u128::from(size) * 8 * 1_000_000_000
        }

        fn run_to(&mut self, now: u128) {
            while let Some(done) = self.busy_until
                && done <= now
            {
                self.finished.push(done);
                let next = self.waiting.pop_front();
                self.busy_until = next.map(|size| done + self.transmission(size));
            }
        }

        fn offer(&mut self, now: u64, size: u32) -> bool {
            let now = u128::from(now) * self.rate;
            self.run_to(now);
            if self.busy_until.is_none() {
                self.busy_until = Some(now + self.transmission(size));
                return true;
            }
            let bytes: u64 = self.waiting.iter().map(|size| u64::from(*size)).sum();
            let room = match self.limit {
                QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
                QueueLimit::Bytes(limit) => bytes + u64::from(size) <= limit,
                QueueLimit::Unlimited => true,
            };
            if room {
                self.waiting.push_back(size);
            }
            room
        }
    }

    fn limits() -> impl Strategy<Value = QueueLimit> {
        prop_oneof![
            (0_u32..6).prop_map(QueueLimit::Packets),
            (0_u64..8000).prop_map(QueueLimit::Bytes),
            Just(QueueLimit::Unlimited),
        ]
    }

    proptest! {
        #[test]
        fn arithmetic_equals_events(
            rate in 1_000_000_u64..10_000_000_000,
            limit in limits(),
            load in 0.3..3.0_f64,
            packets in proptest::collection::vec((0.0..2.0_f64, prop_oneof![Just(1500_u32), Just(40), 1_u32..9000]), 1..200),
        ) {
            let mut ours = link(&setup(Some(rate), limit));
            let mut server =
                Model { rate: u128::from(rate), limit, busy_until: None, waiting: VecDeque::new(), finished: Vec::new() };
            let mut now = 0_u64;
            for (gap, size) in packets {
                now += (gap / load * 1500.0 * 8e9 / rate as f64) as u64;
                let accepted = ours.offer(Time::from_nanos(now), &mut packet(size)) != Verdict::Dropped;
                prop_assert_eq!(accepted, server.offer(now, size));
                prop_assert_eq!(ours.queue(Time::from_nanos(now)).0, server.waiting.len() as u64);
            }
            server.run_to(u128::MAX);
            let left: Vec<u128> = ours.propagation.packets.iter().map(|packet| u128::from(packet.due.as_nanos() - 7)).collect();
            let finished: Vec<u128> = server.finished.iter().map(|done| done.div_ceil(u128::from(rate))).collect();
            prop_assert_eq!(left, finished);
        }
    }

    #[test]
    fn pure_delay_has_no_queue() {
        let mut line = link(&setup(None, QueueLimit::Packets(0)));
        assert_eq!(line.offer(Time::ZERO, &mut packet(1500)), Verdict::First(Time::from_nanos(7)));
        assert_eq!(line.offer(Time::ZERO, &mut packet(1500)), Verdict::Behind);
        let due = Time::from_nanos(7);
        assert!(line.front().is_some());
        line.remove_front(Bytes(1500));
        assert_eq!(line.next(), due);
        line.remove_front(Bytes(1500));
        assert!(line.front().is_none());
        assert_eq!(line.next(), Time::MAX);
    }

    #[test]
    fn periodic_loss_takes_every_nth() {
        let mut line = link(&LinkSetup { loss: Loss::Periodic(3), ..setup(None, QueueLimit::Unlimited) });
        let gone: Vec<_> = (0..9).map(|_| line.offer(Time::ZERO, &mut packet(40)) == Verdict::Dropped).collect();
        assert_eq!(gone, [false, false, true, false, false, true, false, false, true]);
        assert_eq!(line.counts.lost, 3);
    }

    #[test]
    fn a_falling_delay_lets_nobody_overtake() {
        // 1250 bytes at 10 Mbit/s take 1 ms. The delay is 5 ms from 0.5 ms on, and 1 ms from 3 ms on.
        let ms = Span::from_millis;
        let steps = vec![(Span::from_micros(500), ms(5)), (ms(3), ms(1))];
        let delay_steps = Schedule { steps, repeat: None };
        let mut link = link(&LinkSetup { delay_steps, ..setup(Some(10_000_000), QueueLimit::Unlimited) });
        (0..8).for_each(|_| {
            link.offer(Time::ZERO, &mut packet(1250));
        });
        let arrivals: Vec<_> =
            link.propagation.packets.iter().map(|packet| packet.due.as_nanos() as f64 / 1e6).collect();
        // The last bits leave after 1, 2, 3, … ms: 1 + 5, 2 + 5, 3 + 1 held back to 7, … and on their own again from 7 + 1.
        assert_eq!(arrivals, [6.0, 7.0, 7.0, 7.0, 7.0, 7.0, 8.0, 9.0]);
    }

    #[test]
    fn deficit_round_robin_on_a_link() {
        // 1250 bytes take 1 ms.
        let discipline = Discipline::Drr(DrrSetup { quantum: Bytes(1250) });
        let mut link = link(&LinkSetup { discipline, ..setup(Some(10_000_000), QueueLimit::Packets(3)) });
        let ms = |millis| Time::ZERO + Span::from_millis(millis);
        let of = |flow| Packet { flow, ..packet(1250) };
        assert_eq!(link.offer(ms(0), &mut of(1)), Verdict::First(ms(1) + Span::from_nanos(7)));
        assert!([1, 1, 2].into_iter().all(|flow| link.offer(ms(0), &mut of(flow)) == Verdict::Behind));
        assert_eq!(link.offer(ms(0), &mut of(3)), Verdict::Dropped);
        assert_eq!(link.dropped().map(|packet| packet.flow), Some(1));
        assert!(link.dropped().is_none());
        assert_eq!(link.queue(ms(0)), (3, 3750));
        assert_eq!(link.in_transit().count(), 4);
        assert_eq!(link.queue(ms(1)).0, 2, "one has left, and it makes room before the arrival of the same instant");
        assert_eq!(link.offer(ms(1), &mut of(2)), Verdict::Behind);
        let mut at = ms(1) + Span::from_nanos(7);
        let mut left = Vec::new();
        while let Some(packet) = link.take(at) {
            left.push((packet.flow, at));
            at = link.next();
        }
        let flows_in_order = [1, 1, 2, 3, 2];
        let expected: Vec<_> =
            flows_in_order.into_iter().zip(1..).map(|(flow, n)| (flow, ms(n) + Span::from_nanos(7))).collect();
        assert_eq!(left, expected);
        let Counts { offered, dropped, carried, .. } = link.counts;
        assert_eq!((offered, dropped, carried), (6, 1, 5));
        // 0, 1, 2, 3 ms, and the one that came at 1 ms and left at 4.
        assert_eq!(link.waits.histogram.mean(), Some(9e6 / 5.0));
    }
}
