//! The step `prose`: counts habits of writing in each file against a list that may only fall.
//!
//! [`HABITS`] has the patterns with the better form of each, [`COUNTS`] the most that each file may have. Text is Markdown outside of
//! code and of generated parts, comments of Rust, and the string literals of the crates: help, messages and headings. It also checks the
//! subjects of new commits.

mod subjects;
mod text;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::workspace::Workspace;
use text::{Block, blocks};

/// The step: fails where a file has more than its count, or a new commit a subject that is not accepted.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let habits = Habits::parse(&read(workspace, HABITS)?)?;
    let listed = parse_counts(&read(workspace, COUNTS).unwrap_or_default())?;
    let bless = std::env::var_os("CWND_BLESS").is_some();
    let mut files = Vec::new();
    walk(&workspace.path(""), "", &mut files).map_err(|error| error.to_string())?;
    files.retain(|file| !habits.skipped.iter().any(|path| file == path || file.starts_with(&format!("{path}/"))));
    files.sort();

    let (mut counts, mut by_habit, mut risen) = (BTreeMap::new(), BTreeMap::new(), 0);
    for file in &files {
        let found = habits.find(&blocks(file, &read(workspace, file)?));
        let most = listed.get(file).copied().unwrap_or(if listed.is_empty() { usize::MAX } else { 0 });
        if found.len() > most && !bless {
            risen += 1;
            println!("{file}: {} habits, {most} accepted", found.len());
            for Found { habit, line } in &found {
                println!("  {file}:{line}: \"{}\": {}", habit.shown, habit.better);
            }
        }
        for Found { habit, .. } in &found {
            *by_habit.entry(habit.shown.as_str()).or_insert(0_usize) += 1;
        }
        counts.insert(file.clone(), found.len().min(most));
    }
    counts.retain(|_, count| *count > 0);
    let total = |counts: &BTreeMap<String, usize>, markdown: bool| -> usize {
        counts.iter().filter(|(file, _)| file.ends_with(".md") == markdown).map(|(_, count)| count).sum()
    };
    println!(
        "{} habits in Markdown, {} in Rust, of {} files",
        total(&counts, true),
        total(&counts, false),
        files.len()
    );
    let mut most: Vec<_> = by_habit.into_iter().collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    println!("{}", most.iter().map(|(habit, count)| format!("{count} {habit}")).collect::<Vec<_>>().join("; "));
    if bless {
        let text: String = counts.iter().map(|(file, count)| format!("{count} {file}\n")).collect();
        return fs::write(workspace.path(COUNTS), text).map_err(|error| format!("{COUNTS}: {error}"));
    }
    if risen > 0 {
        return Err(format!("{risen} files have more habits than {COUNTS} accepts; {HABITS} has the better forms"));
    }
    if counts != listed {
        println!("CWND_BLESS=1 cargo xtask check prose lowers the counts of {COUNTS}");
    }
    subjects::check(workspace)
}

/// The patterns.
const HABITS: &str = "xtask/prose/habits.txt";

/// The most that each file may have; a file that is not listed may have none.
const COUNTS: &str = "xtask/prose/counts.txt";

/// The patterns, and the files that are left out.
#[derive(Default)]
struct Habits {
    counted: Vec<Habit>,
    exceptions: Vec<Habit>,
    skipped: Vec<String>,
}

struct Habit {
    /// The pattern as it is written.
    shown: String,
    /// The better form.
    better: String,
    /// The words in a row, each with its alternatives.
    words: Vec<Vec<String>>,
    /// Counts only where a documentation comment begins.
    first: bool,
}

struct Found<'a> {
    habit: &'a Habit,
    /// The line of its first word, from 1.
    line: usize,
}

impl Habits {
    fn parse(text: &str) -> Result<Self, String> {
        let mut habits = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(path) = line.strip_prefix("skip ") {
                habits.skipped.push(path.trim().to_owned());
                continue;
            }
            let (pattern, better) =
                line.split_once(" -> ").ok_or_else(|| format!("{HABITS}: `{line}` has no ` -> BETTER FORM`"))?;
            let (list, pattern) = match pattern.strip_prefix("except ") {
                Some(pattern) => (&mut habits.exceptions, pattern),
                None => (&mut habits.counted, pattern),
            };
            let first = pattern.starts_with("^ ");
            let words = pattern.trim_start_matches("^ ").split_whitespace();
            let words = words.map(|word| word.split('/').map(str::to_owned).collect()).collect();
            list.push(Habit { shown: pattern.to_owned(), better: better.to_owned(), words, first });
        }
        Ok(habits)
    }

    /// All habits of a file, in the order of their lines.
    fn find(&self, blocks: &[Block]) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        for block in blocks {
            for at in 0..block.words.len() {
                if self.exceptions.iter().any(|habit| habit.at(block, at)) {
                    continue;
                }
                let line = block.words[at].line;
                found
                    .extend(self.counted.iter().filter(|habit| habit.at(block, at)).map(|habit| Found { habit, line }));
            }
        }
        found
    }
}

impl Habit {
    fn at(&self, block: &Block, at: usize) -> bool {
        let rest = &block.words[at..];
        (!self.first || at == 0 && block.documentation)
            && rest.len() >= self.words.len()
            && self.words.iter().zip(rest).all(|(accepted, word)| accepted.contains(&word.text))
    }
}

fn parse_counts(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let line = |line: &str| {
        let (count, file) = line.split_once(' ')?;
        Some((file.to_owned(), count.parse().ok()?))
    };
    text.lines().map(|one| line(one).ok_or_else(|| format!("{COUNTS}: `{one}` is no count and file"))).collect()
}

fn read(workspace: &Workspace, file: &str) -> Result<String, String> {
    fs::read_to_string(workspace.path(file)).map_err(|error| format!("{file}: {error}"))
}

/// The Markdown and Rust files below `directory`, without build output and hidden directories.
pub(crate) fn walk(directory: &Path, name: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(own) = entry.file_name().into_string() else { continue };
        let name = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if entry.file_type()?.is_dir() {
            if !own.starts_with('.') && !["target", "node_modules", "out", "vendor"].contains(&own.as_str()) {
                walk(&entry.path(), &name, files)?;
            }
        } else if own.ends_with(".md") || own.ends_with(".rs") {
            files.push(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<(String, usize)> {
        let habits =
            "beside -> next to\nwhat is/was -> name it\n^ the same -> name it\nexcept what is new -> a heading";
        let habits = Habits::parse(habits).unwrap();
        let blocks = blocks(file, text);
        habits.find(&blocks).into_iter().map(|Found { habit, line }| (habit.shown.clone(), line)).collect()
    }

    #[test]
    fn markdown_is_read_without_code_and_generated_parts() {
        let text = "# What is new\n\nRuns beside\nothers, what\nis left.\n\n```console\nbeside\n```\n`beside`, besides\n\
                    [beside](beside.md)\n<!-- begin a -->\nbeside\n<!-- end a -->\n| Beside |\n";
        let wanted = [("beside", 3), ("what is/was", 4), ("beside", 11), ("beside", 15)];
        assert_eq!(found("a.md", text), wanted.map(|(habit, line)| (habit.to_owned(), line)));
    }

    #[test]
    fn rust_is_read_in_its_comments_and_strings() {
        let text = "/// The same for\n/// it.\nfn beside() {\n    // It is the same.\n    // What\n    // was left.\n    \
                    print(\"one beside \\\n        another, beside\");\n    let quote = '\"'; // beside\n}\n\
                    #[cfg(test)]\nfn f() { print(\"is beside it\") }\n";
        let wanted = [("^ the same", 1), ("what is/was", 5), ("beside", 7), ("beside", 8), ("beside", 9)];
        assert_eq!(found("crates/a/src/b.rs", text), wanted.map(|(habit, line)| (habit.to_owned(), line)));
        assert_eq!(found("crates/a/tests/b.rs", "print(\"is beside it\"); // beside").len(), 1);
    }
}
