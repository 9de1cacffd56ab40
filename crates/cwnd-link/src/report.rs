//! The report of a relay.

use std::fmt;

use cwnd::Span;
use cwnd_sim::emulate::Tally;
use cwnd_trace::Histogram;
use serde::Serialize;

/// The traffic of a relay, and its delays.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Its duration.
    pub duration_s: f64,
    /// Processor time of its threads.
    pub cpu_s: f64,
    /// The number of clients.
    pub clients: u64,
    /// Datagrams of clients beyond the limit.
    pub refused: u64,
    /// Datagrams that the kernel dropped before the relay could read them; this is not part of the emulation.
    pub overruns: u64,
    /// The direction from the clients to the target.
    pub forth: DirectionReport,
    /// The direction from the target to the clients.
    pub back: DirectionReport,
    /// The state of the direction to the target, a sample each 100 ms, if [`Plan::samples`](crate::Plan::samples) is set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// The direction to the target at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sample {
    /// Seconds since 1970, for comparison with other records.
    pub unix_s: f64,
    /// Datagrams so far: arrived at the link.
    pub offered: u64,
    /// Lost at random.
    pub lost: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Marked by it.
    pub marked: u64,
    /// Carried to the far end.
    pub carried: u64,
    /// Bytes of the carried datagrams, headers included.
    pub carried_bytes: u64,
    /// Datagrams in the queue.
    pub queue_packets: u64,
    /// Bytes of the datagrams in the queue, headers included.
    pub queue_bytes: u64,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DirectionReport {
    /// Datagrams that arrived at the link.
    pub offered: u64,
    /// Lost at random.
    pub lost: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Marked by the queue.
    pub marked: u64,
    /// Delayed so that others overtake them.
    pub held_back: u64,
    /// Delivered twice.
    pub duplicated: u64,
    /// Carried to the far end, copies not counted.
    pub carried: u64,
    /// The mean rate of these on the line, headers included.
    pub carried_bps: f64,
    /// Datagrams for which there was no memory; this is not part of the emulation.
    pub unkept: u64,
    /// Datagrams that the kernel refused to send, or whose client was removed; this is not part of the emulation.
    pub unsent: u64,
    /// The mean lateness of sent datagrams; none before the first.
    pub late_mean_s: Option<f64>,
    /// The median.
    pub late_p50_s: Option<f64>,
    /// The 99th percentile.
    pub late_p99_s: Option<f64>,
    /// The largest.
    pub late_max_s: Option<f64>,
}

/// Datagrams lost outside the emulated link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// There was no memory to store it.
    pub(crate) not_stored: u64,
    /// The kernel refused it, or its client was removed.
    pub(crate) unsent: u64,
}

impl DirectionReport {
    pub(crate) fn new(tally: &Tally, counts: Counts, lateness: &Histogram, elapsed: Span) -> Self {
        let seconds = |nanos: Option<u64>| nanos.map(|nanos| nanos as f64 * 1e-9);
        let elapsed = elapsed.as_secs_f64();
        Self {
            offered: tally.offered,
            lost: tally.lost,
            dropped: tally.dropped,
            marked: tally.marked,
            held_back: tally.held_back,
            duplicated: tally.duplicated,
            carried: tally.carried,
            carried_bps: if elapsed > 0.0 { tally.carried_bytes as f64 * 8.0 / elapsed } else { 0.0 },
            unkept: counts.not_stored,
            unsent: counts.unsent,
            late_mean_s: lateness.mean().map(|nanos| nanos * 1e-9),
            late_p50_s: seconds(lateness.quantile(0.5)),
            late_p99_s: seconds(lateness.quantile(0.99)),
            late_max_s: seconds(lateness.max()),
        }
    }
}

impl Report {
    /// Why the emulation was not exact; none if it was.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        warning([&self.forth, &self.back], self.overruns)
    }
}

/// Why a link was not exact: packets lost outside of it, `overruns` of them before they were read, or more than a millisecond of
/// lateness for one in a hundred.
pub(crate) fn warning(directions: [&DirectionReport; 2], overruns: u64) -> Option<String> {
    let sum = |of: fn(&DirectionReport) -> u64| directions.map(of).iter().sum::<u64>();
    let (unkept, unsent) = (sum(|direction| direction.unkept), sum(|direction| direction.unsent));
    if overruns + unkept + unsent > 0 {
        return Some(format!(
            "datagrams were lost outside the link: {overruns} before it could read them, {unkept} without memory, {unsent} \
             not sent"
        ));
    }
    let late = directions.iter().filter_map(|direction| direction.late_p99_s).fold(0.0, f64::max);
    (late > LATE).then(|| format!("one datagram in a hundred was more than {:.1} ms late", late * 1e3))
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { duration_s, cpu_s, clients, .. } = self;
        let who = if *clients == 1 { "1 client".to_string() } else { format!("{clients} clients") };
        writeln!(out, "{duration_s:.1} s, {who}, {:.0} % of a core", share(*cpu_s, *duration_s) * 100.0)?;
        describe(out, [&self.forth, &self.back])?;
        self.warning().map_or(Ok(()), |warning| writeln!(out, "warning: {warning}"))
    }
}

/// The share of a core that `cpu_s` are.
pub(crate) fn share(cpu_s: f64, duration_s: f64) -> f64 {
    if duration_s > 0.0 { cpu_s / duration_s } else { 0.0 }
}

/// The traffic of both directions and its delays, on separate lines.
pub(crate) fn describe(out: &mut fmt::Formatter<'_>, directions: [&DirectionReport; 2]) -> fmt::Result {
    for (name, direction) in ["forth", "back"].into_iter().zip(directions) {
        let DirectionReport { offered, lost, dropped, marked, held_back, duplicated, carried, .. } = direction;
        write!(out, "{name:5}  {offered} datagrams, {carried} carried ({:.3} Mbit/s)", direction.carried_bps / 1e6)?;
        let rest = [
            (lost, "lost"),
            (dropped, "dropped"),
            (marked, "marked"),
            (held_back, "held back"),
            (duplicated, "doubled"),
        ];
        for (count, what) in rest.into_iter().filter(|(count, _)| **count > 0) {
            write!(out, ", {count} {what}")?;
        }
        writeln!(out)?;
        let micros = |seconds: Option<f64>| seconds.map(|seconds| format!("{:.0}", seconds * 1e6));
        if let (Some(mean), Some(p50), Some(p99), Some(max)) = (
            micros(direction.late_mean_s),
            micros(direction.late_p50_s),
            micros(direction.late_p99_s),
            micros(direction.late_max_s),
        ) {
            writeln!(out, "       late by {mean} us in the mean, half {p50}, 99 % {p99}, all {max}")?;
        }
    }
    Ok(())
}

/// Smaller than the queueing delays studied on wide-area paths, and a tenth of UDT's clock.
const LATE: f64 = 1e-3;
