//! A connection as its application and the thread of its port share it.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use cwnd_udt::Handle;
use cwnd_udt::connection::MessageOptions;

use crate::error::Ended;
use crate::receive_buffer::ReceiveBuffer;
use crate::send_buffer::SendBuffer;
use crate::wait::{Notify, Wait, lock};

/// Both directions of a connection. The thread of the port fills and drains the buffers; the application waits for them.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) handle: Handle,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) send: SendBuffer<MessageOptions>,
    pub(crate) receive: ReceiveBuffer,
    /// The number of read packets that are reported to the protocol at once.
    pub(crate) report_threshold: AtomicU64,
    /// The thread has been notified of a read or a write, and has not yet looked at the buffers.
    pub(crate) notified: AtomicBool,
    ended: Mutex<Option<Ended>>,
    end: Notify,
}

impl Connection {
    /// A connection whose send buffer holds `capacity` packets of `payload` bytes.
    pub(crate) fn new(
        handle: Handle,
        local: SocketAddr,
        peer: SocketAddr,
        capacity: u64,
        payload: usize,
        report_threshold: u64,
    ) -> Self {
        Self {
            handle,
            local,
            peer,
            send: SendBuffer::new(capacity, payload),
            receive: ReceiveBuffer::new(),
            report_threshold: AtomicU64::new(report_threshold),
            notified: AtomicBool::new(false),
            ended: Mutex::default(),
            end: Notify::default(),
        }
    }

    /// Ends both directions; the first reason given stays.
    pub(crate) fn end(&self, why: Ended) {
        self.send.end(why);
        self.receive.end(why);
        lock(&self.ended).get_or_insert(why);
        self.end.notify();
    }

    /// Why it has ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        *lock(&self.ended)
    }

    /// Waits for the end; none if it has not ended in time.
    pub(crate) fn wait_for_end(&self, wait: Wait<'_>) -> Option<Ended> {
        let mut ended = lock(&self.ended);
        while ended.is_none() {
            ended = self.end.wait(ended, wait)?;
        }
        *ended
    }
}
