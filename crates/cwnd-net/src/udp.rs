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

    /// Sends as many of the datagrams as one system call can: how many, at least one.
    pub(crate) fn send(&self, what: Outgoing<'_>) -> io::Result<usize> {
        let datagrams = what.bytes.len().div_ceil(what.segment);
        if datagrams > 1 && self.segments() == 1 {
            return one_by_one::send(&self.socket, what);
        }
        let transmit = Transmit {
            destination: what.to,
            ecn: None,
            contents: what.bytes,
            segment_size: (datagrams > 1).then_some(what.segment),
            src_ip: what.from,
        };
        self.state.try_send(UdpSockRef::from(&self.socket), &transmit)?;
        Ok(datagrams)
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

/// Datagrams that pass through the kernel one after the other, by one call: a quarter of the cost of sending them is the calls.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod one_by_one {
    use std::io::{self, IoSlice};
    use std::net::{IpAddr, SocketAddr};
    use std::os::fd::AsRawFd;

    use nix::libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo};
    use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, sendmmsg};
    use socket2::Socket;

    use super::Outgoing;

    pub(super) fn send(socket: &Socket, what: Outgoing<'_>) -> io::Result<usize> {
        match what.to {
            SocketAddr::V4(to) => send_to(socket, SockaddrIn::from(to), what),
            SocketAddr::V6(to) => send_to(socket, SockaddrIn6::from(to), what),
        }
    }

    fn send_to<S: SockaddrLike + Copy>(socket: &Socket, to: S, what: Outgoing<'_>) -> io::Result<usize> {
        let mut datagrams = what.bytes.chunks(what.segment);
        let count = datagrams.len().min(TOGETHER);
        let slices: [_; TOGETHER] = std::array::from_fn(|_| [IoSlice::new(datagrams.next().unwrap_or_default())]);
        let (v4, v6);
        let (from, room) = match what.from {
            Some(IpAddr::V4(from)) => {
                let address = in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
                v4 = in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: address, ipi_addr: in_addr { s_addr: 0 } };
                (Some(ControlMessage::Ipv4PacketInfo(&v4)), Some(nix::cmsg_space!(in_pktinfo)))
            }
            Some(IpAddr::V6(from)) => {
                v6 = in6_pktinfo { ipi6_addr: in6_addr { s6_addr: from.octets() }, ipi6_ifindex: 0 };
                (Some(ControlMessage::Ipv6PacketInfo(&v6)), Some(nix::cmsg_space!(in6_pktinfo)))
            }
            None => (None, None),
        };
        let mut headers = MultiHeaders::preallocate(count, room);
        let to = [Some(to); TOGETHER];
        let sent =
            sendmmsg(socket.as_raw_fd(), &mut headers, &slices[..count], to, from.as_slice(), MsgFlags::empty())?;
        Ok(sent.count())
    }

    /// As many as the thread of a port puts together, so that a call is a small part of their cost.
    const TOGETHER: usize = 64;
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod one_by_one {
    pub(super) fn send(socket: &socket2::Socket, what: super::Outgoing<'_>) -> std::io::Result<usize> {
        let first = &what.bytes[..what.segment.min(what.bytes.len())];
        socket.send_to(first, &what.to.into()).map(|_| 1)
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
    fn many_leave_one_by_one_by_a_call() {
        // A source that the route would not choose, and one that it would.
        let (v4, v6) = (IpAddr::from([127, 0, 0, 9]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]));
        for (here, there, from) in [
            ("127.0.0.1:0", "127.0.0.1:0", None),
            ("0.0.0.0:0", "127.0.0.1:0", Some(v4)),
            ("[::]:0", "[::1]:0", Some(v6)),
        ] {
            let here = Udp::bind(here.parse().unwrap(), 1 << 20, false).unwrap();
            let there = Udp::bind(there.parse().unwrap(), 1 << 20, true).unwrap();
            let bytes: Vec<u8> = (0..70_500).map(|i| (i / 1_000) as u8).collect();
            let mut left = 0;
            while left < 71 {
                let rest = &bytes[1_000 * left..];
                left += here.send(Outgoing { to: there.local(), from, bytes: rest, segment: 1_000 }).unwrap();
            }
            let mut inbox = Inbox::new(1_500, false);
            let mut seen = Vec::new();
            while let Ok(filled) = there.receive(&mut inbox) {
                seen.extend(inbox.filled(filled).map(|glued| (glued.from.ip(), glued.bytes[0], glued.bytes.len())));
            }
            let ip = from.unwrap_or(here.local().ip());
            let expected: Vec<_> = (0..71).map(|n| (ip, n, if n < 70 { 1_000 } else { 500 })).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_buffer_tells_what_was_granted() {
        let modest = Udp::bind("[::1]:0".parse().unwrap(), 100_000, true).unwrap();
        assert_eq!(modest.buffer(), (100_000, 100_000));
        let greedy = Udp::bind("[::1]:0".parse().unwrap(), 1 << 30, true).unwrap();
        assert!(greedy.buffer().1 < 1 << 30);
    }
}
