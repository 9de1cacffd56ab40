//! Bad input: one clear error that names the place and the accepted values, exit code 2, nothing written.

use super::Udt;

#[test]
fn flags() {
    let udt = Udt::new();
    let cases: &[(&[&str], &str)] = &[
        (
            &["perf", "nowhere"],
            "error: invalid value 'nowhere' for '[HOST:PORT]': a port is missing: expected host:port, as in 192.0.2.1:9001",
        ),
        (
            &["perf", "127.0.0.1:9", "--algorithm", "xcp"],
            "error: --algorithm: `xcp` cannot drive UDT, whose packets do not carry the feedback it needs",
        ),
        (
            &["perf", "127.0.0.1:9", "--algorithm", "cubik"],
            "error: invalid value 'cubik' for '--algorithm <A>': unknown algorithm `cubik`; did you mean `cubic`? (accepted: ",
        ),
        (
            &["send", "x", "--to", "127.0.0.1:9", "--mss", "10"],
            "error: invalid value '10' for '--mss <BYTES>': expected a whole number from 76 to 65535",
        ),
        (
            &["link", "127.0.0.1:0", "127.0.0.1:9", "--clients", "0"],
            "error: invalid value '0' for '--clients <N>': expected a whole number from 1 to 65535",
        ),
        (
            &["link", "127.0.0.1:9001", "127.0.0.1:9001"],
            "error: TARGET: cannot be 127.0.0.1:9001, where the link itself listens",
        ),
        (&["link", "127.0.0.1:9001", "127.0.0.1:0"], "error: TARGET: cannot be 127.0.0.1:0: accepted is a port from"),
        (
            &["link", "127.0.0.1:0", "127.0.0.1:9", "--rate", "1mbit", "--queue", "red:9p,min=5p,max=2p"],
            "error: --queue: cannot be `red:9p,min=5p,max=2p`: accepted is a min of at most max: here they are 5.0 and 2.0 packets",
        ),
        (
            &["link", "127.0.0.1:0", "127.0.0.1:9", "--duplicate", "2"],
            "error: invalid value '2' for '--duplicate <P>': expected a probability, 0 to 1",
        ),
        (
            &["link", "here", "127.0.0.1:9"],
            "error: invalid value 'here' for '[LISTEN]': expected address:port, as in 192.0.2.1:9001 or [2001:db8::1]:9001",
        ),
        (&["link", "--tun"], "error: the following required arguments were not provided:\n  <COMMAND>..."),
        (
            &["send", "x", "--retries", "1"],
            "error: the following required arguments were not provided:\n  --to <HOST:PORT>",
        ),
        (&["send", "x", "--key", "k"], "error: the following required arguments were not provided:\n  <--authorized"),
        (
            &["send", "x", "--to", "127.0.0.1:9", "--authorized", "k"],
            "error: the argument '--to <HOST:PORT>' cannot be used with '--authorized <FILE>'",
        ),
        (&["compare"], "error: unrecognized subcommand 'compare'"),
    ];
    for (arguments, expected) in cases {
        udt.refuses(arguments, expected);
    }
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let udt = Udt::new();
    for (line, error) in [
        ("link 127.0.0.1:0 127.0.0.1:9 --queue droptail:9p", "--queue: without --rate nothing waits there"),
        (
            "link 127.0.0.1:0 127.0.0.1:9 --rate 1mbit --trace x",
            "the argument '--rate <RATE>' cannot be used with '--trace <FILE>'",
        ),
        (
            "link 127.0.0.1:0 127.0.0.1:9 --policer 1mbit,burst=100B",
            "--policer: cannot be 1mbit,burst=100B: accepted is a burst of at least 1500B",
        ),
        ("link 127.0.0.1:0 127.0.0.1:9 --duplex half", "--duplex: accepted is `full` for a link without a `rate`"),
        (
            "link 127.0.0.1:0 127.0.0.1:9 --rate 1mbit --queue red:9p,min=1p,max=2p --duplex half:burst=2",
            "--duplex: accepted is `full` with this queue; `half` with `droptail`",
        ),
        ("link 127.0.0.1:0 127.0.0.1:9 --rate 1mbit --duplex half:access=2s", "invalid value 'half:access=2s'"),
        ("link 127.0.0.1:0 127.0.0.1:9 --trace x,idle=1s", "invalid value 'x,idle=1s' for '--trace <FILE>'"),
        ("perf 127.0.0.1:9 --ack-every 2", "--ack-every: nothing arrives here without --server or --reverse"),
        ("link --tun --mangle-ecn ce -- true", "--bleach-ecn and --mangle-ecn: cannot be used with --tun"),
        ("link --tun --bleach-ecn -- true", "--bleach-ecn and --mangle-ecn: cannot be used with --tun"),
        ("link --tun --clients 3 -- true", "the argument '--tun' cannot be used with '--clients <N>'"),
        ("send x --server-key k", "invalid value 'k' for '--server-key <KEY>'"),
    ] {
        udt.refuses(&line.split(' ').collect::<Vec<_>>(), &format!("error: {error}"));
    }
}

#[test]
fn an_emulated_link_takes_traces_of_deliveries_but_no_tables() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/leo.csv");
    let expected = "error: --trace: accepted is a packet-delivery trace of Mahimahi; a scenario takes tables";
    Udt::new().refuses(&["link", "127.0.0.1:0", "127.0.0.1:9", "--trace", table], expected);
}

#[test]
fn an_emulated_link_takes_a_pair_of_traces_whose_delays_are_its_own() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/cellular");
    let pair = format!("{traces}.heavy,light={traces}.light,idle=20ms");
    let udt = Udt::new();
    let link = ["link", "127.0.0.1:0", "127.0.0.1:9", "--trace", &pair, "--queue", "droptail:9p"];
    let result = udt.run(&[&link[..], &["--duration", "50ms"]].concat());
    assert_eq!(result.code, Some(0), "{}", result.err);
    let expected = "error: --step: `extra_delay` cannot be next to a --trace with a light one, which has the delays";
    udt.refuses(&[&link[..], &["--step", "1s extra_delay=5ms"]].concat(), expected);
}

/// The error of the connection is printed once, and is no fault of the input.
#[test]
fn a_server_that_does_not_answer_is_named_once() {
    let udt = Udt::new();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let server = port.local_addr().expect("its address").to_string();
    let result = udt.run(&["perf", &server, "--time", "1s"]);
    assert_eq!((result.code, result.err), (Some(6), format!("error: {server}: no answer\n")));
}
