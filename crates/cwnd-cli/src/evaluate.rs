//! `cwnd evaluate`

use std::path::PathBuf;

use clap::Args;
use cwnd::Spec;
use cwnd_lab::evaluate::{EvaluationScale, Profile, plan};
use cwnd_report::page::names;
use cwnd_report::{text, write_evaluation};
use cwnd_run::execute::failed;
use cwnd_run::files::to_json;
use cwnd_run::scenario::Written;

use crate::arguments::whole;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::files;
use crate::progress::CellProgress;
use crate::store::Store;

/// Arguments of `cwnd evaluate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd evaluate simd --quick
  cwnd evaluate aimd:b=1/8 --seeds 10 --out out/aimd
  cwnd evaluate bbr3 --profile access

RFC 9743 states criteria in words, without thresholds, so the result is numbers and no verdicts. The cells are run with the algorithm, with \
Reno and with CUBIC. Criteria that a simulator cannot answer are listed as not covered.")]
pub(crate) struct Arguments {
    /// The algorithm, such as `simd` or `aimd:b=1/8`
    algorithm: Written<Spec>,
    /// The paths and measures: rfc9743 (BCP 133), or access (Wi-Fi, LTE, satellites, DSL, cable and a policer)
    #[arg(long, value_name = "PROFILE", default_value = "rfc9743", value_parser = profile)]
    profile: Profile,
    /// Few settings, 2 seeds of 20 s
    #[arg(long)]
    quick: bool,
    /// Independent runs of each cell [default: 5, or 2 with --quick]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1000))]
    seeds: Option<u32>,
    /// Print one JSON document and nothing else; write no files unless --out is given
    #[arg(long)]
    json: bool,
    /// A new directory for report.html and summary.json [default: out/evaluate-DATE-NUMBER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    figure: Figure,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.profile == Profile::Access && arguments.figure.is_wanted() {
        return Err(Failure::input("--figure: `--profile access` has no plots".to_string()));
    }
    let without = (arguments.json && arguments.out.is_none()).then_some("--json");
    arguments.figure.check_with(without, names::OF_EVALUATIONS)?;
    let plan = plan(&arguments.algorithm, arguments.profile, EvaluationScale::new(arguments.quick, arguments.seeds))
        .map_err(|error| Failure::input(format!("{}: {}", arguments.algorithm, error.fault)))?;
    let results = files::Results { json: arguments.json, out: arguments.out.clone() };
    // Listens to Ctrl-C before there is a directory to remove.
    let progress = CellProgress::start(plan.len())?;
    let directory = results.directory("evaluate")?;
    let evaluated = plan.run(&arguments.store.cells(), &progress);
    drop(progress);
    let evaluation = evaluated.map_err(|_| {
        Failure::stopped("interrupted; finished runs are stored, and the same command continues".to_string())
    })?;
    if let Some(directory) = directory {
        let algorithm = arguments.algorithm.value();
        let path = files::publish(directory, |path| write_evaluation(path, &files::command(), &evaluation, algorithm))?;
        arguments.figure.write_from(&path)?;
    }
    let text = if arguments.json { to_json(&evaluation) } else { text::evaluation(&evaluation) };
    match failed(evaluation.cells, &evaluation.failures) {
        None => Ok(text),
        Some(failed) => {
            crate::print(&text)?;
            Err(Failure::run(failed))
        }
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    Profile::find(text).ok_or_else(|| format!("accepted are {}", Profile::ALL.map(Profile::name).join(", ")))
}
