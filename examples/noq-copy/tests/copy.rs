//! Two processes on the loopback with a link between them: `CWND_COMMAND` is the command `udt`, which has the link.

#![expect(clippy::disallowed_methods, reason = "a transfer is measured and waited for by the clock")]

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An address of the loopback whose port is free now.
fn free() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.local_addr().expect("it is bound").to_string()
}

fn program(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_noq-copy"));
    command.args(arguments).current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_file_is_copied_with_simd_over_a_link() {
    let udt = std::env::var_os("CWND_COMMAND").expect("CWND_COMMAND is the command `udt`, which has the link");
    let directory = tempfile::tempdir().expect("a new directory");
    let content: Vec<u8> = (0..6_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(directory.path().join("file"), &content).expect("room for it");
    let (receiver, link) = (free(), free());
    let mut receiving =
        Running(program(&["receive", &receiver, "certificate", "copy"], directory.path()).spawn().expect("it starts"));
    let path = ["--rate", "40mbit", "--delay", "10ms", "--queue", "droptail:1bdp", "--duration", "60s"];
    let linking = Command::new(udt).args(["link", &link, &receiver]).args(path).stdout(Stdio::null()).spawn();
    let _linking = Running(linking.expect("CWND_COMMAND starts"));
    let begin = Instant::now();
    while !directory.path().join("certificate").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no receiver");
        thread::sleep(Duration::from_millis(20));
    }
    let sent = program(&["send", &link, "certificate", "file", "simd"], directory.path()).output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&sent.stdout), String::from_utf8_lossy(&sent.stderr));
    assert!(sent.status.success(), "{err}");
    assert!(receiving.0.wait().expect("it ends").success());
    assert!(fs::read(directory.path().join("copy")).expect("it was written") == content, "the copy differs");
    let rate =
        out.split(" at ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|rate| rate.parse::<f64>().ok());
    // It has passed the link, whose 40 Mbit/s are 39 of payload; half of that leaves room for slow start and a busy machine.
    assert!(out.contains("with simd") && rate.is_some_and(|rate| (5.0..39.5).contains(&rate)), "{out}");
}

#[test]
fn what_noq_cannot_have_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().expect("a new directory");
    let refused = |arguments: &[&str]| {
        let output = program(arguments, directory.path()).output().expect("it starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let cases: [(&[&str], &str); 4] = [
        (&["send", "127.0.0.1:9", "certificate", "file", "tfrc"], "reports of its receiver"),
        (&["send", "127.0.0.1:9", "certificate", "file", "cubik"], "cubik"),
        (&["send", "127.0.0.1:9", "certificate", "file", "simd"], "No such file"),
        (&[], "usage: noq-copy"),
    ];
    for (arguments, reason) in cases {
        let error = refused(arguments);
        assert!(error.contains(reason), "{arguments:?}: {error}");
    }
}
