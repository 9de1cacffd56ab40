//! Section 2.3: what an acknowledgement says, as the rules read it.

use super::Bbr;
use crate::bounded::Bounded;
use crate::rate::GREATEST_RATE;
use crate::signal::{Ack, View};
use crate::units::{Span, Time};

/// The fields of the draft's `RS` and of its connection state `C` that the rules read, in packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now: Time,
    /// `RS.delivery_rate`, packets per second; 0 where there is none.
    pub(super) rate: f64,
    /// `RS.delivered`.
    pub(super) delivered: f64,
    /// `RS.prior_delivered`; none if the acknowledgement brings no sample.
    pub(super) prior_delivered: Option<u64>,
    /// `RS.newly_acked`.
    pub(super) newly_acked: f64,
    /// `RS.tx_in_flight`.
    pub(super) tx_in_flight: f64,
    /// `RS.lost`.
    pub(super) lost: f64,
    /// `RS.is_app_limited`.
    pub(super) limited: bool,
    /// `RS.rtt`.
    pub(super) rtt: Option<Span>,
    /// `C.srtt`.
    pub(super) srtt: Option<Span>,
    /// `C.delivered`.
    pub(super) total_delivered: u64,
    /// `C.inflight` when the acknowledgement arrived, before it was taken into account.
    pub(super) in_flight_before: f64,
    /// `C.inflight` without what the acknowledgement reports delivered or lost.
    pub(super) in_flight: f64,
    /// Fast recovery was under way when the acknowledgement arrived.
    pub(super) in_recovery: bool,
}

impl Bbr {
    /// Section 4.1.2.3, `GenerateRateSample`, from what the host sampled; `UpdateRound` of section 5.5.1; and the state of the window.
    pub(super) fn rate_sample(&mut self, view: &View, ack: &Ack) -> Sample {
        let before = view.in_flight as f64;
        let newly_acked = f64::from(ack.newly);
        let found_lost = self.window.found_lost(view.now);
        let mut sample = Sample {
            now: view.now,
            rate: 0.0,
            delivered: 0.0,
            prior_delivered: None,
            newly_acked,
            tx_in_flight: 0.0,
            lost: 0.0,
            limited: false,
            rtt: view.rtt.map(|rtt| rtt.latest),
            srtt: view.rtt.map(|rtt| rtt.smoothed),
            total_delivered: view.delivered,
            in_flight_before: before,
            in_flight: (before - newly_acked - found_lost).at_least(0.0),
            in_recovery: view.in_recovery,
        };
        if let Some(rs) = ack.sample {
            sample.rate = rs.rate().map_or(0.0, |rate| rate.0.at_most(GREATEST_RATE));
            sample.delivered = rs.delivered as f64;
            sample.prior_delivered = Some(rs.prior_delivered);
            sample.tx_in_flight = rs.prior_in_flight as f64;
            sample.lost = rs.lost as f64;
            sample.limited = rs.limited || self.probe_rtt.marked(rs.prior_delivered);
        }
        self.update_round(&sample);
        self.window.observe(view, self.rounds.start);
        sample
    }
}
