//! Settings that change nothing, and why: found in the setup that the simulator gets, not in how they are written.

use std::fmt;

use cwnd::registry::Transport;
use cwnd::window::{Policy, SlowStart};
use cwnd::{Ack, Algorithm, CongestionControl, Limit, Pacing, Packets, Rtt, Span, Spec, Start, Time, View};
use cwnd_sim::{
    CheckedSetup, Class, Discipline, Era, FlowSetup, LinkId, LinkSetup, LinuxHost, Loss, RateChange, SetupError,
    Source as Traffic,
};
use serde_json::{Map, Value};

use super::document::{Document, Dumbbell, FlowGroup, Link};
use super::error::Place;
use super::impairments::Impairments;
use super::quantity::Written;
use super::queue::{self, Queue};
use super::schedule::Schedule;
use super::source::Source;

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

    /// The same, named as in `source`: by its line, or by the override that set it.
    pub(super) fn in_source(self, source: &Source<'_>) -> Self {
        let name = match source.place_of(&self.key) {
            Place::File(excerpt) => format!("{}:{}: {}", excerpt.name, excerpt.line, self.name),
            Place::Override(_) => format!("--set {}=", self.key),
            Place::Key(_) => self.name,
        };
        Self { name, ..self }
    }

    /// The same, named by its key alone.
    #[must_use]
    pub fn by_key(&self) -> Self {
        Self { name: format!("{} = ", self.key), ..self.clone() }
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
        // What to set instead is told by the same names.
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

/// What crosses the links.
struct Paths<'a> {
    setup: &'a CheckedSetup,
    parties: Vec<Party<'a>>,
}

/// A group of flows, a crowd, or a group without congestion control.
struct Party<'a> {
    /// Its key.
    key: String,
    /// What it sets.
    own: Map<String, Value>,
    /// None without congestion control.
    flow: Option<&'a FlowSetup>,
    class: Class,
    /// The links that its data and its acknowledgements cross.
    ways: [Vec<LinkId>; 2],
}

impl<'a> Paths<'a> {
    fn of(document: &Document, setup: &'a CheckedSetup) -> Result<Self, SetupError> {
        let written = |group: Result<Value, serde_json::Error>| match group {
            Ok(Value::Object(keys)) => keys,
            _ => Map::new(),
        };
        // The members of a group are alike.
        let first = |counts: &mut dyn Iterator<Item = u32>| -> Vec<usize> {
            let begins = counts.scan(0, |next, count| {
                let begin = *next;
                *next += count as usize;
                Some(begin)
            });
            begins.collect()
        };
        let flows = first(&mut document.flow.iter().map(|group| group.count));
        let flows = flows.iter().map(|first| &setup.flows[*first]).chain(setup.crowds.iter().map(|crowd| &crowd.flow));
        let flows: Vec<&FlowSetup> = flows.collect();
        let keys = |table: &'static str, count| (0..count).map(move |index| format!("{table}.{index}"));
        let keys_of_flows = keys("flow", document.flow.len()).chain(keys("arrivals", document.arrivals.len()));
        let groups = document.flow.iter().map(|group| written(serde_json::to_value(group)));
        let crowds = document.arrivals.iter().map(|group| written(serde_json::to_value(group)));
        let ways = setup.ways(flows.iter().copied())?;
        let controlled = keys_of_flows.zip(groups.chain(crowds)).zip(flows.into_iter().zip(ways));
        let controlled =
            controlled.map(|((key, own), (flow, ways))| Party { key, own, flow: Some(flow), class: flow.class, ways });
        let paths = setup.cbr_paths()?;
        let first = first(&mut document.cbr.iter().map(|group| group.count));
        let others = keys("cbr", document.cbr.len()).zip(&document.cbr).zip(first).map(|((key, group), first)| Party {
            key,
            own: written(serde_json::to_value(group)),
            flow: None,
            class: setup.cbr[first].class,
            ways: [paths[first].clone(), Vec::new()],
        });
        Ok(Self { setup, parties: controlled.chain(others).collect() })
    }

    /// Those with congestion control.
    fn flows(&self) -> impl Iterator<Item = (&Party<'a>, &'a FlowSetup)> {
        self.parties.iter().filter_map(|party| Some((party, party.flow?)))
    }

    /// Those whose data crosses the link.
    fn forward(&self, link: usize) -> impl Iterator<Item = &Party<'a>> {
        self.parties.iter().filter(move |party| party.ways[0].contains(&LinkId(link as u32)))
    }

    /// Those whose data or acknowledgements cross the link.
    fn crossing(&self, link: usize) -> impl Iterator<Item = &Party<'a>> {
        let link = LinkId(link as u32);
        self.parties.iter().filter(move |party| party.ways.iter().any(|way| way.contains(&link)))
    }

    fn links_of<'b>(&self, way: &'b [LinkId]) -> impl Iterator<Item = &'a LinkSetup> + use<'a, 'b> {
        let setup: &'a CheckedSetup = self.setup;
        way.iter().map(|link| &setup.links[link.0 as usize])
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
        let common: [(&str, Option<&dyn fmt::Display>); 3] = [
            ("recovery", document.recovery.as_ref().map(|written| written as _)),
            ("host", document.host.as_ref().map(|written| written as _)),
            ("slow_start", document.slow_start.as_ref().map(|written| written as _)),
        ];
        let changed = document.era.text() != Document::default().era.text();
        let era = ("era", changed.then_some(&document.era as &dyn fmt::Display));
        let usual = Document::default().era;
        for (key, given) in common.into_iter().chain([era]) {
            let Some(given) = given else { continue };
            let others = paths.flows().filter(|(party, _)| !party.own.contains_key(key));
            let whys: Vec<Option<String>> = others.map(|(_, flow)| unread(key, flow, usual.value())).collect();
            let own = || Some(format!("every group of flows has a `{key}` of its own"));
            if let Some(why) =
                whys.into_iter().reduce(|first, next| first.filter(|_| next.is_some())).unwrap_or_else(own)
            {
                self.add(key, given, why);
            }
        }
    }

    fn dumbbell(&mut self, document: &Document, dumbbell: &Dumbbell, paths: &Paths<'_>) {
        let back = if dumbbell.reverse_queue.is_some() { &[0][..] } else { &[0, 1] };
        self.queue("dumbbell.queue", &dumbbell.queue, back, paths);
        if let Some(queue) = &dumbbell.reverse_queue {
            self.queue("dumbbell.reverse_queue", queue, &[1], paths);
        }
        let loads = document.arrivals.iter().any(|group| group.load.is_some());
        if dumbbell.trace.is_some() && dumbbell.reverse_rate.is_some() && !loads {
            let why = "the bottleneck follows its `trace`, and the way back has a `reverse_rate`";
            let usual = dumbbell.rate.text() == Dumbbell::default().rate.text();
            self.0.push(Unused { usual, ..Unused::new("dumbbell.rate", &dumbbell.rate, why) });
        }
        self.over("dumbbell", document.duration.value(), (&dumbbell.schedule, &dumbbell.outage));
        for (key, impairments, link) in
            [("impairments", &dumbbell.impairments, 0), ("reverse_impairments", &dumbbell.reverse_impairments, 1)]
        {
            self.impairments(&format!("dumbbell.{key}"), impairments.as_ref(), link, paths);
        }
    }

    fn graph(&mut self, document: &Document, paths: &Paths<'_>) {
        let mut at = 0;
        for (index, link) in document.link.iter().enumerate() {
            let (key, own) = (format!("link.{index}"), at);
            at += 1 + usize::from(link.both_ways);
            if (own..at).all(|link| paths.crossing(link).next().is_none()) {
                self.add(key, &name(link), "no packet crosses this link");
                continue;
            }
            if paths.crossing(own).next().is_none() {
                self.one_way(&key, link);
                continue;
            }
            if let Some(queue) = &link.queue {
                self.queue(&format!("{key}.queue"), queue, &(own..at).collect::<Vec<_>>(), paths);
            }
            if let (Some(rate), true, false) = (&link.rate, link.trace.is_some(), link.both_ways) {
                self.add(format!("{key}.rate"), rate, "the link follows its `trace`, and none leads back");
            }
            self.over(&key, document.duration.value(), (&link.schedule, &link.outage));
            self.impairments(&format!("{key}.impairments"), link.impairments.as_ref(), own, paths);
        }
    }

    /// What a link has in its own direction alone, where nothing crosses it.
    fn one_way(&mut self, key: &str, link: &Link) {
        let given = [
            ("loss", link.loss.as_ref().map(Written::text)),
            ("schedule", link.schedule.as_ref().map(|_| "steps")),
            ("trace", link.trace.as_ref().map(Written::text)),
            ("outage", link.outage.first().map(Written::text)),
            ("impairments", link.impairments.as_ref().map(|_| "impairments")),
        ];
        for (own, text) in given {
            let Some(text) = text else { continue };
            let why = format!("no packet crosses the link from `{}` to `{}`", link.from, link.to);
            self.add(format!("{key}.{own}"), &text, why);
        }
    }

    /// What changes a link after the end of the run.
    fn over(
        &mut self,
        key: &str,
        duration: &Span,
        (schedule, outages): (&Option<Schedule>, &[Written<super::traffic::Stage>]),
    ) {
        let why = format!("the run ends at {duration}");
        for (index, outage) in outages.iter().enumerate().filter(|(_, outage)| outage.value().from >= *duration) {
            self.add(format!("{key}.outage.{index}"), outage, why.clone());
        }
        let Some(schedule) = schedule else { return };
        for (index, step) in schedule.steps.iter().enumerate().filter(|(_, step)| step.at.value() >= duration) {
            self.add(format!("{key}.schedule.steps.{index}.at"), &step.at, why.clone());
        }
        if let Some(repeat) = schedule.repeat.as_ref().filter(|repeat| repeat.value() >= duration) {
            self.add(format!("{key}.schedule.repeat"), repeat, why);
        }
    }

    fn impairments(&mut self, key: &str, impairments: Option<&Impairments>, link: usize, paths: &Paths<'_>) {
        let Some(Impairments { jitter, reorder, thin_acks, .. }) = impairments else { return };
        if let Some(jitter) = jitter.as_ref().filter(|jitter| *jitter.value() <= CLOCK) {
            self.add(format!("{key}.jitter"), jitter, "packets wait for whole nanoseconds, and less than this");
        }
        if let Some(reorder) = reorder.as_ref().filter(|reorder| reorder.value().probability == 0.0) {
            self.add(format!("{key}.reorder"), reorder, "no packet is held back");
        }
        self.thinning(format!("{key}.thin_acks"), *thin_acks, link, paths);
    }

    fn thinning(&mut self, key: String, thinned: Option<u32>, link: usize, paths: &Paths<'_>) {
        let Some(every) = thinned else { return };
        let acknowledges = |flow: &FlowSetup| flow.algorithm.entry().transport == Transport::Acked;
        let crossing = |party: &Party<'_>| party.ways[1].contains(&LinkId(link as u32));
        if every == 1 {
            self.add(key, &every, "every acknowledgement goes on");
        } else if !paths.flows().any(|(party, flow)| acknowledges(flow) && crossing(party)) {
            self.add(key, &every, "no acknowledgement of TCP crosses this link");
        }
    }

    /// A queue before `links`.
    fn queue(&mut self, key: &str, queue: &Written<Queue>, links: &[usize], paths: &Paths<'_>) {
        let crossed = || links.iter().flat_map(|link| paths.crossing(*link));
        if crossed().next().is_none() {
            return;
        }
        let forward = || links.iter().flat_map(|link| paths.forward(*link)).filter_map(|party| party.flow);
        let discipline = &queue.value().discipline;
        if let Some(parameter) = queue::without_marks(discipline) {
            self.add_part(key, queue, parameter, "it is about marks, of which there are none without `ecn=yes`");
        }
        // A flow that asks for marks in vain is named itself.
        let asked = links.iter().flat_map(|link| paths.forward(*link)).any(|party| party.own.contains_key("ecn"));
        if queue::marks(discipline) && !asked {
            let answering = forward().any(|flow| flow.algorithm.entry().answers_marks());
            let why = match forward().next() {
                Some(flow) if !answering => unanswered(&flow.algorithm),
                _ => "no flow that crosses it is ECN-capable: set `ecn` to `latch` or `per-packet`".to_string(),
            };
            self.add_part(key, queue, "ecn=yes", why);
        }
        if let Some(name) = queue::router(discipline)
            && !forward().any(|flow| flow.algorithm.entry().name == name)
        {
            let why = format!("no flow of `{name}` crosses it, and for all others it is `droptail`");
            self.add_part(key, queue, name, why);
        }
        for class in queue::classes_set(discipline) {
            let class_name = if class == Class::In { "in" } else { "out" };
            let written = queue.text().split(',').any(|part| part.trim().starts_with(&format!("{class_name}_")));
            if written && !crossed().any(|party| party.class == class) {
                let class = class_name;
                let why = format!("no packet of the class `{class}` crosses it");
                self.add_part(key, queue, format!("{class}_…"), why);
            }
        }
    }

    /// A group of flows, a crowd, or a group without congestion control.
    fn party(&mut self, document: &Document, party: &Party<'_>, paths: &Paths<'_>) {
        let duration = *document.duration.value();
        for (key, value) in &party.own {
            let why = match (key.as_str(), party.flow) {
                ("class", _) if party.class != Class::Out => {
                    let rio = |link: &LinkSetup| matches!(link.discipline, Discipline::Rio(_));
                    let classed = party.ways.iter().any(|way| paths.links_of(way).any(rio));
                    (!classed).then(|| "only `rio` queues tell classes apart, and none is on its path".to_string())
                }
                ("stop", _) => {
                    let stop = value.as_str().and_then(|text| cwnd::quantity::span(text).ok());
                    stop.filter(|stop| *stop > duration).map(|_| format!("the run ends at {duration}"))
                }
                ("ecn", Some(flow)) => without_marks(party, flow, paths),
                (key, Some(flow)) => unread(key, flow, document.era.value()),
                (_, None) => None,
            };
            if let Some(why) = why {
                self.add(format!("{}.{key}", party.key), &shown(value), why);
            }
        }
        if let Some(flow) = party.flow {
            self.parameters(document, party, flow, paths);
        }
        let Some(Value::Array(stages)) = party.own.get("on") else { return };
        let begins =
            |stage: &Value| stage.as_str()?.split_once("..").and_then(|(from, _)| cwnd::quantity::span(from).ok());
        for (index, stage) in stages.iter().enumerate() {
            if begins(stage).is_some_and(|from| from >= duration) {
                self.add(format!("{}.on.{index}", party.key), &shown(stage), format!("the run ends at {duration}"));
            }
        }
    }
}

impl Found {
    /// The parameters of an algorithm that it does not ask for with the others as they are, and those for signals that do not reach it.
    fn parameters(&mut self, document: &Document, party: &Party<'_>, flow: &FlowSetup, paths: &Paths<'_>) {
        let index = |table: &str| party.key.strip_prefix(table).and_then(|index| index.parse::<usize>().ok());
        let written = match (index("flow."), index("arrivals.")) {
            (Some(index), _) => document.flow.get(index).map(|group| &group.algorithm),
            (_, Some(index)) => document.arrivals.get(index).map(|group| &group.algorithm),
            _ => None,
        };
        let Some(written) = written else { return };
        let key = format!("{}.algorithm", party.key);
        for (parameter, text) in flow.algorithm.unread() {
            let why = format!("the other parameters leave it out ({})", parameter.help);
            self.add_part(&key, written, format!("{}={text}", parameter.name), why);
        }
        let reported = flow.algorithm.entry().transport == Transport::Reported;
        let given = flow.algorithm.parameters().filter(|(parameter, text)| *text != parameter.default_text());
        for (parameter, text) in given {
            let why = match (parameter.name, flow.ecn, without_marks(party, flow, paths)) {
                (ECN_BETA, None, _) => {
                    "its packets are not ECN-capable: set `ecn` to `latch` or `per-packet`".to_string()
                }
                (ECN_BETA, Some(_), Some(why)) => why,
                (FEEDBACK, ..) if reported => {
                    "the protocol of UDT reports losses, and neither marks nor a rising delay".to_string()
                }
                _ => continue,
            };
            self.add_part(&key, written, format!("{}={text}", parameter.name), why);
        }
    }
}

/// The resolution of simulated time.
const CLOCK: Span = Span::from_nanos(1);
/// The parameter of RFC 8511.
const ECN_BETA: &str = "ecn_beta";
/// The parameter of DAIMD for the signals that count.
const FEEDBACK: &str = "feedback";

/// Why `ecn` of a flow has no effect.
fn without_marks(party: &Party<'_>, flow: &FlowSetup, paths: &Paths<'_>) -> Option<String> {
    if !flow.algorithm.entry().answers_marks() {
        return Some(unanswered(&flow.algorithm));
    }
    let marked = |link: &LinkSetup| match &link.discipline {
        Discipline::Red(red) => red.mark,
        Discipline::Rio(rio) => {
            if flow.class == Class::In {
                rio.inside.mark
            } else {
                rio.outside.mark
            }
        }
        Discipline::CoDel(codel) => codel.mark,
        Discipline::FqCoDel(fq) => fq.codel.mark,
        Discipline::Pie(pie) => pie.mark,
        Discipline::DropTail | Discipline::Drr(_) | Discipline::Xcp(_) | Discipline::Vcp(_) | Discipline::DecBit(_) => {
            false
        }
    };
    let none = !paths.links_of(&party.ways[0]).any(marked);
    none.then(|| "no queue on its path marks packets: take one with `ecn=yes`, such as `red:1bdp,ecn=yes`".to_string())
}

/// Why the sender and the receiver of a flow do not look at a setting; `otherwise` is the era that it would have without one.
fn unread(key: &str, flow: &FlowSetup, otherwise: &Era) -> Option<String> {
    let entry = flow.algorithm.entry();
    let name = entry.name;
    let protocol = match entry.transport {
        Transport::Acked | Transport::Routed => None,
        Transport::Reported => Some(format!("`{name}` runs over the protocol of UDT")),
        Transport::Datagram => {
            Some(format!("`{name}` runs over datagrams, each sent once and none acknowledged by itself"))
        }
        Transport::Stack => Some(format!("`{name}` is a whole stack, with ends of its own")),
    };
    match key {
        "recovery" | "receiver" | "delayed_ack" | "ack_aggregation" => protocol,
        "host" if entry.transport != Transport::Acked => Some(format!("hosts of `{name}` are not those of TCP")),
        "host" => {
            let LinuxHost { tso, fq, gro, autotune, whole, min_rto } = flow.host;
            let others = tso || gro.is_some() || autotune.is_some() || min_rto.is_some();
            let algorithm = start(&flow.algorithm).filter(|_| (fq || whole) && !others)?;
            // One that spreads its window may do so in some phases alone.
            let spaced = !fq || matches!(algorithm.control().pacing, Pacing::At(_));
            let uncut = !whole || algorithm.slow_start_threshold().is_none();
            let why = if fq { "spaces its packets itself" } else { "keeps a window of its own" };
            (spaced && uncut).then(|| format!("`{name}` {why}"))
        }
        "max_window" if entry.transport == Transport::Stack => protocol,
        "era" => {
            // Other protocols see of an era only whether windows grow that are not used, and a window of their own may hold any of them.
            let same = flow.era.policy.validate == otherwise.policy.validate;
            let agent = || matches!(start(&flow.algorithm), Some(Algorithm::UdtAgent(_)));
            protocol.filter(|_| same || entry.transport == Transport::Stack || agent())
        }
        "slow_start" => match start(&flow.algorithm) {
            _ if protocol.is_some() => protocol,
            Some(algorithm) if algorithm.slow_start_threshold().is_none() => {
                Some(format!("`{name}` starts in a way of its own"))
            }
            Some(_)
                if matches!(flow.slow_start, Some(SlowStart::Limited { .. }))
                    && !limits_slow_start(&flow.algorithm) =>
            {
                Some(format!("`{name}` grows in slow start by a rule of its own"))
            }
            _ => None,
        },
        "paced" if flow.paced => match start(&flow.algorithm) {
            _ if protocol.is_some() => protocol,
            Some(algorithm) if algorithm.control().pacing != Pacing::Off => {
                Some(format!("`{name}` spaces its packets itself"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether limited slow start makes an algorithm grow less: its first acknowledgements, under a limit that none of them meets.
fn limits_slow_start(algorithm: &Spec) -> bool {
    let grown = |slow_start| {
        let policy = Policy { slow_start, ..Policy::MODERN };
        let mut sender = algorithm.start(&Start { policy, ..Start::default() });
        let rtt = Span::from_millis(100);
        let rtt = Rtt { latest: rtt, smoothed: rtt, variation: Span::ZERO, min: rtt, ack_delay: Span::ZERO };
        let view = View {
            now: Time::ZERO + Span::from_secs(1),
            next: 100,
            in_flight: 100,
            in_recovery: false,
            delivered: 50,
            lost: 0,
            rtt: Some(rtt),
            round: 5,
            limit: Limit::Window,
            peer_window: Packets(f64::INFINITY),
            packet: Start::default().packet,
            payload: Start::default().payload,
        };
        sender.on_ack(&view, &Ack::fluid(&view, Packets(50.0)));
        sender.control().window
    };
    grown(SlowStart::Limited { max_threshold: 1 }) < grown(SlowStart::Standard)
}

/// Why `ecn` has no effect on an algorithm that does not answer marks.
fn unanswered(algorithm: &Spec) -> String {
    format!("senders of `{}` do not answer marks", algorithm.entry().name)
}

/// The algorithm as it starts; none for one from outside, whose start is another's code, or a stack.
fn start(algorithm: &Spec) -> Option<Algorithm> {
    (!algorithm.is_outside()).then(|| algorithm.start(&Start::default()))
}

/// Whether a run may depend on its seed. Algorithms outside the window shell may draw.
pub(crate) fn is_drawn(setup: &CheckedSetup) -> bool {
    let variation = &setup.variation;
    let varied =
        variation.start.is_none_or(|start| start > Span::ZERO) || variation.rtt > 0.0 || variation.jitter > 0.0;
    let drawn = |link: &LinkSetup| {
        let impairments = &link.impairments;
        let jitters = impairments.jitter > Span::ZERO || impairments.reordering.is_some();
        let fifo = matches!(link.discipline, Discipline::DropTail | Discipline::Drr(_) | Discipline::CoDel(_));
        jitters || !fifo || matches!(link.loss, Loss::Bernoulli(_) | Loss::GilbertElliott(_))
    };
    let steps = |change: RateChange| !matches!(change, RateChange::Constant | RateChange::Square(_));
    let draws = |flow: &FlowSetup| {
        let source = matches!(flow.source, Traffic::Rate(schedule) if steps(schedule.change));
        source || start(&flow.algorithm).is_none_or(|algorithm| algorithm.slow_start_threshold().is_none())
    };
    let cbr = setup.cbr.iter().any(|cbr| steps(cbr.rate.change));
    varied || cbr || !setup.crowds.is_empty() || setup.links.iter().any(drawn) || setup.flows.iter().any(draws)
}

fn name(link: &Link) -> String {
    link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to))
}

/// A value as it was written.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
