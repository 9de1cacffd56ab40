//! Section 5.5.10: how loss changes the bounds of the model.

use super::{Bbr, Rule, Sample, State};
use crate::bounded::Bounded;
use crate::signal::{Congestion, View};

/// The bounds of sections 2.9.1 and 2.9.2, and the state of section 2.10 for responding to congestion.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// `BBR.bw_shortterm`, packets per second.
    pub(super) bw_shortterm: f64,
    /// `BBR.inflight_shortterm`, packets.
    pub(super) inflight_shortterm: f64,
    /// `BBR.inflight_longterm`, packets.
    pub(super) inflight_longterm: f64,
    /// `BBR.bw_latest`, packets per second.
    bw_latest: f64,
    /// `BBR.inflight_latest`, packets.
    pub(super) inflight_latest: f64,
    loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// Discontiguous ranges lost in the round, for section 5.3.1.3.
    pub(super) ranges_lost: u32,
    /// The number after that of the packet lost last.
    range_end: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            ranges_lost: 0,
            range_end: u64::MAX,
        }
    }
}

impl Bounds {
    /// Section 5.5.10.3, `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Sample) {
        self.bw_latest = self.bw_latest.at_least(rs.rate);
        self.inflight_latest = self.inflight_latest.at_least(rs.delivered);
        self.loss_round_start = rs.prior_delivered.is_some_and(|prior| prior >= self.loss_round_delivered);
        if self.loss_round_start {
            self.loss_round_delivered = rs.total_delivered;
        }
    }

    /// Section 5.5.10.3, `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if self.loss_round_start {
            self.bw_latest = rs.rate;
            self.inflight_latest = rs.delivered;
            self.ranges_lost = 0;
        }
    }

    /// Section 5.5.10.3, `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// Section 5.5.10.3, `ResetShortTermModel`.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    fn count_range(&mut self, event: &Congestion) {
        if event.first != self.range_end {
            self.ranges_lost = self.ranges_lost.saturating_add(1);
        }
        self.range_end = event.first.saturating_add(u64::from(event.lost));
    }
}

impl Bbr {
    /// Section 5.5.10.3, `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, rs: &Sample) {
        self.update_max_bw(rs);
        if !self.bounds.loss_round_start {
            return;
        }
        if self.follows(Rule::ShortTerm) {
            self.adapt_lower_bounds_from_congestion();
        }
        self.bounds.is_loss_in_round = false;
    }

    /// Section 5.5.10.3, `AdaptLowerBoundsFromCongestion`, `InitLowerBounds` and `LossLowerBounds`.
    fn adapt_lower_bounds_from_congestion(&mut self) {
        let [rate, volume] = [Rule::ShortTermRate, Rule::ShortTermVolume].map(|rule| self.follows(rule));
        let bounds = &mut self.bounds;
        if self.state.is_probing_bw() || !bounds.is_loss_in_round {
            return;
        }
        if rate {
            if bounds.bw_shortterm.is_infinite() {
                bounds.bw_shortterm = self.max_bw.get();
            }
            bounds.bw_shortterm = bounds.bw_latest.max(BETA * bounds.bw_shortterm);
        }
        if volume {
            if bounds.inflight_shortterm.is_infinite() {
                bounds.inflight_shortterm = self.window.cwnd;
            }
            bounds.inflight_shortterm = bounds.inflight_latest.max(BETA * bounds.inflight_shortterm);
        }
    }

    /// Packets were found lost. The first of a fast recovery starts it (section 5.6.4.4, `OnEnterFastRecovery`).
    pub(super) fn on_loss(&mut self, view: &View, event: &Congestion) {
        if !view.in_recovery && !self.window.in_recovery {
            self.save_state_upon_loss();
        }
        self.window.in_recovery = true;
        self.window.lose(view.now, event.lost);
        self.bounds.count_range(event);
        self.handle_lost_packet(view, event);
    }

    /// Section 5.5.10.2, `NoteLoss`.
    ///
    /// Section 5.5.11.1 saves the state "when a loss recovery episode starts", this pseudocode also with the first loss of each round
    /// trip. Loss that ends `ProbeBW_UP` begins a round, so that the next packet lost in the same recovery would save the lowered bounds and
    /// forget that there is a state to return to. The text is followed, unless the settings say otherwise.
    pub(super) fn note_loss(&mut self, view: &View) {
        if !self.bounds.is_loss_in_round {
            self.bounds.loss_round_delivered = view.delivered;
            if self.settings.save_every_round {
                self.save_state_upon_loss();
            }
        }
        self.bounds.is_loss_in_round = true;
    }

    /// Section 5.5.10.2, `HandleLostPacket`. An event of several packets is one of the draft's bursts.
    pub(super) fn handle_lost_packet(&mut self, view: &View, event: &Congestion) {
        self.note_loss(view);
        let Some(packet) = event.sample.filter(|_| self.cycle.is_bw_probe_sample) else { return };
        let (tx_in_flight, lost) = (packet.prior_in_flight as f64, packet.lost as f64);
        if Self::is_inflight_too_high(tx_in_flight, lost) {
            let limited = packet.limited || self.probe_rtt.marked(packet.prior_delivered);
            let at_loss = inflight_at_loss(tx_in_flight, lost, f64::from(event.lost));
            self.handle_inflight_too_high(view, at_loss, limited);
        }
    }

    /// Section 5.5.10.2, `IsInflightTooHigh`.
    pub(super) fn is_inflight_too_high(tx_in_flight: f64, lost: f64) -> bool {
        lost > tx_in_flight * LOSS_THRESH
    }

    /// Section 5.5.10.2, `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, view: &View, tx_in_flight: f64, limited: bool) {
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_bw_probe_sample = false;
        if self.follows(Rule::LongTerm) && !(limited && self.follows(Rule::LimitedLoss)) {
            self.bounds.inflight_longterm = tx_in_flight.max(self.target_inflight() * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_probe_bw_down(view.now, view.delivered);
        }
    }
}

/// Section 5.5.10.2, `InflightAtLoss`: at what volume in flight losses passed the threshold, within a burst of `size` lost packets.
fn inflight_at_loss(tx_in_flight: f64, lost: f64, size: f64) -> f64 {
    let inflight_prev = tx_in_flight - size;
    let lost_prev = lost - size;
    let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
    inflight_prev + lost_prefix
}

/// `BBR.LossThresh`.
const LOSS_THRESH: f64 = 0.02;
/// `BBR.Beta`.
const BETA: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_pass_the_threshold_within_a_burst() {
        // 100 in flight before a burst of 10 that is lost, none lost before: (0 + x)/(100 + x) is 2 % at x = 2/0.98.
        assert!((inflight_at_loss(110.0, 10.0, 10.0) - (100.0 + 2.0 / 0.98)).abs() < 1e-9);
        // Two of the hundred were lost already: the burst's first packet passes it.
        assert!((inflight_at_loss(101.0, 3.0, 1.0) - 100.0).abs() < 1e-9);
    }
}
