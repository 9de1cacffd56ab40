//! Commands in the pages of the documentation.

use std::path::Path;
use std::{fs, io};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Asserts that `C`, the command line of `program`, accepts the commands in the pages of the repository.
///
/// They are the lines of fenced blocks after `$ ` or `# `, and code within the text that begins with `program`, which may leave arguments
/// out. Those with a placeholder, such as `DIR` or `…`, and those with the example of CONTRIBUTING.md, `hybla`, are skipped.
///
/// # Panics
/// The pages cannot be read, have fewer than `least` commands, or have one that is refused.
pub fn accepts_commands_of_pages<C: Parser>(program: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    for (directory, depth) in [("", 0), ("docs", 1), ("evidence", 1), ("papers", 1), ("python", 1)] {
        walk(&root, directory, depth, &mut pages).expect("the pages can be read");
    }
    let (mut seen, mut refused) = (0, Vec::new());
    for page in pages {
        let text = fs::read_to_string(root.join(&page)).expect("a page is text");
        for Code { line, text, is_block } in code(&text) {
            let text = text.replace("cargo run --release -p cwnd-transfer -- ", "udt ");
            let text = text.replace("cargo run --release -- ", "cwnd ");
            let words = words(&text);
            let is_open =
                |word: &String| ["…", "...", "hybla"].iter().any(|part| word.contains(part)) || is_placeholder(word);
            if words.len() < 2 || words[0] != program || words.iter().any(is_open) {
                continue;
            }
            seen += 1;
            if let Err(error) = C::try_parse_from(&words)
                && error.use_stderr()
                && (is_block || !is_incomplete(&error))
            {
                refused.push(format!("{page}:{line}: {text}\n{error}"));
            }
        }
    }
    assert!(seen >= least, "{seen} commands of {program}");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Whether a command only lacks arguments or values.
fn is_incomplete(error: &clap::Error) -> bool {
    let no_value =
        || matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value.is_empty());
    match error.kind() {
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
        ErrorKind::InvalidValue => no_value(),
        _ => false,
    }
}

/// A command of a page.
struct Code {
    /// From 1.
    line: usize,
    text: String,
    is_block: bool,
}

/// The pages in a directory, and those in its directories down to `depth`, by their paths from `root`.
fn walk(root: &Path, directory: &str, depth: usize, pages: &mut Vec<String>) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(directory))? {
        let entry = entry?;
        names.push((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?.is_dir()));
    }
    names.sort();
    for (name, is_directory) in names {
        let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        if is_directory && depth > 0 {
            walk(root, &path, depth - 1, pages)?;
        } else if path.ends_with(".md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Commands of fenced blocks, with the lines that continue them, and code within the text; each with its line from 1.
fn code(text: &str) -> Vec<Code> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(text.lines());
    let (mut prose, mut start) = (String::new(), 1);
    while let Some((line, text)) = lines.next() {
        if !text.trim_start().starts_with("```") {
            if text.is_empty() {
                inline(&prose, start, &mut found);
                (prose, start) = (String::new(), line + 1);
            } else {
                prose.push_str(text);
                prose.push('\n');
            }
            continue;
        }
        inline(&prose, start, &mut found);
        let mut end = line;
        while let Some((line, text)) = lines.next() {
            end = line;
            if text.trim_start().starts_with("```") {
                break;
            }
            let Some(command) = text.strip_prefix("$ ").or_else(|| text.strip_prefix("# ")) else { continue };
            let mut command = command.to_owned();
            while let Some(begun) = command.strip_suffix('\\') {
                let next = lines.next().map_or("", |(_, next)| next.trim());
                command = format!("{begun}{next}");
            }
            found.push(Code { line, text: command, is_block: true });
        }
        (prose, start) = (String::new(), end + 1);
    }
    inline(&prose, start, &mut found);
    found
}

/// The code between backquotes in a paragraph that begins at the line `start`.
fn inline(prose: &str, start: usize, found: &mut Vec<Code>) {
    let mut line = start;
    for (index, part) in prose.split('`').enumerate() {
        if index % 2 == 1 {
            found.push(Code { line, text: part.replace('\n', " "), is_block: false });
        }
        line += part.matches('\n').count();
    }
}

/// The words of a line as a shell splits them, up to a comment, a pipe or a second command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for one in line.chars() {
        match quote {
            Some(open) if one == open => quote = None,
            Some(_) => word.get_or_insert_default().push(one),
            None if one == '\'' || one == '"' => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            None if one == ' ' => words.extend(word.take()),
            None if "#|;&>".contains(one) && word.is_none() => break,
            None if one == ';' => break,
            None => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    words
}

/// Whether a word is a placeholder: `DIR`, `KEY=VALUE`, `[SEED]`.
fn is_placeholder(word: &str) -> bool {
    let mut parts = word.split(['=', ':', '/', '.', '[', ']', '<', '>']).filter(|part| !part.is_empty());
    let is_name = |part: &str| part.chars().all(|one| one.is_ascii_uppercase() || "-_".contains(one));
    parts.any(|part| part.len() > 1 && part.starts_with(|one: char| one.is_ascii_uppercase()) && is_name(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_blocks_and_in_text() {
        let text = "Run `cwnd run\na.toml`.\n\n```console\n$ cwnd compare 'a b' \\\n    --json   # why\nprinted\n# udt meet; ls\n```\n`x`\n";
        let found = code(text);
        let lines: Vec<usize> = found.iter().map(|code| code.line).collect();
        assert_eq!(lines, [1, 5, 8, 10]);
        let split: Vec<Vec<String>> = found.iter().map(|code| words(&code.text)).collect();
        assert_eq!(split[0], ["cwnd", "run", "a.toml"]);
        assert_eq!(split[1], ["cwnd", "compare", "a b", "--json"]);
        assert_eq!(split[2], ["udt", "meet"]);
        assert!(
            is_placeholder("--set=KEY=VALUE")
                && is_placeholder("DIR")
                && !is_placeholder("1GB")
                && !is_placeholder("-C")
        );
    }
}
