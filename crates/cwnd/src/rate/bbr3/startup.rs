//! Section 5.3.1: Startup, and the estimator of a full pipe.

use super::{Bbr, Rule, Sample, State};

/// Section 2.13: the estimator of a full pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// `BBR.full_bw`, packets per second.
    bw: f64,
    /// `BBR.full_bw_count`.
    pub(super) count: u8,
    /// `BBR.full_bw_now`.
    pub(super) now: bool,
    /// `BBR.full_bw_reached`.
    pub(super) reached: bool,
}

impl FullPipe {
    /// Section 5.3.1.2, `ResetFullBW`, with a baseline to go on from.
    pub(super) fn reset(&mut self, bw: f64) {
        self.bw = bw;
        self.count = 0;
        self.now = false;
    }
}

impl Bbr {
    /// Section 5.3.1.1, `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// Section 5.3.1.1, `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, rs: &Sample) {
        self.check_startup_high_loss(rs);
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
    }

    /// Section 5.3.1.2, `CheckFullBWReached`.
    pub(super) fn check_full_bw_reached(&mut self, rs: &Sample) {
        let rounds = if self.state == State::Up && !self.follows(Rule::Patience) { 1 } else { 3 };
        let pipe = &mut self.full_pipe;
        if pipe.now || !self.rounds.start || rs.limited {
            return;
        }
        if rs.rate >= pipe.bw * 1.25 {
            pipe.reset(rs.rate);
            return;
        }
        pipe.count += 1;
        pipe.now = pipe.count >= rounds;
        pipe.reached |= pipe.now;
    }

    /// Section 5.3.1.3, `CheckStartupHighLoss`. Every host of ours can tell more than one loss per round trip.
    ///
    /// The section sets `BBR.full_bw_reached` alone; the second test case of appendix A also expects `BBR.full_bw_now`. It is reset
    /// before it is read again, so that setting both changes nothing.
    fn check_startup_high_loss(&mut self, rs: &Sample) {
        let enough = self.bounds.loss_round_start
            && rs.in_recovery
            && self.bounds.ranges_lost >= STARTUP_FULL_LOSS_COUNT
            && Self::is_inflight_too_high(rs.tx_in_flight, rs.lost);
        if self.state != State::Startup || !enough {
            return;
        }
        self.undo.state = Some(State::Startup);
        self.full_pipe.now = true;
        self.full_pipe.reached = true;
        if self.follows(Rule::LongTerm) {
            self.bounds.inflight_longterm = self.bdp(self.bw, 1.0).max(self.bounds.inflight_latest);
        }
    }
}

/// `BBRStartupFullLossCnt`.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
