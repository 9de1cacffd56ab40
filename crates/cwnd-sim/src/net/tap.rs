//! Records every packet offered to a link, and drops chosen ones.

use std::collections::BTreeMap;

use cwnd::Time;
use cwnd_trace::{Passage, Passing};

use super::packet::{Ack, Body, Datagram, Packet, Reply};
use super::setup::Fault;

/// Records packets, and decides which of them are lost.
#[derive(Debug)]
pub(crate) struct Tap {
    faults: Vec<Fault>,
    /// How often each number of a flow has come by.
    transmissions: BTreeMap<(u32, u64), u32>,
    /// How many acknowledgements of a flow have come by.
    acks: BTreeMap<u32, u64>,
    pub(crate) passages: Vec<Passage>,
}

impl Tap {
    /// A tap that loses what `faults` name.
    pub(crate) fn new(faults: &[Fault]) -> Self {
        Self { faults: faults.to_vec(), transmissions: BTreeMap::new(), acks: BTreeMap::new(), passages: Vec::new() }
    }

    /// A packet is offered: whether it is lost.
    pub(crate) fn strikes(&mut self, now: Time, packet: &Packet) -> bool {
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
            Body::ToSender(_) | Body::ToReceiver(_) | Body::Report(_) => return false,
        };
        let lost = self.faults.contains(&fault);
        self.passages.push(Passage { at: now.as_nanos(), flow, what, lost });
        lost
    }
}
