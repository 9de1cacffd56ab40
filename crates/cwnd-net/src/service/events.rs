//! What the protocol tells, and what applications ask for.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cwnd::Time;
use cwnd_udt::connection::Event as News;
use cwnd_udt::endpoint::{Event, OpenError};
use cwnd_udt::settings::BUFFER;
use cwnd_udt::{Endpoint, Handle, Settings};

use super::member::{Member, Open, Opening};
use super::{BURST, Service};
use crate::clock::duration;
use crate::connection::{Connection, End, Owned};
use crate::error::ConnectError;
use crate::port::{Answer, Command};
use crate::receive_buffer::ReceiveBuffer;
use crate::send_buffer::SendBuffer;
use crate::stats::Stats;

impl Service {
    /// Does what applications have asked for.
    pub(super) fn obey(&mut self) {
        let mut commands = std::mem::take(&mut self.commands);
        self.port.commands(&mut commands);
        for command in commands.drain(..) {
            self.obey_one(command);
        }
        self.commands = commands;
    }

    fn obey_one(&mut self, command: Command) {
        match command {
            Command::Abort(handle) => {
                self.endpoint.with(handle, |connection| connection.abort(self.now));
            }
            Command::Connect(peer, settings, answer) => self.call(peer, settings, answer, Endpoint::connect),
            Command::Finish(handle) => {
                if let Some(open) = self.members.open(handle) {
                    open.finish();
                    self.touch(handle);
                }
            }
            Command::Flush(reply) => self.flushes.push(reply),
            Command::Listen(settings, backlog, queue) => {
                // The settings were checked when the port was opened.
                if self.endpoint.listen(adapted(&settings, self.udp.buffer().1), backlog).is_ok() {
                    self.listener = Some((settings, queue));
                }
            }
            Command::Rendezvous(peer, settings, answer) => self.call(peer, settings, answer, Endpoint::rendezvous),
            Command::Stats(handle, reply) => {
                let stats = self.endpoint.connection(handle).map(|connection| Stats {
                    udt: connection.stats(self.now),
                    socket_buffer: self.udp.buffer(),
                    send_errors: self.departures.refused,
                    send_error: self.departures.refusal,
                });
                // Whoever asked may have gone.
                let _unwanted = reply.give(stats);
            }
            Command::Taken(handle) => self.endpoint.take(handle),
            Command::Touched(handle) => self.touch(handle),
            Command::Unlisten(queue) => {
                if self.listener.take_if(|(_, current)| Arc::ptr_eq(current, &queue)).is_some() {
                    self.endpoint.stop_listening();
                }
            }
        }
    }

    /// The application has written or read something.
    fn touch(&mut self, handle: Handle) {
        let Some(open) = self.members.open(handle) else { return };
        // Before looking: what is written from now on is told anew.
        open.shared.touched.store(false, Ordering::Release);
        if open.list_writes() {
            self.writers.push(handle.place());
        }
        if open.list_arrivals() {
            self.arrivals.push(handle.place());
        }
    }

    fn call(
        &mut self,
        peer: SocketAddr,
        settings: Box<Settings>,
        answer: Answer,
        how: fn(&mut Endpoint, Time, SocketAddr, Settings) -> Result<Handle, OpenError>,
    ) {
        let adapted = adapted(&settings, self.udp.buffer().1);
        match how(&mut self.endpoint, self.now, peer, adapted) {
            Ok(handle) => self.members.insert(handle, Member::Opening(Opening { handle, peer, settings, answer })),
            Err(error) => {
                let _unwanted = answer.give(Err(ConnectError::Open(error)));
            }
        }
    }

    /// Takes in what the protocol has to tell. `to` is the address of this host at which a datagram has just come in.
    pub(super) fn hear(&mut self, to: Option<IpAddr>) {
        while let Some((handle, event)) = self.endpoint.poll_event() {
            match event {
                Event::Accepted { from } => self.accept(handle, from, to),
                Event::Connected => self.connected(handle, to),
                Event::Refused(why) => {
                    self.endpoint.remove(handle);
                    if let Some(Member::Opening(Opening { peer, answer, .. })) = self.members.remove(handle) {
                        let _unwanted = answer.give(Err(ConnectError::Refused { peer, why }));
                    }
                }
                Event::Connection(News::Closed(reason)) => {
                    if let Some(Member::Open(mut open)) = self.members.remove(handle) {
                        open.end(self.now, reason, &mut self.endpoint);
                    }
                    self.endpoint.remove(handle);
                }
                Event::Connection(News::Readable | News::Writable) => self.touch(handle),
                // libudt's way to say that its application could not write a file; the application will close next.
                Event::Connection(News::PeerError(_)) => {}
            }
        }
    }

    fn accept(&mut self, handle: Handle, from: SocketAddr, to: Option<IpAddr>) {
        let Some((settings, queue)) = &self.listener else {
            self.endpoint.with(handle, |connection| connection.abort(self.now));
            return;
        };
        let queue = Arc::clone(queue);
        let settings = settings.clone();
        if let Some(shared) = self.open(handle, from, to, &settings) {
            queue.put(Owned::new(shared, self.port.user(), duration(settings.linger)));
        }
    }

    fn connected(&mut self, handle: Handle, to: Option<IpAddr>) {
        let Some(Member::Opening(Opening { peer, settings, answer, .. })) = self.members.remove(handle) else { return };
        if let Some(shared) = self.open(handle, peer, to, &settings)
            && answer.give(Ok(shared)).is_err()
        {
            // Whoever asked has gone.
            self.endpoint.with(handle, |connection| connection.abort(self.now));
        }
    }

    fn open(
        &mut self,
        handle: Handle,
        peer: SocketAddr,
        to: Option<IpAddr>,
        settings: &Settings,
    ) -> Option<Arc<Connection>> {
        let connection = self.endpoint.connection(handle)?;
        let (payload, room) = (connection.payload(), connection.receive_room());
        let from = self.udp.reply_from(to);
        let local = from.map_or(self.udp.local(), |from| SocketAddr::new(from, self.udp.local().port()));
        let shared = Arc::new(Connection {
            handle,
            local,
            peer,
            send: SendBuffer::new(settings.send_buffer.into(), payload as usize),
            receive: ReceiveBuffer::new(),
            report: AtomicU64::new(Open::report(settings.mode, room)),
            touched: AtomicBool::new(false),
            end: End::default(),
        });
        let open = Open::new(Arc::clone(&shared), from, settings);
        self.members.insert(handle, Member::Open(Box::new(open)));
        Some(shared)
    }
}

/// The settings as the protocol gets them: packets may leave in bursts, which is what system calls and timers are good at; and
/// the socket's own buffer, of `buffer` bytes, holds what comes in while this thread waits for a processor.
fn adapted(settings: &Settings, buffer: usize) -> Settings {
    let backlog = u32::try_from(buffer / KERNEL_PACKET).unwrap_or(u32::MAX).max(*BUFFER.start());
    let mut adapted = settings.clone();
    adapted.burst = settings.burst.max(BURST);
    adapted.backlog = settings.backlog.or(Some(backlog));
    adapted
}

/// Linux charges a socket 2,304 bytes for a packet of 1,500, and grants twice what it tells; a quarter is left for other packets.
const KERNEL_PACKET: usize = 1_536;
