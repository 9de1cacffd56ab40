//! BBR version 1: pace at the bandwidth the path delivers, and keep little more than the bandwidth-delay product in flight.
//!
//! draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017); section numbers are its own, and so are the names of states and variables.
//! Volumes are in packets and rates in packets per second, where the draft has bytes.

use alloc::boxed::Box;

use super::bbr3::ExtraAcked;
use super::random::SplitMix;
use super::{GREATEST_RATE, GREATEST_WINDOW, bounded, bounded_window};
use crate::control::{CongestionControl, Control, Pacing};
use crate::entry::{Basis, Entry, Family, IGNORES_MARKS, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Cause, Congestion, Limit, RateSample, Start, View};
use crate::units::{Bytes, Span, Time};

/// A BBR sender.
#[derive(Clone, Debug)]
pub struct Bbr(Box<Model>);

#[derive(Clone, Debug)]
struct Model {
    random: SplitMix,
    initial: f64,
    max_window: f64,
    packet: Bytes,
    state: State,
    /// Section 4.1.1.2.
    round_count: u64,
    round_start: bool,
    next_round_delivered: u64,
    btl_bw: BtlBw,
    /// BBR.RTprop, and when it was last seen; none before the first sample.
    rt_prop: Option<(Span, Time)>,
    rt_prop_expired: bool,
    /// Section 4.3.2.2.
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u8,
    /// Section 4.3.4.3: the place in the gain cycle, and when it was taken.
    cycle_index: usize,
    cycle_stamp: Time,
    /// Section 4.3.5.
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// Samples of packets that left while from the first to the second of these were delivered are limited.
    marked: (u64, u64),
    idle_restart: bool,
    /// Section 4.2.3.4: in loss recovery; in its first round trip.
    in_recovery: bool,
    packet_conservation: bool,
    /// The first round trip of a recovery ends with a packet that left when as much was delivered; a timeout's recovery, when so much is.
    conserved_until: u64,
    rto_ends: Option<u64>,
    /// Packets found lost since the last acknowledgement.
    lost: f64,
    prior_cwnd: f64,
    cwnd: f64,
    pacing_rate: f64,
    has_rtt: bool,
    settings: Settings,
    extra_acked: ExtraAcked,
}

/// What came after the draft of 2017, nothing of it by default; and a rule that can be left out, to see what it causes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The window allows what acknowledgements bring beyond the expected (draft-ietf-ccwg-bbr section 5.5.9), at most what the bandwidth
    /// brings in 100 ms: as Linux describes it since 5.1 (commit 78dc70ebaa38).
    pub aggregation: bool,
    /// The share by which rates stay below their targets; 0.01 in draft-ietf-ccwg-bbr section 5.6.2.
    pub margin: f64,
    /// A recovery begins with a round trip in which no more leaves than is delivered (section 4.2.3.4).
    pub conservation: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { aggregation: false, margin: 0.0, conservation: true }
    }
}

/// The states of section 4.3. The numbers are those of the internal `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup = 0,
    Drain = 1,
    ProbeBw = 2,
    ProbeRtt = 3,
}

/// BBR.BtlBwFilter: the largest delivery rate of each of the last ten rounds.
#[derive(Clone, Debug, Default)]
struct BtlBw {
    rounds: [f64; BTL_BW_FILTER_LEN],
    round: u64,
    /// Packets per second.
    value: f64,
}

impl BtlBw {
    fn update(&mut self, rate: f64, round: u64) {
        if round != self.round {
            let passed = (round - self.round).min(BTL_BW_FILTER_LEN as u64);
            for later in 1..=passed {
                self.rounds[place(self.round + later)] = 0.0;
            }
            self.round = round;
            self.value = self.rounds.iter().copied().fold(0.0, f64::max);
        }
        let most = &mut self.rounds[place(round)];
        if rate > *most {
            *most = rate;
            self.value = self.value.max(rate);
        }
    }
}

fn place(round: u64) -> usize {
    (round % BTL_BW_FILTER_LEN as u64) as usize
}

impl Bbr {
    /// Section 4.3.1, `BBRInit`.
    #[must_use]
    pub fn new(settings: Settings, start: &Start) -> Self {
        let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        let initial = bounded_window(start.window.0, max_window).0;
        Self(Box::new(Model {
            random: SplitMix::new(start.seed),
            initial,
            max_window,
            packet: start.packet,
            state: State::Startup,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            btl_bw: BtlBw::default(),
            rt_prop: None,
            rt_prop_expired: false,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            marked: (1, 0),
            idle_restart: false,
            in_recovery: false,
            packet_conservation: false,
            conserved_until: 0,
            rto_ends: None,
            lost: 0.0,
            prior_cwnd: 0.0,
            cwnd: initial,
            // Section 4.2.1, `BBRInitPacingRate`.
            pacing_rate: HIGH_GAIN * initial / UNKNOWN_RTT,
            has_rtt: false,
            settings,
            extra_acked: ExtraAcked::default(),
        }))
    }
}

impl Model {
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw => PACING_GAIN_CYCLE[self.cycle_index],
            State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw => 2.0,
            State::ProbeRtt => 1.0,
        }
    }

    /// Section 4.2.3.2, `BBRInflight`.
    fn inflight(&self, gain: f64) -> f64 {
        let Some((rt_prop, _)) = self.rt_prop else { return self.initial };
        let quanta = 3.0 * f64::from(self.send_quantum().0) / f64::from(self.packet.0.max(1));
        gain * self.btl_bw.value * rt_prop.as_secs_f64() + quanta
    }

    /// Section 4.2.2, `BBRSetSendQuantum`.
    fn send_quantum(&self) -> Bytes {
        let bytes = self.pacing_rate * f64::from(self.packet.0);
        if bytes < 1.2e6 / 8.0 {
            self.packet
        } else if bytes < 24e6 / 8.0 {
            Bytes(self.packet.0.saturating_mul(2))
        } else {
            Bytes((bytes * 0.001).min(65_536.0) as u32)
        }
    }

    /// Sections 4.1.1.2 and 4.1.1.5, `BBRUpdateRound` and `BBRUpdateBtlBw`.
    fn update_btl_bw(&mut self, view: &View, sample: Option<RateSample>) {
        self.round_start = sample.is_some_and(|sample| sample.prior_delivered >= self.next_round_delivered);
        if self.round_start {
            self.next_round_delivered = view.delivered;
            self.round_count += 1;
        }
        let Some(sample) = sample else { return };
        let Some(rate) = sample.rate().map(|rate| rate.0.min(GREATEST_RATE)) else { return };
        if rate >= self.btl_bw.value || !self.is_limited(&sample) {
            self.btl_bw.update(rate, self.round_count);
        }
    }

    fn is_limited(&self, sample: &RateSample) -> bool {
        sample.limited || (self.marked.0..=self.marked.1).contains(&sample.prior_delivered)
    }

    /// Section 4.3.4.3, `BBRCheckCyclePhase`.
    fn check_cycle_phase(&mut self, view: &View) {
        if self.state != State::ProbeBw {
            return;
        }
        let rt_prop = self.rt_prop.map_or(Span::ZERO, |(rt_prop, _)| rt_prop);
        let is_full_length = view.now.since(self.cycle_stamp) > rt_prop;
        let prior_inflight = view.in_flight as f64;
        let gain = self.pacing_gain();
        let next = if gain > 1.0 {
            is_full_length && (self.lost > 0.0 || prior_inflight >= self.inflight(gain))
        } else if gain < 1.0 {
            is_full_length || prior_inflight <= self.inflight(1.0)
        } else {
            is_full_length
        };
        if next {
            self.advance_cycle_phase(view.now);
        }
    }

    fn advance_cycle_phase(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % PACING_GAIN_CYCLE.len();
    }

    /// Section 4.3.4.3, `BBREnterProbeBW`.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        let drawn = (self.random.unit() * 7.0) as usize;
        self.cycle_index = PACING_GAIN_CYCLE.len() - 1 - drawn;
        self.advance_cycle_phase(now);
    }

    /// Section 4.3.2.2, `BBRCheckFullPipe`.
    fn check_full_pipe(&mut self, sample: Option<RateSample>) {
        let limited = sample.is_none_or(|sample| self.is_limited(&sample));
        if self.filled_pipe || !self.round_start || limited {
            return;
        }
        if self.btl_bw.value >= self.full_bw * 1.25 {
            self.full_bw = self.btl_bw.value;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// Section 4.3.3, `BBRCheckDrain`.
    fn check_drain(&mut self, now: Time, in_flight: f64) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    /// Section 4.1.2.3, `BBRUpdateRTprop`.
    fn update_rt_prop(&mut self, view: &View) {
        let Some(rtt) = view.rtt.map(|rtt| rtt.latest) else { return };
        self.rt_prop_expired = self.rt_prop.is_some_and(|(_, stamp)| view.now > stamp + RT_PROP_FILTER_LEN);
        if self.rt_prop_expired || self.rt_prop.is_none_or(|(least, _)| rtt <= least) {
            self.rt_prop = Some((rtt, view.now));
        }
    }

    /// Section 4.3.5, `BBRCheckProbeRTT`.
    fn check_probe_rtt(&mut self, view: &View, in_flight: f64) {
        if self.state != State::ProbeRtt && self.rt_prop_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(view, in_flight);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, view: &View, in_flight: f64) {
        let until = view.delivered.saturating_add(in_flight as u64).max(1);
        let goes_on = (self.marked.0..=self.marked.1).contains(&view.delivered);
        self.marked = (if goes_on { self.marked.0 } else { view.delivered }, until);
        let Some(done) = self.probe_rtt_done else {
            if in_flight <= MIN_PIPE_CWND {
                self.probe_rtt_done = Some(view.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.next_round_delivered = view.delivered;
            }
            return;
        };
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done && view.now > done {
            self.rt_prop = self.rt_prop.map(|(rt_prop, _)| (rt_prop, view.now));
            self.restore_cwnd();
            if self.filled_pipe {
                self.enter_probe_bw(view.now);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// Section 4.2.1, `BBRSetPacingRate`. The first round-trip sample sets the first rate anew: the draft means "the initial SRTT (smoothed
    /// round-trip time) after the first non-zero RTT sample".
    fn set_pacing_rate(&mut self, view: &View) {
        if let Some(srtt) = view.rtt.map(|rtt| rtt.smoothed).filter(|_| !self.has_rtt) {
            self.has_rtt = true;
            if !self.filled_pipe {
                self.pacing_rate = HIGH_GAIN * self.initial / srtt.max(Span::from_nanos(1)).as_secs_f64();
            }
        }
        self.set_pacing_rate_with_gain(self.pacing_gain());
    }

    fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.btl_bw.value * (1.0 - self.settings.margin);
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Section 4.2.3.6, `BBRSetCwnd`, and `BBRModulateCwndForRecovery` of section 4.2.3.4.
    fn set_cwnd(&mut self, view: &View, delivered: f64, in_flight: f64) {
        let target = self.inflight(self.cwnd_gain()) + self.aggregated();
        if self.in_recovery {
            if self.lost > 0.0 {
                self.cwnd = (self.cwnd - self.lost).max(1.0);
            }
            if self.packet_conservation {
                self.cwnd = self.cwnd.max(in_flight + delivered);
            }
        }
        self.lost = 0.0;
        if !self.packet_conservation {
            if self.filled_pipe {
                self.cwnd = (self.cwnd + delivered).min(target);
            } else if self.cwnd < target || (view.delivered as f64) < self.initial {
                self.cwnd += delivered;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
        self.cwnd = self.cwnd.min(GREATEST_WINDOW);
    }

    /// The aggregation of acknowledgements above the expected delivery, as far as the window allows it.
    fn aggregated(&self) -> f64 {
        if self.settings.aggregation && self.filled_pipe {
            self.extra_acked.get().min(self.btl_bw.value * MOST_AGGREGATED)
        } else {
            0.0
        }
    }

    /// Section 4.2.3.4, `BBRSaveCwnd`.
    fn save_cwnd(&mut self) {
        let modulated = self.in_recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// Section 4.2.3.4, `BBRRestoreCwnd`.
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn leave_recovery(&mut self) {
        self.in_recovery = false;
        self.packet_conservation = false;
        self.rto_ends = None;
        self.restore_cwnd();
    }
}

impl CongestionControl for Bbr {
    fn control(&self) -> Control {
        let bbr = &*self.0;
        Control {
            pacing: Pacing::At(bounded(bbr.pacing_rate)),
            quantum: Some(bbr.send_quantum()),
            ..Control::window(bounded_window(bbr.cwnd, bbr.max_window))
        }
    }

    /// Section 3.4, in its order.
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let bbr = &mut *self.0;
        bbr.packet = view.packet;
        let delivered = f64::from(ack.newly);
        let in_flight = (view.in_flight as f64 - delivered - bbr.lost).max(0.0);
        bbr.update_btl_bw(view, ack.sample);
        if bbr.settings.aggregation {
            let at = (view.now, bbr.round_count);
            bbr.extra_acked.on_ack(at, delivered, bbr.btl_bw.value, bbr.cwnd, bbr.filled_pipe);
        }
        bbr.check_cycle_phase(view);
        bbr.check_full_pipe(ack.sample);
        bbr.check_drain(view.now, in_flight);
        bbr.update_rt_prop(view);
        bbr.check_probe_rtt(view, in_flight);
        bbr.set_pacing_rate(view);
        if ack.sample.is_some_and(|sample| sample.prior_delivered >= bbr.conserved_until) {
            bbr.packet_conservation = false;
        }
        if bbr.rto_ends.is_some_and(|ends| view.delivered >= ends) {
            bbr.leave_recovery();
        }
        bbr.set_cwnd(view, delivered, in_flight);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let bbr = &mut *self.0;
        let lost = f64::from(event.lost);
        match event.cause {
            Cause::Loss => {
                if !view.in_recovery && !bbr.in_recovery {
                    bbr.save_cwnd();
                    if bbr.settings.conservation {
                        bbr.cwnd = (view.in_flight as f64 - lost).max(0.0) + 1.0;
                        bbr.packet_conservation = true;
                        bbr.conserved_until = view.delivered;
                    }
                }
                bbr.lost += lost;
                bbr.in_recovery = true;
            }
            Cause::Timeout => {
                bbr.save_cwnd();
                bbr.in_recovery = true;
                bbr.packet_conservation = false;
                bbr.rto_ends = Some(view.delivered.saturating_add(u64::from(event.lost)));
                bbr.cwnd = 1.0;
            }
            // The draft answers neither.
            Cause::Mark | Cause::Delay => {}
        }
    }

    fn on_recovered(&mut self, view: &View) {
        self.0.leave_recovery();
        let in_flight = view.in_flight as f64;
        self.0.set_cwnd(view, 0.0, in_flight);
    }

    /// Section 4.3.4.4, `BBRHandleRestartFromIdle`.
    fn on_restart(&mut self, view: &View, _idle: Span) {
        if view.in_flight == 0 && matches!(view.limit, Limit::Source | Limit::Peer) {
            self.0.idle_restart = true;
            if self.0.state == State::ProbeBw {
                self.0.set_pacing_rate_with_gain(1.0);
            }
        }
    }

    fn on_spurious(&mut self, view: &View) {
        self.on_recovered(view);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let bbr = &*self.0;
        visit("state", f64::from(bbr.state as u8));
        visit("btl_bw", bbr.btl_bw.value);
        visit("rt_prop", bbr.rt_prop.map_or(0.0, |(rt_prop, _)| rt_prop.as_secs_f64()));
        visit("pacing_gain", bbr.pacing_gain());
        visit("cwnd_gain", bbr.cwnd_gain());
        visit("target_cwnd", bbr.inflight(bbr.cwnd_gain()));
        visit("round_count", bbr.round_count as f64);
        visit("filled_pipe", f64::from(u8::from(bbr.filled_pipe)));
        visit("packet_conservation", f64::from(u8::from(bbr.packet_conservation)));
        visit("prior_cwnd", bbr.prior_cwnd);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `bbr`.
pub const BBR: Entry<Bbr> = Entry {
    name: "bbr",
    title: "BBR version 1: paced at the bandwidth delivered, probed in cycles of eight round trips",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::DeliveryRate,
    source: "draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017)",
    deviations: &[
        "volumes count packets, whole ones in flight; the draft counts bytes",
        "the first round-trip sample sets the first pacing rate anew: the hosts have none when a flow begins (section 4.2.1)",
        "the recovery after a timeout ends when as much has arrived as was in flight; the host does not report its end",
        "`idle_start` in section 4.3.4.4 is read as `idle_restart`, which is what section 4.3.5 asks for",
        "ProbeRTT marks packets as limited here, not in the host: from the state they left with",
        IGNORES_MARKS,
    ],
    parameters: &[
        Parameter::choice(
            "aggregation",
            &["off", "on"],
            "the window allows what acknowledgements bring beyond the expected: draft-ietf-ccwg-bbr section 5.5.9, as Linux has it since 5.1",
        ),
        Parameter::number(
            "margin",
            0.0,
            "the share by which rates stay below their targets; 0.01 in draft-ietf-ccwg-bbr section 5.6.2",
        )
        .at_least(0.0)
        .at_most(0.5),
        Parameter::choice(
            "conservation",
            &["on", "off"],
            "a recovery begins with a round trip in which no more leaves than is delivered (section 4.2.3.4); off leaves that out",
        ),
    ],
    build: |values, start| {
        let settings = Settings {
            aggregation: values.choice("aggregation") == "on",
            margin: values.number("margin"),
            conservation: values.choice("conservation") == "on",
        };
        Ok(Bbr::new(settings, start))
    },
    receiver: None,
};

/// `BBRHighGain`, 2/ln 2.
const HIGH_GAIN: f64 = 2.0 / core::f64::consts::LN_2;
/// Section 4.3.4.1.
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BtlBwFilterLen`, rounds.
const BTL_BW_FILTER_LEN: usize = 10;
/// `RTpropFilterLen`, which is `ProbeRTTInterval` too.
const RT_PROP_FILTER_LEN: Span = Span::from_secs(10);
/// `ProbeRTTDuration`.
const PROBE_RTT_DURATION: Span = Span::from_millis(200);
/// `BBRMinPipeCwnd`, packets.
const MIN_PIPE_CWND: f64 = 4.0;
/// As long as the bandwidth may be taken to have been aggregated, seconds.
const MOST_AGGREGATED: f64 = 0.1;
/// The assumed round-trip time before the first sample, seconds.
const UNKNOWN_RTT: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Remote, Rtt};
    use crate::units::Packets;

    /// A flow of 1000-byte packets over 100 ms, with one acknowledgement per round trip.
    struct BbrHarness {
        bbr: Bbr,
        now: Time,
        delivered: u64,
        in_recovery: bool,
        limited: bool,
    }

    impl BbrHarness {
        fn new() -> Self {
            let bbr = Bbr::new(Settings::default(), &Start { packet: Bytes(1000), seed: 1, ..Start::default() });
            Self { bbr, now: Time::ZERO, delivered: 0, in_recovery: false, limited: false }
        }

        fn with(settings: Settings) -> Self {
            let bbr = Bbr::new(settings, &Start { packet: Bytes(1000), seed: 1, ..Start::default() });
            Self { bbr, ..Self::new() }
        }

        fn probing() -> Self {
            let mut flow = Self::new();
            (0..4).for_each(|_| flow.round(100, 289));
            flow.round(100, 200);
            assert_eq!(flow.bbr.0.state, State::ProbeBw);
            flow
        }

        fn view(&self, in_flight: u64) -> View {
            let rtt = Span::from_millis(100);
            View {
                now: self.now,
                next: 1_000_000,
                in_flight,
                in_recovery: self.in_recovery,
                delivered: self.delivered,
                lost: 0,
                rtt: Some(Rtt::fixed(rtt)),
                timeout: None,
                round: 0,
                limit: Limit::Source,
                peer_window: Packets(f64::INFINITY),
                packet: Bytes(1000),
                payload: Bytes(960),
            }
        }

        fn round(&mut self, delivered: u64, in_flight: u64) {
            self.now += Span::from_millis(100);
            self.delivered += delivered;
            let sample = RateSample {
                delivered,
                lost: 0,
                interval: Span::from_millis(100),
                prior_delivered: self.delivered - delivered,
                prior_in_flight: in_flight,
                limited: self.limited,
            };
            let newly = u32::try_from(delivered).expect("few packets");
            let sample = Some(sample);
            let ack = Ack { acks: 1, newly, marked: 0, sent_at: self.now, sample, remote: Remote::default() };
            self.bbr.on_ack(&self.view(in_flight), &ack);
        }

        fn rate(&self) -> f64 {
            match self.bbr.control().pacing {
                Pacing::At(rate) => rate.0,
                other => panic!("a rate is set, not {other:?}"),
            }
        }

        fn cwnd(&self) -> f64 {
            self.bbr.control().window.0
        }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 2e-4 * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn startup_doubles_until_three_flat_rounds_then_drains_and_probes() {
        let mut flow = BbrHarness::new();
        close(flow.rate(), 28_853.9);
        // Delivered in the round, pacing rate after it: 2.885 times the delivery rate, at first ten packets per round trip.
        for (delivered, rate) in [(10, 288.54), (20, 577.08), (40, 1154.2), (80, 2308.3), (100, 2885.4), (100, 2885.4)]
        {
            flow.round(delivered, 289);
            close(flow.rate(), rate);
        }
        flow.round(100, 289);
        assert_eq!(flow.bbr.0.state, State::Startup);
        flow.round(100, 289);
        assert_eq!(flow.bbr.0.state, State::Drain);
        close(flow.rate(), 1000.0 / 2.8854);
        close(flow.bbr.0.inflight(1.0), 106.0);
        flow.round(100, 207);
        assert_eq!(flow.bbr.0.state, State::Drain, "107 are left");
        flow.round(100, 206);
        assert_eq!(flow.bbr.0.state, State::ProbeBw);
    }

    #[test]
    fn the_gain_cycle_lasts_eight_round_trips() {
        let mut flow = BbrHarness::probing();
        assert!(flow.bbr.0.pacing_gain() != 0.75, "the cycle begins anywhere but with the drain");
        let mut gains = [0.0; 8];
        while flow.bbr.0.cycle_index != 7 {
            flow.now += Span::from_millis(1);
            flow.round(100, 140);
        }
        for gain in &mut gains {
            flow.now += Span::from_millis(1);
            flow.round(100, 140);
            *gain = flow.rate() / flow.bbr.0.btl_bw.value;
        }
        assert_eq!(gains, PACING_GAIN_CYCLE);
    }

    #[test]
    fn the_bandwidth_is_the_largest_of_ten_rounds() {
        let mut flow = BbrHarness::probing();
        flow.limited = true;
        (0..20).for_each(|_| flow.round(50, 50));
        assert_eq!(flow.bbr.0.btl_bw.value, 1000.0, "limited samples below it do not count");
        flow.limited = false;
        (0..10).for_each(|_| flow.round(50, 50));
        assert_eq!(flow.bbr.0.btl_bw.value, 500.0);
    }

    #[test]
    fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
        let mut flow = BbrHarness::probing();
        let before = flow.cwnd();
        flow.bbr.on_congestion(&flow.view(120), &Congestion::loss(7, 3));
        close(flow.cwnd(), 118.0);
        flow.in_recovery = true;
        flow.round(100, 117);
        assert!(flow.cwnd() > 118.0, "after a round it grows again");
        flow.bbr.on_recovered(&flow.view(100));
        close(flow.cwnd(), before);
        flow.bbr.on_congestion(&flow.view(120), &Congestion { lost: 120, ..Congestion::timeout(7, false) });
        close(flow.cwnd(), 1.0);
    }

    /// An acknowledgement per round trip brings 100 packets at once where none were expected: as many more may be in flight.
    #[test]
    fn aggregation_widens_the_window_where_it_is_asked_for() {
        for (aggregation, more) in [(false, 0.0), (true, 100.0)] {
            let mut flow = BbrHarness::with(Settings { aggregation, ..Settings::default() });
            (0..4).for_each(|_| flow.round(100, 289));
            (0..6).for_each(|_| flow.round(100, 200));
            let bbr = &flow.bbr.0;
            assert_eq!((bbr.btl_bw.value, bbr.state), (1000.0, State::ProbeBw));
            let plain = bbr.inflight(2.0);
            close(flow.cwnd() - plain, more);
        }
    }

    #[test]
    fn without_conservation_a_recovery_takes_the_losses_alone_from_the_window() {
        for (conservation, window) in [(true, 117.0), (false, 203.0)] {
            let mut flow = BbrHarness::with(Settings { conservation, ..Settings::default() });
            (0..4).for_each(|_| flow.round(100, 289));
            (0..4).for_each(|_| flow.round(100, 200));
            close(flow.cwnd(), 206.0);
            flow.bbr.on_congestion(&flow.view(120), &Congestion::loss(7, 3));
            flow.in_recovery = true;
            flow.bbr.0.set_cwnd(&flow.view(117), 0.0, 117.0);
            close(flow.cwnd(), window);
        }
    }

    #[test]
    fn a_margin_lowers_the_pacing_rate() {
        let rate = |margin| {
            let mut flow = BbrHarness::with(Settings { margin, ..Settings::default() });
            (0..8).for_each(|_| flow.round(100, 200));
            flow.rate() / flow.bbr.0.pacing_gain()
        };
        close(rate(0.0), 1000.0);
        close(rate(0.01), 990.0);
    }

    #[test]
    fn probe_rtt_keeps_four_packets_in_flight() {
        let mut flow = BbrHarness::probing();
        while flow.bbr.0.state != State::ProbeRtt {
            // Round trips of the same length refresh the estimate: this one is longer.
            flow.now += Span::from_millis(100);
            flow.delivered += 100;
            let rtt = Span::from_millis(101);
            let mut view = flow.view(100);
            view.rtt = view.rtt.map(|known| Rtt { latest: rtt, ..known });
            flow.bbr.on_ack(&view, &Ack::new(100, flow.now));
            assert!(flow.now < Time::ZERO + Span::from_secs(12));
        }
        close(flow.cwnd(), 4.0);
        (0..4).for_each(|_| flow.round(4, 4));
        assert_eq!(flow.bbr.0.state, State::ProbeBw);
        assert!(flow.cwnd() > 100.0);
        close(flow.bbr.0.btl_bw.value, 1000.0);
    }
}
