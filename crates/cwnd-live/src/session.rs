//! A session: one thread reads what its visitor asks for, another runs the newest of it.

use std::io;
use std::net::TcpStream;
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
use crate::presets::PRESETS;
use crate::scenario::{Prepared, Refusal, read};
use crate::shared::Shared;
use crate::socket::split;
use crate::visitor::Visitor;
use crate::{paced, rule, run};

/// A visitor, and what is to be run for it.
struct Session {
    visitor: Visitor,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: Option<(u64, Work)>,
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
    let session = Session { visitor: Visitor::new(sender), state: Mutex::default(), changed: Condvar::new() };
    session.visitor.send(&Frame::from(hello()));
    thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, || session.work(shared));
        while working.is_ok() && shared.goes_on() {
            let Some(text) = receiver.text() else { break };
            session.handle(&text);
        }
        session.end();
        working.map(drop)
    })
}

impl Session {
    /// Handles a request.
    fn handle(&self, text: &str) {
        let request = match serde_json::from_str::<Request>(text) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("this page and its server are of different versions: {error}");
                return self.visitor.send(&Frame::from(json!({ "kind": "error", "message": message })));
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
            Request::Pull { rate, speed } => self.visitor.pull(rate, speed),
            Request::Stop => self.supersede(None),
            Request::Read { id, text } => match read(&text) {
                Ok(document) => {
                    self.visitor.send(&Frame::from(json!({ "kind": "document", "id": id, "document": document })));
                }
                Err(refusal) => self.visitor.send(&refusal.frame(id)),
            },
        }
    }

    /// What runs ends as well: its curves would not be those of the controls.
    fn refuse(&self, id: u32, refusal: &Refusal) {
        self.supersede(None);
        self.visitor.send(&refusal.frame(id));
    }

    fn supersede(&self, work: Option<Work>) {
        let mut state = self.lock();
        let generation = self.visitor.supersede();
        state.next = work.map(|work| (generation, work));
        drop(state);
        self.changed.notify_all();
    }

    fn end(&self) {
        self.lock().ended = true;
        self.supersede(None);
    }

    /// Runs what is asked for until the visitor leaves.
    fn work(&self, shared: &Shared) {
        while let Some((generation, work)) = self.next() {
            match work {
                Work::Run { id, prepared } => run::run(&self.visitor, shared, generation, id, &prepared),
                Work::Pace { id, document, speed } => {
                    paced::run(&self.visitor, shared, generation, (id, &document, speed));
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
