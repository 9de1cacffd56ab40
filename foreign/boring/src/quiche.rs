//! quiche: both ends are whole connections, with TLS and encryption.

use std::collections::VecDeque;

use cwnd::{Span, Spec, Time};
use cwnd_stack::{Connection as Asked, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

use super::quiche::{self, Config, Connection, ConnectionId, Error, RecvInfo};
use crate::host::{CERTIFICATE, Host, KEY, PROTOCOL, Side, WINDOW, ZEROS, pair};
use crate::system::time;

/// The stacks with `controllers`; `name` is the part of their names before the colon, and `change` changes their configuration.
pub(crate) fn stacks(name: &str, controllers: &[&'static str], change: fn(&mut Config)) -> Vec<Spec> {
    let stack = |controller: &&'static str| {
        StackSpec::new(&format!("{name}:{controller}"), Quiche { controller, change }).into_spec()
    };
    controllers.iter().map(stack).collect()
}

/// quiche with a controller.
#[derive(Debug)]
struct Quiche {
    controller: &'static str,
    change: fn(&mut Config),
}

/// One end.
struct End {
    connection: Connection,
    side: Side,
    /// The longest datagram, bytes.
    datagram: usize,
    /// Bytes submitted and not yet written to the stream.
    left: u64,
    delivered: u64,
    /// Datagrams that the pacer lets go at a time of their own, in the order of these.
    paced: VecDeque<(Time, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl Stack for Quiche {
    fn headers(&self) -> cwnd::Bytes {
        cwnd::Bytes(28)
    }

    fn connect(&self, asked: &Asked) -> Pair {
        pair(asked, |side| {
            let mut config = self.config(asked)?;
            let id = [u8::from(side == Side::Server); quiche::MAX_CONN_ID_LEN];
            let id = ConnectionId::from_ref(&id);
            let connection = match side {
                Side::Server => quiche::accept(&id, None, side.address(), side.peer(), &mut config),
                Side::Client => quiche::connect(Some("simulated"), &id, side.address(), side.peer(), &mut config),
            }?;
            Ok::<_, Error>(End {
                connection,
                side,
                datagram: asked.datagram.max(1200).into(),
                left: 0,
                delivered: 0,
                paced: VecDeque::new(),
                buffer: vec![0; 1 << 16],
            })
        })
    }
}

impl Quiche {
    /// Everything that is not set here is quiche's default.
    fn config(&self, asked: &Asked) -> Result<Config, Error> {
        let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
        config.load_cert_chain_from_pem_file(CERTIFICATE)?;
        config.load_priv_key_from_pem_file(KEY)?;
        config.verify_peer(false);
        config.set_application_protos(&[PROTOCOL])?;
        config.set_cc_algorithm_name(if self.controller == "bbr2" { "bbr2_gcongestion" } else { self.controller })?;
        config.set_max_send_udp_payload_size(asked.datagram.max(1200).into());
        config.set_max_recv_udp_payload_size(asked.datagram.max(1200).into());
        config.set_initial_max_data(WINDOW);
        config.set_max_connection_window(WINDOW);
        config.set_initial_max_stream_data_uni(WINDOW);
        config.set_max_stream_window(WINDOW);
        config.set_initial_max_streams_uni(1);
        (self.change)(&mut config);
        Ok(config)
    }
}

impl End {
    /// Moves data between connection and application until there is none.
    fn drive(&mut self) {
        if self.connection.is_closed() {
            panic!("the connection is closed: {:?}", self.connection.local_error());
        }
        match self.side {
            Side::Server => self.read(),
            Side::Client => self.write(),
        }
    }

    fn read(&mut self) {
        for stream in self.connection.readable() {
            while let Ok((bytes, _)) = self.connection.stream_recv(stream, &mut self.buffer) {
                self.delivered += bytes as u64;
            }
        }
    }

    /// Writes as much as the window has room for, once that is a full datagram: quiche takes no more, and sends any rest at once as a datagram
    /// of its own. Room that stays unused would count as an application that limits the sender.
    fn write(&mut self) {
        if !self.connection.is_established() {
            return;
        }
        while self.left > 0 {
            let room = match self.connection.stream_capacity(STREAM) {
                Ok(room) => room as u64,
                // Before the first byte there is no stream.
                Err(Error::InvalidStreamState(_)) => self.left,
                Err(error) => panic!("the stream: {error}"),
            };
            let full = self.datagram as u64 - OVERHEAD;
            let bytes = if self.left <= room || room >= full { self.left.min(room) } else { 0 };
            let bytes = bytes.min(ZEROS.len() as u64) as usize;
            if bytes == 0 {
                break;
            }
            match self.connection.stream_send(STREAM, &ZEROS[..bytes], false) {
                Ok(0) | Err(Error::Done) => break,
                Ok(written) => self.left -= written as u64,
                Err(error) => panic!("the stream: {error}"),
            }
        }
    }

    /// Takes what the connection sends by now, and leaves it with the pacer.
    fn send(&mut self) {
        loop {
            match self.connection.send(&mut self.buffer[..self.datagram]) {
                Ok((bytes, info)) => {
                    let at = time(info.at);
                    let place = self.paced.partition_point(|(other, _)| *other <= at);
                    self.paced.insert(place, (at, self.buffer[..bytes].to_vec()));
                }
                Err(Error::Done) => break,
                Err(error) => panic!("sending: {error}"),
            }
        }
    }
}

impl Endpoint for Host<End> {
    fn submit(&mut self, now: Time, bytes: u64) {
        self.end.left += bytes;
        self.at(now, End::write);
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        let info = RecvInfo { from: self.end.side.peer(), to: self.end.side.address() };
        let mut datagram = datagram.to_vec();
        self.at(now, |end| {
            match end.connection.recv(&mut datagram, info) {
                Ok(_) | Err(Error::Done) => {}
                Err(error) => panic!("a datagram: {error}"),
            }
            end.drive();
        });
    }

    fn poll_transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.at(now, End::send);
        let (_, datagram) = self.end.paced.pop_front_if(|(at, _)| *at <= now)?;
        buffer.extend(datagram);
        // quiche does not use ECN.
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, now: Time) -> Option<Time> {
        let own = self.at(now, |end| end.connection.timeout_instant()).map(time);
        let paced = self.end.paced.front().map(|(at, _)| *at);
        own.into_iter().chain(paced).min()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.at(now, |end| {
            if end.connection.timeout_instant().is_some_and(|due| time(due) <= now) {
                end.connection.on_timeout();
                end.drive();
            }
        });
    }

    fn delivered(&self) -> u64 {
        self.end.delivered
    }

    fn shown(&self) -> Shown {
        let Some(path) = self.end.connection.path_stats().next() else { return Shown::default() };
        let stats = self.end.connection.stats();
        let in_flight = stats.sent_bytes.saturating_sub(stats.acked_bytes + stats.lost_bytes);
        let mut shown = Shown::default();
        shown.window = Some(path.cwnd as f64 / self.end.datagram as f64);
        // As the window, which counts bytes: datagrams are not of full size.
        shown.in_flight = Some(in_flight / self.end.datagram as u64);
        shown.rtt = Some(Span::from_nanos(path.rtt.as_nanos() as u64));
        shown.lost = Some(path.lost as u64);
        shown
    }
}

/// The first stream of a client in one direction (RFC 9000 section 2.1).
const STREAM: u64 = 2;
/// Bytes of a full datagram that are not data: the short header with an ID of 20 bytes, the header of the stream frame, the tag.
const OVERHEAD: u64 = 60;
