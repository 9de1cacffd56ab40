//! `cwnd sweep`

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{CommandResult, Cwnd, SHORT, root};

/// Four points with two seeds each, two cells to a file.
const SWEEP: &str = "scenario = \"short.toml\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\", \"simd\"]\n\
                     \"dumbbell.rtt\" = [\"20ms\", \"40ms\"]\n";
const CHUNK: [&str; 4] = ["--chunk", "4ms", "--format", "csv"];

fn cwnd() -> Cwnd {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("s.toml", SWEEP);
    cwnd
}

/// The rows in a directory, by file.
fn parts(cwnd: &Cwnd, directory: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(cwnd.path().join(directory).join("cells")).expect("a directory of rows");
    let read = |path: &Path| fs::read_to_string(path).expect("a file");
    entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), read(&entry.path())))
        .collect()
}

/// The page in a directory.
fn page(cwnd: &Cwnd, directory: &str) -> String {
    fs::read_to_string(cwnd.path().join(directory).join("report.html")).expect("a page")
}

#[test]
fn traces_are_relative_to_the_scenario_of_a_sweep() {
    let cwnd = Cwnd::new();
    fs::create_dir(cwnd.path().join("paths")).expect("a directory");
    let pair = "[dumbbell]\ntrace = \"up.trace,light=up.light,idle=5ms\"\nqueue = \"droptail:9p\"";
    cwnd.file("paths/short.toml", &SHORT.replacen("[dumbbell]", pair, 1).replace("rate = \"10mbit\"\n", ""));
    cwnd.file("paths/up.trace", "1\n2\n");
    cwnd.file("paths/up.light", "0 5 0 3\n100 5\n");
    cwnd.file("s.toml", "scenario = \"paths/short.toml\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\", \"simd\"]\n");
    let result = cwnd.run(&["sweep", "s.toml", "--no-store"]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(result.err.contains("0 failed"), "{}", result.err);
}

#[test]
fn shards_together_are_the_whole_and_nothing_is_run_twice() {
    let cwnd = cwnd();
    let sweep = |more: &[&str]| cwnd.run(&[&["sweep", "s.toml", "--store", "cells"][..], &CHUNK, more].concat());
    let whole = sweep(&["--out", "whole"]);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    assert!(whole.err.contains("8 cells computed, 0 found in the store, 0 failed"), "{}", whole.err);
    assert!(
        whole.out.contains("8 of 8 cells") && whole.out.lines().any(|line| line.starts_with("simd")),
        "{}",
        whole.out
    );
    let expected = parts(&cwnd, "whole");
    assert!(expected.len() > 2, "{:?}", expected.keys());
    assert_eq!(expected.values().map(|text| text.lines().count() - 1).sum::<usize>(), 8);

    for shard in ["2/3", "1/3", "3/3", "1/3"] {
        let result = sweep(&["--out", "parts", "--shard", shard]);
        assert_eq!(result.code, Some(0), "{}", result.err);
        assert!(result.err.contains("0 cells computed"), "{}", result.err);
    }
    assert_eq!(parts(&cwnd, "parts"), expected);
    // Computed anew, on one thread: the same files.
    let alone = [&["sweep", "s.toml", "--no-store", "--out", "alone"][..], &CHUNK].concat();
    let output = cwnd.command(&alone).env("RAYON_NUM_THREADS", "1").output().expect("the binary was built");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(parts(&cwnd, "alone"), expected);

    let status = cwnd.succeed(&["sweep", "status", "parts"]);
    assert!(status.starts_with("8 of 8 cells, "), "{status}");
    // The page of the last shard also has the stored cells of the others: it is the page of the whole sweep.
    let [one, other] = ["whole", "parts"].map(|directory| page(&cwnd, directory));
    assert!(one == other && one.contains("8 of 8 runs"), "{}", one.len());
    // The directory's own sweep needs no other file.
    cwnd.succeed(&["sweep", "parts/sweep.toml", "--check"]);
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let cwnd = Cwnd::new();
    cwnd.file("s.toml", &format!("[base]\n{}[grid]\nfirst_seed = [1, 3, 5, 7, 9, 11]\n", nested(SHORT)));
    let arguments = ["sweep", "s.toml", "--store", "cells", "--out", "out", "--format", "csv", "--set", "duration=60s"];
    let mut child =
        cwnd.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary was built");
    while cwnd.stored().values().sum::<usize>() < 2 && child.try_wait().expect("it runs").is_none() {
        sleep(Duration::from_millis(5));
    }
    // Not asked, killed: nothing can be put in order at the end.
    let _ = child.kill();
    child.wait().expect("it ends");
    let result = cwnd.run(&arguments);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert!(!result.err.contains(" 0 found in the store"), "{}", result.err);
    let whole =
        cwnd.run(&["sweep", "s.toml", "--no-store", "--out", "whole", "--format", "csv", "--set", "duration=60s"]);
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    assert_eq!(parts(&cwnd, "out"), parts(&cwnd, "whole"));
}

/// The store may have been filled by anything: a smaller sweep, or one that was interrupted.
#[test]
fn status_counts_what_the_store_has() {
    let cwnd = cwnd();
    let status = |more: &[&str]| cwnd.succeed(&[&["sweep", "status", "out", "--store", "cells"], more].concat());
    let sweep = |more: &[&str]| cwnd.run(&[&["sweep", "s.toml", "--store", "cells"][..], &CHUNK, more].concat());
    assert_eq!(sweep(&["--out", "out", "--shard", "1/4"]).code, Some(0));
    let document: Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
    let written = document["present_cells"].as_u64().expect("a number");
    assert_eq!((written, &document["stored_cells"]), (2, &0.into()));
    assert!(status(&[]).starts_with(
        "2 of 8 cells, 1 of 4 files, 0 cells failed\n0 of 6 cells that no file has yet are in the store `cells`"
    ));
    // One seed of each point.
    cwnd.succeed(&["sweep", "s.toml", "--store", "cells", "--json", "--set", "seeds=1"]);
    let document: Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
    assert_eq!((&document["present_cells"], &document["stored_cells"]), (&2.into(), &3.into()));
    let text = status(&[]);
    assert!(
        text.starts_with(
            "5 of 8 cells, 1 of 4 files, 0 cells failed\n3 of 6 cells that no file has yet are in the store"
        ),
        "{text}"
    );
    let without = cwnd.succeed(&["sweep", "status", "out", "--no-store"]);
    assert_eq!(without, "2 of 8 cells, 1 of 4 files, 0 cells failed\n");
}

#[cfg(unix)]
#[test]
fn status_is_true_after_an_interruption() {
    let cwnd = Cwnd::new();
    cwnd.file("s.toml", &format!("[base]\n{}[grid]\nfirst_seed = [1, 3, 5, 7, 9, 11]\n", nested(SHORT)));
    let arguments = ["sweep", "s.toml", "--store", "cells", "--out", "out", "--format", "csv", "--set", "duration=60s"];
    let mut child =
        cwnd.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary was built");
    while cwnd.stored().values().sum::<usize>() < 1 && child.try_wait().expect("it runs").is_none() {
        sleep(Duration::from_millis(5));
    }
    // It may have ended by now.
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
    child.wait().expect("it ends");
    let status = cwnd.succeed(&["sweep", "status", "out", "--store", "cells", "--json"]);
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let counted = [&status["present_cells"], &status["stored_cells"]].map(|count| count.as_u64().expect("a number"));
    let stored = cwnd.stored().values().sum::<usize>() as u64;
    assert_eq!((counted[0] + counted[1], &status["cells"]), (stored, &12.into()), "{status}");
    assert!(stored > 0, "{status}");
}

/// The ranking comes first and fits the terminal, whatever names there are; every point is on the page.
#[test]
fn a_sweep_says_what_is_best_where() {
    let cwnd = cwnd();
    let long = "rule:grow=max(1/w, 0.4*(age-cbrt(0.75*peak))^3/w),cut=max(w*3/4,peak/3)";
    let grid = format!(
        "scenario = \"short.toml\"\nby = \"queue_delay_p99_s\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\", \"{long}\"]\n\
         \"dumbbell.rate\" = [\"20mbit\", \"2 Mbit/s\"]\n\"dumbbell.rtt\" = [\"20ms\", \"40ms\"]\n\"flow.0.extra_rtt\" = [\"0s\", \"9ms\"]\n\
         \"dumbbell.queue\" = [\"red:20p,max_p=0.1\", \"droptail:1bdp\"]\n"
    );
    cwnd.file("many.toml", &grid);
    let result = cwnd.run(&["sweep", "many.toml", "--no-store", "--out", "out", "--format", "csv"]);
    assert_eq!(result.code, Some(0), "{}", result.err);
    let lines: Vec<&str> = result.out.lines().collect();
    assert!(lines.len() <= 32 && lines.iter().all(|line| line.chars().count() <= 100), "{}", result.out);
    let question = "Which algorithm of 2 has the best 99th percentile of queueing delay in ms (lower is better) at each of 16 settings";
    assert!(result.out.replace('\n', " ").contains(question), "{}", result.out);
    assert!(result.out.contains("best alone") && result.out.contains("and 8 more settings"), "{}", result.out);
    assert!(result.out.ends_with("every point: out/report.html\nevery run: out/cells\n"), "{}", result.out);
    let page = page(&cwnd, "out");
    assert_eq!(page.matches("<tr><td>").count(), 32, "a row for each point");
    let goodput = cwnd.run(&["sweep", "many.toml", "--no-store", "--json", "--by", "goodput_bps"]);
    let goodput: Value = serde_json::from_str(&goodput.out).expect("JSON");
    assert_eq!((&goodput["by"], &goodput["better"]), (&"goodput_bps".into(), &"higher".into()));
    let set = &goodput["points"][0]["set"][1];
    assert_eq!((&set["value"], &set["number"], &set["unit"]), (&"20mbit".into(), &2e7.into(), &"bit/s".into()));
    let refused = cwnd.run(&["sweep", "many.toml", "--by", "goodputs"]);
    assert_eq!(refused.code, Some(2));
    let expected =
        "error: invalid value 'goodputs' for '--by <MEASURE>': unknown measure `goodputs`; did you mean `goodput_bps`?";
    assert!(refused.err.starts_with(expected), "{}", refused.err);
}

/// The scenario as it stands below `[base]`.
fn nested(scenario: &str) -> String {
    scenario.replace("[dumbbell]", "[base.dumbbell]").replace("[[flow]]", "[[base.flow]]")
}

#[test]
fn a_failed_cell_is_recorded_and_the_rest_goes_on() {
    let cwnd = cwnd();
    let arguments = [&["sweep", "s.toml", "--store", "cells", "--out", "out", "--json"][..], &CHUNK].concat();
    cwnd.succeed(&arguments);
    // Cells that can be neither read nor stored: the place of their directory is taken.
    let stored = cwnd.stored();
    let place = Path::new(stored.keys().next().expect("cells were stored")).parent().expect("a directory");
    let blocked: usize =
        stored.iter().filter(|(file, _)| Path::new(file).starts_with(place)).map(|(_, cells)| cells).sum();
    let place = cwnd.path().join(place);
    fs::remove_dir_all(&place).expect("a directory");
    fs::write(&place, "in the way").expect("writable");

    let result = cwnd.run(&arguments);
    assert_eq!(result.code, Some(1), "{}", result.err);
    let failed = format!("error: {blocked} of 8 cells failed: cannot store a cell in");
    assert!(blocked >= 2 && result.err.contains(&failed), "{}", result.err);
    let document: Value = serde_json::from_str(&result.out).expect("JSON");
    assert_eq!((&document["done_cells"], &document["failed_cells"]), (&(8 - blocked).into(), &blocked.into()));
    let status: Value = serde_json::from_str(&cwnd.succeed(&["sweep", "status", "out", "--json"])).expect("JSON");
    assert_eq!((&status["present_cells"], &status["failed_cells"]), (&8.into(), &blocked.into()));
    assert!(status["failures"][0]["error"].as_str().is_some_and(|error| error.starts_with("cannot store")));
    assert!(parts(&cwnd, "out").values().any(|text| text.contains("cannot store a cell")));

    fs::remove_file(&place).expect("a file");
    cwnd.succeed(&arguments);
    assert!(cwnd.succeed(&["sweep", "status", "out"]).contains("0 cells failed"));
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let cwnd = cwnd();
    cwnd.file("wrong.toml", &SWEEP.replace("40ms", "40"));
    fs::create_dir(cwnd.path().join("taken")).expect("writable");
    cwnd.file("taken/x", "");
    let before = cwnd.files();
    for (arguments, expected) in [
        (&["sweep", "wrong.toml"][..], "error: wrong.toml:4:27: cannot read `40`: expected a time with its unit"),
        (&["sweep", "nowhere.toml"], "error: cannot read `nowhere.toml`: "),
        (&["sweep"], "error: SWEEP: name the file of a sweep"),
        (&["sweep", "s.toml", "--shard", "0/3"], "error: invalid value '0/3' for '--shard <I/N>': expected a shard"),
        (
            &["sweep", "s.toml", "--format", "cvs"],
            "error: invalid value 'cvs' for '--format <FORMAT>': unknown format `cvs`",
        ),
        (&["sweep", "s.toml", "--set", "dumbbell.rtt=1ms"], "error: --set dumbbell.rtt=1ms: the sweep gives this key"),
        (&["sweep", "s.toml", "--out", "taken"], "error: --out: `taken` holds something else than a sweep"),
        (&["sweep", "status", "taken"], "error: DIR: `taken` is not the directory of a sweep"),
    ] {
        let result = cwnd.run(arguments);
        assert_eq!(result.code, Some(2), "{arguments:?}: {}", result.err);
        assert!(result.err.starts_with(expected), "{arguments:?}: {}", result.err);
        assert_eq!(cwnd.files(), before, "{arguments:?}");
    }
    assert!(cwnd.succeed(&["sweep", "s.toml", "--check"]).starts_with("s.toml: valid sweep, 4 points, 8 cells, "));
}

/// A Python that has the package gets the command as it was given; any other is an error that names what to install.
#[cfg(unix)]
#[test]
fn a_scheduler_needs_the_python_package() {
    use std::os::unix::fs::PermissionsExt;

    let cwnd = cwnd();
    let python = |name: &str, text: &str| {
        let path = cwnd.path().join(cwnd.file(name, text));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
        path
    };
    let with = python("with", "#!/bin/sh\ntest \"$1\" = -m && echo \"$@\" && exit 3\nexit 0\n");
    let without = python("without", "#!/bin/sh\nexit 1\n");
    let sweep = ["sweep", "s.toml", "--scheduler", "tcp://h:1", "--shard", "1/2", "--set", "seeds=3"];
    let run = |python: &Path| {
        CommandResult::of(&cwnd.command(&sweep).env("CWND_PYTHON", python).output().expect("the binary was built"))
    };
    let result = run(&with);
    assert_eq!((result.code, result.out), (Some(3), format!("-m cwnd {}\n", sweep.join(" "))));
    for (path, expected) in [(without.as_path(), "finds no package `cwnd`"), (Path::new("/nowhere"), "cannot run")] {
        let result = run(path);
        assert_eq!(result.code, Some(2), "{}", result.err);
        assert!(result.err.starts_with("error: --scheduler: ") && result.err.contains(expected), "{}", result.err);
        assert!(result.err.contains("pip install './python[dask]'"), "{}", result.err);
    }
}

#[test]
fn the_example_is_a_sweep() {
    let path = root().join("scenarios/sweep/buffers.toml").display().to_string();
    assert!(Cwnd::new().succeed(&["sweep", &path, "--check"]).contains("16 points, 80 cells"));
}

/// The output of `--check` for a sweep of `grid` over a base with `flow`.
fn checked(grid: &str, base: &str) -> (String, String) {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", base);
    cwnd.file("s.toml", &format!("scenario = \"short.toml\"\n{grid}"));
    let CommandResult { code, out, err } = cwnd.run(&["sweep", "s.toml", "--check"]);
    assert_eq!(code, Some(0), "{err}");
    (out, err)
}

#[test]
fn points_that_are_the_same_scenario_are_named() {
    let said = |grid: &str| checked(grid, SHORT).1;
    let same = "warning: points 1 and 3 of 3 are the same scenario\n";
    assert_eq!(said("[grid]\n\"dumbbell.rate\" = [\"10mbit\", \"20mbit\", \"10mbit\"]\n"), same);
    let titles = "warning: points 1, 2 and 3 of 3 are the same scenario: `title` changes no run\n";
    assert_eq!(said("[grid]\ntitle = [\"a\", \"b\", \"c\"]\n"), titles);
    let grid = "[grid]\n\"dumbbell.rate\" = [\"10mbit\", \"20mbit\"]\n\"dumbbell.rtt\" = [\"20ms\", \"20ms\"]\n";
    assert_eq!(said(grid), "warning: points 1 and 2 of 4 are the same scenario (and so in 1 other group)\n");
    assert_eq!(said("[grid]\nfirst_seed = [1, 2]\n"), "");
    assert!(checked("[grid]\nfirst_seed = [1]\n", SHORT).0.contains(": valid sweep, 1 point, 2 cells, 1 chunk"));
}

/// A hundred points that share a cause have one line, whatever their values are.
#[test]
fn a_cause_has_one_line() {
    let idle = SHORT.replace("[[flow]]", "[[flow]]\nstop = \"90s\"");
    let rates: Vec<String> = (1..=10).map(|rate| format!("\"{rate}mbit\"")).collect();
    let queues: Vec<String> = (1..=10).map(|size| format!("\"red:{size}0p,ecn=yes\"")).collect();
    let grid =
        format!("[grid]\n\"dumbbell.rate\" = [{}]\n\"dumbbell.queue\" = [{}]\n", rates.join(", "), queues.join(", "));
    let (_, said) = checked(&grid, &idle);
    let lines: Vec<&str> = said.lines().collect();
    let [queue, stop] = lines[..] else { panic!("{said}") };
    let about = "warning: at 100 of 100 points dumbbell.queue = red:10p,ecn=yes: `ecn=yes` has no effect: ";
    assert!(queue.starts_with(about) && queue.ends_with(", and so with 9 other values"), "{queue}");
    assert!(
        stop.starts_with("warning: at 100 of 100 points flow.0.stop = 90s has no effect: the run ends at"),
        "{stop}"
    );
}

#[test]
fn equal_cells_are_not_called_found_in_the_store() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("s.toml", "scenario = \"short.toml\"\n[grid]\ntitle = [\"a\", \"b\"]\n");
    let result = cwnd.run(&["sweep", "s.toml", "--no-store", "--out", "out", "--format", "csv"]);
    assert!(
        result.err.contains("4 cells computed (2 of them for an equal cell), 0 found in the store, 0 failed"),
        "{}",
        result.err
    );
}

/// However a quantity is written, it is run once.
#[test]
fn equal_quantities_are_one_value() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file(
        "s.toml",
        "scenario = \"short.toml\"\n[grid]\n\"dumbbell.rate\" = [\"1mbit\", \"1000kbit\", \"2mbit\"]\n",
    );
    let result = cwnd.run(&["sweep", "s.toml", "--no-store", "--out", "out", "--format", "csv"]);
    assert!(result.err.contains("6 cells computed (2 of them for an equal cell)"), "{}", result.err);
    for warning in
        ["`1000kbit` of `dumbbell.rate` is `1mbit`, and is run as such", "points 1 and 2 of 3 are the same scenario"]
    {
        assert!(result.out.contains(warning), "{warning}: {}", result.out);
    }
}

/// A common cause of failed cells is named once, with their number.
#[test]
fn the_cause_of_failed_cells_is_named() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("s.toml", "scenario = \"short.toml\"\n[grid]\n\"dumbbell.rtt\" = [\"20ms\", \"30ms\"]\n");
    for command in [
        &["evaluate", "reno", "--quick", "--seeds", "1", "--no-store", "--json"][..],
        &["sweep", "s.toml", "--no-store", "--json"],
        &["compare", "reno", "cubic", "--duration", "2s", "--json"],
    ] {
        let result = cwnd.run(&[command, &["--memory", "1kB"]].concat());
        assert_eq!(result.code, Some(1), "{command:?}: {}", result.err);
        let last = result.err.lines().last().unwrap_or_default();
        assert!(last.contains("bytes of memory a run may use"), "{command:?}: {last}");
        let counted = [" cells failed", " cell failed"].iter().any(|failed| result.err.contains(failed));
        assert!(counted, "{command:?}: {}", result.err);
    }
    // One run is no cell, and obeys the bound too.
    let result = cwnd.run(&["bench", "sim", "--duration", "2s", "--memory", "1kB"]);
    assert_eq!(result.code, Some(1), "{}", result.err);
    assert!(result.err.contains("1000 bytes of memory a run may use"), "{}", result.err);
}

/// A point whose runs end with their warm-up has no numbers, and the table says why.
#[test]
fn points_without_a_measured_time_are_named() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("s.toml", "scenario = \"short.toml\"\n[grid]\nwarmup = [\"1s\", \"2.99s\"]\n");
    let document: Value =
        serde_json::from_str(&cwnd.succeed(&["sweep", "s.toml", "--no-store", "--json"])).expect("JSON");
    let warned = document["warnings"][0].as_str().unwrap_or_default();
    assert!(
        warned.starts_with("at 1 of 2 points nothing is measured: less than a round trip"),
        "{}",
        document["warnings"]
    );
    let goodputs = [0, 1].map(|point| document["points"][point]["goodput_bps"].is_null());
    assert_eq!(goodputs, [false, true]);
}
