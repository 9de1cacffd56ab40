//! A proxy that discards or renumbers exactly the datagrams that a scenario selects.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use cwnd_udt::wire::{Handshake, Request};
use cwnd_udt::{Control, Packet, Seq};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::interop::Error;

/// The kinds of datagrams that scenarios distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A data packet.
    Data,
    /// A server accepts a client, or a client returns its cookie.
    Acceptance,
    /// A loss report.
    Nak,
    /// Any other.
    Other,
}

/// A datagram that passes the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// From the client to the target.
    pub(crate) to_target: bool,
    /// Its kind.
    pub(crate) kind: Kind,
    /// How many of its kind came this way before it.
    pub(crate) nth: u64,
    /// Whether data came this way before it.
    pub(crate) after_data: bool,
}

/// A proxy for one client on a thread of its own. It ends when this goes out of scope.
#[derive(Debug)]
pub(crate) struct Proxy {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How datagrams are treated.
#[derive(Debug)]
enum Rule {
    Discard { lose: fn(&Datagram) -> bool, passed: [[u64; 4]; 2] },
    Renumber { first: Seq, by: Option<u32> },
}

impl Proxy {
    /// Forwards to `target` and back every datagram for which `lose` is false.
    ///
    /// # Errors
    /// No local port is free, or a socket option cannot be set.
    pub(crate) fn dropping(target: SocketAddr, lose: fn(&Datagram) -> bool) -> Result<Self, Error> {
        Self::start(target, Rule::Discard { lose, passed: [[0; 4]; 2] })
    }

    /// Forwards everything. The target sees packets numbered from `first` on, whatever the client chose, and the client sees the
    /// numbers it chose.
    ///
    /// # Errors
    /// No local port is free, or a socket option cannot be set.
    pub(crate) fn renumbering(target: SocketAddr, first: Seq) -> Result<Self, Error> {
        Self::start(target, Rule::Renumber { first, by: None })
    }

    /// Where it is reached.
    #[must_use]
    pub(crate) fn at(&self) -> SocketAddr {
        self.at
    }

    fn start(target: SocketAddr, rule: Rule) -> Result<Self, Error> {
        let [down, up] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
        for socket in [&down, &up] {
            socket.set_nonblocking(true)?;
            // The kernel lowers a size above its limit.
            socket2::SockRef::from(socket).set_recv_buffer_size(BUFFER)?;
        }
        up.connect(target)?;
        let at = down.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            if let Err(error) = forward(&down, &up, rule, &stopping) {
                eprintln!("proxy: {error}");
            }
        });
        Ok(Self { at, stop, thread: Some(thread) })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

fn forward(down: &UdpSocket, up: &UdpSocket, mut rule: Rule, stop: &AtomicBool) -> io::Result<()> {
    let mut client = None;
    let mut buffer = vec![0; 1 << 16];
    let look = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !stop.load(Ordering::Relaxed) {
        poll(&mut [down, up].map(|socket| PollFd::new(socket, PollFlags::IN)), Some(&look))?;
        while let Ok((length, from)) = down.recv_from(&mut buffer) {
            client = Some(from);
            if rule.pass(true, &mut buffer[..length]) {
                // The target may not be there yet.
                let _ = up.send(&buffer[..length]);
            }
        }
        while let Ok(length) = up.recv(&mut buffer) {
            if rule.pass(false, &mut buffer[..length])
                && let Some(client) = client
            {
                down.send_to(&buffer[..length], client)?;
            }
        }
    }
    Ok(())
}

impl Rule {
    /// Whether a datagram goes on, changed or not.
    fn pass(&mut self, to_target: bool, datagram: &mut [u8]) -> bool {
        match self {
            Self::Discard { lose, passed } => {
                let kind = kind(datagram);
                let passed = &mut passed[usize::from(to_target)];
                let datagram = Datagram {
                    to_target,
                    kind,
                    nth: passed[kind as usize],
                    after_data: passed[Kind::Data as usize] > 0,
                };
                passed[kind as usize] += 1;
                !lose(&datagram)
            }
            Self::Renumber { first, by } => {
                if by.is_none()
                    && let Ok(Packet::Control { control: Control::Handshake(handshake), .. }) = Packet::parse(datagram)
                {
                    *by = Some(first.get().wrapping_sub(handshake.isn.get()));
                }
                let by = by.unwrap_or(0);
                renumber(datagram, if to_target { by } else { by.wrapping_neg() });
                true
            }
        }
    }
}

fn kind(datagram: &[u8]) -> Kind {
    match Packet::parse(datagram) {
        Ok(Packet::Data(..)) => Kind::Data,
        Ok(Packet::Control { control: Control::Handshake(Handshake { request: Request::Response, .. }), .. }) => {
            Kind::Acceptance
        }
        Ok(Packet::Control { control: Control::Nak(_), .. }) => Kind::Nak,
        _ => Kind::Other,
    }
}

/// Adds to every packet number, modulo 2^31; the top bit of a word in a loss report marks a range and stays.
fn renumber(datagram: &mut [u8], by: u32) {
    let words = match Packet::parse(datagram) {
        Ok(Packet::Data(..)) => 0..1,
        Ok(Packet::Control { control, .. }) => match control {
            Control::Handshake(_) => 6..7,
            Control::LightAck(_) | Control::Ack(_) => 4..5,
            Control::Nak(_) => 4..datagram.len() / 4,
            Control::DropRequest(_) => 4..6,
            _ => 0..0,
        },
        Err(_) => 0..0,
    };
    for word in words {
        if let Some(Ok(bytes)) = datagram.get_mut(4 * word..4 * word + 4).map(<&mut [u8; 4]>::try_from) {
            let old = u32::from_be_bytes(*bytes);
            *bytes = (old & TOP | old.wrapping_add(by) & !TOP).to_be_bytes();
        }
    }
}

const TOP: u32 = 1 << 31;

/// Room for a window of libudt, so that nothing is lost here that the scenario does not name.
const BUFFER: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use cwnd_udt::SocketId;
    use cwnd_udt::wire::{LossRange, Losses};

    use super::*;

    #[test]
    fn numbers_are_moved_and_marks_stay() {
        let seq = |number| Seq::new(number).expect("31 bits");
        let nak = |first, last| {
            let losses = Losses::new(LossRange::new(seq(first), seq(last)).expect("it runs forwards"));
            let mut bytes = Vec::new();
            Packet::Control { to: SocketId::new(7), timestamp_us: 0, control: Control::Nak(losses.list()) }
                .encode(&mut bytes);
            bytes
        };
        let mut bytes = nak(10, 14);
        renumber(&mut bytes, 0x7fff_fff0);
        assert_eq!(bytes, nak(0x7fff_fffa, 0x7fff_fffe));
        renumber(&mut bytes, 0x7fff_fff0_u32.wrapping_neg());
        assert_eq!(bytes, nak(10, 14));
    }
}
