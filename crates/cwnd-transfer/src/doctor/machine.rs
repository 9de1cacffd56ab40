//! Processor, timers, clock, descriptors and disk.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::diagnosis::Finding;
use cwnd_net::{UdtListener, UdtStream};
use cwnd_text::counted;
use nix::sys::resource::{Resource, getrlimit};

use super::{PACKET, PathTarget, fix, rate, verdict};
use crate::clock::{Stopwatch, timed};
use crate::failure::Failure;
use crate::usage::Usage;

pub(super) fn check(target: &PathTarget, directory: &Path) -> Vec<Finding> {
    let processor = processor(target.rate).unwrap_or_else(|why| Finding::unknown("processor", why.to_string()));
    let disk = disk(target.rate, directory)
        .unwrap_or_else(|error| Finding::unknown("disk", format!("{}: {error}", directory.display())));
    vec![processor, timer(target.rate), clock(target.rate), descriptors(), disk]
}

/// A short transfer within this process, over the loopback; `wanted` is in bit/s here and below.
fn processor(wanted: f64) -> Result<Finding, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Run(error.to_string());
    let listener: UdtListener = UdtListener::bind((Ipv4Addr::LOCALHOST, 0).into()).map_err(|error| failed(&error))?;
    let address = listener.local_addr();
    let (clock, before) = (Stopwatch::start(), Usage::so_far());
    let sending = thread::spawn(move || -> io::Result<()> {
        let mut stream = UdtStream::connect(address).map_err(io::Error::other)?;
        let block = vec![0; 1 << 20];
        while clock.elapsed() < TRIAL {
            stream.write_all(&block)?;
        }
        stream.close().map_err(io::Error::other)
    });
    listener.set_timeout(Some(TIMEOUT));
    let (mut stream, _) = listener.accept().map_err(|error| failed(&error))?;
    stream.set_read_timeout(Some(TIMEOUT));
    let (mut block, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        match stream.read(&mut block).map_err(|error| failed(&error))? {
            0 => break,
            taken => bytes += taken,
        }
    }
    let (elapsed, used) = (clock.elapsed().as_secs_f64(), (Usage::so_far() - before).total_s());
    sending.join().map_err(|_| failed(&"the sender is gone"))?.map_err(|error| failed(&error))?;
    let bits_per_second = bytes as f64 * 8.0 / elapsed;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let limits = bits_per_second < wanted;
    let governors = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").unwrap_or_default();
    let saves = limits && !["", "performance"].contains(&governors.trim());
    Ok(Finding {
        measured: format!(
            "{} over the loopback, {:.2} s of processor time per GB at both ends together, {}",
            rate(bits_per_second),
            used / (bytes as f64 * 1e-9),
            counted(cores, "core")
        ),
        value: Some(bits_per_second),
        unit: "bit/s",
        verdict: verdict(limits),
        means: "about what one connection can carry, both ends sharing this host".to_owned(),
        fix: fix(saves, "cpupower frequency-set -g performance".to_owned()),
        ..Finding::unknown("processor", "")
    })
}

/// How late sleeps end.
fn timer(wanted: f64) -> Finding {
    let mut late: Vec<Duration> = (0..SLEEPS).map(|_| timed(|| thread::sleep(SLEEP)).1.saturating_sub(SLEEP)).collect();
    late.sort();
    let (median, worst) = (late[SLEEPS / 2], late[SLEEPS * 99 / 100]);
    let limits = worst > AHEAD;
    let packets = worst.as_secs_f64() * wanted / (f64::from(PACKET) * 8.0);
    Finding {
        measured: format!(
            "half of the sleeps of 50 us end {} us late or less, 99 % {} us",
            median.as_micros(),
            worst.as_micros()
        ),
        value: Some(worst.as_secs_f64()),
        unit: "s",
        verdict: verdict(limits),
        means: format!(
            "up to {packets:.0} packets leave at once at {}; other programs are the usual reason",
            rate(wanted)
        ),
        fix: fix(limits, "renice -n -10 -p $(pgrep -x udt)".to_owned()),
        ..Finding::unknown("timer", "")
    }
}

/// How long it takes to read the clock.
fn clock(wanted: f64) -> Finding {
    let directory = Path::new("/sys/devices/system/clocksource/clocksource0");
    let read = |name| fs::read_to_string(directory.join(name)).unwrap_or_default().trim().to_owned();
    let (source, others) = (read("current_clocksource"), read("available_clocksource"));
    let (_, took) = timed(|| (0..CLOCK_READS).for_each(|_| _ = std::hint::black_box(Stopwatch::start())));
    let each = took.as_secs_f64() / f64::from(CLOCK_READS);
    let limits = each > EXPENSIVE;
    let better = limits && source != "tsc" && others.split_whitespace().any(|other| other == "tsc");
    let named = if source.is_empty() { String::new() } else { format!(" ({source})") };
    Finding {
        measured: format!("{:.0} ns for each look at the clock{named}", each * 1e9),
        value: Some(each),
        unit: "s",
        verdict: verdict(limits),
        means: format!(
            "{:.1} % of a core for ten looks a packet at {}",
            each * 10.0 * wanted / (f64::from(PACKET) * 8.0) * 100.0,
            rate(wanted)
        ),
        fix: fix(better, format!("echo tsc > {}", directory.join("current_clocksource").display())),
        ..Finding::unknown("clock", "")
    }
}

/// Sockets and files that a program may have open.
fn descriptors() -> Finding {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Finding::unknown("descriptors", "the system does not report it");
    };
    let limits = soft < NEEDED;
    Finding {
        measured: format!("{soft} files and sockets in a program"),
        value: Some(soft as f64),
        verdict: verdict(limits),
        means: format!("a server with 64 clients has some {NEEDED} open"),
        fix: fix(limits, format!("ulimit -n {}", hard.min(4096))),
        ..Finding::unknown("descriptors", "")
    }
}

/// How fast bytes are written to the disk.
fn disk(wanted: f64, directory: &Path) -> io::Result<Finding> {
    let mut file = tempfile::Builder::new().prefix(".cwnd-").tempfile_in(directory)?;
    let block = vec![0x5A; 1 << 20];
    let clock = Stopwatch::start();
    let mut bytes = 0;
    while bytes < MAX_WRITTEN && clock.elapsed() < TRIAL {
        file.write_all(&block)?;
        bytes += block.len();
    }
    file.as_file().sync_data()?;
    let bits_per_second = bytes as f64 * 8.0 / clock.elapsed().as_secs_f64();
    Ok(Finding {
        measured: format!("{} written and synced in {}", rate(bits_per_second), directory.display()),
        value: Some(bits_per_second),
        unit: "bit/s",
        verdict: verdict(bits_per_second < wanted),
        means: "files do not arrive faster for long; `--dir` takes them elsewhere".to_owned(),
        ..Finding::unknown("disk", "")
    })
}

/// Long enough for slow start, which is soon over on the loopback.
const TRIAL: Duration = Duration::from_secs(1);

/// On the loopback nothing takes longer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two packets at 240 Mbit/s.
const SLEEP: Duration = Duration::from_micros(50);
const SLEEPS: usize = 200;

/// A sender lets packets leave this much early: a timer that is later than this shows on the path.
const AHEAD: Duration = Duration::from_millis(1);

const CLOCK_READS: u32 = 100_000;

/// Seconds to read the clock. Without a system call it takes a tenth of that.
const EXPENSIVE: f64 = 500e-9;

/// Descriptors: two per client, and a few for the process.
const NEEDED: u64 = 200;

/// Bytes: more than the caches of most disks; at 1 Gbit/s writing them takes half a second.
const MAX_WRITTEN: usize = 64 << 20;
