//! The engine of the laboratory's page as WebAssembly.

use std::fs;
use std::path::PathBuf;

use crate::licences::{ENGINE, Licences};
use crate::portability::WASM;
use crate::workspace::{Workspace, run};

/// Builds `cwnd-wasm` in the profile of modules, and returns where the module is. The licences of its crates lie in the same directory.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    let arguments = ["rustc", "--locked", "--package", "cwnd-wasm", "--profile", PROFILE, "--target", WASM];
    run(workspace.cargo(&arguments).args(["--", "-C", SHORT_NUMBERS]))?;
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
/// Numbers of functions and addresses have as many bytes as they need, and not the five that a linker can still change.
const SHORT_NUMBERS: &str = "link-arg=--compress-relocations";
