//! How a program was built: what a report of an error needs.

use std::ffi::OsString;

use cwnd_run::cells::SOURCES;
use cwnd_sim::DIGEST_FORMAT;
use cwnd_text::VERSION;

/// Whether the words of the command line are the program, `--version` or `-V`, and `--verbose`, in either order.
#[must_use]
pub fn is_asked(words: &[OsString]) -> bool {
    let is_version = |word: &OsString| word == "--version" || word == "-V";
    let is_verbose = |word: &OsString| word == "--verbose";
    matches!(words, [_, one, other] if is_version(one) && is_verbose(other) || is_verbose(one) && is_version(other))
}

/// The version and the build of the program `name`, a fact per line. `features` are its optional parts, and whether they are built in.
#[must_use]
pub fn text(name: &str, features: &[(&str, bool)]) -> String {
    let built_in: Vec<&str> = features.iter().filter(|(_, built_in)| *built_in).map(|(feature, _)| *feature).collect();
    let features = if built_in.is_empty() { "none".to_owned() } else { built_in.join(", ") };
    format!(
        "{name} {VERSION}\ntarget: {}\nprofile: {}\nfeatures: {features}\ncompiler: {}\ndigests: format {DIGEST_FORMAT}\nsources: {SOURCES}\n",
        env!("CWND_TARGET"),
        env!("CWND_PROFILE"),
        env!("CWND_COMPILER"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_asked_for_in_either_order_and_alone() {
        let asked = |line: &str| is_asked(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asked("cwnd --version --verbose") && asked("udt --verbose -V"));
        assert!(!asked("cwnd --version") && !asked("cwnd --verbose") && !asked("cwnd --verbose --verbose"));
        assert!(!asked("cwnd run --version --verbose"));
    }

    #[test]
    fn every_fact_has_a_line_and_a_value() {
        let text = text("cwnd", &[("figures", false), ("parquet", true)]);
        let keys: Vec<&str> = text.lines().skip(1).filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        assert_eq!(keys, ["target", "profile", "features", "compiler", "digests", "sources"]);
        assert!(text.contains("\nfeatures: parquet\ncompiler: rustc 1."), "{text}");
        assert!(text.lines().all(|line| line.len() > 4 && !line.ends_with(": ")), "{text}");
    }
}
