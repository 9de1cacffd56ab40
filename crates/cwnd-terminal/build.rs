//! Passes the target, the profile and the compiler on to the programs, which print them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=CWND_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=CWND_PROFILE={}", variable("PROFILE"));
    let compiler = Command::new(variable("RUSTC")).arg("--version").output();
    let compiler = compiler.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=CWND_COMPILER={}", compiler.unwrap_or_default());
}
