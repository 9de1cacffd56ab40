//! The engine of the laboratory's page as WebAssembly.

use std::fs;
use std::path::PathBuf;

use crate::licences::{ENGINE, Licences};
use crate::portability::WASM;
use crate::tool::{STD_SOURCE, WASM as WASM_TOOL};
use crate::workspace::{Workspace, run};

/// Builds `cwnd-wasm` in the profile of modules, and returns where the module is. The licences of its crates lie in the same directory.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    WASM_TOOL.required(workspace)?;
    STD_SOURCE.required(workspace)?;
    let arguments = ["rustc", "--locked", "--package", "cwnd-wasm", "--profile", PROFILE, "--target", WASM];
    let mut cargo = workspace.cargo(&arguments);
    cargo.args(SMALL_STD).env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", WITHOUT_PANICS.join("\u{1f}"));
    run(cargo.args(["--", "-C", SHORT_NUMBERS]))?;
    let built = workspace.target().join(WASM).join(PROFILE).join("cwnd_wasm.wasm");
    let directory = workspace.target().join("engine");
    let module = directory.join("cwnd.wasm");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    fs::copy(&built, &module).map_err(|error| format!("{}: {error}", built.display()))?;
    let licences = directory.join("licences.txt");
    let text = Licences::of(workspace, ENGINE)?.text;
    fs::write(&licences, text).map_err(|error| format!("{}: {error}", licences.display()))?;
    Ok(module)
}

const PROFILE: &str = "wasm";
/// The standard library is compiled with the module, and for size. These options are unstable: the stable compiler takes them where `RUSTC_BOOTSTRAP` is set.
const SMALL_STD: [&str; 2] = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];
/// A panic is a trap without a text, which the page never gets: it says that the simulator stopped.
const WITHOUT_PANICS: [&str; 3] = ["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none"];
/// Numbers of functions and addresses have as many bytes as they need, and not the five that a linker can still change.
const SHORT_NUMBERS: &str = "link-arg=--compress-relocations";
