//! `cwnd model rounds`

use clap::Args;
use cwnd::Spec;
use cwnd::units::{Packets, Span};
use cwnd_lab::model::{self, Origin, PathEnd, Paths, Setup};
use cwnd_report::page::model::{self as report, Printed};
use cwnd_report::page::names;
use cwnd_run::scenario::Written;

use super::{Output, check_sum, round_trip, started, synchronous, warn, warn_of, window};
use crate::arguments::{self, whole};
use crate::failure::Failure;
use cwnd_report::table::Table;
use cwnd_run::measure::digits::number;
use cwnd_text::counted;

/// Paths under synchronous feedback.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd model rounds reno simd
  cwnd model rounds exp-tcp --capacity 1000 --start 200,700 --steps 1
  cwnd model rounds reno simd --start 20,20 --flow-rtt 50ms,200ms
  cwnd model rounds new-aimd:floor=0 --capacity 600 --start 10,140 --decrease-rounds 1")]
pub(crate) struct Rounds {
    /// Algorithms, each run with one flow per window of --start
    #[arg(value_name = "ALGORITHM", required = true)]
    algorithms: Vec<Written<Spec>>,
    /// The sum at which all flows are congested, packets per round trip
    #[arg(long, value_name = "PACKETS", default_value = "100", value_parser = window)]
    capacity: f64,
    /// The windows at the start, packets
    #[arg(long, value_name = "PACKETS,…", default_value = "10,40", value_delimiter = ',', value_parser = window)]
    start: Vec<f64>,
    /// Round-trip time, in which time and capacity are counted
    #[arg(long, default_value = "100ms", value_parser = round_trip)]
    rtt: Span,
    /// Round-trip times of the flows, one per window of --start; all have --rtt if not given
    #[arg(long, value_name = "TIME,…", value_delimiter = ',', value_parser = round_trip)]
    flow_rtt: Vec<Span>,
    /// Number of common congestion events to show
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u32>(1..=10_000))]
    events: u32,
    /// Maximum round trips of a run; it ends earlier after 10^9 steps of flows and packets that receivers see
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = whole::<u32>(1..=1_000_000))]
    rounds: u32,
    /// How often per round trip the rules are applied; 1 is the papers' form, with congestion seen at its end
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = whole::<u32>(1..=4096))]
    steps: u32,
    /// Round trips that a decrease takes: 0 in simd's model, 1 in New AIMD's
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=10))]
    decrease_rounds: u32,
    /// Probability per packet of a loss that only its flow reacts to
    #[arg(long, default_value = "0", value_parser = arguments::probability)]
    loss: f64,
    /// Seed of these losses
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX), requires = "loss")]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

impl Rounds {
    pub(super) fn run(&self) -> Result<String, Failure> {
        if !self.flow_rtt.is_empty() && self.flow_rtt.len() != self.start.len() {
            let (flows, given) = (self.start.len(), self.flow_rtt.len());
            return Err(Failure::input(format!(
                "--flow-rtt: expected {flows} times, one per window of --start, got {given}"
            )));
        }
        let rtts = self.start.iter().enumerate().map(|(index, _)| self.flow_rtt.get(index).copied());
        let flows: Vec<(f64, Option<Span>)> = self.start.iter().copied().zip(rtts).collect();
        let share = |rtt: &Option<Span>| self.rtt.as_secs_f64() / rtt.unwrap_or(self.rtt).as_secs_f64();
        check_sum(&flows.iter().map(|(window, rtt)| window * share(rtt)).collect::<Vec<f64>>(), self.capacity)?;
        let setup = Setup {
            flows: model::flows(&flows),
            capacity: Packets(self.capacity),
            rtt: self.rtt,
            clock: model::clock(self.steps),
            decrease_rounds: self.decrease_rounds,
            loss: self.loss,
            seed: self.seed,
            rounds: f64::from(self.rounds),
            events: self.events as usize,
            ..Setup::default()
        };
        let directory = self.output.directory(names::OF_WALKS)?;
        let algorithms = synchronous(&self.algorithms)?;
        started(&algorithms, &setup)?;
        warn(&algorithms, Origin::Rounds);
        let walks = model::walks(&algorithms, &setup, &|| true);
        warn_of(&model::idle_of_walks(&setup, &walks, &|| true));
        let document = Paths::of(&setup, &walks);
        let mut text = format!(
            "{}, capacity {} per {} ms (model)\n\n",
            counted(self.start.len(), "flow"),
            counted(self.capacity, "packet"),
            document.rtt_s * 1e3
        );
        let mut table = Table::default();
        table.row(["algorithm", "congestion", "at", "in the network", "after", "Jain index"]);
        table.row(["", "", "round trips", "packets", "packets", ""]);
        for row in &document.rows {
            table.row([
                row.algorithm.clone(),
                row.event.to_string(),
                number(Some(row.at_rtt)),
                list(&row.before_packets),
                list(&row.after_packets),
                number(row.jain),
            ]);
        }
        text.push_str(&table.print());
        document.ends.iter().for_each(|end| text.push_str(&self.ending(end)));
        let page = |printed: Printed<'_>| report::rounds(&document, &walks, printed);
        self.output.finish(directory, &document, text, &algorithms, page)
    }
}

impl Rounds {
    /// The part of a run that the table does not show, if the run ended before its events.
    fn ending(&self, end: &PathEnd) -> String {
        let PathEnd { algorithm, events, losses, at_rtt, why } = end;
        let after = match *why {
            "events" => return String::new(),
            "work" => format!("{} round trips, in which it did as much as one run may", number(Some(*at_rtt))),
            _ => format!("{} round trips (--rounds)", self.rounds),
        };
        let why = match (events, losses) {
            (0, 0) => format!("its flows never had {} packets in the network together", self.capacity),
            (0, losses) => {
                format!("{losses} losses of single flows (--loss) kept the sum below {} packets", self.capacity)
            }
            _ => format!("{events} of {} times of common congestion (--events)", self.events),
        };
        format!("{algorithm}: ended after {after}: {why}\n")
    }
}

fn list(packets: &[f64]) -> String {
    packets.iter().map(|packets| number(Some(*packets))).collect::<Vec<_>>().join(" ")
}
