//! `cwnd compare`

use std::str::FromStr;

use clap::Args;
use cwnd::window::SlowStart;
use cwnd::{BitRate, Span, Spec};
use cwnd_lab::compare::{Comparison, DEFAULT, DEFAULT_OPPONENT, default_base};
use cwnd_report::page::names;
use cwnd_report::{json, text, write_comparison};
use cwnd_run::execute::{RunError, causes, failed};
use cwnd_run::files::to_json;
use cwnd_run::measure::Until;
use cwnd_run::run::run_each;
use cwnd_run::scenario::{
    Document, Dumbbell, Ecn, Fault, MAX_FLOWS, MAX_SEEDS, Place, Queue, ScenarioError, Schedule, Step, StepRate,
    Written, default_warmup,
};
use cwnd_sim::notation::{LOSSES, QUEUES, SLOW_STARTS};
use cwnd_sim::{Era, LinuxHost, Loss, RecoveryScheme};
use cwnd_text::one_line;

use crate::arguments::whole;
use crate::failure::{self, Failure};
use crate::figure::Figure;
use crate::files;
use crate::impairments::Impairments;
use crate::progress::TimeProgress;

/// Arguments of `cwnd compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd compare
  cwnd compare 'rule:grow=2/w,cut=w*3/4' cubic
  cwnd compare simd aimd:b=1/8 cubic --rate 1gbit --rtt 100ms --queue droptail:0.5bdp
  cwnd compare simd exp-tcp --versus reno --flows 4
  cwnd compare reno cubic --loss 1e-4 --json > result.json
  cwnd compare reno cubic --rate-step 20s:10mbit --rate-step 25s:100mbit --warmup 30s
  cwnd compare reno cubic --reorder 0.02:15ms --aggregate 4ms
  cwnd compare reno cubic --host tso,gro=50us --queue droptail:20p
  cwnd compare dctcp reno --queue red:1bdp,min=20p,max=20p,weight=1,ecn=yes --ecn per-packet
  cwnd compare prague --versus cubic --queue dualpi2:250ms --ecn l4s

Without any option for the path, the command has a path of its own: 50mbit, 50ms, droptail:0.25bdp, a rate of 12.5mbit from 5s to 10s, a \
warm-up of 25s, and each algorithm also against Reno. With a --warmup below 25s, or a --duration below 50s and no --warmup, that rate is \
constant, and the column `recovery` is missing. Any option for the path selects the defaults above instead.

Recovery is the time from the last rise of the rate until 90 % of it is used for 200 ms. Impairments apply to the bottleneck; --aggregate \
and --thin-acks act on acknowledgements too.

Cells are means over the seeds with half the width of their 95 % Student t interval, below five seeds with the smallest and the largest \
value. A star marks the best of a column where its interval, or range, overlaps no other, from three seeds on and where every algorithm \
was measured in a stationary window: one with five congestion events of each flow, or as many turns of its window or rate, whose halves \
agree in goodput (10 %), queue (20 %) and Jain's index (0.1).")]
pub(crate) struct Arguments {
    /// Algorithms, such as `simd`, `aimd:b=1/8` or `rule:grow=1/w,cut=w/2`; `cwnd algorithms` lists all [default: Reno, CUBIC, BBRv3 and
    /// those of the papers]
    #[arg(value_name = "ALGORITHM")]
    algorithms: Vec<Written<Spec>>,
    /// Rate of the bottleneck [default: 100mbit]
    #[arg(long, conflicts_with = "trace")]
    rate: Option<Written<BitRate>>,
    /// Change the rate of the bottleneck at a time: 20s:10mbit, or 20s:outage until the next step; may be repeated, in order of
    /// time
    #[arg(long, value_name = "AT:RATE", conflicts_with = "trace", help_heading = "Impairments")]
    rate_step: Vec<RateStep>,
    /// Round-trip time without queueing [default: 50ms]
    #[arg(long)]
    rtt: Option<Written<Span>>,
    #[arg(long, help = format!(
        "Queue of the bottleneck: {} and a size in bdp (bandwidth-delay products), ms, p (packets) or kB; docs/notation.md has \
         the parameters [default: droptail:1bdp]",
        QUEUES.prefixes()
    ))]
    queue: Option<Written<Queue>>,
    #[arg(long, help = format!("Random loss at the bottleneck: {}; docs/notation.md explains them [default: 0]", LOSSES.synopsis()))]
    loss: Option<Written<Loss>>,
    #[command(flatten)]
    impairments: Impairments,
    /// How receivers report marks: per-packet reports each mark, as for DCTCP; latch repeats a mark until the sender has answered (RFC
    /// 3168); l4s reports each mark of packets with ECT(1) for algorithms that follow the share of marks, and is latch for all others;
    /// accecn and accecn-l4s count marks modulo 8 instead (RFC 9768), counts and counts-l4s count all (QUIC, RFC 9000)
    #[arg(long, help_heading = "Senders and receivers")]
    ecn: Option<Ecn>,
    /// Number of flows of each algorithm
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::<u32>(1..=MAX_FLOWS))]
    flows: u32,
    /// Also run each algorithm against equally many flows of this one
    #[arg(long, value_name = "ALGORITHM")]
    versus: Option<Written<Spec>>,
    /// How senders detect and repair losses: tahoe, reno, newreno, sack or rack [default: that of --era]
    #[arg(long, help_heading = "Senders and receivers")]
    recovery: Option<Written<RecoveryScheme>>,
    /// Features of a Linux host for TCP flows: some of tso, fq, gro=TIME, autotune=SIZE, whole and min_rto=TIME, separated by commas
    /// [default: none]
    #[arg(long, help_heading = "Senders and receivers")]
    host: Option<Written<LinuxHost>>,
    #[arg(
        long,
        help_heading = "Senders and receivers",
        help = format!("How slow start grows: {} [default: that of --era]", SLOW_STARTS.synopsis())
    )]
    slow_start: Option<Written<SlowStart>>,
    /// Stack profile of senders and receivers: modern, linux-2.6, ns2-2006, ns2-2004, ns2-2001 or ns2-2001-precise [default: modern]
    #[arg(long, help_heading = "Senders and receivers")]
    era: Option<Written<Era>>,
    /// Length of a run
    #[arg(long, default_value = "60s")]
    duration: Written<Span>,
    /// Measure after this time; auto measures after the time that MSER-5 finds in a first run of each algorithm [default: 10s, at most half
    /// of --duration]
    #[arg(long)]
    warmup: Option<Warmup>,
    /// Independent runs of each algorithm
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1..=MAX_SEEDS))]
    seeds: u32,
    /// Add seeds until the 95 % interval of each goodput is narrow enough: `ci<2%`
    #[arg(long, value_name = "RULE", help_heading = "Seeds")]
    until: Option<Until>,
    /// The maximum number of seeds with --until [default: 100, at least --seeds]
    #[arg(long, value_name = "N", requires = "until", value_parser = whole::<u32>(1..=MAX_SEEDS), help_heading = "Seeds")]
    max_seeds: Option<u32>,
    /// Also show the differences from the first algorithm, seed by seed
    #[arg(long, conflicts_with = "json", help_heading = "Seeds")]
    paired: bool,
    #[command(flatten)]
    files: files::Results,
    #[command(flatten)]
    figure: Figure,
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

/// A step of the bottleneck's rate.
#[derive(Clone, Debug)]
struct RateStep {
    step: Step,
    /// The step as typed.
    text: String,
}

impl FromStr for RateStep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            || format!("cannot read `{text}`: expected a time and a rate with `:` between, such as `20s:10mbit`");
        let (at, rate) = text.split_once(':').ok_or_else(expected)?;
        let at: Written<Span> = at.trim().parse().map_err(|error| format!("{error}"))?;
        let rate: Written<StepRate> = rate.trim().parse().map_err(|error| format!("{error}"))?;
        Ok(Self { step: Step { rate: Some(rate), ..Step::new(at) }, text: text.to_string() })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let files = &arguments.files;
    let json = files.json;
    arguments.figure.check_with(files.without_page(), names::OF_RUNS)?;
    let algorithms = match arguments.algorithms.as_slice() {
        [] => DEFAULT.map(Written::literal).to_vec(),
        given => given.to_vec(),
    };
    let usual = arguments.has_no_path().then(|| Written::literal(DEFAULT_OPPONENT));
    let comparison = |warmup: Option<&Written<Span>>| {
        Comparison::new(
            &arguments.document(warmup),
            &algorithms,
            arguments.versus.as_ref().or(usual.as_ref()),
            arguments.flows,
            arguments.ecn.as_ref(),
        )
        .map_err(|error| arguments.refusal(&error))
        .map(|comparison| {
            let named = comparison.naming(|key| failure::option::<Arguments>(key).map(|option| option + " "));
            named.typed(|key| arguments.rate_steps(key).or_else(|| arguments.marks(key)))
        })
    };
    if arguments.paired && algorithms.len() < 2 {
        return Err(Failure::input("--paired: there is nothing to take differences of with one algorithm".to_string()));
    }
    let most = arguments.max_seeds.unwrap_or(DEFAULT_MAX_SEEDS.max(arguments.seeds));
    if most < arguments.seeds {
        return Err(Failure::input(format!(
            "--max-seeds: cannot be {most}: accepted is at least --seeds, {}",
            arguments.seeds
        )));
    }
    let first = match &arguments.warmup {
        Some(Warmup::Fixed(warmup)) => comparison(Some(warmup))?,
        Some(Warmup::Auto) => comparison(Some(&Written::literal("0s")))?,
        None => comparison(None)?,
    };
    let progress = TimeProgress::start()?;
    let directory = files.directory("compare")?;
    let comparison = match &arguments.warmup {
        Some(Warmup::Fixed(_)) | None => first,
        Some(Warmup::Auto) => {
            let found = first
                .warmup(|scenarios| run_each(scenarios, &progress))
                .map_err(RunError::from)?
                .ok_or_else(|| Failure::run(UNSETTLED.to_string()))?;
            comparison(Some(&found.into()))?
        }
    };
    let cells = comparison.scenarios().count() as u64;
    let compared = match arguments.until {
        Some(until) => comparison.run_until(until, most, &progress),
        None => comparison.run(&progress),
    };
    let compared = compared.map_err(RunError::from)?;
    drop(progress);
    let failed = failed(cells, &causes(compared.failures.iter().map(|failure| &failure.failed.error)));

    // Without it there was no run that can be shown.
    let Some(document) = json::Comparison::of(&compared) else {
        let each = compared.failures.iter().map(|failure| format!("\n  {}", one_line(&failure.to_string())));
        let failed = failed.unwrap_or_else(|| "nothing was run".to_string());
        return Err(Failure::run(failed + &each.collect::<String>()));
    };
    if let Some(directory) = directory {
        let path = files::publish(directory, |path| write_comparison(path, &files::command(), &document, &compared))?;
        arguments.figure.write_from(&path)?;
    }
    let text = if json { to_json(&document) } else { arguments.text(&document, usual.is_some()) };
    match failed {
        None => Ok(text),
        Some(failed) => {
            crate::print(&text)?;
            Err(Failure::run(failed))
        }
    }
}

/// The given command on the path of `document` with a deep queue. Its directory exists by now.
fn deep_queue(document: &json::Comparison) -> String {
    let rate = document.origin.scenario.dumbbell.as_ref().map(|path| path.rate.text()).unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    let mut given = files::words();
    while let Some(word) = given.next() {
        match word.as_str() {
            "--out" => drop(given.next()),
            word if word.starts_with("--out=") => {}
            _ => words.push(word),
        }
    }
    // Behind `--` stand algorithms.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, format!("--rate {rate} --queue droptail:2bdp --versus {DEFAULT_OPPONENT}"));
    words.join(" ")
}

impl Arguments {
    /// The printed text of the document; `usual` if the path and an opponent are the defaults.
    fn text(&self, document: &json::Comparison, usual: bool) -> String {
        let paired = if self.paired { text::differences(document) } else { String::new() };
        let next = (usual && self.versus.is_none()).then(|| text::next_of_comparison(document, &deep_queue(document)));
        text::comparison(document) + &paired + &next.unwrap_or_default()
    }

    /// The steps of the bottleneck, each as it was typed: `--rate-step` and `--step` merged by time, each in its own order.
    fn steps(&self) -> Vec<(Step, String)> {
        let rates = self.rate_step.iter().map(|step| (step.step.clone(), format!("--rate-step {}", step.text)));
        let others = self.impairments.step.iter().map(|step| (step.step.clone(), format!("--step '{}'", step.text)));
        let (mut rates, mut others) = (rates.peekable(), others.peekable());
        let mut merged = Vec::new();
        loop {
            let at = |step: Option<&(Step, String)>| step.map_or(Span::MAX, |(step, _)| *step.at.value());
            let next = if at(rates.peek()) <= at(others.peek()) { rates.next() } else { others.next() };
            match next.or_else(|| rates.next()).or_else(|| others.next()) {
                Some(step) => merged.push(step),
                None => return merged,
            }
        }
    }

    /// The steps of the bottleneck as they were typed, where `key` is that of one of them or of all.
    fn rate_steps(&self, key: &str) -> Option<String> {
        let rest = key.strip_prefix("dumbbell.schedule")?;
        let one = rest.strip_prefix(".steps.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        let steps: Vec<String> = self.steps().into_iter().map(|(_, typed)| typed).collect();
        match one {
            Some(one) => steps.get(one).cloned(),
            None => Some(steps.join(" ")),
        }
    }

    /// The option of marks, where `key` is that of a group of flows: some groups have its classic variant.
    fn marks(&self, key: &str) -> Option<String> {
        let ecn = self.ecn.as_ref().filter(|_| key.starts_with("flow.") && key.ends_with(".ecn"))?;
        Some(format!("--ecn {}", ecn.text()))
    }

    /// A fault in the scenario of these options.
    fn refusal(&self, error: &ScenarioError) -> Failure {
        let ScenarioError { place: Place::Key(key), fault: Fault::Range { accepted, .. } } = error else {
            return Failure::of_options::<Self>(error);
        };
        let Some(steps) = self.rate_steps(key) else { return Failure::of_options::<Self>(error) };
        let expected = match key.rsplit('.').next() {
            Some("at") => format!("a time {accepted}"),
            Some("schedule") => "a rate in the last step: an outage must end".to_string(),
            key => format!("for `{}` {accepted}", key.unwrap_or_default()),
        };
        let example = if steps.starts_with("--rate-step") { ", such as `--rate-step 20s:10mbit`" } else { "" };
        Failure::input(format!("{steps}: accepted is {expected}{example}"))
    }

    /// Whether no option describes the path or its use.
    fn has_no_path(&self) -> bool {
        let habits = self.recovery.is_none() && self.host.is_none() && self.slow_start.is_none() && self.era.is_none();
        let link = self.rate.is_none() && self.rate_step.is_empty() && self.rtt.is_none() && self.queue.is_none();
        habits && link && self.loss.is_none() && self.ecn.is_none() && self.impairments.are_none()
    }

    fn document(&self, warmup: Option<&Written<Span>>) -> Document {
        if self.has_no_path() {
            return Document { seeds: self.seeds, ..default_base(self.duration.clone(), warmup.cloned()) };
        }
        let path = Dumbbell::default();
        let steps: Vec<Step> = self.steps().into_iter().map(|(step, _)| step).collect();
        Document {
            duration: self.duration.clone(),
            warmup: warmup.cloned().unwrap_or_else(|| default_warmup(*self.duration.value())),
            seeds: self.seeds,
            era: self.era.clone().unwrap_or(Document::default().era),
            recovery: self.recovery.clone(),
            host: self.host.clone(),
            slow_start: self.slow_start.clone(),
            dumbbell: Some(Dumbbell {
                rate: self.rate.clone().unwrap_or(path.rate),
                rtt: self.rtt.clone().unwrap_or(path.rtt),
                queue: self.queue.clone().unwrap_or(path.queue),
                loss: self.loss.clone().unwrap_or(path.loss),
                schedule: (!steps.is_empty()).then_some(Schedule { repeat: None, steps }),
                trace: self.impairments.trace.clone(),
                outage: self.impairments.outage.clone(),
                duplex: self.impairments.duplex.clone(),
                impairments: self.impairments.keys_forth(),
                reverse_impairments: self.impairments.keys_back(),
                ..Dumbbell::default()
            }),
            ..Document::default()
        }
    }
}

/// The default of --max-seeds with --until.
const DEFAULT_MAX_SEEDS: u32 = 100;

const UNSETTLED: &str = "--warmup auto: an algorithm does not settle in the first half of the duration; give a longer --duration, or a time";
