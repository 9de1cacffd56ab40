//! The implementations that transfer files, each with its own two programs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::interop::programs::{Demo, Programs};
use cwnd_link::Side;

use super::load::{LARGE, TREE, small_name};
use super::network::Network;
use crate::Error;
use crate::udt::clock::Stopwatch;

/// An implementation of file transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implementation {
    /// `udt send` and `udt serve`.
    Cwnd,
    /// The demos `sendfile` and `recvfile` of libudt: a file for each client.
    Libudt,
    /// `srt-file-transmit`: a file for each pair of programs.
    Srt,
    /// A TCP socket with this congestion control, for a tree with `tar` on both sides.
    Tcp(&'static str),
}

/// The files of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    Large,
    /// The first small files, of this number; all of them for implementations that transfer trees.
    Small(usize),
}

/// The programs, and where files come from and go to.
pub(crate) struct Stage<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) network: &'a Network,
    pub(crate) source: &'a Path,
    pub(crate) target: &'a Path,
}

/// A program of an implementation. It is killed when this goes out of scope.
struct Program {
    name: String,
    child: Child,
}

impl Implementation {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Cwnd => "cwnd".to_owned(),
            Self::Libudt => "libudt".to_owned(),
            Self::Srt => "SRT".to_owned(),
            Self::Tcp(algorithm) => format!("TCP ({algorithm})"),
        }
    }

    /// Whether it moves a tree at once, or a file at a time.
    pub(crate) const fn knows_trees(self) -> bool {
        matches!(self, Self::Cwnd | Self::Tcp(_))
    }
}

impl Stage<'_> {
    /// Transfers the workload; the seconds it took. The start of the server does not count.
    pub(crate) fn run(&self, who: Implementation, workload: Workload) -> Result<f64, Error> {
        let (sender, receiver) = (self.network.address(Side::Near), self.network.address(Side::Far));
        let port = self.free_port()?;
        match who {
            Implementation::Cwnd => {
                let program = beside("udt")?;
                let target = self.target.to_string_lossy();
                let at = format!("{receiver}:{port}");
                // In the clear, as the others are.
                let arguments = ["serve", &target, "--plain", "--writable", "--at", &at];
                let _server = self.serve(Side::Far, &program, &arguments, port)?;
                let what = if workload == Workload::Large { LARGE } else { TREE };
                self.client(Side::Near, &program, &["send", what, "--plain", "--to", &at])
            }
            Implementation::Tcp(algorithm) => {
                let program = std::env::current_exe().map_err(at_program)?;
                let at = format!("{receiver}:{port}");
                let what = if workload == Workload::Large { LARGE } else { TREE };
                let target = self.target.to_string_lossy();
                let mut server = self.serve(Side::Far, &program, &["tcp", "receive", &at, &target, what], port)?;
                let took = self.client(Side::Near, &program, &["tcp", "send", &at, what, algorithm])?;
                server.succeed()?;
                Ok(took)
            }
            Implementation::Libudt => {
                let port_word = port.to_string();
                let _server = self.serve(Side::Near, &self.programs.demo(Demo::SendFile), &[&port_word], port)?;
                let program = self.programs.demo(Demo::RecvFile);
                let sender = sender.to_string();
                self.each(workload, |name, path| {
                    let path = path.to_string_lossy();
                    self.client(Side::Far, &program, &[&sender, &port_word, &name.to_string_lossy(), &path])
                })
            }
            Implementation::Srt => self.each(workload, |name, path| {
                let port = self.free_port()?;
                let program = Path::new("srt-file-transmit");
                let parent = path.parent().unwrap_or(self.target).to_string_lossy();
                let last = name.file_name().unwrap_or_default().to_string_lossy();
                let (at, to) = (format!("srt://{receiver}:{port}?mode=listener"), format!("file://{parent}/"));
                let mut server = self.serve(Side::Far, program, &["-q", &at, &to], port)?;
                let from = format!("file://{}", self.source.join(name).display());
                let at = format!("srt://{receiver}:{port}?streamid={last}");
                let clock = Stopwatch::start();
                self.client(Side::Near, program, &["-q", &from, &at])?;
                server.succeed()?;
                Ok(clock.elapsed().as_secs_f64())
            }),
        }
    }

    /// One file after the other: the sum of the times.
    fn each(&self, workload: Workload, mut one: impl FnMut(&Path, &Path) -> Result<f64, Error>) -> Result<f64, Error> {
        let names: Vec<PathBuf> = match workload {
            Workload::Large => vec![LARGE.into()],
            Workload::Small(files) => (0..files).map(small_name).collect(),
        };
        let mut sum = 0.0;
        for name in names {
            let path = self.target.join(&name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|source| Error::File { path: parent.to_owned(), source })?;
            }
            sum += one(&name, &path)?;
        }
        Ok(sum)
    }

    /// Starts a program and waits until it has the port.
    fn serve(&self, end: Side, program: &Path, arguments: &[&str], port: u16) -> Result<Program, Error> {
        let server = self.start(end, program, arguments)?;
        let shown = format!(":{port:04X} ");
        let table = |name: &str| {
            let table = fs::read_to_string(format!("/proc/{}/net/{name}", server.child.id())).unwrap_or_default();
            table.lines().any(|line| line.contains(&shown))
        };
        let clock = Stopwatch::start();
        while !["udp", "udp6", "tcp"].into_iter().any(table) {
            if clock.elapsed() > TIMEOUT {
                return Err(server.failed("it never listened"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(server)
    }

    /// Runs a program to its end: the seconds it took.
    fn client(&self, end: Side, program: &Path, arguments: &[&str]) -> Result<f64, Error> {
        let clock = Stopwatch::start();
        self.start(end, program, arguments)?.succeed()?;
        Ok(clock.elapsed().as_secs_f64())
    }

    fn start(&self, end: Side, program: &Path, arguments: &[&str]) -> Result<Program, Error> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.source)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = self.network.at(end, || command.spawn().map_err(at_program))?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Program { name, child })
    }

    fn free_port(&self) -> Result<u16, Error> {
        self.network.at(Side::Far, || Ok(crate::udt::run::free()?.port()))
    }
}

impl Program {
    fn succeed(&mut self) -> Result<(), Error> {
        let clock = Stopwatch::start();
        loop {
            match self.child.try_wait().map_err(at_program)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.failed(&status.to_string())),
                None if clock.elapsed() > TIMEOUT => return Err(self.failed("it does not end")),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn failed(&self, reason: &str) -> Error {
        Error::Program { command: self.name.clone(), reason: reason.to_owned() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that was built with this one.
fn beside(name: &str) -> Result<PathBuf, Error> {
    let path = std::env::current_exe().map_err(at_program)?.with_file_name(name);
    File::open(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    Ok(path)
}

fn at_program(source: std::io::Error) -> Error {
    Error::File { path: "a program".into(), source }
}

/// Nothing measured here takes that long.
const TIMEOUT: Duration = Duration::from_secs(240);
