//! Results as text for a terminal.

mod comparison;
mod sweep;

use super::json;
use super::table::Table;
use cwnd_lab::evaluate::Evaluation;
use cwnd_run::measure::digits::{cell, legend};
use cwnd_text::{counted, one_line};

pub use comparison::{comparison, differences, next_of_comparison};
pub(crate) use sweep::{TIED, listed, question};
pub use sweep::{sweep, sweep_status};

/// What `cwnd evaluate` prints.
#[must_use]
pub fn evaluation(evaluation: &Evaluation) -> String {
    let Evaluation { algorithm, seeds, duration_s, warmup_s, .. } = evaluation;
    let mut text = format!(
        "{algorithm} under the headings of RFC 9743, beside Reno and CUBIC in its place\n\
         {} of {duration_s} s, measured after {warmup_s} s\n{}\n",
        counted(*seeds, "seed"),
        legend(*seeds as usize),
    );
    for section in &evaluation.sections {
        text.push_str(&format!("\n{} {}\n", section.number, section.title));
        let left_out = evaluation.left_out.iter().filter(|one| one.section == section.number);
        let left_out: String =
            left_out.map(|one| format!("left out ({}): {algorithm}: {}\n", one.traffic, one.reason)).collect();
        if !section.covered {
            let why = if left_out.is_empty() { format!("not covered: {}\n", section.reading) } else { left_out };
            text.push_str(&why);
            continue;
        }
        text.push_str(&format!("{}\n{left_out}\n", section.reading));
        let mut table = Table::left();
        table.row(["path", "traffic", "measure", algorithm.as_str(), "reno", "cubic"]);
        for row in &section.rows {
            table.row([
                format!("{} {} {}", row.rate, row.rtt, row.queue),
                row.traffic.clone(),
                row.heading(),
                cell(row.algorithm, row.shown.scale),
                cell(row.reno, row.shown.scale),
                cell(row.cubic, row.shown.scale),
            ]);
        }
        text.push_str(&table.print());
    }
    for warning in &evaluation.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
    }
    text
}

/// What `cwnd run` prints.
#[must_use]
pub fn run(document: &json::Run) -> String {
    let origin = &document.origin;
    let mut text = origin.scenario.title.as_ref().map_or_else(String::new, |title| one_line(title) + "\n");
    text.push_str(&format!(
        "on {}\n{} of {} s, measured after {} s\n\n",
        one_line(&origin.path),
        counted(origin.seeds, "seed"),
        origin.duration_s,
        origin.warmup_s
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
    let legend = legend(origin.seeds as usize);
    text.push_str(&format!("\n{}{legend}\n\ndigests: {}\n", links.print(), document.digests.join(" ")));
    for warning in &document.warnings {
        text.push_str(&format!("warning: {}\n", one_line(warning)));
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

/// In lines of at most 100 characters, broken at spaces.
#[must_use]
pub fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        let fits = used + 1 + length <= WIDTH;
        lines.push_str(if used == 0 {
            ""
        } else if fits {
            " "
        } else {
            "\n"
        });
        lines.push_str(word);
        used = if used == 0 || !fits { length } else { used + 1 + length };
    }
    lines + "\n"
}

/// Of a terminal.
const WIDTH: usize = 100;
/// A terminal's height; more rows are no table to judge.
const MAX_ROWS: usize = 24;
