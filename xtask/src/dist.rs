//! The archive of a release: both programs with their manual pages, completions, licences and a bill of materials.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::licences::{self, Dependency, Licences, cargo_home, entries, registries};
use crate::links;
use crate::tool::{CARGO_DEB, LINTIAN};
use crate::workspace::{Workspace, output, run};

/// Builds the archive and its checksum below `target/dist`. Equal sources give equal bytes, in any directory: paths in the programs are relative, and
/// times are that of the newest commit.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    archive(workspace, &workspace.target().join("dist"), &host()?, &PROGRAMS)
}

/// Builds an archive as [`build`] does, of the laboratory alone and with no need of a library of the system (musl): it runs on any Linux of this
/// processor. `udt` is not in it, since `tappers`, by which it opens tunnels, does not compile for musl in version 0.4.2.
pub(crate) fn without_libraries(workspace: &Workspace) -> Result<PathBuf, String> {
    let target = host()?.replace("-gnu", "-musl");
    let installed = output(Command::new("rustup").args(["target", "list", "--installed"]))?;
    if !installed.lines().any(|line| line == target) {
        return Err(format!("the target is missing: `rustup target add {target}` installs it"));
    }
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        return Err("`musl-gcc` is missing: Debian has it in musl-tools".to_owned());
    }
    archive(workspace, &workspace.target().join("dist"), &target, &PROGRAMS[..1])
}

/// Builds the archive as [`build`] does, a second time in a clone below `target/dist/again`, and compares all bytes.
pub(crate) fn twice(workspace: &Workspace) -> Result<PathBuf, String> {
    if !output(git(workspace).args(["status", "--porcelain"]))?.is_empty() {
        return Err("a clone has what is committed, and there are uncommitted changes".to_owned());
    }
    let first = build(workspace)?;
    let place = workspace.target().join("dist/again");
    remove(&place)?;
    let clone = place.join("source");
    run(Command::new("git").args(["clone", "--quiet", "--shared"]).arg(workspace.path("")).arg(&clone))?;
    let second = archive(&Workspace::at(clone), &place.join("built"), &host()?, &PROGRAMS)?;
    let differ = differences(&unpacked(&first), &unpacked(&second))?;
    if !differ.is_empty() {
        return Err(format!("the two builds differ, and both are kept:\n{}", differ.join("\n")));
    }
    if read(&first)? != read(&second)? {
        return Err(format!("equal files are packed differently: {} and {}", first.display(), second.display()));
    }
    println!("two builds in two directories have equal bytes");
    remove(&place)?;
    Ok(first)
}

/// Builds the archive as [`build`] does, and a Debian package of each program next to it.
pub(crate) fn debian(workspace: &Workspace) -> Result<PathBuf, String> {
    for tool in [&CARGO_DEB, &LINTIAN] {
        tool.required(workspace)?;
    }
    let archive = build(workspace)?;
    let place = workspace.target().join("dist");
    // Manifests find them here: cargo-deb knows the directory of builds alone.
    let files = place.join("target/release/dist");
    remove(&files)?;
    let stage = unpacked(&archive);
    for (from, to) in [("share/man/man1", "man"), ("share/completions", "completions"), ("", "")] {
        fs::create_dir_all(files.join(to)).map_err(|error| failed(&files, &error))?;
        for file in entries(&stage.join(from))?.into_iter().filter(|file| file.is_file()) {
            copy(&file, &files.join(to).join(file.file_name().unwrap_or_default()))?;
        }
    }
    let mut compressed = entries(&files.join("man"))?;
    let maintainer = maintainer(&read_text(&workspace.path("crates/cwnd-cli/Cargo.toml"))?)?;
    let date = commit(workspace, "%cD")?;
    for Program { name, package } in PROGRAMS {
        let changes = files.join(format!("{name}.changelog"));
        write(&changes, &debian_changes(name, &maintainer, &date))?;
        compressed.push(changes);
        let manifest = read_text(&workspace.path(&format!("crates/{package}/Cargo.toml")))?;
        if !manifest.contains(&format!("maintainer = \"{maintainer}\"")) {
            return Err(format!("{package} has another maintainer than `{maintainer}`"));
        }
    }
    run(Command::new("gzip").args(["-9", "--no-name", "--force"]).args(compressed))?;
    for Program { package, .. } in PROGRAMS {
        let mut deb = Command::new("cargo-deb");
        deb.current_dir(workspace.path("")).args(["deb", "--no-build", "--strip", "--locked", "-p", package]);
        deb.arg("--output").arg(&place).env("CARGO_TARGET_DIR", place.join("target"));
        // It prints the path of the package last.
        let printed = output(deb.env("SOURCE_DATE_EPOCH", commit(workspace, "%ct")?))?;
        let file = Path::new(printed.lines().last().unwrap_or_default().trim()).to_owned();
        run(Command::new("lintian").args(["--allow-root", "--fail-on", "error,warning"]).arg(&file))?;
        checked(&file)?;
    }
    Ok(archive)
}

/// The maintainer of the Debian packages, `NAME <ADDRESS>`, in a manifest.
pub(crate) fn maintainer(manifest: &str) -> Result<String, String> {
    let named = manifest.lines().find_map(|line| line.strip_prefix("maintainer = \"")?.strip_suffix('"'));
    named.map(str::to_owned).ok_or_else(|| "no `maintainer`".to_owned())
}

/// The changes of a Debian package: this version of the program, which has changes of its own.
fn debian_changes(name: &str, maintainer: &str, date: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{name} ({version}) unstable; urgency=medium\n\n  * Release {version}.\n\n -- {maintainer}  {date}\n")
}

/// The directory that an archive was packed from.
fn unpacked(archive: &Path) -> PathBuf {
    archive.with_extension("").with_extension("")
}

/// The files below two directories that differ, or that one of them lacks, ascending.
fn differences(first: &Path, second: &Path) -> Result<Vec<String>, String> {
    let mut names = BTreeSet::new();
    for directory in [first, second] {
        let below = |entry: PathBuf| entry.file_name().map(std::ffi::OsStr::to_owned);
        names.extend(entries(directory)?.into_iter().filter_map(below));
    }
    let mut found = Vec::new();
    for name in names {
        let (one, other) = (first.join(&name), second.join(&name));
        if one.is_dir() && other.is_dir() {
            found.extend(differences(&one, &other)?);
        } else if !one.is_file() || !other.is_file() || read(&one)? != read(&other)? {
            found.push(format!("  {} and {}", one.display(), other.display()));
        }
    }
    Ok(found)
}

/// Builds the archive of `programs` from the sources in `workspace` for `target` below `place`.
fn archive(workspace: &Workspace, place: &Path, target: &str, programs: &[Program]) -> Result<PathBuf, String> {
    let name = format!("cwnd-{}-{target}", env!("CARGO_PKG_VERSION"));
    let stage = place.join(&name);
    remove(&stage)?;
    let built = compile(workspace, place, target, programs)?;
    let create = |path: PathBuf| fs::create_dir_all(&path).map_err(|error| failed(&path, &error)).map(|()| path);
    let (executables, manual) = (create(stage.join("bin"))?, create(stage.join("share/man/man1"))?);
    let completions = create(stage.join("share/completions"))?;
    for Program { name, .. } in programs {
        let file = executables.join(name);
        copy(&built.join(name), &file)?;
        run(Command::new(&file).arg("manual").arg(&manual))?;
        for shell in ["bash", "zsh", "fish"] {
            let script = output(Command::new(&file).args(["completions", shell]))?;
            write(&completions.join(format!("{name}.{shell}")), &script)?;
        }
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&workspace.path(file), &stage.join(file))?;
    }
    // The files that they lead to are not in the archive.
    let (address, tag) = (links::address(workspace)?, concat!("v", env!("CARGO_PKG_VERSION")));
    for file in ["README.md", "CHANGELOG.md"] {
        write(&stage.join(file), &links::absolute(file, &read_text(&workspace.path(file))?, &address, tag))?;
    }
    // The commands of README run them.
    let scenarios = output(git(workspace).args(["ls-files", "-z", "scenarios"]))?;
    for file in scenarios.split_terminator('\0') {
        let copied = stage.join(file);
        create(copied.parent().unwrap_or(&stage).to_owned())?;
        copy(&workspace.path(file), &copied)?;
    }
    let packages: Vec<&str> = programs.iter().map(|program| program.package).collect();
    let licences = Licences::of(workspace, licences::PROGRAMS.of(&packages, target))?;
    write(&stage.join("THIRD-PARTY.txt"), &licences.text)?;
    write(&stage.join("sbom.cdx.json"), &bill(&licences, &checksums(workspace)?))?;
    let archive = pack(workspace, place, &name)?;
    checked(&archive)?;
    Ok(archive)
}

/// Writes the SHA-256 of a file next to it, as `sha256sum --check` reads it: each file has its own, so that no build removes that of another.
fn checked(file: &Path) -> Result<(), String> {
    let (name, place) = (file.file_name().unwrap_or_default(), file.parent().unwrap_or(file));
    let sum = output(Command::new("sha256sum").arg(name).current_dir(place))?;
    write(&place.join(format!("{}.sha256", name.to_string_lossy())), &sum)?;
    print!("{sum}");
    Ok(())
}

/// Compiles `programs` for `target` without paths of this machine. The directory with them.
fn compile(workspace: &Workspace, place: &Path, target: &str, programs: &[Program]) -> Result<PathBuf, String> {
    // The directories below are there afterwards.
    run(&mut workspace.cargo(&["fetch", "--locked"]))?;
    let directory = place.join("target");
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(&workspace.path(""), "."), remap(&cargo_home()?, "cargo")];
    // Their names have a hash of the registry's address, or that of a mirror.
    flags.extend(entries(&registries()?)?.iter().map(|registry| remap(registry, "registry")));
    // The last that matches counts, and this one may lie within the first.
    flags.push(remap(&directory, "target"));
    let mut build = workspace.cargo(&["build", "--release", "--locked"]);
    build.args(programs.iter().flat_map(|program| ["-p", program.package]));
    build.env("CARGO_TARGET_DIR", &directory).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    build.env("CARGO_INCREMENTAL", "0").env("SOURCE_DATE_EPOCH", commit(workspace, "%ct")?);
    if std::env::var_os("CWND_REVISION").is_none() {
        // The digits that git prints by itself depend on the number of objects of the clone.
        let changed = !output(git(workspace).args(["status", "--porcelain"]))?.is_empty();
        let revision = commit(workspace, "%H")?.chars().take(8).collect::<String>();
        build.env("CWND_REVISION", if changed { format!("{revision}-dirty") } else { revision });
    }
    let foreign = target != host()?;
    if foreign {
        build.args(["--target", target]);
    }
    run(&mut build)?;
    Ok(if foreign { directory.join(target).join("release") } else { directory.join("release") })
}

/// The SHA-256 of each package of the lock file, by name and version.
fn checksums(workspace: &Workspace) -> Result<BTreeMap<(String, String), String>, String> {
    let lock = read_text(&workspace.path("Cargo.lock"))?;
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        line.map(str::to_owned)
    };
    let of = |package: &str| Some(((value(package, "name")?, value(package, "version")?), value(package, "checksum")?));
    Ok(lock.split("[[package]]").filter_map(of).collect())
}

/// The bill of materials in CycloneDX 1.5.
fn bill(licences: &Licences, checksums: &BTreeMap<(String, String), String>) -> String {
    let component = |(registry, one): (&str, &Dependency)| {
        let Dependency { name, version, licence } = one;
        let place = format!("pkg:{registry}/{name}@{version}");
        let mut fields = format!(
            "\"type\": \"library\", \"name\": \"{name}\", \"version\": \"{version}\", \"purl\": \"{place}\", \"bom-ref\": \"{place}\""
        );
        let sum = checksums.get(&(name.clone(), version.clone())).filter(|_| registry == "cargo");
        if let Some(sum) = sum {
            let _ = write!(fields, ", \"hashes\": [{{ \"alg\": \"SHA-256\", \"content\": \"{sum}\" }}]");
        }
        if !licence.is_empty() {
            let _ = write!(fields, ", \"licenses\": [{{ \"expression\": \"{licence}\" }}]");
        }
        format!("    {{ {fields} }}")
    };
    let crates = licences.crates.iter().map(|one| ("cargo", one));
    let scripts = licences.scripts.iter().map(|one| ("npm", one));
    let components: Vec<String> = crates.chain(scripts).map(component).collect();
    format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": {{ \"component\": {{ \"type\": \
         \"application\", \"name\": \"cwnd\", \"version\": \"{}\" }} }},\n  \"components\": [\n{}\n  ]\n}}\n",
        env!("CARGO_PKG_VERSION"),
        components.join(",\n")
    )
}

/// Packs the staged directory: names sorted, owned by nobody in particular, with the time of the newest commit.
fn pack(workspace: &Workspace, place: &Path, name: &str) -> Result<PathBuf, String> {
    let archive = place.join(format!("{name}.tar.gz"));
    let plain = place.join(format!("{name}.tar"));
    let fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu", "--mode=go=rX,u+rw,a-s"];
    let mut tar = Command::new("tar");
    tar.current_dir(place)
        .args(fixed)
        .arg(format!("--mtime=@{}", commit(workspace, "%ct")?))
        .arg("-cf")
        .arg(&plain)
        .arg(name);
    run(&mut tar)?;
    run(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(&plain))?;
    Ok(archive)
}

/// A field of the newest commit: `%ct`, its time in seconds of Unix, or `%H`, its hash.
fn commit(workspace: &Workspace, field: &str) -> Result<String, String> {
    let printed = output(git(workspace).args(["log", "-1", &format!("--format={field}")]))?;
    Ok(printed.trim().to_owned())
}

fn git(workspace: &Workspace) -> Command {
    let mut command = Command::new("git");
    command.current_dir(workspace.path(""));
    command
}

/// The target of this machine, `x86_64-unknown-linux-gnu`.
fn host() -> Result<String, String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| failed(from, &error))
}

/// Removes a directory, which need not exist.
fn remove(directory: &Path) -> Result<(), String> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(directory, &error)),
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| failed(path, &error))
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// A program and its crate.
struct Program {
    name: &'static str,
    package: &'static str,
}

const PROGRAMS: [Program; 2] =
    [Program { name: "cwnd", package: "cwnd-cli" }, Program { name: "udt", package: "cwnd-transfer" }];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_lists_crates_with_their_sums_and_libraries_of_pages() {
        let one =
            |name: &str| Dependency { name: name.to_owned(), version: "1.0.0".to_owned(), licence: "MIT".to_owned() };
        let licences = Licences { crates: vec![one("clap")], scripts: vec![one("vega")], text: String::new() };
        let sums = BTreeMap::from([(("clap".to_owned(), "1.0.0".to_owned()), "0123".to_owned())]);
        let bill = bill(&licences, &sums);
        for part in
            ["\"pkg:cargo/clap@1.0.0\"", "\"content\": \"0123\"", "\"pkg:npm/vega@1.0.0\"", "\"expression\": \"MIT\""]
        {
            assert!(bill.contains(part), "{part}: {bill}");
        }
    }

    #[test]
    fn debian_packages_have_changes_and_a_maintainer() {
        let changes = debian_changes("udt", "A <a@b.org>", "Mon, 30 Nov 2026 12:00:00 +0000");
        assert!(
            changes.starts_with("udt (") && changes.ends_with("\n -- A <a@b.org>  Mon, 30 Nov 2026 12:00:00 +0000\n"),
            "{changes}"
        );
        let manifests = PROGRAMS.map(|one| {
            fs::read_to_string(Workspace::here().path(&format!("crates/{}/Cargo.toml", one.package))).unwrap()
        });
        let [first, second] = manifests.each_ref().map(|manifest| maintainer(manifest).unwrap());
        assert!(first == second && first.ends_with('>') && first.contains(" <"), "{first}, {second}");
    }

    #[test]
    fn the_image_is_built_from_all_that_is_compiled() {
        let workspace = Workspace::here();
        let ignored = fs::read_to_string(workspace.path(".dockerignore")).unwrap();
        let mut files = Vec::new();
        crate::prose::walk(&workspace.path("crates"), "crates/", &mut files).unwrap();
        let mut included = 0;
        for file in files.iter().filter(|file| file.ends_with(".rs")) {
            let text = fs::read_to_string(workspace.path(file)).unwrap();
            for rest in text.split("include_").skip(1).filter_map(|rest| rest.split_once("!(\"")) {
                let path = links::joined(file, rest.1.split('"').next().unwrap_or_default());
                included += 1;
                let top = path.split('/').next().unwrap_or_default();
                assert!(!ignored.lines().any(|line| line == top), "{file} includes {path}");
            }
        }
        assert!(included > 20, "{included}");
    }

    #[test]
    fn each_file_has_its_checksum() {
        let place = std::env::temp_dir().join(format!("cwnd-sums-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let files = ["a.tar.gz", "b.deb"];
        for file in files {
            fs::write(place.join(file), file).unwrap();
            checked(&place.join(file)).unwrap();
        }
        let check = |file: &str| {
            let mut sums = Command::new("sha256sum");
            output(sums.current_dir(&place).args(["--check", &format!("{file}.sha256")]))
        };
        let intact = files.map(|file| check(file).is_ok());
        fs::write(place.join(files[0]), "other").unwrap();
        let changed = check(files[0]);
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(intact, [true, true]);
        assert!(changed.is_err(), "{changed:?}");
    }

    #[test]
    fn two_builds_differ_where_a_byte_or_a_file_does() {
        let place = std::env::temp_dir().join(format!("cwnd-dist-{}", std::process::id()));
        let (first, second) = (place.join("first"), place.join("second"));
        for directory in [&first, &second] {
            fs::create_dir_all(directory.join("bin")).unwrap();
            fs::write(directory.join("bin/udt"), "a").unwrap();
        }
        let found = || differences(&first, &second).unwrap();
        assert_eq!(found(), Vec::<String>::new());
        fs::write(second.join("bin/udt"), "b").unwrap();
        fs::write(first.join("README.md"), "").unwrap();
        let found = found();
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("README.md") && found[1].contains("bin/udt"), "{found:?}");
    }
}
