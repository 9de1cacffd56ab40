//! The life of a flow: all that is measured of a flow is measured from its start to its end, as far as that lies in a window.
//!
//! A flow lives from its start, as drawn, until its application stops or the last packet of a finite flow arrives, otherwise to the end
//! of the run. It takes part in a window if its life lies inside, or shares at least a round trip without queueing with it: over less
//! than that, the packets on the way when it begins or ends outweigh all others.

use cwnd_trace::{FlowTrace, Trace};

use super::curve::{Curve, NANOS_PER_SECOND, Window};

/// The part of a flow's life that lies in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life<'a> {
    trace: &'a Trace,
    flow: &'a FlowTrace,
    /// That part.
    pub(crate) span: Window,
    /// Where its counters are read. Before its start and after its last packet they stand still, and the trace may have no sample there.
    counted: Window,
}

/// From the start of a flow to its end.
#[must_use]
pub fn lifetime(trace: &Trace, flow: &FlowTrace) -> Window {
    let from = flow.start.saturating_add(flow.late);
    let completed = flow.completed.map(|after| from.saturating_add(after));
    let to = flow.stop.into_iter().chain(completed).fold(trace.end, u64::min);
    Window { from, to }
}

/// Whether a flow is there during all of `window`.
#[must_use]
pub(crate) fn is_throughout(trace: &Trace, flow: &FlowTrace, window: Window) -> bool {
    let life = lifetime(trace, flow);
    life.from <= window.from && life.to >= window.to
}

impl<'a> Life<'a> {
    /// What a flow has of `window`; none if it does not take part in it.
    pub(crate) fn within(trace: &'a Trace, flow: &'a FlowTrace, window: Window) -> Option<Self> {
        let life = lifetime(trace, flow);
        let span = Window { from: life.from.max(window.from), to: life.to.min(window.to) };
        let length = span.to.checked_sub(span.from).filter(|length| *length > 0)?;
        let whole = span == life && life.to < trace.end;
        let to = flow.stop.map_or(window.to, |stop| stop.min(window.to));
        let counted = Window { from: window.from, to };
        let throughout = span == window;
        (whole || throughout || length >= flow.base_rtt).then_some(Self { trace, flow, span, counted })
    }

    /// How far a cumulative count rises.
    pub(crate) fn rise(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        Curve::new(&self.trace.at, of(self.flow)).rise(self.counted)
    }

    /// The rise of a cumulative count per second.
    pub(crate) fn per_second(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        self.rise(of) / self.span.seconds()
    }

    /// The share of the time during which the application had nothing to send. After its last packet a finite flow has nothing to send either.
    pub(crate) fn source_limited(&self) -> f64 {
        let beyond = self.counted.to - self.span.to;
        let nanos = self.rise(|flow| &flow.source_limited) - beyond as f64;
        (nanos / NANOS_PER_SECOND / self.span.seconds()).clamp(0.0, 1.0)
    }

    /// Where packets that were sent, found lost or retransmitted are counted: in the window, except for a finite flow that has
    /// completed by its end. A transfer is counted whole. Cut at the warm-up, losses of the packets sent before would be divided
    /// by what was sent after.
    fn transmissions(&self) -> Window {
        let completed = self.flow.completed.is_some() && self.span.to < self.counted.to;
        if completed { Window { from: 0, ..self.counted } } else { self.counted }
    }

    /// How far a count of transmissions rises.
    pub(crate) fn sent(&self, of: impl Fn(&FlowTrace) -> &[u64]) -> f64 {
        Curve::new(&self.trace.at, of(self.flow)).rise(self.transmissions())
    }

    /// Transmissions whose fate the sender has learnt: those sent, with what was in flight at the beginning and without what still is.
    pub(crate) fn settled(&self) -> f64 {
        let outstanding = Curve::new(&self.trace.at, &self.flow.in_flight).rise(self.transmissions());
        self.sent(|flow| &flow.sent) - outstanding
    }
}

/// Seconds of `window` during which at least one of `lives` lasts.
pub(crate) fn seconds_of_all(lives: &[Life<'_>]) -> f64 {
    let mut spans: Vec<Window> = lives.iter().map(|life| life.span).collect();
    spans.sort_by_key(|span| span.from);
    let mut covered = 0.0;
    let mut until = 0;
    for span in spans {
        let new = Window { from: span.from.max(until), to: span.to };
        covered += new.seconds();
        until = until.max(span.to);
    }
    covered
}
