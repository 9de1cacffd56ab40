//! The page people read: every number of both sides, its tolerance and the verdict.

use std::fmt::Write;
use std::path::Path;

use cwnd_report::plot::Axis;
use cwnd_run::measure::Estimate;
use cwnd_text::capitalised;

use crate::case::{Case, Cases, Measure, Note};
use crate::outcome::estimate;
use crate::plot::{self, Panel};
use crate::provenance::Provenance;
use crate::{Compared, Error};

/// A measure on both sides.
pub(crate) struct Judged<'a> {
    pub(crate) measure: Measure,
    pub(crate) ours: Estimate,
    pub(crate) theirs: Estimate,
    /// None where no tolerance was fixed.
    pub(crate) agrees: Option<bool>,
    /// Why the two differ, if they do and the reason is known, and by how much they may.
    known: Option<(&'a Note, [f64; 2])>,
    /// Whether they differ by so much.
    within: bool,
}

impl Judged<'_> {
    /// Whether the two agree, or differ as is known.
    pub(crate) fn holds(&self) -> bool {
        self.agrees != Some(false) || self.within
    }
}

impl Compared<'_> {
    /// Every measure of its case.
    pub(crate) fn judge<'a>(&self, cases: &'a Cases) -> Vec<Judged<'a>> {
        let case = self.experiment.case;
        let judge = |measure: &Measure| {
            let ours = estimate(&self.ours.outcomes, *measure)?;
            let theirs = estimate(&self.theirs.outcomes, *measure)?;
            let distance = measure.distance(ours.mean, theirs.mean);
            let agrees = measure.agrees(distance, &cases.tolerance);
            let range = |note: &'a Note| Some((note, note.range(case, *measure, &self.experiment.pair.theirs)?));
            let known = cases.note.iter().find_map(range).filter(|_| agrees == Some(false));
            let within = known.is_some_and(|(_, [low, high])| (low..=high).contains(&distance));
            Some(Judged { measure: *measure, ours, theirs, agrees, known, within })
        };
        case.measures.iter().filter_map(judge).collect()
    }

    fn panel(&self) -> Panel<'_> {
        let axis = Axis::new("window_packets", "Window (packets)");
        Panel { title: self.experiment.pair.name(), axis, ours: &self.ours.window, theirs: &self.theirs.window }
    }
}

/// Writes the page and the specifications of its plots; whether every difference is within its tolerance or explained.
pub(crate) fn write(
    root: &Path,
    cases: &Cases,
    compared: &[Compared<'_>],
    sources: &Provenance,
) -> Result<bool, Error> {
    let mut sections = String::new();
    let (mut judged, mut outside, mut unexplained) = (0, 0, 0);
    for case in &cases.case {
        let here: Vec<&Compared<'_>> =
            compared.iter().filter(|compared| std::ptr::eq(compared.experiment.case, case)).collect();
        section(&mut sections, case, cases, &here);
        for one in here.iter().flat_map(|compared| compared.judge(cases)) {
            judged += usize::from(one.agrees.is_some());
            outside += usize::from(one.agrees == Some(false));
            unexplained += usize::from(!one.holds());
        }
        let panels: Vec<Panel<'_>> = here.iter().map(|compared| compared.panel()).collect();
        plot::write(&root.join("out/validation").join(format!("{}.vl.json", case.name())), ["ns-3", "cwnd"], &panels)?;
    }
    let verdict = format!("{judged} comparisons: {outside} outside the tolerance, {unexplained} of these unexplained.");
    put(root, "ns3", &format!("{}\n{verdict}\n{sections}", preface(compared, sources)))?;
    println!("{verdict}");
    Ok(unexplained == 0)
}

fn preface(compared: &[Compared<'_>], sources: &Provenance) -> String {
    let mut versions: Vec<&str> = compared.iter().map(|compared| compared.theirs.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    format!(
        "The same experiments in ns-3 and in `cwnd`. Every number is simulated: the mean over the seeds with its 95 % t interval.\n\
         [evidence/ns3](README.md) describes both setups and the tolerances, which were fixed before the first run. Plots show the window of the first flow of the first seed.\n\n\
         Written by `cargo xtask validate ns3` with `cwnd` at {sources} and ns-3 as packaged by Debian ({}).\n",
        versions.join(", "),
    )
}

/// Replaces one part of a page of results: `ns2-tcp` of `evidence/ns2/results.md`. Its other text stays as it is.
pub(crate) fn put(root: &Path, part: &str, text: &str) -> Result<(), Error> {
    let directory = part.split('-').next().unwrap_or(part);
    put_into(root, &format!("evidence/{directory}/results.md"), part, text)
}

/// Writes `text` between the marks of `part` in a page of the documents.
pub(crate) fn put_into(root: &Path, page: &str, part: &str, text: &str) -> Result<(), Error> {
    let path = root.join(page);
    let page = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    let replaced =
        replaced(&page, part, text).ok_or_else(|| Error::NoPart { path: path.clone(), part: part.into() })?;
    save(&path, &replaced)
}

/// `page` with `text` between the marks of `part`; none where the marks are missing.
pub(crate) fn replaced(page: &str, part: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin {part} -->\n"), format!("<!-- end {part} -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

fn section(text: &mut String, case: &Case, cases: &Cases, compared: &[&Compared<'_>]) {
    let Some(first) = compared.first() else { return };
    let scenario = &first.experiment.scenario;
    let _ = writeln!(text, "\n### {}\n", case.name());
    let _ = writeln!(
        text,
        "{}: {} seeds of {:.0} s, measured after {:.0} s.",
        capitalised(scenario.document().title.as_deref().unwrap_or(case.name())),
        scenario.seeds().len(),
        scenario.duration().as_secs_f64(),
        scenario.warmup().as_secs_f64(),
    );
    let _ = writeln!(text, "`cwnd run evidence/ns3/{} --set flow.0.algorithm=ALGORITHM`\n", case.scenario);
    text.push_str("| algorithm | measure | ns-3 | cwnd | difference | tolerance | verdict |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    let mut notes: Vec<&Note> = Vec::new();
    for compared in compared {
        for one in compared.judge(cases) {
            let verdict = match (one.agrees, one.known) {
                (None, _) => "",
                (Some(true), _) => "agrees",
                (Some(false), None) => "**differs**",
                (Some(false), Some((note, _))) => {
                    if !notes.iter().any(|known| std::ptr::eq(*known, note)) {
                        notes.push(note);
                    }
                    if one.within { "**differs**, see below" } else { "**differs**, and not as below" }
                }
            };
            let own = one
                .known
                .map(|(_, [low, high])| format!("; known: {} to {}", one.measure.shown(low), one.measure.shown(high)));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {}{} | {verdict} |",
                compared.experiment.pair.name(),
                one.measure.title(),
                shown(&one.theirs),
                shown(&one.ours),
                one.measure.shown(one.measure.distance(one.ours.mean, one.theirs.mean)),
                one.measure.tolerance(&cases.tolerance),
                own.unwrap_or_default(),
            );
        }
    }
    for note in notes {
        let _ = writeln!(text, "\n{}: {}", note.theirs.join(", "), note.text);
    }
    let _ =
        writeln!(text, "\n![Windows over time in case {name}](../../docs/validation/{name}.svg)", name = case.name());
}

/// With enough digits to judge a difference of a percent.
pub(crate) fn shown(estimate: &Estimate) -> String {
    let mean = estimate.mean;
    if mean == 0.0 || !mean.is_finite() {
        return mean.to_string();
    }
    let magnitude = mean.abs().log10().floor() as i32;
    // Small rates in powers of ten; the interval in the same power, so that the two can be compared at a glance.
    let (unit, suffix) =
        if magnitude < -2 { (10.0_f64.powi(magnitude), format!("e{magnitude}")) } else { (1.0, String::new()) };
    let places = if suffix.is_empty() { (3 - magnitude).clamp(0, 4) } else { 2 };
    let places = places.unsigned_abs() as usize;
    match estimate.ci95 {
        Some(half) if suffix.is_empty() => format!("{mean:.places$} ± {half:.places$}"),
        Some(half) => format!("({:.places$} ± {:.places$}){suffix}", mean / unit, half / unit),
        None => format!("{:.places$}{suffix}", mean / unit),
    }
}

fn save(path: &Path, text: &str) -> Result<(), Error> {
    let at = |source| Error::File { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(at)?;
    }
    std::fs::write(path, text).map_err(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn numbers_are_shown_to_a_percent_and_better() {
        let text = |mean, ci95| shown(&Estimate { mean, ci95, n: 4, low: mean, high: mean });
        assert_eq!(text(0.98765, Some(0.00321)), "0.9877 ± 0.0032");
        assert_eq!(text(123.456, Some(4.5)), "123.5 ± 4.5");
        assert_eq!(text(6.6e-5, Some(1.23e-5)), "(6.60 ± 1.23)e-5");
        assert_eq!(text(6.6e-5, None), "6.60e-5");
        assert_eq!(text(0.0, None), "0");
    }

    #[test]
    fn the_index_has_the_counts_of_the_results() {
        let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("it is checked in");
        let index = read("docs/validation.md");
        for directory in ["ns3", "ns2", "linux", "model"] {
            let results = read(&format!("evidence/{directory}/results.md"));
            let counts = results.lines().find_map(|line| {
                let (compared, rest) = line.split_once(" comparisons: ")?;
                Some(format!("| {compared} | {} |", rest.split_once(" outside")?.0))
            });
            let counts = counts.expect("a line with the counts");
            let row = index.lines().find(|line| line.contains(&format!("(../evidence/{directory}/results.md)")));
            assert!(row.is_some_and(|row| row.contains(&counts)), "{directory}: {counts} in {row:?}");
        }
    }

    #[test]
    fn a_part_is_replaced_and_the_rest_kept() {
        let page = "# Title\n\n<!-- begin a -->\nold\n<!-- end a -->\n\n<!-- begin b -->\nkept\n<!-- end b -->\n";
        let anew = "# Title\n\n<!-- begin a -->\n\nnew\n\n<!-- end a -->\n\n<!-- begin b -->\nkept\n<!-- end b -->\n";
        assert_eq!(replaced(page, "a", "\nnew\n").as_deref(), Some(anew));
        assert_eq!(replaced(anew, "a", "new").as_deref(), Some(anew));
        assert_eq!(replaced(page, "c", ""), None);
    }
}
