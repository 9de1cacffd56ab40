//! UDP sockets: many datagrams a call in, one out.

use std::fs;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use cwnd::{Span, Time};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Type};

use crate::clock::Clock;

/// A socket that never blocks.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) at: Time,
    pub(crate) from: SocketAddr,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: &'a [u8],
}

/// Memory for one system call.
#[derive(Debug)]
pub(crate) struct Buffers {
    memory: Vec<u8>,
    meta: [RecvMeta; BATCH_SIZE],
}

impl Socket {
    /// Binds to an address, with the largest buffers that the system allows.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let io = socket2::Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // The kernel limits the size to its maximum.
        io.set_recv_buffer_size(BUFFER)?;
        io.set_send_buffer_size(BUFFER)?;
        io.bind(&address.into())?;
        let state = UdpSocketState::new((&io).into())?;
        Ok(Self { io: io.into(), state })
    }

    pub(crate) fn local(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Receives a batch and passes each datagram to `each`; whether there was any.
    pub(crate) fn receive(
        &self,
        buffers: &mut Buffers,
        clock: Clock,
        each: &mut dyn FnMut(Incoming<'_>),
    ) -> io::Result<bool> {
        let Buffers { memory, meta } = buffers;
        let received = {
            let mut slices = memory.chunks_exact_mut(LARGEST).map(IoSliceMut::new);
            let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
                std::array::from_fn(|_| slices.next().expect("the memory is that of a batch"));
            match self.state.recv((&self.io).into(), &mut slices, meta) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                // An earlier datagram could not be delivered.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
                Err(error) => return Err(error),
            }
        };
        let now = clock.now();
        for (meta, memory) in meta.iter().zip(memory.chunks_exact(LARGEST)).take(received) {
            let age = meta.timestamp.map_or(Span::ZERO, Clock::age);
            let at = Time::from_nanos(now.as_nanos().saturating_sub(age.as_nanos()));
            // An empty datagram has a stride of 0.
            for bytes in memory[..meta.len].chunks(meta.stride.max(1)) {
                each(Incoming { at, from: meta.addr, ecn: meta.ecn, bytes });
            }
        }
        Ok(received > 0)
    }

    /// Sends a datagram; whether the kernel accepted it.
    pub(crate) fn send(&self, to: SocketAddr, ecn: Option<EcnCodepoint>, bytes: &[u8]) -> bool {
        let transmit = Transmit { destination: to, ecn, contents: bytes, segment_size: None, src_ip: None };
        self.state.try_send((&self.io).into(), &transmit).is_ok()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self { memory: vec![0; BATCH_SIZE * LARGEST], meta: [RecvMeta::default(); BATCH_SIZE] }
    }
}

/// Datagrams that the kernel dropped because the sockets with these local ports were full, where it counts them.
pub(crate) fn overruns(ports: &[u16]) -> u64 {
    ["/proc/net/udp", "/proc/net/udp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|table| overruns_in(&table, ports))
        .sum()
}

/// A line of the table has the local address second, as `0100007F:1F90`, and the drops last.
fn overruns_in(table: &str, ports: &[u16]) -> u64 {
    let drops = |line: &str| {
        let local = line.split_whitespace().nth(1)?;
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        ports.contains(&port).then(|| line.split_whitespace().next_back()?.parse::<u64>().ok()).flatten()
    };
    table.lines().skip(1).filter_map(drops).sum()
}

/// The largest a datagram, or several of one receive offload, can be.
const LARGEST: usize = 1 << 16;

/// A tenth of a second of 1 Gbit/s with the kernel's bookkeeping; Linux allows 4 MiB on many hosts.
const BUFFER: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_kernels_table() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
            11: 0100007F:2328 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 17\n\
            12: 0100007F:2329 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 5\n";
        assert_eq!(overruns_in(table, &[9000]), 17);
        assert_eq!(overruns_in(table, &[9000, 9001, 1]), 22);
    }
}
