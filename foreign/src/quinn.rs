//! quinn-proto: both ends are whole connections behind endpoints, with plaintext in place of TLS.

mod plaintext;

use std::fmt;
#[cfg(not(feature = "known-bad"))]
use std::fs::File;
#[cfg(not(feature = "known-bad"))]
use std::io::BufWriter;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use cwnd::{Span, Spec, Time};
use cwnd_stack::{Connection as Asked, Ecn, Pair, Shown, Stack, StackSpec, Transmit};
#[cfg(not(feature = "known-bad"))]
use quinn_proto::QlogConfig;
use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, RttEstimator, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};

use plaintext::Plaintext;

/// quinn's stacks; `name` is the part of their names before the colon.
pub(crate) fn stacks(name: &str) -> Vec<Spec> {
    let factories: [(&str, Factory); 3] = [
        ("cubic", Arc::new(|_| Arc::new(CubicConfig::default()))),
        ("reno", Arc::new(|_| Arc::new(NewRenoConfig::default()))),
        ("bbr", Arc::new(|_| Arc::new(BbrConfig::default()))),
    ];
    let logs = std::env::var_os("QLOGDIR").map(PathBuf::from);
    let stack = |(controller, factory)| {
        let logs = logs.as_ref().map(|directory| directory.join(format!("{name}-{controller}")));
        StackSpec::new(&format!("{name}:{controller}"), Quinn { factory, logs }).into_spec()
    };
    factories.into_iter().map(stack).collect()
}

/// quinn's CUBIC, whose senders write their qlog into `directory`.
#[cfg(not(feature = "known-bad"))]
pub(crate) fn logged(directory: &Path) -> Spec {
    let factory: Factory = Arc::new(|_| Arc::new(CubicConfig::default()));
    StackSpec::new("quinn:cubic", Quinn { factory, logs: Some(directory.join("quinn-cubic")) }).into_spec()
}

/// quinn with the algorithm of `spec` as its controller.
///
/// # Errors
/// The algorithm sets a rate, or needs more of its transport than acknowledgements.
#[cfg(not(feature = "known-bad"))]
pub(crate) fn with(spec: &Spec) -> Result<Spec, cwnd_quic::Unsupported> {
    cwnd_quic::quinn::Factory::new(spec.clone(), 0)?;
    let algorithm = spec.clone();
    let factory: Factory = Arc::new(move |seed| {
        Arc::new(cwnd_quic::quinn::Factory::new(algorithm.clone(), seed).expect("it was accepted before"))
    });
    Ok(StackSpec::new(&format!("{} in quinn", spec.label()), Quinn { factory, logs: None }).into_spec())
}

/// Makes what makes controllers, of a seed.
type Factory = Arc<dyn Fn(u64) -> Arc<dyn ControllerFactory + Send + Sync> + Send + Sync>;

/// quinn with a controller.
struct Quinn {
    factory: Factory,
    /// Where senders write their qlog: the begin of its path.
    logs: Option<PathBuf>,
}

impl fmt::Debug for Quinn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Quinn").finish_non_exhaustive()
    }
}

/// One end: an endpoint with one connection.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    /// Datagrams that the endpoint sends outside of the connection, in order.
    responses: Vec<Vec<u8>>,
    stream: Option<StreamId>,
    /// Bytes submitted and not yet written to the stream.
    left: u64,
    delivered: u64,
    in_flight: Arc<AtomicU64>,
}

impl Stack for Quinn {
    fn headers(&self) -> cwnd::Bytes {
        cwnd::Bytes(28)
    }

    fn connect(&self, asked: &Asked) -> Pair {
        crate::entropy::seed(asked.seed);
        let in_flight = Arc::new(AtomicU64::new(0));
        let mut transport = self.transport(asked, &in_flight);
        if let Some(logs) = &self.logs {
            let path = format!("{}-{:016x}.sqlog", logs.display(), asked.seed);
            log(&mut transport, Path::new(&path));
        }
        let endpoint = |side: u8, server| Endpoint::new(Arc::new(endpoint_config(asked, side)), server, false, None);
        let mut server = ServerConfig::new(Arc::new(Plaintext), Arc::new(Plaintext));
        server.transport_config(Arc::new(self.transport(asked, &Arc::default())));
        let mut client = ClientConfig::new(Arc::new(Plaintext));
        client.transport_config(Arc::new(transport));
        let first_id = ConnectionId::new(&asked.seed.to_be_bytes());
        client.initial_dst_cid_provider(Arc::new(move || first_id));
        let mut sender = End::new(endpoint(0, None), SERVER, in_flight);
        let connected = sender.endpoint.connect(instant(asked.start), client, SERVER, "simulated");
        sender.connection = Some(connected.expect("the configuration is complete"));
        let receiver = End::new(endpoint(1, Some(Arc::new(server))), CLIENT, Arc::default());
        Pair { sender: Box::new(sender), receiver: Box::new(receiver) }
    }
}

impl Quinn {
    fn transport(&self, asked: &Asked, in_flight: &Arc<AtomicU64>) -> TransportConfig {
        let watched = Watched { factory: (self.factory)(asked.seed), in_flight: Arc::clone(in_flight) };
        let mut config = TransportConfig::default();
        config
            .congestion_controller_factory(Arc::new(watched))
            .initial_mtu(asked.datagram.max(1200))
            .mtu_discovery_config(None)
            .stream_receive_window(VarInt::MAX)
            .receive_window(VarInt::MAX)
            .send_window(SEND_WINDOW)
            .max_idle_timeout(None);
        config
    }
}

/// Makes a connection write its qlog to `path`; a run that was asked for a log does not go on without it.
#[cfg(not(feature = "known-bad"))]
fn log(config: &mut TransportConfig, path: &Path) {
    let file = File::create(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut log = QlogConfig::default();
    log.writer(Box::new(BufWriter::new(file))).start_time(*EPOCH);
    config.qlog_stream(Some(log.into_stream().expect("it has a writer")));
}

#[cfg(feature = "known-bad")]
fn log(_config: &mut TransportConfig, _path: &Path) {}

fn endpoint_config(asked: &Asked, side: u8) -> EndpointConfig {
    let mut config = EndpointConfig::new(Arc::new(Plaintext));
    let mut seed = [side; 32];
    seed[..8].copy_from_slice(&asked.seed.to_be_bytes());
    config.rng_seed(Some(seed)).cid_generator(move || Box::new(Ids { side, next: 0 }));
    config.max_udp_payload_size(asked.datagram.max(1200)).expect("in the range of QUIC");
    config
}

impl End {
    fn new(endpoint: Endpoint, peer: SocketAddr, in_flight: Arc<AtomicU64>) -> Self {
        Self { endpoint, connection: None, peer, responses: Vec::new(), stream: None, left: 0, delivered: 0, in_flight }
    }

    /// Moves events between endpoint, connection and application until there are none.
    fn drive(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::ConnectionLost { reason } => panic!("the connection was lost: {reason}"),
                Event::Stream(StreamEvent::Opened { dir }) => self.stream = connection.streams().accept(dir),
                _ => {}
            }
        }
        if self.peer == CLIENT {
            self.read();
        } else {
            self.write();
        }
    }

    fn read(&mut self) {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return };
        let mut stream = connection.recv_stream(stream);
        if let Ok(mut chunks) = stream.read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.delivered += chunk.bytes.len() as u64;
            }
            // Its requests are polled in any case.
            let _ = chunks.finalize();
        }
    }

    fn write(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.left == 0 || connection.is_handshaking() {
            return;
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut stream = connection.send_stream(stream);
        while self.left > 0 {
            let bytes = self.left.min(ZEROS.len() as u64) as usize;
            let Ok(written) = stream.write_chunks(&mut [ZEROS.slice(..bytes)]) else { break };
            self.left -= written.bytes as u64;
            if written.bytes < bytes {
                break;
            }
        }
    }
}

impl cwnd_stack::Endpoint for End {
    fn submit(&mut self, _now: Time, bytes: u64) {
        self.left += bytes;
        self.write();
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let now = instant(now);
        let codepoint = match ecn {
            Ecn::NotCapable => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        let mut response = Vec::new();
        let event = self.endpoint.handle(now, self.peer, None, codepoint, BytesMut::from(datagram), &mut response);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut response, None);
                self.connection = accepted.ok().or(self.connection.take());
            }
            Some(DatagramEvent::Response(transmit)) => {
                response.truncate(transmit.size);
                self.responses.push(response);
            }
            None => {}
        }
        self.drive();
    }

    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(response) = self.responses.pop() {
            buffer.extend(response);
            return Some(Transmit::new(Ecn::NotCapable, None));
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(instant(now), GSO_SEGMENTS, buffer)?;
        buffer.truncate(transmit.size);
        let ecn = match transmit.ecn {
            None => Ecn::NotCapable,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        };
        Some(Transmit::new(ecn, transmit.segment_size))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        let (_, connection) = self.connection.as_mut()?;
        let due = connection.poll_timeout()?.saturating_duration_since(*EPOCH);
        Some(Time::from_nanos(u64::try_from(due.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(instant(now));
        }
        self.drive();
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn shown(&self) -> Shown {
        let Some((_, connection)) = self.connection.as_ref().filter(|(_, connection)| !connection.is_handshaking())
        else {
            return Shown::default();
        };
        let path = connection.stats().path;
        let mtu = f64::from(path.current_mtu);
        let metrics = connection.congestion_state().metrics();
        let infinite = |bytes: u64| if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 / mtu };
        let mut shown = Shown::default();
        shown.window = Some(path.cwnd as f64 / mtu);
        shown.ssthresh = metrics.ssthresh.map(infinite);
        shown.in_flight = Some(self.in_flight.load(Ordering::Relaxed).div_ceil(u64::from(path.current_mtu)));
        shown.rate = metrics.pacing_rate.map(|bits| bits as f64 / 8.0 / mtu);
        shown.rtt = Some(Span::from_nanos(path.rtt.as_nanos() as u64));
        shown.lost = Some(path.lost_packets);
        shown
    }
}

/// Makes controllers whose bytes in flight can be seen: the stack does not show them.
struct Watched {
    factory: Arc<dyn ControllerFactory + Send + Sync>,
    in_flight: Arc<AtomicU64>,
}

/// A controller, with the bytes in flight as the stack reports them. Everything else passes through.
struct WatchedController {
    inner: Box<dyn Controller>,
    in_flight: Arc<AtomicU64>,
}

impl ControllerFactory for Watched {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.factory).build(now, current_mtu);
        Box::new(WatchedController { inner, in_flight: Arc::clone(&self.in_flight) })
    }
}

#[deny(clippy::missing_trait_methods, reason = "the controller inside does it")]
impl Controller for WatchedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight.fetch_add(bytes, Ordering::Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.in_flight.store(in_flight, Ordering::Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let left = self.in_flight.load(Ordering::Relaxed).saturating_sub(lost_bytes);
        self.in_flight.store(left, Ordering::Relaxed);
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> quinn_proto::congestion::ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), in_flight: Arc::clone(&self.in_flight) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self.inner.into_any()
    }
}

/// Connection ids that count: no two ends have the same.
struct Ids {
    side: u8,
    next: u64,
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        ConnectionId::new(&(u64::from(self.side) << 56 | self.next).to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn instant(now: Time) -> Instant {
    *EPOCH + Duration::from_nanos(now.as_nanos())
}

/// Time zero of all simulations. The stack only subtracts instants from each other, so that its choice changes nothing.
#[expect(clippy::disallowed_methods, reason = "an instant cannot be made otherwise")]
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The sent data: copies share it.
static ZEROS: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; 1 << 20]));

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4433);
/// Datagrams in one batch, as the `quinn` crate has it.
const GSO_SEGMENTS: usize = 10;
/// Unacknowledged bytes: never the limit on any path here.
const SEND_WINDOW: u64 = 1 << 30;
