//! What is on its way out.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;

use cwnd::{Span, Time};
use cwnd_udt::Departure;
use cwnd_udt::wire::HEADER;

use super::member::Open;
use super::train::{Train, Wagon};
use crate::udp::{Outgoing, Udp};

/// Packets that the protocol has let go and the socket has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Departures {
    /// May grow longer.
    train: Option<Train>,
    /// Complete, in order; only while the socket takes nothing, or between the packets of a pair.
    complete: VecDeque<Train>,
    /// Room for headers, and for control packets.
    headers: Vec<Vec<[u8; HEADER]>>,
    scratch: Vec<u8>,
    blocked: bool,
    /// Datagrams the system refused to send, and the last reason.
    pub(super) refused: u64,
    pub(super) refusal: Option<io::ErrorKind>,
}

impl Departures {
    /// Whether the socket takes nothing at the moment.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The socket may take something again.
    pub(super) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Sends a packet that carries no data. If the socket takes nothing it is lost, as it could be on the way.
    pub(super) fn say(&mut self, departure: &Departure, from: Option<IpAddr>, udp: &Udp) {
        self.scratch.clear();
        departure.encode(&mut self.scratch);
        let bytes = &self.scratch;
        let sent = udp.send(Outgoing { to: departure.to, from, bytes, segment: bytes.len() });
        self.count(sent.map(|_| ()), 1);
    }

    /// Adds a packet of data of an open connection; `pair` says that it is the second of a probe pair.
    pub(super) fn load(&mut self, now: Time, wagon: &Wagon, pair: bool, open: &mut Open, udp: &Udp) {
        let alone = pair && udp.segments() > 1 && open.next_pair <= now;
        let coupled = match &mut self.train {
            Some(train) if !alone => train.couple(wagon, &open.shared.send, udp.segments()),
            _ => false,
        };
        if coupled {
            return;
        }
        // A slot that is not there would be a fault of the protocol's bookkeeping; the peer will ask for the packet again.
        let Some(slot) = open.shared.send.slot(&wagon.bytes) else { return };
        if alone {
            open.next_pair = now + PAIRS;
            let first = self.train.as_mut().filter(|train| train.ends_at(wagon.owner, wagon.bytes.start));
            if let Some(rest) = first.and_then(Train::detach_last) {
                self.close();
                self.train = Some(rest);
            }
        }
        self.close();
        let headers = self.headers.pop().unwrap_or_default();
        self.train = Some(Train::new(wagon, slot, open.shared.send.stride(), headers));
        if alone {
            self.close();
        }
        self.depart(udp);
    }

    /// Sends everything.
    pub(super) fn flush(&mut self, udp: &Udp) {
        self.close();
        self.depart(udp);
    }

    fn close(&mut self) {
        self.complete.extend(self.train.take());
    }

    fn depart(&mut self, udp: &Udp) {
        while !self.blocked
            && let Some(mut train) = self.complete.pop_front()
        {
            let length = train.len();
            let sent = train.depart(udp);
            if matches!(&sent, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
                self.blocked = true;
                self.complete.push_front(train);
                return;
            }
            self.count(sent, length);
            self.headers.push(train.into_headers());
        }
    }

    fn count(&mut self, sent: io::Result<()>, datagrams: usize) {
        if let Err(error) = sent {
            self.refused += datagrams as u64;
            self.refusal = Some(error.kind());
        }
    }
}

/// A probe pair leaves alone this often: glued together, its packets would arrive at one instant and tell nothing. A thousand a
/// second are more than any estimate needs; those between travel glued, and are not believed by the receiver.
const PAIRS: Span = Span::from_millis(1);
