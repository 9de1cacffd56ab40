//! Programs on libudt: the partner in this crate, and the demos that Debian ships with the library.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::interop::{Error, clock};

/// Where the programs are.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    directory: PathBuf,
}

/// A program that is running. It is killed when this goes out of scope.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    child: Child,
}

/// The report of a partner, ours or libudt's, at its end.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct PartnerReport {
    /// Until the connection was open.
    pub(crate) connect_s: f64,
    /// Payload bytes handed to the library.
    pub(crate) sent: u64,
    /// Payload bytes received from it.
    pub(crate) received: u64,
    /// Messages received from it.
    pub(crate) messages: u64,
    /// Received packets with a smaller number than one before.
    pub(crate) out_of_order: u64,
    /// Bytes that `receive-all` received in each second after the first byte.
    pub(crate) received_each_second: Vec<u64>,
    /// The duration of the steps.
    pub(crate) transfer_s: f64,
    /// Processor time of the whole program.
    pub(crate) cpu_s: f64,
    /// Data packets sent, retransmissions included.
    pub(crate) packets_sent: u64,
    /// Data packets retransmitted.
    pub(crate) retransmitted: u64,
    /// Data packets that the peer reported lost.
    pub(crate) losses_reported: u64,
    /// The time between two packets, as the congestion control has it at the end.
    pub(crate) period_us: f64,
    /// The round-trip time at the end.
    pub(crate) rtt_ms: f64,
    /// The failed step, if any.
    pub(crate) failed: Option<String>,
    /// libudt's number for it; 0 if the error is not the library's.
    pub(crate) code: i32,
    /// The state of this side's sender over time, with the option `sample=1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples: Vec<Sample>,
}

/// A sender at an instant.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Seconds since 1970.
    pub(crate) unix_s: f64,
    /// Data packets so far: sent.
    pub(crate) sent: u64,
    /// Retransmitted packets among them.
    pub(crate) retransmitted: u64,
    /// Payload bytes acknowledged.
    pub(crate) acked_bytes: u64,
    /// Data packets found lost.
    pub(crate) lost: u64,
    /// Retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Packets that the congestion control allows in flight.
    pub(crate) window: f64,
    /// Packets in flight.
    pub(crate) in_flight: u64,
    /// Smoothed, seconds; 0 before it is known.
    pub(crate) rtt_s: f64,
    /// Packets per second; 0 while there is no pacing.
    pub(crate) rate_pps: f64,
}

/// A demo of libudt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demo {
    /// Serves files.
    SendFile,
    /// Fetches one.
    RecvFile,
    /// Discards the data it receives.
    AppServer,
    /// Sends without end.
    AppClient,
}

impl Programs {
    /// Where they are kept from run to run.
    #[must_use]
    pub(crate) fn directory() -> PathBuf {
        let target = option_env!("CARGO_TARGET_DIR").map(PathBuf::from);
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")).join("libudt")
    }

    /// Compiles programs that are missing or older than their source.
    ///
    /// # Errors
    /// A source of libudt's demos is missing, the directory cannot be written, or g++ or gzip fails.
    pub(crate) fn build(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(Error::file(directory))?;
        let programs = Self { directory: directory.to_owned() };
        compile(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/partner.cpp"),
            &programs.partner(),
            &["-std=c++17"],
        )?;
        for demo in [Demo::SendFile, Demo::RecvFile, Demo::AppServer, Demo::AppClient] {
            let source = programs.source(demo)?;
            // As its Makefile would on this machine, and with a header it forgets.
            let flags = ["-DLINUX", "-DAMD64", "-I/usr/include/udt", "-include", "unistd.h", "-w"];
            compile(&source, &programs.demo(demo), &flags)?;
        }
        Ok(programs)
    }

    /// The partner.
    #[must_use]
    pub(crate) fn partner(&self) -> PathBuf {
        self.directory.join("partner")
    }

    /// A demo.
    #[must_use]
    pub(crate) fn demo(&self, demo: Demo) -> PathBuf {
        self.directory.join(demo.name())
    }

    /// The source of a demo; Debian compresses some of them, depending on their size.
    fn source(&self, demo: Demo) -> Result<PathBuf, Error> {
        let packed = Path::new(EXAMPLES).join(format!("{}.cpp.gz", demo.name()));
        if !packed.exists() {
            return Ok(Path::new(EXAMPLES).join(format!("{}.cpp", demo.name())));
        }
        let unpacked = self.directory.join(format!("{}.cpp", demo.name()));
        let file = File::create(&unpacked).map_err(Error::file(&unpacked))?;
        run(Command::new("gzip").arg("-dc").arg(&packed).stdout(file))?;
        // It includes a header of its directory.
        for header in ["cc.h", "test_util.h"] {
            fs::copy(Path::new(EXAMPLES).join(header), self.directory.join(header)).map_err(Error::file(&unpacked))?;
        }
        Ok(unpacked)
    }
}

impl Demo {
    const fn name(self) -> &'static str {
        match self {
            Self::SendFile => "sendfile",
            Self::RecvFile => "recvfile",
            Self::AppServer => "appserver",
            Self::AppClient => "appclient",
        }
    }
}

impl Running {
    /// Starts a program and waits until it prints `ready` on its standard error.
    ///
    /// # Errors
    /// The program is missing or cannot be executed.
    pub(crate) fn start<S: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let mut running = Self::launch(program, arguments)?;
        let said = running.child.stderr.take();
        for line in said.map(BufReader::new).into_iter().flat_map(BufRead::lines) {
            if line.is_ok_and(|line| line == "ready") {
                break;
            }
        }
        Ok(running)
    }

    /// Starts a program that does not print when it is ready.
    ///
    /// # Errors
    /// The program is missing or cannot be executed.
    pub(crate) fn launch<S: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let child = command.spawn().map_err(Error::file(program))?;
        Ok(Self { name, child })
    }

    /// Its process.
    #[must_use]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Memory it occupies, bytes.
    #[must_use]
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
    }

    /// The exit status, once it has ended.
    ///
    /// # Errors
    /// The system call fails.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.child.try_wait().map_err(Error::file(Path::new(&self.name)))
    }

    /// Waits for its end and reads its report.
    ///
    /// # Errors
    /// It is still running after `timeout`, or its output is no report.
    pub(crate) fn finish(mut self, timeout: Duration) -> Result<PartnerReport, Error> {
        self.wait(timeout)?;
        let mut text = String::new();
        if let Some(mut out) = self.child.stdout.take() {
            out.read_to_string(&mut text).map_err(Error::file(Path::new(&self.name)))?;
        }
        serde_json::from_str(&text).map_err(|_| Error::Output { program: self.name.clone(), text })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It is still running after `timeout`.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Result<ExitStatus, Error> {
        let deadline = clock::now() + timeout;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if clock::now() > deadline {
                return Err(Error::Timeout { program: self.name.clone(), timeout });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills it, so that its peer gets no shutdown.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl PartnerReport {
    /// The report of a program that carried out all its steps.
    ///
    /// # Errors
    /// [`Error::Failed`] with the step that was not carried out.
    pub(crate) fn succeeded(self) -> Result<Self, Error> {
        match &self.failed {
            None => Ok(self),
            Some(what) => Err(Error::Failed { what: what.clone(), code: self.code }),
        }
    }
}

/// Compiles one file with libudt, unless that has been done.
fn compile(source: &Path, program: &Path, flags: &[&str]) -> Result<(), Error> {
    let modified = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    if modified(program).is_some_and(|built| Some(built) >= modified(source)) {
        return Ok(());
    }
    let mut command = Command::new("g++");
    run(command.arg("-O2").args(flags).arg(source).arg("-o").arg(program).args(["-ludt", "-lpthread"]))
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(Error::file(Path::new(&program)))?;
    if status.success() { Ok(()) } else { Err(Error::Ended { program, status }) }
}

const EXAMPLES: &str = "/usr/share/doc/libudt-dev/examples";
