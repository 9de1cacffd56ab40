//! The pages of crossed papers: one of claims, one of tables.

use askama::Template;
use cwnd_papers::{Asked, CrossAlgorithm, CrossExperiment, CrossMeasure, Crossing, Made, Plan};

use super::assets::render;
use super::parts::Top;
use crate::plot::colour::Palette;

/// The page of claims: each with what came of it in every experiment that it was asked of.
pub(crate) fn claims_html(command: &str, crossing: &Crossing) -> String {
    render(&CrossedPage {
        title: "Claims across papers",
        note: "A claim holds where the whole 95 % interval lies within a tolerance that was written before the runs.",
        claims: &crossing.claim,
        tables: Vec::new(),
        ..CrossedPage::of(command, crossing, "Which claims of each paper hold on the experiments of the others?")
    })
}

/// The page of tables: each experiment with a row for every algorithm.
pub(crate) fn tables_html(command: &str, plan: &Plan, crossing: &Crossing) -> String {
    render(&CrossedPage {
        title: "Algorithms across papers",
        note: "Means with half of the 95 % interval; the best mean of each measure is bold.",
        tables: plan.experiment.iter().map(|experiment| TableText::of(plan, experiment, crossing)).collect(),
        ..CrossedPage::of(command, crossing, "How does every algorithm do on the experiments of every paper?")
    })
}

#[derive(Template)]
#[template(path = "crossed.html")]
struct CrossedPage<'a> {
    title: &'a str,
    top: Top<'a>,
    note: &'a str,
    claims: &'a [Asked],
    tables: Vec<TableText>,
    made: &'a Made,
    palette: Palette,
}

/// An experiment.
struct TableText {
    title: String,
    place: String,
    headings: Vec<String>,
    rows: Vec<RowText>,
}

/// An algorithm: its values, and whether each is the best.
struct RowText {
    name: String,
    own: bool,
    cells: Vec<(String, bool)>,
}

impl<'a> CrossedPage<'a> {
    fn of(command: &'a str, crossing: &'a Crossing, question: &str) -> Self {
        Self {
            title: "",
            top: Top {
                question: question.to_string(),
                path: "The paths of each experiment, as its paper gives them".to_string(),
                command,
            },
            note: "",
            claims: &[],
            tables: Vec::new(),
            made: &crossing.made,
            palette: Palette::new(std::iter::empty()),
        }
    }
}

impl TableText {
    fn of(plan: &Plan, experiment: &CrossExperiment, crossing: &Crossing) -> Self {
        Self {
            title: experiment.what.clone(),
            place: format!("{}: {}, {}", experiment.id, experiment.paper, experiment.place),
            headings: experiment.measures.iter().map(|measure| measure.heading()).collect(),
            rows: plan.algorithm.iter().map(|algorithm| RowText::of(experiment, algorithm, crossing)).collect(),
        }
    }
}

impl RowText {
    fn of(experiment: &CrossExperiment, algorithm: &CrossAlgorithm, crossing: &Crossing) -> Self {
        let cell = |measure: &CrossMeasure| {
            let table = crossing.table(&experiment.id, *measure);
            let score = table.and_then(|table| Some((table, table.score.get(&algorithm.name)?)));
            score
                .map_or_else(|| ("—".to_string(), false), |(table, score)| (score.text(), table.best == algorithm.name))
        };
        Self {
            name: algorithm.name.clone(),
            own: experiment.is_own(algorithm),
            cells: experiment.measures.iter().map(cell).collect(),
        }
    }
}
