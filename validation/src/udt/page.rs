//! The page people read: every number, and the ratios that are meant.

use std::fmt::Write;
use std::path::Path;

use super::load::Load;
use super::record::{Measured, Records, Repetitions};
use super::{ALGORITHMS, LOSSES, named, staged};
use crate::Error;

/// Writes the section of a part.
type Section = fn(&mut String, &Measured);

/// Writes `docs/udt.md`.
pub(crate) fn write(root: &Path, records: &Records, load: &Records<Load>) -> Result<(), Error> {
    let path = root.join("docs/udt.md");
    std::fs::write(&path, text(records, load)).map_err(|source| Error::File { path, source })
}

/// The page.
pub(crate) fn text(records: &Records, load: &Records<Load>) -> String {
    let mut page = PREFACE.to_owned();
    let parts: [(&str, Section); 5] = [
        ("loopback", loopback),
        ("gigabit", gigabit),
        ("loss", lossy),
        ("simulator", simulator),
        ("table-1", staged_flows),
    ];
    for (name, section) in parts {
        if let Some(measured) = records.part(name) {
            section(&mut page, measured);
            measured_at(&mut page, measured);
        }
    }
    if let Some(measured) = load.part("load") {
        measured.rows.iter().flat_map(|row| &row.outcomes).for_each(|load| under_load(&mut page, load));
        measured_at(&mut page, measured);
    }
    page
}

/// Where and when a part was measured.
pub(super) fn measured_at<O>(page: &mut String, measured: &Measured<O>) {
    let Measured { sources, system, cores, load, .. } = measured;
    // With more programs than cores no real socket is in time.
    let busy = if *load > *cores as f64 { ": provisional, on a busy machine" } else { "" };
    let _ = writeln!(page, "\nMeasured at {sources} on {system}, {cores} cores, load {load} beforehand{busy}.");
}

fn under_load(page: &mut String, load: &Load) {
    page.push_str(LOAD);
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
            "| {:.0} spoofed handshakes a second beside a transfer{} | {:.0} % of its {:.0} Mbit/s, memory {:+.1} MB, a new connection {connect} |",
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
            "| a transfer beside {} peers that read nothing and {} that read a little | {:.0} % of its {:.0} Mbit/s, {:.2} MB for each of them |",
            2 * stalled.each,
            stalled.each,
            stalled.beside_bps / stalled.alone_bps * 100.0,
            stalled.alone_bps * 1e-6,
            stalled.bytes_per_peer * 1e-6,
        );
    }
}

fn loopback(page: &mut String, measured: &Measured) {
    page.push_str(LOOPBACK);
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
    page.push_str(GIGABIT);
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
    page.push_str(LOSSY);
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
        // What was added since the last measurement has no row.
        if rows.iter().any(Option::is_some) {
            let _ = writeln!(page, "| {who} | {} |", cells.join(" | "));
        }
    }
}

fn simulator(page: &mut String, measured: &Measured) {
    page.push_str(SIMULATOR);
    page.push_str("| | Mbit/s | sent again | link: late by at most (99 %) |\n| --- | --- | --- | --- |\n");
    for row in &measured.rows {
        let again = row.median(|outcome| outcome.retransmitted) * 100.0;
        let _ = writeln!(page, "| {} | {:.1} | {again:.2} % | {} |", row.who, row.goodput() * 1e-6, lateness(row));
    }
}

fn staged_flows(page: &mut String, measured: &Measured) {
    page.push_str(TABLE_1);
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

const PREFACE: &str = "\
# UDT on real sockets

This project's UDT beside libudt 4.11 as Debian packages it, and beside TCP. Every number is measured; a cell is the median of the
repetitions in `validation/udt/recorded.json`. Competitors take turns within one run. Rates of one host say little about another;
ratios say more. Packets have 1500 bytes with all headers. Processor time is that of the whole sending or receiving program.

To measure again, on a machine that does nothing else: `cargo xtask validate udt`. One part by its name:
`cargo run --release --package cwnd-validation -- udt loopback`; the parts are `loopback`, `gigabit`, `loss`, `simulator`, `table-1`
and `load`. With `--quick` everything takes about five minutes, writes no file, and shows that everything works.
";

const LOOPBACK: &str = "
Measurements of revisions before acknowledgements were proven ([SECURITY.md](../SECURITY.md)) are without that: since then a sender
withholds about a dozen packets in a gigabyte until they are reported missing, each for a round trip.

## One host

Sender and receiver on the loopback, which never cuts a large buffer into packets: with offload (GSO, GRO) dozens of packets pass
the kernel as one, as they would pass a network card that cuts them in hardware. Without offload every packet passes
the kernel by itself, as in libudt, which spends a call on each of them; here up to 64 packets share one (`sendmmsg`, `recvmmsg`).
TCP is `iperf3`.

";

const GIGABIT: &str = "
## A gigabit over 100 ms

`cwnd udt link` with 1 Gbit/s, 50 ms each way and a queue of one bandwidth-delay product. The mean goodput of seconds 10 to 20, as a
share of what the link can carry of payload (1456 of 1500 bytes).

";

const LOSSY: &str = "
## Random loss

`cwnd udt link` with 200 Mbit/s, 25 ms each way, a queue of one bandwidth-delay product, and packets from the sender lost at random.
Each algorithm drives this project's sender; libudt runs its own. Algorithms that take every loss for congestion are slow here by
design. UDT acknowledges each 10 ms, so that window algorithms grow in steps. A run whose link was late by more than a millisecond for
one packet in a hundred is done again and not recorded; runs recorded before that rule are shown with the lateness they had.

";

const LOAD: &str = "
## One port under load

Everything in one program, both ends of each connection; a row is a repetition. Every byte of the crowd is compared. Strangers have 500
addresses of the loopback and never answer; an unbounded transfer takes both cores, so that what they and the flooding thread cost
shows in its rate. A new client has to get its answer among those to forged addresses.

Of the memory of many idle connections, 4 KB each are theirs. What there is beyond are pages that glibc's allocator keeps: small blocks
have moved into what connections gave back when they came to rest.

| | |
| --- | --- |
";

const SIMULATOR: &str = "
## The simulator beside the wire

The same link of 100 Mbit/s and 50 ms with a queue of one bandwidth-delay product, once in the simulator and once as
`cwnd udt link` between real sockets. The measurement leaves a report with both, `out/udt.html`.

In both the window doubles until the queue overflows, which loses some two bandwidth-delay products at once. UDT goes on at the rate
at which packets arrived, cuts it up to five times while the losses come in, and grows back (eq. 8). How often it cuts is drawn, and
which losses share a report is a matter of microseconds: the depth of the valley differs from run to run, its shape does not.

![Throughput, rate, losses and queue over time, simulated and real](validation/udt.svg)

";

const TABLE_1: &str = "
## Table 1 of the DAIMD paper, scaled down

The paper's flows between Chicago and Amsterdam had 1 Gbit/s, 104 ms and stages of 100 s. Here all is on one host: `cwnd udt link` with
100 Mbit/s, 52 ms each way and a queue of 100 packets (an eighth of a bandwidth-delay product, as in `papers/daimd/testbed.toml`),
stages of 20 s. Four flows start one after the other and stop in the opposite order. SI is the stability index over seconds (0 is
steady). Once on real sockets, once the same in the simulator; what was printed stands beside them and is no target at this scale. A
share is of what the link can carry; the paper's is of 1 Gbit/s.
";
