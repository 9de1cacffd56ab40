//! Captures at the sender: the containers pcap and pcapng, and the packets in them down to TCP and UDP.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::connection::{Connection, Ends, Segment};
use super::{ImportFault, RecordedFlow};

/// Whether a file begins as a capture does.
pub(super) fn is_capture(bytes: &[u8]) -> bool {
    let begin = bytes.first_chunk::<4>().copied().map(u32::from_le_bytes);
    begin.is_some_and(|word| word == SECTION || Classic::of(word).is_some())
}

/// Reads the connections of a capture, one for each direction with data; segments have `mss` bytes where it does not tell.
pub(super) fn read(bytes: &[u8], mss: u32) -> Result<Vec<RecordedFlow>, ImportFault> {
    let mut connections = Connections::default();
    let begin = bytes.first_chunk::<4>().copied().map_or(0, u32::from_le_bytes);
    match Classic::of(begin) {
        Some(classic) => classic.read(bytes, &mut connections)?,
        None => pcapng(bytes, &mut connections)?,
    }
    Ok(connections.all.into_iter().filter_map(|(ends, connection)| connection.finish(ends, mss)).collect())
}

/// The variants of pcap.
struct Classic {
    big_endian: bool,
    /// Nanoseconds of a unit of the fraction.
    unit: u64,
}

impl Classic {
    fn of(magic: u32) -> Option<Self> {
        let variants = [(MICROSECONDS, 1000), (NANOSECONDS, 1)];
        variants.into_iter().find_map(|(known, unit)| match magic {
            magic if magic == known => Some(Self { big_endian: false, unit }),
            magic if magic == known.swap_bytes() => Some(Self { big_endian: true, unit }),
            _ => None,
        })
    }

    fn read(&self, bytes: &[u8], connections: &mut Connections) -> Result<(), ImportFault> {
        let word = |bytes: &[u8], at: usize| word(bytes, at, self.big_endian);
        let link = word(bytes, 20).ok_or(ImportFault::Truncated)? & 0xffff;
        let mut rest = bytes.get(24..).unwrap_or_default();
        // A capture may end within a packet.
        while let (Some(seconds), Some(fraction), Some(kept), Some(length)) =
            (word(rest, 0), word(rest, 4), word(rest, 8), word(rest, 12))
        {
            let Some(packet) = rest.get(16..).and_then(|rest| rest.get(..kept as usize)) else { break };
            let at = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
            connections.packet(&Frame { at, link, packet, length, interface: None });
            rest = &rest[16 + packet.len()..];
        }
        Ok(())
    }
}

/// An interface of pcapng.
#[derive(Default)]
struct Interface {
    link: u32,
    /// Nanoseconds of a unit of time.
    unit: f64,
    /// Seconds to add.
    offset: i64,
    name: String,
    description: String,
}

fn pcapng(bytes: &[u8], connections: &mut Connections) -> Result<(), ImportFault> {
    let (mut big_endian, mut ours) = (false, false);
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut rest = bytes;
    while let Some(kind) = word(rest, 0, big_endian) {
        if kind == SECTION {
            big_endian = word(rest, 8, false) != Some(BYTE_ORDER);
            interfaces.clear();
        }
        let Some(length) = word(rest, 4, big_endian) else { break };
        if length < 12 || length % 4 != 0 {
            return Err(ImportFault::Block { at: bytes.len() - rest.len(), length });
        }
        // A capture may end within a block.
        let Some(body) = rest.get(8..length as usize - 4) else { break };
        rest = &rest[length as usize..];
        match kind {
            SECTION => {
                let program = options(body, 16, big_endian).find(|(code, _)| *code == USER_APPLICATION);
                ours = program.is_some_and(|(_, name)| name.starts_with(b"cwnd"));
            }
            INTERFACE => interfaces.push(Interface::of(body, big_endian)),
            ENHANCED => {
                let words = [0, 4, 8, 12, 16].map(|at| word(body, at, big_endian));
                let [Some(interface), Some(high), Some(low), Some(kept), Some(length)] = words else { continue };
                let Some(interface) = interfaces.get(interface as usize) else { continue };
                let Some(packet) = body.get(20..).and_then(|rest| rest.get(..kept as usize)) else { continue };
                let units = u64::from(high) << 32 | u64::from(low);
                let since = if interface.unit == 1.0 { units } else { (units as f64 * interface.unit) as u64 };
                let offset = interface.offset.saturating_mul(1_000_000_000);
                let at = since.saturating_add_signed(offset);
                let link = interface.link;
                let interface = ours.then_some((interface.name.as_str(), interface.description.as_str()));
                connections.packet(&Frame { at, link, packet, length, interface });
            }
            _ => {}
        }
    }
    Ok(())
}

impl Interface {
    fn of(body: &[u8], big_endian: bool) -> Self {
        let link = half(body, 0, big_endian).map_or(0, u32::from);
        let mut interface = Self { link, unit: 1000.0, ..Self::default() };
        for (code, value) in options(body, 8, big_endian) {
            match (code, value) {
                (IF_NAME, name) => interface.name = String::from_utf8_lossy(name).into_owned(),
                (IF_DESCRIPTION, text) => interface.description = String::from_utf8_lossy(text).into_owned(),
                (IF_RESOLUTION, [9]) => interface.unit = 1.0,
                (IF_RESOLUTION, [power]) => {
                    let base: f64 = if power & 0x80 == 0 { 10.0 } else { 2.0 };
                    interface.unit = 1e9 * base.powi(-i32::from(power & 0x7f));
                }
                (IF_OFFSET, seconds) => {
                    let seconds: [u8; 8] = seconds.try_into().unwrap_or_default();
                    interface.offset =
                        if big_endian { i64::from_be_bytes(seconds) } else { i64::from_le_bytes(seconds) };
                }
                _ => {}
            }
        }
        interface
    }
}

/// The options of a block from the byte `from` on.
fn options(body: &[u8], from: usize, big_endian: bool) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = body.get(from..).unwrap_or_default();
    std::iter::from_fn(move || {
        let code = half(rest, 0, big_endian).filter(|code| *code != 0)?;
        let length = usize::from(half(rest, 2, big_endian)?);
        let value = rest.get(4..4 + length)?;
        rest = rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let bytes = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

fn half(bytes: &[u8], at: usize, big_endian: bool) -> Option<u16> {
    let bytes = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
}

/// A packet of a capture.
struct Frame<'a> {
    /// Nanoseconds.
    at: u64,
    /// The kind of its link.
    link: u32,
    /// The captured bytes.
    packet: &'a [u8],
    /// The bytes that it had.
    length: u32,
    /// Name and description of its interface, where they are a flow's.
    interface: Option<(&'a str, &'a str)>,
}

impl<'a> Frame<'a> {
    /// The IP packet in it, and its length where its own header has none.
    fn ip(&self) -> Option<(&'a [u8], usize)> {
        let header = match self.link {
            LINK_NULL | LINK_LOOP => 4,
            LINK_ETHERNET => {
                let tagged = |at| matches!(half(self.packet, at, true), Some(0x8100 | 0x88a8));
                14 + 4 * usize::from(tagged(12)) + 4 * usize::from(tagged(12) && tagged(16))
            }
            LINK_COOKED => 16,
            LINK_COOKED_2 => 20,
            LINK_RAW | 12 | 14 | LINK_IPV4 | LINK_IPV6 => 0,
            _ => return None,
        };
        Some((self.packet.get(header..)?, (self.length as usize).saturating_sub(header)))
    }
}

#[derive(Default)]
struct Connections {
    all: BTreeMap<Ends, Connection>,
}

impl Connections {
    fn packet(&mut self, frame: &Frame) {
        let Some((ip, length)) = frame.ip() else { return };
        let Some(datagram) = Datagram::of(ip, length) else { return };
        let segment = match datagram.protocol {
            TCP => Segment::of_tcp(datagram.bytes, datagram.length),
            UDP => Segment::of_udt(datagram.bytes, datagram.length),
            _ => None,
        };
        let (Some(segment), Some(from), Some(to)) =
            (segment, half(datagram.bytes, 0, true), half(datagram.bytes, 2, true))
        else {
            return;
        };
        let ends = (SocketAddr::new(datagram.from, from), SocketAddr::new(datagram.to, to));
        if segment.is_data() {
            let connection = self.all.entry(ends).or_insert_with(|| Connection::new(&segment, frame.at));
            connection.named(frame.interface);
            connection.sent(&segment, frame.at);
        }
        if let Some(connection) = self.all.get_mut(&(ends.1, ends.0)) {
            connection.answered(&segment, frame.at);
        }
    }
}

/// The payload of an IP packet.
struct Datagram<'a> {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    /// The captured bytes after the IP header.
    bytes: &'a [u8],
    /// The bytes that were there.
    length: usize,
}

impl<'a> Datagram<'a> {
    fn of(ip: &'a [u8], length: usize) -> Option<Self> {
        match ip.first()? >> 4 {
            4 => {
                let header = usize::from(ip[0] & 15) * 4;
                let whole = usize::from(half(ip, 2, true)?);
                let first = half(ip, 6, true)? & 0x1fff == 0;
                let address = |at: usize| Some(IpAddr::from(Ipv4Addr::from(*ip.get(at..)?.first_chunk::<4>()?)));
                // Segments that the device is to cut may have no length.
                let whole = if whole == 0 { length } else { whole };
                let datagram = Self {
                    from: address(12)?,
                    to: address(16)?,
                    protocol: ip[9],
                    bytes: ip.get(header..)?,
                    length: whole.checked_sub(header)?,
                };
                (first && header >= 20).then_some(datagram)
            }
            6 => {
                let address = |at: usize| Some(IpAddr::from(Ipv6Addr::from(*ip.get(at..)?.first_chunk::<16>()?)));
                let payload = usize::from(half(ip, 4, true)?);
                let mut length = if payload == 0 { length.checked_sub(40)? } else { payload };
                let (mut protocol, mut bytes) = (ip[6], ip.get(40..)?);
                // Options and routes; of fragments nothing is taken.
                while matches!(protocol, 0 | 43 | 60) {
                    let header = usize::from(*bytes.get(1)?) * 8 + 8;
                    protocol = bytes[0];
                    bytes = bytes.get(header..)?;
                    length = length.checked_sub(header)?;
                }
                Some(Self { from: address(8)?, to: address(24)?, protocol, bytes, length })
            }
            _ => None,
        }
    }
}

// Magic numbers and types of blocks.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const SECTION: u32 = 0x0A0D_0D0A;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const INTERFACE: u32 = 1;
const ENHANCED: u32 = 6;
// Options.
const USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_RESOLUTION: u16 = 9;
const IF_OFFSET: u16 = 14;
// Kinds of links: <https://www.tcpdump.org/linktypes.html>.
const LINK_NULL: u32 = 0;
const LINK_ETHERNET: u32 = 1;
const LINK_RAW: u32 = 101;
const LINK_LOOP: u32 = 108;
const LINK_COOKED: u32 = 113;
const LINK_IPV4: u32 = 228;
const LINK_IPV6: u32 = 229;
const LINK_COOKED_2: u32 = 276;
// Protocols of IP.
const TCP: u8 = 6;
const UDP: u8 = 17;
