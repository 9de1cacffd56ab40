//! Section 5.6.4: the congestion window.

use super::state::PROBE_RTT_CWND_GAIN;
use super::{Bbr, Rule, State};
use crate::bounded::Bounded;
use crate::rate::GREATEST_WINDOW;
use crate::signal::{Congestion, Limit, View};
use crate::units::Time;

/// `C.cwnd` and what the draft remembers with it.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// `C.InitialCwnd`.
    pub(super) initial: f64,
    /// `C.cwnd`, packets.
    pub(super) cwnd: f64,
    /// `BBR.prior_cwnd`.
    pub(super) prior: f64,
    /// `InLossRecovery()`: in fast recovery, or the losses of a timeout are being repaired.
    pub(super) in_recovery: bool,
    /// After a timeout: `C.delivered` once as much has arrived as was in flight then.
    rto_ends: Option<u64>,
    /// Packets found lost at this instant, which the acknowledgement of the instant still counts as in flight.
    lost: (Time, u64),
    /// The window was used up in this round; in the one before it.
    limited: [bool; 2],
}

impl Window {
    pub(super) fn new(initial: f64) -> Self {
        Self {
            initial,
            cwnd: initial,
            prior: 0.0,
            in_recovery: false,
            rto_ends: None,
            lost: (Time::ZERO, 0),
            limited: [false; 2],
        }
    }

    /// `C.is_cwnd_limited`.
    pub(super) fn is_limited(&self) -> bool {
        self.limited[0] || self.limited[1]
    }

    /// Notes whether the window was used up before the event of `view`, with which a round trip starts or not.
    pub(super) fn observe(&mut self, view: &View, round_start: bool) {
        if round_start {
            self.limited = [false, self.limited[0]];
        }
        self.limited[0] |= view.limit == Limit::Window;
    }

    /// Packets were found lost at `now`.
    pub(super) fn lose(&mut self, now: Time, lost: u32) {
        let before = if self.lost.0 == now { self.lost.1 } else { 0 };
        self.lost = (now, before + u64::from(lost));
    }

    /// How many packets were found lost at `now`.
    pub(super) fn found_lost(&self, now: Time) -> f64 {
        if self.lost.0 == now { self.lost.1 as f64 } else { 0.0 }
    }

    /// Section 5.6.4.4, `SaveCwnd`.
    pub(super) fn save(&mut self, state: State) {
        let modulated = self.in_recovery || state == State::ProbeRtt;
        self.prior = if modulated { self.prior.max(self.cwnd) } else { self.cwnd };
    }

    /// Section 5.6.4.4, `RestoreCwnd`.
    pub(super) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }
}

impl Bbr {
    /// Section 5.6.4.2, `QuantizationBudget`.
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let cap = inflight_cap.at_least(self.offload_budget()).at_least(MIN_PIPE_CWND);
        if self.state == State::Up { cap + 2.0 } else { cap }
    }

    /// Section 5.6.4.2, `Inflight`.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp(bw, gain))
    }

    /// Section 5.6.4.2, `UpdateMaxInflight`.
    pub(super) fn max_inflight(&self) -> f64 {
        self.quantization_budget(self.bdp(self.bw, self.state.cwnd_gain()) + self.extra_acked.get())
    }

    /// Section 5.3.3.8.3, `TargetInflight`.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp(self.bw, 1.0).at_most(self.window.cwnd)
    }

    /// Section 5.6.4.4, `OnEnterRTO`, and the packets that the timeout takes for lost (section 5.5.10.2).
    pub(super) fn on_enter_rto(&mut self, view: &View, event: &Congestion) {
        if !self.window.in_recovery || self.follows(Rule::TimeoutSaves) {
            self.save_state_upon_loss();
        }
        self.window.in_recovery = true;
        self.window.rto_ends = Some(view.delivered.saturating_add(u64::from(event.lost)));
        self.window.lose(view.now, event.lost);
        self.handle_lost_packet(view, event);
        self.window.cwnd = (view.in_flight as f64 - f64::from(event.lost)).max(0.0) + 1.0;
    }

    /// Section 5.6.4.6, `SetCwnd`; before it, the end of the recovery after a timeout (section 5.6.4.4).
    pub(super) fn set_cwnd(&mut self, newly_acked: f64, total_delivered: u64) {
        if self.window.rto_ends.is_some_and(|ends| total_delivered >= ends) {
            self.window.rto_ends = None;
            self.window.in_recovery = false;
            self.window.restore();
        }
        let max_inflight = self.max_inflight();
        let window = &mut self.window;
        if self.full_pipe.reached {
            window.cwnd = (window.cwnd + newly_acked).at_most(max_inflight);
        } else if window.cwnd < max_inflight || (total_delivered as f64) < window.initial {
            window.cwnd += newly_acked;
        }
        window.cwnd = window.cwnd.clamp(MIN_PIPE_CWND, GREATEST_WINDOW);
        let bound = self.bound_for_probe_rtt().at_most(self.bound_for_model());
        self.window.cwnd = self.window.cwnd.at_most(bound);
    }

    /// Section 5.6.4.5, `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp(self.bw, PROBE_RTT_CWND_GAIN).at_least(MIN_PIPE_CWND)
    }

    /// Section 5.6.4.5, `BoundCwndForProbeRTT`.
    fn bound_for_probe_rtt(&self) -> f64 {
        if self.state == State::ProbeRtt { self.probe_rtt_cwnd() } else { f64::INFINITY }
    }

    /// Section 5.6.4.7, `BoundCwndForModel`. The table of section 5.6.1 bounds Drain by `BBR.inflight_longterm` too; the pseudocode,
    /// which is followed, does not.
    fn bound_for_model(&self) -> f64 {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        cap.at_most(self.bounds.inflight_shortterm).at_least(MIN_PIPE_CWND)
    }

    /// Section 5.3.3.9, `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm.is_infinite() {
            return f64::INFINITY;
        }
        (longterm - (HEADROOM * longterm).at_least(1.0)).at_least(MIN_PIPE_CWND)
    }
}

/// `BBR.MinPipeCwnd`, packets.
pub(super) const MIN_PIPE_CWND: f64 = 4.0;
/// `BBR.Headroom`.
const HEADROOM: f64 = 0.15;
