//! The far end of a link, where it impairs what arrives: packets are held there before they go on.

use std::collections::{BTreeMap, VecDeque};

use cwnd::{Span, Time};

use super::noise::Noisy;
use super::packet::{Body, Ecn, Packet};
use super::phases::Phases;
use super::setup::{Impairments, LinkSetup, Mangling, ReorderBy};
use super::tap::Holds;
use crate::random::{Stream, threshold};

/// The packets held at the far end of a link.
#[derive(Debug)]
pub(crate) struct FarEnd {
    conduct: Conduct,
    /// For links whose conditions change.
    phases: Option<Phases<Conduct>>,
    /// When the latest bunch leaves.
    bunch: Option<Time>,
    /// Acknowledgements of the present bunch, by flow.
    seen: BTreeMap<u32, u32>,
    /// Chosen packets that are held back.
    pub(crate) holds: Option<Holds>,
    /// Packets that arrived damaged, for the owner to take.
    pub(crate) corrupted: Vec<Packet>,
    /// Acknowledgements taken out, for the owner to take.
    pub(crate) thinned: Vec<Packet>,
    /// Of jitter, of reordering and of corruption.
    draws: [Stream; 3],
    /// No packet in order leaves earlier.
    last: Time,
    /// By the instant at which they leave; of equals the one that entered first is in front.
    held: VecDeque<Packet>,
    /// Those that wait for others to overtake them, by the instant at which they leave in any case.
    overtaken: VecDeque<Overtaken>,
    pub(crate) held_back: u64,
    doubling: Doubling,
    /// The copy of the packet that left last, which leaves next.
    pub(crate) copy: Option<Packet>,
}

/// Which packets leave twice. Its draws are its own, and packets leave in one order however late they are taken.
#[derive(Debug)]
struct Doubling {
    /// Threshold of the probability.
    threshold: u64,
    /// For links whose conditions change.
    phases: Option<Phases<u64>>,
    draws: Stream,
}

/// Impairments of packets in one phase of a link.
#[derive(Clone, Copy, Debug)]
struct Conduct {
    aggregation: Option<Span>,
    /// One acknowledgement of this many continues.
    thinning: Option<u32>,
    jitter: Option<Noisy>,
    /// Threshold of the probability.
    reorder: u64,
    by: ReorderBy,
    /// Threshold of the probability.
    corrupt: u64,
    /// The value of the ECN field of packets that have one; none for the value that they come with.
    ecn: Option<Ecn>,
}

#[derive(Clone, Copy, Debug)]
struct Overtaken {
    /// The number of packets that have yet to overtake it.
    left: u32,
    packet: Packet,
}

impl FarEnd {
    /// The far end of a link; none if packets always continue as they arrive.
    pub(crate) fn new(link: &LinkSetup, seed: u64) -> Option<Box<Self>> {
        let of = |impairments: &Impairments| Impairments {
            policer: None,
            shaper: None,
            duplication: 0.0,
            ..impairments.clone()
        };
        let phases = Phases::new(link, |phase| of(&phase.impairments), |_, impairments| Conduct::new(impairments));
        let doubles = link.all_phases().iter().any(|phase| phase.impairments.duplication > 0.0);
        let acts = doubles || phases.is_some() || !Conduct::new(&link.impairments).does_nothing();
        acts.then(|| Box::new(Self { phases, ..Self::of(link, seed) }))
    }

    /// The far end of a link as it is in its first phase.
    pub(crate) fn of(link: &LinkSetup, seed: u64) -> Self {
        let name = &link.name;
        Self {
            conduct: Conduct::new(&link.impairments),
            phases: None,
            holds: None,
            bunch: None,
            seen: BTreeMap::new(),
            thinned: Vec::new(),
            corrupted: Vec::new(),
            draws: ["jitter", "reordering", "corruption"]
                .map(|what| Stream::new(seed, format_args!("link {name}: {what}"))),
            last: Time::ZERO,
            held: VecDeque::new(),
            overtaken: VecDeque::new(),
            held_back: 0,
            doubling: Doubling::new(link, seed),
            copy: None,
        }
    }

    /// A packet arrives at its `due`, which must not decrease from call to call. Jitter and reordering draw from streams of their own, so that
    /// one does not change the packets that the other affects.
    pub(crate) fn enter(&mut self, packet: Packet) {
        let conduct = match &mut self.phases {
            Some(phases) => phases.at(packet.due),
            None => &mut self.conduct,
        };
        let [draws, reorder, corruption] = &mut self.draws;
        let jitter = conduct.jitter.as_mut().map(|noisy| (noisy.draw(draws), noisy.overtakes()));
        let Conduct { reorder: probability, by, aggregation, thinning, corrupt, ecn, .. } = *conduct;
        let by = reorder.chance(probability).then_some(by);
        let by = self.holds.as_mut().and_then(|holds| holds.hold(&packet)).or(by);
        if corrupt > 0 && corruption.chance(corrupt) {
            self.corrupted.push(packet);
            return;
        }
        let ecn = ecn.filter(|_| packet.ecn != Ecn::NotCapable).unwrap_or(packet.ecn);
        let packet = Packet { ecn, ..packet };
        let packet = self.aggregate(packet, aggregation, thinning);
        let due = match jitter {
            Some((jitter, true)) => packet.due + jitter,
            Some((jitter, false)) => self.last.max(packet.due + jitter),
            None => self.last.max(packet.due),
        };
        if let Some(by) = by {
            self.held_back += 1;
            match by {
                ReorderBy::Time(by) => self.hold(Packet { due: due + by, ..packet }),
                ReorderBy::Packets(left) => {
                    let packet = Packet { due: due + LONGEST, ..packet };
                    let place = self.overtaken.partition_point(|other| other.packet.due <= packet.due);
                    self.overtaken.insert(place, Overtaken { left, packet });
                }
            }
            return;
        }
        self.last = due.max(self.last);
        self.hold(Packet { due, ..packet });
        self.count_overtaking(due);
    }

    /// Whether a copy of the packet, which leaves now, is to follow it.
    pub(crate) fn double(&mut self, leaving: &Packet) -> bool {
        self.copy = self.doubling.strikes(leaving.due).then_some(*leaving);
        self.copy.is_some()
    }

    /// When the next packet leaves; [`Time::MAX`] if there is none.
    pub(crate) fn next(&self) -> Time {
        if let Some(copy) = &self.copy {
            return copy.due;
        }
        let of = |packet: Option<&Packet>| packet.map_or(Time::MAX, |packet| packet.due);
        of(self.held.front()).min(of(self.overtaken.front().map(|overtaken| &overtaken.packet)))
    }

    /// The next packet that has left by `now`, with the instant at which it did as its `due`.
    pub(crate) fn leave(&mut self, now: Time) -> Option<Packet> {
        while let Some(Overtaken { packet, .. }) =
            self.overtaken.front().filter(|first| first.packet.due <= now).copied()
        {
            self.overtaken.pop_front();
            self.hold(packet);
        }
        self.held.front().is_some_and(|packet| packet.due <= now).then(|| self.held.pop_front()).flatten()
    }

    /// The packets that have not left, without the copy of the last one that has.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.held.iter().chain(self.overtaken.iter().map(|overtaken| &overtaken.packet))
    }

    /// The packet with the instant at which its bunch leaves. An acknowledgement takes the place of the one of its flow before it, unless
    /// that was the last one of its group.
    fn aggregate(&mut self, packet: Packet, aggregation: Option<Span>, thinning: Option<u32>) -> Packet {
        let Some(interval) = aggregation else { return packet };
        let due = self.bunch.filter(|bunch| packet.due <= *bunch).unwrap_or_else(|| {
            self.seen.clear();
            packet.due + interval
        });
        self.bunch = Some(due);
        let packet = Packet { due, ..packet };
        if let (Some(every), Body::Ack(_)) = (thinning, &packet.body) {
            let seen = self.seen.entry(packet.flow).or_default();
            let begins = seen.is_multiple_of(every);
            *seen += 1;
            let is_before = |other: &Packet| other.flow == packet.flow && matches!(other.body, Body::Ack(_));
            let before = if begins { None } else { self.held.iter().rposition(is_before) };
            self.thinned.extend(before.and_then(|place| self.held.remove(place)));
        }
        packet
    }

    fn hold(&mut self, packet: Packet) {
        let place = self.held.partition_point(|other| other.due <= packet.due);
        self.held.insert(place, packet);
    }

    /// A packet that leaves at `due` overtakes those that wait for it; a packet that has waited for the last of them leaves right behind it.
    fn count_overtaking(&mut self, due: Time) {
        let mut waiting = std::mem::take(&mut self.overtaken);
        waiting.retain_mut(|overtaken| {
            overtaken.left -= 1;
            if overtaken.left == 0 {
                self.hold(Packet { due, ..overtaken.packet });
            }
            overtaken.left > 0
        });
        self.overtaken = waiting;
    }
}

impl Doubling {
    fn new(link: &LinkSetup, seed: u64) -> Self {
        let phases = Phases::new(link, |phase| phase.impairments.duplication, |_, probability| threshold(*probability));
        let draws = Stream::new(seed, format_args!("link {}: duplication", link.name));
        Self { threshold: threshold(link.impairments.duplication), phases, draws }
    }

    /// Whether a packet that leaves at `at` leaves twice; `at` must not decrease from call to call.
    fn strikes(&mut self, at: Time) -> bool {
        let threshold = self.phases.as_mut().map_or(self.threshold, |phases| *phases.at(at));
        threshold > 0 && self.draws.chance(threshold)
    }
}

impl Conduct {
    fn new(impairments: &Impairments) -> Self {
        let Impairments { aggregation, ack_thinning: thinning, jitter, reordering, corruption, .. } = *impairments;
        let mangled = impairments.mangling.map(|mangling| match mangling {
            Mangling::Classic => Ecn::Capable,
            Mangling::Scalable => Ecn::Scalable,
            Mangling::Congestion => Ecn::Congestion,
        });
        Self {
            corrupt: threshold(corruption),
            ecn: if impairments.bleach { Some(Ecn::NotCapable) } else { mangled },
            aggregation,
            thinning,
            jitter: jitter.map(Noisy::new),
            reorder: reordering.map_or(0, |reordering| threshold(reordering.probability)),
            by: reordering.map_or(ReorderBy::Time(Span::ZERO), |reordering| reordering.by),
        }
    }

    fn does_nothing(&self) -> bool {
        let Self { aggregation, jitter, reorder, corrupt, ecn, .. } = self;
        aggregation.is_none() && jitter.is_none() && *reorder == 0 && *corrupt == 0 && ecn.is_none()
    }
}

/// Longer than the gaps between the packets of a flow that is not idle.
const LONGEST: Span = Span::from_secs(1);

#[cfg(test)]
mod tests {
    use cwnd::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::net::packet::Ack;
    use crate::net::setup::{Class, NodeId, Noise, QueueLimit, Reordering};

    /// A packet of the flow `name`, which identifies it.
    fn packet(name: u32, millis: u64) -> Packet {
        let body = Body::ToSender(cwnd_udt::Message::KeepAlive);
        let (ecn, class) = (Ecn::NotCapable, Class::Out);
        Packet { due: ms(millis), flow: name, hop: 0, size: Bytes(40), ecn, class, body }
    }

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn link(impairments: Impairments) -> LinkSetup {
        let plain = LinkSetup::new("test".into(), (NodeId(0), NodeId(1)), None, Span::ZERO, QueueLimit::Unlimited);
        LinkSetup { impairments, ..plain }
    }

    fn far_end(probability: f64, by: ReorderBy) -> Box<FarEnd> {
        let reordering = Some(Reordering { probability, by });
        FarEnd::new(&link(Impairments { reordering, ..Impairments::default() }), 1).expect("it holds packets")
    }

    /// Names and milliseconds of all that has left by `now`.
    fn left(end: &mut FarEnd, now: Time) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| end.leave(now)).map(|packet| (packet.flow, packet.due.as_nanos() / 1_000_000)).collect()
    }

    #[test]
    fn one_held_back_for_a_time_is_overtaken() {
        let mut end = far_end(1.0, ReorderBy::Time(Span::from_millis(3)));
        end.enter(packet(0, 0));
        end.conduct.reorder = 0;
        end.enter(packet(1, 2));
        end.enter(packet(2, 4));
        assert_eq!(end.next(), ms(2));
        assert_eq!(left(&mut end, ms(3)), [(1, 2), (0, 3)]);
        assert_eq!(left(&mut end, ms(9)), [(2, 4)]);
        assert_eq!((end.held_back, end.next()), (1, Time::MAX));
    }

    #[test]
    fn one_held_back_for_a_distance_leaves_right_behind_the_last_that_overtakes_it() {
        let mut end = far_end(1.0, ReorderBy::Packets(2));
        end.enter(packet(0, 0));
        end.conduct.reorder = 0;
        (1..=3).for_each(|name| end.enter(packet(name, u64::from(name) * 10)));
        assert_eq!(left(&mut end, ms(99)), [(1, 10), (2, 20), (0, 20), (3, 30)]);
    }

    #[test]
    fn one_that_nobody_overtakes_leaves_after_a_second() {
        let mut end = far_end(1.0, ReorderBy::Packets(2));
        end.enter(packet(0, 5));
        end.conduct.reorder = 0;
        end.enter(packet(1, 7));
        assert_eq!(left(&mut end, ms(1004)), [(1, 7)]);
        assert_eq!(end.next(), ms(1005));
        assert_eq!(left(&mut end, ms(1005)), [(0, 1005)]);
    }

    fn aggregating(ack_thinning: Option<u32>) -> Box<FarEnd> {
        let aggregation = Some(Span::from_millis(5));
        FarEnd::new(&link(Impairments { aggregation, ack_thinning, ..Impairments::default() }), 1)
            .expect("it holds packets")
    }

    #[test]
    fn packets_wait_for_one_another() {
        let mut end = aggregating(None);
        (0..).zip([0, 3, 5, 6, 20]).for_each(|(name, at)| end.enter(packet(name, at)));
        assert_eq!(left(&mut end, ms(99)), [(0, 5), (1, 5), (2, 5), (3, 11), (4, 25)]);
    }

    #[test]
    fn of_acknowledgements_that_leave_together_the_newest_of_each_group_goes_on() {
        let mut end = aggregating(Some(3));
        let ack = |flow, cumulative| {
            let ack = Ack::of(cumulative, Time::ZERO);
            Packet { body: Body::Ack(ack), ..packet(flow, 1) }
        };
        end.enter(packet(1, 1));
        (0..5).for_each(|n| end.enter(ack(1, n)));
        (0..3).for_each(|n| end.enter(ack(2, n)));
        end.enter(Packet { due: ms(8), ..ack(1, 5) });
        let name = |packet: Packet| {
            if let Body::Ack(ack) = packet.body { (packet.flow, Some(ack.cumulative)) } else { (packet.flow, None) }
        };
        let left: Vec<_> = std::iter::from_fn(|| end.leave(ms(99))).map(name).collect();
        assert_eq!(left, [(1, None), (1, Some(2)), (1, Some(4)), (2, Some(2)), (1, Some(5))]);
        assert_eq!(end.thinned.len(), 5);
    }

    proptest! {
        /// Packets leave in the same order however late they are taken, and jitter alone reorders none.
        #[test]
        fn packets_leave_once_and_in_order(
            gaps in proptest::collection::vec(0_u64..20, 1..100),
            (jitter, probability) in (0_u64..30, prop_oneof![Just(0.0), 0.0..1.0_f64]),
            by in prop_oneof![(1_u32..5).prop_map(ReorderBy::Packets), (0_u64..40).prop_map(|by| ReorderBy::Time(Span::from_millis(by)))],
        ) {
            let impairments =
                Impairments {
                jitter: Some(Noise::Uniform(Span::from_millis(jitter + 1)).into()),
                reordering: Some(Reordering { probability, by }),
                ..Impairments::default()
            };
            let ends = || FarEnd::new(&link(impairments.clone()), 1).expect("it holds packets");
            let (mut prompt, mut late) = (ends(), ends());
            let (mut at, mut at_once) = (0, Vec::new());
            for (name, gap) in (0..).zip(&gaps) {
                at += gap;
                while prompt.next() < ms(at) {
                    let now = prompt.next();
                    at_once.extend(prompt.leave(now));
                }
                prompt.enter(packet(name, at));
                late.enter(packet(name, at));
            }
            at_once.extend(std::iter::from_fn(|| prompt.leave(ms(1_000_000))));
            let later: Vec<Packet> = std::iter::from_fn(|| late.leave(ms(1_000_000))).collect();
            prop_assert_eq!(&at_once, &later);
            prop_assert!(later.is_sorted_by_key(|packet| packet.due));
            prop_assert!(probability > 0.0 || later.is_sorted_by_key(|packet| packet.flow));
            let mut names: Vec<u32> = later.iter().map(|packet| packet.flow).collect();
            names.sort_unstable();
            prop_assert_eq!(names, (0..gaps.len() as u32).collect::<Vec<_>>());
        }
    }
}
