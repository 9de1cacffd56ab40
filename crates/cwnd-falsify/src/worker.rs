//! A process that evaluates for [`Workers`](crate::Workers).
//!
//! It reads requests and writes outcomes; each of its lines begins with [`MARK`], because a sender may print. It shows that it lives each time
//! that the simulator reports progress, and ends when its input does, also in the middle of a run.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::channel;
use std::thread;

use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Progress, Threads};
use cwnd_run::scenario::Scenario;
use cwnd_text::one_line;

use crate::evaluate::{MOST_MEMORY, Subject};
use crate::evaluated::Evaluated;
use crate::property::Promise;
use crate::workers::{MARK, Request};

/// Is a worker: judges the requests on standard input until it ends, and writes the outcomes to standard output. Runs are found and kept in
/// `cells`.
///
/// # Errors
/// A request cannot be read, or no outcome written.
pub fn work(cells: &Cells) -> io::Result<()> {
    let (sender, requests) = channel();
    // Whoever asks may be gone while a run does not return.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(request)) = receive(&mut input) {
            if sender.send(request).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    let executor = Executor::new(cells, &Alive).on(Threads::Calling);
    for (promise, request) in requests {
        let outcome = match (promise.parse::<Promise>(), Scenario::read("scenario", &request.scenario, &[])) {
            (Ok(promise), Ok(scenario)) => {
                let scenario = scenario.with_seeds(request.seed, 1);
                let judged = Subject::new(executor, &promise).judge_all(&[scenario]);
                judged.ok().and_then(|mut each| each.pop()?.pop()).unwrap_or_default()
            }
            (Err(error), _) => Evaluated::failed(&error),
            (_, Err(error)) => Evaluated::failed(&error.fault),
        };
        say(&outcome.words())?;
    }
    Ok(())
}

/// The next request; none at the end of the input.
fn receive(input: &mut impl BufRead) -> io::Result<Option<(String, Request)>> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let (mut promise, mut head) = (String::new(), String::new());
    if input.read_line(&mut promise)? == 0 {
        return Ok(None);
    }
    input.read_line(&mut head)?;
    let (seed, length) = head.trim_end().split_once(' ').ok_or_else(wrong)?;
    let seed = seed.parse().map_err(|_| wrong())?;
    let mut scenario = vec![0; length.parse().map_err(|_| wrong())?];
    input.read_exact(&mut scenario)?;
    let scenario = String::from_utf8(scenario).map_err(|_| wrong())?;
    Ok(Some((promise.trim_end().to_string(), Request { scenario, seed })))
}

/// Writes a line for whoever asks. What a sender has printed may lack the end of its line.
fn say(words: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    write!(output, "\n{MARK}{}\n", one_line(words))?;
    output.flush()
}

/// Shows whoever asks that a run goes on.
struct Alive;

impl Progress for Alive {
    fn should_continue(&self) -> bool {
        say("").is_ok()
    }

    fn memory(&self) -> Option<u64> {
        Some(MOST_MEMORY)
    }
}
