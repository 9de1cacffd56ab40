//! Section 5.3.2: Drain.

use super::{Bbr, Sample, State};

impl Bbr {
    /// `EnterDrain`.
    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_start_round = self.rounds.count;
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, rs: &Sample) {
        let late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (rs.in_flight <= self.inflight(self.bw, 1.0) || late) {
            // Section 5.3.3.9, `EnterProbeBW`.
            self.start_probe_bw_down(rs.now, rs.total_delivered);
        }
    }
}

/// Rounds after which Drain ends whatever is in flight.
const DRAIN_ROUNDS: u64 = 3;
