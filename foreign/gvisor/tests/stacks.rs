//! gVisor's netstack in the simulator: whether it works, and whether it sees the time and the random numbers of the simulation alone.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, RateSchedule, Setup, Source, Trace, run};

fn setup(specs: &[Spec]) -> Setup {
    let path = Dumbbell::new(10_000_000, Span::from_millis(20), QueueLimit::Packets(20));
    path.setup(specs, Era::MODERN, Span::from_secs(5), Span::from_secs(1), 7)
}

/// The trace of a setup; the run ends with the audit of all packets.
fn trace(setup: &Setup) -> Trace {
    run(setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn last(column: &[u64]) -> u64 {
    column.last().copied().unwrap_or(0)
}

/// Of 10 Mbit/s for 5 s in packets of 1460 bytes: 4280. A start, and losses at its end, take a second at most.
#[test]
fn each_fills_a_line_alone() {
    for spec in cwnd_foreign::stacks() {
        let trace = trace(&setup(std::slice::from_ref(&spec)));
        let flow = &trace.flows[0];
        let (delivered, sent) = (last(&flow.delivered), last(&flow.sent));
        assert!((3200..=4281).contains(&delivered), "{}: {delivered}", spec.label());
        assert!(sent < 5 * delivered / 4, "{}: {sent} packets for {delivered}", spec.label());
        assert!((2.0..80.0).contains(flow.window.last().expect("a sample")), "{}: {:?}", spec.label(), flow.window);
    }
}

#[test]
fn an_application_limits_its_stack_and_a_transfer_ends() {
    for spec in cwnd_foreign::stacks() {
        let mut setup = setup(std::slice::from_ref(&spec));
        setup.flows[0].source = Source::Rate(RateSchedule::constant(2_000_000));
        // 2 Mbit/s for 5 s in packets of 1500 bytes: 833, of which those of the last round trips are on their way.
        let delivered = last(&trace(&setup).flows[0].delivered);
        assert!((790..=834).contains(&delivered), "{}: {delivered}", spec.label());
        setup.flows[0].source = Source::Packets(500);
        let flow = &trace(&setup).flows[0];
        assert_eq!(last(&flow.delivered), 500, "{}", spec.label());
        assert!(flow.completed.is_some_and(|after| after < 2_000_000_000), "{}: {:?}", spec.label(), flow.completed);
    }
}

/// A digest of times and sizes for two flows of a stack on a path with losses.
fn digest(spec: &Spec) -> String {
    let mut setup = setup(&[spec.clone(), spec.clone()]);
    setup.links[0].loss = Loss::Bernoulli(0.002);
    format!("{} {:016x}\n", spec.label(), trace(&setup).digest)
}

fn digests() -> String {
    cwnd_foreign::stacks().iter().map(digest).collect()
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

/// Go runs the hosts of all threads on one processor, in turn.
#[test]
fn four_threads_at_once_give_the_same_digests() {
    let one = digests();
    let threads = [(); 4].map(|()| thread::spawn(digests));
    for thread in threads {
        assert_eq!(thread.join().expect("no run panics"), one);
    }
}

/// Every timer of a stack is due within 200 ms of the start of such a transfer, its retransmission timer among them.
#[test]
fn a_stack_does_not_see_that_the_world_goes_on() {
    for spec in cwnd_foreign::stacks() {
        let mut setup = setup(std::slice::from_ref(&spec));
        setup.duration = Span::from_secs(1);
        setup.warmup = Span::ZERO;
        let mut calls = 0;
        let slow = run(&setup, &mut |_| {
            calls += 1;
            thread::sleep(Duration::from_millis(if calls % 8 == 1 { 250 } else { 0 }));
            true
        });
        assert!(calls > 1, "{calls}");
        assert_eq!(slow.unwrap_or_else(|error| panic!("{error}")).digest, trace(&setup).digest, "{}", spec.label());
    }
}

#[test]
#[ignore = "a process of the test below"]
fn one_process() {
    print!("digests\n{}end\n", digests());
}

#[test]
fn two_processes_give_the_same_digests() {
    let own = std::env::current_exe().expect("a test has a program");
    let process = || {
        let output = Command::new(&own).args(["--exact", "one_process", "--ignored", "--nocapture"]).output();
        let text = String::from_utf8(output.expect("the program starts").stdout).expect("it prints text");
        let digests = text.split_once("digests\n").and_then(|(_, rest)| rest.split_once("end\n"));
        digests.unwrap_or_else(|| panic!("no digests: {text}")).0.to_string()
    };
    let first = process();
    assert_eq!(first.lines().count(), 2, "{first}");
    assert_eq!(process(), first);
}
