//! Options of sockets.

use cwnd::{BitRate, Span, Spec};
use cwnd_udt::Settings;
use cwnd_udt::wire::HEADER;

/// Settings of the protocol and of the socket below it, for everything that opens a port.
///
/// ```
/// use cwnd::Span;
/// use cwnd_net::Options;
///
/// let options = Options::default().idle_timeout(Span::from_secs(5)).offload(false);
/// assert_eq!(options.settings().idle_timeout, Span::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) settings: Settings,
    pub(crate) offload: bool,
    pub(crate) socket_buffer: Option<usize>,
    pub(crate) backlog: usize,
    /// In all, and at one address.
    pub(crate) max_clients: (u32, u32),
    pub(crate) clients_make_room: bool,
    pub(crate) memory: u64,
}

impl Options {
    /// Options with these settings of the protocol, and defaults otherwise.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            offload: true,
            socket_buffer: None,
            backlog: 128,
            max_clients: (u32::MAX, u32::MAX),
            clients_make_room: false,
            memory: MEMORY,
        }
    }

    /// The settings of the protocol.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The congestion control; `udt` with the profile of libudt by default.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Spec) -> Self {
        self.settings.algorithm = algorithm;
        self
    }

    /// The largest packet in bytes, IPv4 and UDP headers included; 1,500 by default. The path must carry it: there is no path MTU
    /// discovery, and packets are not fragmented.
    #[must_use]
    pub fn mss(mut self, bytes: u16) -> Self {
        self.settings.mss = bytes;
        self
    }

    /// Packets that may wait to be sent or acknowledged: 25,600 (37 MB) by default, enough for 1 Gbit/s over 0.3 s. Only as many wait
    /// as keep the network busy, twice what it carried lately, and memory is allocated for those alone.
    #[must_use]
    pub fn send_buffer(mut self, packets: u32) -> Self {
        self.settings.send_buffer = packets;
        self
    }

    /// Packets that may wait to be read or for missing packets before them: 25,600 (37 MB) by default. The window granted to the peer of
    /// a stream follows what the application reads: four times as much as in a round trip, or as much as in 80 ms, and at least 512
    /// packets. For messages it is the whole buffer.
    #[must_use]
    pub fn receive_buffer(mut self, packets: u32) -> Self {
        self.settings.receive_buffer = packets;
        self
    }

    /// The highest rate of sending, headers included; unlimited by default.
    #[must_use]
    pub fn max_rate(mut self, rate: BitRate) -> Self {
        self.settings.max_rate = Some(rate);
        self
    }

    /// The number of packets after which arrivals are acknowledged, between the ticks of UDT's clock of 10 ms; 64 by default, at least 1.
    #[must_use]
    pub fn ack_every(mut self, packets: u32) -> Self {
        self.settings.ack_every = packets;
        self
    }

    /// The longest wait at closing for the peer to acknowledge everything; 180 s by default.
    #[must_use]
    pub fn linger(mut self, span: Span) -> Self {
        self.settings.linger = span;
        self
    }

    /// The longest silence of a peer before the connection ends; 10 s by default.
    #[must_use]
    pub fn idle_timeout(mut self, span: Span) -> Self {
        self.settings.idle_timeout = span;
        self
    }

    /// The longest wait for the answer of a listener; 3 s by default.
    #[must_use]
    pub fn connect_timeout(mut self, span: Span) -> Self {
        self.settings.connect_timeout = span;
        self
    }

    /// The longest wait for the peer of a rendezvous; 30 s by default.
    #[must_use]
    pub fn rendezvous_timeout(mut self, span: Span) -> Self {
        self.settings.rendezvous_timeout = span;
        self
    }

    /// Whether many datagrams may pass through the kernel as one (GSO and GRO), which takes a fraction of the processor time; on by
    /// default. Measurements turn it off.
    #[must_use]
    pub fn offload(mut self, on: bool) -> Self {
        self.offload = on;
        self
    }

    /// The size in bytes of the socket's buffers in the kernel, which hold what arrives while the thread of the port is busy; by
    /// default that of the receive buffer, up to 8 MiB. The kernel may grant less: see
    /// [`UdtPort::socket_buffer`](crate::UdtPort::socket_buffer).
    #[must_use]
    pub fn socket_buffer(mut self, bytes: usize) -> Self {
        self.socket_buffer = Some(bytes);
        self
    }

    /// The largest number of connections that wait to be accepted; 128 by default.
    #[must_use]
    pub fn backlog(mut self, connections: usize) -> Self {
        self.backlog = connections;
        self
    }

    /// The largest number of clients of the listener of a port, and of one address, of which a network of 64 bits of IPv6 is one; others
    /// are refused. By default there is no limit below that of all connections. A connection that is being closed counts.
    #[must_use]
    pub fn max_clients(mut self, total: u32, per_address: u32) -> Self {
        self.max_clients = (total, per_address);
        self
    }

    /// Whether a client makes room for another one where [`max_clients`](Self::max_clients) would have that refused, until the
    /// application gives it a firmer [standing](crate::UdtStream::set_standing); off by default. Networks share the places as
    /// [`Places`](cwnd_udt::places::Places) says: a network does not lose one to a network that has as many.
    #[must_use]
    pub fn clients_make_room(mut self, on: bool) -> Self {
        self.clients_make_room = on;
        self
    }

    /// Bytes that all connections of a port together may use for arrived and unread data, and as many for written and unacknowledged data;
    /// half of each for connections with one address. 512 MiB by default. In addition every connection can use 64 KiB of the former and 180
    /// packets of the latter. Beyond, packets are dropped, and writing waits.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
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
        let mut settings = Settings::default();
        settings.ask_reports = true;
        Self::new(settings)
    }
}

/// A tenth of a second at 640 Mbit/s, longer than the thread usually waits for a processor.
const SOCKET_BUFFER: usize = 8 << 20;
/// Both buffers of seven connections at 1 Gbit/s over 0.3 s, at one address.
const MEMORY: u64 = 512 << 20;
/// Headers of IPv4 and UDP.
const IP_UDP: usize = 20 + 8;
/// The longest control packets: a handshake, or a NAK as long as libudt sends them.
const HANDSHAKE: usize = HEADER + 1_456;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_asked_for_eight_mebibytes_at_most() {
        assert_eq!(Options::default().receive_buffer(1 << 20).buffer_bytes(), 8 << 20);
        assert_eq!(Options::default().receive_buffer(100).buffer_bytes(), 150_000);
        assert_eq!(Options::default().receive_buffer(100).socket_buffer(5_000_000).buffer_bytes(), 5_000_000);
    }
}
