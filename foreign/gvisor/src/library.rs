//! The library that Go builds from `netstack/`, and its hosts.
//!
//! The program loads it when a stack first runs, and does not link it: threads of Go's runtime start with it, and inherit the signals that are
//! blocked. Those of a linked library start before `main`, and would take the signals for which `cwnd` has a thread.

#![expect(unsafe_code, reason = "the library is of another language")]

use std::ffi::{CStr, CString, c_void};
use std::mem::transmute;
use std::ptr::null;
use std::sync::LazyLock;

use cwnd::Time;

/// A host of the library.
#[derive(Debug)]
pub(crate) struct Host {
    handle: usize,
    buffer: Vec<u8>,
}

/// What happens to a host.
pub(crate) enum Event<'a> {
    /// The application has more bytes to send.
    Submitted(u64),
    Arrived(&'a [u8]),
    /// Timers are due.
    Timeout,
}

/// The state of a host after an event: `report` in `netstack/main.go`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// When the next timer is due, nanoseconds; negative for never.
    pub(crate) next: i64,
    /// Bytes that the application has read.
    pub(crate) read: u64,
    /// The smoothed round-trip time, nanoseconds; 0 without a sample.
    pub(crate) rtt: i64,
    /// The congestion window, packets; 0 before the connection.
    pub(crate) window: u32,
    /// The slow-start threshold, packets.
    pub(crate) ssthresh: u32,
    /// Packets that leave.
    pub(crate) leaving: u32,
    /// Bytes of a message in the buffer: the connection has failed.
    failure: u32,
}

impl Host {
    /// A host that connects at `now` to that of the `server`, with packets of at most `mtu` bytes.
    pub(crate) fn open(server: bool, cubic: bool, mtu: u16, seed: u64, now: Time) -> Result<Self, String> {
        let mut buffer = vec![0; 1 << 16];
        let (now, mut size) = (now.as_nanos(), buffer.len() as u32);
        // SAFETY: the buffer has `size` bytes, and both are used during the call only.
        let handle =
            unsafe { (LIBRARY.open)(server, cubic, mtu.into(), seed, now, buffer.as_mut_ptr(), &raw mut size) };
        if handle == 0 { Err(message(&buffer, size)) } else { Ok(Self { handle, buffer }) }
    }

    pub(crate) fn call(&mut self, now: Time, event: Event<'_>) -> Result<Report, String> {
        let (packet, submitted, expire) = match event {
            Event::Submitted(bytes) => ([].as_slice(), bytes, false),
            Event::Arrived(packet) => (packet, 0, false),
            Event::Timeout => ([].as_slice(), 0, true),
        };
        let start = if packet.is_empty() { null() } else { packet.as_ptr() };
        let (now, length, size) = (now.as_nanos(), packet.len() as u32, self.buffer.len() as u32);
        let mut report = Report::default();
        // SAFETY: the handle is of an open host; the packet, the buffer and the report are used during the call only.
        unsafe {
            let buffer = self.buffer.as_mut_ptr();
            (LIBRARY.call)(self.handle, now, start, length, submitted, expire, buffer, size, &raw mut report);
        }
        if report.failure > 0 { Err(message(&self.buffer, report.failure)) } else { Ok(report) }
    }

    /// The oldest of the packets that leave.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        // SAFETY: the handle is of an open host; the buffer is used during the call only.
        let length = unsafe { (LIBRARY.take)(self.handle, self.buffer.as_mut_ptr(), self.buffer.len() as u32) };
        self.buffer[..length as usize].to_vec()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the handle is of an open host, and nothing uses it afterwards.
        unsafe { (LIBRARY.close)(self.handle) }
    }
}

fn message(buffer: &[u8], length: u32) -> String {
    String::from_utf8_lossy(&buffer[..length as usize]).into_owned()
}

/// The functions of the library, which `netstack/main.go` describes.
struct Library {
    open: Open,
    call: Call,
    take: Take,
    close: Close,
}

type Open = unsafe extern "C" fn(bool, bool, u32, u64, u64, *mut u8, *mut u32) -> usize;
type Call = unsafe extern "C" fn(usize, u64, *const u8, u32, u64, bool, *mut u8, u32, *mut Report);
type Take = unsafe extern "C" fn(usize, *mut u8, u32) -> u32;
type Close = unsafe extern "C" fn(usize);

// SAFETY: the library is the one that `build.rs` has built, and the types are those of its functions.
static LIBRARY: LazyLock<Library> = LazyLock::new(|| unsafe {
    let path = CString::new(env!("NETSTACK")).expect("a path has no zero");
    let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
    assert!(!library.is_null(), "{}: {}", env!("NETSTACK"), CStr::from_ptr(libc::dlerror()).to_string_lossy());
    let function = |name: &CStr| {
        let found = libc::dlsym(library, name.as_ptr());
        assert!(!found.is_null(), "the library has no {name:?}");
        found
    };
    Library {
        open: transmute::<*mut c_void, Open>(function(c"gvisor_open")),
        call: transmute::<*mut c_void, Call>(function(c"gvisor_call")),
        take: transmute::<*mut c_void, Take>(function(c"gvisor_take")),
        close: transmute::<*mut c_void, Close>(function(c"gvisor_close")),
    }
});
