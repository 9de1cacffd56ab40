//! The shares of groups of flows in a run, and the time in which flows recover the rate of a bottleneck.

use cwnd_run::measure::{Domain, Estimate, mean, recovery_time};
use cwnd_run::run::Runs;
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;

/// An algorithm together with another, the same number of flows each.
#[derive(Clone, Debug)]
pub struct Versus {
    /// The other algorithm.
    pub opponent: String,
    /// The runs: the flows of the algorithm first, then those of the other.
    pub runs: Runs,
    /// The algorithm's share of the goodput of all flows, 0..=1.
    pub share: Option<Estimate>,
    /// The mean goodput of its flows over that of the other's. Runs in which the other delivered nothing are left out.
    pub ratio: Option<Estimate>,
}

impl Versus {
    pub(super) fn of(runs: Runs) -> Self {
        let counts = group_sizes(&runs.scenario);
        let over = |domain, of: fn(&[f64], &[usize]) -> f64| {
            let means = runs.summaries.iter().filter_map(|summary| group_means(&summary.flow_goodput_bps, &counts));
            let values = means.map(|means| of(&means, &counts)).filter(|value| value.is_finite());
            Estimate::over(&values.collect::<Vec<_>>(), domain)
        };
        Self {
            opponent: runs.scenario.document().flow[1].algorithm.text().to_string(),
            share: over(Domain::SHARE, |means, counts| shares(means, counts)[0]),
            ratio: over(Domain::POSITIVE, |means, _| means[0] / means[1]),
            runs,
        }
    }
}

/// The number of flows of each group of a scenario.
#[must_use]
pub fn group_sizes(scenario: &Scenario) -> Vec<usize> {
    scenario.document().flow.iter().map(|group| group.count as usize).collect()
}

/// The share of each group of flows in the total, 0..=1: `rates` has a rate for each flow, `counts` the number of flows of each group. A
/// flow without a rate counts as the mean of its group. None where a group has no rate at all, or all rates are zero.
#[must_use]
pub fn group_shares(rates: &[Option<f64>], counts: &[usize]) -> Option<Vec<f64>> {
    let shares = shares(&group_means(rates, counts)?, counts);
    shares.iter().all(|share| share.is_finite()).then_some(shares)
}

/// Seconds from the last rise of the bottleneck's rate until 90 % of it is used for 200 ms. None where the rate never rises, or rises again
/// and again, or 90 % of it is never used.
#[must_use]
pub fn recovery(scenario: &Scenario, trace: &Trace) -> Option<f64> {
    let bottleneck = scenario.bottleneck();
    let setup = scenario.setup(scenario.document().first_seed);
    let link = setup.links.get(bottleneck).filter(|link| link.rate_steps.repeat.is_none())?;
    let rates = std::iter::once(link.rate?).chain(link.rate_steps.steps.iter().map(|(_, rate)| *rate));
    let rises = link.rate_steps.steps.iter().zip(rates).filter(|((_, rate), before)| rate > before);
    let from = rises.last().map(|((at, _), _)| at.as_nanos())?;
    recovery_time(trace, trace.links.get(bottleneck)?, from)
}

/// The mean rate of the flows of each group; none where a group has none.
fn group_means(rates: &[Option<f64>], counts: &[usize]) -> Option<Vec<f64>> {
    let mut rest = rates;
    let means = counts.iter().map(|count| {
        let (own, others) = rest.split_at_checked(*count)?;
        rest = others;
        mean(&own.iter().flatten().copied().collect::<Vec<_>>())
    });
    means.collect()
}

/// Shares of groups with these mean rates and numbers of flows. Counts are relative to the first, so that equal ones change no bit.
fn shares(means: &[f64], counts: &[usize]) -> Vec<f64> {
    let first = counts.first().copied().unwrap_or(1) as f64;
    let rates: Vec<f64> = means.iter().zip(counts).map(|(mean, count)| mean * (*count as f64 / first)).collect();
    let all: f64 = rates.iter().sum();
    rates.into_iter().map(|rate| rate / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_by_their_flows() {
        let rates = [Some(3.0), Some(1.0), None, Some(4.0)];
        // Two flows with 4 together, and two of which the one that is known has 4.
        assert_eq!(group_shares(&rates, &[2, 2]), Some(vec![1.0 / 3.0, 2.0 / 3.0]));
        assert_eq!(group_shares(&rates[..2], &[1, 1]), Some(vec![0.75, 0.25]));
        assert_eq!(group_shares(&rates, &[2, 1, 1]), None, "nothing is known of the second");
        assert_eq!(group_shares(&[Some(0.0); 2], &[1, 1]), None);
        assert_eq!(group_shares(&[Some(1.0)], &[1, 1]), None, "there are fewer flows than groups say");
    }
}
