//! What [`conform!`](crate::conform) makes its tests of.

use std::fs;
use std::path::{Path, PathBuf};

use crate::baseline::Baseline;
use crate::judge::Plan;
use crate::text::UNCLEAR;
use crate::{Subject, junit, text};

/// Judges `subject` by the check `id` over three seeds, and leaves `target/conform/SUBJECT/ID.xml`.
///
/// # Panics
/// The check departs or is unclear, unless the baseline names it or the subject [allows](Subject::allow_unclear) what is unclear; it is met
/// although the baseline names it; there is no such check; a file cannot be
/// read or written.
pub fn assert_conforms(subject: &Subject, id: &str, baseline: Option<&str>) {
    let plan = Plan { only: vec![id.to_owned()], ..Plan::default() };
    assert!(plan.checks().next().is_some(), "no check is called `{id}`");
    let known = baseline
        .map_or_else(String::new, |path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}")));
    let known = Baseline::parse(&known).unwrap_or_else(|error| panic!("the baseline: {error}"));
    let results = [plan.judge(subject)];
    write(&folder(), (subject.name(), id), &junit::document(&results, &known));
    let compared = known.compare(&results);
    let text: String = results.iter().map(|result| text::conformance(result, true)).collect();
    assert!(compared.new.is_empty(), "departs\n{text}");
    assert!(compared.fixed.is_empty(), "is met, and the baseline names it as a departure\n{text}");
    assert!(compared.unclear.is_empty(), "is unclear\n{text}{UNCLEAR}");
    println!("{text}");
}

/// Below cargo's target folder, in which the program of the tests lies: `target/debug/deps/`.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.ends_with("deps")).and_then(|deps| deps.parent()?.parent());
    target.unwrap_or(Path::new("target")).join("conform")
}

fn write(folder: &Path, (subject, id): (&str, &str), xml: &str) {
    let name: String = subject.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = folder.join(name);
    let path = folder.join(format!("{id}.xml"));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, xml))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
