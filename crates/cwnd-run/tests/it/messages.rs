//! Errors about refused inputs: the place, the value as typed, and the accepted values.

use cwnd::Spec;
use cwnd_run::scenario::Scenario;

const DUMBBELL: &str = "[dumbbell]\nrtt = \"20ms\"\n";
const RENO: &str = "[[flow]]\nalgorithm = \"reno\"\n";
const GRAPH: &str =
    "[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"10ms\"\n[[flow]]\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"b\"\n";

/// The first line of the error about a scenario with overrides.
fn refused(text: &str, set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let error = Scenario::read("x.toml", text, &set).expect_err(text).to_string();
    error.lines().next().unwrap_or_default().to_string()
}

#[test]
fn refusals_say_where_what_and_what_is_accepted() {
    let with = |keys: &str, flow: &str| format!("{DUMBBELL}{keys}\n{RENO}{flow}\n");
    for (text, set, expected) in [
        (
            with("", ""),
            &["packet=40B"][..],
            "--set packet=40B: `payload` cannot be 1460B: accepted is at most a packet, 40 bytes",
        ),
        (
            with("", ""),
            &["variation.rtt=0.9"],
            "--set variation.rtt=0.9: `variation.rtt` cannot be 0.9: accepted is at most 0.5 here",
        ),
        (
            with("", "[[arrivals]]\nalgorithm = \"reno\"\nsize = \"10p\"\nload = 0.5"),
            &["arrivals.0.load=1e9"],
            "--set arrivals.0.load=1e9: `load` cannot be 1000000000: accepted is at most 1200 here, an arrival every microsecond",
        ),
        (
            with("", "start = \"3s\""),
            &["duration=2s"],
            "--set duration=2s: `start` cannot be 3s: accepted is less than the duration, 2s",
        ),
        (
            with("impairments = { policer = \"9mbit,burst=1500B\" }", ""),
            &["packet=9kB"],
            "--set packet=9kB: `policer` cannot be 9mbit,burst=1500B: accepted is a burst of at least 9000B",
        ),
        (GRAPH.to_string(), &[], "x.toml:5:1: `extra_rtt` cannot be missing: accepted is at least 1053us"),
        (
            format!("{GRAPH}extra_rtt = \"1ms\"\n"),
            &[],
            "x.toml:9:13: `extra_rtt` cannot be 1ms: accepted is at least 1053us",
        ),
        (with("impairments = { thin_acks = 2 }", ""), &[], "x.toml:3:29: `thin_acks` cannot be 2 without `aggregate`"),
        (
            with("reverse_impairments = { thin_acks = 2 }", ""),
            &[],
            "x.toml:3:37: `thin_acks` cannot be 2 without `aggregate`",
        ),
        (
            with("outage = [\"1s..2s\"]\nimpairments = { shaper = \"9mbit,burst=9kB\" }", ""),
            &[],
            "x.toml:4:26: `shaper` cannot be 9mbit,burst=9kB with rates that change (`schedule`, `outage`) or a `trace`",
        ),
        (
            with("impairments = { shaper = \"9mbit,burst=5GB\" }", ""),
            &[],
            "x.toml:3:26: cannot read `9mbit,burst=5GB`: expected a size at least 1B and at most 4294967295B for `burst`, not `5GB`",
        ),
        (
            with("queue = \"red:unlimited\"", ""),
            &[],
            "x.toml:3:9: cannot read `red:unlimited`: expected a size, of which thresholds may be shares",
        ),
        (
            with("queue = \"red:9p,max_p=0.1,max_p=0.2\"", ""),
            &[],
            "x.toml:3:9: cannot read `red:9p,max_p=0.1,max_p=0.2`: expected each word at most once",
        ),
        (
            with("loss = \"gilbert:to_bad=0.1,to_good=0.2,to_bad=0.3\"", ""),
            &[],
            "x.toml:3:8: cannot read `gilbert:to_bad=0.1,to_good=0.2,to_bad=0.3`: expected each word at most once",
        ),
        (
            with("", "size = \"10000TB\""),
            &[],
            "x.toml:6:8: cannot read `10000TB`: expected packets or bytes, such as `100p` or `1MB`: 1 to 1e15 packets, or `1B` to `9000TB`",
        ),
    ] {
        let found = refused(&text, set);
        assert!(found.starts_with(expected), "{text}\nexpected {expected}\nfound    {found}");
    }
    let large = Scenario::read("x.toml", &with("queue = \"droptail:5GB\"", "size = \"5GB\""), &[]);
    assert!(large.is_ok_and(|scenario| scenario.unused().is_empty()));
}

/// The accepted values are the end of one sentence.
#[test]
fn algorithms_say_what_they_accept() {
    for (text, expected) in [
        (
            "udt:decrease=doubling",
            "udt: cannot take `doubling` for `decrease`: accepted is `profile`, `per-nak`, `per-interval` or `per-epoch` with \
             `profile=udt4`: `doubling` is of the other profiles",
        ),
        ("vegas:beta=0.5", "vegas: cannot take `0.5` for `beta`: accepted is at least alpha"),
    ] {
        assert_eq!(Spec::parse(text).map(|_| ()).map_err(|error| error.to_string()), Err(expected.to_string()));
    }
}
