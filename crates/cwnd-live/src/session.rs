//! A visitor: one thread reads what is asked for, another runs the newest of it.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cwnd::ALGORITHMS;
use cwnd_lab::compare::COLUMNS;
use cwnd_report::json::Known;
use cwnd_report::plot::colour;
use cwnd_run::scenario::Quantity;
use cwnd_sim::Era;
use serde_json::{Value, json};

use crate::message::{Frame, Request};
use crate::paced::{self, Pulled};
use crate::presets::PRESETS;
use crate::rule;
use crate::run::{self, Prepared, Refusal, scenario};
use crate::server::Shared;
use crate::socket::{Sender, split};

/// One page that is open somewhere.
pub(crate) struct Visitor {
    sender: Sender,
    /// Grows with everything that supersedes a run.
    generation: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: Option<(u64, Work)>,
    pulled: Pulled,
    ended: bool,
}

/// What is run.
enum Work {
    Run { id: u32, prepared: Prepared },
    Pace { id: u32, document: Value, speed: f64 },
}

/// Serves a visitor until the connection ends.
pub(crate) fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let (mut receiver, sender) = split(stream)?;
    let visitor = Visitor { sender, generation: AtomicU64::new(0), state: Mutex::default(), changed: Condvar::new() };
    visitor.send(&Frame::from(hello()));
    thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, || visitor.work(shared));
        while working.is_ok() && shared.goes_on() {
            let Some(text) = receiver.text() else { break };
            visitor.take_in(&text);
        }
        visitor.end();
        working.map(drop)
    })
}

impl Visitor {
    /// Sends an answer.
    pub(crate) fn send(&self, frame: &Frame) {
        self.sender.send(frame.encode());
    }

    /// Whether nothing newer is asked for.
    pub(crate) fn wants(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Relaxed) == generation
    }

    /// What was pulled since it was last asked.
    pub(crate) fn pulled(&self) -> Pulled {
        std::mem::take(&mut self.lock().pulled)
    }

    /// Waits for at most so long, and no longer once something changes.
    pub(crate) fn wait(&self, time: std::time::Duration) {
        let state = self.lock();
        drop(self.changed.wait_timeout(state, time));
    }

    fn take_in(&self, text: &str) {
        let request = match serde_json::from_str::<Request>(text) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("this page and its server are of different versions: {error}");
                return self.send(&Frame::from(json!({ "kind": "error", "message": message })));
            }
        };
        match request {
            Request::Run { id, document, apart, most_seeds } => match Prepared::of(&document, apart, most_seeds) {
                Ok(prepared) => self.supersede(Some(Work::Run { id, prepared })),
                Err(refusal) => self.refuse(id, &refusal),
            },
            Request::Pace { id, document, speed } => match Prepared::of(&document, false, Some(1)) {
                Ok(_) => self.supersede(Some(Work::Pace { id, document, speed })),
                Err(refusal) => self.refuse(id, &refusal),
            },
            Request::Pull { rate, speed } => {
                let mut state = self.lock();
                state.pulled.rate = rate.or(state.pulled.rate.take());
                state.pulled.speed = speed.or(state.pulled.speed);
                drop(state);
                self.changed.notify_all();
            }
            Request::Stop => self.supersede(None),
            Request::Read { id, text } => match read(&text) {
                Ok(document) => {
                    self.send(&Frame::from(json!({ "kind": "document", "id": id, "document": document })));
                }
                Err(refusal) => self.send(&refusal.frame(id)),
            },
        }
    }

    /// What runs ends as well: its curves would not be those of the controls.
    fn refuse(&self, id: u32, refusal: &Refusal) {
        self.supersede(None);
        self.send(&refusal.frame(id));
    }

    fn supersede(&self, work: Option<Work>) {
        let mut state = self.lock();
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        state.next = work.map(|work| (generation, work));
        state.pulled = Pulled::default();
        drop(state);
        self.changed.notify_all();
    }

    fn end(&self) {
        let mut state = self.lock();
        self.generation.fetch_add(1, Ordering::Relaxed);
        state.next = None;
        state.ended = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Runs what is asked for until the visitor leaves.
    fn work(&self, shared: &Shared) {
        while let Some((generation, work)) = self.next() {
            match work {
                Work::Run { id, prepared } => run::run(self, shared, generation, id, &prepared),
                Work::Pace { id, document, speed } => {
                    paced::run(self, shared, generation, (id, &document, speed));
                }
            }
        }
    }

    fn next(&self) -> Option<(u64, Work)> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return None;
            }
            if let Some(next) = state.next.take() {
                return Some(next);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A TOML document with the keys that it has, checked.
pub(crate) fn read(text: &str) -> Result<Value, Refusal> {
    let table = text.parse::<toml::Table>().ok().and_then(|table| serde_json::to_value(table).ok());
    // What is no TOML is refused below, with its place.
    let document = table.unwrap_or(Value::Null);
    scenario("scenario.toml", text, &document, &[])?;
    Ok(document)
}

/// What a page needs to know before its first run.
fn hello() -> Value {
    let algorithms = ALGORITHMS.iter().map(|entry| {
        let colour = colour::of(entry.name);
        json!({ "known": Known::of(entry), "light": colour.light, "dark": colour.dark })
    });
    let colour = colour::of(rule::NAME);
    let parameters = rule::PARAMETERS.map(|(name, default, help)| {
        json!({ "name": name, "help": help, "unit": "", "default": default, "accepted": rule::SYNTAX })
    });
    let own = json!({
        "known": {
            "name": rule::NAME, "title": "A rule of your own, in the shell of all window algorithms", "family": "own",
            "source": "This page alone knows it", "parameters": parameters,
        },
        "light": colour.light, "dark": colour.dark,
    });
    let algorithms = algorithms.chain([own]);
    let presets = PRESETS.iter().map(|preset| {
        let document = read(preset.text).unwrap_or_default();
        json!({
            "id": preset.id, "document": document, "apart": preset.apart(),
            "claim": preset.paragraph("Claim"), "look": preset.paragraph("Look for"),
        })
    });
    let measures = COLUMNS.iter().map(
        |column| json!({ "key": column.key, "title": column.heading, "unit": column.unit, "scale": column.scale }),
    );
    json!({
        "kind": "hello",
        "version": cwnd_run::VERSION,
        "algorithms": algorithms.collect::<Vec<_>>(),
        "presets": presets.collect::<Vec<_>>(),
        "measures": measures.collect::<Vec<_>>(),
        "eras": Era::words(),
    })
}
