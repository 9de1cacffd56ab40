//! The documentation as a book: every page with the generated ones whole, in five parts, as mdBook reads it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::generate::whole_pages;
use crate::links::{TEMPLATE, found, joined};
use crate::prose::walk;
use crate::workspace::Workspace;

/// Writes the book into `directory`, which is made.
pub(crate) fn write(workspace: &Workspace, directory: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    let sources = directory.join("src");
    fs::create_dir_all(&sources).map_err(failed)?;
    let mut files = Vec::new();
    for part in FOLDERS {
        walk(&workspace.path(part), part, &mut files).map_err(failed)?;
    }
    files.extend(ROOT.map(str::to_owned));
    files.retain(|file| file.ends_with(".md") && file != TEMPLATE);
    let linked = linked(workspace, &files).map_err(failed)?;
    files.extend(linked);
    pictures(&workspace.path("docs"), "docs", &mut files).map_err(failed)?;
    for file in &files {
        let to = sources.join(file);
        fs::create_dir_all(to.parent().unwrap_or(&sources)).map_err(failed)?;
        fs::copy(workspace.path(file), to).map_err(failed)?;
    }
    for (path, page) in whole_pages(workspace)? {
        fs::write(sources.join(path), page).map_err(failed)?;
    }
    fs::write(sources.join("SUMMARY.md"), summary()).map_err(failed)?;
    fs::write(directory.join("book.toml"), BOOK).map_err(failed)?;
    println!("wrote {}; `mdbook build {}` makes its pages", directory.display(), directory.display());
    Ok(())
}

/// Other files of the repository that the pages link, such as tests.
fn linked(workspace: &Workspace, pages: &[String]) -> io::Result<BTreeSet<String>> {
    let mut linked = BTreeSet::new();
    for page in pages {
        let text = fs::read_to_string(workspace.path(page))?;
        let targets = found(&text).into_iter().map(|link| joined(page, link.path()));
        linked.extend(targets.filter(|target| !target.ends_with(".md") && workspace.path(target).is_file()));
    }
    Ok(linked)
}

/// The table of contents.
fn summary() -> String {
    let mut text = String::from("# Summary\n\n[cwnd](README.md)\n");
    for (part, pages) in PARTS {
        let _ = write!(text, "\n# {part}\n\n");
        for (title, path) in *pages {
            let _ = writeln!(text, "- [{title}]({path})");
        }
    }
    text
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

const BOOK: &str = "[book]\ntitle = \"cwnd\"\nlanguage = \"en\"\nsrc = \"src\"\n";

/// The parts of the book: titles and paths of their pages.
const PARTS: &[(&str, &[(&str, &str)])] = &[
    (
        "Start",
        &[
            ("First steps", "docs/start.md"),
            ("The live page", "docs/live.md"),
            ("The page as a link", "docs/site.md"),
            ("Scenarios", "docs/scenarios.md"),
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
            ("Conformance", "docs/conform.md"),
            ("BBR", "docs/bbr.md"),
            ("Other stacks", "docs/foreign.md"),
            ("Drafts of reports", "docs/upstream/README.md"),
            ("Delayed acknowledgements", "docs/held-acks.md"),
            ("Traces", "docs/traces.md"),
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
            ("Against ns-2", "evidence/ns2/README.md"),
            ("Against Linux", "evidence/linux/README.md"),
            ("Against the response functions", "evidence/model/README.md"),
        ],
    ),
    (
        "Internals",
        &[
            ("Architecture", "ARCHITECTURE.md"),
            ("Contributing", "CONTRIBUTING.md"),
            ("Performance", "docs/performance.md"),
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
        let mut pages = Vec::new();
        walk(&workspace.path("docs"), "docs", &mut pages).unwrap();
        pages.retain(|page| page.ends_with(".md") && !page.starts_with("docs/upstream/"));
        pages.extend(ROOT.map(str::to_owned));
        let summary = summary();
        let missing: Vec<_> = pages.iter().filter(|page| !summary.contains(&format!("({page})"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let listed = PARTS.iter().flat_map(|(_, pages)| *pages);
        let lost: Vec<_> = listed.filter(|(_, page)| !workspace.path(page).exists()).collect();
        assert!(lost.is_empty(), "{lost:?}");
        let copied = |page: &str| ROOT.contains(&page) || FOLDERS.iter().any(|folder| page.starts_with(folder));
        let left: Vec<_> = PARTS.iter().flat_map(|(_, pages)| *pages).filter(|(_, page)| !copied(page)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(FOLDERS.iter().all(|folder| workspace.path(folder).is_dir()));
    }
}
