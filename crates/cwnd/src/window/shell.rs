//! The shell around a window rule: slow start, timeouts, floors, epochs, undo.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::exit::Exit;
use super::limited::Flights;
use super::policy::{FirstCut, Policy, RateLimited, SlowStart};
use super::resume::{Effect, Resumption};
use crate::bounded::Bounded;
use crate::control::{CongestionControl, Control, Pacing};
use crate::signal::{Ack, Cause, Congestion, Start, View};
use crate::units::{Packets, Span};

/// The part of a window algorithm that differs from the others. Windows are real numbers of packets, as in the papers.
pub trait WindowRule: Clone + Debug + Send + 'static {
    /// The increase for one acknowledged packet in congestion avoidance, at window `w`; negative where the delay calls for a smaller window.
    fn grow(&mut self, w: f64, view: &View) -> f64;

    /// The increase for `acked` acknowledged packets at once, of which each counts as the first: a model's step.
    fn grow_by(&mut self, w: f64, acked: f64, view: &View) -> f64 {
        acked * self.grow(w, view)
    }

    /// By how many packets the acknowledgements of one whole window of `flight` packets make that window grow in congestion avoidance: for
    /// the limit of draft-ietf-ccwg-ratelimited-increase section 3.
    fn growth_of(&self, flight: f64, view: &View) -> f64 {
        self.clone().grow_by(flight, flight, view)
    }

    /// The window after a cut at window `w`. [`epoch`](Self::epoch) follows, with the window that really came of it.
    fn cut(&mut self, w: f64, view: &View) -> f64;

    /// The window after a cut for marks of routers, for algorithms that cut less for a mark than for a loss.
    fn cut_for_marks(&mut self, w: f64, view: &View) -> f64 {
        self.cut(w, view)
    }

    /// Whether [`cut`](Self::cut) is called with the packets in flight in place of the window, where application or receiver let the sender use
    /// less than its window: `FlightSize` of RFC 5681 equation 4. By default it is the window, as in RFC 9002 section 7.3.2. Eras without window
    /// validation have the window throughout.
    fn cuts_flight(&self) -> bool {
        false
    }

    /// The least window that congestion leaves, packets, for algorithms that have their own; by default the era's.
    fn floor(&self) -> Option<f64> {
        None
    }

    /// See [`CongestionControl::needs_marks`].
    fn needs_marks(&self) -> bool {
        false
    }

    /// An acknowledgement arrived, in whatever phase, also where no window grows on it: for algorithms that measure.
    fn observe(&mut self, _view: &View, _ack: &Ack) {}

    /// An epoch of congestion avoidance starts at window `after`. `before` is the window at which congestion hit, also where
    /// the shell cut by a rule of its own. None where there is no such window: slow start ended, by reaching its threshold or because
    /// congestion hits in it just now. The first [`grow`](Self::grow) or [`cut`](Self::cut) always comes after such a call.
    fn epoch(&mut self, _before: Option<f64>, _after: f64, _view: &View) {}

    /// The increase for one acknowledged packet in slow start, for algorithms that have their own; by default the era's.
    fn ramp(&self, _w: f64) -> Option<f64> {
        None
    }

    /// Whether slow start has filled the path, for algorithms that see it in the delay: congestion avoidance begins at `w`.
    fn slow_start_done(&mut self, _w: f64, _view: &View) -> bool {
        false
    }

    /// A slowdown that the algorithm makes on its own, not for congestion. The shell asks at each acknowledgement on which the window may grow.
    fn slowdown(&mut self, _view: &View) -> Slowdown {
        Slowdown::None
    }

    /// The spacing of departures.
    fn pacing(&self) -> Pacing {
        Pacing::Off
    }

    /// Named internals for traces.
    fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}
}

/// A pause of an algorithm, in which the queue drains.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Slowdown {
    /// None: the window grows as usual.
    None,
    /// It begins with a window of this many packets, and slow start leads back to the present window.
    Begin(f64),
    /// It lasts: the window stays.
    Hold,
}

/// A window algorithm in its shell.
#[derive(Clone, Debug)]
pub struct Window<R> {
    rule: R,
    state: State,
    initial: f64,
    max_window: f64,
    policy: Policy,
    /// The changes of the last congestion event. Boxed as well: it is read once in a recovery.
    undo: Option<Box<(State, R)>>,
    /// Boxed since few flows have any, and all of them pay for its place.
    extras: Option<Box<Extras>>,
}

/// State that few flows have.
#[derive(Clone, Debug, Default)]
struct Extras {
    /// What ends the first slow start before a loss does.
    exit: Option<Exit>,
    /// The part of the window that a mark in congestion avoidance leaves, where that is not the rule's.
    ecn_beta: Option<f64>,
    /// What bounds the growth of a window that is not used, where that depends on the packets in flight.
    flights: Option<Flights>,
    /// The knowledge of an earlier connection about the path.
    resume: Option<Resumption>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    window: f64,
    /// Slow start below, congestion avoidance from here on.
    threshold: f64,
    /// The next new packet at the last decrease, 0 before the first: congestion that hit an earlier packet belongs to it.
    epoch_from: u64,
    /// An epoch of the rule is under way. None is in slow start, whose end opens one.
    open: bool,
    /// There has been a decrease.
    decreased: bool,
    /// The last decrease left one packet: what repairs the loss is slow start, not fast recovery.
    collapsed: bool,
}

impl<R: WindowRule> Window<R> {
    /// Puts `rule` into its shell.
    #[must_use]
    pub fn new(rule: R, start: &Start) -> Self {
        let max_window = bounded(start.max_window.0, MAX_WINDOW);
        let window = bounded(start.window.0, max_window);
        let threshold = start.threshold.map_or(f64::INFINITY, |threshold| threshold.0.max(MIN_THRESHOLD));
        let state = State { window, threshold, epoch_from: 0, open: false, decreased: false, collapsed: false };
        let exit = Exit::of(start.policy.slow_start);
        let flights = Flights::of(start.policy, window);
        let resume = start.resume.map(|saved| Resumption::new(saved, window));
        let needed = exit.is_some() || flights.is_some() || resume.is_some();
        let extras = needed.then(|| Box::new(Extras { exit, ecn_beta: None, flights, resume }));
        Self { rule, state, initial: window, max_window, policy: start.policy, undo: None, extras }
    }

    /// Answers marks as RFC 8511 (ABE): a mark leaves this share of the window, instead of the share that the rule leaves.
    /// Only in congestion avoidance; a mark that ends slow start is answered by the rule. None: all marks are.
    #[must_use]
    pub fn with_ecn_beta(mut self, ecn_beta: Option<f64>) -> Self {
        if ecn_beta.is_some() {
            self.extras.get_or_insert_default().ecn_beta = ecn_beta;
        }
        self
    }

    /// The rule inside.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    fn in_slow_start(&self) -> bool {
        self.state.window < self.state.threshold
    }

    /// The increase for one acknowledged packet in slow start.
    fn ramp(&self) -> f64 {
        let w = self.state.window;
        let exit = self.extras.as_ref().and_then(|extras| extras.exit.as_ref());
        if let Some(exit) = exit.filter(|_| self.in_initial_slow_start()) {
            return self.rule.ramp(w).unwrap_or(1.0) / exit.divisor();
        }
        if let Some(step) = self.rule.ramp(w) {
            return step;
        }
        match self.policy.slow_start {
            SlowStart::Limited { max_threshold } if w > f64::from(max_threshold) => {
                // RFC 3742 section 2: K = int(cwnd / (0.5 max_ssthresh)), one packet per K acknowledged.
                1.0 / libm::floor(w / (0.5 * f64::from(max_threshold))).max(1.0)
            }
            _ => 1.0,
        }
    }

    /// The first slow start is under way: no threshold is known (RFC 9406 section 4.3 leaves later ones alone).
    fn in_initial_slow_start(&self) -> bool {
        self.state.threshold == f64::INFINITY
    }

    /// Slow start ends at the window it has reached.
    fn leave_slow_start(&mut self, view: &View) {
        self.state.threshold = self.state.window;
        self.open_epoch(self.state.window, view);
    }

    /// One acknowledged packet.
    fn step(&mut self, view: &View) {
        if self.in_slow_start() {
            self.slow_start_step(view);
        } else {
            self.open_epoch(self.state.window, view);
            let step = self.rule.grow(self.state.window, view);
            self.avoid(step);
        }
    }

    /// A step of congestion avoidance. The threshold follows a window that a rule reduces, so that slow start does not regain it.
    fn avoid(&mut self, step: f64) {
        let w = self.state.window;
        let least = if step < 0.0 { self.floor(Cause::Delay).min(w) } else { 0.0 };
        self.state.window = self.bounded((w + step).max(least));
        self.state.threshold = self.state.threshold.at_most(self.state.window);
    }

    /// The least window that congestion leaves, but for a timeout.
    fn floor(&self, cause: Cause) -> f64 {
        let floor = if cause == Cause::Mark { self.policy.mark_floor } else { self.policy.loss_floor };
        self.rule.floor().unwrap_or_else(|| floor.into())
    }

    /// Performs `steps` of [`step`](Self::step) where the first slow start may end early, or under a limit of windows that are not used.
    #[cold]
    fn step_and_probe(&mut self, steps: u32, acks: u32, view: &View) {
        let in_bursts = self.in_initial_slow_start() && self.rule.pacing() == Pacing::Off;
        let exit = self.extras.as_ref().and_then(|extras| extras.exit.as_ref()).filter(|_| in_bursts);
        let most = exit.and_then(Exit::most_per_ack).map_or(MAX_STEPS, |most| acks.saturating_mul(most));
        let limit = self.limit(view);
        for _ in 0..steps.min(most).min(MAX_STEPS) {
            // A rule does not hear of what the limit withholds: the clock and the estimate of CUBIC stand meanwhile.
            if self.state.window >= limit {
                break;
            }
            self.step(view);
            self.state.window = self.state.window.at_most(limit);
        }
        let initial = self.in_initial_slow_start();
        let exit = self.extras.as_mut().and_then(|extras| extras.exit.as_mut());
        if exit.is_some_and(|exit| initial && exit.on_ack(view)) {
            self.leave_slow_start(view);
        }
    }

    /// The window up to which an acknowledgement may let this one grow.
    fn limit(&self, view: &View) -> f64 {
        let w = self.state.window;
        match self.extras.as_ref().and_then(|extras| extras.flights.as_ref()) {
            None => f64::INFINITY,
            Some(Flights::Linux(last)) => {
                if last.allows(w, self.in_slow_start()) {
                    f64::INFINITY
                } else {
                    w
                }
            }
            Some(Flights::Draft(flight)) => flight.most().map_or(w, |most| self.limit_of(most, view)),
        }
    }

    /// `limit(maxFS)` of draft-ietf-ccwg-ratelimited-increase section 3: the window after the acknowledgements of one window of `most` packets,
    /// by the rule of the phase. At least a packet more than `most`, as in the draft's formula for Reno: packets are whole, and a smaller
    /// limit would hold a sender for ever that uses its window.
    fn limit_of(&self, most: f64, view: &View) -> f64 {
        let most = most.max(MIN_WINDOW);
        let grown = if self.in_slow_start() {
            most * self.ramp()
        } else if self.state.open {
            self.rule.growth_of(most, view)
        } else {
            let mut rule = self.rule.clone();
            rule.epoch(None, self.state.window, view);
            rule.growth_of(most, view)
        };
        most + grown.max(1.0)
    }

    /// Careful Resume takes in an acknowledgement; whether the window grows on it as usual.
    #[cold]
    fn resume(&mut self, view: &View, ack: &Ack) -> bool {
        let before = self.state.window;
        let resume = self.extras.as_mut().and_then(|extras| extras.resume.as_mut());
        let effect = resume.map_or(Effect::Usual, |resume| resume.on_ack(before, view, ack));
        match effect {
            Effect::Usual => return true,
            Effect::Hold => {}
            Effect::Window(window) => {
                self.state.window = self.bounded(window);
                self.note_reduction(before, false, view);
            }
            Effect::Threshold(threshold) => self.grow_up_to(threshold),
        }
        false
    }

    /// Slow start reaches up to `threshold` where the window is smaller.
    fn grow_up_to(&mut self, threshold: f64) {
        self.state.threshold = threshold.max(MIN_THRESHOLD);
        self.state.open &= !self.in_slow_start();
    }

    /// The bound of Careful Resume on the window that congestion leaves.
    fn retreat(&mut self, view: &View, event: &Congestion) -> Option<f64> {
        let resume = self.extras.as_mut()?.resume.as_mut()?;
        resume.on_congestion(view, event.cause == Cause::Timeout || event.restart)
    }

    /// Counts the packets in flight before an acknowledgement.
    #[cold]
    fn measure(&mut self, view: &View, newly: u32) {
        let w = self.state.window;
        if let Some(flights) = self.extras.as_mut().and_then(|extras| extras.flights.as_mut()) {
            flights.measure(w, newly, view);
        }
    }

    /// Starts counting the packets in flight anew where the window fell below `before`.
    fn note_reduction(&mut self, before: f64, undoable: bool, view: &View) {
        let fell = self.state.window < before;
        if let Some(flights) = self.extras.as_mut().and_then(|extras| extras.flights.as_mut()).filter(|_| fell) {
            flights.reduced(view, undoable);
        }
    }

    /// One acknowledged packet in slow start.
    #[inline(never)]
    fn slow_start_step(&mut self, view: &View) {
        if self.rule.slow_start_done(self.state.window, view) {
            return self.leave_slow_start(view);
        }
        self.state.window = self.bounded(self.state.window + self.ramp());
        if !self.in_slow_start() {
            self.open_epoch(self.state.window, view);
        }
    }

    /// Begins a slowdown.
    #[cold]
    fn slow_down(&mut self, window: f64, view: &View) {
        let before = self.state.window;
        self.state.threshold = before.max(MIN_THRESHOLD);
        self.state.window = self.bounded(window.min(before));
        self.state.open = false;
        self.note_reduction(before, false, view);
    }

    /// Starts an epoch of the rule at `window`, unless one is under way.
    fn open_epoch(&mut self, window: f64, view: &View) {
        if !self.state.open {
            self.state.open = true;
            self.rule.epoch(None, window, view);
        }
    }

    fn bounded(&self, window: f64) -> f64 {
        bounded(window, self.max_window)
    }

    fn truncated(&self, window: f64) -> f64 {
        if self.policy.truncate { libm::floor(window) } else { window }
    }

    /// The part of the window that a cut is taken from, of the window `before`.
    fn used(&self, before: f64, view: &View, event: &Congestion) -> f64 {
        if !(self.rule.cuts_flight() && self.policy.validate && view.is_underused()) {
            return before;
        }
        // What arrived out of order is no longer in the network, but outstanding, and so part of FlightSize.
        let outstanding = view.next.saturating_sub(event.first).max(view.in_flight);
        before.min((outstanding as f64).max(MIN_WINDOW))
    }

    /// The window that congestion at the window `before` leaves: the rule's cut of the part that is `used`, or half of it where the shell
    /// halves. Never above `before`.
    fn reduced(&mut self, [before, used]: [f64; 2], halved: bool, cause: Cause, view: &View) -> f64 {
        let ecn_beta = self.extras.as_ref().and_then(|extras| extras.ecn_beta).filter(|_| !self.in_slow_start());
        let after = match cause {
            _ if halved => used / 2.0,
            Cause::Mark => ecn_beta.map_or_else(|| self.rule.cut_for_marks(used, view), |kept| kept * used),
            Cause::Loss | Cause::Delay | Cause::Timeout => self.rule.cut(used, view),
        };
        self.bounded(self.truncated(after).max(self.floor(cause)).min(before))
    }

    /// Cuts once, by the rule or by the era's first-cut rule; to `most` packets, if there is such a bound.
    fn cut(&mut self, [before, used]: [f64; 2], cause: Cause, view: &View, most: Option<f64>) {
        let first = self.in_slow_start() || !self.state.decreased;
        let usual = self.reduced([before, used], first && self.policy.first_cut == FirstCut::Half, cause, view);
        let after = most.map_or(usual, |most| usual.min(most.max(self.floor(cause))));
        self.rule.epoch(Some(before), after, view);
        self.state.window = after;
        self.state.threshold = after.max(MIN_THRESHOLD);
        self.state.collapsed = false;
    }

    /// Nothing grows on marks. But the single packet of a timeout would stay alone while they go on, below what any mark leaves.
    #[cold]
    fn rise_to_floor(&mut self, newly: u32) {
        let w = self.state.window;
        self.state.window = self.bounded((w + f64::from(newly)).min(self.floor(Cause::Mark).max(w)));
    }

    /// Recovery begins with one packet.
    fn collapse(&mut self) {
        self.state.window = MIN_WINDOW;
        self.state.collapsed = true;
    }
}

impl<R: WindowRule> CongestionControl for Window<R> {
    #[inline]
    fn control(&self) -> Control {
        let resumes = self.extras.as_ref().is_some_and(|extras| extras.resume.as_ref().is_some_and(Resumption::paces));
        let pacing = if resumes { Pacing::Spread { gain: 1.0 } } else { self.rule.pacing() };
        Control { pacing, ..Control::window(Packets(self.state.window)) }
    }

    #[inline(always)]
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.rule.observe(view, ack);
        if self.extras.is_some() {
            self.measure(view, ack.newly);
            if !self.resume(view, ack) {
                return;
            }
        }
        let held = self.policy.rate_limited == RateLimited::Rfc9002 && view.is_underused();
        let repairing = view.in_recovery && !self.state.collapsed;
        if repairing || held {
            return;
        }
        let mut steps = if self.policy.per_ack { ack.acks.min(ack.newly) } else { ack.newly };
        if ack.marked > 0 {
            // A rule that counts marks grows for the packets without one.
            steps = if self.rule.needs_marks() && !self.policy.per_ack { ack.unmarked() } else { 0 };
            if steps == 0 {
                self.rise_to_floor(ack.newly);
                return;
            }
        }
        match self.rule.slowdown(view) {
            Slowdown::None => {}
            Slowdown::Begin(window) => {
                self.slow_down(window, view);
                return;
            }
            Slowdown::Hold => return,
        }
        if self.extras.as_ref().is_some_and(|extras| extras.exit.is_some() || extras.flights.is_some()) {
            // A copy, so that a host that makes the view in a visitor need not make it for others.
            let view = *view;
            let before = self.state.window;
            self.step_and_probe(steps, ack.acks, &view);
            self.note_reduction(before, false, &view);
            return;
        }
        for _ in 0..steps.min(MAX_STEPS) {
            self.step(view);
        }
    }

    fn on_fluid(&mut self, view: &View, acked: Packets) {
        let w = self.state.window;
        if self.in_slow_start() {
            self.state.window = self.bounded(w + acked.0 * self.ramp());
        } else {
            self.open_epoch(w, view);
            let step = self.rule.grow_by(w, acked.0, view);
            self.avoid(step);
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let timeout = event.cause == Cause::Timeout;
        if event.first < self.state.epoch_from && !timeout && !event.separate {
            // A mark of the same window has cut already: a restart leaves only the single packet.
            if event.restart {
                let before = self.state.window;
                self.collapse();
                self.state.open = !self.in_slow_start();
                self.note_reduction(before, true, view);
            }
            return;
        }
        // A timer that expires again belongs to the same congestion: an undo restores the state before its first expiry.
        if !event.persistent || self.undo.is_none() {
            self.undo = Some(Box::new((self.state, self.rule.clone())));
        }
        let window = self.state.window;
        // What the sender may really have had in the network (ns-2's `window()`, whole packets in the truncating eras).
        let before = self.truncated(self.state.window.min(view.peer_window.0).max(MIN_WINDOW));
        let used = self.used(before, view, event);
        let most = self.retreat(view, event);
        self.open_epoch(before, view);
        if timeout {
            // RFC 5681 section 3.1: the threshold is held where the timer expires again for the same packet. ns-2 halves again.
            if !event.persistent || self.policy.timeout_halves {
                self.state.threshold =
                    self.reduced([before, used], self.policy.timeout_halves, event.cause, view).max(MIN_THRESHOLD);
            }
            self.collapse();
        } else {
            self.cut([before, used], event.cause, view, most);
            if event.restart {
                self.collapse();
            }
        }
        self.state.open = !self.in_slow_start();
        self.state.decreased = true;
        self.state.epoch_from = view.next;
        self.note_reduction(window, true, view);
    }

    fn on_recovered(&mut self, _view: &View) {
        let resume = self.extras.as_mut().and_then(|extras| extras.resume.as_mut());
        if let Some(Effect::Threshold(threshold)) = resume.map(Resumption::retreated) {
            self.grow_up_to(threshold);
        }
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        if !self.policy.validate || idle <= retransmission_timeout(view) {
            return;
        }
        // RFC 5681 section 4.1: the restart window is min(IW, cwnd). RFC 2861 section 3: slow start may probe up to three
        // quarters of the window that was proven.
        let before = self.state.window;
        self.state.threshold = self.state.threshold.max(0.75 * before);
        // The rule's epoch began at the larger window.
        self.state.open &= self.state.window <= self.initial;
        self.state.window = self.state.window.min(self.initial);
        self.note_reduction(before, false, view);
        self.undo = None;
    }

    fn on_spurious(&mut self, _view: &View) {
        if let Some((state, rule)) = self.undo.take().map(|undo| *undo) {
            self.state = State { window: self.state.window.max(state.window), ..state };
            self.rule = rule;
            if let Some(resume) = self.extras.as_mut().and_then(|extras| extras.resume.as_mut()) {
                let _ = resume.retreated();
            }
            if let Some(flights) = self.extras.as_mut().and_then(|extras| extras.flights.as_mut()) {
                flights.restored();
            }
        }
    }

    fn needs_marks(&self) -> bool {
        self.rule.needs_marks()
    }

    fn slow_start_threshold(&self) -> Option<Packets> {
        Some(Packets(self.state.threshold))
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh", self.state.threshold);
        if let Some(resume) = self.extras.as_ref().and_then(|extras| extras.resume.as_ref()) {
            visit("resume", resume.number().into());
        }
        self.rule.inspect(visit);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Within floor and cap; an undefined window becomes the smallest, which `clamp` would keep undefined.
fn bounded(window: f64, max_window: f64) -> f64 {
    window.at_least(MIN_WINDOW).at_most(max_window)
}

/// RFC 6298 section 2, without the clock's granularity, which is the host's.
fn retransmission_timeout(view: &View) -> Span {
    view.rtt.map_or(MIN_TIMEOUT, |rtt| (rtt.smoothed + rtt.variation * 4).max(MIN_TIMEOUT))
}

/// A sender may always have one packet outstanding: RFC 5681's loss window, which a timeout leaves.
const MIN_WINDOW: f64 = 1.0;
/// 2^40 packets: more than a bandwidth-delay product on Earth, and every whole number below it is exact.
const MAX_WINDOW: f64 = 1_099_511_627_776.0;
/// An acknowledgement of more packets at once counts as one of this many: the work per signal is bounded.
const MAX_STEPS: u32 = 1 << 16;
/// RFC 5681 equation 4.
const MIN_THRESHOLD: f64 = 2.0;
/// RFC 6298, rules 2.1 and 2.4.
const MIN_TIMEOUT: Span = Span::from_secs(1);
