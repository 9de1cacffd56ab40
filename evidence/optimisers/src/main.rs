//! Searches by CMA-ES for faults of the list `foreign/museum/searches.toml`, with its seeds, its evaluations, and its rule of a find:
//! `cargo run --release --manifest-path evidence/optimisers/Cargo.toml`. docs/falsify.md has the table.
//!
//! Faults of stacks are left out: the first 16 random paths have them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use cmaes::{CMAESOptions, DVector};
use cwnd_falsify::search::BATCH;
use cwnd_falsify::shrink::shrink;
use cwnd_falsify::space::{Case, Part, Profile, Space};
use cwnd_falsify::{Evaluated, Subject, worst};
use cwnd_run::cells::Cells;
use cwnd_run::execute::Executor;

/// A path that breaks the property.
struct Broken {
    index: usize,
    case: Case,
    score: f64,
}

fn main() {
    for (algorithm, property, cause) in FAULTS {
        for seed in 1..=3 {
            let found = search(algorithm, property, cause, seed);
            let found = found.map_or_else(|| "none".to_string(), |(nth, needs)| format!("{nth}\t{needs}"));
            println!("{algorithm}\t{property}\tseed {seed}\t{found}");
        }
    }
}

/// The first evaluation with an answer that counts, and the parts that it needs.
fn search(algorithm: &str, property: &str, cause: &[&str], seed: u64) -> Option<(usize, String)> {
    let promise = property.parse().expect("a property");
    let space = Space::new(Profile::Home, algorithm.parse().expect("an algorithm"), promise);
    let cells = Cells::default();
    let subject = Subject::new(Executor::new(&cells, &()), space.promise());
    let elites: RefCell<BTreeMap<BTreeSet<Part>, Broken>> = RefCell::default();
    let evaluations = Cell::new(0);
    let objective = |point: &DVector<f64>| {
        evaluations.set(evaluations.get() + 1);
        let index = evaluations.get();
        let point: Vec<f64> = point.iter().map(|value| reflected(*value)).collect();
        let case = space.decode(&point);
        let evaluated = match space.read(&case, 1) {
            Ok(scenario) => worst(&subject.judge_all(&[scenario]).expect("nothing interrupts it")[0]),
            Err(_) => Evaluated::default(),
        };
        let score = evaluated.margin.unwrap_or(SILENT) + COST * space.cost(&case);
        if evaluated.is_broken() {
            let parts: BTreeSet<Part> = case.parts().collect();
            let mut elites = elites.borrow_mut();
            if elites.get(&parts).is_none_or(|kept| score < kept.score) {
                elites.insert(parts, Broken { index, case, score });
            }
        }
        score
    };
    let options = CMAESOptions::new(vec![0.5; Space::dimensions()], STEP).population_size(BATCH).seed(seed);
    let mut state = options.build(objective).expect("the options are valid");
    let mut luck = BTreeSet::new();
    let mut found = None;
    while found.is_none() && evaluations.get() < EVALUATIONS {
        let ended = state.next();
        // Of answers with a cause all that come count, so that they are looked at once.
        let is_last = evaluations.get() >= EVALUATIONS || ended.is_some();
        if cause.is_empty() || is_last {
            found = answer(&space, &subject, &elites.borrow(), cause, &mut luck);
        }
        if ended.is_some() {
            break;
        }
    }
    found
}

/// The first evaluation with an answer that counts. `luck` remembers the paths that other seeds keep.
fn answer(
    space: &Space,
    subject: &Subject<'_>,
    elites: &BTreeMap<BTreeSet<Part>, Broken>,
    cause: &[&str],
    luck: &mut BTreeSet<usize>,
) -> Option<(usize, String)> {
    let mut broken: Vec<&Broken> = elites.values().collect();
    let order = |one: &Broken| one.case.parts().count() as f64 + one.score;
    broken.sort_by(|a, b| order(a).total_cmp(&order(b)));
    let most = if cause.is_empty() { 1 } else { ANSWERS };
    let mut answers: Vec<(usize, String)> = Vec::new();
    for one in broken {
        if answers.len() == most {
            break;
        }
        if luck.contains(&one.index) {
            continue;
        }
        let Some(shrunk) = shrink(space, subject, &one.case, 3).expect("nothing interrupts it") else {
            luck.insert(one.index);
            continue;
        };
        let needs: Vec<&str> = shrunk.case.parts().map(Part::name).collect();
        let needs = needs.join(", ");
        if answers.iter().all(|(_, other)| *other != needs) {
            answers.push((one.index, needs));
        }
    }
    let counts = |needs: &str| cause.is_empty() || needs.split(", ").any(|part| cause.contains(&part));
    answers.into_iter().filter(|(_, needs)| counts(needs)).min()
}

/// A coordinate, reflected at the ends of the unit interval.
fn reflected(value: f64) -> f64 {
    let value = value.rem_euclid(2.0);
    if value > 1.0 { 2.0 - value } else { value }
}

/// Faults of the group `development`: the algorithm, the property, and the parts of which an answer needs one.
const FAULTS: [(&str, &str, &[&str]); 3] = [
    ("bbr", "starvation > 0.1", &[]),
    ("copa", "starvation > 0.1", &[]),
    ("reno", "backlog-utilisation > 0.5", &["acks", "aggregation", "jitter", "own-acks"]),
];
const EVALUATIONS: usize = 320;
/// Answers among which one has to have the cause.
const ANSWERS: usize = 8;
/// The standard deviation of the first generation: a sixth of the coordinates are below that with which a path has a part.
const STEP: f64 = 0.3;
/// The share of the cost in a score, as in the search of the product.
const COST: f64 = 0.02;
/// In place of the margin of a run that says nothing.
const SILENT: f64 = 10.0;
