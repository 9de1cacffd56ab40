//! The shell around a window rule: slow start, timeouts, floors, epochs, undo.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::policy::{FirstCut, Policy, SlowStart};
use crate::control::{CongestionControl, Control, Pacing};
use crate::signal::{Ack, Cause, Congestion, Limit, Start, View};
use crate::units::{Packets, Span};

/// A window algorithm, without what all of them share. Windows are real numbers of packets, as in the papers.
pub trait WindowRule: Clone + Debug + Send + 'static {
    /// The increase for one acknowledged packet in congestion avoidance, at window `w`.
    fn grow(&mut self, w: f64, view: &View) -> f64;

    /// The window after a cut at window `w`. [`epoch`](Self::epoch) follows, with the window that really came of it.
    fn cut(&mut self, w: f64, view: &View) -> f64;

    /// An epoch of congestion avoidance starts at window `after`. `before` is the window at which congestion hit; none where
    /// slow start ended by reaching its threshold. Called also where the shell set the window by a rule of its own.
    fn epoch(&mut self, _before: Option<f64>, _after: f64, _view: &View) {}

    /// The increase for one acknowledged packet in slow start, for algorithms that have their own; by default the era's.
    fn ramp(&self, _w: f64) -> Option<f64> {
        None
    }

    /// How departures are spaced.
    fn pacing(&self) -> Pacing {
        Pacing::Off
    }

    /// Named internals for traces.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// A window algorithm in its shell.
#[derive(Clone, Debug)]
pub struct Window<R> {
    rule: R,
    window: f64,
    /// Slow start below, congestion avoidance from here on.
    threshold: f64,
    max_window: f64,
    policy: Policy,
    /// The next new packet at the last decrease: congestion that hit an earlier packet belongs to that decrease.
    epoch_from: Option<u64>,
    last: LastCut,
    undo: Option<Undo<R>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastCut {
    None,
    Cut,
    Timeout,
}

#[derive(Clone, Debug)]
struct Undo<R> {
    rule: R,
    window: f64,
    threshold: f64,
}

impl<R: WindowRule> Window<R> {
    /// Puts `rule` into its shell.
    #[must_use]
    pub fn new(rule: R, start: &Start) -> Self {
        let max_window = start.max_window.0.clamp(MIN_WINDOW, MAX_WINDOW);
        Self {
            rule,
            window: start.window.0.clamp(MIN_WINDOW, max_window),
            threshold: start.threshold.map_or(f64::INFINITY, |threshold| threshold.0),
            max_window,
            policy: start.policy,
            epoch_from: None,
            last: LastCut::None,
            undo: None,
        }
    }

    /// The rule inside.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn ramp(&self) -> f64 {
        if let Some(step) = self.rule.ramp(self.window) {
            return step;
        }
        match self.policy.slow_start {
            SlowStart::Limited { max_threshold } if self.window > max_threshold => {
                // RFC 3742: K = int(cwnd / (0.5 max_ssthresh)), one packet per K acknowledged.
                1.0 / libm::floor(self.window / (0.5 * max_threshold)).max(1.0)
            }
            _ => 1.0,
        }
    }

    /// One acknowledged packet.
    fn step(&mut self, view: &View) {
        let slow_start = self.in_slow_start();
        let step = if slow_start { self.ramp() } else { self.rule.grow(self.window, view) };
        self.window = self.bounded(self.window + step);
        if slow_start && !self.in_slow_start() {
            self.rule.epoch(None, self.window, view);
        }
    }

    /// Within the floors and caps; an undefined window becomes the smallest, which `clamp` would keep undefined.
    fn bounded(&self, window: f64) -> f64 {
        window.max(MIN_WINDOW).min(self.max_window)
    }

    fn reduced(&self, window: f64) -> f64 {
        self.bounded(if self.policy.truncate { libm::floor(window) } else { window })
    }

    /// Cuts once, by the rule or by the era's first-cut rule.
    fn cut(&mut self, before: f64, view: &View) {
        let halve = self.policy.first_cut == FirstCut::Half && (self.in_slow_start() || self.last != LastCut::Cut);
        let after = if halve { before / 2.0 } else { self.rule.cut(before, view) };
        self.window = self.reduced(after);
        self.threshold = self.window.max(MIN_THRESHOLD);
        self.rule.epoch(Some(before), self.window, view);
        self.last = LastCut::Cut;
    }

    /// Recovery from a timeout begins with one packet. The rule's history is void: its next epoch starts where slow start ends.
    fn collapse(&mut self, before: f64, persistent: bool, view: &View) {
        // RFC 5681 section 3.1: a timer that expires again for the same packet does not lower the threshold again.
        if !persistent {
            let after = if self.policy.timeout_halves { before / 2.0 } else { self.rule.cut(before, view) };
            self.threshold = self.reduced(after).max(MIN_THRESHOLD);
        }
        self.window = MIN_WINDOW;
        self.last = LastCut::Timeout;
    }
}

impl<R: WindowRule> CongestionControl for Window<R> {
    fn control(&self) -> Control {
        Control { pacing: self.rule.pacing(), ..Control::window(Packets(self.window)) }
    }

    #[inline]
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let held = self.policy.validate && matches!(view.limit, Limit::Source | Limit::Peer);
        if view.in_recovery || ack.marked > 0 || held {
            return;
        }
        let steps = if self.policy.per_ack { ack.acks.min(ack.newly) } else { ack.newly };
        for _ in 0..steps.min(MAX_STEPS) {
            self.step(view);
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let same_window = self.epoch_from.is_some_and(|from| event.first < from);
        if same_window && event.cause != Cause::Timeout {
            return;
        }
        self.undo = Some(Undo { rule: self.rule.clone(), window: self.window, threshold: self.threshold });
        let before = self.window.min(view.peer_window.0).max(MIN_WINDOW);
        if event.cause == Cause::Timeout {
            self.collapse(before, event.persistent, view);
        } else {
            self.cut(before, view);
            if event.restart {
                self.window = MIN_WINDOW;
            }
        }
        self.epoch_from = Some(view.next);
    }

    fn on_restart(&mut self, view: &View, _idle: Span) {
        // RFC 5681 section 4.1: after an idle time the window is at most the initial one, and slow start probes again up to
        // what had been reached.
        if self.policy.validate {
            self.threshold = self.threshold.max(self.window);
            self.window = self.window.min(RESTART_WINDOW).min(view.peer_window.0).max(MIN_WINDOW);
        }
    }

    fn on_spurious(&mut self, _view: &View) {
        if let Some(undo) = self.undo.take() {
            self.rule = undo.rule;
            self.window = self.window.max(undo.window);
            self.threshold = undo.threshold;
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh", self.threshold);
        self.rule.inspect(visit);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// ns-2 and RFC 5681: a sender may always have one packet outstanding.
const MIN_WINDOW: f64 = 1.0;
/// 2^40 packets: more than a bandwidth-delay product on Earth, and every whole number below it is exact.
const MAX_WINDOW: f64 = 1_099_511_627_776.0;
/// An acknowledgement of more packets at once counts as one of this many: the work per signal is bounded.
const MAX_STEPS: u32 = 1 << 16;
/// RFC 5681 equation 4.
const MIN_THRESHOLD: f64 = 2.0;
/// RFC 6928: ten packets.
const RESTART_WINDOW: f64 = 10.0;
