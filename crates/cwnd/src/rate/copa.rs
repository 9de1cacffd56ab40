//! Copa: a flow aims at the rate `1/(delta dq)`, `dq` the time that its packets wait in queues.
//!
//! Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018. Section numbers are its own, and so
//! are the names of the measurements. Windows and queues are in packets.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{GREATEST_WINDOW, bounded, bounded_window};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, IGNORES_MARKS, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Cause, Congestion, Rtt, Start, View};
use crate::units::{Span, Time};
use crate::window::Policy;

/// A Copa sender. What it remembers of round-trip times lies in a box.
#[derive(Clone, Debug)]
pub struct Copa(Box<Sender>);

/// When `delta` varies, so that a flow holds its own against flows that fill queues (section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// While no nearly empty queue has been seen for five round trips.
    Switching,
    /// Never.
    Default,
    /// Always.
    Competitive,
}

/// What a flow does besides.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// `delta` of the default mode, per packet: above 0.
    pub delta: f64,
    /// When it varies.
    pub mode: Mode,
    /// A velocity above one ends as soon as the rate crosses the target; otherwise it is in force against its own direction until the window
    /// of data is over.
    pub reset_at_reversal: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { delta: 0.5, mode: Mode::Switching, reset_at_reversal: true }
    }
}

#[derive(Clone, Debug)]
struct Sender {
    mode: Mode,
    reset_at_reversal: bool,
    /// `1/delta` of the default mode, packets.
    default_inverse: f64,
    max_window: f64,
    policy: Policy,
    cwnd: f64,
    slow_start: bool,
    /// Samples of the last ten seconds, whose least is RTTmin; of half a round trip, whose least is RTTstanding; and of four round trips,
    /// whose greatest is RTTmax.
    long: Samples,
    standing: Samples,
    recent: Samples,
    velocity: Velocity,
    /// When the window of data under way began, the congestion window then, and whether it has had a loss.
    window_began: Time,
    window_cwnd: f64,
    window_lost: bool,
    /// `1/delta` in force, packets.
    inverse: f64,
    competes: bool,
    nearly_empty: Time,
    /// The next new packet at the last loss event: a loss of an earlier one belongs to it.
    event_from: u64,
    /// The window and `inverse` that the last congestion event reduced.
    undo: Option<(f64, f64)>,
}

/// The velocity `v` of section 2.1 and the direction it belongs to.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    /// Whether the window grew in the last window of data; none before the first.
    grows: Option<bool>,
    /// Windows in a row, each with the direction of the one before.
    repeated: u32,
}

impl Velocity {
    const FIRST: Self = Self { value: 1.0, grows: None, repeated: 0 };

    /// A window of data has passed, in which the congestion window has grown or not. `most` bounds the velocity.
    fn on_window(&mut self, grew: bool, most: f64) {
        if self.grows == Some(grew) {
            self.repeated = self.repeated.saturating_add(1);
        } else {
            *self = Self { grows: Some(grew), ..Self::FIRST };
        }
        if self.repeated >= REPEATED {
            self.value = (2.0 * self.value).min(most).max(1.0);
        }
    }
}

/// The extremes of the round-trip times of a stretch of time. Samples are kept in groups of at most an eighth of the stretch, so that a
/// sample counts for up to an eighth longer.
#[derive(Clone, Debug)]
struct Samples {
    /// In order of time; never more than there is room for from the start.
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first: Time,
    last: Time,
    least: Span,
    greatest: Span,
}

impl Samples {
    fn new() -> Self {
        Self { groups: Vec::with_capacity(MOST_GROUPS) }
    }

    /// A sample, after which only those of the last `stretch` count.
    fn on_sample(&mut self, now: Time, sample: Span, stretch: Span) {
        match self.groups.last_mut() {
            Some(group) if now.since(group.first) < stretch / GROUPS => group.take(now, sample),
            _ => {
                // A stretch that has grown has more groups than one that never did.
                if self.groups.len() == MOST_GROUPS {
                    let oldest = self.groups.remove(0);
                    self.groups[0].first = oldest.first;
                    self.groups[0].least = self.groups[0].least.min(oldest.least);
                    self.groups[0].greatest = self.groups[0].greatest.max(oldest.greatest);
                }
                self.groups.push(Group { first: now, last: now, least: sample, greatest: sample });
            }
        }
        let old = self.groups.iter().take_while(|group| now.since(group.last) > stretch).count();
        self.groups.drain(..old);
    }

    fn least(&self) -> Option<Span> {
        self.groups.iter().map(|group| group.least).min()
    }

    fn greatest(&self) -> Option<Span> {
        self.groups.iter().map(|group| group.greatest).max()
    }
}

impl Group {
    fn take(&mut self, now: Time, sample: Span) {
        self.last = now;
        self.least = self.least.min(sample);
        self.greatest = self.greatest.max(sample);
    }
}

impl Copa {
    /// A sender that keeps `1/delta` packets in queues.
    #[must_use]
    pub fn new(settings: Settings, start: &Start) -> Self {
        let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        let cwnd = bounded_window(start.window.0, max_window).0;
        let default_inverse = settings.delta.recip();
        Self(Box::new(Sender {
            mode: settings.mode,
            reset_at_reversal: settings.reset_at_reversal,
            default_inverse,
            max_window,
            policy: start.policy,
            cwnd,
            slow_start: true,
            long: Samples::new(),
            standing: Samples::new(),
            recent: Samples::new(),
            velocity: Velocity::FIRST,
            window_began: Time::ZERO,
            window_cwnd: cwnd,
            window_lost: false,
            inverse: default_inverse,
            competes: settings.mode == Mode::Competitive,
            nearly_empty: Time::ZERO,
            event_from: 0,
            undo: None,
        }))
    }
}

impl Sender {
    /// RTTstanding and `dq = RTTstanding - RTTmin`; none before the first sample.
    fn delays(&self) -> Option<(Span, Span)> {
        let standing = self.standing.least()?;
        Some((standing, standing - self.long.least()?))
    }

    fn observe(&mut self, now: Time, rtt: Rtt) {
        self.long.on_sample(now, rtt.latest, RTT_MIN_WINDOW);
        self.standing.on_sample(now, rtt.latest, rtt.smoothed / 2);
        self.recent.on_sample(now, rtt.latest, rtt.smoothed * RTT_MAX_ROUNDS);
    }

    /// Section 2.2: the queue is nearly empty where `dq < 0.1 (RTTmax - RTTmin)`.
    fn choose_mode(&mut self, now: Time, rtt: Rtt, queueing: Span) {
        let spread = self.recent.greatest().zip(self.long.least()).map_or(Span::ZERO, |(most, least)| most - least);
        // Where no packet waits both are 0, and the queue is empty.
        if queueing.as_secs_f64() <= NEARLY_EMPTY * spread.as_secs_f64() {
            self.nearly_empty = now;
        }
        let competes = match self.mode {
            Mode::Default => false,
            Mode::Competitive => true,
            Mode::Switching => now.since(self.nearly_empty) > rtt.smoothed * EMPTY_ROUNDS,
        };
        if self.competes && !competes {
            self.inverse = self.default_inverse;
        }
        self.competes = competes;
    }

    /// Once per window of data: the acknowledgement is the first of a packet that left in it.
    fn end_window(&mut self, now: Time) {
        if !self.slow_start {
            self.velocity.on_window(self.cwnd > self.window_cwnd, self.cwnd / self.inverse);
        }
        if self.competes && !self.window_lost {
            self.inverse = (self.inverse + 1.0).min(GREATEST_WINDOW);
        }
        self.window_lost = false;
        self.begin_window(now);
    }

    fn begin_window(&mut self, now: Time) {
        (self.window_began, self.window_cwnd) = (now, self.cwnd);
    }

    /// Section 2.1: towards the target rate, for `acked` acknowledged packets. `cwnd/RTTstanding <= 1/(delta dq)` is compared without a
    /// division by a `dq` of 0.
    fn step(&mut self, view: &View, acked: f64, (standing, queueing): (Span, Span)) {
        let grows = self.cwnd * queueing.as_secs_f64() <= self.inverse * standing.as_secs_f64();
        self.slow_start &= grows;
        if grows && self.policy.withholds_growth(view) {
            return;
        }
        if self.reset_at_reversal && self.velocity.value > 1.0 && self.velocity.grows != Some(grows) {
            self.velocity = Velocity { grows: Some(grows), ..Velocity::FIRST };
            self.begin_window(view.now);
        }
        // As many packets are acknowledged in a round trip as are in flight: together they change the window by v/delta.
        let change = acked * self.velocity.value * self.inverse / self.cwnd.max(view.in_flight as f64);
        let change = match (self.slow_start, grows) {
            (true, _) => acked,
            (false, true) => change,
            (false, false) => -change,
        };
        let least = LEAST_WINDOW.min(self.cwnd);
        self.cwnd = (self.cwnd + change).max(least).min(self.max_window);
    }

    fn on_loss(&mut self, view: &View, event: &Congestion) {
        self.window_lost = true;
        if event.first < self.event_from {
            return;
        }
        self.event_from = view.next;
        self.undo = Some((0.0, self.inverse));
        if self.competes {
            self.inverse = (self.inverse / 2.0).max(self.default_inverse);
        }
    }

    fn on_timeout(&mut self, event: &Congestion) {
        if !event.persistent || self.undo.is_none() {
            self.undo = Some((self.cwnd, self.inverse));
        }
        self.cwnd = LEAST_WINDOW.min(self.cwnd);
        self.inverse = self.default_inverse;
        self.velocity = Velocity::FIRST;
        self.slow_start = true;
    }
}

impl CongestionControl for Copa {
    fn control(&self) -> Control {
        let copa = &*self.0;
        // Section 2.1.
        let pacing = copa.delays().map(|(standing, _)| 2.0 * copa.cwnd / standing.as_secs_f64());
        Control {
            pacing: pacing.map_or(Pacing::Off, |rate| Pacing::At(bounded(rate))),
            ..Control::window(bounded_window(copa.cwnd, copa.max_window))
        }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let copa = &mut *self.0;
        let Some(rtt) = view.rtt else { return };
        copa.observe(view.now, rtt);
        let Some(delays) = copa.delays() else { return };
        copa.choose_mode(view.now, rtt, delays.1);
        if ack.sent_at >= copa.window_began {
            copa.end_window(view.now);
        }
        copa.step(view, f64::from(ack.newly), delays);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        match event.cause {
            Cause::Loss => self.0.on_loss(view, event),
            Cause::Timeout => self.0.on_timeout(event),
            Cause::Mark | Cause::Delay => {}
        }
    }

    fn on_spurious(&mut self, _view: &View) {
        let copa = &mut *self.0;
        if let Some((cwnd, inverse)) = copa.undo.take() {
            copa.slow_start &= cwnd <= copa.cwnd;
            copa.cwnd = copa.cwnd.max(cwnd);
            copa.inverse = copa.inverse.max(inverse);
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let copa = &*self.0;
        let (standing, queueing) = copa.delays().unwrap_or_default();
        visit("standing_rtt", standing.as_secs_f64());
        visit("queueing_delay", queueing.as_secs_f64());
        visit("target_rate", bounded(copa.inverse / queueing.as_secs_f64()).0);
        visit("velocity", copa.velocity.value);
        visit("delta", copa.inverse.recip());
        visit("competes", f64::from(u8::from(copa.competes)));
        visit("slow_start", f64::from(u8::from(copa.slow_start)));
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `copa`.
pub const COPA: Entry<Copa> = Entry {
    name: "copa",
    title: "Copa: a rate of 1/(delta dq), by the delay dq of the queue, and 1/delta packets in it",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::Delay,
    source: "Arun and Balakrishnan, NSDI 2018, sections 2.1 and 2.2",
    deviations: &[
        "Where more is in flight than the window, the change per acknowledged packet is v/delta over the packets in flight: so a round trip changes the window by v/delta, as section 2.1 says, also while it falls.",
        "The velocity is at most what doubles the window in a round trip, as in the authors' genericCC.",
        "A velocity above one ends as soon as the rate crosses the target, as in mvfst; by the paper it is then in force against its direction for the rest of the window, by which a flow alone on 100 Mbit/s and 50 ms loses 3 % of the link.",
        "A sample counts for up to an eighth longer than the stretch of time it belongs to.",
        "A queue in which no packet of four round trips has waited is nearly empty; by the paper's inequality it is not.",
        "1/delta follows additive increase by one per round trip and is halved once per window with losses, never below that of the default mode.",
        "A timeout leaves two packets and begins slow start anew, and an acknowledgement that shows it to be wrong restores the window; the paper is silent.",
        IGNORES_MARKS,
    ],
    parameters: &[
        Parameter::number("delta", 0.5, "1/delta packets are kept in the queue; of the default mode")
            .unit("1/packet")
            .at_least(1e-4)
            .at_most(10.0),
        Parameter::choice(
            "mode",
            &["switching", "default", "competitive"],
            "when 1/delta grows until packets are lost: where no queue is seen nearly empty, never, or always (section 2.2)",
        ),
        Parameter::choice(
            "reset",
            &["reversal", "window"],
            "when a velocity above one ends: as the rate crosses the target, or with the window of data in which it does (section 2.1)",
        ),
    ],
    build: |values, start| {
        let mode = match values.choice("mode") {
            "default" => Mode::Default,
            "competitive" => Mode::Competitive,
            _ => Mode::Switching,
        };
        let reset_at_reversal = values.choice("reset") == "reversal";
        Ok(Copa::new(Settings { delta: values.number("delta"), mode, reset_at_reversal }, start))
    },
    receiver: None,
};

/// Section 2.1: "the smaller of 10 seconds and the time since the flow started".
const RTT_MIN_WINDOW: Span = Span::from_secs(10);
/// Section 2.2: round trips.
const RTT_MAX_ROUNDS: u64 = 4;
const EMPTY_ROUNDS: u64 = 5;
const NEARLY_EMPTY: f64 = 0.1;
/// Section 2.1: the velocity doubles "only after the direction has remained the same for three RTTs". Alone a flow keeps it for two and a half
/// (section 3), so that with three windows after the first none doubles.
const REPEATED: u32 = 3;
/// Packets: with one, nothing would be in flight behind a lost packet to show it.
const LEAST_WINDOW: f64 = 2.0;
/// Groups of samples per stretch.
const GROUPS: u64 = 8;
/// Room for those of a stretch that has doubled.
const MOST_GROUPS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Limit, Remote};
    use crate::units::{Bytes, Packets};

    /// A sender past slow start, and the view that a test moves on.
    fn avoiding(cwnd: f64, mode: Mode) -> (Copa, View) {
        let mut copa =
            Copa::new(Settings { mode, ..Settings::default() }, &Start { window: Packets(cwnd), ..Start::default() });
        copa.0.slow_start = false;
        (copa, view())
    }

    fn view() -> View {
        View {
            now: Time::ZERO,
            next: 0,
            in_flight: 0,
            in_recovery: false,
            delivered: 0,
            lost: 0,
            rtt: None,
            timeout: None,
            round: 0,
            limit: Limit::Window,
            peer_window: Packets(f64::INFINITY),
            packet: Bytes(1500),
            payload: Bytes(1460),
        }
    }

    /// `newly` packets are acknowledged `after` the last signal, with a sample of `rtt`.
    fn acknowledge(copa: &mut Copa, view: &mut View, after: Span, rtt: Span, smoothed: Span, newly: u32) {
        view.now += after;
        view.rtt = Some(Rtt { latest: rtt, smoothed, variation: Span::ZERO, min: rtt, ack_delay: Span::ZERO });
        let sent_at = Time::from_nanos(view.now.as_nanos().saturating_sub(rtt.as_nanos()));
        let ack = Ack { acks: newly, newly, marked: 0, sent_at, sample: None, remote: Remote::default() };
        copa.on_ack(view, &ack);
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
    }

    /// RTTmin 80 ms and RTTstanding 100 ms are a target of 1/(0.5 * 0.02 s) = 100 packets/s. A window of 10 has that, and grows by
    /// 1/(0.5 * 10); one of 10.2 has more, and shrinks by 1/(0.5 * 10.2).
    #[test]
    fn the_window_moves_towards_the_target_rate() {
        let (mut copa, mut view) = avoiding(10.0, Mode::Default);
        let [ms_80, ms_100] = [80, 100].map(Span::from_millis);
        acknowledge(&mut copa, &mut view, ms_80, ms_80, ms_100, 0);
        // Half of a smoothed round trip and an eighth later the first sample is forgotten as standing.
        acknowledge(&mut copa, &mut view, ms_80, ms_100, ms_100, 1);
        close(copa.0.cwnd, 10.2);
        assert_eq!(copa.control().pacing, Pacing::At(bounded(2.0 * 10.2 / 0.1)));
        acknowledge(&mut copa, &mut view, Span::from_millis(1), ms_100, ms_100, 1);
        close(copa.0.cwnd, 10.2 - 1.0 / (0.5 * 10.2));
    }

    /// The numbers of mvfst's test of the exit from slow start: a target of 1/(0.5 * 0.1 s) = 20 packets/s against 10 packets in 150 ms.
    #[test]
    fn slow_start_doubles_until_the_rate_exceeds_the_target() {
        let mut copa = Copa::new(Settings::default(), &Start::default());
        let mut view = view();
        let [ms_50, ms_100, ms_150] = [50, 100, 150].map(Span::from_millis);
        acknowledge(&mut copa, &mut view, ms_50, ms_50, ms_50, 0);
        let mut doubling = copa.clone();
        acknowledge(&mut doubling, &mut view.clone(), ms_50, ms_50, ms_50, 10);
        close(doubling.0.cwnd, 20.0);
        acknowledge(&mut copa, &mut view, Span::from_millis(110), ms_150, ms_100, 1);
        assert!(!copa.0.slow_start);
        close(copa.0.cwnd, 9.8);
    }

    #[test]
    fn the_velocity_doubles_once_three_windows_have_repeated_a_direction() {
        let mut velocity = Velocity::FIRST;
        let mut values = [true, true, true, true, true, true, false, false, false, false].map(|grew| {
            velocity.on_window(grew, 6.0);
            velocity.value
        });
        assert_eq!(values, [1.0, 1.0, 1.0, 2.0, 4.0, 6.0, 1.0, 1.0, 1.0, 2.0]);
        // A window of less than 1/delta packets has a velocity of one still.
        velocity = Velocity::FIRST;
        values = [true; 10].map(|grew| {
            velocity.on_window(grew, 0.5);
            velocity.value
        });
        assert_eq!(values, [1.0; 10]);
    }

    /// RTTmin 50 ms and RTTmax 60 ms: a `dq` of at most 1 ms is nearly empty. Five round trips after the last one, 1/delta begins to grow by one
    /// per window; a loss halves it, a second one of the window does not, and it ends at the default.
    #[test]
    fn a_queue_that_is_never_nearly_empty_for_five_round_trips_makes_delta_vary() {
        let (mut copa, mut view) = avoiding(100.0, Mode::Switching);
        let ms = Span::from_millis;
        acknowledge(&mut copa, &mut view, ms(50), ms(50), ms(50), 1);
        let mut inverses = Vec::new();
        for _ in 1..=9 {
            acknowledge(&mut copa, &mut view, ms(60), ms(60), ms(50), 1);
            inverses.push(copa.0.inverse);
        }
        // Samples are 60 ms apart: the fifth comes 300 ms after the empty queue, more than five smoothed round trips.
        assert_eq!(inverses, [2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        view.next = 300;
        copa.on_congestion(&view, &Congestion::loss(200, 1));
        copa.on_congestion(&view, &Congestion::loss(201, 1));
        close(copa.0.inverse, 3.5);
        copa.on_spurious(&view);
        close(copa.0.inverse, 7.0);
        for first in [300, 400, 500] {
            view.next = first + 100;
            copa.on_congestion(&view, &Congestion::loss(first, 1));
        }
        close(copa.0.inverse, 2.0);
        copa.0.inverse = 7.0;
        acknowledge(&mut copa, &mut view, ms(50), ms(51), ms(50), 1);
        assert!(!copa.0.competes);
        close(copa.0.inverse, 2.0);
    }

    #[test]
    fn a_loss_changes_nothing_in_the_default_mode_and_a_timeout_is_undone_where_it_was_wrong() {
        let (mut copa, mut view) = avoiding(40.0, Mode::Default);
        view.next = 40;
        copa.on_congestion(&view, &Congestion::loss(0, 10));
        assert_eq!((copa.0.cwnd, copa.0.inverse), (40.0, 2.0));
        copa.on_congestion(&view, &Congestion::timeout(0, false));
        copa.on_congestion(&view, &Congestion::timeout(0, true));
        assert_eq!((copa.0.cwnd, copa.0.slow_start), (2.0, true));
        copa.on_spurious(&view);
        assert_eq!((copa.0.cwnd, copa.0.slow_start), (40.0, false));
    }

    #[test]
    fn samples_count_for_their_stretch_and_at_most_an_eighth_longer() {
        let mut samples = Samples::new();
        let ms = Span::from_millis;
        let mut now = Time::ZERO;
        samples.on_sample(now, ms(10), ms(80));
        for _ in 0..80 {
            now += ms(1);
            samples.on_sample(now, ms(20), ms(80));
            assert_eq!(samples.least(), Some(ms(10)), "at {now}");
        }
        for _ in 0..10 {
            now += ms(1);
            samples.on_sample(now, ms(20), ms(80));
        }
        assert_eq!((samples.least(), samples.greatest()), (Some(ms(20)), Some(ms(20))));
        // However the stretch grows, there is room.
        for stretch in 0..1000 {
            now += ms(stretch / 8);
            samples.on_sample(now, ms(30), ms(stretch));
            assert!(samples.groups.len() <= MOST_GROUPS && samples.groups.capacity() <= MOST_GROUPS);
        }
    }
}
