//! Which algorithm has how much of which path, and what several connections change: for docs/files.md.

use std::fmt::Write;
use std::path::Path;

use cwnd::Span;
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};

use super::page::measured_at;
use super::record::{Measured, Records, Repetitions};
use super::run::{Bench, Plan, Who};
use crate::Error;

/// Measures both tables. A path whose link was late again and again has no number.
pub(super) fn measure(bench: &Bench, [settled, end]: [usize; 2]) -> Result<[Measured; 2], Error> {
    let mut paths = Measured::new("paths", &bench.sources);
    for rtt in ROUND_TRIPS {
        for (p, shown) in LOSSES {
            let path = path(RATE, rtt, p);
            for (algorithm, ends) in ALGORITHMS {
                let plan = plan(algorithm, ends, &path, settled..end);
                put(&mut paths, &row(algorithm, rtt, shown), bench, &plan)?;
            }
        }
    }
    let mut streams = Measured::new("streams", &bench.sources);
    let path = path(FAST_RATE, FAST_RTT, FAST_LOSS);
    for count in STREAMS {
        for (algorithm, ends) in ALGORITHMS {
            let ends = format!("{ends} streams={count}");
            let plan = plan(algorithm, &ends, &path, settled..end);
            put(&mut streams, &format!("{algorithm}, {count}"), bench, &plan)?;
        }
    }
    Ok([paths, streams])
}

fn plan<'a>(algorithm: &'static str, ends: &'a str, path: &'a Emulation, counted: std::ops::Range<usize>) -> Plan<'a> {
    Plan { who: Who::Ours { algorithm, offload: true }, path: Some(path), ends, seconds: counted.end + 1, counted }
}

fn put(measured: &mut Measured, row: &str, bench: &Bench, plan: &Plan<'_>) -> Result<(), Error> {
    print!("{row}: ");
    match bench.run(plan) {
        Ok(outcome) => measured.put(row, outcome),
        Err(Error::Late(why)) => println!("not recorded, {why}"),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// A link with a queue of one bandwidth-delay product that loses packets of the data at random.
fn path(rate: u64, rtt_ms: u64, loss: f64) -> Emulation {
    let packets = rate * rtt_ms / 1000 / (1500 * 8);
    let loss = if loss > 0.0 { Loss::Bernoulli(loss) } else { Loss::None };
    Emulation {
        loss,
        ..Emulation::new(Some(rate), Span::from_micros(rtt_ms * 500), QueueLimit::Packets(packets as u32))
    }
}

fn row(algorithm: &str, rtt: u64, loss: &str) -> String {
    format!("{algorithm}, {rtt} ms, {loss}")
}

/// Puts the tables into their page.
pub(super) fn write(root: &Path, records: &Records) -> Result<(), Error> {
    crate::page::put_into(root, "docs/files.md", "paths", &text(records))
}

/// Both tables.
pub(super) fn text(records: &Records) -> String {
    let mut text = String::new();
    if let Some(paths) = records.part("paths") {
        text.push_str(PATHS);
        header(&mut text, "| round trip | loss | ");
        for rtt in ROUND_TRIPS {
            for (_, loss) in LOSSES {
                let _ = write!(text, "| {rtt} ms | {loss} |");
                cells(&mut text, |algorithm| paths.row(&row(algorithm, rtt, loss)));
            }
        }
        measured_at(&mut text, paths);
    }
    if let Some(streams) = records.part("streams") {
        text.push_str(SEVERAL);
        header(&mut text, "| `--streams` | ");
        for count in STREAMS {
            let _ = write!(text, "| {count} |");
            cells(&mut text, |algorithm| streams.row(&format!("{algorithm}, {count}")));
        }
        measured_at(&mut text, streams);
    }
    text
}

fn header(text: &mut String, first: &str) {
    let columns = first.matches('|').count() - 1 + ALGORITHMS.len();
    let _ = writeln!(text, "{first}`udt` | `--path shared` | `--path lossy` |\n|{}", " --- |".repeat(columns));
}

fn cells<'a>(text: &mut String, row: impl Fn(&str) -> Option<&'a Repetitions>) {
    for (algorithm, _) in ALGORITHMS {
        let goodput = row(algorithm).map_or(f64::NAN, Repetitions::goodput) * 1e-6;
        let _ = match goodput {
            goodput if goodput.is_nan() => write!(text, " link late |"),
            goodput if goodput < 9.95 => write!(text, " {goodput:.1} |"),
            goodput => write!(text, " {goodput:.0} |"),
        };
    }
    text.push('\n');
}

/// The algorithms behind the choices of `--path`, with their further options at both ends.
const ALGORITHMS: [(&str, &str); 3] = [("udt", ""), ("cubic", ""), ("bbr", "ack-every=8")];

/// Milliseconds.
const ROUND_TRIPS: [u64; 4] = [10, 50, 100, 200];

const LOSSES: [(f64, &str); 5] = [(0.0, "0"), (0.0001, "0.01 %"), (0.001, "0.1 %"), (0.005, "0.5 %"), (0.01, "1 %")];

/// bit/s.
const RATE: u64 = 200_000_000;

const STREAMS: [u8; 4] = [1, 2, 4, 8];
const FAST_RATE: u64 = 1_000_000_000;
const FAST_RTT: u64 = 100;
const FAST_LOSS: f64 = 0.005;

const PATHS: &str = "
Mbit/s from second 3 to 12 of one transfer alone on a link of 200 Mbit/s (194 of payload), with a queue of one bandwidth-delay product and random
loss of data, one run each (`cargo xtask evidence -- udt paths`):

";

const SEVERAL: &str = "
Over 1 Gbit/s and 100 ms with 0.5 % lost, by the number of connections:

";
