//! A transport that finds out that a recovery was spurious, on a path that loses nothing.

use std::sync::{Arc, Mutex};

use cwnd::{Ack, Cause, Congestion, CongestionControl, Maker, Spec, Start, View, Wrapped, Wrapper};

use super::path::UP;

/// The state that BBR saved, and the state it restored once the recovery was known to be spurious.
#[derive(Clone, Debug)]
pub(crate) struct Undone {
    /// A loss of the recovery ended `ProbeBW_UP`.
    pub(crate) ended_probe: bool,
    pub(crate) before: Vec<(&'static str, f64)>,
    pub(crate) after: Vec<(&'static str, f64)>,
}

/// All that were undone in a run.
pub(crate) type Undoings = Arc<Mutex<Vec<Undone>>>;

/// `bbr3`, to which each recovery is reported as spurious after it.
#[derive(Clone, Debug)]
struct Reporting {
    inner: Box<dyn CongestionControl>,
    /// Its internals before the first loss of the recovery under way.
    saved: Option<Vec<(&'static str, f64)>>,
    /// It is reported with the next acknowledgement that delivers something, not at the end of a fast recovery.
    by_timeout: bool,
    ended_probe: bool,
    undone: Undoings,
}

#[derive(Debug)]
struct ReportingMaker(Spec, Undoings);

/// A flow of `algorithm` to which every recovery is reported as spurious.
pub(crate) fn reporting_spurious(algorithm: &Spec, undone: Undoings) -> Spec {
    Spec::outside("bbr3, every recovery reported as spurious", Arc::new(ReportingMaker(algorithm.clone(), undone)))
}

fn internals(algorithm: &dyn CongestionControl) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    algorithm.inspect(&mut |name, value| found.push((name, value)));
    found
}

impl Undone {
    pub(crate) fn before(&self, name: &str) -> f64 {
        value(&self.before, name)
    }

    pub(crate) fn after(&self, name: &str) -> f64 {
        value(&self.after, name)
    }
}

fn value(internals: &[(&'static str, f64)], name: &str) -> f64 {
    internals.iter().find(|(each, _)| *each == name).expect("an internal of bbr3").1
}

impl Reporting {
    fn state(&self) -> u8 {
        value(&internals(&*self.inner), "state") as u8
    }

    fn undo(&mut self, view: &View) {
        if let Some(before) = self.saved.take() {
            self.inner.on_spurious(view);
            let ended_probe = std::mem::take(&mut self.ended_probe);
            let undone = Undone { ended_probe, before, after: internals(&*self.inner) };
            self.undone.lock().expect("nobody panicked").push(undone);
        }
    }
}

impl Wrapper for Reporting {
    type Inner = dyn CongestionControl;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.inner
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.inner.on_ack(view, ack);
        if self.by_timeout {
            self.by_timeout = false;
            self.undo(view);
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        if self.saved.is_none() {
            self.saved = Some(internals(&*self.inner));
        }
        self.by_timeout |= event.cause == Cause::Timeout;
        let before = self.state();
        self.inner.on_congestion(view, event);
        self.ended_probe |= before == UP && self.state() != UP;
    }

    fn on_recovered(&mut self, view: &View) {
        self.inner.on_recovered(view);
        self.undo(view);
    }

    /// The host has found out by itself.
    fn on_spurious(&mut self, view: &View) {
        self.by_timeout = false;
        self.undo(view);
    }
}

impl Maker for ReportingMaker {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let inner = self.0.start(start).boxed_clone();
        let undone = Arc::clone(&self.1);
        Box::new(Wrapped(Reporting { inner, saved: None, by_timeout: false, ended_probe: false, undone }))
    }
}
