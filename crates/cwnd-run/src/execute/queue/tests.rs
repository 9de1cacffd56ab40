use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;

use cwnd::{Ack, Congestion, CongestionControl, Control, Maker, Packets, Spec, Start, View};

use super::*;
use crate::execute::WholeTrace;
use crate::probe::{Probe, Reduction};
use crate::scenario::Scenario;

#[derive(Default)]
struct Counted {
    announced: AtomicU64,
    passed: AtomicU64,
    computed: AtomicUsize,
    stored: AtomicUsize,
    failed: AtomicUsize,
    stop: AtomicBool,
}

impl Counted {
    fn seconds(&self) -> [f64; 2] {
        [&self.announced, &self.passed].map(|time| time.load(Ordering::Relaxed) as f64 / 1e9)
    }

    fn found(&self) -> [usize; 3] {
        [&self.computed, &self.stored, &self.failed].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Progress for Counted {
    fn should_continue(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn announce(&self, time: Span) {
        self.announced.fetch_add(time.as_nanos(), Ordering::Relaxed);
    }

    fn advance(&self, time: Span) {
        self.passed.fetch_add(time.as_nanos(), Ordering::Relaxed);
    }

    fn done(&self, found: Found) {
        let count = match found {
            Found::Computed => &self.computed,
            Found::Equal | Found::Stored => &self.stored,
            Found::Failed => &self.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn scenario(seconds: u64, rate: u64) -> Arc<Scenario> {
    let text = format!(
        "duration = \"{seconds}s\"\nwarmup = \"100ms\"\n[dumbbell]\nrate = \"{rate}kbit\"\n[[flow]]\nalgorithm = \"reno\"\n"
    );
    Arc::new(Scenario::read("x.toml", &text, &[]).expect("valid"))
}

fn job(scenario: &Arc<Scenario>, seed: u64, keep: Probe) -> Job<Probe> {
    Job { scenario: Arc::clone(scenario), seed, keep }
}

fn own(threads: usize) -> Threads {
    Threads::Own(NonZeroUsize::new(threads).expect("some"))
}

#[test]
fn the_longest_run_is_begun_first_and_each_once() {
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    let keep = Probe {
        name: "order",
        of: |_, _| {
            let mut kept = Reduction::default();
            kept.keep("before", vec![BEGUN.fetch_add(1, Ordering::Relaxed) as f64]);
            kept
        },
    };
    let (cells, progress) = (Cells::default(), Counted::default());
    let [short, long, fast] = [scenario(2, 100), scenario(8, 100), scenario(2, 1000)];
    let jobs = [&short, &long, &fast, &long].map(|scenario| job(scenario, 1, keep)).to_vec();
    for (round, threads) in [Threads::Calling, own(1)].into_iter().enumerate() {
        let kept = Executor::new(&cells, &progress).on(threads).run(jobs.clone()).expect("it runs");
        let before: Vec<f64> = kept.iter().filter_map(|kept| kept.one("before")).collect();
        assert_eq!(before, [2.0, 1.0, 0.0, 1.0].map(|before| before + 3.0 * round as f64));
    }
    assert_eq!(progress.seconds(), [40.0, 40.0]);
    assert_eq!(progress.found(), [6, 2, 0]);
}

#[test]
fn each_job_may_use_what_it_is_allowed_on_fewer_threads_where_memory_is_short() {
    struct Machine(u64);
    impl Progress for Machine {
        fn should_continue(&self) -> bool {
            true
        }
        fn memory(&self) -> Option<u64> {
            Some(self.0)
        }
    }
    let cells = Cells::default();
    for (memory, width, each) in [(1 << 40, 8, 1000), (3500, 3, 1000), (500, 1, 500)] {
        let machine = Machine(memory);
        let executor = Executor::new(&cells, &machine).on(own(8)).with_memory_of_each(1000);
        assert_eq!((executor.width(), Queue::<Probe>::new(&executor).memory), (width, each), "{memory}");
    }
}

#[test]
fn threads_change_no_result() {
    let scenarios = [scenario(2, 1000), scenario(1, 2000)];
    let jobs = || {
        let job = |scenario: &Arc<Scenario>, seed| Job { scenario: Arc::clone(scenario), seed, keep: WholeTrace };
        scenarios.iter().flat_map(|scenario| (1..4).map(move |seed| job(scenario, seed))).collect()
    };
    let digests = |threads| -> Vec<u64> {
        let done = Executor::new(&Cells::default(), &()).on(threads).run(jobs()).expect("it runs");
        done.iter().map(|(trace, _)| trace.digest).collect()
    };
    let in_turn = digests(Threads::Calling);
    assert_eq!(in_turn.len(), 6);
    assert_ne!(in_turn[0], in_turn[3]);
    for threads in 1..4 {
        assert_eq!(digests(own(threads)), in_turn);
    }
}

#[test]
fn what_is_stored_is_not_run_again() {
    let (directory, progress) = (tempfile::TempDir::new().expect("a directory"), Counted::default());
    let cells = Cells::stored(directory.path());
    let jobs = || vec![job(&scenario(1, 1000), 1, Probe::SUMMARY)];
    let first = Executor::new(&cells, &progress).run(jobs()).expect("it runs");
    assert_eq!(Executor::new(&cells, &progress).run(jobs()).expect("it is there"), first);
    assert_eq!(progress.found(), [1, 1, 0]);
    assert_eq!(progress.seconds(), [2.0, 2.0]);
}

#[test]
fn what_is_remembered_is_not_run_again() {
    let progress = Counted::default();
    let cells = Cells::default();
    let executor = Executor::new(&cells, &progress);
    let jobs = || vec![job(&scenario(1, 1000), 1, Probe::SUMMARY)];
    for (executor, computed) in [(executor, 2), (executor.remembering(), 3)] {
        let [first, second] = executor.serve(|queue| [queue.ask(jobs()), queue.ask(jobs())]);
        assert_eq!(first.expect("it runs"), second.expect("it runs"));
        assert_eq!(progress.found()[0], computed);
    }
}

#[test]
fn a_panic_fails_its_job_and_the_others_go_on() {
    let fails = Probe { name: "fails", of: |_, _| panic!("a defect") };
    let scenario = scenario(1, 1000);
    let jobs = || vec![job(&scenario, 1, Probe::SUMMARY), job(&scenario, 1, fails), job(&scenario, 2, Probe::SUMMARY)];
    for threads in [Threads::Calling, own(2)] {
        let (cells, progress) = (Cells::default(), Counted::default());
        let executor = Executor::new(&cells, &progress).on(threads);
        let outcomes = executor.run_each(jobs()).expect("not interrupted");
        assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
        assert_eq!(outcomes[1], Err(RunError::Panicked("a defect".to_string())));
        assert_eq!(progress.found(), [2, 0, 1]);
        assert_eq!(executor.run(jobs()), Err(RunError::Panicked("a defect".to_string())));
    }
}

#[test]
fn a_cell_that_cannot_be_stored_fails() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let cells = Cells::stored(file.path());
    let outcomes = Executor::new(&cells, &()).run_each(vec![job(&scenario(1, 1000), 1, Probe::SUMMARY)]);
    assert!(matches!(outcomes.as_deref(), Ok([Err(RunError::Store(_))])), "{outcomes:?}");
}

#[test]
fn whoever_waits_hears_of_the_end() {
    let (cells, progress) = (Cells::default(), Counted::default());
    progress.stop.store(true, Ordering::Relaxed);
    let jobs = || vec![job(&scenario(2, 100), 1, Probe::SUMMARY), job(&scenario(4, 100), 1, Probe::SUMMARY)];
    for threads in [Threads::Calling, own(2)] {
        let executor = Executor::new(&cells, &progress).on(threads);
        assert_eq!(executor.run(jobs()), Err(Interrupted.into()));
        assert_eq!(executor.run_each(jobs()), Err(Interrupted));
    }
    // Also who asks after the end.
    let late = Executor::new(&cells, &()).serve(|queue| {
        queue.close();
        queue.ask(jobs())
    });
    assert_eq!(late, Err(Interrupted.into()));
}

#[test]
fn several_ask_at_once() {
    let (cells, progress) = (Cells::default(), Counted::default());
    let scenario = scenario(1, 1000);
    let kept = Executor::new(&cells, &progress).on(own(2)).remembering().serve(|queue| {
        thread::scope(|scope| {
            let ask = || queue.ask(vec![job(&scenario, 1, Probe::SUMMARY), job(&scenario, 2, Probe::SUMMARY)]);
            let askers: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            askers.into_iter().map(|asker| asker.join().expect("no panic").expect("it runs")).collect::<Vec<_>>()
        })
    });
    assert!(kept.iter().all(|own| *own == kept[0]));
    assert_eq!(progress.found(), [2, 6, 0]);
}

#[test]
fn what_comes_from_outside_is_run_each_time() {
    let built_in = scenario(1, 1000);
    let mut document = built_in.document().clone();
    document.flow[0].algorithm = Spec::outside("reno", Arc::new(Fixed)).into();
    let outside = Arc::new(Scenario::check(document).expect("valid"));
    let (directory, progress) = (tempfile::TempDir::new().expect("a directory"), Counted::default());
    let cells = Cells::stored(directory.path());
    let executor = Executor::new(&cells, &progress).remembering();
    let twice = executor.run(vec![job(&outside, 1, Probe::SUMMARY), job(&outside, 1, Probe::SUMMARY)]);
    let [first, second] = twice.expect("it runs").try_into().expect("two");
    assert_eq!(first, second);
    // Of the same name, and yet another cell than that of the built-in one.
    let built_in = executor.run(vec![job(&built_in, 1, Probe::SUMMARY)]).expect("it runs");
    assert_ne!(built_in[0], first);
    assert_eq!(progress.found(), [3, 0, 0]);
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

/// Keeps the whole trace, and how many samples it had each time that it was looked at.
#[derive(Clone, Copy)]
struct Looked<'a> {
    seen: &'a Mutex<Vec<Trace>>,
    stop: &'a AtomicBool,
}

impl Reduce for Looked<'_> {
    type Reduction = Trace;

    fn name(&self) -> &str {
        "looked"
    }

    fn observations(&self) -> u32 {
        4
    }

    fn observe(&self, _scenario: &Scenario, recorded: &Trace) {
        let mut seen = self.seen.lock().unwrap();
        seen.push(recorded.clone());
        if seen.len() == 6 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn reduce(&self, _scenario: &Scenario, trace: Trace) -> Trace {
        trace
    }
}

#[test]
fn a_run_that_is_looked_at_is_the_same_run_and_can_be_ended_at_a_look() {
    let scenario = scenario(2, 1000);
    let (seen, counted) = (Mutex::default(), Counted::default());
    let cells = Cells::default();
    let executor = Executor::new(&cells, &counted).on(own(1));
    let job = |seed| Job { scenario: Arc::clone(&scenario), seed, keep: Looked { seen: &seen, stop: &counted.stop } };
    let looked = executor.run(vec![job(1)]).unwrap().remove(0);
    let whole = Job { scenario: Arc::clone(&scenario), seed: 1, keep: WholeTrace };
    let (trace, _) = Executor::new(&cells, &()).run(vec![whole]).unwrap().remove(0);
    assert_eq!(format!("{looked:?}"), format!("{trace:?}"));
    // After each fifth of the time.
    let parts = seen.lock().unwrap().clone();
    assert_eq!(parts.len(), 4);
    for (nth, part) in parts.iter().enumerate() {
        let until = (nth as u64 + 1) * 400_000_000;
        let rows = trace.at.partition_point(|at| *at <= until);
        assert_eq!(part.at[..], trace.at[..rows]);
        assert_eq!(part.flows[0].window[..], trace.flows[0].window[..rows]);
    }
    assert_eq!(counted.seconds(), [2.0, 2.0]);
    // The second look of another run asks for its end.
    let ended = executor.run(vec![job(2)]);
    assert!(matches!(ended, Err(RunError::Interrupted(_))), "{ended:?}");
    assert_eq!(seen.lock().unwrap().len(), 6);
}
