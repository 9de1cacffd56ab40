//! Scenarios: what to simulate, as people write it.
//!
//! A TOML document becomes a [`Document`], whose every value was read with its unit, and that becomes a [`Scenario`]. A scenario
//! that exists can be run: every key was checked, and the simulator accepted the setup. Errors name the place and the accepted
//! values.

mod build;
mod cross;
mod document;
mod error;
mod impairments;
mod link_trace;
mod packets;
mod path;
mod quantity;
mod queue;
mod reader;
mod reference;
mod schedule;
mod source;
mod synonyms;
mod topology;
mod traffic;
mod unused;
mod usual;

use std::sync::OnceLock;

use cwnd::{Span, Time};
use cwnd_sim::{CheckedSetup, FlowSetup, Source as Traffic};

pub use build::{MAX_FLOWS, MAX_SEEDS};
pub use document::{Document, Dumbbell, FlowGroup, Link, ParkingLot, Variation, default_warmup};
pub use error::{Excerpt, Fault, Place, ScenarioError};
pub use impairments::Impairments;
pub use link_trace::{LinkTrace, LinkTraceError};
pub use packets::{HeldPackets, Named, Packets};
pub use quantity::{Quantity, SampleEvery, WordError, Written, packet_size, unknown};
pub use queue::{Queue, QueueSize, Threshold, ThresholdError};
pub use reference::notation;
pub use schedule::{Followed, OrNone, Schedule, Step, StepRate, TraceFile, with_outages};
pub use source::{Source, apart};
pub use synonyms::meant;
pub use traffic::{Arrivals, Cbr, Direction, Ecn, Stage, Web};
pub use unused::Unused;
pub(crate) use unused::{is_drawn, may_assume_marks};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    document: Document,
    setup: CheckedSetup,
    /// The number of packets of each flow that are logged in the first seed.
    packet_log: Option<usize>,
    bottleneck: usize,
    unused: Vec<Unused>,
    /// That of its document, once it was asked for.
    hash: OnceLock<blake3::Hash>,
}

impl Scenario {
    /// Reads a TOML document called `name` with overrides (`key.key=value`) laid over it.
    ///
    /// # Errors
    /// `text` is no TOML, a key is unknown, a value is out of range, or two keys contradict each other: the first place, in the file or
    /// among the overrides.
    pub fn read(name: &str, text: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::of(&Source::read(name, text, overrides)?)
    }

    /// Reads and checks a document whose places are known.
    pub fn of(source: &Source<'_>) -> Result<Self, ScenarioError> {
        Self::of_changed(source, |_| ())
    }

    /// Reads a document whose places are known, and checks what `change` makes of it: no file can name an algorithm from outside.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub fn of_changed(source: &Source<'_>, change: impl FnOnce(&mut Document)) -> Result<Self, ScenarioError> {
        let mut document = Document::of(source)?;
        change(&mut document);
        let checked = Self::checked(document).map_err(|error| match error.place {
            Place::Key(key) => ScenarioError { place: source.place_of_fault(&key), fault: error.fault },
            _ => error,
        })?;
        let written =
            checked.unused.into_iter().filter(|one| one.was_written(Some(source))).chain(Unused::empty(source));
        let unused = written.map(|one| one.in_source(source)).collect();
        Ok(Self { unused, ..checked })
    }

    /// Checks a document.
    ///
    /// # Errors
    /// A value is out of range, or two keys contradict each other: the first key.
    pub fn check(document: Document) -> Result<Self, ScenarioError> {
        let mut checked = Self::checked(document)?;
        checked.unused.retain(|one| one.was_written(None));
        Ok(checked)
    }

    fn checked(document: Document) -> Result<Self, ScenarioError> {
        let (setup, bottleneck) = build::build(&document)
            .map_err(|located| ScenarioError { place: Place::Key(located.key), fault: located.fault })?;
        let unused = unused::find(&document, &setup)
            .map_err(|error| ScenarioError { place: Place::Key(String::new()), fault: error.into() })?;
        Ok(Self { document, setup, packet_log: None, bottleneck, unused, hash: OnceLock::new() })
    }

    /// The settings that change nothing, with the reasons.
    #[must_use]
    pub fn unused(&self) -> &[Unused] {
        &self.unused
    }

    /// Names unused settings in warnings by `naming`, from the last name in their keys.
    #[must_use]
    pub fn naming(mut self, naming: impl Fn(&str) -> Option<String>) -> Self {
        self.unused = self.unused.into_iter().map(|one| one.named(&naming, &self.document.flow)).collect();
        self
    }

    /// Names unused settings in warnings by `typed`, from their dotted keys, for those that [`naming`](Self::naming), which comes first, cannot name:
    /// an option may set several keys.
    #[must_use]
    pub fn typed(mut self, typed: impl Fn(&str) -> Option<String>) -> Self {
        let called = |one: Unused| match typed(&one.key) {
            Some(setting) => one.called(setting),
            None => one,
        };
        self.unused = self.unused.into_iter().map(called).collect();
        self
    }

    /// The setup of the simulator for one seed.
    #[must_use]
    pub fn setup(&self, seed: u64) -> CheckedSetup {
        self.setup.with_seed(seed, self.packet_log.filter(|_| seed == self.document.first_seed))
    }

    /// Logs single packets in the first seed.
    #[must_use]
    pub fn logging_packets(mut self) -> Self {
        self.packet_log = Some(MAX_LOGGED / self.setup.flows.len().max(1));
        self
    }

    /// The seeds, ascending.
    pub fn seeds(&self) -> impl ExactSizeIterator<Item = u64> + use<> {
        let first = self.document.first_seed;
        (0..self.document.seeds).map(move |index| first.wrapping_add(u64::from(index)))
    }

    /// This scenario with `count` seeds from `first` on, without a log of packets.
    #[must_use]
    pub fn with_seeds(&self, first: u64, count: u32) -> Self {
        let document = Document { first_seed: first, seeds: count, ..self.document.clone() };
        let (setup, unused, hash) = (self.setup.clone(), self.unused.clone(), self.hash.clone());
        Self { document, setup, packet_log: None, bottleneck: self.bottleneck, unused, hash }
    }

    /// This scenario with another warm-up, which must be below the duration.
    ///
    /// # Errors
    /// `warmup` is not below the duration.
    pub fn with_warmup(&self, warmup: Span) -> Result<Self, ScenarioError> {
        let checked = Self::check(Document { warmup: warmup.into(), ..self.document.clone() })?;
        Ok(Self { unused: self.unused.clone(), ..checked })
    }

    /// The link that measures of "the bottleneck" are taken at: the slowest that data crosses, of equals the one with most flows.
    #[must_use]
    pub fn bottleneck(&self) -> usize {
        self.bottleneck
    }

    /// Whether each flow has something to send all the time from its start on.
    pub(crate) fn endless(&self) -> impl Iterator<Item = bool> + '_ {
        let endless = |flow: &FlowSetup| flow.source == Traffic::Bulk && flow.stop.is_none() && flow.pauses.is_empty();
        self.setup.flows.iter().map(endless)
    }

    /// Whether a flow has an algorithm that is not in the registry.
    #[must_use]
    pub fn has_outside(&self) -> bool {
        self.document.flow.iter().any(|group| group.algorithm.value().is_outside())
    }

    /// Whether its document has all that decides a run: no algorithm from outside, no trace in another file, and no packets logged.
    #[must_use]
    pub fn is_its_document(&self) -> bool {
        let Document { dumbbell, link, .. } = &self.document;
        let follows_trace = dumbbell.iter().any(|dumbbell| dumbbell.trace.is_some());
        let follows_trace = follows_trace || link.iter().any(|link| link.trace.is_some());
        !self.has_outside() && !follows_trace && self.packet_log.is_none()
    }

    /// A hash of what its document says of its runs: scenarios that have it in common and differ are called differently.
    #[must_use]
    pub fn runs(&self) -> [u8; blake3::OUT_LEN] {
        let seeds = [self.document.first_seed, u64::from(self.document.seeds)];
        *blake3::Hasher::new().update(self.hash()).update(format!("{seeds:?}").as_bytes()).finalize().as_bytes()
    }

    /// A hash of the parts of its document that decide a run with a given seed: neither its name nor the number of runs.
    pub(crate) fn hash(&self) -> &[u8; blake3::OUT_LEN] {
        let hash = || {
            let run = Document { title: None, seeds: 1, first_seed: 0, ..self.document.clone() };
            blake3::hash(run.to_toml().as_bytes())
        };
        self.hash.get_or_init(hash).as_bytes()
    }

    /// What a run may take at most, as the bits that its links can carry, times 1e9.
    pub(crate) fn cost(&self) -> u128 {
        let rates = self.setup.links.iter().filter_map(|link| link.rate).map(u128::from).sum::<u128>();
        rates * u128::from(self.setup.duration.as_nanos())
    }

    /// The number of data packets that the bottleneck can carry in one run, and that the flows can send with their largest windows: a measure of
    /// the work. A million if nothing bounds them.
    #[must_use]
    pub fn packets(&self) -> f64 {
        let link = &self.setup.links[self.bottleneck];
        let rate = link.mean_rate(Time::ZERO, Time::ZERO + self.setup.duration);
        let bits = f64::from(self.document.packet.value().0) * 8.0;
        let carried = rate.map(|rate| rate * self.setup.duration.as_secs_f64() / bits);
        carried.into_iter().chain(self.sent()).reduce(f64::min).unwrap_or(1e6)
    }

    /// The number of data packets that flows send on a dumbbell if each window is always the largest one; none if something else sends too.
    fn sent(&self) -> Option<f64> {
        let document = &self.document;
        if !(document.cbr.is_empty() && document.arrivals.is_empty()) {
            return None;
        }
        let windows = document.flow.iter().map(|group| Some(group.max_window? * f64::from(group.count)));
        let rtt = document.dumbbell.as_ref()?.rtt.value().as_secs_f64();
        let round_trips = self.setup.duration.as_secs_f64() / rtt;
        Some(windows.sum::<Option<f64>>()? * round_trips)
    }

    /// The document it came from.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The scenario as TOML, defaults spelt out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// The length of one run.
    #[must_use]
    pub fn duration(&self) -> Span {
        self.setup.duration
    }

    /// When measuring starts.
    #[must_use]
    pub fn warmup(&self) -> Span {
        self.setup.warmup
    }
}

/// Packets logged in all: about a gigabyte.
const MAX_LOGGED: usize = 20_000_000;

/// The JSON Schema of scenario documents: editors complete and check with it.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}
