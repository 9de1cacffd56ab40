//! An established connection, from the end of its handshake to its last packet.
//!
//! A [`Connection`] is two halves that share a round-trip time: the sending one, which hosts the congestion control, and
//! the receiving one, which reports arrivals. The host passes in instants and packets, and asks for packets, timers and events. The
//! connection never sees a payload: the sending host keeps the bytes it wrote until they are [released](Connection::released), and the
//! receiving host stores each payload under the [`Slot`] that is returned.
//!
//! Inside, packets have unwrapped numbers from 0; [`Seq`] exists at the edge only.

mod ack_history;
mod allowance;
mod arrivals;
mod assumption;
mod buffer;
mod closing;
mod covered;
mod gaps;
mod host;
mod lossless_rate;
mod measure;
mod outstanding;
mod pacer;
mod packetizer;
mod proof;
mod receive_window;
mod receiver;
mod samples;
mod sender;
mod stats;
mod tag;
mod timeouts;
mod tolerance;
mod transmit;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cwnd::host::Facts;
pub use cwnd::host::Spent;
use cwnd::{Algorithm, Bytes, Rtt, Span, Start, Time};

pub(crate) use self::allowance::Unproven;
use self::closing::Closing;
pub use self::packetizer::{MessageOptions, SendError};
use self::receiver::Receiver;
use self::sender::{Acknowledged, Sender};
pub use self::stats::Stats;
pub use self::transmit::{Arrived, DataPacket, Event, Reason, Slot, Transmit};
use crate::handshake::Agreed;
use crate::number::{AckNumber, MessageNumber, Seq};
use crate::settings::{Mode, Settings};
use crate::wire::{Control, DataHeader, FullAck, Message};

/// A connection.
#[derive(Debug)]
pub struct Connection {
    mode: Mode,
    payload: u64,
    /// Packets that may wait to be sent or acknowledged.
    send_buffer: u64,
    keep_alive: Span,
    idle_timeout: Span,
    linger: Span,
    sender: Sender,
    receiver: Receiver,
    closing: Closing,
    /// Full acknowledgements to be confirmed.
    ack2: VecDeque<AckNumber>,
    /// The instants at which a packet was last received, and last sent.
    received_at: Time,
    sent_at: Time,
    /// The instants at which data was last received, and last sent.
    data_at: Time,
    /// The application was refused room; it gets an event once there is room.
    refused: bool,
    pending_events: PendingEvents,
}

/// Events that have not been polled.
#[derive(Clone, Copy, Debug, Default)]
struct PendingEvents {
    readable: bool,
    writable: bool,
    peer_error: Option<u32>,
}

impl Connection {
    /// Creates the connection that `agreed` describes, established now. `settings` have been [checked](Settings::check).
    #[must_use]
    pub fn new(settings: &Settings, agreed: &Agreed, now: Time) -> Self {
        let packet = Bytes(agreed.payload + stats::HEADERS);
        let start = Start::default().with_packet(packet, Bytes(agreed.payload)).with_seed(agreed.seed);
        Self::with_start(settings, agreed, &start, now)
    }

    /// Creates an established connection whose congestion control begins with `start`, for hosts with an initial window of their own.
    #[must_use]
    pub fn with_start(settings: &Settings, agreed: &Agreed, start: &Start, now: Time) -> Self {
        Self {
            mode: agreed.mode,
            payload: u64::from(agreed.payload),
            send_buffer: u64::from(settings.send_buffer),
            keep_alive: settings.keep_alive,
            idle_timeout: settings.idle_timeout,
            linger: settings.linger,
            sender: Sender::new(settings, agreed, start, now),
            receiver: Receiver::new(settings, agreed, start),
            closing: Closing::Open,
            ack2: VecDeque::new(),
            received_at: now,
            sent_at: now,
            data_at: now,
            refused: false,
            pending_events: PendingEvents::default(),
        }
    }

    /// Bytes of payload in a full packet.
    #[must_use]
    pub fn payload(&self) -> u32 {
        self.payload as u32
    }

    /// Handles a packet of data with `len` bytes of payload, and returns the place to store them if it is new.
    pub fn handle_data(&mut self, arrived: Arrived, header: &DataHeader, len: u32) -> Option<Slot> {
        if !self.closing.is_running() {
            return None;
        }
        let (slot, readable) = self.receiver.on_data(arrived, header, len, self.sender.rtt());
        self.pending_events.readable |= readable;
        if slot.is_some() {
            self.on_received(arrived.now);
            self.data_at = arrived.now;
            self.closing.on_alive();
        }
        slot
    }

    /// Handles a control packet of an established connection.
    pub fn handle_message(&mut self, now: Time, message: &Message) {
        self.handle_control(now, &message.control());
    }

    /// Handles a control packet.
    pub fn handle_control(&mut self, now: Time, control: &Control<'_>) {
        if !self.closing.is_running() {
            return;
        }
        match control {
            Control::LightAck(next) => {
                if !self.on_ack(now, *next, None) {
                    return;
                }
            }
            Control::Ack(full) => {
                if !self.on_ack(now, full.next, Some(full)) {
                    return;
                }
                if self.ack2.len() < MAX_ACK2 {
                    self.ack2.push_back(full.number);
                }
            }
            Control::Nak(losses) => self.sender.on_nak(now, *losses),
            Control::AskReports => self.receiver.ask_reports(),
            Control::Report(report) => {
                let acknowledged = self.sender.on_report(now, report);
                if !self.judge(now, acknowledged) {
                    return;
                }
            }
            Control::Ack2(number) => self.receiver.on_ack2(now, *number, &mut self.sender.host.facts.rtt),
            Control::DropRequest(request) => {
                self.pending_events.readable |= self.receiver.on_drop(now, request, self.sender.rtt());
            }
            Control::PeerError(code) => self.pending_events.peer_error = Some(*code),
            Control::Shutdown => {
                self.closing.on_shutdown(now + timeouts::answer_time(self.sender.rtt()).min(MAX_SHUTDOWN_DELAY));
            }
            // The endpoint handles handshakes; libudt never sends warnings, and no algorithm here has control packets of its own.
            Control::KeepAlive
            | Control::Handshake(_)
            | Control::Warning
            | Control::User { .. }
            | Control::Unknown(_) => {}
        }
        self.on_received(now);
        if self.refused && self.room() > 0 {
            self.refused = false;
            self.pending_events.writable = true;
        }
        self.check_finished(now);
    }

    /// Handles timeouts that are due. A call may be late; an early one does nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.closing.is_closed() {
            return;
        }
        if self.closing.is_running() {
            self.sender.on_timeout(now);
            if now.since(self.received_at) >= self.idle_timeout {
                self.closing.end(Reason::Timeout);
            }
        }
        let complete = !self.receiver.has_gaps() && self.sender.is_done();
        self.closing.on_timeout(now, complete);
        if now.since(self.data_at) >= self.keep_alive {
            self.data_at = Time::MAX;
            self.release_memory();
        }
    }

    /// Returns the next packet to send now: acknowledgements and NAKs first, then ACK2s and drop requests, then lost packets, then new
    /// ones, and a keep-alive after a long silence. None if nothing may be sent now.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let transmit = if self.closing.is_running() {
            self.poll_message(now).map(Transmit::Message).or_else(|| self.poll_data(now))
        } else if !self.closing.is_closed()
            && let Some(ack) = self.receiver.final_ack(now, self.sender.rtt())
        {
            Some(Transmit::Message(ack))
        } else {
            let pause = self.sender.rtt().get().map_or(timeouts::DEFAULT_RTT, |rtt| rtt.smoothed);
            self.closing.poll(now, pause).then_some(Transmit::Message(Message::Shutdown))
        };
        if transmit.is_some() {
            self.sent_at = now;
        }
        transmit
    }

    /// Records the limit that keeps the next packet of data from being sent now, as [`poll_transmit`](Self::poll_transmit) does when it
    /// returns none: for a host that sees from [`next_timeout`](Self::next_timeout) that it would.
    pub fn record_limit(&mut self, now: Time) {
        if self.closing.is_running() {
            self.sender.record_limit(now);
        }
    }

    /// The latest instant at which to call [`handle_timeout`](Self::handle_timeout) and [`poll_transmit`](Self::poll_transmit); an
    /// instant in the past means now.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        let at = if self.closing.is_running() {
            let life = (self.sent_at + self.keep_alive).min(self.received_at + self.idle_timeout);
            let waiting = if self.ack2.is_empty() { Time::MAX } else { Time::ZERO };
            life.min(waiting).min(self.sender.next_timeout()).min(self.receiver.next_timeout())
        } else {
            Time::MAX
        };
        Some(at.min(self.closing.next_timeout())).filter(|at| *at < Time::MAX)
    }

    /// The instant at which the receiving half has something to send: the part of [`next_timeout`](Self::next_timeout) for a host that
    /// sends nothing else.
    #[must_use]
    pub fn next_report(&self) -> Time {
        if self.closing.is_running() { self.receiver.next_timeout() } else { self.closing.next_timeout() }
    }

    /// Accepts bytes of a stream, and returns the number of accepted bytes. They become packets when they are sent; until then a packet
    /// that is not full takes later bytes. Nothing is accepted once the connection is being closed, or if it carries messages.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if self.mode != Mode::Stream || !self.closing.is_open() {
            return 0;
        }
        let taken = bytes.min(self.room());
        self.refused |= taken < bytes;
        self.sender.packetizer.write(taken);
        taken
    }

    /// Accepts a message of `bytes` bytes.
    ///
    /// # Errors
    /// [`SendError::Full`] if there is no room for the whole message now, [`SendError::TooLarge`] if there never will be,
    /// [`SendError::Closed`] if the connection is being closed, [`SendError::Empty`] for no bytes, and [`SendError::Stream`] if the
    /// connection carries a stream.
    pub fn send_message(&mut self, now: Time, bytes: u64, options: MessageOptions) -> Result<MessageNumber, SendError> {
        if !self.closing.is_open() {
            return Err(SendError::Closed);
        }
        if bytes == 0 {
            return Err(SendError::Empty);
        }
        let packets = bytes.div_ceil(self.payload);
        if packets > self.send_buffer {
            return Err(SendError::TooLarge { packets, room: self.send_buffer });
        }
        if self.sender.packetizer.packets() + self.sender.outstanding.len() + packets > self.send_buffer {
            self.refused = true;
            return Err(SendError::Full);
        }
        let expires = options.ttl.map_or(Time::MAX, |ttl| now + ttl);
        let number = self.sender.packetizer.push(bytes, expires, options.in_order).ok_or(SendError::Stream)?;
        Ok(number)
    }

    /// Bytes accepted from the application so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.sender.packetizer.written()
    }

    /// The offset below which written bytes are never requested again.
    #[must_use]
    pub fn released(&self) -> u64 {
        self.sender.released()
    }

    /// The room for bytes of a stream.
    #[must_use]
    pub fn room(&self) -> u64 {
        let held = self.sender.packetizer.packets() + self.sender.outstanding.len();
        match self.mode {
            Mode::Stream => {
                (self.send_buffer * self.payload).saturating_sub(self.sender.packetizer.written() - self.released())
            }
            Mode::Messages => self.send_buffer.saturating_sub(held) * self.payload,
        }
    }

    /// Packets of a stream that may be in flight or unread at present, within the receive buffer.
    #[must_use]
    pub fn receive_room(&self) -> u64 {
        self.receiver.room()
    }

    /// The memory of packets that have arrived and are neither read nor given up, bytes: their payloads, and the bookkeeping of each.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.receiver.buffer.cost()
    }

    /// The number below which packets have been read or given up: the host no longer needs their payloads.
    #[must_use]
    pub fn read_up_to(&self) -> Slot {
        Slot(self.receiver.buffer.base())
    }

    /// Assigns `part` in `whole` of the packets that the host holds while it is busy ([`Settings::backlog`]) to this connection.
    pub(crate) fn share_backlog(&mut self, share: (u64, u64)) {
        self.receiver.share_backlog(share);
    }

    /// The packets that may be read next, with their lengths: of a stream all in order, otherwise those of the next complete message.
    pub fn readable(&self) -> impl Iterator<Item = (Slot, u32)> + '_ {
        self.receiver.buffer.readable().map(|number| (Slot(number), self.receiver.buffer.len_of(number)))
    }

    /// Marks the first `packets` readable packets of a stream as read; or the message, whatever `packets` is.
    pub fn consume(&mut self, now: Time, packets: u64) {
        self.receiver.consume(now, packets);
    }

    /// Closes the connection once everything written has been acknowledged, or the time to linger is over.
    pub fn finish(&mut self, now: Time) {
        self.closing.linger(now + self.linger);
        self.check_finished(now);
    }

    /// Closes the connection at once. Data that has not arrived is lost.
    pub fn abort(&mut self, now: Time) {
        self.closing.shut_down(now, Reason::Aborted);
    }

    /// Closes the connection at once, without a shutdown packet.
    pub(crate) fn cut(&mut self) {
        self.closing.end(Reason::Aborted);
    }

    /// The next event for the application. [`Event::Closed`] is the last.
    pub fn poll_event(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.pending_events.readable) {
            return Some(Event::Readable);
        }
        if std::mem::take(&mut self.pending_events.writable) {
            return Some(Event::Writable);
        }
        if let Some(code) = self.pending_events.peer_error.take() {
            return Some(Event::PeerError(code));
        }
        self.closing.take_reason().map(Event::Closed)
    }

    /// Whether nothing will be sent any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closing.is_closed()
    }

    /// The congestion control inside.
    #[must_use]
    pub fn algorithm(&self) -> &Algorithm {
        self.sender.host.algorithm()
    }

    /// The requests of the congestion control.
    #[must_use]
    pub fn control(&self) -> &cwnd::Control {
        self.sender.host.control()
    }

    /// The counters and state of the sending half.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.sender.host.facts
    }

    /// Packets counted as in the network.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sender.outstanding.in_flight()
    }

    /// The time between two packets, while departures are spaced.
    #[must_use]
    pub fn spacing(&self) -> Option<Span> {
        self.sender.host.spacing()
    }

    /// The round-trip time, if there is a sample.
    #[must_use]
    pub fn rtt(&self) -> Option<Rtt> {
        self.sender.rtt().get()
    }

    /// Counters and measurements of the connection.
    #[must_use]
    pub fn stats(&self, now: Time) -> Stats {
        Stats::new(self, now)
    }

    fn poll_message(&mut self, now: Time) -> Option<Message> {
        if let Some(message) = self.receiver.poll(now, self.sender.rtt()) {
            return Some(message);
        }
        if let Some(number) = self.ack2.pop_front() {
            return Some(Message::Ack2(number));
        }
        self.sender.poll_ask().or_else(|| self.sender.poll_drop())
    }

    fn poll_data(&mut self, now: Time) -> Option<Transmit> {
        if let Some(data) = self.sender.poll(now) {
            self.data_at = now;
            return Some(Transmit::Data(data));
        }
        // A message may just have been given up.
        let message = self.sender.poll_drop();
        let idle = now.since(self.sent_at) >= self.keep_alive;
        message.or(idle.then_some(Message::KeepAlive)).map(Transmit::Message)
    }

    /// Bounds the sent and unproven packets together with those of the other connections that have `unproven`.
    pub(crate) fn share(&mut self, unproven: Arc<Mutex<Unproven>>) {
        self.sender.share(unproven);
    }

    /// Handles an acknowledgement of the packets before `next`. Returns whether it can be true.
    fn on_ack(&mut self, now: Time, next: Seq, full: Option<&FullAck>) -> bool {
        let acknowledged = self.sender.on_ack(now, next, full);
        self.judge(now, acknowledged)
    }

    /// Whether an acknowledgement can be true; a false one ends the connection.
    fn judge(&mut self, now: Time, acknowledged: Acknowledged) -> bool {
        match acknowledged {
            Acknowledged::Possible => self.closing.on_alive(),
            Acknowledged::Impossible => return false,
            Acknowledged::Withheld => {
                self.sender.on_lie(now);
                self.closing.shut_down(now, Reason::FalseAck);
                return false;
            }
        }
        true
    }

    fn on_received(&mut self, now: Time) {
        self.received_at = now;
        self.sender.on_received(now);
    }

    fn check_finished(&mut self, now: Time) {
        if self.closing.is_lingering() && self.sender.is_done() {
            self.closing.shut_down(now, Reason::Finished);
        }
    }

    /// Frees memory of an idle connection.
    fn release_memory(&mut self) {
        if self.sender.is_done() {
            self.sender.outstanding.shrink();
        }
        self.receiver.release_memory();
        self.ack2.shrink_to_fit();
    }
}

/// The memory cost of a packet with `length` bytes of payload, bytes, as [`Connection::held`] counts it.
pub(crate) fn cost_of_packet(length: u32) -> u64 {
    buffer::cost(u16::try_from(length).unwrap_or(u16::MAX))
}

/// ACK2s that may wait. More than one waits only if the host handles many packets before it sends any.
const MAX_ACK2: usize = 64;
/// A shutdown packet takes effect after this time at most. It is not authenticated: if data or acknowledgements of the peer arrive
/// until then, it was forged.
const MAX_SHUTDOWN_DELAY: Span = Span::from_millis(300);

#[cfg(test)]
mod tests;
