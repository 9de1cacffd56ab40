//! Section 5.3.3: ProbeBW.

use super::{Bbr, Sample, State, fills, has_passed};
use crate::bounded::Bounded;
use crate::units::{Packets, Span, Time};

/// What the acknowledgements say of the last probe: `BBR.ack_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    /// Not probing; no feedback of a probe.
    #[default]
    Init,
    /// Sending at the estimate, to fill the pipe.
    Refilling,
    /// More is being sent.
    ProbeStarting,
    /// Feedback of the probe arrives.
    ProbeFeedback,
    /// The probe is over, and its feedback still arrives.
    ProbeStopping,
}

/// Section 2.14.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    up_acked: f64,
    pub(super) up_acked_per_inc: f64,
    up_rounds: u32,
    pub(super) rounds_since_probe_up: u32,
    /// `BBR.bw_probe_wait`.
    pub(super) wait: Span,
    /// `BBR.cycle_stamp`.
    pub(super) stamp: Time,
    pub(super) prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            up_acked: 0.0,
            up_acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_probe_up: 0,
            wait: Span::ZERO,
            stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        }
    }
}

impl Cycle {
    /// Section 5.3.4.3: ProbeRTT ends the probe under way.
    pub(super) fn stop_acks(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

impl Bbr {
    /// Section 5.3.3.9, `StartProbeBW_DOWN`, and section 5.3.3.8.3, `PickProbeWait`.
    pub(super) fn start_probe_bw_down(&mut self, now: Time, total_delivered: u64) {
        self.bounds.reset_congestion_signals();
        self.cycle.up_acked_per_inc = f64::INFINITY;
        self.cycle.rounds_since_probe_up = u32::from(self.random.unit() >= 0.5);
        self.cycle.wait = Span::from_secs_f64(2.0 + self.random.unit());
        self.cycle.stamp = now;
        self.cycle.stop_acks();
        self.rounds.start_round(total_delivered);
        self.state = State::Down;
    }

    /// Section 5.3.3.9, `StartProbeBW_REFILL`.
    pub(super) fn start_probe_bw_refill(&mut self, total_delivered: u64) {
        self.bounds.reset_short_term_model();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.start_round(total_delivered);
        self.state = State::Refill;
    }

    /// Section 5.3.3.9, `StartProbeBW_UP`.
    fn start_probe_bw_up(&mut self, rs: &Sample) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.start_round(rs.total_delivered);
        self.full_pipe.reset(rs.rate);
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    /// Section 5.3.3.9, `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, rs: &Sample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(rs) {
            return;
        }
        match self.state {
            State::Down => {
                if !self.is_time_to_probe_bw(rs) && self.is_time_to_cruise(rs) {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.is_time_to_probe_bw(rs);
            }
            State::Refill => {
                if self.rounds.start {
                    self.cycle.is_bw_probe_sample = true;
                    self.start_probe_bw_up(rs);
                }
            }
            State::Up => {
                if self.is_time_to_go_down(rs) {
                    self.cycle.prev_probe_too_high = false;
                    self.start_probe_bw_down(rs.now, rs.total_delivered);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// Section 5.3.3.8.3, `IsTimeToProbeBW`.
    fn is_time_to_probe_bw(&mut self, rs: &Sample) -> bool {
        let time = has_passed(rs.now, self.cycle.stamp, self.cycle.wait) || self.is_reno_coexistence_probe_time();
        if time {
            self.start_probe_bw_refill(rs.total_delivered);
        }
        time
    }

    /// Section 5.3.3.8.3, `IsRenoCoexistenceProbeTime`.
    fn is_reno_coexistence_probe_time(&self) -> bool {
        f64::from(self.cycle.rounds_since_probe_up) >= self.target_inflight().at_most(RENO_ROUNDS)
    }

    /// Section 5.3.3.9, `IsTimeToCruise`. Packets are whole and the bounds are not, so that the comparison is with the bound itself.
    fn is_time_to_cruise(&self, rs: &Sample) -> bool {
        rs.in_flight <= self.inflight_with_headroom() && rs.in_flight <= self.inflight(self.max_bw.get(), 1.0)
    }

    /// Section 5.3.3.9, `IsTimeToGoDown`, the conditions of section 5.3.3.7.
    ///
    /// The text says "as soon as C.inflight reaches" the bound. Once an acknowledgement is taken into account, less than the window is in
    /// flight, and the window is never above the bound: a precautionary probe would never be cut short. The amount in flight when the
    /// acknowledgement arrived is compared instead, unless the settings say otherwise.
    fn is_time_to_go_down(&mut self, rs: &Sample) -> bool {
        let longterm = self.bounds.inflight_longterm;
        let in_flight = if self.settings.caution_before { rs.in_flight_before } else { rs.in_flight };
        if self.cycle.prev_probe_too_high && fills(in_flight, Packets(longterm)) {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if self.window.is_limited() && self.window.cwnd >= longterm {
            self.full_pipe.reset(rs.rate);
            return false;
        }
        self.full_pipe.now
    }

    /// Section 5.3.3.9, `RaiseInflightLongtermSlope`.
    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_DOUBLINGS);
        self.cycle.up_acked_per_inc = (self.window.cwnd / growth_this_round).max(1.0);
    }

    /// Section 5.3.3.9, `ProbeInflightLongtermUpward`.
    fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        if !self.window.is_limited() || self.window.cwnd < self.bounds.inflight_longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_acked += rs.newly_acked;
        if cycle.up_acked >= cycle.up_acked_per_inc {
            let delta = libm::floor(cycle.up_acked / cycle.up_acked_per_inc);
            cycle.up_acked -= delta * cycle.up_acked_per_inc;
            self.bounds.inflight_longterm += delta;
        }
        if self.rounds.start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// Section 5.3.3.9, `AdaptLongTermModel`. Whether it decided a transition.
    fn adapt_long_term_model(&mut self, rs: &Sample) -> bool {
        if self.rounds.start && self.cycle.ack_phase == AckPhase::ProbeStarting {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.rounds.start && self.cycle.ack_phase == AckPhase::ProbeStopping && self.on_probe_feedback_end(rs) {
            return true;
        }
        if Self::is_inflight_too_high(rs.tx_in_flight, rs.lost) || self.bounds.inflight_longterm.is_infinite() {
            return false;
        }
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(rs.tx_in_flight);
        if self.state == State::Up {
            self.probe_inflight_longterm_upward(rs);
        }
        false
    }

    /// A round trip after a probe its feedback ends. Whether the next one follows at once, without the caution of the last.
    fn on_probe_feedback_end(&mut self, rs: &Sample) -> bool {
        self.cycle.is_bw_probe_sample = false;
        self.cycle.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !rs.limited {
            self.max_bw.advance();
        }
        let again = self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high;
        if again {
            self.start_probe_bw_refill(rs.total_delivered);
        }
        again
    }
}

/// Rounds after which a flow probes whatever its window, for coexistence with Reno.
const RENO_ROUNDS: f64 = 63.0;
/// Doublings of the growth of `BBR.inflight_longterm` in one probe.
const MOST_DOUBLINGS: u32 = 30;
