//! Traces for other tools, and traces of a kernel.

use cwnd_lab::sweep::PartFormat;

use super::{Cwnd, SHORT, root};

#[test]
fn traces_are_written_beside_the_report() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    let plain = cwnd.succeed(&["run", &name, "--out", "plain"]);
    let traced = cwnd.succeed(&["run", &name, "--trace", "pcapng,qlog,qlog:legacy,flent", "--out", "traced"]);
    assert_eq!(plain, traced, "looking changes nothing");
    let more: Vec<String> =
        cwnd.files().into_iter().filter_map(|file| Some(file.strip_prefix("traced/traces/")?.to_string())).collect();
    assert_eq!(
        more,
        [
            "1-reno-1.legacy.sqlog",
            "1-reno-1.sqlog",
            "2-reno-2.legacy.sqlog",
            "2-reno-2.sqlog",
            "scenario-1.flent",
            "scenario-2.flent",
            "scenario.flows.csv",
            "scenario.links.csv",
            "scenario.pcapng"
        ]
    );
}

#[test]
fn formats_are_named() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    let result = cwnd.run(&["run", &name, "--trace", "pcap"]);
    assert_eq!(result.code, Some(2));
    assert!(result.err.contains("unknown format `pcap`; did you mean `pcapng`?"), "{}", result.err);
    let result = cwnd.run(&["run", &name, "--trace", "flent", "--json"]);
    assert_eq!(
        (result.code, result.err.as_str()),
        (Some(2), "error: --trace writes files: with --json, name their directory with --out\n")
    );
    // Not the feature of this crate: where the whole workspace is built, another may have turned Parquet on.
    if PartFormat::USUAL != PartFormat::Parquet {
        let result = cwnd.run(&["run", &name, "--trace", "parquet"]);
        assert_eq!(result.code, Some(2));
        assert!(result.err.contains("cargo install --path crates/cwnd-cli --features parquet"), "{}", result.err);
    }
    assert_eq!(cwnd.files(), ["x.toml"]);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_are_whole() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    cwnd.succeed(&["run", &name, "--trace", "parquet", "--out", "run"]);
    for table in ["flows", "flow_samples", "links", "link_samples"] {
        let file = std::fs::read(cwnd.path().join(format!("run/traces/{table}.parquet"))).expect(table);
        // A file begins and, behind what says where all is, ends with the same four bytes.
        assert!(file.len() > 8 && file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{table}");
    }
}

#[test]
fn an_overlay_has_the_flows_of_the_kernel() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    let recorded = |name: &str| {
        let path = root().join("crates/cwnd-lab/tests/kernel").join(name);
        path.display().to_string()
    };
    let (probe, ss) = (recorded("tcp_probe.txt"), recorded("ss.txt"));
    let first = cwnd.succeed(&["overlay", &name, "--kernel", &probe, &ss, "--out", "one"]);
    for word in ["x.toml: reno #1", "ss.txt: ", "cubic (Linux)", "simulated"] {
        assert!(first.contains(word), "{word} in {first}");
    }
    let report = std::fs::read_to_string(cwnd.path().join("one/report.html")).expect("a report");
    assert!(report.contains("ss.txt: 10.7.0.1:59886 to 10.7.0.2:5201"));
    // The directory of a run has its traces, and `--kernel` is only a name of inputs.
    cwnd.succeed(&["run", &name, "--out", "run"]);
    let label = ["--label", "x.toml", "--out", "two"];
    assert_eq!(cwnd.succeed(&[&["overlay", "run", &probe, &ss][..], &label].concat()), first);
    std::fs::remove_dir_all(cwnd.path().join("run/traces")).expect("there were traces");
    let label = ["--label", "x.toml", "--out", "three"];
    assert_eq!(cwnd.succeed(&[&["overlay", "run", "--kernel", &probe, &ss][..], &label].concat()), first);

    // A recording of six seconds has no part in means after ten.
    let late = ["--set", "duration=20s", "--set", "warmup=10s", "--out", "late"];
    let late = cwnd.succeed(&[&["overlay", &name, "--kernel", &ss][..], &late].concat());
    assert!(late.contains("10.7.0.2:5201 is over before the warm-up of 10 s"), "{late}");
    assert!(!first.contains("is over before"), "{first}");

    let broken = cwnd.file("broken.txt", "x 1.0: tcp_probe: src=1.1.1.1:1 dest=2.2.2.2:2 snd_nxt=y\n");
    let result = cwnd.run(&["overlay", &name, "--kernel", &broken]);
    assert_eq!((result.code, result.err.as_str()), (Some(2), "error: broken.txt, line 1: `snd_nxt` cannot be `y`\n"));
}

/// The exported and the stored traces of a run show the same as the run.
#[test]
fn an_overlay_takes_any_run() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    cwnd.succeed(&["run", &name, "--trace", "pcapng,qlog,qlog:legacy", "--out", "run"]);
    let traces = cwnd.path().join("run/traces");
    let files = std::fs::read_dir(&traces).expect("traces").flatten().map(|entry| entry.path().display().to_string());
    let mut files: Vec<String> = files.filter(|file| file.contains("log") || file.ends_with("pcapng")).collect();
    files.sort();
    let inputs: Vec<&str> = std::iter::once("run").chain(files.iter().map(String::as_str)).collect();
    let text = cwnd.succeed(&[&["overlay", "--out", "out"][..], &inputs].concat());
    let summary = std::fs::read(cwnd.path().join("out/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("JSON");
    let flows = summary["flows"].as_array().expect("flows");
    let simulated: Vec<&serde_json::Value> = flows.iter().filter(|flow| flow["input"] == "run").collect();
    for source in ["qlog", "capture"] {
        assert!(flows.iter().any(|flow| flow["source"] == source), "{text}");
    }
    for flow in flows {
        let own = |one: &&&serde_json::Value| {
            flow["flow"]
                .as_str()
                .zip(one["flow"].as_str())
                .is_some_and(|(a, b)| a.split(": ").last() == b.split(": ").last())
        };
        let one = simulated.iter().find(own).unwrap_or_else(|| panic!("{flow} of {text}"));
        for key in ["goodput_bps", "srtt_s"] {
            let (value, expected) = (flow[key].as_f64().expect(key), one[key].as_f64().expect(key));
            assert!((value / expected - 1.0).abs() < 0.1, "{key} of {flow} and {one}");
        }
        assert_eq!(flow["algorithm"], one["algorithm"]);
    }
    // The directory of an overlay is one of results.
    cwnd.succeed(&["overlay", "out", "run", "--out", "again"]);

    let refused = |arguments: &[&str], why: &str| {
        let result = cwnd.run(arguments);
        assert_eq!((result.code, result.err.trim_end()), (Some(2), why));
    };
    let text = cwnd.file("notes.txt", "hello\n");
    let known = "error: notes.txt: it is none of what can be laid over a run: a scenario (TOML), the traces of flows of `cwnd run` (CSV \
                 that begins with `seed,time_s,flow,algorithm`), events of tcp:tcp_probe, outputs of `ss -ti`, qlog, pcap or pcapng";
    refused(&["overlay", &text], known);
    let offsets = ["--offset", "0s", "--offset", "1s"];
    let why = "error: --offset: 2 offsets for 1 input: accepted is one, or one for each input";
    refused(&[&["overlay", &name][..], &offsets].concat(), why);
    let labels = ["--label", "a", "--label", "b"];
    refused(
        &[&["overlay", &name][..], &labels].concat(),
        "error: --label: 2 labels for 1 input: at most one for each is accepted",
    );
    refused(
        &["overlay", "run", &name, "--label", "a", "--label", "a"],
        "error: --label: two inputs cannot both be `a`",
    );
    refused(
        &["overlay", &files[0], "--set", "seeds=1"],
        "error: --set seeds=1: none of the inputs is a scenario or a run",
    );
}

#[test]
fn two_traces_differ_where_their_flows_do() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    cwnd.succeed(&["run", &name, "--trace", "qlog,qlog:legacy", "--out", "run"]);
    let diff = |theirs: &str, more: &[&str]| {
        cwnd.run(&[&["trace", "diff", &name, theirs, "--flow", "reno #1"][..], more].concat())
    };
    // The trace of a run and its log, in either spelling, are the scenario's.
    for theirs in
        ["run", "run/traces/scenario.flows.csv", "run/traces/1-reno-1.sqlog", "run/traces/1-reno-1.legacy.sqlog"]
    {
        let result = diff(theirs, &[]);
        assert_eq!((result.code, result.err.as_str()), (Some(0), ""), "{theirs}: {}", result.out);
        assert!(result.out.contains("outside of a band: 0 of 4\n"), "{}", result.out);
    }
    cwnd.succeed(&["run", &name, "--set", "dumbbell.rate=2mbit", "--set", "seeds=1", "--out", "slow"]);
    let result = diff("slow", &[]);
    assert_eq!(result.code, Some(1), "{}", result.out);
    assert!(result.err.starts_with("error: first difference: "), "{}", result.err);
    // Bands that accept everything.
    let wide = "[[band]]\nquantity = \"window\"\nabsolute = 1e6\nreason = \"any window\"\n";
    let band = cwnd.file("wide.toml", wide);
    assert_eq!(diff("slow", &["--band", &band]).code, Some(0));
    let refused = |result: super::CommandResult, why: &str| {
        assert_eq!((result.code, result.err.trim_end()), (Some(2), why));
    };
    let wrong = cwnd.file("wrong.toml", "[[band]]\nquantity = \"rtt\"\nrelative = 11\n");
    refused(
        diff("slow", &["--band", &wrong]),
        "error: --band wrong.toml: band 1: `relative` cannot be 11: accepted is 0 to 10",
    );
    refused(diff("nothing", &[]), "error: cannot read `nothing`: No such file or directory (os error 2)");
    refused(
        cwnd.run(&["trace", "diff", &name, "run"]),
        "error: x.toml: it has the flows reno #1, reno #2: name one with --flow",
    );
}

#[test]
fn a_reference_is_written_and_compared_with() {
    let cwnd = Cwnd::new();
    let listed = cwnd.succeed(&["trace", "reference"]);
    assert!(listed.contains("RFC 9438") && listed.lines().count() > 37, "{listed}");
    cwnd.succeed(&["trace", "reference", "tlp-1", "--out", "references"]);
    // The log and the table of the reference lie inside its bands, and its files are accepted in their place.
    for theirs in ["references/tlp-1/traces/1-reno.sqlog", "references/tlp-1/traces/scenario.flows.csv"] {
        cwnd.succeed(&["trace", "diff", "reference:tlp-1", theirs]);
    }
    let bands = ["--band", "references/tlp-1/bands.toml"];
    cwnd.succeed(&[&["trace", "diff", "references/tlp-1/scenario.toml", "reference:tlp-1"][..], &bands].concat());
    // Another reference is another run.
    let other = cwnd.run(&["trace", "diff", "reference:tlp-1", "reference:reno-1"]);
    assert_eq!(other.code, Some(1), "{}", other.out);
    let refused = |arguments: &[&str], why: &str| {
        let result = cwnd.run(arguments);
        assert_eq!((result.code, result.err.lines().next()), (Some(2), Some(why)));
    };
    refused(
        &["trace", "reference", "tlp1"],
        "error: invalid value 'tlp1' for '[NAMES]...': unknown reference `tlp1`; did you mean `tlp-1`? (`cwnd trace reference` lists all)",
    );
    refused(
        &["trace", "diff", "reference:x", "references/tlp-1"],
        "error: reference:x: unknown reference `x` (`cwnd trace reference` lists all)",
    );
}
