//! What a page needs to know first.

use cwnd::ALGORITHMS;
use cwnd::window::rule::EXAMPLES;
use cwnd_report::json::Known;
use cwnd_report::plot::colour;
use cwnd_run::scenario::Quantity;
use cwnd_sim::Era;
use cwnd_sim::notation::QUEUES;
use serde_json::json;

use crate::measures;
use crate::message::Frame;
use crate::presets::PRESETS;
use crate::scenario::read;

/// The algorithms, examples of rules, queues, presets, measures and eras: the first frame of a session.
#[must_use]
pub fn hello() -> Frame {
    let algorithms = ALGORITHMS.iter().map(|entry| {
        let colour = colour::of(entry.name);
        json!({ "known": Known::of(entry), "light": colour.light, "dark": colour.dark })
    });
    let rules = EXAMPLES.iter().map(|(meaning, rule)| json!({ "meaning": meaning, "rule": rule }));
    let queues = QUEUES.forms.iter().map(|form| {
        let can_mark = form.parameters.iter().any(|parameter| parameter.name == "ecn");
        json!({ "name": form.name, "marks": can_mark })
    });
    let presets = PRESETS.iter().map(|preset| {
        let document = read(preset.text).unwrap_or_default();
        json!({
            "id": preset.id, "document": document, "apart": preset.apart(),
            "claim": preset.paragraph("Claim"), "look": preset.paragraph("Look for"),
        })
    });
    Frame::from(json!({
        "kind": "hello",
        "version": cwnd_run::VERSION,
        "algorithms": algorithms.collect::<Vec<_>>(),
        "rules": rules.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
        "presets": presets.collect::<Vec<_>>(),
        "measures": measures::columns(),
        "eras": Era::words(),
    }))
}
