//! The client that connects to a listener.

use std::net::SocketAddr;

use cwnd::{Span, Time};

use super::listener::FULL;
use super::offer::{Agreed, Offer, REPEAT_INTERVAL, Refusal};
use crate::wire::{Handshake, Request};

/// A client that has no connection yet.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    offer: Offer,
    server: SocketAddr,
    opened: Time,
    deadline: Time,
    /// The newest from the server.
    cookie: Option<u32>,
    /// Requests with this cookie that no answer has followed; from [`STALE`] on a fresh one is asked for.
    unanswered: u32,
    next: Time,
}

impl Client {
    pub(crate) fn new(offer: Offer, server: SocketAddr, now: Time, timeout: Span) -> Self {
        Self { offer, server, opened: now, deadline: now + timeout, cookie: None, unanswered: 0, next: now }
    }

    /// Handles a handshake of the server. It must repeat the initial number and the id, which a forged one could not.
    pub(crate) fn handle(&mut self, now: Time, theirs: &Handshake) -> Option<Result<Agreed, Refusal>> {
        if theirs.isn != self.offer.isn {
            return None;
        }
        match theirs.request {
            Request::Regular if self.wants_cookie() && theirs.id == Some(self.offer.id) => {
                (self.cookie, self.unanswered, self.next) = (Some(theirs.cookie), 0, now);
                None
            }
            Request::Rejected if self.cookie.is_some() => {
                Some(Err(if theirs.cookie == FULL { Refusal::Full } else { Refusal::Rejected }))
            }
            Request::Response if self.cookie.is_some() => Some(self.offer.agree(theirs, self.opened)),
            _ => None,
        }
    }

    /// The handshake to send now, if one is due; it has no destination id.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Handshake> {
        if now < self.next {
            return None;
        }
        self.next = now + REPEAT_INTERVAL;
        let (request, cookie) = match self.cookie {
            Some(cookie) if !self.wants_cookie() => (Request::Response, cookie),
            _ => (Request::Regular, 0),
        };
        self.unanswered = self.unanswered.saturating_add(1);
        Some(self.offer.handshake(request, cookie, self.server))
    }

    /// Whether it has timed out.
    pub(crate) fn expired(&self, now: Time) -> bool {
        now >= self.deadline
    }

    /// When it sends next, or times out.
    pub(crate) fn next_timeout(&self) -> Time {
        self.next.min(self.deadline)
    }

    /// It has no cookie, or the cookie may have expired.
    fn wants_cookie(&self) -> bool {
        self.cookie.is_none() || self.unanswered >= STALE
    }
}

/// A second without an answer. libudt's listeners do not answer a cookie of the minute before, and its clients then fail.
const STALE: u32 = 4;
