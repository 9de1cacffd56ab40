//! Results as text for a terminal.

mod comparison;
mod sweep;

use super::json;
use super::table::{Table, short};
use cwnd_lab::evaluate::{Evaluation, EvaluationRow, LeftOut};
use cwnd_run::measure::digits::{cell, legend, number_to};
use cwnd_run::measure::{Measure, table};
use cwnd_text::{counted, one_line};

pub use super::table::wrapped;
pub use comparison::{comparison, differences, next_of_comparison};
pub(crate) use sweep::{TIED, listed, question};
pub use sweep::{sweep, sweep_status};

/// The output of `cwnd evaluate`.
#[must_use]
pub fn evaluation(evaluation: &Evaluation) -> String {
    let Evaluation { algorithm, seeds, .. } = evaluation;
    let mut text = format!(
        "{}{}\n{}",
        wrapped(&format!(
            "{} {}, compared with Reno and CUBIC in its place",
            one_line(algorithm),
            evaluation.question()
        )),
        evaluation.runs(),
        wrapped(&legend(*seeds as usize)),
    );
    for section in &evaluation.sections {
        text.push_str(&format!("\n{}", wrapped(&format!("{} {}", section.number, section.title))));
        let left_out = evaluation.left_out.iter().filter(|one| one.section == section.number);
        let line =
            |one: &LeftOut| wrapped(&one_line(&format!("left out ({}): {algorithm}: {}", one.traffic, one.reason)));
        let left_out: String = left_out.map(line).collect();
        if !section.covered {
            let why = wrapped(&format!("not covered: {}", section.reading));
            text.push_str(if left_out.is_empty() { &why } else { &left_out });
            continue;
        }
        text.push_str(&format!("{}{left_out}\n", wrapped(section.reading)));
        text.push_str(&numbers(algorithm, &section.rows).fitted());
    }
    for warning in &evaluation.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
    }
    text
}

/// A line for each path with its traffic, and below it a row for each measure.
fn numbers(algorithm: &str, rows: &[EvaluationRow]) -> Table {
    let mut table = Table::left();
    let references = ["reno", "cubic"];
    let names = short([algorithm].into_iter().chain(references), LONGEST);
    table.row(std::iter::once("").chain(names.iter().map(String::as_str)));
    let mut above = String::new();
    for row in rows {
        let place = format!("{} {} {}, {}", row.rate, row.rtt, row.queue, row.traffic);
        if place != above {
            table.line(&place);
            above = place;
        }
        let cells = [row.algorithm, row.reno, row.cubic].map(|estimate| cell(estimate, row.shown.scale));
        table.row(std::iter::once(format!("  {}", row.heading())).chain(cells));
    }
    table
}

/// The output of `cwnd run`.
#[must_use]
pub fn run(document: &json::Run) -> String {
    let origin = &document.origin;
    let mut text = origin.scenario.title.as_ref().map_or_else(String::new, |title| wrapped(&one_line(title)));
    text.push_str(&format!(
        "{}{} of {} s, warm-up {} s\n\n",
        wrapped(&format!("on {}", one_line(&origin.path))),
        counted(origin.seeds, "seed"),
        origin.duration_s,
        origin.warmup_s
    ));
    let finite = document.flows.iter().any(|flow| flow.size_packets.is_some());
    let with_end = |row: [String; 7], end: String| row.into_iter().chain(finite.then_some(end));
    let mut flows = Table::default();
    let heading = ["flow", "goodput", "max-min share", "loss", "retransmitted", "RTT above base", "99th percentile"];
    flows.row(with_end(heading.map(String::from), "complete after".to_string()));
    flows.row(with_end(["", "Mbit/s", "Mbit/s", "%", "%", "ms", "ms"].map(String::from), "s".to_string()));
    for flow in document.flows.iter().take(MAX_ROWS) {
        let row = [
            flow.flow.clone(),
            cell(flow.goodput_bps, 1e-6),
            number_to(flow.fair_share_bps.map(|share| share * 1e-6), 1),
            cell(flow.loss_rate, 100.0),
            cell(flow.retransmission_ratio, 100.0),
            cell(flow.delay_mean_s, 1e3),
            cell(flow.delay_p99_s, 1e3),
        ];
        flows.row(with_end(row, cell(flow.completion_time_s, 1.0)));
    }
    text.push_str(&flows.fitted());
    if document.flows.len() > MAX_ROWS {
        text.push_str(&format!("and {} more flows: see --json\n", document.flows.len() - MAX_ROWS));
    }
    for measure in [&table::JAIN, &table::GOODPUT] {
        let total = cell(measure.of(&document.measures), measure.scale.factor());
        let total = format!("{total} {}", measure.scale.unit());
        text.push_str(&format!("{} of all flows: {}\n", measure.title, total.trim_end()));
    }

    text.push_str(&completion(&document.completion));
    text.push_str(&cbr(&document.cbr));
    text.push_str(&arrivals(&document.arrivals));
    let mut links = Table::default();
    links.row(std::iter::once("link").chain(OF_LINKS.iter().map(|measure| measure.heading())));
    links.row(std::iter::once("").chain(OF_LINKS.iter().map(|measure| measure.scale.unit())));
    for link in document.links.iter().filter(|link| link.rate_bps.is_some()).take(MAX_ROWS) {
        let cells = OF_LINKS.iter().map(|measure| cell(measure.of(&link.measures.0), measure.scale.factor()));
        links.row(std::iter::once(link.link.clone()).chain(cells));
    }
    let legend = legend(origin.seeds as usize);
    let digests = wrapped(&format!("digests: {}", document.digests.join(" ")));
    text.push_str(&format!("\n{}{}\n{digests}", links.fitted(), wrapped(&legend)));
    for warning in &document.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
    }
    text
}

/// A table of the groups of finite flows: to the arrival of the last packet, and to its acknowledgement.
fn completion(groups: &[json::GroupCompletion]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let ways: [(&str, Times); 2] = [
        ("to the arrival of the last packet at the receiver", |group| &group.arrived),
        ("to the last acknowledgement at the sender", |group| &group.acknowledged),
    ];
    let mut text = String::new();
    for (way, times) in ways {
        let mut table = Table::default();
        table.row(["group", "complete", "median", "99th percentile", "slowest"]);
        table.row(["", "flows", "s", "s", "s"]);
        for group in groups.iter().take(MAX_ROWS) {
            let json::CompletionTimes { p50_s, p99_s, slowest_s } = times(group);
            let complete = format!("{} of {}", number_to(group.completed.map(|count| count.mean), 1), group.flows);
            let complete = complete.replace(".0 of", " of");
            let times = [p50_s, p99_s, slowest_s].map(|time| cell(*time, 1.0));
            table.row([group.group.clone(), complete].into_iter().chain(times));
        }
        let heading =
            wrapped(&format!("completion: from the start of a flow, its handshake or its first packet, {way}"));
        text.push_str(&format!("\n{heading}{}", table.fitted()));
    }
    if groups.len() > MAX_ROWS {
        text.push_str(&format!("and {} more groups: see --json\n", groups.len() - MAX_ROWS));
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
    format!("\n{}", table.fitted())
}

fn arrivals(flow_arrivals: &[json::Arrivals]) -> String {
    let mut text = String::new();
    for group in flow_arrivals {
        let mut table = Table::default();
        table.row(["packets", "flows", "mean", "median", "95th percentile", "99th percentile"]);
        table.row(["", "all seeds", "s", "s", "s", "s"]);
        let mut above = 0;
        for class in &group.completion {
            let sizes = match class.up_to_packets {
                Some(up_to) => format!("{} to {up_to}", above + 1),
                None => format!("more than {above}"),
            };
            above = class.up_to_packets.unwrap_or(above);
            let times = [class.mean_s, class.p50_s, class.p95_s, class.p99_s].map(|time| cell(time, 1.0));
            table.row([sizes, class.flows.to_string()].into_iter().chain(times));
        }
        let rates = [cell(group.flows_per_s, 1.0), cell(group.requested_bps, 1e-6), cell(group.refused_share, 100.0)];
        let [flows, requested, refused] = rates;
        let rates = format!("{flows} flows/s arrive and ask for {requested} Mbit/s; {refused} % are refused");
        let heading = wrapped(&one_line(&format!("completion of {}", group.arrivals)));
        text.push_str(&format!("\n{heading}{}{}", table.fitted(), wrapped(&rates)));
    }
    text
}

/// One of the two times of a group.
type Times = fn(&json::GroupCompletion) -> &json::CompletionTimes;

/// Columns of the table of links.
static OF_LINKS: [&Measure; 5] =
    [&table::UTILISATION, &table::LOSS_RATE, &table::MARK_RATE, &table::QUEUE_DELAY_MEAN, &table::QUEUE_DELAY_P99];
/// Characters of the name of an evaluated algorithm.
const LONGEST: usize = 20;
/// A terminal's height; more rows are no table to judge.
const MAX_ROWS: usize = 24;
