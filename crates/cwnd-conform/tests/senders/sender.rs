//! Reno and CUBIC written from the RFCs alone, for the tests of the checks: correct in several ways, and wrong in many.
//!
//! It shares no code with the algorithms of `cwnd`, and shows its threshold by `slow_start_threshold` only.

use std::sync::Arc;

use cwnd::registry::Maker;
use cwnd::{Ack, Cause, Congestion, CongestionControl, Control, Pacing, Packets, Span, Spec, Start, Time, View};
use cwnd_conform::{Host, Law, Subject};

use super::way::{Fault, Reduction, Way};

impl Way {
    /// The subject that checks judge.
    pub(crate) fn subject(self) -> Subject {
        let name = format!("{self:?}");
        // Without ticks a timeout that is a round trip exactly would come before each retransmission has arrived.
        let granularity = if self.least_timeout < Span::from_millis(50) { Span::from_millis(10) } else { Span::ZERO };
        let host = Host { least_timeout: self.least_timeout, granularity, acks: self.acks };
        let subject = Subject::new(&name, self.law, Spec::outside(&name, Arc::new(Make(self)))).hosted(host);
        if self.rfc8312 { subject.by_rfc8312() } else { subject }
    }
}

#[derive(Debug)]
struct Make(Way);

impl Maker for Make {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let state = State {
            window: start.window.0,
            threshold: f64::INFINITY,
            credit: 0.0,
            curve: None,
            maximum: 0.0,
            next: 0,
            collapsed: false,
            reducing: None,
        };
        Box::new(Sender { way: self.0, initial: start.window.0, state, saved: None, losses: 0, marks: 0 })
    }
}

#[derive(Clone, Debug)]
struct Sender {
    way: Way,
    initial: f64,
    state: State,
    /// What was there before the last congestion.
    saved: Option<State>,
    losses: u32,
    marks: u32,
}

#[derive(Clone, Copy, Debug)]
struct State {
    window: f64,
    threshold: f64,
    /// Parts of a packet that are still to be added to a whole window.
    credit: f64,
    curve: Option<Curve>,
    /// CUBIC's last `W_max`.
    maximum: f64,
    /// Losses of packets below belong to the last cut.
    next: u64,
    collapsed: bool,
    reducing: Option<Reducing>,
}

/// A reduction under way.
#[derive(Clone, Copy, Debug)]
struct Reducing {
    from: f64,
    to: f64,
    /// Packets acknowledged since it began.
    acked: f64,
}

/// An epoch of CUBIC.
#[derive(Clone, Copy, Debug)]
struct Curve {
    maximum: f64,
    k: f64,
    estimate: f64,
    prior: f64,
    /// Seconds in which the window was used.
    age: f64,
    last: Option<Time>,
}

const C: f64 = 0.4;

impl Curve {
    fn at(&self, age: f64) -> f64 {
        C * (age - self.k).powi(3) + self.maximum
    }

    fn from(maximum: f64, window: f64, prior: f64) -> Self {
        let k = ((maximum - window).max(0.0) / C).cbrt();
        Self { maximum, k, estimate: window, prior, age: 0.0, last: None }
    }
}

impl Sender {
    fn is(&self, fault: Fault) -> bool {
        self.way.fault == Some(fault)
    }

    fn kept(&self) -> f64 {
        if self.way.law == Law::Cubic { 0.7 } else { 0.5 }
    }

    fn truncated(&self, window: f64) -> f64 {
        if self.way.whole { window.floor() } else { window }
    }

    fn in_slow_start(&self) -> bool {
        self.state.window < self.state.threshold
    }

    fn add(&mut self, packets: f64) {
        if self.way.whole {
            self.state.credit += packets;
            let whole = self.state.credit.floor();
            self.state.window += whole;
            self.state.credit -= whole;
        } else {
            self.state.window += packets;
        }
    }

    /// What one acknowledged packet adds in congestion avoidance.
    fn avoidance(&mut self, view: &View) -> f64 {
        let window = self.state.window;
        if self.way.law != Law::Cubic {
            return 1.0 / window;
        }
        let (timeout_keeps, timeout_zero) = (self.is(Fault::TimeoutKeepsMaximum), self.is(Fault::TimeoutZeroMaximum));
        let (of_now, unbounded) = (self.is(Fault::TargetOfNow), self.is(Fault::TargetUnbounded) || self.way.rfc8312);
        let rtt = view.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64());
        let longest = view.rtt.map_or(0.0, |rtt| rtt.smoothed.max(rtt.latest).as_secs_f64());
        let last_maximum = self.state.maximum;
        let curve = self.state.curve.get_or_insert_with(|| match () {
            () if timeout_keeps => Curve::from(last_maximum, window, window),
            () if timeout_zero => Curve { k: 0.0, ..Curve::from(0.0, window, window) },
            () => Curve::from(window, window, window),
        });
        let passed = curve.last.map_or(0.0, |last| view.now.since(last).as_secs_f64());
        curve.age += passed.min(longest);
        curve.last = Some(view.now);
        let alpha = if curve.estimate < curve.prior || self.way.rfc8312 { 3.0 * 0.3 / 1.7 } else { 1.0 };
        curve.estimate += alpha / window;
        if curve.at(curve.age) < curve.estimate {
            return (curve.estimate - window - self.state.credit).max(0.0);
        }
        let target = curve.at(curve.age + if of_now { 0.0 } else { rtt }).max(window);
        let target = if unbounded { target } else { target.min(1.5 * window) };
        (target - window) / window
    }

    /// The window that congestion leaves: Reno's of what was in flight (RFC 5681 equation 4), CUBIC's of the window (RFC 9438 section 4.6).
    fn reduced(&self, view: &View) -> f64 {
        let window = self.state.window;
        let of_flight = self.way.law != Law::Cubic && !self.is(Fault::ThresholdOfWindow);
        let used = if of_flight { window.min(view.in_flight as f64) } else { window };
        let least = if self.is(Fault::CutToTen) { 10.0 } else { 2.0 };
        self.truncated(self.kept() * used).max(least).min(window)
    }

    /// The window on the way to what a gradual reduction leaves.
    fn reduce(&mut self, acked: u32) {
        let Some(mut reducing) = self.state.reducing else { return };
        reducing.acked += f64::from(acked);
        let Reducing { from, to, acked } = reducing;
        let window = match self.way.reduction {
            Reduction::AtOnce => to,
            // Recovery has ended (RFC 6937 section 3).
            _ if acked >= from => to,
            Reduction::Proportional => from - acked * (from - to) / from,
            Reduction::Prr => (from - acked * (from - to) / from).ceil(),
            Reduction::Halving => from - (acked / 2.0).floor(),
        };
        self.state.window = window.max(to).min(self.state.window);
        self.state.reducing = (window > to).then_some(reducing);
    }

    /// A cut to `after`.
    fn cut(&mut self, after: f64) {
        let before = self.state.window;
        let maximum = if before < self.state.maximum { 0.85 * before } else { before };
        let mut curve = Curve::from(maximum, after, before);
        if let Some(last) = self.state.curve.filter(|_| self.is(Fault::FriendlyKept)) {
            curve.estimate = last.estimate;
        }
        let at_once = self.way.reduction == Reduction::AtOnce;
        let reducing = (!at_once).then_some(Reducing { from: before, to: after, acked: 0.0 });
        let window = if at_once { after } else { before };
        self.state =
            State { window, threshold: after, credit: 0.0, curve: Some(curve), maximum, reducing, ..self.state };
        self.state.collapsed = false;
    }
}

impl CongestionControl for Sender {
    fn control(&self) -> Control {
        let window = self.state.window;
        let unbounded = self.is(Fault::WindowUnbounded) && window >= 64.0;
        let gain = match () {
            () if self.is(Fault::PacedWithoutGain) => 1.0,
            () if self.in_slow_start() => 2.0,
            () => 1.25,
        };
        let paced = self.way.paced || self.is(Fault::PacedWithoutGain);
        let pacing = if paced { Pacing::Spread { gain } } else { Pacing::Off };
        Control { pacing, ..Control::window(Packets(if unbounded { f64::INFINITY } else { window })) }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if self.state.reducing.is_some() {
            self.reduce(ack.newly);
            return;
        }
        let repairing = view.in_recovery && !self.state.collapsed && !self.is(Fault::GrowsInRecovery);
        let unused = view.is_underused() && (self.in_slow_start() || !self.is(Fault::UnusedGrows));
        if repairing || unused || ack.marked > 0 {
            return;
        }
        let twice = self.state.collapsed && self.is(Fault::TwiceAfterTimeout);
        for _ in 0..if self.way.per_ack { ack.acks.min(ack.newly) } else { ack.newly } {
            let step = match () {
                () if !self.in_slow_start() => self.avoidance(view),
                () if twice => 2.0,
                () => 1.0,
            };
            self.add(step);
        }
    }

    fn on_recovered(&mut self, _view: &View) {
        if let Some(reducing) = self.state.reducing.take() {
            self.state.window = reducing.to;
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let timeout = event.cause == Cause::Timeout;
        let again = event.cause == Cause::Loss && self.is(Fault::LossesOfOneWindow);
        if event.first < self.state.next && !timeout && !again {
            return;
        }
        let ignored = match event.cause {
            Cause::Mark => self.is(Fault::MarksIgnored) || (self.marks > 0 && self.is(Fault::LaterMarksIgnored)),
            Cause::Timeout => false,
            _ => self.is(Fault::LossesIgnored) || (self.losses > 0 && self.is(Fault::LaterLossesIgnored)),
        };
        self.marks += u32::from(event.cause == Cause::Mark);
        self.losses += u32::from(event.cause == Cause::Loss);
        assert!(!self.is(Fault::Panics) || self.losses < 3, "the third loss");
        let after_timeout = event.cause == Cause::Loss && self.state.collapsed && self.in_slow_start();
        if ignored || after_timeout && self.is(Fault::LossAfterTimeoutIgnored) {
            return;
        }
        if !event.persistent || self.saved.is_none() {
            self.saved = Some(self.state);
        }
        let after = self.reduced(view);
        if timeout {
            if !event.persistent {
                self.state.threshold = after;
            }
            if self.is(Fault::TimeoutForgetsThreshold) {
                self.state.threshold = f64::INFINITY;
            }
            if self.is(Fault::TimeoutKeepsWindow) {
                self.cut(after);
            } else {
                self.state.maximum = self.state.window.max(if event.persistent { self.state.maximum } else { 0.0 });
                self.state =
                    State { window: 1.0, credit: 0.0, curve: None, collapsed: true, reducing: None, ..self.state };
            }
        } else {
            self.cut(after);
        }
        self.state.next = match () {
            () if self.is(Fault::RecoveryEndsEarly) => view.next - 1,
            () if self.is(Fault::RecoveryEndsLate) => view.next + 1,
            () => view.next,
        };
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        let timeout = view.rtt.map_or(Span::from_secs(1), |rtt| rtt.smoothed + rtt.variation * 4);
        let pause =
            if self.is(Fault::RestartAtOnce) { Span::from_millis(1) } else { timeout.max(self.way.least_timeout) };
        if idle <= pause || self.is(Fault::RestartKeepsWindow) {
            return;
        }
        self.state.threshold = match () {
            () if self.is(Fault::RestartForgetsThreshold) => f64::INFINITY,
            () if self.is(Fault::RestartLowersThreshold) => self.initial,
            () => self.state.threshold.max(0.75 * self.state.window),
        };
        if self.state.window > self.initial || self.is(Fault::RestartRaises) {
            self.state = State { window: self.initial, credit: 0.0, curve: None, ..self.state };
        }
        self.saved = None;
    }

    fn on_spurious(&mut self, _view: &View) {
        let Some(saved) = self.saved.take() else { return };
        let factor = if self.is(Fault::UndoDoubles) { 2.0 } else { 1.0 };
        let window = self.state.window.max(factor * saved.window);
        let mut restored = State { window, ..saved };
        if self.is(Fault::UndoForgetsThreshold) {
            restored.threshold = self.state.threshold;
        }
        if self.is(Fault::UndoForgetsCurve) {
            // The cut that is undone began an epoch at the window that is back.
            let curve = self.state.curve.unwrap_or_else(|| Curve::from(saved.window, 0.7 * saved.window, saved.window));
            restored.curve = Some(curve);
            restored.maximum = self.state.maximum;
        }
        self.state = restored;
    }

    fn slow_start_threshold(&self) -> Option<Packets> {
        Some(Packets(self.state.threshold))
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
