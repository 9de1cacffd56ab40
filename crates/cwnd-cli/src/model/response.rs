//! `cwnd model response`

use clap::Args;
use cwnd::Spec;
use cwnd::units::{Bytes, Span};
use cwnd_lab::model::{self, Origin, Responses};
use cwnd_report::page::model::{self as report, Printed};
use cwnd_report::page::names;
use cwnd_run::scenario::{Written, packet_size};

use super::{Output, probability, round_trip, specs, warn, warn_of};
use crate::arguments::whole;
use crate::failure::Failure;
use cwnd_report::table::Table;
use cwnd_run::measure::digits::{cell, number, percent};

/// Response functions.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd model response reno simd highspeed
  cwnd model response reno aimd:b=1/8 udt:capacity=1gbit --loss 1e-5,1e-4 --rtt 50ms
  cwnd model response reno simd --random 5
One loss per 1/p packets, without timeouts.")]
pub(crate) struct Response {
    /// Algorithms, such as `simd` or `aimd:b=1/8`
    #[arg(value_name = "ALGORITHM", required = true)]
    algorithms: Vec<Written<Spec>>,
    /// Loss probabilities per packet, separated by commas
    #[arg(long, default_value = "1e-4,1e-3,1e-2", value_delimiter = ',', value_parser = probability)]
    loss: Vec<f64>,
    /// Round-trip time, for algorithms that grow by the clock and for rates
    #[arg(long, default_value = "100ms", value_parser = round_trip)]
    rtt: Span,
    /// Size of a packet on the wire
    #[arg(long, default_value = "1500B", value_parser = packet_size)]
    packet: Bytes,
    /// Also run the algorithms under random loss, over this many seeds; 0 disables it. A seed takes 3000 losses; all seeds together are
    /// limited to 10^11 packets
    #[arg(long, value_name = "SEEDS", default_value_t = 0, value_parser = whole::<u32>(0..=1000))]
    random: u32,
    #[command(flatten)]
    output: Output,
}

impl Response {
    pub(super) fn run(&self) -> Result<String, Failure> {
        let directory = self.output.directory(names::OF_RESPONSES)?;
        let algorithms = specs(&self.algorithms);
        model::bounded(&algorithms, &self.loss, self.random)
            .map_err(|error| Failure::input(format!("--random, --loss: {error}")))?;
        let random = self.random > 0;
        warn(&algorithms, Origin::Response { random });
        warn_of(&model::idle_of_responses(&algorithms, &self.loss, (self.rtt, self.packet), random));
        let (document, text) = self.computed(&algorithms);
        let page = |printed: Printed<'_>| report::response(&document, printed);
        self.output.finish(directory, &document, text, &algorithms, page)
    }

    /// The page, which names `command` as its own, and links to `pages`.
    pub(super) fn page(&self, command: &str, pages: &[(&str, &str)]) -> String {
        let algorithms = specs(&self.algorithms);
        let (document, text) = self.computed(&algorithms);
        report::response(&document, Printed { command, text: &text, algorithms: &algorithms, pages })
    }

    /// The document, and the text of a terminal.
    fn computed(&self, algorithms: &[&Spec]) -> (Responses, String) {
        let document = model::responses(algorithms, &self.loss, self.rtt, self.packet, self.random, &|| true);
        let mut text = format!(
            "One packet in every 1/p lost; {} ms, {} B (closed form)\n\n",
            document.rtt_s * 1e3,
            document.packet_bytes
        );
        let mut table = Table::default();
        let random = |heading| (self.random > 0).then_some(heading);
        let head = ["algorithm", "loss", "mean window", "window at loss", "between losses", "rate", "over TCP"];
        table.row(head.into_iter().chain(random("under random loss")));
        let units = ["", "%", "packets", "packets", "round trips", "Mbit/s", ""];
        table.row(units.into_iter().chain(random("packets (model)")));
        for row in &document.rows {
            let rate = row.rate_bps.map(|rate| rate * 1e-6);
            let cells = [row.window_packets, row.peak_packets, row.epoch_rtt, rate, row.over_tcp];
            let head = [row.algorithm.clone(), percent(row.loss)];
            let drawn = (self.random > 0).then(|| match row.random_window_packets {
                None => "not defined".to_string(),
                estimate => cell(estimate, 1.0),
            });
            let mut cells = cells.map(number);
            if row.window_packets.is_none() {
                cells[0] = row.kind.to_string();
            }
            table.row(head.into_iter().chain(cells).chain(drawn));
        }
        text.push_str(&table.print());
        (document, text)
    }
}
