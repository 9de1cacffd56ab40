//! Sweeps: their cells and chunks, and the documents that are refused.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cwnd::{Ack, Congestion, CongestionControl, Control, Maker, Packets, Spec, Start, View};
use cwnd_lab::sweep::{
    By, CellError, Chunk, Dataset, DatasetError, FinishedCell, Outside, PartFormat, Pending, Ranking, Shard, Sweep,
    Task, TaskError, Unit, Values, columns, gather, run_chunks, with_stored,
};
use cwnd_run::cells::Cells;
use cwnd_run::probe::Reduction;

const SWEEP: &str = r#"
title = "small"

[base]
duration = "2s"
warmup = "500ms"
seeds = 3
first_seed = 7

[base.dumbbell]
rate = "2mbit"
rtt = "20ms"

[[base.flow]]
algorithm = "reno"
count = 2

[grid]
"flow.0.algorithm" = ["reno", "aimd:b=1/8"]
dumbbell.rtt = ["20ms", "40ms"]

[[cell]]
"flow.0.count" = 1

[[cell]]
"flow.0.count" = 2
"dumbbell.loss" = 0.01
"#;

fn read(text: &str, sets: &[&str]) -> Result<Sweep, String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Sweep::read("s.toml", text, Path::new(""), &sets).map_err(|error| error.to_string())
}

fn sweep() -> Sweep {
    read(SWEEP, &[]).expect("valid")
}

fn run(sweep: &Sweep, chunks: &[Chunk]) -> Vec<FinishedCell> {
    let cells = Cells::default();
    run_chunks(sweep, chunks, &cells, None, &()).expect("not interrupted")
}

#[test]
fn points_are_listed_settings_over_the_grid() {
    let sweep = sweep();
    assert_eq!(sweep.keys(), ["flow.0.count", "dumbbell.loss", "flow.0.algorithm", "dumbbell.rtt"]);
    let shown: Vec<String> = sweep
        .points()
        .iter()
        .map(|point| {
            let values = point.values.iter().map(|value| value.as_ref().map_or("-".to_string(), ToString::to_string));
            values.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let expected = [
        "1 - reno 20ms",
        "1 - reno 40ms",
        "1 - aimd:b=1/8 20ms",
        "1 - aimd:b=1/8 40ms",
        "2 0.01 reno 20ms",
        "2 0.01 reno 40ms",
        "2 0.01 aimd:b=1/8 20ms",
        "2 0.01 aimd:b=1/8 40ms",
    ];
    assert_eq!(shown, expected);
    assert_eq!(sweep.len(), 24);
    let cells: Vec<_> = sweep.cells().collect();
    assert_eq!((cells[4].index, cells[4].point, cells[4].seed), (4, 1, 8));
    let scenario = sweep.scenario(&sweep.points()[6]);
    let flow = &scenario.document().flow[0];
    assert_eq!((flow.algorithm.text(), flow.count), ("aimd:b=1/8", 2));
}

#[test]
fn a_sweep_written_out_is_the_same_sweep() {
    let sweep = sweep();
    let again = read(&sweep.to_toml(), &[]).expect("what was written can be read");
    assert_eq!(again.to_toml(), sweep.to_toml());
    assert_eq!(again.id(), sweep.id());
    assert!(again.cells().eq(sweep.cells()));
    let set = read(SWEEP, &["duration=3s"]).expect("valid");
    assert_ne!(set.id(), sweep.id());
    assert_eq!(set.scenario(&set.points()[0]).duration(), cwnd::Span::from_secs(3));
}

#[test]
fn chunks_have_every_cell_once_and_shards_every_chunk() {
    let sweep = sweep();
    // By the rule of thumb a run of 2 s at 2 Mbit/s takes 1 ms and 333 packets of half a microsecond.
    for seconds in [0.0, 0.001, 0.004, 10.0] {
        let chunks = sweep.chunks(seconds);
        let cells: Vec<_> = chunks.iter().flat_map(|chunk| sweep.cells_of(*chunk)).collect();
        assert!(sweep.cells().eq(cells), "{seconds}");
        for count in [1, 2, 5, 40] {
            let mut dealt: Vec<Chunk> = Vec::new();
            for index in 1..=count {
                let shard: Shard = format!("{index}/{count}").parse().expect("a shard");
                dealt.extend(shard.of(&chunks));
            }
            dealt.sort();
            assert_eq!(dealt, chunks);
        }
    }
    assert_eq!(sweep.chunks(0.0).len(), 24);
    assert_eq!(sweep.chunks(10.0).len(), 1);
    assert_eq!(sweep.chunks(0.003).len(), 8);
    assert!(["0/2", "3/2", "1", "a/b", "1/0"].iter().all(|text| text.parse::<Shard>().is_err()));
}

#[test]
fn rows_do_not_depend_on_the_chunks() {
    let sweep = sweep();
    let whole = run(&sweep, &sweep.chunks(10.0));
    let mut pieces = sweep.chunks(0.004);
    pieces.reverse();
    let mut rows = run(&sweep, &pieces);
    rows.sort_by_key(|row| row.cell.index);
    assert_eq!(rows, whole);
    let swept = gather(&sweep, &whole);
    assert_eq!((swept.points.len(), swept.done_cells, swept.failed_cells), (8, 24, 0));
    assert_eq!(swept.points[0].measures.goodput_bps.expect("measured").n, 3);
}

#[test]
fn a_task_run_elsewhere_gives_the_rows_of_here() {
    let sweep = sweep();
    let [chunk] = sweep.chunks(10.0)[..] else { panic!("one chunk") };
    let expected = run(&sweep, &[chunk]);
    let directory = tempfile::TempDir::new().expect("a directory");
    let cells = Cells::stored(directory.path());
    // Some are in the store: from the middle of a point to that of another.
    run_chunks(&sweep, &[Chunk { first: 4, end: 10 }], &cells, None, &()).expect("not interrupted");
    let pending = Pending::of(&sweep, chunk, &cells);
    assert_eq!((pending.chunk(), pending.found(), pending.missing()), (chunk, 6, 18));
    let task = pending.task(&sweep);
    let travelled = Task::read(&task.to_string()).expect("what was written can be read");
    assert_eq!((&travelled, travelled.key()), (&task, task.key()));
    let outcomes = travelled.run(&()).expect("it can be run");
    assert_eq!(travelled.run(&()).expect("it can be run"), outcomes, "a task may be run twice");
    let short = outcomes[1..].to_vec();
    let error = pending.clone().finish(&sweep, short, &cells).expect_err("one is missing");
    assert_eq!(error.to_string(), "18 cells were requested, and 17 cells were returned");
    assert_eq!(pending.finish(&sweep, outcomes, &cells), Ok(expected.clone()));

    // All are in the store now: nothing is left to do.
    let again = Pending::of(&sweep, chunk, &cells);
    assert_eq!((again.found(), again.missing()), (24, 0));
    assert_eq!(again.finish(&sweep, Vec::new(), &cells), Ok(expected));
}

#[test]
fn a_failure_elsewhere_is_a_row_and_is_not_stored() {
    let sweep = sweep();
    let chunk = Chunk { first: 0, end: 2 };
    let directory = tempfile::TempDir::new().expect("a directory");
    let cells = Cells::stored(directory.path());
    let pending = Pending::of(&sweep, chunk, &cells);
    let mut outcomes = pending.task(&sweep).run(&()).expect("it can be run");
    outcomes[1] = Err(CellError::Elsewhere("no luck".to_string()));
    let rows = pending.finish(&sweep, outcomes, &cells).expect("as many as were asked for");
    assert_eq!(rows[1].outcome, Err(CellError::Elsewhere("no luck".to_string())));
    assert_eq!(Pending::of(&sweep, chunk, &cells).missing(), 1);
}

/// A window of four packets, whatever happens.
#[derive(Clone, Debug)]
struct Four;

impl CongestionControl for Four {
    fn control(&self) -> Control {
        Control::window(Packets(4.0))
    }

    fn on_ack(&mut self, _view: &View, _ack: &Ack) {}

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Maker for Four {
    fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

fn with_four(text: &str, label: &str) -> Result<Sweep, String> {
    let algorithm = Spec::outside(label, Arc::new(Four)).into();
    let outside = vec![Outside { stand_in: "aimd:b=1/8".to_string(), algorithm }];
    Sweep::read_with("s.toml", text, Path::new(""), &[], outside).map_err(|error| error.to_string())
}

#[test]
fn an_algorithm_from_outside_is_where_its_stand_in_is_and_is_never_stored() {
    let sweep = with_four(SWEEP, "four").expect("valid");
    assert!(sweep.has_outside());
    let chunk = Chunk { first: 0, end: sweep.len() };
    let directory = tempfile::TempDir::new().expect("a directory");
    let cells = Cells::stored(directory.path());
    let rows = run_chunks(&sweep, &[chunk], &cells, None, &()).expect("not interrupted");
    for row in &rows {
        let point = &sweep.points()[row.cell.point];
        let named = point.values[2].as_ref().expect("each point sets it").text.as_str();
        assert!(["reno", "four"].contains(&named), "{named}");
        let kept = row.outcome.as_ref().expect("it ran");
        let loss = kept.iter().find(|(name, _)| *name == "loss_rate").map(|(_, values)| values[0]);
        // About eight packets never overflow a queue, so all losses are random.
        let random = point.values[1].is_some();
        assert!(named == "reno" || random || loss == Some(0.0), "{loss:?}");
    }
    let pending = Pending::of(&sweep, chunk, &cells);
    assert_eq!((pending.found(), pending.missing()), (12, 12));
    // Outcomes of foreign algorithms are no longer stored.
    let outcomes = rows.iter().filter(|row| !is_reno(&sweep, row)).map(|row| row.outcome.clone()).collect();
    assert_eq!(pending.finish(&sweep, outcomes, &cells).expect("as many as were asked for"), rows);
    assert_eq!(Pending::of(&sweep, chunk, &cells).found(), 12);
}

fn is_reno(sweep: &Sweep, row: &FinishedCell) -> bool {
    sweep.points()[row.cell.point].values[2].as_ref().is_some_and(|value| value.text == "reno")
}

#[test]
fn an_algorithm_from_outside_needs_a_name_of_its_own() {
    let error = with_four(SWEEP, "reno").expect_err("two of a name");
    assert!(error.contains("two different algorithms are called `reno`"), "{error}");
}

#[test]
fn a_task_of_another_program_is_refused() {
    let sweep = sweep();
    let chunk = sweep.chunks(0.0)[0];
    let text = Pending::of(&sweep, chunk, &Cells::default()).task(&sweep).to_string();
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    document["sources"] = "another hash".into();
    document["version"] = "0.0.7".into();
    let error = Task::read(&document.to_string()).expect_err("other sources");
    assert!(matches!(error, TaskError::Other(_)));
    assert!(error.to_string().contains("and cwnd 0.0.7 asks, whose simulator differs"), "{error}");
    assert!(matches!(Task::read("{}"), Err(TaskError::Text(_))));
}

#[test]
fn columns_have_parameters_seeds_and_measures_with_units() {
    let sweep = sweep();
    let mut rows = run(&sweep, &sweep.chunks(0.003)[..1]);
    rows[1].outcome = Err(CellError::Elsewhere("no luck".to_string()));
    let columns = columns(&sweep, &rows);
    let named = |name: &str| columns.iter().find(|column| column.name == name).expect(name);
    let first: Vec<&str> = columns.iter().take(7).map(|column| column.name.as_str()).collect();
    assert_eq!(first[..2], ["cell", "flow.0.count"]);
    assert_eq!(first[5..], ["seed", "error"]);
    assert_eq!(named("flow.0.count").values, Values::Real(vec![1.0; 3]));
    assert_eq!(named("flow.0.algorithm").values, Values::Text(vec![Some("reno".to_string()); 3]));
    assert_eq!(named("seed").values, Values::Whole(vec![7, 8, 9]));
    assert_eq!(named("error").values, Values::Text(vec![None, Some("no luck".to_string()), None]));
    assert_eq!((named("goodput_bps").unit, named("queue_delay_p99_s").unit), ("bit/s", "s"));
    assert!(named("goodput_bps").description.starts_with("Payload bits"));
    let Values::Real(goodput) = &named("goodput_bps").values else { panic!("numbers") };
    assert!(goodput[0] > 1e6 && goodput[1].is_nan());
    let Values::Lists(flows) = &named("flow_goodput_bps").values else { panic!("lists") };
    assert_eq!((flows[0].len(), flows[1].len()), (1, 0));
    // A text that contains a quantity is there as a number, too; a value written as a number needs none.
    assert_eq!(named("dumbbell.rtt").values, Values::Text(vec![Some("20ms".to_string()); 3]));
    assert_eq!((named("dumbbell.rtt_s").unit, &named("dumbbell.rtt_s").values), ("s", &Values::Real(vec![0.02; 3])));
    assert!(
        columns
            .iter()
            .all(|column| !column.name.starts_with("flow.0.algorithm_") && column.name != "flow.0.count_number")
    );
    let names: BTreeSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names.len(), columns.len(), "no name twice");
}

#[test]
fn a_directory_takes_one_sweep_and_says_how_far_it_is() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let path = directory.path().join("out");
    let sweep = sweep();
    let dataset = Dataset::open(&path, &sweep, 0.004, PartFormat::Csv).expect("a new directory");
    let chunks = dataset.chunks();
    let mut rows = run(&sweep, &chunks[..1]);
    let good = rows.clone();
    rows[0].outcome = Err(CellError::Elsewhere("no luck".to_string()));
    dataset.write(chunks[0], &rows).expect("writable");
    let found = Dataset::found(&path).expect("it was made").status(&Cells::default());
    assert_eq!((found.cells, found.present_cells, found.failed_cells), (24, chunks[0].len(), 1));
    assert_eq!((found.chunks, found.present_chunks), (chunks.len() as u64, 1));
    assert_eq!(found.failures[0].set, ["flow.0.count=1", "flow.0.algorithm=reno", "dumbbell.rtt=20ms"]);
    assert_eq!((found.failures[0].seed, found.failures[0].error.as_str()), (7, "no luck"));

    // A later attempt takes the failure back, and writing twice changes nothing.
    let part = path.join("cells").join(format!("{}.csv", chunks[0].name()));
    dataset.write(chunks[0], &good).expect("writable");
    let text = std::fs::read_to_string(&part).expect("a part");
    dataset.write(chunks[0], &good).expect("writable");
    assert_eq!(std::fs::read_to_string(&part).expect("a part"), text);
    assert!(text.starts_with("cell,flow.0.count,dumbbell.loss,flow.0.algorithm,dumbbell.rtt,seed,error,utilisation,"));
    assert!(text.lines().nth(1).expect("a row").starts_with("0,1,,reno,20ms,7,,"));
    assert_eq!(dataset.status(&Cells::default()).failed_cells, 0);

    assert!(Dataset::open(&path, &sweep, 0.004, PartFormat::Csv).is_ok());
    let other = read(SWEEP, &["duration=3s"]).expect("valid");
    for (sweep, seconds, format) in
        [(&other, 0.004, PartFormat::Csv), (&sweep, 1.0, PartFormat::Csv), (&sweep, 0.004, PartFormat::JsonLines)]
    {
        assert!(matches!(Dataset::open(&path, sweep, seconds, format), Err(DatasetError::Other(_))));
    }
    std::fs::write(directory.path().join("x"), "").expect("writable");
    let taken = Dataset::open(directory.path(), &sweep, 0.004, PartFormat::Csv);
    assert!(matches!(taken, Err(DatasetError::NoSweep(_))));
}

#[test]
fn json_lines_have_null_for_what_is_missing() {
    let sweep = sweep();
    let mut rows = run(&sweep, &sweep.chunks(0.003)[..1]);
    rows[1].outcome = Err(CellError::Elsewhere("no luck".to_string()));
    let bytes = PartFormat::JsonLines.bytes(&sweep, &rows).expect("text");
    let lines: Vec<serde_json::Value> =
        String::from_utf8(bytes).expect("text").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["flow.0.algorithm"], "reno");
    assert!(lines[0]["dumbbell.loss"].is_null() && lines[0]["error"].is_null());
    assert_eq!(lines[1]["error"], "no luck");
    assert!(lines[1]["goodput_bps"].is_null() && lines[0]["goodput_bps"].is_f64());
}

/// Rows with this goodput for each cell, as the seeds of a point have it; none for a failed run.
fn rows_of(sweep: &Sweep, goodput: impl Fn(usize, u64) -> Option<f64>) -> Vec<FinishedCell> {
    let of = |cell: cwnd_lab::sweep::Cell| {
        let outcome = goodput(cell.point, cell.seed).map(|value| {
            let mut kept = Reduction::default();
            kept.keep("goodput_bps", vec![value]);
            kept
        });
        FinishedCell { cell, outcome: outcome.ok_or_else(|| CellError::Elsewhere("no luck".to_string())) }
    };
    sweep.cells().map(of).collect()
}

/// Two algorithms at three round-trip times; five seeds.
fn contest() -> Sweep {
    let text = SWEEP.split("[[cell]]").next().expect("a grid").replace("seeds = 3", "seeds = 5");
    read(&text.replace("[\"20ms\", \"40ms\"]", "[\"100ms\", \"20ms\", \"0.02s\"]"), &[]).expect("valid")
}

#[test]
fn the_best_is_alone_where_no_interval_overlaps_its_own() {
    let sweep = contest();
    // Points 0 to 2 are Reno's, 3 to 5 the other's: behind, tied, failed.
    let rows = rows_of(&sweep, |point, seed| {
        let noise = seed as f64 * 1e3;
        match point {
            0 => Some(1e6 + noise),
            3 => Some(2e6 + noise),
            1 => Some(1.5e6 + noise),
            4 => Some(1.5005e6 + noise),
            2 => Some(f64::NAN),
            _ => None,
        }
    });
    let swept = gather(&sweep, &rows);
    assert_eq!(
        (swept.by, swept.better, swept.contender.as_deref()),
        ("goodput_bps", "higher", Some("flow.0.algorithm"))
    );
    let placed: Vec<_> = swept.points.iter().map(|point| (point.rank, point.tied)).collect();
    let tied = (Some(1), true);
    assert_eq!(placed, [(Some(2), false), tied, (None, false), (Some(1), false), tied, (None, false)]);
    assert_eq!(swept.failed_cells, 5);
    let [first, second] = &swept.standings[..] else { panic!("{:?}", swept.standings) };
    assert_eq!((first.contender.as_str(), first.settings, first.alone, first.tied), ("aimd:b=1/8", 2, 1, 1));
    assert_eq!((second.alone, second.tied, first.furthest_behind), (0, 1, 0.0));
    assert!((second.furthest_behind - 1e6).abs() < 1.0, "{second:?}");
    // 20 ms and 0.02 s are one value; values ascend, in a unit for people.
    let ranking = Ranking::of(&sweep, &swept.points);
    let rtt = &ranking.keys[ranking.axes[0]];
    let labels: Vec<&str> = rtt.values.iter().map(|value| value.label.as_str()).collect();
    assert_eq!((rtt.title().as_str(), labels), ("rtt (ms)", vec!["20", "100"]));
    let set = &swept.points[1].set[1];
    assert_eq!((set.key.as_str(), set.value.as_str(), set.number, set.unit), ("dumbbell.rtt", "20ms", Some(0.02), "s"));

    // The other way round.
    let sweep = sweep.ranked_by("loss_rate".parse().expect("a measure"));
    let swept = gather(&sweep, &rows_of(&sweep, |_, _| Some(1.0)));
    assert_eq!((swept.by, swept.better), ("loss_rate", "lower"));
    assert!(swept.points.iter().all(|point| point.rank.is_none()) && swept.standings.is_empty());
}

#[test]
fn few_seeds_tell_nothing_apart() {
    let text = SWEEP.split("[[cell]]").next().expect("a grid");
    for (seeds, tied) in [(1, true), (2, true), (3, false)] {
        let sweep = read(&text.replace("seeds = 3", &format!("seeds = {seeds}")), &[]).expect("valid");
        let swept = gather(&sweep, &rows_of(&sweep, |point, seed| Some(1e6 * (1.0 + point as f64) + seed as f64)));
        assert!(swept.points.iter().all(|point| point.tied == tied), "{seeds}");
    }
}

#[test]
fn points_are_ranked_where_no_algorithm_meets_another() {
    let grid = SWEEP
        .split("[[cell]]")
        .next()
        .expect("a grid")
        .replace("\"flow.0.algorithm\" = [\"reno\", \"aimd:b=1/8\"]\n", "");
    let listed = grid.split("[grid]").next().expect("a base").to_string()
        + "[[cell]]\n\"flow.0.algorithm\" = \"reno\"\n[[cell]]\n\"flow.0.algorithm\" = \"cubic\"\n\"dumbbell.rtt\" = \"40ms\"\n";
    for text in [grid, listed] {
        let sweep = read(&text, &[]).expect("valid");
        let swept = gather(&sweep, &rows_of(&sweep, |point, seed| Some(1e6 * (1.0 + point as f64) + seed as f64)));
        assert_eq!((swept.contender.as_deref(), swept.points.len()), (None, 2), "{text}");
        assert_eq!([swept.points[0].rank, swept.points[1].rank], [Some(2), Some(1)]);
    }
}

#[test]
fn the_measure_is_named_in_the_file_and_changes_no_run() {
    let named = read(&SWEEP.replace("title =", "by = \"jain\"\ntitle ="), &[]).expect("valid");
    assert_eq!(named.by(), "jain".parse::<By>().expect("a measure"));
    assert_eq!(named.id(), sweep().id());
    assert_eq!(read(&named.to_toml(), &[]).expect("valid").by(), named.by());
    let error = read(&SWEEP.replace("title =", "by = \"gain\"\ntitle ="), &[]).expect_err("no measure");
    assert!(
        error.starts_with("s.toml:2:6: unknown measure `gain`; did you mean `jain`? (accepted: utilisation, "),
        "{error}"
    );
    assert_eq!(named.quantity(3).expect("times").unit(), Unit::Time);
}

#[test]
fn a_directory_counts_what_the_store_has() {
    let directory = tempfile::TempDir::new().expect("a directory");
    let cells = Cells::stored(&directory.path().join("cells"));
    let sweep = sweep();
    let dataset =
        Dataset::open(&directory.path().join("out"), &sweep, 0.004, PartFormat::Csv).expect("a new directory");
    let chunks = dataset.chunks();
    // A smaller sweep has filled the store, and one file is written.
    let smaller = read(SWEEP, &["seeds=2"]).expect("valid");
    run_chunks(&smaller, &smaller.chunks(10.0), &cells, None, &()).expect("not interrupted");
    assert_eq!(dataset.status(&cells).stored_cells, 16);
    run_chunks(&sweep, &chunks[..1], &cells, Some(&dataset), &()).expect("not interrupted");
    let now = dataset.status(&cells);
    let of_first = sweep.cells_of(chunks[0]).iter().filter(|cell| cell.seed < 9).count() as u64;
    assert_eq!((now.present_cells, now.stored_cells), (chunks[0].len(), 16 - of_first));
    assert_eq!(dataset.status(&Cells::default()).stored_cells, 0);
    // All stored rows, of other shards too, in the order of the cells.
    let rows = run_chunks(&sweep, &chunks[1..2], &cells, None, &()).expect("not interrupted");
    let known = with_stored(&sweep, &rows, &cells);
    let indexes: Vec<u64> = known.iter().map(|row| row.cell.index).collect();
    assert!(indexes.windows(2).all(|pair| pair[0] < pair[1]) && indexes.len() > 16, "{indexes:?}");
    assert_eq!(with_stored(&sweep, &rows, &Cells::default()), rows);
}

#[test]
fn what_is_wrong_is_named_where_it_was_written() {
    let with = |from: &str, to: &str| {
        assert!(SWEEP.contains(from), "{from}");
        SWEEP.replace(from, to)
    };
    let cases = [
        (with("\"aimd:b=1/8\"", "\"amd\""), "s.toml:19:31: unknown algorithm `amd`; did you mean"),
        (
            with("dumbbell.rtt = [\"20ms\"", "dumbbell.rat = [\"20ms\""),
            "s.toml:20:17: unknown key `rat`; did you mean `rate`?",
        ),
        (with("\"40ms\"", "40"), "s.toml:20:25: invalid type: integer `40`, expected a time"),
        (
            with("0.01", "2"),
            "s.toml:27:19: cannot read `2`: expected a number at least 0 and below 1 for `probability`",
        ),
        (with("[\"20ms\", \"40ms\"]", "\"20ms\""), "s.toml:20:16: `dumbbell.rtt` needs a list of values"),
        (with("[\"20ms\", \"40ms\"]", "[]"), "s.toml:20:16: `dumbbell.rtt` has no values"),
        (with("dumbbell.rtt", "flow.0.count"), "s.toml:20:16: `flow.0.count` has its values in `[[cell]]` already"),
        (with("rate = \"2mbit\"", "rate = \"2\""), "s.toml:11:8: cannot read `2`: expected a rate"),
        (
            with("[grid]", "[dumbbell]\nrate = \"1mbit\"\n[grid]"),
            "s.toml:18:2: unknown key `dumbbell`; a sweep has its scenario below `base`; a scenario by itself is for `cwnd run`",
        ),
        (with("[grid]", "[gird]"), "s.toml:18:2: unknown key `gird`; did you mean `grid`?"),
        (with("title =", "scenario = \"x.toml\"\ntitle ="), "s.toml:5:"),
        ("title = \"x\"\n".to_string(), "s.toml:1:1: no base scenario"),
        ("scenario = \"nowhere.toml\"\n".to_string(), "s.toml:1:12: cannot read `nowhere.toml`"),
    ];
    for (text, expected) in cases {
        let error = read(&text, &[]).expect_err(expected);
        assert!(error.starts_with(expected), "expected {expected}\nfound    {error}");
    }
    let error = read(SWEEP, &["flow.0.algorithm=simd"]).expect_err("it is varied");
    assert_eq!(error, "--set flow.0.algorithm=simd: the sweep gives this key its values");
    let error = read(SWEEP, &["duration=1"]).expect_err("no unit");
    assert!(error.starts_with("--set duration=1: "), "{error}");
}
