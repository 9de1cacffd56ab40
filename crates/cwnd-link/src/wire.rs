//! A link between two devices that carry packets.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cwnd::{Span, Time};
use cwnd_sim::emulate::Emulation;
use rustix::io::Errno;
use serde::Serialize;

use crate::clock::Clock;
use crate::direction::{Direction, Released};
use crate::relay::RelayError;
use crate::report::{self, DirectionReport, Sample};
use crate::wait::{CHECK_INTERVAL, reduce_latency, sleep, thread_cpu};

/// A link between two non-blocking devices that read or write one IP packet per call: TUN interfaces in different networks.
#[derive(Debug)]
pub struct Wire<E> {
    ends: [E; 2],
    directions: [Direction; 2],
    clock: Clock,
    spin: Span,
}

/// The traffic of a wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WireReport {
    /// How long it ran.
    pub duration_s: f64,
    /// Processor time of its threads.
    pub cpu_s: f64,
    /// The direction from the first end to the second.
    pub forth: DirectionReport,
    /// The direction from the second to the first.
    pub back: DirectionReport,
    /// The state of the direction to the second end, a sample each 100 ms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

impl WireReport {
    /// Why the emulation was not exact; none if it was.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        report::warning([&self.forth, &self.back], 0)
    }
}

impl fmt::Display for WireReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { duration_s, cpu_s, .. } = self;
        writeln!(out, "{duration_s:.1} s, {:.0} % of a core", report::share(*cpu_s, *duration_s) * 100.0)?;
        report::describe(out, [&self.forth, &self.back])?;
        self.warning().map_or(Ok(()), |warning| writeln!(out, "warning: {warning}"))
    }
}

impl<E: AsFd> Wire<E> {
    /// Between two ends, with a link from the first to the second and one back. `spin` is as in
    /// [`Plan`](crate::Plan::spin).
    ///
    /// # Errors
    /// [`RelayError::Emulation`] if a link is configured wrongly.
    pub fn new(ends: [E; 2], forth: &Emulation, back: &Emulation, seed: u64, spin: Span) -> Result<Self, RelayError> {
        // The device reads packets with their IP header.
        let directions = Direction::both([forth, back], seed, 0)?;
        Ok(Self { ends, directions, clock: Clock::start(), spin })
    }

    /// Carries packets until `stop` is set, which is checked ten times a second. Each direction has a thread of its own.
    ///
    /// # Errors
    /// [`RelayError::Receive`] if reading from a device or waiting for one fails.
    pub fn run(self, stop: &AtomicBool) -> Result<WireReport, RelayError>
    where
        E: Sync,
    {
        let Self { ends: [first, second], directions: [mut forth, mut back], clock, spin } = self;
        let ended = AtomicBool::new(false);
        let is_over = || stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed);
        let carry = |from: &E, to: &E, direction: &mut Direction| {
            let result = carry(from, to, direction, (clock, spin), &is_over);
            ended.store(true, Ordering::Relaxed);
            result
        };
        let ends = thread::scope(|scope| {
            let returning = scope.spawn(|| carry(&second, &first, &mut back));
            let there = carry(&first, &second, &mut forth);
            [there, returning.join().expect("a direction does not panic")]
        });
        let [forth_end, back_end] = ends;
        let ((forth_cpu_s, samples), (back_cpu_s, _)) = (forth_end?, back_end?);
        let elapsed = clock.now().since(Time::ZERO);
        let (forth, back) = (forth.report(elapsed), back.report(elapsed));
        Ok(WireReport { duration_s: elapsed.as_secs_f64(), cpu_s: forth_cpu_s + back_cpu_s, forth, back, samples })
    }
}

/// Carries packets in one direction; the processor time of this thread in seconds, and the samples.
fn carry<E: AsFd>(
    from: &E,
    to: &E,
    link: &mut Direction,
    (clock, spin): (Clock, Span),
    is_over: &dyn Fn() -> bool,
) -> io::Result<(f64, Vec<Sample>)> {
    reduce_latency();
    let cpu_before = thread_cpu();
    let mut buffer = vec![0; LARGEST];
    let mut send = |packet: Released<'_>| rustix::io::write(to, packet.bytes).is_ok();
    let (mut check, mut readable, mut samples) = (Time::ZERO, true, Vec::new());
    loop {
        for _ in 0..if readable { BATCH } else { 0 } {
            match rustix::io::read(from, &mut *buffer) {
                Ok(length) => link.offer(clock.now(), 0, None, &buffer[..length]),
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error.into()),
            }
            link.release(clock, &mut send);
        }
        link.release(clock, &mut send);
        let now = clock.now();
        if now >= check {
            if is_over() {
                return Ok((thread_cpu() - cpu_before, samples));
            }
            samples.push(link.sample(now, Clock::time_of_day().as_secs_f64()));
            check = now + CHECK_INTERVAL;
        }
        let due = link.next_due().unwrap_or(Time::MAX).min(check);
        readable = sleep(due.since(clock.now()), spin, std::iter::once(from.as_fd()))?;
    }
}

/// The largest IP packet.
const LARGEST: usize = 65_535;

/// Packets read before the clock is looked at.
const BATCH: usize = 32;

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::sync::Arc;
    use std::time::Duration;

    use cwnd_sim::QueueLimit;

    use super::*;

    #[test]
    fn packets_cross_in_both_directions_with_the_delay_of_the_link() {
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
        let stop_flag = Arc::clone(&stop);
        let running = std::thread::spawn(move || wire.run(&stop_flag));
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
