//! Links whose losses and impairments change in time, and packets that are dropped, marked or held back by number.

use cwnd_run::scenario::Scenario;
use cwnd_sim::{LinkId, Loss, Noise, Passing, QueueLimit, Setup, Tap, Trace};

fn setup(text: &str) -> Setup {
    Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}")).setup(1).into_setup()
}

fn error(text: &str) -> String {
    let error = Scenario::read("test.toml", text, &[]).expect_err("must be refused").to_string();
    error.lines().next().unwrap_or_default().to_string()
}

fn run(setup: &Setup) -> Trace {
    cwnd_sim::run(setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

/// A flow of Reno over 10 Mbit/s and 40 ms without random variation, with more keys of the dumbbell and of the flow.
fn scenario(dumbbell: &str, flow: &str) -> String {
    format!(
        "duration = \"6s\"\nwarmup = \"1s\"\nseeds = 1\nsampling = \"100ms\"\nvariation = {{ start = \"0s\", rtt = 0, jitter = 0 }}\n\
         [dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"droptail:unlimited\"\n{dumbbell}\n\
         [[flow]]\nalgorithm = \"reno\"\n{flow}\n"
    )
}

/// Packets dropped between two instants of a trace, seconds.
fn dropped(trace: &Trace, from: f64, to: f64) -> u64 {
    let at = |secs: f64| {
        let index = trace.at.iter().position(|at| *at as f64 >= secs * 1e9).expect("within the run");
        trace.flows[0].dropped.get(index).copied().expect("a sample")
    };
    at(to) - at(from)
}

#[test]
fn loss_holds_from_its_step_to_the_next_and_returns() {
    let once = run(&setup(&scenario("loss = 0.3\nschedule = { steps = [{ at = \"2s\", loss = 0 }] }", "")));
    assert!(dropped(&once, 0.0, 2.0) > 3);
    assert_eq!(dropped(&once, 2.0, 6.0), 0);
    let steps = "schedule = { repeat = \"2s\", steps = [{ at = \"1s\", loss = \"periodic:5\" }] }";
    let again = run(&setup(&scenario(steps, "")));
    assert!([0.0, 2.0, 4.0].iter().all(|from| dropped(&again, *from, *from + 1.0) == 0));
    assert!([1.0, 3.0].iter().all(|from| dropped(&again, *from, *from + 0.9) > 0));
}

#[test]
fn a_step_sets_what_it_names_and_leaves_the_rest() {
    let keys = "loss = 0.01\nimpairments = { jitter = \"2ms\", aggregate = \"4ms\" }\n\
                schedule = { steps = [\n\
                { at = \"1s\", jitter = \"normal:5ms,deviation=1ms\", thin_acks = 3 },\n\
                { at = \"2s\", loss = 0, aggregate = \"none\", queue = \"droptail:20p\", policer = \"5mbit,burst=30kB\" },\n\
                { at = \"3s\", jitter = \"0s\", policer = \"none\", reorder = \"0.1:3p\", corrupt = 0.1, bleach_ecn = true, duplicate = 0.2 },\n\
                ] }";
    let setup = setup(&scenario(keys, ""));
    let phases: Vec<_> = setup.links[0].phases.steps.iter().map(|(_, phase)| phase).collect();
    let [first, second, third] = phases.as_slice() else { panic!("{} phases", phases.len()) };
    assert_eq!((first.loss, first.queue), (Loss::Bernoulli(0.01), QueueLimit::Unlimited));
    assert!(matches!(first.impairments.jitter.map(|jitter| jitter.noise), Some(Noise::Normal { .. })));
    assert_eq!((first.impairments.ack_thinning, second.impairments.ack_thinning), (Some(3), None));
    assert_eq!((second.loss, second.queue), (Loss::None, QueueLimit::Packets(20)));
    assert!(second.impairments.policer.is_some() && second.impairments.jitter == first.impairments.jitter);
    assert_eq!((third.impairments.policer, third.impairments.jitter, third.queue), (None, None, second.queue));
    assert!(third.impairments.reordering.is_some() && third.impairments.bleach && third.impairments.corruption == 0.1);
    assert_eq!((second.impairments.duplication, third.impairments.duplication), (0.0, 0.2));
    let trace = run(&setup);
    assert!(trace.flows[0].delivered.last() > Some(&100));
}

#[test]
fn a_ramp_reaches_its_values_in_equal_steps() {
    let steps =
        "schedule = { steps = [{ at = \"2s\", over = \"4ms\", rate = \"6mbit\", extra_delay = \"8ms\", loss = 0.4 }] }";
    let setup = setup(&scenario(steps, ""));
    let link = &setup.links[0];
    let rates: Vec<u64> = link.rate_steps.steps.iter().map(|(_, rate)| *rate).collect();
    assert_eq!(rates, [9_000_000, 8_000_000, 7_000_000, 6_000_000]);
    let delays: Vec<u64> = link.delay_steps.steps.iter().map(|(_, delay)| delay.as_nanos() / 1_000_000).collect();
    assert_eq!(delays, [12, 14, 16, 18]);
    let losses: Vec<_> = link.phases.steps.iter().map(|(at, phase)| (at.as_nanos() / 1_000_000, phase.loss)).collect();
    let expected = [0.1, 0.2, 0.3, 0.4].map(Loss::Bernoulli);
    assert_eq!(losses.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2001, 2002, 2003, 2004]);
    assert!(
        losses.iter().zip(expected).all(|((_, loss), expected)| format!("{loss:.3?}") == format!("{expected:.3?}"))
    );
}

#[test]
fn a_policer_that_is_switched_off_drops_nothing() {
    let steps = "impairments = { policer = \"2mbit,burst=30kB\" }\n\
                 schedule = { steps = [{ at = \"2s\", policer = \"none\" }, { at = \"4s\", policer = \"2mbit,burst=30kB\" }] }";
    let trace = run(&setup(&scenario(steps, "")));
    assert!(dropped(&trace, 0.0, 2.0) > 0 && dropped(&trace, 4.2, 6.0) > 0);
    assert_eq!(dropped(&trace, 2.1, 4.0), 0);
    // 2 s at 2 Mbit/s, 2 s at 10, 2 s at 2: 28 Mbit.
    let capacity = trace.links[0].capacity_bytes.last().copied().unwrap_or(0);
    assert_eq!(capacity, 28_000_000 / 8, "bytes");
}

/// The packets that the link at `index` lost by number, as numbers from 1 with their transmissions.
fn lost(trace: &Trace, index: usize) -> Vec<(u64, u32)> {
    let lost = trace.links[index].passages.iter().filter(|passage| passage.lost);
    let which = |what: &Passing| match *what {
        Passing::Data { number, transmission } => (number + 1, transmission),
        Passing::Ack { nth, .. } => (nth, 0),
    };
    lost.map(|passage| which(&passage.what)).collect()
}

fn recorded(text: &str) -> Trace {
    let mut setup = setup(text);
    for index in 0..setup.links.len() as u32 {
        match setup.taps.iter_mut().find(|tap| tap.link == LinkId(index)) {
            Some(tap) => tap.record = true,
            None => setup.taps.push(Tap { link: LinkId(index), faults: Vec::new(), record: true }),
        }
    }
    run(&setup)
}

#[test]
fn packets_are_dropped_by_number() {
    let trace = recorded(&scenario("", "drop = \"data:6,7,6/2 ack:3\""));
    assert_eq!(lost(&trace, 0), [(6, 1), (7, 1), (6, 2)]);
    assert_eq!(lost(&trace, 1), [(3, 0)]);
    assert_eq!(trace.flows[0].dropped.last(), Some(&3));
    assert_eq!(trace.flows[0].retransmitted.last(), Some(&3));
    let sent = recorded(&scenario("", "drop = \"sent:20-22\""));
    assert_eq!(sent.flows[0].dropped.last(), Some(&3));
}

#[test]
fn packets_are_held_back_by_number() {
    // Two others arrive first. Without reordering seen before, RACK declares a loss after three (RFC 8985 section 6.2).
    let trace = recorded(&scenario("", "hold = \"data:20=2p\""));
    assert_eq!((trace.flows[0].dropped.last(), trace.flows[0].retransmitted.last()), (Some(&0), Some(&0)));
    let late = recorded(&scenario("", "hold = \"data:20=100ms\""));
    assert_eq!(late.flows[0].dropped.last(), Some(&0));
    assert!(late.flows[0].retransmitted.last() >= Some(&1), "100 ms is taken for a loss");
}

#[test]
fn marks_and_a_bleached_field() {
    let marked = recorded(&scenario("", "ecn = \"latch\"\nmark = \"data:30,31\""));
    assert_eq!(marked.flows[0].marked.last(), Some(&2));
    let bleached = recorded(&scenario("impairments = { bleach_ecn = true }", "ecn = \"latch\"\nmark = \"data:30,31\""));
    assert_eq!(bleached.flows[0].marked.last(), Some(&0));
}

/// Chosen packets are marked before the link: it erases these marks, or marks all.
#[test]
fn marks_and_a_mangled_field() {
    let marks = |mangle: &str, ecn: &str| {
        let keys = format!("impairments = {{ mangle_ecn = \"{mangle}\" }}");
        let trace = recorded(&scenario(&keys, &format!("ecn = \"{ecn}\"\nmark = \"data:30,31\"")));
        (trace.flows[0].marked.last().copied(), trace.flows[0].delivered.last().copied())
    };
    for ecn in ["latch", "per-packet", "l4s"] {
        assert_eq!(marks("ect0", ecn).0, Some(0), "{ecn}");
        assert_eq!(marks("ect1", ecn).0, Some(0), "{ecn}");
    }
    let (marked, delivered) = marks("ce", "per-packet");
    assert!(delivered > Some(100) && marked == delivered, "{marked:?} of {delivered:?}");
    let plain = run(&setup(&scenario("impairments = { mangle_ecn = \"ce\" }", "")));
    assert_eq!(plain.flows[0].marked.last(), Some(&0), "a sender without ECN");
}

#[test]
fn damaged_packets_take_their_time_on_the_line() {
    let damaged = run(&setup(&scenario("impairments = { corrupt = 0.02 }", "")));
    let lost = run(&setup(&scenario("loss = 0.02", "")));
    let carried = |trace: &Trace| trace.links[0].lost.last().copied().unwrap_or(0);
    assert!(carried(&damaged) > 10 && carried(&lost) > 10, "{} {}", carried(&damaged), carried(&lost));
}

/// All data arrives once: copies are no goodput, no loss, and no reason to send anything again.
#[test]
fn packets_that_arrive_twice_count_once() {
    for algorithm in ["reno", "cubic", "bbr", "udt", "tfrc"] {
        let trace =
            |keys| run(&setup(&scenario(keys, "max_window = 20").replace("\"reno\"", &format!("\"{algorithm}\""))));
        let last = |curve: &[u64]| curve.last().copied().unwrap_or(0);
        let [plain, doubled] =
            ["", "impairments = { duplicate = 0.1 }\nreverse_impairments = { duplicate = 0.1 }"].map(trace);
        let flow = &doubled.flows[0];
        let (delivered, sent) = (last(&flow.delivered), last(&flow.sent));
        assert!(delivered <= sent && delivered + 100 > sent, "{algorithm}: {delivered} of {sent}");
        assert_eq!((last(&flow.dropped), last(&flow.timeouts)), (0, 0), "{algorithm}");
        let share = delivered as f64 / last(&plain.flows[0].delivered) as f64;
        assert!((0.9..1.1).contains(&share), "{algorithm}: {share} of its goodput without copies");
    }
}

#[test]
fn errors_name_the_key_and_what_is_accepted() {
    for (dumbbell, flow, expected) in [
        ("", "drop = \"data:0\"", "packets by number from 1"),
        ("", "drop = \"data:1-1000 ack:1\"", "at most 1000"),
        ("", "mark = \"ack:3\"", "a list without `ack:3`, to which `mark` does not apply"),
        ("", "count = 2\ndrop = \"data:1-501\"", "at most 1000 packets in a scenario"),
        ("schedule = { steps = [{ at = \"1s\" }] }", "", "a step changes the `rate`"),
        ("schedule = { steps = [{ at = \"1s\", thin_acks = 4 }] }", "", "more with `aggregate` alone"),
        (
            "schedule = { steps = [{ at = \"1s\", queue = \"codel:20p\" }] }",
            "",
            "the queue of the link with another size",
        ),
        ("schedule = { steps = [{ at = \"1s\", corrupt = 2 }] }", "", "a probability from 0 to 1"),
        ("schedule = { steps = [{ at = \"1s\", duplicate = -1 }] }", "", "a probability from 0 to 1"),
        ("impairments = { duplicate = 1.5 }", "", "a probability from 0 to 1"),
        ("schedule = { steps = [{ at = \"1s\", rate = \"outage\", over = \"1s\" }] }", "", "a step without an outage"),
        (
            "schedule = { steps = [{ at = \"1s\", rate = \"1mbit\", over = \"2s\" }, { at = \"2s\", loss = 0 }] }",
            "",
            "the end of its ramp",
        ),
        ("impairments = { jitter = \"wifi:1s\" }", "", "a time from `1ms` to `85ms`"),
    ] {
        let error = error(&scenario(dumbbell, flow));
        assert!(error.contains(expected), "{dumbbell} {flow}: {error}");
    }
    let udt = scenario("", "drop = \"ack:3\"").replace("\"reno\"", "\"udt\"");
    assert!(error(&udt).contains("only acknowledgements of TCP have numbers"), "{}", error(&udt));
}
