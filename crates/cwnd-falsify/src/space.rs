//! Paths as lists of numbers: a point of the unit cube, the path that it stands for, and the scenario of that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cwnd::registry::Transport;
use cwnd::{CongestionControl, Spec, Start};
use cwnd_run::scenario::{Scenario, ScenarioError, Source, Written};

use crate::observed::COMPETITOR;
use crate::parts::{DIGITS, Knob, PATH, rounded};
use crate::property::Promise;

pub use crate::parts::Part;
pub use crate::profile::Profile;

/// The paths that a search may propose.
#[derive(Clone, Debug)]
pub struct Space {
    profile: Profile,
    algorithm: Written<Spec>,
    promise: Promise,
}

/// A path in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Seconds of a run.
    pub(crate) duration: f64,
    /// The values of [`PATH`].
    pub(crate) path: [f64; 3],
    /// The values of each part that it has.
    pub(crate) parts: BTreeMap<Part, Vec<f64>>,
}

impl Space {
    /// Paths of `profile` on which `algorithm` is held to `promise`.
    #[must_use]
    pub fn new(profile: Profile, algorithm: Written<Spec>, promise: Promise) -> Self {
        Self { profile, algorithm, promise }
    }

    /// The algorithm, as scenarios write it.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        self.algorithm.text()
    }

    /// The property with its bound.
    #[must_use]
    pub fn promise(&self) -> &Promise {
        &self.promise
    }

    /// The algorithm that is judged.
    pub(crate) fn subject(&self) -> &Spec {
        self.algorithm.value()
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// How many numbers a point has.
    #[must_use]
    pub fn dimensions() -> usize {
        PATH.len() + Part::all().map(|part| 1 + part.knobs().len()).sum::<usize>()
    }

    /// The parts that a path may have.
    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let answers = self.subject().entry().answers_marks();
        let possible = move |part: &Part| {
            let possible = match part {
                Part::Start => self.promise.flows() > 1,
                Part::Marks => answers,
                // What the routers wrote comes back with each acknowledgement.
                Part::OwnAcks => self.algorithm.value().entry().transport != Transport::Routed,
                _ => true,
            };
            possible && !self.promise.forbids(*part)
        };
        Part::all().filter(possible)
    }

    /// The path of a point. Coordinates are from 0 to 1.
    ///
    /// # Panics
    /// `point` has not [`dimensions`](Self::dimensions) coordinates.
    #[must_use]
    pub fn decode(&self, point: &[f64]) -> Case {
        assert_eq!(point.len(), Self::dimensions(), "coordinates");
        let mut rest = point.iter().copied();
        let mut next = || rest.next().unwrap_or_default();
        let path = PATH.each_ref().map(|knob| knob.at(self.profile, next()));
        let possible: BTreeSet<Part> = self.parts().collect();
        let mut parts = BTreeMap::new();
        for part in Part::all() {
            let gate = next();
            let values: Vec<f64> = part.knobs().iter().map(|knob| knob.at(self.profile, next())).collect();
            let has = gate < CHANCE && possible.contains(&part);
            // One source decides when there is data, one queue what becomes of a packet, and one step what delay is added.
            let earlier: &[Part] = match part {
                Part::Pauses => &[Part::Source],
                Part::SlowThenBulk => &[Part::Source, Part::Pauses],
                Part::Marks => &[Part::Discipline],
                Part::Detour => &[Part::DelayStep],
                Part::RateTrace => &[Part::RateStep],
                Part::DelayTrace => &[Part::DelayStep, Part::Detour],
                _ => &[],
            };
            let clashes = earlier.iter().any(|part| parts.contains_key(part));
            if self.promise.needs() == Some(part) || has && !clashes {
                parts.insert(part, values);
            }
        }
        Case { duration: self.profile.duration(), path, parts }
    }

    /// How the receiver of the subject echoes marks.
    fn echo(&self) -> &'static str {
        let algorithm = self.algorithm.value();
        let needs = !algorithm.is_outside() && algorithm.start(&Start::default()).needs_marks();
        if needs { "per-packet" } else { "latch" }
    }

    /// The scenario of a path with a number of seeds, as TOML. An algorithm from outside the registry stands in it by its label.
    #[must_use]
    pub fn scenario(&self, case: &Case, seeds: u32) -> String {
        Path { space: self, case }.scenario(self.algorithm(), seeds)
    }

    /// The scenario of a path with a number of seeds.
    ///
    /// # Errors
    /// The path is no scenario of the algorithm.
    pub fn read(&self, case: &Case, seeds: u32) -> Result<Scenario, ScenarioError> {
        let outside = self.algorithm.value().is_outside();
        let name = if outside { STAND_IN } else { self.algorithm() };
        let text = Path { space: self, case }.scenario(name, seeds);
        Scenario::of_changed(&Source::read("scenario", &text, &[])?, |document| {
            for group in document.flow.iter_mut().filter(|group| outside && group.algorithm.text() == STAND_IN) {
                group.algorithm = self.algorithm.clone();
            }
        })
    }

    /// How far a path departs from calm: 1 for each part, up to 0.2 for the distance of each number from its calmest value, 0.05 for each of
    /// its digits, and up to 0.2 for the length of the run.
    #[must_use]
    pub fn cost(&self, case: &Case) -> f64 {
        let numbers = case.numbers().map(|(knob, value)| {
            let [low, high] = knob.range(self.profile);
            let calm = knob.calm.clamp(low, high);
            let (whole, way) = match knob.log {
                true => (libm::log(high / low), libm::log(value / calm)),
                false => (high - low, value - calm),
            };
            let distance = if whole > 0.0 { way.abs() / whole } else { 0.0 };
            0.2 * distance + 0.05 * digits(value) as f64
        });
        let seconds = case.duration / self.profile.duration() * 0.2 + 0.05 * digits(case.duration) as f64;
        case.parts.len() as f64 + numbers.sum::<f64>() + seconds
    }
}

impl Case {
    /// Its numbers, each with its entry.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&'static Knob, f64)> + '_ {
        let of_part = |(part, values): (&Part, &'_ Vec<f64>)| {
            (part.knobs().iter().zip(values.clone())).take(part.used(values)).collect::<Vec<_>>()
        };
        let of_parts = self.parts.iter().flat_map(of_part);
        PATH.iter().zip(self.path).chain(of_parts)
    }

    /// This path with the number at an index of [`numbers`](Self::numbers) changed.
    pub(crate) fn with_number(&self, index: usize, value: f64) -> Self {
        let mut case = self.clone();
        let of_parts = case.parts.iter_mut().flat_map(|(part, values)| {
            let used = part.used(values);
            &mut values[..used]
        });
        if let Some(number) = case.path.iter_mut().chain(of_parts).nth(index) {
            *number = value;
        }
        case
    }

    /// The parts that it has.
    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.parts.keys().copied()
    }
}

/// The significant digits of a number.
fn digits(value: f64) -> usize {
    (1..=DIGITS).find(|digits| rounded(value, *digits) == value).unwrap_or(DIGITS + 1)
}

/// A path that is written down.
struct Path<'a> {
    space: &'a Space,
    case: &'a Case,
}

impl Path<'_> {
    fn part(&self, part: Part) -> Option<&[f64]> {
        self.case.parts.get(&part).map(Vec::as_slice)
    }

    fn time(&self, share: f64) -> String {
        format!("{}s", rounded(share * self.case.duration, DIGITS))
    }

    fn scenario(&self, algorithm: &str, seeds: u32) -> String {
        let [rate, rtt, _] = self.case.path;
        let duration = self.case.duration;
        let warmup = rounded(duration / 4.0, DIGITS);
        let coarse = duration * 1e3 / SAMPLES;
        let finest = duration * 1e3 / MOST_SAMPLES;
        let sampling = match self.space.promise.per_round_trip() {
            true => rounded((rtt / 2.0).clamp(finest, coarse), DIGITS),
            false => rounded(coarse, DIGITS),
        };
        let mut text = format!(
            "duration = \"{duration}s\"\nwarmup = \"{warmup}s\"\nseeds = {seeds}\nsampling = \"{sampling}ms\"\n\n\
             [dumbbell]\nrate = \"{rate}mbit\"\nrtt = \"{rtt}ms\"\nqueue = \"{}\"\n",
            self.queue()
        );
        if let Some([probability]) = self.part(Part::Loss) {
            let _ = writeln!(text, "loss = {probability}");
        }
        if let Some([at, length]) = self.part(Part::Outage) {
            let _ = writeln!(text, "outage = [\"{}..{}\"]", self.time(*at), self.time(at + length));
        }
        self.impairments(&mut text);
        self.schedule(&mut text);
        self.flows(algorithm, &mut text);
        text
    }

    fn queue(&self) -> String {
        if self.space.promise.dual_queue() {
            return DUAL_QUEUE.to_string();
        }
        let [rate, rtt, products] = self.case.path;
        let packets = (products * rate * rtt * 1e3 / 8.0 / PACKET).round().max(LEAST_QUEUE);
        let kind = |part| self.part(part).and_then(|values| DISCIPLINES.get(values[0] as usize));
        match kind(Part::Marks) {
            Some(kind) => format!("{kind}:{packets}p,ecn=yes"),
            None => format!("{}:{packets}p", kind(Part::Discipline).unwrap_or(&"droptail")),
        }
    }

    fn impairments(&self, text: &mut String) {
        let mut forward = Vec::new();
        if let Some([time, kind]) = self.part(Part::Jitter) {
            forward.push(format!("jitter = \"{}{time}ms\"", if *kind == 0.0 { "" } else { "wifi:" }));
        }
        if let Some([share, trips]) = self.part(Part::Reordering) {
            forward.push(format!("reorder = \"{share}:{}ms\"", rounded(trips * self.case.path[1], DIGITS)));
        }
        if let Some([time]) = self.part(Part::Aggregation) {
            forward.push(format!("aggregate = \"{time}ms\""));
        }
        if !forward.is_empty() {
            let _ = writeln!(text, "impairments = {{ {} }}", forward.join(", "));
        }
        if let Some([time, thinned]) = self.part(Part::Acks) {
            let thin = if *thinned > 1.0 { format!(", thin_acks = {thinned}") } else { String::new() };
            let _ = writeln!(text, "reverse_impairments = {{ aggregate = \"{time}ms\"{thin} }}");
        }
    }

    fn schedule(&self, text: &mut String) {
        let [rate, rtt, _] = self.case.path;
        let mut steps: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut step = |share: f64, what: String| {
            steps.entry((share * self.case.duration * 1e3).round() as u64).or_default().push(what);
        };
        if let Some([at, factor, length]) = self.part(Part::RateStep) {
            step(*at, format!("rate = \"{}mbit\"", rounded(rate * factor, DIGITS)));
            step(at + length, format!("rate = \"{rate}mbit\""));
        }
        if let Some([points, factors @ ..]) = self.part(Part::RateTrace) {
            for (nth, factor) in (0..*points as u32).zip(factors) {
                step(f64::from(nth) / points, format!("rate = \"{}mbit\"", rounded(rate * factor, DIGITS)));
            }
        }
        if let Some([points, additions @ ..]) = self.part(Part::DelayTrace) {
            for (nth, trips) in (0..*points as u32).zip(additions) {
                step(f64::from(nth) / points, format!("extra_delay = \"{}ms\"", rounded(trips * rtt, DIGITS)));
            }
        }
        if let Some([at, trips]) = self.part(Part::DelayStep).or_else(|| self.part(Part::Detour)) {
            step(*at, format!("extra_delay = \"{}ms\"", rounded(trips * rtt, DIGITS)));
        }
        if !steps.is_empty() {
            let steps: Vec<String> =
                steps.iter().map(|(at, keys)| format!("{{ at = \"{at}ms\", {} }}", keys.join(", "))).collect();
            let _ = writeln!(text, "schedule = {{ steps = [{}] }}", steps.join(", "));
        }
    }

    fn flows(&self, algorithm: &str, text: &mut String) {
        let algorithm = toml::Value::String(algorithm.to_string());
        let mut flow = format!("\n[[flow]]\nalgorithm = {algorithm}\n");
        if self.space.promise.dual_queue() {
            flow.push_str("ecn = \"l4s\"\n");
        } else if self.part(Part::Marks).is_some() {
            let _ = writeln!(flow, "ecn = \"{}\"", self.space.echo());
        }
        if let Some([time]) = self.part(Part::Wake) {
            let _ = writeln!(flow, "wake = \"{time}ms\"");
        }
        text.push_str(&flow);
        if !self.space.promise.rivals().is_empty() {
            let bytes = self.case.path[0] * 1e6 / 8.0 * self.case.duration * SIZE;
            let _ = writeln!(text, "size = \"{}kB\"", rounded(bytes / 1e3, 2));
        }
        if let Some([time]) = self.part(Part::OwnAcks) {
            let _ = writeln!(text, "ack_aggregation = \"{time}ms\"");
        }
        if let Some([time]) = self.part(Part::DelayedAcks) {
            let _ = writeln!(text, "delayed_ack = \"{time}ms\"");
        } else if self.space.promise.dual_queue() {
            // The delay of a subject is that of its queue alone.
            text.push_str("delayed_ack = \"0s\"\n");
        }
        if let Some([share]) = self.part(Part::Source) {
            let _ = writeln!(text, "source = \"cbr:{}mbit\"", rounded(share * self.case.path[0], DIGITS));
        }
        if let Some([share, slow]) = self.part(Part::SlowThenBulk) {
            // The second step lasts until the end: the first takes half of the run at least.
            let rates = [*share, BULK].map(|share| rounded(share * self.case.path[0], DIGITS));
            let _ = writeln!(text, "source = \"square:{}mbit,{}mbit,step={}\"", rates[0], rates[1], self.time(*slow));
        }
        if let Some([on, off]) = self.part(Part::Pauses) {
            let stages = (0..).map(|k| f64::from(k) * (on + off)).take_while(|from| *from < 1.0 - on);
            let stages: Vec<String> =
                stages.map(|from| format!("\"{}..{}\"", self.time(from), self.time(from + on))).collect();
            let _ = writeln!(text, "on = [{}]", stages.join(", "));
        }
        if let Some([first, count]) = self.part(Part::Drops) {
            let _ = writeln!(text, "drop = \"sent:{first}-{}\"", first + count - 1.0);
        }
        if self.space.promise.flows() > 1 {
            text.push_str(&flow);
            if self.space.promise.flows() > 2 {
                let _ = writeln!(text, "count = {}", self.space.promise.flows() - 1);
            }
            if let Some([share]) = self.part(Part::Start) {
                let _ = writeln!(text, "start = \"{}\"", self.time(*share));
            }
        }
        if let Some([kind, count, start]) = self.part(Part::Competitor) {
            let kinds = if self.space.promise.dual_queue() { CLASSIC } else { COMPETITORS.len() };
            let algorithm = COMPETITORS[*kind as usize % kinds];
            let _ = write!(text, "\n[[flow]]\nalgorithm = \"{algorithm}\"\nname = \"{COMPETITOR}\"\ncount = {count}\n");
            if *start > 0.0 {
                let _ = writeln!(text, "start = \"{}\"", self.time(*start));
            }
        }
    }
}

/// The probability of each part in a random path.
pub(crate) const CHANCE: f64 = 0.2;
/// What stands in a text for an algorithm that no text can name. No competitor is written so.
const STAND_IN: &str = "aimd:a=1,b=1/2";
const DISCIPLINES: [&str; 4] = ["codel", "fq_codel", "pie", "red"];
const COMPETITORS: [&str; 4] = ["reno", "cubic", "bbr", "bbr3"];
/// How many of them halve their window, or nearly so, for a loss.
const CLASSIC: usize = 2;
/// Its size is that of RFC 9332 appendix A.1.
const DUAL_QUEUE: &str = "dualpi2:250ms";
/// Bytes of a packet.
const PACKET: f64 = 1500.0;
/// Packets of the shortest queue.
const LEAST_QUEUE: f64 = 4.0;
/// Samples of a run.
const SAMPLES: f64 = 200.0;
/// The most samples of a run with two per round trip.
const MOST_SAMPLES: f64 = 8000.0;
/// The rate of bulk data as a multiple of that of the path, also where that rises.
const BULK: f64 = 5.0;
/// A transfer as a share of the packets that the path can carry in the run.
const SIZE: f64 = 0.25;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::property::PROPERTIES;

    fn written(algorithm: &str) -> Written<Spec> {
        algorithm.parse().expect("registered")
    }

    proptest! {
        #[test]
        fn every_point_is_a_valid_scenario(
            point in proptest::collection::vec(0.0..=1.0_f64, Space::dimensions()),
            all in any::<bool>(),
            at in 0..PROPERTIES.len(),
        ) {
            for profile in Profile::ALL {
                let space = Space::new(profile, written("cubic"), PROPERTIES[at].name.parse().expect("registered"));
                let mut point = point.clone();
                if all {
                    // Every part that may be there.
                    point.iter_mut().for_each(|one| *one *= 0.99 * CHANCE);
                }
                let case = space.decode(&point);
                let text = space.scenario(&case, 1);
                let scenario = space.read(&case, 1);
                prop_assert!(scenario.is_ok(), "{}\n{text}", scenario.unwrap_err());
                prop_assert!(case.parts().all(|part| !space.promise().forbids(part)));
                prop_assert!(scenario.is_ok_and(|scenario| scenario.packets() < crate::evaluate::MOST_PACKETS));
            }
        }
    }

    #[test]
    fn a_dual_queue_has_a_subject_with_ect_1_next_to_classic_flows() {
        let space = Space::new(Profile::Home, written("prague"), "classic-starved".parse().expect("registered"));
        let case = space.decode(&vec![1.0; Space::dimensions()]);
        let text = space.scenario(&case, 3);
        assert!(
            text.contains("queue = \"dualpi2:250ms\"") && text.contains("algorithm = \"prague\"\necn = \"l4s\"\n"),
            "{text}"
        );
        assert!(text.contains("algorithm = \"cubic\"\nname = \"competitor\"\ncount = 4"), "{text}");
    }

    #[test]
    fn both_flows_of_the_subject_have_hosts_that_gather_arrivals_and_the_competitor_has_not() {
        for algorithm in ["bbr", "udt"] {
            let space = Space::new(Profile::Home, written(algorithm), "starvation".parse().expect("registered"));
            let case =
                Case { parts: [(Part::Wake, vec![0.5])].into(), ..space.decode(&vec![1.0; Space::dimensions()]) };
            let text = space.scenario(&case, 1);
            assert_eq!(text.matches("wake = \"0.5ms\"").count(), 2, "{text}");
            assert!(space.read(&case, 1).is_ok(), "{text}");
        }
        let space = Space::new(Profile::Home, written("bbr"), "utilisation > 0.5".parse().expect("a measure"));
        let text = space.scenario(&space.decode(&vec![0.0; Space::dimensions()]), 1);
        let competitor = text.split_once("name = \"competitor\"").expect("every part is there").1;
        assert!(text.contains("wake = \"0.1ms\"") && !competitor.contains("wake"), "{text}");
    }

    /// Recorded searches stay comparable: each new part is drawn after the older ones.
    #[test]
    fn a_new_part_leaves_the_coordinates_of_the_older_ones() {
        let space = Space::new(Profile::Home, written("cubic"), "utilisation > 0.5".parse().expect("a measure"));
        let gate = |part: Part| {
            let before = Part::all().take_while(|other| *other != part).map(|part| 1 + part.knobs().len());
            PATH.len() + before.sum::<usize>()
        };
        let latest = [Part::DelayTrace, Part::RateTrace, Part::SlowThenBulk, Part::Detour, Part::Wake];
        let mut point = vec![0.1; Space::dimensions()];
        // With these parts there would be no new ones.
        for clashing in [Part::DelayStep, Part::Source, Part::Pauses, Part::RateStep] {
            point[gate(clashing)] = 1.0;
        }
        for (nth, part) in latest.into_iter().enumerate() {
            let mut point = point.clone();
            latest[..nth].iter().for_each(|later| point[gate(*later)] = 1.0);
            if part == Part::DelayTrace {
                point[gate(Part::Detour)] = 1.0;
            }
            let with = space.decode(&point);
            point[gate(part)] = 1.0;
            let mut without = with.clone();
            without.parts.remove(&part);
            assert!(with != without && space.decode(&point) == without, "{part:?}");
            assert!(nth > 0 || gate(part) + 1 + part.knobs().len() == point.len(), "{part:?}");
        }
    }

    #[test]
    fn a_trace_is_a_schedule_and_costs_its_points_alone() {
        let space = Space::new(Profile::Home, written("htcp"), "utilisation > 0.5".parse().expect("a measure"));
        let calm = space.decode(&vec![1.0; Space::dimensions()]);
        let of = |points: f64, factors: [f64; 8], additions: [f64; 8]| {
            let trace = |values: [f64; 8]| [&[points][..], &values].concat();
            let parts = [(Part::RateTrace, trace(factors)), (Part::DelayTrace, trace(additions))];
            Case { path: [20.0, 40.0, 1.0], parts: parts.into(), ..calm.clone() }
        };
        let case = of(2.0, [0.5, 2.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], [0.25, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let text = space.scenario(&case, 1);
        let steps = "{ at = \"0ms\", rate = \"10mbit\", extra_delay = \"10ms\" }, \
                     { at = \"10000ms\", rate = \"40mbit\", extra_delay = \"0ms\" }";
        assert!(text.contains(&format!("schedule = {{ steps = [{steps}] }}")), "{text}");
        assert!(space.read(&case, 1).is_ok(), "{text}");
        let others = of(2.0, [0.5, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!((space.cost(&case) - space.cost(&others)).abs() < 1e-12);
        let more = of(3.0, [0.5, 2.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], [0.25, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(space.cost(&more) > space.cost(&case) + 0.4);
        // The number at an index is that which is listed there.
        for (nth, (knob, value)) in case.numbers().enumerate() {
            let changed = case.with_number(nth, value + 1.0);
            let of_changed: Vec<f64> = changed.numbers().map(|(_, value)| value).take(nth + 1).collect();
            assert_eq!(of_changed.last(), Some(&(value + 1.0)), "{}", knob.name);
        }
    }

    #[test]
    fn a_slow_application_has_bulk_data_until_the_end_and_a_detour_is_a_step() {
        let space = Space::new(Profile::Home, written("htcp"), "utilisation > 0.5".parse().expect("a measure"));
        let calm = space.decode(&vec![1.0; Space::dimensions()]);
        let parts = [(Part::SlowThenBulk, vec![0.1, 0.7]), (Part::Detour, vec![0.3, 4.0])];
        let text = space.scenario(&Case { path: [20.0, 40.0, 1.0], parts: parts.into(), ..calm }, 1);
        assert!(text.contains("source = \"square:2mbit,100mbit,step=14s\"\n"), "{text}");
        assert!(text.contains("{ at = \"6000ms\", extra_delay = \"160ms\" }"), "{text}");
    }

    #[test]
    fn no_algorithm_of_routers_has_gathered_acknowledgements_of_one_flow() {
        for (algorithm, may) in [("xcp", false), ("vcp", false), ("decbit", false), ("reno", true)] {
            let space = Space::new(Profile::Home, written(algorithm), "utilisation > 0.5".parse().expect("a measure"));
            assert_eq!(space.parts().any(|part| part == Part::OwnAcks), may, "{algorithm}");
            assert!(space.read(&space.decode(&vec![0.1; Space::dimensions()]), 1).is_ok(), "{algorithm}");
        }
    }

    #[test]
    fn a_part_that_a_property_needs_is_always_there() {
        let space = Space::new(Profile::Home, written("reno"), "recovery".parse().expect("registered"));
        let case = space.decode(&vec![1.0; Space::dimensions()]);
        assert_eq!(case.parts().collect::<Vec<_>>(), [Part::Outage]);
        assert!(space.scenario(&case, 3).contains("outage = [\"10s..12s\"]"));
    }
}
