//! Growth after congestion, acknowledgement by acknowledgement: what an algorithm's rule per acknowledgement makes of the curve
//! its paper derives in continuous time.

use cwnd::host::Moment;
use cwnd::registry::{Spec, Transport};
use cwnd::signal::{Ack, Congestion, Start};
use cwnd::units::{Bytes, Packets, Span, Time};
use cwnd::{CongestionControl, Pacing};

use crate::host::facts;

/// A window that grows from a cut on.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Round trips since the cut, and the window, packets: first right after the cut, then after each acknowledgement.
    pub windows: Vec<(f64, f64)>,
    /// Internals of the algorithm right after the cut, by name.
    pub internals: Vec<(&'static str, f64)>,
}

/// The window after congestion at `peak` for `rounds` round trips: one packet per acknowledgement, 1/w of a round trip each. The
/// cut is the algorithm's own. None for algorithms that set a rate.
#[must_use]
pub fn after_congestion(spec: &Spec, peak: Packets, rounds: f64) -> Option<Growth> {
    let rtt = Span::from_millis(100);
    if spec.entry().transport != Transport::Acked {
        return None;
    }
    let mut algorithm = spec.start(&Start::default().with_window(peak).with_threshold(peak));
    if matches!(algorithm.control().pacing, Pacing::At(_)) {
        return None;
    }
    let mut facts = facts(rtt, Bytes(1500));
    let mut moment = Moment::new(Time::ZERO, 1, 1);
    facts.counts.lost = 1;
    algorithm.on_congestion(&facts.view(&moment), &Congestion::loss(0, 1));
    let mut internals = Vec::new();
    algorithm.inspect(&mut |name, value| internals.push((name, value)));
    let mut at = 0.0;
    let mut windows = vec![(at, algorithm.control().window.0)];
    let ack = Ack::new(1, moment.now);
    while at < rounds {
        let step = 1.0 / algorithm.control().window.0;
        at += step;
        moment.now += rtt.mul_f64(step);
        moment.next += 1;
        facts.counts.delivered += 1;
        facts.round = at as u64;
        algorithm.on_ack(&facts.view(&moment), &ack);
        windows.push((at, algorithm.control().window.0));
    }
    Some(Growth { windows, internals })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(text: &str, peak: f64, rounds: f64) -> Growth {
        let spec = Spec::parse(text).expect("an algorithm");
        after_congestion(&spec, Packets(peak), rounds).expect("a window algorithm")
    }

    #[test]
    fn reno_grows_by_a_packet_per_round_trip() {
        let reno = growth("reno", 100.0, 50.0);
        assert_eq!(reno.windows[0], (0.0, 50.0));
        let (at, window) = reno.windows[reno.windows.len() - 1];
        assert!((at - 50.0).abs() < 0.02 && (window - 100.0).abs() < 0.05, "{window} after {at}");
    }

    #[test]
    fn simd_is_back_at_its_peak_after_the_epoch_of_eq_3() {
        // 2 sqrt(b wmax)/alpha = 90.353 round trips for b = 1/16 and 100 packets, alpha = 0.055339.
        let simd = growth("simd", 100.0, 90.353);
        assert!((simd.windows[simd.windows.len() - 1].1 / 100.0 - 1.0).abs() < 0.002);
        assert!(simd.internals.iter().any(|(name, alpha)| *name == "alpha" && (alpha - 0.055_339).abs() < 1e-6));
    }

    #[test]
    fn a_rate_has_no_window_to_grow() {
        let udt = Spec::parse("udt").expect("registered");
        assert_eq!(after_congestion(&udt, Packets(100.0), 1.0), None);
    }
}
