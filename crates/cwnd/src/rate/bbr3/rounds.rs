//! Section 5.5.1: round trips counted in packets.

use super::{Bbr, Sample};

/// `BBR.round_count` and the state to count it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// `BBR.round_count`.
    pub(super) count: u64,
    /// `BBR.round_start`.
    pub(super) start: bool,
    /// `BBR.next_round_delivered`.
    next_delivered: u64,
}

impl Rounds {
    /// `StartRound`.
    pub(super) fn start_round(&mut self, total_delivered: u64) {
        self.next_delivered = total_delivered;
    }
}

impl Bbr {
    /// `UpdateRound`. The draft calls it first thing in `UpdateMaxBw`, which nothing before it depends on.
    pub(super) fn update_round(&mut self, rs: &Sample) {
        let rounds = &mut self.rounds;
        rounds.start = rs.prior_delivered.is_some_and(|prior| prior >= rounds.next_delivered);
        if rounds.start {
            rounds.start_round(rs.total_delivered);
            rounds.count += 1;
            self.cycle.rounds_since_probe_up = self.cycle.rounds_since_probe_up.saturating_add(1);
        }
    }
}
