//! Section 5.5.11: loss that turns out to be none.

use super::{Bbr, State};
use crate::signal::View;

/// Section 2.15.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// `BBR.undo_state`.
    pub(super) state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
}

impl Bbr {
    /// Section 5.5.11.1, `SaveStateUponLoss`.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.window.save(self.state);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bounds.bw_shortterm,
            inflight_shortterm: self.bounds.inflight_shortterm,
            inflight_longterm: self.bounds.inflight_longterm,
        };
    }

    /// Section 5.5.11.2, `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss_detection(&mut self, view: &View) {
        self.window.restore();
        self.bounds.is_loss_in_round = false;
        self.full_pipe.reset(0.0);
        self.bounds.bw_shortterm = self.bounds.bw_shortterm.max(self.undo.bw_shortterm);
        self.bounds.inflight_shortterm = self.bounds.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_probe_bw_refill(view.delivered);
            }
            _ => {}
        }
    }
}
