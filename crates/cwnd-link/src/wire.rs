//! A link between two devices that carry packets.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use cwnd::{Span, Time};
use cwnd_sim::emulate::Emulation;
use rustix::io::Errno;

use crate::clock::Clock;
use crate::relay::{LOOK, RelayError, be_punctual, sleep, thread_cpu};
use crate::report::WayReport;
use crate::way::Way;

/// A link between two devices of which one call reads or writes one IP packet, and which never block: TUN interfaces, each in a
/// network of its own.
#[derive(Debug)]
pub struct Wire<E> {
    ends: [E; 2],
    ways: [Way; 2],
    clock: Clock,
    spin: Span,
}

/// What has come through a wire.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireReport {
    /// How long it ran.
    pub duration_s: f64,
    /// Processor time of its thread.
    pub cpu_s: f64,
    /// From the first end to the second.
    pub forth: WayReport,
    /// From the second to the first.
    pub back: WayReport,
}

impl<E: AsFd> Wire<E> {
    /// Between two ends, with a link from the first to the second and one back. Equal seeds are equal draws; `spin` is as in
    /// [`Plan`](crate::Plan::spin).
    ///
    /// # Errors
    /// The links contradict themselves.
    pub fn new(ends: [E; 2], forth: &Emulation, back: &Emulation, seed: u64, spin: Span) -> Result<Self, RelayError> {
        // A packet is what the device has, IP header included.
        let ways = [Way::new("forth", forth, seed, 0)?, Way::new("back", back, seed, 0)?];
        Ok(Self { ends, ways, clock: Clock::start(), spin })
    }

    /// Carries packets until `stop` is set, looked at ten times a second.
    ///
    /// # Errors
    /// A device cannot be read any more.
    pub fn run(mut self, stop: &AtomicBool) -> Result<WireReport, RelayError> {
        be_punctual();
        let cpu_before = thread_cpu();
        let mut buffer = vec![0; LARGEST];
        let (mut look, mut readable) = (Time::ZERO, true);
        loop {
            if readable {
                self.receive(&mut buffer)?;
            }
            let Self { ends: [first, second], ways: [forth, back], clock, .. } = &mut self;
            forth.release(*clock, &mut |packet| rustix::io::write(&*second, packet.bytes).is_ok());
            back.release(*clock, &mut |packet| rustix::io::write(&*first, packet.bytes).is_ok());
            let now = self.clock.now();
            if now >= look {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                look = now + LOOK;
            }
            let due = self.ways.iter().filter_map(Way::next_due).fold(look, Time::min);
            readable = sleep(due.since(self.clock.now()), self.spin, self.ends.iter())?;
        }
        let elapsed = self.clock.now().since(Time::ZERO);
        let [forth, back] = self.ways.map(|way| way.report(elapsed));
        Ok(WireReport { duration_s: elapsed.as_secs_f64(), cpu_s: thread_cpu() - cpu_before, forth, back })
    }

    /// Takes in what has come, a batch from each end.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        for (end, way) in self.ends.iter().zip(&mut self.ways) {
            for _ in 0..BATCH {
                match rustix::io::read(end, &mut *buffer) {
                    Ok(length) => way.offer(self.clock.now(), 0, None, &buffer[..length]),
                    Err(Errno::AGAIN | Errno::INTR) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}

/// The largest IP packet.
const LARGEST: usize = 65_535;

/// Packets of one end that may go before those of the other, and before what is due.
const BATCH: usize = 32;

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::sync::Arc;
    use std::time::Duration;

    use cwnd_sim::QueueLimit;

    use super::*;

    #[test]
    fn packets_cross_both_ways_and_take_their_time() {
        // A pair of datagram sockets reads and writes whole packets, as a device does.
        let ends = || UnixDatagram::pair().expect("two sockets");
        let ((here, left), (there, right)) = (ends(), ends());
        for end in [&left, &right] {
            end.set_nonblocking(true).expect("an option of every socket");
        }
        for end in [&here, &there] {
            end.set_read_timeout(Some(Duration::from_secs(10))).expect("an option of every socket");
        }
        // 1000 bytes take 8 ms on the line, and 5 ms more to the far end.
        let link = Emulation::new(Some(1_000_000), Span::from_millis(5), QueueLimit::Packets(10));
        let wire = Wire::new([left, right], &link, &link, 1, Span::ZERO).expect("a link that can be");
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let running = std::thread::spawn(move || wire.run(&told));
        let clock = Clock::start();
        let mut buffer = [0; 2000];
        for (from, to) in [(&here, &there), (&there, &here)] {
            from.send(&[7; 1000]).expect("there is room");
            assert_eq!(to.recv(&mut buffer).expect("it arrives"), 1000);
            assert!(buffer[..1000].iter().all(|byte| *byte == 7));
        }
        assert!(clock.now() >= Time::ZERO + Span::from_millis(26));
        stop.store(true, Ordering::Relaxed);
        let report = running.join().expect("it does not panic").expect("it can read");
        assert_eq!((report.forth.carried, report.back.carried), (1, 1));
    }
}
