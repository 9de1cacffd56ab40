//! `cwnd model`

use clap::{Args, Subcommand};
use cwnd::units::{BitRate, Bytes, Packets, Span};
use cwnd::{Spec, quantity};
use cwnd_lab::model::{self, Pair, Paths, Setup};
use cwnd_lab::output::to_json;
use cwnd_lab::scenario::Written;

use crate::failure::Failure;
use crate::table::{Table, cell, number};

/// What to compute.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Windows against loss, in closed form
    Response(Response),
    /// How fast two flows become efficient and fair under synchronous feedback
    Convergence(Convergence),
    /// The paths of windows under synchronous feedback
    Rounds(Rounds),
    /// UDT's stages and equilibria
    Udt(Udt),
}

/// Response functions.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd model response reno simd highspeed
  cwnd model response reno aimd:b=1/8 udt:capacity=1gbit --loss 1e-5,1e-4 --rtt 50ms
  cwnd model response reno simd --random 5
One packet in every 1/p is lost; no timeouts.")]
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
    /// Packet on the wire
    #[arg(long, default_value = "1500B", value_parser = quantity::bytes)]
    packet: Bytes,
    /// Also run the algorithms under random loss, over this many seeds; 0 for not
    #[arg(long, value_name = "SEEDS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    random: u32,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

/// Convergence times.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd model convergence reno aimd:b=1/16 iiad simd:beta=1/16
  cwnd model convergence --capacity 100 --start 10,80 --epsilon 1 reno simd exp-tcp
T1: round trips until the windows add up to the capacity; Delta: their gap there; T2: round trips until it is below epsilon.
Algorithms without a closed form are run in the model, and their rows say so.")]
pub(crate) struct Convergence {
    /// Algorithms, such as `simd` or `aimd:b=1/8`
    #[arg(value_name = "ALGORITHM", required = true)]
    algorithms: Vec<Written<Spec>>,
    /// The sum of windows at which both flows hear of congestion, packets
    #[arg(long, value_name = "PACKETS", default_value = "100", value_parser = window)]
    capacity: f64,
    /// The two windows at the start, packets
    #[arg(long, value_name = "PACKETS,PACKETS", default_value = "10,40", value_delimiter = ',', value_parser = window)]
    start: Vec<f64>,
    /// Windows closer than this count as equal, packets
    #[arg(long, value_name = "PACKETS", default_value = "1", value_parser = positive)]
    epsilon: f64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

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
    /// The sum at which all flows hear of congestion, packets per round trip
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
    /// Times of common congestion to show
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    events: u32,
    /// Round trips to run at most
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rounds: u32,
    /// How often per round trip the rules are applied; 1 is the papers' form, with congestion seen at its end
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    steps: u32,
    /// Round trips that a decrease takes: 0 in simd's model, 1 in New AIMD's
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10))]
    decrease_rounds: u32,
    /// Probability per packet of a loss that only its flow hears of
    #[arg(long, default_value = "0", value_parser = probability_or_none)]
    loss: f64,
    /// For these losses
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

/// UDT's stages.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  cwnd model udt --capacity 1gbit --loss 1e-6,1e-5,1e-4,1e-3 --flows 2 --delays 10ms,1s
Stages and equilibria are rate control alone: no window, no packets, a known capacity. The last table shows flows as a fluid over
round trips of different length, by rate control alone and with UDT's window (eq. 21).")]
pub(crate) struct Udt {
    /// Capacity of the path
    #[arg(long, default_value = "1gbit", value_parser = quantity::bit_rate)]
    capacity: BitRate,
    /// Loss probabilities per packet, separated by commas
    #[arg(long, default_value = "1e-6,1e-5,1e-4,1e-3", value_delimiter = ',', value_parser = probability)]
    loss: Vec<f64>,
    /// Round-trip time, for the comparison with TCP
    #[arg(long, default_value = "100ms", value_parser = round_trip)]
    rtt: Span,
    /// Packet on the wire
    #[arg(long, default_value = "1500B", value_parser = quantity::bytes)]
    packet: Bytes,
    /// Flows that share the capacity in the table over round trips
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    flows: u32,
    /// Round-trip times of that table
    #[arg(long, value_name = "TIME,…", default_value = "10ms,100ms,200ms,1s", value_delimiter = ',', value_parser = round_trip)]
    delays: Vec<Span>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command) -> Result<String, Failure> {
    match command {
        Command::Response(arguments) => Ok(arguments.print()),
        Command::Convergence(arguments) => arguments.print(),
        Command::Rounds(arguments) => arguments.print(),
        Command::Udt(arguments) => Ok(arguments.print()),
    }
}

impl Response {
    fn print(&self) -> String {
        let document = model::responses(&specs(&self.algorithms), &self.loss, self.rtt, self.packet, self.random);
        if self.json {
            return to_json(&document);
        }
        let mut text = format!(
            "One packet in every 1/p lost; {} ms, {} B (closed form)\n\n",
            document.rtt_s * 1e3,
            document.packet_bytes
        );
        let mut table = Table::default();
        table.row([
            "algorithm",
            "loss",
            "mean window",
            "window at loss",
            "between losses",
            "rate",
            "over TCP",
            "under random loss",
        ]);
        table.row(["", "", "packets", "packets", "round trips", "Mbit/s", "", "packets (model)"]);
        for row in &document.rows {
            let rate = row.rate_bps.map(|rate| rate * 1e-6);
            let cells = [row.window_packets, row.peak_packets, row.epoch_rtt, rate, row.over_tcp];
            let head = [row.algorithm.clone(), format!("{:e}", row.loss)];
            let random = match row.random_window_packets {
                None if self.random > 0 => "not defined".to_string(),
                estimate => cell(estimate, 1.0),
            };
            let mut cells = cells.map(number);
            if row.window_packets.is_none() {
                cells[0] = row.kind.to_string();
            }
            table.row(head.into_iter().chain(cells).chain([random]));
        }
        text.push_str(&table.print());
        text
    }
}

impl Convergence {
    fn print(&self) -> Result<String, Failure> {
        let &[one, other] = self.start.as_slice() else {
            return Err(Failure::Input("--start: expected two windows, such as `10,40`".to_string()));
        };
        check_sum(&self.start, self.capacity)?;
        let pair = Pair { capacity: self.capacity, windows: [one, other], epsilon: self.epsilon };
        let document = model::convergences(&specs(&self.algorithms), pair);
        if self.json {
            return Ok(to_json(&document));
        }
        let mut text = format!(
            "Two flows from {one} and {other} packets, capacity {} packets, equal within {} packets\n\n",
            self.capacity, self.epsilon
        );
        let mut table = Table::default();
        table.row(["algorithm", "T1", "Delta", "T2", "T2 by epochs", "kind"]);
        table.row(["", "round trips", "packets", "round trips", "round trips", ""]);
        for row in &document.rows {
            let cells = [row.t1_rtt, row.delta_packets, row.t2_rtt, row.t2_iterated_rtt].map(number);
            let kind = row.kind.to_string();
            table.row(std::iter::once(row.algorithm.clone()).chain(cells).chain([kind]));
        }
        text.push_str(&table.print());
        Ok(text)
    }
}

impl Rounds {
    fn print(&self) -> Result<String, Failure> {
        if !self.flow_rtt.is_empty() && self.flow_rtt.len() != self.start.len() {
            let (flows, given) = (self.start.len(), self.flow_rtt.len());
            return Err(Failure::Input(format!(
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
        let walks = model::walks(&specs(&self.algorithms), &setup);
        let document = Paths::of(&setup, &walks);
        if self.json {
            return Ok(to_json(&document));
        }
        let mut text = format!(
            "{} flows, capacity {} packets per {} ms (model)\n\n",
            self.start.len(),
            self.capacity,
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
        Ok(text)
    }
}

impl Udt {
    fn print(&self) -> String {
        let document = model::stages(model::Udt {
            capacity: self.capacity,
            packet: self.packet,
            rtt: self.rtt,
            losses: &self.loss,
            flows: self.flows,
            delays: &self.delays,
        });
        if self.json {
            return to_json(&document);
        }
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
        rows.row(["", "", "packets/SYN", "Mbit/s", "Mbit/s"]);
        for row in &document.rows {
            let cells = [row.packets_per_syn, row.rate_bps * 1e-6, row.clipped_bps * 1e-6];
            let head = [format!("{:e}", row.loss), row.stage.to_string()];
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
        text.push_str(&format!("beside TCP over {} ms: takes {friendly} than it (eq. 20)\n", document.rtt_s * 1e3));
        text.push_str(&format!(
            "\n{} equal flows as a fluid without a queue, without and with the window of eq. 21 (model)\n\n{}",
            document.flows,
            delays.print()
        ));
        text
    }
}

fn specs(algorithms: &[Written<Spec>]) -> Vec<&Spec> {
    algorithms.iter().map(Written::value).collect()
}

fn list(packets: &[f64]) -> String {
    packets.iter().map(|packets| number(Some(*packets))).collect::<Vec<_>>().join(" ")
}

/// `loads`: packets per round trip.
fn check_sum(loads: &[f64], capacity: f64) -> Result<(), Failure> {
    if loads.iter().sum::<f64>() <= capacity {
        return Ok(());
    }
    Err(Failure::Input(format!("--start: the windows add up to more than the capacity of {capacity} packets")))
}

fn checked(text: &str, accepted: &str, good: impl Fn(f64) -> bool) -> Result<f64, String> {
    match quantity::number(text) {
        Ok(value) if good(value) => Ok(value),
        _ => Err(format!("expected {accepted}")),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    checked(text, "a probability above 0 and at most 1, such as `1e-3`", |p| p > 0.0 && p <= 1.0)
}

fn probability_or_none(text: &str) -> Result<f64, String> {
    checked(text, "a probability, 0 to 1", |p| (0.0..=1.0).contains(&p))
}

fn window(text: &str) -> Result<f64, String> {
    checked(text, "a number of packets, 1 to 1e9", |w| (1.0..=1e9).contains(&w))
}

fn positive(text: &str) -> Result<f64, String> {
    checked(text, "a number of packets above 0, at most 1e9", |w| w > 0.0 && w <= 1e9)
}

fn round_trip(text: &str) -> Result<Span, String> {
    match quantity::span(text) {
        Ok(span) if span >= Span::from_millis(1) && span <= Span::from_secs(100) => Ok(span),
        Ok(_) => Err("expected a time from 1ms to 100s".to_string()),
        Err(error) => Err(error.to_string()),
    }
}
