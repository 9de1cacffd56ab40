//! What a user chooses for sockets.

use cwnd::{BitRate, Span, Spec};
use cwnd_udt::Settings;
use cwnd_udt::wire::HEADER;

/// Settings of the protocol and of the socket below it, for everything that opens a port.
///
/// ```
/// use cwnd::Span;
/// use cwnd_net::Options;
///
/// let options = Options::default().dead_after(Span::from_secs(5)).offload(false);
/// assert_eq!(options.settings().dead_after, Span::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) settings: Settings,
    pub(crate) offload: bool,
    pub(crate) socket_buffer: Option<usize>,
    pub(crate) backlog: usize,
}

impl Options {
    /// These settings of the protocol, with all else at its default.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, offload: true, socket_buffer: None, backlog: 128 }
    }

    /// The settings of the protocol.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The congestion control; `udt` as libudt does it unless set.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Spec) -> Self {
        self.settings.algorithm = algorithm;
        self
    }

    /// The largest packet in bytes, IP and UDP headers included, as for IPv4; 1,500 unless set. The path must carry it: the protocol
    /// does not find out, and packets are not fragmented.
    #[must_use]
    pub fn mss(mut self, bytes: u16) -> Self {
        self.settings.mss = bytes;
        self
    }

    /// Packets that may wait to be sent or acknowledged, at most: 25,600 (37 MB) unless set, which is enough for 1 Gbit/s over 0.3 s.
    /// No more wait than keep the network busy, which is twice what it took lately, and memory is only there for those that do.
    #[must_use]
    pub fn send_buffer(mut self, packets: u32) -> Self {
        self.settings.send_buffer = packets;
        self
    }

    /// Packets that may wait to be read or for their predecessors, at most: 25,600 (37 MB) unless set. A peer is granted what the
    /// path and the application need: four times what is read in a round trip, or what is read in 80 ms, and 512 packets at first.
    /// Messages, which arrive whole, are granted all.
    #[must_use]
    pub fn receive_buffer(mut self, packets: u32) -> Self {
        self.settings.receive_buffer = packets;
        self
    }

    /// A bound on the rate of sending, headers included; none unless set.
    #[must_use]
    pub fn max_rate(mut self, rate: BitRate) -> Self {
        self.settings.max_rate = Some(rate);
        self
    }

    /// How long closing may wait for the peer; 180 s unless set.
    #[must_use]
    pub fn linger(mut self, span: Span) -> Self {
        self.settings.linger = span;
        self
    }

    /// After how long a silence a peer counts as gone; 10 s unless set.
    #[must_use]
    pub fn dead_after(mut self, span: Span) -> Self {
        self.settings.dead_after = span;
        self
    }

    /// How long to wait for a listener; 3 s unless set.
    #[must_use]
    pub fn connect_timeout(mut self, span: Span) -> Self {
        self.settings.connect_timeout = span;
        self
    }

    /// How long to wait for the other side of a rendezvous; 30 s unless set.
    #[must_use]
    pub fn rendezvous_timeout(mut self, span: Span) -> Self {
        self.settings.rendezvous_timeout = span;
        self
    }

    /// Whether many datagrams may pass through the kernel as one (GSO and GRO), which costs a fraction of the processor time; on
    /// unless set. Measurements turn it off.
    #[must_use]
    pub fn offload(mut self, on: bool) -> Self {
        self.offload = on;
        self
    }

    /// The size in bytes of the socket's own buffers in the kernel, which hold what comes in while the port's thread is busy.
    /// Unless set, as much as the window, up to 8 MiB. The kernel may grant less: see
    /// [`UdtPort::socket_buffer`](crate::UdtPort::socket_buffer).
    #[must_use]
    pub fn socket_buffer(mut self, bytes: usize) -> Self {
        self.socket_buffer = Some(bytes);
        self
    }

    /// How many connections may wait for a listener to accept them; 128 unless set.
    #[must_use]
    pub fn backlog(mut self, connections: usize) -> Self {
        self.backlog = connections;
        self
    }

    /// Bytes of the socket's buffers.
    pub(crate) fn buffer_bytes(&self) -> usize {
        let window = self.settings.receive_buffer as usize * usize::from(self.settings.mss);
        self.socket_buffer.unwrap_or(window.min(SOCKET_BUFFER))
    }

    /// The longest UDP payload that a peer may send.
    pub(crate) fn longest_datagram(&self) -> usize {
        usize::from(self.settings.mss).saturating_sub(IP_UDP).max(HANDSHAKE)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

/// A tenth of a second at 640 Mbit/s; a thread that is away for longer has lost its processor.
const SOCKET_BUFFER: usize = 8 << 20;
/// Headers of IPv4 and UDP.
const IP_UDP: usize = 20 + 8;
/// The longest control packets: a handshake, or a NAK as long as libudt sends them.
const HANDSHAKE: usize = HEADER + 1_456;
