//! A proxy that loses, on purpose, exactly the datagrams a scenario names.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cwnd_udt::{Control, Packet};

use crate::Error;

/// What a datagram is, as far as scenarios care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A data packet.
    Data,
    /// A handshake.
    Handshake,
    /// A loss report.
    Nak,
    /// Any other.
    Other,
}

/// One datagram on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// From the client to the target.
    pub forth: bool,
    /// What it is.
    pub kind: Kind,
    /// How many of its kind have passed this way before it.
    pub nth: u64,
}

/// A proxy for one client on a thread of its own. It ends when this goes out of scope.
#[derive(Debug)]
pub struct Proxy {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// Forwards to `target` and back what `lose` does not name.
    ///
    /// # Errors
    /// No socket can be had.
    pub fn start(target: SocketAddr, lose: fn(&Passing) -> bool) -> Result<Self, Error> {
        let bind = || {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_read_timeout(Some(Duration::from_millis(50)))?;
            Ok::<_, io::Error>(socket)
        };
        let (down, up) = (bind()?, bind()?);
        up.connect(target)?;
        let at = down.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (client_at, client) = (down.try_clone()?, down);
        let (up_in, up_out) = (up.try_clone()?, up);
        let known = Arc::new(std::sync::Mutex::new(None::<SocketAddr>));
        let (told, asked) = (Arc::clone(&known), known);
        let forth = carry(
            Arc::clone(&stop),
            true,
            lose,
            move |buffer| {
                let (length, from) = client.recv_from(buffer)?;
                *told.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(from);
                Ok(length)
            },
            move |bytes| up_out.send(bytes).map(drop),
        );
        let back = carry(
            Arc::clone(&stop),
            false,
            lose,
            move |buffer| up_in.recv(buffer),
            move |bytes| {
                let client = *asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                client.map_or(Ok(()), |client| client_at.send_to(bytes, client).map(drop))
            },
        );
        Ok(Self { at, stop, threads: vec![forth, back] })
    }

    /// Where it is reached.
    #[must_use]
    pub fn at(&self) -> SocketAddr {
        self.at
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

fn carry(
    stop: Arc<AtomicBool>,
    forth: bool,
    lose: fn(&Passing) -> bool,
    mut receive: impl FnMut(&mut [u8]) -> io::Result<usize> + Send + 'static,
    mut send: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut counts = [0_u64; 4];
        let mut buffer = vec![0; 1 << 16];
        while !stop.load(Ordering::Relaxed) {
            // Nothing to read for a while, or the other end is not there yet.
            let Ok(length) = receive(&mut buffer) else { continue };
            let kind = kind(&buffer[..length]);
            let nth = counts[kind as usize];
            counts[kind as usize] += 1;
            if !lose(&Passing { forth, kind, nth }) {
                let _ = send(&buffer[..length]);
            }
        }
    })
}

fn kind(datagram: &[u8]) -> Kind {
    match Packet::parse(datagram) {
        Ok(Packet::Data(..)) => Kind::Data,
        Ok(Packet::Control { control: Control::Handshake(_), .. }) => Kind::Handshake,
        Ok(Packet::Control { control: Control::Nak(_), .. }) => Kind::Nak,
        _ => Kind::Other,
    }
}
