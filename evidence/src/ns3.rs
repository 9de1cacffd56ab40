//! The side of ns-3: builds the program, and runs the same experiment with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use cwnd::Bytes;
use cwnd_sim::{Discipline, Loss, QueueLimit, Setup};
use rayon::prelude::*;

use crate::outcome::Outcome;
use crate::plot::Series;
use crate::provenance::Provenance;
use crate::record::Record;
use crate::{Error, Experiment};

/// Compiles `dumbbell.cc`.
pub(crate) fn build(directory: &Path) -> Result<PathBuf, Error> {
    let program = std::env::current_exe().unwrap_or_default().with_file_name("ns3-dumbbell");
    let mut command = Command::new("g++");
    command.args(["-O2", "-std=c++17"]).arg(directory.join("dumbbell.cc")).arg("-o").arg(&program).args(LIBRARIES);
    output(&mut command)?;
    Ok(program)
}

/// Runs every seed of every experiment, as many at a time as there are cores.
pub(crate) fn run(program: &Path, experiments: &[&Experiment<'_>], sources: &Provenance) -> Result<Vec<Record>, Error> {
    let version = version();
    let mut records = Vec::new();
    let mut runs = Vec::new();
    for (index, experiment) in experiments.iter().enumerate() {
        let arguments = arguments(experiment)?;
        runs.extend(experiment.scenario.seeds().map(|seed| (index, seed, arguments.clone())));
        records.push(Record {
            case: experiment.case.name().to_owned(),
            algorithm: experiment.pair.theirs.clone(),
            arguments,
            version: version.clone(),
            sources: sources.clone(),
            outcomes: Vec::new(),
            window: Series::default(),
        });
    }
    let outcomes = runs.par_iter().with_max_len(1).map(|(index, seed, arguments)| {
        let experiment = experiments[*index];
        let trace = program.with_file_name(format!("ns3-{index}-{seed}.csv"));
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).arg(format!("--seed={seed}")).arg(format!("--trace={}", trace.display()));
        let text = output(&mut command)?;
        let outcome: Outcome = serde_json::from_str(&text)
            .map_err(|error| Error::Program { command: shown(&command), reason: error.to_string() })?;
        let (case, algorithm) = (experiment.case.name(), &experiment.pair.theirs);
        println!("{case} {algorithm} seed {seed}: {:.0} s in ns-3", outcome.wall_s);
        Ok((*index, outcome, read_window(&trace, experiment)?))
    });
    let outcomes: Vec<(usize, Outcome, Series)> = outcomes.collect::<Result<_, Error>>()?;
    for (index, outcome, window) in outcomes {
        if records[index].outcomes.is_empty() {
            records[index].window = window;
        }
        records[index].outcomes.push(outcome);
    }
    Ok(records)
}

/// The options of `dumbbell.cc` for an experiment, the seed apart.
pub(crate) fn arguments(experiment: &Experiment<'_>) -> Result<String, Error> {
    let setup = experiment.scenario.setup(0);
    let options = options(&setup).ok_or_else(|| Error::Unlike(experiment.case.name().to_owned()))?;
    Ok(format!("--algorithm={} {}", experiment.pair.theirs, options.join(" ")))
}

/// None if the setup has what the program does not know.
fn options(setup: &Setup) -> Option<Vec<String>> {
    let [bottleneck, reverse] = setup.links.as_slice() else { return None };
    let rate = bottleneck.rate?;
    let QueueLimit::Packets(limit) = bottleneck.queue else { return None };
    let loss = match bottleneck.loss {
        Loss::None => 0.0,
        Loss::Bernoulli(p) => p,
        Loss::Periodic(_) | Loss::GilbertElliott(_) => return None,
    };
    if !bottleneck.rate_steps.steps.is_empty() || !bottleneck.delay_steps.steps.is_empty() {
        return None;
    }
    let flow = setup.flows.first()?;
    let wire = (flow.packet, flow.payload) == (Bytes(1500), Bytes(1458));
    if !wire || flow.paced || flow.delayed_ack.is_some() || flow.ecn.is_some() || flow.max_window.is_some() {
        return None;
    }
    let rtt = (bottleneck.delay + reverse.delay + flow.access_rtt).as_secs_f64();
    let mut options = vec![
        format!("--rate={rate}"),
        format!("--rtt={rtt}"),
        format!("--limit={limit}"),
        format!("--loss={loss}"),
        format!("--flows={}", setup.flows.len()),
        format!("--duration={}", setup.duration.as_secs_f64()),
        format!("--warmup={}", setup.warmup.as_secs_f64()),
        format!("--spread={}", setup.variation.rtt),
        format!("--jitter={}", setup.variation.jitter),
    ];
    if let Some(sampling) = setup.sampling {
        options.push(format!("--interval={}", sampling.interval.as_secs_f64()));
    }
    match bottleneck.discipline {
        Discipline::DropTail => {}
        Discipline::Red(red) if red.gentle && red.wait && !red.byte_mode && red.mean_packet == flow.packet => {
            options.push("--queue=red".to_owned());
            options.push(format!("--redMin={}", red.min));
            options.push(format!("--redMax={}", red.max));
            options.push(format!("--redMaxP={}", red.max_p));
            options.push(format!("--redWeight={}", red.weight));
        }
        _ => return None,
    }
    Some(options)
}

/// The first flow's window, from the second column of a table with a title line.
fn read_window(path: &Path, experiment: &Experiment<'_>) -> Result<Series, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let points = text.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',').map(|cell| cell.parse::<f64>().ok());
        Some((cells.next()??, cells.next()??))
    });
    Ok(Series::plotted(points, experiment.scenario.warmup().as_secs_f64()))
}

/// As Debian names it.
fn version() -> String {
    let mut command = Command::new("dpkg-query");
    output(command.args(["--show", "--showformat=${Version}", "libns3-dev"])).unwrap_or_else(|_| "unknown".to_owned())
}

/// The output of a command; its error output if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String, Error> {
    let failed = |command: &Command, reason: String| Error::Program { command: shown(command), reason };
    let output = command.output().map_err(|error| failed(command, error.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(failed(command, format!("{}: {}", output.status, said.trim())))
    }
}

fn shown(command: &Command) -> String {
    let arguments = std::iter::once(command.get_program()).chain(command.get_args());
    arguments.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Named one by one: the files Debian ships for `pkg-config` ask for libraries that its package does not bring. Types that are
/// looked up by name need their library although no symbol of it is used.
const LIBRARIES: &[&str] = &[
    "-Wl,--no-as-needed",
    "-lns3-core",
    "-lns3-network",
    "-lns3-internet",
    "-lns3-applications",
    "-lns3-point-to-point",
    "-lns3-traffic-control",
];
