//! Measures of the seeds of a run: those of `cwnd compare`, the recovery, and how groups of flows share.

use cwnd_lab::compare::{group_shares, group_sizes, recovery};
use cwnd_run::measure::{Domain, Estimate, Estimates, Measure, Reach, Summary, Window, fair_shares, summarise};
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The measures of one seed.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    summary: Summary,
    recovery_s: Option<f64>,
    /// The share of each group in the goodput of all flows, and the one that max–min fairness would give it.
    shares: Option<Vec<f64>>,
    fair_shares: Option<Vec<f64>>,
}

impl Measured {
    pub(crate) fn of(scenario: &Scenario, trace: &Trace) -> Self {
        let summary = summarise(trace, scenario.bottleneck());
        let counts = group_sizes(scenario);
        let fair = || group_shares(&fair_shares(trace, Window::measured(trace)), &counts);
        let several = counts.len() > 1;
        Self {
            recovery_s: recovery(scenario, trace),
            shares: several.then(|| group_shares(&summary.flow_goodput_bps, &counts)).flatten(),
            fair_shares: several.then(fair).flatten(),
            summary,
        }
    }

    /// As text for another engine, with every bit of its numbers.
    pub(crate) fn to_text(&self) -> String {
        let all =
            |values: &Option<Vec<f64>>| values.as_ref().map(|values| values.iter().map(|v| v.to_bits()).collect());
        let bits = Bits {
            summary: self.summary.to_bits(),
            recovery: self.recovery_s.map(f64::to_bits),
            shares: all(&self.shares),
            fair_shares: all(&self.fair_shares),
        };
        json!(bits).to_string()
    }

    /// The text that [`to_text`](Self::to_text) wrote.
    pub(crate) fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        let Bits { summary, recovery, shares, fair_shares } = serde_json::from_str(text)?;
        let all = |bits: Option<Vec<u64>>| bits.map(|bits| bits.into_iter().map(f64::from_bits).collect());
        Ok(Self {
            summary: Summary::from_bits(summary),
            recovery_s: recovery.map(f64::from_bits),
            shares: all(shares),
            fair_shares: all(fair_shares),
        })
    }

    pub(crate) const fn summary(&self) -> &Summary {
        &self.summary
    }
}

/// The measures of one seed on the way from an engine to another.
#[derive(Deserialize, Serialize)]
struct Bits {
    summary: Vec<Vec<Option<u64>>>,
    recovery: Option<u64>,
    shares: Option<Vec<u64>>,
    fair_shares: Option<Vec<u64>>,
}

/// The columns of the table: those of `cwnd compare`, and the recovery.
pub(crate) fn columns() -> Value {
    let shared = Reach::Compared.measures().map(|measure| {
        let Measure { key, scale, .. } = measure;
        json!({ "key": key, "title": measure.heading(), "unit": scale.unit(), "scale": scale.factor() })
    });
    let recovery = json!({ "key": RECOVERY, "title": "recovery", "unit": "s", "scale": 1.0 });
    shared.chain([recovery]).collect()
}

/// The estimates over some seeds of a scenario: `measures` by key, and `groups` with their shares where there are several.
pub(crate) fn estimates<'a>(scenario: &Scenario, seeds: impl IntoIterator<Item = &'a Measured>) -> Value {
    let seeds: Vec<&Measured> = seeds.into_iter().collect();
    let summaries: Vec<Summary> = seeds.iter().map(|seed| seed.summary.clone()).collect();
    let over = |domain, of: &dyn Fn(&Measured) -> Option<f64>| {
        Estimate::over(&seeds.iter().copied().filter_map(of).collect::<Vec<_>>(), domain)
    };
    let mut measures = json!(Estimates::over(&summaries));
    measures[RECOVERY] = json!(over(Domain::POSITIVE, &|seed| seed.recovery_s));
    let groups = labels(scenario).into_iter().enumerate().map(|(nth, label)| {
        let share = |shares: &Option<Vec<f64>>| shares.as_ref().and_then(|shares| shares.get(nth).copied());
        json!({
            "label": label,
            "share": over(Domain::SHARE, &|seed| share(&seed.shares)),
            "fair_share": over(Domain::SHARE, &|seed| share(&seed.fair_shares)),
        })
    });
    let several = scenario.document().flow.len() > 1;
    json!({ "measures": measures, "groups": if several { groups.collect() } else { json!([]) } })
}

/// The names of the groups of flows; groups with one name have their number in front.
fn labels(scenario: &Scenario) -> Vec<String> {
    let groups = scenario.document().flow.iter();
    let names: Vec<&str> =
        groups.map(|group| group.name.as_deref().unwrap_or_else(|| group.algorithm.text().trim())).collect();
    let label = |(index, name): (usize, &&str)| match names.iter().filter(|other| *other == name).count() {
        1 => (*name).to_string(),
        _ => format!("{}. {name}", index + 1),
    };
    names.iter().enumerate().map(label).collect()
}

/// The key that the recovery has in the documents of a comparison.
const RECOVERY: &str = "recovery_time_s";

#[cfg(test)]
mod tests {
    use cwnd_lab::compare::Comparison;
    use cwnd_run::run::Runs;
    use cwnd_run::scenario::{Document, Written};

    use super::*;

    const PATH: &str = "duration = \"8s\"\nwarmup = \"1s\"\nseeds = 2\n[dumbbell]\nrate = \"8mbit\"\nrtt = \"20ms\"\n\
        schedule.steps = [{ at = \"2s\", rate = \"1mbit\" }, { at = \"3s\", rate = \"8mbit\" }]\n";

    fn of(runs: &Runs) -> Value {
        let seeds: Vec<Measured> = runs.traces.iter().map(|trace| Measured::of(&runs.scenario, trace)).collect();
        estimates(&runs.scenario, &seeds)
    }

    #[test]
    fn shares_and_recovery_are_those_of_a_comparison() {
        let document: Document = toml::from_str(PATH).expect("a document");
        let algorithms = ["reno", "bbr3"].map(Written::literal);
        let compared = Comparison::new(&document, &algorithms, Some(&algorithms[0]), 2, None).expect("valid").run(&());
        let rows = compared.expect("nobody ends it").rows;
        for row in &rows {
            let versus = row.versus.as_ref().expect("an opponent");
            let (alone, against) = (of(&row.alone), of(&versus.runs));
            assert!(row.recovery_time_s.is_some() && versus.share.is_some(), "{}", row.algorithm);
            assert_eq!(alone["measures"][RECOVERY], json!(row.recovery_time_s));
            assert_eq!(alone["groups"], json!([]));
            assert_eq!(against["groups"][0]["share"], json!(versus.share));
            let fair = |group: usize| against["groups"][group]["fair_share"]["mean"].as_f64().expect("a share");
            assert!([fair(0), fair(1)].iter().all(|fair| (fair - 0.5).abs() < 1e-9));
        }
        let names: Vec<Vec<String>> =
            rows.iter().filter_map(|row| Some(labels(&row.versus.as_ref()?.runs.scenario))).collect();
        assert_eq!(names, [["1. reno", "2. reno"], ["bbr3", "reno"]]);
    }
}
