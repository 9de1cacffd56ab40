//! Links that change, as scenarios write them.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use cwnd::quantity::QuantityError;
use cwnd::{BitRate, Span};
use cwnd_sim::{
    DeliveryTrace, Discipline, Jitter, LightTrace, LinkSetup, Loss, Mangling, Phase, QueueLimit, Reordering,
    TokenBucket,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::Fault;
use super::error::{Located, range};
use super::link_trace::LinkTrace;
use super::quantity::{Quantity, Written, refused};
use super::queue::{Queue, ThresholdError};
use super::traffic::Stage;
use crate::files::read_limited;

/// Changes of the rate and the delay of a link in steps. Sizes in bandwidth-delay products follow the rate before the first one.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Start over after this time, as it was before the first step; later than the last step. Never if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Written<Span>>,
    /// The changes, in order of time.
    pub steps: Vec<Step>,
}

/// The changes at an instant. Losses, impairments and the size of the queue hold until another step sets them.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, since the start of the run or of the repetition.
    pub at: Written<Span>,
    /// The rate from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Written<StepRate>>,
    /// Addition to the delay of the link from then on, one way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_delay: Option<Written<Span>>,
    /// Random loss from then on; `0` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Written<Loss>>,
    /// Jitter from then on; `0s` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Written<Jitter>>,
    /// Reordering from then on, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Written<OrNone<Reordering>>>,
    /// The policer from then on, or `none`. One that returns has gained tokens meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<Written<OrNone<TokenBucket>>>,
    /// For how long packets wait for each other from then on, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Written<OrNone<Span>>>,
    /// The number of ACKs that leave together and become one from then on; 1 for no thinning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thin_acks: Option<u32>,
    /// The probability that a packet is damaged from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<f64>,
    /// The probability that a packet arrives twice from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,
    /// Whether the ECN field is cleared from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bleach_ecn: Option<bool>,
    /// What the ECN field of packets that have one is overwritten with from then on, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mangle_ecn: Option<Written<OrNone<Mangling>>>,
    /// The size of the queue from then on; the rest of it must be that of the link's queue. Packets that wait remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Written<Queue>>,
    /// The rate, the delay and a plain probability of loss move to their values in equal steps over this time; at once if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Written<Span>>,
}

/// A step without one of its keys.
type Without = fn(Step) -> Step;

/// A key of a step with its value as written, and the step without it.
pub(super) type PhaseKey = (&'static str, String, Without);

/// A setting, or `none`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrNone<Q>(pub Option<Q>);

/// A rate of a link, or none for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepRate {
    /// Packets wait.
    Outage,
    /// So fast.
    Rate(BitRate),
}

/// The name of a file with a packet-delivery trace of Mahimahi, or with a table of rate, delay and loss if it ends in `.csv`. A delivery
/// trace may be the heavy one of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    file: PathBuf,
    /// The file with the light trace, and the idle time after which a line follows it.
    light: Option<(PathBuf, Span)>,
}

/// The file that a link follows.
#[derive(Clone, Debug)]
pub enum Followed {
    /// Instants at which it transmits.
    Deliveries(Arc<DeliveryTrace>),
    /// Its rate, its delay and its losses.
    Table(LinkTrace),
}

impl TraceFile {
    /// Reads it, if its name begins at `directory`.
    ///
    /// # Errors
    /// [`Fault::Trace`] names the file, and the line that is wrong: it cannot be read, or is no trace.
    pub fn read_in(&self, directory: &Path) -> Result<Followed, Fault> {
        let path = directory.join(&self.file);
        let text = text_of(&path)?;
        let is_table = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let Some((light, idle)) = &self.light else {
            return if is_table {
                LinkTrace::parse(&text).map(Followed::Table).map_err(|error| fault(&path, &error))
            } else {
                DeliveryTrace::parse(&text)
                    .map(Arc::new)
                    .map(Followed::Deliveries)
                    .map_err(|error| fault(&path, &error))
            };
        };
        if is_table {
            return Err(fault(&path, &"a table has no light trace; accepted is a packet-delivery trace of Mahimahi"));
        }
        let heavy = DeliveryTrace::parse(&text).map_err(|error| fault(&path, &error))?;
        let path = directory.join(light);
        let light = LightTrace::parse(&text_of(&path)?, *idle).map_err(|error| fault(&path, &error))?;
        Ok(Followed::Deliveries(Arc::new(heavy.with_light(light))))
    }
}

fn text_of(path: &Path) -> Result<String, Fault> {
    let bytes = read_limited(path, MOST_OF_TRACE).map_err(|error| fault(path, &error))?;
    String::from_utf8(bytes).map_err(|error| fault(path, &error))
}

fn fault(path: &Path, reason: &dyn fmt::Display) -> Fault {
    Fault::Trace(format!("`{}`: {reason}", path.display()))
}

/// Bytes of a trace: of one of deliveries, an hour at a hundred megabits.
const MOST_OF_TRACE: u64 = 256 << 20;

/// Lets nothing be transmitted meanwhile: `steps` of a link that begins with `rate`, with those that begin and end the `outages`.
#[must_use]
pub fn with_outages(rate: u64, steps: &[(Span, u64)], outages: &[Stage]) -> Vec<(Span, u64)> {
    let ends = outages.iter().flat_map(|outage| [Some(outage.from), outage.to]).flatten();
    let mut instants: Vec<Span> = steps.iter().map(|(at, _)| *at).chain(ends).collect();
    instants.sort_unstable();
    instants.dedup();
    let rate_at = |at| steps.iter().rev().find(|(from, _)| *from <= at).map_or(rate, |(_, rate)| *rate);
    let is_out = |at| outages.iter().any(|outage| outage.from <= at && outage.to.is_none_or(|to| to > at));
    instants.into_iter().map(|at| (at, if is_out(at) { 0 } else { rate_at(at) })).collect()
}

/// Lets `link` follow a trace, and pauses it; `key` is that of the link. Of a table, only the losses are left to
/// [`follow_losses`].
pub(super) fn vary(
    link: &mut LinkSetup,
    (trace, directory): (&Option<Written<TraceFile>>, &Path),
    outages: &[Written<Stage>],
    key: &str,
) -> Result<Option<LinkTrace>, Located> {
    let mut table = None;
    if let Some(trace) = trace {
        if link.rate.is_none() {
            let why = "the queue of a link that follows a trace is one of a link with a rate";
            return Err(Located::at(key, Fault::Missing { key: "rate", why }));
        }
        if !link.rate_steps.steps.is_empty() {
            return Err(range(key, "trace", &format!("`{trace}`"), "none with a `schedule` with rates"));
        }
        match trace.value().read_in(directory).map_err(|fault| Located::at(&format!("{key}.trace"), fault))? {
            Followed::Deliveries(deliveries) => {
                link.rate = Some(deliveries.mean_rate());
                if let Some(light) = deliveries.light() {
                    refuse_delays(true, (link, trace), key)?;
                    (link.delay, link.delay_steps) = light.delays(link.delay);
                }
                link.deliveries = Some(deliveries);
            }
            Followed::Table(followed) => {
                refuse_delays(followed.has_delays(), (link, trace), key)?;
                followed.apply(link);
                table = Some(followed);
            }
        }
    }
    let Some(first) = outages.first() else { return Ok(table) };
    let (Some(rate), None, None) = (link.rate.filter(|_| trace.is_none()), &link.deliveries, link.rate_steps.repeat)
    else {
        let accepted = "none in a link without a `rate`, with a `trace`, or with a `schedule` that repeats";
        return Err(range(key, "outage", &format!("`{first}`"), accepted));
    };
    let outages: Vec<Stage> = outages.iter().map(|outage| *outage.value()).collect();
    link.rate_steps.steps = with_outages(rate, &link.rate_steps.steps, &outages);
    Ok(table)
}

/// Refuses a trace with delays for a link that has some already.
fn refuse_delays(has: bool, (link, trace): (&LinkSetup, &Written<TraceFile>), key: &str) -> Result<(), Located> {
    if !has || link.delay_steps.steps.is_empty() {
        return Ok(());
    }
    let accepted = "one without delays next to a `schedule` with `extra_delay`";
    Err(range(key, "trace", &format!("`{trace}`"), accepted))
}

/// Lets `link`, which is complete otherwise, lose packets as a table has it.
pub(super) fn follow_losses(
    link: &mut LinkSetup,
    table: Option<&LinkTrace>,
    trace: &Option<Written<TraceFile>>,
    key: &str,
) -> Result<(), Located> {
    let (Some(table), Some(trace)) = (table.filter(|table| table.has_losses()), trace) else { return Ok(()) };
    if link.loss != Loss::None || !link.phases.steps.is_empty() {
        let accepted = "one without losses next to `loss`, or a `schedule` of losses, impairments or queues";
        return Err(range(key, "trace", &format!("`{trace}`"), accepted));
    }
    table.apply_losses(link);
    Ok(())
}

/// `AT KEY=VALUE …`, such as `20s loss=0.3 jitter=wifi:7ms`: the keys of a step in a scenario, with spaces between.
impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let at = words.next().ok_or("expected a time and the changes, such as `20s loss=0.3`")?;
        let mut table = toml::Table::from_iter([("at".to_string(), toml::Value::String(at.to_string()))]);
        let mut words = words.peekable();
        if words.peek().is_none() {
            return Err(format!("expected the changes behind the time, such as `{at} loss=0.3`"));
        }
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}`: expected `key=value`"))?;
            let plain = value.parse::<toml::Value>().ok().filter(|value| {
                matches!(value, toml::Value::Boolean(_) | toml::Value::Integer(_) | toml::Value::Float(_))
            });
            let value = plain.unwrap_or_else(|| toml::Value::String(value.to_string()));
            if table.insert(key.to_string(), value).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
        }
        table.try_into().map_err(|error: toml::de::Error| error.message().to_string())
    }
}

impl Schedule {
    /// Lets a link that is no part of a scenario follow it; `sized` makes a queue at the link of what a step says.
    ///
    /// # Errors
    /// A step is out of order or a value is out of range: the step, its key and the accepted values.
    pub fn follow(
        &self,
        link: &mut LinkSetup,
        sized: impl Fn(&Queue) -> Result<(QueueLimit, Discipline), ThresholdError>,
    ) -> Result<(), String> {
        let sized = |queue: &Written<Queue>, key: &str| {
            sized(queue.value()).map_err(|error| range(key, "queue", &format!("`{queue}`"), &error.to_string()))
        };
        let text = |Located { key, fault }: Located| format!("{}: {fault}", key.trim_start_matches(".schedule."));
        self.apply(link, "").and_then(|()| self.apply_phases(link, "", sized)).map_err(text)
    }

    /// Lets the rate and the delay of `link` follow it; `key` is that of the link.
    pub(super) fn apply(&self, link: &mut LinkSetup, key: &str) -> Result<(), Located> {
        let key = format!("{key}.schedule");
        let mut last: Option<(&Written<Span>, Span)> = None;
        for (index, step) in self.steps.iter().enumerate() {
            let key = format!("{key}.steps.{index}");
            if let Some((at, end)) = last.filter(|(_, end)| *end >= *step.at.value()) {
                let ramp = if end > *at.value() { ", and than the end of its ramp" } else { "" };
                return Err(range(&key, "at", &step.at, &format!("later than the step before, {at}{ramp}")));
            }
            last = Some((&step.at, step.end()));
            step.apply(link, &key)?;
        }
        let Some((last, end)) = last else { return Err(range(&key, "steps", &"empty", "at least one step")) };
        if let Some(repeat) = &self.repeat {
            if *repeat.value() <= end {
                return Err(range(&key, "repeat", repeat, &format!("later than the last step, {last}, and its end")));
            }
            (link.rate_steps.repeat, link.delay_steps.repeat) = (Some(*repeat.value()), Some(*repeat.value()));
        }
        Ok(())
    }

    /// Lets the losses, the impairments and the queue limit of `link` follow it, which has those of its beginning. `sized` makes a queue at
    /// the link of what a step says, whose key it is given.
    pub(super) fn apply_phases(
        &self,
        link: &mut LinkSetup,
        key: &str,
        sized: impl Fn(&Written<Queue>, &str) -> Result<(QueueLimit, Discipline), Located>,
    ) -> Result<(), Located> {
        let mut phase = link.first_phase();
        let mut steps = Vec::new();
        for (index, step) in self.steps.iter().enumerate().filter(|(_, step)| step.changes_phase()) {
            let key = format!("{key}.schedule.steps.{index}");
            let before = phase.loss;
            step.change(&mut phase, link.discipline, &key, &sized)?;
            for (at, share) in step.ramp() {
                steps.push((at, Phase { loss: between(before, phase.loss, share), ..phase.clone() }));
            }
        }
        if !steps.is_empty() {
            link.phases.steps = steps;
            link.phases.repeat = self.repeat.as_ref().map(|repeat| *repeat.value());
        }
        Ok(())
    }
}

impl Step {
    /// A step that changes nothing yet.
    #[must_use]
    pub fn new(at: Written<Span>) -> Self {
        Self {
            at,
            rate: None,
            extra_delay: None,
            loss: None,
            jitter: None,
            reorder: None,
            policer: None,
            aggregate: None,
            thin_acks: None,
            corrupt: None,
            duplicate: None,
            bleach_ecn: None,
            mangle_ecn: None,
            queue: None,
            over: None,
        }
    }

    /// When it has reached its values.
    fn end(&self) -> Span {
        *self.at.value() + self.over.as_ref().map_or(Span::ZERO, |over| *over.value())
    }

    /// The instants of its steps, each with the share of the change that is reached there.
    fn ramp(&self) -> impl Iterator<Item = (Span, f64)> + use<> {
        let (at, over) = (*self.at.value(), self.over.as_ref().map_or(Span::ZERO, |over| *over.value()));
        let count = (over.as_nanos() / SHORTEST_STEP.as_nanos()).clamp(1, MOST_STEPS);
        (1..=count).map(move |n| {
            let share = n as f64 / count as f64;
            (if over == Span::ZERO { at } else { at + over.mul_f64(share) }, share)
        })
    }

    /// The keys that it has of losses, impairments and the queue: each with its value as written, and how a step loses it.
    pub(super) fn phase_keys(&self) -> Vec<PhaseKey> {
        let text = |given: Option<&dyn fmt::Display>| given.map(ToString::to_string);
        let keys: [(&'static str, Option<String>, Without); 11] = [
            ("loss", text(self.loss.as_ref().map(|given| given as _)), |step| Self { loss: None, ..step }),
            ("jitter", text(self.jitter.as_ref().map(|given| given as _)), |step| Self { jitter: None, ..step }),
            ("reorder", text(self.reorder.as_ref().map(|given| given as _)), |step| Self { reorder: None, ..step }),
            ("policer", text(self.policer.as_ref().map(|given| given as _)), |step| Self { policer: None, ..step }),
            ("aggregate", text(self.aggregate.as_ref().map(|given| given as _)), |step| Self {
                aggregate: None,
                ..step
            }),
            ("thin_acks", text(self.thin_acks.as_ref().map(|given| given as _)), |step| Self {
                thin_acks: None,
                ..step
            }),
            ("corrupt", text(self.corrupt.as_ref().map(|given| given as _)), |step| Self { corrupt: None, ..step }),
            ("duplicate", text(self.duplicate.as_ref().map(|given| given as _)), |step| Self {
                duplicate: None,
                ..step
            }),
            ("bleach_ecn", text(self.bleach_ecn.as_ref().map(|given| given as _)), |step| Self {
                bleach_ecn: None,
                ..step
            }),
            ("mangle_ecn", text(self.mangle_ecn.as_ref().map(|given| given as _)), |step| Self {
                mangle_ecn: None,
                ..step
            }),
            ("queue", text(self.queue.as_ref().map(|given| given as _)), |step| Self { queue: None, ..step }),
        ];
        keys.into_iter().filter_map(|(name, given, without)| Some((name, given?, without))).collect()
    }

    /// Whether `over` has something to move.
    pub(super) fn moves(&self) -> bool {
        let plain = |loss: &Written<Loss>| matches!(loss.value(), Loss::None | Loss::Bernoulli(_));
        self.rate.is_some() || self.extra_delay.is_some() || self.loss.as_ref().is_some_and(plain)
    }

    /// Whether it changes more than the rate and the delay.
    pub(super) fn changes_phase(&self) -> bool {
        !self.phase_keys().is_empty()
    }

    fn apply(&self, link: &mut LinkSetup, key: &str) -> Result<(), Located> {
        if self.rate.is_none() && self.extra_delay.is_none() && !self.changes_phase() {
            let why = "a step changes the `rate`, the `extra_delay`, the `loss` or another of its keys";
            return Err(Located::at(key, Fault::Missing { key: "rate", why }));
        }
        if let Some(over) = &self.over {
            let outage = self.rate.as_ref().is_some_and(|rate| *rate.value() == StepRate::Outage);
            if outage || *over.value() == Span::ZERO {
                return Err(range(key, "over", over, "a time above zero, in a step without an outage"));
            }
        }
        if let Some(rate) = &self.rate {
            let Some(first) = link.rate else {
                return Err(range(key, "rate", &format!("`{rate}`"), "none in a link without a `rate`"));
            };
            let before = link.rate_steps.steps.last().map_or(first, |(_, rate)| *rate) as f64;
            let to = rate.value().bits() as f64;
            let moved = self.ramp().map(|(at, share)| (at, ((to - before) * share + before).round() as u64));
            link.rate_steps.steps.extend(moved);
        }
        if let Some(extra) = &self.extra_delay {
            let before = link.delay_steps.steps.last().map_or(link.delay, |(_, delay)| *delay).as_nanos() as f64;
            let to = (link.delay + *extra.value()).as_nanos() as f64;
            let moved =
                self.ramp().map(|(at, share)| (at, Span::from_nanos(((to - before) * share + before).round() as u64)));
            link.delay_steps.steps.extend(moved);
        }
        Ok(())
    }

    /// Changes the phase before it into its own.
    fn change(
        &self,
        phase: &mut Phase,
        discipline: Discipline,
        key: &str,
        sized: &impl Fn(&Written<Queue>, &str) -> Result<(QueueLimit, Discipline), Located>,
    ) -> Result<(), Located> {
        let impairments = &mut phase.impairments;
        if let Some(loss) = &self.loss {
            phase.loss = *loss.value();
        }
        if let Some(jitter) = &self.jitter {
            impairments.jitter = Some(*jitter.value()).filter(|jitter| !jitter.is_nothing());
        }
        if let Some(reorder) = &self.reorder {
            impairments.reordering = reorder.value().0;
        }
        if let Some(policer) = &self.policer {
            impairments.policer = policer.value().0;
        }
        if let Some(aggregate) = &self.aggregate {
            impairments.aggregation = aggregate.value().0;
        }
        if let Some(every) = self.thin_acks {
            if every == 0 || every > 1 && impairments.aggregation.is_none() {
                return Err(range(key, "thin_acks", &every, "at least 1, and more with `aggregate` alone"));
            }
            impairments.ack_thinning = Some(every).filter(|every| *every > 1);
        }
        if impairments.aggregation.is_none() {
            impairments.ack_thinning = None;
        }
        for (name, given, set) in [
            ("corrupt", self.corrupt, &mut impairments.corruption),
            ("duplicate", self.duplicate, &mut impairments.duplication),
        ] {
            let Some(probability) = given else { continue };
            if !(0.0..=1.0).contains(&probability) {
                return Err(range(key, name, &probability, "a probability from 0 to 1"));
            }
            *set = probability;
        }
        if let Some(bleach) = self.bleach_ecn {
            impairments.bleach = bleach;
        }
        if let Some(mangle) = &self.mangle_ecn {
            impairments.mangling = mangle.value().0;
        }
        if let Some(queue) = &self.queue {
            let (limit, own) = sized(queue, key)?;
            if own != discipline {
                let accepted = "the queue of the link with another size";
                return Err(range(key, "queue", &format!("`{queue}`"), accepted));
            }
            phase.queue = limit;
        }
        Ok(())
    }
}

/// A plain probability of loss on its way from one value to another. Other losses change at once.
fn between(from: Loss, to: Loss, share: f64) -> Loss {
    let plain = |loss| match loss {
        Loss::None => Some(0.0),
        Loss::Bernoulli(p) => Some(p),
        Loss::Periodic(_) | Loss::GilbertElliott(_) => None,
    };
    match (plain(from), plain(to)) {
        (Some(from), Some(to)) if share < 1.0 => Loss::Bernoulli((to - from) * share + from),
        _ => to,
    }
}

/// The steps of a ramp are at least this far apart.
const SHORTEST_STEP: Span = Span::from_millis(1);
/// Most steps of a ramp.
const MOST_STEPS: u64 = 100;

impl StepRate {
    /// Bit/s; 0 in an outage.
    pub(super) fn bits(self) -> u64 {
        match self {
            Self::Outage => 0,
            Self::Rate(rate) => rate.0.round() as u64,
        }
    }
}

impl Quantity for TraceFile {
    const NAME: &'static str = "TraceFile";
    const EXPECTED: &'static str = "the name of a file with a packet-delivery trace of Mahimahi (on each line a millisecond at which 1504 bytes can leave), or, ending in `.csv`, a table of times, rates, delays and losses; or the pair of traces of CellReplay, `HEAVY,light=LIGHT,idle=TIME`";
    const EXAMPLES: &'static [&'static str] =
        &["traces/train.trace", "traces/train.csv", "traces/train.trace,light=traces/train.light,idle=20ms"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        let begin = [",light=", ",idle="].iter().filter_map(|option| text.find(option)).min().unwrap_or(text.len());
        let (file, options) = text.split_at(begin);
        if file.is_empty() || file.starts_with("light=") || file.starts_with("idle=") {
            return Err(refused(text, if text.is_empty() { Self::EXPECTED } else { PAIR }));
        }
        let (mut light, mut idle) = (None, None);
        for option in options.split(',').skip(1) {
            match option.split_once('=') {
                Some(("light", name)) if !name.is_empty() && light.is_none() => light = Some(PathBuf::from(name)),
                Some(("idle", time)) if idle.is_none() => {
                    let time = Span::read(time).ok().filter(|time| *time <= LONGEST_IDLE);
                    idle = Some(time.ok_or_else(|| refused(text, PAIR))?);
                }
                _ => return Err(refused(text, PAIR)),
            }
        }
        let light = match (light, idle) {
            (Some(light), Some(idle)) => Some((light, idle)),
            (None, None) => None,
            _ => return Err(refused(text, PAIR)),
        };
        Ok(Self { file: file.into(), light })
    }
}

const PAIR: &str = "`HEAVY,light=LIGHT,idle=TIME`: the names of a packet-delivery trace and of the light trace that belongs to it, without commas, and \
                    the time from `0s` to `1h` after which an idle link follows the light one";

/// No train lasts for longer.
const LONGEST_IDLE: Span = Span::from_secs(3600);

impl<Q: Quantity> Quantity for OrNone<Q> {
    const NAME: &'static str = Q::NAME;
    const EXPECTED: &'static str = Q::EXPECTED;
    const EXAMPLES: &'static [&'static str] = Q::EXAMPLES;
    type Error = Q::Error;

    fn read(text: &str) -> Result<Self, Q::Error> {
        if text.trim() == "none" { Ok(Self(None)) } else { Q::read(text).map(|value| Self(Some(value))) }
    }

    fn description() -> Cow<'static, str> {
        format!("{}, or `none`", Q::description()).into()
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}OrNone", Q::schema_name()).into()
    }

    fn words() -> Vec<&'static str> {
        let words = Q::words();
        if words.is_empty() { words } else { words.into_iter().chain(["none"]).collect() }
    }
}

impl Quantity for StepRate {
    const NAME: &'static str = "StepRate";
    const EXPECTED: &'static str = "a rate with its unit, such as `100mbit`, or `outage`";
    const EXAMPLES: &'static [&'static str] = &["100mbit", "outage"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "outage" {
            return Ok(Self::Outage);
        }
        BitRate::read(text).map(Self::Rate).map_err(|_| refused(text, Self::EXPECTED))
    }
}
