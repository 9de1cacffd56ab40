//! Sections 5.6.2 and 5.6.3: pacing rate and send quantum.

use super::state::STARTUP_PACING_GAIN;
use super::{Bbr, Rule};
use crate::bounded::Bounded;
use crate::units::{Bytes, Span};

/// `C.pacing_rate` and `C.send_quantum`.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// `C.pacing_rate`, packets per second.
    pub(super) rate: f64,
    /// `C.send_quantum`, bytes.
    quantum: f64,
    /// The first round-trip sample was seen.
    has_rtt: bool,
}

impl Pace {
    /// Section 5.6.2, `InitPacingRate`, for a flow without a round-trip sample: `initial` packets in a millisecond.
    pub(super) fn new(initial: f64, packet: f64) -> Self {
        let rate = STARTUP_PACING_GAIN * initial / UNKNOWN_RTT;
        Self { rate, quantum: quantum(rate, packet), has_rtt: false }
    }

    /// `C.send_quantum`.
    pub(super) fn quantum(&self) -> Bytes {
        Bytes(self.quantum as u32)
    }
}

impl Bbr {
    /// Section 5.6.2, `SetPacingRate`. The pseudocode says `C.pacing_gain`, the text `BBR.pacing_gain`; there is only the latter.
    ///
    /// A flow's first rate takes "the initial C.srtt after the first non-zero RTT sample". The pseudocode computes it once, when the
    /// connection begins, and before the pipe is full the rate never falls; so a flow that has no sample yet would pace its whole Startup at
    /// its initial window per millisecond. Unless the settings say otherwise, the first sample sets the rate anew.
    pub(super) fn set_pacing_rate(&mut self, srtt: Option<Span>) {
        if let Some(srtt) = srtt.filter(|_| !self.pace.has_rtt) {
            self.pace.has_rtt = true;
            if self.settings.pace_by_first_rtt && !self.full_pipe.reached {
                self.pace.rate = STARTUP_PACING_GAIN * self.window.initial / srtt.max(SHORTEST_RTT).as_secs_f64();
            }
        }
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
    }

    /// Section 5.6.2, `SetPacingRateWithGain`.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let margin = if self.follows(Rule::Margin) { PACING_MARGIN } else { 0.0 };
        let rate = gain * self.bw * (1.0 - margin);
        if self.full_pipe.reached || rate > self.pace.rate {
            self.pace.rate = rate;
        }
    }

    /// Section 5.6.3, `SetSendQuantum`.
    pub(super) fn set_send_quantum(&mut self) {
        self.pace.quantum = quantum(self.pace.rate, self.packet);
    }

    /// `BBR.offload_budget` (section 5.5.8), packets.
    pub(super) fn offload_budget(&self) -> f64 {
        self.settings.offload * self.pace.quantum / self.packet
    }
}

/// A millisecond at `rate`, from 2 packets to 64 KiB.
fn quantum(rate: f64, packet: f64) -> f64 {
    (rate * packet * QUANTUM_SECS).at_most(LARGEST_QUANTUM).at_least(2.0 * packet)
}

/// The assumed round-trip time before the first sample, seconds.
const UNKNOWN_RTT: f64 = 0.001;
/// A host in one process may measure no time at all, and a rate has to be finite.
const SHORTEST_RTT: Span = Span::from_nanos(1);
/// `BBR.PacingMarginPercent`.
const PACING_MARGIN: f64 = 0.01;
const QUANTUM_SECS: f64 = 0.001;
const LARGEST_QUANTUM: f64 = 65_536.0;
