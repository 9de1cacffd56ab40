//! Response under random loss, by renewal Monte Carlo: every packet is lost with the same probability, and that is all there is.

use cwnd::CongestionControl;
use cwnd::registry::{Spec, Transport};
use cwnd::signal::{Ack, Congestion, Limit, Remote, Rtt, Start, View};
use cwnd::units::{Bytes, Packets, Span, Time};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The mean number of packets per round trip over `packets` packets, each lost with probability `p`, 0 < p <= 1.
///
/// A packet takes 1/w of a round trip of `rtt`. Every loss is an event of its own, told at once; there is no recovery and no
/// timeout. The start at TCP's window is forgotten before counting begins, after a tenth. None for algorithms that set a rate:
/// what they do depends on a capacity.
#[must_use]
pub fn mean_window(spec: &Spec, p: f64, packets: u64, rtt: Span, seed: u64) -> Option<f64> {
    if spec.entry().transport == Transport::Reported {
        return None;
    }
    let window = Packets(libm::sqrt(1.5 / p).max(1.0));
    let mut algorithm = spec.start(&Start { window, threshold: Some(window), seed, ..Start::default() });
    let mut losses = Xoshiro256PlusPlus::seed_from_u64(seed);
    let threshold = (p * libm::exp2(64.0)) as u64;
    let mut view = View {
        now: Time::ZERO,
        next: 0,
        in_flight: 0,
        in_recovery: false,
        delivered: 0,
        lost: 0,
        rtt: Some(Rtt { latest: rtt, smoothed: rtt, variation: Span::ZERO, min: rtt, ack_delay: Span::ZERO }),
        round: 0,
        limit: Limit::Window,
        peer_window: Packets(f64::INFINITY),
        packet: Bytes(1500),
        payload: Bytes(1500),
    };
    let forgotten = packets / 10;
    let mut rounds = 0.0;
    for number in 0..packets {
        let w = algorithm.control().window.0;
        if number >= forgotten {
            rounds += 1.0 / w;
        }
        view.now += rtt.mul_f64(1.0 / w);
        view.next = number + 1;
        if losses.next_u64() < threshold {
            view.lost += 1;
            algorithm.on_congestion(&view, &Congestion::loss(number, 1));
        } else {
            view.delivered += 1;
            let ack = Ack { acks: 1, newly: 1, marked: 0, sent_at: view.now, sample: None, remote: Remote::default() };
            algorithm.on_ack(&view, &ack);
        }
    }
    Some((packets - forgotten) as f64 / rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_at_a_loss_of_a_thousandth() {
        // Long runs of the bare rules give these; seed 1 and 10^7 packets leave about half a percent.
        for (text, expected) in
            [("reno", 41.41), ("aimd:b=1/16", 39.08), ("simd", 39.02), ("simd:loss=periodic", 46.51)]
        {
            let spec = Spec::parse(text).expect("an algorithm");
            let found = mean_window(&spec, 1e-3, 10_000_000, Span::from_millis(100), 1).expect("a window algorithm");
            assert!((found / expected - 1.0).abs() < 0.02, "{text}: {found} for {expected}");
        }
    }

    #[test]
    fn a_rate_has_no_such_response() {
        let udt = Spec::parse("udt").expect("registered");
        assert_eq!(mean_window(&udt, 1e-3, 1000, Span::from_millis(100), 1), None);
    }
}
