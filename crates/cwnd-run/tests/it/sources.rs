//! The key of a stored cell changes with what decides a run, and with nothing else.

#[path = "../../build/sources.rs"]
mod build;

use std::fs;
use std::path::Path;

use build::{Workspace, packed};

/// A workspace of one crate that uses `libm`, and `libm` uses `below`.
struct House(tempfile::TempDir);

impl House {
    fn new() -> Self {
        let house = Self(tempfile::TempDir::new().expect("a directory"));
        house.write("Cargo.toml", "[workspace.dependencies]\nlibm = \"0.2\"\nother = \"1\"\n");
        house.write("Cargo.lock", LOCK);
        house
            .write("crates/a/Cargo.toml", "[dependencies]\nlibm.workspace = true\n[dev-dependencies]\nother = \"1\"\n");
        house.write("crates/a/src/lib.rs", LIB);
        house.write("crates/a/src/half.rs", HALF);
        house.write("crates/a/src/half/deep.rs", "pub fn deep() -> u8 { 4 }\n");
        house.write("crates/a/src/directory/mod.rs", "pub const FIVE: u8 = 5;\n");
        house.write("crates/a/src/tests.rs", "#[test]\nfn it_is_one() { assert_eq!(super::one(), 1) }\n");
        house
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("below the directory")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    fn change(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.0.path().join(path)).expect("it was written");
        assert!(text.contains(from), "{path} has no `{from}`");
        self.write(path, &text.replacen(from, to, 1));
    }

    fn hash(&self) -> Option<String> {
        self.hash_with("rustc 1.88.0", &[])
    }

    fn hash_with(&self, rustc: &str, features: &[&str]) -> Option<String> {
        let toolchain: Vec<String> = std::iter::once(&rustc).chain(features).map(ToString::to_string).collect();
        Workspace { root: self.0.path(), crates: &["a"] }.hash(&toolchain).expect("readable")
    }
}

/// Whether the key is the same after `from` has become `to` in a file.
fn same_after(path: &str, from: &str, to: &str) -> bool {
    let house = House::new();
    let before = house.hash();
    assert!(before.is_some());
    house.change(path, from, to);
    house.hash() == before
}

#[test]
fn words_tests_and_formatting_keep_the_key() {
    let lib = "crates/a/src/lib.rs";
    for (path, from, to) in [
        (lib, "// a comment", "// another comment"),
        (lib, "// a comment", "/* a comment\n over lines */"),
        (lib, "/// A doc comment.", "/// Another."),
        (lib, "//! The crate.", "//! Another."),
        (lib, "#[doc = \"more\"]", ""),
        (lib, "assert!(true)", "assert!(one() == 1)"),
        (lib, "pub fn only_tests() -> u8 { 1 }", "pub fn only_tests() -> u8 { 2 }"),
        (lib, "const fn limit() -> u8 { 1 }", "const fn limit() -> u8 { 2 }"),
        (lib, "ONLY_TESTS: [u8; 2] = [1, 2]", "ONLY_TESTS: [u8; 3] = [1, 2, 3]"),
        (lib, "use std::fmt::Debug", "use std::fmt::Display"),
        (lib, "    1 + 0", "1\n\t+ 0"),
        ("crates/a/src/tests.rs", "1)", "1 + 0)"),
        ("Cargo.lock", "name = \"other\"\nversion = \"1.0.0\"", "name = \"other\"\nversion = \"1.0.1\""),
        ("Cargo.toml", "other = \"1\"", "other = \"2\""),
        ("crates/a/Cargo.toml", "other = \"1\"", "other = \"2\""),
    ] {
        assert!(same_after(path, from, to), "{path}: `{from}` to `{to}` changed the key");
    }
}

#[test]
fn what_decides_a_run_changes_the_key() {
    let lib = "crates/a/src/lib.rs";
    for (path, from, to) in [
        (lib, "1 + 0", "2 + 0"),
        (lib, "1 + 0", "1 - 0"),
        (lib, "first && second", "first & &second"),
        (lib, "pub fn after_tests() -> u8 { 6 }", "pub fn after_tests() -> u8 { 7 }"),
        (lib, "pub fn at_work() -> u8 { 8 }", "pub fn at_work() -> u8 { 9 }"),
        (lib, "\"text // no comment\"", "\"text // none\""),
        (lib, "#[inline]", ""),
        (lib, "inner: u8", "inner: u16"),
        ("crates/a/src/half.rs", "3", "30"),
        ("crates/a/src/half/deep.rs", "4", "40"),
        ("crates/a/src/directory/mod.rs", "5", "50"),
        ("Cargo.lock", "name = \"libm\"\nversion = \"0.2.16\"", "name = \"libm\"\nversion = \"0.2.17\""),
        ("Cargo.lock", "checksum = \"aa\"", "checksum = \"ab\""),
        ("Cargo.lock", "name = \"below\"\nversion = \"1.0.0\"", "name = \"below\"\nversion = \"1.0.1\""),
        ("Cargo.toml", "libm = \"0.2\"", "libm = { version = \"0.2\", features = [\"arch\"] }"),
        ("crates/a/Cargo.toml", "[dev-dependencies]", "[features]\nfast = []\n[dev-dependencies]"),
    ] {
        assert!(!same_after(path, from, to), "{path}: `{from}` to `{to}` kept the key");
    }
}

#[test]
fn compiler_and_features_change_the_key() {
    let house = House::new();
    let keys = [
        house.hash_with("rustc 1.88.0", &[]),
        house.hash_with("rustc 1.89.0", &[]),
        house.hash_with("rustc 1.88.0", &["CARGO_FEATURE_FAST"]),
    ];
    assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
}

#[test]
fn without_a_lock_file_there_is_no_key() {
    let house = House::new();
    fs::remove_file(house.0.path().join("Cargo.lock")).expect("it was written");
    assert_eq!(house.hash(), None);
}

#[test]
fn a_file_that_is_not_rust_is_named() {
    let house = House::new();
    house.write("crates/a/src/half.rs", "pub fn half( {\n");
    let workspace = Workspace { root: house.0.path(), crates: &["a"] };
    let error = workspace.hash(&[]).expect_err("not Rust").to_string();
    assert!(error.contains("half.rs"), "{error}");
}

#[test]
fn a_directory_without_the_crates_is_no_workspace() {
    let house = House::new();
    let of = |crates: &[&str]| Workspace { root: house.0.path(), crates }.hash(&[]).expect("readable");
    assert!(of(&["a"]).is_some());
    assert_eq!(of(&["a", "b"]), None);
}

#[test]
fn a_package_has_a_key_of_its_code_version_and_compiler() {
    let house = House::new();
    let src = house.0.path().join("crates/a/src");
    let key = |version, compiler: &str| packed(&src, version, &[compiler.to_owned()]).expect("readable");
    let first = key("0.1.0", "rustc 1.88.0");
    assert_eq!((first.len(), &key("0.1.0", "rustc 1.88.0")), (64, &first));
    assert_ne!(key("0.1.1", "rustc 1.88.0"), first);
    assert_ne!(key("0.1.0", "rustc 1.89.0"), first);
    house.change("crates/a/src/lib.rs", "// a comment", "// another comment");
    assert_eq!(key("0.1.0", "rustc 1.88.0"), first);
    house.change("crates/a/src/lib.rs", "1 + 0", "0 + 1");
    assert_ne!(key("0.1.0", "rustc 1.88.0"), first);
}

/// What the build script does; the key must be that of every build of these sources.
#[test]
fn the_crates_of_this_workspace_can_be_hashed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = Workspace { root: &root, crates: &["cwnd", "cwnd-udt", "cwnd-trace", "cwnd-sim", "cwnd-run"] };
    let hash = workspace.hash(&[]).expect("readable").expect("locked");
    assert_eq!(hash.len(), 64);
    assert_eq!(workspace.hash(&[]).expect("readable"), Some(hash));
}

const LIB: &str = r#"//! The crate.

mod half;
mod directory;
#[cfg(any(test, feature = "testing"))]
pub mod absent;

// a comment
/// A doc comment.
#[doc = "more"]
#[inline]
pub fn one() -> u8 {
    1 + 0
}

pub fn both(first: bool, second: bool) -> bool {
    first && second
}

pub const TEXT: &str = "text // no comment";

#[cfg(test)]
use std::fmt::Debug;
#[cfg(test)]
pub const ONLY_TESTS: [u8; 2] = [1, 2];

/// Documented.
#[cfg(test)]
#[must_use]
pub(crate) const fn limit() -> u8 { 1 }

#[cfg(test)]
pub fn only_tests() -> u8 { 1 }
pub fn after_tests() -> u8 { 6 }

#[cfg(not(test))]
pub fn at_work() -> u8 { 8 }

pub struct Fields {
    #[cfg(test)]
    inner: u8,
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod more {
    #[test]
    fn it_is() { assert!(true) }
}
"#;
const HALF: &str = "mod deep;\npub fn half() -> u8 { 3 }\n";
const LOCK: &str = r#"version = 4

[[package]]
name = "a"
version = "0.1.0"
dependencies = [
 "libm",
 "other",
]

[[package]]
name = "below"
version = "1.0.0"
source = "registry+https://example.org"
checksum = "bb"

[[package]]
name = "libm"
version = "0.2.16"
source = "registry+https://example.org"
checksum = "aa"
dependencies = [
 "below",
]

[[package]]
name = "other"
version = "1.0.0"
source = "registry+https://example.org"
checksum = "cc"
"#;
