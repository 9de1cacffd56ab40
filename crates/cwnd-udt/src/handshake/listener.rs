//! The listener.

use std::net::SocketAddr;

use cwnd::Time;

use super::cookie::Cookies;
use super::offer::{Agreed, Offer, Refusal};
use crate::number::SocketId;
use crate::settings::Settings;
use crate::wire::{Handshake, Request};

/// The reaction of a listener to a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A request without a cookie: send it back with one. The answer is no longer than the request, and nothing is stored.
    Cookie(Handshake),
    /// The cookie is valid, which proves that the client receives at its address.
    ValidCookie,
    /// No request to a listener.
    Ignored,
    /// The cookie is wrong or expired.
    InvalidCookie,
}

/// A listener's settings and its cookies. It holds nothing of any client.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) settings: Settings,
    /// Connections that may wait to be accepted by the application.
    pub(crate) backlog: usize,
    cookies: Cookies,
}

impl Listener {
    pub(crate) fn new(settings: Settings, backlog: usize, key: [u8; 16]) -> Self {
        Self { settings, backlog, cookies: Cookies::new(key) }
    }

    /// The reaction to a handshake from `from`.
    pub(crate) fn handle(&self, now: Time, from: SocketAddr, theirs: &Handshake) -> Answer {
        match theirs.request {
            Request::Regular => Answer::Cookie(Handshake { cookie: self.cookies.generate(now, from), ..*theirs }),
            Request::Response if self.cookies.is_valid(now, from, theirs.cookie) => Answer::ValidCookie,
            Request::Response => Answer::InvalidCookie,
            _ => Answer::Ignored,
        }
    }

    /// Handles the request of a proven client, for which a connection `id` would be opened now. Returns the agreement and the answer.
    pub(crate) fn accept(
        &self,
        now: Time,
        from: SocketAddr,
        theirs: &Handshake,
        (id, seed): (SocketId, u64),
    ) -> Result<(Agreed, Handshake), Refusal> {
        // The reference client insists on its own initial number in both directions.
        let offer = Offer::new(&self.settings, from, id, theirs.isn, seed);
        let agreed = offer.agree(theirs, now)?;
        let ours = offer.handshake(Request::Response, theirs.cookie, from);
        Ok((agreed, Handshake { mss: ours.mss.min(theirs.mss), ..ours }))
    }
}

/// The answer to a client that is refused: its own handshake, with the request replaced, and with the cookie [`FULL`] where there is no
/// room. libudt's clients do not look at the cookie of a refusal.
pub(crate) fn rejection(theirs: &Handshake, why: Refusal) -> Handshake {
    let cookie = if why == Refusal::Full { FULL } else { theirs.cookie };
    Handshake { request: Request::Rejected, cookie, ..*theirs }
}

/// "FULL" in ASCII. It is the cookie of a client by chance once in 2^32 refusals.
pub(super) const FULL: u32 = 0x4655_4c4c;
