//! A session: one thread reads what its visitor asks for, another runs the newest of it.

use std::io;
use std::net::{IpAddr, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cwnd::ALGORITHMS;
use cwnd_report::json::Known;
use cwnd_report::plot::colour;
use cwnd_run::scenario::Quantity;
use cwnd_sim::Era;
use serde_json::{Value, json};

use crate::message::{Frame, Request};
use crate::presets::PRESETS;
use crate::run::Begun;
use crate::scenario::{Prepared, Refusal, read};
use crate::shared::Shared;
use crate::socket::split;
use crate::visitor::Visitor;
use crate::{measures, paced, run};

/// A visitor, and what is to be run for it.
struct Session {
    visitor: Visitor,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: Option<(u64, Work)>,
    /// The run of which all seeds are wanted, after the first.
    finish: Option<u32>,
    ended: bool,
}

/// What is run.
enum Work {
    Run { id: u32, prepared: Prepared, moving: bool },
    Pace { id: u32, document: Value, speed: f64 },
    Finish(Begun),
}

/// Serves a visitor until the connection ends.
pub(crate) fn serve(stream: TcpStream, address: IpAddr, shared: &Shared) -> io::Result<()> {
    let (mut receiver, sender) = split(stream)?;
    let session = Session { visitor: Visitor::new(address, sender), state: Mutex::default(), changed: Condvar::new() };
    session.visitor.send(&Frame::from(hello()));
    thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, || session.work(shared));
        while working.is_ok() && shared.goes_on() {
            let Some(text) = receiver.text(|| session.visitor.ping()) else { break };
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
            Request::Run { id, document, apart, moving } => match Prepared::of(&document, apart) {
                Ok(prepared) => self.supersede(Some(Work::Run { id, prepared, moving })),
                Err(refusal) => self.refuse(id, &refusal),
            },
            Request::Finish { id } => {
                self.lock().finish = Some(id);
                self.changed.notify_all();
            }
            Request::Pace { id, document, speed } => match Prepared::of(&document, false) {
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
        state.finish = None;
        drop(state);
        self.changed.notify_all();
    }

    fn end(&self) {
        self.lock().ended = true;
        self.supersede(None);
    }

    /// Runs what is asked for until the visitor leaves.
    fn work(&self, shared: &Shared) {
        let mut begun = None;
        while let Some((generation, work)) = self.next(&mut begun) {
            match work {
                Work::Run { id, prepared, moving } => {
                    begun = run::begin(&self.visitor, shared, generation, (id, prepared));
                    if moving {
                        begun.iter().for_each(|begun| begun.complete(&self.visitor, 1));
                    } else if let Some(begun) = begun.take() {
                        run::finish(&self.visitor, shared, begun);
                    }
                }
                Work::Pace { id, document, speed } => {
                    paced::run(&self.visitor, shared, generation, (id, &document, speed));
                }
                Work::Finish(begun) => run::finish(&self.visitor, shared, begun),
            }
        }
    }

    /// Waits for what comes next. A run whose first seed is there goes on when that is asked for.
    fn next(&self, begun: &mut Option<Begun>) -> Option<(u64, Work)> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return None;
            }
            if let Some(next) = state.next.take() {
                return Some(next);
            }
            if let Some(begun) = begun.take_if(|begun| state.finish == Some(begun.id)) {
                return Some((begun.generation, Work::Finish(begun)));
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
    let presets = PRESETS.iter().map(|preset| {
        let document = read(preset.text).unwrap_or_default();
        json!({
            "id": preset.id, "document": document, "apart": preset.apart(),
            "claim": preset.paragraph("Claim"), "look": preset.paragraph("Look for"),
        })
    });
    json!({
        "kind": "hello",
        "version": cwnd_run::VERSION,
        "algorithms": algorithms.collect::<Vec<_>>(),
        "presets": presets.collect::<Vec<_>>(),
        "measures": measures::columns(),
        "eras": Era::words(),
    })
}
