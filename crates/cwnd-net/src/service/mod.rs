//! The thread of a port.
//!
//! It alone touches the protocol and the socket. In turn it takes in what has arrived, does what applications ask for, lets the
//! protocol do what is due, sends what may leave, and sleeps until there is something of this to do.

mod departures;
mod events;
mod member;
mod reassembly;
mod shelf;
mod train;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use cwnd::{Span, Time};
use cwnd_udt::connection::Arrived;
use cwnd_udt::wire::HEADER;
use cwnd_udt::{Departure, Endpoint, EndpointConfig, Handle, Outgoing as What, Settings};

use self::departures::Departures;
use self::member::{Members, Open};
use self::train::Wagon;
use crate::clock::{Clock, Stamps, duration};
use crate::error::BindError;
use crate::listener::Backlog;
use crate::options::Options;
use crate::port::{Command, Port};
use crate::udp::{Glued, Inbox, Udp};
use crate::waiting::Reply;
use crate::waker::{Interest, Sleeper};

/// What the thread works with.
#[derive(Debug)]
pub(crate) struct Service {
    port: Arc<Port>,
    udp: Udp,
    clock: Clock,
    /// The latest instant the protocol knows of.
    now: Time,
    endpoint: Endpoint,
    members: Members,
    listener: Option<(Box<Settings>, Arc<Backlog>)>,
    inbox: Inbox,
    /// Where strangers' handshakes came in, for the answers.
    strangers: Vec<(SocketAddr, IpAddr)>,
    /// When something last came in, how many datagrams have come in since, and whether they come so fast that it pays to let
    /// some more of them come before looking.
    heard_at: Time,
    heard: u64,
    hurried: bool,
    departures: Departures,
    commands: Vec<Command>,
    /// Places of members with arrivals to be handed over, with writes to be told, with bytes the peer has not acknowledged.
    arrivals: Vec<usize>,
    writers: Vec<usize>,
    senders: Vec<usize>,
    /// Places of members that hold memory they may not need for long, and when they were last looked at.
    warm: Vec<usize>,
    looked_at: Time,
    /// Those who wait until what may leave has left.
    flushes: Vec<Reply<()>>,
}

impl Service {
    pub(crate) fn new(port: Arc<Port>, udp: Udp, options: &Options) -> Result<Self, BindError> {
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).map_err(|error| BindError::Entropy(io::Error::other(error)))?;
        Ok(Self {
            inbox: Inbox::new(options.longest_datagram(), options.offload),
            port,
            udp,
            clock: Clock::start(),
            now: Time::ZERO,
            endpoint: Endpoint::new(&EndpointConfig::new(entropy)),
            members: Members::default(),
            listener: None,
            strangers: Vec::new(),
            heard_at: Time::ZERO,
            heard: 0,
            hurried: false,
            departures: Departures::default(),
            commands: Vec::new(),
            arrivals: Vec::new(),
            writers: Vec::new(),
            senders: Vec::new(),
            warm: Vec::new(),
            looked_at: Time::ZERO,
            flushes: Vec::new(),
        })
    }

    /// Serves the port until nobody uses it any more.
    pub(crate) fn run(mut self, sleeper: &Sleeper) {
        while self.port.used() || self.members.len() > 0 {
            let more = self.receive();
            self.now = self.clock.now().max(self.now);
            self.look_at_pace();
            self.obey();
            self.endpoint.handle_timeout(self.now);
            self.rest();
            self.attend();
            self.transmit();
            if !more {
                // Messages may have lost their worth instead of leaving.
                self.release();
                self.sleep(sleeper);
            }
        }
    }

    /// Takes in what has arrived; whether there may be more.
    fn receive(&mut self) -> bool {
        let mut inbox = std::mem::take(&mut self.inbox);
        let mut rounds = 0;
        let more = loop {
            // Errors of a UDP socket concern datagrams that left long ago and count as lost on the way.
            let Ok(filled) = self.udp.receive(&mut inbox) else { break false };
            let stamps = self.clock.stamps();
            for glued in inbox.filled(filled) {
                self.take_in(&glued, &stamps);
            }
            rounds += 1;
            if filled < inbox.buffers() || rounds == ROUNDS {
                break rounds == ROUNDS;
            }
        };
        self.inbox = inbox;
        more
    }

    /// Every arrival at a thread that waits for one wakes it, which costs the sender as much as the sending. A thread that rests
    /// while datagrams pour in finds many at once.
    fn look_at_pace(&mut self) {
        let heard = std::mem::take(&mut self.heard);
        if heard > 0 {
            self.hurried = heard >= A_FEW && self.now.since(self.heard_at) <= HURRY * heard;
            self.heard_at = self.now;
        } else {
            self.hurried = false;
        }
    }

    /// Takes in the datagrams of one buffer.
    fn take_in(&mut self, glued: &Glued<'_>, stamps: &Stamps) {
        // The kernel knows best when they arrived; but time does not run backwards.
        let stamp = stamps.time(glued.stamp);
        self.heard += 1;
        let datagrams = glued.datagrams();
        let coalesced = datagrams.len() > 1 || stamp <= self.now;
        // What is glued came one after the other in the time before; if that was long, at the end of it.
        let since = stamp.since(self.now).min(STRETCH);
        let step = since / datagrams.len().max(1) as u64;
        self.now = Time::from_nanos(stamp.max(self.now).as_nanos() - since.as_nanos());
        for datagram in datagrams {
            self.now += step;
            let stored = self.endpoint.handle(Arrived { now: self.now, coalesced }, glued.from, datagram);
            let Some(stored) = stored else { continue };
            let place = stored.handle.place();
            if self.members.at(place).is_none() {
                // It may have been opened by a datagram just before.
                self.hear(glued.to);
            }
            let Some(open) = self.members.at(place) else { continue };
            open.store(stored.slot.0, &datagram[HEADER..]);
            if open.list_arrivals() {
                self.arrivals.push(place);
            }
            if open.list_warm() {
                self.warm.push(place);
            }
        }
        self.hear(glued.to);
        if let Some(to) = self.udp.reply_from(glued.to) {
            self.strangers.push((glued.from, to));
        }
    }

    /// Hands over what has arrived, and makes room for what the peer has acknowledged.
    fn attend(&mut self) {
        self.hear(None);
        for place in std::mem::take(&mut self.arrivals) {
            if let Some(open) = self.members.at(place) {
                open.deliver(self.now, &mut self.endpoint);
            }
        }
        self.release();
    }

    /// Gives the memory of members back that have been idle for a while. As long as there are any, their signs of life wake the
    /// thread often enough.
    fn rest(&mut self) {
        if self.now.since(self.looked_at) >= IDLE {
            self.looked_at = self.now;
            let Self { warm, members, .. } = self;
            warm.retain(|place| members.at(*place).is_some_and(Open::rest));
        }
    }

    /// Makes room where the protocol has done with bytes.
    fn release(&mut self) {
        let mut senders = std::mem::take(&mut self.senders);
        senders.retain(|place| self.members.at(*place).is_some_and(|open| open.release(self.now, &self.endpoint)));
        self.senders = senders;
    }

    /// Sends what may leave, up to a limit: what arrives meanwhile should not wait for long.
    fn transmit(&mut self) {
        self.tell();
        for _ in 0..BUDGET {
            if self.departures.is_blocked() {
                break;
            }
            match self.endpoint.poll_transmit(self.now) {
                Some(departure) => self.send(&departure),
                None if self.tell() => {}
                None => break,
            }
        }
        self.departures.flush(&self.udp);
        for reply in self.flushes.drain(..) {
            // Whoever waited may have lost patience.
            let _unwanted = reply.give(());
        }
        self.strangers.clear();
        // A connection may have said its last word.
        self.hear(None);
    }

    fn send(&mut self, departure: &Departure) {
        let place = departure.handle.map(Handle::place);
        let open = place.and_then(|place| self.members.at(place));
        let (What::Data(data), Some(place)) = (&departure.what, place) else {
            let known = open.and_then(|open| open.from);
            let stranger = || self.strangers.iter().find(|(from, _)| *from == departure.to).map(|(_, to)| *to);
            self.departures.say(departure, known.or_else(stranger), &self.udp);
            return;
        };
        let Some(open) = open else { return };
        let (header, bytes) = (data.header, data.bytes.clone());
        let wagon = Wagon { to: departure.to, from: open.from, owner: place, header, bytes };
        self.departures.load(self.now, &wagon, data.pair, open, &self.udp);
        open.has_left(data.bytes.end);
        if open.list_writes() {
            self.writers.push(place);
        }
    }

    /// Tells the protocol what applications have written; whether there was something to tell.
    fn tell(&mut self) -> bool {
        let mut news = false;
        for place in std::mem::take(&mut self.writers) {
            let Some(open) = self.members.at(place) else { continue };
            news |= open.tell(self.now, &mut self.endpoint);
            if open.list_sent() {
                self.senders.push(place);
            }
            if open.list_warm() {
                self.warm.push(place);
            }
        }
        news
    }

    fn sleep(&mut self, sleeper: &Sleeper) {
        let until = self.endpoint.next_timeout();
        let limit = match until {
            // What may leave is known, and when the socket takes it is told by the socket.
            Some(Time::ZERO) if self.departures.is_blocked() => Some(RETRY),
            // Packets may leave a while ahead of their time: those of half that while leave together.
            until => until.map(|until| until.since(self.clock.now())).map(|limit| match limit {
                Span::ZERO => Duration::ZERO,
                limit => duration(limit.max(BURST / 2)),
            }),
        };
        if limit == Some(Duration::ZERO) {
            return;
        }
        self.port.waker().announce();
        // What was asked for before the announcement rang no bell.
        if !self.port.has_news() {
            let writable = self.departures.is_blocked();
            let interest = Interest { socket: self.udp.fd(), readable: !self.hurried, writable };
            let limit = if self.hurried { Some(limit.map_or(REST, |limit| limit.min(REST))) } else { limit };
            sleeper.sleep(interest, limit);
        }
        self.port.waker().awake();
        self.departures.unblock();
    }
}

/// Nobody is left waiting for a thread that is gone, not even if it panicked.
impl Drop for Service {
    fn drop(&mut self) {
        self.port.shut();
        if let Some((_, backlog)) = self.listener.take() {
            backlog.shut();
        }
    }
}

/// How far ahead of its time a packet may leave, so that several leave together: a tenth of the protocol's own clock.
const BURST: Span = Span::from_millis(1);
/// Glued packets came within this time: they left in one burst.
const STRETCH: Span = Span::from_millis(1);
/// Arrivals, glued ones counted as one, that are a stream of them: at least so many, and no further apart.
const A_FEW: u64 = 3;
const HURRY: Span = Span::from_micros(40);
/// How long to let them come: little beside the round trip of any network, much beside the cost of waking up.
const REST: Duration = Duration::from_micros(50);
/// Nothing came or went for so long: long enough for memory to be worth more than the time to have it again.
const IDLE: Span = Span::from_secs(1);
/// System calls for arrivals before something else has its turn.
const ROUNDS: usize = 4;
/// Packets that leave before something else has its turn.
const BUDGET: usize = 512;
/// The longest wait for a socket that takes nothing: it says when it does, unless the device behind it is at fault.
const RETRY: Duration = Duration::from_millis(10);
