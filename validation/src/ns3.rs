//! The side of ns-3: builds the program, and tells it the same experiment.

use std::path::{Path, PathBuf};
use std::process::Command;

use cwnd::Bytes;
use cwnd_lab::scenario::Scenario;
use cwnd_sim::{Loss, QueueLimit, Setup};
use rayon::prelude::*;

use crate::case::{Case, Pair};
use crate::outcome::Outcome;
use crate::plot::Series;
use crate::{Error, Side};

/// Compiles `dumbbell.cc`.
pub(crate) fn build(folder: &Path) -> Result<PathBuf, Error> {
    let program = std::env::current_exe().unwrap_or_default().with_file_name("ns3-dumbbell");
    let mut command = Command::new("g++");
    command.args(["-O2", "-std=c++17"]).arg(folder.join("dumbbell.cc")).arg("-o").arg(&program).args(LIBRARIES);
    output(&mut command)?;
    Ok(program)
}

/// Runs every seed of every job, as many at a time as there are cores.
pub(crate) fn run(program: &Path, jobs: &[(usize, &Case, &Pair)], scenarios: &[Scenario]) -> Result<Vec<Side>, Error> {
    let runs: Vec<(usize, u64)> =
        (0..jobs.len()).flat_map(|job| scenarios[job].seeds().map(move |seed| (job, seed))).collect();
    let outcomes = runs.par_iter().with_max_len(1).map(|(job, seed)| {
        let (_, case, pair) = jobs[*job];
        let trace = program.with_file_name(format!("ns3-{}-{}.csv", case.name(), pair.theirs));
        let mut command = Command::new(program);
        let arguments =
            arguments(&scenarios[*job].setup(*seed)).ok_or_else(|| Error::Unlike(case.name().to_owned()))?;
        command.args(arguments).arg(format!("--algorithm={}", pair.theirs));
        let first = scenarios[*job].seeds().next() == Some(*seed);
        if first {
            command.arg(format!("--trace={}", trace.display()));
        }
        let text = output(&mut command)?;
        let outcome: Outcome = serde_json::from_str(&text)
            .map_err(|error| Error::Program { command: shown(&command), reason: error.to_string() })?;
        println!("{} {} seed {seed}: {:.1} s in ns-3", case.name(), pair.theirs, outcome.wall_s);
        let windows = if first { read_windows(&trace)? } else { Series::default() };
        Ok((*job, outcome, windows))
    });
    let outcomes: Vec<(usize, Outcome, Series)> = outcomes.collect::<Result<_, Error>>()?;

    let mut sides: Vec<Side> = jobs.iter().map(|_| Side { outcomes: Vec::new(), windows: Series::default() }).collect();
    for (job, outcome, windows) in outcomes {
        if sides[job].outcomes.is_empty() {
            sides[job].windows = windows;
        }
        sides[job].outcomes.push(outcome);
    }
    Ok(sides)
}

/// The options of `dumbbell.cc` for a setup; none if the setup has what the program does not know.
fn arguments(setup: &Setup) -> Option<Vec<String>> {
    let [bottleneck, reverse] = setup.links.as_slice() else { return None };
    let rate = bottleneck.rate?;
    let QueueLimit::Packets(limit) = bottleneck.queue else { return None };
    let loss = match bottleneck.loss {
        Loss::None => 0.0,
        Loss::Bernoulli(p) => p,
        Loss::Periodic(_) => return None,
    };
    let flow = setup.flows.first()?;
    let wire = (flow.packet, flow.payload) == (Bytes(1500), Bytes(1458));
    if !wire || flow.paced || flow.delayed_ack.is_some() || flow.ecn.is_some() || flow.max_window.is_some() {
        return None;
    }
    let rtt = (bottleneck.delay + reverse.delay + flow.access_rtt).as_secs_f64();
    let mut arguments = vec![
        format!("--rate={rate}"),
        format!("--rtt={rtt}"),
        format!("--limit={limit}"),
        format!("--loss={loss}"),
        format!("--flows={}", setup.flows.len()),
        format!("--duration={}", setup.duration.as_secs_f64()),
        format!("--warmup={}", setup.warmup.as_secs_f64()),
        format!("--spread={}", setup.variation.rtt),
        format!("--jitter={}", setup.variation.jitter),
        format!("--seed={}", setup.seed),
    ];
    if let Some(sampling) = setup.sampling {
        arguments.push(format!("--interval={}", sampling.interval.as_secs_f64()));
    }
    if let Some(red) = bottleneck.red {
        arguments.push("--queue=red".to_owned());
        arguments.push(format!("--redMin={}", red.min));
        arguments.push(format!("--redMax={}", red.max));
        arguments.push(format!("--redMaxP={}", red.max_p));
        arguments.push(format!("--redWeight={}", red.weight));
    }
    Some(arguments)
}

fn read_windows(path: &Path) -> Result<Series, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let mut series = Series::default();
    for line in text.lines().skip(1) {
        let mut cells = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN));
        series.at_s.extend(cells.next());
        for (flow, window) in cells.enumerate() {
            if series.flows.len() == flow {
                series.flows.push(Vec::new());
            }
            series.flows[flow].push(window);
        }
    }
    Ok(series)
}

fn output(command: &mut Command) -> Result<String, Error> {
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
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
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
