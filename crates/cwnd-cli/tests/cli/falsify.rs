//! `cwnd falsify`, from a search to a file that is judged again.

use super::Cwnd;

#[test]
fn a_counterexample_is_written_and_judged_again() {
    let cwnd = Cwnd::new();
    let search = ["falsify", "bbr", "--property", "starvation", "--profile", "anything", "--search", "random"];
    let budget = ["--evaluations", "16", "--seeds", "2", "--answers", "1", "--corpus", "corpus", "--out", "found"];
    let text = cwnd.succeed(&[&search[..], &budget].concat());
    assert!(text.contains("16 evaluations break it: 1 counterexample"), "{text}");
    assert!(
        text.contains("cwnd falsify --regress found/1/counterexample.toml") && text.contains("\n   cwnd run '#s=1."),
        "{text}"
    );
    assert!(cwnd.path().join("found/1/report.html").is_file());
    let file = cwnd.path().join("found/1/counterexample.toml");
    let scenario = std::fs::read_to_string(&file).expect("it was written");
    assert!(scenario.starts_with("# cwnd falsify: starvation > 0.1\n# bbr breaks it with 12 seeds; "), "{scenario}");

    // The corpus answers a second search.
    let again = cwnd.succeed(&[&search[..], &budget[..8], &["--out", "again"]].concat());
    assert_eq!(again, text.replace("found/", "again/"));

    let few = ["--evaluations", "15", "--corpus", "corpus", "--out", "fewer"];
    let expected = "error: --evaluations: 15 is below the 16 evaluations of the corpus";
    cwnd.refuses(&[&search[..], &few].concat(), expected);

    let red = cwnd.run(&["falsify", "--regress", "found/1/counterexample.toml", "--junit", "junit.xml"]);
    assert_eq!(red.code, Some(1));
    assert!(
        red.out.contains("starvation > 0.1: broken: ") && red.err.contains("error: a property is broken in found/1/"),
        "{red:?}"
    );
    let junit = std::fs::read_to_string(cwnd.path().join("junit.xml")).expect("it was written");
    assert!(junit.contains("tests=\"1\" failures=\"1\" errors=\"0\""), "{junit}");
    let mended = scenario.replace("starvation > 0.1", "starvation > 0");
    let green = cwnd.file("mended.toml", &mended);
    let text = cwnd.succeed(&["falsify", "--regress", &green, "--junit", "junit.xml"]);
    assert!(text.contains("mended.toml: starvation > 0: kept: "), "{text}");
    let junit = std::fs::read_to_string(cwnd.path().join("junit.xml")).expect("it was written");
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{junit}");
}

#[test]
fn shards_with_one_store_have_the_answers_of_one_search() {
    let cwnd = Cwnd::new();
    let search = ["falsify", "reno", "--property", "backlog-utilisation", "--evaluations", "32", "--answers", "1"];
    let whole = cwnd.succeed(&[&search[..], &["--corpus", "whole", "--json"]].concat());
    let corpus = |name: &str| std::fs::read_to_string(cwnd.path().join(name)).expect("it was written");
    for [shard, name] in [["2/2", "second"], ["1/2", "first"]] {
        let of_shard = ["--json", "--store", "cells", "--shard", shard, "--corpus", name];
        assert_eq!(cwnd.succeed(&[&search[..], &of_shard].concat()), whole, "{shard}");
        assert_eq!(corpus(name), corpus("whole"), "{shard}");
    }
}

#[test]
fn nothing_found_names_the_closest_path() {
    let cwnd = Cwnd::new();
    let text = cwnd.succeed(&["falsify", "reno", "--property", "jain > 0.5", "--evaluations", "3", "--out", "found"]);
    assert!(text.starts_with("reno, jain > 0.5, home: nothing within 3 evaluations\nclosest: 1.0000"), "{text}");
    let text = cwnd.succeed(&["run", "found/closest.toml", "--check"]);
    assert_eq!(text, "found/closest.toml: valid scenario\n");
    let text = cwnd.succeed(&["falsify", "reno", "--property", "jain > 0.5", "--minutes", "1e-9", "--out", "nothing"]);
    assert!(text.starts_with("reno, jain > 0.5, home: no evaluation was made\n"), "{text}");
}

/// A night whose property no run answers would be green for ever.
#[test]
fn a_search_that_says_nothing_fails() {
    let cwnd = Cwnd::new();
    for (property, reason) in [
        ("completion_time_s < 1", "it has no completion_time_s"),
        ("jain / 0 > 1", "`jain / 0` is undefined or infinite"),
    ] {
        let red =
            cwnd.run(&["falsify", "reno", "--property", property, "--evaluations", "2", "--json", "--out", "out"]);
        assert!(red.code == Some(1) && red.out.contains(reason), "{red:?}");
        assert!(red.err.ends_with("error: no evaluation says anything about the property\n"), "{red:?}");
        std::fs::remove_dir_all(cwnd.path().join("out")).expect("it was written");
    }
}

#[test]
fn an_expression_over_measures_is_judged_again_from_its_file() {
    let cwnd = Cwnd::new();
    let property = "utilisation - 2*loss_rate > 0.999";
    let budget = ["--evaluations", "2", "--seeds", "1", "--answers", "1", "--search", "random", "--out", "found"];
    let text = cwnd.succeed(&[&["falsify", "reno", "--property", property][..], &budget].concat());
    assert!(
        text.starts_with(&format!("reno, {property}, home: 2 of 2 evaluations break it: 1 counterexample")),
        "{text}"
    );
    let file = std::fs::read_to_string(cwnd.path().join("found/1/counterexample.toml")).expect("it was written");
    assert!(file.starts_with(&format!("# cwnd falsify: {property}\n")), "{file}");
    let red = cwnd.run(&["falsify", "--regress", "found/1/counterexample.toml"]);
    assert!(red.code == Some(1) && red.out.contains(&format!("{property}: broken: ")), "{red:?}");
}

#[test]
fn a_file_whose_runs_say_nothing_is_not_called_broken() {
    let cwnd = Cwnd::new();
    cwnd.file("silent.toml", &format!("# cwnd falsify: completion_time_s > 1\n{}", super::SHORT));
    let red = cwnd.run(&["falsify", "--regress", "silent.toml"]);
    assert!(red.out.contains("not judged: the run says nothing: it has no completion_time_s with"), "{red:?}");
    assert!(red.code == Some(1) && red.err.contains("error: a property cannot be judged in silent.toml"), "{red:?}");
    // A search for it is refused, too.
    cwnd.file("unlike.toml", &format!("# cwnd falsify: doubling\n{}", super::SHORT.replace("\"reno\"", "\"bbr\"")));
    let red = cwnd.run(&["falsify", "--regress", "unlike.toml"]);
    assert!(red.out.contains("not judged: the run says nothing: its window follows an estimate of a rate"), "{red:?}");
}

#[test]
fn wrong_arguments_are_refused() {
    let cwnd = Cwnd::new();
    cwnd.file("plain.toml", super::SHORT);
    cwnd.file("corpus", "something else\n");
    let named = "# cwnd falsify: utilisation > 0.5\n";
    cwnd.file("quoted.toml", &format!("title = \"\"\"\n{named}\"\"\"\n{}", super::SHORT));
    cwnd.file("two.toml", &format!("{named}# Two.\n{named}{}", super::SHORT));
    let cases: &[(&[&str], &str)] = &[
        (&["reno"], "error: the following required arguments were not provided:\n  --property <PROPERTY>"),
        (
            &["reno", "--property", "starvtion"],
            "error: invalid value 'starvtion' for '--property <PROPERTY>': unknown property `starvtion`; did you mean `starvation`?",
        ),
        (
            &["reno", "--property", "utilisation"],
            "error: invalid value 'utilisation' for '--property <PROPERTY>': the measure `utilisation` needs a bound",
        ),
        (
            &["prague", "--property", "l4s-delay < -1"],
            "error: invalid value 'l4s-delay < -1' for '--property <PROPERTY>': the bound of `l4s-delay` is -1: accepted is above 0",
        ),
        (
            &["reno", "--property", "utilisation > 1.1"],
            "error: invalid value 'utilisation > 1.1' for '--property <PROPERTY>': the bound of `utilisation` is 1.1: accepted is 0 and more, below 1",
        ),
        (
            &["reno", "--property", "utilisation - 2*los_rate > 0.4"],
            "error: invalid value 'utilisation - 2*los_rate > 0.4' for '--property <PROPERTY>': unknown measure `los_rate`; did you mean `loss_rate`?",
        ),
        (
            &["udt", "--property", "l4s-delay"],
            "error: udt: its sender does not answer congestion marks, which `l4s-delay` is about",
        ),
        (
            &["reno", "--property", "progress", "--profile", "moon"],
            "error: invalid value 'moon' for '--profile <PROFILE>': accepted are home, mobile, datacentre, satellite, anything",
        ),
        (
            &["reno", "--property", "progress", "--minutes", "0"],
            "error: invalid value '0' for '--minutes <M>': expected a number of minutes above 0",
        ),
        (
            &["reno", "--property", "progress", "--corpus", "corpus"],
            "error: --corpus: corpus: it is the corpus of another search or of other sources: its line 1 is `something else`, not",
        ),
        (
            &["reno", "--property", "progress", "--corpus", "nowhere/c"],
            "error: --corpus: there is no directory `nowhere`",
        ),
        (&["--regress", "plain.toml", "--junit", "nowhere/x"], "error: --junit: there is no directory `nowhere`"),
        (
            &["--regress", "plain.toml", "--json"],
            "error: the argument '--regress <FILE>...' cannot be used with '--json'",
        ),
        (
            &["--regress", "plain.toml", "--out", "found"],
            "error: the argument '--regress <FILE>...' cannot be used with '--out <DIR>'",
        ),
        (&["--regress", "plain.toml"], "error: plain.toml: it names no property: expected a line"),
        (&["--regress", "quoted.toml"], "error: quoted.toml: it names no property: expected a line"),
        (&["--regress", "two.toml"], "error: two.toml: line 3 names a second property: expected one"),
        (
            &["reno", "--property", "-2*los_rate > -1"],
            "error: invalid value '-2*los_rate > -1' for '--property <PROPERTY>': unknown measure `los_rate`; did you mean `loss_rate`?",
        ),
        (&["--regress", "nowhere.toml"], "error: cannot read `nowhere.toml`: "),
        (
            &["reno", "--property", "progress", "--memory", "63MB"],
            "error: --memory: an evaluation may use 64.0 MB: expected that or more",
        ),
        (
            &["reno", "--property", "progress", "--shard", "1/2"],
            "error: the following required arguments were not provided:\n  --store <DIR>",
        ),
        (
            &["reno", "--property", "progress", "--store", "cells", "--shard", "3/2"],
            "error: invalid value '3/2' for '--shard <I/N>': expected a shard and how many there are, such as `1/8`",
        ),
        (
            &["--regress", "plain.toml", "--junit", "./plain.toml"],
            "error: --junit: it is a file of --regress, and would be lost: expected another",
        ),
        (&["--junit", "x.xml", "--list"], "error: the argument '--junit <FILE>' cannot be used with '--list'"),
    ];
    let long = format!("jain + {} > 1", "x".repeat(5000));
    let refused = cwnd.run(&["falsify", "reno", "--property", &long]);
    assert!(refused.code == Some(2) && refused.err.len() < 2000, "{refused:?}");
    for (arguments, expected) in cases {
        cwnd.refuses(&[&["falsify"][..], *arguments].concat(), expected);
    }
}

/// examples/nightly: a counterexample fails a night until it is among the known ones, and one that was mended fails it if it is broken.
#[cfg(unix)]
#[test]
fn a_night_fails_on_a_counterexample_that_is_not_known() {
    let cwnd = Cwnd::new();
    let night = || {
        let mut command = std::process::Command::new("sh");
        command.arg(super::root().join("examples/nightly/falsify.sh"));
        command.args(["bbr", "starvation", "night", "--profile", "anything", "--search", "random"]);
        command.args(["--evaluations", "16", "--seeds", "1"]).current_dir(cwnd.path());
        command.env("CWND", env!("CARGO_BIN_EXE_cwnd")).output().expect("there is a shell")
    };
    let first = night();
    assert_eq!(first.status.code(), Some(1), "{first:?}");
    let error = String::from_utf8_lossy(&first.stderr);
    assert!(error.contains("new: night/found/1/counterexample.toml (# needs: "), "{error}");
    let corpus = std::fs::read(cwnd.path().join("night/corpus")).expect("it is kept");

    for directory in ["night/known", "night/mended"] {
        std::fs::create_dir(cwnd.path().join(directory)).expect("a directory");
    }
    let file = |place: &str| cwnd.path().join("night").join(place);
    let found = std::fs::read_dir(file("found")).expect("the answers").map(|entry| entry.expect("one").path());
    for (nth, answer) in found.filter(|path| path.is_dir()).enumerate() {
        std::fs::copy(answer.join("counterexample.toml"), file(&format!("known/{nth}.toml"))).expect("a known one");
    }
    let second = night();
    assert_eq!(second.status.code(), Some(0), "{second:?}");
    assert!(corpus == std::fs::read(file("corpus")).expect("it is kept") && !file("found/1").exists());

    std::fs::copy(file("known/0.toml"), file("mended/0.toml")).expect("one that was mended");
    let third = night();
    assert_eq!(third.status.code(), Some(1), "{third:?}");
    assert!(String::from_utf8_lossy(&third.stderr).contains("a property is broken in night/mended/0.toml"));
}

#[test]
fn the_counterexamples_of_the_project_break_their_properties() {
    let cwnd = Cwnd::new();
    let files: Vec<String> = std::fs::read_dir(super::root().join("scenarios/counterexamples"))
        .expect("the counterexamples are there")
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    let judged = [&["falsify", "--regress"][..], &files.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat();
    let red = cwnd.run(&judged);
    assert_eq!(red.code, Some(1));
    assert_eq!(red.out.matches(": broken: ").count(), files.len(), "{red:?}");
}
