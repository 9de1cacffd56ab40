//! Settings of a connection.

use core::ops::RangeInclusive;

use cwnd::registry::Transport;
use cwnd::{BitRate, Entry, Span, Spec};
use thiserror::Error;

/// Whether the algorithm can drive a connection: UDT's packets carry all the feedback that it needs.
#[must_use]
pub const fn drives<A>(entry: &Entry<A>) -> bool {
    matches!(entry.transport, Transport::Acked | Transport::Reported)
}

/// The mode of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A stream of bytes.
    #[default]
    Stream,
    /// Messages with boundaries, which may have a time to live.
    Messages,
}

/// Settings of a connection or a listener. Every function that uses settings calls [`Settings::check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The congestion control.
    pub algorithm: Spec,
    /// A stream, or messages. Both ends must choose the same.
    pub mode: Mode,
    /// The largest packet in bytes, with 20 bytes for IPv4, 8 for UDP and 16 for UDT. The smaller of both ends' is used. IPv6
    /// needs 20 more, which the endpoint takes off.
    pub mss: u16,
    /// Packets that may wait to be sent or to be acknowledged.
    pub send_buffer: u32,
    /// Packets that may wait to be read or for missing packets before them: the window granted to the peer.
    pub receive_buffer: u32,
    /// Packets that the host holds while it is too busy to hand them in, as an operating system does below a socket. The window
    /// granted to the peer is then bounded by that, and by what the path itself holds; none if the host is never busy.
    pub backlog: Option<u32>,
    /// Never send faster than this, headers included.
    pub max_rate: Option<BitRate>,
    /// The lead of a paced packet over its time, so that several can be sent together: at most an eighth of the peer's buffer.
    pub burst: Span,
    /// Make up for delays of the host: overdue packets of a late process leave at twice the pace, up to half of the least round trip of
    /// them. Otherwise a delay beyond `burst` is lost time.
    pub catch_up: bool,
    /// Verify acknowledgements: a few packets are withheld until the peer reports them missing. A peer that acknowledges one of them has
    /// lied, which ends the connection. Packets after a withheld one wait at the receiver for at most a round trip.
    pub prove_acks: bool,
    /// This end acknowledges each time this number of packets has arrived, with a light acknowledgement, between the ticks of UDT's clock
    /// of 10 ms; at least 1. The fewer they are, the better an algorithm that follows delivery rates measures the path.
    pub ack_every: u32,
    /// Ask a receiver to report the packets that arrive above missing ones. A receiver that does not know the request, such as libudt's,
    /// acknowledges as before.
    pub ask_reports: bool,
    /// The time for which a connection that is being closed continues to deliver written data.
    pub linger: Span,
    /// A packet of any kind is sent at least this often.
    pub keep_alive: Span,
    /// The connection ends if nothing was received from the peer for this long.
    pub idle_timeout: Span,
    /// The time for which a client waits for its server.
    pub connect_timeout: Span,
    /// The time for which a rendezvous waits for the other side.
    pub rendezvous_timeout: Span,
}

/// A setting that is out of its range.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No packet at all would be acknowledged between the ticks of the clock, not even all of them.
    #[error("acknowledgements after 0 packets: at least 1 must have arrived")]
    AckEvery,
    /// An algorithm that needs feedback which UDT's packets cannot carry.
    #[error(
        "`{0}` cannot drive UDT, whose packets do not carry the feedback it needs from its receiver or from routers"
    )]
    Algorithm(&'static str),
    /// A buffer that is too small to be useful, or too large for sequence numbers or memory.
    #[error("the {which} buffer, in packets, is {packets}, outside {}..={}", BUFFER.start(), BUFFER.end())]
    Buffer {
        /// `send` or `receive`.
        which: &'static str,
        /// The value as set.
        packets: u32,
    },
    /// A live peer would time out between two keep-alive packets.
    #[error(
        "a peer would time out after {idle_timeout}, but keep-alive packets are sent each {keep_alive}: at least 3 must fit"
    )]
    IdleTimeout {
        /// The value as set.
        idle_timeout: Span,
        /// The value as set.
        keep_alive: Span,
    },
    /// Keep-alive packets too frequent to be cheap, or too rare for libudt.
    #[error("a keep-alive each {0} is outside 10 ms to 10 s")]
    KeepAlive(Span),
    /// A packet that holds nothing, or that IP cannot carry.
    #[error("a largest packet of {bytes} B is outside {}..={}", MSS.start(), MSS.end())]
    Mss {
        /// The value as set.
        bytes: u16,
    },
    /// A rate that is not positive and finite.
    #[error("a largest rate of {} bit/s is not positive", .0.0)]
    Rate(BitRate),
    /// A timeout of zero.
    #[error("the time to wait for {0} is zero")]
    Timeout(&'static str),
}

impl Settings {
    /// The settings for `algorithm` with all else at its default.
    #[must_use]
    pub fn new(algorithm: Spec) -> Self {
        Self {
            algorithm,
            mode: Mode::Stream,
            mss: 1500,
            send_buffer: DEFAULT_BUFFER,
            receive_buffer: DEFAULT_BUFFER,
            backlog: None,
            max_rate: None,
            burst: Span::ZERO,
            catch_up: false,
            prove_acks: false,
            ack_every: 64,
            ask_reports: false,
            linger: Span::from_secs(180),
            keep_alive: Span::from_secs(1),
            idle_timeout: Span::from_secs(10),
            connect_timeout: Span::from_secs(3),
            rendezvous_timeout: Span::from_secs(30),
        }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// The variant for the first setting that is out of its range, with the range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let entry = self.algorithm.entry();
        if !drives(entry) {
            return Err(SettingsError::Algorithm(entry.name));
        }
        if self.ack_every == 0 {
            return Err(SettingsError::AckEvery);
        }
        if !MSS.contains(&self.mss) {
            return Err(SettingsError::Mss { bytes: self.mss });
        }
        for (which, packets) in [("send", self.send_buffer), ("receive", self.receive_buffer)] {
            if !BUFFER.contains(&packets) {
                return Err(SettingsError::Buffer { which, packets });
            }
        }
        if let Some(rate) = self.max_rate
            && !(rate.0 > 0.0 && rate.0.is_finite())
        {
            return Err(SettingsError::Rate(rate));
        }
        if !(Span::from_millis(10)..=Span::from_secs(10)).contains(&self.keep_alive) {
            return Err(SettingsError::KeepAlive(self.keep_alive));
        }
        if self.idle_timeout < self.keep_alive * 3 {
            return Err(SettingsError::IdleTimeout { idle_timeout: self.idle_timeout, keep_alive: self.keep_alive });
        }
        for (what, timeout) in [("a server", self.connect_timeout), ("a rendezvous", self.rendezvous_timeout)] {
            if timeout == Span::ZERO {
                return Err(SettingsError::Timeout(what));
            }
        }
        Ok(())
    }
}

/// `udt` with the profile of libudt, `udt4`.
impl Default for Settings {
    fn default() -> Self {
        Self::new(Spec::parse("udt:profile=udt4").expect("the registry has `udt`, and `udt4` is one of its profiles"))
    }
}

/// The range of the packet size limit, in bytes with IPv4 headers. The minimum is the least that libudt lets its user set; a packet of 44
/// bytes has no payload. The maximum is the most that IP can carry.
pub const MSS: RangeInclusive<u16> = 76..=u16::MAX;

/// Buffers and windows in packets: the least libudt lets its user set; far below 2^30, where sequence numbers become ambiguous,
/// and 1.5 GB of full-size packets.
pub const BUFFER: RangeInclusive<u32> = 32..=1 << 20;

/// The default maximum of libudt: 37 MB, enough for 1 Gbit/s over 0.3 s.
const DEFAULT_BUFFER: u32 = 25_600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_can_be_used() {
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn values_out_of_range_are_named() {
        let broken = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert_eq!(
            broken(|s| s.algorithm = Spec::parse("tfrc").unwrap()),
            "`tfrc` cannot drive UDT, whose packets do not carry the feedback it needs from its receiver or from routers"
        );
        assert_eq!(broken(|s| s.mss = 75), "a largest packet of 75 B is outside 76..=65535");
        assert_eq!(broken(|s| s.send_buffer = 31), "the send buffer, in packets, is 31, outside 32..=1048576");
        assert_eq!(
            broken(|s| s.receive_buffer = u32::MAX),
            "the receive buffer, in packets, is 4294967295, outside 32..=1048576"
        );
        assert_eq!(broken(|s| s.max_rate = Some(BitRate(0.0))), "a largest rate of 0 bit/s is not positive");
        assert_eq!(broken(|s| s.keep_alive = Span::from_secs(46)), "a keep-alive each 46 s is outside 10 ms to 10 s");
        assert_eq!(
            broken(|s| s.idle_timeout = Span::from_secs(2)),
            "a peer would time out after 2 s, but keep-alive packets are sent each 1 s: at least 3 must fit"
        );
        assert_eq!(broken(|s| s.connect_timeout = Span::ZERO), "the time to wait for a server is zero");
    }
}
