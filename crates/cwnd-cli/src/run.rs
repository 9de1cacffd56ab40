//! `cwnd run`

use std::fs;
use std::path::PathBuf;

use clap::Args;
use cwnd_lab::output::formats::{Format, write_formats};
use cwnd_lab::output::{json, to_json, write_run};
use cwnd_lab::run::{Runs, run as run_all};
use cwnd_lab::scenario::Scenario;

use crate::failure::Failure;
use crate::files;
use crate::progress::Progress;
use crate::table::{Table, cell};

/// Which scenario, and what to change in it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd run scenarios/dumbbell.toml
  cwnd run scenarios/dumbbell.toml --set dumbbell.rate=1gbit --set flow.0.algorithm=simd
  cwnd run scenarios/dumbbell.toml --check
  cwnd run scenarios/recovery.toml --trace pcapng,qlog
`cwnd schema` prints the JSON Schema of scenario files, with every key explained; editors complete with it.")]
pub(crate) struct Arguments {
    /// A TOML file; the folder scenarios/ has some to start from
    scenario: PathBuf,
    /// Change a key: `dumbbell.rate=1gbit`, `flow.0.algorithm=simd`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Independent runs, instead of the scenario's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// Only check the scenario
    #[arg(long)]
    check: bool,
    /// Write the traces for other tools too: pcapng (Wireshark), qlog or qlog:legacy (qvis), flent, parquet (tables; not in every
    /// build); several with commas between them
    ///
    /// pcapng and qlog have every packet at the senders in the first seed. docs/traces.md says what is in the files and how to
    /// open them.
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    trace: Vec<Format>,
    #[command(flatten)]
    files: files::Results,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let name = arguments.scenario.display().to_string();
    let text = fs::read_to_string(&arguments.scenario)
        .map_err(|error| Failure::Input(format!("cannot read `{name}`: {error}")))?;
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seeds.map(|seeds| format!("seeds={seeds}")));
    let scenario = Scenario::read(&name, &text, &overrides)?;
    if arguments.check {
        return Ok(format!("{name} is a scenario\n"));
    }
    let wants_packets = arguments.trace.iter().any(|format| format.needs_packets());
    let scenario = if wants_packets { scenario.logging_packets() } else { scenario };
    let progress = Progress::start(std::iter::once(&scenario))?;
    let folder = arguments.files.folder("run")?;
    if folder.is_none() && !arguments.trace.is_empty() {
        return Err(Failure::Input("--trace writes files: with --json, name their folder with --out".to_string()));
    }
    let runs = run_all(vec![scenario], &|passed| progress.advance(passed))?;
    drop(progress);

    let runs = runs.first().expect("one scenario was run");
    let document = json::Run::of(runs).expect("a scenario has at least one seed");
    if let Some(folder) = folder {
        let command = files::command();
        files::publish(folder, |path| {
            write_run(path, &command, &document, runs)?;
            write_formats(path, &command, &arguments.trace, runs)
        })?;
        warn_of_full_logs(runs);
    }
    Ok(if arguments.files.json { to_json(&document) } else { print(&document) })
}

/// A log that ends early is not to be taken for a flow that does.
fn warn_of_full_logs(runs: &Runs) {
    let flows = || runs.traces.iter().flat_map(|trace| &trace.flows);
    if let Some(first) = flows().filter_map(|flow| flow.log.full).min() {
        let count = flows().filter(|flow| flow.log.full.is_some()).count();
        eprintln!(
            "warning: the packets of {count} flows are not all written: the first of them ends at {:.3} s",
            first as f64 * 1e-9
        );
    }
}

fn print(document: &json::Run) -> String {
    let origin = &document.origin;
    let mut text = origin.scenario.title.as_ref().map_or_else(String::new, |title| format!("{title}\n"));
    text.push_str(&format!(
        "{} seeds of {} s, measured after {} s; mean ± half the 95 % confidence interval\n\n",
        origin.seeds, origin.duration_s, origin.warmup_s
    ));
    let finite = document.flows.iter().any(|flow| flow.size_packets.is_some());
    let with_end = |row: [String; 5], end: String| row.into_iter().chain(finite.then_some(end));
    let mut flows = Table::default();
    let heading = ["flow", "goodput", "max-min share", "loss", "retransmitted"];
    flows.row(with_end(heading.map(String::from), "complete after".to_string()));
    flows.row(with_end(["", "Mbit/s", "Mbit/s", "%", "%"].map(String::from), "s".to_string()));
    for flow in document.flows.iter().take(MAX_ROWS) {
        let row = [
            flow.flow.clone(),
            cell(flow.goodput_bps, 1e-6),
            flow.fair_share_bps.map_or("–".to_string(), |share| format!("{:.1}", share * 1e-6)),
            cell(flow.loss_rate, 100.0),
            cell(flow.retransmission_ratio, 100.0),
        ];
        flows.row(with_end(row, cell(flow.completion_time_s, 1.0)));
    }
    text.push_str(&flows.print());
    if document.flows.len() > MAX_ROWS {
        text.push_str(&format!("and {} more flows: see --json\n", document.flows.len() - MAX_ROWS));
    }
    let total = [
        ("Jain index of all flows", document.measures.jain, 1.0, ""),
        ("goodput of all flows", document.measures.goodput_bps, 1e-6, " Mbit/s"),
    ];
    for (what, estimate, scale, unit) in total {
        text.push_str(&format!("{what}: {}{unit}\n", cell(estimate, scale)));
    }

    text.push_str(&cbr(&document.cbr));
    text.push_str(&arrivals(&document.arrivals));
    let mut links = Table::default();
    links.row(["link", "utilisation", "loss", "marked", "queueing delay", "99th percentile"]);
    links.row(["", "%", "%", "%", "ms", "ms"]);
    for link in document.links.iter().filter(|link| link.rate_bps.is_some()).take(MAX_ROWS) {
        links.row([
            link.link.clone(),
            cell(link.utilisation, 100.0),
            cell(link.loss_rate, 100.0),
            cell(link.mark_rate, 100.0),
            cell(link.queue_delay_mean_s, 1e3),
            cell(link.queue_delay_p99_s, 1e3),
        ]);
    }
    text.push_str(&format!("\n{}\ndigests: {}\n", links.print(), document.digests.join(" ")));
    for warning in &document.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

fn cbr(flows: &[json::Cbr]) -> String {
    if flows.is_empty() {
        return String::new();
    }
    let mut table = Table::default();
    table.row(["without congestion control", "sent", "arrived", "loss"]);
    table.row(["", "Mbit/s", "Mbit/s", "%"]);
    for flow in flows.iter().take(MAX_ROWS) {
        let (sent, delivered) = (cell(flow.sent_bps, 1e-6), cell(flow.delivered_bps, 1e-6));
        table.row([flow.cbr.clone(), sent, delivered, cell(flow.loss_rate, 100.0)]);
    }
    format!("\n{}", table.print())
}

fn arrivals(crowds: &[json::Arrivals]) -> String {
    let mut text = String::new();
    for crowd in crowds {
        let mut table = Table::default();
        let heading = format!("completion of {}", crowd.arrivals);
        table.row([heading.as_str(), "flows", "mean", "median", "95th percentile", "99th percentile"]);
        table.row(["packets", "all seeds", "s", "s", "s", "s"]);
        let mut above = 0;
        for class in &crowd.completion {
            let sizes = match class.up_to_packets {
                Some(up_to) => format!("{} to {up_to}", above + 1),
                None => format!("more than {above}"),
            };
            above = class.up_to_packets.unwrap_or(above);
            let times = [class.mean_s, class.p50_s, class.p95_s, class.p99_s].map(|time| cell(time, 1.0));
            table.row([sizes, class.flows.to_string()].into_iter().chain(times));
        }
        let rates = [cell(crowd.flows_per_s, 1.0), cell(crowd.requested_bps, 1e-6), cell(crowd.refused_share, 100.0)];
        let [flows, requested, refused] = rates;
        text.push_str(&format!(
            "\n{}{flows} flows/s arrive and ask for {requested} Mbit/s; {refused} % are refused\n",
            table.print()
        ));
    }
    text
}

/// A terminal's height; more rows are no table to judge.
const MAX_ROWS: usize = 24;
