//! The agents step by step, against what the author's own print in ns-2 for short histories.
//!
//! A file of `tests/agents` has the settings of the run in its first lines: release, start, window, rate, delay, queue and losses; then a line for
//! each packet that reached the end that prints: the time in seconds, the packet, and after a colon the resulting state:
//! sending interval in nanoseconds, window, capacity, round trip in nanoseconds, slow start. The words `udt_steps` of
//! `evidence/ns2/network.tcl` print them in ns-2.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use cwnd::rate::udt::Habits;
use cwnd::{Algorithm, Bytes, Packets, Span, Spec, Start, Time};
use cwnd_udt::Message;

use super::{Receiver, Sender};
use crate::agent;
use crate::net::packet::{Body, Data};
use crate::protocol::{ReceiverProtocol, SenderProtocol};
use crate::setup::FlowSetup;
use crate::traffic::source::Backlog;
use crate::{Dumbbell, Era, QueueLimit};

/// What the first lines of a file say.
#[derive(Clone, Debug, Default)]
struct History {
    release: String,
    start: f64,
    window: f64,
    rate: f64,
    delay: f64,
    queue: usize,
    lost: Vec<u64>,
    /// Of our draws, where one with the outcome of ns-2's is needed.
    seed: u64,
    duration: f64,
    receiver_prints: bool,
}

impl History {
    fn read(text: &str) -> Self {
        let mut history = Self::default();
        for (key, value) in text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(" = ")) {
            let number = || value.parse::<f64>().unwrap_or_else(|_| panic!("{key} = {value}"));
            match key {
                "release" => history.release = value.to_string(),
                "start" => history.start = number(),
                "window" => history.window = number(),
                "rate" => history.rate = number(),
                "delay" => history.delay = number(),
                "queue" => history.queue = number() as usize,
                "lost" => history.lost = value.split_whitespace().map(|lost| lost.parse().unwrap()).collect(),
                "seed" => history.seed = number() as u64,
                "duration" => history.duration = number(),
                "prints" => history.receiver_prints = value == "receiver",
                _ => {}
            }
        }
        history
    }
}

/// A line as ns-2 has it: a queue of `limit - 1` packets before it, and one on it.
#[derive(Debug)]
struct Line {
    rate: f64,
    delay: Span,
    limit: usize,
    /// When packets in the queue begin to leave.
    waiting: VecDeque<Time>,
    free: Time,
}

impl Line {
    fn new(history: &History) -> Self {
        let delay = Span::from_secs_f64(history.delay);
        Self { rate: history.rate, delay, limit: history.queue, waiting: VecDeque::new(), free: Time::ZERO }
    }

    /// When a packet of `bytes` arrives; none if it is dropped.
    fn carry(&mut self, now: Time, bytes: u32) -> Option<Time> {
        while self.waiting.front().is_some_and(|leaves| *leaves <= now) {
            self.waiting.pop_front();
        }
        if self.free > now {
            if self.waiting.len() + 1 >= self.limit {
                return None;
            }
            self.waiting.push_back(self.free);
        }
        self.free = self.free.max(now) + Span::from_secs_f64(f64::from(bytes) * 8.0 / self.rate);
        Some(self.free + self.delay)
    }
}

/// A pending event, in order of time and then of submission.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Sender,
    Receiver,
    ToSender(Body),
    ToReceiver(Body),
}

struct World {
    sender: Sender,
    receiver: Receiver,
    there: Line,
    back: Line,
    events: BinaryHeap<Reverse<(Time, usize)>>,
    scheduled: Vec<Event>,
    lost: Vec<u64>,
    habits: Habits,
}

impl World {
    fn at(&mut self, at: Time, event: Event) {
        if at < Time::MAX {
            self.scheduled.push(event);
            self.events.push(Reverse((at, self.scheduled.len() - 1)));
        }
    }

    fn size(&self, body: &Body) -> u32 {
        match body {
            Body::Data(_) => 1500,
            body => super::size(&self.habits, body).map_or(40, |size| size.0),
        }
    }

    fn serve_sender(&mut self, now: Time, body: Option<&Body>) {
        let mut sent = Vec::new();
        let timers = self.sender.serve(now, body, |body| {
            sent.push(body);
            true
        });
        for body in sent {
            if let Body::Data(Data { number, .. }) = body
                && let Some(at) = self.lost.iter().position(|lost| *lost == number)
            {
                self.lost.remove(at);
                continue;
            }
            let size = self.size(&body);
            if let Some(at) = self.there.carry(now, size) {
                self.at(at, Event::ToReceiver(body));
            }
        }
        self.at(timers.release, Event::Sender);
    }

    fn poll_receiver(&mut self, now: Time) {
        while let Some(body) = self.receiver.handle_timeout(now) {
            let size = self.size(&body);
            if let Some(at) = self.back.carry(now, size) {
                self.at(at, Event::ToSender(body));
            }
        }
        self.at(self.receiver.next_timeout(), Event::Receiver);
    }
}

/// The lines that our agents give for a history.
fn played(history: &History) -> Vec<String> {
    let spec = Spec::parse(&format!("udt:profile=ns2-{}", history.release)).expect("a profile");
    let bell = Dumbbell::new(10_000_000, Span::from_millis(20), QueueLimit::Packets(50));
    let setup = bell.setup(std::slice::from_ref(&spec), Era::MODERN, Span::from_secs(1), Span::ZERO, 1);
    let flow = FlowSetup { packet: Bytes(1500), ..setup.flows[0].clone() };
    let mut start = Start::default().with_packet(Bytes(1500), Bytes(1456)).with_seed(history.seed);
    start.max_window = Packets(history.window);
    let Algorithm::UdtAgent(rule) = spec.start(&start) else { panic!("{spec:?} is an agent's") };
    let habits = *rule.habits();
    let begin = Time::ZERO + Span::from_secs_f64(history.start);
    let (sender, receiver) = super::ends(&flow, *rule, Backlog::default(), begin);
    let mut world = World {
        sender,
        receiver,
        there: Line::new(history),
        back: Line::new(history),
        events: BinaryHeap::new(),
        scheduled: Vec::new(),
        lost: history.lost.clone(),
        habits,
    };
    world.at(begin, Event::Sender);
    let end = Time::ZERO + Span::from_secs_f64(history.duration);
    let mut lines = Vec::new();
    while let Some(Reverse((now, index))) = world.events.pop()
        && now <= end
    {
        let event = world.scheduled[index];
        match event {
            Event::Sender => world.serve_sender(now, None),
            Event::Receiver => world.poll_receiver(now),
            Event::ToSender(body) => {
                world.serve_sender(now, Some(&body));
                lines.extend((!history.receiver_prints).then(|| line(now, &body, &world.sender)));
            }
            Event::ToReceiver(body) => {
                match &body {
                    Body::Data(data) => {
                        world.receiver.handle_data(now, data, false, &mut body.clone());
                    }
                    Body::ToReceiver(message) => world.receiver.handle_message(now, message),
                    other => panic!("{other:?} is nothing a sender sends"),
                }
                world.poll_receiver(now);
                if let Body::Data(Data { number, .. }) = body {
                    lines.extend(history.receiver_prints.then(|| format!("{:.9} data {number}", now.as_secs_f64())));
                }
            }
        }
    }
    lines
}

fn line(now: Time, body: &Body, sender: &Sender) -> String {
    let what = match body {
        Body::ToSender(Message::Ack(ack)) => {
            let rates = ack.rates.expect("always");
            format!("ack {} {} {}", ack.next.get(), rates.arrival, rates.capacity)
        }
        Body::Agent(agent::Message::Nak { first, .. }) => format!("nak {first}"),
        Body::Agent(agent::Message::DelayWarning) => "warning".to_string(),
        other => panic!("{other:?} is nothing a receiver sends"),
    };
    let rule = &sender.rule;
    let (interval, window) = (rule.interval() * 1e9, rule.window());
    let (capacity, rtt) = (rule.capacity(), sender.rtt * 1e9);
    let slow_start = u8::from(rule.is_in_slow_start());
    format!("{:.9} {what} : {interval:.0} {window} {capacity} {rtt:.0} {slow_start}", now.as_secs_f64())
}

/// Words of two lines that differ by more than the rounding of times to nanoseconds can do.
fn alike(theirs: &str, ours: &str) -> bool {
    let number = |word: &str| word.parse::<f64>().ok();
    let near = |(theirs, ours): (&str, &str)| match (number(theirs), number(ours)) {
        (Some(theirs), Some(ours)) => (theirs - ours).abs() <= 3e-4 * theirs.abs().max(1e-3),
        _ => theirs == ours,
    };
    theirs.split_whitespace().count() == ours.split_whitespace().count()
        && theirs.split_whitespace().zip(ours.split_whitespace()).all(near)
}

fn compare(name: &str, text: &str) {
    let history = History::read(text);
    let ours = played(&history);
    let printed = |line: &&str| !line.starts_with('#') && (!history.receiver_prints || line.contains(" data "));
    let theirs: Vec<&str> = text.lines().filter(printed).collect();
    for (at, theirs) in theirs.iter().enumerate() {
        let theirs = if history.receiver_prints { theirs.split(" :").next().unwrap_or(theirs) } else { theirs };
        let found = ours.get(at).map_or("nothing", String::as_str);
        assert!(alike(theirs, found), "{name}, step {at}: ns-2 has\n  {theirs}\nand we have\n  {found}");
    }
    assert_eq!(ours.len(), theirs.len(), "{name}: steps");
}

macro_rules! histories {
    ($($test:ident: $name:literal;)+) => {
        $(#[test]
        fn $test() {
            compare($name, include_str!(concat!("../../tests/agents/", $name, ".txt")));
        })+
    };
}

histories! {
    a_hole_in_1_1: "1.1-hole";
    two_holes_in_1_1: "1.1-two-holes";
    naks_within_an_epoch_in_1_1: "1.1-naks-in-an-epoch";
    a_full_window_in_1_1: "1.1-full-window";
    the_end_of_slow_start_in_1_1: "1.1-slow-start-ends";
    a_delay_warning_in_1_1: "1.1-delay-warning";
    a_hole_in_2_0: "2.0-hole";
    two_holes_in_2_0: "2.0-two-holes";
    a_full_window_in_2_0: "2.0-full-window";
    the_end_of_slow_start_in_2_0: "2.0-slow-start-ends";
    a_hole_in_2_2: "2.2-hole";
    two_holes_in_2_2: "2.2-two-holes";
    a_full_window_in_2_2: "2.2-full-window";
    the_end_of_slow_start_in_2_2: "2.2-slow-start-ends";
    growth_after_a_nak_in_2_2: "2.2-one-nak-and-on";
    a_timeout_in_2_2: "2.2-timeout";
}
