//! A link of the simulator on its own, for datagrams that something else carries.
//!
//! The queue, the line, the random loss, the impairments and their streams of random numbers are those of a run; time and packets come
//! from outside. A datagram is its size and a tag; the owner of the payload keeps it under the tag until the link returns the tag, released
//! or dropped.

use std::sync::{Arc, Mutex};

use cwnd::{Bytes, Span, Time};

use crate::error::SetupError;
use crate::net::channel::Channel;
use crate::net::delivery::DeliveryTrace;
use crate::net::link::Link;
use crate::net::packet::{Body, Data, Ecn, Packet};
use crate::net::setup::{
    Class, Discipline, Duplex, HalfDuplex, Impairments, LinkSetup, Loss, NodeId, Phase, QueueLimit,
};
use crate::net::steps::Schedule;
use crate::ring::Budget;

/// The setup of an emulated link.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Bits per second; none for a link of pure delay, which has no queue.
    pub rate: Option<u64>,
    /// Later rates, 0 for an outage.
    pub rate_steps: Schedule<u64>,
    /// It transmits at the instants of a trace only; none if it transmits all the time.
    pub deliveries: Option<Arc<DeliveryTrace>>,
    /// Propagation delay.
    pub delay: Span,
    /// The capacity for waiting datagrams, without the one in transmission.
    pub queue: QueueLimit,
    /// Which datagrams wait, which go, and in which order.
    pub discipline: Discipline,
    /// Random loss, before the queue.
    pub loss: Loss,
    /// Impairments of datagrams.
    pub impairments: Impairments,
    /// Later delays, as of a [link](LinkSetup::delay_steps).
    pub delay_steps: Schedule<Span>,
    /// Later losses, impairments and queue limits.
    pub phases: Schedule<Phase>,
    /// Whether it shares a channel with the link in the other [direction](EmulatedLink::both), which has the same value.
    pub duplex: Duplex,
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
    /// The ECN field with which it is offered. One that is capable may be marked where it would be dropped.
    pub ecn: Codepoint,
}

/// The ECN field of a datagram (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codepoint {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0): capable, with a classic response to marks.
    Ect0,
    /// ECT(1): capable, with a scalable response to marks (RFC 9331 section 4.1).
    Ect1,
    /// Marked before.
    Ce,
}

/// A datagram arrives at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// When it does.
    pub due: Time,
    /// Its name.
    pub tag: u64,
    /// Its ECN field as it arrives.
    pub ecn: Codepoint,
    /// A copy of it follows; without one, the tag is free again.
    pub again: bool,
}

/// Counts of datagrams so far.
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
    clock: Time,
}

impl Emulation {
    /// A drop-tail link without faults.
    #[must_use]
    pub fn new(rate: Option<u64>, delay: Span, queue: QueueLimit) -> Self {
        Self {
            rate,
            rate_steps: Schedule::default(),
            deliveries: None,
            delay,
            queue,
            discipline: Discipline::DropTail,
            loss: Loss::None,
            impairments: Impairments::default(),
            delay_steps: Schedule::default(),
            phases: Schedule::default(),
            duplex: Duplex::Full,
        }
    }
}

impl Emulation {
    /// A channel for it, if it is half duplex.
    fn channel(&self) -> Option<Arc<Mutex<Channel>>> {
        if let Duplex::Half(sharing) = self.duplex { Some(Channel::new(sharing)) } else { None }
    }
}

impl EmulatedLink {
    /// A link that draws from streams of its own, named after it. Time begins at zero. A half-duplex one has its channel alone.
    ///
    /// # Errors
    /// A field of `setup` is out of range.
    pub fn new(name: &str, emulation: &Emulation, seed: u64) -> Result<Self, SetupError> {
        Self::on(emulation.channel().as_ref(), name, emulation, seed)
    }

    /// The two directions of a link by their names: [`new`](Self::new) ones, which share a channel if the first is half duplex. Each may be
    /// used on a thread of its own, with instants of a common clock.
    ///
    /// # Errors
    /// A field of one of them is out of range.
    pub fn both(directions: [(&str, &Emulation); 2], seed: u64) -> Result<[Self; 2], SetupError> {
        let channel = directions[0].1.channel();
        let [forth, back] = directions.map(|(name, emulation)| Self::on(channel.as_ref(), name, emulation, seed));
        Ok([forth?, back?])
    }

    /// A link at a channel.
    fn on(
        channel: Option<&Arc<Mutex<Channel>>>,
        name: &str,
        emulation: &Emulation,
        seed: u64,
    ) -> Result<Self, SetupError> {
        let ends = (NodeId(0), NodeId(0));
        let Emulation { rate, delay, queue, discipline, loss, duplex, .. } = *emulation;
        let Emulation { rate_steps, deliveries, impairments, delay_steps, phases, .. } = emulation.clone();
        let half_duplex = match duplex {
            Duplex::Half(sharing) => Some(HalfDuplex { channel: 0, sharing }),
            Duplex::Full => None,
        };
        let plain = LinkSetup::new(name.to_owned(), ends, rate, delay, queue);
        let varying = LinkSetup { rate_steps, deliveries, delay_steps, phases, ..plain };
        let setup = LinkSetup { discipline, loss, impairments, half_duplex, ..varying };
        setup.check()?;
        let mut link = Link::new(&setup, seed, Time::ZERO, &Arc::new(Budget::new(u64::MAX)));
        if let Some(channel) = channel {
            link.share(channel);
        }
        Ok(Self { link, clock: Time::ZERO })
    }

    /// Offers a datagram. An instant before that of an earlier call counts as that one.
    pub fn offer(&mut self, now: Time, datagram: &Datagram) {
        self.clock = self.clock.max(now);
        self.link.offer(self.clock, &mut packet(datagram));
    }

    /// The tag of a datagram that was lost or dropped. To be called after every offer and every release, until there is none.
    pub fn gone(&mut self) -> Option<u64> {
        self.link.dropped().map(|packet| tag(&packet))
    }

    /// When [`release`](Self::release) has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        Some(self.link.next()).filter(|next| *next < Time::MAX)
    }

    /// The next datagram that has arrived by `now`, in the order of arrival.
    pub fn release(&mut self, now: Time) -> Option<Release> {
        self.clock = self.clock.max(now);
        let packet = self.link.take(now)?;
        let ecn = match packet.ecn {
            Ecn::NotCapable => Codepoint::NotEct,
            Ecn::Capable => Codepoint::Ect0,
            Ecn::Scalable => Codepoint::Ect1,
            Ecn::Congestion => Codepoint::Ce,
        };
        Some(Release { due: packet.due, tag: tag(&packet), ecn, again: self.link.copy().is_some() })
    }

    /// Datagrams and bytes in the queue at `now`.
    pub fn queue(&mut self, now: Time) -> (u64, u64) {
        self.link.queue(now)
    }

    /// The counts so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let counts = self.link.counts;
        Tally {
            offered: counts.offered,
            lost: counts.lost,
            dropped: counts.dropped,
            marked: counts.marked,
            carried: counts.carried,
            carried_bytes: counts.carried_bytes,
            held_back: self.link.held_back(),
            duplicated: counts.duplicated,
        }
    }
}

/// The tag travels as the number of a data packet: the one field of its size that neither queue nor line looks at.
fn packet(datagram: &Datagram) -> Packet {
    let body = Body::Data(Data::new(datagram.tag, Time::ZERO));
    let ecn = match datagram.ecn {
        Codepoint::NotEct => Ecn::NotCapable,
        Codepoint::Ect0 => Ecn::Capable,
        Codepoint::Ect1 => Ecn::Scalable,
        Codepoint::Ce => Ecn::Congestion,
    };
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
    use crate::net::setup::{
        CakeSetup, CoDelSetup, DrrSetup, DualPi2Setup, FqCoDelSetup, Mangling, RedSetup, ReorderBy, Reordering,
    };

    /// 8 Mbit/s: 1000 bytes take a millisecond.
    const RATE: Option<u64> = Some(8_000_000);

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn datagram(tag: u64) -> Datagram {
        Datagram { tag, size: Bytes(1000), flow: 0, ecn: Codepoint::NotEct }
    }

    fn reordered(probability: f64, by: Span) -> Impairments {
        Impairments { reordering: Some(Reordering { probability, by: ReorderBy::Time(by) }), ..Impairments::default() }
    }

    fn duplicated(duplication: f64) -> Impairments {
        Impairments { duplication, ..Impairments::default() }
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
    fn a_copy_follows_its_original() {
        let mut link = link(&Emulation {
            impairments: duplicated(1.0),
            ..Emulation::new(None, Span::ZERO, QueueLimit::Unlimited)
        });
        link.offer(ms(1), &datagram(7));
        let again: Vec<_> = std::iter::from_fn(|| link.release(ms(1))).map(|copy| (copy.tag, copy.again)).collect();
        assert_eq!(again, [(7, true), (7, false)]);
    }

    #[test]
    fn a_capable_datagram_is_marked_where_another_is_dropped() {
        // With weight 1 the average is the queue. The fourth datagram finds two waiting and begins the excursion; the fifth finds
        // three, just below the upper threshold: the probability is 1 to within 10⁻⁶.
        let sure = RedSetup { min: 0.5, max: 3.0 + 1e-6, max_p: 1.0, weight: 1.0, ..RedSetup::default() };
        let red = RedSetup { wait: false, mark: true, ..sure };
        let emulation =
            Emulation { discipline: Discipline::Red(red), ..Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited) };
        let arrivals = |ecn| {
            let mut link = link(&emulation);
            (0..5).for_each(|tag| link.offer(ms(0), &Datagram { ecn, ..datagram(tag) }));
            std::iter::from_fn(|| link.release(ms(9))).map(|release| release.ecn == Codepoint::Ce).collect::<Vec<_>>()
        };
        assert_eq!(arrivals(Codepoint::Ect0), [false, false, false, false, true]);
        assert_eq!(arrivals(Codepoint::NotEct), [false, false, false, false]);
    }

    #[test]
    fn ecn_fields_arrive_as_the_link_leaves_them() {
        let arrivals = |impairments: Impairments| {
            let plain = Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited);
            let mut link = link(&Emulation { impairments, ..plain });
            let fields = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce];
            for (tag, ecn) in (0..).zip(fields) {
                link.offer(ms(0), &Datagram { ecn, ..datagram(tag) });
            }
            std::iter::from_fn(|| link.release(ms(9))).map(|release| release.ecn).collect::<Vec<_>>()
        };
        let mangling = |mangling| Impairments { mangling: Some(mangling), ..Impairments::default() };
        let [none, zero, one, ce] = [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce];
        assert_eq!(arrivals(Impairments::default()), [none, zero, one, ce]);
        assert_eq!(arrivals(mangling(Mangling::Classic)), [none, zero, zero, zero]);
        assert_eq!(arrivals(mangling(Mangling::Scalable)), [none, one, one, one]);
        assert_eq!(arrivals(mangling(Mangling::Congestion)), [none, ce, ce, ce]);
        assert_eq!(arrivals(Impairments { bleach: true, ..mangling(Mangling::Congestion) }), [none; 4]);
    }

    #[test]
    fn a_dual_queue_serves_ect_1_and_ce_before_the_others() {
        let discipline = Discipline::DualPi2(DualPi2Setup::RFC);
        let mut link = link(&Emulation { discipline, ..Emulation::new(RATE, Span::ZERO, QueueLimit::Unlimited) });
        let offered = [Codepoint::Ect0, Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce];
        for (tag, ecn) in (0..).zip(offered) {
            link.offer(ms(0), &Datagram { ecn, ..datagram(tag) });
        }
        // The first is on the line when the others come.
        let released: Vec<_> =
            std::iter::from_fn(|| link.release(ms(9))).map(|one| (one.tag, one.ecn == Codepoint::Ce)).collect();
        assert_eq!(released.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), [0, 3, 4, 1, 2]);
        assert!(released[2].1 && released.iter().filter(|(_, marked)| *marked).count() <= 2, "{released:?}");
    }

    #[test]
    fn two_directions_share_a_channel() {
        let sharing = crate::Sharing { access: Span::from_micros(500), burst: 2 };
        let half = Emulation {
            duplex: Duplex::Half(sharing),
            ..Emulation::new(RATE, Span::from_millis(5), QueueLimit::Unlimited)
        };
        let [mut forth, mut back] = EmulatedLink::both([("forth", &half), ("back", &half)], 1).expect("well-formed");
        (0..3).for_each(|tag| forth.offer(ms(0), &datagram(tag)));
        back.offer(ms(1), &datagram(0));
        // 0.5 ms and two forth, 0.5 ms and one back, 0.5 ms and the last one forth; 5 ms later each arrives.
        let due = |link: &mut EmulatedLink| {
            std::iter::from_fn(|| link.release(ms(99))).map(|one| one.due.as_nanos() / 100_000).collect::<Vec<_>>()
        };
        assert_eq!(back.next_due(), Some(Time::from_nanos(1_500_000)), "when the channel becomes free");
        assert_eq!((due(&mut back), due(&mut forth)), (vec![90], vec![65, 75, 105]));
        let [mut forth, mut back] =
            EmulatedLink::both([("forth", &half), ("back", &Emulation { duplex: Duplex::Full, ..half.clone() })], 1)
                .expect("well-formed");
        forth.offer(ms(0), &datagram(0));
        back.offer(ms(0), &datagram(0));
        assert_eq!(due(&mut back), [80], "the channel of the first is that of both");
        assert_eq!(due(&mut forth), [65]);
    }

    #[test]
    fn a_pair_of_traces_has_the_delays_of_its_light_one() {
        // Idle for more than 20 ms: a train of 1400 bytes at once and after 3 ms. Otherwise 1400 bytes each 10 ms. The delay is 4 ms until
        // 50 ms, on its way to 8 ms at 100 ms from then on.
        let light =
            crate::LightTrace::parse("0 4 0 3\n50 4 0 3\n100 8 0", Span::from_millis(20)).expect("a light trace");
        let (delay, delay_steps) = light.delays(Span::from_millis(1));
        assert_eq!(delay, Span::from_millis(5));
        let trace = DeliveryTrace::parse("10").expect("a trace").with_light(light);
        let rate = Some(trace.mean_rate());
        let emulation = Emulation {
            deliveries: Some(Arc::new(trace)),
            delay_steps,
            ..Emulation::new(rate, delay, QueueLimit::Packets(2))
        };
        let mut link = link(&emulation);
        let full = |tag| Datagram { size: Bytes(1400), ..datagram(tag) };
        (0..5).for_each(|tag| link.offer(ms(1), &full(tag)));
        link.offer(ms(75), &full(5));
        // They leave the line at 1, 4, 10 and 20 ms, and at 75 ms, when the delay is 1 ms and 6 ms.
        assert_eq!(link.gone(), Some(4));
        assert_eq!(releases(&mut link, ms(99)), [(6, 0), (9, 1), (15, 2), (25, 3), (82, 5)]);
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
            Emulation { impairments: duplicated(-0.1), ..good.clone() },
            Emulation { impairments: reordered(f64::NAN, Span::ZERO), ..good.clone() },
            Emulation { duplex: Duplex::Half(crate::Sharing { burst: 0, ..crate::Sharing::default() }), ..good },
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
            Just(Discipline::Cake(CakeSetup { target, interval, ..CakeSetup::default() })),
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
                impairments: Impairments {
                    jitter: Some(crate::Noise::Uniform(Span::from_nanos(jitter)).into()),
                    duplication,
                    ..reordered(reorder, Span::from_millis(2))
                },
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
