//! Scenarios from their text to the simulator's setup, and every error with its place.

use cwnd::window::SlowStart;
use cwnd::{Bytes, Span, Time};
use cwnd_run::measure::{Window, fair_shares};
use cwnd_run::run::run;
use cwnd_run::scenario::{Direction, Document, Dumbbell, FlowGroup, Scenario, Written};
use cwnd_sim::{
    AckEcho, Class, Discipline, DrrSetup, Era, GilbertElliott, Impairments, Interarrival, LinuxHost, Loss, NodeId,
    Noise, Pages, Pause, QueueLimit, RateChange, RateSchedule, Reassembly, RecoveryScheme, ReorderBy, Reordering,
    Setup, Sizes, Source, TokenBucket,
};

fn setup(text: &str) -> Setup {
    Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}")).setup(1).into_setup()
}

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::read("test.toml", text, &overrides).expect_err("must be refused").to_string()
}

/// The first line of an error: the place and the sentence.
fn first_line(text: &str) -> String {
    error(text, &[]).lines().next().expect("never empty").to_string()
}

const SMALLEST: &str = "[dumbbell]\n[[flow]]\nalgorithm = \"reno\"\n";

#[test]
fn the_smallest_dumbbell_is_the_default_path() {
    let setup = setup(SMALLEST);
    assert_eq!(setup.nodes, ["left", "right"]);
    let [bottleneck, back] = setup.links.as_slice() else { panic!("{:?}", setup.links) };
    assert_eq!((bottleneck.from, bottleneck.to, back.from, back.to), (NodeId(0), NodeId(1), NodeId(1), NodeId(0)));
    for link in [bottleneck, back] {
        assert_eq!(link.rate, Some(100_000_000));
        assert_eq!(link.delay, Span::from_micros(12_500));
        assert_eq!(link.queue, QueueLimit::Packets(417));
        assert_eq!(link.loss, Loss::None);
    }
    let [flow] = setup.flows.as_slice() else { panic!("{} flows", setup.flows.len()) };
    assert_eq!(flow.access_rtt + bottleneck.delay + back.delay, Span::from_millis(50));
    assert_eq!((flow.name.as_str(), flow.era.name, flow.start, flow.stop), ("reno", "modern", Time::ZERO, None));
    assert_eq!((flow.packet.0, flow.payload.0, flow.ack.0), (1500, 1460, 40));
    assert_eq!((setup.duration, setup.warmup), (Span::from_secs(60), Span::from_secs(10)));
}

#[test]
fn every_key_of_a_flow_arrives() {
    let text = r#"
        era = "ns2-2001"
        recovery = "tahoe"
        host = "tso"
        slow_start = "hystart++"
        [dumbbell]
        rtt = "100ms"
        reverse_rate = "1mbit"
        reverse_queue = "droptail:9kB"
        reverse_loss = "periodic:7"
        loss = 0.01
        [[flow]]
        algorithm = "aimd:b=1/8"
        name = "old"
        count = 2
        paced = true
        [[flow]]
        algorithm = "reno"
        start = "1s"
        stop = "2s"
        direction = "reverse"
        extra_rtt = "30ms"
        slow_start = "limited:100"
        ecn = "per-packet"
        delayed_ack = "40ms"
        ack_aggregation = "5ms"
        wake = "1ms"
        timer = "10ms"
        handshake = 2
        recovery = "newreno"
        host = "fq,gro=50us"
        receiver = "go-back-n"
        max_window = 64
        era = "modern"
    "#;
    let setup = setup(text);
    assert_eq!(setup.links[0].loss, Loss::Bernoulli(0.01));
    assert_eq!(setup.links[1].rate, Some(1_000_000));
    assert_eq!(setup.links[1].queue, QueueLimit::Bytes(9000));
    assert_eq!(setup.links[1].loss, Loss::Periodic(7));
    let [first, second, third] = setup.flows.as_slice() else { panic!("{} flows", setup.flows.len()) };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("old #1", "old #2"));
    assert_eq!(first.algorithm.label(), "aimd:b=1/8");
    assert_eq!(first.era, Era::NS2_2001);
    assert_eq!((third.from, third.to), (NodeId(1), NodeId(0)));
    assert_eq!((third.start.as_secs_f64(), third.stop.map(Time::as_secs_f64)), (1.0, Some(2.0)));
    assert_eq!(third.access_rtt, Span::from_millis(80));
    assert_eq!((first.paced, third.paced), (true, false));
    assert_eq!(first.host, LinuxHost { tso: true, ..LinuxHost::default() });
    assert_eq!(third.host, LinuxHost { fq: true, gro: Some(Span::from_micros(50)), ..LinuxHost::default() });
    assert_eq!(third.slow_start, Some(SlowStart::Limited { max_threshold: 100 }));
    assert_eq!(first.slow_start, Some(SlowStart::HyStart));
    assert_eq!(third.ecn, Some(AckEcho::PerPacket));
    assert_eq!((third.delayed_ack, third.ack_aggregation), (Some(Span::from_millis(40)), Some(Span::from_millis(5))));
    assert_eq!((third.wake, third.timer), (Some(Span::from_millis(1)), Some(Span::from_millis(10))));
    assert_eq!((first.wake, first.timer), (None, None));
    assert_eq!((third.recovery, third.reassembly), (RecoveryScheme::NewReno, Reassembly::GoBackN));
    assert_eq!((first.recovery, first.reassembly), (RecoveryScheme::Tahoe, Reassembly::Selective));
    assert_eq!((first.handshake, third.handshake), (0, 2));
    assert_eq!((third.max_window, third.era), (Some(64.0), Era::MODERN));
}

#[test]
fn a_parking_lot_is_a_row_of_links() {
    let text = r#"
        [parking_lot]
        hops = 2
        rate = "10mbit"
        rtt = "60ms"
        loss = 0.1
        [[flow]]
        algorithm = "reno"
        [[flow]]
        algorithm = "reno"
        from = "r1"
        to = "r2"
    "#;
    let setup = setup(text);
    assert_eq!(setup.nodes, ["r0", "r1", "r2"]);
    assert_eq!(
        setup.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(),
        ["r0-r1", "r1-r0", "r1-r2", "r2-r1"]
    );
    // 10 Mbit/s over the whole row's 60 ms: 75 kB, 50 packets.
    assert!(setup.links.iter().all(|link| link.queue == QueueLimit::Packets(50)));
    let losses: Vec<Loss> = setup.links.iter().map(|link| link.loss).collect();
    assert_eq!(losses, [Loss::Bernoulli(0.1), Loss::None, Loss::Bernoulli(0.1), Loss::None]);
    let delays: Vec<Span> = setup.links.iter().map(|link| link.delay).collect();
    assert_eq!((delays, setup.flows[0].access_rtt), (vec![Span::from_micros(7500); 4], Span::from_millis(30)));
    assert_eq!((setup.flows[0].from, setup.flows[0].to), (NodeId(0), NodeId(2)));
    assert_eq!((setup.flows[1].from, setup.flows[1].to), (NodeId(1), NodeId(2)));
}

#[test]
fn a_graph_is_its_links() {
    let text = r#"
        [[link]]
        from = "a"
        to = "r"
        delay = "1ms"
        [[link]]
        name = "core"
        from = "r"
        to = "b"
        rate = "1gbit"
        delay = "5ms"
        queue = "droptail:100p"
        both_ways = false
        [[link]]
        from = "b"
        to = "a"
        delay = "6ms"
        both_ways = false
        [[flow]]
        algorithm = "reno"
        from = "a"
        to = "b"
        extra_rtt = "10ms"
    "#;
    let setup = setup(text);
    assert_eq!(setup.nodes, ["a", "r", "b"]);
    assert_eq!(setup.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["a-r", "r-a", "core", "b-a"]);
    assert_eq!((setup.links[0].rate, setup.links[0].queue), (None, QueueLimit::Unlimited));
    assert_eq!((setup.links[2].rate, setup.links[2].queue), (Some(1_000_000_000), QueueLimit::Packets(100)));
    assert_eq!(setup.flows[0].access_rtt, Span::from_millis(10));
}

#[test]
fn overrides_change_and_add_keys() {
    let text = "[dumbbell]\nrate = \"1mbit\"\n[[flow]]\nalgorithm = \"reno\"\ncount = 1\n";
    let overrides = ["dumbbell.rate=1gbit", "flow.0.algorithm=aimd:b=1/8", "flow.0.count=3", "variation.jitter=0"];
    let scenario = Scenario::read("test.toml", text, &overrides.map(String::from)).expect("valid");
    let setup = scenario.setup(1);
    assert_eq!(setup.links[0].rate, Some(1_000_000_000));
    assert_eq!(setup.flows.len(), 3);
    assert_eq!(setup.flows[2].algorithm.label(), "aimd:b=1/8");
    assert_eq!((setup.variation.rtt, setup.variation.jitter), (0.05, 0.0));
}

#[test]
fn a_scenario_written_out_reads_as_the_same_setup() {
    let document = Document {
        dumbbell: Some(Dumbbell { loss: Written::literal("0.001"), ..Dumbbell::default() }),
        flow: vec![
            FlowGroup { direction: Direction::Reverse, ..FlowGroup::new(Written::literal("aimd:b=1/8"), 2) },
            FlowGroup { max_window: Some(5.5), ..FlowGroup::new(Written::literal("reno"), 1) },
        ],
        ..Document::default()
    };
    let scenario = Scenario::check(document).expect("valid");
    let again = Scenario::read("again.toml", &scenario.to_toml(), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format!("{:?}", again.setup(3)), format!("{:?}", scenario.setup(3)));
}

#[test]
fn seeds_count_up_from_the_first() {
    let text = format!("seeds = 3\nfirst_seed = 7\n{SMALLEST}");
    let scenario = Scenario::read("test.toml", &text, &[]).expect("valid");
    assert_eq!(scenario.seeds().collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(scenario.setup(8).seed, 8);
}

#[test]
fn an_error_shows_the_line_it_is_in() {
    let text = "[dumbbell]\nrate = \"100\"  # no unit\n[[flow]]\nalgorithm = \"reno\"\n";
    let expected = "test.toml:2:8: cannot read `100`: expected a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or \
                    `9600bit`\n  |\n2 | rate = \"100\"  # no unit\n  |        ^^^^^";
    assert_eq!(error(text, &[]), expected);
}

#[test]
fn every_error_names_its_place_and_what_is_accepted() {
    let flow = |line: &str| format!("[dumbbell]\n[[flow]]\nalgorithm = \"reno\"\n{line}\n");
    let top = |line: &str| format!("{line}\n{SMALLEST}");
    let cases = [
        ("[dumbbell\n".to_string(), "1:10: unclosed table, expected `]`"),
        (top("durtion = \"1s\""), "1:1: unknown key `durtion`; did you mean `duration`? (accepted: title, duration"),
        (top("duration = 60"), "1:12: invalid type: integer `60`, expected a time with its unit"),
        (top("warmup = \"60s\""), "1:10: `warmup` cannot be 60s: accepted is less than the duration, 60 s"),
        (top("seeds = 0"), "1:9: `seeds` cannot be 0: accepted is 1 to 100000"),
        (top("era = \"2001\""), "1:7: unknown value `2001`"),
        (top("recovery = \"vegas\""), "1:12: unknown value `vegas` (accepted: tahoe, reno, newreno, sack, rack)"),
        (flow("receiver = \"sakc\""), "4:12: unknown value `sakc`"),
        (
            flow("host = \"tsoo\""),
            "4:8: cannot read `tsoo`: expected `plain` alone, or a parameter of `tso,gro=50us,autotune=6MB`",
        ),
        (
            flow("host = \"fq\"\npaced = true"),
            "5:9: `paced` cannot be true: accepted is false with `fq`, which paces by itself",
        ),
        (
            flow("host = \"autotune=1kB\""),
            "4:8: `host` cannot be `autotune=1kB`: accepted is `autotune` with a buffer of which half holds 1 to 65535 packets",
        ),
        (
            flow("host = \"autotune=6MB\"\nmax_window = 64"),
            "5:14: `max_window` cannot be 64 with `autotune`, which has a bound of its own",
        ),
        (top("packet = \"4GB\""), "1:10: `packet` cannot be 4GB: accepted is at most 65535B, the longest IP packet"),
        (top("ack = \"66kB\""), "1:7: `ack` cannot be 66kB: accepted is at most 65535B"),
        (top("payload = \"2kB\""), "1:11: `payload` cannot be 2kB: accepted is at most a packet, 1500 bytes"),
        (top("[variation]\nrtt = 1.0"), "2:7: `rtt` cannot be 1: accepted is at least 0 and below 1"),
        (flow("count = 0"), "4:9: `count` cannot be 0: accepted is at least 1"),
        (flow("count = -1"), "4:9: invalid value: integer `-1`, expected a whole number from 1 to 4294967295"),
        (flow("handshake = 3"), "4:13: `handshake` cannot be 3: accepted is 0 to 2 round trips"),
        (flow("max_window = 0.5"), "4:14: `max_window` cannot be 0.5: accepted is at least 1 packet"),
        (flow("stop = \"0s\""), "4:8: `stop` cannot be 0s: accepted is later than the start"),
        (flow("start = \"2min\""), "4:9: `start` cannot be 2min: accepted is less than the duration, 60s"),
        (flow("from = \"lft\""), "4:8: unknown node `lft`; did you mean `left`? (accepted: left, right)"),
        (flow("to = \"left\""), "4:6: `to` cannot be `left`: accepted is another node than `from`"),
        (flow("direction = \"back\""), "4:13: unknown value `back` (accepted: forward, reverse)"),
        (
            "[dumbbell]\n[[flow]]\nalgorithm = \"rneo\"\n".to_string(),
            "3:13: unknown algorithm `rneo`; did you mean `reno`?",
        ),
        (
            "[dumbbell]\n[[flow]]\nalgorithm = \"aimd:b=2\"\n".to_string(),
            "3:13: aimd: cannot take `2` for `b`: accepted is",
        ),
        ("[dumbbell]\n[[flow]]\ncount = 1\n".to_string(), "2:1: `algorithm` is missing"),
        (
            "[dumbbell]\nloss = 1.5\n[[flow]]\nalgorithm = \"reno\"\n".to_string(),
            "2:8: cannot read `1.5`: expected a number at least 0 and below 1 for `probability`",
        ),
        (
            "[dumbbell]\nqueue = \"fifo\"\n".to_string(),
            "2:9: cannot read `fifo`: expected a queue and its size; did you mean `droptail`",
        ),
        (
            "[parking_lot]\nhops = 0\n[[flow]]\nalgorithm = \"reno\"\n".to_string(),
            "2:8: `hops` cannot be 0: accepted is 1 to 255",
        ),
        (
            "[dumbbell]\nqueue = \"red:100p,min=0.5,max=0.2\"\n[[flow]]\nalgorithm = \"reno\"\n".to_string(),
            "2:9: `queue` cannot be `red:100p,min=0.5,max=0.2`: accepted is a min of at most max: here they are 50.0 and 20.0",
        ),
        ("[dumbbell]\n".to_string(), "1:1: no flows: add a `[[flow]]` or `[[arrivals]]` with an `algorithm`"),
        ("[[flow]]\nalgorithm = \"reno\"\n".to_string(), "1:1: no topologies: a scenario has exactly one of"),
        (format!("[parking_lot]\n{SMALLEST}"), "2:1: several topologies: a scenario has exactly one of"),
    ];
    for (text, expected) in cases {
        let found = first_line(&text);
        assert!(found.starts_with(&format!("test.toml:{expected}")), "{text}\nexpected {expected}\nfound    {found}");
    }
}

#[test]
fn errors_of_graphs() {
    let graph = |link: &str, flow: &str| {
        format!("[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n{link}\n[[flow]]\nalgorithm = \"reno\"\n{flow}\n")
    };
    let route = "from = \"a\"\nto = \"b\"";
    let cases = [
        (graph("rate = \"1mbit\"", route), "1:1: `queue` is missing: a link with a rate has a queue"),
        (graph("queue = \"droptail:5p\"", route), "5:9: `queue` cannot be `droptail:5p` without a `rate`"),
        (
            graph("rate = \"1mbit\"\nqueue = \"droptail:1bdp\"", route),
            "6:9: `queue` cannot be `droptail:1bdp`: accepted is packets",
        ),
        (graph("", "from = \"a\""), "6:1: `to` is missing: a flow through a graph names its two nodes"),
        (graph("", "from = \"a\"\nto = \"zzz\""), "9:6: unknown node `zzz` (accepted: a, b)"),
        (
            "[[link]]\nfrom = \"a\"\nto = \"a\"\ndelay = \"1ms\"\n".to_string(),
            "3:6: `to` cannot be `a`: accepted is another node",
        ),
    ];
    for (text, expected) in cases {
        let found = first_line(&text);
        assert!(found.starts_with(&format!("test.toml:{expected}")), "{text}\nexpected {expected}\nfound    {found}");
    }
}

const TWO_WAYS: &str = "duration = \"4s\"\nseeds = 1\n\
    [[link]]\nfrom = \"a\"\nto = \"z\"\nrate = \"9mbit\"\nqueue = \"20p\"\ndelay = \"1ms\"\n\
    [[link]]\nfrom = \"a\"\nto = \"m\"\nrate = \"2mbit\"\nqueue = \"20p\"\ndelay = \"5ms\"\n\
    [[link]]\nfrom = \"m\"\nto = \"z\"\nrate = \"4mbit\"\nqueue = \"20p\"\ndelay = \"5ms\"\n\
    [[flow]]\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"z\"\nextra_rtt = \"20ms\"\n";

/// Links by name, in the order in which data crosses them.
fn path(setup: &Setup, flow: usize) -> Vec<&str> {
    let paths = setup.paths().expect("checked");
    paths[flow].iter().map(|link| setup.links[link.0 as usize].name.as_str()).collect()
}

#[test]
fn a_flow_names_its_route() {
    let text = TWO_WAYS.replace("20p", "droptail:20p");
    assert_eq!(path(&setup(&text), 0), ["a-z"], "of least delay");
    let around = format!("{text}via = [\"a-m\", \"m-z\"]\n");
    assert_eq!(path(&setup(&around), 0), ["a-m", "m-z"]);
    let scenario = Scenario::read("test.toml", &around, &[]).expect("valid");
    assert_eq!(scenario.setup(1).links[scenario.bottleneck()].name, "a-m", "the slowest that it crosses");
    let back = format!("{around}via_back = [\"z-m\", \"m-a\"]\ndirection = \"forward\"\n");
    assert_eq!(setup(&back).flows[0].via_back.as_ref().map(Vec::len), Some(2));
    let reverse = format!("{text}via = [\"z-m\", \"m-a\"]\ndirection = \"reverse\"\n");
    assert_eq!(path(&setup(&reverse), 0), ["z-m", "m-a"], "data goes from z to a");
    // What crosses which link in a run.
    let carried = |text: &str| {
        let trace = cwnd_sim::run(&setup(text), &mut |_| true).expect("runs");
        let carried = |link: &str| {
            trace.links.iter().find(|one| one.name == link).map_or(0, |one| *one.carried.last().unwrap_or(&0))
        };
        ["a-z", "a-m", "m-z", "z-a", "z-m", "m-a"].map(carried)
    };
    let [direct, out, on, answers, none_back, none_on] = carried(&around);
    assert!(direct == 0 && out > 100 && on > 100 && answers > 100 && none_back == 0 && none_on == 0);
    let [direct, out, _, answers, back, on_back] = carried(&back);
    assert!(direct == 0 && out > 100 && answers == 0 && back > 100 && on_back > 100);
    assert_eq!(setup(&around.replace("20ms", "21ms")).flows[0].access_rtt, Span::from_millis(21));
}

#[test]
fn a_route_is_checked_link_by_link() {
    let with = |via: &str| format!("{}via = {via}\n", TWO_WAYS.replace("20p", "droptail:20p"));
    for (via, expected) in [
        ("[\"a-x\"]", "unknown link `a-x`; did you mean `a-z`? (accepted: a-z, z-a, a-m, m-a, m-z, z-m)"),
        (
            "[\"m-z\"]",
            "`via` cannot be `m-z`, which begins at `m`: accepted is a link from `a`, where the route is by then",
        ),
        ("[\"a-m\"]", "`via` cannot be `a-m`, which ends at `m`: accepted is links that lead to `z`"),
    ] {
        let error = error(&with(via), &[]);
        assert!(error.contains(expected), "{via}: {error}");
        assert!(error.starts_with("test.toml:26:7: "), "{error}");
    }
    let twice =
        with("[\"a-z\"]").replacen("[[flow]]", "[[link]]\nfrom = \"a\"\nto = \"z\"\ndelay = \"1ms\"\n[[flow]]", 1);
    assert!(error(&twice, &[]).contains("`via` cannot be `a-z`: accepted is a name that one link alone has"));
}

#[test]
fn arrivals_alone_are_a_scenario() {
    let text = "duration = \"10s\"\nseeds = 1\n[dumbbell]\nrate = \"4mbit\"\n[[arrivals]]\nalgorithm = \"reno\"\nsize = \"10p\"\nload = 0.5\n";
    let scenario = Scenario::read("test.toml", text, &[]).expect("valid");
    assert_eq!(scenario.bottleneck(), 0);
    let runs = cwnd_run::run::run(vec![scenario], &()).expect("runs");
    let [runs] = &runs[..] else { panic!("one scenario") };
    assert!(runs.traces[0].flow_arrivals[0].completed.last().is_some_and(|completed| *completed > 20));
    assert_eq!((runs.summaries[0].flow_goodput_bps.len(), runs.warnings().len()), (0, 0));
}

#[test]
fn the_default_warmup_is_at_most_half_of_the_duration() {
    for (duration, warmup) in [("60s", "10s"), ("20s", "10s"), ("3s", "1500ms"), ("1us", "500ns")] {
        let text = format!("duration = \"{duration}\"\n{SMALLEST}");
        let scenario = Scenario::read("test.toml", &text, &[]).expect("valid");
        assert_eq!(scenario.document().warmup.text(), warmup, "{duration}");
    }
    assert_eq!(
        error(SMALLEST, &["duration=3s", "warmup=4s"]),
        "--set warmup=4s: `warmup` cannot be 4s: accepted is less than the duration, 3 s"
    );
}

#[test]
fn errors_of_overrides_name_the_override() {
    let cases = [
        ("dumbbell.rate=100", "--set dumbbell.rate=100: invalid type: integer `100`, expected a rate with its unit"),
        ("dumbbell.rat=1mbit", "--set dumbbell.rat=1mbit: unknown key `rat`; did you mean `rate`?"),
        ("flow.0.algorithm=rneo", "--set flow.0.algorithm=rneo: unknown algorithm `rneo`; did you mean `reno`?"),
        ("flow.1.algorithm=reno", "--set flow.1.algorithm=reno: `flow` is a list of 1: name one as `flow.0.key`"),
        ("flow.0.count=0", "--set flow.0.count=0: `count` cannot be 0: accepted is at least 1"),
        ("warmup=5min", "--set warmup=5min: `warmup` cannot be 5min: accepted is less than the duration, 60 s"),
        ("duration", "--set duration: expected `key=value`"),
        ("duration.x=1", "--set duration.x=1: invalid type: map, expected a time with its unit"),
        (".=1", "--set .=1: a part of the key is empty"),
        ("dumbbell.bandwidth=1mbit", "--set dumbbell.bandwidth=1mbit: unknown key `bandwidth`; did you mean `rate`?"),
        ("rate=1mbit", "--set rate=1mbit: unknown key `rate`; it is a key of `dumbbell` or a `link` (accepted: title"),
        (
            "grid.x=1",
            "--set grid.x=1: unknown key `grid`; it is a key of a sweep, which `cwnd sweep` runs (accepted: title",
        ),
        ("nowhere.x=1", "--set nowhere.x=1: unknown key `nowhere`"),
    ];
    for (item, expected) in cases {
        let found = error(SMALLEST, &[item]);
        assert!(found.starts_with(expected), "expected {expected}\nfound    {found}");
    }
}

#[test]
fn every_key_of_links_arrives() {
    let text = r#"
        packet = "1000B"
        payload = "960B"
        [dumbbell]
        rate = "10mbit"
        rtt = "40ms"
        queue = "rio:100p,out_min=0.1,out_max=0.2"
        loss = "gilbert:to_bad=0.01,to_good=0.2,loss_bad=0.5"
        reverse_queue = "drr:64kB"
        [dumbbell.schedule]
        repeat = "10s"
        steps = [
            { at = "5s", rate = "5mbit" },
            { at = "6s", rate = "outage", extra_delay = "20ms" },
            { at = "7s", extra_delay = "0s" },
        ]
        [[flow]]
        algorithm = "reno"
        class = "in"
        [[cbr]]
        rate = "cbr:1mbit"
        [[arrivals]]
        algorithm = "reno"
        size = "10p"
        gap = "1s"
        class = "in"
    "#;
    let setup = setup(text);
    let [bottleneck, back] = setup.links.as_slice() else { panic!("{:?}", setup.links) };
    let Discipline::Rio(rio) = bottleneck.discipline else { panic!("{:?}", bottleneck.discipline) };
    assert_eq!((rio.inside.min, rio.inside.max, rio.outside.min, rio.outside.max), (15.0, 30.0, 10.0, 20.0));
    assert_eq!(back.discipline, Discipline::Drr(DrrSetup { quantum: cwnd::Bytes(1000) }));
    assert_eq!(back.queue, QueueLimit::Bytes(64_000));
    let channel = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_good: 0.0, loss_bad: 0.5 };
    assert_eq!(bottleneck.loss, Loss::GilbertElliott(channel));
    let (s, ms) = (Span::from_secs, Span::from_millis);
    assert_eq!(bottleneck.rate_steps.steps, [(s(5), 5_000_000), (s(6), 0)]);
    // A quarter of 40 ms lies on the link.
    assert_eq!(bottleneck.delay_steps.steps, [(s(6), ms(30)), (s(7), ms(10))]);
    assert_eq!((bottleneck.rate_steps.repeat, bottleneck.delay_steps.repeat), (Some(s(10)), Some(s(10))));
    assert!(back.rate_steps.steps.is_empty() && back.delay_steps.steps.is_empty(), "the bottleneck alone changes");
    assert_eq!(
        (setup.flows[0].class, setup.cbr[0].class, setup.flow_arrivals[0].flow.class),
        (Class::In, Class::Out, Class::In)
    );
}

#[test]
fn fair_shares_are_of_the_mean_capacity() {
    let shares = |path: &str| {
        let text = format!(
            "duration = \"12s\"\nwarmup = \"2s\"\nseeds = 1\n[dumbbell]\n{path}\n[[flow]]\nalgorithm = \"reno\"\ncount = 2\n"
        );
        let scenario = Scenario::read("test.toml", &text, &[]).expect("valid");
        let runs = run(vec![scenario], &()).expect("it runs").remove(0);
        (
            fair_shares(&runs.traces[0], Window::measured(&runs.traces[0])),
            runs.summaries[0].utilisation.expect("a rate"),
        )
    };
    let near = |found: Option<f64>, wire: f64| {
        // 1460 of 1500 bytes are payload; the flows start within a round trip, long before the end of the warm-up.
        let share = wire * 1460.0 / 1500.0;
        assert!(found.is_some_and(|found| (found - share).abs() < 1.0), "{found:?}, expected {share}");
    };
    // 10 and 4 Mbit/s in turn.
    let turns = "rate = \"10mbit\"\nschedule = { repeat = \"2s\", steps = [{ at = \"1s\", rate = \"4mbit\" }] }";
    shares(turns).0.into_iter().for_each(|share| near(share, 3.5e6));
    // A shaper and a policer are what limits flows, and what the link is used of: 5 of 10 Mbit/s.
    for bucket in ["shaper", "policer"] {
        let path = format!(
            "rate = \"10mbit\"\nqueue = \"droptail:1bdp\"\nimpairments = {{ {bucket} = \"5mbit,burst=30kB\" }}"
        );
        let (shares, used) = shares(&path);
        shares.into_iter().for_each(|share| near(share, 2.5e6));
        assert!((0.7..=1.0).contains(&used), "{bucket}: {used}");
    }
}

#[test]
fn errors_of_schedules() {
    let bell = |schedule: &str| format!("[dumbbell]\nschedule = {schedule}\n[[flow]]\nalgorithm = \"reno\"\n");
    let cases = [
        ("{ steps = [] }", "2:22: `steps` cannot be empty: accepted is at least one step"),
        (
            "{ steps = [{ at = \"1s\" }] }",
            "2:23: `rate` is missing: a step changes the `rate`, the `extra_delay`, the `loss` or another of its keys",
        ),
        (
            "{ steps = [{ at = \"2s\", rate = \"1mbit\" }, { at = \"2s\", rate = \"2mbit\" }] }",
            "2:61: `at` cannot be 2s: accepted is later than the step before, 2s",
        ),
        (
            "{ repeat = \"2s\", steps = [{ at = \"2s\", rate = \"1mbit\" }] }",
            "2:23: `repeat` cannot be 2s: accepted is later than the last step, 2s",
        ),
        (
            "{ steps = [{ at = \"2s\", rate = \"0mbit\" }] }",
            "2:43: cannot read `0mbit`: expected a rate with its unit, such as `100mbit`, or `outage`",
        ),
        (
            "{ steps = [{ at = \"2s\", rate = \"outage\" }] }",
            "2:12: `schedule` cannot be as it is: accepted is one whose last rate is above 0, or that repeats: an outage must end",
        ),
    ];
    for (schedule, expected) in cases {
        let found = first_line(&bell(schedule));
        assert!(found.starts_with(&format!("test.toml:{expected}")), "expected {expected}\nfound    {found}");
    }
    let graph = "[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n\
        schedule.steps = [{ at = \"1s\", rate = \"1mbit\" }]\n";
    assert!(first_line(graph).ends_with("`rate` cannot be `1mbit` in a link without a `rate`"));
}

#[test]
fn every_key_of_traffic_arrives() {
    let text = r#"
        packet = "1000B"
        payload = "960B"
        [dumbbell]
        rate = "20mbit"
        reverse_rate = "10mbit"
        rtt = "100ms"
        [[flow]]
        algorithm = "reno"
        size = "2kB"
        [[flow]]
        algorithm = "reno"
        source = "square:2mbit,1mbit,step=5s"
        on = ["1s..2s", "3s..4s", "5s.."]
        [[cbr]]
        rate = "cbr:1mbit"
        count = 2
        on = ["1s..2s", "3s..4s"]
        packet = "500B"
        direction = "reverse"
        [[arrivals]]
        algorithm = "cubic"
        size = "pareto:30p,shape=1.35"
        load = 0.3
        start = "1s"
        stop = "50s"
        direction = "reverse"
        extra_rtt = "10ms"
        rtt_spread = "40ms"
        limit = 7
        era = "linux-2.6"
        [[arrivals]]
        name = "readers"
        algorithm = "reno"
        size = "10p"
        load = 0.2
        web = { pages = 2, objects = 5, think = "3s" }
        [[arrivals]]
        algorithm = "reno"
        size = "10p"
        gap = "square:30ms,10ms,step=5s"
    "#;
    let setup = setup(text);
    let second = |seconds| Time::ZERO + Span::from_secs(seconds);
    let pause = |from, to| Pause { from: second(from), to: second(to) };
    assert_eq!(setup.flows[0].source, Source::Packets(3));
    let [_, staged] = setup.flows.as_slice() else { panic!("{} flows", setup.flows.len()) };
    let square = RateSchedule::stepping(2_000_000, Span::from_secs(5), RateChange::Square(1_000_000));
    assert_eq!(staged.source, Source::Rate(square));
    assert_eq!((staged.start, staged.stop), (second(1), None));
    assert_eq!(staged.pauses, [pause(2, 3), pause(4, 5)]);

    let [first, other] = setup.cbr.as_slice() else { panic!("{} flows", setup.cbr.len()) };
    assert_eq!((first.name.as_str(), other.name.as_str()), ("cbr #1", "cbr #2"));
    assert_eq!((first.from, first.to, first.packet.0), (NodeId(1), NodeId(0), 500));
    assert_eq!((first.start, first.stop, first.pauses.as_slice()), (second(1), Some(second(4)), &[pause(2, 3)][..]));

    let [back, readers, waves] = setup.flow_arrivals.as_slice() else { panic!("{} crowds", setup.flow_arrivals.len()) };
    // 30 packets of 8000 bits at 30 % of 10 Mbit/s.
    assert_eq!(back.gap, Interarrival::Constant(Span::from_millis(80)));
    assert_eq!(back.sizes, Sizes::Pareto { mean: 30.0, shape: 1.35 });
    assert_eq!((back.flow.start, back.flow.stop, back.flow.from), (second(1), Some(second(50)), NodeId(1)));
    assert_eq!((back.flow.access_rtt, back.rtt_spread), (Span::from_millis(60), Span::from_millis(40)));
    assert_eq!((back.limit.get(), back.flow.era.name, back.flow.name.as_str()), (7, "linux-2.6", "cubic"));
    // A reader asks for 100 packets: 800 kbit at 20 % of 20 Mbit/s.
    assert_eq!(readers.gap, Interarrival::Constant(Span::from_millis(200)));
    assert_eq!(readers.pages, Some(Pages { pages: 2.0, objects: 5.0, think: Span::from_secs(3) }));
    let means = [30, 10].map(Span::from_millis);
    assert_eq!(waves.gap, Interarrival::Square { means, step: Span::from_secs(5) });
}

#[test]
fn sizes_of_flows_and_of_arrivals_are_packets_or_bytes() {
    let read = |size: &str| {
        let of_flow = setup(&format!("payload = \"1000B\"\n{SMALLEST}size = \"{size}\"\n"));
        let arriving = format!("[[arrivals]]\nalgorithm = \"reno\"\nload = 0.1\nsize = \"{size}\"\n");
        let of_arrivals = setup(&format!("payload = \"1000B\"\n{SMALLEST}{arriving}"));
        (of_flow.flows[0].source, of_arrivals.flow_arrivals[0].sizes)
    };
    for (size, packets) in [("8p", 8), ("8kB", 8), ("7001B", 8)] {
        assert_eq!(read(size), (Source::Packets(packets), Sizes::Constant(packets)), "{size}");
    }
}

#[test]
fn wrong_traffic_is_refused_at_its_key() {
    let with = |table: &str| first_line(&format!("{SMALLEST}{table}"));
    assert_eq!(
        with("size = \"10p\"\nsource = \"cbr:1mbit\"\n"),
        "test.toml:5:10: `source` cannot be `cbr:1mbit` with a `size`"
    );
    assert_eq!(
        with("on = [\"1s..2s\"]\nstop = \"3s\"\n"),
        "test.toml:4:6: `on` cannot be `1s..2s` with a `start` or `stop`"
    );
    assert_eq!(
        with("on = [\"1s..5s\", \"3s..\"]\n"),
        "test.toml:4:6: `on` cannot be `3s..` after `1s..5s`: accepted is times that follow each other"
    );
    let walk = "[[cbr]]\nrate = \"multiplicative-walk:1mbit,factor=2,step=1s\"\n";
    assert_eq!(
        with(walk),
        "test.toml:5:8: `rate` cannot be `multiplicative-walk:1mbit,factor=2,step=1s`: accepted is a multiplicative walk with a floor \
         above 0, without which it decays to 0"
    );
    assert!(with("[[cbr]]\nrate = \"2mbit\"\n").contains("a name before `2mbit`, such as `cbr:2mbit`"));
    let arrivals = |keys: &str| with(&format!("[[arrivals]]\nalgorithm = \"reno\"\nsize = \"10p\"\n{keys}"));
    assert_eq!(arrivals(""), "test.toml:4:1: `load` is missing: arrivals have a `load` or a `gap`");
    assert_eq!(arrivals("load = 0.1\ngap = \"1s\"\n"), "test.toml:7:8: `load` cannot be 0.1 with a `gap`");
    assert_eq!(
        arrivals("gap = \"1s\"\nweb = { pages = 0.5, objects = 1, think = \"1s\" }\n"),
        "test.toml:8:17: `pages` cannot be 0.5: accepted is 1 to 1000000"
    );
}

#[test]
fn overrides_may_be_lists_and_tables() {
    let read = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        Scenario::read("test.toml", SMALLEST, &overrides)
    };
    let setup = read(&["flow.0.on=[\"1s..2s\", \"3s..\"]", "dumbbell={ rate = \"5mbit\" }"]).expect("right").setup(1);
    assert_eq!((setup.flows[0].pauses.len(), setup.links[0].rate), (1, Some(5_000_000)));
    let error = read(&["flow.0.on=[\"1s..2s\", \"x\"]"]).expect_err("wrong").to_string();
    assert!(
        error.starts_with("--set flow.0.on=[\"1s..2s\", \"x\"]: cannot read `x`: expected a begin and an end"),
        "{error}"
    );
}

#[test]
fn a_warmup_is_exact() {
    let scenario = Scenario::read("x.toml", SMALLEST, &[]).expect("valid");
    let warmup = Span::from_nanos(1_234_567_891);
    let later = scenario.with_warmup(warmup).expect("shorter than the duration");
    assert_eq!(later.setup(1).warmup, warmup);
    let again = Scenario::read("x.toml", &later.to_toml(), &[]).expect("what was written can be read");
    assert_eq!(again.setup(1).warmup, warmup);
}

#[test]
fn a_flow_is_found_whatever_its_name() {
    let text = r#"[[link]]
from = "c"
to = "a"
delay = "1ms"
[[flow]]
algorithm = "reno"
name = "link `x`"
from = "a"
to = "c"
"#;
    let error = error(text, &[]);
    assert!(error.starts_with("test.toml:5:1: `extra_rtt` cannot be missing: accepted is at least 106us"), "{error}");
}

/// When the slowest of the answers to a request arrives, seconds.
fn query_completion(overrides: &[&str]) -> f64 {
    let text = include_str!("../../../../scenarios/incast.toml");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let setup = Scenario::read("incast.toml", text, &overrides).expect("valid").setup(1).into_setup();
    let trace = cwnd_sim::run(&setup, &mut |_| true).expect("runs");
    let times = trace.flows.iter().map(|flow| flow.completed.expect("it is complete"));
    times.max().map_or(f64::NAN, |last| last as f64 / 1e9)
}

#[test]
fn an_incast_takes_the_time_of_its_formula() {
    // A handshake, three quarters of a round trip to the receiver, and 44 packets of each server at 1 Gbit/s.
    let alone = |servers: f64| 1.75 * 200e-6 + servers * 44.0 * 12e-6;
    let plain = ["variation.start=0s", "variation.rtt=0", "variation.jitter=0", "dumbbell.queue=droptail:100000p"];
    for servers in [2, 16] {
        let count = format!("flow.0.count={servers}");
        let measured = query_completion(&[&plain[..], &[&count]].concat());
        let formula = alone(f64::from(servers));
        assert!((measured / formula - 1.0).abs() < 1e-3, "{servers}: {measured} against {formula}");
    }
    // The slowest of 64 waits for two timeouts, the second of which is twice as long, and for no more than all answers and some round trips.
    let measured = query_completion(&[]);
    assert!((0.6..0.602 + alone(64.0)).contains(&measured), "{measured}");
}

/// A scenario in a directory of its own next to a trace.
fn with_trace(trace: &str, keys: &str) -> Result<Scenario, String> {
    let directory = tempfile::tempdir().expect("a directory for the test");
    std::fs::write(directory.path().join("up.trace"), trace).expect("it can be written");
    std::fs::write(directory.path().join("up.light"), "0 7 0 3\n50 5 0\n100 9").expect("it can be written");
    let name = directory.path().join("test.toml").display().to_string();
    let text = format!("[dumbbell]\nrtt = \"40ms\"\n{keys}\n[[flow]]\nalgorithm = \"reno\"\n");
    Scenario::read(&name, &text, &[]).map_err(|error| error.to_string())
}

#[test]
fn a_trace_lies_beside_its_scenario_and_sets_the_rate() {
    let scenario = with_trace("1\n5\n10\n", "trace = \"up.trace\"\nqueue = \"droptail:2bdp\"").expect("valid");
    let setup = scenario.setup(1).into_setup();
    // Three times 1504 bytes in 10 ms, and two times 40 ms of it in packets of 1500 bytes.
    assert_eq!(setup.links[0].rate, Some(3_609_600));
    assert_eq!(setup.links[0].queue, cwnd_sim::QueueLimit::Packets(24));
    assert!(setup.links[0].deliveries.is_some() && setup.links[1].deliveries.is_none());
    assert_eq!(setup.links[1].rate, Some(100_000_000), "the reverse path keeps its own");
}

#[test]
fn a_pair_of_traces_has_the_rate_of_the_heavy_and_the_delay_of_the_light_one() {
    let pair = "trace = \"up.trace,light=up.light,idle=9ms\"\nqueue = \"droptail:3p\"";
    let setup = with_trace("1\n5\n10\n", pair).expect("valid").setup(1).into_setup();
    let link = &setup.links[0];
    assert_eq!(link.rate, Some(3 * 1400 * 8 * 100));
    // A quarter of 40 ms, and 7 ms at first. It falls to 5 ms in 50 ms, rounded down, and rises to 9 ms.
    let ms = Span::from_millis;
    assert_eq!(link.delay, ms(10) + ms(5));
    let delays = [(0, 17), (1, 16), (26, 15), (63, 16), (75, 17), (88, 18)];
    assert_eq!(link.delay_steps.steps, delays.map(|(at, delay)| (ms(at), ms(delay))));
    assert_eq!(link.delay_steps.repeat, Some(ms(100)));
}

#[test]
fn errors_of_traces_name_the_file_and_the_line() {
    let cases = [
        ("1\n2\n1\n", "trace = \"up.trace\"", "up.trace`: line 3: 1 ms lies before the 2 ms of the line before"),
        ("1\nx\n", "trace = \"up.trace\"", "up.trace`: line 2: expected a whole number of milliseconds"),
        ("", "trace = \"up.trace\"", "up.trace`: a delivery trace has at least one line"),
        ("1\n", "trace = \"down.trace\"", "down.trace`: No such file"),
        (
            "1\n",
            "trace = \"up.trace\"\nschedule = { steps = [{ at = \"1s\", rate = \"1mbit\" }] }",
            "with a `schedule`",
        ),
        ("1\n", "trace = \"up.trace\"\noutage = [\"1s..2s\"]", "`outage` cannot be `1s..2s`"),
        ("1\n", "trace = \"up.trace,light=up.trace,idle=9ms\"", "up.trace`: line 1: expected `DELAY`, a whole number"),
        ("1\n", "trace = \"up.trace,light=no.light,idle=9ms\"", "no.light`: No such file"),
        ("x\n", "trace = \"up.trace,light=up.light,idle=9ms\"", "up.trace`: line 1: expected a whole number"),
        ("1\n", "trace = \"up.trace,light=up.light\"", "expected `HEAVY,light=LIGHT,idle=TIME`"),
        ("1\n", "trace = \"up.trace,light=up.light,idle=2h\"", "from `0s` to `1h`"),
        ("1\n", "trace = \"light=up.light,idle=9ms\"", "expected `HEAVY,light=LIGHT,idle=TIME`"),
        ("1\n", "trace = \"up.csv,light=up.light,idle=9ms\"", "up.csv`: No such file"),
        (
            "1\n",
            "trace = \"up.trace,light=up.light,idle=9ms\"\nschedule = { steps = [{ at = \"1s\", extra_delay = \"1ms\" }] }",
            "accepted is one without delays next to a `schedule` with `extra_delay`",
        ),
        (
            "1\n",
            "trace = \"up.trace,light=up.light,idle=9ms\"\nduplex = \"half\"",
            "`full` with a `shaper` or a `trace`",
        ),
    ];
    for (trace, keys, expected) in cases {
        let error = with_trace(trace, keys).expect_err("must be refused");
        assert!(error.contains("test.toml:") && error.contains(expected), "{error}");
    }
}

#[test]
fn an_outage_is_a_rate_of_zero_meanwhile() {
    let keys = "rate = \"10mbit\"\noutage = [\"1s..2s\", \"5s..5500ms\"]\nschedule = { steps = [{ at = \"1500ms\", rate = \"4mbit\" }] }";
    let setup = with_trace("", keys).expect("valid").setup(1).into_setup();
    let steps: Vec<_> =
        setup.links[0].rate_steps.steps.iter().map(|(at, rate)| (at.as_nanos() / 1_000_000, *rate)).collect();
    assert_eq!(steps, [(1000, 0), (1500, 0), (2000, 4_000_000), (5000, 0), (5500, 4_000_000)]);
    let endless = with_trace("", "outage = [\"1s..\"]").expect_err("must be refused");
    assert!(endless.contains("an outage must end"), "{endless}");
}

#[test]
fn impairments_are_those_of_their_link() {
    let keys = "impairments = { jitter = \"2ms\", reorder = \"0.02:3p\", policer = \"5mbit,burst=30kB\" }\n\
                reverse_impairments = { aggregate = \"4ms\", thin_acks = 4, shaper = \"1mbit,burst=2kB\" }";
    let setup = with_trace("", keys).expect("valid").setup(1).into_setup();
    let [forth, back] = [0, 1].map(|index| setup.links[index].impairments.clone());
    let reordering = Some(Reordering { probability: 0.02, by: ReorderBy::Packets(3) });
    let policer = Some(TokenBucket { rate: 5_000_000, burst: Bytes(30_000) });
    let jitter = Some(Noise::Uniform(Span::from_millis(2)).into());
    assert_eq!(forth, Impairments { jitter, reordering, policer, ..Impairments::default() });
    let (aggregation, shaper) =
        (Some(Span::from_millis(4)), Some(TokenBucket { rate: 1_000_000, burst: Bytes(2_000) }));
    assert_eq!(back, Impairments { aggregation, shaper, ack_thinning: Some(4), ..Impairments::default() });
}
