//! Records every packet offered to a link, and drops chosen ones.

use std::collections::BTreeMap;

use cwnd::Time;
use cwnd_trace::{Passage, Passing};

use super::packet::{Ack, Body, Datagram, Ecn, Packet, Reply};
use super::setup::Fault;
use crate::random::{Stream, threshold};

/// Records packets, and decides which of them are lost or marked.
#[derive(Debug)]
pub(crate) struct Tap {
    faults: Vec<Fault>,
    /// For each fault, the packets that it has struck.
    struck: Vec<u32>,
    /// For faults that are drawn.
    stream: Stream,
    /// How often each number of a flow has come by.
    transmissions: BTreeMap<(u32, u64), u32>,
    /// How many acknowledgements of a flow have come by.
    acks: BTreeMap<u32, u64>,
    pub(crate) passages: Vec<Passage>,
}

impl Tap {
    /// A tap that loses and marks what `faults` name, on the link called `link`.
    pub(crate) fn new(faults: &[Fault], seed: u64, link: &str) -> Self {
        Self {
            faults: faults.to_vec(),
            struck: vec![0; faults.len()],
            stream: Stream::new(seed, format_args!("link {link}: tap")),
            transmissions: BTreeMap::new(),
            acks: BTreeMap::new(),
            passages: Vec::new(),
        }
    }

    /// A packet is offered: whether it is lost. One that passes may be marked.
    pub(crate) fn strikes(&mut self, now: Time, packet: &mut Packet) -> bool {
        let flow = packet.flow;
        let (what, fault) = match &packet.body {
            Body::Data(data) | Body::Headed(data, _) => {
                let transmission = self.transmissions.entry((flow, data.number)).or_default();
                *transmission += 1;
                let (number, transmission) = (data.number, *transmission);
                (Passing::Data { number, transmission }, Fault::Data { flow, number, transmission })
            }
            Body::Ack(Ack { cumulative, .. }) | Body::Reply(Reply { cumulative, .. }) => {
                let nth = self.acks.entry(flow).or_default();
                *nth += 1;
                (Passing::Ack { nth: *nth, cumulative: *cumulative }, Fault::Ack { flow, nth: *nth })
            }
            Body::Datagram(Datagram { number, to_receiver: true, .. }) => {
                let number = *number;
                (Passing::Data { number, transmission: 1 }, Fault::Data { flow, number, transmission: 1 })
            }
            Body::Datagram(Datagram { number, .. }) => {
                let nth = number + 1;
                (Passing::Ack { nth, cumulative: 0 }, Fault::Ack { flow, nth })
            }
            Body::ToSender(_) | Body::ToReceiver(_) | Body::Agent(_) | Body::Report(_) => return false,
        };
        let data = matches!(what, Passing::Data { .. });
        let lost = self.faults.contains(&fault) || (data && self.strikes_in_time(now, packet));
        self.passages.push(Passage { at: now.as_nanos(), flow, what, lost });
        lost
    }

    /// The faults that are tied to instants and not to numbers.
    fn strikes_in_time(&mut self, now: Time, packet: &mut Packet) -> bool {
        let mut lost = false;
        for (fault, struck) in self.faults.iter().zip(&mut self.struck) {
            match *fault {
                Fault::Next { flow, from, count } if !lost && flow == packet.flow && now >= from && *struck < count => {
                    *struck += 1;
                    lost = true;
                }
                Fault::Share { flow, from, to, per_mille } if flow == packet.flow && (from..to).contains(&now) => {
                    lost |= self.stream.chance(threshold(f64::from(per_mille) / 1000.0));
                }
                Fault::Mark { flow, from, count }
                    if !lost && flow == packet.flow && now >= from && *struck < count && packet.ecn == Ecn::Capable =>
                {
                    *struck += 1;
                    packet.ecn = Ecn::Congestion;
                }
                _ => {}
            }
        }
        lost
    }
}
