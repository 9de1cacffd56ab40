//! The site: the book, the reference of Rust, that of Python, the laboratory, and a page that lists them. No link of it leads nowhere, and no page of it
//! loads anything from another host.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::links::joined;
use crate::packages::{self, Published};
use crate::tool::{MDBOOK, WASM};
use crate::workspace::{Workspace, run};
use crate::{book, engine, python};

/// Writes the site into `directory`, which is made, over the site that an earlier run left there. Pages of papers that lie in its `papers` are
/// listed.
pub(crate) fn write(workspace: &Workspace, directory: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    for tool in [&MDBOOK, &WASM] {
        tool.required(workspace)?;
    }
    fs::create_dir_all(directory).map_err(failed)?;
    let directory = &directory.canonicalize().map_err(failed)?;
    let entries = fs::read_dir(directory).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    if let Some(other) = foreign(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    {
        return Err(format!("{}: it has `{other}`, and is not a site: name a new directory", directory.display()));
    }
    // The first file, by which the next run knows the directory of one that ended early.
    fs::write(directory.join(MARK), STYLE).map_err(failed)?;
    let clear = |part: &str| {
        let part = directory.join(part);
        if part.exists() { fs::remove_dir_all(&part).map_err(failed) } else { Ok(()) }
    };

    clear("book")?;
    let sources = workspace.scratch().join("book");
    book::write(workspace, &sources)?;
    run(Command::new("mdbook").arg("build").arg(&sources).arg("--dest-dir").arg(directory.join("book")))?;

    clear("rust")?;
    let crates = packages::published(workspace)?;
    document(workspace, &crates)?;
    run(Command::new("cp").arg("-R").arg(documentation(workspace).join("doc")).arg(directory.join("rust")))?;

    // Pages of rustdoc lead to one that it writes for the list of all crates, which the first page is.
    fs::write(directory.join("rust/index.html"), BACK).map_err(failed)?;

    clear("python")?;
    if !python::pages(workspace, &directory.join("python"))? {
        println!("no pages of Python: `cargo xtask test python` makes what builds them");
    }

    clear("laboratory")?;
    let module = engine::build(workspace)?;
    // The book has built it.
    let mut laboratory = Command::new(workspace.program("cwnd"));
    run(laboratory.arg("site").arg(directory.join("laboratory")).arg("--engine").arg(module))?;

    let has = |part: &str| directory.join(part).join("index.html").is_file();
    fs::write(directory.join("index.html"), index(&crates, has("python"), has("papers"))).map_err(failed)?;
    let mut site = Site::default();
    site.read(directory, "")?;
    let documented: Vec<String> = crates.iter().map(|one| one.name.replace('-', "_")).collect();
    for (name, page) in &mut site.pages {
        let linked = if name.starts_with("rust/") { without_foreign_items(page, &documented) } else { page.clone() };
        let finished = restricted(&linked).unwrap_or(linked);
        if finished != *page {
            fs::write(directory.join(name), &finished).map_err(failed)?;
            *page = finished;
        }
    }
    let dead = site.dead();
    if !dead.is_empty() {
        return Err(format!("{} links of the site lead nowhere:\n{}", dead.len(), dead.join("\n")));
    }
    println!("wrote {}: {} pages, {} files", directory.display(), site.pages.len(), site.files.len());
    Ok(())
}

/// An entry of a directory that keeps a site from being written there: one that no site has, or, without [`MARK`], one that a run would remove.
fn foreign(mut entries: Vec<String>) -> Option<String> {
    let known: &[&str] = if entries.iter().any(|entry| entry == MARK) { &PARTS } else { &[PAPERS] };
    entries.retain(|entry| !known.contains(&entry.as_str()));
    entries.sort();
    entries.into_iter().next()
}

/// The pages of rustdoc for the published crates alone, without those of other builds.
fn document(workspace: &Workspace, crates: &[Published]) -> Result<(), String> {
    let old = documentation(workspace).join("doc");
    if old.exists() {
        fs::remove_dir_all(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    // rustdoc links to another crate if the directory of its pages exists. Cargo removes that of a crate while it documents it, so one crate is
    // documented at a time.
    for Published { name, .. } in crates {
        let pages = old.join(name.replace('-', "_"));
        fs::create_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
    }
    // Another workspace, since it needs a newer Rust.
    let (quic, own): (Vec<&Published>, Vec<&Published>) = crates.iter().partition(|one| one.name == "cwnd-quic");
    for (manifest, packages) in [("Cargo.toml", own), ("foreign/Cargo.toml", quic)] {
        let mut pages = workspace.cargo(&[
            "doc",
            "--no-deps",
            "--locked",
            "--jobs",
            "1",
            "--manifest-path",
            manifest,
            "--target-dir",
        ]);
        pages.arg(documentation(workspace)).args(packages.iter().flat_map(|one| ["--package", &one.name]));
        pages.args(packages.iter().flat_map(|one| &one.features).flat_map(|feature| ["--features", feature]));
        run(&mut pages)?;
    }
    Ok(())
}

/// Where rustdoc builds them.
fn documentation(workspace: &Workspace) -> PathBuf {
    workspace.scratch().join("site")
}

/// The first page. It has no script, and none may run.
fn index(crates: &[Published], python: bool, papers: bool) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"{STRICT}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>cwnd</title>\n\
         <link rel=\"stylesheet\" href=\"index.css\">\n</head>\n<body>\n<h1>cwnd {}</h1>\n<p>A congestion-control laboratory.</p>\n<ul>\n",
        env!("CARGO_PKG_VERSION")
    );
    let parts = [
        ("laboratory/index.html", "The laboratory", "the simulator in this browser", true),
        ("book/docs/start.html", "First steps", "the first page of the book", true),
        ("book/index.html", "The book", "all pages of the documentation", true),
        ("book/docs/foreign.html", "Other stacks", "tables of quinn, noq, smoltcp and others", true),
        ("book/docs/museum.html", "Published faults", "stacks before and after a repair", true),
        ("papers/index.html", "Papers", "the report of the quick run", papers),
        ("python/index.html", "Python", "tutorials and reference of the package", python),
    ];
    for (target, title, about, _) in parts.iter().filter(|part| part.3) {
        let _ = writeln!(page, "<li><a href=\"{target}\">{title}</a>: {about}</li>");
    }
    page.push_str("</ul>\n<h2>Crates</h2>\n<ul>\n");
    for Published { name, about, .. } in crates {
        let module = name.replace('-', "_");
        let _ = writeln!(page, "<li><a href=\"rust/{module}/index.html\"><code>{name}</code></a>: {about}</li>");
    }
    page.push_str("</ul>\n</body>\n</html>\n");
    page
}

/// The page with a policy, unless it has one: mdBook, rustdoc and Sphinx write scripts and styles into their pages, and those need nothing of another host.
fn restricted(page: &str) -> Option<String> {
    if page.contains("http-equiv=\"Content-Security-Policy\"") {
        return None;
    }
    let at = page.find("<head>")? + "<head>".len();
    let (before, after) = page.split_at(at);
    Some(format!("{before}<meta http-equiv=\"Content-Security-Policy\" content=\"{INLINE}\">{after}"))
}

/// The page of rustdoc with the text alone of links that lead to items of crates without pages here: rustdoc leaves the paths of Rust in them,
/// for example `crate::Span` in methods that a type inherits from a crate of others.
fn without_foreign_items(page: &str, documented: &[String]) -> String {
    let is_foreign = |link: &str| {
        let path = link.split('#').next().unwrap_or_default();
        let first = path.split("::").next().unwrap_or_default();
        let is_item = |one: char| one.is_alphanumeric() || "_:()".contains(one);
        !path.is_empty() && path.chars().all(is_item) && !documented.iter().any(|name| name == first)
    };
    let (mut text, mut rest) = (String::with_capacity(page.len()), page);
    while let Some((before, after)) = rest.split_once("<a href=\"") {
        text.push_str(before);
        let link = after.split('"').next().unwrap_or_default();
        let parts = after.split_once('>').and_then(|(_, behind)| behind.split_once("</a>"));
        match parts.filter(|_| is_foreign(link)) {
            Some((inner, behind)) => {
                text.push_str(inner);
                rest = behind;
            }
            None => {
                text.push_str("<a href=\"");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// The files of a site.
#[derive(Default)]
struct Site {
    files: BTreeSet<String>,
    /// By their path: those that end in `.html`.
    pages: BTreeMap<String, String>,
}

impl Site {
    /// Reads the files below `directory`, which is called `name`.
    fn read(&mut self, directory: &Path, name: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let file = if name.is_empty() { own } else { format!("{name}/{own}") };
            if entry.file_type().map_err(failed)?.is_dir() {
                self.read(&entry.path(), &file)?;
                continue;
            }
            if entry.path().extension() == Some(OsStr::new("html")) {
                self.pages.insert(file.clone(), fs::read_to_string(entry.path()).map_err(failed)?);
            }
            self.files.insert(file);
        }
        Ok(())
    }

    /// The links that lead to no file or heading of the site, each with the page that has it.
    fn dead(&self) -> Vec<String> {
        let names: BTreeMap<&str, BTreeSet<&str>> =
            self.pages.iter().map(|(file, page)| (file.as_str(), attributes(page, &["id", "name"]))).collect();
        let mut dead = Vec::new();
        // The page of missing addresses is shown at any of them.
        for (file, page) in self.pages.iter().filter(|(file, _)| !file.ends_with("404.html")) {
            for link in attributes(page, &["href", "src"]) {
                if !self.lives(file, link, &names) {
                    dead.push(format!("{file}: {link}"));
                }
            }
        }
        dead
    }

    fn lives(&self, file: &str, link: &str, names: &BTreeMap<&str, BTreeSet<&str>>) -> bool {
        if SCHEMES.iter().any(|scheme| link.starts_with(scheme)) {
            return true;
        }
        // rustdoc asks for the implementations in other crates, also where there are none.
        if link.contains("trait.impl/") {
            return true;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split('?').next().unwrap_or_default();
        if path.starts_with('/') {
            return false;
        }
        let mut target = if path.is_empty() { file.to_owned() } else { joined(file, &path.replace("%20", " ")) };
        if !self.files.contains(&target) {
            target = if target.is_empty() { "index.html".to_owned() } else { format!("{target}/index.html") };
        }
        // Lines of sources and scenarios in an address are read by scripts.
        let by_script =
            anchor.is_empty() || anchor.contains('=') || anchor.starts_with(|one: char| one.is_ascii_digit());
        let known = |names: &BTreeSet<&str>| by_script || names.contains(anchor);
        self.files.contains(&target) && names.get(target.as_str()).is_none_or(known)
    }
}

/// The values of attributes within the tags of a page, outside of scripts and styles.
fn attributes<'a>(page: &'a str, wanted: &[&str]) -> BTreeSet<&'a str> {
    let (mut found, mut rest) = (BTreeSet::new(), page);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let raw = [("<script", "</script>"), ("<style", "</style>"), ("<!--", "-->")];
        let ends = raw.iter().find(|(begin, _)| rest.starts_with(begin)).map(|(_, end)| *end);
        let tag = &rest[..tag_length(rest)];
        if !tag.starts_with("<!--") {
            for (name, value) in pairs(tag) {
                if wanted.contains(&name) {
                    found.insert(value);
                }
            }
        }
        let skipped = ends.and_then(|end| rest.find(end)).unwrap_or(0);
        rest = &rest[skipped.max(tag.len())..];
    }
    found
}

/// The bytes of the tag that `text` begins with; a bracket within quotes does not end it.
fn tag_length(text: &str) -> usize {
    let mut quote = None;
    for (at, one) in text.char_indices() {
        match (quote, one) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(one),
            (Some(open), one) if one == open => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// The attributes of a tag that have a value in quotes.
fn pairs(tag: &str) -> Vec<(&str, &str)> {
    let (mut found, mut rest) = (Vec::new(), tag);
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let Some(quote) = after.chars().next().filter(|quote| ['"', '\''].contains(quote)) else {
            rest = after;
            continue;
        };
        let Some((value, behind)) = after[1..].split_once(quote) else { break };
        found.push((name, value));
        rest = behind;
    }
    found
}

/// The style of the first page.
const MARK: &str = "index.css";

/// The pages of papers, which `cwnd paper --out` writes before the site.
const PAPERS: &str = "papers";

/// All that lies directly in a site.
const PARTS: [&str; 7] = [MARK, PAPERS, "book", "index.html", "laboratory", "python", "rust"];

/// What a link to somewhere else begins with.
const SCHEMES: [&str; 6] = ["https://", "http://", "mailto:", "data:", "javascript:", "blob:"];

/// The policy of the first page.
const STRICT: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'";

/// The policy of pages that others write with scripts and styles within.
const INLINE: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; form-action 'self'";

/// A page that leads to the first page.
const BACK: &str = "\
<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta http-equiv=\"refresh\" content=\"0; url=../index.html\">
<title>cwnd</title>
</head>
<body><a href=\"../index.html\">All crates</a></body>
</html>
";

const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
";

#[cfg(test)]
mod tests {
    use super::*;

    fn site(pages: &[(&str, &str)]) -> Site {
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(file, page)| ((*file).to_owned(), (*page).to_owned())).collect();
        Site { files: pages.keys().cloned().chain(["a.css".to_owned()]).collect(), pages }
    }

    #[test]
    fn only_a_site_is_written_over() {
        let found = |entries: &[&str]| foreign(entries.iter().map(|entry| (*entry).to_owned()).collect());
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[PAPERS]), None);
        assert_eq!(found(&PARTS), None);
        assert_eq!(found(&["python"]).as_deref(), Some("python"));
        assert_eq!(found(&["README.md", "python", MARK]).as_deref(), Some("README.md"));
    }

    #[test]
    fn dead_links_are_found_and_live_ones_are_not() {
        let live = "<link href=a><link rel='x' href=\"a.css\"><a title=\"a > b\" href='b/'>b</a><a href=\"b/index.html?q#t\"></a>\
                    <a href=\"https://example.org\"></a><script>\"<a href='no'>\"</script><!-- <a href=\"no\"> --><a href='b/#12-14'></a>";
        assert_eq!(site(&[("i.html", live), ("b/index.html", "<h1 id=\"t\">")]).dead(), Vec::<String>::new());
        let dead = "<a href=\"b/index.html#u\"></a><a href=\"c.html\"></a><a href=\"/a.css\"></a><img src='../a.css'><script src=\"no.js\"></script>";
        let dead = site(&[("i.html", dead), ("b/index.html", "<h1 id=\"t\"><a href=\"../a.css\">")]).dead();
        assert_eq!(dead, ["i.html: /a.css", "i.html: b/index.html#u", "i.html: c.html", "i.html: no.js"]);
    }

    #[test]
    fn links_to_items_of_crates_without_pages_become_text() {
        let page = "<a href=\"crate::Span\" title=\"a\"><code>Span</code></a> <a href=\"dispatcher#default\">d</a> \
                    <a href=\"super::Span::current()\">c</a> <a href=\"cwnd::Spec\">s</a> \
                    <a href=\"a/index.html\">i</a><a href=\"#b\">b</a><a href=\"../a.html#c\">c</a>";
        let expected = "<code>Span</code> d c <a href=\"cwnd::Spec\">s</a> \
                        <a href=\"a/index.html\">i</a><a href=\"#b\">b</a><a href=\"../a.html#c\">c</a>";
        assert_eq!(without_foreign_items(page, &["cwnd".to_owned()]), expected);
    }

    #[test]
    fn a_page_without_a_policy_gets_one_and_the_first_page_runs_nothing() {
        let page = restricted("<html><head><title>a</title></head>").expect("it had none");
        assert!(
            page.contains("<head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"),
            "{page}"
        );
        assert_eq!(restricted(&page), None);
        let first = index(
            &[Published { name: "cwnd-sim".to_owned(), about: "hosts".to_owned(), features: Vec::new() }],
            true,
            false,
        );
        assert_eq!(restricted(&first), None);
        assert!(first.contains("rust/cwnd_sim/index.html") && first.contains("python/") && !first.contains("papers/"));
    }
}
