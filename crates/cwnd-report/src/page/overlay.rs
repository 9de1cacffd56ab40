//! The page of `cwnd overlay`: all flows in each plot, and the table as it was printed.

use cwnd_lab::overlay::{Part, Source};
use cwnd_run::scenario::Document;
use cwnd_trace::{FlowTrace, Trace};

use super::link::Link;
use super::model::{Printed, page};
use super::names;
use super::parts::listed;
use crate::plot::colour::Palette;
use crate::plot::overlay::{keys, plots};

/// The page of parts laid over each other. `command` repeats it, `text` is its table as it is printed. `scenario` is that of the one part that was
/// run, from the start of the common time on: its link has the recorded parts.
#[must_use]
pub fn overlay_html(parts: &[Part], command: &str, text: &str, scenario: Option<&Document>) -> String {
    let keys = keys(parts);
    let palette = Palette::new(keys.iter().map(String::as_str));
    let plots = plots(parts, &palette);
    names::check(names::OF_OVERLAYS, &plots);
    let labels = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(", ");
    let question = "How do these runs compare, one laid over the other?";
    // A link has windows and goodputs.
    let recorded = parts.iter().filter(|part| part.source != Source::Simulated && part.knows_delivered);
    let flows: Vec<(&str, &Trace, &FlowTrace)> = recorded
        .flat_map(|part| part.traces.iter().filter_map(|trace| Some((&*part.label, trace, trace.flows.first()?))))
        .collect();
    let link = scenario.and_then(|scenario| Link::with(scenario, false, &flows));
    page(
        (&format!("Overlay of {labels}"), question, &path(parts)),
        KIND,
        &plots,
        &palette,
        Printed { command, text, algorithms: &[], pages: &[] },
        link.as_ref(),
    )
}

/// The paths of the inputs that tell them, each once with whose it is; of all inputs where they have one.
fn path(parts: &[Part]) -> String {
    let mut paths: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in parts {
        let Some(path) = part.path.as_deref() else { continue };
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, labels)) => labels.push(&part.label),
            None => paths.push((path, vec![&part.label])),
        }
    }
    match paths.as_slice() {
        [] => String::new(),
        [(path, of)] if of.len() == parts.len() => format!("On {path}"),
        _ => {
            let each = paths.iter().map(|(path, of)| format!("{} on {path}", listed(of)));
            each.collect::<Vec<_>>().join("; ")
        }
    }
}

const KIND: &str = "Runs on a common time: flows are named after the input that they are of, and the table says where its numbers come from.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_on_one_path_have_one_line() {
        let part = |label: &str, path: Option<&str>| Part {
            path: path.map(str::to_string),
            ..Part::simulated(label, Vec::new(), 0)
        };
        let (a, b, log) = (part("a", Some("1mbit")), part("b", Some("1mbit")), part("log", None));
        assert_eq!(path(&[a.clone(), b.clone()]), "On 1mbit");
        assert_eq!(path(&[a.clone(), b.clone(), log.clone()]), "a and b on 1mbit");
        assert_eq!(path(&[a, log.clone(), part("c", Some("2mbit"))]), "a on 1mbit; c on 2mbit");
        assert_eq!(path(&[log]), "");
    }
}
