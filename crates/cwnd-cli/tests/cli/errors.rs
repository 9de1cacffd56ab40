//! Bad input: one clear error that names the place and the accepted values, exit code 2, nothing written.

use super::{Cwnd, SHORT};

#[test]
fn flags() {
    let cwnd = Cwnd::new();
    let cases: &[(&[&str], &str)] = &[
        (
            &["compare", "rneo"],
            "error: invalid value 'rneo' for '[ALGORITHM]...': unknown algorithm `rneo`; did you mean `reno`?",
        ),
        (
            &["evaluate", "reno", "--profile", "moon"],
            "error: invalid value 'moon' for '--profile <PROFILE>': accepted are rfc9743, access",
        ),
        (
            &["evaluate", "reno", "--profile", "access", "--figure", "x.svg"],
            "error: --figure: `--profile access` has no plots",
        ),
        (
            &["compare", "aimd:b=2"],
            "error: invalid value 'aimd:b=2' for '[ALGORITHM]...': aimd: cannot take `2` for `b`: accepted is above 0 and below 1",
        ),
        (
            &["compare", "simd:gamma=1"],
            "error: invalid value 'simd:gamma=1' for '[ALGORITHM]...': simd has no parameter `gamma` (it has beta, loss)",
        ),
        (
            &["compare", "reno", "--versus", "cubbic"],
            "error: invalid value 'cubbic' for '--versus <ALGORITHM>': unknown algorithm `cubbic`; did you mean `cubic`?",
        ),
        (
            &["compare", "--rate", "100"],
            "error: invalid value '100' for '--rate <RATE>': cannot read `100`: expected a rate with its unit, such as `100mbit`",
        ),
        (
            &["compare", "--rtt", "50"],
            "error: invalid value '50' for '--rtt <RTT>': cannot read `50`: expected a time with its unit, such as `50ms`",
        ),
        (
            &["compare", "--queue", "fifo"],
            "error: invalid value 'fifo' for '--queue <QUEUE>': cannot read `fifo`: expected a queue and its size; did you mean `droptail`, as in `droptail:1bdp`?",
        ),
        (
            &["compare", "--loss", "2"],
            "error: invalid value '2' for '--loss <LOSS>': cannot read `2`: expected a number at least 0 and below 1 for `probability`",
        ),
        (
            &["compare", "--flows", "0"],
            "error: invalid value '0' for '--flows <N>': expected a whole number from 1 to 4000000",
        ),
        (
            &["compare", "--flows", "1e30"],
            "error: invalid value '1e30' for '--flows <N>': expected a whole number from 1 to 4000000",
        ),
        (
            &["compare", "--flows", "-1"],
            "error: invalid value '-1' for '--flows <N>': expected a whole number from 1 to 4000000",
        ),
        (
            &["compare", "reno", "--versus", "cubic", "--flows", "4000000"],
            "error: --flows: 4000000 flows with 600 samples each are more than 50000000 samples: take fewer flows or a shorter",
        ),
        (
            &["compare", "--rate", "0mbit"],
            "error: invalid value '0mbit' for '--rate <RATE>': cannot read `0mbit`: expected a rate from `1bit` to `100tbit`",
        ),
        (
            &["compare", "--rate", "-5mbit"],
            "error: invalid value '-5mbit' for '--rate <RATE>': cannot read `-5mbit`: expected a rate from `1bit` to `100tbit`",
        ),
        (
            &["compare", "--rate", "1e30gbit"],
            "error: invalid value '1e30gbit' for '--rate <RATE>': cannot read `1e30gbit`: expected a rate from `1bit` to `100tbit`",
        ),
        (
            &["compare", "--rtt", "-1ms"],
            "error: invalid value '-1ms' for '--rtt <RTT>': cannot read `-1ms`: expected a time of at least zero",
        ),
        (
            &["compare", "--queue", "red:1bdp,min=0.5,max=0.2"],
            "error: --queue: cannot be `red:1bdp,min=0.5,max=0.2`: accepted is a min of at most max: here they are 208.3 and 83.3 packets",
        ),
        (
            &["compare", "reno", "--host", "autotune=1kB"],
            "error: --host: cannot be `autotune=1kB`: accepted is `autotune` with a buffer of which half holds 1 to 65535 packets",
        ),
        (
            &["compare", "xcp", "--queue", "xcp:1bdp", "--recovery", "reno"],
            "error: --recovery: cannot be `reno`: accepted is `sack` for `xcp`, whose acknowledgements carry",
        ),
        (
            &["compare", "daimd:alpha=abc@10mbit^-1"],
            "error: invalid value 'daimd:alpha=abc@10mbit^-1' for '[ALGORITHM]...': daimd: cannot take `abc@10mbit^-1` for \
             `alpha`: accepted is a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit` in the place of `abc`, as in",
        ),
        (
            &["compare", "prague:growth=-1ms"],
            "error: invalid value 'prague:growth=-1ms' for '[ALGORITHM]...': prague: cannot take `-1ms` for `growth`: accepted is a time at least 0s",
        ),
        (
            &["compare", "--queue", "cake:100p,isolation=host"],
            "error: invalid value 'cake:100p,isolation=host' for '--queue <QUEUE>': cannot read `cake:100p,isolation=host`: expected \
             `triple-isolate` or `flows` or `srchost` or `dsthost` or `hosts` or `dual-srchost` or `dual-dsthost` for `isolation`, not `host`",
        ),
        (
            &["compare", "--max-seeds", "9"],
            "error: the following required arguments were not provided:\n  --until <RULE>",
        ),
        (
            &["compare", "--until", "ci<2%", "--max-seeds", "3"],
            "error: --max-seeds: cannot be 3: accepted is at least --seeds, 5",
        ),
        (
            &["compare", "--ecn", "yes"],
            "error: invalid value 'yes' for '--ecn <ECN>': unknown value `yes` (accepted: latch, per-packet, l4s, accecn, accecn-l4s, counts, counts-l4s)",
        ),
        (&["compare", "--seeds", "0"], "error: invalid value '0' for '--seeds <N>': expected a whole number"),
        (&["compare", "--era", "2001"], "error: invalid value '2001' for '--era <ERA>': unknown value `2001`"),
        (&["compare", "--warmup", "70s"], "error: --warmup: cannot be 70s: accepted is less than the duration, 60 s"),
        (&["compare", "--duration", "0s"], "error: --duration: cannot be 0s: accepted is any time above zero"),
        (&["bench", "sim", "--warmup", "1min"], "error: --warmup: cannot be 1min: accepted is less than"),
        (
            &["algorithms", "nine"],
            "error: invalid value 'nine' for '[ALGORITHM]': unknown algorithm `nine` (`cwnd algorithms` lists all)",
        ),
        (
            &["algorithms", "simd:beta=x"],
            "error: invalid value 'simd:beta=x' for '[ALGORITHM]': simd: cannot take `x` for `beta`: accepted is ",
        ),
        (
            &["algorithms", "xcp", "--card"],
            "error: `xcp` is not defined under synchronous feedback: it needs what routers",
        ),
        (
            &["algorithms", "vegas", "--card"],
            "error: `vegas` is not defined under synchronous feedback: it follows the delay",
        ),
        (
            &["algorithms", "dctcp", "--card"],
            "error: `dctcp` is not defined under synchronous feedback: it answers the share",
        ),
        (
            &["algorithms", "tfrc", "--card"],
            "error: `tfrc` is not defined under synchronous feedback: it needs the reports",
        ),
        (
            &["model", "rounds", "vegas"],
            "error: `vegas` is not defined under synchronous feedback: it follows the delay",
        ),
        (
            &["model", "udt", "--capacity", "1e30gbit"],
            "error: invalid value '1e30gbit' for '--capacity <CAPACITY>': cannot read `1e30gbit`: expected a rate from `1bit` to",
        ),
        (
            &["model", "udt", "--packet", "4GB"],
            "error: invalid value '4GB' for '--packet <PACKET>': cannot read `4GB`: expected a packet of `1B` to `65535B`",
        ),
        (
            &["model", "response", "reno", "--packet", "65536B"],
            "error: invalid value '65536B' for '--packet <PACKET>': cannot read `65536B`: expected a packet of `1B` to `65535B`",
        ),
        (
            &["model", "rounds", "reno", "--seed", "-1"],
            "error: invalid value '-1' for '--seed <N>': expected a whole number from 0 to 18446744073709551615",
        ),
        (&["paper", "--json"], "error: --json: nothing is run without a PAPER, --quick, --full or --check"),
        (&["paper", "newaimd", "--check", "--json"], "error: the argument '--check' cannot be used with '--json'"),
        (
            &["paper", "newaimd", "--set", "hold=abc"],
            "error: --set hold=abc: unknown assumption `hold` (accepted: packet, ",
        ),
        (
            &["paper", "newaimd", "--set", "floor=abc"],
            "error: --set floor=abc: expected a number of at least 0, such as `",
        ),
        (
            &["paper", "newaimd", "--set", "floor=nan"],
            "error: --set floor=nan: expected a number of at least 0, such as `",
        ),
        (
            &["paper", "simd", "text-sqrt", "--set", "sqrt-b=0"],
            "error: sqrt: cannot take `0` for `b`: accepted is above 0 and below 1",
        ),
        (
            &["paper", "simd", "text-sqrt", "--set", "era=x"],
            "error: --set era=x: no chosen result depends on `era`; it is assumed in fig-5, ",
        ),
        (
            &["paper", "aiad", "fig-1", "--set", "saw-tooth=x"],
            "error: --set saw-tooth=x: `saw-tooth` cannot be replaced: a pattern in words",
        ),
        (
            &["paper", "simd", "text-sqrt", "--set", "sqrt-b=1/3", "--set", "sqrt-b=1/2"],
            "error: --set sqrt-b=1/2: `sqrt-b` is given twice",
        ),
        (
            &["paper", "simd", "text-sqrt", "--set", "sqrt-b=1/3", "--check"],
            "error: --check: the record has no verdicts under --set",
        ),
        (
            &["paper", "newaimd", "table-1", "--set", "queue=fifo"],
            "error: --set queue=fifo: cannot read `fifo`: expected a queue and its size",
        ),
        (&["sweep", "status", "nowhere"], "error: DIR: `nowhere` is not the directory of a sweep"),
        (&["sweep", "x.toml", "--check", "--json"], "error: the argument '--check' cannot be used with '--json'"),
        (&["run", "x.toml", "--check", "--json"], "error: the argument '--check' cannot be used with '--json'"),
        (
            &["run", "x.toml", "--check", "--out", "y"],
            "error: the argument '--check' cannot be used with '--out <DIR>'",
        ),
        (&["send", "x"], "error: `cwnd send` is a program of its own now: `udt send`"),
        (&["--memory", "1GB", "udt", "perf", "x"], "error: `cwnd udt` is a program of its own now: `udt`"),
        (&["run", "nowhere.toml"], "error: cannot read `nowhere.toml`: No such file or directory"),
        (&["fly"], "error: unrecognized subcommand 'fly'"),
    ];
    for (arguments, expected) in cases {
        cwnd.refuses(arguments, expected);
    }
}

#[test]
fn a_command_that_is_elsewhere_now_says_so_in_json_too() {
    let result = Cwnd::new().run(&["send", "x", "--json"]);
    let line: serde_json::Value = serde_json::from_str(&result.out).expect("a line of JSON");
    assert_eq!((result.code, line["kind"].as_str()), (Some(2), Some("usage")));
}

#[test]
fn scenario_files() {
    let cwnd = Cwnd::new();
    let changed = |from: &str, to: &str| {
        assert!(SHORT.contains(from), "{from}");
        SHORT.replace(from, to)
    };
    let cases = [
        (
            changed("rate = ", "rat = "),
            "error: x.toml:6:1: unknown key `rat`; did you mean `rate`? (accepted: rate, rtt",
        ),
        (
            changed("10mbit", "10"),
            "error: x.toml:6:8: cannot read `10`: expected a rate with its unit, such as `100mbit`",
        ),
        (changed("reno", "rneo"), "error: x.toml:9:13: unknown algorithm `rneo`; did you mean `reno`?"),
        (changed("count = 2", "count = 0"), "error: x.toml:10:9: `count` cannot be 0: accepted is at least 1"),
        (
            changed("seeds = 2", "seeds = \"2\""),
            "error: x.toml:4:9: invalid type: string \"2\", expected a whole number from 1 to 4294967295",
        ),
        (
            changed("count = 2", "count = -1"),
            "error: x.toml:10:9: invalid value: integer `-1`, expected a whole number from 1 to 4294967295",
        ),
        (
            changed("[[flow]]", "packet = \"4GB\"\n[[flow]]"),
            "error: x.toml:8:1: unknown key `packet` (accepted: rate, ",
        ),
        (
            changed("seeds = 2", "packet = \"4GB\""),
            "error: x.toml:4:10: `packet` cannot be 4GB: accepted is at most 65535B, the longest IP packet",
        ),
        (
            changed("rtt = ", "queue = \"red:1bdp,min=1,max=0.5\"\nrtt = "),
            "error: x.toml:7:9: `queue` cannot be `red:1bdp,min=1,max=0.5`: accepted is a min of at most max",
        ),
        (
            changed("\"reno\"", "\"xcp\"\nrecovery = \"tahoe\""),
            "error: x.toml:10:12: `recovery` cannot be `tahoe`: accepted is `sack` for `xcp`",
        ),
        (
            changed("\"reno\"", "\"tfrc\"\nsize = \"9p\""),
            "error: x.toml:10:8: `size` cannot be 9p for `tfrc`, which sends nothing twice",
        ),
        (
            changed("[dumbbell]", "flow = 5\n[dumbbell]").replace("[[flow]]\nalgorithm = \"reno\"\ncount = 2\n", ""),
            "error: x.toml:5:8: invalid type: integer `5`, expected a list",
        ),
        (changed("[[flow]]", "[[flow]"), "error: x.toml:8:8: unclosed array table, expected `]`"),
        (
            "[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\nboth_ways = false\n\
             [[flow]]\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"b\"\n"
                .to_string(),
            "error: x.toml:6:1: flow `reno`: no route from `b` to `a`",
        ),
    ];
    for (text, expected) in cases {
        let name = cwnd.file("x.toml", &text);
        cwnd.refuses(&["run", &name], expected);
        cwnd.refuses(&["run", &name, "--check"], expected);
    }
}

#[test]
fn overrides() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    for (item, expected) in [
        ("dumbbell.rate=1", "error: --set dumbbell.rate=1: invalid type: integer `1`, expected a rate with its unit"),
        (
            "flow.3.count=1",
            "error: --set flow.3.count=1: `flow` is a list of 1: name one as `flow.0.key`, counted from 0",
        ),
        ("dumbell.rate=1mbit", "error: --set dumbell.rate=1mbit: unknown key `dumbell`; did you mean `dumbbell`?"),
    ] {
        cwnd.refuses(&["run", &name, "--set", item], expected);
    }
}

#[test]
fn directories() {
    let cwnd = Cwnd::new();
    cwnd.file("taken", "");
    cwnd.refuses(&["compare", "--out", "taken"], "error: --out: `taken` exists already: name a new directory");
    cwnd.refuses(&["compare", "--out", "taken/below"], "error: --out: cannot write `taken/below`: ");
    cwnd.refuses(&["compare", "--out", "/proc/results"], "error: --out: cannot write `/proc/results`: ");
}

#[test]
fn an_error_in_a_file_shows_the_line() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", &SHORT.replace("20ms", "20"));
    let result = cwnd.run(&["run", &name]);
    let expected = "error: x.toml:7:7: cannot read `20`: expected a time with its unit, such as `50ms`, `10s`, `100us` or `2min`\n  \
                    |\n7 | rtt = \"20\"\n  |       ^^^^\n";
    assert_eq!(result.err, expected);
}

/// A default that nobody gave is not what an error is about.
#[test]
fn the_default_warmup_follows_the_duration() {
    let cwnd = Cwnd::new();
    let warmup = |arguments: &[&str]| {
        let text = cwnd.succeed(arguments);
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["warmup_s"].as_f64()
    };
    let path = ["--rate", "2mbit", "--flows", "1", "--seeds", "1", "--json"];
    let compare = |duration| warmup(&[&["compare", "reno", "--duration", duration][..], &path].concat());
    assert_eq!([compare("3s"), compare("21s")], [Some(1.5), Some(10.0)]);
    let bench =
        |duration| warmup(&["bench", "sim", "--rate", "2mbit", "--flows", "1", "--duration", duration, "--json"]);
    assert_eq!([bench("4s"), bench("12s")], [Some(2.0), Some(5.0)]);
    let short = cwnd.file("x.toml", &SHORT.replace("warmup = \"1s\"\n", ""));
    assert_eq!(warmup(&["run", &short, "--json"]), Some(1.5));
}
