//! Sweeps: one scenario at many points, each run with many seeds.
//!
//! A sweep is a base scenario, a grid (keys and their values) or a list of settings, and the seeds of the scenario. Its *points*
//! are scenarios, its *cells* are runs: a point and a seed. The cells, their order and how they are cut into *chunks* are functions
//! of the sweep alone, so that any scheduler may hand out chunks to any machines, also twice: a chunk's file is the same each time.
//!
//! [`Sweep::read`] checks every point before anything runs. [`run_chunks`] takes cells from the store or computes them; one that
//! fails is a row with its error, and the others go on. [`Dataset`] is the directory of the results. [`Task`] is what a worker on
//! another machine needs of a chunk.

mod axes;
mod dataset;
mod document;
mod elsewhere;
mod gather;
mod idle;
mod outside;
mod quantity;
mod ranking;
mod run;
mod table;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

use cwnd_run::cells::Key;
use cwnd_run::scenario::{Document, Scenario, ScenarioError, Source};

pub use axes::{Axis, AxisValue};
pub use dataset::{Dataset, DatasetError, PartFormat, PartFormatError, SweepStatus, Unfinished};
pub use document::schema;
pub use elsewhere::{CountError, Pending, Task, TaskError, with_stored};
pub use gather::{PointResult, Setting, Swept, gather};
pub use outside::Outside;
pub use quantity::{Quantity, Unit};
pub use ranking::{By, ByError, Place, Ranked, Ranking, Standing};
pub use run::{CellError, CellOutcome, FinishedCell, Stopped, run_chunks};
#[cfg(feature = "parquet")]
pub use table::arrow;
pub use table::{Column, Values, columns};

/// A checked sweep: every point of it is a scenario that can be run.
#[derive(Clone, Debug)]
pub struct Sweep {
    title: Option<String>,
    /// The measure that points are ranked by.
    by: By,
    /// The file that the base scenario stands in; traces are relative to its directory.
    file: String,
    /// The base scenario as TOML, overrides laid over it.
    base: String,
    /// The keys that points set, listed ones first, in the order of the file.
    keys: Vec<String>,
    /// Settings that are listed: by the index of the key.
    listed: Vec<Vec<(usize, Value)>>,
    /// The grid: the index of the key and its values.
    axes: Vec<(usize, Vec<Value>)>,
    points: Vec<Point>,
    /// Algorithms that its text cannot name.
    outside: Vec<Outside>,
    /// The settings without effect.
    warnings: Vec<String>,
}

/// The value of a key at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As it was written, in TOML.
    literal: String,
    /// Text without its quotes; everything else as it was written.
    pub text: String,
    /// The number, if it is one.
    pub number: Option<f64>,
}

/// A scenario of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// The value of each key of [`Sweep::keys`]; none where the base's value stays.
    pub values: Vec<Option<Value>>,
    /// Its cells.
    cells: Range<u64>,
    first_seed: u64,
    /// The estimated time of one of its runs, seconds of one core.
    cost_s: f64,
}

/// A run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its place in the sweep, from 0.
    pub index: u64,
    /// Indexes [`Sweep::points`].
    pub point: usize,
    /// The seed.
    pub seed: u64,
}

/// Cells in a row, run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
    /// The first cell.
    pub first: u64,
    /// The one after the last.
    pub end: u64,
}

/// Every `count`th chunk, from the `index`th on, which is counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// The error for a text that is not a shard.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a shard and how many there are, such as `1/8`, from `1/8` to `8/8`")]
pub struct ShardError;

impl Sweep {
    /// Reads a TOML document called `name`, in which the name of a scenario's file is relative to `directory`. Overrides
    /// (`key.key=value`) are laid over the base scenario.
    ///
    /// # Errors
    /// `text` is no TOML, has a key or value that no sweep has, or its base or one of its points is no valid scenario: the first place.
    pub fn read(name: &str, text: &str, directory: &Path, overrides: &[String]) -> Result<Self, ScenarioError> {
        Self::read_with(name, text, directory, overrides, Vec::new())
    }

    /// Reads a sweep with algorithms from outside. The text has a stand-in in place of each. Their runs are not stored.
    ///
    /// # Errors
    /// Those of [`read`](Self::read); or an algorithm of the registry is called as one of `outside`.
    pub fn read_with(
        name: &str,
        text: &str,
        directory: &Path,
        overrides: &[String],
        outside: Vec<Outside>,
    ) -> Result<Self, ScenarioError> {
        document::read(name, text, directory, overrides, outside)
    }

    /// Whether an algorithm is not in the registry. [`id`](Self::id) then does not show whether that algorithm has changed.
    #[must_use]
    pub fn has_outside(&self) -> bool {
        !self.outside.is_empty()
    }

    /// The sweep as TOML that needs no other file and reads back as the same sweep, unless an algorithm is from outside.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Of an algorithm from outside there is its name to show.
        let named = |text: String, one: &Outside| text.replace(&one.stand_in, one.algorithm.text());
        self.outside.iter().fold(document::write(self), named)
    }

    /// Identifies this sweep, and the program: one that would compute something else gives another.
    #[must_use]
    pub fn id(&self) -> String {
        // The measure that ranks its points changes no run.
        Key::of_parts(&["sweep", &self.clone().ranked_by(By::default()).to_toml()]).to_string()
    }

    /// The title of the sweep, one line.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The measure that its points are ranked by.
    #[must_use]
    pub fn by(&self) -> By {
        self.by
    }

    /// Ranks the points by another measure.
    #[must_use]
    pub fn ranked_by(self, by: By) -> Self {
        Self { by, ..self }
    }

    /// The path of its base in one line, see [`Document::path`]; empty where points have to complete the base.
    #[must_use]
    pub fn path(&self) -> String {
        let base = Source::read(&self.file, &self.base, &[]).and_then(|source| Document::of(&source));
        base.map_or_else(|_| String::new(), |base| base.path())
    }

    /// The keys of the scenario that its points set.
    #[must_use]
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The key at `index` of [`Self::keys`] as a quantity, where all that the sweep sets it to are of one kind.
    #[must_use]
    pub fn quantity(&self, index: usize) -> Option<Quantity> {
        Quantity::of(self.values(index))
    }

    /// All that the sweep sets a key to.
    fn values(&self, index: usize) -> impl Iterator<Item = &Value> {
        let listed = self.listed.iter().flatten().filter(move |(key, _)| *key == index).map(|(_, value)| value);
        let grid = self.axes.iter().filter(move |(key, _)| *key == index).flat_map(|(_, values)| values);
        listed.chain(grid)
    }

    /// Its scenarios: the listed settings, each over the whole grid, whose last key changes fastest.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The settings that change nothing, with the number of points, and the points that are the same scenario.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// How many runs the point at `index` of [`Self::points`] has.
    #[must_use]
    pub fn seeds_of(&self, index: usize) -> usize {
        self.points.get(index).map_or(0, |point| (point.cells.end - point.cells.start) as usize)
    }

    /// The scenario of a point.
    #[must_use]
    pub fn scenario(&self, point: &Point) -> Scenario {
        let items: Vec<String> = self.items(&point.values).collect();
        let laid = Source::read(&self.file, &self.base, &items);
        let scenario = laid.and_then(|laid| outside::scenario(&laid, &self.outside));
        scenario.expect("every point was checked when the sweep was read")
    }

    /// How many runs it is.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.points.last().map_or(0, |point| point.cells.end)
    }

    /// Whether it has no runs, which none that was read has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its runs: point by point, the seeds ascending.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.points.iter().enumerate().flat_map(|(index, point)| {
            let seed = |cell: u64| point.first_seed.wrapping_add(cell - point.cells.start);
            point.cells.clone().map(move |cell| Cell { index: cell, point: index, seed: seed(cell) })
        })
    }

    /// The runs of a chunk.
    #[must_use]
    pub fn cells_of(&self, chunk: Chunk) -> Vec<Cell> {
        let point = self.points.partition_point(|point| point.cells.end <= chunk.first);
        let skipped = self.points.get(point).map_or(0, |point| chunk.first - point.cells.start);
        let cells = self.points.iter().enumerate().skip(point).flat_map(|(index, point)| {
            let seed = |cell: u64| point.first_seed.wrapping_add(cell - point.cells.start);
            point.cells.clone().map(move |cell| Cell { index: cell, point: index, seed: seed(cell) })
        });
        cells.skip(skipped as usize).take((chunk.end - chunk.first) as usize).collect()
    }

    /// Cuts it into chunks that take some `seconds` of one core each, by a rule of thumb that looks at nothing but the scenarios:
    /// the chunks of a sweep are the same on every machine.
    #[must_use]
    pub fn chunks(&self, seconds: f64) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let (mut first, mut cost) = (0, 0.0);
        for point in &self.points {
            for cell in point.cells.clone() {
                cost += point.cost_s;
                if cost >= seconds {
                    chunks.push(Chunk { first, end: cell + 1 });
                    (first, cost) = (cell + 1, 0.0);
                }
            }
        }
        if first < self.len() {
            chunks.push(Chunk { first, end: self.len() });
        }
        chunks
    }

    /// The settings of a point, which override the base.
    fn items<'a>(&'a self, values: &'a [Option<Value>]) -> impl Iterator<Item = String> + 'a {
        let set = self.keys.iter().zip(values).filter_map(|(key, value)| Some((key, value.as_ref()?)));
        set.map(|(key, value)| format!("{key}={}", value.literal))
    }
}

impl Chunk {
    /// The name of its files, without an ending.
    #[must_use]
    pub fn name(self) -> String {
        format!("part-{:08}-{:08}", self.first, self.end.saturating_sub(1))
    }

    /// How many cells it has.
    #[must_use]
    pub fn len(self) -> u64 {
        self.end - self.first
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end == self.first
    }
}

impl Shard {
    /// The chunks of this shard among `chunks`. All shards together have each chunk once.
    #[must_use]
    pub fn of(self, chunks: &[Chunk]) -> Vec<Chunk> {
        chunks.iter().copied().skip(self.index as usize - 1).step_by(self.count as usize).collect()
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        let (index, count) = parts.ok_or(ShardError)?;
        if (1..=count).contains(&index) { Ok(Self { index, count }) } else { Err(ShardError) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.index, self.count)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
