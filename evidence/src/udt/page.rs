//! The page people read: every number, and the ratios that are meant.

use std::fmt::Write;
use std::path::Path;

use super::load::Load;
use super::record::{Measured, Records, Repetitions};
use super::{ALGORITHMS, LOSSES, named, staged};
use crate::Error;

/// Writes the section of a part.
type Section = fn(&mut String, &Measured);

/// Puts the tables into docs/udt.md, where the text around them is written by hand.
pub(crate) fn write(root: &Path, records: &Records, load: &Records<Load>) -> Result<(), Error> {
    tables(records, load).iter().try_for_each(|(part, table)| crate::page::put_into(root, PAGE, part, table))
}

/// All tables, one after the other.
pub(crate) fn text(records: &Records, load: &Records<Load>) -> String {
    tables(records, load).into_iter().map(|(part, table)| format!("{part}\n\n{table}\n")).collect()
}

/// The tables of the records, by the names of their parts.
fn tables(records: &Records, load: &Records<Load>) -> Vec<(&'static str, String)> {
    let parts: [(&str, Section); 5] = [
        ("loopback", loopback),
        ("gigabit", gigabit),
        ("loss", lossy),
        ("simulator", simulator),
        ("table-1", staged_flows),
    ];
    let mut tables = Vec::new();
    for (part, section) in parts {
        if let Some(measured) = records.part(part) {
            let mut table = String::new();
            section(&mut table, measured);
            measured_at(&mut table, measured);
            tables.push((part, table));
        }
    }
    if let Some(measured) = load.part("load") {
        let mut table = String::new();
        measured.rows.iter().flat_map(|row| &row.outcomes).for_each(|load| under_load(&mut table, load));
        measured_at(&mut table, measured);
        tables.push(("load", table));
    }
    tables
}

const PAGE: &str = "docs/udt.md";

/// Where and when a part was measured.
pub(super) fn measured_at<O>(page: &mut String, measured: &Measured<O>) {
    let Measured { sources, system, cores, load, .. } = measured;
    // With more programs than cores no real socket is in time.
    let busy = if *load > *cores as f64 { ": provisional, on a busy machine" } else { "" };
    let _ =
        writeln!(page, "\nMeasured at {sources} on {system}, {cores} cores, load average {load} before the run{busy}.");
}

fn under_load(page: &mut String, load: &Load) {
    page.push_str("| | |\n| --- | --- |\n");
    let idle = &load.idle;
    let _ = writeln!(
        page,
        "| {} idle connections, after 100 bytes each way | {:.1} KB of memory for each end, {:.1} % of a core for all |",
        idle.connections,
        idle.bytes_per_end * 1e-3,
        idle.cpu * 100.0,
    );
    for crowd in &load.crowd {
        let _ = writeln!(
            page,
            "| {} connections with {:.1} MB each at once | first {:.2} s, median {:.2} s, slowest {:.2} s: {:.0} Mbit/s in all |",
            crowd.connections,
            crowd.bytes as f64 * 1e-6,
            crowd.first_s,
            crowd.median_s,
            crowd.slowest_s,
            crowd.connections as f64 * crowd.bytes as f64 * 8e-6 / crowd.slowest_s,
        );
    }
    for flood in &load.flood {
        let connect = flood.connect_s.map_or("none".to_owned(), |seconds| format!("after {:.0} ms", seconds * 1e3));
        let _ = writeln!(
            page,
            "| {:.0} spoofed handshakes a second during a transfer{} | {:.0} % of its {:.0} Mbit/s, memory {:+.1} MB, a new connection {connect} |",
            flood.rate,
            flood.limit_bps.map_or(String::new(), |limit| format!(" of {:.0} Gbit/s at most", limit * 1e-9)),
            flood.during_bps / flood.before_bps * 100.0,
            flood.before_bps * 1e-6,
            flood.grown as f64 * 1e-6,
        );
    }
    for stalled in &load.stalled {
        let _ = writeln!(
            page,
            "| a transfer next to {} peers that read nothing and {} that read a little | {:.0} % of its {:.0} Mbit/s, {:.2} MB for each of them |",
            2 * stalled.each,
            stalled.each,
            stalled.beside_bps / stalled.alone_bps * 100.0,
            stalled.alone_bps * 1e-6,
            stalled.bytes_per_peer * 1e-6,
        );
    }
}

fn loopback(page: &mut String, measured: &Measured) {
    page.push_str(
        "| | Gbit/s | times libudt | sender, CPU s/GB | receiver, CPU s/GB |\n| --- | --- | --- | --- | --- |\n",
    );
    let reference = measured.row("libudt").map_or(f64::NAN, Repetitions::goodput);
    for row in &measured.rows {
        let _ = writeln!(
            page,
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            row.who,
            row.goodput() * 1e-9,
            row.goodput() / reference,
            row.median(|outcome| Some(outcome.sender_cpu_s_per_gb)),
            row.median(|outcome| Some(outcome.receiver_cpu_s_per_gb)),
        );
    }
}

fn gigabit(page: &mut String, measured: &Measured) {
    page.push_str(
        "| | Mbit/s | share of the link's payload | sent again | link: late by at most (99 %) | link: core |\n",
    );
    page.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for row in &measured.rows {
        let _ = writeln!(
            page,
            "| {} | {:.0} | {:.1} % | {:.2} % | {:.0} µs | {:.0} % |",
            row.who,
            row.goodput() * 1e-6,
            row.goodput() / (1e9 * PAYLOAD_SHARE) * 100.0,
            row.median(|outcome| outcome.retransmitted) * 100.0,
            row.median(|outcome| outcome.link_late_p99_s) * 1e6,
            row.median(|outcome| outcome.link_cpu) * 100.0,
        );
    }
}

fn lossy(page: &mut String, measured: &Measured) {
    let repetitions = measured.rows.iter().map(|row| row.outcomes.len()).max().unwrap_or(0);
    let cell = if repetitions == 1 { "one run".to_owned() } else { format!("the median of {repetitions} runs") };
    let _ = writeln!(page, "Each cell is {cell}.\n");
    let _ = writeln!(page, "| Mbit/s (link: late by at most, 99 %) | {} |", LOSSES.map(|(_, shown)| shown).join(" | "));
    let _ = writeln!(page, "| --- |{}", " --- |".repeat(LOSSES.len()));
    for (who, ends) in std::iter::once(("libudt", "")).chain(ALGORITHMS) {
        let who = named(who, ends);
        let rows = LOSSES.map(|(_, shown)| measured.row(&format!("{who} at {shown}")));
        let cells = rows
            .map(|row| row.map_or_else(String::new, |row| format!("{:.1} ({})", row.goodput() * 1e-6, lateness(row))));
        // Parts that were added since the last measurement have no row.
        if rows.iter().any(Option::is_some) {
            let _ = writeln!(page, "| {who} | {} |", cells.join(" | "));
        }
    }
}

fn simulator(page: &mut String, measured: &Measured) {
    page.push_str("| | Mbit/s | sent again | link: late by at most (99 %) |\n| --- | --- | --- | --- |\n");
    for row in &measured.rows {
        let again = row.median(|outcome| outcome.retransmitted) * 100.0;
        let _ = writeln!(page, "| {} | {:.1} | {again:.2} % | {} |", row.who, row.goodput() * 1e-6, lateness(row));
    }
}

fn staged_flows(page: &mut String, measured: &Measured) {
    type Of = fn(&Repetitions) -> f64;
    let used: Of = |row| row.goodput() / (staged::RATE as f64 * PAYLOAD_SHARE);
    let fair: Of = |row| row.median(|outcome| outcome.jain);
    let unsteady: Of = |row| row.median(|outcome| outcome.stability_index);
    for algorithm in staged::ALGORITHMS {
        let _ = writeln!(page, "\n`{algorithm}`:\n");
        page.push_str(
            "| stage | flows | share of the link: paper | simulator | wire | Jain index: paper | simulator | wire ",
        );
        page.push_str("| SI: paper | simulator | wire |\n");
        let _ = writeln!(page, "|{}", " --- |".repeat(11));
        for stage in 1..=staged::STAGE_COUNT {
            let _ = write!(page, "| {stage} | {} |", stage.min(staged::STAGE_COUNT + 1 - stage));
            // The paper's aggregates are of 1 Gbit/s.
            for (what, scale, digits, of) in
                [("aggregate", 1e-3, 2, used), ("Jain index", 1.0, 3, fair), ("SI", 1.0, 2, unsteady)]
            {
                let printed = staged::printed(what, stage).map_or(f64::NAN, |printed| printed * scale);
                let ours =
                    staged::SIDES.map(|side| measured.row(&staged::row(algorithm, side, stage)).map_or(f64::NAN, of));
                for value in std::iter::once(printed).chain(ours) {
                    let _ = write!(page, " {value:.digits$} |");
                }
            }
            page.push('\n');
        }
        let wire = measured.row(&staged::row(algorithm, staged::SIDES[1], 1));
        let _ = writeln!(page, "\nThe link was late by at most (99 %): {}.", wire.map_or("-".to_owned(), lateness));
    }
}

/// By how much the link of a row was late at most, for 99 in 100 packets.
fn lateness(row: &Repetitions) -> String {
    let late = row.median(|outcome| outcome.link_late_p99_s);
    match late {
        late if late.is_nan() => "-".to_owned(),
        late if late < 1e-3 => format!("{:.0} µs", late * 1e6),
        late => format!("{:.1} ms", late * 1e3),
    }
}

/// 1456 of the 1500 bytes of a packet are the application's.
const PAYLOAD_SHARE: f64 = 1456.0 / 1500.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that was edited by hand, or text that was written between its marks, would be lost with the next measurement.
    #[test]
    fn the_page_has_the_tables_on_record() {
        let root = crate::root();
        let records = Records::read(root.join("evidence/udt/recorded.json")).unwrap();
        let load = Records::read(root.join("evidence/udt/load.json")).unwrap();
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
        let tables = tables(&records, &load);
        assert_eq!(tables.len(), 6);
        for (part, table) in tables {
            assert!(crate::page::replaced(&page, part, &table).is_some_and(|written| written == page), "{part}");
        }
        let paths = std::fs::read_to_string(root.join("docs/files.md")).unwrap();
        let written = crate::page::replaced(&paths, "paths", &super::super::paths::text(&records));
        assert!(written.is_some_and(|written| written == paths), "paths");
    }
}
