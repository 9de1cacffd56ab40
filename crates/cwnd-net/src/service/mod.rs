//! The thread of a port.
//!
//! Only it uses the protocol and the socket. In a loop it receives datagrams, processes the commands of applications, lets the
//! protocol handle its timeouts, sends what may be sent, and sleeps until there is something to do.

mod connections;
mod established;
mod events;
mod gso_batch;
mod message_reassembly;
mod place_queue;
mod poll_interval;
mod send_queue;
mod stream_reassembly;

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cwnd::{Span, Time};
use cwnd_udt::connection::{Arrived, Transmit};
use cwnd_udt::wire::HEADER;
use cwnd_udt::{Datagram, Endpoint, EndpointConfig, Quota, Settings};

use self::connections::Connections;
use self::place_queue::PlaceQueue;
use self::poll_interval::PollInterval;
use self::send_queue::SendQueue;
use crate::backlog::Backlog;
use crate::clock::{Clock, Timestamps, duration};
use crate::error::BindError;
use crate::oneshot;
use crate::options::Options;
use crate::port::{Command, Port, PortRef};
use crate::udp::{Received, RecvBuffers, Udp};
use crate::waker::{Interest, Sleeper, waker};

/// Opens a port and starts its thread.
pub(crate) fn open(local: SocketAddr, options: &Options) -> Result<PortRef, BindError> {
    options.settings.check()?;
    let udp = Udp::bind(local, options.buffer_bytes(), options.offload).map_err(BindError::Socket)?;
    start(udp, options)
}

/// Makes a port of a socket that is bound, and starts its thread.
pub(crate) fn open_on(socket: UdpSocket, options: &Options) -> Result<PortRef, BindError> {
    options.settings.check()?;
    let udp = Udp::on(socket.into(), options.buffer_bytes(), options.offload).map_err(BindError::Socket)?;
    start(udp, options)
}

fn start(udp: Udp, options: &Options) -> Result<PortRef, BindError> {
    let (waker, sleeper) = waker().map_err(BindError::Thread)?;
    let port = PortRef::new(udp.local(), udp.buffer(), waker);
    let service = Service::new(Arc::clone(port.port()), udp, options)?;
    let name = format!("udt {}", service.port.local().port());
    thread::Builder::new().name(name).spawn(move || service.run(&sleeper)).map_err(BindError::Thread)?;
    Ok(port)
}

/// The state of the thread.
#[derive(Debug)]
struct Service {
    port: Arc<Port>,
    udp: Udp,
    clock: Clock,
    /// The latest instant the protocol was given.
    now: Time,
    endpoint: Endpoint,
    connections: Connections,
    /// For written and unacknowledged data, beyond the share that each connection has without asking.
    memory: Quota,
    listener: Option<(Box<Settings>, Arc<Backlog>)>,
    buffers: RecvBuffers,
    poll_interval: PollInterval,
    /// The addresses of this host to which handshakes were sent, by sender, for the answers.
    handshakes: Vec<(SocketAddr, IpAddr)>,
    send_queue: SendQueue,
    commands: Vec<Command>,
    /// Connections with arrivals to be delivered, with writes to be submitted, with bytes that are not acknowledged.
    arrivals: PlaceQueue,
    writers: PlaceQueue,
    unacknowledged: PlaceQueue,
    /// Connections on which data was sent or received since memory was last released, and in the interval before.
    active: PlaceQueue,
    active_before: PlaceQueue,
    memory_released_at: Time,
    /// Requests that are answered once what may be sent has been sent.
    flushes: Vec<oneshot::Sender<()>>,
}

impl Service {
    fn new(port: Arc<Port>, udp: Udp, options: &Options) -> Result<Self, BindError> {
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).map_err(|error| BindError::Entropy(io::Error::other(error)))?;
        let mut config = EndpointConfig::new(entropy);
        config.memory = options.memory;
        (config.max_clients, config.max_clients_per_address) = options.max_clients;
        config.clients_make_room = options.clients_make_room;
        Ok(Self {
            buffers: RecvBuffers::new(options.longest_datagram(), options.offload),
            port,
            udp,
            clock: Clock::start(),
            now: Time::ZERO,
            endpoint: Endpoint::new(&config),
            connections: Connections::default(),
            memory: Quota::new(options.memory, options.memory / 2),
            listener: None,
            poll_interval: PollInterval::default(),
            handshakes: Vec::new(),
            send_queue: SendQueue::default(),
            commands: Vec::new(),
            arrivals: PlaceQueue::default(),
            writers: PlaceQueue::default(),
            unacknowledged: PlaceQueue::default(),
            active: PlaceQueue::default(),
            active_before: PlaceQueue::default(),
            memory_released_at: Time::ZERO,
            flushes: Vec::new(),
        })
    }

    /// Serves the port until it is not referenced and has no connections.
    fn run(mut self, sleeper: &Sleeper) {
        while self.port.is_referenced() || self.connections.len() > 0 {
            let more = self.receive();
            self.now = self.clock.now().max(self.now);
            self.poll_interval.update(self.now);
            self.process_commands();
            self.endpoint.handle_timeout(self.now);
            self.release_memory();
            self.deliver();
            self.transmit();
            if !more {
                // Messages may have expired instead of being sent.
                self.release_acknowledged();
                self.sleep(sleeper);
            }
        }
    }

    /// Receives the datagrams that have arrived. Returns whether there may be more.
    fn receive(&mut self) -> bool {
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut calls = 0;
        let more = loop {
            // Errors of a UDP socket concern datagrams sent long ago, which count as lost on the path.
            let Ok(filled) = self.udp.receive(&mut buffers) else { break false };
            let timestamps = self.clock.timestamps();
            for received in buffers.filled(filled) {
                self.handle(&received, &timestamps);
            }
            calls += 1;
            if filled < buffers.len() || calls == MAX_RECEIVE_CALLS {
                break calls == MAX_RECEIVE_CALLS;
            }
        };
        self.buffers = buffers;
        more
    }

    /// Lets the protocol handle the datagrams of one buffer.
    fn handle(&mut self, received: &Received<'_>, timestamps: &Timestamps) {
        // The kernel's timestamp is the most exact, but the time of the protocol must not run backwards.
        let timestamp = timestamps.time(received.timestamp);
        self.poll_interval.on_receive();
        let datagrams = received.datagrams();
        let coalesced = datagrams.len() > 1 || timestamp <= self.now;
        // Coalesced datagrams arrived one after the other since the last arrival; if that was long ago, at the end of that time.
        let since = timestamp.since(self.now).min(MAX_COALESCED);
        let step = since / datagrams.len().max(1) as u64;
        self.now = Time::from_nanos(timestamp.max(self.now).as_nanos() - since.as_nanos());
        for datagram in datagrams {
            self.now += step;
            let stored = self.endpoint.handle(Arrived { now: self.now, coalesced }, received.from, datagram);
            let Some(stored) = stored else { continue };
            let place = stored.handle.place();
            if self.connections.at(place).is_none() {
                // The datagram before may have established it.
                self.handle_events(received.dst_ip);
            }
            let Some(connection) = self.connections.at(place) else { continue };
            connection.store(stored.slot.0, &datagram[HEADER..]);
            self.arrivals.push(place);
            self.active.push(place);
        }
        self.handle_events(received.dst_ip);
        if let Some(src_ip) = self.udp.reply_from(received.dst_ip) {
            self.handshakes.push((received.from, src_ip));
        }
    }

    /// Gives arrived data to applications, and frees data that the peers have acknowledged.
    fn deliver(&mut self) {
        self.handle_events(None);
        while let Some(place) = self.arrivals.pop() {
            if let Some(connection) = self.connections.at(place) {
                connection.deliver(self.now, &mut self.endpoint);
            }
        }
        self.release_acknowledged();
    }

    /// Frees memory of connections that have been idle for a while. Their keep-alive packets wake the thread often enough.
    fn release_memory(&mut self) {
        if self.now.since(self.memory_released_at) < IDLE {
            return;
        }
        self.memory_released_at = self.now;
        while let Some(place) = self.active_before.pop() {
            if !self.active.contains(place)
                && let Some(connection) = self.connections.at(place)
            {
                connection.release_memory();
            }
        }
        std::mem::swap(&mut self.active, &mut self.active_before);
    }

    /// Frees bytes that the protocol will not ask for again.
    fn release_acknowledged(&mut self) {
        let Self { unacknowledged, connections, endpoint, memory, now, .. } = self;
        unacknowledged
            .retain(|place| connections.at(place).is_some_and(|connection| connection.release(*now, endpoint, memory)));
    }

    /// Sends what may be sent, up to a limit, so that arrivals do not wait for long.
    fn transmit(&mut self) {
        self.submit_writes();
        for _ in 0..MAX_TRANSMITS {
            if self.send_queue.is_blocked() {
                break;
            }
            match self.endpoint.poll_transmit(self.now) {
                Some(datagram) => self.send(&datagram),
                None if self.submit_writes() => {}
                None => break,
            }
        }
        self.send_queue.flush(&self.udp);
        for flush in self.flushes.drain(..) {
            // The application may no longer wait.
            let _no_receiver = flush.send(());
        }
        self.handshakes.clear();
        // A connection may have sent its last packet.
        self.handle_events(None);
    }

    fn send(&mut self, datagram: &Datagram) {
        let connection = datagram.handle.and_then(|handle| self.connections.at(handle.place()));
        match (&datagram.transmit, connection) {
            (Transmit::Data(packet), Some(connection)) => {
                self.send_queue.push(self.now, packet, connection, &self.udp);
                connection.on_sent(packet.bytes.end);
                self.writers.push(connection.place());
            }
            (Transmit::Data(_), None) => {}
            (Transmit::Handshake(_) | Transmit::Message(_), connection) => {
                let known = connection.and_then(|connection| connection.src_ip);
                let asked = || self.handshakes.iter().find(|(from, _)| *from == datagram.to).map(|(_, ip)| *ip);
                self.send_queue.send_control(datagram, known.or_else(asked), &self.udp);
            }
        }
    }

    /// Submits what applications have written to the protocol; whether there was something to submit.
    fn submit_writes(&mut self) -> bool {
        let mut submitted = false;
        while let Some(place) = self.writers.pop() {
            let Some(connection) = self.connections.at(place) else { continue };
            submitted |= connection.submit(self.now, &mut self.endpoint);
            self.unacknowledged.push(place);
            self.active.push(place);
        }
        submitted
    }

    fn sleep(&mut self, sleeper: &Sleeper) {
        let until = self.endpoint.next_timeout();
        let timeout = match until {
            // Packets wait for the socket, which reports when it is writable again.
            Some(Time::ZERO) if self.send_queue.is_blocked() => Some(MAX_BLOCKED),
            // Packets may be sent ahead of their time, so that those of half a burst are sent together.
            until => until.map(|until| until.since(self.clock.now())).map(|timeout| match timeout {
                Span::ZERO => Duration::ZERO,
                timeout => duration(timeout.max(BURST / 2)),
            }),
        };
        if timeout == Some(Duration::ZERO) {
            return;
        }
        self.port.waker().prepare();
        // A command queued before `prepare` has woken nobody.
        if !self.port.has_work() {
            let poll_interval = self.poll_interval.get();
            let (readable, writable) = (poll_interval.is_none(), self.send_queue.is_blocked());
            let interest = Interest { socket: self.udp.fd(), readable, writable };
            sleeper.sleep(interest, timeout.into_iter().chain(poll_interval).min());
        }
        self.port.waker().cancel();
        self.send_queue.unblock();
    }
}

/// No application keeps waiting for a thread that has ended, even by a panic.
impl Drop for Service {
    fn drop(&mut self) {
        self.port.close();
        if let Some((_, backlog)) = self.listener.take() {
            // `Connections` ends those that waited.
            backlog.close();
        }
    }
}

/// How far ahead of its time a packet may be sent, so that several are sent together: a tenth of the protocol's own clock.
const BURST: Span = Span::from_millis(1);
/// Coalesced datagrams arrived within this time, since they were sent in one burst.
const MAX_COALESCED: Span = Span::from_millis(1);
/// Long enough without data for memory to be worth more than the time to allocate it again.
const IDLE: Span = Span::from_secs(1);
/// System calls for arrivals before the thread does something else.
const MAX_RECEIVE_CALLS: usize = 4;
/// Packets sent before the thread does something else.
const MAX_TRANSMITS: usize = 512;
/// The longest wait for a blocked socket, which reports that it is writable unless its device fails.
const MAX_BLOCKED: Duration = Duration::from_millis(10);
