//! How far algorithms are from the best of their environment, and from their fair or TCP's share.

use cwnd_trace::Trace;

use super::curve::{Curve, Window};

/// Which value of an environment is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The largest: goodput.
    Largest,
    /// The smallest: loss, delay, fairness range. The `aiad` evaluation prints a maximum for these too, which cannot be meant.
    Smallest,
}

/// How far one algorithm stays behind over all environments (`aiad`, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// C_a: the largest distance from the best.
    pub worst: f64,
    /// D_a: the sum of all distances, as in the appendix; Table 1 divides it by their number.
    pub total: f64,
    /// D_a over the number of environments.
    pub mean: f64,
}

/// The ranks of algorithms. `values[a][e]` is what algorithm a has in environment e; none without environments, or where the rows
/// differ in length.
#[must_use]
pub fn ranks(values: &[Vec<f64>], best: Best) -> Option<Vec<Rank>> {
    let environments = values.first().map(Vec::len).filter(|count| *count > 0)?;
    if values.iter().any(|row| row.len() != environments) {
        return None;
    }
    let pick = match best {
        Best::Largest => f64::max,
        Best::Smallest => f64::min,
    };
    let best = |e: usize| values.iter().map(|row| row[e]).reduce(pick);
    let bests: Vec<f64> = (0..environments).filter_map(best).collect();
    let rank = |row: &Vec<f64>| {
        let distances: Vec<f64> = row.iter().zip(&bests).map(|(value, best)| (best - value).abs()).collect();
        let total: f64 = distances.iter().sum();
        let worst = distances.into_iter().fold(0.0, f64::max);
        Rank { worst, total, mean: total / environments as f64 }
    };
    Some(values.iter().map(rank).collect())
}

/// Payload bits of different packets of all flows that arrived in `window`, over `available` bit/s times its length (the goodput
/// of the `aiad` evaluation). None in a window without length, or where nothing was available.
#[must_use]
pub(crate) fn goodput_fraction(trace: &Trace, window: Window, available: f64) -> Option<f64> {
    let bits: f64 = trace
        .flows
        .iter()
        .map(|flow| Curve::new(&trace.at, &flow.delivered).rise(window) * f64::from(flow.payload) * 8.0)
        .sum();
    let most = available * window.seconds();
    (most > 0.0).then(|| bits / most)
}

#[cfg(test)]
mod tests {
    use cwnd_trace::FlowTrace;

    use super::*;

    #[test]
    fn distances_from_the_best_of_each_environment() {
        let values = vec![vec![0.9, 0.5, 0.8], vec![0.6, 0.7, 0.8]];
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let goodput = ranks(&values, Best::Largest).expect("three environments");
        assert!(close(goodput[0].worst, 0.2) && close(goodput[0].total, 0.2), "{goodput:?}");
        assert!(close(goodput[1].worst, 0.3) && close(goodput[1].mean, 0.1), "{goodput:?}");
        let loss = ranks(&values, Best::Smallest).expect("three environments");
        assert!(close(loss[0].total, 0.3) && close(loss[1].total, 0.2), "{loss:?}");
        // C <= D <= |E| C, as in all published cells.
        assert!(goodput.iter().all(|rank| rank.worst <= rank.total && rank.total <= 3.0 * rank.worst));
        assert_eq!(ranks(&[], Best::Largest), None);
        assert_eq!(ranks(&[vec![1.0], vec![]], Best::Largest), None);
    }

    #[test]
    fn a_fraction_of_what_was_there() {
        let flow = FlowTrace { payload: 1000, delivered: vec![0, 50, 150].into(), ..FlowTrace::default() };
        let trace = Trace {
            at: vec![0, 1_000_000_000, 2_000_000_000].into(),
            end: 2_000_000_000,
            flows: vec![flow.clone(), flow],
            ..Trace::default()
        };
        let window = Window { from: 1_000_000_000, to: 2_000_000_000 };
        // 2 x 100 packets of 8000 bits in a second in which 2 Mbit fit.
        assert_eq!(goodput_fraction(&trace, window, 2e6), Some(0.8));
        assert_eq!(goodput_fraction(&trace, window, 0.0), None);
    }
}
