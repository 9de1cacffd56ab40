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
`udt send --plain` to `udt serve --plain`, unencrypted as all the others, against the demos of libudt 4.11 (`sendfile`, `recvfile`), `srt-file-transmit` (SRT 1.5.1), and TCP:
a file by `sendfile(2)` into a bare socket, a tree by `tar` through one. The loopback is the host's; the other ways are links of
200 Mbit/s between two networks of their own, with a queue of one bandwidth-delay product, which carry all of them alike (TUN interfaces,
a link of `udt link` between). Losses are random and affect data only. Times are those of the
clients, from the start of the program to its end, so connecting and slow start are part of them; after every transfer all bytes
on both sides were compared by their BLAKE3 hash. Files are in memory. Medians of three, of one where a transfer took more than 10 s.

Only `cwnd` checks what arrives, keeps it if the transfer breaks off, and waits for the disk; the others promise nothing of that.

To measure again, as root on a machine that does nothing else for a quarter of an hour: `cargo xtask validate udt`, or this part alone
by `cargo build --release -p cwnd-transfer && cargo xtask evidence -- udt files`.
";

const LARGE: &str = "
### One large file

512 MiB on the loopback, 48 MiB on the links without loss, 12 MiB on those with loss: the longer the round trip, the more of this is
slow start. All are as they come; on the links TCP's buffers may grow to 64 MiB, so that they bound nothing.

";

const CPU: &str = "
Processor time of both programs together, the kernel's on their behalf included:

";

const SMALL: &str = "
### 10,000 small files

Of 100 to 900 bytes, in 100 directories. The demo of libudt and `srt-file-transmit` know no trees: they move a file per connection, and
in that one or both programs start anew for each file. Their numbers are those of 30 files on the loopback and of 5 on the links,
times what is missing.

";
