//! tquic: both ends are whole endpoints with one connection each, with TLS and encryption.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use ::tquic::{
    Config, CongestionControlAlgorithm, Connection, Error, PacketInfo, PacketSendHandler, TlsConfig, TransportHandler,
};
use bytes::Bytes;
use cwnd::{Span, Spec, Time};
use cwnd_stack::{Connection as Asked, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};
use send_wrapper::SendWrapper;

use crate::host::{CERTIFICATE, Host, KEY, PROTOCOL, Side, WINDOW, ZEROS, pair};
use crate::system::{instant, seed_generator};

/// tquic's stacks; `name` is the part of their names before the colon.
pub(crate) fn stacks(name: &str) -> Vec<Spec> {
    let stack = |(controller, algorithm)| StackSpec::new(&format!("{name}:{controller}"), Tquic(algorithm)).into_spec();
    [
        ("cubic", CongestionControlAlgorithm::Cubic),
        ("bbr", CongestionControlAlgorithm::Bbr),
        ("bbr3", CongestionControlAlgorithm::Bbr3),
        ("copa", CongestionControlAlgorithm::Copa),
    ]
    .into_iter()
    .map(stack)
    .collect()
}

/// tquic with a controller.
#[derive(Debug)]
struct Tquic(CongestionControlAlgorithm);

/// One end. tquic counts references without locks, and draws from a generator of its thread: an end stays on the thread of its run.
struct End {
    endpoint: SendWrapper<RefCell<::tquic::Endpoint>>,
    outside: SendWrapper<Rc<Outside>>,
    side: Side,
    /// The longest datagram, bytes.
    datagram: f64,
    /// When the host wakes it next.
    due: Option<Time>,
}

/// The application and the network of an end, as tquic's callbacks see them.
#[derive(Default)]
struct Outside {
    /// The connection, once there is one.
    connection: Cell<Option<u64>>,
    /// Bytes submitted and not yet written to the stream, and written.
    left: Cell<u64>,
    written: Cell<u64>,
    delivered: Cell<u64>,
    /// Datagrams that leave now.
    leaving: RefCell<VecDeque<Vec<u8>>>,
}

/// The application of an end.
struct Application(Rc<Outside>);

impl Stack for Tquic {
    fn headers(&self) -> cwnd::Bytes {
        cwnd::Bytes(28)
    }

    fn connect(&self, asked: &Asked) -> Pair {
        pair(asked, |side| {
            if side == Side::Client {
                seed_generator();
            }
            let outside = Rc::new(Outside::default());
            let application = Box::new(Application(Rc::clone(&outside)));
            let config = Box::new(self.config(asked, side)?);
            let network: Rc<dyn PacketSendHandler> = Rc::clone(&outside) as _;
            let mut endpoint = ::tquic::Endpoint::new(config, side == Side::Server, application, network);
            if side == Side::Client {
                endpoint.connect(side.address(), side.peer(), Some("simulated"), None, None, None)?;
            }
            Ok::<_, Error>(End {
                endpoint: SendWrapper::new(RefCell::new(endpoint)),
                outside: SendWrapper::new(outside),
                side,
                datagram: asked.datagram.max(1200).into(),
                due: None,
            })
        })
    }
}

impl Tquic {
    /// Everything that is not set here is tquic's default. Without its discovery of the MTU, datagrams have 1200 bytes.
    fn config(&self, asked: &Asked, side: Side) -> Result<Config, Error> {
        let mut config = Config::new()?;
        let protocols = vec![PROTOCOL.to_vec()];
        config.set_tls_config(match side {
            Side::Client => TlsConfig::new_client_config(protocols, false)?,
            Side::Server => TlsConfig::new_server_config(CERTIFICATE, KEY, protocols, false)?,
        });
        config.set_congestion_control_algorithm(self.0);
        config.set_send_udp_payload_size(asked.datagram.max(1200).into());
        config.set_recv_udp_payload_size(asked.datagram.max(1200));
        config.set_max_handshake_timeout(0);
        config.set_max_connection_window(WINDOW);
        config.set_initial_max_data(WINDOW);
        config.set_max_stream_window(WINDOW);
        config.set_initial_max_stream_data_uni(WINDOW);
        config.set_initial_max_streams_uni(1);
        Ok(config)
    }
}

impl End {
    /// Lets the application write, and the connection do its due work.
    fn drive(&mut self) {
        let endpoint = self.endpoint.get_mut();
        if let Some(connection) = self.outside.connection.get().and_then(|index| endpoint.conn_get_mut(index))
            && connection.is_established()
        {
            self.outside.write(connection);
        }
        endpoint.process_connections().unwrap_or_else(|error| panic!("processing: {error}"));
    }
}

impl Outside {
    /// Writes submitted data, up to [`AHEAD`] bytes more than have left.
    fn write(&self, connection: &mut Connection) {
        let stats = connection.stats();
        let left = stats.sent_bytes - stats.lost_bytes;
        while self.left.get() > 0 {
            let room = (left + AHEAD).saturating_sub(self.written.get());
            let bytes = self.left.get().min(ZEROS.len() as u64);
            if room < bytes {
                break;
            }
            match connection.stream_write(STREAM, Bytes::from_static(&ZEROS[..bytes as usize]), false) {
                Ok(0) | Err(Error::Done) => break,
                Ok(bytes) => {
                    self.left.set(self.left.get() - bytes as u64);
                    self.written.set(self.written.get() + bytes as u64);
                }
                Err(error) => panic!("the stream: {error}"),
            }
        }
    }
}

impl TransportHandler for Application {
    fn on_conn_created(&mut self, connection: &mut Connection) {
        self.0.connection.set(connection.index());
    }

    fn on_conn_established(&mut self, connection: &mut Connection) {
        self.0.write(connection);
    }

    fn on_conn_closed(&mut self, connection: &mut Connection) {
        panic!("the connection is closed: {:?}, {:?}", connection.local_error(), connection.peer_error());
    }

    fn on_stream_created(&mut self, _connection: &mut Connection, _stream: u64) {}

    fn on_stream_readable(&mut self, connection: &mut Connection, stream: u64) {
        let mut buffer = [0; 1 << 14];
        while let Ok((bytes, _)) = connection.stream_read(stream, &mut buffer) {
            self.0.delivered.set(self.0.delivered.get() + bytes as u64);
        }
    }

    fn on_stream_writable(&mut self, _connection: &mut Connection, _stream: u64) {}

    fn on_stream_closed(&mut self, _connection: &mut Connection, _stream: u64) {}

    fn on_new_token(&mut self, _connection: &mut Connection, _token: Vec<u8>) {}
}

impl PacketSendHandler for Outside {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> Result<usize, Error> {
        self.leaving.borrow_mut().extend(packets.iter().map(|(datagram, _)| datagram.clone()));
        Ok(packets.len())
    }
}

impl Endpoint for Host<End> {
    fn submit(&mut self, _now: Time, bytes: u64) {
        let left = &self.end.outside.left;
        left.set(left.get() + bytes);
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        let mut datagram = datagram.to_vec();
        self.at(now, |end| {
            let info = PacketInfo { src: end.side.peer(), dst: end.side.address(), time: instant(now) };
            // What an endpoint cannot read it drops. If it closes the connection therefore, the application panics.
            let _ = end.endpoint.get_mut().recv(&mut datagram, &info);
        });
    }

    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.end.outside.leaving.borrow().is_empty() {
            self.at(now, End::drive);
        }
        buffer.extend(self.end.outside.leaving.borrow_mut().pop_front()?);
        // tquic does not use ECN.
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    /// While events wait in its queue tquic asks for a wait of a millisecond, whatever its timers say: a host calls when the wait that it was
    /// last asked for is over, and does not ask again then.
    fn next_timeout(&mut self, now: Time) -> Option<Time> {
        if self.end.due.is_none_or(|due| due > now) {
            let wait = self.at(now, |end| end.endpoint.borrow().timeout());
            self.end.due = wait.map(|wait| {
                let due = now.as_nanos().saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
                Time::from_nanos((due / WAKE).saturating_add(1).saturating_mul(WAKE))
            });
        }
        self.end.due
    }

    fn handle_timeout(&mut self, now: Time) {
        self.end.due = None;
        self.at(now, |end| end.endpoint.get_mut().on_timeout(instant(now)));
    }

    fn delivered(&self) -> u64 {
        self.end.outside.delivered.get()
    }

    fn shown(&self) -> Shown {
        let End { endpoint, outside, side, datagram, .. } = &self.end;
        let mut endpoint = endpoint.borrow_mut();
        let connection = outside.connection.get().and_then(|index| endpoint.conn_get_mut(index));
        let stats = connection.and_then(|connection| connection.get_path_stats(side.address(), side.peer()).ok());
        let Some(stats) = stats else { return Shown::default() };
        let in_flight = stats.sent_count.saturating_sub(stats.acked_count + stats.lost_count);
        let mut shown = Shown::default();
        shown.window = Some(stats.final_cwnd as f64 / datagram);
        shown.in_flight = Some(in_flight);
        shown.rate = Some(stats.pacing_rate as f64 / datagram);
        shown.rtt = Some(Span::from_micros(stats.srtt));
        shown.lost = Some(stats.lost_count);
        shown
    }
}

/// The first stream of a client in one direction (RFC 9000 section 2.1).
const STREAM: u64 = 2;
/// Bytes that the stream has before they may leave: more than any burst. tquic takes all that flow control allows.
const AHEAD: u64 = 1 << 20;
/// A host wakes at whole microseconds, and later than the timeout. tquic rounds down the time after which its pacer lets a packet go
/// (`Pacer::schedule`), and with a host that wakes at that nanosecond it would find a byte too few again and again.
const WAKE: u64 = 1000;
