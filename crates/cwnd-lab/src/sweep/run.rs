//! Running cells: from the store or computed, and no failure of one keeps another from running.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cwnd_sim::SetupError;
use rayon::prelude::*;
use thiserror::Error;

use super::{Cell, Chunk, Dataset, DatasetError, Sweep};
use cwnd_run::cells::{Cells, Key, StoreError};
use cwnd_run::probe::{Kept, Probe};
use cwnd_run::run::simulate;
use cwnd_run::scenario::Scenario;

/// Looks on while cells run.
pub trait Watch: Sync {
    /// Asked now and then within a run: whether to go on.
    fn goes_on(&self) -> bool;
    /// A cell is done.
    fn done(&self, found: Found);
}

/// Where the numbers of a cell came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// They were computed.
    Computed,
    /// They were in the store.
    Stored,
    /// There are none: the cell failed.
    Failed,
}

/// A run to do: a scenario with a seed, and what is kept of it.
pub type Job<'a> = (&'a Scenario, u64, Probe);

/// What came of one: what was kept, or why there is nothing.
pub type Outcome = Result<Kept, String>;

/// A cell with what came of it: what the probe keeps, or why there is nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// What [`Probe::SUMMARY`] keeps, or the error.
    pub outcome: Outcome,
}

/// [`Watch::goes_on`] said no.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("interrupted")]
pub struct Interrupted;

/// Why chunks were not all run.
#[derive(Debug, Error)]
pub enum Stopped {
    /// Rows cannot be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// [`Watch::goes_on`] said no.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Runs chunks side by side on all cores, so that no core waits for the last cell of one, and writes the rows of each as it ends.
///
/// # Errors
/// `watch` ended the work, or rows cannot be written. Cells computed by then are in the store.
pub fn run_chunks(
    sweep: &Sweep,
    chunks: &[Chunk],
    cells: &Cells,
    dataset: Option<&Dataset>,
    watch: &dyn Watch,
) -> Result<Vec<Row>, Stopped> {
    let run = |chunk: &Chunk| {
        let rows = run_chunk(sweep, *chunk, cells, watch)?;
        if let Some(dataset) = dataset {
            dataset.write(*chunk, &rows)?;
        }
        Ok(rows)
    };
    let rows = chunks.par_iter().with_max_len(1).map(run).collect::<Result<Vec<_>, Stopped>>()?;
    Ok(rows.into_iter().flatten().collect())
}

/// Runs the cells of a chunk on all cores. The rows are in the order of the cells, and the same however often a chunk is run.
///
/// # Errors
/// `watch` ended the work. Cells computed by then are in the store.
pub fn run_chunk(sweep: &Sweep, chunk: Chunk, cells: &Cells, watch: &dyn Watch) -> Result<Vec<Row>, Interrupted> {
    let wanted = sweep.cells_of(chunk);
    let points: Vec<(usize, Scenario)> = {
        let mut points: Vec<usize> = wanted.iter().map(|cell| cell.point).collect();
        points.dedup();
        points.into_iter().map(|point| (point, sweep.scenario(&sweep.points()[point]))).collect()
    };
    let first = points.first().map_or(0, |(point, _)| *point);
    let jobs: Vec<Job<'_>> =
        wanted.iter().map(|cell| (&points[cell.point - first].1, cell.seed, Probe::SUMMARY)).collect();
    // What is kept in memory would grow with the sweep, and no cell is asked for twice.
    let outcomes = run_cells(&jobs, &cells.apart(), watch)?;
    Ok(wanted.into_iter().zip(outcomes).map(|(cell, outcome)| Row { cell, outcome }).collect())
}

/// Runs scenarios with a seed and a probe each on all cores: what was kept, in the order of the jobs, or why there is nothing. Those
/// with an algorithm from outside, whose rule is no part of a cell's key, are run each time and never stored.
///
/// # Errors
/// `watch` ended the work. Cells computed by then are in the store.
pub fn run_cells(jobs: &[Job<'_>], cells: &Cells, watch: &dyn Watch) -> Result<Vec<Outcome>, Interrupted> {
    jobs.par_iter().with_max_len(1).map(|(scenario, seed, probe)| one(scenario, *seed, probe, cells, watch)).collect()
}

/// The same on the calling thread, one after the other: for algorithms from outside that would only wait for each other.
///
/// # Errors
/// `watch` ended the work.
pub fn run_cells_in_turn(jobs: &[Job<'_>], cells: &Cells, watch: &dyn Watch) -> Result<Vec<Outcome>, Interrupted> {
    jobs.iter().map(|(scenario, seed, probe)| one(scenario, *seed, probe, cells, watch)).collect()
}

fn one(
    scenario: &Scenario,
    seed: u64,
    probe: &Probe,
    cells: &Cells,
    watch: &dyn Watch,
) -> Result<Outcome, Interrupted> {
    if !watch.goes_on() {
        return Err(Interrupted);
    }
    let mut found = Found::Stored;
    let mut compute = || {
        found = Found::Computed;
        let trace = simulate(scenario, seed, &mut |_| watch.goes_on())?;
        Ok::<_, Failure>((probe.of)(scenario, &trace))
    };
    // A defect that one point of a sweep brings to light must not cost the others. Nothing of the run is used after a panic.
    let kept = catch_unwind(AssertUnwindSafe(|| {
        if scenario.has_outside() { compute() } else { cells.get_or(Key::of(scenario, seed, probe), compute) }
    }));
    let outcome = match kept {
        Ok(Ok(kept)) => Ok(kept),
        Ok(Err(Failure::Setup(SetupError::Interrupted))) => return Err(Interrupted),
        Ok(Err(error)) => Err(error.to_string()),
        Err(payload) => Err(format!("the simulation panicked: {}", message(&*payload))),
    };
    watch.done(if outcome.is_ok() { found } else { Found::Failed });
    Ok(outcome)
}

#[derive(Debug, Error)]
enum Failure {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cwnd::{Ack, Congestion, CongestionControl, Control, Maker, Packets, Spec, Start, View};

    use super::*;

    #[derive(Default)]
    struct Counted {
        computed: AtomicUsize,
        failed: AtomicUsize,
    }

    impl Watch for Counted {
        fn goes_on(&self) -> bool {
            true
        }

        fn done(&self, found: Found) {
            match found {
                Found::Computed => self.computed.fetch_add(1, Ordering::Relaxed),
                Found::Failed => self.failed.fetch_add(1, Ordering::Relaxed),
                Found::Stored => 0,
            };
        }
    }

    struct Stopped;

    impl Watch for Stopped {
        fn goes_on(&self) -> bool {
            false
        }

        fn done(&self, _: Found) {}
    }

    fn scenario() -> Scenario {
        let text =
            "duration = \"1s\"\nwarmup = \"100ms\"\n[dumbbell]\nrate = \"1mbit\"\n[[flow]]\nalgorithm = \"reno\"\n";
        Scenario::read("x.toml", text, &[]).expect("valid")
    }

    #[test]
    fn a_panic_is_a_failed_cell_and_the_others_go_on() {
        let fails = Probe { name: "fails", of: |_, _| panic!("a defect") };
        let scenario = scenario();
        let watch = Counted::default();
        let jobs = [(&scenario, 1, Probe::SUMMARY), (&scenario, 1, fails), (&scenario, 2, Probe::SUMMARY)];
        let outcomes = run_cells(&jobs, &Cells::default(), &watch).expect("not interrupted");
        assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
        assert_eq!(outcomes[1], Err("the simulation panicked: a defect".to_string()));
        assert_eq!((watch.computed.into_inner(), watch.failed.into_inner()), (2, 1));
    }

    #[test]
    fn what_comes_from_outside_is_never_stored() {
        let mut document = scenario().document().clone();
        document.flow[0].algorithm = Spec::outside("reno", Arc::new(Fixed)).into();
        let outside = Scenario::check(document).expect("valid");
        let (folder, watch) = (tempfile::TempDir::new().expect("a directory"), Counted::default());
        let cells = Cells::stored(folder.path());
        let job = [(&outside, 1, Probe::SUMMARY)];
        let twice = [run_cells(&job, &cells, &watch), run_cells_in_turn(&job, &cells, &watch)];
        assert_eq!(twice[0], twice[1]);
        // Of the same name, and yet another cell than that of the built-in one.
        let built_in = run_cells(&[(&scenario(), 1, Probe::SUMMARY)], &cells, &watch).expect("not interrupted");
        assert_ne!(twice[0].as_ref(), Ok(&built_in));
        assert_eq!(watch.computed.into_inner(), 3);
    }

    /// A window of two packets.
    #[derive(Clone, Debug)]
    struct Fixed;

    impl Maker for Fixed {
        fn start(&self, _: &Start) -> Box<dyn CongestionControl> {
            Box::new(Self)
        }
    }

    impl CongestionControl for Fixed {
        fn control(&self) -> Control {
            Control::window(Packets(2.0))
        }

        fn on_ack(&mut self, _: &View, _: &Ack) {}

        fn on_congestion(&mut self, _: &View, _: &Congestion) {}

        fn boxed_clone(&self) -> Box<dyn CongestionControl> {
            Box::new(self.clone())
        }
    }

    #[test]
    fn an_interrupted_run_says_so() {
        let scenario = scenario();
        assert_eq!(run_cells(&[(&scenario, 1, Probe::SUMMARY)], &Cells::default(), &Stopped), Err(Interrupted));
    }
}
