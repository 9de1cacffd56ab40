//! A process that evaluates for [`Workers`](crate::Workers).
//!
//! It reads requests and writes outcomes; each of its lines begins with [`MARK`], because a sender may print. It shows that it lives each time
//! that the simulator reports progress, and ends when its input does, also in the middle of a run.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::channel;
use std::thread;

use cwnd_run::cells::{Cells, SOURCES};
use cwnd_run::execute::{Executor, Progress, Threads};
use cwnd_run::scenario::Scenario;
use cwnd_text::one_line;

use crate::evaluate::{MOST_MEMORY, Subject};
use crate::evaluated::Evaluated;
use crate::property::Promise;
use crate::sources::OWN;
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
    for request in requests {
        let outcome = match (request.promise.parse::<Promise>(), Scenario::read("scenario", &request.scenario, &[])) {
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
///
/// # Errors
/// It is of other sources, or is no request.
pub(crate) fn receive(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let wrong = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason);
    let (mut sources, mut promise, mut head) = (String::new(), String::new(), String::new());
    if input.read_line(&mut sources)? == 0 {
        return Ok(None);
    }
    if sources.trim_end() != format!("{OWN:016x} {SOURCES}") {
        return Err(wrong("the request is of other sources of the simulator or of the search"));
    }
    input.read_line(&mut promise)?;
    input.read_line(&mut head)?;
    let no_head = || wrong("the request has no seed with the length of a scenario");
    let (seed, length) = head.trim_end().split_once(' ').ok_or_else(no_head)?;
    let seed = seed.parse().map_err(|_| no_head())?;
    let mut scenario = vec![0; length.parse().map_err(|_| no_head())?];
    input.read_exact(&mut scenario)?;
    let scenario = String::from_utf8(scenario).map_err(|_| wrong("the scenario is not UTF-8"))?;
    Ok(Some(Request { promise: promise.trim_end().to_string(), scenario, seed }))
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
