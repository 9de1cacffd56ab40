//! `cwnd compare`

use std::str::FromStr;

use clap::Args;
use cwnd::window::SlowStart;
use cwnd::{BitRate, Span, Spec};
use cwnd_lab::compare::{Comparison, DEFAULT};
use cwnd_report::{json, text, write_comparison};
use cwnd_run::files::to_json;
use cwnd_run::measure::Until;
use cwnd_run::run::run as run_all;
use cwnd_run::scenario::{Document, Dumbbell, Ecn, MAX_FLOWS, MAX_SEEDS, Queue, Written, default_warmup};
use cwnd_sim::{Era, LinuxHost, Loss, RecoveryScheme};

use crate::arguments::whole;
use crate::failure::{self, Failure};
use crate::files;
use crate::impairments::Impairments;
use crate::progress::TimeProgress;

/// What to compare, and where.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd compare
  cwnd compare simd aimd:b=1/8 cubic --rate 1gbit --rtt 100ms --queue droptail:0.5bdp
  cwnd compare simd exp-tcp --versus reno --flows 4
  cwnd compare reno cubic --loss 1e-4 --json > result.json
  cwnd compare reno cubic --reorder 0.02:15ms --aggregate 4ms
  cwnd compare reno cubic --host tso,gro=50us --queue droptail:20p
  cwnd compare dctcp reno --queue red:1bdp,min=20p,max=20p,weight=1,ecn=yes --ecn per-packet
Impairments are the bottleneck's; --aggregate and --thin-acks are those of the way back too.
Cells are means over the seeds with half the width of their 95 % Student t interval, below five seeds with the smallest and the
largest value. A star marks the best of a column where its interval, or range, overlaps no other, from three seeds on and
where every algorithm was measured in a stationary window: one with five congestion events of each flow, or as many turns of
its window or rate, whose halves agree in goodput (10 %), queue (20 %) and Jain's index (0.1).")]
pub(crate) struct Arguments {
    /// Algorithms, such as `simd` or `aimd:b=1/8`; `cwnd algorithms` lists all [default: the papers' beside Reno and CUBIC]
    #[arg(value_name = "ALGORITHM")]
    algorithms: Vec<Written<Spec>>,
    /// Rate of the bottleneck
    #[arg(long, default_value = "100mbit", conflicts_with = "trace")]
    rate: Written<BitRate>,
    /// Round-trip time without queueing
    #[arg(long, default_value = "50ms")]
    rtt: Written<Span>,
    /// Queue of the bottleneck: droptail:, red:, drr:, codel:, fq_codel:, pie:, xcp:, vcp: or decbit: and a size in bdp
    /// (bandwidth-delay products), p (packets) or kB; what else they take stands in docs/scenarios.md
    #[arg(long, default_value = "droptail:1bdp")]
    queue: Written<Queue>,
    /// Random loss at the bottleneck: a probability, or periodic:N for every Nth packet
    #[arg(long, default_value = "0")]
    loss: Written<Loss>,
    #[command(flatten)]
    impairments: Impairments,
    /// Let packets be marked by a queue with ecn=yes: per-packet reports every mark to the sender, as DCTCP wants it, latch repeats one
    /// until the sender has answered (RFC 3168)
    #[arg(long)]
    ecn: Option<Ecn>,
    /// Flows of each algorithm
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::<u32>(1..=MAX_FLOWS))]
    flows: u32,
    /// Set each algorithm against this one too, with as many flows
    #[arg(long, value_name = "ALGORITHM")]
    versus: Option<Written<Spec>>,
    /// How senders detect and repair losses: tahoe, reno, newreno, sack or rack [default: the era's]
    #[arg(long)]
    recovery: Option<Written<RecoveryScheme>>,
    /// What the hosts of TCP flows do as those of Linux: some of tso, fq, gro=TIME, autotune=SIZE, whole and min_rto=TIME with commas
    /// between [default: nothing]
    #[arg(long)]
    host: Option<Written<LinuxHost>>,
    /// How slow start grows: standard, limited:N (RFC 3742) or hystart++ (RFC 9406) [default: the era's]
    #[arg(long)]
    slow_start: Option<Written<SlowStart>>,
    /// Habits of senders and receivers: modern, linux-2.6, ns2-2006, ns2-2004, ns2-2001 or ns2-2001-precise
    #[arg(long, default_value = "modern")]
    era: Written<Era>,
    /// Length of a run
    #[arg(long, default_value = "60s")]
    duration: Written<Span>,
    /// Measure after this time, or after the one that MSER-5 finds in a run of each beforehand: auto [default: 10s, at most half of
    /// --duration]
    #[arg(long)]
    warmup: Option<Warmup>,
    /// Independent runs of each algorithm
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1..=MAX_SEEDS))]
    seeds: u32,
    /// Add seeds until the 95 % interval of each goodput is narrow enough: `ci<2%`
    #[arg(long, value_name = "RULE")]
    until: Option<Until>,
    /// At most so many seeds with --until [default: 100, at least --seeds]
    #[arg(long, value_name = "N", requires = "until", value_parser = whole::<u32>(1..=MAX_SEEDS))]
    max_seeds: Option<u32>,
    /// Show differences from the first algorithm too, taken seed by seed
    #[arg(long, conflicts_with = "json")]
    paired: bool,
    #[command(flatten)]
    files: files::Results,
}

/// When measuring starts.
#[derive(Clone, Debug)]
enum Warmup {
    Auto,
    Fixed(Written<Span>),
}

impl FromStr for Warmup {
    type Err = <Written<Span> as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Fixed) }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let files = &arguments.files;
    let json = files.json;
    let algorithms = match arguments.algorithms.as_slice() {
        [] => DEFAULT.map(Written::literal).to_vec(),
        given => given.to_vec(),
    };
    let comparison = |warmup: &Written<Span>| {
        Comparison::new(
            &arguments.document(warmup),
            &algorithms,
            arguments.versus.as_ref(),
            arguments.flows,
            arguments.ecn,
        )
        .map_err(|error| Failure::of_options::<Arguments>(&error))
        .map(|comparison| comparison.naming(|key| failure::option::<Arguments>(key).map(|option| option + " ")))
    };
    if arguments.paired && algorithms.len() < 2 {
        return Err(Failure::Input("--paired: there is nothing to take differences of with one algorithm".to_string()));
    }
    let most = arguments.max_seeds.unwrap_or(DEFAULT_MAX_SEEDS.max(arguments.seeds));
    if most < arguments.seeds {
        return Err(Failure::Input(format!(
            "--max-seeds: cannot be {most}: accepted is at least --seeds, {}",
            arguments.seeds
        )));
    }
    let warmup = arguments.warmup.clone().unwrap_or_else(|| Warmup::Fixed(default_warmup(*arguments.duration.value())));
    let first = match &warmup {
        Warmup::Fixed(warmup) => comparison(warmup)?,
        Warmup::Auto => comparison(&Written::literal("0s"))?,
    };
    let progress = TimeProgress::start()?;
    let folder = files.folder("compare")?;
    let comparison = match &warmup {
        Warmup::Fixed(_) => first,
        Warmup::Auto => {
            let found = first
                .warmup(|scenarios| run_all(scenarios, &progress))?
                .ok_or_else(|| Failure::Run(UNSETTLED.to_string()))?;
            comparison(&found.into())?
        }
    };
    let compared = match arguments.until {
        Some(until) => comparison.run_until(until, most, &progress)?,
        None => comparison.run(&progress)?,
    };
    drop(progress);

    let document = json::Comparison::of(&compared).expect("at least one algorithm was asked for");
    if let Some(folder) = folder {
        files::publish(folder, |path| write_comparison(path, &files::command(), &document, &compared))?;
    }
    if json {
        return Ok(to_json(&document));
    }
    let paired = if arguments.paired { text::differences(&document) } else { String::new() };
    Ok(text::comparison(&document) + &paired)
}

impl Arguments {
    fn document(&self, warmup: &Written<Span>) -> Document {
        Document {
            duration: self.duration.clone(),
            warmup: warmup.clone(),
            seeds: self.seeds,
            era: self.era.clone(),
            recovery: self.recovery.clone(),
            host: self.host.clone(),
            slow_start: self.slow_start.clone(),
            dumbbell: Some(Dumbbell {
                rate: self.rate.clone(),
                rtt: self.rtt.clone(),
                queue: self.queue.clone(),
                loss: self.loss.clone(),
                trace: self.impairments.trace.clone(),
                outage: self.impairments.outage.clone(),
                impairments: self.impairments.keys_forth(),
                reverse_impairments: self.impairments.keys_back(),
                ..Dumbbell::default()
            }),
            ..Document::default()
        }
    }
}

/// Of seeds with --until.
const DEFAULT_MAX_SEEDS: u32 = 100;

const UNSETTLED: &str = "--warmup auto: an algorithm does not settle in the first half of the duration; give a longer --duration, or a time";
