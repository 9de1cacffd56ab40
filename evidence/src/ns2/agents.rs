//! The tables and figures for the author's agents, as read from `agents.toml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cwnd_papers::{InNs2, Selection};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Job};
use serde::Deserialize;

use super::output::{Quantity, Run};
use super::{Experiment, read, scenario};
use crate::Error;
use crate::page::shown;
use cwnd_run::measure::{Domain, Estimate};

/// `agents.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agents {
    /// Experiments that are asked for and have no record yet, as `CASE, SIDE`.
    pub(crate) unrecorded: Vec<String>,
    agent: Vec<Agent>,
    table: Vec<Table>,
}

/// A release of UDT with the agent of its time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) release: String,
    /// In the repository of the releases.
    pub(crate) commit: String,
    /// The profile of `udt` that is this release, if there is one.
    #[serde(default)]
    profile: Option<String>,
}

impl Agent {
    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The rows of the paper that are compared with a number of this release: those of its profile, and of `paper` if the paper leaves open
    /// something that this release answers.
    fn rows(&self, id: &str) -> Vec<String> {
        let fills_gaps = (self.release == FILLS_GAPS).then_some("paper");
        self.profile().into_iter().chain(fills_gaps).map(|profile| format!("{profile}: {id}")).collect()
    }
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
    rows: Vec<RowPattern>,
    points: Vec<Point>,
}

/// A kind of rows; `{}` in the id is the name of the point.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowPattern {
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

/// The release from which profile `paper` takes what the paper leaves open.
const FILLS_GAPS: &str = "1.1";
/// The side that is ns-2's own TCP.
const TCP: &str = "Sack1";

impl Table {
    /// The agents that run in ns-2.
    fn sides<'a>(&self, agents: &'a [Agent]) -> Vec<(&'a str, Option<&'a Agent>)> {
        if self.tcp {
            vec![(TCP, None)]
        } else {
            agents.iter().map(|agent| (agent.release.as_str(), Some(agent))).collect()
        }
    }

    /// The profiles that run here: those of the releases and the paper's, or nothing to choose.
    fn profiles<'a>(&self, agents: &'a [Agent]) -> Vec<&'a str> {
        if self.tcp { vec![""] } else { agents.iter().filter_map(Agent::profile).chain(["paper"]).collect() }
    }

    /// The runs of a profile of `udt` here, at the settings of a point.
    fn ours(&self, root: &Path, point: &Point, profile: &str) -> Result<Vec<Run>, Error> {
        let mut set = [self.set.as_slice(), &point.set].concat();
        set.push(format!("seeds={}", self.runs));
        if !profile.is_empty() {
            let groups = scenario(root, &self.scenario, &set)?;
            let groups = groups.document().flow.iter().enumerate();
            let udt = groups.filter(|(_, group)| group.algorithm.value().entry().name == "udt");
            set.extend(udt.map(|(at, _)| format!("flow.{at}.algorithm=udt:profile={profile}")));
        }
        let scenario = Arc::new(scenario(root, &self.scenario, &set)?);
        let job = |seed| Job { scenario: Arc::clone(&scenario), seed, keep: Run::KEPT };
        let kept = Executor::new(&Cells::of_user(), &()).run(scenario.seeds().map(job).collect())?;
        Ok(scenario.seeds().zip(&kept).filter_map(|(seed, kept)| Run::of_kept(seed, kept)).collect())
    }

    fn case(&self, point: &Point) -> String {
        [self.result.as_str(), &point.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

impl Agents {
    /// Reads `agents.toml`.
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        read(&root.join("evidence/ns2/agents.toml"))
    }

    /// Whether an experiment is listed as having no record.
    pub(crate) fn is_unrecorded(&self, experiment: &Experiment<'_>) -> bool {
        self.unrecorded.contains(&experiment.name())
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

    /// The tables for the page, after runs on this side: the printed numbers, those of ns-2, and those of the profiles at the same
    /// settings; how many cells of each release are inside; and the numbers of ns-2 for rows of the paper.
    pub(crate) fn page(&self, root: &Path, runs: &dyn Fn(&str, &str) -> Vec<Run>) -> Result<(String, InNs2), Error> {
        let selection = Selection::of(Some("daimd"), None)?;
        let (published, _) = selection.papers().next().expect("`daimd` is a paper");
        let mut text = String::new();
        let mut inside: BTreeMap<&str, Inside> = BTreeMap::new();
        let mut in_ns2 = InNs2::default();
        for table in &self.table {
            let result = published.result.iter().find(|result| result.id == table.result);
            let title = result.map_or("", |result| result.title.as_str());
            let sides = table.sides(&self.agent);
            let profiles = table.profiles(&self.agent);
            let names = sides.iter().map(|(side, _)| format!("{side} in ns-2"));
            let own = profiles.iter().map(|profile| match *profile {
                "" => "`cwnd`".to_owned(),
                profile => format!("`{profile}`"),
            });
            let head: Vec<String> =
                ["row".to_owned(), "printed".to_owned()].into_iter().chain(names).chain(own).collect();
            text.push_str(&format!("\n### {}: {title}\n\n| {} |\n", table.result, head.join(" | ")));
            text.push_str(&format!("|{}\n", " --- |".repeat(head.len())));
            for point in &table.points {
                let case = table.case(point);
                let theirs: Vec<Vec<Run>> = sides.iter().map(|(side, _)| runs(&case, side)).collect();
                // Without anything to compare with nothing is run.
                let known = theirs.iter().any(|runs| !runs.is_empty());
                let ours: Result<Vec<Vec<Run>>, Error> = profiles
                    .iter()
                    .map(|profile| if known { table.ours(root, point, profile) } else { Ok(Vec::new()) })
                    .collect();
                let ours = ours?;
                for row in &table.rows {
                    let id = row.id.replace("{}", &point.name);
                    let row_of = |id: &String| result?.rows.iter().find(|row| row.id == *id);
                    let printed = [format!("paper: {id}"), id.clone()];
                    let printed = printed.iter().find_map(|id| row_of(id)?.published.as_ref());
                    let mut cells = vec![id.clone(), printed.map_or(String::new(), ToString::to_string)];
                    let of = |runs: &Vec<Run>| {
                        let values = runs.iter().filter_map(|run| run.quantity(row.is, PACKET_BITS));
                        Estimate::over(&values.collect::<Vec<f64>>(), Domain::POSITIVE)
                    };
                    let theirs: Vec<Option<Estimate>> = theirs.iter().map(of).collect();
                    for ((side, agent), estimate) in sides.iter().zip(&theirs) {
                        let Some(estimate) = estimate else { continue };
                        for row in agent.map_or_else(|| vec![id.clone()], |agent| agent.rows(&id)) {
                            if row_of(&row).is_some() {
                                in_ns2.put(&table.result, row, format!("{side}: {}", shown(estimate)));
                            }
                        }
                    }
                    for estimate in &theirs {
                        cells.push(estimate.as_ref().map_or("not run yet".to_owned(), shown));
                    }
                    for (profile, runs) in profiles.iter().zip(&ours) {
                        let Some(ours) = of(runs) else {
                            cells.push(String::new());
                            continue;
                        };
                        let side = sides
                            .iter()
                            .position(|(_, agent)| agent.is_some_and(|agent| agent.profile() == Some(profile)));
                        let compared = side.and_then(|side| theirs[side].as_ref());
                        let outside =
                            compared.is_some_and(|theirs| !inside.entry(profile).or_default().judges(&ours, theirs));
                        cells.push(format!("{}{}", shown(&ours), if outside { " **outside**" } else { "" }));
                    }
                    text.push_str(&format!("| {} |\n", cells.join(" | ")));
                }
            }
        }
        let counts: String = inside.iter().map(|(profile, inside)| inside.sentence(profile)).collect();
        print!("{counts}");
        Ok((format!("\n{counts}{text}"), in_ns2))
    }
}

/// How many cells of a profile are inside what ns-2 gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Inside {
    cells: usize,
    overlapping: usize,
    within: usize,
}

impl Inside {
    /// Counts a cell: it is inside where the 95 % t intervals of both means have a value in common. Whether it is.
    fn judges(&mut self, ours: &Estimate, theirs: &Estimate) -> bool {
        let apart = (ours.mean - theirs.mean).abs();
        let (ours, theirs) = (ours.ci95.unwrap_or(0.0), theirs.ci95.unwrap_or(0.0));
        let inside = apart <= ours + theirs;
        self.cells += 1;
        self.overlapping += usize::from(inside);
        self.within += usize::from(apart <= theirs);
        inside
    }

    fn sentence(&self, profile: &str) -> String {
        format!(
            "- `{profile}`: {} of {} cells are inside what the same release gives in ns-2 (both 95 % intervals have a value in common); \
             of {} the mean lies in the interval of ns-2.\n",
            self.overlapping, self.cells, self.within
        )
    }
}

/// 1500 bytes, as the scenarios have it.
const PACKET_BITS: f64 = 12_000.0;
