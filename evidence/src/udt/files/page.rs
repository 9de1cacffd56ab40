//! The part of `docs/files.md` with the measurements.

use std::fmt::Write;

use super::super::page::measured_at;
use super::super::record::{Measured, Records, Repetitions};
use super::implementation::Implementation;
use super::{FULL, IMPLEMENTATIONS, Moved, ROUTES, row};

/// The part.
pub(crate) fn text(records: &Records<Moved>) -> String {
    let mut page = PREFACE.to_owned();
    if let Some(large) = records.part("large") {
        page.push_str(LARGE);
        let rate = |row: &Repetitions<Moved>| row.median(|moved| Some(moved.bytes as f64 * 8e-6 / moved.seconds?));
        table(&mut page, large, "Mbit/s", |_, row| number(rate(row), ""));
        let cpu = |row: &Repetitions<Moved>| {
            row.median(|moved| moved.seconds.map(|_| moved.cpu_s / (moved.bytes as f64 * 1e-9)))
        };
        page.push_str(CPU);
        table(&mut page, large, "CPU s/GB", |_, row| number(cpu(row), ""));
        measured_at(&mut page, large);
    }
    if let Some(small) = records.part("small") {
        page.push_str(SMALL);
        table(&mut page, small, "s", |who, row| {
            let all = row.median(|moved| Some(moved.seconds? / moved.files as f64 * FULL.small as f64));
            number(all, if who.knows_trees() { "" } else { "~ " })
        });
        measured_at(&mut page, small);
    }
    page
}

fn table(
    page: &mut String,
    measured: &Measured<Moved>,
    unit: &str,
    cell: impl Fn(Implementation, &Repetitions<Moved>) -> String,
) {
    let _ = writeln!(
        page,
        "| {unit} | {} |\n| --- |{}",
        ROUTES.map(|route| route.name).join(" | "),
        " --- |".repeat(ROUTES.len())
    );
    for who in IMPLEMENTATIONS {
        let cells = ROUTES.map(|route| measured.row(&row(who, &route)).map_or_else(String::new, |row| cell(who, row)));
        let _ = writeln!(page, "| {} | {} |", who.name(), cells.join(" | "));
    }
}

/// Three digits, behind a mark if there is a number.
fn number(value: f64, mark: &str) -> String {
    match value {
        value if value.is_nan() => "failed".to_owned(),
        value if value < 10.0 => format!("{mark}{value:.2}"),
        value if value < 100.0 => format!("{mark}{value:.1}"),
        value => format!("{mark}{value:.0}"),
    }
}

const PREFACE: &str = "\
`udt send --plain` to `udt serve --plain`, against the demos of libudt 4.11 (`sendfile`, `recvfile`), `srt-file-transmit` (SRT 1.5.1), and TCP:
`sendfile(2)` into a bare socket for a file, `tar` for a tree. None encrypts. Only `cwnd` verifies and keeps partial data and waits for the disk. Besides
the loopback the paths are links of 200 Mbit/s (`udt link` between TUN interfaces) with a queue of one bandwidth-delay product. Losses are random and affect
data only. Times are those of the clients, with connecting and slow start. Files are in memory, and are compared after every transfer. Medians of
three, or one run if a transfer took more than 10 s.

To repeat it, as root on an idle machine: `cargo xtask validate udt`, or
`cargo build --release -p cwnd-transfer && cargo xtask evidence -- udt files`.
";

const LARGE: &str = "
### One large file

512 MiB on the loopback, 48 MiB on the links without loss, 12 MiB on those with loss: the longer the round trip, the larger the part of
slow start. Settings are the defaults, but on the links TCP's buffers may grow to 64 MiB.

";

const CPU: &str = "
Processor time of both programs, in user and kernel mode:

";

const SMALL: &str = "
### 10,000 small files

Of 100 to 900 bytes, in 100 directories. The demo of libudt and `srt-file-transmit` move one file per connection and start a program for each; their
numbers are extrapolated from 30 files on the loopback and 5 on the links.

";
