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
        (Some(2), "error: --trace writes files: with --json, name their folder with --out\n")
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
    for word in ["reno #1", "measured 10.7.0.1:59886", "cubic (Linux)", "simulated"] {
        assert!(first.contains(word), "{word} in {first}");
    }
    let report = std::fs::read_to_string(cwnd.path().join("one/report.html")).expect("a report");
    assert!(report.contains("measured 10.7.0.1:59886 to 10.7.0.2:5201 in ss.txt"));
    // The folder of a run stands for its scenario.
    cwnd.succeed(&["run", &name, "--out", "run"]);
    assert_eq!(cwnd.succeed(&["overlay", "run", "--kernel", &probe, &ss, "--out", "two"]), first);

    // A recording of six seconds has no part in means after ten.
    let late = ["--set", "duration=20s", "--set", "warmup=10s", "--out", "late"];
    let late = cwnd.succeed(&[&["overlay", &name, "--kernel", &ss][..], &late].concat());
    assert!(late.contains("in ss.txt is over before the warm-up of 10 s"), "{late}");
    assert!(!first.contains("is over before"), "{first}");

    let broken = cwnd.file("broken.txt", "x 1.0: tcp_probe: src=1.1.1.1:1 dest=2.2.2.2:2 snd_nxt=y\n");
    let result = cwnd.run(&["overlay", &name, "--kernel", &broken]);
    assert_eq!((result.code, result.err.as_str()), (Some(2), "error: broken.txt, line 1: `snd_nxt` cannot be `y`\n"));
}
