//! A relay: a thread for each direction.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cwnd::{Span, Time};
use cwnd_sim::SetupError;
use cwnd_sim::emulate::Emulation;
use thiserror::Error;

use crate::clients::{Clients, Published, Slots};
use crate::clock::Clock;
use crate::direction::{Direction, Released};
use crate::report::{Report, Sample};
use crate::socket::{Buffers, Socket, overruns};
use crate::wait::{CHECK_INTERVAL, reduce_latency, sleep, thread_cpu};

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
    /// Options for `link` in both directions: up to 8 clients, removed after an idle minute, seed 1, no busy-waiting and no samples.
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
    /// A network of its own cannot be made or entered.
    #[error("cannot make a network: {0}")]
    Network(#[source] io::Error),
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
    forth: Direction,
    back: Direction,
}

/// The state that the two threads of a relay share.
#[derive(Clone, Copy, Debug)]
struct Shared<'a> {
    plan: &'a Plan,
    clock: Clock,
    listener: &'a Socket,
    published: &'a Published,
    stop: &'a AtomicBool,
    /// One of the two has ended.
    ended: &'a AtomicBool,
    end: Time,
}

/// The results of the thread of the direction to the target.
#[derive(Debug)]
struct Served {
    clients: Clients,
    samples: Vec<Sample>,
    cpu_s: f64,
}

impl Relay {
    /// Binds the listening socket.
    ///
    /// # Errors
    /// [`RelayError::Emulation`] if a link is configured wrongly, [`RelayError::Listen`] if the address cannot be bound.
    pub fn bind(plan: Plan) -> Result<Self, RelayError> {
        let header = if plan.target.is_ipv4() { HEADERS_IPV4 } else { HEADERS_IPV6 };
        let [forth, back] = Direction::both([&plan.forth, &plan.back], plan.seed, header)?;
        let listener =
            Socket::bind(plan.listen).map_err(|source| RelayError::Listen { address: plan.listen, source })?;
        Ok(Self { plan, clock: Clock::start(), listener, forth, back })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// `getsockname` fails.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.listener.local()
    }

    /// Carries datagrams until `stop` is set, which is checked ten times a second, or for `duration`. Each direction has a thread of its
    /// own.
    ///
    /// # Errors
    /// [`RelayError::Receive`] if receiving from a socket or waiting for one fails.
    pub fn run(self, stop: &AtomicBool, duration: Option<Span>) -> Result<Report, RelayError> {
        let Self { plan, clock, listener, mut forth, mut back } = self;
        let (published, ended) = (Published::new()?, AtomicBool::new(false));
        let end = duration.map_or(Time::MAX, |duration| clock.now() + duration);
        let shared =
            Shared { plan: &plan, clock, listener: &listener, published: &published, stop, ended: &ended, end };
        let (served, back_cpu_s) = thread::scope(|scope| {
            let returning = scope.spawn(|| shared.until_end(|| shared.carry_back(&mut back)));
            let served = shared.until_end(|| shared.carry_forth(&mut forth));
            (served, returning.join().expect("a direction does not panic"))
        });
        let Served { clients, samples, cpu_s } = served?;
        let elapsed = clock.now().since(Time::ZERO);
        let upstream = clients.slots().iter().flatten().map(|client| &client.upstream);
        let sockets = std::iter::once(&listener).chain(upstream);
        let ports: Vec<u16> = sockets.filter_map(|socket| socket.local().ok()).map(|local| local.port()).collect();
        Ok(Report {
            duration_s: elapsed.as_secs_f64(),
            cpu_s: cpu_s + back_cpu_s?,
            clients: clients.seen,
            refused: clients.refused,
            overruns: overruns(&ports),
            forth: forth.report(elapsed),
            back: back.report(elapsed),
            samples,
        })
    }
}

impl Shared<'_> {
    /// Runs a direction; the other one ends when it does.
    fn until_end<T>(&self, direction: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let result = direction();
        self.ended.store(true, Ordering::Relaxed);
        result
    }

    fn is_over(&self, now: Time) -> bool {
        self.stop.load(Ordering::Relaxed) || self.ended.load(Ordering::Relaxed) || now >= self.end
    }

    /// From the clients to the target.
    fn carry_forth(&self, link: &mut Direction) -> io::Result<Served> {
        reduce_latency();
        let Self { plan, clock, listener, .. } = *self;
        let (cpu_before, mut buffers) = (thread_cpu(), Buffers::default());
        let (mut clients, mut samples) = (Clients::new(plan.clients), Vec::new());
        let (mut check, mut readable) = (Time::ZERO, true);
        loop {
            if readable {
                listener.receive(&mut buffers, clock, &mut |datagram| {
                    let seen = clients.seen;
                    let open = || Socket::bind(unspecified(plan.target)).ok();
                    if let Some(client) = clients.at(datagram.from, datagram.at, open) {
                        if clients.seen > seen {
                            self.published.publish(clients.slots());
                        }
                        link.offer(datagram.at, client, datagram.ecn, datagram.bytes);
                    }
                    // A batch is as long as it takes to be late by much.
                    link.release(clock, &mut |datagram| to_target(&clients, plan.target, datagram));
                })?;
            }
            link.release(clock, &mut |datagram| to_target(&clients, plan.target, datagram));
            let now = clock.now();
            if now >= check {
                if self.is_over(now) {
                    return Ok(Served { clients, samples, cpu_s: thread_cpu() - cpu_before });
                }
                if clients.remove_idle(now, plan.idle) {
                    self.published.publish(clients.slots());
                }
                if plan.samples {
                    samples.push(link.sample(now, Clock::time_of_day().as_secs_f64()));
                }
                check = now + CHECK_INTERVAL;
            }
            let due = link.next_due().unwrap_or(Time::MAX).min(check).min(self.end);
            readable = sleep(due.since(clock.now()), plan.spin, std::iter::once(listener.as_fd()))?;
        }
    }

    /// From the target to the clients; the processor time of this thread, seconds.
    fn carry_back(&self, link: &mut Direction) -> io::Result<f64> {
        reduce_latency();
        let Self { plan, clock, listener, published, .. } = *self;
        let (cpu_before, mut buffers) = (thread_cpu(), Buffers::default());
        let mut clients = Slots::new();
        let (mut check, mut readable) = (Time::ZERO, true);
        loop {
            if readable {
                published.update(&mut clients);
                for (index, client) in (0..).zip(&clients) {
                    let Some(client) = client else { continue };
                    let any = client.upstream.receive(&mut buffers, clock, &mut |datagram| {
                        if datagram.from == plan.target {
                            link.offer(datagram.at, index, datagram.ecn, datagram.bytes);
                        }
                        link.release(clock, &mut |datagram| to_client(&clients, listener, datagram));
                    })?;
                    if any {
                        client.touch(clock.now());
                    }
                }
            }
            link.release(clock, &mut |datagram| to_client(&clients, listener, datagram));
            let now = clock.now();
            if now >= check {
                if self.is_over(now) {
                    return Ok(thread_cpu() - cpu_before);
                }
                check = now + CHECK_INTERVAL;
            }
            let due = link.next_due().unwrap_or(Time::MAX).min(check).min(self.end);
            let upstream = clients.iter().flatten().map(|client| client.upstream.as_fd());
            let sources = std::iter::once(published.as_fd()).chain(upstream);
            readable = sleep(due.since(clock.now()), plan.spin, sources)?;
        }
    }
}

fn to_target(clients: &Clients, target: SocketAddr, datagram: Released<'_>) -> bool {
    let client = clients.get(datagram.client);
    client.is_some_and(|client| client.upstream.send(target, datagram.ecn, datagram.bytes))
}

fn to_client(clients: &Slots, listener: &Socket, datagram: Released<'_>) -> bool {
    let client = clients.get(datagram.client as usize).and_then(Option::as_deref);
    client.is_some_and(|client| listener.send(client.address, datagram.ecn, datagram.bytes))
}

/// The unspecified address of the family of `target`, or the loopback address for a loopback target.
fn unspecified(target: SocketAddr) -> SocketAddr {
    match target {
        SocketAddr::V4(v4) if v4.ip().is_loopback() => SocketAddr::from(([127, 0, 0, 1], 0)),
        SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
    }
}

/// IP and UDP.
const HEADERS_IPV4: u32 = 28;
const HEADERS_IPV6: u32 = 48;
