//! The output and the files of a run.

use serde_json::Value;

use super::{Cwnd, SHORT, root};

const COMPARE: [&str; 11] =
    ["compare", "reno", "aimd:b=1/8", "--rate", "10mbit", "--duration", "4s", "--warmup", "1s", "--seeds", "2"];

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn json_is_all_of_standard_output_and_writes_nothing() {
    let cwnd = Cwnd::new();
    let result = cwnd.run(&[&COMPARE[..], &["--json", "--versus", "cubic"]].concat());
    assert_eq!((result.code, result.err.as_str()), (Some(0), ""));
    assert_eq!(cwnd.files(), Vec::<String>::new());
    let document = json(&result.out);
    assert_eq!(document["seeds"], 2);
    assert_eq!(document["warmup_s"], 1.0);
    assert_eq!(document["flows"], 2);
    assert_eq!(document["algorithms"][1]["algorithm"], "aimd:b=1/8");
    for key in ["utilisation", "goodput_bps", "jain", "stability_index", "loss_rate", "queue_delay_mean_s"] {
        let estimate = &document["algorithms"][0][key];
        assert!(
            estimate["mean"].is_number() && estimate["ci95"].is_number() && estimate["n"] == 2,
            "{key}: {estimate}"
        );
    }
    let row = &document["algorithms"][0];
    let utilisation = row["utilisation"]["mean"].as_f64().expect("a number");
    let goodput = row["goodput_bps"]["mean"].as_f64().expect("a number");
    assert!((0.8..=1.0).contains(&utilisation), "{utilisation}");
    // Payload is 1460 of 1500 bytes on a line of 10 Mbit/s.
    assert!(goodput <= 1e7 * 1460.0 / 1500.0 * 1.001 && goodput > 0.8e7, "{goodput}");
    let share = row["versus"]["share"]["mean"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&share) && row["versus"]["algorithm"] == "cubic", "{share}");
    assert_eq!(row["versus"]["flow_goodput_bps"].as_array().map(Vec::len), Some(4));
    assert_eq!(row["digests"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_directory_of_results_is_complete() {
    let cwnd = Cwnd::new();
    let result = cwnd.run(&[&COMPARE[..], &["--out", "results"]].concat());
    assert_eq!((result.code, result.err.as_str()), (Some(0), "wrote results\n"));
    assert_eq!(
        cwnd.files(),
        [
            "results",
            "results/report.html",
            "results/summary.json",
            "results/traces",
            "results/traces/aimd-b-1-8.flows.csv",
            "results/traces/aimd-b-1-8.links.csv",
            "results/traces/reno.flows.csv",
            "results/traces/reno.links.csv"
        ]
    );
    let read = |name: &str| std::fs::read_to_string(cwnd.path().join("results").join(name)).expect("it was listed");
    let again = cwnd.succeed(&[&COMPARE[..], &["--json"]].concat());
    assert_eq!(json(&read("summary.json")), json(&again), "the same runs give the same document");

    let flows = read("traces/reno.flows.csv");
    let mut lines = flows.lines();
    let header = lines.next().expect("a header");
    for column in ["time_s", "flow", "window_packets", "in_flight_packets", "srtt_s", "goodput_bps", "ssthresh"] {
        assert!(header.split(',').any(|name| name == column), "{column} in {header}");
    }
    // Two seeds, two flows, every 100 ms from 0 to 4 s.
    assert_eq!(lines.clone().count(), 2 * 2 * 41);
    assert!(lines.all(|line| line.split(',').count() == header.split(',').count()));
    let report = read("report.html");
    assert!(report.contains("cwnd compare reno aimd:b=1/8 --rate 10mbit"), "the report names its command");
}

#[test]
fn results_on_paper_make_a_directory_when_asked() {
    let cwnd = Cwnd::new();
    let walk = ["model", "rounds", "reno", "--start", "20,20", "--flow-rtt", "100ms,200ms", "--events", "3"];
    let result = cwnd.run(&[&walk[..], &["--out", "paper"]].concat());
    assert_eq!((result.code, result.err.as_str()), (Some(0), "wrote paper\n"));
    assert_eq!(cwnd.files(), ["paper", "paper/report.html", "paper/summary.json"]);
    let read = |name: &str| std::fs::read_to_string(cwnd.path().join("paper").join(name)).expect("it was listed");
    let document = json(&cwnd.succeed(&[&walk[..], &["--json"]].concat()));
    assert_eq!(json(&read("summary.json")), document);
    assert_eq!(document["flow_rtt_s"], serde_json::json!([0.1, 0.2]));
    let page = read("report.html");
    assert!(page.contains("cwnd model rounds reno --start 20,20") && page.contains("<figure id=\"phase-1\">"));
    for (arguments, figure) in [
        (&["model", "response", "reno", "udt"][..], "response"),
        (&["model", "convergence", "reno", "exp-tcp"], "windows-2"),
        (&["model", "udt"], "delays"),
    ] {
        cwnd.succeed(&[arguments, &["--out", figure]].concat());
        let page = std::fs::read_to_string(cwnd.path().join(figure).join("report.html")).expect("it was written");
        assert!(page.contains(&format!("<figure id=\"{figure}\">")), "{figure}");
    }
    let refused = cwnd.run(&["model", "rounds", "reno", "--flow-rtt", "50ms"]);
    assert!(refused.code == Some(2) && refused.err.contains("--flow-rtt: expected 2 times"), "{}", refused.err);
    let again = cwnd.run(&["model", "udt", "--out", "paper"]);
    assert!(again.code != Some(0) && again.err.contains("exists already"), "{}", again.err);
}

#[test]
fn directories_have_fresh_names_unless_named() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("short.toml", SHORT);
    for number in 1..=2 {
        let result = cwnd.run(&["run", &name]);
        let path = result.err.trim().strip_prefix("wrote ").unwrap_or_else(|| panic!("{}", result.err)).to_string();
        assert!(path.starts_with("out/run-2") && path.ends_with(&format!("-{number}")), "{path}");
        assert!(cwnd.path().join(path).join("summary.json").is_file());
    }
}

#[test]
fn the_table_has_units_intervals_and_the_frame() {
    let cwnd = Cwnd::new();
    let text = cwnd.succeed(&[&COMPARE[..], &["--out", "results"]].concat());
    for part in ["2 seeds of 4 s, warm-up 1 s", "Mbit/s", "Jain", "mallest to largest", "aimd:b=1/8"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let text = cwnd.succeed(&[&COMPARE[..], &["--versus", "reno", "--out", "against"]].concat());
    let headings: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("algorithm")).take(2).collect();
    let words = headings.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(words, ["algorithm share utilisation loss queueing", "vs reno, % % % delay, ms"], "{text}");
}

#[test]
fn a_limited_flow_is_warned_of() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("short.toml", &format!("{SHORT}max_window = 2\n"));
    let text = cwnd.succeed(&["run", &name, "--out", "results"]);
    assert!(text.contains("warning: a flow was receiver-limited"), "{text}");
}

#[test]
fn seeds_and_overrides_change_a_run() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("short.toml", SHORT);
    let plain = json(&cwnd.succeed(&["run", &name, "--json"]));
    let faster = json(&cwnd.succeed(&["run", &name, "--json", "--seeds", "3", "--set", "dumbbell.rate=20mbit"]));
    assert_eq!((&plain["seeds"], &faster["seeds"]), (&Value::from(2), &Value::from(3)));
    assert_eq!(faster["links"][0]["rate_bps"], 20_000_000);
    assert_eq!(plain["bottleneck"], "bottleneck");
    let digests = plain["digests"].as_array().expect("a list");
    assert_ne!(digests[0], digests[1], "two seeds are two runs");
    assert_eq!(plain["flows"][0]["fair_share_bps"], 5e6 * 1460.0 / 1500.0);
}

#[test]
fn a_run_repeats_the_digest_of_a_bench() {
    let cwnd = Cwnd::new();
    let bench = ["bench", "sim", "--flows", "4", "--rate", "50mbit", "--duration", "2s", "--warmup", "1s"];
    let measured = json(&cwnd.succeed(&[&bench[..], &["--json"]].concat()));
    for key in ["delivered_packets_per_s", "events_per_s", "bytes_per_flow", "real_time_factor", "utilisation"] {
        assert!(measured[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {}", measured[key]);
    }
    let scenario = cwnd.file("bench.toml", &cwnd.succeed(&[&bench[..], &["--print-scenario"]].concat()));
    let repeated = json(&cwnd.succeed(&["run", &scenario, "--json"]));
    assert_eq!(repeated["digests"][0], measured["digest"]);
}

/// Reno's queue is short where its window only grows: it loses the first packet after two minutes.
#[test]
fn a_transient_has_no_star_and_the_text_says_why() {
    let cwnd = Cwnd::new();
    let path = ["--rate", "200mbit", "--rtt", "100ms", "--duration", "15s", "--warmup", "5s"];
    let compare = |seeds| cwnd.succeed(&[&["compare", "reno", "scalable", "--seeds", seeds][..], &path].concat());
    let table = compare("3");
    assert!(!table.contains('*'), "{table}");
    let below = table.split("\nSmallest to largest of 3 seeds;").nth(1).unwrap_or_else(|| panic!("{table}"));
    let reason = below.lines().nth(1).expect("a line of its own");
    let seconds =
        reason.strip_prefix("No star in a column with a window too short for reno, scalable; try --duration ");
    let seconds: f64 =
        seconds.and_then(|rest| rest.strip_suffix("s.")?.parse().ok()).unwrap_or_else(|| panic!("{reason}"));
    // Five cycles of 833 round trips of 100 to 200 ms and the way to the first loss.
    assert!((600.0..1000.0).contains(&seconds), "{reason}");
    assert!(compare("2").ends_with("Stars need 3 seeds.\n"));
}

/// No cell leaves what the quantity can be: a range of two seeds, and an interval of five that a bound cuts.
#[test]
fn cells_stay_in_their_domain() {
    let cwnd = Cwnd::new();
    let compare = |seeds| {
        let arguments =
            ["compare", "cubic", "reno", "--flows", "4", "--rate", "10mbit", "--rtt", "40ms", "--duration", "4s"];
        json(&cwnd.succeed(&[&arguments[..], &["--warmup", "1s", "--json", "--seeds", seeds]].concat()))
    };
    for seeds in ["2", "5"] {
        for row in compare(seeds)["algorithms"].as_array().expect("a list") {
            for key in ["utilisation", "jain", "loss_rate", "retransmission_ratio"] {
                let of = |what: &str| row[key][what].as_f64().expect("a number");
                let least = if key == "jain" { 0.25 } else { 0.0 };
                assert!(least <= of("low") && of("low") <= of("mean"), "{seeds} {key}: {}", row[key]);
                assert!(of("mean") <= of("high") && of("high") <= 1.0 + 1e-9, "{seeds} {key}: {}", row[key]);
            }
        }
    }
}

#[test]
fn the_heading_is_the_path() {
    let cwnd = Cwnd::new();
    let short = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "2s", "--warmup", "1s", "--seeds", "1"];
    for (given, named) in [
        (&["--policer", "5mbit,burst=30kB"][..], "policer 5mbit,burst=30kB"),
        (&["--shaper", "5mbit,burst=30kB"], "shaper 5mbit,burst=30kB"),
        (&["--reorder", "0.02:15ms"], "reorder 0.02:15ms"),
        (&["--jitter", "3ms"], "jitter 3ms"),
        (
            &["--aggregate", "4ms", "--thin-acks", "2"],
            // No acknowledgement goes the way of the data.
            "aggregate 4ms, reverse aggregate 4ms, reverse thin acks 2",
        ),
        (&["--outage", "1s..1.1s"], "outage 1s..1.1s"),
        (&["--loss", "0.01"], "loss 1 %"),
        (&["--host", "tso"], "host tso"),
        (&["--recovery", "newreno"], "recovery newreno"),
        (&["--slow-start", "hystart++"], "slow start hystart++"),
        (&["--ecn", "per-packet"], "ecn per-packet"),
    ] {
        let text = cwnd.succeed(&[&["compare", "reno"][..], &short, given].concat());
        let heading = text.split("\n1 seed of").next().expect("a heading").replace('\n', " ");
        assert_eq!(heading, format!("2 flows of each algorithm on 10mbit, 20ms, droptail:1bdp, {named}, era modern"));
    }
    let text =
        cwnd.succeed(&[&["compare", "reno"][..], &short, &["--era", "ns2-2001", "--queue", "pie:100p"]].concat());
    assert!(
        text.starts_with("2 flows of each algorithm on 10mbit, 20ms, pie:100p, era ns2-2001\n1 seed of 2 s"),
        "{text}"
    );
}

#[test]
fn seeds_are_added_until_the_interval_is_narrow() {
    let cwnd = Cwnd::new();
    let run = |more: &[&str]| json(&cwnd.succeed(&[&COMPARE[..], &["--loss", "0.01", "--json"], more].concat()));
    let seeds = |document: &Value| document["algorithms"][0]["goodput_bps"]["n"].as_u64().expect("a count");
    let few = run(&["--until", "ci<1000%"]);
    assert_eq!((seeds(&few), &few["seeds"]), (2, &2.into()));
    // 2, then one more, then one more.
    let more = run(&["--until", "ci<0.0001%", "--max-seeds", "4"]);
    assert_eq!((seeds(&more), &more["seeds"]), (4, &4.into()));
    // The first seeds are the same, and none is run twice.
    let digests = |document: &Value| document["algorithms"][0]["digests"].as_array().expect("a list").clone();
    assert_eq!(digests(&more)[..2], digests(&few)[..]);
    assert_eq!(digests(&more), digests(&run(&["--until", "ci<0.0001%", "--max-seeds", "4"])));
    let all: std::collections::BTreeSet<String> = digests(&more).iter().map(ToString::to_string).collect();
    assert_eq!(all.len(), 4);
    let result = cwnd.run(&["compare", "reno", "--until", "2%"]);
    assert!(result.err.contains("cannot read `2%`: expected how narrow the 95 % interval is to be"), "{}", result.err);
}

#[test]
fn differences_are_taken_seed_by_seed() {
    let cwnd = Cwnd::new();
    let document = json(&cwnd.succeed(&[&COMPARE[..], &["--json"]].concat()));
    let [first, second] = [0, 1].map(|row| &document["algorithms"][row]);
    assert_eq!(first["differences"], Value::Array(Vec::new()));
    let found = second["differences"].as_array().expect("a list").iter().find(|one| one["key"] == "goodput_bps");
    let mean = |value: &Value| value["mean"].as_f64().expect("a number");
    let expected = mean(&second["goodput_bps"]) - mean(&first["goodput_bps"]);
    assert!((mean(&found.expect("it is there")["difference"]) - expected).abs() < 1.0);
    let text = cwnd.succeed(&[&COMPARE[..], &["--paired", "--out", "x"]].concat());
    assert!(text.contains("\nDifferences from reno, seed by seed\n"), "{text}");
}

#[test]
fn the_warm_up_can_be_found() {
    let cwnd = Cwnd::new();
    let auto =
        ["compare", "reno", "--rate", "10mbit", "--duration", "20s", "--warmup", "auto", "--seeds", "2", "--json"];
    let warmup = json(&cwnd.succeed(&auto))["warmup_s"].as_f64().expect("a number");
    // The path is full within a second of slow start, and a cut would follow a sawtooth at most.
    assert!((0.0..=10.0).contains(&warmup) && (warmup * 5.0).fract().abs() < 1e-9, "{warmup}");
}

#[test]
fn an_evaluation_has_every_heading_and_no_verdict() {
    let cwnd = Cwnd::new();
    let arguments = ["evaluate", "aimd:b=1/8", "--quick", "--seeds", "1", "--store", "cells"];
    let document = json(&cwnd.succeed(&[&arguments[..], &["--json"]].concat()));
    let sections = every_heading(&document);
    let against = |opponent: &str, column: &str| -> f64 {
        let rows = sections[5]["rows"].as_array().expect("a list");
        let wanted = format!("1 flow against 1 of {opponent}");
        let row = rows.iter().find(|row| {
            row["traffic"] == *wanted && row["measure"] == "share of the goodput" && row["queue"] == "droptail:1bdp"
        });
        row.expect("it is asked")[column]["mean"].as_f64().expect("a number")
    };
    // A gentler cut than Reno's takes more from Reno than Reno does.
    assert!(against("reno", "algorithm") > against("reno", "reno"));

    let text = cwnd.succeed(&[&arguments[..], &["--out", "out"]].concat());
    assert!(text.contains("6.2 Tunnel Behavior\nnot covered: "), "{text}");
    let page = std::fs::read_to_string(cwnd.path().join("out/report.html")).expect("a page");
    for wanted in ["Share over buffer depth", "Harm to Reno and CUBIC", "Utilisation over delay", "id=\"section-7-10\""]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    let result = cwnd.run(&["evaluate", "rneo", "--quick"]);
    assert_eq!(result.code, Some(2), "{}", result.err);
    assert!(result.err.contains("unknown algorithm `rneo`; did you mean `reno`?"), "{}", result.err);
}

/// One that sets a rate, and follows what no other baseline does, has all of them too.
#[test]
fn bbr3_is_evaluated_under_every_heading() {
    let cwnd = Cwnd::new();
    let document = json(&cwnd.succeed(&["evaluate", "bbr3", "--quick", "--seeds", "1", "--no-store", "--json"]));
    every_heading(&document);
}

/// The sections of an evaluation, each of which has values for most of what it asks.
fn every_heading(document: &Value) -> &[Value] {
    let sections = document["sections"].as_array().expect("a list");
    let numbers: Vec<&str> = sections.iter().map(|section| section["number"].as_str().expect("text")).collect();
    let expected = "5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 5.3.1 5.3.2 6.1 6.2 6.3 6.4 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 \
                    7.10 7.11";
    assert_eq!(numbers.join(" "), expected);
    assert_eq!(document["failed_cells"], 0);
    for section in sections {
        let rows = section["rows"].as_array().expect("a list");
        assert_eq!(section["covered"], !rows.is_empty());
        // Loss and its harm are without a value where nothing is lost; a late starter may never have its share.
        let valued = rows.iter().filter(|row| row["algorithm"]["mean"].is_number()).count();
        assert!(rows.is_empty() || section["number"] == "5.1.4" || 2 * valued > rows.len(), "{section}");
    }
    sections
}

/// Every example is a scenario, and a second of it runs.
/// 2 s at 4 Mbit/s and 2 s at 8, again and again, are 6 Mbit/s; an error names the option, the file and the line.
#[test]
fn a_comparison_follows_a_table() {
    let cwnd = Cwnd::new();
    let table = cwnd.file("table.csv", "time_s,rate_mbps,delay_ms,loss\n0,4,5,0\n2,8,0,\n4,,,\n");
    let given = ["compare", "cubic", "--rtt", "20ms", "--duration", "10s", "--warmup", "2s", "--seeds", "1", "--json"];
    let document = json(&cwnd.succeed(&[&given[..], &["--trace", &table]].concat()));
    let goodput = document["algorithms"][0]["goodput_bps"]["mean"].as_f64().expect("a number");
    assert!((0.9..=1.001).contains(&(goodput / (6e6 * 1460.0 / 1500.0))), "{goodput}");
    let bad = cwnd.file("bad.csv", "time_s,rate_mbps\n0,4\n0,5\n");
    let refused = cwnd.run(&[&given[..], &["--trace", &bad]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    for named in ["--trace", "bad.csv", "line 3"] {
        assert!(refused.err.contains(named), "{named}: {}", refused.err);
    }
}

#[test]
fn the_examples_run() {
    let cwnd = Cwnd::new();
    let mut names: Vec<String> = std::fs::read_dir(root().join("scenarios"))
        .expect("the examples are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        assert_eq!(cwnd.succeed(&["run", &name, "--check"]), format!("{name}: valid scenario\n"));
        // Late starters start within the second too.
        let mut arguments =
            vec!["run", &name, "--json", "--seeds", "1", "--set", "duration=1s", "--set", "warmup=0.5s"];
        if name.ends_with("late-starter.toml") {
            arguments.extend(["--set", "flow.1.start=0.3s"]);
        }
        if name.ends_with("staged.toml") {
            arguments.extend(["--set", "flow.1.on=[\"0.2s..0.4s\", \"0.6s..\"]"]);
        }
        if name.ends_with("incast.toml") {
            arguments.extend(["--set", "flow.0.start=0.5s"]);
        }
        if name.ends_with("short-flows.toml") {
            arguments.extend(["--set", "flow.1.start=0.3s"]);
        }
        if name.ends_with("early-loss.toml") {
            arguments.extend(["--set", "dumbbell.schedule.steps.0.at=10ms"]);
        }
        let document = json(&cwnd.succeed(&arguments));
        assert!(document["goodput_bps"]["mean"].as_f64().is_some_and(|goodput| goodput > 0.0), "{name}: {document}");
    }
}

#[test]
fn traffic_that_comes_and_goes_is_summed_up() {
    let cwnd = Cwnd::new();
    let scenario = cwnd.file(
        "short.toml",
        r#"
        duration = "6s"
        warmup = "1s"
        seeds = 2
        [dumbbell]
        rate = "12mbit"
        [[flow]]
        name = "transfer"
        algorithm = "reno"
        size = "100p"
        [[flow]]
        name = "camera"
        algorithm = "reno"
        source = "cbr:1200kbit"
        [[cbr]]
        name = "cross"
        rate = "cbr:2mbit"
        [[arrivals]]
        name = "short"
        algorithm = "reno"
        size = "5p"
        load = 0.1
        "#,
    );
    let document = json(&cwnd.succeed(&["run", &scenario, "--json"]));
    let mean = |value: &serde_json::Value| value["mean"].as_f64().unwrap_or_else(|| panic!("{value}"));
    let [transfer, camera] = [0, 1].map(|index| &document["flows"][index]);
    assert_eq!(transfer["size_packets"], 100);
    // 100 ms of transmission at least, and four round trips of slow start.
    assert!((0.15..1.0).contains(&mean(&transfer["completion_time_s"])), "{transfer}");
    assert!((mean(&camera["goodput_bps"]) - 1_168_000.0).abs() < 12_000.0, "{camera}");
    assert_eq!(camera["fair_share_bps"], 1_168_000.0, "what its application hands over");
    // The transfer is over before the measured time. The scenario says itself that sources are the limit.
    let warnings = document["warnings"].as_array().expect("a list");
    assert!(
        warnings.len() == 1 && warnings[0].to_string().contains("no goodput, loss or share of `transfer`"),
        "{warnings:?}"
    );
    assert!(transfer["goodput_bps"].is_null() && document["flow_goodput_bps"][0].is_null(), "{transfer}");
    assert!((mean(&document["cbr"][0]["sent_bps"]) - 2e6).abs() < 5e3);
    let short = &document["arrivals"][0];
    // 1.2 Mbit/s in flows of 60 kbit: 20 a second.
    assert!((mean(&short["flows_per_s"]) - 20.0).abs() < 5.0, "{short}");
    assert_eq!(short["completion"][0]["up_to_packets"], 10);
    assert!(mean(&short["completion"][0]["p50_s"]) > 0.025);
    assert_eq!(short["completion"][3]["flows"], 0);

    let text = cwnd.succeed(&["run", &scenario]);
    for expected in
        ["complete after", "completion of short\n", "\nmore than 1000 ", "flows/s arrive", "without congestion control"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
