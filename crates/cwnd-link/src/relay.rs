//! The event loop of a relay.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use cwnd::{Span, Time};
use cwnd_sim::SetupError;
use cwnd_sim::emulate::Emulation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::setpriority_process;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};
use thiserror::Error;

use crate::clients::Clients;
use crate::clock::Clock;
use crate::direction::Direction;
use crate::report::{Report, Sample};
use crate::socket::{Buffers, Socket, overruns};

/// The configuration of a relay.
///
/// ```
/// use cwnd::Span;
/// use cwnd_link::{Plan, Relay};
/// use cwnd_sim::QueueLimit;
/// use cwnd_sim::emulate::Emulation;
///
/// let link = Emulation::new(Some(100_000_000), Span::from_millis(25), QueueLimit::Packets(417));
/// let mut plan = Plan::new("127.0.0.1:0".parse()?, "127.0.0.1:9000".parse()?, link);
/// plan.clients = 1;
/// let relay = Relay::bind(plan)?;
/// println!("send to {}", relay.local()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The address at which it listens; with port 0 the system chooses one.
    pub listen: SocketAddr,
    /// The address to which it forwards.
    pub target: SocketAddr,
    /// The link from the clients to the target. All clients share it.
    pub forth: Emulation,
    /// The link from the target to the clients.
    pub back: Emulation,
    /// The seed of the random draws.
    pub seed: u64,
    /// How many clients there may be at a time; each has a socket towards the target.
    pub clients: usize,
    /// A client is removed when no datagram was received from it or for it for this long.
    pub idle: Span,
    /// Instead of sleeping for less than this, the relay busy-waits, which takes up to a whole core.
    pub spin: Span,
    /// Whether to sample the direction to the target.
    pub samples: bool,
}

impl Plan {
    /// The same link in both directions, up to 8 clients, removed after an idle minute, seed 1, no busy-waiting and no samples.
    #[must_use]
    pub fn new(listen: SocketAddr, target: SocketAddr, link: Emulation) -> Self {
        let back = link.clone();
        let (idle, spin) = (Span::from_secs(60), Span::ZERO);
        Self { listen, target, forth: link, back, seed: 1, clients: 8, idle, spin, samples: false }
    }
}

/// Why a relay could not start or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RelayError {
    /// A link is configured wrongly.
    #[error(transparent)]
    Emulation(#[from] SetupError),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// Receiving or waiting failed.
    #[error("cannot receive: {0}")]
    Receive(#[from] io::Error),
}

/// A link between UDP ports.
#[derive(Debug)]
pub struct Relay {
    plan: Plan,
    clock: Clock,
    listener: Socket,
    clients: Clients,
    forth: Direction,
    back: Direction,
    samples: Vec<Sample>,
    buffers: Buffers,
}

impl Relay {
    /// Binds the listening socket.
    ///
    /// # Errors
    /// [`RelayError::Emulation`] if a link is configured wrongly, [`RelayError::Listen`] if the address cannot be bound.
    pub fn bind(plan: Plan) -> Result<Self, RelayError> {
        let header = if plan.target.is_ipv4() { HEADERS_IPV4 } else { HEADERS_IPV6 };
        let forth = Direction::new("forth", &plan.forth, plan.seed, header)?;
        let back = Direction::new("back", &plan.back, plan.seed, header)?;
        let listener =
            Socket::bind(plan.listen).map_err(|source| RelayError::Listen { address: plan.listen, source })?;
        let clients = Clients::new(plan.clients);
        let (clock, samples, buffers) = (Clock::start(), Vec::new(), Buffers::default());
        Ok(Self { plan, clock, listener, clients, forth, back, samples, buffers })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// That of the system call, if it fails.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.listener.local()
    }

    /// Carries datagrams until `stop` is set, which is checked ten times a second, or for `duration`.
    ///
    /// # Errors
    /// [`RelayError::Receive`] if receiving from a socket or waiting for one fails.
    pub fn run(mut self, stop: &AtomicBool, duration: Option<Span>) -> Result<Report, RelayError> {
        reduce_latency();
        let cpu_before = thread_cpu();
        let end = duration.map_or(Time::MAX, |duration| self.clock.now() + duration);
        let (mut check, mut readable) = (Time::ZERO, true);
        loop {
            if readable {
                self.receive()?;
            }
            self.release();
            let now = self.clock.now();
            if now >= check {
                if stop.load(Ordering::Relaxed) || now >= end {
                    break;
                }
                self.clients.remove_idle(now, self.plan.idle);
                if self.plan.samples {
                    let sample = self.forth.sample(now, Clock::time_of_day().as_secs_f64());
                    self.samples.push(sample);
                }
                check = now + CHECK_INTERVAL;
            }
            readable = self.wait(check.min(end))?;
        }
        Ok(self.report(thread_cpu() - cpu_before))
    }

    /// Receives a batch from every socket.
    fn receive(&mut self) -> Result<(), RelayError> {
        let Self { plan, clock, listener, clients, forth, back, buffers, .. } = self;
        listener.receive(buffers, *clock, &mut |datagram| {
            let open = || Socket::bind(unspecified(plan.target)).ok();
            if let Some(client) = clients.at(datagram.from, datagram.at, open) {
                forth.offer(datagram.at, client, datagram.ecn, datagram.bytes);
            }
        })?;
        let mut active = Vec::new();
        for (index, client) in clients.iter() {
            let any = client.upstream.receive(buffers, *clock, &mut |datagram| {
                if datagram.from == plan.target {
                    back.offer(datagram.at, index, datagram.ecn, datagram.bytes);
                }
            })?;
            if any {
                active.push(index);
            }
        }
        let now = clock.now();
        active.into_iter().for_each(|index| clients.touch(index, now));
        Ok(())
    }

    /// Sends the datagrams that are due.
    fn release(&mut self) {
        let Self { plan, clock, listener, clients, forth, back, .. } = self;
        forth.release(*clock, &mut |datagram| {
            clients
                .get(datagram.client)
                .is_some_and(|client| client.upstream.send(plan.target, datagram.ecn, datagram.bytes))
        });
        back.release(*clock, &mut |datagram| {
            clients
                .get(datagram.client)
                .is_some_and(|client| listener.send(client.address, datagram.ecn, datagram.bytes))
        });
    }

    /// Sleeps until a datagram arrives or is due, at most until `latest`; whether one may have arrived.
    fn wait(&self, latest: Time) -> Result<bool, RelayError> {
        let due = [self.forth.next_due(), self.back.next_due()].into_iter().flatten().fold(latest, Time::min);
        let upstream = self.clients.iter().map(|(_, client)| &client.upstream);
        Ok(sleep(due.since(self.clock.now()), self.plan.spin, std::iter::once(&self.listener).chain(upstream))?)
    }

    fn report(self, cpu_s: f64) -> Report {
        let elapsed = self.clock.now().since(Time::ZERO);
        let upstream = self.clients.iter().map(|(_, client)| &client.upstream);
        let sockets = std::iter::once(&self.listener).chain(upstream);
        let ports: Vec<u16> = sockets.filter_map(|socket| socket.local().ok()).map(|local| local.port()).collect();
        Report {
            duration_s: elapsed.as_secs_f64(),
            cpu_s,
            clients: self.clients.seen,
            refused: self.clients.refused,
            overruns: overruns(&ports),
            forth: self.forth.report(elapsed),
            back: self.back.report(elapsed),
            samples: self.samples,
        }
    }
}

/// The unspecified address of the family of `target`, or the loopback address for a loopback target.
fn unspecified(target: SocketAddr) -> SocketAddr {
    match target {
        SocketAddr::V4(v4) if v4.ip().is_loopback() => SocketAddr::from(([127, 0, 0, 1], 0)),
        SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
    }
}

/// Makes the sleeps of this thread as exact as the system allows.
pub(crate) fn reduce_latency() {
    // By default Linux extends sleeps by 50 µs. If that cannot be changed the report shows how late datagrams were.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    // Only privileged users may raise the priority.
    let _ = setpriority_process(None, PRIORITY);
}

/// Sleeps until one of the `sources` is readable, at most for `left` less `spin`; whether one may be readable.
pub(crate) fn sleep<'a, S: AsFd + 'a>(
    left: Span,
    spin: Span,
    sources: impl Iterator<Item = &'a S>,
) -> io::Result<bool> {
    if left <= spin {
        return Ok(true);
    }
    let nanos = left.as_nanos() - spin.as_nanos();
    let timeout = Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanos % 1_000_000_000) as _,
    };
    let mut sources: Vec<PollFd<'_>> = sources.map(|source| PollFd::new(source, PollFlags::IN)).collect();
    match poll(&mut sources, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Processor time of this thread, seconds.
pub(crate) fn thread_cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// How often idle clients and the stop flag are checked.
pub(crate) const CHECK_INTERVAL: Span = Span::from_millis(100);

/// A nice value, on Linux of the thread: before ordinary threads, after those of the kernel.
const PRIORITY: i32 = -15;

/// IP and UDP.
const HEADERS_IPV4: u32 = 28;
const HEADERS_IPV6: u32 = 48;
