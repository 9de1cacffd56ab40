//! A channel that links share: one of them transmits at a time.
//!
//! The links take turns. A turn is at most [`burst`](Sharing::burst) packets of one link in a row, as long as some wait, and begins with
//! the [`access`](Sharing::access) to the channel. The next turn is that of the next link, in the order of the setup, in which a packet
//! waits then. A link begins at once if the channel is free.
//!
//! Whichever link is looked at first decides for all up to that instant, and hands the others what they have sent. A link in which packets
//! wait is looked at whenever the channel becomes free, so that none learns of a transmission too late.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cwnd::Time;

use super::packet::Packet;
use super::queue::scheduled::{Scheduled, Scheduler, Sent};
use super::setup::{HostPair, QueueLimit, Sharing};

/// The end of a link at a channel.
#[derive(Debug)]
pub(crate) struct Station {
    channel: Arc<Mutex<Channel>>,
    /// Indexes the members of the channel.
    member: usize,
}

/// What links share.
#[derive(Debug)]
pub(crate) struct Channel {
    sharing: Sharing,
    members: Vec<Member>,
    /// When the present transmission ends.
    free: Time,
    /// The link of the latest turn.
    holder: usize,
    /// Packets that may follow in this turn.
    left: u32,
}

/// A link by its queue.
#[derive(Debug)]
struct Member {
    scheduled: Box<Scheduled<dyn Scheduler>>,
    /// Transmissions that the link has not taken yet.
    sent: VecDeque<Sent>,
}

impl Channel {
    /// A channel without links.
    pub(crate) fn new(sharing: Sharing) -> Arc<Mutex<Self>> {
        let channel = Self { sharing, members: Vec::new(), free: Time::ZERO, holder: 0, left: 0 };
        Arc::new(Mutex::new(channel))
    }

    /// Decides on all transmissions that begin by `now`.
    fn advance(&mut self, now: Time) {
        while self.free <= now {
            let Some(member) = self.next_holder() else { return };
            if !self.transmit(member, self.free) {
                return;
            }
        }
    }

    /// The link that transmits next; none if nothing waits.
    fn next_holder(&self) -> Option<usize> {
        let waits = |member: &usize| self.members[*member].scheduled.queue.backlog().0 > 0;
        let goes_on = Some(self.holder).filter(|holder| self.left > 0 && waits(holder));
        let count = self.members.len();
        goes_on.or_else(|| (1..=count).map(|step| (self.holder + step) % count).find(waits))
    }

    /// A link transmits a packet of its queue from `at` on, once it has access. Returns false if it has none.
    fn transmit(&mut self, member: usize, at: Time) -> bool {
        let goes_on = member == self.holder && self.left > 0 && at == self.free;
        let start = if goes_on { at } else { at + self.sharing.access };
        let Member { scheduled, sent } = &mut self.members[member];
        let Some(pulled) = scheduled.queue.pull(at, &mut scheduled.dropped) else { return false };
        self.free = scheduled.line.send(start, pulled.size);
        sent.extend(pulled.take(start, self.free));
        self.left = if goes_on { self.left } else { self.sharing.burst }.saturating_sub(1);
        self.holder = member;
        true
    }
}

impl Station {
    /// A further link at a channel, with its line and its queue.
    pub(crate) fn join(channel: &Arc<Mutex<Channel>>, scheduled: Box<Scheduled<dyn Scheduler>>) -> Self {
        let mut joined = lock(channel);
        joined.members.push(Member { scheduled, sent: VecDeque::new() });
        // The first turn is that of the first link.
        joined.holder = joined.members.len() - 1;
        Self { channel: Arc::clone(channel), member: joined.holder }
    }

    /// Offers a packet. A free channel takes it at once, whatever the limit of the queue. Otherwise it waits, and the excess is dropped.
    pub(crate) fn offer(&self, now: Time, packet: &Packet) {
        let mut channel = lock(&self.channel);
        channel.advance(now);
        let busy = channel.free > now;
        let Scheduled { queue, dropped, .. } = &mut *channel.members[self.member].scheduled;
        let too_much = queue.push(now, packet);
        if !busy {
            channel.transmit(self.member, now);
        } else if too_much {
            queue.shed(dropped);
        }
    }

    /// The next packet of this link whose transmission has begun by `now`.
    pub(crate) fn next(&self, now: Time) -> Option<Sent> {
        let mut channel = lock(&self.channel);
        channel.advance(now);
        channel.members[self.member].sent.pop_front()
    }

    /// Takes what its queue has dropped.
    pub(crate) fn dropped(&self) -> Vec<Packet> {
        std::mem::take(&mut lock(&self.channel).members[self.member].scheduled.dropped)
    }

    /// When the link is to be looked at next, once [`next`](Self::next) has nothing left; [`Time::MAX`] if nothing waits.
    pub(crate) fn wakes(&self) -> Time {
        let channel = lock(&self.channel);
        if channel.members[self.member].scheduled.queue.backlog().0 > 0 { channel.free } else { Time::MAX }
    }

    /// Packets and bytes that wait.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        lock(&self.channel).members[self.member].scheduled.queue.backlog()
    }

    /// Packets that wait, that have been sent or dropped and not been taken.
    pub(crate) fn packets(&self) -> Vec<Packet> {
        let channel = lock(&self.channel);
        let Member { scheduled, sent } = &channel.members[self.member];
        let taken_in = scheduled.queue.waiting().chain(&scheduled.dropped).copied();
        taken_in.chain(sent.iter().map(|sent| sent.packet)).collect()
    }

    /// Tells its queue the hosts of a flow.
    pub(crate) fn assign(&self, flow: u32, hosts: HostPair) {
        lock(&self.channel).members[self.member].scheduled.queue.assign(flow, hosts);
    }

    /// Changes the limit of its queue.
    pub(crate) fn set_limit(&self, limit: QueueLimit) {
        lock(&self.channel).members[self.member].scheduled.queue.set_limit(limit);
    }
}

/// A run has one thread, and a panic ends it.
fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Span};

    use super::*;
    use crate::net::line::Line;
    use crate::net::packet::{Body, Ecn};
    use crate::net::queue::tail::Tail;
    use crate::net::setup::Class;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A packet of 1000 bytes, which takes 1 ms.
    fn packet() -> Packet {
        let body = Body::ToSender(cwnd_udt::Message::KeepAlive);
        Packet { due: Time::ZERO, flow: 0, hop: 0, size: Bytes(1000), ecn: Ecn::NotCapable, class: Class::Out, body }
    }

    fn stations(access: u64, burst: u32, count: usize, limit: QueueLimit) -> Vec<Station> {
        let channel = Channel::new(Sharing { access: Span::from_micros(access), burst });
        let queue = || Box::new(Scheduled::new(Line::new(8_000_000, None), Tail::new(limit)));
        (0..count).map(|_| Station::join(&channel, queue())).collect()
    }

    /// Microseconds at which packets of a station have left its line by `now`.
    fn left(station: &Station, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| station.next(us(now))).map(|sent| sent.finish.as_nanos() / 1000).collect()
    }

    #[test]
    fn links_take_turns_of_packets() {
        let stations = stations(0, 1, 2, QueueLimit::Unlimited);
        (0..4).for_each(|_| stations[0].offer(us(0), &packet()));
        (0..2).for_each(|_| stations[1].offer(us(10), &packet()));
        assert_eq!(stations[1].wakes(), us(1000));
        assert_eq!(left(&stations[0], 20_000), [1000, 3000, 5000, 6000]);
        assert_eq!(left(&stations[1], 20_000), [2000, 4000]);
        assert_eq!((stations[0].wakes(), stations[1].backlog()), (Time::MAX, (0, 0)));
    }

    #[test]
    fn three_links_take_turns_in_their_order() {
        let stations = stations(0, 1, 3, QueueLimit::Unlimited);
        for station in [0, 2, 1, 0, 2] {
            stations[station].offer(us(0), &packet());
        }
        let all: Vec<_> = stations.iter().map(|station| left(station, 9000)).collect();
        assert_eq!(all, [vec![1000, 4000], vec![2000], vec![3000, 5000]]);
    }

    #[test]
    fn a_burst_has_one_access() {
        let stations = stations(500, 3, 2, QueueLimit::Unlimited);
        (0..5).for_each(|_| stations[0].offer(us(0), &packet()));
        stations[1].offer(us(0), &packet());
        // 0.5 ms and three packets; the other one; 0.5 ms and the last two.
        assert_eq!(left(&stations[0], 20_000), [1500, 2500, 3500, 6500, 7500]);
        assert_eq!(left(&stations[1], 20_000), [5000]);
        stations[0].offer(us(7500), &packet());
        assert_eq!(left(&stations[0], 7500), [8500], "the third of this turn");
        stations[0].offer(us(9000), &packet());
        assert_eq!(left(&stations[0], 9000), [10_500], "a pause ends the turn");
    }

    #[test]
    fn a_look_changes_nothing() {
        let run = |looks: &[u64]| {
            let stations = stations(300, 2, 2, QueueLimit::Packets(3));
            for at in 0..40 {
                if looks.contains(&at) {
                    stations[1].channel.lock().expect("no panic").advance(us(at * 1000));
                }
                stations[usize::from(at % 3 == 0)].offer(us(at * 1000), &packet());
            }
            stations.iter().map(|station| (left(station, 99_000), station.dropped().len())).collect::<Vec<_>>()
        };
        assert_eq!(run(&[]), run(&(0..40).collect::<Vec<_>>()));
        assert!(run(&[])[0].1 > 0, "the queue overflows");
    }
}
