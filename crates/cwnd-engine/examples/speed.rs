//! The engine of the laboratory's page, compiled for this machine: the processor time of a run, for comparison with the module that browsers run.
//!
//! ```console
//! $ cargo run --release -p cwnd-engine --example speed -- ADDRESS...
//! ```
//!
//! `cwnd link-to` prints an ADDRESS. Each gives a line: the digest of the first seed, and the milliseconds of ten runs of it after three that warm up.
//! tests/browser/speed.mjs reads these lines.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cwnd_engine::{Begun, Frame, Host, Limits, Prepared, read_address};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// Encodes each frame, as a page would get it, and keeps the document and the digest.
struct Page {
    start: Instant,
    document: Mutex<Value>,
    digest: Mutex<String>,
}

impl Host for Page {
    fn send(&self, frame: &Frame) {
        std::hint::black_box(frame.encode());
        let header = &frame.header;
        match header["kind"].as_str() {
            Some("document") => put(&self.document, header["document"].clone()),
            Some("curves") if header["whole"] == true => {
                put(&self.digest, header["digest"].as_str().unwrap_or_default().to_owned());
            }
            Some("error") => panic!("{}", header["message"]),
            _ => {}
        }
    }

    fn wanted(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn limits(&self) -> Limits {
        // Those of a worker of a page.
        let memory = 1 << 30;
        Limits {
            threads: NonZeroUsize::MIN,
            memory,
            clocked_memory: memory,
            time: Duration::from_secs(60),
            more_memory: "",
        }
    }
}

/// Processor time of this process.
fn used() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

fn put<T>(place: &Mutex<T>, value: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

#[expect(clippy::disallowed_methods, reason = "a host lends the engine a clock")]
fn main() {
    let addresses = std::env::args().skip(1);
    for address in addresses {
        let page = Page { start: Instant::now(), document: Mutex::default(), digest: Mutex::default() };
        page.send(&read_address(0, &address));
        let mut document = page.document.lock().unwrap_or_else(PoisonError::into_inner).clone();
        document["seeds"] = 1.into();
        let mut times = Vec::new();
        for id in 1..=13 {
            let before = used();
            let mut begun =
                Begun::new(&page, id, Prepared::of(&document, false).unwrap_or_else(|error| panic!("{error}")));
            assert!(begun.first(&page));
            begun.rest(&page);
            times.push(format!("{:.3}", (used() - before).as_secs_f64() * 1e3));
        }
        println!("{} {}", page.digest.lock().unwrap_or_else(PoisonError::into_inner), times[3..].join(" "));
    }
}
