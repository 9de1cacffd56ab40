//! The runs that all runners ask for, the longest first.
//!
//! Every runner waits on a thread of its own, so that nearly all runs are known from the start, and as many threads as the machine
//! has processors take one run after the other. A long one that came last would keep a single processor busy after all others have
//! nothing left to do.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cwnd::Span;
use cwnd_sim::SetupError;

use super::error::PaperError;
use cwnd_run::cells::{Cells, Key};
use cwnd_run::probe::{Kept, Probe};
use cwnd_run::run::simulate;
use cwnd_run::scenario::Scenario;

/// Hears of work: so much simulated time was asked for, and so much has passed. Says whether to go on.
pub trait Progress: Sync {
    /// So much simulated time will be needed besides what was announced before.
    fn announce(&self, time: Span);
    /// So much simulated time has passed, or was found in the store; says whether to go on.
    fn advance(&self, time: Span) -> bool;
}

/// Runs that were asked for.
#[derive(Debug)]
pub(super) struct Work<'a> {
    cells: &'a Cells,
    progress: &'a dyn Progress,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By what they cost, so that the last is the longest.
    waiting: BTreeMap<(u128, Key), Job>,
    /// Who waits for what is being run.
    running: BTreeMap<Key, Vec<Asker>>,
    closed: bool,
}

impl core::fmt::Debug for dyn Progress + '_ {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("Progress")
    }
}

/// A run that nobody has begun.
#[derive(Debug)]
struct Job {
    scenario: Scenario,
    seed: u64,
    probe: Probe,
    askers: Vec<Asker>,
}

/// Who waits for a run, and as which of those asked for.
#[derive(Debug)]
struct Asker {
    place: usize,
    tell: Sender<(usize, Result<Kept, PaperError>)>,
}

impl<'a> Work<'a> {
    pub(super) fn new(cells: &'a Cells, progress: &'a dyn Progress) -> Self {
        Self { cells, progress, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for what `probe` keeps of runs, in their order. A run that several ask for is done once.
    ///
    /// # Errors
    /// Of one of the runs; or the work was closed.
    pub(super) fn ask(&self, runs: &[(&Scenario, u64)], probe: Probe) -> Result<Vec<Kept>, PaperError> {
        self.progress.announce(runs.iter().fold(Span::ZERO, |sum, (scenario, _)| sum + scenario.duration()));
        let keys: Vec<Key> = runs.iter().map(|(scenario, seed)| Key::of(scenario, *seed, &probe)).collect();
        let (tell, told) = channel();
        {
            let mut state = self.lock();
            let open = !state.closed;
            for (place, ((scenario, seed), key)) in runs.iter().zip(keys).enumerate().filter(|_| open) {
                let asker = Asker { place, tell: tell.clone() };
                if let Some(askers) = state.running.get_mut(&key) {
                    askers.push(asker);
                    continue;
                }
                let job = || Job { scenario: (*scenario).clone(), seed: *seed, probe, askers: Vec::new() };
                state.waiting.entry((cost(scenario, *seed), key)).or_insert_with(job).askers.push(asker);
            }
        }
        // Without this one the list of answers ends with the last asker.
        drop(tell);
        self.changed.notify_all();
        let mut kept = vec![None; runs.len()];
        for (place, answer) in told {
            kept[place] = Some(answer?);
        }
        kept.into_iter().collect::<Option<_>>().ok_or(PaperError::Setup(SetupError::Interrupted))
    }

    /// Does one run after the other until the work is closed.
    pub(super) fn work(&self) {
        let _closing = Closing(self);
        while let Some((key, job)) = self.next() {
            let mut answer = self.run(key, &job);
            let askers = self.lock().running.remove(&key).unwrap_or_default();
            for (told, Asker { place, tell }) in askers.into_iter().enumerate() {
                // An error has one owner; the others find the work closed.
                let own = match &mut answer {
                    Ok(kept) => Ok(kept.clone()),
                    Err(error) => Err(std::mem::replace(error, PaperError::Setup(SetupError::Interrupted))),
                };
                if told > 0 && !self.progress.advance(job.scenario.duration()) {
                    break;
                }
                // Whoever has met an error listens no more.
                let _ = tell.send((place, own));
            }
        }
    }

    /// No run is begun any more, and nobody waits for one.
    pub(super) fn close(&self) {
        *self.lock() = State { closed: true, ..State::default() };
        self.changed.notify_all();
    }

    fn next(&self) -> Option<(Key, Job)> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(((_, key), mut job)) = state.waiting.pop_last() {
                state.running.insert(key, std::mem::take(&mut job.askers));
                return Some((key, job));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self, key: Key, Job { scenario, seed, probe, .. }: &Job) -> Result<Kept, PaperError> {
        let mut told = Span::ZERO;
        let kept = self.cells.get_or(key, || {
            let trace = simulate(scenario, *seed, &mut |passed| {
                told = told + passed;
                self.progress.advance(passed)
            })?;
            Ok::<_, PaperError>((probe.of)(scenario, &trace))
        })?;
        if self.progress.advance(scenario.duration() - told) {
            Ok(kept)
        } else {
            Err(PaperError::Setup(SetupError::Interrupted))
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the work when dropped: a thread that panics must not leave others waiting.
pub(super) struct Closing<'a>(pub(super) &'a Work<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What a run may take at most, as the bits that its links can carry.
fn cost(scenario: &Scenario, seed: u64) -> u128 {
    let rates = scenario.setup(seed).links.iter().filter_map(|link| link.rate).map(u128::from).sum::<u128>();
    rates * u128::from(scenario.duration().as_nanos())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counted {
        announced: AtomicU64,
        passed: AtomicU64,
        stop: AtomicBool,
    }

    impl Progress for Counted {
        fn announce(&self, time: Span) {
            self.announced.fetch_add(time.as_nanos(), Ordering::Relaxed);
        }

        fn advance(&self, time: Span) -> bool {
            self.passed.fetch_add(time.as_nanos(), Ordering::Relaxed);
            !self.stop.load(Ordering::Relaxed)
        }
    }

    /// Keeps how many runs were begun before.
    fn order() -> Probe {
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        Probe {
            name: "order",
            of: |_, _| {
                let mut kept = Kept::default();
                kept.keep("before", vec![BEGUN.fetch_add(1, Ordering::Relaxed) as f64]);
                kept
            },
        }
    }

    fn scenario(seconds: u64, rate: u64) -> Scenario {
        let text = format!(
            "duration = \"{seconds}s\"\nwarmup = \"1s\"\n[dumbbell]\nrate = \"{rate}kbit\"\n[[flow]]\nalgorithm = \"reno\"\n"
        );
        Scenario::read("x.toml", &text, &[]).expect("valid")
    }

    fn ask(work: &Work<'_>, runs: &[(&Scenario, u64)], workers: usize) -> Result<Vec<Kept>, PaperError> {
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                let _closing = Closing(work);
                work.ask(runs, order())
            });
            // The list is whole before anybody works on it.
            while work.lock().waiting.is_empty() && !asked.is_finished() {
                std::thread::yield_now();
            }
            (0..workers).for_each(|_| drop(scope.spawn(|| work.work())));
            asked.join().expect("no panic")
        })
    }

    #[test]
    fn the_longest_run_is_begun_first_and_each_once() {
        let (cells, progress) = (Cells::default(), Counted::default());
        let [short, long, fast] = [scenario(2, 100), scenario(8, 100), scenario(2, 1000)];
        let runs = [(&short, 1), (&long, 1), (&fast, 1), (&long, 1)];
        let kept = ask(&Work::new(&cells, &progress), &runs, 1).expect("it runs");
        let before: Vec<f64> = kept.iter().filter_map(|kept| kept.one("before")).collect();
        assert_eq!(before, [2.0, 1.0, 0.0, 1.0]);
        let [announced, passed] = [&progress.announced, &progress.passed].map(|time| time.load(Ordering::Relaxed));
        assert_eq!((announced, passed), (20_000_000_000, 20_000_000_000));
    }

    #[test]
    fn whoever_waits_hears_of_the_end() {
        let (cells, progress) = (Cells::default(), Counted::default());
        progress.stop.store(true, Ordering::Relaxed);
        let runs = [scenario(2, 100), scenario(4, 100)];
        let runs: Vec<(&Scenario, u64)> = runs.iter().map(|scenario| (scenario, 1)).collect();
        let work = Work::new(&cells, &progress);
        assert!(matches!(ask(&work, &runs, 2), Err(PaperError::Setup(SetupError::Interrupted))));
        assert!(matches!(work.ask(&runs, order()), Err(PaperError::Setup(SetupError::Interrupted))));
    }
}
