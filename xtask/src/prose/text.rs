//! The text of a file as blocks of words with their lines.

/// Words in a row that no blank line and no code interrupts.
#[derive(Default)]
pub(super) struct Block {
    /// A documentation comment of Rust.
    pub(super) documentation: bool,
    pub(super) words: Vec<Word>,
}

pub(super) struct Word {
    /// In lower case.
    pub(super) text: String,
    /// From 1.
    pub(super) line: usize,
}

/// The blocks of `file`, whose contents are `text`.
pub(super) fn blocks(file: &str, text: &str) -> Vec<Block> {
    let mut blocks = Blocks::default();
    if file.ends_with(".md") {
        blocks.markdown(text);
    } else {
        blocks.rust(text, file.contains("/src/") && file.starts_with("crates/"));
    }
    blocks.end();
    blocks.done
}

#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    current: Block,
}

impl Blocks {
    fn end(&mut self) {
        let block = std::mem::take(&mut self.current);
        if !block.words.is_empty() {
            self.done.push(block);
        }
    }

    /// Adds the words of a line; code between backquotes counts as a word that no pattern has.
    fn add(&mut self, text: &str, line: usize) {
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 1 {
                self.word("`", line);
                continue;
            }
            let words = part.split(|one: char| !one.is_alphanumeric() && one != '-' && one != '\'');
            words.map(|word| word.trim_matches(['-', '\''])).filter(|word| !word.is_empty()).for_each(|word| {
                self.word(word, line);
            });
        }
    }

    fn word(&mut self, word: &str, line: usize) {
        self.current.words.push(Word { text: word.to_lowercase(), line });
    }

    fn markdown(&mut self, text: &str) {
        let (mut code, mut generated) = (false, false);
        for (line, raw) in (1..).zip(text.lines()) {
            let trimmed = raw.trim_start();
            if trimmed.starts_with("```") {
                code = !code;
            } else if trimmed.starts_with("<!-- begin ") || trimmed.starts_with("<!-- tables of ") {
                generated = true;
            } else if trimmed.starts_with("<!-- end ") {
                generated = false;
            } else if !code && !generated && !trimmed.is_empty() {
                if trimmed.starts_with(['#', '|', '-']) {
                    self.end();
                }
                self.add(&without_targets(trimmed), line);
                continue;
            }
            self.end();
        }
    }

    fn rust(&mut self, text: &str, strings: bool) {
        let mut tests = false;
        // The rest of a string that goes on in the next line.
        let mut open = false;
        for (line, raw) in (1..).zip(text.lines()) {
            tests |= raw.trim_start().starts_with("#[cfg(test)]");
            let (comment, literals) = split(raw, &mut open);
            if strings && !tests {
                for (literal, begins) in &literals {
                    if *begins {
                        self.end();
                    }
                    self.add(literal, line);
                }
                if !literals.is_empty() && !open {
                    self.end();
                }
            }
            let Some(comment) = comment else {
                if literals.is_empty() {
                    self.end();
                }
                continue;
            };
            let documentation = comment.starts_with(['/', '!']);
            let comment = comment.trim_start_matches(['/', '!']).trim();
            if comment.is_empty() {
                self.end();
                continue;
            }
            if self.current.words.is_empty() {
                self.current.documentation = documentation;
            }
            self.add(comment, line);
        }
    }
}

/// Parts a line of Rust: what follows `//`, and its string literals that have a space, each with whether it begins here.
fn split<'a>(line: &'a str, open: &mut bool) -> (Option<&'a str>, Vec<(&'a str, bool)>) {
    let mut literals = Vec::new();
    let (mut from, mut begins) = (0, !*open);
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if *open => at += 1,
            b'"' if *open => {
                *open = false;
                literals.push((&line[from..at], begins));
            }
            b'"' => (*open, from, begins) = (true, at + 1, true),
            b'\'' if !*open => {
                // A character, not a lifetime.
                if bytes.get(at + 1) == Some(&b'\\') && bytes.get(at + 3) == Some(&b'\'') {
                    at += 3;
                } else if bytes.get(at + 2) == Some(&b'\'') {
                    at += 2;
                }
            }
            b'/' if !*open && bytes.get(at + 1) == Some(&b'/') => {
                literals.retain(|(literal, _)| literal.contains(' '));
                return (Some(&line[at + 2..]), literals);
            }
            _ => {}
        }
        at += 1;
    }
    if *open {
        literals.push((line[from..].trim_end_matches('\\'), begins));
    }
    literals.retain(|(literal, begins)| !begins || literal.contains(' '));
    (None, literals)
}

/// A line of Markdown without the targets of its links.
fn without_targets(line: &str) -> String {
    let mut kept = String::new();
    let mut parts = line.split("](");
    kept.extend(parts.next());
    for part in parts {
        kept.push(' ');
        kept.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    kept
}
