//! UDT over UDP sockets compared with libudt and TCP: its speed, its cost, and how well the simulator predicts it.
//!
//! Rates of a busy host mean little by themselves. Compared programs are measured in turns within one run, and shown as ratios.

mod clock;
pub(crate) mod files;
mod load;
mod page;
mod paths;
mod record;
mod run;
mod simulator;
mod staged;

use std::path::Path;

use crate::interop::programs::Programs;
use clap::ValueEnum;
use cwnd::Span;
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};
use load::Sizes;

use crate::Error;
use crate::provenance::Provenance;
use record::{Measured, Records};
use run::{Bench, Plan, Who};

/// How long everything takes.
struct Times {
    repetitions: usize,
    /// Repetitions for each algorithm and loss, whose runs are long and many.
    lossy_repetitions: usize,
    loopback_s: usize,
    /// When a run over a long path has settled, and when it ends.
    gigabit_s: [usize; 2],
    lossy_s: [usize; 2],
    path_s: [usize; 2],
    /// How long one more or one fewer flow runs.
    stage_s: usize,
    load: Sizes,
}

/// The measured parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Between two programs on one host
    Loopback,
    /// A link of 1 Gbit/s and 100 ms
    Gigabit,
    /// A link that loses packets at random
    Loss,
    /// A link once simulated and once real
    Simulator,
    /// Table 1 of the DAIMD paper
    #[value(name = "table-1")]
    Table1,
    /// One port under load
    Load,
    /// Transfers of files
    Files,
    /// Algorithms, and numbers of connections, on paths of several kinds
    Paths,
}

/// Measures the `chosen` parts anew, all if none is named, and writes the records and the page; if `quick`, takes minutes, writes
/// nothing, and shows that everything works. With `repeats`, everything but files and paths is repeated so often.
pub(crate) fn validate(root: &Path, chosen: &[Part], quick: bool, repeats: Option<usize>) -> Result<(), Error> {
    let mut times = if quick { QUICK } else { FULL };
    if let Some(repeats) = repeats {
        times.repetitions = repeats;
        times.lossy_repetitions = repeats;
        times.load.repetitions = repeats;
    }
    // Before the measurements, during which the sources may change.
    let sources = if quick { Provenance::here(root) } else { Provenance::of_record(root) }?;
    let asked = |part: Part| chosen.is_empty() || chosen.contains(&part);
    let directory = root.join("evidence/udt");
    let mut records = Records::read(directory.join("recorded.json"))?;
    let mut load = Records::read(directory.join("load.json"))?;
    if asked(Part::Load) {
        let mut measured = Measured::new("load", &sources);
        measured.put("cwnd", load::measure(&times.load).map_err(Error::Load)?);
        load.put(measured);
    }
    if chosen != [Part::Load] {
        let bench = Bench { programs: Programs::build(&Programs::directory())?, sources, quick };
        if asked(Part::Files) {
            files::measure(root, &bench, quick)?;
        }
        compare(root, &asked, quick, &bench, &times, &mut records)?;
    }
    if quick {
        print!("{}{}", page::text(&records, &load), paths::text(&records));
        return Ok(());
    }
    records.write()?;
    load.write()?;
    page::write(root, &records, &load)?;
    paths::write(root, &records)
}

/// Rewrites the page from the records.
pub(crate) fn rewrite(root: &Path) -> Result<(), Error> {
    let directory = root.join("evidence/udt");
    let (records, load) =
        (Records::read(directory.join("recorded.json"))?, Records::read(directory.join("load.json"))?);
    page::write(root, &records, &load)?;
    paths::write(root, &records)
}

/// The parts in which there is somebody to compare with.
fn compare(
    root: &Path,
    asked: &dyn Fn(Part) -> bool,
    quick: bool,
    bench: &Bench,
    times: &Times,
    records: &mut Records,
) -> Result<(), Error> {
    if asked(Part::Loopback) {
        records.put(loopback(bench, times)?);
    }
    if asked(Part::Gigabit) {
        records.put(gigabit(bench, times)?);
    }
    if asked(Part::Loss) {
        records.put(lossy(bench, times)?);
    }
    if asked(Part::Simulator) {
        let picture = root.join(if quick { "out/udt.vl.json" } else { "out/validation/udt.vl.json" });
        let report = root.join("out/udt.html");
        records.put(simulator::compare(bench, times.lossy_s[1] as u64, &report, &picture)?);
    }
    if asked(Part::Paths) {
        for measured in paths::measure(bench, times.path_s)? {
            records.put(measured);
        }
    }
    if asked(Part::Table1) {
        records.put(staged::measure(times.stage_s, bench)?);
    }
    Ok(())
}

/// Both ends on this host, in turns.
fn loopback(bench: &Bench, times: &Times) -> Result<Measured, Error> {
    let mut measured = Measured::new("loopback", &bench.sources);
    let seconds = times.loopback_s;
    for _ in 0..times.repetitions {
        for who in
            [Who::Ours { algorithm: "udt", offload: true }, Who::Ours { algorithm: "udt", offload: false }, Who::Theirs]
        {
            let plan = Plan { who, path: None, ends: "", seconds, counted: 1..seconds };
            measured.put(&who.name(), bench.run(&plan)?);
        }
        measured.put("TCP (iperf3)", run::tcp(seconds)?);
    }
    Ok(measured)
}

/// A link of 1 Gbit/s and 100 ms.
fn gigabit(bench: &Bench, times: &Times) -> Result<Measured, Error> {
    // A bandwidth-delay product: 12.5 MB in packets of 1500 bytes.
    let path = Emulation::new(Some(1_000_000_000), Span::from_millis(50), QueueLimit::Packets(8333));
    let [settled, end] = times.gigabit_s;
    let mut measured = Measured::new("gigabit", &bench.sources);
    for _ in 0..times.repetitions {
        for who in [Who::Ours { algorithm: "udt", offload: true }, Who::Theirs] {
            let plan = Plan { who, path: Some(&path), ends: "", seconds: end + 1, counted: settled..end };
            measured.put(&who.name(), bench.run(&plan)?);
        }
    }
    Ok(measured)
}

/// A link of 200 Mbit/s and 50 ms that loses packets at random, algorithm by algorithm.
fn lossy(bench: &Bench, times: &Times) -> Result<Measured, Error> {
    let [settled, end] = times.lossy_s;
    let mut measured = Measured::new("loss", &bench.sources);
    let ours = ALGORITHMS.map(|(algorithm, ends)| (Who::Ours { algorithm, offload: true }, ends));
    let all: Vec<(Who, &str)> = std::iter::once((Who::Theirs, "")).chain(ours).collect();
    for (p, shown) in LOSSES {
        let loss = if p > 0.0 { Loss::Bernoulli(p) } else { Loss::None };
        let path =
            Emulation { loss, ..Emulation::new(Some(200_000_000), Span::from_millis(25), QueueLimit::Packets(833)) };
        for _ in 0..times.lossy_repetitions {
            for (who, ends) in &all {
                let plan = Plan { who: *who, path: Some(&path), ends, seconds: end + 1, counted: settled..end };
                measured.put(&format!("{} at {shown}", named(&who.name(), ends)), bench.run(&plan)?);
            }
        }
    }
    Ok(measured)
}

const LOSSES: [(f64, &str); 3] = [(0.0, "0 %"), (0.001, "0.1 %"), (0.01, "1 %")];

/// A sender with the further arguments of both ends.
fn named(who: &str, ends: &str) -> String {
    if ends.is_empty() { who.to_string() } else { format!("{who}, {ends}") }
}

/// UDT as libudt has it and as its paper has it; what TCP does today; two of the papers' window algorithms; and BBR, whose delivery rates
/// depend on how often there is an acknowledgement, with more of them too. Each with further options of both ends.
const ALGORITHMS: [(&str, &str); 10] = [
    ("udt", ""),
    ("udt:profile=paper", ""),
    ("cubic", ""),
    ("reno", ""),
    ("simd", ""),
    ("highspeed", ""),
    ("bbr3", ""),
    ("bbr3", "ack-every=8"),
    ("bbr", ""),
    ("bbr", "ack-every=8"),
];

/// Medians of five say something on a host that does other things too.
const FULL: Times = Times {
    repetitions: 5,
    lossy_repetitions: 3,
    loopback_s: 8,
    gigabit_s: [10, 20],
    lossy_s: [5, 20],
    path_s: [2, 12],
    stage_s: 20,
    load: Sizes { repetitions: 3, idle: 10_000, crowd: 1_000, bytes: 1_000_000, seconds: 5, stalled: 100 },
};
/// A gigabit takes some seconds to recover from the end of its slow start.
const QUICK: Times = Times {
    repetitions: 1,
    lossy_repetitions: 1,
    loopback_s: 3,
    gigabit_s: [8, 10],
    lossy_s: [2, 4],
    path_s: [1, 2],
    stage_s: 3,
    load: Sizes { repetitions: 1, idle: 1_000, crowd: 100, bytes: 1_000_000, seconds: 2, stalled: 20 },
};
