//! gVisor's netstack in the simulator: whether it works, and whether it sees the time and the random numbers of the simulation alone.

#[cfg(target_os = "linux")]
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

use cwnd::{Span, Spec, Time};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, RateSchedule, Setup, Simulation, Source, Trace, run};

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

/// Of 10 Mbit/s for 5 s in packets of 1460 bytes: 4280. A start, and losses at its end, take a second at most. Reno sends 1.8 packets for each
/// of these (docs/upstream/gvisor-reno.md), and the bound for it was set afterwards.
#[test]
fn each_fills_a_line_alone() {
    for spec in cwnd_foreign::stacks() {
        let trace = trace(&setup(std::slice::from_ref(&spec)));
        let flow = &trace.flows[0];
        let (delivered, sent) = (last(&flow.delivered), last(&flow.sent));
        assert!((3200..=4281).contains(&delivered), "{}: {delivered}", spec.label());
        let most = if spec.label() == "gvisor:reno" { 2 * delivered } else { 5 * delivered / 4 };
        assert!(sent < most, "{}: {sent} packets for {delivered}", spec.label());
        assert!((2.0..80.0).contains(flow.window.last().expect("a sample")), "{}: {:?}", spec.label(), flow.window);
    }
}

/// The last round trip is on its way, and the queue that it fills: a tenth of a second at most. A sender counts segments, which have 1420 bytes and
/// less at the end of a write, where the receiver counts units of 1460.
#[test]
fn a_sender_knows_what_has_arrived() {
    for spec in cwnd_foreign::stacks() {
        let setup = setup(std::slice::from_ref(&spec));
        let delivered = last(&trace(&setup).flows[0].delivered);
        let mut simulation = Simulation::new(&setup).unwrap_or_else(|error| panic!("{error}"));
        let end = simulation.end();
        simulation.advance(end, |_| true);
        let known = simulation.state().flow(0).delivered();
        assert!((delivered - 86..=delivered * 11 / 10).contains(&known), "{}: {known} of {delivered}", spec.label());
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

/// The pauses are longer than the least retransmission timeout, 200 ms.
#[test]
fn a_stack_does_not_see_that_the_world_goes_on() {
    for spec in cwnd_foreign::stacks() {
        let setup = setup(std::slice::from_ref(&spec));
        let mut slow = Simulation::new(&setup).unwrap_or_else(|error| panic!("{error}"));
        for tenths in 0..4 {
            let until = Time::ZERO + Span::from_millis(100 * tenths + 5);
            slow.proceed(until, &setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
            thread::sleep(Duration::from_millis(300));
        }
        let slow = slow.finish(&setup, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(slow.digest, trace(&setup).digest, "{}", spec.label());
    }
}

#[test]
#[ignore = "a process of the test below"]
fn one_process() {
    print!("digests\n{}end\n", digests());
}

#[test]
fn two_processes_give_the_same_digests() {
    let digests = || {
        let text = process("one_process");
        let digests = text.split_once("digests\n").and_then(|(_, rest)| rest.split_once("end\n"));
        digests.unwrap_or_else(|| panic!("no digests: {text}")).0.to_string()
    };
    let first = digests();
    assert_eq!(first.lines().count(), 2, "{first}");
    assert_eq!(digests(), first);
}

/// What an ignored test prints in a process of its own.
fn process(test: &str) -> String {
    let own = std::env::current_exe().expect("a test has a program");
    let output = Command::new(&own).args(["--exact", test, "--ignored", "--nocapture"]).output();
    String::from_utf8(output.expect("the program starts").stdout).expect("it prints text")
}

/// The threads of this process, and whether each blocks SIGINT.
#[cfg(target_os = "linux")]
fn threads() -> BTreeMap<String, bool> {
    let threads = fs::read_dir("/proc/self/task").expect("Linux lists them").flatten();
    let of_thread = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")?.trim().into())?;
        let mask = u64::from_str_radix(mask, 16).ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), mask >> (libc::SIGINT - 1) & 1 == 1))
    };
    threads.filter_map(of_thread).collect()
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process of the test below"]
fn a_process_with_a_blocked_signal() {
    // SAFETY: the set is initialised before its use, and a mask concerns this thread alone.
    #[expect(unsafe_code, reason = "libc has no other way")]
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()), 0);
    }
    let before = threads();
    digests();
    let of_go: Vec<bool> = threads().into_iter().filter(|(id, _)| !before.contains_key(id)).map(|(_, is)| is).collect();
    println!("{} of {} threads of Go block it", of_go.iter().filter(|blocks| **blocks).count(), of_go.len());
    assert!(!of_go.is_empty() && of_go.iter().all(|blocks| *blocks));
    println!("all of them");
}

/// `cwnd` has a thread that waits for signals. It gets them only if all others block them.
#[cfg(target_os = "linux")]
#[test]
fn threads_of_go_leave_signals_to_others() {
    let printed = process("a_process_with_a_blocked_signal");
    assert!(printed.contains("all of them"), "{printed}");
}
