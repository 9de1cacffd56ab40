//! Counters and measurements of a connection.

use std::fmt;
use std::io;

use cwnd::{Limit, Span};
use cwnd_udt::connection;

/// Counters and measurements of the protocol and the socket. Displayed, it is a line in the style of `ss -ti`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Counters and measurements of the protocol.
    pub udt: connection::Stats,
    /// The kernel's receive buffer in bytes: requested and granted. If less was granted, packets are lost when this host is busy, to
    /// which the peer reacts as to congestion.
    pub socket_buffer: (usize, usize),
    /// Datagrams of the port, of all its connections, that the system refused to send.
    pub send_errors: u64,
    /// Why the system refused the last of them: too long for the device, no route, a firewall.
    pub send_error: Option<io::ErrorKind>,
}

impl Stats {
    /// The current limit of the sender, in words.
    #[must_use]
    pub fn limited_by(&self) -> &'static str {
        limit_in_words(self.udt.limit)
    }
}

/// The limit of a sender, in the words of a message.
#[must_use]
pub fn limit_in_words(limit: Limit) -> &'static str {
    match limit {
        Limit::Window => "the congestion window",
        Limit::Rate => "the congestion control's rate",
        Limit::Source => "the application, which writes nothing",
        Limit::Peer => "the peer, which has no room",
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let udt = &self.udt;
        if let (Some(rtt), Some(rttvar), Some(minrtt)) = (udt.rtt, udt.rttvar, udt.minrtt) {
            write!(f, "rtt:{:.3}/{:.3} minrtt:{:.3} ", millis(rtt), millis(rttvar), millis(minrtt))?;
        }
        write!(f, "cwnd:{:.1} ", udt.cwnd.0)?;
        if let Some(rate) = udt.pacing_rate {
            write!(f, "pacing_rate:{:.3}Mbps ", rate.0 / 1e6)?;
        }
        write!(
            f,
            "bytes_sent:{} bytes_retrans:{} bytes_acked:{} ",
            udt.bytes_sent, udt.bytes_retrans, udt.bytes_acked
        )?;
        write!(
            f,
            "bytes_received:{} segs_out:{} segs_in:{} ",
            udt.bytes_received, udt.data_segs_out, udt.data_segs_in
        )?;
        write!(f, "unacked:{} retrans:{} lost:{} notsent:{} ", udt.unacked, udt.retrans, udt.lost, udt.notsent)?;
        write!(f, "snd_wnd:{} rcv_space:{} ", udt.snd_wnd, udt.rcv_space)?;
        if udt.no_room + udt.refused + self.send_errors > 0 {
            write!(f, "no_room:{} refused:{} send_errors:{} ", udt.no_room, udt.refused, self.send_errors)?;
        }
        let (requested, granted) = self.socket_buffer;
        if granted < requested {
            write!(f, "rcvbuf:{granted}of{requested} ")?;
        }
        let spent = udt.limited;
        let (window, rate) = (millis(spent.window), millis(spent.rate));
        let (source, peer) = (millis(spent.source), millis(spent.peer));
        write!(f, "limited_ms:window={window:.0},rate={rate:.0},source={source:.0},peer={peer:.0} ")?;
        write!(f, "limited by {}", self.limited_by())
    }
}

fn millis(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}
