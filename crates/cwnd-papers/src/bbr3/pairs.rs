//! The claims of the abstract of "Promises" about two flows of BBR.

use cwnd::Span;

use super::version_3;
use crate::change;
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::jain;
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Document, Scenario, Written};

/// Which of two flows starts later.
#[derive(Clone, Copy, PartialEq)]
enum Later {
    Neither,
    First,
    Second,
}

/// The first flow has 50 ms, the second 20.
pub(super) fn round_trips(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let algorithm = version_3(bench)?;
    for (row, later) in [
        ("share of the long flow, which came first", Later::Second),
        ("share of the long flow, which came second", Later::First),
    ] {
        let scenario = pair(bench, &algorithm, later, |document| document.flow[1].extra_rtt = None)?;
        let runs = bench.run(scenario, Probe::SUMMARY)?;
        let share = |kept: &Reduction| {
            let goodput = kept.all("flow_goodput_bps");
            Some(goodput.first()? / goodput.iter().sum::<f64>())
        };
        findings.value(row, Computed::over(&runs, share));
    }
    Ok(())
}

pub(super) fn convergence(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let (held, apart) = (bench.assumed_as::<usize>("held")?, apart(bench)?.as_secs_f64());
    let version_3 = version_3(bench)?;
    let scenarios = [(&version_3, Later::Neither), (&version_3, Later::Second), (&"bbr".to_string(), Later::Neither)]
        .map(|(algorithm, later)| pair(bench, algorithm, later, |_| ()));
    let runs = bench.run_all(scenarios, Probe::OVER_TIME)?;
    let [together, staggered, version_1] = [(&runs[0], 0.0), (&runs[1], apart), (&runs[2], 0.0)]
        .map(|(runs, begin)| Computed::over(runs, |kept| equal_after(kept, begin, held)));
    findings.value("seconds to equal rates, BBRv3 less BBRv1, started together", together.minus(&version_1));
    findings.value("seconds to equal rates of BBRv3, started apart less started together", staggered.minus(&together));
    for (name, value) in [
        ("BBRv3, started together", together),
        ("BBRv3, started apart", staggered),
        ("BBRv1, started together", version_1),
    ] {
        findings.extra(format!("seconds to equal rates: {name}"), "s", value);
    }
    findings.figure(Figure {
        title: "Two flows of BBRv3, started apart",
        caption: "Rates in one run, means over a second.".to_string(),
        x: "Time (s)",
        y: "Goodput (Mbit/s)",
        log: (false, false),
        curves: [("the first", "goodput_bps_1"), ("the second", "goodput_bps_2")]
            .map(|(name, of)| {
                let goodput = runs[1].first().map_or(&[][..], |kept| kept.all(of));
                let seconds = goodput.chunks(PER_SECOND).enumerate();
                Curve::new(name, seconds.map(|(at, rates)| (at as f64, mean(rates) * 1e-6)))
            })
            .into(),
    });
    Ok(())
}

fn pair(bench: &Bench<'_>, algorithm: &str, later: Later, change: impl FnOnce(&mut Document)) -> Result<Scenario> {
    let apart: Written<Span> = bench.assumed("apart")?.parse()?;
    bench.scenario("two", |document| {
        change::set_algorithm(&mut document.flow, algorithm)?;
        match later {
            Later::Neither => {}
            Later::First => document.flow[0].start = Some(apart),
            Later::Second => document.flow[1].start = Some(apart),
        }
        change(document);
        Ok(())
    })
}

fn apart(bench: &Bench<'_>) -> Result<Span> {
    let apart: Written<Span> = bench.assumed("apart")?.parse()?;
    Ok(*apart.value())
}

/// Seconds from `begin` until the mean rates of two flows over the next `held` seconds have a Jain index of at least 0.95; the rest of the
/// run if they never do.
fn equal_after(kept: &Reduction, begin: f64, held: usize) -> Option<f64> {
    let rates = ["goodput_bps_1", "goodput_bps_2"].map(|of| kept.all(of));
    let (first, length) = ((begin * PER_SECOND as f64) as usize, held * PER_SECOND);
    let intervals = rates[0].len().min(rates[1].len());
    if intervals < first + length {
        return None;
    }
    let equal = |at: &usize| {
        let means = rates.map(|rates| mean(&rates[*at..*at + length]));
        jain(&means).is_some_and(|index| index >= 0.95)
    };
    let found = (first..=intervals - length).find(equal).unwrap_or(intervals);
    Some((found - first) as f64 / PER_SECOND as f64)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Intervals of [`Probe::OVER_TIME`] in a second.
const PER_SECOND: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_equal_where_their_means_over_the_next_seconds_are() {
        let mut kept = Reduction::default();
        // A second alone, two at a third, then equal.
        let second = |rate: f64| vec![rate; PER_SECOND];
        kept.keep("goodput_bps_1", [second(9.0), second(7.5), second(7.5), second(5.0), second(5.0)].concat());
        kept.keep("goodput_bps_2", [second(0.0), second(1.5), second(1.5), second(5.0), second(5.0)].concat());
        assert_eq!(equal_after(&kept, 0.0, 1), Some(2.8), "four of five intervals are enough");
        assert_eq!(equal_after(&kept, 1.0, 1), Some(1.8));
        assert_eq!(equal_after(&kept, 3.0, 1), Some(0.0));
        kept.keep("goodput_bps_2", vec![0.0; 5 * PER_SECOND]);
        assert_eq!(equal_after(&kept, 1.0, 1), Some(4.0), "never");
        assert_eq!(equal_after(&kept, 1.0, 9), None, "too short to tell");
    }
}
