//! Records every packet offered to a link, and drops, marks and delays chosen ones.

use std::collections::BTreeMap;

use cwnd::Time;
use cwnd_trace::{Passage, Passing};

use super::packet::{Ack, Body, Datagram, Ecn, Packet, Reply};
use super::setup::{Fault, ReorderBy, Tap as TapSetup};
use crate::random::{Stream, threshold};

/// Records packets, and decides which of them are lost or marked.
#[derive(Debug)]
pub(crate) struct Tap {
    faults: Vec<Fault>,
    /// For each fault, the packets that it has struck.
    struck: Vec<u32>,
    /// For faults that are drawn.
    stream: Stream,
    seen: Seen,
    record: bool,
    pub(crate) passages: Vec<Passage>,
}

/// Counts the packets of each flow, to tell one from another.
#[derive(Debug, Default)]
struct Seen {
    /// The number of times that each number of a flow has come by.
    transmissions: BTreeMap<(u32, u64), u32>,
    /// Data packets of a flow.
    data: BTreeMap<u32, u64>,
    /// Acknowledgements of a flow.
    acks: BTreeMap<u32, u64>,
}

/// One packet of a flow.
#[derive(Clone, Copy, Debug)]
enum Which {
    Data { number: u64, transmission: u32, nth: u64 },
    Ack { nth: u64, cumulative: u64 },
}

/// Holds chosen packets back.
#[derive(Debug)]
pub(crate) struct Holds {
    faults: Vec<Fault>,
    seen: Seen,
}

impl Seen {
    /// Which packet comes by. None of those that no fault names.
    fn count(&mut self, packet: &Packet) -> Option<Which> {
        let flow = packet.flow;
        Some(match &packet.body {
            Body::Data(data) | Body::Headed(data, _) => {
                let transmission = self.transmissions.entry((flow, data.number)).or_default();
                *transmission += 1;
                let nth = self.data.entry(flow).or_default();
                *nth += 1;
                Which::Data { number: data.number, transmission: *transmission, nth: *nth }
            }
            Body::Ack(Ack { cumulative, .. }) | Body::Reply(Reply { cumulative, .. }) => {
                let nth = self.acks.entry(flow).or_default();
                *nth += 1;
                Which::Ack { nth: *nth, cumulative: *cumulative }
            }
            Body::Datagram(Datagram { number, to_receiver: true, .. }) => {
                Which::Data { number: *number, transmission: 1, nth: number + 1 }
            }
            Body::Datagram(Datagram { number, .. }) => Which::Ack { nth: number + 1, cumulative: 0 },
            Body::ToSender(_) | Body::ToReceiver(_) | Body::Agent(_) | Body::Report(_) | Body::Handshake(_) => {
                return None;
            }
        })
    }
}

impl Tap {
    /// A tap on the link called `link`.
    pub(crate) fn new(setup: &TapSetup, seed: u64, link: &str) -> Self {
        Self {
            faults: setup.faults.clone(),
            struck: vec![0; setup.faults.len()],
            stream: Stream::new(seed, format_args!("link {link}: tap")),
            seen: Seen::default(),
            record: setup.record,
            passages: Vec::new(),
        }
    }

    /// A packet is offered: whether it is lost. One that passes may be marked.
    pub(crate) fn strikes(&mut self, now: Time, packet: &mut Packet) -> bool {
        let flow = packet.flow;
        let Some(which) = self.seen.count(packet) else { return false };
        let lost = match which {
            Which::Ack { nth, .. } => self.faults.contains(&Fault::Ack { flow, nth }),
            Which::Data { number, transmission, nth } => {
                if packet.ecn != Ecn::NotCapable
                    && self.faults.contains(&Fault::MarkData { flow, number, transmission })
                {
                    packet.ecn = Ecn::Congestion;
                }
                self.faults.contains(&Fault::Data { flow, number, transmission })
                    || self.faults.contains(&Fault::Nth { flow, nth })
                    || self.strikes_in_time(now, packet)
            }
        };
        if self.record {
            let what = match which {
                Which::Data { number, transmission, .. } => Passing::Data { number, transmission },
                Which::Ack { nth, cumulative } => Passing::Ack { nth, cumulative },
            };
            self.passages.push(Passage { at: now.as_nanos(), flow, what, bytes: packet.size.0, lost });
        }
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
                    if !lost
                        && flow == packet.flow
                        && now >= from
                        && *struck < count
                        && packet.ecn != Ecn::NotCapable =>
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

impl Holds {
    /// None if no packet is held back.
    pub(crate) fn new(faults: &[Fault]) -> Option<Self> {
        let holds = |fault: &&Fault| matches!(fault, Fault::HoldData { .. } | Fault::HoldAck { .. });
        let faults: Vec<Fault> = faults.iter().filter(holds).copied().collect();
        (!faults.is_empty()).then(|| Self { faults, seen: Seen::default() })
    }

    /// The delay of the packet that arrives; none if it continues.
    pub(crate) fn hold(&mut self, packet: &Packet) -> Option<ReorderBy> {
        let which = self.seen.count(packet)?;
        self.faults.iter().find_map(|fault| match (*fault, which) {
            (Fault::HoldData { flow, number, transmission, by }, Which::Data { number: n, transmission: t, .. }) => {
                (flow == packet.flow && number == n && transmission == t).then_some(by)
            }
            (Fault::HoldAck { flow, nth, by }, Which::Ack { nth: n, .. }) => {
                (flow == packet.flow && nth == n).then_some(by)
            }
            _ => None,
        })
    }
}
