//! The licences of what a product contains, as each of them is handed on: the archive and the image of the programs, the Python package, and the
//! simulator for browsers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::portability::WASM;
use crate::workspace::{Workspace, output, run};

/// Something that is handed on in a compiled form.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a> {
    /// Its name on the command line.
    pub(crate) name: &'a str,
    /// The packages that it is built from, with their default features.
    packages: &'a [&'a str],
    /// The target of the compiler, or `all`; that of this machine without.
    target: Option<&'a str>,
    /// The licences of the libraries of JavaScript in its pages.
    scripts: &'a [&'a str],
    /// The licences of the libraries of the system that are linked statically: the package of Debian, and its file.
    system: &'a [(&'a str, &'a str)],
}

impl<'a> Product<'a> {
    /// This product of `packages` alone, for `target`. That of musl brings the library of C.
    pub(crate) fn of(self, packages: &'a [&'a str], target: &'a str) -> Self {
        let system = if target.ends_with("-musl") { MUSL } else { self.system };
        Self { packages, target: Some(target), system, ..self }
    }
}

/// `cwnd` and `udt` on this machine.
pub(crate) const PROGRAMS: Product<'_> = Product {
    name: "programs",
    packages: &["cwnd-cli", "cwnd-transfer"],
    target: None,
    scripts: &["crates/cwnd-live/page/vendor/LICENSE", REPORT],
    system: &[],
};

/// The Python package, on any system: one source distribution has one list.
pub(crate) const PYTHON: Product<'_> =
    Product { name: "python", packages: &["cwnd-py"], target: Some("all"), scripts: &[REPORT], system: &[] };

/// The simulator for browsers. The page around it has the licences of its own libraries.
pub(crate) const ENGINE: Product<'_> =
    Product { name: "engine", packages: &["cwnd-wasm"], target: Some(WASM), scripts: &[], system: &[] };

/// All products.
pub(crate) const PRODUCTS: [Product<'_>; 3] = [PROGRAMS, PYTHON, ENGINE];

/// The licences of the libraries in reports.
const REPORT: &str = "crates/cwnd-report/assets/vendor/LICENSE";

const MUSL: &[(&str, &str)] = &[("musl", "/usr/share/doc/musl/copyright")];

/// The parts of a product that are by others.
pub(crate) struct Licences {
    pub(crate) crates: Vec<Dependency>,
    pub(crate) scripts: Vec<Dependency>,
    /// All texts, each once.
    pub(crate) text: String,
}

/// A crate or a library that is a part of a product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An expression of SPDX.
    pub(crate) licence: String,
}

impl Licences {
    /// Those of `product`.
    ///
    /// # Errors
    /// A package has no text of its licence, and that is not Apache-2.0, whose text is the same for all.
    pub(crate) fn of(workspace: &Workspace, product: Product<'_>) -> Result<Self, String> {
        // The sources are there afterwards, those for other systems among them.
        run(&mut workspace.cargo(&["fetch", "--locked"]))?;
        let crates = crates(workspace, product)?;
        let apache = read(&workspace.path("LICENSE-APACHE"))?;
        let mut texts = Texts::default();
        let mut text = String::from("The crates in it:\n\n");
        for one in &crates {
            let _ = writeln!(text, "{} {}: {}", one.name, one.version, one.licence);
            for licence in one.texts(&files(one)?, &apache)? {
                texts.add(&licence, &format!("{} {}", one.name, one.version));
            }
        }
        text.push_str("\nThe standard library of Rust is in it, too, under Apache-2.0 with the exception of LLVM for its parts of LLVM.\n");
        texts.add(&apache, "the standard library of Rust");
        let mut scripts = Vec::new();
        for file in product.scripts {
            let licences = read(&workspace.path(file))?;
            let libraries: Vec<Dependency> = licences.lines().filter_map(library).collect();
            let named: Vec<String> = libraries.iter().map(|one| format!("{} {}", one.name, one.version)).collect();
            let _ = writeln!(text, "\nThe libraries of JavaScript in its pages: {}.", named.join(", "));
            texts.add(&licences, "libraries of JavaScript");
            scripts.extend(libraries);
        }
        scripts.sort();
        for (library, file) in product.system {
            let _ = writeln!(text, "\n{library} is linked statically.");
            texts.add(&read(Path::new(file))?, library);
        }
        texts.write(&mut text);
        Ok(Self { crates, scripts, text })
    }
}

/// The texts of licences, each with its owners. Texts with the same words are one.
#[derive(Default)]
struct Texts(BTreeMap<Vec<String>, (String, BTreeSet<String>)>);

impl Texts {
    fn add(&mut self, text: &str, owner: &str) {
        let words = text.split_whitespace().map(str::to_lowercase).collect();
        let known = self.0.entry(words).or_insert_with(|| (text.replace('\r', "").trim().to_owned(), BTreeSet::new()));
        known.1.insert(owner.to_owned());
    }

    fn write(&self, text: &mut String) {
        for (licence, owners) in self.0.values() {
            let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
            let _ = write!(text, "\n{}\n{}\n\n{licence}\n", "=".repeat(80), owners.join(", "));
        }
    }
}

impl Dependency {
    /// The texts of its `files`. Without a text of a licence among them, `apache` if it is offered: other licences name their holder.
    fn texts(&self, files: &[PathBuf], apache: &str) -> Result<Vec<String>, String> {
        let mut texts = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
        if files.iter().any(|file| !starts(file, &["NOTICE"])) {
            return Ok(texts);
        }
        if !self.licence.split(['(', ')', ' ']).any(|word| word == "Apache-2.0") || self.licence.contains(" AND ") {
            let Self { name, version, licence } = self;
            return Err(format!("the package {name} {version} has no text of its licence ({licence})"));
        }
        texts.push(apache.to_owned());
        Ok(texts)
    }
}

/// The crates of others in a product, ascending.
fn crates(workspace: &Workspace, product: Product<'_>) -> Result<Vec<Dependency>, String> {
    let words = ["tree", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}|{l}"];
    let mut found = Vec::new();
    for package in product.packages {
        let mut tree = workspace.cargo(&words);
        tree.args(["-p", package]).args(product.target.iter().flat_map(|target| ["--target", target]));
        found.extend(output(&mut tree)?.lines().filter_map(dependency));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// A line of the tree, `name vVERSION|LICENCE`; none for a crate of this repository, which has a path behind it.
fn dependency(line: &str) -> Option<Dependency> {
    let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
    let (name, version) = package.trim_end_matches(" (proc-macro)").split_once(" v")?;
    let is_own = version.contains(' ');
    let owned = |text: &str| text.trim_end_matches(" (*)").replace('/', " OR ").replace(" OR  OR ", " OR ");
    (!is_own).then(|| Dependency { name: name.to_owned(), version: version.to_owned(), licence: owned(licence) })
}

/// A line above the text of a licence, `name VERSION (LICENCE)`.
fn library(line: &str) -> Option<Dependency> {
    let (name, rest) = line.split_once(' ')?;
    let (version, licence) = rest.strip_suffix(')')?.split_once(" (")?;
    let is_version = version.starts_with(|first: char| first.is_ascii_digit()) && !version.contains(' ');
    let owned = str::to_owned;
    is_version.then(|| Dependency { name: owned(name), version: owned(version), licence: owned(licence) })
}

/// The files with licences and notices in the sources of a crate, ascending.
fn files(dependency: &Dependency) -> Result<Vec<PathBuf>, String> {
    let package = format!("{}-{}", dependency.name, dependency.version);
    let sources = entries(&registries()?)?.into_iter().map(|registry| registry.join(&package));
    let directory = sources.into_iter().find(|directory| directory.is_dir());
    let directory = directory.ok_or_else(|| format!("cargo has no sources of {package}"))?;
    let mut files = entries(&directory)?;
    files.retain(|path| path.is_file() && starts(path, &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"]));
    Ok(files)
}

/// Whether the name of a file begins with one of these words, in letters of any case.
fn starts(path: &Path, words: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_uppercase()).unwrap_or_default();
    words.iter().any(|word| name.starts_with(word))
}

/// Where cargo unpacks the crates of others: a directory for each registry.
pub(crate) fn registries() -> Result<PathBuf, String> {
    Ok(cargo_home()?.join("registry/src"))
}

/// The directory of cargo's own files.
pub(crate) fn cargo_home() -> Result<PathBuf, String> {
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    own.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
        .ok_or_else(|| "HOME is not set".to_owned())
}

/// The paths in a directory, ascending.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut paths: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree_are_crates_of_others() {
        let found = |line| dependency(line).map(|one| (one.name, one.version, one.licence));
        let of =
            |name: &str, version: &str, licence: &str| Some((name.to_owned(), version.to_owned(), licence.to_owned()));
        assert_eq!(found("clap v4.5.1|MIT OR Apache-2.0"), of("clap", "4.5.1", "MIT OR Apache-2.0"));
        assert_eq!(found("clap v4.5.1|MIT OR Apache-2.0 (*)"), of("clap", "4.5.1", "MIT OR Apache-2.0"));
        assert_eq!(
            found("serde_derive v1.0.2 (proc-macro)|MIT/Apache-2.0"),
            of("serde_derive", "1.0.2", "MIT OR Apache-2.0")
        );
        assert_eq!(found("cwnd v0.1.0 (/somewhere/crates/cwnd)|MIT OR Apache-2.0"), None);
    }

    #[test]
    fn every_crate_of_every_product_has_a_text() {
        let of = |product| Licences::of(&Workspace::here(), product).unwrap();
        let (programs, python, engine) = (of(PROGRAMS), of(PYTHON), of(ENGINE));
        for (licences, name) in [(&programs, "clap"), (&python, "pyo3"), (&python, "windows-sys"), (&engine, "libm")] {
            let one = licences.crates.iter().find(|one| one.name == name);
            let one = one.unwrap_or_else(|| panic!("{name} is not in {}", licences.text));
            // In the list, and above a text.
            let package = format!("{name} {}", one.version);
            assert!(licences.text.matches(&package).count() > 1, "{package}");
        }
        // Its package has no text.
        assert!(programs.text.matches("etherparse ").count() > 1);
        for name in ["uplot", "vega", "vega-lite", "vega-embed", "d3-array"] {
            assert!(programs.scripts.iter().any(|one| one.name == name && !one.licence.is_empty()), "{name}");
        }
        assert!(programs.text.contains("Leon Sorokin") && python.text.contains("Mike Bostock"));
        assert_eq!(engine.scripts, []);
    }

    #[test]
    fn a_package_without_a_text_has_that_of_apache_if_it_is_offered() {
        let texts = |licence: &str, files: &[PathBuf]| {
            let one = Dependency { name: "a".to_owned(), version: "1.0.0".to_owned(), licence: licence.to_owned() };
            one.texts(files, "the text")
        };
        for offers in ["Apache-2.0", "MIT OR Apache-2.0", "(MIT OR Apache-2.0)"] {
            assert_eq!(texts(offers, &[]), Ok(vec!["the text".to_owned()]), "{offers}");
        }
        for other in ["", "MIT", "MIT AND Apache-2.0"] {
            let error = texts(other, &[]).unwrap_err();
            assert!(error.contains("a 1.0.0 has no text of its licence"), "{error}");
        }
        let own = Workspace::here().path("LICENSE-MIT");
        assert_eq!(texts("MIT", std::slice::from_ref(&own)), Ok(vec![read(&own).unwrap()]));
    }

    #[test]
    fn texts_with_the_same_words_are_one() {
        let mut texts = Texts::default();
        texts.add("The  MIT License\r\n\r\nCopyright a\r\n", "b 1.0.0");
        texts.add("The MIT license\nCopyright a", "a 1.0.0");
        texts.add("The MIT license\nCopyright b", "c 1.0.0");
        let mut text = String::new();
        texts.write(&mut text);
        assert_eq!(text.matches("====\n").count(), 2, "{text}");
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nThe  MIT License\n\nCopyright a\n"), "{text}");
    }
}
