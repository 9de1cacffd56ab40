//! Response under random loss, by renewal Monte Carlo: every packet is lost with the same probability, and that is all there is.

use cwnd::host::Moment;
use cwnd::registry::{Basis, Spec, Transport};
use cwnd::signal::{Ack, Congestion, Start};
use cwnd::units::{Bytes, Packets, Span, Time};
use cwnd::{CongestionControl, Pacing};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::ShouldContinue;
use crate::host::facts;
use crate::response::{Law, PathParameters};

/// Packets sent per round trip, the mean over `packets` packets, each lost with probability `p`, 0 < p <= 1.
///
/// A packet takes 1/w of a round trip of `rtt`. Every loss is an event of its own, signalled at once, and nothing times out. A recovery of
/// a round trip in which nothing grows and further losses do not cut would leave the path of the window outside it as it is, and
/// count the window at each loss once more: up to 3 % at a loss of 1 %, less than 1 % at 0.1 %.
///
/// The run starts at the mean of the closed form, at TCP's where there is none, and forgets a tenth of its packets before counting
/// begins. None for algorithms that set a rate or follow the delay, since their behaviour depends on a capacity, and for rules that outgrow
/// the losses, so that the run has fewer than 100 round trips; also where it was not to go on.
#[must_use]
pub fn mean_window(
    spec: &Spec,
    p: f64,
    packets: u64,
    rtt: Span,
    seed: u64,
    should_continue: ShouldContinue<'_>,
) -> Option<f64> {
    let mut losses = Xoshiro256PlusPlus::seed_from_u64(seed);
    let threshold = (p * libm::exp2(64.0)) as u64;
    let mut lost = move |_| losses.next_u64() < threshold;
    // The call costs more than a packet.
    let stopped = |number: u64| number.is_multiple_of(BETWEEN_CALLS) && !should_continue();
    mean(spec, &start(spec, p, rtt, seed), packets, (rtt, false), |number| (!stopped(number)).then(|| lost(number)))
}

/// The mean where a loss takes time, as in a sender: it is found a round trip after it happened, losses in between cut nothing,
/// and nothing grows in the round trip of the recovery that follows the cut. Windows are real numbers, and nothing times out.
#[must_use]
pub fn mean_window_with_recovery(spec: &Spec, p: f64, packets: u64, rtt: Span, seed: u64) -> Option<f64> {
    let mut losses = Xoshiro256PlusPlus::seed_from_u64(seed);
    let threshold = (p * libm::exp2(64.0)) as u64;
    mean(spec, &start(spec, p, rtt, seed), packets, (rtt, true), |_| Some(losses.next_u64() < threshold))
}

/// The mean number of packets per round trip over `packets` packets, of which every `period`-th is lost; `period` at least 1. All
/// else as in [`mean_window`]: recovery takes no time, so this is what the response functions of [`crate::response`] describe.
#[must_use]
pub fn mean_window_periodic(spec: &Spec, period: u64, packets: u64, rtt: Span) -> Option<f64> {
    let period = period.max(1);
    let start = start(spec, 1.0 / period as f64, rtt, 1);
    mean(spec, &start, packets, (rtt, false), |number| Some((number + 1).is_multiple_of(period)))
}

/// Whether an algorithm has a response to random loss: it sets a window and does not follow the delay.
#[must_use]
pub fn is_defined(spec: &Spec) -> bool {
    let by_window = || !matches!(spec.start(&Start::default()).control().pacing, Pacing::At(_));
    spec.entry().transport == Transport::Acked && spec.entry().basis != Basis::Delay && by_window()
}

/// In congestion avoidance at the mean of the closed form; of TCP where there is none.
fn start(spec: &Spec, p: f64, rtt: Span, seed: u64) -> Start {
    let path = PathParameters { rtt: rtt.as_secs_f64(), packet: Start::default().packet };
    let known = Law::of(spec).and_then(|law| law.response(p, path)).map(|response| response.mean);
    let window = Packets(known.unwrap_or_else(|| libm::sqrt(1.5 / p)).max(1.0));
    Start::default().with_window(window).with_threshold(window).with_seed(seed)
}

/// Packets per round trip where `lost` decides which packets are lost; none once it returns none. With recovery, a loss is found and
/// repaired in a round trip each.
fn mean(
    spec: &Spec,
    start: &Start,
    packets: u64,
    (rtt, with_recovery): (Span, bool),
    mut lost: impl FnMut(u64) -> Option<bool>,
) -> Option<f64> {
    if !is_defined(spec) {
        return None;
    }
    let mut algorithm = spec.start(start);
    let mut facts = facts(rtt, Bytes(1500));
    let mut now = Time::ZERO;
    let forgotten = packets / 10;
    let (mut rounds, mut all_rounds) = (0.0, 0.0);
    // The packet that was lost, and when that is found; until when nothing grows.
    let mut unfound: Option<(u64, f64)> = None;
    let mut recovered = 0.0;
    for number in 0..packets {
        let w = algorithm.control().window.0;
        all_rounds += 1.0 / w;
        if number >= forgotten {
            rounds += 1.0 / w;
        }
        now += rtt.mul_f64(1.0 / w);
        facts.round = all_rounds as u64;
        let counted_lost = facts.counts.lost;
        // A packet has come to an end before the next one leaves: every loss is an event of its own.
        let moment = Moment::new(now, number + 1, 1);
        if lost(number)? {
            facts.counts.lost += 1;
            if !with_recovery {
                algorithm.on_congestion(&facts.view(&moment), &Congestion::loss(number, 1));
            } else if unfound.is_none() {
                unfound = Some((number, all_rounds + 1.0));
            }
        } else {
            facts.counts.delivered += 1;
        }
        if let Some((first, _)) = unfound.filter(|(_, found)| all_rounds >= *found) {
            algorithm.on_congestion(&facts.view(&moment), &Congestion::loss(first, 1));
            (unfound, recovered) = (None, all_rounds + 1.0);
        } else if facts.counts.lost == counted_lost && all_rounds >= recovered {
            algorithm.on_ack(&facts.view(&moment), &Ack::new(1, now));
        }
    }
    (rounds >= LEAST_ROUNDS).then(|| (packets - forgotten) as f64 / rounds)
}

/// A rule that grows by an eighth per round trip and is not held by losses sends 10^7 packets in fewer.
const LEAST_ROUNDS: f64 = 100.0;
/// Packets: a few milliseconds even where an algorithm is interpreted.
const BETWEEN_CALLS: u64 = 4096;

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
            let found =
                mean_window(&spec, 1e-3, 10_000_000, Span::from_millis(100), 1, &|| true).expect("a window algorithm");
            assert!((found / expected - 1.0).abs() < 0.02, "{text}: {found} for {expected}");
        }
    }

    #[test]
    fn means_with_one_loss_in_a_thousand_packets() {
        for (text, expected) in [("reno", 38.72), ("simd", 32.60), ("simd:loss=periodic", 38.78)] {
            let spec = Spec::parse(text).expect("an algorithm");
            let found =
                mean_window_periodic(&spec, 1000, 1_000_000, Span::from_millis(100)).expect("a window algorithm");
            assert!((found / expected - 1.0).abs() < 0.002, "{text}: {found} for {expected}");
        }
    }

    #[test]
    fn a_recovery_counts_the_window_at_a_loss_once_more() {
        // Reno: from w/2 a packet per round trip, a round trip more until the loss is found and one in which nothing grows.
        let reno = Spec::parse("reno").expect("registered");
        let rtt = Span::from_millis(100);
        let of = |with: bool| -> f64 {
            let seeds = (1..=4).filter_map(|seed| match with {
                true => mean_window_with_recovery(&reno, 1e-2, 2_000_000, rtt, seed),
                false => mean_window(&reno, 1e-2, 2_000_000, rtt, seed, &|| true),
            });
            seeds.sum::<f64>() / 4.0
        };
        let ratio = of(true) / of(false);
        assert!((0.9..1.1).contains(&ratio) && (ratio - 1.0).abs() > 1e-3, "{ratio}");
    }

    #[test]
    fn additive_decrease_has_the_closed_form_also_under_random_loss() {
        // A packet more per round trip and three less per loss: 1/(3p) packets, whatever the losses' order.
        let aiad = Spec::parse("aiad").expect("registered");
        let found =
            mean_window(&aiad, 1e-2, 3_000_000, Span::from_millis(100), 1, &|| true).expect("a window algorithm");
        assert!((found / 33.333 - 1.0).abs() < 0.02, "{found}");
    }

    #[test]
    fn rates_and_delays_have_no_such_response_and_a_runaway_none_at_all() {
        for text in ["udt", "vegas", "fast", "miad"] {
            let spec = Spec::parse(text).expect("registered");
            assert_eq!(mean_window(&spec, 1e-3, 3_000_000, Span::from_millis(100), 1, &|| true), None);
        }
    }
}
