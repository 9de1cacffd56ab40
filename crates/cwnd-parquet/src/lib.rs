//! Traces as tables of Arrow, in memory or as Parquet files.
//!
//! Flows and links have a table each, and so have their samples: a row per seed, flow or link, and sampled instant. Every column has
//! its `unit` and its `description` in the metadata of its field (Arrow's schema, which Parquet files carry along), and every file
//! has in its own metadata that it was simulated, the program, and the command that repeats the run. Names and units are those of the CSV files.
//!
//! [`Table`] writes any other columns in the same way.
//!
//! A crate of its own because Arrow is larger than all other dependencies together.

mod column;
mod table;

use std::io::Write;

use cwnd_trace::{FlowTrace, LinkTrace, Trace};
pub use parquet::errors::ParquetError;

pub use table::Table;

/// The description that a file carries.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// A short title of the run.
    pub title: &'a str,
    /// The program with its version.
    pub program: &'a str,
    /// The command that repeats the runs.
    pub command: &'a str,
}

/// The tables of a set of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// The flows and their parameters: a row per seed and flow.
    Flows,
    /// The samples of flows: a row per seed, flow and sampled instant.
    FlowSamples,
    /// The links and their parameters: a row per seed and link.
    Links,
    /// The samples of links: a row per seed, link and sampled instant.
    LinkSamples,
}

impl Tables {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Flows, Self::FlowSamples, Self::Links, Self::LinkSamples];

    /// The name of its file, without an ending.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::FlowSamples => "flow_samples",
            Self::Links => "links",
            Self::LinkSamples => "link_samples",
        }
    }

    /// Writes the table of `runs`, each with its seed.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write(self, out: impl Write + Send, runs: &[(u64, &Trace)], about: &About<'_>) -> Result<(), ParquetError> {
        self.of(runs).write(out, about)
    }

    /// The table of `runs`, each with its seed. More columns can be added, with a value per row.
    #[must_use]
    pub fn of(self, runs: &[(u64, &Trace)]) -> Table {
        match self {
            Self::Flows => flows(runs),
            Self::FlowSamples => flow_samples(runs),
            Self::Links => links(runs),
            Self::LinkSamples => link_samples(runs),
        }
    }
}

/// A flow or a link of a run, with the seed of the run.
type Item<'a, T> = (u64, &'a Trace, &'a T);
/// An item and the index of a sampled instant.
type Sample<'a, T> = (u64, &'a Trace, &'a T, usize);

fn flows(runs: &[(u64, &Trace)]) -> Table {
    let rows: Vec<Item<'_, FlowTrace>> =
        runs.iter().flat_map(|(seed, trace)| trace.flows.iter().map(move |flow| (*seed, *trace, flow))).collect();
    let mut table = Table::default();
    table.whole("seed", "", "the seed of the run", rows.iter().map(|row| row.0));
    table.text("flow", "its name in the scenario", rows.iter().map(|row| row.2.name.as_str()));
    table.text("algorithm", "as written", rows.iter().map(|row| row.2.algorithm.as_str()));
    table.whole("packet_bytes", "byte", "a packet on the wire", rows.iter().map(|row| u64::from(row.2.packet)));
    table.whole(
        "payload_bytes",
        "byte",
        "the application's part of it",
        rows.iter().map(|row| u64::from(row.2.payload)),
    );
    table.real("start_s", "s", "when it was to start", rows.iter().map(|row| seconds(row.2.start)));
    table.real(
        "base_rtt_s",
        "s",
        "round-trip time without queueing or transmission",
        rows.iter().map(|row| seconds(row.2.base_rtt)),
    );
    let size = |row: &Item<'_, FlowTrace>| row.2.size.map_or(f64::NAN, |size| size as f64);
    table.real("size_packets", "packet", "size of the flow; null if unlimited", rows.iter().map(size));
    let completed = |row: &Item<'_, FlowTrace>| row.2.completed.map_or(f64::NAN, seconds);
    table.real(
        "completion_time_s",
        "s",
        "from its start to the arrival of the last packet",
        rows.iter().map(completed),
    );
    table
}

fn flow_samples(runs: &[(u64, &Trace)]) -> Table {
    let rows = samples(runs, |trace| &trace.flows);
    let mut table = Table::default();
    keys(&mut table, &rows);
    table.text("flow", "its name in the scenario", rows.iter().map(|row| row.2.name.as_str()));
    table.text("algorithm", "as written", rows.iter().map(|row| row.2.algorithm.as_str()));
    let counts: [(&str, &str, &str, Count<FlowTrace>); 9] = [
        ("sent_packets", "packet", "data packets sent so far, retransmissions included", |flow| &flow.sent),
        ("retransmitted_packets", "packet", "of those, retransmissions", |flow| &flow.retransmitted),
        ("delivered_packets", "packet", "different data packets that have reached the receiver", |flow| {
            &flow.delivered
        }),
        ("lost_packets", "packet", "packets the sender has found lost, rightly or not", |flow| &flow.lost),
        ("dropped_packets", "packet", "data packets that queues refused or links lost", |flow| &flow.dropped),
        ("marked_packets", "packet", "data packets that arrived with a congestion mark", |flow| &flow.marked),
        ("timeouts", "", "expiries of the retransmission timer so far", |flow| &flow.timeouts),
        ("source_limited_ns", "ns", "time so far without data to send", |flow| &flow.source_limited),
        ("peer_limited_ns", "ns", "time so far held by the receiver's window", |flow| &flow.peer_limited),
    ];
    for (name, unit, description, count) in counts {
        table.whole(name, unit, description, rows.iter().map(|row| count(row.2)[row.3]));
    }
    table.whole("in_flight_packets", "packet", "packets in flight", rows.iter().map(|row| row.2.in_flight[row.3]));
    let states: [(&str, &str, &str, State); 3] = [
        ("window_packets", "packet", "packets the algorithm allows in flight", |flow| &flow.window),
        ("srtt_s", "s", "smoothed round-trip time; null before the first sample", |flow| &flow.srtt),
        ("pacing_rate_packets_per_s", "packet/s", "what the sender is paced at; null if it is not", |flow| {
            &flow.pacing_rate
        }),
    ];
    for (name, unit, description, state) in states {
        table.real(name, unit, description, rows.iter().map(|row| state(row.2)[row.3]));
    }
    for name in internals(runs) {
        let value = |row: &Sample<'_, FlowTrace>| {
            let found = row.2.internals.iter().find(|(internal, _)| *internal == name);
            found.map_or(f64::NAN, |(_, values)| values[row.3])
        };
        table.real(
            name,
            "",
            "an internal of the algorithm; null where another has none of the name",
            rows.iter().map(value),
        );
    }
    table
}

fn links(runs: &[(u64, &Trace)]) -> Table {
    let rows: Vec<Item<'_, LinkTrace>> =
        runs.iter().flat_map(|(seed, trace)| trace.links.iter().map(move |link| (*seed, *trace, link))).collect();
    let mut table = Table::default();
    table.whole("seed", "", "the seed of the run", rows.iter().map(|row| row.0));
    table.text("link", "its name in the scenario", rows.iter().map(|row| row.2.name.as_str()));
    let rate = |row: &Item<'_, LinkTrace>| row.2.rate.map_or(f64::NAN, |rate| rate as f64);
    table.real("rate_bps", "bit/s", "its rate, at first if that changes; null for pure delay", rows.iter().map(rate));
    table.real(
        "delay_s",
        "s",
        "propagation delay, at first if that changes",
        rows.iter().map(|row| seconds(row.2.delay)),
    );
    let quantile = |q: f64| move |row: &Item<'_, LinkTrace>| row.2.wait.quantile(q).map_or(f64::NAN, seconds);
    let mean = |row: &Item<'_, LinkTrace>| row.2.wait.mean().map_or(f64::NAN, |nanos| nanos * 1e-9);
    table.real("queue_delay_mean_s", "s", "mean wait of packets after the warm-up", rows.iter().map(mean));
    table.real("queue_delay_p99_s", "s", "the 99th percentile of that", rows.iter().map(quantile(0.99)));
    table
}

fn link_samples(runs: &[(u64, &Trace)]) -> Table {
    let rows = samples(runs, |trace| &trace.links);
    let mut table = Table::default();
    keys(&mut table, &rows);
    table.text("link", "its name in the scenario", rows.iter().map(|row| row.2.name.as_str()));
    let counts: [(&str, &str, &str, Count<LinkTrace>); 8] = [
        ("offered_packets", "packet", "packets offered so far", |link| &link.offered),
        ("dropped_packets", "packet", "of those, refused or discarded by the queue", |link| &link.dropped),
        ("lost_packets", "packet", "of those, lost at random", |link| &link.lost),
        ("marked_packets", "packet", "of those, marked instead of dropped", |link| &link.marked),
        ("carried_packets", "packet", "packets that left at the far end so far", |link| &link.carried),
        ("carried_bytes", "byte", "their bytes", |link| &link.carried_bytes),
        ("queue_packets", "packet", "packets waiting, without the one being sent", |link| &link.queue_packets),
        ("queue_bytes", "byte", "bytes waiting", |link| &link.queue_bytes),
    ];
    for (name, unit, description, count) in counts {
        table.whole(name, unit, description, rows.iter().map(|row| count(row.2)[row.3]));
    }
    table
}

type Count<T> = fn(&T) -> &[u64];
type State = fn(&FlowTrace) -> &[f64];

/// Every flow or link at every sampled instant.
fn samples<'a, T>(runs: &[(u64, &'a Trace)], of: fn(&Trace) -> &Vec<T>) -> Vec<Sample<'a, T>> {
    let mut rows = Vec::new();
    for (seed, trace) in runs {
        for one in of(trace) {
            rows.extend((0..trace.at.len()).map(|index| (*seed, *trace, one, index)));
        }
    }
    rows
}

fn keys<T>(table: &mut Table, rows: &[Sample<'_, T>]) {
    table.whole("seed", "", "the seed of the run", rows.iter().map(|row| row.0));
    table.whole("time_ns", "ns", "since the beginning of the run", rows.iter().map(|row| row.1.at[row.3]));
}

/// The names of all internals, in the order of their first appearance.
fn internals(runs: &[(u64, &Trace)]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in runs.iter().flat_map(|(_, trace)| &trace.flows).flat_map(|flow| &flow.internals) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}
