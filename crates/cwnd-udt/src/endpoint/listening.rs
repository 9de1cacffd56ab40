//! The listener of an endpoint: requests, cookies, and the backlog.

use std::net::SocketAddr;

use cwnd::{Span, Time};
use rand_core::Rng;

use super::state::{Entry, Established, State};
use super::{Datagram, Endpoint, Event};
use crate::connection::{Connection, Transmit};
use crate::handshake::{Answer, Refusal, rejection};
use crate::number::SocketId;
use crate::places::{Full, Standing};
use crate::wire::{Handshake, Message, Request};

impl Endpoint {
    /// Handles a handshake without a destination id.
    pub(super) fn handle_request(&mut self, now: Time, from: SocketAddr, theirs: &Handshake) {
        let (Some(listener), Some(client)) = (&self.listener, theirs.id) else {
            self.stats.misdirected += 1;
            return;
        };
        if theirs.request == Request::Regular && !may_answer(&mut self.answers, now) {
            self.stats.unanswered += 1;
            return;
        }
        match listener.handle(now, from, theirs) {
            Answer::Cookie(challenge) => self.reply(from, client, Transmit::Handshake(challenge)),
            Answer::ValidCookie => self.on_valid_cookie(now, from, client, theirs),
            Answer::Ignored => self.stats.misdirected += 1,
            Answer::InvalidCookie => self.stats.invalid_cookies += 1,
        }
    }

    /// A client at `from` has repeated its cookie.
    fn on_valid_cookie(&mut self, now: Time, from: SocketAddr, client: SocketId, theirs: &Handshake) {
        let known = self.peers.get(&(from, Some(client))).copied();
        if let Some(open) = known.and_then(|place| self.table.get_mut(place)).and_then(Entry::open_mut)
            && open.agreed.isn_theirs == theirs.isn
        {
            // The first answer may have been lost. Once the client has sent a packet on the connection there is none to repeat.
            if let Some(response) = open.repeat_response(now) {
                self.reply(from, client, Transmit::Handshake(response));
            }
            return;
        }
        if self.closed_clients.contains(&(from, client, theirs.isn)) {
            return;
        }
        match self.admit(now, from, theirs) {
            Ok((place, response)) => {
                self.peers.insert((from, Some(client)), place);
                self.waiting += 1;
                self.events.push_back((self.table.handle(place), Event::Accepted { from }));
                self.schedule(place);
                self.reply(from, client, Transmit::Handshake(response));
            }
            Err(refusal) => {
                self.stats.rejected += 1;
                self.reply(from, client, Transmit::Handshake(rejection(theirs, refusal)));
            }
        }
    }

    /// Opens a connection for a proven client, if it can be served.
    fn admit(&mut self, now: Time, from: SocketAddr, theirs: &Handshake) -> Result<(u32, Handshake), Refusal> {
        let listener = self.listener.as_ref().ok_or(Refusal::Rejected)?;
        if self.waiting >= listener.backlog {
            return Err(Refusal::Full);
        }
        let (place, id) = self.table.reserve(self.random.next_u32()).ok_or(Refusal::Full)?;
        let accepted = listener.accept(now, from, theirs, (id, self.random.next_u64()));
        let admitted = accepted.and_then(|accepted| {
            let lost = self.clients.take(place, from.ip()).map_err(|Full| Refusal::Full)?;
            Ok((accepted, lost))
        });
        let ((agreed, response), lost) = admitted.inspect_err(|_| self.table.release(place))?;
        if !self.clients_make_room {
            self.clients.set(place, Standing::Kept);
        }
        let mut connection = Connection::new(&listener.settings, &agreed, now);
        if listener.settings.prove_acks {
            connection.share(self.unproven.of(now, from.ip()));
        }
        self.table.fill(
            place,
            Entry::new(
                id,
                from,
                State::Established(Box::new(Established::accepted(now, connection, agreed, response))),
            ),
        );
        lost.into_iter().for_each(|lost| self.evict(lost));
        Ok((place, response))
    }

    /// Ends the connection of a client that has lost its place. One shutdown packet has to do: several, over a time, would be a
    /// connection to be kept for each newcomer.
    fn evict(&mut self, place: u32) {
        self.stats.evicted += 1;
        self.leave_backlog(place);
        let Some(entry) = self.table.get_mut(place) else { return };
        let peer = entry.peer;
        let Some(open) = entry.open_mut() else { return };
        open.connection.cut();
        let id = open.agreed.peer_id;
        self.reply(peer, id, Transmit::Message(Message::Shutdown));
        self.schedule(place);
    }

    /// The connection at `place` no longer counts against the backlog.
    pub(super) fn leave_backlog(&mut self, place: u32) {
        if self.table.get_mut(place).is_some_and(Entry::leave_backlog) {
            self.waiting -= 1;
        }
    }

    fn reply(&mut self, to: SocketAddr, id: SocketId, transmit: Transmit) {
        if self.replies.len() < MAX_REPLIES {
            self.replies.push_back(Datagram { to, id: Some(id), handle: None, transmit });
        } else {
            self.stats.unanswered += 1;
        }
    }
}

/// Whether another request without a valid cookie is answered now, of `left` that may be answered as of a time (a token bucket). The
/// source address of a request can be forged, and an answer costs more than any other part of it, so answers are limited. Clients
/// repeat their requests.
fn may_answer((left, as_of): &mut (u64, Time), now: Time) -> bool {
    let earned = now.since(*as_of).as_nanos() / ANSWER.as_nanos();
    *left = (*left + earned).min(MAX_ANSWERS);
    *as_of += ANSWER * earned;
    let allowed = *left > 0;
    *left -= u64::from(allowed);
    allowed
}

/// Answers that may wait to be sent; a client without an answer repeats its request.
const MAX_REPLIES: usize = 1024;
/// Requests that are answered at once.
pub(super) const MAX_ANSWERS: u64 = 1024;
/// Beyond that, 25,000 a second: a tenth of a core, and a client that asks twelve times, as ours does within its three seconds,
/// gets an answer among 100,000 others a second with a probability of 97 %.
const ANSWER: Span = Span::from_micros(40);
