//! A connection that carries messages, whatever its peer sends.

use std::collections::BTreeSet;

use cwnd::{Span, Time};

use super::{FIRST, Input};
use crate::connection::{Arrived, Connection, MessageOptions, Slot};
use crate::handshake::Agreed;
use crate::number::{AckNumber, MessageNumber, SocketId};
use crate::settings::{Mode, Settings};
use crate::wire::{Control, DataHeader, DropRequest, FullAck, LossRange, Losses, Message, Position};

/// Reads `bytes` as a list of what a peer sends, what the application does, and how time passes, and lets a connection for messages handle
/// it.
///
/// # Panics
/// If the connection panics, stores a packet twice, delivers a packet that was not stored, holds more than its buffers, or always has
/// something to do at one instant.
pub fn check_messages(bytes: &[u8]) {
    let mut host = Host::new();
    let mut input = Input(bytes);
    while !input.is_empty() {
        host.step(&mut input);
        host.settle();
        host.check();
    }
}

struct Host {
    now: Time,
    connection: Connection,
    /// Numbers of packets whose payload is stored.
    stored: BTreeSet<u64>,
}

impl Host {
    fn new() -> Self {
        let settings = Settings {
            mode: Mode::Messages,
            send_buffer: BUFFER,
            receive_buffer: BUFFER,
            backlog: Some(BUFFER - 8),
            prove_acks: true,
            ..Settings::default()
        };
        let agreed = Agreed {
            isn_ours: FIRST,
            isn_theirs: FIRST,
            payload: PAYLOAD,
            peer_id: PEER,
            peer_window: BUFFER,
            mode: Mode::Messages,
            opened: Time::ZERO,
            seed: 1,
        };
        Self { now: Time::ZERO, connection: Connection::new(&settings, &agreed, Time::ZERO), stored: BTreeSet::new() }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let (now, base) = (self.now, self.connection.read_up_to().0);
        match input.byte() % 16 {
            0..=5 => {
                let seq = FIRST + (base + input.offset());
                let (flags, len) = (input.byte(), u32::from(input.byte()) % (PAYLOAD + 4));
                let position =
                    [Position::Only, Position::First, Position::Middle, Position::Last][usize::from(flags % 4)];
                let message = message(input.byte());
                let header = DataHeader { seq, position, in_order: flags & 4 > 0, message, timestamp_us: 0, to: PEER };
                let arrived = Arrived { now, coalesced: flags & 8 > 0 };
                if let Some(Slot(number)) = self.connection.handle_data(arrived, &header, len) {
                    assert!(number >= base && self.stored.insert(number), "packet {number} was stored before");
                }
            }
            6 | 7 => {
                let (first, last) = (base + input.offset(), base + input.offset());
                let message = message(input.byte());
                let request = DropRequest { message, first: FIRST + first, last: FIRST + last };
                self.connection.handle_message(now, &Message::DropRequest(request));
            }
            8 => {
                let next = FIRST + input.offset();
                let number = AckNumber::new(input.byte().into()).unwrap_or(AckNumber::FIRST);
                let ack =
                    FullAck { number, next, rtt_us: 1000, rtt_var_us: 1, window: input.byte().into(), rates: None };
                let message = if input.byte().is_multiple_of(2) { Message::Ack(ack) } else { Message::LightAck(next) };
                self.connection.handle_message(now, &message);
            }
            9 => {
                if let Some(range) = LossRange::new(FIRST + input.offset(), FIRST + input.offset()) {
                    self.connection.handle_message(now, &Message::Nak(Losses::new(range)));
                }
            }
            10 => {
                let number = AckNumber::new(input.byte().into()).unwrap_or(AckNumber::FIRST);
                self.connection.handle_message(now, &Message::Ack2(number));
            }
            11 => {
                let read: Vec<u64> = self.connection.readable().map(|(slot, _)| slot.0).collect();
                assert!(read.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{read:?} is no message");
                for number in read {
                    assert!(self.stored.remove(&number), "packet {number} is read and not stored");
                }
                self.connection.consume(now, 1);
            }
            12 => {
                let (bytes, ttl) = (u64::from(input.word()) % (u64::from(PAYLOAD) * 80), input.byte());
                let mut options = MessageOptions::new();
                options.ttl = (ttl > 0).then(|| Span::from_millis(ttl.into()));
                options.in_order = ttl.is_multiple_of(2);
                // Refused if there is no room.
                let _number = self.connection.send_message(now, bytes, options);
            }
            13 | 14 => self.now += Span::from_micros(u64::from(input.word()) << (input.byte() % 8)),
            _ => match input.byte() % 8 {
                0 => self.connection.handle_control(now, &Control::Shutdown),
                1 => self.connection.finish(now),
                2 => self.connection.abort(now),
                3 => self.connection.handle_control(now, &Control::PeerError(1)),
                _ => self.connection.handle_control(now, &Control::KeepAlive),
            },
        }
    }

    /// Lets it send what it can, until it waits for something.
    fn settle(&mut self) {
        for _ in 0..MAX_ROUNDS {
            self.connection.handle_timeout(self.now);
            let sent = std::iter::from_fn(|| self.connection.poll_transmit(self.now)).take(MAX_SENT).count();
            assert!(sent < MAX_SENT, "a storm");
            while self.connection.poll_event().is_some() {}
            if sent == 0 && self.connection.next_timeout().is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("still not idle: {:?} at {}", self.connection.next_timeout(), self.now);
    }

    fn check(&mut self) {
        // The host needs no payload below; others wait for the rest of their message.
        self.stored = self.stored.split_off(&self.connection.read_up_to().0);
        assert!(self.stored.len() <= BUFFER as usize + 2, "{} packets are stored", self.stored.len());
        let held = self.connection.held();
        assert!(held <= u64::from(BUFFER + 2) * (u64::from(PAYLOAD) + 128), "{held} bytes are held");
        let unacked = self.connection.stats(self.now).unacked;
        assert!(unacked <= 2 * u64::from(BUFFER), "{unacked} packets are kept");
    }
}

fn message(byte: u8) -> MessageNumber {
    MessageNumber::new(u32::from(byte) + 1).unwrap_or(MessageNumber::FIRST)
}

const BUFFER: u32 = 48;
const PAYLOAD: u32 = 100;
const PEER: SocketId = match SocketId::new(7) {
    Some(id) => id,
    None => unreachable!(),
};
/// Packets that may leave at one instant: all buffers, and as many reports.
const MAX_SENT: usize = 400;
/// Rounds at one instant before it is idle.
const MAX_ROUNDS: usize = 40;
