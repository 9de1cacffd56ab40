//! The tables and figures for the author's agents, as read from `agents.toml`.

use std::path::Path;

use cwnd_papers::{Recorded, Scale, Selection};
use serde::Deserialize;

use super::output::{Quantity, Run};
use super::{Experiment, read, scenario};
use crate::Error;
use crate::page::shown;
use cwnd_run::measure::Estimate;

/// `agents.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agents {
    /// Cases that are asked for and have no record yet.
    pub(crate) unrecorded: Vec<String>,
    pub(crate) agent: Vec<Agent>,
    pub(crate) table: Vec<Table>,
}

/// A release of UDT with the agent of its time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) release: String,
    /// In the repository of the releases.
    pub(crate) commit: String,
}

/// A table or figure of the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Its id in `published.toml`.
    pub(crate) result: String,
    scenario: String,
    set: Vec<String>,
    /// How often each point is run.
    runs: u32,
    /// It is about TCP only: ns-2's own instead of the agents.
    #[serde(default)]
    tcp: bool,
    rows: Vec<Row>,
    points: Vec<Point>,
}

/// A kind of rows; `{}` in the id is the name of the point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    is: Quantity,
}

/// One setting of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    name: String,
    set: Vec<String>,
}

/// The side that is ns-2's own TCP.
const TCP: &str = "Sack1";

impl Table {
    /// Who is run in ns-2.
    fn sides<'a>(&self, agents: &'a [Agent]) -> Vec<(&'a str, Option<&'a Agent>)> {
        if self.tcp {
            vec![(TCP, None)]
        } else {
            agents.iter().map(|agent| (agent.release.as_str(), Some(agent))).collect()
        }
    }

    fn case(&self, point: &Point) -> String {
        [self.result.as_str(), &point.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

impl Agents {
    /// Reads `agents.toml`.
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        read(&root.join("validation/ns2/agents.toml"))
    }

    /// All runs of all tables.
    pub(crate) fn experiments(&self, root: &Path) -> Result<Vec<Experiment<'_>>, Error> {
        let mut all = Vec::new();
        for table in &self.table {
            for point in &table.points {
                let set = [table.set.as_slice(), &point.set].concat();
                let scenario = scenario(root, &table.scenario, &set)?;
                for (side, agent) in table.sides(&self.agent) {
                    all.push(Experiment::new(table.case(point), side, agent, &scenario, &[], table.runs)?);
                }
            }
        }
        Ok(all)
    }

    /// The tables for the page: what was printed, what ns-2 gave, what is on record here.
    pub(crate) fn page(&self, runs: &dyn Fn(&str, &str) -> Vec<Run>) -> Result<String, Error> {
        let selection = Selection::of(Some("daimd"), None)?;
        let ours = Recorded::at(Scale::Full).map_err(|error| Error::Scenario(Box::new(error)))?;
        let (published, _) = selection.papers().next().expect("`daimd` is a paper");
        let mut text = String::new();
        for table in &self.table {
            let result = published.result.iter().find(|result| result.id == table.result);
            let title = result.map_or("", |result| result.title.as_str());
            let sides = table.sides(&self.agent);
            let profiles: &[&str] = if table.tcp { &[""] } else { &["paper: ", "ns2: "] };
            let names = sides.iter().map(|(side, _)| format!("{side} in ns-2"));
            let own = profiles.iter().map(|profile| match profile.trim_end_matches(": ") {
                "" => "cwnd".to_owned(),
                profile => format!("cwnd, `{profile}`"),
            });
            let head: Vec<String> =
                ["row".to_owned(), "printed".to_owned()].into_iter().chain(names).chain(own).collect();
            text.push_str(&format!("\n### {}: {title}\n\n| {} |\n", table.result, head.join(" | ")));
            text.push_str(&format!("|{}\n", " --- |".repeat(head.len())));
            for point in &table.points {
                for row in &table.rows {
                    let id = row.id.replace("{}", &point.name);
                    let named = |profile: &&str| format!("{profile}{id}");
                    let row_of = |id: &String| result?.rows.iter().find(|row| row.id == *id);
                    let printed = profiles.iter().find_map(|profile| row_of(&named(profile))?.published.as_ref());
                    let mut cells = vec![id.clone(), printed.map_or(String::new(), ToString::to_string)];
                    for (side, _) in &sides {
                        let values = runs(&table.case(point), side);
                        let values = values.iter().filter_map(|run| run.quantity(row.is, PACKET_BITS));
                        let estimate = Estimate::over(&values.collect::<Vec<f64>>());
                        cells.push(estimate.map_or("not run yet".to_owned(), |estimate| shown(&estimate)));
                    }
                    for profile in profiles {
                        let entry = ours.entry("daimd", &table.result, &named(profile));
                        cells.push(entry.map_or(String::new(), |entry| entry.ours.clone()));
                    }
                    text.push_str(&format!("| {} |\n", cells.join(" | ")));
                }
            }
        }
        Ok(text)
    }
}

/// 1500 bytes, as the scenarios have it.
const PACKET_BITS: f64 = 12_000.0;
