//! Settings of flows, groups of arriving flows and traffic without congestion control that change nothing.

use cwnd::Span;
use cwnd::registry::Transport;
use cwnd_sim::{Class, Discipline, FlowSetup, Interarrival, LinkSetup, RateChange, RateSchedule, Video};
use cwnd_text::counted;
use serde_json::Value;

use super::Found;
use super::marks::without_marks;
use super::paths::{Party, Paths};
use super::senders::{idle_words, unread};
use super::words::{typed, words};
use crate::scenario::document::Document;
use crate::scenario::quantity::Written;
use crate::scenario::traffic::{Arrivals, Stage};

impl Found {
    /// An entry of `[[flow]]`, of `[[arrivals]]` or of `[[cbr]]`.
    pub(super) fn party(&mut self, document: &Document, party: &Party<'_>, paths: &Paths<'_>) {
        let duration = *document.duration.value();
        for (key, value) in &party.own {
            let why = match (key.as_str(), party.flow) {
                ("class", _) if party.class != Class::Out => {
                    let rio = |link: &LinkSetup| matches!(link.discipline, Discipline::Rio(_));
                    let classed = party.ways.iter().any(|way| paths.links_of(way).any(rio));
                    (!classed).then(|| "only `rio` queues tell classes apart, and none is on its path".to_string())
                }
                ("src_host" | "dst_host", _) => {
                    let end = usize::from(key == "dst_host");
                    let reads = |link: &LinkSetup, end: usize| matches!(link.discipline, Discipline::Cake(cake) if cake.isolation.reads()[end]);
                    // Packets that come back have source and destination exchanged.
                    let read = paths.links_of(&party.ways[0]).any(|link| reads(link, end))
                        || paths.links_of(&party.ways[1]).any(|link| reads(link, 1 - end));
                    (!read).then(|| "only `cake` tells hosts apart, and none on its path looks at this one".to_string())
                }
                ("stop", _) => {
                    let stop = value.as_str().and_then(|text| cwnd::quantity::span(text).ok());
                    stop.filter(|stop| *stop >= duration).map(|_| format!("the run ends at {duration}"))
                }
                ("ecn", Some(flow)) => without_marks(party, flow, paths),
                ("mark", Some(flow)) if flow.ecn.is_none() => {
                    Some("its packets carry no marks without `ecn`".to_string())
                }
                ("max_window", Some(flow)) => unread(key, flow, document.era.value()).or_else(|| bound(party, flow)),
                ("host", Some(flow)) => {
                    let text = value.as_str().unwrap_or_default();
                    let idle = idle_words(text, flow).into_iter().map(|(word, why)| (word.to_string(), why));
                    self.host(&format!("{}.host", party.key), text, idle.collect());
                    unread(key, flow, document.era.value())
                }
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
        let index = |table: &str| party.key.strip_prefix(table).and_then(|index| index.parse::<usize>().ok());
        let key = &party.key;
        if let Some(group) = index("flow.").and_then(|index| document.flow.get(index)) {
            self.stages(key, &group.on, duration);
            let start = group.start.as_ref().map_or(Span::ZERO, |start| *start.value());
            let start = group.on.first().map_or(start, |first| first.value().from);
            if let Some(source) = &group.source {
                self.rate(&format!("{key}.source"), source, start, duration);
            }
        }
        if let Some(group) = index("cbr.").and_then(|index| document.cbr.get(index)) {
            self.stages(key, &group.on, duration);
            let start = group.start.as_ref().map_or(Span::ZERO, |start| *start.value());
            let start = group.on.first().map_or(start, |first| first.value().from);
            self.rate(&format!("{key}.rate"), &group.rate, start, duration);
        }
        if let Some(group) = index("arrivals.").and_then(|index| document.arrivals.get(index)) {
            self.arrivals(key, group, duration);
        }
    }

    /// The words of a `host` that change nothing, each with the reason.
    pub(super) fn host(&mut self, key: &str, text: &str, idle: Vec<(String, String)>) {
        let alone = words(text).count() == 1;
        for (word, why) in idle {
            if alone {
                self.add(key, &text, why);
            } else {
                self.add_part(key, &text, word, why);
            }
        }
    }

    /// Times in which data is handed over.
    fn stages(&mut self, key: &str, on: &[Written<Stage>], duration: Span) {
        let end = |stage: &Stage| stage.to.is_none_or(|to| to >= duration);
        for (index, stage) in on.iter().enumerate() {
            let late = stage.value().from >= duration;
            let whole = on.len() == 1 && stage.value().from == Span::ZERO && end(stage.value());
            let why = match (late, whole) {
                (true, _) => format!("the run ends at {duration}"),
                (_, true) => format!("it is all of the run, which ends at {duration}"),
                _ => continue,
            };
            self.add(format!("{key}.on.{index}"), stage, why);
        }
    }

    /// A rate that begins at `start`.
    fn rate(&mut self, key: &str, written: &Written<RateSchedule>, start: Span, duration: Span) {
        let RateSchedule { initial, step, change, floor, ceiling, .. } = *written.value();
        let within = |rate: u64| rate.clamp(floor, ceiling);
        if let RateChange::Frames(Video { frame, key: key_frame, .. }) = change {
            if key_frame == frame {
                self.add_word(key, written, "every", "a key frame is as large as any other");
            }
            return;
        }
        if change == RateChange::Constant {
            self.bounds(key, written, [initial, initial]);
            return;
        }
        if start + step >= duration {
            let why =
                format!("the run ends at {duration}, before the first step does: `cbr:` is this rate without steps");
            self.add_word(key, written, "step", &why);
        } else if let RateChange::Square(other) = change {
            if within(initial) == within(other) {
                self.add_word(key, written, "step", "both rates are the same: `cbr:` is this rate without steps");
            }
            self.bounds(key, written, [initial.min(other), initial.max(other)]);
        }
    }

    /// Bounds of a rate that lies between two others without them.
    fn bounds(&mut self, key: &str, written: &Written<RateSchedule>, [least, most]: [u64; 2]) {
        let RateSchedule { floor, ceiling, .. } = *written.value();
        if floor <= least {
            self.add_word(key, written, "floor", "no rate lies below it");
        }
        if ceiling >= most {
            self.add_word(key, written, "ceiling", "no rate lies above it");
        }
    }

    /// Settings of groups of arriving flows alone.
    fn arrivals(&mut self, key: &str, group: &Arrivals, duration: Span) {
        if let Some(web) = &group.web
            && web.pages == 1.0
            && *web.think.value() > Span::ZERO
        {
            let why = "each reader asks for one page (`pages`), and no other follows it";
            self.add(format!("{key}.web.think"), &web.think, why);
        }
        if let Some(spread) = group.rtt_spread.as_ref().filter(|spread| *spread.value() == Span::ZERO) {
            self.add(format!("{key}.rtt_spread"), spread, "no round-trip time is longer for it");
        }
        let Some(gap) = &group.gap else { return };
        let Interarrival::Square { means: [first, second], step } = *gap.value() else { return };
        let start = group.start.as_ref().map_or(Span::ZERO, |start| *start.value());
        let end = group.stop.as_ref().map_or(duration, |stop| duration.min(*stop.value()));
        if first == second {
            self.add_word(&format!("{key}.gap"), gap, "step", "both times are the same");
        } else if start + step >= end {
            let why = "nothing arrives after the first step";
            self.add_word(&format!("{key}.gap"), gap, "step", why);
        }
    }

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
        for (parameter, why) in flow.algorithm.idle() {
            self.add_part(&key, written, parameter, why);
        }
        let reported = flow.algorithm.entry().transport == Transport::Reported;
        let given = flow.algorithm.parameters().filter(|(parameter, text)| *text != parameter.default_text());
        for (parameter, _) in given {
            let why = match (parameter.name, flow.ecn, without_marks(party, flow, paths)) {
                (ECN_BETA, None, _) => {
                    "its packets are not ECN-capable: set `ecn` to `latch`, `per-packet`, `accecn` or `counts`"
                        .to_string()
                }
                (ECN_BETA, Some(_), Some(why)) => why,
                (FEEDBACK, ..) if reported => {
                    "the protocol of UDT reports losses, and neither marks nor a rising delay".to_string()
                }
                _ => continue,
            };
            self.add_part(&key, written, typed(written.text(), parameter.name).unwrap_or(parameter.name), why);
        }
    }
}

/// Why a receiver's window never holds a flow back.
fn bound(party: &Party<'_>, flow: &FlowSetup) -> Option<String> {
    let window = flow.max_window?;
    if window == f64::INFINITY {
        return Some("there is no bound without it either".to_string());
    }
    let packets = party.packets.filter(|packets| *packets as f64 <= window)?;
    Some(format!("its flows have {}", counted(packets, "packet")))
}

/// A value as it was written.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // JSON has no such number.
        Value::Null => "inf".to_string(),
        value => value.to_string(),
    }
}

/// The parameter of RFC 8511.
const ECN_BETA: &str = "ecn_beta";
/// The parameter of DAIMD for the signals that count.
const FEEDBACK: &str = "feedback";
