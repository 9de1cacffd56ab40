//! The event set.
//!
//! A component (a link, a timer) has at most one pending event, so the set grows with the topology and not with the traffic,
//! and (time, component) is a total order. Several packets due at one link wait in that link's own ring.

mod tournament;

use cwnd::Time;

use tournament::Tournament;

/// A component that can have an event pending. Events of one instant happen in the order of these variants, then of the index:
/// a wake-up before the acknowledgements that arrive with it, an acknowledgement before the timeout it prevents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Component {
    /// Flows of a group are requested.
    Arrival(u32),
    /// A flow starts.
    Start(u32),
    /// A sender may send again, or its algorithm requested a wake-up.
    Release(u32),
    /// A packet leaves a flow's access line.
    Access(u32),
    /// A packet leaves a link.
    Link(u32),
    /// The host of either end of a flow wakes for its arrivals.
    Host(u32),
    /// A receiver's clock.
    Receiver(u32),
    /// A retransmission timer.
    Deadline(u32),
    /// A handshake packet without an answer is sent again.
    Handshake(u32),
    /// A sample is taken.
    Sample,
}

/// Whose event is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Access(u32),
    Link(u32),
    Timer(Component),
}

/// Pending events, earliest first.
///
/// Nearly all events are those of lines, each of which is due again and again: they have a tournament per kind, so that a link
/// never pays for the number of access lines. So have the releases of paced senders, one per packet, and the clocks of receivers, which
/// run ahead with the packets that arrive; an event of either that is set anew leaves nothing behind. The other timers are seldom due:
/// they have a heap, with four children per node, each event packed into one integer.
#[derive(Clone, Debug)]
pub(crate) struct EventSet {
    access: Tournament,
    links: Tournament,
    releases: Tournament,
    receivers: Tournament,
    heap: Vec<u128>,
    /// Of the earliest release, clock of a receiver or timer in the heap.
    timer: Time,
}

impl EventSet {
    /// The earliest event; at [`Time::MAX`] there is none.
    #[inline(always)]
    pub(crate) fn first(&self) -> (Time, Next) {
        let (access_at, access) = self.access.first();
        let (link_at, link) = self.links.first();
        if self.timer <= access_at.min(link_at) {
            self.timer_or((access_at, Component::Access(access)), (link_at, Component::Link(link)))
        } else if link_at < access_at {
            (link_at, Next::Link(link))
        } else {
            (access_at, Next::Access(access))
        }
    }

    /// How many timers are pending.
    #[cfg(test)]
    pub(crate) fn timers(&self) -> usize {
        self.heap.len()
    }

    /// Gives an access line the time of its next event, [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn set_access(&mut self, index: u32, at: Time) {
        self.access.set(index, at);
    }

    /// Gives a link the time of its next event, [`Time::MAX`] for none.
    #[inline]
    pub(crate) fn set_link(&mut self, index: u32, at: Time) {
        self.links.set(index, at);
    }

    /// Moves the event of a sender's release to `at` if it is later.
    #[inline]
    pub(crate) fn set_release_if_earlier(&mut self, index: u32, at: Time) {
        if at < self.releases.time(index) {
            self.set_release(index, at);
        }
    }

    /// Gives the event of a sender's release its time, [`Time::MAX`] for none.
    pub(crate) fn set_release(&mut self, index: u32, at: Time) {
        self.releases.set(index, at);
        self.update_timer();
    }

    /// The earliest event of a receiver's clock.
    #[inline(always)]
    pub(crate) fn first_receiver(&self) -> (Time, u32) {
        self.receivers.first()
    }

    /// Gives the event of a receiver's clock this time unless it has an earlier one.
    #[inline(always)]
    pub(crate) fn set_receiver_if_earlier(&mut self, index: u32, at: Time) {
        if at < self.receivers.time(index) {
            self.set_receiver(index, at);
        }
    }

    /// Gives the event of a receiver's clock its time, [`Time::MAX`] for none.
    pub(crate) fn set_receiver(&mut self, index: u32, at: Time) {
        self.receivers.set(index, at);
        self.update_timer();
    }

    /// Adds the event of a timer in the heap.
    pub(crate) fn push(&mut self, at: Time, timer: Component) {
        self.heap.push(0);
        self.rise(self.heap.len() - 1, pack(at, timer));
        self.update_timer();
    }

    /// Removes the earliest event, which is that of a timer in the heap.
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
        self.update_timer();
    }

    /// Moves the earliest event, which is that of `timer` in the heap, to a later time.
    pub(crate) fn reschedule_first(&mut self, at: Time, timer: Component) {
        self.sink(pack(at, timer));
        self.update_timer();
    }

    /// A timer is due before the lines, or with them.
    #[inline(never)]
    fn timer_or(&self, access: (Time, Component), link: (Time, Component)) -> (Time, Next) {
        let timer = self.heap.first().map_or((Time::MAX, Component::Sample), |key| unpack(*key));
        let (receiver_at, receiver) = self.receivers.first();
        let timer = timer.min((receiver_at, Component::Receiver(receiver)));
        let (release_at, release) = self.releases.first();
        if release_at < timer.0 {
            // At one instant it comes before the lines.
            return (release_at, Next::Timer(Component::Release(release)));
        }
        let (at, component) = timer.min((release_at, Component::Release(release))).min(access).min(link);
        let next = match component {
            Component::Access(index) => Next::Access(index),
            Component::Link(index) => Next::Link(index),
            timer => Next::Timer(timer),
        };
        (at, next)
    }

    #[inline]
    fn update_timer(&mut self) {
        let in_heap = self.heap.first().map_or(Time::MAX, |key| unpack(*key).0);
        self.timer = in_heap.min(self.releases.first().0).min(self.receivers.first().0);
    }

    /// Places `key` at `hole` or above.
    #[inline]
    fn rise(&mut self, mut hole: usize, key: u128) {
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Places `key` at the root, which is free, or below.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        loop {
            let child = hole * ARITY + 1;
            let (least, least_key) = match heap.get(child..).and_then(|rest| rest.first_chunk::<ARITY>()) {
                Some(&[a, b, c, d]) => {
                    let left = if b < a { (1, b) } else { (0, a) };
                    let right = if d < c { (3, d) } else { (2, c) };
                    let (offset, least_key) = if right.1 < left.1 { right } else { left };
                    (child + offset, least_key)
                }
                None => match (child..heap.len()).map(|at| (at, heap[at])).min_by_key(|(_, key)| *key) {
                    Some(least) => least,
                    None => break,
                },
            };
            if key <= least_key {
                break;
            }
            heap[hole] = least_key;
            hole = least;
        }
        heap[hole] = key;
    }
}

impl Default for EventSet {
    fn default() -> Self {
        Self {
            access: Tournament::default(),
            links: Tournament::default(),
            releases: Tournament::default(),
            receivers: Tournament::default(),
            heap: Vec::new(),
            timer: Time::MAX,
        }
    }
}

fn pack(at: Time, component: Component) -> u128 {
    let (kind, index) = match component {
        Component::Arrival(index) => (0, index),
        Component::Start(index) => (1, index),
        Component::Release(index) => (2, index),
        Component::Access(index) => (3, index),
        Component::Link(index) => (4, index),
        Component::Host(index) => (5, index),
        Component::Receiver(index) => (6, index),
        Component::Deadline(index) => (7, index),
        Component::Handshake(index) => (8, index),
        Component::Sample => (9, 0),
    };
    u128::from(at.as_nanos()) << 64 | kind << 32 | u128::from(index)
}

fn unpack(key: u128) -> (Time, Component) {
    let index = key as u32;
    let component = match (key >> 32) as u32 {
        0 => Component::Arrival(index),
        1 => Component::Start(index),
        2 => Component::Release(index),
        3 => Component::Access(index),
        4 => Component::Link(index),
        5 => Component::Host(index),
        6 => Component::Receiver(index),
        7 => Component::Deadline(index),
        8 => Component::Handshake(index),
        _ => Component::Sample,
    };
    (Time::from_nanos((key >> 64) as u64), component)
}

/// Four children share a cache line and halve the depth of a binary heap.
const ARITY: usize = 4;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_out_in_order(steps in proptest::collection::vec((0_u8..3, 0_u64..50, 0_u32..40), 0..300)) {
            let mut ours = EventSet::default();
            let mut model: BTreeSet<(Time, Component)> = BTreeSet::new();
            for (step, at, index) in steps {
                let at = Time::from_nanos(at);
                let kinds =
                    [Component::Link, Component::Release, Component::Access, Component::Receiver, Component::Deadline];
                let component = kinds[index as usize % 5](index / 5);
                match (step, model.first().copied()) {
                    (0, Some((_, first))) => {
                        remove_first(&mut ours, first);
                        model.pop_first();
                    }
                    (1, Some((first_at, first))) => {
                        let later = Time::from_nanos(first_at.as_nanos() + at.as_nanos());
                        model.pop_first();
                        model.insert((later, first));
                        match first {
                            Component::Deadline(_) => ours.reschedule_first(later, first),
                            _ => add(&mut ours, later, first),
                        }
                    }
                    _ if model.iter().all(|(_, pending)| *pending != component) => {
                        model.insert((at, component));
                        add(&mut ours, at, component);
                    }
                    _ => {}
                }
                let first = first(&ours);
                prop_assert_eq!((first.0 < Time::MAX).then_some(first), model.first().copied());
            }
        }
    }

    fn first(events: &EventSet) -> (Time, Component) {
        let (at, next) = events.first();
        let component = match next {
            Next::Access(index) => Component::Access(index),
            Next::Link(index) => Component::Link(index),
            Next::Timer(component) => component,
        };
        (at, component)
    }

    fn add(events: &mut EventSet, at: Time, component: Component) {
        match component {
            Component::Access(index) => events.set_access(index, at),
            Component::Link(index) => events.set_link(index, at),
            Component::Release(index) => events.set_release(index, at),
            Component::Receiver(index) => events.set_receiver(index, at),
            _ => events.push(at, component),
        }
    }

    fn remove_first(events: &mut EventSet, component: Component) {
        match component {
            Component::Access(index) => events.set_access(index, Time::MAX),
            Component::Link(index) => events.set_link(index, Time::MAX),
            Component::Release(index) => events.set_release(index, Time::MAX),
            Component::Receiver(index) => events.set_receiver(index, Time::MAX),
            _ => events.pop(),
        }
    }

    #[test]
    fn one_instant_has_an_order() {
        let mut events = EventSet::default();
        let at = Time::from_nanos(5);
        let order = [
            Component::Arrival(9),
            Component::Start(9),
            Component::Release(8),
            Component::Access(7),
            Component::Link(3),
            Component::Link(6),
            Component::Receiver(0),
            Component::Deadline(0),
            Component::Sample,
        ];
        for component in order.iter().rev() {
            add(&mut events, at, *component);
        }
        for component in order {
            assert_eq!(first(&events), (at, component));
            remove_first(&mut events, component);
        }
        assert_eq!(events.first().0, Time::MAX);
    }
}
