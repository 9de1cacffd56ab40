//! Access networks: the paths of `scenarios/access`, each with the contender in the place of the algorithm of its first flow.

use cwnd::Spec;
use cwnd_run::measure::table;
use cwnd_run::probe::Probe;
use cwnd_run::scenario::{Scenario, ScenarioError, Source, Written};

use super::measure::Measure;
use super::{Bottleneck, Plan};

pub(super) fn sections(plan: &mut Plan) -> Result<(), ScenarioError> {
    for (name, title, text) in PATHS {
        let scenario = with(name, text, plan.scale.seeds, None)?;
        let document = scenario.document();
        // Delay and loss are measured at the slowest link.
        let is_reverse = scenario.bottleneck() == 1;
        let path = document.dumbbell.as_ref().map_or_else(Bottleneck::default, |dumbbell| {
            let reverse = dumbbell.reverse_queue.as_ref().filter(|_| is_reverse);
            let queue = reverse.map_or_else(|| dumbbell.queue.to_string(), |queue| format!("reverse {queue}"));
            Bottleneck { rate: dumbbell.rate.to_string(), rtt: dumbbell.rtt.to_string(), queue, also: Vec::new() }
        });
        let others: Vec<&str> = document.flow.iter().skip(1).map(|group| group.algorithm.text()).collect();
        let traffic = match (document.flow[0].size.is_some(), others.is_empty()) {
            (true, _) => "one transfer".to_string(),
            (false, true) => "alone".to_string(),
            (false, false) => format!("with {}", others.join(", ")),
        };
        let measures: &[Measure] = if document.flow[0].size.is_some() { &TRANSFER } else { &LASTING };
        plan.section(name, title, if is_reverse { REVERSE } else { FORWARD });
        plan.ask_of(path, traffic, measures, |plan, contender| {
            Ok(vec![(with(name, text, plan.scale.seeds, Some(contender))?, Probe::SUMMARY)])
        })?;
    }
    Ok(())
}

/// A path with its seeds and, if there is one, a contender.
fn with(name: &str, text: &str, seeds: u32, contender: Option<&Written<Spec>>) -> Result<Scenario, ScenarioError> {
    let source = Source::read(name, text, &[])?;
    Scenario::of_changed(&source, |document| {
        document.seeds = seeds;
        if let Some((group, contender)) = document.flow.first_mut().zip(contender) {
            group.algorithm = contender.clone();
        }
    })
}

const FORWARD: &str = "The first flow has the algorithm. Delay and loss are those of the bottleneck's queue.";
const REVERSE: &str = "The first flow has the algorithm. Delay and loss are those of the queue of the reverse link.";
const LASTING: [Measure; 4] = [
    Measure::Own,
    Measure::Kept(&table::QUEUE_DELAY_MEAN),
    Measure::Kept(&table::QUEUE_DELAY_P99),
    Measure::Kept(&table::LOSS_RATE),
];
const TRANSFER: [Measure; 3] =
    [Measure::Kept(&table::COMPLETION_TIME), Measure::Kept(&table::QUEUE_DELAY_P99), Measure::Kept(&table::LOSS_RATE)];

macro_rules! paths {
    ($($name:literal $title:literal),* $(,)?) => {
        /// The name, the title and the text of each path.
        pub(super) const PATHS: &[(&str, &str, &str)] =
            &[$(($name, $title, include_str!(concat!("../../../../scenarios/access/", $name, ".toml")))),*];
    };
}

paths![
    "wifi" "Wi-Fi at home",
    "lte" "LTE with a deep queue",
    "leo" "Satellites in low orbit",
    "satellite" "A geostationary satellite",
    "dsl" "DSL with an upload",
    "docsis" "A cable modem with an upload",
    "operator-policer" "A policer of an operator",
];
