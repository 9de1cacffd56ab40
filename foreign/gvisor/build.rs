//! Builds the Go of `netstack/` as a library that the program loads.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=netstack");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let library = out.join("libnetstack.so");
    println!("cargo::rustc-env=NETSTACK={}", library.display());
    let mut go = Command::new("go");
    go.arg("build");
    if env::var_os("CARGO_FEATURE_MENDED").is_some() {
        go.arg("-modfile").arg(mended(&out));
    }
    go.args(["-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]).arg(&library);
    match go.arg(".").current_dir("netstack").env("CGO_ENABLED", "1").status() {
        Ok(status) if status.success() => {}
        Ok(status) => println!("cargo::error=`go build` in foreign/gvisor/netstack ended with {status}"),
        Err(error) => println!("cargo::error=`go` did not start: {error}; gVisor needs Go (docs/foreign.md)"),
    }
}

/// A `go.mod` whose gVisor is a copy with the change of `docs/upstream/gvisor-reno.md`: overlays may not replace files of a fetched module.
fn mended(out: &Path) -> PathBuf {
    let module = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "gvisor.dev/gvisor"];
    let module = Command::new("go").args(module).current_dir("netstack").output().expect("`go list` starts");
    let module = PathBuf::from(String::from_utf8(module.stdout).expect("a path of text").trim());
    let [copy, changed] = [out.join("gvisor"), out.join("go.mod")];
    copy_all(&module.join("pkg"), &copy.join("pkg")).unwrap_or_else(|error| panic!("{}: {error}", copy.display()));
    write(&copy.join("go.mod"), &read(&module.join("go.mod")));
    let reno = Path::new("pkg/tcpip/transport/tcp/reno.go");
    let source = read(&module.join(reno));
    assert_eq!(source.matches(FAULT).count(), 1, "{} has changed", reno.display());
    write(&copy.join(reno), &source.replacen(FAULT, CHANGE, 1));
    let replace = format!("replace gvisor.dev/gvisor => {}\n", copy.display());
    write(&changed, &(read(Path::new("netstack/go.mod")) + &replace));
    write(&out.join("go.sum"), &read(Path::new("netstack/go.sum")));
    changed
}

/// Copies a directory; the files of a module are read-only, their copies are not.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The remainder is that of the window after its growth.
const FAULT: &str = "\
\t\tr.s.SndCwnd += r.s.SndCAAckCount / r.s.SndCwnd
\t\tr.s.SndCAAckCount = r.s.SndCAAckCount % r.s.SndCwnd
";
const CHANGE: &str = "\
\t\tgrown := r.s.SndCAAckCount / r.s.SndCwnd
\t\tr.s.SndCAAckCount %= r.s.SndCwnd
\t\tr.s.SndCwnd += grown
";
