//! What [`conform!`](crate::conform) makes its tests of.

use std::fs;
use std::path::{Path, PathBuf};

use crate::baseline::Baseline;
use crate::judge::{Plan, Verdict};
use crate::{Subject, Suite, junit, text};

/// Judges `subject` by `suites` over three seeds, and leaves `target/conform/SUBJECT.xml` below the folder of the package.
///
/// # Panics
/// A check departs that the baseline does not name, or one that it names is met; a suite has no such name; a file cannot be read or
/// written.
pub fn assert_conforms(subject: &Subject, suites: &[&str], baseline: Option<&str>) {
    let found = |name: &&str| Suite::find(name).unwrap_or_else(|| panic!("no suite is called `{name}`"));
    let plan = Plan { suites: suites.iter().map(found).collect(), ..Plan::default() };
    let known = baseline
        .map_or_else(String::new, |path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}")));
    let known = Baseline::parse(&known).unwrap_or_else(|error| panic!("the baseline: {error}"));
    let results = [plan.judge(subject)];
    write(&folder(), subject.name(), &junit::document(&results, &known));
    let compared = known.compare(&results);
    let text: String = results.iter().map(|result| text::conformance(result, false)).collect();
    assert!(compared.new.is_empty(), "departs from {:?}\n{text}", compared.new);
    assert!(compared.mended.is_empty(), "meets {:?}, which the baseline names as departures", compared.mended);
    assert!(results[0].count(Verdict::Meets) > 0, "nothing applies\n{text}");
}

/// Cargo runs tests in the folder of their package.
fn folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from).join("conform")
}

fn write(folder: &Path, subject: &str, xml: &str) {
    let name: String = subject.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let path = folder.join(format!("{name}.xml"));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, xml))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
