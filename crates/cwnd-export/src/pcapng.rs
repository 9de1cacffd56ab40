//! The packets at the senders, for Wireshark and other readers of captures.
//!
//! The container is pcapng (draft-ietf-opsawg-pcapng): a section, one interface per flow with the flow's name, and packets whose
//! times are simulated nanoseconds since the beginning of the run. Packets begin with IPv4. Of data only the headers are there,
//! with the original length of the packet; its payload counts as zeros in checksums.
//!
//! The simulator has no set-up of connections. One is added in the nanoseconds before a flow's first packet, from which readers learn how
//! windows are scaled, and that a port carries UDT.

use std::io::{self, Write};

use cwnd_trace::Trace;

use crate::About;
use crate::datagram::{Datagram, FlowPackets};
use crate::merge::Merge;

/// Writes the packets of all flows that were logged, in order of time.
///
/// # Errors
/// The writer fails, or a packet is larger than IPv4 allows.
pub fn write(out: &mut impl Write, trace: &Trace, about: &About<'_>) -> io::Result<()> {
    let mut writer = Writer { out, block: Vec::new() };
    let comment = format!(
        "simulated, seed {}: {}. Connection set-ups and addresses are made up. Repeat with: {}",
        about.seed, about.title, about.command
    );
    writer.section(&comment, about.program)?;
    for flow in &trace.flows {
        writer.interface(&flow.name, &flow.algorithm)?;
    }
    let flows: Vec<FlowPackets<'_>> =
        (0..).zip(&trace.flows).map(|(place, flow)| FlowPackets::new(place, flow)).collect();
    let packets = Merge::new(flows.iter().map(FlowPackets::packets).collect());
    let mut datagram = Datagram::default();
    for (flow, at, packet) in packets {
        flows[flow].encode(at, packet, &mut datagram)?;
        writer.packet(flow as u32, at, &datagram)?;
    }
    Ok(())
}

struct Writer<'a, W> {
    out: &'a mut W,
    /// The body of the block being written.
    block: Vec<u8>,
}

impl<W: Write> Writer<'_, W> {
    fn section(&mut self, comment: &str, program: &str) -> io::Result<()> {
        self.words(&[BYTE_ORDER, VERSION, u32::MAX, u32::MAX]);
        self.option(OPT_COMMENT, comment.as_bytes());
        self.option(SHB_USERAPPL, program.as_bytes());
        self.end_of_options();
        self.finish(SECTION_HEADER)
    }

    fn interface(&mut self, name: &str, description: &str) -> io::Result<()> {
        self.words(&[LINKTYPE_RAW, NO_LIMIT]);
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_DESCRIPTION, description.as_bytes());
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.end_of_options();
        self.finish(INTERFACE_DESCRIPTION)
    }

    fn packet(&mut self, interface: u32, at: u64, datagram: &Datagram) -> io::Result<()> {
        let captured = datagram.bytes.len() as u32;
        self.words(&[interface, (at >> 32) as u32, at as u32, captured, datagram.length]);
        self.padded(&datagram.bytes);
        self.finish(ENHANCED_PACKET)
    }

    fn words(&mut self, words: &[u32]) {
        self.block.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // The length of an option has 16 bits; longer values are cut off.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    fn end_of_options(&mut self) {
        self.words(&[0]);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block: its type, its length, the body, and its length again.
    fn finish(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}

// Types of blocks.
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

// Codes of options.
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;

/// The byte-order magic.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// 1.0, as two half words.
const VERSION: u32 = 1;
/// Packets begin with their IP header.
const LINKTYPE_RAW: u32 = 101;
/// No limit of captured bytes per packet (snap length).
const NO_LIMIT: u32 = 0;
/// Times are counts of 10^-9 s.
const NANOSECONDS: u8 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_length_twice_and_is_padded_to_words() {
        let mut bytes = Vec::new();
        let mut writer = Writer { out: &mut bytes, block: Vec::new() };
        writer.interface("reno", "").expect("memory takes everything");
        // Type, length, link type, limit, name (4 + 4), description (4), resolution (4 + 4), end, length.
        assert_eq!(bytes.len(), 44);
        assert_eq!(bytes[..4], 1_u32.to_le_bytes());
        assert_eq!(bytes[4..8], 44_u32.to_le_bytes());
        assert_eq!(bytes[40..], 44_u32.to_le_bytes());
        assert_eq!(bytes[16..24], [2, 0, 4, 0, b'r', b'e', b'n', b'o']);
        assert_eq!(bytes[28..36], [9, 0, 1, 0, 9, 0, 0, 0]);
    }
}
