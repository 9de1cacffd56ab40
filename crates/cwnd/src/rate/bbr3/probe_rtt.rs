//! Section 5.3.4: ProbeRTT.

use super::{Bbr, Rule, Sample, State, has_passed};
use crate::units::{Span, Time};

/// The state of a ProbeRTT.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    /// `BBR.probe_rtt_done_stamp`.
    done_stamp: Option<Time>,
    /// `BBR.probe_rtt_round_done`.
    round_done: bool,
    /// What `MarkConnectionAppLimited` marks: packets that left while `C.delivered` was from the first of these to the second.
    marked: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Whether a packet that left when `prior_delivered` packets were delivered is marked as limited.
    pub(super) fn marked(&self, prior_delivered: u64) -> bool {
        self.marked.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered))
    }

    /// Section 4.1.2.4, `MarkConnectionAppLimited`.
    fn mark(&mut self, rs: &Sample) {
        let until = rs.total_delivered.saturating_add(rs.in_flight as u64).max(1);
        let from = match self.marked {
            Some((from, to)) if rs.total_delivered <= to => from,
            _ => rs.total_delivered,
        };
        self.marked = Some((from, until));
    }
}

impl Bbr {
    /// Section 5.3.4.3, `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, rs: &Sample) {
        let due = self.state != State::ProbeRtt && self.min_rtt.probe_rtt_expired && !self.idle_restart;
        if due && self.follows(Rule::ProbeRtt) {
            self.state = State::ProbeRtt;
            self.window.save(self.state);
            self.probe_rtt.done_stamp = None;
            self.cycle.stop_acks();
            self.rounds.start_round(rs.total_delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(rs);
        }
        if rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// Section 5.3.4.3, `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, rs: &Sample) {
        self.probe_rtt.mark(rs);
        if self.probe_rtt.done_stamp.is_none() {
            if rs.in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt.done_stamp = Some(rs.now + PROBE_RTT_DURATION);
                self.probe_rtt.round_done = false;
                self.rounds.start_round(rs.total_delivered);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.start;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(rs.now, rs.total_delivered);
        }
    }

    /// Section 5.3.4.3, `CheckProbeRTTDone`, and section 5.3.4.4, `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, total_delivered: u64) {
        if !self.probe_rtt.done_stamp.is_some_and(|done| has_passed(now, done, Span::ZERO)) {
            return;
        }
        self.min_rtt.probe_rtt_min_stamp = now;
        self.window.restore();
        self.bounds.reset_short_term_model();
        if self.full_pipe.reached {
            self.start_probe_bw_down(now, total_delivered);
            self.state = State::Cruise;
        } else {
            self.enter_startup();
        }
    }
}

/// `BBR.ProbeRTTDuration`.
const PROBE_RTT_DURATION: Span = Span::from_millis(200);
