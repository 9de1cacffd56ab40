//! Builds the Go of `netstack/` as a library that the program loads.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=netstack");
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("libnetstack.so");
    println!("cargo::rustc-env=NETSTACK={}", library.display());
    let mut go = Command::new("go");
    go.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]).arg(&library);
    match go.arg(".").current_dir("netstack").env("CGO_ENABLED", "1").status() {
        Ok(status) if status.success() => {}
        Ok(status) => println!("cargo::error=`go build` in foreign/gvisor/netstack ended with {status}"),
        Err(error) => println!("cargo::error=`go` did not start: {error}; gVisor needs Go (docs/foreign.md)"),
    }
}
