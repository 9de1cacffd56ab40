//! `cwnd bench`

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use cwnd::{BitRate, Span, Spec};
use cwnd_lab::bench::{CASES, Case};
use cwnd_report::json::Bench;
use cwnd_run::execute::{Progress, RunError, default_memory};
use cwnd_run::files::to_json;
use cwnd_run::scenario::{Document, Dumbbell, FlowGroup, MAX_FLOWS, Queue, Scenario, Written};
use cwnd_sim::Simulation;

use crate::arguments::whole;
use crate::clock::timed;
use crate::failure::{self, Failure};
use crate::progress::TimeProgress;
use cwnd_text::one_line;

/// Kinds of benchmarks.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Packets per second of the simulator, on one core
    Sim(Box<Arguments>),
}

/// A dumbbell to simulate once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd bench sim
  cwnd bench sim --case fast
  cwnd bench sim --flows 1000 --rate 10gbit --json
  cwnd bench sim --print-scenario > bench.toml && cwnd run bench.toml   the same run, the same digest")]
pub(crate) struct Arguments {
    /// A named case instead of the options below
    #[arg(long, value_name = "NAME", value_parser = cases(), conflicts_with_all = ["flows", "algorithm", "rate", "rtt", "queue", "duration", "warmup"])]
    case: Option<String>,
    /// Number of flows
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole::<u32>(1..=MAX_FLOWS))]
    flows: u32,
    /// The algorithm of the flows
    #[arg(long, default_value = "reno")]
    algorithm: Written<Spec>,
    /// Rate of the bottleneck
    #[arg(long, default_value = "1gbit")]
    rate: Written<BitRate>,
    /// Round-trip time without queueing
    #[arg(long, default_value = "50ms")]
    rtt: Written<Span>,
    /// Queue of the bottleneck
    #[arg(long, default_value = "droptail:1bdp")]
    queue: Written<Queue>,
    /// Simulated time
    #[arg(long, default_value = "20s")]
    duration: Written<Span>,
    /// Measure utilisation after this time [default: 5s, at most half of --duration]
    #[arg(long)]
    warmup: Option<Written<Span>>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
    /// Print the scenario instead of running it
    #[arg(long, conflicts_with = "json")]
    print_scenario: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<String, Failure> {
    let (json, print_scenario) = (arguments.json, arguments.print_scenario);
    let scenario = Scenario::check(arguments.document()).map_err(|error| Failure::of_options::<Arguments>(&error))?;
    let scenario = scenario.naming(|key| failure::option::<Arguments>(key).map(|option| option + " "));
    scenario.unused().iter().for_each(|unused| say!("warning: {}", one_line(&unused.to_string())));
    if print_scenario {
        return Ok(scenario.to_toml());
    }
    let setup = scenario.setup(scenario.document().first_seed);
    let progress = TimeProgress::start()?;
    progress.announce(scenario.duration());
    let memory = progress.memory().unwrap_or_else(default_memory);
    let before = peak_memory();
    let mut reported = 0;
    let (trace, wall) = timed(|| {
        Simulation::of(&setup).within(memory).finish(&setup, &mut |now| {
            let passed = Span::from_nanos(now - reported);
            reported = now;
            progress.advance(passed);
            progress.should_continue()
        })
    });
    let grown = peak_memory().zip(before).map(|(after, before)| after - before);
    drop(progress);
    let document = Bench::of(&scenario, &trace.map_err(RunError::from)?, wall.as_secs_f64(), grown);
    Ok(if json { to_json(&document) } else { print(&document) })
}

impl Arguments {
    fn document(self) -> Document {
        if let Some(case) = self.case.as_deref().and_then(Case::find) {
            return case.document();
        }
        let longest = (*self.duration.value() / 2).min(WARMUP);
        Document {
            duration: self.duration,
            warmup: self.warmup.unwrap_or_else(|| longest.into()),
            seeds: 1,
            sampling: Written::literal("off"),
            dumbbell: Some(Dumbbell { rate: self.rate, rtt: self.rtt, queue: self.queue, ..Dumbbell::default() }),
            flow: vec![FlowGroup::new(self.algorithm, self.flows)],
            ..Document::default()
        }
    }
}

fn cases() -> PossibleValuesParser {
    CASES.iter().map(|case| PossibleValue::new(case.name).help(case.title)).collect::<Vec<_>>().into()
}

/// The largest resident memory of this process so far, bytes; where the kernel reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn print(bench: &Bench) -> String {
    let bytes_per_flow = bench.bytes_per_flow.map_or("unknown".to_string(), |bytes| format!("{bytes:.0}"));
    let utilisation = bench.utilisation.map_or("unknown".to_string(), |share| format!("{:.1} %", share * 100.0));
    format!(
        "delivered packets/s   {:.3e}\n\
         events/s              {:.3e}\n\
         real-time factor      {:.1} ({} s simulated in {:.2} s, one core)\n\
         bytes per flow        {bytes_per_flow} (growth of resident memory, packets in the network included)\n\
         utilisation           {utilisation}\n\
         delivered packets     {}\n\
         dropped packets       {}\n\
         retransmitted packets {}\n\
         digest                {}\n",
        bench.delivered_packets_per_s,
        bench.events_per_s,
        bench.real_time_factor,
        bench.origin.duration_s,
        bench.wall_s,
        bench.delivered_packets,
        bench.dropped_packets,
        bench.retransmitted_packets,
        bench.digest,
    )
}

/// The warm-up after which the default number of flows share the default path.
const WARMUP: Span = Span::from_secs(5);
