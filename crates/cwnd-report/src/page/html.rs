//! The page itself: what is written, in which order, and safely.

use core::fmt::{self, Write as _};

use cwnd::Spec;
use serde_json::{Value, json};

use super::{Report, results};
use crate::plot::colour::{Colour, Palette};
use crate::plot::{Frame, Plot, SCHEMA, config, over_time, overview, traffic};

/// The page as one HTML document that refers to nothing outside itself.
#[must_use]
pub fn html(report: &Report<'_>) -> String {
    let frame = Frame::of(&report.shown, report.bottleneck, report.seeds.len());
    let overview = overview(&frame);
    let sections: Vec<Vec<Plot>> =
        (0..report.shown.len()).map(|index| [over_time(&frame, index), traffic(&frame, index)].concat()).collect();
    let plots: Vec<Value> = overview.iter().chain(sections.iter().flatten()).map(Plot::json).collect();
    let data = json!({ "plots": plots, "tables": [results::table(report, &frame).json()] });

    let mut out = String::new();
    let intro = format!("{}, warm-up {} s. Revision {}.", seed_text(&report.seeds), report.warmup_s, report.revision);
    open(&mut out, &report.title, &intro, &frame.palette, &report.warnings, &links(&frame));
    out.push_str("<main id=\"main\"><section aria-labelledby=\"overview\"><h2 id=\"overview\">Overview</h2><div class=\"grid wide\">");
    overview.iter().for_each(|plot| figure(&mut out, plot, "h3"));
    out.push_str("</div></section><section aria-labelledby=\"over-time\"><h2 id=\"over-time\">Over time</h2>");
    let _ = write!(out, "<p class=\"note\">Runs of {}.</p>", seed_text(report.seeds.get(..1).unwrap_or_default()));
    for (index, plots) in sections.iter().enumerate() {
        section(&mut out, report, &frame, (index, plots));
    }
    out.push_str("</section><section aria-labelledby=\"results\"><h2 id=\"results\">Results</h2>");
    let _ = write!(out, "<p class=\"note\">{}</p>", results_note(report));
    results::write(&mut out, report, &frame);
    out.push_str("<p class=\"links\"><a data-csv=\"results\" href=\"#results-table\" download=\"results.csv\">Results as CSV</a></p></section>");
    provenance(&mut out, report);
    out.push_str("</main>");
    scripts(&mut out, &data);
    out
}

/// Text between tags or in a quoted attribute.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                _ => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// The page up to the end of its navigation: `links` are ids on the page and what leads there, as HTML.
pub(super) fn open(
    out: &mut String,
    title: &str,
    intro: &str,
    palette: &Palette,
    warnings: &[String],
    links: &[(String, String)],
) {
    opening(out, title, palette);
    let _ = write!(out, "<header><h1>{}</h1><p>{}</p>", Escaped(title), Escaped(intro));
    if !warnings.is_empty() {
        out.push_str("<div class=\"warnings\" role=\"note\" aria-label=\"Warnings\"><ul>");
        for warning in warnings {
            out.push_str("<li>");
            // What stands between backticks is code, here as on a terminal.
            for (nth, part) in warning.split('`').enumerate() {
                let (open, close) = if nth % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
                let _ = write!(out, "{open}{}{close}", Escaped(part));
            }
            out.push_str("</li>");
        }
        out.push_str("</ul></div>");
    }
    out.push_str("<noscript><p class=\"warnings\">The plots need JavaScript; the table of results does not.</p></noscript></header>");
    out.push_str("<nav aria-label=\"Sections\"><ul>");
    for (id, words) in links {
        let _ = write!(out, "<li><a href=\"#{id}\">{words}</a></li>");
    }
    out.push_str("</ul></nav>");
}

fn links(frame: &Frame<'_>) -> Vec<(String, String)> {
    let rows = frame.labels.iter().enumerate().map(|(index, label)| {
        let colour = frame.colour(index);
        let swatch = format!("<span class=\"swatch\" style=\"background:{colour}\"></span>");
        (format!("row-{}", index + 1), format!("{swatch}{}", Escaped(label)))
    });
    let link = |id: &str, words: &str| (id.to_string(), words.to_string());
    let ends = [link("results", "Results"), link("provenance", "How it was made")];
    std::iter::once(link("overview", "Overview")).chain(rows).chain(ends).collect()
}

/// Everything before the header of a page.
pub(super) fn opening(out: &mut String, title: &str, palette: &Palette) {
    let title = Escaped(title);
    let light = palette.css(|Colour { light, .. }| light);
    let dark = palette.css(|Colour { dark, .. }| dark);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\"><title>{title}</title>\
         <style id=\"style\">:root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#main\">Skip to the plots</a>"
    );
}

fn section(out: &mut String, report: &Report<'_>, frame: &Frame<'_>, (index, plots): (usize, &[Plot])) {
    let one = &report.shown[index];
    let colour = frame.colour(index);
    let _ = write!(
        out,
        "<section class=\"row\" aria-labelledby=\"row-{at}\"><h3 id=\"row-{at}\"><span class=\"swatch\" style=\"background:{colour}\"></span>{label}</h3>\
         <p class=\"note\">{}</p><div class=\"grid\">",
        results::headline(one.measures),
        at = index + 1,
        label = Escaped(&frame.labels[index])
    );
    plots.iter().for_each(|plot| figure(out, plot, "h4"));
    out.push_str("</div></section>");
}

pub(super) fn figure(out: &mut String, plot: &Plot, heading: &str) {
    let Plot { id, title, caption, alternative, data, .. } = plot;
    let (caption, alternative) = (Escaped(caption), Escaped(alternative));
    let _ = write!(
        out,
        "<figure id=\"{id}\"><{heading}>{title}</{heading}><div class=\"plot\" role=\"img\" aria-label=\"{alternative}\"><div aria-hidden=\"true\"></div></div>\
         <figcaption>{caption}</figcaption><p class=\"links\"><a data-svg=\"{id}\" href=\"#{id}\" download=\"{id}.svg\">SVG</a> \
         <a data-spec=\"{id}\" href=\"#{id}\" download=\"{id}.vl.json\">Vega-Lite</a>"
    );
    for table in data {
        let file = if table.name == "table" { id.clone() } else { format!("{id}-{}", table.name) };
        let words = if table.name == "table" { "CSV".to_string() } else { format!("CSV of {}", table.name) };
        let _ = write!(out, " <a data-csv=\"{id}/{}\" href=\"#{id}\" download=\"{file}.csv\">{words}</a>", table.name);
    }
    let _ = write!(out, "</p><details data-tables=\"{id}\"><summary>Data</summary></details></figure>");
}

fn provenance(out: &mut String, report: &Report<'_>) {
    facts(
        out,
        &[
            ("Command", &format!("<code>{}</code>", Escaped(&report.command))),
            ("Revision", &Escaped(&report.revision).to_string()),
            ("Seeds", &seed_text(&report.seeds)),
            ("Warm-up", &format!("{} s, left out of every measure", report.warmup_s)),
            ("Kind", "Every number is simulated."),
        ],
    );
    let scenario = Escaped(&report.scenario_toml);
    let _ = write!(out, "<h3>Scenario</h3><pre tabindex=\"0\" aria-label=\"Scenario\">{scenario}</pre>");
    algorithms(out, &report.algorithms);
    out.push_str("</section>");
}

/// The section that says how the page was made, left open: terms, and what they are as HTML.
pub(super) fn facts(out: &mut String, of: &[(&str, &str)]) {
    out.push_str("<section aria-labelledby=\"provenance\"><h2 id=\"provenance\">How it was made</h2><dl>");
    for (term, words) in of {
        let _ = write!(out, "<dt>{term}</dt><dd>{words}</dd>");
    }
    out.push_str("</dl>");
}

/// Each algorithm with its parameters in force.
pub(super) fn algorithms(out: &mut String, specs: &[Spec]) {
    if !specs.is_empty() {
        out.push_str("<h3>Algorithms</h3>");
    }
    for spec in specs {
        let entry = spec.entry();
        let _ = write!(
            out,
            "<h4>{}</h4><p>{}. Source: {}.</p>",
            Escaped(spec.label()),
            Escaped(entry.title),
            Escaped(entry.source)
        );
        let parameters: Vec<_> = spec.parameters().collect();
        if !parameters.is_empty() {
            out.push_str("<table class=\"parameters\"><thead><tr><th scope=\"col\">Parameter</th><th scope=\"col\">Value</th><th scope=\"col\">Meaning</th></tr></thead><tbody>");
            for (parameter, value) in parameters {
                let value = if parameter.unit.is_empty() { value } else { format!("{value} {}", parameter.unit) };
                let _ = write!(
                    out,
                    "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>",
                    Escaped(parameter.name),
                    Escaped(&value),
                    Escaped(parameter.help)
                );
            }
            out.push_str("</tbody></table>");
        }
        for deviation in entry.deviations {
            let _ = write!(out, "<p class=\"note\">{}</p>", Escaped(deviation));
        }
    }
}

pub(super) fn scripts(out: &mut String, data: &Value) {
    // No text of the data can end the element it stands in.
    let mut data = data.clone();
    data["schema"] = SCHEMA.into();
    data["config"] = config();
    let data = data.to_string().replace('<', "\\u003c");
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"data\">{data}</script><script type=\"text/plain\">{LICENCES}</script>"
    );
    for library in [VEGA, VEGA_LITE, VEGA_EMBED] {
        // The source maps are not on the page, so nothing may ask for them.
        let code = library.split("\n//# sourceMappingURL=").next().unwrap_or_default();
        let _ = write!(out, "<script>{code}</script>");
    }
    let _ = write!(out, "<script>{SCRIPT}</script></body></html>");
}

fn results_note(report: &Report<'_>) -> String {
    let interval = match report.seeds.len() {
        0 | 1 => "One seed, so there is no interval and no difference can be told from chance.".to_string(),
        seeds => format!(
            "Means over {seeds} seeds; after ± half the width of the 95 % Student t interval. Where intervals overlap, no difference is shown."
        ),
    };
    format!("{interval} Measured from {} s to the end of the run.", report.warmup_s)
}

pub(super) fn seed_text(seeds: &[u64]) -> String {
    let run = |seeds: &[u64]| seeds.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
    match seeds {
        [] => "no seed".to_string(),
        [one] => format!("seed {one}"),
        [first, .., last] if run(seeds) => format!("{} seeds ({first} to {last})", seeds.len()),
        _ => format!("{} seeds ({})", seeds.len(), seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Inline script and style only; the plotting library compiles its expressions. Nothing may be fetched from anywhere.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const VEGA: &str = include_str!("../../assets/vendor/vega.min.js");
const VEGA_LITE: &str = include_str!("../../assets/vendor/vega-lite.min.js");
const VEGA_EMBED: &str = include_str!("../../assets/vendor/vega-embed.min.js");
const LICENCES: &str = include_str!("../../assets/vendor/LICENSE");
