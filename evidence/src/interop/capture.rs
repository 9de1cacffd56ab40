//! Packets on the loopback, as Wireshark reads them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::interop::Error;

/// A capture that is running.
#[derive(Debug)]
pub(crate) struct Capture {
    child: Child,
    file: PathBuf,
    port: u16,
}

/// The packets from one port, as read by a dissector that knows nothing of this project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dissection {
    /// Packets it knew, by kind: `data`, or the number of a control type in hexadecimal digits.
    pub(crate) known: Vec<(String, u64)>,
    /// Packets that are malformed or not of UDT, as the dissector prints them.
    pub(crate) strange: Vec<String>,
}

impl Capture {
    /// Captures what goes to and from a UDP port on the loopback.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] where the user may not capture; tcpdump is missing, or has not begun after two seconds.
    pub(crate) fn start(file: &Path, port: u16) -> Result<Self, Error> {
        // 128 bytes hold the longest control packets there are, but for long loss reports.
        let arguments = ["-i", "lo", "-s", "2048", "-B", "32768", "-U", "-w"];
        let mut child = Command::new("tcpdump")
            .args(arguments)
            .arg(file)
            .args(["udp", "port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::file(Path::new("tcpdump")))?;
        // It writes the head of the file when it has begun to listen.
        let program = || "tcpdump".to_owned();
        for _ in 0..STARTS {
            sleep(START);
            if std::fs::metadata(file).is_ok_and(|file| file.len() > 0) {
                return Ok(Self { child, file: file.to_owned(), port });
            }
            if let Some(status) = child.try_wait()? {
                return Err(Error::NotCaptured { program: program(), status });
            }
        }
        child.kill()?;
        child.wait()?;
        Err(Error::Timeout { program: program(), timeout: START * STARTS })
    }

    /// Ends the capture, and has the packets read that left `from`, the port captured or another.
    ///
    /// # Errors
    /// tcpdump cannot be signalled, or tshark is missing or fails.
    pub(crate) fn dissect(mut self, from: u16) -> Result<Dissection, Error> {
        // The buffers are still to be written: the kernel hands over a block when it is full or a second old.
        sleep(Duration::from_millis(1500));
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process(pid, Signal::INT).map_err(|error| Error::Socket(error.into()))?;
        }
        self.child.wait()?;
        let known = self.tshark(&[
            "-Y",
            &format!("udp.srcport=={from} && udt"),
            "-T",
            "fields",
            "-e",
            "udt.iscontrol",
            "-e",
            "udt.type",
        ])?;
        let strange = self.tshark(&["-Y", &format!("udp.srcport=={from} && (!udt || _ws.malformed)")])?;
        let mut counts = std::collections::BTreeMap::new();
        for line in known.lines() {
            let mut fields = line.split('\t');
            let control = fields.next().is_some_and(|field| field == "1" || field == "True");
            let kind = fields.next().map(|kind| kind.trim_start_matches("0x").trim_start_matches('0'));
            let kind = if control { kind.filter(|kind| !kind.is_empty()).unwrap_or("0") } else { "data" };
            *counts.entry(kind.to_owned()).or_insert(0) += 1;
        }
        let strange = strange.lines().map(str::to_owned).collect();
        Ok(Dissection { known: counts.into_iter().collect(), strange })
    }

    fn tshark(&self, arguments: &[&str]) -> Result<String, Error> {
        let decode = format!("udp.port=={},udt", self.port);
        tshark(&self.file, &[["-d", &decode].as_slice(), arguments].concat())
    }
}

/// The output of tshark for a file.
///
/// # Errors
/// tshark is missing, or ends with a failure.
pub(crate) fn tshark(file: &Path, arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(file)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .map_err(Error::file(Path::new("tshark")))?;
    if !output.status.success() {
        return Err(Error::Ended { program: "tshark".to_owned(), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Drop for Capture {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long and how often it is looked whether tcpdump has begun.
const START: Duration = Duration::from_millis(20);
const STARTS: u32 = 100;
