//! A steered sender: what it counts, when its steps end, and what the last action set.

use cwnd::{Ack, Control, Pacing, Packets, Rate, Rtt, Start, Time, View};

use crate::observation::StepReport;
use crate::options::{Lever, Steering};

/// The state of a steered sender. All of it follows from the signals of its host, so that it is the same in an environment, where a learner
/// acts, and in any other host, where a trained policy does.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    kind: Kind,
    gain: f64,
    packets: u64,
    start_window: f64,
    counts: Counts,
    /// The counts at the start of the step.
    before: Counts,
    /// When the step began; none before the first acknowledgement.
    began: Option<Time>,
    best_rate: f64,
    mean_rtt: f64,
    rtt: Option<Rtt>,
    /// The round-trip time when the step began.
    rtt_at_start: f64,
    /// Packets, packets per second, or a factor.
    value: f64,
    /// To be applied with the next signal.
    action: Option<f64>,
}

/// Sums over a flow since it began.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// New packets sent, and packets found lost, which are sent again.
    sent: u64,
    delivered: u64,
    lost: u64,
    /// Acknowledged packets whose acknowledgement echoed a mark.
    marked: f64,
    /// Sum of the measured round-trip times, seconds, and their number.
    rtt_sum: f64,
    rtts: f64,
}

/// What an action changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Nothing,
    Window,
    Rate,
    Factor,
}

impl Sender {
    /// A sender before its first packet. With `steered` false an algorithm has the learner's place, and actions change nothing.
    pub(crate) fn new(steering: &Steering, steered: bool, start: &Start) -> Self {
        let kind = match steering.lever {
            _ if !steered => Kind::Nothing,
            Lever::Window => Kind::Window,
            Lever::Rate => Kind::Rate,
            Lever::Over(_) => Kind::Factor,
        };
        let value = match kind {
            Kind::Window => start.window.0,
            Kind::Nothing | Kind::Factor => 1.0,
            // It is unknown before the first round-trip time.
            Kind::Rate => 0.0,
        };
        Self {
            kind,
            gain: steering.gain,
            packets: steering.packets,
            start_window: start.window.0,
            counts: Counts::default(),
            before: Counts::default(),
            began: None,
            best_rate: 0.0,
            mean_rtt: 0.0,
            rtt: None,
            rtt_at_start: 0.0,
            value,
            action: None,
        }
    }

    /// Takes an action from -1 to 1, which the next signal applies. NaN counts as 0.
    pub(crate) fn act(&mut self, action: f64) {
        self.action = Some(if action.is_nan() { 0.0 } else { action.clamp(-1.0, 1.0) });
    }

    /// Applies the action that waits for a signal.
    pub(crate) fn apply(&mut self) {
        let Some(action) = self.action.take() else { return };
        let smoothed = self.smoothed();
        match self.kind {
            Kind::Nothing => {}
            Kind::Window => self.value = (self.value * factor(self.gain, action)).min(self.bound()).max(1.0),
            Kind::Rate if smoothed > 0.0 => {
                let rate = if self.value > 0.0 { self.value } else { self.start_window / smoothed };
                self.value = (rate * factor(self.gain, action)).min(self.bound() / smoothed).max(1.0 / smoothed);
            }
            Kind::Rate => {}
            Kind::Factor => self.value = libm::exp2(self.gain * action),
        }
    }

    /// Counts an acknowledgement.
    pub(crate) fn count(&mut self, view: &View, ack: &Ack) {
        if self.began.is_none() {
            self.began = Some(ack.sent_at);
        }
        if let Some(rtt) = view.rtt {
            self.rtt = Some(rtt);
            self.counts.rtt_sum += rtt.latest.as_secs_f64();
            self.counts.rtts += 1.0;
        }
        self.counts.marked += f64::from(ack.marked);
        self.counts.delivered = view.delivered;
        self.count_losses(view);
    }

    /// Counts packets found lost.
    pub(crate) fn count_losses(&mut self, view: &View) {
        self.counts.lost = view.lost;
        self.counts.sent = view.next + view.lost;
    }

    /// Whether the step is over: it has lasted a smoothed round trip, and enough packets were delivered.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        let elapsed = self.began.map_or(0.0, |began| now.since(began).as_secs_f64());
        elapsed >= self.rtt_at_start && self.counts.delivered >= self.before.delivered + self.packets
    }

    /// Ends a step, and begins the next; `requested` is the window requested of the host.
    pub(crate) fn close(&mut self, now: Time, requested: f64) -> StepReport {
        let window = if self.kind == Kind::Rate && self.value > 0.0 { self.value * self.smoothed() } else { requested };
        let Some(began) = self.began else {
            return StepReport { time: now.as_secs_f64(), window, ..StepReport::default() };
        };
        let counts = self.counts;
        let before = std::mem::replace(&mut self.before, counts);
        self.began = Some(now);
        self.rtt_at_start = self.smoothed();
        let since = |new: u64, old: u64| new.saturating_sub(old) as f64;
        let samples = counts.rtts - before.rtts;
        let rtt = if samples > 0.0 { (counts.rtt_sum - before.rtt_sum) / samples } else { self.mean_rtt };
        let rtt_before = if self.mean_rtt > 0.0 { self.mean_rtt } else { rtt };
        self.mean_rtt = rtt;
        let duration = now.since(began).as_secs_f64();
        let delivered = since(counts.delivered, before.delivered);
        if duration > 0.0 {
            self.best_rate = self.best_rate.max(delivered / duration);
        }
        StepReport {
            time: now.as_secs_f64(),
            duration,
            sent: since(counts.sent, before.sent),
            delivered,
            lost: since(counts.lost, before.lost),
            marked: counts.marked - before.marked,
            rtt,
            rtt_before,
            min_rtt: self.rtt.map_or(0.0, |rtt| rtt.min.as_secs_f64()),
            best_rate: self.best_rate,
            window,
        }
    }

    /// The request to the host; `inner` is that of the algorithm inside.
    pub(crate) fn control(&self, inner: impl FnOnce() -> Control) -> Control {
        match self.kind {
            Kind::Nothing => inner(),
            Kind::Window => Control::window(Packets(self.value)),
            Kind::Rate if self.value > 0.0 => {
                Control::window(Packets(self.bound())).with_pacing(Pacing::At(Rate(self.value)))
            }
            Kind::Rate => Control::window(Packets(self.start_window)),
            Kind::Factor => {
                let mut control = inner();
                control.window = Packets((control.window.0 * self.value).max(1.0));
                if let Pacing::At(rate) = &mut control.pacing {
                    rate.0 *= self.value;
                }
                control
            }
        }
    }

    /// The smoothed round-trip time, seconds; 0 before the first sample.
    fn smoothed(&self) -> f64 {
        self.rtt.map_or(0.0, |rtt| rtt.smoothed.as_secs_f64())
    }

    /// The largest window, packets: it bounds the packets that one acknowledgement can release.
    fn bound(&self) -> f64 {
        ((1.0 + self.gain).max(MAX_PATHS) * self.best_rate * self.smoothed()).max(MIN_BOUND)
    }
}

/// The factor by which an action changes a window or a rate (Aurora, section 3).
fn factor(gain: f64, action: f64) -> f64 {
    if action >= 0.0 { 1.0 + gain * action } else { 1.0 / (1.0 - gain * action) }
}

/// The largest window, in multiples of what the path has been seen to hold: with it nearly every packet is lost.
const MAX_PATHS: f64 = 4.0;
/// The largest window on the smallest paths, packets: what one action can make of the initial window of today's senders.
const MIN_BOUND: f64 = 160.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(lever: Lever, gain: f64) -> Sender {
        Sender::new(&Steering { lever, gain, packets: 10 }, true, &Start::default())
    }

    /// The window after an action.
    fn window_after(gain: f64, action: f64) -> f64 {
        let mut sender = sender(Lever::Window, gain);
        sender.act(action);
        let unchanged = sender.control(|| Control::window(Packets(0.0))).window;
        assert_eq!(unchanged, Packets(10.0), "an action waits for a signal");
        sender.apply();
        sender.control(|| Control::window(Packets(0.0))).window.0
    }

    #[test]
    fn actions_change_windows_as_in_aurora() {
        for (gain, action, expected) in
            [(0.025, 1.0, 10.25), (0.025, -1.0, 10.0 / 1.025), (1.0, 0.5, 15.0), (1.0, -1.0, 5.0)]
        {
            assert!((window_after(gain, action) - expected).abs() < 1e-12, "{gain}, {action}");
        }
        assert!((window_after(1.0, 7.0) - 20.0).abs() < 1e-12, "actions are clamped to -1..=1");
        assert!((window_after(1.0, f64::NAN) - 10.0).abs() < 1e-12);
        assert!((window_after(15.0, 1.0) - MIN_BOUND).abs() < 1e-12, "nothing is known of the path");
    }

    #[test]
    fn an_action_multiplies_what_an_algorithm_requests_by_a_power_of_two() {
        let cubic = cwnd::Spec::parse("cubic").expect("registered");
        let mut sender = sender(Lever::Over(cubic), 2.0);
        let inner = || Control::window(Packets(12.0)).with_pacing(Pacing::At(Rate(100.0)));
        assert_eq!(sender.control(inner), inner(), "before any action");
        for (action, window, rate) in [(1.0, 48.0, 400.0), (-0.5, 6.0, 50.0), (0.0, 12.0, 100.0)] {
            sender.act(action);
            sender.apply();
            let control = sender.control(inner);
            assert_eq!((control.window, control.pacing), (Packets(window), Pacing::At(Rate(rate))));
        }
    }
}
