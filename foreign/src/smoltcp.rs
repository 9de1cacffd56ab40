//! smoltcp: both ends are whole interfaces with one TCP socket each, over IPv4.

use std::collections::VecDeque;

use cwnd::{Bytes, Spec, Time};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

/// smoltcp's stacks; `name` is the part of their names before the colon.
pub(crate) fn stacks(name: &str) -> Vec<Spec> {
    let stack = |(controller, control)| StackSpec::new(&format!("{name}:{controller}"), Smoltcp(control)).into_spec();
    [("cubic", CongestionControl::Cubic), ("reno", CongestionControl::Reno)].into_iter().map(stack).collect()
}

#[derive(Debug)]
struct Smoltcp(CongestionControl);

/// One end: an interface with its wire.
struct End {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    wire: Wire,
    /// Bytes submitted and not yet written to the socket, and written.
    left: u64,
    written: u64,
    delivered: u64,
}

/// The device of an interface: arrived packets, and packets to send.
struct Wire {
    mtu: usize,
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

impl Stack for Smoltcp {
    /// Its datagrams are whole IP packets.
    fn headers(&self) -> Bytes {
        Bytes(0)
    }

    fn connect(&self, connection: &Connection) -> Pair {
        let mut sender = End::new(connection, 1, self.0);
        let mut receiver = End::new(connection, 2, self.0);
        receiver.socket().listen(PORT).expect("the port is not 0");
        let End { interface, sockets, socket, .. } = &mut sender;
        let socket = sockets.get_mut::<Socket>(*socket);
        socket.connect(interface.context(), (address(2), PORT), PORT).expect("the socket is new");
        Pair { sender: Box::new(sender), receiver: Box::new(receiver) }
    }
}

impl End {
    fn new(connection: &Connection, host: u8, control: CongestionControl) -> Self {
        let mut wire = Wire { mtu: connection.datagram.into(), arrived: VecDeque::new(), leaving: VecDeque::new() };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = connection.seed ^ u64::from(host);
        let mut interface = Interface::new(config, &mut wire, instant(connection.start));
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(address(host), 24)).expect("an interface has room for one address");
        });
        let buffer = || SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(control);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Self { interface, sockets, socket, wire, left: 0, written: 0, delivered: 0 }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Lets the interface and the application work in turn. What one does, the other answers; twice is enough.
    fn drive(&mut self, now: Time) {
        for _ in 0..2 {
            self.interface.poll(instant(now), &mut self.wire, &mut self.sockets);
            let socket = self.sockets.get_mut::<Socket>(self.socket);
            assert!(socket.state() != State::Closed, "the connection was closed");
            while socket.can_recv() {
                let read = socket.recv(|data| (data.len(), data.len())).expect("it can receive");
                self.delivered += read as u64;
            }
            while self.left > 0 && socket.can_send() {
                let left = usize::try_from(self.left).unwrap_or(usize::MAX);
                let sent = socket.send(|room| (room.len().min(left), room.len().min(left))).expect("it can send");
                self.left -= sent as u64;
                self.written += sent as u64;
            }
        }
        self.interface.poll(instant(now), &mut self.wire, &mut self.sockets);
    }
}

impl Endpoint for End {
    fn submit(&mut self, now: Time, bytes: u64) {
        self.left += bytes;
        self.drive(now);
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        self.wire.arrived.push_back(datagram.to_vec());
        self.drive(now);
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        buffer.extend(self.wire.leaving.pop_front()?);
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, now: Time) -> Option<Time> {
        let due = self.interface.poll_at(instant(now), &self.sockets)?;
        Some(Time::from_nanos(u64::try_from(due.total_micros()).unwrap_or(0) * 1000))
    }

    fn handle_timeout(&mut self, now: Time) {
        self.drive(now);
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.written - self.sockets.get::<Socket>(self.socket).send_queue() as u64)
    }

    /// It shows nothing of its congestion controller.
    fn shown(&self) -> Shown {
        Shown::default()
    }
}

impl Device for Wire {
    type RxToken<'a> = RxToken;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _timestamp: Instant) -> Option<(RxToken, TxToken<'_>)> {
        Some((RxToken(self.arrived.pop_front()?), TxToken(&mut self.leaving)))
    }

    fn transmit(&mut self, _timestamp: Instant) -> Option<TxToken<'_>> {
        Some(TxToken(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, self.mtu);
        capabilities
    }
}

struct RxToken(Vec<u8>);

impl smoltcp::phy::RxToken for RxToken {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

struct TxToken<'a>(&'a mut VecDeque<Vec<u8>>);

impl smoltcp::phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}

fn address(host: u8) -> IpAddress {
    IpAddress::v4(10, 0, 0, host)
}

/// smoltcp counts microseconds.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.as_nanos() / 1000) as i64)
}

const PORT: u16 = 4433;
/// Bytes that either end buffers: the window of 1 Gbit/s over 32 ms.
const BUFFER: usize = 4 << 20;
