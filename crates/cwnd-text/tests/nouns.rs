//! A number and the noun behind it come from `counted`, which knows when there is one.

use std::fs;
use std::path::{Path, PathBuf};

/// Nouns that are counted in what people read.
const NOUNS: [&str; 16] = [
    "cells", "checks", "chunks", "clients", "cores", "files", "flows", "groups", "links", "packets", "points", "rows",
    "runs", "samples", "seeds", "rounds",
];

/// Where the number is never one, or bounds the accepted values: a file, and how many such places it has.
const OTHERS: [(&str, usize); 18] = [
    ("cwnd-cli/src/model/convergence.rs", 3),
    ("cwnd-cli/src/model/mod.rs", 1),
    ("cwnd-cli/src/model/rounds.rs", 2),
    ("cwnd-cli/src/progress.rs", 1),
    ("cwnd-conform/src/bbr/cases.rs", 5),
    ("cwnd-conform/src/bbr/figures.rs", 1),
    ("cwnd-conform/src/reference.rs", 1),
    ("cwnd-engine/src/scenario.rs", 1),
    ("cwnd-lab/src/evaluate/rfc9743.rs", 1),
    ("cwnd-lab/src/model/mod.rs", 2),
    ("cwnd-report/src/page/parts.rs", 2),
    ("cwnd-report/src/plot/traffic.rs", 1),
    ("cwnd-report/src/text.rs", 1),
    ("cwnd-run/src/measure/digits.rs", 4),
    ("cwnd-run/src/run.rs", 1),
    ("cwnd-run/src/scenario/path.rs", 1),
    ("cwnd-run/src/scenario/error.rs", 2),
    ("cwnd-transfer/src/doctor/machine.rs", 1),
];

/// The numbers with a noun in the code of a file, without its tests.
fn found(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        for (at, _) in line.match_indices("} ") {
            let word: String = line[at + 2..].chars().take_while(char::is_ascii_lowercase).collect();
            // A fraction is not counted, and a constant is known to be more than one.
            let whole = |format: &str| !format.contains([' ', '"', ':']) && !format.contains(char::is_uppercase);
            let opened = line[..at].rfind('{').is_some_and(|from| whole(&line[from..at]));
            if opened && NOUNS.contains(&word.as_str()) {
                found.push(line.trim().to_string());
            }
        }
    }
    found
}

fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn numbers_have_their_nouns_from_one_function() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for one in [
        "cwnd-cli",
        "cwnd-conform",
        "cwnd-engine",
        "cwnd-lab",
        "cwnd-live",
        "cwnd-report",
        "cwnd-run",
        "cwnd-terminal",
        "cwnd-transfer",
    ] {
        sources(&crates.join(one).join("src"), &mut files);
    }
    files.sort();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&crates).expect("it lies there").display().to_string();
        let own = found(&fs::read_to_string(&file).expect("text"));
        let accepted = OTHERS.iter().find(|(one, _)| *one == name).map_or(0, |(_, count)| *count);
        if own.len() != accepted && !name.contains("tests") {
            wrong.push(format!("{name}: {} places, {accepted} known: {own:?}", own.len()));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
