//! The page of `cwnd overlay`: all flows in each plot, and the table as it was printed.

use cwnd_lab::overlay::Part;

use super::model::{Printed, page};
use super::names;
use crate::plot::colour::Palette;
use crate::plot::overlay::{keys, plots};

/// The page of parts laid over each other. `command` repeats it, `text` is its table as it is printed.
#[must_use]
pub fn overlay_html(parts: &[Part], command: &str, text: &str) -> String {
    let keys = keys(parts);
    let palette = Palette::new(keys.iter().map(String::as_str));
    let plots = plots(parts, &palette);
    names::check(names::OF_OVERLAYS, &plots);
    let labels = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(", ");
    let question = "How do these runs compare, one laid over the other?";
    page(
        (&format!("Overlay of {labels}"), question),
        KIND,
        &plots,
        &palette,
        Printed { command, text, algorithms: &[] },
    )
}

const KIND: &str = "Runs on a common time: flows are named after the input that they are of, and the table says where its numbers come from.";
