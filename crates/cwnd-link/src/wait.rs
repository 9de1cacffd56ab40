//! The waits of the threads of a link: in the kernel until shortly before the next departure, then watching the clock.

use std::io;
use std::os::fd::BorrowedFd;

use cwnd::Span;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::setpriority_process;
use rustix::time::{ClockId, clock_gettime};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Makes the sleeps of this thread as exact as the system allows, and lets it run as soon as they end.
pub(crate) fn reduce_latency() {
    // By default Linux extends sleeps by 50 µs. If that cannot be changed the report shows how late packets were.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    // Only privileged users may raise the priority. An ordinary thread, however nice, waits for milliseconds on a host whose
    // processors are all busy; one of the real-time class does not.
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriorityValue::try_from(REAL_TIME_PRIORITY).map(ThreadPriority::Crossplatform);
    let set = priority.map(|priority| set_thread_priority_and_policy(thread_native_id(), priority, policy));
    if !matches!(set, Ok(Ok(()))) {
        let _ = setpriority_process(None, NICE);
    }
}

/// Sleeps until one of the `sources` is readable, at most for `left` less `spin`; whether one may be readable.
pub(crate) fn sleep<'a>(left: Span, spin: Span, sources: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<bool> {
    if left <= spin {
        return Ok(true);
    }
    let nanos = left.as_nanos() - spin.as_nanos();
    let timeout = Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanos % 1_000_000_000) as _,
    };
    let mut sources: Vec<PollFd<'_>> = sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
    match poll(&mut sources, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Processor time of this thread, seconds.
pub(crate) fn thread_cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The interval between checks of idle clients and the stop flag.
pub(crate) const CHECK_INTERVAL: Span = Span::from_millis(100);

/// A position in the range of the system, in percent: before everything ordinary, behind the threads of interrupts.
const REAL_TIME_PRIORITY: u8 = 10;

/// A nice value, on Linux of the thread: before ordinary threads, after those of the kernel.
const NICE: i32 = -15;
