//! `cwnd overlay`

use std::path::{Path, PathBuf};

use clap::Args;
use cwnd::Span;
use cwnd_lab::overlay::{Input, InputError, Offset, Reader, labels, lay};
use cwnd_report::overlay::Overlay;
use cwnd_report::page::names;
use cwnd_report::write_overlay;
use cwnd_run::execute::default_memory;
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::{Scenario, Written, apart};
use cwnd_text::{counted, one_line};

use crate::arguments::whole;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::progress::{self, TimeProgress};

/// The inputs of an overlay.
#[derive(Args, Debug)]
#[command(after_help = "\
Record on Linux, while the transfer runs:
  trace-cmd record -e tcp:tcp_probe; trace-cmd report > probe.txt
  while :; do date +%s.%N; ss -tin dst ADDRESS; sleep 0.1; done > ss.txt
  tcpdump -s 96 -w sender.pcap tcp and host ADDRESS
Examples:
  cwnd overlay out/run-2026-11-22-1 out/run-2026-11-22-2 --label before --label after
  cwnd overlay out/compare-2026-11-22-1/traces/bbr3.flows.csv sender.pcap --offset 0s --offset 1.5s
  cwnd overlay scenarios/dumbbell.toml probe.txt --set flow.0.algorithm=cubic
  cwnd overlay scenarios/dumbbell.toml --kernel ss.txt
A file is recognised by its content. Runs show their first seed. docs/traces.md describes the kinds of files.")]
pub(crate) struct Arguments {
    /// Directories of results of `cwnd run`, `compare` or `overlay`, files of their traces (CSV), scenarios (TOML), which are run, or recordings:
    /// events of tcp:tcp_probe (ftrace, trace-cmd, perf), outputs of `ss -ti` with times, qlog, pcap or pcapng at the sender
    #[arg(value_name = "RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// More inputs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    kernel: Vec<PathBuf>,
    /// The name of the flows of an input, instead of its file; may be repeated, in the order of the inputs
    #[arg(long, value_name = "NAME")]
    label: Vec<String>,
    /// Change a key of the scenarios, and run a directory of `cwnd run` again; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The time of the first event of recordings, one for all or one for each; with one for each input, also the time of runs [default: 0s]
    #[arg(long, value_name = "TIME")]
    offset: Vec<Written<Span>>,
    /// Payload bytes of a segment, where a recording has none
    #[arg(long, value_name = "BYTES", default_value_t = 1448, value_parser = whole::<u32>(1..=65_535))]
    mss: u32,
    /// A new directory for report.html, summary.json and the traces [default: out/overlay-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let paths: Vec<&Path> = arguments.inputs.iter().chain(&arguments.kernel).map(PathBuf::as_path).collect();
    let labels = arguments.labels(&paths)?;
    let given: Vec<u64> = arguments.offset.iter().map(|offset| offset.value().as_nanos()).collect();
    let offsets = Arguments::offsets(&given, paths.len())?;
    arguments.figure.check(names::OF_OVERLAYS)?;
    apart(&arguments.set)?;
    let mut reader = Reader::new(&arguments.set, arguments.mss, may_use());
    let inputs = paths.iter().map(|path| reader.read(path)).collect::<Result<Vec<_>, _>>()?;
    reader.warnings().iter().for_each(|warning| say!("warning: {warning}"));
    reader.all_set()?;
    Offset::idle(&given, &inputs).into_iter().for_each(|idle| say!("warning: --offset {idle}"));
    let progress = TimeProgress::start()?;
    let directory = files::directory(arguments.out.as_deref(), "overlay", true)?;
    let scenarios: Vec<Scenario> = inputs.iter().filter_map(Input::scenario).cloned().collect();
    let at_zero = inputs.iter().zip(&offsets).all(|(input, offset)| input.scenario().is_none() || offset.of_run == 0);
    let linked = match scenarios.as_slice() {
        [one] if at_zero => Some(one.document().clone()),
        _ => None,
    };
    let runs = run_all(scenarios, &progress)?;
    drop(progress);
    let parts = lay(&inputs, &labels, &offsets, runs);
    reader.fits(&parts)?;
    let document = Overlay::of(&parts);
    let left_out: String = reader.left_out(&labels).into_iter().map(|note| note + "\n").collect();
    let text = document.print() + &left_out;
    if let Some(directory) = directory {
        let path = files::publish(directory, |path| {
            write_overlay(path, (&files::command(), &text), &document, &parts, linked.as_ref())
        })?;
        arguments.figure.write_from(&path)?;
    }
    Ok(text)
}

impl Arguments {
    fn labels(&self, paths: &[&Path]) -> Result<Vec<String>, Failure> {
        if self.label.len() > paths.len() {
            let (given, inputs) = (counted(self.label.len(), "label"), counted(paths.len(), "input"));
            return Err(Failure::input(format!("--label: {given} for {inputs}: at most one for each is accepted")));
        }
        let mut labels = labels(paths);
        labels.iter_mut().zip(&self.label).for_each(|(label, given)| given.clone_into(label));
        match labels.iter().enumerate().find(|(index, label)| labels[..*index].contains(label)) {
            Some((_, label)) => {
                let fault = format!("--label: two inputs cannot both be `{label}`");
                Err(Failure::input(one_line(&fault)))
            }
            None => Ok(labels),
        }
    }

    fn offsets(given: &[u64], inputs: usize) -> Result<Vec<Offset>, Failure> {
        Offset::each(given, inputs).ok_or_else(|| {
            let (given, inputs) = (counted(given.len(), "offset"), counted(inputs, "input"));
            Failure::input(format!("--offset: {given} for {inputs}: accepted is one, or one for each input"))
        })
    }
}

/// The memory that the command may use, bytes.
pub(crate) fn may_use() -> u64 {
    progress::memory().unwrap_or_else(default_memory)
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Scenario(error) => error.into(),
            InputError::Memory { .. } => {
                Self::run(format!("{error} (--memory): take fewer files, or fewer samples (--set sampling=TIME)"))
            }
            InputError::NotRunAgain { .. } | InputError::NothingToSet { .. } => {
                Self::input(one_line(&format!("--set {error}")))
            }
            InputError::TooLong { .. } => Self::input(format!("{error} (--memory)")),
            _ => Self::input(error.to_string()),
        }
    }
}
