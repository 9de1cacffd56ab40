//! The offers of the ends in a handshake, and their agreement.

use std::net::{IpAddr, SocketAddr};

use cwnd::{Span, Time};
use thiserror::Error;

use crate::number::{Seq, SocketId};
use crate::settings::{BUFFER, MSS, Mode, Settings};
use crate::wire::{Handshake, Request};

/// The negotiated values: all that a connection needs of its handshake. Every value is within its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The number of the first packet sent.
    pub isn_ours: Seq,
    /// The number of the first packet to be received; between client and server it is the same as ours.
    pub isn_theirs: Seq,
    /// The payload of a full packet, in bytes: at least 32.
    pub payload: u32,
    /// The peer's id of the connection, which packets to it carry.
    pub peer_id: SocketId,
    /// The receive window of the peer in packets: 2 ..= 2^20.
    pub peer_window: u32,
    /// The mode of the connection.
    pub mode: Mode,
    /// The instant from which the timestamps of packets count.
    pub opened: Time,
    /// The seed of the algorithm's own random numbers.
    pub seed: u64,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The listener has no room for another client from this address.
    #[error("the other side is full, try again")]
    Full,
    /// The other side carries messages where we carry a stream, or the reverse.
    #[error("the other side is not set to {0:?}")]
    Mode(Mode),
    /// A largest packet that holds nothing, or that IP cannot carry.
    #[error("the other side wants packets of {bytes} B, outside {}..={}", MSS.start(), MSS.end())]
    Mss {
        /// As it asked.
        bytes: u32,
    },
    /// The handshake has no socket id.
    #[error("the other side gave no socket id")]
    NoSocketId,
    /// The listener refused: other settings, or, if it is libudt's, no room.
    #[error("the other side refused")]
    Rejected,
    /// No answer, or none that was one.
    #[error("no answer")]
    Timeout,
    /// Another version of the protocol.
    #[error("the other side uses version {0}")]
    Version(u32),
    /// No room, or a window that is no number.
    #[error("the other side grants a window, in packets, of {0}")]
    Window(u32),
}

/// The offer of one end in a handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) mode: Mode,
    pub(crate) mss: u16,
    pub(crate) window: u32,
    pub(crate) isn: Seq,
    pub(crate) id: SocketId,
    pub(crate) seed: u64,
}

impl Offer {
    /// The offer of `settings` towards a peer at `peer`.
    pub(crate) fn new(settings: &Settings, peer: SocketAddr, id: SocketId, isn: Seq, seed: u64) -> Self {
        // The other side counts 20 bytes for an IPv4 header, whatever the real one.
        let mss = if peer.is_ipv6() { settings.mss.saturating_sub(IPV6_MORE).max(*MSS.start()) } else { settings.mss };
        Self { mode: settings.mode, mss, window: settings.receive_buffer, isn, id, seed }
    }

    /// A handshake to `peer`.
    pub(crate) fn handshake(&self, request: Request, cookie: u32, peer: SocketAddr) -> Handshake {
        Handshake {
            version: VERSION,
            socket_type: socket_type(self.mode),
            isn: self.isn,
            mss: u32::from(self.mss),
            window: self.window,
            request,
            id: Some(self.id),
            cookie,
            address: wire_address(peer.ip()),
        }
    }

    /// The agreement that follows from this offer and theirs, at `opened`.
    pub(crate) fn agree(&self, theirs: &Handshake, opened: Time) -> Result<Agreed, Refusal> {
        if theirs.version != VERSION {
            return Err(Refusal::Version(theirs.version));
        }
        if theirs.socket_type != socket_type(self.mode) {
            return Err(Refusal::Mode(self.mode));
        }
        let mss =
            u16::try_from(theirs.mss).ok().filter(|mss| MSS.contains(mss)).ok_or(Refusal::Mss { bytes: theirs.mss })?;
        if !(1..=i32::MAX.cast_unsigned()).contains(&theirs.window) {
            return Err(Refusal::Window(theirs.window));
        }
        Ok(Agreed {
            isn_ours: self.isn,
            isn_theirs: theirs.isn,
            payload: u32::from(mss.min(self.mss) - HEADERS),
            peer_id: theirs.id.ok_or(Refusal::NoSocketId)?,
            peer_window: theirs.window.clamp(2, *BUFFER.end()),
            mode: self.mode,
            opened,
            seed: self.seed,
        })
    }
}

fn socket_type(mode: Mode) -> u32 {
    match mode {
        Mode::Stream => 1,
        Mode::Messages => 2,
    }
}

/// An address as libudt writes it on most machines: the bytes of every word reversed.
fn wire_address(ip: IpAddr) -> [u8; 16] {
    let mut address = [0; 16];
    match ip {
        IpAddr::V4(ip) => address[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => address.copy_from_slice(&ip.octets()),
    }
    address.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    address
}

const VERSION: u32 = 4;
/// IPv4, UDP and UDT.
pub(super) const HEADERS: u16 = 20 + 8 + 16;
/// An IPv6 header beyond one of IPv4.
const IPV6_MORE: u16 = 20;
/// libudt repeats an unanswered handshake this often.
pub(super) const REPEAT_INTERVAL: Span = Span::from_millis(250);
