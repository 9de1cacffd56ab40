//! `cwnd model udt`

use clap::Args;
use cwnd::units::{BitRate, Bytes, Span};
use cwnd_lab::model;
use cwnd_report::page::model::{self as report, Printed};
use cwnd_report::page::names;
use cwnd_run::scenario::{Quantity, packet_size};

use super::{Output, probability, round_trip};
use crate::arguments::whole;
use crate::failure::Failure;
use cwnd_report::table::Table;
use cwnd_run::measure::digits::{number, percent};

/// UDT's stages.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  cwnd model udt --capacity 1gbit --loss 1e-6,1e-5,1e-4,1e-3 --flows 2 --delays 10ms,1s
Stages and equilibria are rate control alone: no window, no packets, a known capacity. The last table shows flows as a fluid over
round trips of different length, by rate control alone and with UDT's window (eq. 21).")]
pub(crate) struct Udt {
    /// Capacity of the path
    #[arg(long, default_value = "1gbit", value_parser = <BitRate as Quantity>::read)]
    capacity: BitRate,
    /// Loss probabilities per packet, separated by commas
    #[arg(long, default_value = "1e-6,1e-5,1e-4,1e-3", value_delimiter = ',', value_parser = probability)]
    loss: Vec<f64>,
    /// Round-trip time, for the comparison with TCP
    #[arg(long, default_value = "100ms", value_parser = round_trip)]
    rtt: Span,
    /// Size of a packet on the wire
    #[arg(long, default_value = "1500B", value_parser = packet_size)]
    packet: Bytes,
    /// Flows that share the capacity in the table over round trips
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<u32>(1..=1_000_000))]
    flows: u32,
    /// Round-trip times of that table
    #[arg(long, value_name = "TIME,…", default_value = "10ms,100ms,200ms,1s", value_delimiter = ',', value_parser = round_trip)]
    delays: Vec<Span>,
    #[command(flatten)]
    output: Output,
}

impl Udt {
    pub(super) fn run(&self) -> Result<String, Failure> {
        let directory = self.output.directory(names::OF_UDT)?;
        let document = model::stages(model::Udt {
            capacity: self.capacity,
            packet: self.packet,
            rtt: self.rtt,
            losses: &self.loss,
            flows: self.flows,
            delays: &self.delays,
        });
        let mut text = format!("UDT's rate control on {} Mbit/s (closed form)\n\n", self.capacity.0 * 1e-6);
        let mut stages = Table::default();
        stages.row(["stage", "from", "to", "increase", "TF"]);
        stages.row(["", "Mbit/s", "Mbit/s", "packets/SYN", "over TCP"]);
        for row in &document.stages {
            let cells = [row.from_bps * 1e-6, row.to_bps * 1e-6, row.increase_packets, row.tcp_ratio];
            stages.row(std::iter::once(row.stage.to_string()).chain(cells.map(|cell| number(Some(cell)))));
        }
        text.push_str(&stages.print());
        let mut rows = Table::default();
        rows.row(["loss", "stable stage", "x*", "X*", "within its stage"]);
        rows.row(["%", "", "packets/SYN", "Mbit/s", "Mbit/s"]);
        for row in &document.rows {
            let cells = [row.packets_per_syn, row.rate_bps * 1e-6, row.clipped_bps * 1e-6];
            let head = [percent(row.loss), row.stage.to_string()];
            rows.row(head.into_iter().chain(cells.map(|cell| number(Some(cell)))));
        }
        text.push_str(&format!("\n{}\n", rows.print()));
        if let Some(intervals) = document.intervals_to_90 {
            text.push_str(&format!("from rest to 90 % without loss: {intervals} SYN of 10 ms\n"));
        }
        let mut delays = Table::default();
        delays.row([
            "round trip",
            "loss, rate alone",
            "loss, with window",
            "carried, rate alone",
            "carried, with window",
        ]);
        delays.row(["ms", "%", "%", "%", "%"]);
        for row in &document.delays {
            let shares = [row.loss_by_rate_alone, row.loss, row.utilisation_by_rate_alone, row.utilisation]
                .map(|share| 100.0 * share);
            let head = [format!("{}", row.rtt_s * 1e3)];
            delays.row(head.into_iter().chain(shares.map(|share| number(Some(share)))));
        }
        let friendly = if document.friendly { "no more" } else { "perhaps more" };
        text.push_str(&format!("against TCP over {} ms: takes {friendly} than TCP (eq. 20)\n", document.rtt_s * 1e3));
        text.push_str(&format!(
            "\n{} equal flows as a fluid without a queue, without and with the window of eq. 21 (model)\n\n{}",
            document.flows,
            delays.print()
        ));
        let page = |printed: Printed<'_>| report::udt(&document, printed);
        self.output.finish(directory, &document, text, &[], page)
    }
}
