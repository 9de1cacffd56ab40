//! `cwnd overlay`

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd::Span;
use cwnd_lab::overlay::{KernelFlow, import, memory, overlay};
use cwnd_report::{json, write_run};
use cwnd_run::execute::default_memory;
use cwnd_run::files::read_limited;
use cwnd_run::measure::{Window, goodput};
use cwnd_run::run::{Runs, run as run_all};
use cwnd_run::scenario::{Document, Scenario, Written, apart};
use cwnd_sim::Trace;

use crate::arguments::whole;
use crate::failure::Failure;
use crate::files;
use crate::progress::{self, TimeProgress};
use cwnd_report::table::Table;
use cwnd_text::one_line;

/// What was simulated, and what was measured.
#[derive(Args, Debug)]
#[command(after_help = "\
Record on Linux, while the transfer runs:
  trace-cmd record -e tcp:tcp_probe; trace-cmd report > probe.txt
  while :; do date +%s.%N; ss -tin dst ADDRESS; sleep 0.1; done > ss.txt
Examples:
  cwnd overlay scenarios/dumbbell.toml --set flow.0.algorithm=cubic --kernel probe.txt
  cwnd overlay out/run-2026-11-22-1 --kernel ss.txt --offset 1.5s
The simulated part is the scenario's first seed. docs/traces.md says what is read and what stays unknown.")]
pub(crate) struct Arguments {
    /// A scenario (TOML), or the folder of results of `cwnd run`, whose scenario is run again
    scenario: PathBuf,
    /// What the kernel said: events of tcp:tcp_probe (ftrace, trace-cmd, perf), or outputs of `ss -ti` with times
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    kernel: Vec<PathBuf>,
    /// Change a key of the scenario; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where in simulated time the first event of each file lies
    #[arg(long, value_name = "TIME", default_value = "0s")]
    offset: Written<Span>,
    /// Payload bytes of a segment, where the file has none
    #[arg(long, value_name = "BYTES", default_value_t = 1448, value_parser = whole::<u32>(1..=65_535))]
    mss: u32,
    /// A new folder for report.html, summary.json and the traces [default: out/overlay-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let (mut kernel, mut left_out) = (Vec::new(), String::new());
    for path in &arguments.kernel {
        let name = path.display().to_string();
        let text = read(path)?;
        let recording =
            import(&name, &text, arguments.mss).map_err(|error| Failure::Input(one_line(&error.to_string())))?;
        let mut flows = recording.flows;
        if recording.left_out > 0 {
            let (taken, fewer) = (flows.len(), recording.left_out);
            left_out += &format!(
                "{}: the {taken} busiest connections are taken, and {fewer} with fewer bytes left out\n",
                one_line(&name)
            );
        }
        // Two files may have the same connection.
        let file = path.file_name().unwrap_or_default().display();
        flows.iter_mut().for_each(|flow| flow.name = format!("{} in {file}", flow.name));
        kernel.push(flows);
    }
    apart(&arguments.set)?;
    let scenario = scenario(&arguments.scenario, &arguments.set)?;
    let progress = TimeProgress::start()?;
    let folder = files::Results { json: false, out: arguments.out.clone() }.folder("overlay")?;
    let runs = run_all(vec![scenario], &progress)?;
    drop(progress);

    let runs = runs.first().expect("one scenario was run");
    let mut document = json::Run::of(runs).expect("a scenario has at least one seed");
    document.warnings.push(MEASURED.to_string());
    let simulated = runs.traces.first().expect("a scenario has at least one seed");
    let shift = arguments.offset.value().as_nanos();
    let (needed, most) = (memory(simulated, &kernel.concat()), may_use());
    if needed > most {
        let fault = format!(
            "the run and what was recorded need {} MB together, more than {} MB (--memory): take fewer files, or fewer samples (--set \
             sampling=TIME)",
            needed / 1_000_000,
            most / 1_000_000
        );
        return Err(Failure::Run(fault));
    }
    let both = kernel.iter().fold(simulated.clone(), |trace, flows| overlay(&trace, flows, shift));
    let text = print(simulated.flows.len(), &both, &kernel.concat());
    if let Some(folder) = folder {
        let command = files::command();
        let both = Runs { traces: vec![both], ..runs.clone() };
        files::publish(folder, |path| write_run(path, &command, &document, &both))?;
    }
    Ok(text + &left_out)
}

/// The memory that the command may use, bytes.
fn may_use() -> u64 {
    progress::memory().unwrap_or_else(default_memory)
}

fn read(path: &Path) -> Result<String, Failure> {
    let most = MOST_RECORDED.min(may_use() / PER_BYTE);
    let bytes = read_limited(path, most).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge if most < MOST_RECORDED => {
            files::unreadable(path, &io::Error::new(error.kind(), format!("{error} (--memory)")))
        }
        _ => files::unreadable(path, &error),
    })?;
    // Names of processes may be anything; what is read has plain letters.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The scenario of a file, or that of a folder of results; one seed of it.
fn scenario(path: &Path, overrides: &[String]) -> Result<Scenario, Failure> {
    let name = path.display().to_string();
    let text = if path.is_dir() {
        let summary = path.join("summary.json");
        let wrong =
            |reason: String| Failure::Input(format!("`{}` is no summary of a run: {reason}", summary.display()));
        let mut summary: serde_json::Value =
            serde_json::from_str(&read(&summary)?).map_err(|error| wrong(error.to_string()))?;
        let document: Document =
            serde_json::from_value(summary["scenario"].take()).map_err(|error| wrong(error.to_string()))?;
        Scenario::check(document)?.to_toml()
    } else {
        read(path)?
    };
    let overrides: Vec<String> = overrides.iter().cloned().chain(std::iter::once("seeds=1".to_string())).collect();
    Ok(Scenario::read(&name, &text, &overrides)?)
}

/// Each flow over the time it was seen, in the measured part of the run.
fn print(simulated: usize, trace: &Trace, kernel: &[KernelFlow]) -> String {
    let (mut table, mut notes) = (Table::default(), String::new());
    table.row(["flow", "", "algorithm", "goodput", "mean window", "mean round trip", "retransmitted"]);
    table.row(["", "", "", "Mbit/s", "packets", "ms", "packets"]);
    for (index, flow) in trace.flows.iter().enumerate() {
        let measured = index >= simulated;
        let seen = || trace.at.iter().zip(&flow.window).filter(|(_, window)| window.is_finite()).map(|(at, _)| *at);
        let from = seen().next().unwrap_or(0).max(trace.warmup);
        let to = seen().next_back().unwrap_or(trace.end);
        if measured && to <= trace.warmup {
            let warmup = Span::from_nanos(trace.warmup);
            notes += &format!(
                "{} is over before the warm-up of {} s: it is in the plots; --set warmup=0s or --offset makes means of it\n",
                one_line(&flow.name),
                warmup.as_secs_f64()
            );
        }
        let rate = if from < to { goodput(trace, flow, Window { from, to }) } else { None };
        let mean = |column: &[f64]| {
            let inside =
                trace.at.iter().zip(column).filter(|(at, value)| (from..=to).contains(*at) && value.is_finite());
            let values: Vec<f64> = inside.map(|(_, value)| *value).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let known = !measured
            || kernel.iter().any(|one| {
                flow.name.ends_with(&one.name) && one.samples.iter().all(|sample| sample.retransmitted.is_some())
            });
        let shown =
            |value: Option<f64>, scale: f64| value.map_or("–".to_string(), |value| format!("{:.1}", value * scale));
        table.row([
            flow.name.clone(),
            if measured { "measured" } else { "simulated" }.to_string(),
            flow.algorithm.clone(),
            shown(rate, 1e-6),
            shown(mean(&flow.window), 1.0),
            shown(mean(&flow.srtt), 1e3),
            if known { flow.retransmitted.last().map_or("–".to_string(), u64::to_string) } else { "–".to_string() },
        ]);
    }
    format!(
        "{}means over the samples after the warm-up, of which the kernel's come with every acknowledgement or output\n{notes}",
        table.print()
    )
}

const MEASURED: &str =
    "flows called `measured` are a kernel's: they are in plots and traces, and in no measure of all flows together";
/// Bytes of memory for each of a recording: its text, and what it is read as.
const PER_BYTE: u64 = 4;
/// Bytes of a recording: an hour of a busy flow's acknowledgements.
const MOST_RECORDED: u64 = 1 << 30;
