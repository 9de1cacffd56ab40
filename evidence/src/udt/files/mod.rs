//! Files from one program to another: this project, libudt, SRT and TCP, over the same ways.

mod implementation;
mod load;
mod network;
mod page;
pub(crate) mod tcp;

use std::fs;
use std::path::Path;

use crate::interop::programs::Programs;
use nix::sys::resource::UsageWho;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::record::{Measured, Records};
use crate::Error;
use crate::udt::Bench;
use crate::usage::processor_seconds;
use implementation::{Implementation, Stage, Workload};
use load::Content;
use network::{Network, Route};

/// One transfer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moved {
    /// From the start of the first client to the end of the last; none if it failed, or the received files differ from the sent ones.
    pub(crate) seconds: Option<f64>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// Processor time of all programs.
    pub(crate) cpu_s: f64,
}

/// How much is moved, and how often.
struct Sizes {
    repetitions: usize,
    /// The large file, bytes: without a link, on a link, and on one that loses packets.
    large: [u64; 3],
    small: usize,
    /// Small files of those that move one after the other: without a link and on one.
    single: [usize; 2],
    /// Transfers that take longer, seconds, are not repeated.
    repeat_below_s: f64,
}

/// Measures everything, and writes the records and the part of the page, or with `quick` prints what little was measured.
pub(crate) fn measure(root: &Path, bench: &Bench, quick: bool) -> Result<(), Error> {
    let sizes = if quick { &QUICK } else { &FULL };
    let mut records = Records::read(root.join("evidence/udt/files.json"))?;
    for workload in ["large", "small"] {
        let mut measured = Measured::new(workload, &bench.sources);
        // In memory, so that no disk is measured.
        let place = if Path::new(MEMORY).exists() { TempDir::new_in(MEMORY) } else { TempDir::new() };
        let place = place.map_err(|source| Error::File { path: MEMORY.into(), source })?;
        for route in &ROUTES {
            measure_route(&mut measured, &bench.programs, route, sizes, place.path())?;
        }
        records.put(measured);
    }
    if quick {
        print!("{}", page::text(&records));
        return Ok(());
    }
    records.write()?;
    crate::page::put_into(root, "docs/files.md", "transfers", &page::text(&records))
}

/// One workload over one route, by all implementations in turns.
fn measure_route(
    measured: &mut Measured<Moved>,
    programs: &Programs,
    route: &Route,
    sizes: &Sizes,
    place: &Path,
) -> Result<(), Error> {
    let (source, target) = (place.join("source"), place.join("target"));
    let path = |path: &Path| {
        let path = path.to_owned();
        |source| Error::File { path, source }
    };
    fs::create_dir_all(&source).map_err(path(&source))?;
    let network = Network::of(route)?;
    let large = measured.part == "large";
    let kind = route.link.map_or(0, |(_, loss)| if loss > 0.0 { 2 } else { 1 });
    if large {
        load::large(&source, sizes.large[kind])?;
    } else {
        load::small(&source, sizes.small)?;
    }
    let sent = load::content(&source)?;
    for repetition in 0..sizes.repetitions {
        for who in IMPLEMENTATIONS {
            let row = row(who, route);
            let took = measured.row(&row).map_or(0.0, |row| row.median(|moved| moved.seconds));
            if repetition > 0 && (took > sizes.repeat_below_s || took.is_nan()) {
                continue;
            }
            let files = if who.knows_trees() { sizes.small } else { sizes.single[kind.min(1)] };
            let workload = if large { Workload::Large } else { Workload::Small(files) };
            fs::create_dir(&target).map_err(path(&target))?;
            let before = processor_seconds(UsageWho::RUSAGE_CHILDREN);
            let took = Stage { programs, network: &network, source: &source, target: &target }.run(who, workload);
            let cpu_s = processor_seconds(UsageWho::RUSAGE_CHILDREN) - before;
            let came = load::content(&target)?;
            let right = match workload {
                Workload::Large => came == sent,
                Workload::Small(files) => came == first(&sent, files),
            };
            let bytes = sum(&target, &came)?;
            fs::remove_dir_all(&target).map_err(path(&target))?;
            if let Err(error) = &took {
                eprintln!("{row}: {error}");
            }
            let seconds = took.ok().filter(|_| right);
            println!("{} {row}: {}", measured.part, seconds.map_or("failed".to_owned(), |took| format!("{took:.2} s")));
            measured.put(&row, Moved { seconds, files: came.len(), bytes, cpu_s });
        }
    }
    if let Some(report) = network.stop()? {
        let p99 = report.forth.late_p99_s.unwrap_or(f64::NAN) * 1e6;
        println!(
            "{}: {} of {} packets carried, 99 % less than {p99:.0} us late, {:.0} % of a core",
            route.name,
            report.forth.carried,
            report.forth.offered,
            report.cpu_s / report.duration_s * 100.0
        );
    }
    Ok(())
}

/// The name of a row.
fn row(who: Implementation, route: &Route) -> String {
    format!("{}, {}", who.name(), route.name)
}

/// The first `files` small files of all.
fn first(sent: &Content, files: usize) -> Content {
    let hash = |name| sent.get(&name).map(|hash| (name, *hash));
    (0..files).map(load::small_name).filter_map(hash).collect()
}

fn sum(directory: &Path, content: &Content) -> Result<u64, Error> {
    let size = |name| {
        let path = directory.join(name);
        fs::metadata(&path).map(|file| file.len()).map_err(|source| Error::File { path, source })
    };
    content.keys().map(size).sum()
}

/// The compared implementations.
const IMPLEMENTATIONS: [Implementation; 5] = [
    Implementation::Cwnd,
    Implementation::Libudt,
    Implementation::Srt,
    Implementation::Tcp("cubic"),
    Implementation::Tcp("bbr"),
];

/// The loopback, and links of 200 Mbit/s.
const ROUTES: [Route; 7] = [
    Route { name: "loopback", link: None },
    Route { name: "10 ms", link: Some((10, 0.0)) },
    Route { name: "50 ms", link: Some((50, 0.0)) },
    Route { name: "200 ms", link: Some((200, 0.0)) },
    Route { name: "10 ms, 0.1 %", link: Some((10, 0.001)) },
    Route { name: "50 ms, 0.1 %", link: Some((50, 0.001)) },
    Route { name: "200 ms, 0.1 %", link: Some((200, 0.001)) },
];

/// Everything together takes some ten minutes on a machine that does nothing else.
const FULL: Sizes = Sizes {
    repetitions: 3,
    large: [512 << 20, 48 << 20, 12 << 20],
    small: 10_000,
    single: [30, 5],
    repeat_below_s: 10.0,
};
/// Shows that everything works.
const QUICK: Sizes =
    Sizes { repetitions: 1, large: [64 << 20, 4 << 20, 1 << 20], small: 500, single: [5, 2], repeat_below_s: 15.0 };

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";
