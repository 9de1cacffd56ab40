//! The sending rule of the author's ns-2 agents of UDT, in all their releases.
//!
//! An endpoint of their own in the simulator drives it with what the agents see ([`Agent::on_report`], [`Agent::on_nak`],
//! [`Agent::on_syn`], …). Any other host drives it as a [`CongestionControl`], which keeps its own clock of a SYN.

use alloc::boxed::Box;

use super::profile::{AgentCuts, AtOnce, Bound, Choices, Grows, Habits, Naks, Step};
use super::{PAIR_EVERY, SYN, increase};
use crate::control::{CongestionControl, Control, Pacing, Probe};
use crate::rate;
use crate::rate::random::SplitMix;
use crate::rate::{CUT_FLOOR, GREATEST_WINDOW, LEAST_RATE, bounded_window};
use crate::signal::{Ack, Cause, Congestion, Start, View};
use crate::units::{BitRate, Bytes, Packets, Rate, Time};

/// The sender's half of an agent.
#[derive(Clone, Debug)]
pub struct Agent {
    habits: Habits,
    packet: Bytes,
    /// Given instead of measured, packets per second.
    known: Option<f64>,
    lambda: f64,
    /// Least increase per SYN, packets.
    floor: f64,
    max_window: f64,
    /// Seconds between two packets.
    interval: f64,
    /// Packets.
    window: f64,
    slow_start: bool,
    /// By packet pairs, packets per second; 0 before the first report.
    capacity: f64,
    /// As reported last, packets per second.
    arrivals: f64,
    /// The interval before the last cut, seconds.
    before_cut: f64,
    pause: bool,
    cuts: Cuts,
    /// Since the last SYN: packets sent, packets reported lost and warnings that count as such, and acknowledgements that advanced.
    sent: u64,
    lost: u64,
    acks: u64,
    clock: Clock,
}

/// Which NAKs cut.
#[derive(Clone, Debug)]
struct Cuts {
    /// A loss from here on begins an epoch.
    epoch_from: u64,
    /// NAKs of this epoch.
    naks: i64,
    /// 1.1: the next cut within the epoch comes after two to this power of NAKs.
    power: i32,
    /// 2.0 and 2.2: the running mean of NAKs per epoch, and each `stride`-th of them cuts.
    mean: u64,
    stride: u64,
    /// 1.1: a NAK of a single packet was ignored.
    skipped_single_loss: bool,
    /// The first NAK of this SYN has cut.
    in_this_syn: bool,
    random: SplitMix,
}

/// The clock of a host that has none of its own for the agent.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// When a SYN ends.
    due: Option<Time>,
    /// When the pause ends.
    unfreeze_at: Option<Time>,
    /// The next new packet when the last SYN ended.
    next: u64,
    acked: u64,
}

/// A report of a receiver: whole numbers, 0 for unknown values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "what a packet of an agent carries")]
pub struct Report {
    /// All packets below are acknowledged.
    pub acked: u64,
    /// Arrival rate, packets per second.
    pub arrivals: f64,
    /// Capacity by packet pairs, packets per second.
    pub capacity: f64,
}

/// A NAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what a packet of an agent carries")]
pub struct Nak {
    /// The first packet it names.
    pub first: u64,
    /// The number of packets that it names.
    pub count: u64,
    /// They were reported before.
    pub repeated: bool,
    /// The next new packet of the sender.
    pub next: u64,
}

impl Agent {
    /// A sender under `habits`.
    #[must_use]
    pub fn new(habits: Habits, choices: &Choices, start: &Start) -> Self {
        let packet = start.packet;
        let initial = choices.initial_window.map_or(habits.constants.window(), |window| window.0);
        let max_window = bounded_window(start.max_window.0, MAX_WINDOW).0;
        let rate = choices.initial_rate.map_or((Packets(1.0) / SYN).0, |rate| rate.to_packets(packet).0);
        Self {
            habits,
            packet,
            known: choices.capacity.map(|capacity| capacity.to_packets(packet).0),
            lambda: choices.lambda,
            floor: match choices.floor {
                Some(floor) => floor.0,
                None if habits.floors => 1.0 / f64::from(packet.0.max(1)),
                None => 0.0,
            },
            max_window,
            interval: if choices.slow_start { LEAST_INTERVAL } else { within(1.0 / rate) },
            window: initial.min(max_window),
            slow_start: choices.slow_start,
            capacity: 0.0,
            arrivals: 0.0,
            before_cut: 1.0,
            pause: false,
            cuts: Cuts::new(start.seed),
            sent: 0,
            lost: 0,
            acks: 0,
            clock: Clock::default(),
        }
    }

    /// Its rules.
    #[must_use]
    pub const fn habits(&self) -> &Habits {
        &self.habits
    }

    /// Seconds between two packets.
    #[must_use]
    pub const fn interval(&self) -> f64 {
        self.interval
    }

    /// Packets: one more may leave while no more than these are unacknowledged (daimd section III).
    #[must_use]
    pub const fn window(&self) -> f64 {
        self.window
    }

    /// Packets per second, by packet pairs; 0 before the first report.
    #[must_use]
    pub const fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Whether it is in slow start.
    #[must_use]
    pub const fn is_in_slow_start(&self) -> bool {
        self.slow_start
    }

    /// Whether the next packet is followed by a pause of a SYN; asked once.
    pub const fn take_pause(&mut self) -> bool {
        core::mem::replace(&mut self.pause, false)
    }

    /// Whether a pause is to come.
    #[must_use]
    pub const fn pauses(&self) -> bool {
        self.pause
    }

    /// A packet was sent.
    pub const fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// An acknowledgement that advances, after which the smoothed round trip is `rtt` seconds. Whether it lets a packet leave at once.
    pub fn on_report(&mut self, report: &Report, rtt: f64) -> bool {
        let mut leaves = self.habits.at_once == AtOnce::AckAndNak;
        if report.arrivals > 0.0 {
            self.arrivals = report.arrivals;
        }
        if self.slow_start {
            self.window = report.acked as f64;
            if self.habits.slow_start_paces && report.arrivals > 0.0 {
                let of_arrivals = 1.0 / report.arrivals;
                let first = self.interval == LEAST_INTERVAL;
                self.interval = within(if first { of_arrivals } else { 0.875 * self.interval + 0.125 * of_arrivals });
            }
        } else if report.arrivals > 0.0 {
            // daimd eq. 21.
            let target = report.arrivals * (rtt + SYN.as_secs_f64());
            let window = self.window * self.lambda + target * (1.0 - self.lambda);
            self.window = if self.habits.whole_window { libm::ceil(window) } else { window };
        }
        if self.window > self.max_window {
            self.slow_start = false;
            self.window = self.max_window;
        }
        self.capacity = if self.habits.smooths_capacity {
            libm::floor(0.875 * self.capacity + 0.125 * report.capacity)
        } else {
            report.capacity
        };
        self.acks += 1;
        if self.habits.grows == Grows::PerAck && !self.slow_start {
            self.grow();
        }
        if self.habits.bound != Bound::Never && self.interval > rtt {
            self.interval = within(rtt);
            leaves = true;
        }
        leaves
    }

    /// A NAK, with a smoothed round trip of `rtt` seconds. None if it is ignored, otherwise whether it lets a packet leave at once.
    pub fn on_nak(&mut self, nak: &Nak, rtt: f64) -> Option<bool> {
        self.slow_start = false;
        if !(nak.repeated && self.habits.naks == Naks::RepeatedUncut) {
            let first = nak.first >= self.cuts.epoch_from;
            if first && self.habits.forgives_single && !self.cuts.skipped_single_loss && nak.count < 2 {
                self.cuts.skipped_single_loss = true;
                return None;
            }
            if first || self.habits.remembers_each_nak {
                self.before_cut = self.interval;
            }
            let further = self.cuts.counts_further(self.habits.cuts, first);
            if first {
                self.cuts.skipped_single_loss = false;
                self.cuts.begin(self.habits.cuts, nak.next);
                self.pause = self.habits.pauses;
            } else if further && self.habits.cuts != AgentCuts::Doubling {
                self.cuts.epoch_from = nak.next;
            }
            if first || further {
                self.cut();
            }
        }
        if self.habits.bound == Bound::AckAndNak && self.interval > rtt {
            self.interval = within(rtt);
        }
        self.lost += nak.count;
        Some(self.habits.at_once != AtOnce::Never)
    }

    /// The receiver warns of a rising delay; `next` is the next new packet.
    pub fn on_delay_warning(&mut self, next: u64) {
        self.slow_start = false;
        self.before_cut = self.interval;
        self.cut();
        self.cuts.begin(self.habits.cuts, next);
        self.lost += u64::from(self.habits.grows == Grows::PerCleanSyn);
    }

    /// A SYN has passed.
    pub fn on_syn(&mut self) {
        self.cuts.in_this_syn = false;
        if self.slow_start || self.sent == 0 {
            self.lost = 0;
        } else {
            let (sent, lost) = (self.sent, core::mem::take(&mut self.lost));
            let grows = match self.habits.grows {
                Grows::PerSyn => {
                    self.sent = 0;
                    lost < sent
                }
                // The count of acknowledgements starts anew only after a SYN that may grow.
                Grows::PerQuietSyn if lost > 0 || self.acks == 0 => return,
                Grows::PerQuietSyn => true,
                Grows::PerCleanSyn => lost == 0 && self.acks > 0,
                Grows::PerAck => false,
            };
            if grows {
                self.grow();
            }
        }
        self.acks = 0;
    }

    fn cut(&mut self) {
        // daimd eq. 2 with b = 1/9.
        self.interval = within(self.interval * 1.125);
    }

    /// daimd eq. 1 in the form of a sending interval T: `T SYN / (T inc + SYN)`.
    fn grow(&mut self) {
        let (interval, syn) = (self.interval, SYN.as_secs_f64());
        self.interval = within(interval * syn / (interval * self.step() + syn)).max(LEAST_INTERVAL);
    }

    /// The increase at the present rate, packets per SYN.
    fn step(&self) -> f64 {
        let capacity = self.known.unwrap_or(self.capacity);
        let spare = capacity - 1.0 / self.interval;
        let ninth = capacity / 9.0;
        let recovers = self.interval > self.before_cut;
        let eq8 = |spare: f64| increase(BitRate(spare * self.packet.bits()), self.packet).0;
        let step = match self.habits.step {
            Step::Ninth11 if recovers => eq8(ninth),
            Step::Ninth11 => 10.0 * eq8(spare),
            Step::Ninth20 if recovers && spare >= 0.0 => eq8(spare.min(ninth)),
            Step::Ninth20 | Step::Eq8 => eq8(spare),
        };
        step.max(self.floor)
    }

    /// Lets time pass for a host without a clock of the agent's.
    fn pass(&mut self, view: &View) {
        self.clock.unfreeze_at = self.clock.unfreeze_at.filter(|unfreeze_at| view.now < *unfreeze_at);
        let due = *self.clock.due.get_or_insert(view.now + SYN);
        if view.now < due {
            return;
        }
        let new = view.next.saturating_sub(core::mem::replace(&mut self.clock.next, view.next));
        // Acknowledged packets were sent, if not in this SYN.
        self.sent += new.max(u64::from(self.acks > 0));
        self.on_syn();
        // Nothing was sent in the others that have passed.
        let missed = view.now.since(due).as_nanos() / SYN.as_nanos();
        self.clock.due = Some(due + SYN * (missed + 1));
    }
}

impl Cuts {
    fn new(seed: u64) -> Self {
        Self {
            epoch_from: 0,
            naks: 0,
            power: 0,
            mean: 2,
            stride: 2,
            skipped_single_loss: false,
            in_this_syn: false,
            random: SplitMix::new(seed),
        }
    }

    /// An epoch begins; `next` is the next new packet.
    fn begin(&mut self, rule: AgentCuts, next: u64) {
        self.epoch_from = next;
        match rule {
            AgentCuts::Random20 | AgentCuts::Random22 => {
                // 2.0 forgets how many NAKs the last epoch had before it takes the mean.
                let naks = if rule == AgentCuts::Random20 { 1 } else { self.naks };
                self.mean = 1 + libm::ceil(0.875 * self.mean as f64 + 0.125 * naks as f64) as u64;
                let drawn = libm::floor(self.random.unit() * self.mean as f64) as u64;
                self.stride = drawn + if rule == AgentCuts::Random20 { 1 } else { self.mean.div_ceil(5) };
                self.naks = 1;
            }
            _ => (self.naks, self.power) = (-16, 1),
        }
    }

    /// Counts a NAK. Whether it cuts although it is not the first of an epoch.
    fn counts_further(&mut self, rule: AgentCuts, first: bool) -> bool {
        let first_of_syn = !core::mem::replace(&mut self.in_this_syn, true);
        if first {
            return false;
        }
        self.naks = self.naks.saturating_add(1);
        match rule {
            AgentCuts::PerNak => true,
            AgentCuts::PerInterval => first_of_syn,
            AgentCuts::PerEpoch => false,
            AgentCuts::Doubling => {
                let due = self.naks as f64 >= libm::pow(2.0, f64::from(self.power));
                if due {
                    (self.power, self.naks) = (self.power.saturating_add(1), 0);
                }
                due
            }
            AgentCuts::Random20 | AgentCuts::Random22 => self.naks.unsigned_abs().is_multiple_of(self.stride),
        }
    }
}

impl CongestionControl for Agent {
    fn control(&self) -> Control {
        let rate = 1.0 / self.interval;
        let rate = if self.clock.unfreeze_at.is_some() { rate.min((Packets(1.0) / SYN).0) } else { rate };
        let due = self.clock.due.filter(|_| !self.slow_start && self.habits.grows != Grows::PerAck);
        Control {
            pacing: Pacing::At(Rate(rate)),
            probe: if self.known.is_some() { Probe::None } else { Probe::PairEvery(PAIR_EVERY) },
            wake: [due, self.clock.unfreeze_at].into_iter().flatten().min(),
            ..Control::window(bounded_window(libm::floor(self.window) + 1.0, self.max_window))
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.pass(view);
        self.clock.acked = self.clock.acked.saturating_add(u64::from(ack.newly));
        let whole = |rate: Option<Rate>| {
            rate.map_or(0.0, |rate| if rate.0 > 0.0 { rate.0.min(1.0 / LEAST_INTERVAL) } else { 0.0 })
        };
        let (arrivals, capacity) = (whole(ack.remote.arrival_rate), whole(ack.remote.capacity));
        // A host that reports no capacity now and then means that it is as before.
        let capacity = if capacity > 0.0 { capacity } else { self.capacity };
        self.on_report(&Report { acked: self.clock.acked, arrivals, capacity }, rtt(view, &self.habits));
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.pass(view);
        let before = self.interval;
        match event.cause {
            Cause::Loss | Cause::Mark => {
                let nak =
                    Nak { first: event.first, count: u64::from(event.lost.max(1)), repeated: false, next: view.next };
                self.on_nak(&nak, rtt(view, &self.habits));
                if self.take_pause() {
                    self.clock.unfreeze_at = Some(view.now + SYN);
                }
            }
            Cause::Delay if self.habits.delay_warnings => self.on_delay_warning(view.next),
            Cause::Delay | Cause::Timeout => {}
        }
        self.interval = self.interval.min(before.max(1.0 / CUT_FLOOR));
    }

    fn on_wake(&mut self, view: &View) {
        self.pass(view);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("slow_start", f64::from(u8::from(self.slow_start)));
        visit("pair_rate", self.capacity);
        visit("arrival_rate", self.arrivals);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

fn rtt(view: &View, habits: &Habits) -> f64 {
    view.rtt.map_or(habits.constants.rtt(), |rtt| rtt.smoothed.as_secs_f64())
}

/// A sending interval that a host can pace.
fn within(interval: f64) -> f64 {
    rate::within(interval, SHORTEST, 1.0 / LEAST_RATE)
}

/// Seconds: the agents start with a packet per microsecond and never grow beyond.
const LEAST_INTERVAL: f64 = 1e-6;
/// Seconds: what slow start may set it to where packets arrive at one instant, in whole packets per second of 31 bits.
const SHORTEST: f64 = 4e-10;
/// The largest window that the author's scripts give them, packets.
const MAX_WINDOW: f64 = 1e5;
const _: () = assert!(MAX_WINDOW < GREATEST_WINDOW);
