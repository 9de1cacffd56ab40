//! The table of results: every measure of every row, with its meaning.

use core::fmt::Write as _;

use super::Report;
use super::html::Escaped;
use crate::plot::{DataSet, Frame, Group};
use cwnd_run::measure::{Estimate, Estimates};

/// A column of the table.
struct Column {
    title: &'static str,
    /// Empty for shares and indices.
    unit: &'static str,
    /// The key in JSON and CSV.
    key: &'static str,
    /// Shown units in one base unit.
    scale: f64,
    of: fn(&Estimates) -> Option<Estimate>,
    meaning: &'static str,
}

/// Writes the table and the meaning of its columns.
pub(super) fn write(out: &mut String, report: &Report<'_>, frame: &Frame<'_>) {
    let columns = columns(report);
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Results\"><table id=\"results-table\"><thead><tr><th scope=\"col\">Algorithm</th>");
    for column in &columns {
        let unit = if column.unit.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"unit\">{}</span>", column.unit)
        };
        let _ = write!(out, "<th scope=\"col\">{}{unit}</th>", column.title);
    }
    out.push_str("</tr></thead><tbody>");
    for (index, (row, label)) in report.shown.iter().zip(&frame.labels).enumerate() {
        let colour = frame.colour(index);
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><span class=\"swatch\" style=\"background:{colour}\"></span>{}</th>",
            Escaped(label)
        );
        for column in &columns {
            let _ = write!(out, "<td>{}</td>", cell((column.of)(row.measures), column.scale, report.seeds.len()));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div><details><summary>What the columns mean</summary><dl>");
    for column in &columns {
        let _ = write!(out, "<dt>{}</dt><dd>{} <code>{}</code></dd>", column.title, column.meaning, column.key);
    }
    out.push_str("</dl></details>");
}

/// The same numbers for the CSV file, in base units.
pub(super) fn table(report: &Report<'_>, frame: &Frame<'_>) -> DataSet {
    let groups = report.shown.iter().zip(&frame.labels).flat_map(|(row, label)| {
        COLUMNS.iter().filter_map(move |column| {
            let estimate = (column.of)(row.measures)?;
            let numbers = [estimate.mean, estimate.ci95.unwrap_or(f64::NAN), estimate.n as f64];
            Some(Group {
                texts: vec![label.clone(), column.key.to_string()],
                numbers: numbers.map(|value| vec![value]).into(),
            })
        })
    });
    DataSet::new("results", ["algorithm", "measure", "mean", "ci95", "n"], groups.collect())
}

/// The measures in one line, for the head of a section.
pub(super) fn headline(estimates: &Estimates) -> String {
    let shown = [
        ("utilisation", estimates.utilisation, 1.0, ""),
        ("Jain", estimates.jain, 1.0, ""),
        ("p95 queueing delay", estimates.queue_delay_p95_s, 1e3, " ms"),
    ];
    let parts = shown.into_iter().filter_map(|(name, estimate, scale, unit)| {
        let estimate = estimate?;
        let half = estimate.ci95.map_or(String::new(), |half| format!(" ± {}", significant(half * scale, 2)));
        Some(format!("{name} {}{half}{unit}", significant(estimate.mean * scale, 4)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Only the measures that some row has.
fn columns(report: &Report<'_>) -> Vec<&'static Column> {
    COLUMNS.iter().filter(|column| report.shown.iter().any(|row| (column.of)(row.measures).is_some())).collect()
}

fn cell(estimate: Option<Estimate>, scale: f64, seeds: usize) -> String {
    let Some(Estimate { mean, ci95, n }) = estimate else { return "<span class=\"none\">–</span>".to_string() };
    let half =
        ci95.map_or(String::new(), |half| format!("<span class=\"half\">± {}</span>", significant(half * scale, 2)));
    // Where some seeds have no value, the reader must know of how many this is the mean.
    let few = if n < seeds { format!("<span class=\"half\">of {n}</span>") } else { String::new() };
    format!("{}{half}{few}", significant(mean * scale, 4))
}

/// `value` to `digits` significant digits; as a power of ten only where it would be long.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    // The exponent after rounding, so that 9.9996 becomes 10.00 and not 10.000.
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent = scientific.split('e').nth(1).and_then(|exponent| exponent.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -4..=6) => format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize),
        _ => scientific,
    }
}

const COLUMNS: &[Column] = &[
    Column {
        title: "Utilisation",
        unit: "",
        key: "utilisation",
        scale: 1.0,
        of: |estimates| estimates.utilisation,
        meaning: "Bits carried by the bottleneck as a share of what it could carry.",
    },
    Column {
        title: "Goodput",
        unit: "Mbit/s",
        key: "goodput_bps",
        scale: 1e-6,
        of: |estimates| estimates.goodput_bps,
        meaning: "Payload of all flows together that arrived for the first time, per second.",
    },
    Column {
        title: "Jain’s index",
        unit: "",
        key: "jain",
        scale: 1.0,
        of: |estimates| estimates.jain,
        meaning: "(Σx)²/(nΣx²) of the flows’ goodputs: 1 is equal, 1/n is one flow having all.",
    },
    Column {
        title: "Range",
        unit: "",
        key: "goodput_range",
        scale: 1.0,
        of: |estimates| estimates.goodput_range,
        meaning: "Largest less smallest goodput of a flow, divided by the mean.",
    },
    Column {
        title: "Queueing delay",
        unit: "mean, ms",
        key: "queue_delay_mean_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_mean_s,
        meaning: "How long packets waited at the bottleneck before their transmission began.",
    },
    Column {
        title: "Queueing delay",
        unit: "p95, ms",
        key: "queue_delay_p95_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_p95_s,
        meaning: "Its 95th percentile.",
    },
    Column {
        title: "Queueing delay",
        unit: "p99, ms",
        key: "queue_delay_p99_s",
        scale: 1e3,
        of: |estimates| estimates.queue_delay_p99_s,
        meaning: "Its 99th percentile.",
    },
    Column {
        title: "Loss",
        unit: "%",
        key: "loss_rate",
        scale: 1e2,
        of: |estimates| estimates.loss_rate,
        meaning: "Packets dropped by the queue or lost at random, of those offered to the bottleneck.",
    },
    Column {
        title: "Marks",
        unit: "%",
        key: "mark_rate",
        scale: 1e2,
        of: |estimates| estimates.mark_rate,
        meaning: "Packets marked, of those offered to the bottleneck.",
    },
    Column {
        title: "Retransmitted",
        unit: "%",
        key: "retransmission_ratio",
        scale: 1e2,
        of: |estimates| estimates.retransmission_ratio,
        meaning: "Retransmissions of all data packets sent.",
    },
    Column {
        title: "Efficiency index",
        unit: "Mbit/s",
        key: "efficiency_index_bps",
        scale: 1e-6,
        of: |estimates| estimates.efficiency_index_bps,
        meaning: "EI: sum of the flows’ mean goodputs over whole intervals of 1 s.",
    },
    Column {
        title: "Stability index",
        unit: "",
        key: "stability_index",
        scale: 1.0,
        of: |estimates| estimates.stability_index,
        meaning: "SI: deviation of a flow’s goodput over intervals of 1 s divided by its mean, averaged over flows; 0 is steady.",
    },
    Column {
        title: "Smoothness",
        unit: "",
        key: "smoothness",
        scale: 1.0,
        of: |estimates| estimates.smoothness,
        meaning: "The same over intervals of 200 ms.",
    },
    Column {
        title: "Time to 90 %",
        unit: "s",
        key: "time_to_90_utilisation_s",
        scale: 1.0,
        of: |estimates| estimates.time_to_90_utilisation_s,
        meaning: "From the first start until the bottleneck was used to 90 % for 200 ms.",
    },
    Column {
        title: "Convergence",
        unit: "s",
        key: "convergence_time_s",
        scale: 1.0,
        of: |estimates| estimates.convergence_time_s,
        meaning: "From the last start until that flow had an equal share to within 10 % for 1 s.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        let shown = [
            (0.953_41, "0.9534"),
            (9.9996, "10.00"),
            (123_456.0, "123456"),
            (2.5e-7, "2.500e-7"),
            (0.0, "0"),
            (-1.5, "-1.500"),
        ];
        for (value, expected) in shown {
            assert_eq!(significant(value, 4), expected);
        }
        assert_eq!(significant(f64::NAN, 4), "NaN");
    }

    #[test]
    fn a_cell_tells_how_many_runs_it_is_the_mean_of() {
        let estimate = Estimate { mean: 0.5, ci95: Some(0.012), n: 3 };
        assert_eq!(cell(Some(estimate), 1.0, 3), "0.5000<span class=\"half\">± 0.012</span>");
        assert_eq!(
            cell(Some(estimate), 1e3, 5),
            "500.0<span class=\"half\">± 12</span><span class=\"half\">of 3</span>"
        );
        assert_eq!(cell(None, 1.0, 3), "<span class=\"none\">–</span>");
    }
}
