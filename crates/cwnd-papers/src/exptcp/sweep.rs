//! Runs of several algorithms on one bottleneck along a sweep.

use cwnd_sim::QueueLimit;

use super::red;
use crate::change::{self, bit_rate, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::{Document, Scenario};

/// The runs of every algorithm along a sweep.
pub(super) struct Sweep {
    pub(super) points: Vec<f64>,
    /// Room before the bottleneck at each point, packets.
    limits: Vec<f64>,
    /// By algorithm, then by point.
    series: Vec<(String, Vec<Vec<Reduction>>)>,
}

impl Sweep {
    /// Runs what `scenario` makes of an algorithm at each of the points.
    pub(super) fn run(
        bench: &Bench<'_>,
        points: &[f64],
        algorithms: &[(&str, String)],
        scenario: impl Fn(&str, f64) -> Result<Scenario>,
    ) -> Result<Self> {
        let pairs = algorithms.iter().flat_map(|(_, algorithm)| points.iter().map(move |point| (algorithm, *point)));
        let scenarios = pairs.map(|(algorithm, point)| scenario(algorithm, point)).collect::<Result<Vec<_>>>()?;
        let limits = scenarios.iter().take(points.len()).map(limit).collect();
        let mut runs = bench.run_all(scenarios.into_iter().map(Ok), Probe::SUMMARY)?.into_iter();
        let series = algorithms.iter().map(|(name, _)| (name.to_string(), runs.by_ref().take(points.len()).collect()));
        Ok(Self { points: points.to_vec(), limits, series: series.collect() })
    }

    /// The value `of` each run of an algorithm at a point; nothing outside of the sweep.
    pub(super) fn at(&self, name: &str, point: f64, of: impl Fn(&Reduction) -> Option<f64>) -> Computed {
        let place = self.points.iter().position(|known| *known == point);
        let series = self.series.iter().find(|(known, _)| known == name);
        match (place, series) {
            (Some(place), Some((_, runs))) => Computed::over(&runs[place], of),
            _ => Computed::NONE,
        }
    }

    pub(super) fn utilisation(&self, name: &str, point: f64) -> Computed {
        self.at(name, point, |kept| kept.one("utilisation"))
    }

    /// The mean queue over its limit.
    pub(super) fn queue(&self, name: &str, point: f64) -> Computed {
        let place = self.points.iter().position(|known| *known == point);
        let limit = place.map_or(f64::NAN, |place| self.limits[place]);
        self.at(name, point, |kept| Some(kept.all("link_queue_packets").first()? / limit))
    }

    /// The algorithm other than `name` that `better` prefers, by the mean value `of` it.
    pub(super) fn extreme(&self, name: &str, of: impl Fn(&str) -> Computed, better: Better) -> Computed {
        preferred(self.names().filter(|other| *other != name).map(of), better)
    }

    /// The point that `better` prefers, by the mean of what `of` says.
    pub(super) fn over_points(&self, of: impl Fn(f64) -> Computed, better: Better) -> Computed {
        preferred(self.points.iter().map(|point| of(*point)), better)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn figure(&self, findings: &mut Findings, x: &'static str, unit: f64) {
        type Of<'a> = &'a dyn Fn(&str, f64) -> Computed;
        let used: Of<'_> = &|name, point| self.utilisation(name, point);
        let waiting: Of<'_> = &|name, point| self.queue(name, point);
        let dropped: Of<'_> = &|name, point| self.at(name, point, drops).map(|rate| rate * 100.0);
        for (title, y, of) in [
            ("Utilisation", "Utilisation", used),
            ("Mean queue", "Mean queue over its limit", waiting),
            ("Drops", "Packets dropped, %", dropped),
        ] {
            findings.figure(Figure {
                title,
                caption: "Means over runs.".to_string(),
                x,
                y,
                log: (true, false),
                curves: self.curves(unit, of),
            });
        }
    }

    /// The value `of` each algorithm, over the points times `unit`.
    pub(super) fn curves(&self, unit: f64, of: impl Fn(&str, f64) -> Computed) -> Vec<Curve> {
        let line = |name: &str| {
            let points = self.points.iter();
            Curve::new(name, points.filter_map(|point| Some((point * unit, of(name, *point).value()?))))
        };
        self.names().map(line).collect()
    }

    /// Every point of every algorithm.
    pub(super) fn report(&self, findings: &mut Findings, points: impl Fn(f64) -> String) {
        for name in self.names() {
            for point in self.points.iter().copied() {
                let row = |measure: &str| format!("{name}, {}: {measure}", points(point));
                findings.extra(row("utilisation"), "", self.utilisation(name, point));
                findings.extra(row("mean queue over its limit"), "", self.queue(name, point));
                findings.extra(row("drops"), "%", self.at(name, point, drops).map(|rate| rate * 100.0));
                findings.extra(row("marks"), "%", self.at(name, point, marked).map(|rate| rate * 100.0));
            }
        }
    }
}

/// Room before the bottleneck, the first link.
pub(super) fn limit(scenario: &Scenario) -> f64 {
    match scenario.setup(1).links.first().map(|link| link.queue) {
        Some(QueueLimit::Packets(packets)) => f64::from(packets),
        _ => f64::INFINITY,
    }
}

pub(super) fn drops(kept: &Reduction) -> Option<f64> {
    kept.all("link_loss_rate").first().copied()
}

pub(super) fn marked(kept: &Reduction) -> Option<f64> {
    kept.all("link_mark_rate").first().copied()
}

/// Whether the first of two means is preferred.
pub(super) type Better = fn(&f64, &f64) -> bool;

/// The value that `better` prefers, by its mean; the first of equal ones.
pub(super) fn preferred(values: impl Iterator<Item = Computed>, better: Better) -> Computed {
    let known = values.filter_map(|value| Some((value.value()?, value)));
    known
        .reduce(|one, other| if better(&other.0, &one.0) { other } else { one })
        .map_or(Computed::NONE, |(_, value)| value)
}

/// The parameters of the dumbbell besides the algorithm.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Mbit/s.
    pub(super) rate: f64,
    /// Each way.
    pub(super) flows: u32,
    pub(super) marks: bool,
}

impl Load {
    /// The capacity sweep has 16 flows each way.
    pub(super) fn of_capacity(rate: f64) -> Self {
        Self { rate, flows: 16, marks: true }
    }
}

/// The dumbbell with `algorithm` in both directions, and then what `change` does to it.
pub(super) fn dumbbell(
    bench: &Bench<'_>,
    algorithm: &str,
    Load { rate, flows, marks }: Load,
    change: impl FnOnce(&mut Document) -> Result,
) -> Result<Scenario> {
    bench.scenario("dumbbell", |document| {
        let bottleneck = change::dumbbell(document);
        (bottleneck.rate, bottleneck.queue) = (bit_rate(rate * 1e6)?, red(bench, 1.0, marks)?);
        document.flow.iter_mut().for_each(|flow| flow.count = flows);
        set_algorithm(&mut document.flow, algorithm)?;
        change(document)
    })
}

/// No further change.
pub(super) fn as_it_is(_: &mut Document) -> Result {
    Ok(())
}

pub(super) fn capacities(bench: &Bench<'_>) -> Result<Vec<f64>> {
    bench.assumed_as("capacities")
}

/// Capacities for what varies besides: up to where a run takes seconds.
pub(super) fn moderate(bench: &Bench<'_>) -> Result<Vec<f64>> {
    let highest = bench.by_scale(40.0, 640.0);
    Ok(capacities(bench)?.into_iter().filter(|rate| *rate <= highest).collect())
}
