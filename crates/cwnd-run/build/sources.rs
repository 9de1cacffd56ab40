//! A hash of what decides the numbers of a run: the code of some crates, the packages they use, and the compiler.
//!
//! Code is hashed as tokens, so that comments, formatting and tests do not count. Modules are followed from `lib.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// A workspace: a directory with `Cargo.toml`, `Cargo.lock`, and `crates/NAME` for every crate.
pub(crate) struct Workspace<'a> {
    /// The directory.
    pub root: &'a Path,
    /// The crates that decide results.
    pub crates: &'a [&'a str],
}

impl Workspace<'_> {
    /// The hash. `toolchain` is the compiler's version, the target, and the enabled features. None if a crate or the lock file is not
    /// there: a package from a registry lies in a directory of others, which may have a lock file for something else.
    ///
    /// # Errors
    /// A file cannot be read, or is not Rust.
    pub(crate) fn hash(&self, toolchain: &[String]) -> io::Result<Option<String>> {
        let whole = self.crates.iter().all(|name| self.root.join("crates").join(name).join("Cargo.toml").is_file());
        let lock = match fs::read_to_string(self.root.join("Cargo.lock")) {
            Ok(lock) if whole => lock,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(None),
        };
        let mut hasher = Parts(blake3::Hasher::new());
        toolchain.iter().for_each(|part| hasher.add(part));
        let mut used = BTreeSet::new();
        for name in self.crates {
            let directory = self.root.join("crates").join(name);
            let manifest = fs::read_to_string(directory.join("Cargo.toml"))?;
            let tables = ["[dependencies]", "[features]"].map(|table| table_of(&manifest, table));
            tables.iter().flatten().for_each(|line| hasher.add(line));
            used.extend(tables[0].iter().map(|line| key_of(line).to_string()));
            let mut tokens = Tokens { text: String::new() };
            tokens.file(&directory.join("src/lib.rs"), &directory.join("src"))?;
            hasher.add(name);
            hasher.add(&tokens.text);
        }
        // The versions and features that the crates inherit from the workspace.
        let workspace = fs::read_to_string(self.root.join("Cargo.toml"))?;
        let inherited = table_of(&workspace, "[workspace.dependencies]");
        inherited.iter().filter(|line| used.contains(key_of(line))).for_each(|line| hasher.add(line));
        locked(&lock, used).into_iter().for_each(|package| hasher.add(package));
        Ok(Some(hasher.0.finalize().to_hex().to_string()))
    }
}

/// The hash of a package without a workspace: of its code below `src`, and of its version, which is that of the other crates, too.
///
/// # Errors
/// As [`Workspace::hash`] says.
pub(crate) fn packed(src: &Path, version: &str, toolchain: &[String]) -> io::Result<String> {
    let mut hasher = Parts(blake3::Hasher::new());
    toolchain.iter().for_each(|part| hasher.add(part));
    hasher.add(version);
    let mut tokens = Tokens { text: String::new() };
    tokens.file(&src.join("lib.rs"), src)?;
    hasher.add(&tokens.text);
    Ok(hasher.0.finalize().to_hex().to_string())
}

struct Parts(blake3::Hasher);

impl Parts {
    fn add(&mut self, part: &str) {
        // The length in front keeps two parts apart from one.
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part.as_bytes());
    }
}

/// The code of a crate as text: a line per token.
struct Tokens {
    text: String,
}

impl Tokens {
    /// Adds a file whose modules lie in `directory`.
    fn file(&mut self, path: &Path, directory: &Path) -> io::Result<()> {
        let wrong = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", path.display()));
        let content = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let tokens: TokenStream = content.parse().map_err(|error| wrong(&error))?;
        self.stream(tokens, directory)
    }

    fn stream(&mut self, tokens: TokenStream, directory: &Path) -> io::Result<()> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some((length, attribute)) = attribute(&tokens[at..]) {
                match attribute {
                    Attribute::Doc => at += length,
                    Attribute::Test => at += length + item(&tokens[at + length..]),
                    Attribute::Other => {
                        tokens[at..at + length].iter().try_for_each(|token| self.token(token, directory))?;
                        at += length;
                    }
                }
                continue;
            }
            self.token(&tokens[at], directory)?;
            if let [TokenTree::Ident(word), TokenTree::Ident(name), body, ..] = &tokens[at..]
                && word == "mod"
            {
                let directory = directory.join(name.to_string());
                self.token(&tokens[at + 1], &directory)?;
                match body {
                    TokenTree::Punct(end) if end.as_char() == ';' => self.module(&directory)?,
                    body => self.token(body, &directory)?,
                }
                at += 2;
            }
            at += 1;
        }
        Ok(())
    }

    /// Adds the file of a module whose own modules lie in `directory`.
    fn module(&mut self, directory: &Path) -> io::Result<()> {
        let beside = directory.with_extension("rs");
        let path: PathBuf = if beside.exists() { beside } else { directory.join("mod.rs") };
        self.file(&path, directory)
    }

    fn token(&mut self, token: &TokenTree, directory: &Path) -> io::Result<()> {
        match token {
            TokenTree::Group(group) => self.group(group, directory)?,
            TokenTree::Ident(ident) => self.line(&ident.to_string()),
            TokenTree::Literal(literal) => self.line(&literal.to_string()),
            TokenTree::Punct(punct) => {
                // `& &` is not `&&`.
                let joint = if punct.spacing() == Spacing::Joint { "+" } else { "" };
                self.line(&format!("{}{joint}", punct.as_char()));
            }
        }
        Ok(())
    }

    fn group(&mut self, group: &Group, directory: &Path) -> io::Result<()> {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        self.line(open);
        self.stream(group.stream(), directory)?;
        self.line(close);
        Ok(())
    }

    fn line(&mut self, token: &str) {
        self.text.push_str(token);
        self.text.push('\n');
    }
}

enum Attribute {
    Doc,
    /// Its item is there in tests only.
    Test,
    Other,
}

/// The attribute at the start of `tokens`, and how many of them it is.
fn attribute(tokens: &[TokenTree]) -> Option<(usize, Attribute)> {
    let is = |token: Option<&TokenTree>, char| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == char);
    let length = if is(tokens.get(1), '!') { 3 } else { 2 };
    let Some(TokenTree::Group(group)) = tokens.get(length - 1).filter(|_| is(tokens.first(), '#')) else { return None };
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
    let attribute = match inside.as_slice() {
        [TokenTree::Ident(name), ..] if name == "doc" => Attribute::Doc,
        [TokenTree::Ident(name), TokenTree::Group(predicate)] if name == "cfg" && off(predicate.stream()) => {
            Attribute::Test
        }
        _ => Attribute::Other,
    };
    Some((length, attribute))
}

/// Whether a predicate of `cfg` holds in tests only. The feature `testing` is what crates offer to the tests of others.
fn off(predicate: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = predicate.into_iter().collect();
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let parts = |group: &Group| -> Vec<TokenStream> {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let parts = tokens.split(comma).filter(|part| !part.is_empty());
        parts.map(|part| part.iter().cloned().collect()).collect()
    };
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), _, TokenTree::Literal(value)] => {
            name == "feature" && value.to_string() == "\"testing\""
        }
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "any" => parts(group).into_iter().all(off),
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "all" => parts(group).into_iter().any(off),
        _ => false,
    }
}

/// How many of `tokens` are the item they begin with. Tokens outside of items, such as fields or statements, count.
fn item(tokens: &[TokenTree]) -> usize {
    let mut at = 0;
    while let Some((length, _)) = attribute(&tokens[at..]) {
        at += length;
    }
    let word = |token: &TokenTree| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    };
    // `pub(crate)` has a group.
    let after = tokens[at..]
        .iter()
        .filter(|token| !matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis));
    let words: Vec<String> =
        after.map_while(word).filter(|word| !["pub", "unsafe", "async"].contains(&word.as_str())).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let until_semicolon = match words.as_slice() {
        ["const", "fn", ..] | ["mod" | "fn" | "impl" | "struct" | "enum" | "trait" | "macro_rules", ..] => false,
        ["extern", "crate", ..] | ["use" | "const" | "static" | "type", ..] => true,
        _ => return 0,
    };
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => !until_semicolon && group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens[at..].iter().position(ends).map_or(0, |end| at + end + 1)
}

/// The lines of a table of a manifest, without comments and empty ones.
fn table_of<'a>(manifest: &'a str, table: &str) -> Vec<&'a str> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != table).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// The name of the dependency in a line of a manifest.
fn key_of(line: &str) -> &str {
    line.split(['.', '=', ' ']).next().unwrap_or_default()
}

/// The entries of a lock file that the packages called `names` and those they use have, with version and checksum.
fn locked(lock: &str, names: BTreeSet<String>) -> BTreeSet<&str> {
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).map(str::trim).collect();
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = names.into_iter().collect();
    while let Some(wanted) = open.pop() {
        // "name", or "name version" where there are several versions.
        let mut wanted = wanted.split(' ');
        let (name, version) = (wanted.next(), wanted.next());
        for package in &packages {
            let is = field(package, "name") == name && (version.is_none() || field(package, "version") == version);
            // A package of the workspace is what its sources are.
            if is && field(package, "source").is_some() && found.insert(*package) {
                let list = package.split_once("dependencies = [").map_or("", |(_, list)| list);
                open.extend(list.lines().map(|line| line.trim().trim_matches([',', '"', ']']).to_string()));
            }
        }
    }
    found
}

/// A field of a package in a lock file.
fn field<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"');
    package.lines().find_map(of_line)
}
