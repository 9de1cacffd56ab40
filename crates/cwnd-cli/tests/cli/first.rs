//! The first screen, and rules of one's own in every command.

use serde_json::Value;

use super::results::json;
use super::{Cwnd, SHORT, root};

const PATH: [&str; 8] = ["--rate", "10mbit", "--duration", "4s", "--warmup", "1s", "--seeds", "2"];

/// What anybody sees first: `CWND_BLESS=1 cargo test -p cwnd-cli --test cli first_screen` brings it into README.
#[test]
fn the_first_screen_fits_and_is_the_one_of_the_readme() {
    let cwnd = Cwnd::new();
    let screen = cwnd.run(&["compare"]);
    assert_eq!(screen.code, Some(0), "{}", screen.err);
    let lines = screen.out.lines().count() + screen.err.lines().count();
    assert!(lines <= 24, "{lines} lines\n{}", screen.out);
    let widest = screen.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}\n{}", screen.out);
    let next = screen.out.lines().find_map(|line| line.split_once(": cwnd ")).expect("a question with its command").1;
    let short = ["--duration", "2s", "--warmup", "1s", "--seeds", "1"];
    cwnd.succeed(&next.split(' ').chain(short).collect::<Vec<_>>());

    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("text");
    let (before, rest) = readme.split_once(FIRST_SCREEN).expect("README shows it");
    let (shown, after) = rest.split_once("```").expect("the end of the block");
    if std::env::var_os("CWND_BLESS").is_some() {
        let text = format!("{before}{FIRST_SCREEN}{}```{after}", screen.out);
        std::fs::write(&path, text).expect("the repository can be written");
    } else {
        assert_eq!(shown, screen.out, "CWND_BLESS=1 brings it into README");
    }
}

/// Where README shows what `compare` prints.
const FIRST_SCREEN: &str = "$ cwnd compare\n";

#[test]
fn rules_of_ones_own_stand_wherever_algorithms_do() {
    let cwnd = Cwnd::new();
    let rule = "rule:grow=max(1/w, 0.01),cut=w*3/4";
    let document = json(&cwnd.succeed(
        &[&["compare", rule, "rule:cut=w/4", "rule:cut=w-4"][..], &PATH[..], &["--versus", "rule", "--json"]].concat(),
    ));
    assert_eq!(document["algorithms"][0]["algorithm"], rule);
    assert_eq!(document["algorithms"][0]["versus"]["algorithm"], "rule");
    cwnd.succeed(&[&["compare", "rule:cut=w/4", "rule:cut=w-4"][..], &PATH[..], &["--out", "two"]].concat());
    assert!(cwnd.files().contains(&"two/traces/rule-cut-w-4-2.flows.csv".to_string()), "{:?}", cwnd.files());

    let scenario = cwnd.file("rule.toml", &SHORT.replace("reno", rule));
    let as_written = json(&cwnd.succeed(&["run", &scenario, "--json"]));
    let reno = cwnd.file("short.toml", SHORT);
    let set = json(&cwnd.succeed(&["run", &reno, "--set", &format!("flow.0.algorithm={rule}"), "--json"]));
    assert_eq!((&as_written["digests"], &as_written["flows"][0]["algorithm"]), (&set["digests"], &Value::from(rule)));
    let as_reno = json(&cwnd.succeed(&["run", &reno, "--set", "flow.0.algorithm=rule:grow=1/w,cut=w/2", "--json"]));
    assert_eq!(as_reno["digests"], json(&cwnd.succeed(&["run", &reno, "--json"]))["digests"]);

    let grid = format!("scenario = 'short.toml'\n[grid]\n\"flow.0.algorithm\" = ['reno', '{rule}', 'rule:cut=w/4']\n");
    let swept = json(&cwnd.succeed(&["sweep", &cwnd.file("sweep.toml", &grid), "--no-store", "--json"]));
    let values: Vec<&Value> =
        swept["points"].as_array().expect("a list").iter().map(|point| &point["set"][0]["value"]).collect();
    assert_eq!(values, ["reno", rule, "rule:cut=w/4"]);

    assert!(cwnd.succeed(&["algorithms", rule, "--card"]).starts_with(rule));
    assert!(cwnd.succeed(&["algorithms", "rule"]).contains("min_rtt  the least round-trip time so far, seconds"));
    assert!(cwnd.succeed(&["model", "convergence", "reno", rule]).contains(rule));
    let judged = cwnd.run(&["conform", rule, "--check", "5681-avoidance", "--seeds", "1"]);
    assert!(judged.code == Some(0) || judged.code == Some(1), "{}", judged.err);
    let refused = cwnd.run(&["compare", "rule:grow=2*v"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("cannot take `2*v` for `grow`") && refused.err.contains("at character 3"),
        "{}",
        refused.err
    );
}

#[test]
fn a_path_that_is_not_described_is_the_usual_one() {
    let cwnd = Cwnd::new();
    let compare =
        |more: &[&str]| json(&cwnd.succeed(&[&["compare", "reno", "--seeds", "1", "--json"][..], more].concat()));
    let usual = compare(&["--duration", "30s", "--warmup", "25s"]);
    let row = &usual["algorithms"][0];
    assert_eq!(row["versus"]["algorithm"], "reno");
    let recovery = row["recovery_time_s"]["mean"].as_f64().expect("the rate falls and rises");
    assert!((0.2..10.0).contains(&recovery), "{recovery}");
    let steps = ["--rate-step", "5s:12.5mbit", "--rate-step", "10s:50mbit"];
    let path =
        ["--rate", "50mbit", "--rtt", "50ms", "--queue", "droptail:0.25bdp", "--duration", "30s", "--warmup", "25s"];
    let described = compare(&[&path[..], &steps].concat());
    assert_eq!(described["algorithms"][0]["digests"], row["digests"]);
    assert_eq!(described["algorithms"][0]["versus"], Value::Null);
    // Too soon after the start for a fall of the rate.
    assert_eq!(compare(&["--duration", "4s"])["algorithms"][0]["recovery_time_s"], Value::Null);
    let wrong = cwnd.run(&["compare", "reno", "--rate-step", "10s"]);
    assert!(wrong.err.contains("cannot read `10s`: expected a time and a rate"), "{}", wrong.err);
    let order = cwnd.run(&["compare", "reno", "--rate-step", "2s:1mbit", "--rate-step", "1s:2mbit"]);
    assert!(order.code == Some(2) && order.err.contains("later than the step before, 2s"), "{}", order.err);
}
