//! The documentation as a book: every page with the generated ones whole, in five parts, as mdBook reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::generate::whole_pages;
use crate::links::{Link, TEMPLATE, anchors, found, joined};
use crate::prose::walk;
use crate::workspace::Workspace;

/// Writes the book into `directory`, which is made, and checks the links within it.
pub(crate) fn write(workspace: &Workspace, directory: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    let sources = directory.join("src");
    fs::create_dir_all(&sources).map_err(failed)?;
    let mut pages = pages(workspace).map_err(failed)?;
    pages.extend(whole_pages(workspace)?.into_iter().map(|(path, page)| (path.to_owned(), page)));
    let book = Book::new(pages);
    let mut files = Vec::new();
    pictures(&workspace.path("docs"), "docs", &mut files).map_err(failed)?;
    let mut files: BTreeSet<String> = files.into_iter().collect();
    files.extend(book.linked(|file| workspace.path(file).is_file()));
    for file in &files {
        let to = sources.join(file);
        fs::create_dir_all(to.parent().unwrap_or(&sources)).map_err(failed)?;
        fs::copy(workspace.path(file), to).map_err(failed)?;
    }
    let written = book.written(&files);
    for (path, page) in &written {
        let to = sources.join(path);
        fs::create_dir_all(to.parent().unwrap_or(&sources)).map_err(failed)?;
        fs::write(to, page).map_err(failed)?;
    }
    fs::write(sources.join("SUMMARY.md"), book.summary()).map_err(failed)?;
    fs::write(directory.join("book.toml"), BOOK).map_err(failed)?;
    fs::write(directory.join("wide.css"), WIDE).map_err(failed)?;
    let dead = dead(&written, &files);
    if !dead.is_empty() {
        return Err(format!("links of the book lead nowhere:\n{}", dead.join("\n")));
    }
    println!("wrote {}; `mdbook build {}` makes its pages", directory.display(), directory.display());
    Ok(())
}

/// The pages of the repository that a book may have, without the directives of Sphinx.
fn pages(workspace: &Workspace) -> io::Result<BTreeMap<String, String>> {
    let mut files = Vec::new();
    for part in FOLDERS {
        walk(&workspace.path(part), part, &mut files)?;
    }
    files.extend(ROOT.map(str::to_owned));
    files.retain(|file| file.ends_with(".md") && file != TEMPLATE);
    let read = |file: String| Ok((file.clone(), without_directives(&fs::read_to_string(workspace.path(&file))?)));
    files.into_iter().map(read).collect()
}

/// A page without its blocks that only Sphinx understands.
fn without_directives(page: &str) -> String {
    let (mut kept, mut directive) = (String::new(), false);
    for line in page.lines() {
        let ends = directive && line.starts_with("```");
        directive = (directive && !ends) || line.starts_with("```{");
        if !directive && !ends {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The pages of the book, with those that they link below them.
struct Book {
    pages: BTreeMap<String, String>,
    /// By the path of a page of [`PARTS`]: the pages that the table of contents has below it.
    below: BTreeMap<&'static str, Vec<String>>,
}

impl Book {
    /// The pages of [`PARTS`], and all those of `pages` that can be reached from them.
    fn new(mut pages: BTreeMap<String, String>) -> Self {
        let listed: Vec<&'static str> = PARTS.iter().flat_map(|(_, pages)| *pages).map(|(_, path)| *path).collect();
        let mut reached: BTreeSet<String> = listed.iter().map(|path| (*path).to_owned()).collect();
        reached.insert(FIRST.to_owned());
        let mut below: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for path in listed {
            let mut next = vec![path.to_owned()];
            while let Some(page) = next.pop() {
                for link in found(pages.get(&page).map_or("", String::as_str)) {
                    let target = joined(&page, link.path());
                    if pages.contains_key(&target) && reached.insert(target.clone()) {
                        below.entry(path).or_default().push(target.clone());
                        next.push(target);
                    }
                }
            }
        }
        pages.retain(|path, _| reached.contains(path));
        Self { pages, below }
    }

    /// What the pages link besides pages: those for which `is_file` holds.
    fn linked(&self, is_file: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let targets = self.pages.iter().flat_map(|(page, text)| {
            found(text).into_iter().map(move |link| joined(page, link.path())).collect::<Vec<_>>()
        });
        targets.filter(|target| !target.ends_with(".md") && is_file(target)).collect()
    }

    /// The pages; a link to something that the book does not have, such as a directory, is plain text.
    fn written(&self, files: &BTreeSet<String>) -> BTreeMap<String, String> {
        let write = |(page, text): (&String, &String)| {
            let leads_out = |link: &Link| {
                let target = joined(page, link.path());
                !link.path().is_empty() && !self.pages.contains_key(&target) && !files.contains(&target)
            };
            let out: Vec<Link> = found(text).into_iter().filter(leads_out).collect();
            let text = out.iter().fold(text.clone(), |text, link| without_link(&text, link.target()));
            (page.clone(), text)
        };
        self.pages.iter().map(write).collect()
    }

    /// The table of contents.
    fn summary(&self) -> String {
        let mut text = format!("# Summary\n\n[cwnd]({FIRST})\n");
        for (part, pages) in PARTS {
            let _ = write!(text, "\n# {part}\n\n");
            for (title, path) in *pages {
                let _ = writeln!(text, "- [{title}]({path})");
                for below in self.below.get(path).into_iter().flatten() {
                    let title = self.pages[below].lines().find_map(|line| line.strip_prefix("# "));
                    let _ = writeln!(text, "  - [{}]({below})", title.unwrap_or(below).replace(['[', ']', '`'], ""));
                }
            }
        }
        text
    }
}

/// `text` where links to `target` are plain text.
fn without_link(text: &str, target: &str) -> String {
    let mut text = text.to_owned();
    let end = format!("]({target})");
    while let Some(at) = text.find(&end) {
        text.replace_range(at..at + end.len(), "");
        if let Some(begin) = text[..at].rfind('[') {
            text.remove(begin);
        }
    }
    text
}

/// The links between pages that lead to no page, file or heading of the book.
fn dead(pages: &BTreeMap<String, String>, files: &BTreeSet<String>) -> Vec<String> {
    let mut dead = Vec::new();
    for (page, text) in pages {
        for link in found(text) {
            let target = if link.path().is_empty() { page.clone() } else { joined(page, link.path()) };
            let anchor = link.target().split_once('#').map_or("", |(_, anchor)| anchor);
            let lives = match pages.get(&target) {
                Some(text) => anchor.is_empty() || anchors(text).iter().any(|known| known == anchor),
                None => files.contains(&target),
            };
            if !lives {
                dead.push(format!("{page}: {}", link.target()));
            }
        }
    }
    dead
}

/// The pictures of the pages.
fn pictures(directory: &Path, name: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            pictures(&entry.path(), &name, files)?;
        } else if [".png", ".webp", ".svg"].iter().any(|ending| name.ends_with(ending)) {
            files.push(name);
        }
    }
    Ok(())
}

/// Directories with pages.
const FOLDERS: [&str; 4] = ["docs", "papers", "evidence", "python"];

/// Pages at the root of the repository.
const ROOT: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LIMITATIONS.md", "SECURITY.md"];

/// The page before the parts, which mdBook also shows at the root.
const FIRST: &str = "README.md";

// The default preprocessors rename README.md to index.md, and leave the links to it as they are.
const BOOK: &str = "\
[book]
title = \"cwnd\"
language = \"en\"
src = \"src\"

[build]
use-default-preprocessors = false

[output.html]
additional-css = [\"wide.css\"]

[output.html.search]
enable = true
";

/// Room for the 100 columns of a terminal.
const WIDE: &str = ":root { --content-max-width: 920px; }\n";

/// The parts of the book: titles and paths of their pages.
const PARTS: &[(&str, &[(&str, &str)])] = &[
    (
        "Start",
        &[
            ("First steps", "docs/start.md"),
            ("The live page", "docs/live.md"),
            ("The page as a link", "docs/site.md"),
            ("Scenarios", "docs/scenarios.md"),
            ("Access networks", "docs/access.md"),
            ("Queues", "docs/notation.md"),
            ("Limitations", "LIMITATIONS.md"),
            ("The Python package", "python/docs/index.md"),
        ],
    ),
    (
        "Laboratory",
        &[
            ("Algorithms", "docs/algorithms.md"),
            ("Models", "docs/model.md"),
            ("Sweeps", "docs/sweeps.md"),
            ("Clusters", "docs/cluster.md"),
            ("Evaluation by RFC 9743", "docs/evaluate.md"),
            ("Searching for counterexamples", "docs/falsify.md"),
            ("Counterexamples of all algorithms", "docs/counterexamples.md"),
            ("Conformance", "docs/conform.md"),
            ("BBR", "docs/bbr.md"),
            ("Windows that are not used", "docs/ratelimited.md"),
            ("L4S", "docs/l4s.md"),
            ("Other stacks", "docs/foreign.md"),
            ("Published faults", "docs/museum.md"),
            ("Drafts of reports", "docs/upstream/README.md"),
            ("Traces", "docs/traces.md"),
            ("Reference traces", "docs/references.md"),
            ("Questions to the drafts", "docs/questions.md"),
            ("Figures", "docs/figures.md"),
            ("JSON", "docs/json.md"),
        ],
    ),
    (
        "Transfer",
        &[("Moving files", "docs/files.md"), ("UDT on real sockets", "docs/udt.md"), ("Security", "SECURITY.md")],
    ),
    (
        "Evidence",
        &[
            ("Papers", "docs/papers.md"),
            ("The papers crossed", "docs/cross.md"),
            ("Errata of the papers", "docs/errata.md"),
            ("Validation", "docs/validation.md"),
            ("Against ns-3", "evidence/ns3/README.md"),
            ("Results: ns-3", "evidence/ns3/results.md"),
            ("Against ns-2", "evidence/ns2/README.md"),
            ("Results: ns-2", "evidence/ns2/results.md"),
            ("Against Linux", "evidence/linux/README.md"),
            ("Results: Linux", "evidence/linux/results.md"),
            ("Against the response functions", "evidence/model/README.md"),
            ("Results: response functions", "evidence/model/results.md"),
            ("Conformance of other stacks", "evidence/stacks/results.md"),
        ],
    ),
    (
        "Internals",
        &[
            ("Architecture", "ARCHITECTURE.md"),
            ("Contributing", "CONTRIBUTING.md"),
            ("Performance", "docs/performance.md"),
            ("Releases", "docs/releases.md"),
            ("Changes", "CHANGELOG.md"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_documentation_is_in_the_book() {
        let workspace = Workspace::here();
        let book = Book::new(pages(&workspace).unwrap());
        let mut wanted = Vec::new();
        walk(&workspace.path("docs"), "docs", &mut wanted).unwrap();
        wanted.retain(|page| page.ends_with(".md"));
        wanted.extend(ROOT.map(str::to_owned));
        let summary = book.summary();
        let missing: Vec<_> = wanted.iter().filter(|page| !summary.contains(&format!("({page})"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let listed = PARTS.iter().flat_map(|(_, pages)| *pages);
        let lost: Vec<_> = listed.filter(|(_, page)| !workspace.path(page).exists()).collect();
        assert!(lost.is_empty(), "{lost:?}");
        let copied = |page: &str| ROOT.contains(&page) || FOLDERS.iter().any(|directory| page.starts_with(directory));
        let left: Vec<_> = PARTS.iter().flat_map(|(_, pages)| *pages).filter(|(_, page)| !copied(page)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(FOLDERS.iter().all(|directory| workspace.path(directory).is_dir()));
    }

    /// The pages of the repository, of which the generated ones have no sections that others could link.
    #[test]
    fn no_link_of_the_book_is_dead() {
        let workspace = Workspace::here();
        let book = Book::new(pages(&workspace).unwrap());
        let mut files = Vec::new();
        pictures(&workspace.path("docs"), "docs", &mut files).unwrap();
        let mut files: BTreeSet<String> = files.into_iter().collect();
        files.extend(book.linked(|file| workspace.path(file).is_file()));
        let written = book.written(&files);
        assert_eq!(dead(&written, &files), Vec::<String>::new());
        let one = |text: &str| BTreeMap::from([("a/b.md".to_owned(), text.to_owned())]);
        assert_eq!(dead(&one("# T\n[x](#t) [y](c.md) [z](b.md#u)\n"), &files), ["a/b.md: c.md", "a/b.md: b.md#u"]);
    }

    #[test]
    fn directives_and_links_out_of_the_book_are_plain() {
        assert_eq!(without_directives("a\n```{toctree}\nb\n```\n```sh\nc\n```\n"), "a\n```sh\nc\n```\n");
        assert_eq!(without_link("[`a`](../x) and [b](y)", "../x"), "`a` and [b](y)");
    }
}
