//! Packets of a flow that are named one by one: `data:6,7 ack:3`.

use std::fmt;

use cwnd::quantity::{self, QuantityError};
use cwnd_sim::{Fault, ReorderBy};

use super::quantity::{Quantity, refused};

/// Packets to be dropped or marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packets(Vec<Named>);

/// Packets to be held back, each for a time or until others have overtaken it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPackets(Vec<(Named, ReorderBy)>);

/// One packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A transmission of a data packet. Both numbers begin at 1.
    Data {
        /// Of the packet.
        number: u64,
        /// 1 for the first transmission, 2 for the first retransmission.
        transmission: u32,
    },
    /// The n-th data packet that is sent, retransmissions counted, from 1.
    Sent(u64),
    /// The n-th acknowledgement, from 1.
    Ack(u64),
}

impl Packets {
    /// The packets.
    #[must_use]
    pub fn named(&self) -> &[Named] {
        &self.0
    }
}

impl HeldPackets {
    /// The packets, each with what holds it back.
    #[must_use]
    pub fn named(&self) -> &[(Named, ReorderBy)] {
        &self.0
    }
}

impl Named {
    /// What drops this packet of the flow at index `flow`.
    pub(super) fn dropped(self, flow: u32) -> Fault {
        match self {
            Self::Data { number, transmission } => Fault::Data { flow, number: number - 1, transmission },
            Self::Sent(nth) => Fault::Nth { flow, nth },
            Self::Ack(nth) => Fault::Ack { flow, nth },
        }
    }

    /// What marks it; none for an acknowledgement.
    pub(super) fn marked(self, flow: u32) -> Option<Fault> {
        match self {
            Self::Data { number, transmission } => Some(Fault::MarkData { flow, number: number - 1, transmission }),
            Self::Sent(_) | Self::Ack(_) => None,
        }
    }

    /// What holds it back; none for the n-th data packet.
    pub(super) fn held(self, flow: u32, by: ReorderBy) -> Option<Fault> {
        match self {
            Self::Data { number, transmission } => Some(Fault::HoldData { flow, number: number - 1, transmission, by }),
            Self::Ack(nth) => Some(Fault::HoldAck { flow, nth, by }),
            Self::Sent(_) => None,
        }
    }

    /// Whether it is an acknowledgement.
    #[must_use]
    pub fn is_ack(self) -> bool {
        matches!(self, Self::Ack(_))
    }

    /// Reads `data:6`, `data:6/2`, `sent:20` or `ack:3`, or a list of numbers and ranges of one kind, such as `data:6,8-10`.
    fn read_group(kind: &str, list: &str) -> Option<Vec<Self>> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &u64| (1..=1 << 40).contains(number));
        let mut all = Vec::new();
        for item in list.split(',') {
            let (numbers, transmission) = match item.split_once('/') {
                Some((numbers, transmission)) if kind == "data" => {
                    (numbers, transmission.trim().parse().ok().filter(|transmission| *transmission > 0)?)
                }
                Some(_) => return None,
                None => (item, 1),
            };
            let (first, last) = match numbers.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(numbers)?, number(numbers)?),
            };
            if last < first || last - first >= MOST as u64 {
                return None;
            }
            for number in first..=last {
                all.push(match kind {
                    "data" => Self::Data { number, transmission },
                    "sent" => Self::Sent(number),
                    "ack" => Self::Ack(number),
                    _ => return None,
                });
            }
        }
        Some(all)
    }
}

/// Groups of packets, at most [`MOST`] in all.
fn groups(text: &str, mut read: impl FnMut(&str, &str) -> Option<usize>) -> Option<()> {
    let mut count = 0;
    for group in text.split_whitespace() {
        let (kind, list) = group.split_once(':')?;
        count += read(kind, list)?;
        if count > MOST {
            return None;
        }
    }
    (count > 0).then_some(())
}

impl Quantity for Packets {
    const NAME: &'static str = "Packets";
    const EXPECTED: &'static str = "packets by number from 1, in groups with spaces between: `data:6,8-10` (first transmissions), `data:6/2` \
         (the second transmission of packet 6), `sent:20` (the 20th data packet, retransmissions counted), `ack:3`; at most 1000 in all";
    const EXAMPLES: &'static [&'static str] = &["data:6,7 ack:3", "data:6,6/2", "sent:20-29"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let mut all = Vec::new();
        groups(text, |kind, list| {
            let group = Named::read_group(kind, list)?;
            all.extend(&group);
            Some(group.len())
        })
        .map(|()| Self(all))
        .ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl Quantity for HeldPackets {
    const NAME: &'static str = "HeldPackets";
    const EXPECTED: &'static str = "packets by number from 1 and for how long they are held back, in groups with spaces between: \
         `data:6,8-10=15ms`, `data:6/2=3p` (until three others have overtaken it), `ack:3=10ms`; at most 1000 packets in all";
    const EXAMPLES: &'static [&'static str] = &["data:6,7=15ms ack:3=10ms", "data:6=3p"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let mut all = Vec::new();
        groups(text, |kind, list| {
            let (list, by) = list.split_once('=')?;
            let by = match by.strip_suffix('p') {
                Some(packets) => ReorderBy::Packets(packets.parse().ok().filter(|packets| *packets > 0)?),
                None => ReorderBy::Time(quantity::span(by).ok()?),
            };
            let group = Named::read_group(kind, list).filter(|_| kind != "sent")?;
            all.extend(group.iter().map(|named| (*named, by)));
            Some(group.len())
        })
        .map(|()| Self(all))
        .ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { number, transmission: 1 } => write!(out, "data:{number}"),
            Self::Data { number, transmission } => write!(out, "data:{number}/{transmission}"),
            Self::Sent(nth) => write!(out, "sent:{nth}"),
            Self::Ack(nth) => write!(out, "ack:{nth}"),
        }
    }
}

/// Most packets that a flow names. Each packet of the run is compared with all of them.
const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;

    #[test]
    fn packets_have_kinds_ranges_and_transmissions() {
        let names = |text: &str| {
            Packets::read(text).map(|packets| packets.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names("data:6,7 ack:3").as_deref(), Ok("data:6 data:7 ack:3"));
        assert_eq!(names("data:6,6/2,8-10  sent:20").as_deref(), Ok("data:6 data:6/2 data:8 data:9 data:10 sent:20"));
        for text in [
            "",
            "data",
            "data:",
            "data:0",
            "data:7-6",
            "data:1-1001",
            "data:1-600 ack:1-600",
            "ack:3/2",
            "nak:3",
            "data:6/0",
            "6",
        ] {
            assert!(Packets::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn held_packets_have_a_time_or_a_distance() {
        let time = ReorderBy::Time(Span::from_millis(15));
        let data = |number, transmission| Named::Data { number, transmission };
        assert_eq!(
            HeldPackets::read("data:6,7=15ms").map(|held| held.0),
            Ok(vec![(data(6, 1), time), (data(7, 1), time)])
        );
        assert_eq!(
            HeldPackets::read("data:6/2=3p ack:4=15ms").map(|held| held.0),
            Ok(vec![(data(6, 2), ReorderBy::Packets(3)), (Named::Ack(4), time)])
        );
        for text in ["data:6", "data:6=0p", "data:6=15", "sent:6=15ms", "=15ms"] {
            assert!(HeldPackets::read(text).is_err(), "{text}");
        }
    }
}
