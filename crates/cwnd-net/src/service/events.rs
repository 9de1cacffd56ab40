//! Commands of applications, and events of the protocol.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cwnd::Time;
use cwnd_udt::connection::Event as ConnectionEvent;
use cwnd_udt::endpoint::{Event, OpenError};
use cwnd_udt::settings::BUFFER;
use cwnd_udt::{Endpoint, Handle, Settings};

use super::connections::{Connecting, State};
use super::established::Established;
use super::{BURST, Service};
use crate::connection::Connection;
use crate::error::ConnectError;
use crate::port::{Command, ConnectSender};
use crate::stats::Stats;

impl Service {
    /// Processes what applications have asked for.
    pub(super) fn process_commands(&mut self) {
        let mut commands = std::mem::take(&mut self.commands);
        self.port.take_commands(&mut commands);
        for command in commands.drain(..) {
            self.process(command);
        }
        self.commands = commands;
    }

    fn process(&mut self, command: Command) {
        match command {
            Command::Abort(handle) => {
                self.endpoint.with(handle, |connection| connection.abort(self.now));
            }
            Command::Accepted(handle) => self.endpoint.accept(handle),
            Command::Connect(peer, settings, outcome) => self.connect(peer, settings, outcome, Endpoint::connect),
            Command::Finish(handle) => {
                if let Some(connection) = self.connections.get(handle) {
                    connection.finish();
                    self.on_application(handle);
                }
            }
            Command::Flush(flushed) => self.flushes.push(flushed),
            Command::Listen(settings, backlog) => {
                // The settings were checked when the port was opened.
                if self.endpoint.listen(adapted(&settings, self.udp.buffer().1), backlog.capacity()).is_ok() {
                    self.listener = Some((settings, backlog));
                }
            }
            Command::Notify(handle) => self.on_application(handle),
            Command::Rendezvous(peer, settings, outcome) => self.connect(peer, settings, outcome, Endpoint::rendezvous),
            Command::SetStanding(handle, standing) => self.endpoint.set_standing(handle, standing),
            Command::Stats(handle, reply) => {
                if let Some(connection) = self.endpoint.connection(handle) {
                    // The application may no longer wait.
                    let _no_receiver = reply.send(Stats {
                        udt: connection.stats(self.now),
                        socket_buffer: self.udp.buffer(),
                        send_errors: self.send_queue.errors,
                        send_error: self.send_queue.last_error,
                    });
                }
            }
            Command::StopListening(backlog) => {
                if self.listener.take_if(|(_, current)| Arc::ptr_eq(current, &backlog)).is_some() {
                    self.endpoint.stop_listening();
                }
            }
        }
    }

    /// The application has written or read something.
    fn on_application(&mut self, handle: Handle) {
        let Some(connection) = self.connections.get(handle) else { return };
        // Before the buffers are checked: later changes are notified again.
        connection.shared.notified.store(false, Ordering::Release);
        self.writers.push(handle.place());
        self.arrivals.push(handle.place());
    }

    fn connect(
        &mut self,
        peer: SocketAddr,
        settings: Box<Settings>,
        outcome: ConnectSender,
        how: fn(&mut Endpoint, Time, SocketAddr, Settings) -> Result<Handle, OpenError>,
    ) {
        let adapted = adapted(&settings, self.udp.buffer().1);
        match how(&mut self.endpoint, self.now, peer, adapted) {
            Ok(handle) => {
                let connecting = Connecting { handle, peer, settings, outcome };
                self.connections.insert(handle, State::Connecting(connecting));
            }
            Err(error) => {
                let _no_receiver = outcome.send(Err(ConnectError::Open(error)));
            }
        }
    }

    /// Handles what the protocol reports. `dst_ip` is the address of this host to which a datagram was just sent.
    pub(super) fn handle_events(&mut self, dst_ip: Option<IpAddr>) {
        while let Some((handle, event)) = self.endpoint.poll_event() {
            match event {
                Event::Accepted { from } => self.on_accepted(handle, from, dst_ip),
                Event::Connected => self.on_connected(handle, dst_ip),
                Event::Refused(why) => {
                    self.endpoint.remove(handle);
                    if let Some(State::Connecting(Connecting { peer, outcome, .. })) = self.connections.remove(handle) {
                        let _no_receiver = outcome.send(Err(ConnectError::Refused { peer, why }));
                    }
                }
                Event::Connection(ConnectionEvent::Closed(reason)) => {
                    if let Some(State::Established(mut connection)) = self.connections.remove(handle) {
                        connection.close(self.now, reason, &mut self.endpoint, &mut self.memory);
                    }
                    self.endpoint.remove(handle);
                }
                Event::Connection(ConnectionEvent::Readable | ConnectionEvent::Writable) => self.on_application(handle),
                // libudt sends it when its application could not write a file; the application closes the connection next.
                Event::Connection(ConnectionEvent::PeerError(_)) => {}
            }
        }
    }

    fn on_accepted(&mut self, handle: Handle, from: SocketAddr, dst_ip: Option<IpAddr>) {
        let queued = match &self.listener {
            Some((settings, backlog)) => {
                let (settings, backlog) = (settings.clone(), Arc::clone(backlog));
                self.establish(handle, from, dst_ip, &settings).is_none_or(|connection| backlog.push(connection))
            }
            None => false,
        };
        if !queued {
            self.endpoint.with(handle, |connection| connection.abort(self.now));
        }
    }

    fn on_connected(&mut self, handle: Handle, dst_ip: Option<IpAddr>) {
        let Some(State::Connecting(connecting)) = self.connections.remove(handle) else { return };
        let Connecting { peer, settings, outcome, .. } = connecting;
        if let Some(connection) = self.establish(handle, peer, dst_ip, &settings)
            && outcome.send(Ok(connection)).is_err()
        {
            // The application no longer waits.
            self.endpoint.with(handle, |connection| connection.abort(self.now));
        }
    }

    fn establish(
        &mut self,
        handle: Handle,
        peer: SocketAddr,
        dst_ip: Option<IpAddr>,
        settings: &Settings,
    ) -> Option<Arc<Connection>> {
        let connection = self.endpoint.connection(handle)?;
        let (payload, room) = (connection.payload(), connection.receive_room());
        let src_ip = self.udp.reply_from(dst_ip);
        let local = src_ip.map_or(self.udp.local(), |ip| SocketAddr::new(ip, self.udp.local().port()));
        let threshold = Established::report_threshold(settings.mode, room);
        let shared =
            Arc::new(Connection::new(handle, local, peer, settings.send_buffer.into(), payload as usize, threshold));
        let connection = Established::new(Arc::clone(&shared), src_ip, settings);
        self.connections.insert(handle, State::Established(Box::new(connection)));
        Some(shared)
    }
}

/// The settings for the protocol: packets may be sent in bursts, which saves system calls and wakeups, what this thread was too late to
/// send is made up for, peers prove what they acknowledge, and the socket's own buffer of `buffer` bytes holds what arrives while this
/// thread waits for a processor.
fn adapted(settings: &Settings, buffer: usize) -> Settings {
    let backlog = u32::try_from(buffer / KERNEL_PACKET).unwrap_or(u32::MAX).max(*BUFFER.start());
    let mut adapted = settings.clone();
    adapted.burst = settings.burst.max(BURST);
    adapted.catch_up = true;
    adapted.prove_acks = true;
    adapted.backlog = settings.backlog.or(Some(backlog));
    adapted
}

/// Linux charges a socket 2,304 bytes for a packet of 1,500, and grants twice what it reports; a quarter is left for other packets.
const KERNEL_PACKET: usize = 1_536;
