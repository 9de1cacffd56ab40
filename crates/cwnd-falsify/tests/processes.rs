//! Runs that never return, or end their process, in processes of this program. Cargo runs `main` alone.

use std::ffi::OsString;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use cwnd::window::{Window, WindowRule};
use cwnd::{CongestionControl, Maker, Spec, Start, View};
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{Search, Strategy};
use cwnd_falsify::space::{Profile, Space};
use cwnd_falsify::{Elsewhere, Evaluated, Shard, Subject, Workers, work};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Interrupted};
use cwnd_run::scenario::{Scenario, Written};

/// Adds a packet per round trip, and answers the first loss in a way of its own.
#[derive(Clone, Debug)]
struct Wrong(fn());

impl WindowRule for Wrong {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        self.0();
        w / 2.0
    }
}

impl Maker for Wrong {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Window::new(self.clone(), start))
    }
}

fn never_returns() {
    loop {
        std::hint::spin_loop();
    }
}

fn takes_all_memory() {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(vec![1; 16 << 20]);
        std::hint::black_box(&held);
    }
}

fn prints() {
    print!("no outcome, and no end of the line");
}

fn main() {
    let wrong = |name: &str, answer: fn()| Spec::outside(name, Arc::new(Wrong(answer)));
    cwnd_run::stacks::install(vec![
        wrong("wrong:hang", never_returns),
        wrong("wrong:abort", || std::process::abort()),
        wrong("wrong:memory", takes_all_memory),
        wrong("wrong:print", prints),
    ]);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [WORKER, store] => work(&Cells::stored(store.as_ref())).expect("whoever asks reads"),
        [WORKER] => work(&Cells::default()).expect("whoever asks reads"),
        _ => {
            runs_that_do_not_end_are_failures_and_cost_no_others();
            a_search_in_processes_is_that_on_threads();
            shards_with_one_store_have_the_answer_of_one_search();
            a_search_elsewhere_is_that_on_threads();
        }
    }
}

fn workers(store: Option<&std::path::Path>) -> Workers {
    waiting(store, Duration::from_secs(600))
}

fn waiting(store: Option<&std::path::Path>, patience: Duration) -> Workers {
    let program = std::env::current_exe().expect("it has a path");
    let mut command = vec![program.into_os_string(), OsString::from(WORKER)];
    command.extend(store.map(|store| store.as_os_str().to_owned()));
    Workers::new(command, patience)
}

fn runs_that_do_not_end_are_failures_and_cost_no_others() {
    let promise: Promise = "utilisation > 0.1".parse().expect("a measure");
    let scenario = |algorithm: &str| {
        let text =
            "duration = \"5s\"\nseeds = 1\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"droptail:20p\"\n";
        let text = format!("{text}[[flow]]\nalgorithm = \"{algorithm}\"\n");
        Scenario::read("scenario", &text, &[]).expect("it is valid")
    };
    let [hang, scenarios @ ..] = ["wrong:hang", "wrong:abort", "wrong:memory", "wrong:print", "reno"].map(scenario);
    let cells = Cells::default();
    let executor = Executor::new(&cells, &());
    let judge = |subject: Subject<'_>, scenarios: &[Scenario]| -> Vec<Evaluated> {
        subject.judge_all(scenarios).expect("nothing interrupts it").concat()
    };
    // It shows no progress on any machine; the other runs do, after a time that depends on the machine.
    let impatient = waiting(None, Duration::from_secs(2));
    let hung = judge(Subject::new(executor, &promise).in_processes(&impatient), &[hang]);
    let reason = "the run did not go on for 2 s of wall time, which depends on the machine";
    assert_eq!(hung[0].error.as_deref(), Some(reason));
    let judged = judge(Subject::new(executor, &promise).in_processes(&workers(None)), &scenarios);
    let error = |nth: usize| judged[nth].error.as_deref().unwrap_or_else(|| panic!("{judged:?}"));
    assert!(error(0).starts_with("the run ended its process: "), "{}", error(0));
    // Not each system reports what a process holds.
    if cfg!(target_os = "linux") {
        assert_eq!(error(1), "the run needs more than 1024 MiB in its process");
    }
    assert!(judged[2].value.is_some(), "{judged:?}");
    assert_eq!(judged[3..], judge(Subject::new(executor, &promise), &scenarios[3..]));
}

fn outcomes(space: &Space, workers: Option<(&Workers, Option<Shard>)>) -> Vec<Evaluated> {
    let cells = Cells::default();
    let subject = Subject::new(Executor::new(&cells, &()), space.promise());
    let subject = match workers {
        Some((workers, Some(shard))) => subject.in_processes(workers).beginning_with(shard),
        Some((workers, None)) => subject.in_processes(workers),
        None => subject,
    };
    let mut search = Search::start(space, Strategy::Elites, 3).expect("it runs on a dumbbell");
    while search.outcomes().len() < 64 {
        search.advance(&subject, usize::MAX).expect("nothing interrupts it");
    }
    search.outcomes().to_vec()
}

fn space(property: &str) -> Space {
    let reno: Written<Spec> = "reno".parse().expect("it is in the registry");
    Space::new(Profile::Home, reno, property.parse().expect("it is in the registry"))
}

fn a_search_in_processes_is_that_on_threads() {
    for property in ["steady-loss", "completion"] {
        let space = space(property);
        assert_eq!(outcomes(&space, Some((&workers(None), None))), outcomes(&space, None), "{property}");
    }
}

fn shards_with_one_store_have_the_answer_of_one_search() {
    let store = tempfile::tempdir().expect("a directory");
    let space = space("backlog-utilisation");
    let whole = outcomes(&space, None);
    assert!(whole.iter().any(|outcome| outcome.value.is_some()), "{whole:?}");
    let of = |index| outcomes(&space, Some((&workers(Some(store.path())), Shard::new(index, 2))));
    let shards = thread::scope(|scope| [1, 2].map(|index| scope.spawn(move || of(index))).map(ScopedJoinHandle::join));
    for shard in shards {
        assert_eq!(shard.expect("it does not panic"), whole);
    }
    assert!(std::fs::read_dir(store.path()).expect("it was made").next().is_some());
}

/// Answers requests one by one, as the workers of a cluster do.
#[derive(Debug)]
struct Cluster(Workers);

impl Elsewhere for Cluster {
    fn answers(&self, requests: Vec<String>) -> Result<Vec<String>, Interrupted> {
        let answer = |request: &String| self.0.answer(request, &|| true).expect("it is of these sources");
        Ok(requests.iter().map(answer).collect())
    }
}

fn a_search_elsewhere_is_that_on_threads() {
    let cluster = Cluster(workers(None));
    let space = space("completion");
    let cells = Cells::default();
    let subject = Subject::new(Executor::new(&cells, &()), space.promise()).elsewhere(&cluster);
    let mut search = Search::start(&space, Strategy::Elites, 3).expect("it runs on a dumbbell");
    while search.outcomes().len() < 32 {
        search.advance(&subject, usize::MAX).expect("nothing interrupts it");
    }
    assert_eq!(search.outcomes(), &outcomes(&space, None)[..32]);
    let refused = cluster.0.answer("0123 4567\ncompletion < 3\n1 0\n", &|| true).expect_err("other sources");
    assert!(refused.to_string().contains("other sources"), "{refused}");
}

const WORKER: &str = "worker";
