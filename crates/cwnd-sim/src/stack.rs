//! The host of whole stacks: both ends of a connection, and the datagrams between them.
//!
//! Packets in the network stay small records. What a datagram contains lies here until it arrives or is dropped.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cwnd::host::{Counts, Limits, Spent};
use cwnd::{Limit, Packets, Rtt, Span, Time};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack};

use crate::net::packet::{Body, Data, Datagram};
use crate::protocol::{Received, ReceiverProtocol, SenderProtocol, SenderState, Timers, collect, collected};
use crate::setup::FlowSetup;
use crate::traffic::Source;
use crate::traffic::source::Backlog;

/// Both ends of a flow.
pub(crate) struct Host {
    sender: Box<dyn Endpoint>,
    receiver: Box<dyn Endpoint>,
    backlog: Backlog,
    /// Packets of the application that were submitted, and the bytes of each.
    submitted: u64,
    payload: u64,
    /// The application always has more data and no end.
    endless: bool,
    headers: u32,
    ecn: bool,
    contents: Contents,
    limits: Limits,
    /// Datagrams sent by each end: sender, receiver.
    sent: [u64; 2],
    /// What the sender's latest datagrams are written to.
    buffer: Vec<u8>,
    failure: Option<Failure>,
}

/// What stands where other flows have a receiver: the [`Host`] has it.
#[derive(Debug)]
pub(crate) struct Receiver;

/// A panic of a stack.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Simulated time.
    pub(crate) at: Time,
    pub(crate) message: String,
}

/// What the datagrams in the network contain, by their slots.
#[derive(Default)]
struct Contents {
    slots: Vec<Option<Content>>,
    free: Vec<u32>,
    /// Buffers to be used again.
    buffers: Vec<Vec<u8>>,
    /// Datagrams in the network that each end has sent: sender, receiver.
    live: [u64; 2],
    /// The bytes in them, those of copies once.
    bytes: [u64; 2],
}

struct Content {
    ecn: Ecn,
    bytes: Vec<u8>,
    end: End,
    /// Copies that links have made and that have not left the network.
    copies: u32,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl Host {
    /// A connection of `stack` as `setup` has it, which starts at `start`.
    pub(crate) fn new(setup: &FlowSetup, stack: &dyn Stack, seed: u64, backlog: Backlog, start: Time) -> Self {
        let headers = stack.headers().0;
        let datagram = u16::try_from(setup.packet.0.saturating_sub(headers)).unwrap_or(u16::MAX);
        let connection = Connection::new(start, datagram, seed, setup.ecn.is_some());
        let Pair { sender, receiver } = stack.connect(&connection);
        Self {
            sender,
            receiver,
            backlog,
            submitted: 0,
            payload: u64::from(setup.payload.0.max(1)),
            endless: setup.source == Source::Bulk && setup.stop.is_none() && setup.pauses.is_empty(),
            headers,
            ecn: connection.ecn,
            contents: Contents::default(),
            limits: Limits::new(start),
            sent: [0; 2],
            buffer: Vec::new(),
            failure: None,
        }
    }

    /// Gives either end `datagram`, which has arrived before another.
    pub(crate) fn read(&mut self, now: Time, datagram: &Datagram) {
        let Some((bytes, ecn)) = self.take(datagram) else { return };
        self.guard(now, |host| {
            let end = if datagram.to_receiver { &mut host.receiver } else { &mut host.sender };
            end.handle_datagram(now, &bytes, ecn);
        });
        self.contents.recycle(bytes);
    }

    /// Gives the receiver `datagram`, which has arrived, and adds what it sends to `sent`.
    pub(crate) fn receive(&mut self, now: Time, datagram: &Datagram, sent: &mut Vec<Datagram>) {
        let Some((bytes, ecn)) = self.take(datagram) else { return };
        self.guard(now, |host| {
            host.receiver.handle_datagram(now, &bytes, ecn);
            host.poll(now, End::Receiver, |datagram| {
                sent.push(datagram);
                true
            });
        });
        self.contents.recycle(bytes);
    }

    /// Handles the receiver's timeout, if it has come, and adds what it sends to `sent`.
    pub(crate) fn wake_receiver(&mut self, now: Time, sent: &mut Vec<Datagram>) {
        self.guard(now, |host| {
            if host.receiver.next_timeout(now).is_some_and(|due| due <= now) {
                host.receiver.handle_timeout(now);
            }
            host.poll(now, End::Receiver, |datagram| {
                sent.push(datagram);
                true
            });
        });
    }

    /// When the receiver's next timeout is due; [`Time::MAX`] for never.
    pub(crate) fn receiver_timeout(&mut self, now: Time) -> Time {
        let due = self.guard(now, |host| host.receiver.next_timeout(now)).flatten();
        due.map_or(Time::MAX, |due| due.max(now))
    }

    /// Whole packets of the application that have been read at the receiving end.
    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.delivered() / self.payload
    }

    /// Lets go of a datagram that was dropped.
    pub(crate) fn release(&mut self, datagram: &Datagram) {
        if let Some((bytes, _)) = self.take(datagram) {
            self.contents.recycle(bytes);
        }
    }

    /// A link has made a copy of a datagram.
    pub(crate) fn copy(&mut self, datagram: &Datagram) {
        if let Some(Some(content)) = self.contents.slots.get_mut(datagram.slot as usize) {
            content.copies += 1;
            self.contents.live[content.end as usize] += 1;
        }
    }

    /// Datagrams in the network that the sender has sent, and those that the receiver has.
    pub(crate) fn live(&self) -> [u64; 2] {
        self.contents.live
    }

    /// The panic that ended the stack.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The content of a datagram that leaves the network, with the mark that a router may have set.
    fn take(&mut self, datagram: &Datagram) -> Option<(Vec<u8>, Ecn)> {
        let slot = self.contents.slots.get_mut(datagram.slot as usize)?;
        let content = slot.as_mut()?;
        let (ecn, end) = (content.ecn, content.end);
        self.contents.live[end as usize] -= 1;
        let bytes = if content.copies > 0 {
            content.copies -= 1;
            content.bytes.clone()
        } else {
            self.contents.free.push(datagram.slot);
            let bytes = slot.take()?.bytes;
            self.contents.bytes[end as usize] -= bytes.len() as u64;
            bytes
        };
        Some((bytes, if datagram.marked { Ecn::Ce } else { ecn }))
    }

    /// Runs `call`, unless the stack has panicked; a panic in it is kept.
    fn guard<R>(&mut self, now: Time, call: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.failure.is_some() {
            return None;
        }
        let result = catch_unwind(AssertUnwindSafe(|| call(self)));
        result.map_err(|payload| self.failure = Some(Failure::new(now, &*payload))).ok()
    }

    /// Serves the sender as [`SenderProtocol::serve`] does, and appends departing packets to `sent`.
    fn send_to(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Timers {
        if let Some(Body::Datagram(datagram)) = body
            && let Some((bytes, ecn)) = self.take(datagram)
        {
            self.guard(now, |host| host.sender.handle_datagram(now, &bytes, ecn));
            self.contents.recycle(bytes);
        }
        let due = self.guard(now, |host| {
            host.submit(now);
            host.poll(now, End::Sender, |datagram| collect(sent, Body::Datagram(datagram)));
            host.limits.set(now, if host.has_data() { Limit::Window } else { Limit::Source });
            host.sender.next_timeout(now)
        });
        let release = due.flatten().map_or(Time::MAX, |due| due.max(now));
        Timers { release: release.min(self.backlog.due()), deadline: Time::MAX }
    }

    /// Hands over what the application has by now.
    fn submit(&mut self, now: Time) {
        if self.endless {
            if self.submitted == 0 {
                self.submitted = ENDLESS / self.payload;
                self.sender.submit(now, ENDLESS);
            }
            return;
        }
        let mut ahead = self.backlog.ahead(now, self.submitted);
        // An application that is on and has no end of its own, but may pause: submitted data is sent in any case, so that more than
        // twice the window would leave long after the application has stopped.
        if ahead > ENDLESS {
            let most = match self.sender.shown().window {
                Some(window) => 2 * window as u64 + LEAST,
                // Before its connection a stack shows none, and its first flight is not more.
                None if self.delivered() == 0 => LEAST,
                None => AT_ONCE,
            };
            ahead = most.saturating_sub(self.submitted - self.delivered());
        }
        if ahead > 0 {
            self.submitted += ahead;
            self.sender.submit(now, ahead * self.payload);
        }
    }

    /// Whether submitted data waits at the sender: unread data is more than the datagrams in the network contain. Their headers count as
    /// data, so that a few hundredths of the data in flight may wait unseen. No stack shows whether a window, a pacer or a timer keeps the
    /// data back; without any, the application is the limit.
    fn has_data(&self) -> bool {
        let unread = (self.submitted * self.payload).saturating_sub(self.receiver.delivered());
        unread > self.contents.bytes[End::Sender as usize]
    }

    /// Hands what an end sends now to `send`, until that returns false.
    fn poll(&mut self, now: Time, end: End, mut send: impl FnMut(Datagram) -> bool) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            buffer.clear();
            let stack = if end == End::Sender { &mut self.sender } else { &mut self.receiver };
            let Some(transmit) = stack.poll_transmit(now, &mut buffer) else { break };
            let ecn = if self.ecn { transmit.ecn } else { Ecn::NotCapable };
            let segment = transmit.segment.unwrap_or(buffer.len()).max(1);
            let more = buffer.chunks(segment).fold(true, |_, bytes| {
                let number = self.sent[end as usize];
                self.sent[end as usize] += 1;
                send(Datagram {
                    number,
                    slot: self.contents.put(ecn, bytes, end),
                    bytes: bytes.len() as u32 + self.headers,
                    to_receiver: end == End::Sender,
                    capable: ecn != Ecn::NotCapable,
                    marked: ecn == Ecn::Ce,
                })
            });
            if !more {
                break;
            }
        }
        self.buffer = buffer;
    }

    fn shown(&self) -> Shown {
        if self.failure.is_some() { Shown::default() } else { self.sender.shown() }
    }
}

impl SenderProtocol for Host {
    #[inline(always)]
    fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        collected(send, |sent| self.send_to(now, body, sent))
    }

    fn on_wake(&mut self, now: Time) {
        self.guard(now, |host| {
            if host.sender.next_timeout(now).is_some_and(|due| due <= now) {
                host.sender.handle_timeout(now);
            }
        });
    }
}

impl SenderState for Host {
    /// Datagrams sent that are neither in flight nor lost, in which the stack counts its window; acknowledged data where it shows none in
    /// flight.
    fn counts(&self) -> Counts {
        let (sent, shown) = (self.sent[0], self.shown());
        let lost = shown.lost.unwrap_or(0);
        let acknowledged = || self.sender.acknowledged().map_or(0, |bytes| bytes / self.payload);
        let settled = |in_flight| sent.saturating_sub(in_flight + lost);
        let delivered = shown.in_flight.map_or_else(acknowledged, settled);
        let mut counts = Counts::default();
        (counts.sent, counts.delivered, counts.lost) = (sent, delivered, lost);
        counts
    }

    fn spent(&self, now: Time) -> Spent {
        self.limits.spent(now)
    }

    fn rtt(&self) -> Option<Rtt> {
        self.shown().rtt.map(Rtt::fixed)
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh", self.shown().ssthresh.unwrap_or(f64::NAN));
    }

    /// Delivered data, for a stack that does not show acknowledged data.
    fn acked(&self) -> u64 {
        let bytes = self.sender.acknowledged().unwrap_or_else(|| self.receiver.delivered());
        bytes / self.payload
    }

    fn window(&self) -> Packets {
        Packets(self.shown().window.unwrap_or(f64::NAN))
    }

    fn in_flight(&self) -> u64 {
        self.shown().in_flight.unwrap_or(0)
    }

    fn spacing(&self) -> Option<Span> {
        let rate = self.shown().rate.filter(|rate| *rate > 0.0)?;
        Some(Span::from_secs_f64(1.0 / rate))
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, _now: Time, _data: &Data, _marked: bool, _answer: &mut Body) -> Received {
        Received { new: false, answered: false }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Host").field("sent", &self.sent).field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl Failure {
    fn new(at: Time, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
        let message = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self { at, message: message.unwrap_or_else(|| "without a message".to_string()) }
    }
}

impl Contents {
    /// Stores the content of a datagram that enters the network.
    fn put(&mut self, ecn: Ecn, bytes: &[u8], end: End) -> u32 {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.extend_from_slice(bytes);
        let content = Some(Content { ecn, bytes: buffer, end, copies: 0 });
        self.live[end as usize] += 1;
        self.bytes[end as usize] += bytes.len() as u64;
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = content;
                slot
            }
            None => {
                self.slots.push(content);
                self.slots.len() as u32 - 1
            }
        }
    }

    fn recycle(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.buffers.push(buffer);
    }
}

/// Bytes of an application that always has more.
const ENDLESS: u64 = u64::MAX / 4;
/// Packets that an application which may pause has submitted and its peer has not read, where the stack shows no window.
const AT_ONCE: u64 = 1024;
/// The excess over two windows, packets: a window of a few packets doubles at once.
const LEAST: u64 = 64;
