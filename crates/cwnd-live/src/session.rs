//! A session: one thread reads what its visitor asks for, another runs the newest of it.

use std::io;
use std::net::{IpAddr, TcpStream};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cwnd_engine::{
    Begun, Ended, Frame, Host, Limits, Paced, PageError, Prepared, Request, SLICE, hello, mismatch, read_address,
    read_text, undivided,
};
use serde_json::Value;

use crate::clock::Stopwatch;
use crate::shared::Shared;
use crate::socket::split;
use crate::visitor::Visitor;

/// A visitor, and the work to be run for it.
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

/// Work that is run for a visitor.
enum Work {
    Run { id: u32, prepared: Prepared, moving: bool },
    Pace { id: u32, document: Value, speed: f64 },
    Finish(Begun),
}

/// The visitor as the host of its runs.
struct Asked<'a> {
    visitor: &'a Visitor,
    shared: &'a Shared,
    generation: u64,
    watch: Stopwatch,
}

impl Host for Asked<'_> {
    fn send(&self, frame: &Frame) {
        self.visitor.send(frame);
    }

    fn wanted(&self) -> bool {
        self.visitor.wants(self.generation) && self.shared.goes_on()
    }

    fn now(&self) -> Duration {
        self.watch.elapsed()
    }

    fn limits(&self) -> Limits {
        let limits = &self.shared.limits;
        Limits {
            threads: NonZeroUsize::new(limits.threads).unwrap_or(NonZeroUsize::MIN),
            memory: limits.memory,
            clocked_memory: limits.clocked_memory,
            time: limits.time,
            more_memory: " (or start with a larger `--memory`)",
        }
    }
}

impl Asked<'_> {
    /// Calls `run` once there is a turn for it; none where the visitor wants it no more.
    fn in_turn<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        let _turn = self.shared.turn(self.visitor.address, || self.wanted())?;
        Some(run())
    }

    /// Runs a scenario by the clock until the visitor asks for something else.
    fn follow(&self, (id, document, speed): (u32, &Value, f64)) -> Ended {
        let Some(_place) = self.shared.clocked() else {
            return Ended::Failed("too many runs in real time: try again later".to_string());
        };
        let mut run = match Paced::new(self, id, document, speed) {
            Ok(run) => run,
            Err(ended) => return ended,
        };
        loop {
            let pulled = self.visitor.pulled();
            match self.in_turn(|| run.step(self, pulled)) {
                None => return Ended::Superseded,
                Some(Err(ended)) => return ended,
                Some(Ok(())) => self.visitor.wait(SLICE),
            }
        }
    }
}

/// Serves a visitor until the connection ends.
pub(crate) fn serve(stream: TcpStream, address: IpAddr, shared: &Shared) -> io::Result<()> {
    let (mut receiver, sender) = split(stream)?;
    let session = Session { visitor: Visitor::new(address, sender), state: Mutex::default(), changed: Condvar::new() };
    session.visitor.send(&hello());
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
            Err(error) => return self.visitor.send(&mismatch(&error)),
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
            Request::Seed { id, .. } | Request::Join { id, .. } => self.visitor.send(&undivided(id)),
            Request::Pace { id, document, speed } => match Prepared::of(&document, false) {
                Ok(_) => self.supersede(Some(Work::Pace { id, document, speed })),
                Err(refusal) => self.refuse(id, &refusal),
            },
            Request::Pull { rate, speed } => self.visitor.pull(rate, speed),
            Request::Stop => self.supersede(None),
            Request::Open { id, address } => self.visitor.send(&read_address(id, &address)),
            Request::Read { id, text } => self.visitor.send(&read_text(id, &text)),
        }
    }

    /// Ends the current run as well: its curves would not be those of the controls.
    fn refuse(&self, id: u32, refusal: &PageError) {
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

    /// Runs the requested work until the visitor leaves.
    fn work(&self, shared: &Shared) {
        // The run of which the first seed is done, and its generation.
        let mut begun = None;
        while let Some((generation, work)) = self.next(&mut begun) {
            let host = Asked { visitor: &self.visitor, shared, generation, watch: Stopwatch::start() };
            match work {
                Work::Run { id, prepared, moving } => {
                    let mut run = Begun::new(&host, id, prepared);
                    if host.in_turn(|| run.first(&host)) != Some(true) {
                        begun = None;
                    } else if moving {
                        run.complete(&host, 1);
                        begun = Some((generation, run));
                    } else {
                        begun = None;
                        host.in_turn(|| run.rest(&host));
                    }
                }
                Work::Pace { id, document, speed } => host.follow((id, &document, speed)).tell(&host, id),
                Work::Finish(mut run) => {
                    host.in_turn(|| run.rest(&host));
                }
            }
        }
    }

    /// Waits for what comes next. A run whose first seed is there goes on when that is asked for.
    fn next(&self, begun: &mut Option<(u64, Begun)>) -> Option<(u64, Work)> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return None;
            }
            if let Some(next) = state.next.take() {
                return Some(next);
            }
            if let Some((generation, run)) = begun.take_if(|(_, run)| state.finish == Some(run.id())) {
                return Some((generation, Work::Finish(run)));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
