//! A UDP socket with segmentation offload in both directions.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

/// The socket of a port.
#[derive(Debug)]
pub(crate) struct Udp {
    socket: Socket,
    state: UdpSocketState,
    local: SocketAddr,
    segments: usize,
    granted: usize,
    asked: usize,
    /// Whether replies must name the address they leave from, because the socket is bound to every address of the host.
    any: bool,
}

/// Datagrams for one address, all of `segment` bytes but the last, which may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) to: SocketAddr,
    pub(crate) from: Option<IpAddr>,
    pub(crate) bytes: &'a [u8],
    pub(crate) segment: usize,
}

impl Udp {
    /// Opens a socket for bursts of `buffer` bytes in either direction. Without `offload` every datagram passes through the
    /// kernel alone.
    pub(crate) fn bind(address: SocketAddr, buffer: usize, offload: bool) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&address.into())?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // The kernel grants less without saying so; what it granted is asked below.
        let _granted = socket.set_recv_buffer_size(buffer);
        let _granted = socket.set_send_buffer_size(buffer);
        let granted = socket.recv_buffer_size()? / KERNEL_DOUBLES;
        if !offload {
            glue(&socket, false)?;
        }
        let local = socket.local_addr()?.as_socket().unwrap_or(address);
        let segments = if offload { state.max_gso_segments() } else { 1 };
        Ok(Self { socket, state, local, segments, granted, asked: buffer, any: local.ip().is_unspecified() })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// The receive buffer: bytes wished for and bytes granted.
    pub(crate) fn buffer(&self) -> (usize, usize) {
        (self.asked, self.granted)
    }

    /// How many datagrams may share a buffer: 1 without offload, or once a device has refused it.
    pub(crate) fn segments(&self) -> usize {
        self.segments.min(self.state.max_gso_segments())
    }

    /// Where datagrams to the sender of one that came in for `to` should leave from.
    pub(crate) fn reply_from(&self, to: Option<IpAddr>) -> Option<IpAddr> {
        to.filter(|_| self.any)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(crate) fn send(&self, what: Outgoing<'_>) -> io::Result<()> {
        let transmit = Transmit {
            destination: what.to,
            ecn: None,
            contents: what.bytes,
            segment_size: (what.segment < what.bytes.len()).then_some(what.segment),
            src_ip: what.from,
        };
        self.state.try_send(UdpSockRef::from(&self.socket), &transmit)
    }

    /// Fills `inbox` with what has arrived, and returns how many of its buffers hold something.
    pub(crate) fn receive(&self, inbox: &mut Inbox) -> io::Result<usize> {
        let mut chunks = inbox.bytes.chunks_exact_mut(inbox.size);
        let mut slices: [IoSliceMut<'_>; quinn_udp::BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let buffers = inbox.metas.len();
        self.state.recv(UdpSockRef::from(&self.socket), &mut slices[..buffers], &mut inbox.metas)
    }
}

/// Buffers for arriving datagrams, used again and again.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Box<[u8]>,
    size: usize,
    metas: Vec<RecvMeta>,
}

/// What one buffer holds: datagrams of one sender, glued together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glued<'a> {
    pub(crate) from: SocketAddr,
    /// The address of this host they were sent to.
    pub(crate) to: Option<IpAddr>,
    /// When the first of them arrived, by the kernel's time of day.
    pub(crate) stamp: Option<Duration>,
    bytes: &'a [u8],
    stride: usize,
}

impl Inbox {
    /// For datagrams of at most `largest` bytes, and glued ones if the socket has `offload`.
    pub(crate) fn new(largest: usize, offload: bool) -> Self {
        let (size, buffers) = if offload { (MAX_GLUED, BUFFERS_GLUED) } else { (largest, quinn_udp::BATCH_SIZE) };
        Self { bytes: vec![0; size * buffers].into(), size, metas: vec![RecvMeta::default(); buffers] }
    }

    /// How many buffers there are.
    pub(crate) fn buffers(&self) -> usize {
        self.metas.len()
    }

    /// The contents of the first `count` buffers.
    pub(crate) fn filled(&self, count: usize) -> impl Iterator<Item = Glued<'_>> {
        self.metas.iter().zip(self.bytes.chunks_exact(self.size.max(1))).take(count).map(|(meta, buffer)| Glued {
            from: meta.addr,
            to: meta.dst_ip,
            stamp: meta.timestamp,
            bytes: &buffer[..meta.len.min(self.size)],
            stride: meta.stride,
        })
    }
}

impl<'a> Glued<'a> {
    /// The datagrams, in the order of their arrival.
    pub(crate) fn datagrams(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks(self.stride.max(1))
    }
}

/// Whether the kernel may glue datagrams of one sender together.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn glue(socket: &Socket, on: bool) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt::UdpGroSegment};
    match setsockopt(socket, UdpGroSegment, &on) {
        // A kernel that does not know the option glues nothing.
        Ok(()) | Err(nix::errno::Errno::ENOPROTOOPT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn glue(_socket: &Socket, _on: bool) -> io::Result<()> {
    Ok(())
}

/// Linux doubles the size asked for, to make room for its own records, and tells the double.
const KERNEL_DOUBLES: usize = if cfg!(target_os = "linux") { 2 } else { 1 };
/// The longest chain of datagrams the kernel hands over as one: an IP packet's largest length.
const MAX_GLUED: usize = 65_535;
/// Half a mebibyte: enough for one system call to pay, little enough to stay in the processor's cache.
const BUFFERS_GLUED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(offload: bool) -> Vec<Vec<usize>> {
        let there = Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, offload).unwrap();
        let here = Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, true).unwrap();
        let bytes: Vec<u8> = (0..2_500).map(|i| (i / 1_000) as u8).collect();
        here.send(Outgoing { to: there.local(), from: None, bytes: &bytes, segment: 1_000 }).unwrap();
        let mut inbox = Inbox::new(1_500, offload);
        let filled = there.receive(&mut inbox).unwrap();
        inbox.filled(filled).map(|glued| glued.datagrams().map(<[u8]>::len).collect()).collect()
    }

    #[test]
    fn datagrams_travel_glued_with_offload_and_alone_without() {
        assert_eq!(exchange(true), [[1_000, 1_000, 500]]);
        assert_eq!(exchange(false), [[1_000], [1_000], [500]]);
    }

    #[test]
    fn the_buffer_tells_what_was_granted() {
        let modest = Udp::bind("[::1]:0".parse().unwrap(), 100_000, true).unwrap();
        assert_eq!(modest.buffer(), (100_000, 100_000));
        let greedy = Udp::bind("[::1]:0".parse().unwrap(), 1 << 30, true).unwrap();
        assert!(greedy.buffer().1 < 1 << 30);
    }
}
