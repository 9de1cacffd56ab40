//! The step `links`: links of Markdown lead to files, headings and tests that exist. Those of pages that leave the repository are absolute.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::packages;
use crate::prose::walk;
use crate::workspace::Workspace;

/// Fails where a relative link leads nowhere, or where a test that a page names does not exist.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let mut files = Vec::new();
    walk(&workspace.path(""), "", &mut files).map_err(|error| error.to_string())?;
    let mut pages = Pages { workspace, texts: BTreeMap::new() };
    let (mut wrong, mut links, mut tests) = (0, 0, 0);
    for file in files.iter().filter(|file| file.ends_with(".md")) {
        let text = pages.text(file).unwrap_or_default();
        for link in found(&text) {
            links += 1;
            tests += usize::from(link.names_a_test());
            if let Err(reason) = pages.resolve(file, &link) {
                wrong += 1;
                println!("{file}:{}: {reason}", link.line);
            }
        }
    }
    for line in unproven(&pages.text(PROMISES).unwrap_or_default()) {
        wrong += 1;
        println!("{PROMISES}:{line}: a promise without a link to its test");
    }
    let address = address(workspace)?;
    let mut shipped = packages::readmes(workspace)?;
    shipped.push("python/README.md".to_owned());
    for file in shipped {
        let text = pages.text(&file).unwrap_or_default();
        for reason in faults(&text, &address, |path| workspace.path(path).exists()) {
            wrong += 1;
            println!("{file}: {reason}");
        }
    }
    println!("{links} links, {tests} of them to tests");
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} links lead nowhere")) }
}

/// The text of a page that lies elsewhere, and whose links are those of the page.
pub(crate) const TEMPLATE: &str = "papers/page.md";

/// The page of [`TEMPLATE`].
const PAGE: &str = "docs/papers.md";

/// The page whose promises each have a test.
const PROMISES: &str = "SECURITY.md";

/// The address of the repository, which has its home in `Cargo.toml`.
pub(crate) fn address(workspace: &Workspace) -> Result<String, String> {
    let manifest = fs::read_to_string(workspace.path("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
    let address = manifest.lines().find_map(|line| line.strip_prefix("repository = \"")?.strip_suffix('"'));
    address.map(str::to_owned).ok_or_else(|| "Cargo.toml has no address of the repository".to_owned())
}

/// The page `file` with absolute links: to the files of `revision` in the repository at `address`.
pub(crate) fn absolute(file: &str, text: &str, address: &str, revision: &str) -> String {
    let mut targets: Vec<String> = found(text).into_iter().map(|link| link.target).collect();
    targets.retain(|target| !target.starts_with('#'));
    targets.sort();
    targets.dedup();
    targets.iter().fold(text.to_owned(), |text, target| {
        let (path, anchor) = target.find('#').map_or((target.as_str(), ""), |at| target.split_at(at));
        let whole = format!("{address}/blob/{revision}/{}{anchor}", joined(file, path));
        let text = text.replace(&format!("]({target})"), &format!("]({whole})"));
        text.replace(&format!("]: {target}\n"), &format!("]: {whole}\n"))
    })
}

/// Why the links of a page are wrong that a registry shows: it has no other file, and the address is a placeholder until there is one.
fn faults(text: &str, address: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    for link in found(text) {
        faults.push(format!("`{}` leads nowhere outside of the repository", link.target));
    }
    for (_, after) in text.match_indices("](").map(|(at, _)| text.split_at(at + 2)) {
        let target = after.split(')').next().unwrap_or_default();
        let path = target.strip_prefix(address).and_then(|rest| rest.strip_prefix("/blob/main/"));
        let path = path.map(|path| path.split('#').next().unwrap_or_default());
        if path.is_some_and(|path| !exists(path)) {
            faults.push(format!("`{target}` is no file of the repository"));
        } else if !target.starts_with(address) && (target.contains("/blob/") || target.starts_with(PLACEHOLDER)) {
            faults.push(format!("`{target}` is not at the address of the repository, {address}"));
        }
    }
    faults
}

/// What the address of the repository begins with as long as it has none.
pub(crate) const PLACEHOLDER: &str = "https://example.org/";

/// The lines of tables with a column for tests that link none.
fn unproven(page: &str) -> Vec<usize> {
    let proven: BTreeSet<usize> = found(page).iter().filter(|link| link.names_a_test()).map(|link| link.line).collect();
    let (mut promises, mut unproven) = (false, Vec::new());
    for (line, text) in (1..).zip(page.lines()) {
        if !text.starts_with('|') {
            promises = false;
        } else if text.ends_with("| test |") {
            promises = true;
        } else if promises && !text.starts_with("| ---") && !proven.contains(&line) {
            unproven.push(line);
        }
    }
    unproven
}

/// A link within the repository.
pub(crate) struct Link {
    text: String,
    target: String,
    /// From 1.
    line: usize,
}

impl Link {
    /// The target as written, or as the name of a reference link defines it.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The target without the heading.
    pub(crate) fn path(&self) -> &str {
        self.target.split('#').next().unwrap_or_default()
    }

    /// The text is the name of a function between backquotes, and the target a file of Rust.
    fn names_a_test(&self) -> bool {
        self.target.ends_with(".rs")
            && self.text.starts_with('`')
            && self.text.contains('_')
            && !self.text.contains('.')
    }
}

/// The relative links of a page, outside of code.
pub(crate) fn found(text: &str) -> Vec<Link> {
    let named = named(text);
    let (mut links, mut code) = (Vec::new(), false);
    for (line, raw) in (1..).zip(text.lines()) {
        if raw.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        let raw = named.iter().fold(raw.to_owned(), |raw, (name, target)| raw.replace(name, target));
        let (mut rest, mut quotes) = (raw.as_str(), 0);
        while let Some((before, after)) = rest.split_once("](") {
            let Some((target, behind)) = after.split_once(')') else { break };
            rest = behind;
            // A bracket within code is no link.
            quotes += before.matches('`').count();
            let quoted = quotes % 2 == 1;
            let outside = target.contains("://") || target.starts_with("mailto:") || target.contains(' ');
            if !quoted && !outside {
                let from = before.rfind('[').map_or(0, |at| at + 1);
                links.push(Link { text: before[from..].to_owned(), target: target.to_owned(), line });
            }
        }
    }
    links
}

/// The ends of reference links, `][name]`, and those of the links that they stand for: of the lines `[name]: target`.
fn named(text: &str) -> Vec<(String, String)> {
    let definitions = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
    definitions.map(|(name, target)| (format!("][{name}]"), format!("]({})", target.trim()))).collect()
}

struct Pages<'a> {
    workspace: &'a Workspace,
    texts: BTreeMap<String, String>,
}

impl Pages<'_> {
    fn text(&mut self, file: &str) -> Option<String> {
        if !self.texts.contains_key(file) {
            let text = fs::read_to_string(self.workspace.path(file)).ok()?;
            self.texts.insert(file.to_owned(), text);
        }
        self.texts.get(file).cloned()
    }

    fn resolve(&mut self, from: &str, link: &Link) -> Result<(), String> {
        let (path, anchor) = (link.path(), link.target.split_once('#').map_or("", |(_, anchor)| anchor));
        let beside = if from == TEMPLATE { PAGE } else { from };
        let file = if path.is_empty() { from.to_owned() } else { joined(beside, path) };
        if !self.workspace.path(&file).exists() {
            return Err(format!("no file `{file}`"));
        }
        if link.names_a_test() {
            let name = link.text.trim_matches('`');
            let text = self.text(&file).unwrap_or_default();
            if !text.contains(&format!("fn {name}(")) {
                return Err(format!("`{file}` has no function `{name}`"));
            }
        }
        if anchor.is_empty() || !file.ends_with(".md") {
            return Ok(());
        }
        let text = self.text(&file).unwrap_or_default();
        if anchors(&text).iter().any(|known| known == anchor) {
            Ok(())
        } else {
            Err(format!("`{file}` has no heading `{anchor}`"))
        }
    }
}

/// The path that `relative` means in the file `from`.
pub(crate) fn joined(from: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of the headings of a page, as GitHub makes them.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let (mut anchors, mut code): (Vec<String>, bool) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        }
        if code || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|one| one.is_alphanumeric() || [' ', '-', '_'].contains(one));
        let anchor: String = kept.map(|one| if one == ' ' { '-' } else { one }).collect();
        let copies = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if copies == 0 { anchor } else { format!("{anchor}-{copies}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_outside_of_code() {
        let text =
            "`[no](x)` [a](b.md#c), `[no](x)` and\n```\n[no](x)\n```\n[`fn_name`](d.rs) [web](https://e.org/f)\n";
        let links: Vec<_> = found(text).into_iter().map(|link| (link.target.clone(), link.names_a_test())).collect();
        assert_eq!(links, [("b.md#c".to_owned(), false), ("d.rs".to_owned(), true)]);
        let named = found("[`fn_name`][d] and `[no][d]`\n\n[d]: a/d.rs\n");
        assert_eq!(named.len(), 1);
        assert!(named[0].names_a_test() && named[0].path() == "a/d.rs");
    }

    #[test]
    fn a_page_that_leaves_the_repository_has_absolute_links() {
        let address = "https://example.org/cwnd";
        let wrong = |text: &str| faults(text, address, |path| path == "a.md").len();
        for right in [
            "[a](https://example.org/cwnd)",
            "[a](https://example.org/cwnd/blob/main/a.md#b)",
            "[a](https://docs.rs/cwnd)",
            "`[a](a.md)`",
        ] {
            assert_eq!(wrong(right), 0, "{right}");
        }
        for other in [
            "[a](a.md)",
            "[a][b]\n\n[b]: a.md\n",
            "[a](https://example.org/cwnd/blob/main/b.md)",
            "[a](https://example.org/other)",
            "[a](https://git.test/cwnd/blob/main/a.md)",
        ] {
            assert_eq!(wrong(other), 1, "{other}");
        }
    }

    #[test]
    fn relative_links_become_absolute() {
        let text = "[a](a.md#b) [b](#c) [web](https://e.org) `[no](x.md)` [d][e]\n\n[e]: ../f.md\n";
        let expected =
            "[a](h/blob/v1/docs/a.md#b) [b](#c) [web](https://e.org) `[no](x.md)` [d][e]\n\n[e]: h/blob/v1/f.md\n";
        assert_eq!(absolute("docs/g.md", text, "h", "v1"), expected);
    }

    #[test]
    fn a_promise_links_its_test() {
        let page = "| a | test |\n| --- | --- |\n| b | [`c_d`](e.rs) |\n| f | `g_h` |\n\n| i | j |\n| k | l |\n";
        assert_eq!(unproven(page), [4]);
    }

    #[test]
    fn paths_and_headings() {
        assert_eq!(joined("docs/upstream/README.md", "../bbr.md"), "docs/bbr.md");
        assert_eq!(joined("README.md", "./docs/udt.md"), "docs/udt.md");
        assert_eq!(anchors("# A `b`: c_d\n## The draft's 22\n## A b c_d\n"), ["a-b-c_d", "the-drafts-22", "a-b-c_d-1"]);
    }
}
