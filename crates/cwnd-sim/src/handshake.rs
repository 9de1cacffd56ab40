//! The handshake of a connection: round trips of small packets before the first data.
//!
//! The sender sends a packet of the size of an acknowledgement, the receiver answers at once with another, and so on for each round trip:
//! one for TCP or QUIC, two for TCP with TLS 1.3. The packets cross the access line, the queues and the links of the flow. A packet without
//! an answer is sent again after 1 s, then after twice as long (RFC 6298 section 2). Answers echo when their packet left (RFC 7323), so each
//! is a sample of the round-trip time, also after a retransmission.
//!
//! If a packet of either end was lost, the initial window is one packet (RFC 5681 section 3.1). The echo tells this from a timeout that came
//! too early, after which the window stays as it is, as RFC 6928 section 2 recommends. The timeout of data follows the sample, which Linux too
//! prefers to the 3 s of RFC 6298 (5.7).

use cwnd::registry::{Spec, Transport};
use cwnd::{Algorithm, Packets, Span, Start, Time};

use crate::flow::start_of;
use crate::net::packet::HandshakePacket;
use crate::setup::FlowSetup;

/// The sender's state of the handshake of a flow.
#[derive(Debug)]
pub(crate) struct Handshake {
    /// Round trips to come; 0 once data may leave.
    left: u32,
    /// The number of transmissions of the packet of this round trip.
    sent: u32,
    /// When it leaves, or leaves again; [`Time::MAX`] for never.
    due: Time,
    /// When it left for the first time.
    first: Time,
    /// A packet of either end was lost.
    lost: bool,
    /// The algorithm, and how it starts after a loss.
    restart: Box<(Spec, Start)>,
    /// The sender may handle answers [ahead of their time](crate::world) once data leaves.
    pub(crate) ahead: bool,
}

impl Handshake {
    /// The handshake of a flow that starts at `start`, if it has one. The algorithm draws from `seed`.
    pub(crate) fn of(setup: &FlowSetup, start: Time, seed: u64) -> Option<Self> {
        let has = matches!(setup.algorithm.entry().transport, Transport::Acked | Transport::Routed);
        let initial = || start_of(setup, seed);
        (has && setup.handshake > 0).then(|| Self::new(setup.handshake, start, (setup.algorithm.clone(), initial())))
    }

    /// A handshake of `round_trips` that begins at `start`, before an algorithm with its initial window.
    fn new(round_trips: u32, start: Time, (algorithm, initial): (Spec, Start)) -> Self {
        let restart = Box::new((algorithm, initial.with_window(Packets(initial.window.0.min(1.0)))));
        Self { left: round_trips, sent: 0, due: start, first: start, lost: false, restart, ahead: false }
    }

    /// The packet to send, if one is due exactly now: events at other times are out of date.
    pub(crate) fn packet(&mut self, now: Time) -> Option<HandshakePacket> {
        if self.due != now {
            return None;
        }
        if self.sent == 0 {
            self.first = now;
        }
        self.due = now + (INITIAL_TIMEOUT * (1 << self.sent.min(MAX_DOUBLINGS))).min(MAX_TIMEOUT);
        self.sent += 1;
        Some(HandshakePacket { sent_at: now, left: self.left, to_receiver: true })
    }

    /// When a packet leaves next without an answer; [`Time::MAX`] for never.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// An answer has arrived: the round-trip time, or none if its round trip has ended before.
    pub(crate) fn on_answer(&mut self, now: Time, answer: &HandshakePacket) -> Option<Span> {
        if answer.left != self.left || self.left == 0 {
            return None;
        }
        self.lost |= answer.sent_at != self.first;
        self.left -= 1;
        self.sent = 0;
        self.due = if self.left > 0 { now } else { Time::MAX };
        Some(now.since(answer.sent_at))
    }

    /// The algorithm that takes the place of the flow's when data may leave, if packets were lost.
    pub(crate) fn restarted(&self) -> Option<Algorithm> {
        let (algorithm, start) = self.restart.as_ref();
        (self.is_done() && self.lost).then(|| algorithm.start(start))
    }

    /// Whether data may leave.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }
}

/// RFC 6298 (2.1): the timeout without a sample.
const INITIAL_TIMEOUT: Span = Span::from_secs(1);
/// As of the retransmission timer of data.
const MAX_DOUBLINGS: u32 = 6;
const MAX_TIMEOUT: Span = Span::from_secs(60);

#[cfg(test)]
mod tests {
    use cwnd::CongestionControl;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn handshake(round_trips: u32, start: Time) -> Handshake {
        let reno = Spec::parse("reno").expect("registered");
        Handshake::new(round_trips, start, (reno, Start::default()))
    }

    /// The window after a handshake whose packet left `sent` times, where the answer to number `answered` arrives.
    #[test]
    fn a_lost_packet_and_no_early_timeout_leaves_a_window_of_one() {
        for (sent, answered, window) in [(1, 0, None), (2, 0, None), (2, 1, Some(1.0)), (3, 1, Some(1.0))] {
            let mut handshake = handshake(1, at(0));
            let mut packets = Vec::new();
            for _ in 0..sent {
                packets.extend(handshake.packet(handshake.due()));
            }
            assert!(handshake.restarted().is_none(), "under way");
            assert!(handshake.on_answer(handshake.due(), &packets[answered]).is_some());
            let restarted = handshake.restarted().map(|algorithm| algorithm.control().window.0);
            assert_eq!(restarted, window, "answer {answered} of {sent}");
        }
    }

    #[test]
    fn a_packet_without_an_answer_leaves_again_after_1_s_and_then_after_twice_as_long() {
        let mut handshake = handshake(1, at(5));
        let mut left = Vec::new();
        while left.len() < 9 {
            let now = handshake.due();
            assert!(handshake.packet(now + Span::from_nanos(1)).is_none(), "not due");
            left.push(now);
            assert_eq!(handshake.packet(now).map(|packet| packet.sent_at), Some(now));
        }
        let gaps: Vec<u64> = left.windows(2).map(|pair| pair[1].since(pair[0]).as_nanos() / 1_000_000_000).collect();
        assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn each_round_trip_is_sampled_once() {
        let mut handshake = handshake(2, at(0));
        let first = handshake.packet(at(0)).expect("due");
        assert_eq!(handshake.on_answer(at(40), &first), Some(Span::from_millis(40)));
        assert_eq!(handshake.on_answer(at(41), &first), None, "a second answer to the first packet");
        assert!(!handshake.is_done());
        let second = handshake.packet(at(40)).expect("due at once");
        assert_eq!(handshake.on_answer(at(90), &second), Some(Span::from_millis(50)));
        assert!(handshake.is_done());
        assert_eq!(handshake.due(), Time::MAX);
        assert_eq!(handshake.on_answer(at(95), &second), None);
    }
}
