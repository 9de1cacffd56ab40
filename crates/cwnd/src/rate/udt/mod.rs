//! UDT: DAIMD with the increase of eq. 8, under a window (eq. 21).
//!
//! Gu, Hong and Grossman (daimd), sections III and VI, in five [profiles](Profile): the paper's equations, three releases of the
//! author's ns-2 agent, and libudt. [`Agent`] is the rule of the first four, with their differences as [`Habits`]; [`Udt`] is libudt's:
//!
//! * it grows with each report, not with the first after a NAK, by at least 0.01 packets per SYN; below the rate of the last cut at
//!   most L/9 counts as spare;
//! * [`Decrease::Udt4`] chooses the NAKs that cut;
//! * the window is AS (SYN + RTT) + 16, which also bounds the unacknowledged packets;
//! * slow start ends with the rate AS; a timeout ends it, otherwise it halves the rate.

mod agent;
mod entry;
mod increase;
mod profile;
mod receiver;

use alloc::boxed::Box;

pub use agent::{Agent, Nak, Report};
pub use entry::{Built, UDT};
pub use increase::increase;
pub use profile::{
    Acknowledge, AgentCuts, AtOnce, Bound, Choices, Constants, Counts, Grows, Habits, Naks, Profile, Step,
};
pub use receiver::{Receiver, window};

use super::decrease::{Cuts, Verdict};
use super::{Decrease, GREATEST_WINDOW, Intervals, bounded, bounded_window, cut, measured};
use crate::control::{CongestionControl, Control, Pacing, Probe};
use crate::signal::{Ack, Cause, Congestion, Remote, Start, View};
use crate::units::{BitRate, Packets, Rate, Span, Time};

/// UDT's control interval.
pub const SYN: Span = Span::from_millis(10);

/// libudt's sender.
#[derive(Clone, Debug)]
pub struct Udt {
    capacity: Option<BitRate>,
    floor: Packets,
    max_window: f64,
    rate: Rate,
    window: Packets,
    slow_start: Option<SlowStart>,
    /// Smoothed reports of the receiver.
    pairs: Option<Rate>,
    arrivals: Option<Rate>,
    /// The first NAK of a SYN, for the decrease that looks at it.
    intervals: Intervals,
    cuts: Cuts,
    /// When the next report may grow the rate.
    turn: Time,
    /// A NAK came since the last turn.
    lossy: bool,
    /// The rate before the first cut of the epoch.
    before_cut: Rate,
    /// No growth of unused rates or windows, as the era has it.
    validate: bool,
}

/// Slow start: the window equals the packets acknowledged so far.
#[derive(Clone, Copy, Debug)]
struct SlowStart {
    acked: u64,
    initial: Packets,
    /// Something was lost before an arrival rate was known; this was the next packet then.
    lost_before: Option<u64>,
}

impl Udt {
    /// A sender with `choices` that answers NAKs by `decrease`.
    #[must_use]
    pub fn new(choices: &Choices, decrease: Decrease, start: &Start) -> Self {
        let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        let initial_rate = choices.initial_rate.map_or(Packets(1.0) / SYN, |rate| rate.to_packets(start.packet));
        let initial = choices.initial_window.unwrap_or(INITIAL_WINDOW);
        let slow_start = choices.slow_start.then_some(SlowStart { acked: 0, initial, lost_before: None });
        Self {
            capacity: choices.capacity,
            floor: choices.floor.unwrap_or(LEAST_STEP),
            max_window,
            rate: bounded(if choices.slow_start { UNPACED } else { initial_rate.0 }),
            window: bounded_window(initial.0, max_window),
            slow_start,
            pairs: None,
            arrivals: None,
            intervals: Intervals::new(SYN),
            cuts: Cuts::new(decrease, start.seed),
            turn: Time::ZERO,
            lossy: false,
            before_cut: Rate(UNPACED),
            validate: start.policy.holds_rates(),
        }
    }

    /// What the receiver reports, smoothed (7/8 old, 1/8 new).
    fn on_report(&mut self, remote: &Remote) {
        let smooth = |old: Option<Rate>, new: Option<Rate>| match (old, measured(new)) {
            (Some(old), Some(new)) => Some(Rate(0.875 * old.0 + 0.125 * new.0)),
            (old, new) => new.or(old),
        };
        self.pairs = smooth(self.pairs, remote.capacity);
        self.arrivals = smooth(self.arrivals, remote.arrival_rate);
    }

    /// Slow start after `newly` more packets were acknowledged.
    fn ramp(&mut self, mut slow_start: SlowStart, newly: u32, view: &View) {
        slow_start.acked = slow_start.acked.saturating_add(u64::from(newly));
        let window = slow_start.initial.0 + slow_start.acked as f64;
        self.slow_start = Some(slow_start);
        self.window = bounded_window(window, self.max_window);
        let most = Packets(self.max_window.min(view.peer_window.0));
        if slow_start.lost_before.is_some() && self.arrivals.is_some() {
            self.leave_slow_start(view);
        } else if window > most.0 {
            self.leave_slow_start(view);
            // No congestion was found: the arrival rate is the sending rate, not what the path can carry.
            self.rate = bounded(self.rate.0.max((most / rtt(view)).0));
        }
    }

    /// Whether slow start goes on although `event` shows a loss: a rate drawn from the few packets acknowledged so far would be
    /// far too low for long, and one round trip later the arrival rate is known. A loss of what left since then ends it at once.
    fn waits_for_arrivals(&mut self, view: &View, event: &Congestion) -> bool {
        let early = event.cause != Cause::Timeout && self.arrivals.is_none();
        let Some(slow_start) = self.slow_start.as_mut().filter(|_| early) else { return false };
        event.first < *slow_start.lost_before.get_or_insert(view.next)
    }

    fn leave_slow_start(&mut self, view: &View) {
        self.slow_start = None;
        self.rate = bounded(self.arrivals.unwrap_or(self.window / (rtt(view) + SYN)).0);
    }

    /// The window outside slow start.
    fn update_window(&mut self, view: &View) {
        if let Some(arrivals) = self.arrivals {
            self.window = bounded_window((arrivals * (rtt(view) + SYN)).0 + WINDOW_ON_TOP, self.max_window);
        }
    }

    /// It grows with the reports of the receiver, which come every SYN. Whether this one grows; however often reports come, not more
    /// than one per SYN does in the long run.
    fn takes_turn(&mut self, now: Time) -> bool {
        let due = now + SYN / 2 >= self.turn;
        if due {
            self.turn = self.turn.max(now) + SYN;
        }
        due
    }

    /// The increase at the present rate, packets per SYN.
    fn alpha(&self, view: &View) -> Packets {
        let capacity = self.capacity.or(self.pairs.map(|rate| rate.to_bits(view.packet)));
        let spare = capacity.map_or(0.0, |capacity| {
            let spare = capacity.0 - self.rate.to_bits(view.packet).0;
            if self.rate < self.before_cut { spare.min(capacity.0 / 9.0) } else { spare }
        });
        Packets(increase(BitRate(spare), view.packet).0.max(self.floor.0))
    }

    /// daimd eqs. 1 and 8. In the form of a sending period T: `T SYN / (T inc + SYN)`.
    fn grow(&mut self, view: &View) {
        let step = self.alpha(view) / SYN;
        self.rate = bounded(self.rate.0 + step.0);
    }
}

impl CongestionControl for Udt {
    fn control(&self) -> Control {
        Control {
            pacing: Pacing::At(self.rate),
            probe: if self.capacity.is_some() { Probe::None } else { Probe::PairEvery(PAIR_EVERY) },
            ..Control::window(self.window)
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.intervals.pass(view.now);
        self.on_report(&ack.remote);
        if let Some(slow_start) = self.slow_start {
            self.ramp(slow_start, if self.validate && view.is_underused() { 0 } else { ack.newly }, view);
        } else if self.takes_turn(view.now) {
            self.update_window(view);
            let lossy = core::mem::take(&mut self.lossy);
            let limited = self.validate && view.is_underused();
            if !lossy && !limited {
                self.grow(view);
            }
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.intervals.pass(view.now);
        if event.cause == Cause::Delay {
            return;
        }
        let first_of_interval = self.intervals.negative();
        if self.waits_for_arrivals(view, event) {
            return;
        }
        if self.slow_start.is_some() {
            self.leave_slow_start(view);
            return;
        }
        self.lossy = true;
        let verdict = self.cuts.judge(event.first, view.next, first_of_interval);
        if event.cause == Cause::Timeout {
            // Further timeouts in a row are no new sign of congestion: hardly anything is being sent.
            if !event.persistent {
                self.before_cut = self.rate;
                self.rate = cut(self.rate, self.rate.0 / 2.0);
            }
            return;
        }
        if verdict == Verdict::First {
            self.before_cut = self.rate;
        }
        if verdict != Verdict::Pass {
            // daimd eq. 2 with b = 1/9; UDT lengthens its sending period by 1/8.
            self.rate = cut(self.rate, self.rate.0 / 1.125);
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("slow_start", f64::from(u8::from(self.slow_start.is_some())));
        visit("pair_rate", self.pairs.map_or(0.0, |rate| rate.0));
        visit("arrival_rate", self.arrivals.map_or(0.0, |rate| rate.0));
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

fn rtt(view: &View) -> Span {
    view.rtt.map_or(DEFAULT_RTT, |rtt| rtt.smoothed)
}

/// Packets per second: libudt starts with a sending period of 1 us, which paces nothing below 12 Gbit/s.
const UNPACED: f64 = 1e6;
/// Every 16th packet is followed at once by its pair (daimd section VII).
const PAIR_EVERY: u32 = 16;
/// libudt's assumption before the first sample.
const DEFAULT_RTT: Span = Span::from_millis(100);
/// libudt's window has this many packets on top of what eq. 21 tends to.
const WINDOW_ON_TOP: f64 = 16.0;
/// libudt's window at the start, and its least increase per SYN.
const INITIAL_WINDOW: Packets = Packets(16.0);
const LEAST_STEP: Packets = Packets(0.01);
