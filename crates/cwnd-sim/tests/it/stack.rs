//! Whole stacks as flows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    AckEcho, Discipline, Dumbbell, Era, Fault, LinkId, Loss, Pause, QueueLimit, RateSchedule, RedSetup, Setup,
    SetupError, Source, Tap, Variation, run,
};
use cwnd_stack::{Connection, Ecn, Endpoint, Pair, Shown, Stack, StackSpec, Transmit};

/// Sends a batch of ten datagrams every 10 ms while its application has data; the receiver answers after 5 ms with one datagram for all
/// that have arrived by then.
#[derive(Clone, Debug, Default)]
struct Batches {
    /// Of datagrams with marks that reached the receiver and the sender.
    marked: [Arc<AtomicU64>; 2],
    /// The sender panics on the batch of this number, from 0.
    panic_at: Option<u32>,
}

struct Sender {
    stack: Batches,
    left: u64,
    batches: u32,
    due: Option<Time>,
    ready: bool,
    acknowledged: u64,
}

struct Receiver {
    stack: Batches,
    delivered: u64,
    due: Option<Time>,
    ready: bool,
}

impl Stack for Batches {
    fn headers(&self) -> Bytes {
        Bytes(28)
    }

    fn connect(&self, connection: &Connection) -> Pair {
        assert_eq!(connection.datagram, 1472);
        let stack = || self.clone();
        Pair {
            sender: Box::new(Sender { stack: stack(), left: 0, batches: 0, due: None, ready: false, acknowledged: 0 }),
            receiver: Box::new(Receiver { stack: stack(), delivered: 0, due: None, ready: false }),
        }
    }
}

impl Endpoint for Sender {
    fn submit(&mut self, now: Time, bytes: u64) {
        self.left += bytes;
        self.due.get_or_insert(now);
    }

    fn handle_datagram(&mut self, _now: Time, datagram: &[u8], ecn: Ecn) {
        self.stack.marked[1].fetch_add(u64::from(ecn == Ecn::Ce), Ordering::Relaxed);
        self.acknowledged = u64::from_be_bytes(datagram.try_into().expect("8 bytes"));
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !std::mem::take(&mut self.ready) {
            return None;
        }
        assert_ne!(Some(self.batches), self.stack.panic_at, "the batch that it cannot send");
        self.batches += 1;
        // The last datagram of each batch is shorter.
        let bytes = self.left.min(9 * 1000 + 500);
        self.left -= bytes;
        buffer.resize(bytes as usize, 0);
        Some(Transmit::new(Ecn::Ect0, Some(1000)))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        self.due.filter(|_| self.left > 0)
    }

    fn handle_timeout(&mut self, now: Time) {
        self.ready = true;
        self.due = Some(now + Span::from_millis(10));
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.acknowledged)
    }

    fn shown(&self) -> Shown {
        let mut shown = Shown::default();
        shown.rtt = Some(Span::from_millis(45));
        shown
    }
}

impl Endpoint for Receiver {
    fn submit(&mut self, _now: Time, _bytes: u64) {}

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        self.stack.marked[0].fetch_add(u64::from(ecn == Ecn::Ce), Ordering::Relaxed);
        self.delivered += datagram.len() as u64;
        self.due.get_or_insert(now + Span::from_millis(5));
    }

    fn poll_transmit(&mut self, _now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !std::mem::take(&mut self.ready) {
            return None;
        }
        buffer.extend(self.delivered.to_be_bytes());
        Some(Transmit::new(Ecn::Ect0, None))
    }

    fn next_timeout(&mut self, _now: Time) -> Option<Time> {
        self.due
    }

    fn handle_timeout(&mut self, _now: Time) {
        self.due = None;
        self.ready = true;
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn shown(&self) -> Shown {
        Shown::default()
    }
}

fn path() -> Dumbbell {
    Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
}

fn setup(stack: Batches, path: &Dumbbell) -> Setup {
    let reno = Spec::parse("reno").expect("registered");
    let stack = StackSpec::new("batches", stack).into_spec();
    path.setup(&[stack, reno], Era::MODERN, Span::from_secs(3), Span::ZERO, 1)
}

#[test]
fn a_batch_enters_links_as_datagrams_with_their_sizes() {
    let mut setup = setup(Batches::default(), &path());
    setup.flows.truncate(1);
    // Of 1460 bytes: 9500 bytes in ten datagrams fifteen times and 3500 in four.
    setup.flows[0].source = Source::Packets(100);
    let trace = run(&setup, &mut |_| true).expect("a valid setup");
    let (flow, link) = (&trace.flows[0], &trace.links[0]);
    assert_eq!((flow.sent.last(), flow.delivered.last()), (Some(&154), Some(&100)));
    assert_eq!(link.carried_bytes.last(), Some(&(146_000 + 154 * 28)));
    assert!(flow.completed.is_some() && flow.acknowledged > flow.completed, "the last answer comes after 5 ms");
}

#[test]
fn the_application_limits_a_stack_while_all_that_it_submitted_is_on_its_way() {
    // The stack can send 9500 bytes every 10 ms, 7.6 Mbit/s. The links delay each packet by 20 ms.
    let share = |source: Source| {
        let mut setup = setup(Batches::default(), &path());
        setup.flows.truncate(1);
        setup.flows[0].source = source;
        let trace = run(&setup, &mut |_| true).expect("a valid setup");
        trace.flows[0].source_limited.last().copied().unwrap_or(0) as f64 * 1e-9 / 3.0
    };
    assert_eq!(share(Source::Bulk), 0.0);
    let rate = |rate: u64| share(Source::Rate(RateSchedule::constant(rate)));
    let [slow, medium, fast] = [1_000_000, 4_000_000, 9_000_000].map(rate);
    // A packet comes every 11.7 ms and leaves at once; at 4 Mbit/s it comes after 2.9 ms, and waits for the next batch.
    assert!(slow > 0.9 && (0.1..0.5).contains(&medium), "{slow} {medium}");
    assert!(fast < 0.05, "{fast}");
    // 146 kB leave within 0.16 s.
    let finite = share(Source::Packets(100));
    assert!((0.9..0.96).contains(&finite), "{finite}");
}

/// An application that may pause hands over 64 packets before the first of them arrives, after 20 ms, and none after its pause has begun.
#[test]
fn a_pause_in_the_first_flight_stops_a_stack() {
    let mut setup = setup(Batches::default(), &path());
    setup.flows.truncate(1);
    setup.variation = Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 };
    let from = setup.flows[0].start + Span::from_millis(15);
    setup.flows[0].pauses = vec![Pause { from, to: from + Span::from_secs(10) }];
    let trace = run(&setup, &mut |_| true).expect("a valid setup");
    // Of 93,440 bytes nine batches have 9500 in ten datagrams, and the last has eight.
    assert_eq!(trace.flows[0].sent.last(), Some(&98));
}

#[test]
fn losses_both_ways_leave_nothing_behind() {
    let mut setup = setup(Batches::default(), &path());
    for link in &mut setup.links {
        link.loss = Loss::Bernoulli(0.1);
    }
    // The run ends with the audit.
    let trace = run(&setup, &mut |_| true).expect("a valid setup");
    let flow = &trace.flows[0];
    assert_eq!((flow.srtt.last(), flow.window.last().map(|window| window.is_nan())), (Some(&0.045), Some(true)));
    let sent = flow.sent.last().copied().unwrap_or(0);
    let dropped = flow.dropped.last().copied().unwrap_or(0);
    assert!((2500..=3000).contains(&sent), "{sent}");
    assert!((200..=500).contains(&dropped), "{dropped} of {sent}");
    let again = run(&setup, &mut |_| true).expect("a valid setup");
    assert_eq!(trace.digest, again.digest);
}

#[test]
fn routers_mark_datagrams_of_flows_that_take_part() {
    for ecn in [true, false] {
        let stack = Batches::default();
        let mut setup = setup(stack.clone(), &path());
        for link in &mut setup.links {
            link.discipline =
                Discipline::Red(RedSetup { min: 4.0, max: 4.0, weight: 1.0, mark: true, ..RedSetup::default() });
        }
        setup.flows[0].ecn = ecn.then_some(AckEcho::Latch);
        run(&setup, &mut |_| true).expect("a valid setup");
        let marked = stack.marked.map(|marked| marked.load(Ordering::Relaxed) > 0);
        assert_eq!(marked, [ecn, false], "the reverse path is never busy");
    }
}

#[test]
fn a_tap_loses_the_datagram_it_names() {
    let mut setup = setup(Batches::default(), &path());
    setup.flows.truncate(1);
    let faults = vec![Fault::Data { flow: 0, number: 12, transmission: 1 }, Fault::Ack { flow: 0, nth: 3 }];
    setup.taps = vec![
        Tap { link: LinkId(0), faults: faults.clone(), record: true },
        Tap { link: LinkId(1), faults, record: true },
    ];
    let trace = run(&setup, &mut |_| true).expect("a valid setup");
    assert_eq!(trace.links.iter().map(|link| link.lost.last().copied()).collect::<Vec<_>>(), [Some(1), Some(1)]);
}

#[test]
fn a_panic_ends_the_run_with_its_message_and_the_seed() {
    let setup = setup(Batches { panic_at: Some(20), ..Batches::default() }, &path());
    let error = run(&setup, &mut |_| true).expect_err("the stack panics");
    let SetupError::Stack(panic) = &error else { panic!("{error}") };
    assert!(panic.message.contains("the batch that it cannot send"), "{}", panic.message);
    assert_eq!((panic.seed, panic.stack.as_str()), (1, "batches"));
    assert!((0.2..0.3).contains(&panic.at), "twenty batches of 10 ms: {}", panic.at);
}
