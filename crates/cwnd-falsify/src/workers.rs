//! Processes that evaluate, so that a run which never returns, or ends its process, is an outcome.
//!
//! A sender that is in an endless loop holds its thread for ever, and one that overflows its stack ends the process.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cwnd_run::cells::SOURCES;
use cwnd_run::execute::Interrupted;
use cwnd_text::size;

use crate::evaluated::Evaluated;
use crate::property::Promise;
use crate::sources::OWN;
use crate::worker::receive;

/// Processes that evaluate.
#[derive(Debug)]
pub struct Workers {
    /// The program with its arguments.
    command: Vec<OsString>,
    patience: Duration,
    idle: Mutex<Vec<Worker>>,
}

/// Evaluates elsewhere, such as on the workers of a cluster.
pub trait Elsewhere: fmt::Debug + Sync {
    /// The answers to requests, in their order. [`Workers::answer`] gives the answer to one.
    ///
    /// # Errors
    /// The work was interrupted.
    fn answers(&self, requests: Vec<String>) -> Result<Vec<String>, Interrupted>;
}

/// A scenario with one seed that is to be judged by a property.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) promise: String,
    pub(crate) scenario: String,
    pub(crate) seed: u64,
}

/// The sources, the property, the seed and the length of the scenario, on three lines, and the scenario.
impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { promise, scenario, seed } = self;
        write!(out, "{OWN:016x} {SOURCES}\n{promise}\n{seed} {}\n{scenario}", scenario.len())
    }
}

#[derive(Debug)]
struct Worker {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Workers {
    /// Workers that are started with `command`, a program and its arguments, which calls [`work`](crate::work). A worker that shows no sign of life for
    /// `patience` of wall time is ended.
    #[must_use]
    pub fn new(command: Vec<OsString>, patience: Duration) -> Self {
        Self { command, patience, idle: Mutex::default() }
    }

    /// Judges requests in `width` processes, the first of them first; the outcomes are in the order of the requests.
    ///
    /// # Errors
    /// `should_continue` returned false.
    pub(crate) fn judge(
        &self,
        promise: &Promise,
        requests: &[Request],
        width: usize,
        should_continue: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Evaluated>, Interrupted> {
        let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..requests.len()).collect());
        let outcomes: Mutex<Vec<Option<Evaluated>>> = Mutex::new(vec![None; requests.len()]);
        let work = || {
            while should_continue() {
                let Some(nth) = lock(&waiting).pop_front() else { break };
                let outcome = self.one(promise, &requests[nth], should_continue);
                lock(&outcomes)[nth] = outcome;
            }
        };
        thread::scope(|scope| {
            (0..width.min(requests.len())).for_each(|_| drop(scope.spawn(work)));
        });
        let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.into_iter().collect::<Option<_>>().ok_or(Interrupted)
    }

    /// The answer to a request of [`Elsewhere`], in one process.
    ///
    /// # Errors
    /// The request is of other sources, or is none. `should_continue` returned false.
    pub fn answer(&self, request: &str, should_continue: &(dyn Fn() -> bool + Sync)) -> io::Result<String> {
        let request = receive(&mut request.as_bytes())?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let promise = request.promise.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let outcome = self.one(&promise, &request, should_continue).ok_or(io::ErrorKind::Interrupted)?;
        Ok(outcome.words())
    }

    /// The outcome of a request; none if the work was interrupted.
    fn one(&self, promise: &Promise, request: &Request, should_continue: &dyn Fn() -> bool) -> Option<Evaluated> {
        let idle = lock(&self.idle).pop();
        let started = idle.map_or_else(|| Worker::start(&self.command), Ok);
        let mut worker = match started {
            Ok(worker) => worker,
            Err(error) => return Some(Evaluated::failed(&format!("a process that evaluates cannot start: {error}"))),
        };
        // One that cannot be written to has ended, which the end of its lines shows.
        let _ = worker.send(request);
        let mut silent = Duration::ZERO;
        loop {
            match worker.lines.recv_timeout(LOOK) {
                Ok(line) if line.is_empty() => silent = Duration::ZERO,
                Ok(line) => {
                    lock(&self.idle).push(worker);
                    let unread = || Evaluated::failed(&format!("a process that evaluates answered `{line}`"));
                    return Some(Evaluated::read(&line, promise).unwrap_or_else(unread));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let ended =
                        worker.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                    return Some(Evaluated::failed(&format!("the run ended its process: {ended}")));
                }
                Err(RecvTimeoutError::Timeout) => silent += LOOK,
            }
            if !should_continue() {
                return None;
            }
            if silent >= self.patience {
                let patience = self.patience.as_secs_f64();
                return Some(Evaluated::failed(&format!(
                    "the run did not go on for {patience} s of wall time, which depends on the machine"
                )));
            }
            if worker.memory().is_some_and(|bytes| bytes > MOST_RESIDENT) {
                return Some(Evaluated::failed(&format!(
                    "the run needs more than {} in its process",
                    size(MOST_RESIDENT)
                )));
            }
        }
    }
}

impl Worker {
    fn start(command: &[OsString]) -> io::Result<Self> {
        let [program, arguments @ ..] = command else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A signal to the group of this process is for it to decide on: it reports no run as failed because of it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, lines) = channel();
        // It ends with the process.
        thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
            let own = lines.filter_map(|line| Some(String::from_utf8_lossy(&line).strip_prefix(MARK)?.to_string()));
            own.map_while(|line| sender.send(line).ok()).for_each(drop);
        });
        Ok(Self { process, input, lines })
    }

    fn send(&mut self, request: &Request) -> io::Result<()> {
        write!(self.input, "{request}")?;
        self.input.flush()
    }

    /// The memory that its process holds, bytes; none where the system does not report it.
    fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    }
}

/// A worker whose run may never return is ended, not asked to end.
impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins each line of a worker.
pub(crate) const MARK: &str = "cwnd falsify: ";
/// How long a run may show no progress: the simulator reports some several times within each run, which takes seconds at most.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How often a worker is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// What the process of a worker may hold, bytes: much more than the packets and samples of a run.
const MOST_RESIDENT: u64 = 1 << 30;
