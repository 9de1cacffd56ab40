//! How the connections of a bundle find each other at the server.
//!
//! A client begins each with a request to join: [`MAGIC`], the id of the bundle (16 random bytes), the index of the connection and the
//! number of connections. The server answers each with a byte: 0 if it will be joined, or the maximum number of connections if those are
//! too many. A connection that does not begin like this stays single.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::{MAX_STREAMS, UdtBundle};
use crate::clock::Deadline;
use crate::error::{BindError, ConnectError};
use crate::options::Options;
use crate::stream::UdtStream;
use crate::wait::{Notify, Wait, lock};

/// Connects as many times, and has the server join them.
pub(super) fn connect(peer: &[SocketAddr], options: &Options, streams: u8) -> Result<Vec<UdtStream>, ConnectError> {
    let mut id = [0; ID];
    getrandom::fill(&mut id).map_err(|error| BindError::Entropy(io::Error::other(error)))?;
    let connected: Vec<_> = thread::scope(|scope| {
        let one = |index| move || connect_one(peer, options, Request { id, index, count: streams });
        let threads: Vec<_> = (0..streams).map(|index| scope.spawn(one(index))).collect();
        threads.into_iter().map(|thread| thread.join().expect("connecting does not panic")).collect()
    });
    if connected.iter().any(Result::is_err) {
        let (there, failed): (Vec<_>, Vec<_>) = connected.into_iter().partition(Result::is_ok);
        there.into_iter().flatten().for_each(UdtStream::abort);
        return failed.into_iter().collect();
    }
    connected.into_iter().collect()
}

fn connect_one(peer: &[SocketAddr], options: &Options, request: Request) -> Result<UdtStream, ConnectError> {
    let mut stream = UdtStream::connect_with(peer, options)?;
    stream.set_read_timeout(Some(JOIN_TIMEOUT));
    let mut answer = [JOINED];
    let answered = stream.write_all(&request.bytes()).and_then(|()| stream.read_exact(&mut answer));
    let result = match (answered, answer[0]) {
        (Ok(()), JOINED) => return Ok(stream),
        (Ok(()), most) if most < request.count => ConnectError::Streams { most },
        (Ok(()), _) => ConnectError::Join(io::Error::new(io::ErrorKind::InvalidData, "an answer that none is")),
        (Err(error), _) => ConnectError::Join(error),
    };
    stream.abort();
    Err(result)
}

/// The request of a client on each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) id: [u8; ID],
    pub(super) index: u8,
    pub(super) count: u8,
}

impl Request {
    pub(super) fn bytes(self) -> Vec<u8> {
        [MAGIC.as_slice(), &self.id, &[self.index, self.count]].concat()
    }
}

/// Collects the connections of clients into bundles, at a server. `T` is what the server keeps of each connection.
///
/// The memory of waiting connections is bounded by the number of connections of the server: each is in one bundle, and a bundle that is not
/// complete after ten seconds is given up.
#[derive(Debug)]
pub struct Bundles<T> {
    most: u8,
    pub(super) pending: Mutex<BTreeMap<[u8; ID], Pending<T>>>,
    /// A bundle is complete.
    complete: Notify,
}

#[derive(Debug)]
pub(super) struct Pending<T> {
    from: IpAddr,
    /// By index.
    members: Vec<Option<(UdtStream, T)>>,
}

impl<T> Bundles<T> {
    /// Bundles of up to `most` connections each.
    ///
    /// # Panics
    /// If `most` is not 1 to [`MAX_STREAMS`].
    #[must_use]
    pub fn new(most: u8) -> Self {
        assert!((1..=MAX_STREAMS).contains(&most), "a bundle has 1 to {MAX_STREAMS} connections");
        Self { most, pending: Mutex::default(), complete: Notify::default() }
    }

    /// Waits for the first bytes of a connection, and for the others of its bundle if it belongs to one. It is called in a thread per
    /// connection. The call for one connection of a bundle returns the bundle with the values of all its connections; the calls for the
    /// others return `None`.
    ///
    /// # Errors
    /// Reading failed or timed out, the others did not arrive within ten seconds, the client asked for more than are allowed, or a request
    /// does not fit those before. The connection is aborted then.
    pub fn join(&self, mut stream: UdtStream, value: T) -> io::Result<Option<(UdtBundle, Vec<T>)>> {
        match self.join_or_fail(&mut stream, value) {
            Ok(joined) => Ok(joined),
            Err(error) => {
                stream.abort();
                Err(error)
            }
        }
    }

    /// Connections that wait for the others of their bundles.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.pending).values().map(|bundle| bundle.members.iter().flatten().count()).sum()
    }

    fn join_or_fail(&self, stream: &mut UdtStream, value: T) -> io::Result<Option<(UdtBundle, Vec<T>)>> {
        let request = match read_request(stream)? {
            Ok(request) => request,
            Err(unread) => return Ok(Some((UdtBundle::single(stream.clone(), unread), vec![value]))),
        };
        if request.count > self.most {
            stream.write_all(&[self.most])?;
            // Aborting would take the answer back.
            let _closed = stream.clone().close();
            return Err(invalid("it asks for more connections than are allowed"));
        }
        if request.count < 2 || request.index >= request.count {
            return Err(invalid("its request to join connections is not one"));
        }
        stream.write_all(&[JOINED])?;
        let Some(members) = self.wait_for_others(stream, value, request)? else { return Ok(None) };
        let (streams, values) = members.into_iter().unzip();
        Ok(Some((UdtBundle::several(streams)?, values)))
    }

    /// Adds a connection to its bundle. The first of a bundle waits for the others and returns all.
    fn wait_for_others(
        &self,
        stream: &UdtStream,
        value: T,
        Request { id, index, count }: Request,
    ) -> io::Result<Option<Vec<(UdtStream, T)>>> {
        let from = stream.peer_addr().ip();
        let mut pending = lock(&self.pending);
        let is_first = !pending.contains_key(&id);
        let bundle = pending.entry(id).or_insert_with(|| Pending { from, members: (0..count).map(|_| None).collect() });
        if bundle.members.len() != usize::from(count) || bundle.from != from {
            return Err(invalid("its request differs from that of the others"));
        }
        let place = &mut bundle.members[usize::from(index)];
        if place.is_some() {
            return Err(invalid("another connection has its place"));
        }
        *place = Some((stream.clone(), value));
        if !is_first {
            drop(pending);
            self.complete.notify();
            return Ok(None);
        }
        let deadline = Deadline::after(Some(JOIN_TIMEOUT));
        while pending.get(&id).is_some_and(|bundle| bundle.members.iter().any(Option::is_none)) {
            pending = match self.complete.wait(pending, Wait::Until(deadline)) {
                Some(pending) => pending,
                None => {
                    let given_up = lock(&self.pending).remove(&id);
                    let streams = given_up.into_iter().flat_map(|bundle| bundle.members).flatten();
                    streams.for_each(|(stream, _)| stream.abort());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "its other connections did not come"));
                }
            };
        }
        let bundle = pending.remove(&id);
        Ok(bundle.map(|bundle| bundle.members.into_iter().flatten().collect()))
    }
}

/// Reads a request to join; returns the bytes read if they are none.
fn read_request(from: &mut UdtStream) -> io::Result<Result<Request, Vec<u8>>> {
    let mut bytes = [0; REQUEST];
    let mut read = 0;
    while read < REQUEST {
        let size = from.read(&mut bytes[read..])?;
        read += size;
        let known = read.min(MAGIC.len());
        if size == 0 || bytes[..known] != MAGIC[..known] {
            return Ok(Err(bytes[..read].to_vec()));
        }
    }
    let id = bytes[MAGIC.len()..][..ID].try_into().expect("it has as many bytes");
    Ok(Ok(Request { id, index: bytes[REQUEST - 2], count: bytes[REQUEST - 1] }))
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// No other protocol on these connections begins so; the last byte is a version.
pub(super) const MAGIC: &[u8; 8] = b"cwndjn\0\x01";
pub(super) const ID: usize = 16;
const REQUEST: usize = MAGIC.len() + ID + 2;

const JOINED: u8 = 0;

/// How long connections of a bundle wait for each other.
const JOIN_TIMEOUT: Duration = if cfg!(test) { Duration::from_secs(4) } else { Duration::from_secs(10) };
