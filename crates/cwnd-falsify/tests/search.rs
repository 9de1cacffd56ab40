//! Searches with fixed seeds, from the first point to the shrunk counterexample.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use cwnd::window::{Window, WindowRule};
use cwnd::{Bytes, CongestionControl, Maker, Spec, Start, Time, View};
use cwnd_falsify::answer::{Answer, kept, number as answer_number, read, regress};
use cwnd_falsify::corpus::Corpus;
use cwnd_falsify::findings::{Findings, counterexamples, has_counterexample};
use cwnd_falsify::property::Promise;
use cwnd_falsify::search::{Search, Strategy};
use cwnd_falsify::shrink::{Shrunk, seeds_of, shrink};
use cwnd_falsify::space::{Part, Profile, Space};
use cwnd_falsify::{Evaluated, Subject};
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Threads};
use cwnd_run::run::Runs;
use cwnd_run::scenario::Written;
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

fn written(algorithm: &str) -> Written<Spec> {
    algorithm.parse().expect("it is in the registry")
}

fn promise(text: &str) -> Promise {
    text.parse().expect("it is in the registry")
}

fn with_threads<R>(threads: usize, work: impl FnOnce(Executor<'_>) -> R) -> R {
    let cells = Cells::default();
    let count = NonZeroUsize::new(threads).expect("above zero");
    work(Executor::new(&cells, &()).on(Threads::Own(count)))
}

/// The outcomes of a search in steps of at most `most` evaluations.
fn outcomes(space: &Space, strategy: Strategy, threads: usize, most: usize, to: usize) -> Vec<Evaluated> {
    with_threads(threads, |executor| {
        let mut search = Search::start(space, strategy, 1).expect("it runs on a dumbbell");
        let subject = Subject::new(executor, space.promise());
        while search.outcomes().len() < to {
            search.advance(&subject, most.min(to - search.outcomes().len())).expect("nothing interrupts it");
        }
        search.outcomes().to_vec()
    })
}

#[test]
fn outcomes_depend_neither_on_threads_nor_on_interruptions() {
    let space = Space::new(Profile::Home, written("reno"), promise("steady-loss"));
    let one = outcomes(&space, Strategy::Elites, 1, usize::MAX, 64);
    assert_eq!(one, outcomes(&space, Strategy::Elites, 2, 5, 64));
    let random = outcomes(&space, Strategy::Random, 2, usize::MAX, 64);
    assert!(one[..48] == random[..48] && one != random);
}

#[test]
fn a_search_continues_from_its_corpus() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("corpus");
    let space = Space::new(Profile::Home, written("reno"), promise("steady-loss"));
    let whole = outcomes(&space, Strategy::Elites, 2, usize::MAX, 56);
    let corpus = Corpus::new(&path, &space, Strategy::Elites, 1);
    assert_eq!(corpus.read(&space).expect("there is none yet"), []);
    corpus.write(&whole[..51]).expect("it can be written");
    let mut search = Search::start(&space, Strategy::Elites, 1).expect("it runs on a dumbbell");
    search.replay(corpus.read(&space).expect("as written"));
    with_threads(2, |executor| search.advance(&Subject::new(executor, space.promise()), 5))
        .expect("nothing interrupts it");
    assert_eq!(search.outcomes(), whole);
    let other = Corpus::new(&path, &space, Strategy::Elites, 2).read(&space).expect_err("it is of another seed");
    assert!(other.to_string().contains("its line 6 is `seed 1`, not `seed 2`"), "{other}");
}

#[test]
fn a_corpus_without_one_of_its_lines_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("corpus");
    let space = Space::new(Profile::Home, written("reno"), promise("steady-loss"));
    let corpus = Corpus::new(&path, &space, Strategy::Elites, 1);
    let of =
        |value| Evaluated { value: Some(value), margin: Some(space.promise().margin(value)), ..Evaluated::default() };
    let silent = Evaluated { silence: Some("no window".to_string()), ..Evaluated::default() };
    let outcomes = [of(0.5), silent, of(1e300), of(0.0)];
    corpus.write(&outcomes).expect("it can be written");
    assert_eq!(corpus.read(&space).expect("as written"), outcomes);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[7..9], ["2 - no window", "3 1e300"]);
    let refused = |lines: &[&str]| {
        std::fs::write(&path, lines.join("\n")).expect("it can be written");
        corpus.read(&space).expect_err("it is no corpus").to_string()
    };
    let without = [&lines[..7], &lines[8..]].concat();
    assert_eq!(refused(&without), "line 8 has evaluation 3, not 2: lines are missing, double or in another order");
    let double = [&lines[..8], &lines[7..]].concat();
    assert!(refused(&double).starts_with("line 9 has evaluation 2, not 3"));
    for wrong in ["0.5", "3 ", "3 nothing", "3 inf", "three -", ""] {
        let changed = [&lines[..8], &[wrong], &lines[9..]].concat();
        let expected = "line 9 is no outcome: expected `3` and a number, or `-` or `error: ` with a reason";
        assert_eq!(refused(&changed), expected, "{wrong}");
    }
    assert_eq!(refused(&lines), "line 10 has no end: the file was cut there");
    assert!(refused(&lines[..3]).ends_with("of other sources: its line 4 is ``, not `profile home`"));
}

/// Adds a packet per round trip, and breaks down at the first loss.
#[derive(Clone, Debug)]
struct Fragile;

impl WindowRule for Fragile {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, _w: f64, _view: &View) -> f64 {
        panic!("no answer\nto a loss")
    }
}

impl Maker for Fragile {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Window::new(self.clone(), start))
    }
}

#[test]
fn failures_are_kept_with_their_paths_across_an_interruption() {
    let directory = tempfile::tempdir().expect("a directory");
    let fragile = Spec::outside("fragile", Arc::new(Fragile)).into();
    let space = Space::new(Profile::Home, fragile, promise("steady-loss"));
    let corpus = Corpus::new(&directory.path().join("corpus"), &space, Strategy::Elites, 1);
    with_threads(2, |executor| {
        let subject = Subject::new(executor, space.promise());
        let mut search = Search::start(&space, Strategy::Elites, 1).expect("it runs on a dumbbell");
        search.advance(&subject, 12).expect("a panic is no interruption");
        let failures: Vec<usize> = search.failures().iter().map(|tried| tried.index).collect();
        assert!(!failures.is_empty(), "{:?}", search.outcomes());
        corpus.write(search.outcomes()).expect("it can be written");

        let mut resumed = Search::start(&space, Strategy::Elites, 1).expect("it runs on a dumbbell");
        resumed.replay(corpus.read(&space).expect("as written"));
        assert_eq!(resumed.outcomes(), search.outcomes());
        for (again, before) in resumed.failures().iter().zip(search.failures()) {
            assert_eq!((again.index, &again.case), (before.index, &before.case));
            let error = again.evaluated.error.as_deref().expect("it failed");
            assert!(error.contains("panicked: no answer") && error.contains("to a loss"), "{error}");
            // The path alone brings the failure back.
            let scenario = space.read(&again.case, 1).expect("a scenario");
            let judged = subject.judge_all(&[scenario]).expect("nothing interrupts it");
            assert_eq!(judged, [[again.evaluated.clone()]]);
        }
        assert_eq!(resumed.failures().len(), failures.len());
    });
}

#[test]
fn a_property_about_marks_needs_a_sender_that_answers_them() {
    for property in ["classic-starved", "l4s-delay", "response-to-marks"] {
        let space = Space::new(Profile::Home, written("udt"), promise(property));
        let error = Search::start(&space, Strategy::Elites, 1).expect_err("UDT does not hear of marks").to_string();
        let expected = format!("its sender does not answer congestion marks, which `{property}` is about");
        assert_eq!(error, expected);
    }
}

#[test]
fn a_window_that_acknowledgements_do_not_make_grow_is_not_judged_by_them() {
    for algorithm in ["bbr", "bbr3", "xcp", "udt", "daimd", "tfrc"] {
        let space = Space::new(Profile::Home, written(algorithm), promise("doubling"));
        let error = Search::start(&space, Strategy::Elites, 1).expect_err("an estimate decides").to_string();
        assert_eq!(
            error,
            "its window follows an estimate of a rate, reports on a clock, or routers, of which `doubling` says nothing"
        );
    }
}

/// docs/counterexamples.md: alpha grows while the window is not used.
#[test]
fn the_clock_of_htcp_breaks_the_bound_of_slow_start_and_reno_keeps_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/counterexamples/htcp-clock.toml");
    let text = std::fs::read_to_string(file).expect("it is there");
    let judged = |text: &str| {
        let (promise, scenario) = read("htcp-clock.toml", text).expect("a scenario with a property");
        with_threads(1, |executor| regress(&Subject::new(executor, &promise), &scenario))
            .expect("nothing interrupts it")
    };
    let htcp = judged(&text);
    assert!(htcp.is_broken() && htcp.value.is_some_and(|value| value > 3.0), "{htcp:?}");
    let reno = judged(&text.replace("\"htcp\"", "\"reno\""));
    assert!(kept(&reno) && reno.value.is_some_and(|value| value <= 1.0), "{reno:?}");
}

/// A stack that sends all data within its window, one datagram for each submitted packet, and shows the window alone.
#[derive(Clone, Copy, Debug)]
struct Windowed {
    /// The window grows by a packet for each acknowledgement, used or not.
    grows: bool,
}

/// Either end of it: data is zeros, an acknowledgement is the number of bytes that have arrived.
struct End {
    stack: Windowed,
    datagram: u64,
    submitted: u64,
    sent: u64,
    acknowledged: u64,
    window: f64,
    delivered: u64,
    answers: bool,
}

impl Stack for Windowed {
    fn headers(&self) -> Bytes {
        Bytes(28)
    }

    fn connect(&self, connection: &Connection) -> Pair {
        let end = || End {
            stack: *self,
            datagram: u64::from(connection.datagram),
            submitted: 0,
            sent: 0,
            acknowledged: 0,
            window: 200.0,
            delivered: 0,
            answers: false,
        };
        Pair { sender: Box::new(end()), receiver: Box::new(end()) }
    }
}

impl Endpoint for End {
    fn submit(&mut self, _now: Time, bytes: u64) {
        self.submitted += bytes;
    }

    fn handle_datagram(&mut self, _now: Time, datagram: &[u8], _ecn: Ecn) {
        if let Ok(acknowledged) = datagram.try_into() {
            self.acknowledged = u64::from_be_bytes(acknowledged);
            self.window += f64::from(u8::from(self.stack.grows));
        } else {
            self.delivered += datagram.len() as u64;
            self.answers = true;
        }
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let room = (self.window as u64 * self.datagram).saturating_sub(self.sent - self.acknowledged);
        let bytes = (self.submitted - self.sent).min(room).min(self.datagram);
        if std::mem::take(&mut self.answers) {
            buffer.extend(self.delivered.to_be_bytes());
        } else if bytes > 8 {
            self.sent += bytes;
            buffer.resize(bytes as usize, 0);
        } else {
            return None;
        }
        Some(Transmit::new(Ecn::NotCapable, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        None
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        shown.window = Some(self.window);
        shown
    }
}

#[test]
fn the_unused_window_of_a_stack_is_that_which_its_application_does_not_fill() {
    let growth = |grows: bool| {
        let stack = StackSpec::new("windowed", Windowed { grows }).into_spec();
        let space = Space::new(Profile::Home, stack.into(), promise("unused-growth"));
        Search::start(&space, Strategy::Elites, 1).expect("it runs on a dumbbell");
        // The application has 0.9 of 16 Mbit/s: 38 packets are in flight in 32 ms.
        let case = space.decode(&[&[0.5; 3][..], &vec![1.0; Space::dimensions() - 3]].concat());
        assert!(case.parts().eq([Part::Source]));
        let scenario = space.read(&case, 1).expect("a scenario");
        with_threads(1, |executor| {
            let subject = Subject::new(executor, space.promise());
            subject.judge_all(&[scenario]).expect("nothing interrupts it")[0][0].clone()
        })
    };
    assert_eq!(growth(false).value, Some(1.0));
    let grown = growth(true);
    assert!(grown.is_broken() && grown.value.is_some_and(|value| value > 5.0), "{grown:?}");
}

#[test]
fn a_property_of_ones_own_has_a_margin_of_each_run() {
    let margin = |runs: Runs| {
        assert_eq!((runs.traces.len(), runs.summaries.len(), runs.scenario.seeds().len()), (1, 1, 1));
        runs.summaries[0].utilisation.map(|used| used - 0.99)
    };
    let own = Promise::own("nearly full".to_string(), Arc::new(margin));
    let space = Space::new(Profile::Home, written("reno"), own);
    let own = outcomes(&space, Strategy::Random, 2, usize::MAX, 8);
    let space = Space::new(Profile::Home, written("reno"), promise("utilisation > 0.99"));
    let text = outcomes(&space, Strategy::Random, 1, usize::MAX, 8);
    // A measure excludes no part of a path, as a property of one's own.
    for (own, text) in own.iter().zip(&text) {
        assert_eq!(own.is_broken(), text.is_broken(), "{own:?} {text:?}");
        assert_eq!(own.value, text.value.map(|used| used - 0.99));
    }
    assert!(own.iter().any(Evaluated::is_broken), "{own:?}");
    assert!(Promise::own("zero".to_string(), Arc::new(|_| None)).margin(0.0) >= 0.0);
}

#[test]
fn an_outcome_without_a_number_has_the_reason() {
    for (algorithm, property, reason) in [
        ("reno", "completion_time_s + convergence_time_s > 1", "it has no convergence_time_s, no completion_time_s"),
        ("reno", "1/(utilisation*0) > 1", "`1/(utilisation*0)` is undefined or infinite"),
        ("tfrc", "progress", "no window bounds a subject"),
    ] {
        let space = Space::new(Profile::Home, written(algorithm), promise(property));
        let outcomes = outcomes(&space, Strategy::Random, 2, usize::MAX, 2);
        assert!(outcomes.iter().all(|outcome| outcome.silence.as_deref() == Some(reason)), "{outcomes:?}");
        let mut search = Search::start(&space, Strategy::Random, 1).expect("it runs on a dumbbell");
        search.replay(outcomes);
        let text = Findings::of(&search, 1, &[]).text();
        assert!(text.ends_with(&format!("none of which says anything: {reason}\n")), "{text}");
    }
    let number = answer_number(&Evaluated { value: Some(1e300), margin: Some(-1e6), ..Evaluated::default() });
    assert_eq!(number, "1.0e300, margin -1000000.000");
}

#[test]
fn a_property_that_cannot_break_is_not_broken() {
    let space = Space::new(Profile::Home, written("reno"), promise("jain > 0.9"));
    let outcomes = outcomes(&space, Strategy::Random, 2, usize::MAX, 16);
    // Jain's index of one flow is 1.
    assert!(outcomes.iter().all(|outcome| !outcome.is_broken()), "{outcomes:?}");
}

/// Next to Prague classic flows keep most of their shares, and its packets hardly wait. A sender that grows by 200 packets per round trip
/// and cuts by 1 % for a mark breaks both properties.
#[test]
fn prague_keeps_both_promises_of_a_dual_queue_and_a_greedy_sender_neither() {
    let value = |algorithm: &str, property: &str, coordinate: f64| {
        let space = Space::new(Profile::Home, written(algorithm), promise(property));
        let case = space.decode(&vec![coordinate; Space::dimensions()]);
        let scenario = space.read(&case, 1).expect("a scenario");
        with_threads(1, |executor| {
            let subject = Subject::new(executor, space.promise());
            let outcome = &subject.judge_all(&[scenario]).expect("nothing interrupts it")[0][0];
            (outcome.value.unwrap_or_else(|| panic!("{outcome:?}")), outcome.is_broken())
        })
    };
    for property in ["classic-starved", "l4s-delay"] {
        for coordinate in [0.21, 0.5, 1.0] {
            let (number, broken) = value("prague", property, coordinate);
            assert!(!broken, "{property}: {number}");
        }
        let (number, broken) = value("aimd:a=200,b=1/100", property, 0.5);
        assert!(broken, "{property}: {number}");
    }
}

#[test]
fn a_path_that_few_seeds_break_is_no_answer() {
    let space = Space::new(Profile::Home, written("bbr"), promise("completion"));
    with_threads(2, |executor| {
        let subject = Subject::new(executor, space.promise());
        let mut search = Search::start(&space, Strategy::Elites, 2).expect("it runs on a dumbbell");
        while search.outcomes().len() < 48 {
            search.advance(&subject, 48).expect("nothing interrupts it");
        }
        let answers = counterexamples(&search, &subject, 3, 1, &mut |_| ()).expect("nothing interrupts it");
        let mut luck = BTreeSet::new();
        let has = has_counterexample(&search, &subject, 3, &mut luck).expect("nothing interrupts it");
        assert!(search.has_broken() && has != answers.is_empty());
        let broken = search.broken();
        assert!(broken.iter().take(luck.len()).all(|tried| luck.contains(&tried.index)));
        let lucky = broken.iter().find_map(|tried| {
            let shrunk = shrink(&space, &subject, &tried.case, 1).expect("nothing interrupts it")?;
            let scenario = space.read(&shrunk.case, seeds_of(3)).expect("a scenario");
            let judged = subject.judge_all(&[scenario]).expect("nothing interrupts it").remove(0);
            let broken = judged.iter().filter(|evaluated| evaluated.is_broken()).count();
            (judged[0].is_broken() && broken < judged.len()).then_some(&tried.case)
        });
        let lucky = lucky.expect("one seed suffices where others keep the property");
        let shrunk = shrink(&space, &subject, lucky, 3).expect("nothing interrupts it");
        let all = |shrunk: &Shrunk| {
            let scenario = space.read(&shrunk.case, seeds_of(3)).expect("a scenario");
            let judged = subject.judge_all(&[scenario]).expect("nothing interrupts it").remove(0);
            judged.len() == 13 && judged.iter().all(Evaluated::is_broken)
        };
        assert!(shrunk.is_none_or(|shrunk| all(&shrunk)));
    });
}

#[test]
fn random_search_finds_a_starved_bbr_which_shrinks_to_its_cause() {
    let space = Space::new(Profile::Anything, written("bbr"), promise("starvation"));
    with_threads(2, |executor| {
        let subject = Subject::new(executor, space.promise());
        let mut search = Search::start(&space, Strategy::Random, 1).expect("it runs on a dumbbell");
        let mut found = None;
        while found.is_none() && search.outcomes().len() < 96 {
            search.advance(&subject, 16).expect("nothing interrupts it");
            found = search.broken().iter().find_map(|tried| {
                let shrunk = shrink(&space, &subject, &tried.case, 3).expect("nothing interrupts it")?;
                Some((tried.case.clone(), shrunk))
            });
        }
        let (case, shrunk) = found.expect("some tens of evaluations suffice");
        assert!(shrunk.evaluated.is_broken() && space.cost(&shrunk.case) < space.cost(&case));
        let before: Vec<Part> = case.parts().collect();
        assert!(shrunk.case.parts().all(|part| before.contains(&part)));
        assert!(shrunk.without.iter().all(|one| !one.evaluated.is_broken()), "{:?}", shrunk.without);
        assert!(shrunk.steps.iter().all(|(_, margin)| *margin < 0.0));

        let answer = Answer::new(&space, &shrunk, 3, Some(0xab), "a test");
        let link = answer.link.expect("BBR is in the registry");
        assert!(link.ends_with("&digest=00000000000000ab"), "{link}");
        assert!(answer.toml.contains("\n# bbr breaks it with 13 seeds; ") && answer.toml.contains("\nseeds = 3\n"));
        let (promise, scenario) = read("answer.toml", &answer.toml).expect("it is a scenario with a property");
        assert_eq!(promise.to_string(), "starvation > 0.1");
        assert!(!kept(&regress(&subject, &scenario).expect("nothing interrupts it")));
        let marked = format!("\u{feff}{}", answer.toml);
        assert!(read("answer.toml", &marked).is_ok_and(|(promise, _)| promise.to_string() == "starvation > 0.1"));
        let mended = answer.toml.replace("starvation > 0.1", "starvation > 0");
        let (promise, scenario) = read("answer.toml", &mended).expect("still a scenario");
        let subject = Subject::new(executor, &promise);
        assert!(kept(&regress(&subject, &scenario).expect("nothing interrupts it")), "{mended}");
    });
}
