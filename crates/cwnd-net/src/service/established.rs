//! The state that the thread of a port keeps of an established connection, in addition to that of the protocol.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cwnd::{Span, Time};
use cwnd_udt::connection::{Reason, SendError};
use cwnd_udt::{Endpoint, Mode, Quota, Settings};

use super::message_reassembly::MessageReassembly;
use super::stream_reassembly::StreamReassembly;
use crate::connection::Connection;
use crate::error::Ended;

/// An established connection.
#[derive(Debug)]
pub(super) struct Established {
    pub(super) shared: Arc<Connection>,
    /// The address of this host that the peer sends to, if the socket has several.
    pub(super) src_ip: Option<IpAddr>,
    phase: Phase,
    received: Received,
    progress: Progress,
    /// Bytes taken from the port's memory for unacknowledged data.
    reserved: u64,
    /// No probe pair is sent alone before.
    pub(super) next_pair: Time,
}

/// Where a connection is between its establishment and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The application writes no more, and not everything is submitted.
    Finishing,
    /// Everything is submitted, and the protocol closes the connection once it is delivered.
    Finished,
    Closed,
}

/// Packets that have arrived and that the application does not have yet.
#[derive(Debug)]
enum Received {
    Stream(StreamReassembly),
    Messages {
        reassembly: MessageReassembly,
        /// Packets of messages that lie in the receive buffer.
        unread: u64,
    },
}

/// The progress of written data, and the number of bytes that keep the network busy.
#[derive(Debug, Default)]
struct Progress {
    /// Bytes sent at least once.
    sent: u64,
    /// Bytes that the protocol will not ask for again.
    released: u64,
    /// The interval being measured: its beginning, the bytes released by then, the most bytes in flight since.
    since: Time,
    released_before: u64,
    flight: u64,
    /// Twice the bytes in flight plus those released in the interval before: both may double, as in slow start.
    needed: u64,
}

impl Established {
    pub(super) fn new(shared: Arc<Connection>, src_ip: Option<IpAddr>, settings: &Settings) -> Self {
        let received = match settings.mode {
            Mode::Stream => Received::Stream(StreamReassembly::default()),
            Mode::Messages => Received::Messages { reassembly: MessageReassembly::default(), unread: 0 },
        };
        let (phase, progress) = (Phase::Open, Progress::default());
        Self { shared, src_ip, phase, received, progress, reserved: 0, next_pair: Time::ZERO }
    }

    /// The number of read packets that an application reports at once, without waiting for the next arrival, if the protocol grants
    /// `room` packets.
    pub(super) fn report_threshold(mode: Mode, room: u64) -> u64 {
        match mode {
            Mode::Stream => (room / 8).max(1),
            Mode::Messages => MAX_UNREAD / 2,
        }
    }

    /// Its place in the table of the port.
    pub(super) fn place(&self) -> usize {
        self.shared.handle.place()
    }

    /// Frees memory that an idle connection does not need.
    pub(super) fn release_memory(&mut self) {
        self.shared.send.release_memory();
        self.shared.receive.release_memory();
        if let Received::Stream(reassembly) = &mut self.received {
            reassembly.release_memory();
        }
    }

    /// A packet has arrived.
    pub(super) fn store(&mut self, number: u64, payload: &[u8]) {
        match &mut self.received {
            Received::Stream(reassembly) => reassembly.insert(number, payload, &self.shared.receive),
            Received::Messages { reassembly, .. } => reassembly.insert(number, payload),
        }
    }

    /// Moves complete data into the receive buffer, and reports to the protocol how much has been read.
    pub(super) fn deliver(&mut self, now: Time, endpoint: &mut Endpoint) {
        let handle = self.shared.handle;
        let read = self.shared.receive.report();
        match &mut self.received {
            Received::Stream(reassembly) => {
                reassembly.flush(&self.shared.receive);
                if read > 0 {
                    let room = endpoint.with(handle, |connection| {
                        connection.consume(now, read);
                        connection.receive_room()
                    });
                    let threshold = Self::report_threshold(Mode::Stream, room.unwrap_or_default());
                    self.shared.report_threshold.store(threshold, Ordering::Relaxed);
                }
            }
            Received::Messages { reassembly, unread } => {
                *unread -= read;
                // The protocol does not count the receive buffer, which must not grow without bound.
                while *unread < MAX_UNREAD || self.phase == Phase::Closed {
                    let message = endpoint
                        .connection(handle)
                        .map(|connection| reassembly.remove(connection.readable().map(|(slot, _)| slot.0)));
                    let Some(message) = message.filter(|message| message.packets > 0) else { break };
                    *unread += message.packets;
                    self.shared.receive.push(message);
                    endpoint.with(handle, |connection| connection.consume(now, 1));
                }
                if let Some(connection) = endpoint.connection(handle) {
                    reassembly.drop_below(connection.read_up_to().0);
                }
            }
        }
    }

    /// Submits what the application has written to the protocol, as far as it has room; whether there was something to submit.
    pub(super) fn submit(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        let submitted = match self.received {
            Received::Stream(_) => self.submit_bytes(endpoint),
            Received::Messages { .. } => self.submit_messages(now, endpoint),
        };
        if self.phase == Phase::Finishing && self.shared.send.is_submitted() {
            self.phase = Phase::Finished;
            endpoint.with(self.shared.handle, |connection| connection.finish(now));
            return true;
        }
        submitted
    }

    /// Bytes before `offset` have been sent.
    pub(super) fn on_sent(&mut self, offset: u64) {
        self.progress.sent = self.progress.sent.max(offset);
    }

    fn submit_bytes(&mut self, endpoint: &mut Endpoint) -> bool {
        let mut submitted = false;
        loop {
            let bytes = self.shared.send.submit(self.progress.sent, self.phase != Phase::Open);
            if bytes == 0 {
                return submitted;
            }
            // The protocol has room for as many packets as the send buffer has slots. It takes nothing only once it is closing.
            endpoint.with(self.shared.handle, |connection| connection.write(bytes));
            submitted = true;
        }
    }

    fn submit_messages(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        let handle = self.shared.handle;
        let mut submitted = false;
        while self.shared.send.submit_message(|bytes, options| {
            let sent = endpoint.with(handle, |connection| connection.send_message(now, bytes, options));
            // A refusal for another reason would repeat.
            !matches!(sent, None | Some(Err(SendError::Full)))
        }) {
            submitted = true;
        }
        submitted
    }

    /// The application writes no more.
    pub(super) fn finish(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Finishing;
        }
    }

    /// Frees bytes in the send buffer that the protocol will not ask for again; whether there are others. The buffer may hold as many bytes
    /// as keep the network busy, if there is memory for them.
    pub(super) fn release(&mut self, now: Time, endpoint: &Endpoint, memory: &mut Quota) -> bool {
        let Some(connection) = endpoint.connection(self.shared.handle) else { return false };
        let released = connection.released();
        if self.progress.advance(now, released) {
            let ip = self.shared.peer.ip();
            let missing = self.progress.needed.saturating_sub(self.reserved);
            self.reserved += memory.take(ip, missing);
            let allowed = self.progress.needed.min(self.reserved);
            let needed = self.shared.send.release(released, allowed).max(allowed);
            memory.release(ip, self.reserved.saturating_sub(needed));
            self.reserved = self.reserved.min(needed);
        }
        released < connection.written()
    }

    /// Gives back the memory for unacknowledged data.
    pub(super) fn release_all(&mut self, memory: &mut Quota) {
        memory.release(self.shared.peer.ip(), std::mem::take(&mut self.reserved));
    }

    /// The connection is closed; arrived data goes to the application.
    pub(super) fn close(&mut self, now: Time, reason: Reason, endpoint: &mut Endpoint, memory: &mut Quota) {
        self.phase = Phase::Closed;
        self.release(now, endpoint, memory);
        self.release_all(memory);
        self.deliver(now, endpoint);
        self.shared.end(match reason {
            Reason::Aborted => Ended::Aborted,
            Reason::Timeout => Ended::TimedOut,
            Reason::FalseAck => Ended::FalseAck,
            Reason::Finished => Ended::Closed,
            Reason::Lingered => Ended::Lingered,
            Reason::PeerAborted => Ended::PeerAborted,
            Reason::PeerFinished => Ended::PeerClosed,
        });
    }
}

impl Progress {
    /// Bytes before `released` will not be asked for again; whether there are more of them than before.
    fn advance(&mut self, now: Time, released: u64) -> bool {
        if released <= self.released {
            return false;
        }
        // A message that has expired need not be sent.
        self.sent = self.sent.max(released);
        self.flight = self.flight.max(self.sent - self.released);
        if now.since(self.since) >= INTERVAL {
            let drained = released - self.released_before;
            self.needed = 2 * (self.flight + drained);
            (self.since, self.released_before, self.flight) = (now, released, self.sent - released);
        }
        self.released = released;
        true
    }
}

/// Longer than an application usually waits for a processor, and than most acknowledgements take.
const INTERVAL: Span = Span::from_millis(20);
/// Packets of complete messages that may lie in the receive buffer before the application reads them.
const MAX_UNREAD: u64 = 64;
