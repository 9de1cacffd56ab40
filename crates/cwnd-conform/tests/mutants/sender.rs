//! The sender that follows [`Rules`]. It shares no code with the algorithms of `cwnd`, and shows its threshold by `slow_start_threshold` only.

use cwnd::registry::Maker;
use cwnd::{Ack, Cause, Congestion, CongestionControl, Control, Pacing, Packets, Span, Start, Time, View};
use cwnd_conform::Law;

use super::hystart::SlowStart;
use super::rules::{Curve, Flights, Reduction, Restored, Rules, Unused};

/// Starts senders.
#[derive(Debug)]
pub(crate) struct Make(pub(crate) Rules);

impl Maker for Make {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let rules = self.0.clone();
        let initial = rules.growth.initial * start.window.0;
        let state = State {
            window: initial,
            threshold: rules.growth.threshold,
            credit: 0.0,
            epoch: None,
            maximum: 0.0,
            next: 0,
            cause: None,
            timed_out: None,
            reducing: None,
        };
        let first = rules.hystart.as_ref().map(|_| SlowStart::default());
        let most = if rules.flights.as_ref().is_some_and(|flights| flights.initial) { initial } else { 0.0 };
        let largest = Largest { most, reset_at: None };
        Box::new(Sender { rules, initial, state, saved: None, losses: 0, marks: 0, first, largest })
    }
}

#[derive(Clone, Debug)]
struct Sender {
    rules: Rules,
    initial: f64,
    state: State,
    /// The state before the last congestion.
    saved: Option<State>,
    /// The losses that were acted upon.
    losses: u32,
    marks: u32,
    /// By RFC 9406.
    first: Option<SlowStart>,
    largest: Largest,
}

/// `maxFS` of draft-ietf-ccwg-ratelimited-increase.
#[derive(Clone, Copy, Debug)]
struct Largest {
    /// Packets; 0 from a reduction until the next flight is known.
    most: f64,
    reset_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    window: f64,
    threshold: f64,
    /// Parts of a packet that are still to be added to a whole window.
    credit: f64,
    epoch: Option<Epoch>,
    /// CUBIC's last `W_max`.
    maximum: f64,
    /// Losses of packets below belong to the last cut.
    next: u64,
    /// The cause of the last cut.
    cause: Option<Cause>,
    /// The last congestion was a timeout, then.
    timed_out: Option<Time>,
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
struct Epoch {
    maximum: f64,
    k: f64,
    estimate: f64,
    /// The window at which the last congestion hit.
    prior: f64,
    /// Seconds in which the window was used.
    age: f64,
    last: Option<Time>,
}

impl Epoch {
    fn begin(curve: &Curve, maximum: f64, window: f64, prior: f64) -> Self {
        let k = ((curve.missing)(maximum, window).max(0.0) / curve.c).cbrt();
        Self { maximum, k, estimate: window, prior, age: 0.0, last: None }
    }

    fn at(&self, curve: &Curve, age: f64) -> f64 {
        let late = age - self.k;
        curve.c * late.abs().powi(curve.power).copysign(late) + self.maximum
    }

    /// An acknowledgement arrived.
    fn pass(&mut self, curve: &Curve, view: &View) {
        let longest = view.rtt.map_or(0.0, |rtt| rtt.smoothed.max(rtt.latest).as_secs_f64());
        let passed = self.last.map_or(0.0, |last| view.now.since(last).as_secs_f64());
        self.age += if curve.clock_idles { passed } else { passed.min(longest) };
        self.last = Some(view.now);
    }
}

impl Sender {
    fn in_slow_start(&self) -> bool {
        self.state.window < self.state.threshold
    }

    /// No congestion has ended the first slow start.
    fn starts(&self) -> bool {
        self.state.threshold == f64::INFINITY
    }

    fn truncated(&self, window: f64) -> f64 {
        if self.rules.whole { window.floor() } else { window }
    }

    fn add(&mut self, packets: f64) {
        if !self.rules.whole && !self.rules.growth.drops_rest {
            self.state.window += packets;
            return;
        }
        self.state.credit += packets;
        let whole = self.state.credit.floor();
        self.state.window += whole;
        self.state.credit -= whole;
        if whole > 0.0 && self.rules.growth.drops_rest {
            self.state.credit = 0.0;
        }
    }

    /// Counts the flight before an acknowledgement.
    fn count(&mut self, view: &View, ack: &Ack) {
        let Some(flights) = &self.rules.flights else { return };
        let follows = flights.follows || self.largest.most == 0.0;
        if self.largest.reset_at != Some(view.now) && follows {
            let flight = view.in_flight.saturating_sub(if flights.late { ack.newly.into() } else { 0 });
            self.largest.most = self.largest.most.max(flight as f64);
        }
        if flights.collapses && self.largest.most == 0.0 {
            self.state.window = 1.0;
        }
    }

    fn reset(&mut self, resets: fn(&Flights) -> bool, view: &View) {
        if self.rules.flights.as_ref().is_some_and(resets) {
            self.largest = Largest { most: 0.0, reset_at: Some(view.now) };
        }
    }

    /// The window up to which an acknowledgement may let this one grow.
    fn limit(&self, view: &View) -> f64 {
        let most = self.largest.most;
        let Some(flights) = self.rules.flights.as_ref().filter(|flights| flights.counts(view.limit)) else {
            return f64::INFINITY;
        };
        if most == 0.0 {
            return self.state.window;
        }
        if self.in_slow_start() {
            return flights.ramp * most;
        }
        let curve = &self.rules.curve;
        let ahead = match self.state.epoch {
            Some(epoch) if self.rules.law == Law::Cubic && epoch.at(curve, epoch.age) >= epoch.estimate => {
                let rtt = view.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64());
                (epoch.at(curve, epoch.age + rtt) - most).min((flights.bound - 1.0) * most)
            }
            _ => 0.0,
        };
        most + ahead.max(flights.step)
    }

    /// Whether nothing grows since the window is not used.
    fn unused(&mut self, view: &View) -> bool {
        if self.rules.flights.is_some() {
            return false;
        }
        if self.rules.growth.only_full && (view.in_flight as f64) < self.state.window.floor() {
            return true;
        }
        if !view.is_underused() {
            return false;
        }
        match self.rules.growth.unused {
            Unused::Stays => true,
            Unused::Grows => false,
            Unused::GrowsInSlowStart => !self.in_slow_start(),
            Unused::GrowsInAvoidance => self.in_slow_start(),
            Unused::Shrinks => {
                self.state.window = (0.99 * self.state.window).max(2.0);
                true
            }
        }
    }

    /// The packets for which an acknowledgement counts.
    fn counted(&self, ack: &Ack) -> u32 {
        let growth = &self.rules.growth;
        if !self.in_slow_start() {
            return (growth.counts)(ack);
        }
        let counted = (growth.ramp_counts)(ack);
        match &self.rules.hystart {
            Some(hystart) if self.starts() && self.rules.pacing.gains.is_none() => {
                counted.min(hystart.most_per_ack.saturating_mul(ack.acks))
            }
            _ => counted,
        }
    }

    /// The growth for one packet in slow start.
    fn ramp(&self) -> f64 {
        let growth = &self.rules.growth;
        let ramp = if self.state.timed_out.is_some() { growth.ramp_again } else { growth.ramp };
        match (&self.rules.hystart, &self.first) {
            (Some(hystart), Some(first)) if self.starts() && first.careful.is_some() => ramp / hystart.divisor,
            _ => ramp,
        }
    }

    /// The growth for one packet in congestion avoidance.
    fn avoidance(&mut self, view: &View) -> f64 {
        let State { window, maximum, timed_out, .. } = self.state;
        if self.rules.law != Law::Cubic {
            return self.rules.growth.increase / window;
        }
        let curve = &self.rules.curve;
        let epoch = self.state.epoch.get_or_insert_with(|| {
            let mut epoch = Epoch::begin(curve, (curve.maximum_again)(window, maximum), window, window);
            if let Some(begun) = timed_out.filter(|_| curve.clock_of_timeout) {
                epoch.age = view.now.since(begun).as_secs_f64();
            }
            epoch
        });
        epoch.pass(curve, view);
        epoch.estimate += curve.alpha[usize::from(epoch.estimate >= epoch.prior)] / window;
        if curve.friendly && epoch.at(curve, epoch.age) < epoch.estimate {
            return (epoch.estimate - window - self.state.credit).max(0.0);
        }
        let rtt = view.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64());
        let target = epoch.at(curve, epoch.age + curve.ahead * rtt).max(window).min(curve.bound * window);
        (target - window) / window
    }

    /// The window that congestion reduces.
    fn used(&self, view: &View) -> f64 {
        let window = self.state.window;
        if self.rules.cut.flight { window.min(view.in_flight as f64) } else { window }
    }

    /// A loss or a mark was found.
    fn cut(&mut self, mark: bool, view: &View) {
        let (cut, curve, before) = (&self.rules.cut, &self.rules.curve, self.state.window);
        let (mut kept, floor) = if mark { (cut.mark, cut.mark_floor) } else { (cut.loss, cut.floor) };
        if before < self.state.maximum {
            kept *= cut.below_maximum;
        }
        let after = self.truncated(kept * self.used(view)).max(floor).min(before);
        let threshold = if mark { cut.mark_threshold } else { cut.threshold };
        let threshold = threshold(before, after).max(cut.threshold_floor);
        let maximum = (curve.maximum)(before, self.state.maximum, after);
        let mut epoch = Epoch::begin(curve, maximum, after, before);
        if let Some(last) = self.state.epoch {
            epoch.estimate = if curve.estimate_kept { last.estimate } else { after };
            epoch.age = if curve.clock_kept { last.age } else { 0.0 };
        }
        let at_once = cut.reduction == Reduction::AtOnce;
        let reducing = (!at_once).then_some(Reducing { from: before, to: after, acked: 0.0 });
        let window = if at_once { after } else { before };
        let epoch = Some(epoch);
        self.state = State { window, threshold, credit: 0.0, epoch, maximum, timed_out: None, reducing, ..self.state };
    }

    /// The window on the way to what a gradual reduction leaves.
    fn reduce(&mut self, acked: u32) {
        let Some(mut reducing) = self.state.reducing else { return };
        reducing.acked += f64::from(acked);
        let Reducing { from, to, acked } = reducing;
        let window = match self.rules.cut.reduction {
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

    /// The timer expired, again if `persistent`.
    fn time_out(&mut self, view: &View, persistent: bool) {
        let timeout = &self.rules.timeout;
        let held = persistent && !timeout.again;
        if !held {
            let threshold = self.truncated(timeout.kept * self.used(view));
            self.state.threshold = threshold.max(self.rules.cut.threshold_floor);
        }
        let Some(window) = timeout.window else {
            if !persistent {
                self.cut(false, view);
            }
            return;
        };
        let maximum = if persistent { self.state.maximum.max(self.state.window) } else { self.state.window };
        let timed_out = Some(view.now);
        self.state = State { window, credit: 0.0, epoch: None, maximum, timed_out, reducing: None, ..self.state };
    }
}

impl CongestionControl for Sender {
    fn control(&self) -> Control {
        let window = self.state.window;
        // A probe after a timeout is not paced.
        let gains = self.rules.pacing.gains.filter(|_| window > LEAST_PACED);
        let pacing = gains.map_or(Pacing::Off, |[first, later]| {
            let gain = if self.in_slow_start() { first } else { later };
            Pacing::Spread { gain }
        });
        let shown = if window < self.rules.pacing.unbounded { window } else { f64::INFINITY };
        Control::window(Packets(shown)).with_pacing(pacing)
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.count(view, ack);
        if self.state.reducing.is_some() {
            self.reduce(ack.newly);
            return;
        }
        let repairing = view.in_recovery && self.state.timed_out.is_none() && !self.rules.cut.grows;
        if repairing || ack.marked > 0 || self.unused(view) {
            return;
        }
        let limit = self.limit(view);
        for _ in 0..self.counted(ack) {
            let held = self.state.window >= limit;
            if held && !self.rules.flights.as_ref().is_some_and(|flights| flights.epoch_runs) {
                break;
            }
            let step = if self.in_slow_start() { self.ramp() } else { self.avoidance(view) };
            if !held {
                self.add(step.min(limit - self.state.window));
            }
        }
        let starts = self.starts();
        if let (Some(hystart), Some(first)) = (&self.rules.hystart, &mut self.first)
            && starts
            && first.on_ack(hystart, view)
        {
            self.state.threshold = self.state.window;
        }
    }

    fn on_recovered(&mut self, _view: &View) {
        if let Some(reducing) = self.state.reducing.take() {
            self.state.window = reducing.to;
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let (cut, cause) = (&self.rules.cut, event.cause);
        let (timeout, mark) = (cause == Cause::Timeout, cause == Cause::Mark);
        let each = if mark { cut.each_mark } else { cut.each_loss };
        let again = each || (cut.each_cause && self.state.cause != Some(cause));
        if event.first < self.state.next && !timeout && !again {
            return;
        }
        let deaf = cut.deaf_after_timeout && self.state.timed_out.is_some() && self.in_slow_start();
        let heeded = if mark { self.marks < cut.marks } else { self.losses < cut.losses && !deaf };
        if !timeout && !heeded {
            return;
        }
        let edge = view.next.saturating_add_signed(cut.edge);
        self.marks += u32::from(mark);
        self.losses += u32::from(cause == Cause::Loss);
        assert!(self.losses < cut.panics, "loss {}", self.losses);
        if !event.persistent || self.saved.is_none() {
            self.saved = Some(self.state);
        }
        self.reset(
            match cause {
                Cause::Mark => |flights| flights.resets_on_mark,
                Cause::Timeout => |flights| flights.resets_on_timeout,
                Cause::Loss | Cause::Delay => |flights| flights.resets_on_loss,
            },
            view,
        );
        if timeout {
            self.time_out(view, event.persistent);
        } else {
            self.cut(mark, view);
        }
        self.state = State { next: edge, cause: Some(cause), ..self.state };
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        let restart = &self.rules.restart;
        let timeout = view.timeout.expect("a sender of TCP has a timer").as_secs_f64();
        if idle.as_secs_f64() <= restart.after * timeout {
            return;
        }
        let before = self.state.window;
        self.state.threshold = (restart.threshold)(self.state.threshold, before, self.initial);
        let window = (restart.window)(self.initial, before);
        if window != before {
            self.state = State { window, credit: 0.0, epoch: None, ..self.state };
            self.reset(|flights| flights.resets_on_restart, view);
        }
        self.saved = None;
    }

    fn on_spurious(&mut self, _view: &View) {
        let Some(saved) = self.saved.take() else { return };
        let (undo, now) = (&self.rules.undo, self.state);
        let window = now.window.max(undo.window * saved.window);
        self.state = State { window, threshold: (undo.threshold)(saved.threshold, now.threshold), ..saved };
        match undo.curve {
            Restored::All => {}
            Restored::Shape => {
                self.state.epoch = saved.epoch.map(|epoch| Epoch { age: 0.0, last: None, ..epoch });
            }
            Restored::Nothing => (self.state.epoch, self.state.maximum) = (now.epoch, now.maximum),
        }
    }

    fn slow_start_threshold(&self) -> Option<Packets> {
        Some(Packets(self.state.threshold))
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Packets: the least window of QUIC.
const LEAST_PACED: f64 = 2.0;
