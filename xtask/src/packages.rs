//! The crates that are published, as `cargo package` packs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{Workspace, output, run};

/// Packs every published crate, lists their sizes, and fails if one has a file too many or lacks one.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let mut wrong = Vec::new();
    for package in pack(workspace)? {
        let names = listed(&package.file)?;
        let bytes = fs::metadata(&package.file).map_err(|error| format!("{}: {error}", package.file.display()))?.len();
        println!("{:<14} {:>4} files {:>6.1} kB", package.name, names.len(), bytes as f64 / 1000.0);
        wrong.extend(faults(&names, bytes).into_iter().map(|fault| format!("{}: {fault}", package.name)));
    }
    wrong.iter().for_each(|fault| println!("{fault}"));
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} faults of packages", wrong.len())) }
}

/// A published crate.
pub(crate) struct Published {
    pub(crate) name: String,
    /// Its description.
    pub(crate) about: String,
    /// The features that docs.rs documents and that its public items are listed with: `crate/feature`.
    pub(crate) features: Vec<String>,
}

/// The published crates, in the order of their directories.
pub(crate) fn published(workspace: &Workspace) -> Result<Vec<Published>, String> {
    let published = members(workspace)?.into_iter().filter(Member::is_published);
    let described = published.map(|Member { name, manifest, .. }| {
        let about = manifest.lines().find_map(|line| line.strip_prefix("description = \"")?.strip_suffix('"'));
        let documented = manifest.split_once("\n[package.metadata.docs.rs]\nfeatures = [").map_or("", |(_, list)| list);
        let documented = documented.split(']').next().unwrap_or_default();
        let features = documented.split('"').skip(1).step_by(2).map(|feature| format!("{name}/{feature}")).collect();
        Published { about: about.unwrap_or_default().to_owned(), features, name }
    });
    Ok(described.collect())
}

/// The pages that registries show of the published crates.
pub(crate) fn readmes(workspace: &Workspace) -> Result<Vec<String>, String> {
    let published = members(workspace)?.into_iter().filter(Member::is_published);
    Ok(published.map(|member| format!("{}/README.md", member.directory)).collect())
}

/// Builds and runs a program outside of the repository that depends on the packed crates alone, and compiles each of them. A second build is the same.
pub(crate) fn use_them(workspace: &Workspace) -> Result<(), String> {
    let outside = std::env::temp_dir().join(format!("cwnd-packages-{}", std::process::id()));
    let used = stranger(workspace, &outside);
    let removed = fs::remove_dir_all(&outside).map_err(|error| format!("{}: {error}", outside.display()));
    used.and(removed)
}

fn stranger(workspace: &Workspace, outside: &Path) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", outside.display());
    fs::create_dir_all(outside.join("src")).map_err(failed)?;
    let mut manifest = STRANGER.to_owned();
    let mut patch = "\n[patch.crates-io]\n".to_owned();
    for Package { name, file, version } in pack(workspace)? {
        run(Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(outside))?;
        manifest.push_str(&format!("{name} = \"{version}\"\n"));
        patch.push_str(&format!("{name} = {{ path = \"{name}-{version}\" }}\n"));
    }
    fs::write(outside.join("Cargo.toml"), manifest + &patch).map_err(failed)?;
    fs::write(outside.join("src/main.rs"), PROGRAM).map_err(failed)?;
    let cargo = |words: &[&str]| {
        let mut cargo = workspace.cargo(words);
        cargo.current_dir(outside).env("CARGO_TARGET_DIR", outside.join("target"));
        cargo
    };
    let first = output(&mut cargo(&["run", "--quiet"]))?;
    print!("{first}");
    // A build script that reads a clock, or anything else that changes, shows in the key of stored runs.
    run(&mut cargo(&["clean", "--quiet", "--package", "cwnd-run"]))?;
    let second = output(&mut cargo(&["run", "--quiet"]))?;
    if first == second { Ok(()) } else { Err(format!("two builds of the packages differ: {first}{second}")) }
}

/// A crate as it would be uploaded.
struct Package {
    name: String,
    version: String,
    file: PathBuf,
}

fn pack(workspace: &Workspace) -> Result<Vec<Package>, String> {
    let published: Vec<Member> = members(workspace)?.into_iter().filter(Member::is_published).collect();
    let command = |manifest: &str| {
        let mut command = workspace.cargo(&["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"]);
        command.args(["--manifest-path", manifest, "--target-dir"]).arg(workspace.scratch());
        command
    };
    let mut crates = command("Cargo.toml");
    crates.args(
        published
            .iter()
            .filter(|member| member.directory.starts_with("crates/"))
            .flat_map(|member| ["--package", &member.name]),
    );
    run(&mut crates)?;
    // Another workspace, so that cargo cannot know that the crate it depends on is published with it.
    let contract = format!("patch.crates-io.cwnd.path=\"{}\"", workspace.path("crates/cwnd").display());
    for member in published.iter().filter(|member| !member.directory.starts_with("crates/")) {
        run(command(&format!("{}/Cargo.toml", member.directory)).args(["--config", &contract]))?;
    }
    let packages = published.into_iter().map(|member| {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let file = workspace.scratch().join("package").join(format!("{}-{version}.crate", member.name));
        Package { name: member.name, version, file }
    });
    Ok(packages.collect())
}

/// The files of a package, without the directory that all are in.
fn listed(package: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("tar").arg("-tzf").arg(package).output().map_err(|error| format!("tar: {error}"))?;
    if !output.status.success() {
        return Err(format!("tar cannot list {}", package.display()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.lines().filter_map(|name| Some(name.split_once('/')?.1.to_owned())).collect())
}

/// Reasons why a package of these files, and of that size, is not as it should be.
fn faults(names: &[String], bytes: u64) -> Vec<String> {
    let missing = REQUIRED.iter().filter(|required| !names.iter().any(|name| name == *required));
    let missing = missing.map(|required| format!("`{required}` is missing"));
    let unwanted = names.iter().filter(|name| {
        let mut parts = name.split('/');
        parts.any(|part| UNWANTED.iter().any(|word| part.trim_end_matches(".rs") == *word))
    });
    let unwanted = unwanted.map(|name| format!("`{name}` is for tests of the repository"));
    let large = (bytes > LARGEST).then(|| format!("{bytes} bytes, and at most {LARGEST} are accepted"));
    missing.chain(unwanted).chain(large).collect()
}

/// A package of this repository that others could want.
struct Member {
    name: String,
    /// From the root of the repository.
    directory: String,
    manifest: String,
}

impl Member {
    fn is_published(&self) -> bool {
        !self.manifest.lines().any(|line| line == "publish = false")
    }
}

/// The packages of the repository, those of other workspaces among them, in the order of their directories.
fn members(workspace: &Workspace) -> Result<Vec<Member>, String> {
    let read = |directory: String| {
        let path = workspace.path(&directory).join("Cargo.toml");
        let manifest = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        let name = name.ok_or_else(|| format!("{} has no name", path.display()))?.to_owned();
        Ok(Member { name, directory, manifest })
    };
    directories(workspace)?.into_iter().map(read).collect()
}

/// The directories with a package, ascending.
pub(crate) fn directories(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for group in ["", "crates/", "examples/", "foreign/"] {
        let entries = fs::read_dir(workspace.path(group)).map_err(|error| format!("{group}: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{group}: {error}"))?;
            if entry.path().join("Cargo.toml").is_file() {
                found.push(format!("{group}{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What every package has.
const REQUIRED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Names of files and directories, without `.rs`, of which no package has any. Files of these names need others of the repository.
const UNWANTED: [&str; 6] = ["benches", "examples", "mutants", "proptest-regressions", "tests", "wrong"];

/// Twice the largest package, the simulator's.
const LARGEST: u64 = 500_000;

/// The manifest of a program that has nothing of this repository, up to its dependencies.
const STRANGER: &str = "\
[package]
name = \"stranger\"
edition = \"2024\"

[workspace]

[dependencies]
";

const PROGRAM: &str = r#"
use cwnd::{CongestionControl, Span, Spec, Start};
use cwnd_sim::{Dumbbell, Era, QueueLimit, run};

fn main() {
    let reno = Spec::parse("reno").expect("registered");
    assert_eq!(reno.start(&Start::default()).control().window.0, 10.0);
    let path = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    let setup = path.setup(&[reno], Era::MODERN, Span::from_secs(5), Span::ZERO, 1);
    let trace = run(&setup, &mut |_now| true).expect("a setup that runs");
    assert!(trace.flows[0].delivered.last().is_some_and(|packets| *packets > 5_000));
    println!("{}: {} packets", cwnd_run::VERSION, trace.flows[0].delivered.last().unwrap_or(&0));
    println!("{}", cwnd_run::cells::SOURCES);
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_published_or_says_why_not() {
        let root = fs::read_to_string(Workspace::here().path("Cargo.toml")).unwrap();
        let (mut wrong, mut published) = (Vec::new(), 0);
        for Member { name, directory, manifest } in members(&Workspace::here()).unwrap() {
            let lines: Vec<&str> = manifest.lines().collect();
            if let Some(at) = lines.iter().position(|line| *line == "publish = false") {
                if !at.checked_sub(1).is_some_and(|before| lines[before].starts_with("# ")) {
                    wrong.push(format!("{name}: no comment above `publish = false` gives the reason"));
                }
                if manifest.contains("documentation = ") || root.contains(&format!("\"crates/{name}\", version")) {
                    wrong.push(format!("{name}: not published, and described as if it were"));
                }
                continue;
            }
            published += 1;
            for key in ["description", "documentation", "keywords", "categories", "repository", "include", "license"] {
                if !lines
                    .iter()
                    .any(|line| line.starts_with(&format!("{key} = ")) || *line == format!("{key}.workspace = true"))
                {
                    wrong.push(format!("{name}: no `{key}`"));
                }
            }
            if let Some(list) = lines.iter().find(|line| line.starts_with("keywords = "))
                && list.matches('"').count() > 10
            {
                wrong.push(format!("{name}: more than five keywords"));
            }
            if directory.starts_with("crates/")
                && !root.contains(&format!("\"{directory}\", version = \"={}\"", env!("CARGO_PKG_VERSION")))
            {
                wrong.push(format!("{name}: not of exactly this version in [workspace.dependencies]"));
            }
        }
        assert!(wrong.is_empty() && published > 8, "{published} published; {wrong:#?}");
    }

    #[test]
    fn the_features_of_documented_crates_are_read() {
        let published = published(&Workspace::here()).unwrap();
        let features: Vec<&str> = published.iter().flat_map(|one| &one.features).map(String::as_str).collect();
        assert_eq!(features, ["cwnd-net/tokio"]);
    }

    #[test]
    fn a_package_with_tests_or_without_a_licence_is_faulty() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let whole = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs", "src/testing.rs"];
        assert!(faults(&names(&whole), 1000).is_empty());
        assert_eq!(faults(&names(&whole[..2]), 1000).len(), 2);
        for unwanted in ["tests/mutants.txt", "src/tests.rs", "src/a/tests/b.rs", "examples/echo.rs"] {
            assert_eq!(faults(&names(&[&whole[..], &[unwanted]].concat()), 1000).len(), 1, "{unwanted}");
        }
        assert_eq!(faults(&names(&whole), LARGEST + 1).len(), 1);
    }
}
