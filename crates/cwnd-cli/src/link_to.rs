//! `cwnd link-to`

use std::path::PathBuf;

use clap::Args;
use cwnd_report::page::link::Link;
use cwnd_run::address::Linked;
use cwnd_run::files::read_text;
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::{Document, Scenario, Source, apart};

use crate::failure::Failure;
use crate::files;
use crate::progress::TimeProgress;

/// Arguments of `cwnd link-to`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd link-to scenarios/dumbbell.toml
  cwnd link-to scenarios/dumbbell.toml --set dumbbell.rate=1gbit --site https://example.org/cwnd/
`cwnd run 'ADDRESS'` runs the scenario of such an address, in quotes because of its `#`.")]
pub(crate) struct Arguments {
    /// A scenario in TOML that reads no other file
    scenario: PathBuf,
    /// Change a key: `dumbbell.rate=1gbit`, `flow.0.algorithm=simd`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The address of a page of `cwnd site` or `cwnd live` [default: none, which prints the fragment alone]
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    site: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let name = arguments.scenario.display().to_string();
    let source = read_text(&arguments.scenario).map_err(|error| files::unreadable(&arguments.scenario, &error))?;
    apart(&arguments.set)?;
    let source = Source::read(&name, &source, &arguments.set)?;
    let scenario = Scenario::of(&source)?;
    let site = arguments.site.split('#').next().unwrap_or_default();
    if scenario.has_outside() {
        return Ok(format!("{site}{}\n", replaced(&scenario)?.fragment));
    }
    let table: toml::Table = source.document()?;
    let toml = table.to_string();
    cwnd_live::read(&toml).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let fragment = Linked { toml, ..Linked::default() }.fragment();
    Linked::read(&fragment).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    Ok(format!("{site}{fragment}\n"))
}

/// The link of a scenario with senders of others, which the page does not run: ours run in their places, and those of the first seed are recorded.
fn replaced(scenario: &Scenario) -> Result<Link, Failure> {
    let document = scenario.document();
    let first = Scenario::check(Document { seeds: 1, ..document.clone() })?;
    let runs = run_all(vec![first], &TimeProgress::start()?)?;
    let traces: Vec<_> = runs.iter().filter_map(|runs| runs.traces.first()).collect();
    Link::replaced(document, false, &traces).ok_or_else(|| {
        Failure::input(
            "the page has no algorithm for a sender of this scenario, or the scenario is too large for it".to_string(),
        )
    })
}
