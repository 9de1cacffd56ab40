//! No implementation of a trait forwards to another one method by method, since it would miss the next method with a default in silence: a
//! wrapper of an algorithm is a `Wrapper`; elsewhere a lint asks for every method.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file of Rust in the repository.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the repository").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            let is_ours = !["target", "node_modules"].iter().any(|built| name == *built);
            if is_ours && !name.to_string_lossy().starts_with('.') {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The lines of each item that begins with `begin` and is not on one line, up to its closing bracket.
fn items<'a>(text: &'a str, begin: &str) -> Vec<Vec<&'a str>> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        line.starts_with(begin) && !line.ends_with('}')
    });
    let item = |(at, line): (usize, &&str)| {
        let close = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        let end = lines[at..].iter().position(|line| *line == close);
        lines[at..at + end.map_or(0, |end| end + 1)].to_vec()
    };
    starts.map(item).collect()
}

/// The traits of the repository in which a method has a default, and the one of QUIC stacks that is wrapped here.
fn traits_with_defaults(texts: &[(PathBuf, String)]) -> BTreeSet<String> {
    let mut found = BTreeSet::from(["Controller".to_string()]);
    for item in texts.iter().flat_map(|(_, text)| items(text, "trait ")) {
        let (head, body) = item.split_first().expect("it has a first line");
        let name = head.split("trait ").nth(1).expect("it begins so").split([':', '<', ' ']).next();
        if body.iter().any(|line| line.trim_start().starts_with("fn ") && !line.trim_end().ends_with(';')) {
            found.extend(name.map(str::to_string));
        }
    }
    found
}

/// How many methods an implementation has, and how many of them call the method of the same name of something else.
fn forwarded(body: &[&str]) -> (usize, usize) {
    let (mut methods, mut forwarded) = (0, 0);
    let mut calls = String::new();
    for line in body {
        if let Some(rest) = line.trim_start().strip_prefix("fn ") {
            let name = rest.split(['(', '<']).next().expect("a method has a name");
            calls = format!(".{name}(");
            methods += 1;
        } else if !calls.is_empty() && line.contains(&calls) && !line.contains(&format!("self{calls}")) {
            calls.clear();
            forwarded += 1;
        }
    }
    (methods, forwarded)
}

#[test]
fn whoever_forwards_forwards_everything() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    sources(&root, &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a file of the repository");
            (path, text)
        })
        .collect();
    let traits = traits_with_defaults(&texts);
    for known in ["CongestionControl", "WindowRule", "ReceiverSide", "Progress", "Recovery", "SenderProtocol"] {
        assert!(traits.contains(known), "{known} is not among the traits found");
    }
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (path, text) in &texts {
        for item in items(text, "impl") {
            let Some((head, kind)) = item[0].split_once(" for ") else { continue };
            let name = head.rsplit([' ', '>', ':']).next().unwrap_or_default();
            let name = name.split('<').next().unwrap_or_default();
            let (methods, forwarded) = forwarded(&item[1..]);
            // Others call a part of theirs here and there, whose methods happen to have the same names.
            let is_algorithm = name == "CongestionControl";
            let forwards = if is_algorithm {
                forwarded >= 2 && 2 * forwarded > methods
            } else {
                forwarded >= 4 && 4 * forwarded >= 3 * methods
            };
            if !traits.contains(name) || !forwards {
                continue;
            }
            let before = &text[..text.find(item[0]).expect("it is in there")];
            let is_asked = before.lines().last().is_some_and(|line| line.contains("clippy::missing_trait_methods"));
            asked += usize::from(is_asked);
            if is_algorithm || !is_asked {
                let path = path.strip_prefix(&root).unwrap_or(path).display();
                wrong.push(format!("{path}: {name} for {}", kind.trim_end_matches(" {")));
            }
        }
    }
    assert!(asked >= 5, "{asked} found with the lint: the search misses them");
    assert!(
        wrong.is_empty(),
        "{} would miss a method with a default. For an algorithm write `impl cwnd::Wrapper`; above another trait \
         `#[deny(clippy::missing_trait_methods)]`",
        wrong.join("; ")
    );
}
