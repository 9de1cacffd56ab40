//! Output on a terminal of 100 columns: no line is longer, no value is cut, and nothing but zero reads as zero.

use cwnd_lab::compare::Comparison;
use cwnd_lab::evaluate::{Evaluation, EvaluationRow, LeftOut, Section, Shown};
use cwnd_lab::overlay::Part;
use cwnd_report::json;
use cwnd_report::overlay::Overlay;
use cwnd_report::table::Table;
use cwnd_report::text;
use cwnd_run::execute::{Interrupted, RunError};
use cwnd_run::measure::Estimate;
use cwnd_run::run::{FailedRun, Runs, run, run_each};
use cwnd_run::scenario::{Document, Scenario, Written};
use proptest::prelude::*;

const RULE: &str = "rule:grow=max(1/w, 0.4*(age-cbrt(0.75*peak))^3/w),cut=max(w*3/4, peak/3)";

/// A dumbbell of `rate` bit/s with groups of three flows called `name`, a finite one, and other traffic, for `seeds` seeds.
fn scenario(name: &str, groups: usize, seeds: u32, rate: u64) -> String {
    let group = format!("[[flow]]\nname = \"{name}\"\nalgorithm = \"{RULE}\"\ncount = 3\n").repeat(groups);
    format!(
        "title = \"{name}\"\nduration = \"3s\"\nwarmup = \"500ms\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{rate}bit\"\nrtt = \"20ms\"\n\
         queue = \"droptail:20p\"\nloss = \"0.001\"\n{group}[[flow]]\nname = \"{name} end\"\nalgorithm = \"cubic\"\nsize = \"20p\"\n\
         [[cbr]]\nname = \"{name} cbr\"\nrate = \"cbr:{}bit\"\n[[arrivals]]\nname = \"{name} group\"\nalgorithm = \"reno\"\n\
         size = \"pareto:10p,shape=1.35\"\nload = 0.1\n",
        rate / 10
    )
}

fn runs(text: &str) -> Runs {
    let scenario = Scenario::read("terminal.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

/// Warnings are sentences for other programs too: they are one line each, and so are the full texts of names.
fn held(text: &str) {
    agree(text);
    for line in text.lines().filter(|line| !line.starts_with("warning: ") && !line.contains(" is rule:")) {
        assert!(line.chars().count() <= 100, "{} characters: {line}\n{text}", line.chars().count());
    }
}

/// The first number of each cell that is a number.
fn numbers(text: &str) -> Vec<String> {
    let cells = text.lines().flat_map(|line| line.split("  ")).map(str::trim).filter(|cell| !cell.is_empty());
    let first =
        cells.map(|cell| cell.trim_start_matches("* ").split([' ', '(']).next().unwrap_or_default().to_string());
    first.filter(|cell| cell.parse::<f64>().is_ok()).collect()
}

fn zeros(text: &str) -> usize {
    numbers(text).iter().filter(|number| number.parse() == Ok(0.0)).count()
}

/// Every `mean ± half` and `mean (low to high)`: its numbers have the same decimals, or two digits where they would read as zero.
fn agree(text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let decimals = |number: &str| number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let tiny = |number: &str| number.contains('e') || number.trim_start_matches(['-', '0', '.']).len() == 2;
    let same = |numbers: &[&str]| {
        let numbers: Vec<&str> = numbers.iter().map(|number| number.trim_matches(['(', ')', ',', '*'])).collect();
        let all = numbers.iter().all(|number| number.parse::<f64>().is_ok());
        let fewest = numbers.iter().filter(|number| !number.contains('e')).map(|number| decimals(number)).min();
        !all || numbers.iter().all(|number| Some(decimals(number)) == fewest || tiny(number))
    };
    for three in words.windows(3).filter(|three| three[1] == "±") {
        assert!(same(&[three[0], three[2]]), "{three:?}\n{text}");
    }
    for four in words.windows(4).filter(|four| four[1].starts_with('(') && four[2] == "to") {
        assert!(same(&[four[0], four[1], four[3]]), "{four:?}\n{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_fit(length in 1..160_usize, groups in 1..7_usize, seeds in 1..7_u32, rate in 5..9_u32) {
        let runs = runs(&scenario(&"n".repeat(length), groups, seeds, 10_u64.pow(rate)));
        let document = json::Run::of(&runs).expect("it ran");
        let text = text::run(&document);
        held(&text);
        let goodput = document.measures.goodput_bps.expect("it sends").mean * 1e-6;
        let line = text.lines().find(|line| line.starts_with("goodput of all flows: ")).expect("a line");
        let shown: f64 = line.split(' ').nth(4).and_then(|number| number.parse().ok()).expect("a number");
        prop_assert!((shown - goodput).abs() <= 0.06 * goodput, "{line}: {goodput}");
        held(&Overlay::of(&[Part::simulated(&"l".repeat(length), runs.traces.into_iter().take(1).collect(), 0)]).print());
    }

    #[test]
    fn comparisons_fit(seeds in 1..7_u32, versus: bool, rate in 5..9_u32, rules in 1..4_usize) {
        let base = Scenario::read("base.toml", &scenario("x", 1, seeds, 10_u64.pow(rate)), &[]).expect("valid");
        let base = Document { flow: Vec::new(), cbr: Vec::new(), arrivals: Vec::new(), title: None, ..base.document().clone() };
        let names = [RULE.replace("0.75", "0.76"), RULE.to_string(), "udt".to_string(), "bbr3".to_string()];
        let algorithms: Vec<_> = names[..=rules].iter().map(|name| Written::literal(name)).collect();
        let opponent = Written::literal(RULE);
        let comparison = Comparison::new(&base, &algorithms, versus.then_some(&opponent), 2, None).expect("valid");
        let document = json::Comparison::of(&comparison.run(&()).expect("it runs")).expect("rows");
        held(&text::comparison(&document));
        held(&text::differences(&document));
    }
}

/// A comparison of these algorithms on a path of 1 Mbit/s.
fn compared<const N: usize>(names: [&str; N]) -> json::Comparison {
    let base = Scenario::read("base.toml", &scenario("x", 1, 3, 1_000_000), &[]).expect("valid");
    let base =
        Document { flow: Vec::new(), cbr: Vec::new(), arrivals: Vec::new(), title: None, ..base.document().clone() };
    let comparison = Comparison::new(&base, &names.map(Written::literal), None, 1, None).expect("valid");
    json::Comparison::of(&comparison.run(&()).expect("it runs")).expect("rows")
}

/// A star of the best marks a difference that the table shows.
#[test]
fn of_equal_cells_none_has_a_star() {
    let stars = |mut document: json::Comparison| {
        document.algorithms[0].best_in = vec!["goodput_bps", "utilisation", "loss_rate"];
        text::comparison(&document).matches("* ").count()
    };
    // Each with a star, and the legend.
    assert_eq!(stars(compared(["reno", "udt"])), 4);
    assert_eq!(stars(compared(["reno", "aimd:b=1/2"])), 0);
}

/// Differences from a reference that failed would be from another.
#[test]
fn a_reference_that_failed_is_named() {
    let base = Scenario::read("base.toml", &scenario("x", 1, 2, 1_000_000), &[]).expect("valid");
    let base =
        Document { flow: Vec::new(), cbr: Vec::new(), arrivals: Vec::new(), title: None, ..base.document().clone() };
    let names = ["reno", "cubic", "simd"].map(Written::literal);
    let differences = |failing: &[usize]| {
        let comparison = Comparison::new(&base, &names, None, 1, None).expect("valid");
        let some = |scenarios| {
            let failed = FailedRun { seed: 1, error: RunError::Panicked("a defect".to_string()) };
            let runs = run_each(scenarios, &())?.into_iter().enumerate();
            let outcome = |(index, runs)| if failing.contains(&index) { Err(failed.clone()) } else { runs };
            Ok::<_, Interrupted>(runs.map(outcome).collect())
        };
        let compared = comparison.run_by(some).expect("it goes on");
        text::differences(&json::Comparison::of(&compared).expect("rows"))
    };
    assert!(differences(&[1]).starts_with("\nDifferences from reno, seed by seed\n"), "{}", differences(&[1]));
    assert_eq!(differences(&[0]), "\nNo differences: reno, from which they are taken, failed\n");
    assert_eq!(differences(&[1, 2]), "\nNo differences from reno: all others failed\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tables of words, and lines below their rows.
    #[test]
    fn words_are_broken_in_their_columns(rows in proptest::collection::vec((proptest::collection::vec("[a-z0-9=., ]{0,180}", 5), ".{0,400}"), 1..6)) {
        let mut table = Table::left();
        for (cells, line) in &rows {
            table.row(cells);
            table.line(line);
        }
        let text = table.folded();
        held(&text);
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).count();
        let given: usize = rows.iter().map(|(cells, _)| cells.iter().map(|cell| letters(cell)).sum::<usize>()).sum();
        prop_assert!(letters(&text) >= given, "nothing is cut:\n{text}");
    }
}

fn tiny(mean: f64) -> Option<Estimate> {
    let half = mean / 10.0;
    Some(Estimate { mean, ci95: Some(half), n: 5, low: mean - half, high: mean + half })
}

fn evaluation(algorithm: &str, mean: f64) -> Evaluation {
    let row = |measure| EvaluationRow {
        rate: "100mbit".to_string(),
        rtt: "40ms".to_string(),
        queue: "droptail:0.5bdp".to_string(),
        traffic: "1 flow against 1 of cubic".to_string(),
        measure,
        unit: "1",
        shown: Shown { scale: 100.0, unit: "%" },
        scenario: None,
        digest: None,
        algorithm: tiny(mean),
        reno: Some(Estimate { n: 2, low: mean / 3.0, ..tiny(mean).expect("an estimate") }),
        cubic: None,
    };
    let reading = "What is asked here is read as a sentence that is quite a lot longer than a line of a terminal of a hundred columns is.";
    let rows = vec![row("share of the goodput"), row("goodput of the long round-trip time over the short")];
    let section = |covered, rows| Section { number: "5.1", title: "A heading", reading, covered, rows };
    let reason = "`size` cannot be 70p for what sends nothing twice, which is a long reason".to_string();
    Evaluation {
        kind: "simulated",
        version: "test",
        algorithm: algorithm.to_string(),
        profile: "rfc9743",
        quick: true,
        seeds: 5,
        duration_s: Some(5.0),
        warmup_s: Some(1.0),
        cells: 10,
        failed_cells: 0,
        failures: Vec::new(),
        left_out: vec![LeftOut { section: "5.1", traffic: "1 long and 10 short flows".to_string(), reason }],
        warnings: Vec::new(),
        sections: vec![section(true, rows), section(false, Vec::new())],
    }
}

#[test]
fn evaluations_fit() {
    for algorithm in ["reno", RULE] {
        for mean in [0.000_000_4, 0.5, 12_345.678] {
            let text = text::evaluation(&evaluation(algorithm, mean));
            held(&text);
            assert!(text.contains("  100mbit") || text.contains("\n100mbit 40ms droptail:0.5bdp, 1 flow"), "{text}");
            assert_eq!(zeros(&text), 0, "{text}");
        }
    }
}

/// Every table, with rates of bits per second, losses of 10⁻⁹ and delays of nanoseconds.
#[test]
fn nothing_but_zero_reads_as_zero() {
    let runs = runs(&scenario("x", 2, 2, 1_000_000));
    for mean in [3e-9, 4e-7, 0.000_004, 0.012, 0.4] {
        let mut document = json::Run::of(&runs).expect("it ran");
        for flow in &mut document.flows {
            flow.goodput_bps = tiny(mean);
            flow.fair_share_bps = Some(mean);
            flow.loss_rate = tiny(mean);
            flow.retransmission_ratio = tiny(mean);
            flow.completion_time_s = tiny(mean);
        }
        for link in &mut document.links {
            let measures = [
                &mut link.measures.0.utilisation,
                &mut link.measures.0.loss_rate,
                &mut link.measures.0.mark_rate,
                &mut link.measures.0.queue_delay_mean_s,
                &mut link.measures.0.queue_delay_p99_s,
            ];
            measures.into_iter().for_each(|measure| *measure = tiny(mean));
        }
        document
            .cbr
            .iter_mut()
            .for_each(|cbr| (cbr.sent_bps, cbr.delivered_bps, cbr.loss_rate) = (tiny(mean), tiny(mean), tiny(mean)));
        document.arrivals.clear();
        for group in &mut document.completion {
            group.completed = None;
            for times in [&mut group.arrived, &mut group.acknowledged] {
                for time in [&mut times.p50_s, &mut times.p99_s, &mut times.slowest_s] {
                    *time = tiny(mean);
                }
            }
        }
        document.measures.jain = tiny(mean);
        document.measures.goodput_bps = tiny(mean);
        assert_eq!(zeros(&text::run(&document)), 0, "{}", text::run(&document));

        let mut overlay = Overlay::of(&[Part::simulated("x", runs.traces.clone(), 0)]);
        for flow in &mut overlay.flows {
            let measures =
                [&mut flow.goodput_bps, &mut flow.window_packets, &mut flow.in_flight_packets, &mut flow.srtt_s];
            measures.into_iter().for_each(|measure| *measure = Some(mean));
            flow.retransmitted_packets = None;
        }
        assert_eq!(zeros(&overlay.print()), 0, "{}", overlay.print());

        let base =
            Document { flow: Vec::new(), cbr: Vec::new(), arrivals: Vec::new(), ..runs.scenario.document().clone() };
        let algorithms = ["reno", "cubic"].map(Written::literal);
        let compared = Comparison::new(&base, &algorithms, Some(&algorithms[0]), 1, None).expect("valid").run(&());
        let mut document = json::Comparison::of(&compared.expect("it runs")).expect("rows");
        for row in &mut document.algorithms {
            let measures = &mut row.measures;
            let all = [
                &mut measures.utilisation,
                &mut measures.goodput_bps,
                &mut measures.jain,
                &mut measures.loss_rate,
                &mut measures.queue_delay_mean_s,
            ];
            all.into_iter().for_each(|measure| *measure = tiny(mean));
            row.differences.iter_mut().for_each(|difference| difference.difference = tiny(mean).expect("an estimate"));
            row.versus.iter_mut().for_each(|versus| versus.share = tiny(mean));
        }
        for text in [text::comparison(&document), text::differences(&document)] {
            assert_eq!(zeros(&text), 0, "{text}");
        }
        held(&text::comparison(&document));
    }
}
