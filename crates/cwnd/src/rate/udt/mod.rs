//! UDT: DAIMD with the increase of eq. 8, under a window (eq. 21).
//!
//! Gu, Hong and Grossman (daimd), sections III and VI, in three [profiles](Profile): the paper's equations, the author's ns-2
//! agent, and libudt. They share the increase ([`increase()`]) and the cut by b = 1/9, and differ in:
//!
//! | | `paper` | `ns2` | `udt4` |
//! |---|---|---|---|
//! | grows | at the end of a SYN with ACKs and no NAK | with each report | with each report, not with the first after a NAK |
//! | least increase per SYN | none | 1/S | 0.01 |
//! | below the rate of the last cut | eq. 8 | eq. 8 | eq. 8 with at most L/9 to spare |
//! | a NAK cuts | once per SYN | [`Ns2`](super::Decrease::Ns2) | [`Udt4`](super::Decrease::Udt4) |
//! | after the first cut of an epoch | | pauses for a SYN | |
//! | window | eq. 21 at the receiver | eq. 21 at the sender, rounded up | AS (SYN + RTT) + 16 |
//! | unacknowledged packets at most | window + 1 | window + 1 | window |
//! | slow start ends with | rate AS | a cut of its 10^6 packets/s | rate AS |
//! | rate | | a packet per RTT to 10^6 packets/s | |
//! | timeout | counts as NAK | nothing | ends slow start, otherwise halves the rate |

mod entry;
mod increase;
mod profile;
mod receiver;

use alloc::boxed::Box;

pub use entry::UDT;
pub use increase::increase;
pub use profile::{Profile, Settings};
pub use receiver::{Receiver, window};

use super::decrease::{Cuts, Verdict};
use super::{GREATEST_WINDOW, Intervals, bounded, bounded_window, cut, measured};
use crate::control::{CongestionControl, Control, Pacing, Probe};
use crate::signal::{Ack, Cause, Congestion, Remote, Start, View};
use crate::units::{BitRate, Packets, Rate, Span, Time};

/// UDT's control interval.
pub const SYN: Span = Span::from_millis(10);

/// UDT's sender.
#[derive(Clone, Debug)]
pub struct Udt {
    profile: Profile,
    capacity: Option<BitRate>,
    floor: Packets,
    lambda: f64,
    max_window: f64,
    rate: Rate,
    window: Packets,
    slow_start: Option<SlowStart>,
    /// Smoothed reports of the receiver.
    pairs: Option<Rate>,
    arrivals: Option<Rate>,
    intervals: Intervals,
    cuts: Cuts,
    /// `ns2`, `udt4`: when the next report may grow the rate.
    turn: Time,
    /// `udt4`: a NAK came since the last turn.
    lossy: bool,
    /// `udt4`: the rate before the first cut of the epoch.
    before_cut: Rate,
    /// `ns2`: when the pause ends.
    thaw: Option<Time>,
    /// `udt4`: nothing grows on what is not used, as the era has it. The other profiles reproduce their sources, which grow on.
    validate: bool,
}

/// Slow start: the window is what was acknowledged so far.
#[derive(Clone, Copy, Debug)]
struct SlowStart {
    acked: u64,
    initial: Packets,
    /// `udt4`: something was lost before an arrival rate was known; this was the next packet then.
    lost_before: Option<u64>,
}

impl Udt {
    /// A sender under `settings`.
    #[must_use]
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let bound = if settings.profile == Profile::Ns2 { NS2_MAX_WINDOW } else { GREATEST_WINDOW };
        let max_window = bounded_window(start.max_window.0, bound).0;
        let initial_rate = settings.initial_rate.map_or(Packets(1.0) / SYN, |rate| rate.to_packets(start.packet));
        let slow_start =
            settings.slow_start.then_some(SlowStart { acked: 0, initial: settings.initial_window, lost_before: None });
        Self {
            profile: settings.profile,
            capacity: settings.capacity,
            floor: settings.floor,
            lambda: settings.lambda,
            max_window,
            rate: bounded(if settings.slow_start { UNPACED } else { initial_rate.0 }),
            window: bounded_window(settings.initial_window.0, max_window),
            slow_start,
            pairs: None,
            arrivals: None,
            intervals: Intervals::new(SYN),
            cuts: Cuts::new(settings.decrease, start.seed),
            turn: Time::ZERO,
            lossy: false,
            before_cut: Rate(UNPACED),
            thaw: None,
            validate: start.policy.validate && settings.profile == Profile::Udt4,
        }
    }

    /// Lets time pass: the pause ends, and in `paper` an interval may grow the rate.
    fn pass(&mut self, view: &View) {
        self.thaw = self.thaw.filter(|thaw| view.now < *thaw);
        if self.intervals.pass(view.now) && self.profile == Profile::Paper && self.slow_start.is_none() {
            self.grow(view);
        }
    }

    /// What the receiver reports, smoothed as both codes do (7/8 old, 1/8 new). `paper` takes the arrival rate as it is.
    fn on_report(&mut self, remote: &Remote) {
        let smooth = |old: Option<Rate>, new: Option<Rate>| match (old, measured(new)) {
            (Some(old), Some(new)) => Some(Rate(0.875 * old.0 + 0.125 * new.0)),
            (old, new) => new.or(old),
        };
        self.pairs = smooth(self.pairs, remote.capacity);
        self.arrivals = match self.profile {
            Profile::Paper => measured(remote.arrival_rate).or(self.arrivals),
            Profile::Ns2 | Profile::Udt4 => smooth(self.arrivals, remote.arrival_rate),
        };
    }

    /// Slow start after `newly` more packets were acknowledged.
    fn ramp(&mut self, mut slow_start: SlowStart, newly: u32, view: &View) {
        slow_start.acked = slow_start.acked.saturating_add(u64::from(newly));
        let acked = slow_start.acked as f64;
        let window = match self.profile {
            Profile::Paper | Profile::Udt4 => slow_start.initial.0 + acked,
            Profile::Ns2 => slow_start.initial.0.max(acked),
        };
        self.slow_start = Some(slow_start);
        self.window = bounded_window(window, self.max_window);
        let most = Packets(self.max_window.min(view.peer_window.0));
        if slow_start.lost_before.is_some() && self.arrivals.is_some() {
            self.leave_slow_start(view);
        } else if window > most.0 {
            self.leave_slow_start(view);
            if self.profile == Profile::Udt4 {
                // No congestion was found: the arrival rate is the sending rate, not what the path can carry.
                self.rate = bounded(self.rate.0.max((most / rtt(view)).0));
            }
        }
    }

    /// Whether slow start goes on although `event` shows a loss: a rate drawn from the few packets acknowledged so far would be
    /// far too low for long, and one round trip later the arrival rate is known. A loss of what left since then ends it at once.
    fn waits_for_arrivals(&mut self, view: &View, event: &Congestion) -> bool {
        let early = self.profile == Profile::Udt4 && event.cause != Cause::Timeout && self.arrivals.is_none();
        let Some(slow_start) = self.slow_start.as_mut().filter(|_| early) else { return false };
        event.first < *slow_start.lost_before.get_or_insert(view.next)
    }

    fn leave_slow_start(&mut self, view: &View) {
        self.slow_start = None;
        if self.profile != Profile::Ns2 {
            self.rate = bounded(self.arrivals.unwrap_or(self.window / (rtt(view) + SYN)).0);
        }
    }

    /// The window outside slow start.
    fn update_window(&mut self, remote: &Remote, view: &View) {
        let window = match (self.profile, self.arrivals) {
            (Profile::Paper, _) => remote.window.unwrap_or(self.window).0,
            (Profile::Ns2, Some(_)) => match measured(remote.arrival_rate) {
                Some(arrivals) => libm::ceil(window(self.window, self.lambda, arrivals, rtt(view)).0),
                None => self.window.0,
            },
            (Profile::Udt4, Some(arrivals)) => (arrivals * (rtt(view) + SYN)).0 + UDT4_WINDOW,
            (_, None) => self.window.0,
        };
        self.window = bounded_window(window, self.max_window);
    }

    /// How many packets the window lets into the network. "A data packet is sent out if and only if the number of unacknowledged
    /// packets does not exceed a congestion window" (daimd section III): one may still leave when they are as many. The agent
    /// compares so too; libudt counts the packet that is to leave. With the window alone, what it sends in a round trip of whole SYNs
    /// comes back as eq. 21 expects it and no more, and every window stands still.
    fn in_flight(&self) -> Packets {
        match self.profile {
            Profile::Paper | Profile::Ns2 => bounded_window(libm::floor(self.window.0) + 1.0, self.max_window),
            Profile::Udt4 => self.window,
        }
    }

    /// `ns2` and `udt4` grow with the reports of the receiver, which come every SYN. Whether this one grows; however often
    /// reports come, not more than one per SYN does in the long run.
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
            let recovering = self.profile == Profile::Udt4 && self.rate < self.before_cut;
            if recovering { spare.min(capacity.0 / 9.0) } else { spare }
        });
        Packets(increase(BitRate(spare), view.packet).0.max(self.floor.0))
    }

    /// daimd eqs. 1 and 8. In the form of a sending period T, as both codes have it: `T SYN / (T inc + SYN)`.
    fn grow(&mut self, view: &View) {
        let step = self.alpha(view) / SYN;
        self.rate = bounded(self.rate.0 + step.0);
        self.keep_to_ns2(view);
    }

    /// The agent's period is at least 1 us and at most a round trip.
    fn keep_to_ns2(&mut self, view: &View) {
        if self.profile == Profile::Ns2 {
            self.rate = bounded(self.rate.0.max((Packets(1.0) / rtt(view)).0).min(UNPACED));
        }
    }
}

impl CongestionControl for Udt {
    fn control(&self) -> Control {
        let rate = if self.thaw.is_some() { self.rate.0.min((Packets(1.0) / SYN).0) } else { self.rate.0 };
        let grows = self.intervals.wake().filter(|_| self.profile == Profile::Paper && self.slow_start.is_none());
        Control {
            pacing: Pacing::At(Rate(rate)),
            probe: if self.capacity.is_some() { Probe::None } else { Probe::PairEvery(PAIR_EVERY) },
            wake: [grows, self.thaw].into_iter().flatten().min(),
            ..Control::window(self.in_flight())
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.pass(view);
        self.intervals.positive();
        self.on_report(&ack.remote);
        if let Some(slow_start) = self.slow_start {
            self.ramp(slow_start, if self.validate && view.is_underused() { 0 } else { ack.newly }, view);
            return;
        }
        if self.profile == Profile::Paper {
            self.update_window(&ack.remote, view);
        } else if self.takes_turn(view.now) {
            self.update_window(&ack.remote, view);
            let lossy = core::mem::take(&mut self.lossy);
            if (self.profile == Profile::Ns2 || !lossy) && !(self.validate && view.is_underused()) {
                self.grow(view);
            }
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.pass(view);
        let heeded = match event.cause {
            Cause::Loss | Cause::Mark => true,
            Cause::Timeout => self.profile != Profile::Ns2,
            Cause::Delay => false,
        };
        if !heeded {
            return;
        }
        let first_of_interval = self.intervals.negative();
        if self.waits_for_arrivals(view, event) {
            return;
        }
        if self.slow_start.is_some() {
            self.leave_slow_start(view);
            if self.profile != Profile::Ns2 {
                return;
            }
        }
        self.lossy = true;
        let verdict = self.cuts.judge(event.first, view.next, first_of_interval);
        if self.profile == Profile::Udt4 && event.cause == Cause::Timeout {
            // Further timeouts in a row are no new sign of congestion: hardly anything is being sent.
            if !event.persistent {
                self.before_cut = self.rate;
                self.rate = cut(self.rate, self.rate.0 / 2.0);
            }
            return;
        }
        if verdict == Verdict::First {
            self.before_cut = self.rate;
            self.thaw = (self.profile == Profile::Ns2).then_some(view.now + SYN);
        }
        if verdict != Verdict::Pass {
            // daimd eq. 2 with b = 1/9; UDT lengthens its sending period by 1/8.
            self.rate = cut(self.rate, self.rate.0 / 1.125);
            self.keep_to_ns2(view);
        }
    }

    fn on_wake(&mut self, view: &View) {
        self.pass(view);
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

/// Packets per second: both codes start with a sending period of 1 us, which paces nothing below 12 Gbit/s.
const UNPACED: f64 = 1e6;
/// Every 16th packet is followed at once by its pair (daimd section VII).
const PAIR_EVERY: u32 = 16;
/// libudt's assumption before the first sample.
const DEFAULT_RTT: Span = Span::from_millis(100);
/// libudt's window has this many packets on top of what eq. 21 tends to.
const UDT4_WINDOW: f64 = 16.0;
/// The agent's `max_flow_window_`, packets.
const NS2_MAX_WINDOW: f64 = 1e5;
