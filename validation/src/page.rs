//! The page people read: every number of both sides, its tolerance and the verdict.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use cwnd_lab::measure::Estimate;
use cwnd_lab::scenario::Scenario;

use crate::case::{Case, Cases, Note};
use crate::outcome::estimate;
use crate::plot::{Panel, draw};
use crate::{Error, Result};

/// Writes the page and its pictures; whether every difference is within its tolerance or explained.
pub(crate) fn write(root: &Path, cases: &Cases, results: &[Result]) -> std::result::Result<bool, Error> {
    let folder = root.join("validation/ns3");
    let mut page = Page { text: preface(), cases, misses: 0, unexplained: 0, compared: 0 };
    for (index, case) in cases.case.iter().enumerate() {
        let here: Vec<&Result> = results.iter().filter(|result| result.case == index).collect();
        let Some(first) = here.first() else { continue };
        let scenario = case.scenario(&folder, &first.pair.ours)?;
        page.case(case, &scenario, &here);

        let from_s = scenario.warmup().as_secs_f64();
        let to_s = scenario.duration().as_secs_f64().min(from_s + PLOTTED_S);
        let panels: Vec<Panel<'_>> = here.iter().map(|result| result.panel()).collect();
        save(&root.join("docs/validation").join(format!("{}.svg", case.name())), &draw(&panels, from_s, to_s))?;
    }
    let Page { text, misses, unexplained, compared, .. } = page;
    let verdict = format!("{compared} comparisons, {misses} outside the tolerance, {unexplained} of them unexplained.");
    save(&root.join("docs/validation.md"), &text.replace(VERDICT, &verdict))?;
    println!("{verdict}");
    Ok(unexplained == 0)
}

struct Page<'a> {
    text: String,
    cases: &'a Cases,
    compared: usize,
    misses: usize,
    unexplained: usize,
}

impl Page<'_> {
    fn case(&mut self, case: &Case, scenario: &Scenario, results: &[&Result]) {
        let title = scenario.document().title.as_deref().unwrap_or_default();
        let file = format!("validation/ns3/{}", case.scenario);
        let _ = writeln!(self.text, "\n## {}: {title}\n", case.name());
        let _ = writeln!(
            self.text,
            "`cwnd run {file} --set flow.0.algorithm=ALGORITHM`, {} seeds, {:.0} s each, measured after {:.0} s.\n",
            scenario.seeds().len(),
            scenario.duration().as_secs_f64(),
            scenario.warmup().as_secs_f64(),
        );
        self.text.push_str("| algorithm | measure | ns-3 | cwnd | difference | tolerance | verdict |\n");
        self.text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        let mut notes: Vec<&Note> = Vec::new();
        for result in results {
            let name = result.pair.name();
            for measure in &case.measures {
                let (Some(ours), Some(theirs)) =
                    (estimate(&result.ours.outcomes, *measure), estimate(&result.theirs.outcomes, *measure))
                else {
                    continue;
                };
                let distance = measure.distance(ours.mean, theirs.mean);
                let verdict = match measure.agrees(distance, &self.cases.tolerance) {
                    None => String::new(),
                    Some(true) => {
                        self.compared += 1;
                        "agrees".to_owned()
                    }
                    Some(false) => {
                        self.compared += 1;
                        self.misses += 1;
                        match self.cases.note(case, result) {
                            Some(note) => {
                                if !notes.iter().any(|known| std::ptr::eq(*known, note)) {
                                    notes.push(note);
                                }
                                "**differs**, see below".to_owned()
                            }
                            None => {
                                self.unexplained += 1;
                                "**differs**".to_owned()
                            }
                        }
                    }
                };
                let _ = writeln!(
                    self.text,
                    "| {name} | {} | {} | {} | {} | {} | {verdict} |",
                    measure.title(),
                    shown(&theirs),
                    shown(&ours),
                    measure.shown(distance),
                    measure.tolerance(&self.cases.tolerance),
                );
            }
        }
        for note in notes {
            let _ = writeln!(self.text, "\n*{}*: {}", note.theirs, note.text);
        }
        let _ = writeln!(self.text, "\n![Windows of the first flow, {}](validation/{}.svg)", case.name(), case.name());
    }
}

impl Cases {
    fn note(&self, case: &Case, result: &Result) -> Option<&Note> {
        let concerns = |note: &&Note| note.scenarios.contains(&case.scenario) && note.theirs == result.pair.theirs;
        self.note.iter().find(concerns)
    }
}

impl Result {
    fn panel(&self) -> Panel<'_> {
        Panel { title: self.pair.name(), ours: &self.ours.windows, theirs: &self.theirs.windows }
    }
}

fn preface() -> String {
    let nothing = "unknown".to_owned();
    let ask = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
        output.map_or(nothing.clone(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let ns3 = ask("dpkg-query", &["--show", "--showformat=${Version}", "libns3-dev"]);
    let revision = ask("git", &["describe", "--always", "--dirty", "--exclude=*"]);
    format!(
        "# Validation\n\n\
         The same experiments in ns-3 and in `cwnd`. Every number is simulated: the mean over the seeds with its 95 % t interval.\n\
         How both sides are set up, and when the tolerances were fixed, is said in [validation/ns3](../validation/ns3/README.md).\n\n\
         {VERDICT}\n\n\
         Written by `cargo xtask validate ns3` at revision {revision}, with ns-3 of Debian ({ns3}); do not edit.\n"
    )
}

/// Enough digits to judge a difference of a percent.
fn shown(estimate: &Estimate) -> String {
    let digits = |value: f64| {
        let places = 3 - (value.abs().log10().floor() as i32);
        if value == 0.0 || !value.is_finite() {
            value.to_string()
        } else if value.abs() < 1e-3 {
            format!("{value:.2e}")
        } else {
            format!("{value:.*}", places.clamp(0, 6).unsigned_abs() as usize)
        }
    };
    match estimate.ci95 {
        Some(half) => format!("{} ± {}", digits(estimate.mean), format_half(half, estimate.mean)),
        None => digits(estimate.mean),
    }
}

/// The half width with as many places as the mean.
fn format_half(half: f64, mean: f64) -> String {
    if mean.abs() < 1e-3 {
        return format!("{half:.1e}");
    }
    let places = (3 - mean.abs().log10().floor() as i32).clamp(0, 6);
    format!("{half:.*}", places.unsigned_abs() as usize)
}

fn save(path: &Path, text: &str) -> std::result::Result<(), Error> {
    let at = |source| Error::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(at)?;
    }
    std::fs::write(path, text).map_err(at)
}

/// Where the sum of all verdicts goes, once it is known.
const VERDICT: &str = "VERDICT";
/// Long enough for a few sawteeth of every algorithm.
const PLOTTED_S: f64 = 60.0;
