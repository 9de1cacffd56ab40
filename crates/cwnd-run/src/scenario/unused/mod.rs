//! Settings that change nothing, and why: found in the setup that the simulator gets, not in how they are written.

mod changes;
mod flows;
mod links;
mod marks;
mod paths;
mod queues;
mod senders;
mod words;

use std::fmt;

use cwnd_sim::{CheckedSetup, SetupError};

use super::document::{Document, FlowGroup};
use super::error::Place;
use super::source::Source;
use paths::Paths;
use senders::{common_words, short, unread};

pub(crate) use marks::may_assume_marks;
pub(crate) use senders::is_drawn;

/// A setting that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Its dotted key.
    pub key: String,
    /// What stands before its value: the key, with its line in a file, or an option of a command.
    name: String,
    /// Its value.
    given: String,
    /// The part of the value that changes nothing; empty for all of it.
    part: String,
    /// Why it changes nothing.
    why: String,
    /// The algorithm whose flows it has no effect on; empty for all that it could have one on.
    of: String,
    /// It is the default, which a document has whether it was written or not.
    usual: bool,
}

/// Those of `document`, from which `setup` was made; in the order of the document. A default among them may not have been
/// [written](Unused::was_written).
///
/// # Errors
/// Never: the routes of a checked setup exist.
pub(super) fn find(document: &Document, setup: &CheckedSetup) -> Result<Vec<Unused>, SetupError> {
    let paths = Paths::of(document, setup)?;
    let mut found = Found(Vec::new());
    found.frame(document, setup, &paths);
    match (&document.dumbbell, &document.parking_lot) {
        (Some(dumbbell), _) => found.dumbbell(document, dumbbell, &paths),
        (None, Some(lot)) => {
            let links: Vec<usize> = (0..setup.links.len()).collect();
            found.queue("parking_lot.queue", &lot.queue, &links, &paths);
            found.loss("parking_lot.loss", &lot.loss);
        }
        (None, None) => found.graph(document, &paths),
    }
    paths.parties.iter().for_each(|party| found.party(document, party, &paths));
    Ok(found.0)
}

impl Unused {
    fn new(key: impl Into<String>, given: &dyn fmt::Display, why: impl Into<String>) -> Self {
        let key = key.into();
        let name = format!("{key} = ");
        Self {
            name,
            key,
            given: given.to_string(),
            part: String::new(),
            why: why.into(),
            of: String::new(),
            usual: false,
        }
    }

    /// Whether it was written: it differs from the default, or stands in `source`.
    pub(super) fn was_written(&self, source: Option<&Source<'_>>) -> bool {
        !self.usual || source.is_some_and(|source| source.has(&self.key))
    }

    /// Names the setting as in `source`: by its line, or by the override that set it, with its value as it was typed.
    pub(super) fn in_source(self, source: &Source<'_>) -> Self {
        let given = source.typed(&self.key).map_or(self.given, str::to_string);
        let name = match source.place_of(&self.key) {
            Place::File(excerpt) => format!("{}:{}: {}", excerpt.name, excerpt.line, self.name),
            Place::Override(_) => format!("--set {}=", self.key),
            Place::Key(_) => self.name,
        };
        Self { name, given, ..self }
    }

    /// The empty lists and tables in `source`, which have no effect.
    pub(super) fn empty(source: &Source<'_>) -> impl Iterator<Item = Self> {
        source.empty().into_iter().map(|(key, given)| Self::new(key, &given, "there is nothing in it: leave it out"))
    }

    /// What settings with one cause have in common, whatever their values are.
    #[must_use]
    pub fn cause(&self) -> (String, String) {
        let part = self.part.split('=').next().unwrap_or_default();
        (format!("{}: {part}", self.key), self.why.clone())
    }

    /// Its value, as it was typed.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Names the setting by its key alone.
    #[must_use]
    pub fn by_key(&self) -> Self {
        Self { name: format!("{} = ", self.key), ..self.clone() }
    }

    /// Names the setting `setting`, in place of its name and its value.
    pub(super) fn called(self, setting: String) -> Self {
        Self { name: setting, given: String::new(), ..self }
    }

    /// The setting in a document that was made from options: `naming` is what stands before the value of a key of this name, if it knows it, and
    /// `groups` are the groups of flows, all of which an option sets. Algorithms are arguments, without an option.
    pub(super) fn named(self, naming: impl Fn(&str) -> Option<String>, groups: &[FlowGroup]) -> Self {
        let own = self.key.strip_prefix("flow.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        let of = own.filter(|_| groups.len() > 1 && self.part.is_empty()).and_then(|own| groups.get(own));
        let of = of.map_or(String::new(), |group| format!(" on {}", group.algorithm));
        let of_list = |part: &&str| part.parse::<usize>().is_err();
        let last = self.key.rsplit('.').find(of_list);
        let name = last.and_then(&naming).or_else(|| (last == Some("algorithm")).then(String::new));
        // The advice uses the same names.
        let words = self.why.split('`').enumerate().map(|(at, word)| match naming(word).filter(|_| at % 2 == 1) {
            Some(option) => option.trim_end().to_string(),
            None => word.to_string(),
        });
        let why = words.collect::<Vec<_>>().join("`");
        Self { name: name.unwrap_or(self.name), why, of, ..self }
    }
}

impl fmt::Display for Unused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, given, part, why, of, .. } = self;
        match part.as_str() {
            "" => write!(out, "{name}{given} has no effect{of}: {why}"),
            part => write!(out, "{name}{given}: `{part}` has no effect: {why}"),
        }
    }
}

struct Found(Vec<Unused>);

impl Found {
    fn add(&mut self, key: impl Into<String>, given: &dyn fmt::Display, why: impl Into<String>) {
        self.0.push(Unused::new(key, given, why));
    }

    fn add_part(&mut self, key: &str, given: &dyn fmt::Display, part: impl Into<String>, why: impl Into<String>) {
        self.0.push(Unused { part: part.into(), ..Unused::new(key, given, why) });
    }

    /// What holds for the whole scenario.
    fn frame(&mut self, document: &Document, setup: &CheckedSetup, paths: &Paths<'_>) {
        if document.first_seed != Document::default().first_seed && !is_drawn(setup) {
            self.add("first_seed", &document.first_seed, "nothing in the scenario is random");
        }
        let common: [(&str, Option<&dyn fmt::Display>); 4] = [
            ("recovery", document.recovery.as_ref().map(|written| written as _)),
            ("host", document.host.as_ref().map(|written| written as _)),
            ("slow_start", document.slow_start.as_ref().map(|written| written as _)),
            ("rate_limited", document.rate_limited.as_ref().map(|written| written as _)),
        ];
        let changed = document.era.text() != Document::default().era.text();
        let era = ("era", changed.then_some(&document.era as &dyn fmt::Display));
        let usual = Document::default().era;
        for (key, given) in common.into_iter().chain([era]) {
            let Some(given) = given else { continue };
            let others = || paths.flows().filter(|(party, _)| !party.own.contains_key(key));
            let why = |(party, flow): (&paths::Party<'_>, _)| {
                unread(key, flow, usual.value()).or_else(|| (key == "slow_start").then(|| short(party, flow))?)
            };
            let own = || Some(format!("every group of flows has a `{key}` of its own"));
            let whys: Vec<Option<String>> = others().map(why).collect();
            if let Some(why) =
                whys.into_iter().reduce(|first, next| first.filter(|_| next.is_some())).unwrap_or_else(own)
            {
                self.add(key, given, why);
            } else if let Some(host) = document.host.as_ref().filter(|_| key == "host") {
                let flows: Vec<_> = others().map(|(_, flow)| flow).collect();
                self.host(key, host.text(), common_words(host.text(), &flows));
            }
        }
    }
}
