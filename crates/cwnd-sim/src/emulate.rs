//! A link of the simulator on its own, for datagrams that something else carries.
//!
//! The queue, the line, the random loss and their streams of random numbers are those of a run; time and packets come from
//! outside. What a run leaves out on purpose is added behind the far end: jitter, reordering and duplication. A datagram is its
//! size and a tag; the owner of the payload keeps it under the tag until the link returns the tag, released or dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cwnd::{Bytes, Span, Time};

use crate::error::{SetupError, SetupPart, require};
use crate::net::link::{Link, Verdict};
use crate::net::packet::{Body, Data, Ecn, Packet};
use crate::net::setup::{Class, Discipline, LinkSetup, Loss, NodeId, QueueLimit};
use crate::random::{Stream, threshold};

/// What a link does to what crosses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Bits per second; none for a link of pure delay, which has no queue.
    pub rate: Option<u64>,
    /// Propagation delay.
    pub delay: Span,
    /// How much may wait, the datagram being sent not counted.
    pub queue: QueueLimit,
    /// Which datagrams wait, which go, and in which order.
    pub discipline: Discipline,
    /// Random loss, before the queue.
    pub loss: Loss,
    /// Each datagram is held back behind the far end by a uniform draw from zero to this much. None overtakes another for it: one
    /// with a smaller draw waits for those before it, so that with many datagrams in this time the delay stays near its largest
    /// and they come in bunches.
    pub jitter: Span,
    /// Some datagrams are overtaken.
    pub reordering: Option<Reordering>,
    /// The probability that a datagram arrives twice, the copy right behind it; 0..=1.
    pub duplication: f64,
}

/// Datagrams that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// The probability that a datagram is held back; 0..=1.
    pub probability: f64,
    /// For how long.
    pub by: Span,
}

/// A datagram offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The name under which it is handed back.
    pub tag: u64,
    /// On the line, headers included.
    pub size: Bytes,
    /// For FQ-CoDel, and for deficit round robin, which keeps a queue for every flow up to the highest.
    pub flow: u32,
    /// Its sender takes part in congestion notification: it may be marked where it would be dropped.
    pub capable: bool,
}

/// A datagram arrives at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// When it does.
    pub due: Time,
    /// Its name.
    pub tag: u64,
    /// It was marked on the way.
    pub marked: bool,
    /// A copy of it follows; without one, the tag is free again.
    pub again: bool,
}

/// What has happened to the datagrams so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Offered.
    pub offered: u64,
    /// Lost at random.
    pub lost: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Marked by the queue.
    pub marked: u64,
    /// Carried to the far end, copies not counted.
    pub carried: u64,
    /// Their sizes.
    pub carried_bytes: u64,
    /// Held back so that others may overtake.
    pub held_back: u64,
    /// Delivered twice.
    pub duplicated: u64,
}

/// A link with datagrams on it.
#[derive(Debug)]
pub struct EmulatedLink {
    link: Link,
    /// The arrival of the first datagram on its way.
    head: Option<Time>,
    behind: Option<Box<Behind>>,
    clock: Time,
}

/// What lies behind the far end, where something does.
#[derive(Debug)]
struct Behind {
    jitter: Span,
    reorder: u64,
    reorder_by: Span,
    duplicate: u64,
    draws: [Stream; 3],
    /// When the latest datagram leaves that was not held back.
    last: Time,
    /// By departure, then in the order of arrival.
    held: BinaryHeap<Reverse<(Time, u64, Leaving)>>,
    entered: u64,
    held_back: u64,
    duplicated: u64,
}

/// The order among these is never looked at: the number before it is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Leaving {
    tag: u64,
    marked: bool,
    again: bool,
}

impl Emulation {
    /// A drop-tail link without faults.
    #[must_use]
    pub const fn new(rate: Option<u64>, delay: Span, queue: QueueLimit) -> Self {
        let discipline = Discipline::DropTail;
        let (jitter, reordering, duplication) = (Span::ZERO, None, 0.0);
        Self { rate, delay, queue, discipline, loss: Loss::None, jitter, reordering, duplication }
    }
}

impl EmulatedLink {
    /// A link that draws from streams of its own, named after it. Time begins at zero.
    ///
    /// # Errors
    /// A field of `setup` is out of range.
    pub fn new(name: &str, emulation: &Emulation, seed: u64) -> Result<Self, SetupError> {
        let ends = (NodeId(0), NodeId(0));
        let limit = emulation.queue;
        let mut setup = LinkSetup::new(name.to_owned(), ends, emulation.rate, emulation.delay, limit);
        setup.discipline = emulation.discipline;
        setup.loss = emulation.loss;
        setup.check()?;
        let behind = Behind::new(name, emulation, seed)?;
        Ok(Self { link: Link::new(&setup, seed, Time::ZERO), head: None, behind, clock: Time::ZERO })
    }

    /// Offers a datagram. An instant before that of an earlier call counts as that one.
    pub fn offer(&mut self, now: Time, datagram: &Datagram) {
        self.clock = self.clock.max(now);
        if let Verdict::First(at) = self.link.offer(self.clock, &mut packet(datagram)) {
            self.head = Some(at);
        }
    }

    /// The tag of a datagram that was lost or dropped. To be called after every offer and every release, until there is none.
    pub fn gone(&mut self) -> Option<u64> {
        self.link.dropped().map(|packet| tag(&packet))
    }

    /// When [`release`](Self::release) has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        let held = self.behind.as_ref().and_then(|behind| behind.held.peek()).map(|Reverse((due, ..))| *due);
        [self.head, held].into_iter().flatten().min()
    }

    /// The next datagram that has arrived by `now`, in the order of arrival.
    pub fn release(&mut self, now: Time) -> Option<Release> {
        self.clock = self.clock.max(now);
        while let Some(due) = self.head.filter(|due| *due <= now) {
            // What is held already and leaves before this one arrives goes first.
            if let Some(released) = self.behind.as_mut().and_then(|behind| behind.leave(due)) {
                return Some(released);
            }
            self.link.catch_up(now);
            let packet = *self.link.front()?;
            self.link.remove_front(packet.size);
            self.head = Some(self.link.next()).filter(|next| *next < Time::MAX);
            let leaving = Leaving { tag: tag(&packet), marked: packet.ecn == Ecn::Congestion, again: false };
            match &mut self.behind {
                Some(behind) => behind.enter(due, leaving),
                None => return Some(Release { due, tag: leaving.tag, marked: leaving.marked, again: false }),
            }
        }
        self.behind.as_mut()?.leave(now)
    }

    /// Datagrams and bytes in the queue at `now`.
    pub fn queue(&mut self, now: Time) -> (u64, u64) {
        self.link.queue(now)
    }

    /// What has happened so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let counts = self.link.counts;
        let (held_back, duplicated) =
            self.behind.as_ref().map_or((0, 0), |behind| (behind.held_back, behind.duplicated));
        Tally {
            offered: counts.offered,
            lost: counts.lost,
            dropped: counts.dropped,
            marked: counts.marked,
            carried: counts.carried,
            carried_bytes: counts.carried_bytes,
            held_back,
            duplicated,
        }
    }
}

impl Behind {
    fn new(name: &str, emulation: &Emulation, seed: u64) -> Result<Option<Box<Self>>, SetupError> {
        let probable = |p: f64, what| require((0.0..=1.0).contains(&p), &SetupPart::Link(name.to_string()), what);
        let Emulation { jitter, reordering, duplication, .. } = *emulation;
        let Reordering { probability, by } = reordering.unwrap_or(Reordering { probability: 0.0, by: Span::ZERO });
        probable(probability, "the probability of reordering is at least 0 and at most 1")?;
        probable(duplication, "the probability of duplication is at least 0 and at most 1")?;
        if jitter == Span::ZERO && probability == 0.0 && duplication == 0.0 {
            return Ok(None);
        }
        let stream = |what: &str| Stream::new(seed, &format!("link {name}: {what}"));
        Ok(Some(Box::new(Self {
            jitter,
            reorder: threshold(probability),
            reorder_by: by,
            duplicate: threshold(duplication),
            draws: ["jitter", "reordering", "duplication"].map(stream),
            last: Time::ZERO,
            held: BinaryHeap::new(),
            entered: 0,
            held_back: 0,
            duplicated: 0,
        })))
    }

    /// A datagram has crossed the link at `at`. Each draws from every stream, so that one fault does not change another's victims.
    fn enter(&mut self, at: Time, leaving: Leaving) {
        let [jitter, reorder, duplicate] = &mut self.draws;
        let jittered = at + Span::from_nanos(jitter.below(self.jitter.as_nanos()));
        let mut due = jittered.max(self.last);
        if reorder.chance(self.reorder) {
            due += self.reorder_by;
            self.held_back += 1;
        } else {
            self.last = due;
        }
        if duplicate.chance(self.duplicate) {
            self.hold(due, Leaving { again: true, ..leaving });
            self.duplicated += 1;
        }
        self.hold(due, leaving);
    }

    fn hold(&mut self, due: Time, leaving: Leaving) {
        self.held.push(Reverse((due, self.entered, leaving)));
        self.entered += 1;
    }

    fn leave(&mut self, now: Time) -> Option<Release> {
        let Reverse((due, ..)) = self.held.peek()?;
        if *due > now {
            return None;
        }
        let Reverse((due, _, Leaving { tag, marked, again })) = self.held.pop()?;
        Some(Release { due, tag, marked, again })
    }
}

/// The tag travels as the number of a data packet: the one field of its size that neither queue nor line looks at.
fn packet(datagram: &Datagram) -> Packet {
    let body = Body::Data(Data {
        number: datagram.tag,
        sent_at: Time::ZERO,
        retransmission: false,
        reacted: false,
        pair: false,
    });
    let ecn = if datagram.capable { Ecn::Capable } else { Ecn::NotCapable };
    Packet { due: Time::ZERO, flow: datagram.flow, hop: 0, size: datagram.size, ecn, class: Class::default(), body }
}

fn tag(packet: &Packet) -> u64 {
    match packet.body {
        Body::Data(data) => data.number,
        _ => unreachable!("only data packets are offered here"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::net::setup::{CoDelSetup, DrrSetup, FqCoDelSetup, RedSetup};

    /// 8 Mbit/s: 1000 bytes take a millisecond.
    const RATE: Option<u64> = Some(8_000_000);

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn datagram(tag: u64) -> Datagram {
        Datagram { tag, size: Bytes(1000), flow: 0, capable: false }
    }

    fn link(emulation: &Emulation) -> EmulatedLink {
        EmulatedLink::new("test", emulation, 1).expect("it is well-formed")
    }

    /// Instants and tags of all that has arrived by `now`.
    fn releases(link: &mut EmulatedLink, now: Time) -> Vec<(u64, u64)> {
        let millis = |at: Time| at.as_nanos() / 1_000_000;
        std::iter::from_fn(|| link.release(now)).map(|release| (millis(release.due), release.tag)).collect()
    }

    #[test]
    fn datagrams_arrive_after_their_transmission_and_the_delay() {
        let mut link = link(&Emulation::new(RATE, Span::from_millis(5), QueueLimit::Packets(2)));
        (0..5).for_each(|tag| link.offer(ms(0), &datagram(tag)));
        // One on the line, two wait.
        assert_eq!(std::iter::from_fn(|| link.gone()).collect::<Vec<_>>(), [4, 3]);
        assert_eq!(link.queue(ms(0)), (2, 2000));
        assert_eq!(link.next_due(), Some(ms(6)));
        assert_eq!(link.release(Time::from_nanos(5_999_999)), None);
        assert_eq!(releases(&mut link, ms(7)), [(6, 0), (7, 1)]);
        assert_eq!(link.next_due(), Some(ms(8)));
        assert_eq!(releases(&mut link, ms(100)), [(8, 2)]);
        assert_eq!(link.next_due(), None);
        let tally = link.tally();
        assert_eq!((tally.offered, tally.dropped, tally.carried, tally.carried_bytes), (5, 2, 3, 3000));
    }

    #[test]
    fn an_instant_never_goes_back() {
        let mut link = link(&Emulation::new(None, Span::ZERO, QueueLimit::Unlimited));
        link.offer(ms(9), &datagram(0));
        link.offer(ms(4), &datagram(1));
        assert_eq!(releases(&mut link, ms(9)), [(9, 0), (9, 1)]);
    }

    #[test]
    fn one_held_back_is_overtaken() {
        let reordering = Some(Reordering { probability: 1.0, by: Span::from_millis(3) });
        let mut link = link(&Emulation { reordering, ..Emulation::new(None, Span::ZERO, QueueLimit::Unlimited) });
        link.offer(ms(0), &datagram(0));
        assert_eq!(releases(&mut link, ms(2)), []);
        link.behind.as_mut().expect("there is something").reorder = 0;
        link.offer(ms(2), &datagram(1));
        link.offer(ms(4), &datagram(2));
        // Late by far, and yet in the order of arrival.
        assert_eq!(releases(&mut link, ms(50)), [(2, 1), (3, 0), (4, 2)]);
        assert_eq!(link.tally().held_back, 1);
    }

    #[test]
    fn a_copy_follows_its_original() {
        let mut link = link(&Emulation { duplication: 1.0, ..Emulation::new(None, Span::ZERO, QueueLimit::Unlimited) });
        link.offer(ms(1), &datagram(7));
        let again: Vec<_> = std::iter::from_fn(|| link.release(ms(1))).map(|copy| (copy.tag, copy.again)).collect();
        assert_eq!(again, [(7, true), (7, false)]);
    }

    #[test]
    fn a_capable_datagram_is_marked_where_another_is_dropped() {
        // With weight 1 the average is the queue. The fourth datagram finds two waiting and begins the excursion; the fifth finds
        // three, just below the upper threshold: the probability is 1 to within a millionth.
        let sure = RedSetup { min: 0.5, max: 3.0 + 1e-6, max_p: 1.0, weight: 1.0, ..RedSetup::default() };
        let red = RedSetup { wait: false, mark: true, ..sure };
        let emulation =
            Emulation { discipline: Discipline::Red(red), ..Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited) };
        let arrivals = |capable| {
            let mut link = link(&emulation);
            (0..5).for_each(|tag| link.offer(ms(0), &Datagram { capable, ..datagram(tag) }));
            std::iter::from_fn(|| link.release(ms(9))).map(|release| release.marked).collect::<Vec<_>>()
        };
        assert_eq!(arrivals(true), [false, false, false, false, true]);
        assert_eq!(arrivals(false), [false, false, false, false]);
    }

    #[test]
    fn flows_take_turns() {
        let discipline = Discipline::Drr(DrrSetup { quantum: Bytes(1000) });
        let mut link = link(&Emulation { discipline, ..Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited) });
        for (tag, flow) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)] {
            link.offer(ms(0), &Datagram { flow, ..datagram(tag) });
        }
        assert_eq!(releases(&mut link, ms(9)), [(1, 0), (2, 1), (3, 3), (4, 2), (5, 4)]);
    }

    #[test]
    fn a_datagram_may_be_gone_when_another_leaves() {
        // 150 ms of datagrams at once: the one that leaves 5 ms and an interval later is dropped then.
        let discipline = Discipline::CoDel(CoDelSetup { mtu: Bytes(1000), ..CoDelSetup::default() });
        let mut link = link(&Emulation { discipline, ..Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited) });
        (0..150).for_each(|tag| link.offer(ms(0), &datagram(tag)));
        let arrived = releases(&mut link, ms(104));
        assert_eq!((arrived.len(), link.gone()), (104, None));
        assert_eq!(releases(&mut link, ms(105)), [(105, 104)]);
        assert_eq!((link.gone(), link.gone()), (Some(105), None));
        assert_eq!(link.queue(ms(105)).0, 43);
        assert_eq!(releases(&mut link, ms(106)), [(106, 106)]);
        assert_eq!(link.tally().dropped, 1);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let good = Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited);
        let bad = [
            Emulation { rate: Some(0), ..good.clone() },
            Emulation { loss: Loss::Bernoulli(1.5), ..good.clone() },
            Emulation { duplication: -0.1, ..good.clone() },
            Emulation { reordering: Some(Reordering { probability: f64::NAN, by: Span::ZERO }), ..good },
        ];
        assert!(bad.iter().all(|emulation| EmulatedLink::new("test", emulation, 1).is_err()));
    }

    /// With and without drops on arrival and at departure.
    fn disciplines() -> impl Strategy<Value = Discipline> {
        let (target, interval) = (Span::from_micros(500), Span::from_millis(2));
        let codel = CoDelSetup { target, interval, ..CoDelSetup::default() };
        prop_oneof![
            Just(Discipline::DropTail),
            Just(Discipline::CoDel(codel)),
            Just(Discipline::FqCoDel(FqCoDelSetup { codel, ..FqCoDelSetup::default() })),
        ]
    }

    proptest! {
        /// Every tag comes back exactly once as gone or free again, releases are in order and never early, and without reordering
        /// nobody overtakes.
        #[test]
        fn every_tag_comes_back_once(
            gaps in proptest::collection::vec(0_u64..3_000_000, 1..200),
            jitter in 0_u64..5_000_000,
            (loss, reorder, duplication) in (0.0..0.5_f64, prop_oneof![Just(0.0), 0.0..0.5_f64], 0.0..0.5_f64),
            lateness in 0_u64..4_000_000,
            discipline in disciplines(),
        ) {
            let emulation = Emulation {
                loss: Loss::Bernoulli(loss),
                jitter: Span::from_nanos(jitter),
                reordering: Some(Reordering { probability: reorder, by: Span::from_millis(2) }),
                duplication,
                discipline,
                ..Emulation::new(RATE, Span::from_millis(1), QueueLimit::Packets(5))
            };
            let mut link = link(&emulation);
            let (mut now, mut back, mut arrived, mut last) = (0, Vec::new(), Vec::new(), Time::ZERO);
            let offers = gaps.iter().enumerate().map(|(tag, gap)| (Some(tag as u64), *gap)).chain([(None, 1_000_000_000)]);
            for (tag, gap) in offers {
                now += gap;
                if let Some(tag) = tag {
                    link.offer(Time::from_nanos(now), &datagram(tag));
                }
                back.extend(std::iter::from_fn(|| link.gone()));
                let until = Time::from_nanos(now.saturating_sub(lateness));
                while let Some(release) = link.release(until) {
                    prop_assert!(release.due <= until && release.due >= last);
                    last = release.due;
                    arrived.push(release.tag);
                    if !release.again {
                        back.push(release.tag);
                    }
                }
                back.extend(std::iter::from_fn(|| link.gone()));
                prop_assert!(link.next_due().is_none_or(|due| due > until));
            }
            back.sort_unstable();
            prop_assert_eq!(back, (0..gaps.len() as u64).collect::<Vec<_>>());
            prop_assert!(reorder > 0.0 || arrived.is_sorted());
        }
    }
}
