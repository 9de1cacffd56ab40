//! The page and the text of a sweep: what they show of every kind of sweep, and how large they get.

use std::path::Path;

use cwnd_lab::sweep::{CellError, FinishedCell, Sweep, gather};
use cwnd_report::page::sweep_html;
use cwnd_report::text;
use cwnd_run::address::Linked;
use cwnd_run::probe::Reduction;
use serde_json::Value;

fn sweep(grid: &str, seeds: u32) -> Sweep {
    let text = format!(
        "title = \"A test\"\n[base]\nduration = \"2s\"\nwarmup = \"1s\"\nseeds = {seeds}\n[base.dumbbell]\n[[base.flow]]\nalgorithm = \"reno\"\n{grid}"
    );
    Sweep::read("s.toml", &text, Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Rows with a goodput by point and seed; none for a failed run.
fn rows(sweep: &Sweep, goodput: impl Fn(usize, u64) -> Option<f64>) -> Vec<FinishedCell> {
    let cells = sweep.cells().map(|cell| {
        let outcome = goodput(cell.point, cell.seed).map(|value| {
            let mut kept = Reduction::default();
            kept.keep("goodput_bps", vec![value]);
            kept.keep("loss_rate", vec![0.01]);
            kept
        });
        FinishedCell { cell, outcome: outcome.ok_or_else(|| CellError::Elsewhere("no luck".to_string())) }
    });
    cells.collect()
}

fn usual(point: usize, seed: u64) -> Option<f64> {
    Some(1e6 * (1.0 + (point % 7) as f64) + 1e3 * seed as f64)
}

/// The page, and the data that its script reads.
fn page(sweep: &Sweep, goodput: impl Fn(usize, u64) -> Option<f64>) -> (String, Value) {
    let swept = gather(sweep, &rows(sweep, goodput));
    let page = sweep_html(sweep, &swept);
    assert_eq!(page, sweep_html(sweep, &swept), "the same bytes each time");
    let start = page.split("id=\"data\">").nth(1).expect("data");
    let data = start.split("</script>").next().expect("an end");
    let data: Value = serde_json::from_str(data).expect("JSON");
    // A row for each point, and a record in the file.
    let points = swept.points.len();
    assert_eq!(page.matches("<tr><td>").count() + page.matches("<tr><td data-value").count(), points);
    assert_eq!(data["tables"][0]["groups"].as_array().map(Vec::len), Some(points));
    for line in text::sweep(sweep, &swept, Some(Path::new("out/sweep-a"))).lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    (page, data)
}

fn ids(data: &Value) -> Vec<&str> {
    let plots = data["plots"].as_array().expect("a list");
    plots.iter().map(|plot| plot["id"].as_str().expect("an id")).collect()
}

const RULES: &str = "[grid]\n\"flow.0.algorithm\" = [\"reno\", \"cubic\", \"bbr3\"]\n";

#[test]
fn two_keys_make_a_map_of_the_best_and_one_of_each() {
    let sweep = sweep(
        &format!(
            "{RULES}\"dumbbell.rate\" = [\"1gbit\", \"10mbit\", \"120mbit\"]\n\"dumbbell.rtt\" = [\"40ms\", \"10ms\"]\n"
        ),
        5,
    );
    let (page, data) = page(&sweep, usual);
    assert_eq!(ids(&data), ["best-1", "values-1", "values-2", "values-3"]);
    assert!(page.contains(
        "Which algorithm of 3 has the best goodput in Mbit/s (higher is better) at each of 6 settings of rate and rtt?"
    ));
    assert!(page.contains("<h3>rtt by rate</h3>") && page.contains("Base path: "), "the path and the keys are named");
    // Numbers, ascending and in a unit for people.
    let x = &data["plots"][0]["spec"]["layer"][0]["encoding"]["x"];
    assert_eq!(
        (&x["scale"]["domain"], &x["title"]),
        (&serde_json::json!(["10", "120", "1000"]), &"rate (Mbit/s)".into())
    );
    // Each point has its scenario as a link.
    let links: Vec<&str> = page.split("-link\" hidden>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    let scenarios = links.iter().map(|link| Linked::read(link).unwrap_or_else(|error| panic!("{link}: {error}")).toml);
    let mut expected: Vec<String> =
        sweep.points().iter().map(|point| sweep.scenario(point).document().to_toml()).collect();
    let mut scenarios: Vec<String> = scenarios.collect();
    scenarios.sort();
    expected.sort();
    assert_eq!(scenarios, expected);
    // Every column of the file has its unit.
    let columns = data["tables"][0]["columns"].to_string();
    assert!(columns.contains("\"dumbbell.rate_bps\"") && columns.contains("\"dumbbell.rtt_s\""), "{columns}");
}

#[test]
fn other_keys_are_fixed() {
    let grid = format!(
        "{RULES}\"dumbbell.rate\" = [\"1gbit\", \"10mbit\"]\n\"dumbbell.rtt\" = [\"40ms\", \"10ms\"]\n\"flow.0.delayed_ack\" = [\"0s\", \"40ms\"]\n"
    );
    let (page, data) = page(&sweep(&grid, 3), usual);
    // Three pairs of keys, each with a map for both values of the third.
    assert_eq!(ids(&data).iter().filter(|id| id.starts_with("best-")).count(), 6);
    assert!(
        page.contains("<h3>rate by rtt, delayed_ack 40 ms</h3>")
            || page.contains("<h3>rtt by rate, delayed_ack 40 ms</h3>")
    );
}

#[test]
fn one_key_makes_lines_and_words_make_points() {
    let (_, data) = page(&sweep(&format!("{RULES}\"dumbbell.rtt\" = [\"10ms\", \"200ms\"]\n"), 5), usual);
    assert_eq!(ids(&data), ["values-1"]);
    let spec = &data["plots"][0]["spec"]["layer"];
    assert_eq!((&spec[1]["mark"]["type"], &spec[1]["encoding"]["x"]["scale"]["type"]), (&"line".into(), &"log".into()));
    let queues = "\"dumbbell.queue\" = [\"droptail:1bdp\", \"codel:1000p\"]\n";
    let (page, data) = page(&sweep(&format!("[grid]\n{queues}"), 5), usual);
    let spec = &data["plots"][0]["spec"]["layer"];
    assert_eq!((&spec[1]["mark"]["type"], &spec[1]["encoding"]["x"]["type"]), (&"point".into(), &"nominal".into()));
    assert!(page.contains("Which of 2 points over queue has the best goodput"));
}

#[test]
fn algorithms_alone_and_a_single_point() {
    let (_, data) = page(&sweep(RULES, 5), usual);
    assert_eq!(ids(&data), ["values-1"]);
    let (page, data) = page(&sweep("", 5), usual);
    assert!(ids(&data).is_empty() && page.contains("The goodput in Mbit/s at the one point of the sweep"));
}

#[test]
fn points_without_runs_or_numbers_are_empty_cells() {
    let grid = format!("{RULES}\"dumbbell.rate\" = [\"1gbit\", \"10mbit\"]\n\"dumbbell.rtt\" = [\"40ms\", \"10ms\"]\n");
    let sweep = sweep(&grid, 5);
    let (all, data) = page(&sweep, |_, _| None);
    assert!(ids(&data).is_empty() && all.contains("Failed runs have no measures: no luck"));
    // Of the four settings one has a value of one algorithm alone, one has none, and one has NaN.
    let (_, data) = page(&sweep, |point, seed| match (point / 4, point % 4) {
        (1.., 0) | (_, 1) => None,
        (_, 2) => Some(f64::NAN),
        _ => usual(point, seed),
    });
    let groups = data["plots"][0]["tables"][0]["groups"].as_array().expect("cells");
    assert_eq!(groups.len(), 2, "{groups:?}");
    assert_eq!(groups.iter().filter(|group| group["texts"][4] == "no other").count(), 1, "{groups:?}");
}

#[test]
fn one_seed_tells_nothing_apart() {
    let grid = format!("{RULES}\"dumbbell.rate\" = [\"1gbit\", \"10mbit\"]\n\"dumbbell.rtt\" = [\"40ms\", \"10ms\"]\n");
    let (page, data) = page(&sweep(&grid, 1), usual);
    let groups = data["plots"][0]["tables"][0]["groups"].as_array().expect("cells");
    assert!(groups.iter().all(|group| group["texts"][3] == "tied"), "{groups:?}");
    assert!(page.contains("One seed: nothing tells a difference from chance."));
}

#[test]
fn ten_thousand_points_stay_below_five_megabytes() {
    let list = |unit: &str| (1..=50).map(|value| format!("\"{value}{unit}\"")).collect::<Vec<_>>().join(", ");
    let plain = format!("[grid]\n\"dumbbell.rate\" = [{}]\n\"dumbbell.rtt\" = [{}]\n", list("mbit"), list("ms"));
    let rules = plain.replace("[grid]", "[grid]\n\"flow.0.algorithm\" = [\"reno\", \"cubic\", \"bbr3\", \"simd\"]");
    let points = plain.replace("[grid]", "[grid]\n\"flow.0.max_window\" = [10, 20, 30, 40]");
    for grid in [rules, points] {
        let sweep = sweep(&grid, 3);
        assert_eq!(sweep.points().len(), 10_000);
        let (page, data) = page(&sweep, usual);
        assert!(page.len() < 5_000_000, "{} bytes", page.len());
        let words = data["plots"][0]["spec"]["layer"].as_array().map(Vec::len);
        assert!(words <= Some(2) && ids(&data).len() <= 24, "cells without room have no words");
    }
}

#[test]
fn names_cannot_leave_their_place() {
    let sweep = sweep(
        "[grid]\n\"flow.0.name\" = [\"<script>alert(1)</script>\", \"\\u001b[2J\"]\n\"dumbbell.rtt\" = [\"10ms\", \"20ms\"]\n",
        3,
    );
    let (page, _) = page(&sweep, usual);
    assert!(!page.contains("<script>alert"));
    let swept = gather(&sweep, &rows(&sweep, usual));
    assert!(!text::sweep(&sweep, &swept, None).contains('\u{1b}'));
}
