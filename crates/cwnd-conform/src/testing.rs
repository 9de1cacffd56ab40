//! The functions behind the tests of [`conform!`](crate::conform).

use std::fs;
use std::path::{Path, PathBuf};

use crate::baseline::Baseline;
use crate::judge::Plan;
use crate::text::UNCLEAR;
use crate::{Subject, checks, junit, text};

/// Judges `subject` by the check `id` over three seeds, and leaves `target/conform/SUBJECT/ID.xml`.
///
/// # Panics
/// The check deviates or is unclear, unless the baseline names it or the subject [allows](Subject::allow_unclear) unclear checks. It is met
/// although the baseline names it. There is no such check. A file cannot be read or written.
pub fn assert_conforms(subject: &Subject, id: &str, baseline: Option<&str>) {
    conforms(subject, id, baseline, None);
}

/// [`assert_conforms`] for the test `name` of the package `package`: messages name the command that repeats it.
#[doc(hidden)]
pub fn assert_test(subject: &Subject, id: &str, baseline: Option<&str>, (package, name): (&str, &str)) {
    // Without the name of the crate, as the harness has it.
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    conforms(subject, id, baseline, Some(format!("cargo test -p {package} -- --exact {name}")));
}

/// Asserts that a check of the suite called `suite` is meant for `subject`.
///
/// # Panics
/// None is.
#[doc(hidden)]
pub fn assert_applies(subject: &Subject, suite: &str) {
    let asked = || checks().filter(|check| check.suite.name() == suite);
    let refused = asked().find_map(|check| check.applies.refuses(subject)).unwrap_or("the suite is empty");
    let applies = subject.allows_unclear() || asked().any(|check| check.applies.refuses(subject).is_none());
    assert!(applies, "no check of {suite} is meant for {subject}: {refused}");
}

fn conforms(subject: &Subject, id: &str, baseline: Option<&str>, repeat: Option<String>) {
    let plan = Plan { only: vec![id.to_owned()], ..Plan::default() };
    assert!(plan.checks().next().is_some(), "no check is called `{id}`");
    let known = baseline
        .map_or_else(String::new, |path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}")));
    let known = Baseline::parse(&known).unwrap_or_else(|error| panic!("the baseline: {error}"));
    let mut results = [plan.judge(subject)];
    if let Some(repeat) = repeat {
        results.iter_mut().flat_map(|result| &mut result.checks).for_each(|judged| judged.repeat.clone_from(&repeat));
    }
    write(&directory(), (subject.name(), id), &junit::document(&results, &known));
    let compared = known.compare(&results);
    let text: String = results.iter().map(|result| text::conformance(result, true)).collect();
    assert!(compared.new.is_empty(), "deviates\n{text}");
    assert!(compared.fixed.is_empty(), "is met, and the baseline names it as a deviation\n{text}");
    assert!(compared.unclear.is_empty(), "is unclear\n{text}{UNCLEAR}");
    println!("{text}");
}

/// Below cargo's target directory, in which the program of the tests lies: `target/debug/deps/`.
fn directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target =
        program.ancestors().find(|directory| directory.ends_with("deps")).and_then(|deps| deps.parent()?.parent());
    target.unwrap_or(Path::new("target")).join("conform")
}

fn write(directory: &Path, (subject, id): (&str, &str), xml: &str) {
    let directory = directory.join(directory_name(subject));
    let path = directory.join(format!("{id}.xml"));
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&path, xml))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The name of a subject as a directory: every byte but letters, digits, `-` and `_` becomes `%` and two digits, so that two names never share one.
fn directory_name(subject: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    subject
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_subjects_have_two_directories() {
        let names = ["a:b", "a-b", "a b", "a%3ab", "..", "ä"].map(directory_name);
        assert_eq!(names, ["a%3ab", "a-b", "a%20b", "a%253ab", "%2e%2e", "%c3%a4"]);
    }

    #[test]
    #[should_panic(expected = "no check of rfc9438 is meant for reno: it does not follow CUBIC")]
    fn a_suite_for_others_fails() {
        assert_applies(&Subject::parse("reno").expect("registered"), "rfc9438");
    }
}
