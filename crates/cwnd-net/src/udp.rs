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
    requested: usize,
    /// Whether replies must name the address they leave from, because the socket is bound to every address of the host.
    any: bool,
}

impl Udp {
    /// Opens a socket for bursts of `buffer` bytes in either direction. `offload` turns on GSO and GRO.
    pub(crate) fn bind(address: SocketAddr, buffer: usize, offload: bool) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&address.into())?;
        Self::on(socket, buffer, offload)
    }

    /// Takes over a socket that is bound, as [`bind`](Self::bind) opens one.
    pub(crate) fn on(socket: Socket, buffer: usize, offload: bool) -> io::Result<Self> {
        let local = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // The kernel grants less without an error; how much is read back below.
        let _best_effort = socket.set_recv_buffer_size(buffer);
        let _best_effort = socket.set_send_buffer_size(buffer);
        let granted = socket.recv_buffer_size()? / KERNEL_DOUBLES;
        if !offload {
            set_gro(&socket, false)?;
        }
        let segments = if offload { state.max_gso_segments() } else { 1 };
        Ok(Self { socket, state, local, segments, granted, requested: buffer, any: local.ip().is_unspecified() })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// The receive buffer: bytes requested and bytes granted.
    pub(crate) fn buffer(&self) -> (usize, usize) {
        (self.requested, self.granted)
    }

    /// How many segments a buffer may have: 1 without offload, or once a device has refused it.
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

    /// Sends as many of the segments as one system call can: how many, at least one.
    pub(crate) fn send(&self, transmit: &Transmit<'_>) -> io::Result<usize> {
        if let Some(segment_size) = transmit.segment_size
            && self.segments() == 1
        {
            return sendmmsg::send(&self.socket, transmit, segment_size);
        }
        self.state.try_send(UdpSockRef::from(&self.socket), transmit)?;
        Ok(transmit.segment_size.map_or(1, |size| transmit.contents.len().div_ceil(size)))
    }

    /// Fills `buffers` with the datagrams that have arrived, and returns the number of filled buffers.
    pub(crate) fn receive(&self, buffers: &mut RecvBuffers) -> io::Result<usize> {
        let mut chunks = buffers.bytes.chunks_exact_mut(buffers.size);
        let mut slices: [IoSliceMut<'_>; quinn_udp::BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let count = buffers.metas.len();
        self.state.recv(UdpSockRef::from(&self.socket), &mut slices[..count], &mut buffers.metas)
    }
}

/// Buffers for arriving datagrams, used again and again.
#[derive(Debug, Default)]
pub(crate) struct RecvBuffers {
    bytes: Box<[u8]>,
    size: usize,
    metas: Vec<RecvMeta>,
}

/// The content of one buffer: a datagram, or several of one sender that the kernel coalesced (GRO).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    pub(crate) from: SocketAddr,
    /// The address of this host they were sent to.
    pub(crate) dst_ip: Option<IpAddr>,
    /// When the first of them arrived, by the kernel's time of day.
    pub(crate) timestamp: Option<Duration>,
    bytes: &'a [u8],
    stride: usize,
}

impl RecvBuffers {
    /// For datagrams of at most `largest` bytes, and coalesced ones if the socket has `offload`.
    pub(crate) fn new(largest: usize, offload: bool) -> Self {
        let (size, buffers) = if offload { (MAX_GRO_BYTES, GRO_BUFFERS) } else { (largest, quinn_udp::BATCH_SIZE) };
        Self { bytes: vec![0; size * buffers].into(), size, metas: vec![RecvMeta::default(); buffers] }
    }

    /// How many buffers there are.
    pub(crate) fn len(&self) -> usize {
        self.metas.len()
    }

    /// The contents of the first `count` buffers.
    pub(crate) fn filled(&self, count: usize) -> impl Iterator<Item = Received<'_>> {
        self.metas.iter().zip(self.bytes.chunks_exact(self.size.max(1))).take(count).map(|(meta, buffer)| Received {
            from: meta.addr,
            dst_ip: meta.dst_ip,
            timestamp: meta.timestamp,
            bytes: &buffer[..meta.len.min(self.size)],
            stride: meta.stride,
        })
    }
}

impl<'a> Received<'a> {
    /// The datagrams, in the order of their arrival.
    pub(crate) fn datagrams(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks(self.stride.max(1))
    }
}

/// Several datagrams by one system call where the kernel does not segment: a quarter of the cost of sending them is the calls.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod sendmmsg {
    use std::io::{self, IoSlice};
    use std::net::{IpAddr, SocketAddr};
    use std::os::fd::AsRawFd;

    use nix::libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo};
    use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, sendmmsg};
    use quinn_udp::Transmit;
    use socket2::Socket;

    pub(super) fn send(socket: &Socket, transmit: &Transmit<'_>, segment_size: usize) -> io::Result<usize> {
        match transmit.destination {
            SocketAddr::V4(to) => send_to(socket, SockaddrIn::from(to), transmit, segment_size),
            SocketAddr::V6(to) => send_to(socket, SockaddrIn6::from(to), transmit, segment_size),
        }
    }

    fn send_to<S: SockaddrLike + Copy>(
        socket: &Socket,
        to: S,
        transmit: &Transmit<'_>,
        segment_size: usize,
    ) -> io::Result<usize> {
        let mut datagrams = transmit.contents.chunks(segment_size);
        let count = datagrams.len().min(MAX_DATAGRAMS);
        let slices: [_; MAX_DATAGRAMS] = std::array::from_fn(|_| [IoSlice::new(datagrams.next().unwrap_or_default())]);
        let (v4, v6);
        let (src_ip, room) = match transmit.src_ip {
            Some(IpAddr::V4(ip)) => {
                let address = in_addr { s_addr: u32::from_ne_bytes(ip.octets()) };
                v4 = in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: address, ipi_addr: in_addr { s_addr: 0 } };
                (Some(ControlMessage::Ipv4PacketInfo(&v4)), Some(nix::cmsg_space!(in_pktinfo)))
            }
            Some(IpAddr::V6(ip)) => {
                v6 = in6_pktinfo { ipi6_addr: in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: 0 };
                (Some(ControlMessage::Ipv6PacketInfo(&v6)), Some(nix::cmsg_space!(in6_pktinfo)))
            }
            None => (None, None),
        };
        let mut headers = MultiHeaders::preallocate(count, room);
        let to = [Some(to); MAX_DATAGRAMS];
        let sent =
            sendmmsg(socket.as_raw_fd(), &mut headers, &slices[..count], to, src_ip.as_slice(), MsgFlags::empty())?;
        Ok(sent.count())
    }

    /// As many as a batch has at most, so that a call is a small part of their cost.
    const MAX_DATAGRAMS: usize = 64;
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod sendmmsg {
    use quinn_udp::Transmit;

    pub(super) fn send(
        socket: &socket2::Socket,
        transmit: &Transmit<'_>,
        segment_size: usize,
    ) -> std::io::Result<usize> {
        let first = &transmit.contents[..segment_size.min(transmit.contents.len())];
        socket.send_to(first, &transmit.destination.into()).map(|_| 1)
    }
}

/// Whether the kernel may coalesce datagrams of one sender (GRO).
#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_gro(socket: &Socket, on: bool) -> io::Result<()> {
    use nix::sys::socket::{setsockopt, sockopt::UdpGroSegment};
    match setsockopt(socket, UdpGroSegment, &on) {
        // A kernel that does not know the option coalesces nothing.
        Ok(()) | Err(nix::errno::Errno::ENOPROTOOPT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_gro(_socket: &Socket, _on: bool) -> io::Result<()> {
    Ok(())
}

/// Linux doubles the requested size, for its own bookkeeping, and reports the double.
const KERNEL_DOUBLES: usize = if cfg!(target_os = "linux") { 2 } else { 1 };
/// The most bytes the kernel coalesces: an IP packet's largest length.
const MAX_GRO_BYTES: usize = 65_535;
/// Half a mebibyte: enough to share the cost of a system call, little enough to stay in the processor's cache.
const GRO_BUFFERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn transmit(destination: SocketAddr, src_ip: Option<IpAddr>, contents: &[u8]) -> Transmit<'_> {
        Transmit { destination, ecn: None, contents, segment_size: Some(1_000), src_ip }
    }

    fn exchange(offload: bool) -> Vec<Vec<usize>> {
        let there = Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, offload).unwrap();
        let here = Udp::bind("127.0.0.1:0".parse().unwrap(), 1 << 20, true).unwrap();
        let bytes: Vec<u8> = (0..2_500).map(|i| (i / 1_000) as u8).collect();
        here.send(&transmit(there.local(), None, &bytes)).unwrap();
        let mut buffers = RecvBuffers::new(1_500, offload);
        let filled = there.receive(&mut buffers).unwrap();
        buffers.filled(filled).map(|received| received.datagrams().map(<[u8]>::len).collect()).collect()
    }

    #[test]
    fn the_kernel_coalesces_with_offload_only() {
        assert_eq!(exchange(true), [[1_000, 1_000, 500]]);
        assert_eq!(exchange(false), [[1_000], [1_000], [500]]);
    }

    #[test]
    fn one_call_sends_many_datagrams_without_offload() {
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
            let mut sent = 0;
            while sent < 71 {
                let rest = &bytes[1_000 * sent..];
                sent += here.send(&transmit(there.local(), from, rest)).unwrap();
            }
            let mut buffers = RecvBuffers::new(1_500, false);
            let mut seen = Vec::new();
            while let Ok(filled) = there.receive(&mut buffers) {
                seen.extend(buffers.filled(filled).map(|one| (one.from.ip(), one.bytes[0], one.bytes.len())));
            }
            let ip = from.unwrap_or(here.local().ip());
            let expected: Vec<_> = (0..71).map(|n| (ip, n, if n < 70 { 1_000 } else { 500 })).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_granted_receive_buffer_is_reported() {
        let modest = Udp::bind("[::1]:0".parse().unwrap(), 100_000, true).unwrap();
        assert_eq!(modest.buffer(), (100_000, 100_000));
        let greedy = Udp::bind("[::1]:0".parse().unwrap(), 1 << 30, true).unwrap();
        assert!(greedy.buffer().1 < 1 << 30);
    }
}
