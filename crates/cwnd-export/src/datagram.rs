//! The headers of a logged packet as they are on the wire.

use std::io;

use cwnd_trace::{EcnField, FlowTrace, Protocol, Seen};
use cwnd_udt::wire::{Handshake, Position, Request};
use cwnd_udt::{Control, DataHeader, MessageNumber, Seq, SocketId};
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};

/// The packets of a flow as IPv4 packets.
pub(crate) struct FlowPackets<'a> {
    flow: &'a FlowTrace,
    sender: [u8; 4],
    receiver: [u8; 4],
    /// Whether it uses explicit congestion notification.
    ecn: bool,
    /// A packet's payload, all zeros.
    payload: Vec<u8>,
}

/// A packet to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// A packet of the connection set-up.
    Setup(u8),
    /// A packet of the log, with its bytes if the log has them.
    Logged(Seen, &'a [u8]),
}

/// The headers of a packet, from IPv4 on.
#[derive(Debug, Default)]
pub(crate) struct Datagram {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the whole packet.
    pub(crate) length: u32,
}

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Reverse,
}

impl<'a> FlowPackets<'a> {
    /// The packets of flow number `place` of a trace.
    pub(crate) fn new(place: u32, flow: &'a FlowTrace) -> Self {
        let [_, a, b, c] = (place + 1).to_be_bytes();
        let payload = match flow.log.protocol {
            Protocol::Tcp => flow.payload,
            // As the protocol counts it; at least a byte.
            Protocol::Udt => flow.packet.saturating_sub(UDT_HEADERS).max(1),
            Protocol::Datagrams => flow.packet.saturating_sub(UDP_HEADERS),
        };
        let capable = |seen| matches!(seen, Seen::Data { ecn: EcnField::Ect0 | EcnField::Ect1, .. });
        Self {
            flow,
            sender: [10, a & 0x7f, b, c],
            receiver: [10, a | 0x80, b, c],
            ecn: flow.log.packets.iter().any(|packet| capable(packet.seen)),
            payload: vec![0; payload as usize],
        }
    }

    /// Its packets with their times: the set-up, then the log.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (u64, Kind<'a>)> + use<'a> {
        let log = &self.flow.log;
        let steps = match log.protocol {
            Protocol::Tcp => TCP_SETUP,
            Protocol::Udt => UDT_SETUP,
            Protocol::Datagrams => 0,
        };
        let first = log.packets.first().map(|packet| packet.at);
        let setup = first.into_iter().flat_map(move |first| {
            (0..steps).map(move |step| (first.saturating_sub(u64::from(steps - 1 - step)), Kind::Setup(step)))
        });
        setup.chain(log.iter().map(|(packet, bytes)| (packet.at, Kind::Logged(packet.seen, bytes))))
    }

    /// Writes a packet seen `at` nanoseconds into `out`.
    ///
    /// # Errors
    /// The packet is larger than IPv4 allows.
    pub(crate) fn encode(&self, at: u64, packet: Kind<'_>, out: &mut Datagram) -> io::Result<()> {
        out.bytes.clear();
        match (self.flow.log.protocol, packet) {
            (Protocol::Tcp, Kind::Setup(step)) => self.tcp_setup(step, out),
            (_, Kind::Setup(step)) => self.udt_setup(at, step, out),
            (Protocol::Tcp, Kind::Logged(Seen::Data { number, ecn, reacted, .. }, _)) => {
                let mut header = self.tcp(Direction::Forward, self.sequence(number));
                (header.ack, header.acknowledgment_number, header.cwr) = (true, 1, reacted);
                self.segment(Direction::Forward, ecn, header, &self.payload, out)
            }
            (Protocol::Udt, Kind::Logged(Seen::Data { number, .. }, _)) => {
                let header = DataHeader {
                    seq: ISN + number,
                    position: Position::Only,
                    in_order: true,
                    message: MessageNumber::FIRST,
                    timestamp_us: micros(at),
                    to: SOCKET,
                };
                self.udp(Direction::Forward, &header.encode(), &self.payload, out)
            }
            (Protocol::Datagrams, Kind::Logged(Seen::Data { .. }, _)) => {
                self.udp(Direction::Forward, &[], &self.payload, out)
            }
            (_, Kind::Logged(Seen::Report { newest, arrivals }, _)) => {
                let captured = [newest.to_be_bytes().as_slice(), &arrivals.to_be_bytes()].concat();
                self.udp(Direction::Reverse, &captured, &[], out)
            }
            (_, Kind::Logged(Seen::Ack { cumulative, sack, echoes }, _)) => {
                let mut header = self.tcp(Direction::Reverse, 1);
                (header.ack, header.ece) = (true, echoes);
                header.acknowledgment_number = self.sequence(cumulative);
                let edge = |count: u32| self.sequence(cumulative + u64::from(count));
                let mut blocks =
                    sack.into_iter().filter(|(_, end)| *end > 0).map(|(first, end)| (edge(first), edge(end)));
                if let Some(newest) = blocks.next() {
                    let others = [blocks.next(), blocks.next(), None];
                    let blocks = TcpOptionElement::SelectiveAcknowledgement(newest, others);
                    set(&mut header, &[TcpOptionElement::Noop, TcpOptionElement::Noop, blocks])?;
                }
                self.segment(Direction::Reverse, EcnField::NotEct, header, &[], out)
            }
            (_, Kind::Logged(Seen::Control { arrives, .. }, bytes)) => {
                self.udp(if arrives { Direction::Reverse } else { Direction::Forward }, bytes, &[], out)
            }
        }
    }

    /// The number of a packet's first byte, after that of the SYN.
    fn sequence(&self, number: u64) -> u32 {
        // Modulo 2^32, as the protocol has it.
        number.wrapping_mul(u64::from(self.flow.payload)).wrapping_add(1) as u32
    }

    fn tcp_setup(&self, step: u8, out: &mut Datagram) -> io::Result<()> {
        let direction = if step == 1 { Direction::Reverse } else { Direction::Forward };
        let mut header = self.tcp(direction, u32::from(step == 2));
        (header.syn, header.ack) = (step < 2, step > 0);
        header.acknowledgment_number = u32::from(step > 0);
        if header.syn {
            // RFC 3168 section 6.1.1: a SYN asks with both, its answer agrees with one.
            (header.ece, header.cwr) = (self.ecn, self.ecn && step == 0);
            let mss = u16::try_from(self.flow.payload).unwrap_or(u16::MAX);
            set(
                &mut header,
                &[
                    TcpOptionElement::MaximumSegmentSize(mss),
                    TcpOptionElement::SelectiveAcknowledgementPermitted,
                    TcpOptionElement::Noop,
                    TcpOptionElement::WindowScale(LARGEST_SCALE),
                    TcpOptionElement::Noop,
                    TcpOptionElement::Noop,
                ],
            )?;
        }
        self.segment(direction, EcnField::NotEct, header, &[], out)
    }

    fn udt_setup(&self, at: u64, step: u8, out: &mut Datagram) -> io::Result<()> {
        let direction = if step.is_multiple_of(2) { Direction::Forward } else { Direction::Reverse };
        let handshake = Handshake {
            version: 4,
            socket_type: 1,
            isn: ISN,
            mss: self.flow.packet,
            window: WINDOW,
            request: if step < 2 { Request::Regular } else { Request::Response },
            id: Some(SOCKET),
            cookie: if step == 0 { 0 } else { COOKIE },
            address: [0; 16],
        };
        let to = (direction == Direction::Reverse).then_some(SOCKET);
        let mut bytes = Vec::new();
        Control::Handshake(handshake).encode(to, micros(at), &mut bytes);
        self.udp(direction, &bytes, &[], out)
    }

    fn tcp(&self, direction: Direction, sequence: u32) -> TcpHeader {
        let (from, to) = match direction {
            Direction::Forward => (SENDER_PORT, RECEIVER_PORT),
            Direction::Reverse => (RECEIVER_PORT, SENDER_PORT),
        };
        TcpHeader::new(from, to, sequence, u16::MAX)
    }

    fn segment(
        &self,
        direction: Direction,
        ecn: EcnField,
        mut header: TcpHeader,
        payload: &[u8],
        out: &mut Datagram,
    ) -> io::Result<()> {
        let ip = self.ip(direction, IpNumber::TCP, ecn, header.header_len() + payload.len(), out)?;
        header.checksum = header.calc_checksum_ipv4(&ip, payload).map_err(|_| too_large(out.length))?;
        out.bytes.extend_from_slice(&header.to_bytes());
        Ok(())
    }

    /// A datagram of which the first bytes are captured and the `rest`, if any, is not.
    fn udp(&self, direction: Direction, captured: &[u8], rest: &[u8], out: &mut Datagram) -> io::Result<()> {
        let body = [captured, rest].concat();
        let ip = self.ip(direction, IpNumber::UDP, EcnField::NotEct, UdpHeader::LEN + body.len(), out)?;
        let port = if self.flow.log.protocol == Protocol::Udt { UDT_PORT } else { DATAGRAM_PORT };
        let header = UdpHeader::with_ipv4_checksum(port, port, &ip, &body).map_err(|_| too_large(out.length))?;
        out.bytes.extend_from_slice(&header.to_bytes());
        out.bytes.extend_from_slice(captured);
        Ok(())
    }

    fn ip(
        &self,
        direction: Direction,
        protocol: IpNumber,
        ecn: EcnField,
        length: usize,
        out: &mut Datagram,
    ) -> io::Result<Ipv4Header> {
        let (from, to) = match direction {
            Direction::Forward => (self.sender, self.receiver),
            Direction::Reverse => (self.receiver, self.sender),
        };
        out.length = (Ipv4Header::MIN_LEN + length) as u32;
        let length = u16::try_from(length).map_err(|_| too_large(out.length))?;
        let mut ip = Ipv4Header::new(length, HOPS, protocol, from, to).map_err(|_| too_large(out.length))?;
        ip.dont_fragment = true;
        ip.ecn = match ecn {
            EcnField::NotEct => IpEcn::ZERO,
            EcnField::Ect1 => IpEcn::ONE,
            EcnField::Ect0 => IpEcn::TWO,
        };
        ip.header_checksum = ip.calc_header_checksum();
        out.bytes.extend_from_slice(&ip.to_bytes());
        Ok(ip)
    }
}

fn set(header: &mut TcpHeader, options: &[TcpOptionElement]) -> io::Result<()> {
    // Three ranges and two no-operations take 28 of 40 bytes.
    header.set_options(options).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn too_large(length: u32) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("a packet of {length} bytes does not fit into IPv4"))
}

/// Microseconds modulo 2^32, as the protocols count them.
fn micros(at: u64) -> u32 {
    (at / 1000) as u32
}

/// Packets of the set-up: request, answer, confirmation, a nanosecond apart. If they took longer, Wireshark would show retransmissions
/// within that time as reordered packets.
const TCP_SETUP: u8 = 3;
/// Request, cookie, request with the cookie, agreement.
const UDT_SETUP: u8 = 4;
/// IPv4 and UDP.
const UDP_HEADERS: u32 = 28;
/// IPv4, UDP and UDT.
const UDT_HEADERS: u32 = 44;
/// Logs begin with this number.
const ISN: Seq = match Seq::new(0) {
    Some(isn) => isn,
    None => Seq::MAX,
};
/// The socket id of every connection: they differ by their addresses.
const SOCKET: SocketId = match SocketId::new(1) {
    Some(id) => id,
    None => panic!("1 has 31 bits and is not 0"),
};
/// The default window of libudt.
const WINDOW: u32 = 25_600;
/// An arbitrary number.
const COOKIE: u32 = 0x6377_6e64;
/// A window of 1 GiB, so that no viewer shows it as the limit.
const LARGEST_SCALE: u8 = 14;
/// An ephemeral port, and that of iperf.
const SENDER_PORT: u16 = 50_000;
const RECEIVER_PORT: u16 = 5001;
/// The port of libudt's demos.
const UDT_PORT: u16 = 9000;
/// Another port, so that no viewer decodes them as UDT.
const DATAGRAM_PORT: u16 = 9001;
/// Time to live, as most hosts set it.
const HOPS: u8 = 64;
