//! Runs and comparisons on a path short enough for a test.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwnd::{ALGORITHMS, CongestionControl, Maker, Span, Spec, Start};
use cwnd_lab::compare::{Compared, ComparedAlgorithm, Comparison, DEFAULT};
use cwnd_lab::stationary::Stationarity;
use cwnd_run::cells::Cells;
use cwnd_run::execute::{Executor, Interrupted, Progress, RunError, Threads};
use cwnd_run::files::{Directory, DirectoryError, fresh};
use cwnd_run::measure::{Estimate, Estimates};
use cwnd_run::measure::{MEASURES, Reach, table};
use cwnd_run::run::{FailedRun, Runs, run, run_by, run_each, run_until};
use cwnd_run::scenario::{Document, Dumbbell, Ecn, Scenario, Written};
use proptest::prelude::*;

fn base() -> Document {
    Document {
        duration: Written::literal("4s"),
        warmup: Written::literal("1s"),
        seeds: 2,
        dumbbell: Some(Dumbbell {
            rate: Written::literal("10mbit"),
            rtt: Written::literal("20ms"),
            ..Dumbbell::default()
        }),
        ..Document::default()
    }
}

fn algorithms(names: &[&str]) -> Vec<Written<Spec>> {
    names.iter().map(|name| Written::literal(name)).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let cells = Cells::default();
    let digests = |threads| {
        let comparison = Comparison::new(&base(), &algorithms(&["reno", "cubic", "simd", "udt"]), None, 2, None);
        let executor = Executor::new(&cells, &()).on(threads);
        let all =
            |scenarios| run_by(scenarios, |jobs| executor.run(jobs)).map(|runs| runs.into_iter().map(Ok).collect());
        let compared = comparison.expect("valid").run_by(all);
        let traces = compared.expect("runs").rows.into_iter().flat_map(|row| row.alone.traces);
        traces.map(|trace| trace.digest).collect::<Vec<_>>()
    };
    let one = digests(Threads::Calling);
    assert_eq!(one.len(), 8);
    assert_eq!(one, digests(Threads::Own(NonZeroUsize::MIN.saturating_add(1))));
}

/// A failure keeps no other from running: what failed is named with its seed, and the others have their rows.
#[test]
fn what_fails_keeps_no_other_from_running() {
    let names = ["reno", "cubic", "simd"];
    let failed = FailedRun { seed: 2, error: RunError::Panicked("a defect".to_string()) };
    let compared = |failing: &[usize]| {
        let comparison = Comparison::new(&base(), &algorithms(&names), Some(&Written::literal("reno")), 1, None);
        let some = |scenarios| {
            let runs = run_each(scenarios, &())?.into_iter().enumerate();
            let outcome = |(index, runs)| if failing.contains(&index) { Err(failed.clone()) } else { runs };
            Ok::<_, Interrupted>(runs.map(outcome).collect())
        };
        comparison.expect("valid").run_by(some).expect("it goes on")
    };
    // The runs alone come first: cubic fails alone, simd against reno.
    let some = compared(&[1, 5]);
    let rows: Vec<_> = some.rows.iter().map(|row| (row.algorithm.as_str(), row.versus.is_some())).collect();
    assert_eq!(rows, [("reno", true), ("simd", false)]);
    let said: Vec<String> = some.failures.iter().map(ToString::to_string).collect();
    let why = "seed 2: the simulation panicked: a defect";
    assert_eq!(said, [format!("cubic: {why}"), format!("simd against reno: {why}")]);
    let none = compared(&[0, 1, 2]);
    assert_eq!((none.rows.len(), none.failures.len()), (0, 3));

    // Differences are from the first algorithm that was asked for, and from no other in its place.
    let difference = |compared: &Compared| compared.difference(compared.rows.len() - 1, &table::UTILISATION);
    assert_eq!(compared(&[0]).reference, "reno");
    assert_eq!((difference(&compared(&[0])), difference(&compared(&[1])).is_some()), (None, true));

    // Seeds that are added fail too.
    let scenarios = names.map(|name| Scenario::check(Document { flow: vec![group(name)], ..base() }).expect("valid"));
    let until = "ci<0.001%".parse().expect("a rule");
    let mut rounds = 0;
    let found = run_until(scenarios.to_vec(), until, 6, |more| {
        rounds += 1;
        assert!(rounds == 1 || more.len() == 5 - rounds, "what failed is run no further");
        let mut runs = run_each(more, &())?;
        if rounds > 1 {
            runs[0] = Err(failed.clone());
        }
        Ok::<_, Interrupted>(runs)
    });
    let found: Vec<bool> = found.expect("it goes on").iter().map(Result::is_ok).collect();
    assert!(!found[0] && rounds > 1, "{found:?} after {rounds}");
}

#[test]
fn progress_adds_up_and_ends_a_run() {
    let scenario = || Scenario::check(Document { flow: vec![group("reno")], ..base() }).expect("valid");
    let passed = Passed { nanos: AtomicU64::new(0), most: u64::MAX };
    let runs = run(vec![scenario()], &passed);
    assert_eq!(runs.expect("runs")[0].traces.len(), 2);
    assert_eq!(passed.nanos.into_inner(), 2 * Span::from_secs(4).as_nanos());

    // 10 Gbit/s for an hour: only its progress can end it in time.
    let long = Document {
        duration: Written::literal("1h"),
        dumbbell: Some(Dumbbell { rate: Written::literal("10gbit"), ..Dumbbell::default() }),
        flow: vec![group("reno")],
        ..base()
    };
    let passed = Passed { nanos: AtomicU64::new(0), most: 0 };
    let result = run(vec![Scenario::check(long).expect("valid")], &passed);
    assert_eq!(result.err(), Some(Interrupted.into()));
    assert!(passed.nanos.into_inner() > 0, "it ends within a run");
}

/// Ends the work once more than `most` nanoseconds have passed.
struct Passed {
    nanos: AtomicU64,
    most: u64,
}

impl Progress for Passed {
    fn should_continue(&self) -> bool {
        self.nanos.load(Ordering::Relaxed) <= self.most
    }

    fn advance(&self, time: Span) {
        self.nanos.fetch_add(time.as_nanos(), Ordering::Relaxed);
    }
}

fn group(name: &str) -> cwnd_run::scenario::FlowGroup {
    cwnd_run::scenario::FlowGroup::new(Written::literal(name), 2)
}

#[test]
fn an_algorithm_against_itself_is_equal() {
    // Long enough that the start does not decide.
    let document = Document { duration: Written::literal("40s"), seeds: 6, ..base() };
    let reno = Written::literal("reno");
    let comparison = Comparison::new(&document, &algorithms(&["reno"]), Some(&reno), 2, None).expect("valid");
    let compared = comparison.run(&()).expect("runs");
    let versus = compared.rows[0].versus.as_ref().expect("asked for");
    let share = versus.share.expect("both delivered");
    let (low, high) = share.interval();
    assert!(low <= 0.5 && 0.5 <= high, "{share:?}");
    let summaries = &versus.runs.summaries;
    let first = |flows: &[Option<f64>]| {
        let flows: Vec<f64> = flows.iter().map(|flow| flow.expect("all are there")).collect();
        (flows[0] + flows[1]) / flows.iter().sum::<f64>()
    };
    let mean = summaries.iter().map(|summary| first(&summary.flow_goodput_bps)).sum::<f64>() / summaries.len() as f64;
    assert!((share.mean - mean).abs() < 1e-12);
}

#[test]
fn the_default_algorithms_are_registered() {
    let comparison = Comparison::new(&base(), &algorithms(&DEFAULT), None, 2, None).expect("valid");
    assert_eq!(comparison.scenarios().count(), DEFAULT.len());
}

/// A comparison whose rows have these utilisations, as mean and half the width of the interval.
fn with_utilisations(values: &[(f64, Option<f64>)]) -> Compared {
    let scenario = Scenario::check(Document { flow: vec![group("reno")], ..base() }).expect("valid");
    let row = |(mean, ci95): &(f64, Option<f64>)| {
        let half = ci95.unwrap_or(0.0);
        let value = Estimate { mean: *mean, ci95: *ci95, n: 5, low: mean - half, high: mean + half };
        ComparedAlgorithm {
            algorithm: "reno".to_string(),
            alone: Runs { scenario: scenario.clone(), traces: Vec::new(), summaries: Vec::new() },
            estimates: Estimates { utilisation: Some(value), loss_rate: Some(value), ..Estimates::over(&[]) },
            recovery_time_s: None,
            stationarity: Stationarity { stationary: true, ..Stationarity::default() },
            versus: None,
        }
    };
    Compared {
        rows: values.iter().map(row).collect(),
        reference: "reno".to_string(),
        failures: Vec::new(),
        until: None,
    }
}

#[test]
fn a_winner_is_named_only_where_no_interval_overlaps() {
    let column = |key| MEASURES.iter().find(|measure| measure.key == key).expect("a column");
    let (more, less) = (column("utilisation"), column("loss_rate"));
    let clear = with_utilisations(&[(0.8, Some(0.02)), (0.9, Some(0.02)), (0.85, Some(0.02))]);
    assert_eq!((clear.best(more), clear.best(less)), (Some(1), Some(0)));
    // The runner-up is apart, but the worst is so uncertain that it may be the best.
    let wide = with_utilisations(&[(0.7, Some(0.3)), (0.9, Some(0.02)), (0.85, Some(0.02))]);
    assert_eq!(wide.best(more), None);
    assert_eq!(with_utilisations(&[(0.8, None), (0.9, None)]).best(more), None);
    assert_eq!(with_utilisations(&[(0.9, Some(0.01))]).best(more), None);
    assert_eq!(clear.best(column("jain")), None);
}

#[test]
fn a_star_needs_stationary_windows_and_three_seeds() {
    let column = &table::UTILISATION;
    let clear = with_utilisations(&[(0.8, Some(0.02)), (0.9, Some(0.02)), (0.85, Some(0.02))]);
    assert_eq!(clear.best(column), Some(1));
    for row in 0..3 {
        let mut transient = clear.clone();
        transient.rows[row].stationarity.stationary = false;
        assert_eq!(transient.best(column), None, "what grows yet may end above, and below");
    }
    for (seeds, best) in [(2, None), (3, Some(1))] {
        let mut few = clear.clone();
        few.rows.iter_mut().for_each(|row| row.estimates.utilisation.as_mut().expect("given").n = seeds);
        assert_eq!(few.best(column), best, "{seeds}");
    }
}

proptest! {
    #[test]
    fn a_star_implies_stationary_windows_seeds_and_no_overlap(
        rows in proptest::collection::vec((0.0..1.0_f64, 0.0..0.1_f64, 0..5_u8, 1..7_usize), 1..5),
    ) {
        let column = &table::UTILISATION;
        let mut compared = with_utilisations(&rows.iter().map(|row| (row.0, Some(row.1))).collect::<Vec<_>>());
        for (row, given) in compared.rows.iter_mut().zip(&rows) {
            row.stationarity.stationary = given.2 > 0;
            row.estimates.utilisation.as_mut().expect("given").n = given.3;
        }
        if let Some(best) = compared.best(column) {
            prop_assert!(rows.iter().all(|row| row.2 > 0 && row.3 >= 3));
            let (mean, half, ..) = rows[best];
            let apart = rows.iter().enumerate().all(|(at, row)| at == best || row.0 + row.1 < mean - half);
            prop_assert!(apart, "{rows:?}");
        }
    }
}

/// Reno's window, halved in slow start, takes a minute to grow by a twentieth of the path: its queue is short because it has not
/// reached the buffer yet. At ten minutes it waits 61 ms on average.
#[test]
fn a_window_without_a_loss_is_no_sawtooth() {
    let mut base = Document { duration: Written::literal("15s"), warmup: Written::literal("5s"), seeds: 3, ..base() };
    let path = base.dumbbell.as_mut().expect("the base has one");
    path.rate = Written::literal("200mbit");
    path.rtt = Written::literal("100ms");
    let comparison = Comparison::new(&base, &algorithms(&["reno", "simd", "scalable"]), None, 2, None).expect("valid");
    let compared = comparison.run(&()).expect("runs");
    let [reno, simd, scalable] = &compared.rows[..] else { panic!("three rows") };
    assert_eq!(reno.stationarity.reason.as_deref(), Some("no congestion event of reno in the window"));
    assert_eq!(simd.stationarity.reason.as_deref(), Some("no congestion event of a flow of simd in the window"));
    // Two windows of 1667 packets at the peak, growth of a packet per round trip from half of that, round trips of 100 to 200 ms: 125 s.
    let enough = reno.stationarity.try_duration_s.expect("computed");
    assert!((5.0 * 125.0..8.0 * 125.0).contains(&enough), "{enough}");
    let delay = |row: &ComparedAlgorithm| row.estimates.queue_delay_mean_s.expect("measured").mean;
    assert!(delay(reno) < delay(scalable), "it would have the star: {} {}", delay(reno), delay(scalable));
    assert!(Reach::Compared.measures().all(|column| compared.best(column).is_none()));
}

#[test]
fn a_star_stands_where_windows_are_stationary() {
    let base = Document { duration: Written::literal("60s"), seeds: 5, ..base() };
    let comparison =
        Comparison::new(&base, &algorithms(&["reno", "aimd:b=1/8", "vegas"]), None, 2, None).expect("valid");
    let compared = comparison.run(&()).expect("runs");
    for row in &compared.rows {
        assert_eq!(row.stationarity.reason, None, "{}: {:?}", row.algorithm, row.stationarity);
    }
    let delay = &table::QUEUE_DELAY_MEAN;
    assert_eq!(compared.best(delay), Some(2), "Vegas keeps a few packets waiting, the others fill the buffer");
}

/// Halves of a window may agree although a link stands still once in each.
#[test]
fn a_path_that_changes_once_is_not_stationary() {
    let reason = |dumbbell: Dumbbell| {
        let document = Document {
            duration: Written::literal("30s"),
            dumbbell: Some(Dumbbell { rate: Written::literal("10mbit"), rtt: Written::literal("20ms"), ..dumbbell }),
            ..base()
        };
        let comparison = Comparison::new(&document, &algorithms(&["reno"]), None, 1, None).expect("valid");
        comparison.run(&()).expect("it runs").rows.remove(0).stationarity.reason
    };
    let outages = ["10s..11s", "20s..21s"].map(Written::literal).to_vec();
    let changed = reason(Dumbbell { outage: outages, ..Dumbbell::default() });
    assert_eq!(changed.as_deref(), Some("the link `bottleneck` changes once, at 10 s, in the window"));
    let stepped = |repeat: &'static str| {
        let schedule = serde_json::json!({"repeat": repeat, "steps": [{"at": "1s", "rate": "8mbit"}]});
        reason(Dumbbell { schedule: serde_json::from_value(schedule).expect("a schedule"), ..Dumbbell::default() })
    };
    assert_eq!(stepped("2s"), None);
    let seldom = "the changes of the link `bottleneck` repeat 2 times in the window, 5 are needed";
    assert_eq!(stepped("10s").as_deref(), Some(seldom));
}

#[test]
fn a_directory_appears_complete_or_not_at_all() {
    let root = tempfile::TempDir::new().expect("a temporary directory");
    let target = root.path().join("a/b/results");
    let entries = || std::fs::read_dir(root.path()).expect("readable").count();

    let directory = Directory::start(&target).expect("writable");
    std::fs::write(directory.path().join("file"), "text").expect("writable");
    assert!(!target.exists());
    drop(directory);
    assert_eq!(entries(), 0, "what was begun is gone, and the directories above it");

    let directory = Directory::start(&target).expect("writable");
    std::fs::write(directory.path().join("file"), "text").expect("writable");
    assert_eq!(directory.publish().expect("still free"), target);
    assert_eq!(std::fs::read_to_string(target.join("file")).expect("published"), "text");
    assert!(matches!(Directory::start(&target), Err(DirectoryError::Exists(_))));
    assert_eq!(fresh(&root.path().join("a"), "c"), root.path().join("a/c-1"));
}

/// A built-in algorithm behind a box.
#[derive(Debug)]
struct Boxed(Spec);

impl Maker for Boxed {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        self.0.start(start).boxed_clone()
    }
}

#[test]
fn an_algorithm_from_outside_stands_beside_the_built_in_ones() {
    let reno = Spec::parse("reno").expect("registered");
    let ours = Written::from(Spec::outside("ours", Arc::new(Boxed(reno))));
    let algorithms = [Written::literal("reno"), ours];
    let comparison = Comparison::new(&base(), &algorithms, None, 2, None).expect("valid");
    let compared = comparison.run(&()).expect("runs");
    let digests = |row: &ComparedAlgorithm| row.alone.traces.iter().map(|trace| trace.digest).collect::<Vec<_>>();
    assert_eq!(digests(&compared.rows[0]), digests(&compared.rows[1]));
    assert_eq!(compared.rows[1].algorithm, "ours");
    assert_eq!(compared.rows[1].alone.traces[0].flows[1].name, "ours #2");
}

#[test]
fn algorithms_that_need_routers_warn_without_them() {
    let comparison = Comparison::new(&base(), &algorithms(&["reno", "xcp", "vcp", "decbit"]), None, 1, None);
    let warnings = comparison.expect("valid").run(&()).expect("runs").warnings();
    let [xcp, vcp, decbit] = &warnings[..] else { panic!("{warnings:?}") };
    for (warning, name) in [(xcp, "xcp"), (vcp, "vcp"), (decbit, "decbit")] {
        let expected =
            format!("{name}: no router on the path writes on packets for `{name}`, which then reacts to losses alone");
        assert!(warning.starts_with(&expected), "{warning}");
        assert!(warning.ends_with(&format!("it needs a queue `{name}:`")), "{warning}");
    }
    let mut routed = base();
    routed.dumbbell.as_mut().expect("the base has one").queue = Written::literal("xcp:1bdp");
    let comparison = Comparison::new(&routed, &algorithms(&["xcp"]), None, 1, None).expect("valid");
    assert_eq!(comparison.run(&()).expect("runs").warnings(), [""; 0]);
}

#[test]
fn who_lives_on_marks_says_when_there_are_none() {
    let mut marking = base();
    let path = marking.dumbbell.as_mut().expect("the base has one");
    path.queue = Written::literal("red:50p,min=5p,max=5p,weight=1,ecn=yes");
    let per_packet = Ecn::literal("per-packet");
    let run = |base: &Document, ecn| {
        let comparison = Comparison::new(base, &algorithms(&["reno", "dctcp", "tfrc"]), None, 2, ecn).expect("valid");
        comparison.run(&()).expect("runs")
    };
    let marks =
        |row: &ComparedAlgorithm| row.alone.traces.iter().flat_map(|trace| &trace.links[0].marked).max().copied();
    let unanswered = "has no effect: senders of `tfrc` do not answer marks";
    for (base, ecn, idle) in [
        (
            &base(),
            Some(&per_packet),
            [
                "reno, dctcp: flow.0.ecn = per-packet has no effect: no queue on its path marks packets: take one with `ecn=yes`, such \
                 as `red:1bdp,ecn=yes`"
                    .to_string(),
                format!("tfrc: flow.0.ecn = per-packet {unanswered}"),
            ],
        ),
        (
            &marking,
            None,
            [
                "reno, dctcp: dumbbell.queue = red:50p,min=5p,max=5p,weight=1,ecn=yes: `ecn=yes` has no effect: no flow that crosses it \
                 is ECN-capable: set `ecn` to `latch`, `per-packet`, `accecn` or `counts`"
                    .to_string(),
                format!("tfrc: dumbbell.queue = red:50p,min=5p,max=5p,weight=1,ecn=yes: `ecn=yes` {unanswered}"),
            ],
        ),
    ] {
        let compared = run(base, ecn);
        assert!(compared.rows.iter().all(|row| marks(row) == Some(0)));
        let warnings = compared.warnings();
        let [first, dctcp, tfrc] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!([first, tfrc].map(String::as_str), idle.each_ref().map(String::as_str));
        assert!(dctcp.starts_with("dctcp: no packet was marked"), "{warnings:?}");
    }
    let compared = run(&marking, Some(&per_packet));
    assert_eq!(compared.warnings(), [format!("tfrc: flow.0.ecn = per-packet {unanswered}")]);
    let marked: Vec<bool> = compared.rows.iter().map(|row| marks(row) > Some(0)).collect();
    assert_eq!(marked, [true, true, false], "a sender that does not answer marks must not carry any");
    // DCTCP keeps a queue near the threshold of 5 packets of 1.2 ms; Reno, which halves for a mark, empties the link at times.
    let [reno, dctcp, _] = &compared.rows[..] else { panic!("three rows") };
    let used = |row: &ComparedAlgorithm| row.estimates.utilisation.expect("it runs").mean;
    assert!(used(dctcp) > used(reno), "{} {}", used(dctcp), used(reno));
}

/// The share that two flows of an algorithm have against two others of it: the mean over seeds, and half of its 95 % interval.
fn share_beside_itself(base: &Document, name: &str) -> (f64, f64) {
    let mut base = base.clone();
    if ["xcp", "vcp", "decbit"].contains(&name) {
        // They react to the headers that these routers write.
        base.dumbbell.as_mut().expect("the base has one").queue = Written::literal(&format!("{name}:1bdp"));
    }
    let opponent = Written::literal(name);
    let comparison = Comparison::new(&base, &algorithms(&[name]), Some(&opponent), 2, None).expect("valid");
    let compared = comparison.run(&()).expect("runs");
    let share = compared.rows[0].versus.as_ref().and_then(|versus| versus.share).expect("both delivered");
    let half = share.ci95.expect("several seeds");
    // Order, index and start must favour neither side. Three half-widths of a 95 % interval: a fair comparison passes in all but one of
    // a million draws, and the seeds are fixed.
    assert!((share.mean - 0.5).abs() <= 3.0 * half, "{name}: {} ± {half}", share.mean);
    (share.mean, half)
}

#[test]
fn an_algorithm_has_half_of_what_it_shares_with_itself() {
    let base = Document {
        duration: Written::literal("12s"),
        warmup: Written::literal("4s"),
        seeds: 20,
        sampling: Written::literal("off"),
        ..base()
    };
    for name in ["reno", "cubic", "simd", "exp-tcp", "daimd", "udt", "bbr3"] {
        share_beside_itself(&base, name);
    }
}

#[test]
#[ignore = "takes minutes; `cargo xtask test --long shares`"]
fn every_algorithm_has_half_of_what_it_shares_with_itself() {
    let base = Document {
        duration: Written::literal("40s"),
        warmup: Written::literal("10s"),
        seeds: 50,
        sampling: Written::literal("off"),
        ..base()
    };
    let shares = ALGORITHMS.iter().map(|entry| (entry.name, share_beside_itself(&base, entry.name)));
    let mut outside = 0;
    for (name, (mean, half)) in shares {
        let holds = (mean - 0.5).abs() <= half;
        outside += usize::from(!holds);
        println!("{name:12} {:5.2} ± {:.2} %{}", 100.0 * mean, 100.0 * half, if holds { "" } else { "  *" });
    }
    // One 95 % interval in twenty does not hold its true value; this many outliers are drawn once in a thousand times.
    println!("{outside} of {} intervals do not hold 50 % (*)", ALGORITHMS.len());
    assert!(outside <= 6, "{outside} of {}", ALGORITHMS.len());
}
