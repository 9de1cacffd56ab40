//! Section 5.4: restarting from idle.

use super::{Bbr, State};
use crate::signal::{Limit, View};

impl Bbr {
    /// Section 5.4.1, `HandleRestartFromIdle`. The text paces "at exactly BBR.bw", the pseudocode 1 % slower, as everywhere.
    pub(super) fn handle_restart_from_idle(&mut self, view: &View) {
        if view.in_flight > 0 || !matches!(view.limit, Limit::Source | Limit::Peer) {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(view.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(view.now, view.delivered);
        }
    }
}
