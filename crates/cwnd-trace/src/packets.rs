//! Every packet of a flow, as seen at its sender.

/// The packets that an observer at a sender sees, sent and received, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketLog {
    /// Their protocol.
    pub protocol: Protocol,
    /// The packets.
    pub packets: Vec<Logged>,
    /// Control packets of UDT as on the wire, one after the other: [`Seen::Control`] has the length of each.
    pub control: Vec<u8>,
    /// When the log was full: it holds nothing after that.
    pub full: Option<u64>,
}

/// The protocol of two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Data and acknowledgements as in TCP.
    #[default]
    Tcp,
    /// UDT, with 0 as the number of the first packet on the wire.
    Udt,
    /// Datagrams that are never retransmitted, and reports of the receiver.
    Datagrams,
}

/// A packet that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When, nanoseconds.
    pub at: u64,
    /// What.
    pub seen: Seen,
}

/// An observed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A packet of data leaves.
    Data {
        /// From 0.
        number: u64,
        /// It was sent before.
        again: bool,
        /// The ECN field with which it leaves.
        ecn: EcnField,
        /// The sender has reacted to a mark (CWR, RFC 3168).
        reacted: bool,
    },
    /// An acknowledgement of TCP arrives.
    Ack {
        /// All packets below have arrived.
        cumulative: u64,
        /// Ranges that have arrived too: the first packet and the one after the last, counted from `cumulative`. Unused ones are
        /// empty.
        sack: [(u32, u32); 3],
        /// A mark is echoed (ECE, RFC 3168).
        echoes: bool,
    },
    /// A report of a receiver of datagrams arrives.
    Report {
        /// The newest packet that has arrived.
        newest: u64,
        /// How many have arrived, modulo 2^32.
        arrivals: u32,
    },
    /// A control packet of UDT.
    Control {
        /// It reaches the sender; otherwise it leaves it.
        arrives: bool,
        /// Its bytes in [`PacketLog::control`].
        len: u16,
    },
}

/// The ECN field of a packet (RFC 3168), as its sender sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Routers drop the packet instead of marking it.
    #[default]
    NotEct,
    /// A mark halves the window.
    Ect0,
    /// Marks are answered in proportion to their number (RFC 9331).
    Ect1,
}

impl PacketLog {
    /// The packets, with the bytes of those that have some.
    pub fn iter(&self) -> impl Iterator<Item = (Logged, &[u8])> + '_ {
        let mut rest = self.control.as_slice();
        self.packets.iter().map(move |packet| {
            let Seen::Control { len, .. } = packet.seen else { return (*packet, [].as_slice()) };
            let (bytes, later) = rest.split_at_checked(usize::from(len)).unwrap_or_default();
            rest = later;
            (*packet, bytes)
        })
    }
}
