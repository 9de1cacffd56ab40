//! Drops acknowledgements that newer ones make redundant, as `cake_ack_filter` of Linux `net/sched/sch_cake.c` without `aggressive` does.
//!
//! When an acknowledgement arrives, the oldest redundant one of its flow goes, if two or more are: one of them stays, next to the one that
//! has arrived. Packets of other protocols, datagrams, and acknowledgements with headers of routers, which are options that Linux does
//! not know, stay.

use super::scheduled::Held;
use crate::net::packet::{Ack, Body, Packet};

/// Takes the acknowledgement that the newest packet of `held`, itself one, makes redundant.
pub(super) fn take_redundant(held: &mut Held) -> Option<Packet> {
    let index = redundant(held)?;
    held.remove(index)
}

fn redundant(held: &Held) -> Option<usize> {
    let newest = held.iter().next_back()?;
    let Body::Ack(newer) = &newest.body else { return None };
    let others = held.iter().take(held.packets() as usize - 1).enumerate();
    let acks = others.filter_map(|(index, packet)| match &packet.body {
        Body::Ack(ack) if packet.flow == newest.flow => Some((index, ack)),
        _ => None,
    });
    // The oldest redundant one with its echo of marks, and how many have been found.
    let (mut first, mut found) = (None, 0);
    for (index, ack) in acks {
        // Between different echoes the sender sees a mark, or that its reaction was heard of.
        if first.is_some_and(|(_, echo)| echo != echo_of(ack)) {
            first = None;
            found -= 1;
        }
        if !is_redundant(ack, newer) {
            continue;
        }
        let (oldest, _) = *first.get_or_insert((index, echo_of(ack)));
        if found > 0 {
            return Some(oldest);
        }
        found += 1;
    }
    None
}

/// ECE, and CWR and ECE of the counter of AccECN.
fn echo_of(ack: &Ack) -> (bool, u8) {
    (ack.marked, ack.ace() & 0b011)
}

/// Whether `newer` says all that `ack` does and more (`cake_tcph_may_drop`, and the checks after it). A repeated acknowledgement says no
/// more.
fn is_redundant(ack: &Ack, newer: &Ack) -> bool {
    // AE, a bit that was reserved: Linux keeps acknowledgements that set it.
    let reserved = ack.ace() & 0b100 != 0;
    if reserved || ack.echo > newer.echo || ack.cumulative > newer.cumulative {
        return false;
    }
    match adds(ack, newer) {
        Some(0) => ack.cumulative < newer.cumulative,
        Some(_) => true,
        None => false,
    }
}

/// How many packets the ranges of `newer` hold more than those of `ack` (`cake_tcph_sack_compare`); none if they do not cover those, or if
/// `ack` reports a packet that arrived twice.
fn adds(ack: &Ack, newer: &Ack) -> Option<u64> {
    let ranges = |ack: &Ack| {
        let base = ack.cumulative;
        ack.ranges().into_iter().filter(|block| !block.is_empty()).map(move |block| {
            let [first, end] = [block.first, block.end].map(|number| base + u64::from(number));
            (first, end)
        })
    };
    let covered = |(first, end)| ranges(newer).any(|(from, to)| from <= first && end <= to);
    if ack.duplicate().is_some() || !ranges(ack).all(covered) {
        return None;
    }
    let packets = |ack: &Ack| ranges(ack).map(|(first, end)| end - first).sum::<u64>();
    let doubled = u64::from(newer.duplicate().is_some());
    Some((packets(newer) + doubled).saturating_sub(packets(ack)))
}

#[cfg(test)]
mod tests {
    use cwnd::{Bytes, Span, Time};

    use super::*;
    use crate::net::packet::{Block, Ecn};
    use crate::net::setup::Class;

    /// An acknowledgement of the packets below `cumulative`, for one that left at as many milliseconds, and of these ranges.
    fn ack(cumulative: u64, ranges: &[(u32, u32)]) -> Ack {
        let mut ack = Ack::of(cumulative, Time::ZERO + Span::from_millis(cumulative));
        for (block, (first, end)) in ack.sack.iter_mut().zip(ranges) {
            *block = Block { first: *first, end: *end };
        }
        ack
    }

    fn marked(cumulative: u64) -> Ack {
        Ack { marked: true, ..ack(cumulative, &[]) }
    }

    fn counted(cumulative: u64, ace: u8) -> Ack {
        let mut ack = ack(cumulative, &[]);
        ack.set_ace(ace);
        ack
    }

    fn packet(flow: u32, ack: Ack) -> Packet {
        let (size, ecn, class) = (Bytes(40), Ecn::NotCapable, Class::Out);
        Packet { due: Time::ZERO, flow, hop: 0, size, ecn, class, body: Body::Ack(ack) }
    }

    /// The place of the one that is dropped, the newest being the last.
    fn dropped(acks: &[Ack]) -> Option<usize> {
        let mut held = Held::default();
        acks.iter().for_each(|ack| held.push(Time::ZERO, &packet(1, *ack)));
        redundant(&held)
    }

    #[test]
    fn of_two_redundant_ones_the_older_goes() {
        assert_eq!(dropped(&[ack(1, &[])]), None);
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[])]), None, "one alone stays");
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[]), ack(3, &[])]), Some(0));
        assert_eq!(dropped(&[ack(3, &[]), ack(1, &[]), ack(2, &[]), ack(3, &[])]), Some(1), "the first says as much");
    }

    #[test]
    fn what_tells_more_stays() {
        // Repeated acknowledgements count for fast retransmit, and tell of a new window.
        assert_eq!(dropped(&[ack(5, &[]), ack(5, &[]), ack(5, &[])]), None);
        // Ranges: 7 to 9 are within 6 to 10, and not within 8 to 10.
        let [three, wide, late] = [ack(5, &[(2, 4)]), ack(5, &[(1, 5)]), ack(5, &[(3, 5)])];
        assert_eq!(dropped(&[three, three, wide]), Some(0));
        assert_eq!(dropped(&[three, three, late]), None);
        assert_eq!(dropped(&[three, three, ack(9, &[])]), None, "the newer one has no range, as in Linux");
        // Ranges count from the cumulative number: 7 to 9 is (2, 4) from 5 and (1, 3) from 6.
        assert_eq!(dropped(&[three, three, ack(6, &[(1, 3)])]), Some(0));
        assert_eq!(dropped(&[three, three, three]), None);
        // Of a packet that arrived twice.
        let twice = Ack { duplicate: -1, ..ack(3, &[]) };
        assert_eq!(dropped(&[twice, twice, ack(4, &[])]), None);
        assert_eq!(dropped(&[ack(4, &[]), ack(4, &[]), Ack { duplicate: -1, ..ack(4, &[]) }]), Some(0));
        // A later timestamp.
        let late = Ack { echo: Time::MAX, ..ack(1, &[]) };
        assert_eq!(dropped(&[late, late, ack(4, &[])]), None);
    }

    #[test]
    fn where_the_echo_of_marks_changes_one_stays_on_each_side() {
        assert_eq!(dropped(&[ack(1, &[]), marked(2), marked(3), ack(4, &[])]), Some(1));
        assert_eq!(dropped(&[ack(1, &[]), marked(2), ack(3, &[]), marked(4)]), None);
        assert_eq!(dropped(&[marked(1), marked(2), ack(3, &[])]), Some(0));
        // The counter is 5 at first: its highest bit is one that Linux keeps.
        assert_eq!(dropped(&[counted(1, 5), counted(2, 5), counted(3, 5)]), None);
        assert_eq!(dropped(&[counted(1, 1), counted(2, 1), counted(3, 2)]), Some(0));
        assert_eq!(dropped(&[counted(1, 1), counted(2, 2), counted(3, 3)]), None);
    }

    /// The number of marks is no range.
    #[test]
    fn acknowledgements_that_count_all_marks_are_compared_by_their_ranges() {
        let totals = |cumulative, ranges: &[(u32, u32)], marks| {
            let mut ack = ack(cumulative, ranges);
            ack.set_totals(marks, false);
            ack.set_later(5_000_000);
            ack
        };
        assert_eq!(dropped(&[totals(1, &[], 3), totals(2, &[], 3), totals(3, &[], 9)]), Some(0));
        assert_eq!(dropped(&[totals(5, &[], 1), totals(5, &[], 2), totals(5, &[], 3)]), None, "they are repeated");
        assert_eq!(dropped(&[totals(5, &[(2, 4)], 1), totals(5, &[(2, 4)], 1), totals(5, &[(1, 5)], 2)]), Some(0));
    }

    #[test]
    fn other_flows_do_not_count() {
        let mut held = Held::default();
        for (flow, cumulative) in [(1, 1), (2, 2), (1, 3), (2, 4)] {
            held.push(Time::ZERO, &packet(flow, ack(cumulative, &[])));
        }
        assert!(take_redundant(&mut held).is_none());
        held.push(Time::ZERO, &packet(2, ack(5, &[])));
        let gone = take_redundant(&mut held).map(|packet| (packet.flow, packet.body));
        assert_eq!(gone, Some((2, Body::Ack(ack(2, &[])))));
        assert_eq!((held.packets(), held.bytes()), (4, 160));
    }
}
