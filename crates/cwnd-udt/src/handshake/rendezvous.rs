//! A rendezvous: two ends that connect to each other.

use std::net::SocketAddr;

use cwnd::{Span, Time};

use super::offer::{Agreed, HEADERS, Offer, REPEAT_INTERVAL, Refusal};
use crate::number::SocketId;
use crate::wire::{Handshake, Request};

/// One of two ends, before it has a connection.
///
/// It sends 0 until it has received a handshake of the other, then -1. It has a connection when it has sent -1 and receives -1 or -2,
/// or anything that only an end with a connection sends.
///
/// Only the first handshake, 0, is sent without a destination id: from -1 on libudt sends to the id in the first one. A handshake
/// that has our id was therefore sent by somebody who receives at the peer's address, or on the path to it; others may be forged.
#[derive(Clone, Debug)]
pub(crate) struct Rendezvous {
    offer: Offer,
    peer: SocketAddr,
    opened: Time,
    deadline: Time,
    peer_agreed: Option<Agreed>,
    /// It follows from a handshake that was sent to our id.
    proven: bool,
    /// The reason why the last unusable handshake was refused. It may have been forged, so it only counts at the end.
    objection: Option<Refusal>,
    next: Time,
}

impl Rendezvous {
    pub(crate) fn new(offer: Offer, peer: SocketAddr, now: Time, timeout: Span) -> Self {
        let (opened, deadline) = (now, now + timeout);
        Self { offer, peer, opened, deadline, peer_agreed: None, proven: false, objection: None, next: now }
    }

    /// Handles a handshake of the other end, sent to our id or without one; the negotiated values once both have received one.
    pub(crate) fn handle(&mut self, now: Time, theirs: &Handshake, to_our_id: bool) -> Option<Agreed> {
        match theirs.request {
            Request::Rendezvous => {}
            Request::Response if to_our_id => {}
            // libudt sends no version and type in its last handshake; the first had them.
            Request::Agreement if to_our_id => {
                return self.peer_agreed.filter(|agreed| theirs.id == Some(agreed.peer_id));
            }
            _ => return None,
        }
        let agreed = match self.offer.agree(theirs, self.opened) {
            Ok(agreed) => agreed,
            Err(objection) => {
                self.objection = Some(objection);
                return None;
            }
        };
        let known = self.peer_agreed.is_some_and(|peer_agreed| peer_agreed.peer_id == agreed.peer_id);
        if self.proven && !to_our_id && !known {
            return None;
        }
        self.peer_agreed = Some(agreed);
        self.proven |= to_our_id;
        if known && theirs.request == Request::Response {
            return Some(agreed);
        }
        self.next = now;
        None
    }

    /// A packet came that only an end with a connection sends.
    pub(crate) fn confirmed(&self) -> Option<Agreed> {
        self.peer_agreed
    }

    /// The handshake to send now, if one is due, and to which id.
    pub(crate) fn poll(&mut self, now: Time) -> Option<(Option<SocketId>, Handshake)> {
        if now < self.next {
            return None;
        }
        self.next = now + REPEAT_INTERVAL;
        let Some(peer_agreed) = &self.peer_agreed else {
            return Some((None, self.offer.handshake(Request::Rendezvous, 0, self.peer)));
        };
        Some((Some(peer_agreed.peer_id), self.response(peer_agreed)))
    }

    /// The answer of an end with a connection to one that is still asking.
    pub(crate) fn agreement(&self, agreed: &Agreed) -> Handshake {
        Handshake { request: Request::Agreement, ..self.response(agreed) }
    }

    /// Whether it has timed out, and why.
    pub(crate) fn expired(&self, now: Time) -> Option<Refusal> {
        (now >= self.deadline).then(|| self.objection.unwrap_or(Refusal::Timeout))
    }

    /// When it sends next, or times out.
    pub(crate) fn next_timeout(&self) -> Time {
        self.next.min(self.deadline)
    }

    fn response(&self, agreed: &Agreed) -> Handshake {
        let ours = self.offer.handshake(Request::Response, 0, self.peer);
        // libudt uses the largest packet of the other side as received.
        Handshake { mss: agreed.payload + u32::from(HEADERS), ..ours }
    }
}
