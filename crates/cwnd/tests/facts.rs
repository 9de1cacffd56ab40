//! Facts about an algorithm stand in its entry of the registry, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cwnd::registry::{Basis, Transport};
use cwnd::{ALGORITHMS, CongestionControl, Spec, Start};

/// Lists of algorithms outside of the registry, by file, which select algorithms to show and state no facts about them.
const CHOICES: [&str; 10] = [
    // The algorithms compared without arguments, and the first ones that a visitor sees.
    "cwnd-lab/src/compare/default.rs",
    "cwnd-engine/src/presets.rs",
    // Whom an evaluation compares with.
    "cwnd-lab/src/evaluate/mod.rs",
    "cwnd-report/src/text.rs",
    // Whom a search for counterexamples compares with, and the competitors on its paths.
    "cwnd-falsify/src/property.rs",
    "cwnd-falsify/src/space.rs",
    // The colours of the papers' algorithms.
    "cwnd-report/src/plot/colour.rs",
    // The flows of the run that `doctor` repeats.
    "cwnd-cli/src/doctor/simulator.rs",
    // Examples of a rustdoc page and of a schema.
    "cwnd-sim/src/lib.rs",
    "cwnd-run/src/scenario/quantity.rs",
];

#[test]
fn an_entry_agrees_with_what_its_algorithm_asks_for() {
    for entry in ALGORITHMS {
        let algorithm = Spec::parse(entry.name).expect("registered").start(&Start::default());
        let name = entry.name;
        assert_eq!(entry.basis == Basis::MarkedShare, algorithm.needs_marks(), "{name}");
        assert_eq!(entry.basis == Basis::DeliveryRate, algorithm.wants_samples(), "{name}");
        assert_eq!(entry.basis == Basis::Routers, entry.transport == Transport::Routed, "{name}");
    }
}

/// A list of algorithms elsewhere is a fact that the next algorithm will not have.
#[test]
fn no_other_place_lists_algorithms() {
    let names: BTreeSet<&str> = ALGORITHMS.iter().map(|entry| entry.name).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for directory in fs::read_dir(&crates).expect("a directory") {
        let sources = directory.expect("an entry").path().join("src");
        // What papers compare is theirs.
        if sources.is_dir() && !sources.to_string_lossy().contains("cwnd-papers") {
            collect(&sources, &mut files);
        }
    }
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lists = lists(code, &names);
        if !lists.is_empty() {
            let name = file.strip_prefix(&crates).expect("below it").to_string_lossy().into_owned();
            found.insert(name, lists);
        }
    }
    let others: Vec<_> = found.iter().filter(|(file, _)| !CHOICES.contains(&file.as_str())).collect();
    assert!(others.is_empty(), "a field of `Entry` belongs in the place of {others:#?}");
}

/// The lists and patterns of `code` with several of `names`.
fn lists(code: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let mut lists = Vec::new();
    let mut last: Vec<&str> = Vec::new();
    // Every other piece is a text.
    for (at, piece) in code.split('"').enumerate() {
        let joins = piece.trim().is_empty() || matches!(piece.trim(), "," | "|");
        match at % 2 {
            1 if names.contains(piece) && !last.contains(&piece) => last.push(piece),
            0 if joins => {}
            _ => last.clear(),
        }
        if last.len() == 2 {
            lists.push(last.join(", "));
        }
    }
    lists
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_list_is_found() {
    let names = BTreeSet::from(["vegas", "fast", "reno"]);
    assert_eq!(lists("const BY_DELAY: [&str; 2] = [\"vegas\", \"fast\"];", &names), ["vegas, fast"]);
    assert_eq!(lists("match name { \"vegas\" | \"fast\" => 1 }", &names), ["vegas, fast"]);
    assert!(lists("match name { \"vegas\" => 1, \"fast\" => 2 }", &names).is_empty());
}
