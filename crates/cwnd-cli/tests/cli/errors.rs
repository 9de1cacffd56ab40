//! Bad input: one clear error that names the place and what is accepted, exit code 2, nothing written.

use super::{Cwnd, SHORT};

/// The command must refuse with an error that starts like this, and leave no trace.
fn refused(cwnd: &Cwnd, arguments: &[&str], expected: &str) {
    let before = cwnd.files();
    let said = cwnd.run(arguments);
    assert_eq!(said.code, Some(2), "{arguments:?}\n{}", said.err);
    assert!(said.err.starts_with(expected), "{arguments:?}\nexpected {expected}\nfound    {}", said.err);
    assert_eq!(said.err.matches("error: ").count(), 1, "one error: {}", said.err);
    assert_eq!(said.out, "", "{arguments:?}");
    assert_eq!(cwnd.files(), before, "{arguments:?}");
}

#[test]
fn flags() {
    let cwnd = Cwnd::new();
    let cases: &[(&[&str], &str)] = &[
        (
            &["compare", "rneo"],
            "error: invalid value 'rneo' for '[ALGORITHM]...': unknown algorithm `rneo`; did you mean `reno`?",
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
            "error: invalid value 'fifo' for '--queue <QUEUE>': cannot read `fifo`: expected a queue and its size, such as",
        ),
        (
            &["compare", "--loss", "2"],
            "error: invalid value '2' for '--loss <LOSS>': cannot read `2`: expected the probability",
        ),
        (&["compare", "--flows", "0"], "error: invalid value '0' for '--flows <N>': 0 is not in 1.."),
        (
            &["compare", "--flows", "4000000000"],
            "error: --flows: `count` cannot be 4000000000: accepted is at most 4000000",
        ),
        (
            &["compare", "--flows", "4000000"],
            "error: --flows: `sampling` cannot be 100ms: accepted is `off`, or so long",
        ),
        (
            &["compare", "--ecn", "yes"],
            "error: invalid value 'yes' for '--ecn <ECN>': expected `latch` or `per-packet`",
        ),
        (&["compare", "--seeds", "0"], "error: invalid value '0' for '--seeds <N>': 0 is not in 1.."),
        (&["compare", "--era", "2001"], "error: invalid value '2001' for '--era <ERA>': unknown value `2001`"),
        (
            &["compare", "--warmup", "70s"],
            "error: --warmup: `warmup` cannot be 70s: accepted is less than the duration, 60s",
        ),
        (
            &["compare", "--duration", "0s"],
            "error: --duration: `duration` cannot be 0s: accepted is any time above zero",
        ),
        (&["bench", "sim", "--warmup", "1min"], "error: --warmup: `warmup` cannot be 1min: accepted is less than"),
        (&["algorithms", "bbr"], "error: unknown algorithm `bbr` (`cwnd algorithms` lists all)"),
        (&["run", "nowhere.toml"], "error: cannot read `nowhere.toml`: No such file or directory"),
        (&["fly"], "error: unrecognized subcommand 'fly'"),
    ];
    for (arguments, expected) in cases {
        refused(&cwnd, arguments, expected);
    }
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
        (changed("seeds = 2", "seeds = \"2\""), "error: x.toml:4:9: invalid type: string \"2\", expected u32"),
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
        refused(&cwnd, &["run", &name], expected);
        refused(&cwnd, &["run", &name, "--check"], expected);
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
        refused(&cwnd, &["run", &name, "--set", item], expected);
    }
}

#[test]
fn folders() {
    let cwnd = Cwnd::new();
    cwnd.file("taken", "");
    refused(&cwnd, &["compare", "--out", "taken"], "error: --out: `taken` exists already: name a new folder");
    refused(&cwnd, &["compare", "--out", "taken/below"], "error: --out: cannot write `taken/below`: ");
    refused(&cwnd, &["compare", "--out", "/proc/results"], "error: --out: cannot write `/proc/results`: ");
}

#[test]
fn an_error_in_a_file_shows_the_line() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", &SHORT.replace("20ms", "20"));
    let said = cwnd.run(&["run", &name]);
    let expected = "error: x.toml:7:7: cannot read `20`: expected a time with its unit, such as `50ms`, `10s`, `100us` or `2min`\n  \
                    |\n7 | rtt = \"20\"\n  |       ^^^^\n";
    assert_eq!(said.err, expected);
}
