//! A page of results on paper: plots, the table as it was printed, and how it was made.

use core::fmt::Write as _;

use cwnd::Spec;
use serde_json::{Value, json};

use super::html::{Escaped, algorithms, facts, figure, open, scripts};
use crate::plot::Plot;
use crate::plot::colour::Palette;

/// What a page says besides its plots.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// The command that repeats it.
    pub command: &'a str,
    /// What it printed.
    pub text: &'a str,
    /// The algorithms, each with its parameters.
    pub algorithms: &'a [&'a Spec],
}

/// The page as one HTML document that refers to nothing outside itself.
pub(super) fn html(title: &str, kind: &str, plots: &[Plot], palette: &Palette, printed: Printed<'_>) -> String {
    let json: Vec<Value> = plots.iter().map(Plot::json).collect();
    let link = |id: &str, words: &str| (id.to_string(), words.to_string());
    let links = [link("plots", "Plots"), link("results", "Results"), link("provenance", "How it was made")];
    let mut out = String::new();
    open(&mut out, title, &format!("{kind} Revision {}.", cwnd_run::VERSION), palette, &[], &links);
    out.push_str("<main id=\"main\"><section aria-labelledby=\"plots\"><h2 id=\"plots\">Plots</h2>");
    out.push_str(if plots.len() > FEW { "<div class=\"grid\">" } else { "<div class=\"grid wide\">" });
    plots.iter().for_each(|plot| figure(&mut out, plot, "h3"));
    out.push_str("</div></section><section aria-labelledby=\"results\"><h2 id=\"results\">Results</h2>");
    let text = Escaped(printed.text);
    let _ = write!(out, "<pre class=\"table\" tabindex=\"0\" aria-label=\"Results\">{text}</pre></section>");
    facts(
        &mut out,
        &[
            ("Command", &format!("<code>{}</code>", Escaped(printed.command))),
            ("Revision", &Escaped(cwnd_run::VERSION).to_string()),
            ("Kind", &Escaped(kind).to_string()),
        ],
    );
    algorithms(&mut out, &printed.algorithms.iter().map(|spec| (*spec).clone()).collect::<Vec<Spec>>());
    out.push_str("</section></main>");
    scripts(&mut out, &json!({ "plots": json, "tables": [] }));
    out
}

/// Plots that fill a row together.
const FEW: usize = 3;
