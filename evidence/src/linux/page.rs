//! The page people read: both sides, their difference, the tolerance and the verdict.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use cwnd_report::plot::Axis;

use super::cases::{Cases, Experiment, Variant};
use super::here::{Simulated, simulate};
use super::record::{Measured, Records};
use crate::Error;
use crate::page::put;
use crate::plot::{self, Panel};
use crate::provenance::Provenance;

/// A measure of both sides.
struct Judged {
    what: &'static str,
    scale: f64,
    digits: usize,
    theirs: f64,
    ours: f64,
    tolerance: f64,
}

/// Compares the records with the simulator, and writes the part and its plots. Returns whether every judged difference is within its
/// tolerance.
pub(super) fn write(
    root: &Path,
    cases: &Cases,
    experiments: &[Experiment<'_>],
    records: &Records,
) -> Result<bool, Error> {
    if records.is_empty() {
        println!("nothing is recorded yet: the page stays as it is");
        return Ok(false);
    }
    let done: Vec<(&Experiment<'_>, Vec<&Measured>)> = experiments
        .iter()
        .map(|experiment| (experiment, records.of(experiment).collect::<Vec<_>>()))
        .filter(|(_, runs)| !runs.is_empty())
        .collect();
    let judged: Vec<&Experiment<'_>> = done.iter().map(|(experiment, _)| *experiment).filter(|it| it.judged).collect();
    let mut simulated = simulate(&judged, cases.repeats)?.into_iter();
    let (mut table, mut figures, mut alone) = (String::new(), String::new(), String::new());
    let (mut compared, mut outside, mut differing) = (0, 0, Vec::new());
    for (experiment, runs) in &done {
        let late = runs.iter().flat_map(|run| run.late_p99_s).fold(0.0, f64::max) * 1e6;
        let Some(ours) = experiment.judged.then(|| simulated.next()).flatten() else {
            let [goodput, delay, again] = theirs(runs);
            let (name, count) = (&experiment.name, runs.len());
            let _ = writeln!(
                alone,
                "| {name} | {count} | {late:.0} µs | {:.2} | {:.2} | {:.3} % |",
                goodput * 1e-6,
                delay * 1e3,
                again * 100.0
            );
            continue;
        };
        let before = outside;
        for judged in judge(cases, experiment, runs, &ours) {
            compared += 1;
            outside += usize::from(!judged.agrees());
            let (name, count) = (&experiment.name, runs.len());
            let _ = writeln!(table, "| {name} | {count} | {late:.0} µs | {} |", judged.cells());
        }
        if outside > before {
            differing.push((*experiment, runs.as_slice()));
        }
        let axis = Axis::new("window_packets", "Window (packets)");
        let panel = Panel { title: experiment.name.clone(), axis, ours: &ours.window, theirs: &runs[0].window };
        let file = format!("linux-{}", experiment.name);
        plot::write(&root.join(format!("out/validation/{file}.vl.json")), ["Linux", "cwnd"], &[panel])?;
        let _ = writeln!(figures, "\n![The window over time, {0}](../../docs/validation/{file}.svg)", experiment.name);
    }
    let missing = experiments.len() - done.len();
    let verdict = format!(
        "{compared} comparisons: {outside} outside the tolerance. {missing} of {} cases are not recorded yet.",
        experiments.len()
    );
    println!("{verdict}");
    let mut text = preface(records, &done, &Provenance::here(root)?);
    let _ = writeln!(text, "\n{verdict}\n\n{COLUMNS}{table}{}", variants(cases, &differing)?);
    let _ = writeln!(text, "Recorded, and not judged:\n\n{ALONE}{alone}{figures}");
    put(root, "linux", &text)?;
    Ok(outside == 0)
}

/// Where an algorithm differs, the same with its variants.
fn variants(cases: &Cases, differing: &[(&Experiment<'_>, &[&Measured])]) -> Result<String, Error> {
    let mut text = String::new();
    for variant in &cases.variant {
        let Variant { of, change, .. } = variant;
        let (changed, runs): (Vec<_>, Vec<_>) = differing
            .iter()
            .filter(|(experiment, _)| variant.concerns(experiment))
            .map(|(experiment, runs)| (variant.applied(experiment), *runs))
            .unzip();
        if changed.is_empty() {
            continue;
        }
        let simulated = simulate(&changed.iter().collect::<Vec<_>>(), cases.repeats)?;
        let _ = writeln!(
            text,
            "\nThe cases in which `{of}` differs, with `{}` in the simulator: {change}.\n\n{VARIED}",
            variant.label()
        );
        for ((experiment, runs), ours) in changed.iter().zip(runs).zip(&simulated) {
            for judged in judge(cases, experiment, runs, ours) {
                let _ = writeln!(text, "| {} | {} |", experiment.name, judged.cells());
            }
        }
    }
    Ok(text + "\n")
}

impl Judged {
    fn difference(&self) -> f64 {
        // None of either side is no difference.
        if self.ours == self.theirs { 0.0 } else { self.ours / self.theirs - 1.0 }
    }

    fn agrees(&self) -> bool {
        self.difference().abs() <= self.tolerance
    }

    /// The cells of a row, from the measure on.
    fn cells(&self) -> String {
        let Self { what, scale, digits, theirs, ours, tolerance } = self;
        format!(
            "{what} | {:.digits$} | {:.digits$} | {:+.1} % | {:.0} % | {}",
            theirs * scale,
            ours * scale,
            self.difference() * 100.0,
            tolerance * 100.0,
            if self.agrees() { "agrees" } else { "**differs**" },
        )
    }
}

/// The means over the runs of the kernel.
fn theirs(runs: &[&Measured]) -> [f64; 3] {
    let mean = |of: fn(&Measured) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64;
    [mean(|run| run.goodput_bps), mean(|run| run.queue_delay_s), mean(|run| run.retransmitted)]
}

fn judge(cases: &Cases, experiment: &Experiment<'_>, runs: &[&Measured], ours: &Simulated) -> [Judged; 3] {
    let tolerance = &cases.tolerance;
    let [goodput, delay, again] = theirs(runs);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of_goodput = if experiment.path.loses() { tolerance.goodput_with_loss } else { tolerance.goodput };
    let judged =
        |what, (scale, digits), theirs, ours, tolerance| Judged { what, scale, digits, theirs, ours, tolerance };
    [
        judged("goodput, Mbit/s", (1e-6, 2), goodput, mean(&ours.goodput_bps), of_goodput),
        judged("queueing delay, ms", (1e3, 2), delay, mean(&ours.queue_delay_s), tolerance.queue_delay),
        judged("sent again, %", (1e2, 3), again, mean(&ours.retransmitted), tolerance.retransmitted),
    ]
}

fn preface(records: &Records, done: &[(&Experiment<'_>, Vec<&Measured>)], sources: &Provenance) -> String {
    let runs = || done.iter().flat_map(|(_, runs)| runs);
    let list = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    let settings: BTreeSet<String> =
        runs().flat_map(|run| &run.settings).map(|(name, value)| format!("`{name}` {value}")).collect();
    format!(
        "The kernel's own TCP (`iperf3 -C`) over an emulated link between two networks of one host (`udt link --tun`), and the same path in\n\
         the simulator, whose senders are those of `modern`. [evidence/linux](README.md) describes both setups and the\n\
         tolerances, which were fixed before the first run. Cells are means over the runs; lateness is the worst of them, of both directions.\n\n\
         Recorded on {} on {} under {}; compared with `cwnd` at {sources}. Settings: {}.\n",
        list(runs().map(|run| run.kernel.clone()).collect()),
        list(runs().map(|run| run.date.clone()).collect()),
        list(records.sources().map(ToString::to_string).collect()),
        list(settings),
    )
}

const COLUMNS: &str = "| case | runs | link late (99 %) | measure | Linux | cwnd | difference | tolerance | verdict |\n\
                       | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
const VARIED: &str = "| case | measure | Linux | cwnd | difference | tolerance | verdict |\n\
                      | --- | --- | --- | --- | --- | --- | --- |";
const ALONE: &str = "| case | runs | link late (99 %) | goodput, Mbit/s | queueing delay, ms | sent again |\n\
                     | --- | --- | --- | --- | --- | --- |\n";
