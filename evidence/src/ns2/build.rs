//! ns-2 as Debian has it, and the author's agents of UDT as libraries that it loads.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::agents::Agent;
use crate::Error;

/// Where sources are unpacked and libraries built.
pub(crate) fn scratch() -> PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name("ns2")
}

/// As Debian names it.
pub(crate) fn version() -> Result<String, Error> {
    output(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", "ns2"]))
}

/// Builds the library of an agent, if it is not there.
pub(crate) fn build(root: &Path, agent: &Agent) -> Result<PathBuf, Error> {
    let directory = scratch().join(format!("udt-{}", agent.release));
    let library = directory.join("udt.so");
    if library.exists() {
        return Ok(library);
    }
    let headers = headers()?;
    let repository = repository()?;
    create(&directory)?;
    for file in ["udt.cc", "udt.h"] {
        let mut git = Command::new("git");
        git.arg("--git-dir").arg(&repository).arg("show").arg(format!("{}:sim/{file}", agent.commit));
        write(&directory.join(file), &output(&mut git)?)?;
    }
    let mut command = Command::new("g++");
    command.args(OPTIONS).arg("-I").arg(&directory).arg("-I").arg(scratch());
    for part in PARTS {
        command.arg("-I").arg(headers.join(part));
    }
    command.args(["-I/usr/include/tclcl", "-I/usr/include/tcl"]);
    command.arg(root.join("evidence/ns2/agent.cc")).arg("-o").arg(&library);
    output(&mut command)?;
    Ok(library)
}

/// Runs a script; gives what it printed.
pub(crate) fn run(root: &Path, script: &str, seed: u64, library: Option<&Path>) -> Result<String, Error> {
    create(&scratch())?;
    let words = root.join("evidence/ns2/network.tcl");
    let library = library.map(|library| library.display().to_string()).unwrap_or_default();
    let text = format!("source {{{}}}\nbegin {seed} {{{library}}}\n{script}", words.display());
    let mut file = tempfile::Builder::new().suffix(".tcl").tempfile_in(scratch()).map_err(at(&scratch()))?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(at(file.path()))?;
    output(Command::new("ns").arg(file.path()))
}

/// A git directory with the author's releases: that of `CWND_UDT_AGENTS`, else a clone.
fn repository() -> Result<PathBuf, Error> {
    if let Some(given) = std::env::var_os("CWND_UDT_AGENTS") {
        let given = PathBuf::from(given);
        let inside = given.join(".git");
        return Ok(if inside.exists() { inside } else { given });
    }
    let clone = scratch().join("udt.git");
    if !clone.exists() {
        create(&scratch())?;
        output(Command::new("git").args(["clone", "--quiet", "--bare", RELEASES]).arg(&clone))?;
    }
    Ok(clone)
}

/// ns-2's headers, which Debian packs with the sources only.
fn headers() -> Result<PathBuf, Error> {
    let directory = scratch().join("source");
    let unpacked = directory.join("ns-2.35");
    if !unpacked.exists() {
        let lists = directory.join("lists");
        create(&lists.join("partial"))?;
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or("stable");
        let sources = directory.join("sources.list");
        write(&sources, &format!("deb-src http://deb.debian.org/debian {suite} main\n"))?;
        // Lists of its own: those of the machine need not name sources.
        let apt = |words: &[&str]| {
            let mut command = Command::new("apt-get");
            command.arg("-qq").arg("-o").arg(format!("Dir::Etc::sourcelist={}", sources.display()));
            command.args(["-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User="]);
            command.arg("-o").arg(format!("Dir::State::lists={}", lists.display()));
            output(command.args(words).current_dir(&directory))
        };
        apt(&["update"])?;
        apt(&["source", "--download-only", "--tar-only", "ns2"])?;
        let archives =
            std::fs::read_dir(&directory).map_err(at(&directory))?.filter_map(Result::ok).map(|entry| entry.path());
        let archive = archives.filter(|path| path.to_string_lossy().contains(".orig.tar")).last();
        let archive = archive.ok_or_else(|| Error::Program {
            command: "apt-get source ns2".to_owned(),
            reason: "no archive".to_owned(),
        })?;
        output(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&directory).args(["--wildcards", "*.h"]))?;
    }
    // The options have the results of ns-2's `configure`; the file must be there.
    write(&scratch().join("autoconf.h"), "")?;
    Ok(unpacked)
}

fn output(command: &mut Command) -> Result<String, Error> {
    crate::ns3::output(command)
}

fn create(directory: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(at(directory))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    |source| Error::File { path, source }
}

const RELEASES: &str = "https://github.com/notpeter/udt";

/// The directories of ns-2 that headers lie in.
const PARTS: &[&str] = &[
    ".",
    "common",
    "link",
    "queue",
    "tools",
    "tcp",
    "trace",
    "mobile",
    "routing",
    "apps",
    "classifier",
    "mcast",
    "mac",
];

/// The agents are of a time of looser compilers (`-w`), alias as C did, and count on members being zero before a constructor
/// runs, which only `-fno-lifetime-dse` keeps. The definitions are those ns-2 was configured with, where classes depend on them.
const OPTIONS: &[&str] = &[
    "-std=gnu++14",
    "-O2",
    "-w",
    "-fno-strict-aliasing",
    "-fno-lifetime-dse",
    "-fPIC",
    "-shared",
    "-Wl,-Bsymbolic",
    "-DUSE_INTERP_RESULT",
    "-DTCLCL_CLASSINSTVAR",
    "-DNDEBUG",
    "-DCPP_NAMESPACE=std",
    "-DSTDC_HEADERS",
    "-DHAVE_STRING_H",
    "-DHAVE_STRINGS_H",
    "-DHAVE_STL",
    "-DHAVE_INT64",
    "-DSIZEOF_LONG=8",
    "-DHAVE_SNPRINTF",
    "-DHAVE_STRTOLL",
    "-DHAVE_NETINET_IN_H",
    "-DHAVE_ARPA_INET_H",
];
