//! Properties of a sender: a number of a run with a bound.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cwnd_run::measure::{Domain, summarise};
use cwnd_run::run::Runs;
use cwnd_run::scenario::{Scenario, unknown};
use cwnd_text::exact;
use cwnd_trace::Trace;

pub use crate::bound::Side;
use crate::bound::accepts;
use crate::formula::{Formula, is_word, names};
use crate::measured as of;
use crate::observed::Observed;
use crate::parts::Part;
pub use crate::refused::PropertyError;
use crate::refused::short;

/// A property of the registry.
#[derive(Debug)]
pub struct Property {
    /// Its name in commands.
    pub name: &'static str,
    /// Its title within a sentence.
    pub title: &'static str,
    /// The paper or RFC that asks for it.
    pub source: &'static str,
    /// The definition of its number.
    pub definition: &'static str,
    /// Its assumptions.
    pub assumes: &'static str,
    /// On which side of the bound the number has to be.
    pub side: Side,
    /// The bound unless another is given.
    pub bound: f64,
    /// Whether its number is a share, 0 to 1; other numbers are at least 0.
    pub share: bool,
    /// How many flows of the subject are on the path.
    pub flows: u32,
    /// The part that every path of it needs; none without such a part.
    pub needs: Option<Part>,
    /// The parts of a path that violate its assumptions, in addition to those that a dual queue rules out.
    pub(crate) without: &'static [&'static [Part]],
    /// Reference algorithms with finite transfers: the subject's number is divided by the smallest of theirs on the same path.
    pub rivals: &'static [&'static str],
    /// Its number needs two samples per round trip.
    pub(crate) per_round_trip: bool,
    /// Each path has a dual queue (RFC 9332), in which the subject sends ECT(1), and competitors are Reno or CUBIC without ECN.
    pub(crate) dual_queue: bool,
    /// Acknowledgements alone make the window of its subject grow, not an estimate of a rate, nor reports on a clock, nor routers.
    pub(crate) by_acknowledgements: bool,
    /// The number of a run; none if it is undefined there.
    pub(crate) of: fn(&Observed<'_>) -> Option<f64>,
    /// Why it is undefined there.
    pub(crate) silence: &'static str,
}

/// A property with a bound.
#[derive(Clone, Debug)]
pub struct Promise {
    number: Number,
    side: Side,
    bound: f64,
}

#[derive(Clone)]
enum Number {
    Property(&'static Property),
    Measures(Arc<Formula>),
    Own { name: String, margin: Arc<OwnMargin> },
}

/// The margin of a run with one seed that a caller computes: negative if the run breaks the property, none if it says nothing.
pub type OwnMargin = dyn Fn(Runs) -> Option<f64> + Send + Sync;

impl Promise {
    /// A property called `name`, of which `margin` computes the margin of a run. It assumes nothing: a path may have each part.
    #[must_use]
    pub fn own(name: String, margin: Arc<OwnMargin>) -> Self {
        Self { number: Number::Own { name, margin }, side: Side::Above, bound: 0.0 }
    }

    /// Whether [`own`](Self::own) made it, so that no text can name it.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.number, Number::Own { .. })
    }

    /// The margin of a number: its distance to the bound, divided by the bound. Negative if the number breaks the property.
    #[must_use]
    pub fn margin(&self, value: f64) -> f64 {
        let scale = if self.bound == 0.0 { 1.0 } else { self.bound.abs() };
        let margin = match self.side {
            Side::Above => (value - self.bound) / scale,
            Side::Below => (self.bound - value) / scale,
        };
        // The bound itself breaks it, but for a margin of 0 that is computed elsewhere.
        if margin == 0.0 && !self.is_own() { -f64::MIN_POSITIVE } else { margin.clamp(-LARGEST, LARGEST) }
    }

    /// How many flows of the subject are on the path.
    #[must_use]
    pub fn flows(&self) -> u32 {
        self.property().map_or(1, |property| property.flows)
    }

    /// The part that each path has.
    #[must_use]
    pub fn needs(&self) -> Option<Part> {
        self.property().and_then(|property| property.needs)
    }

    /// Whether no path of it may have a part.
    #[must_use]
    pub fn forbids(&self, part: Part) -> bool {
        let has = |groups: &[&[Part]]| groups.iter().any(|group| group.contains(&part));
        self.property().is_some_and(|property| has(property.without) || property.dual_queue && has(UNLIKE_L4S))
    }

    /// The algorithms that the subject is compared with.
    #[must_use]
    pub fn rivals(&self) -> &'static [&'static str] {
        self.property().map_or(&[], |property| property.rivals)
    }

    /// Whether a run needs two samples per round trip.
    #[must_use]
    pub(crate) fn per_round_trip(&self) -> bool {
        self.property().is_some_and(|property| property.per_round_trip)
    }

    /// Whether each path has a dual queue.
    pub(crate) fn dual_queue(&self) -> bool {
        self.property().is_some_and(|property| property.dual_queue)
    }

    /// The property of the registry; none for an expression over measures.
    #[must_use]
    pub fn property(&self) -> Option<&'static Property> {
        match &self.number {
            Number::Property(property) => Some(property),
            Number::Measures(_) | Number::Own { .. } => None,
        }
    }

    /// The number of a run with a seed, or why the run says nothing.
    pub(crate) fn number_of(&self, scenario: &Scenario, seed: u64, trace: Trace) -> Result<f64, String> {
        let summary = summarise(&trace, scenario.bottleneck());
        match &self.number {
            Number::Own { margin, .. } => {
                let scenario = scenario.with_seeds(seed, 1);
                let margin = margin(Runs { scenario, traces: vec![trace], summaries: vec![summary] });
                margin.filter(|value| !value.is_nan()).ok_or_else(|| "its property returns no number".to_string())
            }
            number => {
                let observed = Observed { scenario, trace: &trace, summary: &summary };
                self.number(&observed).ok_or_else(|| match number {
                    Number::Measures(formula) => formula.silence(&observed),
                    _ => self.property().map_or("", |property| property.silence).to_string(),
                })
            }
        }
    }

    /// The number of a run; none of a property of the caller's own.
    pub(crate) fn number(&self, observed: &Observed<'_>) -> Option<f64> {
        let value = match &self.number {
            Number::Property(property) => (property.of)(observed),
            Number::Measures(formula) => {
                let values = formula.values(observed).into_iter();
                match self.side {
                    Side::Above => values.reduce(f64::min),
                    Side::Below => values.reduce(f64::max),
                }
            }
            Number::Own { .. } => None,
        };
        value.filter(|value| !value.is_nan())
    }
}

impl Property {
    /// The possible values of its number.
    fn domain(&self) -> Domain {
        if self.share { Domain::SHARE } else { Domain::POSITIVE }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(property) => out.write_str(property.name),
            Self::Measures(formula) => out.write_str(formula.text()),
            Self::Own { name, .. } => write!(out, "own {name}"),
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.number {
            Number::Property(property) => property.name,
            Number::Measures(formula) => formula.text(),
            Number::Own { name, .. } => return write!(out, "{name} >= 0"),
        };
        write!(out, "{name} {} {}", self.side.sign(), exact(self.bound))
    }
}

impl FromStr for Promise {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        // Its line in a file is one.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (name, rest) = match comparison(&text) {
            Some(at) => (text[..at].trim(), Some(text[at..].split_at(1))),
            None => (text.as_str(), None),
        };
        if name.is_empty() {
            return Err(PropertyError::Empty(rest.and_then(|(sign, _)| sign.chars().next())));
        }
        let given =
            rest.map(|(sign, bound)| bounded(if sign == ">" { Side::Above } else { Side::Below }, bound.trim()));
        let given = given.transpose()?;
        if let Some(property) = PROPERTIES.iter().find(|property| property.name == name) {
            let (side, bound) = given.unwrap_or((property.side, property.bound));
            if side != property.side {
                let word = if property.side == Side::Above { "above" } else { "below" };
                let (sign, bound) = (property.side.sign(), property.bound);
                return Err(PropertyError::Side { name: property.name, side: word, sign, bound });
            }
            in_range(property.name, side, property.domain().ends(), bound)?;
            return Ok(Self { number: Number::Property(property), side, bound });
        }
        if is_word(name) {
            let known: Vec<&str> = PROPERTIES.iter().map(|property| property.name).chain(names()).collect();
            return Err(PropertyError::Unknown(unknown("property", &short(name), &known)));
        }
        let formula = Formula::read(name)?;
        let what = if formula.is_measure() { "measure" } else { "expression" };
        let (side, bound) = given.ok_or_else(|| PropertyError::NoBound { what, text: name.to_string() })?;
        in_range(name, side, formula.range(), bound)?;
        Ok(Self { number: Number::Measures(Arc::new(formula)), side, bound })
    }
}

/// Where the number of a property ends and its bound begins: at the first comparison that is in no brackets.
fn comparison(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && b"<>".contains(&byte)
    })
}

/// A side with its bound.
fn bounded(side: Side, bound: &str) -> Result<(Side, f64), PropertyError> {
    match bound.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((side, number)),
        _ if bound.is_empty() => Err(PropertyError::NoNumber(side.sign())),
        _ if bound.starts_with('=') => Err(PropertyError::Equals { sign: side.sign() }),
        _ => Err(PropertyError::Bound(bound.to_string())),
    }
}

/// Refuses a bound that no number breaks, or none keeps.
fn in_range(name: &str, side: Side, range: [f64; 2], bound: f64) -> Result<(), PropertyError> {
    accepts(side, range, bound).map_err(|accepted| PropertyError::Range { name: name.to_string(), bound, accepted })
}

/// The parts with which an application has too little data for a time.
const LIMITED: &[Part] = &[Part::Source, Part::Pauses, Part::SlowThenBulk];
/// The parts that change the rate or the delay of the path, but for an outage.
const CHANGED: &[Part] = &[Part::RateStep, Part::DelayStep, Part::Detour, Part::RateTrace, Part::DelayTrace];
/// Parts that no property of a dual queue allows: they change the path, replace its queue, or hold packets back without a queue.
const UNLIKE_L4S: &[&[Part]] =
    &[CHANGED, &[Part::Jitter, Part::Reordering, Part::Aggregation, Part::Outage, Part::Discipline, Part::Marks]];
const NO_WINDOW: &str = "no window bounds a subject";
/// Margins beyond this are not told apart.
const LARGEST: f64 = 1e6;

/// All properties, in the order of the documentation.
pub static PROPERTIES: &[Property] = &[
    Property {
        name: "progress",
        title: "a window leaves its minimum",
        source: "RFC 5681, section 3.1: without congestion a window grows. cloudflare/quiche#2370 is a CUBIC that stays at two packets.",
        definition: "The longest time, in round trips, in which the window of a subject is at most 4 packets while acknowledgements arrive \
                     and nothing is lost, times out or waits for data. A round trip is the smoothed round-trip time. Only times count in \
                     which the path has room for 8 packets of each flow.",
        assumes: "No path loses packets at random: a window that is small because of losses does not count, but they end the time.",
        side: Side::Below,
        bound: 20.0,
        share: false,
        flows: 1,
        needs: None,
        without: &[LIMITED, &[Part::Competitor]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::progress,
        silence: NO_WINDOW,
    },
    Property {
        name: "backlog-utilisation",
        title: "a backlogged flow uses the path",
        source: "RFC 5166, section 2.1.1; CCAC (SIGCOMM 2021) asks for half of the rate.",
        definition: "The least share of the bottleneck's capacity that is carried in any 10 s after the warm-up, or in any half of the \
                     measured time if that is shorter. The capacity of an outage is zero.",
        assumes: "Each flow always has data, and no packet is lost or held back at random.",
        side: Side::Above,
        bound: 0.5,
        share: true,
        flows: 1,
        needs: None,
        without: &[LIMITED, &[Part::Loss, Part::Reordering, Part::Outage]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::backlog_utilisation,
        silence: "the bottleneck can carry nothing after the warm-up",
    },
    Property {
        name: "starvation",
        title: "equal flows share the path",
        source: "Arun, Alizadeh and Balakrishnan, SIGCOMM 2022: an algorithm is s-fair if the ratio of the rates of two flows is at most s.",
        definition: "The smallest goodput of a subject divided by the largest, after the warm-up; the reciprocal of s.",
        assumes: "Both flows have the same round-trip time without queueing (to within 5 %, and within an interval of hosts that gather \
                  arrivals), always have data, and start before the warm-up ends. Only acknowledgements may be delayed for one of them alone.",
        side: Side::Above,
        bound: 0.1,
        share: true,
        flows: 2,
        needs: None,
        without: &[LIMITED, &[Part::Competitor, Part::Outage, Part::Drops]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::starvation,
        silence: "no two subjects deliver data after the warm-up",
    },
    Property {
        name: "recovery",
        title: "the rate comes back after an outage",
        source: "RFC 5166, section 2.2.1; picoquic#1697 is a BBR that needs 37 round trips.",
        definition: "The time from the end of the outage until the bottleneck is used to 90 % for 200 ms, divided by the length of the outage, at \
                     least 1 s. The rest of the run if that does not happen.",
        assumes: "The outage alone changes the rate or the delay of the path. The queue is drop-tail. Each flow always has data, no packet is lost or held back at random, and no acknowledgements wait for one another.",
        side: Side::Below,
        bound: 3.0,
        share: false,
        flows: 1,
        needs: Some(Part::Outage),
        without: &[
            LIMITED,
            CHANGED,
            &[
                Part::Loss,
                Part::Jitter,
                Part::Reordering,
                Part::Aggregation,
                Part::Acks,
                Part::OwnAcks,
                Part::Drops,
                Part::Discipline,
                Part::Marks,
            ],
        ],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::recovery,
        silence: "no outage of the bottleneck ends in it",
    },
    Property {
        name: "cause-of-cuts",
        title: "a window is cut for a reason",
        source: "RFC 5681, section 3.1, and RFC 3168, section 6.1.2: loss, a mark or a timeout is the reason of a decrease.",
        definition: "The largest decrease of the window of a subject between two samples, as a share, without a loss, drop, mark or timeout of the \
                     flow in the four round trips before.",
        assumes: "The algorithm follows losses and marks, not delay or rate, and always has data.",
        side: Side::Below,
        bound: 0.25,
        share: true,
        flows: 1,
        needs: None,
        without: &[LIMITED],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::cause_of_cuts,
        silence: NO_WINDOW,
    },
    Property {
        name: "depth-of-cuts",
        title: "a loss cuts a window by no more than its factor",
        source: "RFC 5681, section 3.1: half of the window remains after a loss. CUBIC promises 0.7 (RFC 9438, section 4.6): write `depth-of-cuts < 0.35`.",
        definition: "The largest decrease of the window of a subject between two samples without a timeout, as a share of a window of at least 16 \
                     packets, with a loss, drop or mark of the flow in the four round trips before. There are two samples per round trip.",
        assumes: "The algorithm cuts by a factor of at most a half after a loss, as BBR does not. Each flow always has data, and no packet is lost \
                  at random, so that no persistent congestion arises.",
        side: Side::Below,
        bound: 0.55,
        share: true,
        flows: 1,
        needs: None,
        without: &[LIMITED, &[Part::Loss, Part::Outage]],
        rivals: &[],
        per_round_trip: true,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::depth_of_cuts,
        silence: NO_WINDOW,
    },
    Property {
        name: "needless-repeats",
        title: "a sender repeats lost packets alone",
        source: "RFC 5681, section 3.2: a fast retransmission sends the segment that appears to be missing.",
        definition: "The packets that a subject sent, less those that the receiver had not had before and those that were lost, as a share of those \
                     sent. Those that the sender has in flight at the end of the run do not count. The largest of the subjects that send 100 \
                     packets or more, because those of a handshake have no data.",
        assumes: "The rate and the delay of the path do not change, and no packet is lost or held back at random.",
        side: Side::Below,
        bound: 0.2,
        share: true,
        flows: 1,
        needs: None,
        without: &[CHANGED, &[Part::Loss, Part::Reordering, Part::Outage]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::needless_repeats,
        silence: "no subject sends 100 packets",
    },
    Property {
        name: "standing-queue",
        title: "no queue stands above a share of the path",
        source: "RFC 8033, section 1, and RFC 5166, section 2.1.2.",
        definition: "The largest queue, in bandwidth-delay products, below which the bottleneck's queue does not fall for 10 s after the \
                     warm-up, or for half of the measured time if that is shorter.",
        assumes: "The rate and the delay of the path do not change. An algorithm that follows losses alone promises nothing in a deep buffer.",
        side: Side::Below,
        bound: 1.0,
        share: false,
        flows: 1,
        needs: None,
        without: &[CHANGED, &[Part::Competitor, Part::Outage]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::standing_queue,
        silence: "the path has no bandwidth-delay product, or no samples after the warm-up",
    },
    Property {
        name: "steady-loss",
        title: "few packets are dropped in steady state",
        source: "RFC 5166, section 2.1.3.",
        definition: "The packets that the bottleneck's queue dropped after the warm-up, as a share of those offered.",
        assumes: "The path does not change, no other traffic is on it, and bulk data begins with the run, so that its slow start ends \
                  before the measured time.",
        side: Side::Below,
        bound: 0.05,
        share: true,
        flows: 1,
        needs: None,
        without: &[CHANGED, &[Part::Competitor, Part::Outage, Part::SlowThenBulk]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::steady_loss,
        silence: "nothing is offered to the bottleneck after the warm-up",
    },
    Property {
        name: "no-deadlock",
        title: "a sender with data sends again",
        source: "RFC 6298, section 5: a timer runs while data is outstanding. CC-Fuzz (HotNets 2022) found a BBR that never sends again.",
        definition: "The longest time in seconds in which a subject with data sends nothing, less twice the time for which the path was out.",
        assumes: "Each flow always has data. Timers double, so that a silence may be twice as long as an outage, and no packets are dropped one after the other.",
        side: Side::Below,
        bound: 5.0,
        share: false,
        flows: 1,
        needs: None,
        without: &[LIMITED, &[Part::Drops]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::longest_silence,
        silence: "it has no subject",
    },
    Property {
        name: "completion",
        title: "a transfer ends about as soon as with the best of others",
        source: "RFC 5166, section 2.1.1; AdvNet (2026) compares with a reference on the same path.",
        definition: "The time of a transfer divided by the shortest with one of the rivals in the subject's place on the same path with the same \
                     seed. An unfinished transfer counts twice the run.",
        assumes: "One of the rivals completes the transfer.",
        side: Side::Below,
        bound: 3.0,
        share: false,
        flows: 1,
        needs: None,
        without: &[LIMITED, &[Part::Competitor]],
        rivals: &["reno", "cubic", "bbr3"],
        per_round_trip: false,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::completion,
        silence: "the transfer of the subject has no size",
    },
    Property {
        name: "unused-growth",
        title: "a window grows by its use",
        source: "RFC 9002, section 7.8, and RFC 7661, section 4.2: a window that is not used must not grow.",
        definition: "The largest factor by which the window of a subject grows while its application has too little data, and the packets in \
                     flight never exceed half of the window. The packets in flight are at most those at a sample and all that are sent until the next, two samples per round trip.",
        assumes: "The application of the first flow is slower than the path.",
        side: Side::Below,
        bound: 1.5,
        share: false,
        flows: 1,
        needs: Some(Part::Source),
        without: &[&[Part::Pauses, Part::SlowThenBulk, Part::RateStep, Part::RateTrace, Part::Outage]],
        rivals: &[],
        per_round_trip: true,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::unused_growth,
        silence: NO_WINDOW,
    },
    Property {
        name: "doubling",
        title: "a window at most doubles in a round trip",
        source: "RFC 5681, section 3.1: slow start adds at most a packet for each that is acknowledged. RFC 9438, \
                 section 4.10, and RFC 9002, section 7.3.1, refer to it or repeat it.",
        definition: "The largest increase of the window of a subject over a round trip, in packets, divided by the packets that are \
                     acknowledged in it, at least 1. A round trip is the smoothed round-trip time, rounded up to samples, of which it has two. \
                     The packets acknowledged are those in flight at its begin and those sent in it, less those in flight at its end. \
                     Only round trips count without a loss, drop, mark or timeout of the flow in the four before their end.",
        assumes: "Acknowledgements alone make a window grow, not an estimate of the rate as in BBR, nor reports on a clock as in UDT, nor routers.",
        side: Side::Below,
        bound: 1.5,
        share: false,
        flows: 1,
        needs: None,
        without: &[],
        rivals: &[],
        per_round_trip: true,
        dual_queue: false,
        by_acknowledgements: true,
        of: of::doubling,
        silence: NO_WINDOW,
    },
    Property {
        name: "response-to-marks",
        title: "a mark is answered within a few round trips",
        source: "RFC 3168, section 6.1.2: a sender answers a mark as a loss, at most once per window of data.",
        definition: "The longest time, in round trips, in which marks of a subject arrive at most a round trip apart and its window, above 4 \
                     packets, does not decrease. A round trip is the smoothed round-trip time; there are two samples per round trip.",
        assumes: "The algorithm answers a mark as a loss, not the share of marks as DCTCP and Prague do, and always has data.",
        side: Side::Below,
        bound: 8.0,
        share: false,
        flows: 1,
        needs: Some(Part::Marks),
        without: &[LIMITED, &[Part::Discipline]],
        rivals: &[],
        per_round_trip: true,
        dual_queue: false,
        by_acknowledgements: false,
        of: of::unanswered_marks,
        silence: "no packet of a subject with a window is marked",
    },
    Property {
        name: "classic-starved",
        title: "a classic flow next to L4S is not starved",
        source: "RFC 9332: the priority of the low-latency queue must not starve classic traffic, and RFC 9331, section 4.3. The bound is \
                 the share that the classic queue keeps in RFC 9332, appendix A: 1/16.",
        definition: "The smallest goodput of a competitor divided by its max-min fair share, after the warm-up.",
        assumes: "The queue is `dualpi2:250ms`. The subject sends ECT(1), and answers marks. The competitors are Reno or CUBIC without \
                  ECN. Each flow always has data, the rate and the delay of the path do not change, and no packet is lost or held back \
                  at random.",
        side: Side::Above,
        bound: 0.0625,
        share: false,
        flows: 1,
        needs: Some(Part::Competitor),
        without: &[LIMITED, &[Part::Loss]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: true,
        by_acknowledgements: false,
        of: of::classic_starved,
        silence: "no competitor has a share after the warm-up",
    },
    Property {
        name: "l4s-delay",
        title: "packets with ECT(1) hardly wait",
        source: "RFC 9331, abstract: the queueing delay of L4S is consistently low. The bound is the delay at which the same queue \
                 keeps classic traffic, the target in RFC 9332, appendix A: 15 ms.",
        definition: "The 99th percentile of the queueing delay of a subject after the warm-up, less the time that two packets take on \
                     the bottleneck, in seconds, at least 0. The queueing delay is the smoothed round-trip time less the one without \
                     queueing, at each sample.",
        assumes: "The queue is `dualpi2:250ms`. The subject sends ECT(1), and answers marks. Competitors are Reno or CUBIC without ECN. \
                  The receiver acknowledges each packet at once. The rate and the delay of the path do not change, and nothing but the queue holds packets \
                  or acknowledgements back, nor do hosts gather them.",
        side: Side::Below,
        bound: 0.015,
        share: false,
        flows: 1,
        needs: None,
        without: &[&[Part::Acks, Part::OwnAcks, Part::DelayedAcks, Part::Wake]],
        rivals: &[],
        per_round_trip: false,
        dual_queue: true,
        by_acknowledgements: false,
        of: of::l4s_delay,
        silence: "no subject has a round-trip time after the warm-up",
    },
];

#[cfg(test)]
mod tests {
    use cwnd_run::measure::MEASURES;

    use super::*;

    /// The bounds of each measure lie where a run can keep the property, and another can break it.
    #[test]
    fn the_domain_of_each_measure_bounds_its_property() {
        for measure in MEASURES {
            let [low, high] = (measure.domain)(Part::most_flows()).ends();
            let inside = if high.is_finite() { (low + high) / 2.0 } else { low + 1.0 };
            for (sign, bound, fits) in [
                ('>', inside, true),
                ('<', inside, true),
                ('>', low, low.is_finite()),
                ('<', low, false),
                ('>', low - 1.0, false),
                ('<', low - 1.0, false),
                ('>', high, false),
                ('<', high, high.is_finite()),
                ('>', high + 0.1, false),
                ('<', high + 0.1, false),
            ] {
                let text = format!("{} {sign} {bound}", measure.key);
                let read = text.parse::<Promise>();
                assert_eq!(read.is_ok(), fits, "{text}: {read:?}");
                let named =
                    |error: &PropertyError| error.to_string().contains(&format!("bound of `{}` is", measure.key));
                assert!(read.is_ok() || !bound.is_finite() || read.is_err_and(|error| named(&error)), "{text}");
            }
        }
    }

    #[test]
    fn a_refused_bound_is_named_with_those_that_are_accepted() {
        let error = |text: &str| text.parse::<Promise>().expect_err(text).to_string();
        for (text, expected) in [
            ("utilisation > 1.1", "the bound of `utilisation` is 1.1: accepted is 0 and more, below 1"),
            ("utilisation > -1", "the bound of `utilisation` is -1: accepted is 0 and more, below 1"),
            ("loss_rate < 2", "the bound of `loss_rate` is 2: accepted is above 0, up to 1"),
            ("jain > 0.1", "the bound of `jain` is 0.1: accepted is 0.2 and more, below 1"),
            ("queue_delay_p95_s < 0", "the bound of `queue_delay_p95_s` is 0: accepted is above 0"),
            ("steady-loss < -1e-320", "the bound of `steady-loss` is -1e-320: accepted is above 0, up to 1"),
            ("starvtion", "unknown property `starvtion`; did you mean `starvation`?"),
            ("utilisation", "the measure `utilisation` needs a bound, such as `utilisation > 0.5`"),
            ("rtt / 2", "the expression `rtt / 2` needs a bound, such as `rtt / 2 > 0.5`"),
            ("utilization*2 > 1", "unknown measure `utilization`; did you mean `utilisation`?"),
            ("utilisation-2*los_rate > 1", "unknown measure `los_rate`; did you mean `loss_rate`?"),
            (
                "utilisation - > 1",
                "cannot read `utilisation -`: expected a number, a name or `(` at character 14, where the end stands",
            ),
            ("2 * (3 - 1) > 1", "`2 * (3 - 1)` is always 4: expected an expression whose value depends on measures"),
            (
                "jain + ln(-1) > 1",
                "`jain + ln(-1)` is always undefined: expected an expression whose value depends on measures",
            ),
            ("jain * 2 > loss_rate", "cannot read `loss_rate` as a bound: expected a finite number"),
            ("(jain) > 7", "the bound of `(jain)` is 7: accepted is 0.2 and more, below 1"),
            ("jain*1 < 0.2", "the bound of `jain*1` is 0.2: accepted is above 0.2, up to 1"),
            ("queue_delay_p95_s / rtt < -1", "the bound of `queue_delay_p95_s / rtt` is -1: accepted is above 0"),
            (
                "loss_rate * 0 > 1",
                "the bound of `loss_rate * 0` is 1: accepted is none, because each run has 0 or says nothing",
            ),
            (
                "1e999*loss_rate > 1",
                "cannot read `1e999*loss_rate`: expected a number below 1.8e308 at character 1, where `1e999` stands",
            ),
            ("log(", "unknown function `log`; did you mean `ln`? (accepted: abs, "),
            ("jain + log (2) > 1", "unknown function `log`; did you mean `ln`? (accepted: abs, "),
            (
                "loss_rate >= 0.1",
                "`>=` is no comparison of a property: expected `>`, and the bound itself breaks the property",
            ),
            (
                "loss_rate >=",
                "`>=` is no comparison of a property: expected `>`, and the bound itself breaks the property",
            ),
            ("loss_rate <", "there is no bound after `<`: expected a finite number"),
            (
                "",
                "there is no property: expected a name of `cwnd falsify --list`, or measures and a bound, such as `utilisation > 0.5`",
            ),
            (
                " > 3",
                "there is no property before `>`: expected a name of `cwnd falsify --list`, or measures and a bound",
            ),
            ("5 > 3", "`5` is always 5: expected an expression whose value depends on measures"),
            ("-5 > 3", "`-5` is always -5: expected an expression whose value depends on measures"),
            ("rtt > -1", "the bound of `rtt` is -1: accepted is 0 and more"),
            ("utilisation > 1e999", "cannot read `1e999` as a bound: expected a finite number"),
        ] {
            assert!(error(text).starts_with(expected), "{}", error(text));
        }
        let long = "x".repeat(10_000);
        let texts = ["", "jain > ", "jain + ", "2 * ", "(", "1e999*"].map(|before| format!("{before}{long}"));
        let sums = ["1 + ".repeat(60) + "1", "jain + ".repeat(20) + "jain", "jain*".repeat(12) + "jain > 7"];
        for text in texts.iter().chain(&sums) {
            // Besides the text an error has the accepted names.
            assert!(error(text).len() < 1500 && error(text).contains('…'), "{}", error(text));
        }
    }

    #[test]
    fn a_property_is_written_as_it_is_read() {
        for (text, written) in [
            ("needless-repeats<1e-320", "needless-repeats < 1e-320"),
            (" goodput_bps > 3e6 ", "goodput_bps > 3000000"),
            ("goodput_bps > 1e300", "goodput_bps > 1e300"),
            ("starvation", "starvation > 0.1"),
            ("utilisation\n- 2*loss_rate>-0.5", "utilisation - 2*loss_rate > -0.5"),
            ("if(jain < 0.5, 1, utilisation) < 0.1", "if(jain < 0.5, 1, utilisation) < 0.1"),
        ] {
            let promise: Promise = text.parse().expect(text);
            assert_eq!(promise.to_string(), written);
            assert_eq!(written.parse::<Promise>().expect(written).to_string(), written);
        }
    }
}
