//! Runs of a subject, and what is read from them.

use std::cell::{OnceCell, RefCell};

use cwnd::{Bytes, Span, Spec, Time};
use cwnd_sim::{
    AckEcho, Dumbbell, Era, Fault, LinkId, Passing, Pause, QueueLimit, Setup, SetupError, Simulation, Tap, Variation,
};
use cwnd_trace::Trace;

use crate::subject::Subject;

/// Why a scenario gave no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The subject does not show what the check looks at, or does not do what the clause allows.
    NotApplicable(&'static str),
    /// What the check waits for did not happen, on a path on which it should have: the check says what that means
    /// ([`Check::absence`](crate::Check::absence)).
    Absent(String),
    /// The path did not raise the question.
    Unclear(String),
    /// The subject failed: its stack panicked, or ended the connection.
    Failed(String),
}

/// Where a check runs its subject with one seed.
#[derive(Debug)]
pub struct Lab<'a> {
    subject: &'a Subject,
    seed: u64,
    handshake: OnceCell<f64>,
    curve: RefCell<Option<Curve>>,
    formula: RefCell<Option<Curve>>,
}

/// A quantity over time: seconds, and packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Packets.
    pub packets: Vec<f64>,
}

/// A path with one flow of the subject, and what happens on it. Times are seconds since the start of the run.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) setup: Setup,
}

/// What was to be seen of a run.
#[derive(Debug)]
pub(crate) struct Record {
    /// The flow at each instant at which something about it changed.
    pub(crate) looks: Vec<Look>,
    /// Data packets at the bottleneck.
    pub(crate) data: Vec<Sent>,
    /// The round-trip time without queueing, seconds.
    pub(crate) rtt: f64,
    pub(crate) trace: Trace,
}

/// A flow between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// Seconds.
    pub(crate) at: f64,
    /// Packets; not a number where it is not shown.
    pub(crate) window: f64,
    /// Slow-start threshold; not a number where it is not shown.
    pub(crate) threshold: f64,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
}

/// A data packet at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Nanoseconds.
    pub(crate) at: u64,
    pub(crate) number: u64,
    pub(crate) again: bool,
    pub(crate) lost: bool,
}

/// A decrease of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) at: f64,
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// Packets sent before it.
    pub(crate) sent: u64,
}

impl<'a> Lab<'a> {
    /// A lab for `subject` with `seed`.
    #[must_use]
    pub fn new(subject: &'a Subject, seed: u64) -> Self {
        Self { subject, seed, handshake: OnceCell::new(), curve: RefCell::new(None), formula: RefCell::new(None) }
    }

    /// What is judged.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        self.subject
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The window over time in the run that was measured last, and by the formula.
    pub(crate) fn into_curves(self) -> (Option<Curve>, Option<Curve>) {
        (self.curve.into_inner(), self.formula.into_inner())
    }

    /// Where in a unit interval this seed puts what happens at a time of its own: seeds are spread evenly.
    pub(crate) fn phase(&self) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        (self.seed as f64 * GOLDEN).fract()
    }

    /// How much later than an algorithm of this program the subject begins to send on a path of `rtt_ms`, seconds: a whole stack begins
    /// with a handshake of some round trips.
    pub(crate) fn handshake(&self, rtt_ms: u64) -> f64 {
        let rounds = self.handshake.get_or_init(|| {
            if self.subject.spec().as_stack().is_none() {
                return 0.0;
            }
            let record = Record::of(&self.course(100, 100, 20_000, 1.0).setup);
            record.map_or(0.0, |record| (record.slow_start() / record.rtt).floor())
        });
        rounds * rtt_ms as f64 / 1e3
    }

    /// Asks for a sender with a retransmission timeout.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the subject has no retransmission timeout.
    pub(crate) fn timeout(&self) -> Result<(), Unfit> {
        if self.subject.has_timeout() { Ok(()) } else { Err(Unfit::NotApplicable("it has no retransmission timeout")) }
    }

    /// A path of `mbit` Mbit/s and `rtt_ms` with a queue of so many packets, for `seconds`. Every packet is acknowledged at once.
    pub(crate) fn course(&self, mbit: u64, rtt_ms: u64, queue: u32, seconds: f64) -> Course {
        self.course_of(self.subject.spec().clone(), mbit, rtt_ms, queue, seconds)
    }

    /// The same for another sender in the subject's place.
    pub(crate) fn course_of(&self, spec: Spec, mbit: u64, rtt_ms: u64, queue: u32, seconds: f64) -> Course {
        let own = spec.label() == self.subject.spec().label();
        let bell = Dumbbell::new(mbit * 1_000_000, Span::from_millis(rtt_ms), QueueLimit::Packets(queue));
        let duration = Span::from_secs_f64(seconds);
        let mut setup = bell.setup(&[spec], Era::MODERN, duration, Span::ZERO, self.seed);
        // Nearly all of the delay lies on the links, so that packets pass the bottleneck's tap soon after they were sent. What is left on the
        // access line is what seeds spread.
        let whole = Span::from_millis(rtt_ms);
        setup.links.iter_mut().for_each(|link| link.delay = whole.mul_f64(0.47));
        setup.flows[0].access_rtt = whole.mul_f64(0.06);
        setup.links[1].queue = QueueLimit::Unlimited;
        setup.variation = Variation { start: None, rtt: 0.05, jitter: 0.0 };
        setup.taps = vec![Tap { link: LinkId(0), faults: Vec::new() }];
        let flow = &mut setup.flows[0];
        // A run must end, also of a rule whose window has no bound. Whole stacks bring theirs.
        flow.max_window = flow.algorithm.as_stack().is_none().then_some(MOST_IN_FLIGHT);
        flow.delayed_ack = None;
        if own {
            self.subject.put(flow);
        }
        let course = Course { setup };
        let acks = self.subject.host().acks;
        if own && acks > 1 { course.acks_of(acks) } else { course }
    }

    /// Runs `course`; its window over time becomes what a plot shows.
    ///
    /// # Errors
    /// The simulator refuses the setup of `course`, or the subject has failed in the run.
    pub(crate) fn run(&self, course: &Course) -> Result<Record, Unfit> {
        let record = Record::of(&course.setup)?;
        let seen = |look: &Look| look.window.is_finite();
        let time_s = record.looks.iter().filter(|look| seen(look)).map(|look| look.at).collect();
        let packets = record.looks.iter().filter(|look| seen(look)).map(|look| look.window).collect();
        *self.curve.borrow_mut() = Some(Curve { time_s, packets });
        Ok(record)
    }

    /// The first of the internals called `names` that the subject shows, at the end of `course`, and the round trip of the path in seconds;
    /// none if it shows none of them.
    ///
    /// # Errors
    /// The simulator refuses the setup of `course`.
    pub(crate) fn shown(&self, course: &Course, names: &[&str]) -> Result<Option<(f64, f64)>, Unfit> {
        let mut simulation = Simulation::new(&course.setup).map_err(|error| Unfit::Unclear(error.to_string()))?;
        let end = simulation.end();
        simulation.advance(end, |_| true);
        let flow = simulation.state().flow(0);
        let mut found = None;
        flow.inspect(&mut |name, value| found = if names.contains(&name) { found.or(Some(value)) } else { found });
        Ok(found.map(|value| (value, flow.base_rtt().as_secs_f64())))
    }

    /// What a formula says between two times in seconds.
    pub(crate) fn formula(&self, from: f64, to: f64, of: impl Fn(f64) -> f64) {
        let time_s: Vec<f64> = (0..=POINTS).map(|n| from + (to - from) * f64::from(n) / f64::from(POINTS)).collect();
        let packets = time_s.iter().map(|at| of(*at)).collect();
        *self.formula.borrow_mut() = Some(Curve { time_s, packets });
    }
}

impl Course {
    fn fault(mut self, fault: Fault) -> Self {
        self.setup.taps[0].faults.push(fault);
        self
    }

    /// Loses the next `count` packets from `at` on.
    pub(crate) fn lose(self, at: f64, count: u32) -> Self {
        self.fault(Fault::Next { flow: 0, from: time(at), count })
    }

    /// Loses packets by their numbers, the first time each comes by.
    pub(crate) fn lose_numbers(self, numbers: &[u64]) -> Self {
        let fault = |number: &u64| Fault::Data { flow: 0, number: *number, transmission: 1 };
        numbers.iter().map(fault).fold(self, Self::fault)
    }

    /// Loses `per_mille` of a thousand packets between two times.
    pub(crate) fn lose_share(self, from: f64, to: f64, per_mille: u16) -> Self {
        self.fault(Fault::Share { flow: 0, from: time(from), to: time(to), per_mille })
    }

    /// Marks the next `count` packets from `at` on; the path carries ECN.
    pub(crate) fn mark(self, at: f64, count: u32) -> Self {
        self.ecn().fault(Fault::Mark { flow: 0, from: time(at), count })
    }

    /// The path carries ECN, unless the sender does not answer marks.
    pub(crate) fn ecn(mut self) -> Self {
        let answers = self.setup.flows[0].algorithm.entry().answers_marks();
        self.setup.flows[0].ecn = answers.then_some(AckEcho::Latch);
        self
    }

    /// The path back carries acknowledgements in bunches of a millisecond, and of so many in a row the last alone. Those of whole stacks
    /// come in bunches only: how many packets each names is their receiver's choice.
    pub(crate) fn acks_of(mut self, packets: u32) -> Self {
        let impairments = &mut self.setup.links[1].impairments;
        impairments.aggregation = Some(Span::from_millis(1));
        impairments.ack_thinning = Some(packets);
        self
    }

    /// The application hands nothing over between two times.
    pub(crate) fn pause(mut self, from: f64, to: f64) -> Self {
        self.setup.flows[0].pauses.push(Pause { from: time(from), to: time(to) });
        self
    }

    /// Between two times the application has data in the first `on_ms` of every `every_ms` only.
    pub(crate) fn trickle(mut self, from: f64, to: f64, on_ms: u64, every_ms: u64) -> Self {
        let mut at = time(from);
        while at < time(to) {
            let next = at + Span::from_millis(every_ms);
            self.setup.flows[0].pauses.push(Pause { from: at + Span::from_millis(on_ms), to: next });
            at = next;
        }
        self
    }

    /// Anything else.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        change(&mut self.setup);
        self
    }
}

impl Record {
    fn of(setup: &Setup) -> Result<Self, Unfit> {
        let refused = |error: SetupError| match error {
            SetupError::Stack(_) => Unfit::Failed(error.to_string()),
            _ => Unfit::Unclear(error.to_string()),
        };
        let mut simulation = Simulation::new(setup).map_err(refused)?;
        // Acknowledgements that come in bunches wait for one another.
        let bunch = setup.links[1].impairments.aggregation.unwrap_or(Span::ZERO);
        let rtt = (simulation.state().flow(0).base_rtt() + bunch).as_secs_f64();
        let mut looks: Vec<Look> = Vec::new();
        let end = simulation.end();
        simulation.advance(end, |now| {
            let flow = now.flow(0);
            let mut threshold = f64::NAN;
            let (sent, delivered, lost, window) = (flow.sent(), flow.delivered(), flow.lost(), flow.window().0);
            let same = |last: &Look| {
                (last.sent, last.delivered, last.lost) == (sent, delivered, lost)
                    && last.window.to_bits() == window.to_bits()
            };
            if !looks.last().is_some_and(same) {
                flow.inspect(&mut |name, value| threshold = if name == "ssthresh" { value } else { threshold });
                if threshold.is_nan() {
                    threshold = flow.slow_start_threshold().map_or(f64::NAN, |packets| packets.0);
                }
                looks.push(Look { at: now.now().as_secs_f64(), window, threshold, sent, delivered, lost });
            }
            true
        });
        let trace = simulation.finish(setup, &mut |_| true).map_err(refused)?;
        let data = trace.links[0].passages.iter().filter_map(|passage| match passage.what {
            Passing::Data { number, transmission } if passage.flow == 0 => {
                Some(Sent { at: passage.at, number, again: transmission > 1, lost: passage.lost })
            }
            _ => None,
        });
        Ok(Self { looks, data: data.collect(), rtt, trace })
    }

    /// The flow at a time.
    pub(crate) fn at(&self, at: f64) -> Look {
        let next = self.looks.partition_point(|look| look.at <= at);
        self.looks[next.saturating_sub(1)]
    }

    /// The window at a time.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the subject shows no window, [`Unfit::Absent`] if its window has no bound.
    pub(crate) fn window(&self, at: f64) -> Result<f64, Unfit> {
        let window = self.at(at).window;
        if window.is_nan() {
            return Err(Unfit::NotApplicable("it shows no window"));
        }
        if window.is_infinite() {
            return Err(Unfit::Absent(format!("the window is infinite at {at:.3} s")));
        }
        Ok(window)
    }

    /// The mean window in the round trip around a time.
    ///
    /// # Errors
    /// As in [`window`](Self::window).
    pub(crate) fn mean(&self, at: f64) -> Result<f64, Unfit> {
        const PARTS: u32 = 20;
        let windows = (0..PARTS).map(|part| self.window(at + (f64::from(part) / f64::from(PARTS) - 0.5) * self.rtt));
        Ok(windows.sum::<Result<f64, Unfit>>()? / f64::from(PARTS))
    }

    /// The threshold of slow start at a time; none is a thousand million packets.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the subject shows no threshold.
    pub(crate) fn threshold(&self, at: f64) -> Result<f64, Unfit> {
        let threshold = self.at(at).threshold;
        if threshold.is_nan() { Err(Unfit::NotApplicable("it shows no threshold")) } else { Ok(threshold.min(1e9)) }
    }

    /// The largest window between two times.
    pub(crate) fn largest(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let most = self.window(from)?;
        Ok(self.after(from, to).map(|look| look.window).fold(most, f64::max))
    }

    /// The smallest window between two times.
    pub(crate) fn smallest(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let least = self.window(from)?;
        Ok(self.after(from, to).map(|look| look.window).fold(least, f64::min))
    }

    /// The looks between two times.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Look> {
        let first = self.looks.partition_point(|look| look.at < from);
        self.looks[first..].iter().take_while(move |look| look.at < to)
    }

    /// The looks after a time, without those of its instant, until another.
    fn after(&self, from: f64, to: f64) -> impl Iterator<Item = &Look> {
        self.between(from, to).skip_while(move |look| look.at <= from)
    }

    /// The decreases by more than two in a hundred; those at one instant, or within a tenth of a round trip, are one.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        for pair in self.looks.windows(2) {
            let cut = pair[1].window < pair[0].window * 0.98;
            if !cut {
                continue;
            }
            match cuts.last_mut() {
                Some(last) if pair[1].at - last.at < 0.1 * self.rtt => last.after = pair[1].window,
                _ => {
                    cuts.push(Cut {
                        at: pair[1].at,
                        before: pair[0].window,
                        after: pair[1].window,
                        sent: pair[0].sent,
                    });
                }
            }
        }
        cuts
    }

    /// The first cut from a time on.
    ///
    /// # Errors
    /// [`Unfit::Absent`] if the window is not reduced from `from` on, [`Unfit::NotApplicable`] if the subject shows no window.
    pub(crate) fn cut(&self, from: f64) -> Result<Cut, Unfit> {
        self.window(from)?;
        let found = self.cuts().into_iter().find(|cut| cut.at >= from);
        found.ok_or_else(|| Unfit::Absent(format!("the window is not reduced after {from:.3} s")))
    }

    /// Data packets at the bottleneck between two times.
    pub(crate) fn sent(&self, from: f64, to: f64) -> usize {
        let nanos = (from.max(0.0) * 1e9) as u64..(to.max(0.0) * 1e9) as u64;
        self.data.iter().filter(|sent| nanos.contains(&sent.at)).count()
    }

    /// The smallest window from the first cut after a time until another time, over the one before the cut.
    pub(crate) fn smallest_from(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let cut = self.cut(from)?;
        Ok(self.smallest(cut.at, to)? / cut.before)
    }

    /// How many data packets were lost at the bottleneck.
    pub(crate) fn losses(&self) -> usize {
        self.data.iter().filter(|sent| sent.lost).count()
    }

    /// The numbers of data packets at the bottleneck between two times.
    pub(crate) fn numbers(&self, from: f64, to: f64) -> impl Iterator<Item = u64> {
        let nanos = (from.max(0.0) * 1e9) as u64..(to * 1e9) as u64;
        self.data.iter().filter(move |sent| nanos.contains(&sent.at)).map(|sent| sent.number)
    }

    /// When slow start begins: the first packet of the first flight, which is one of four packets in half a round trip. What comes before is
    /// a handshake.
    pub(crate) fn slow_start(&self) -> f64 {
        let half = (0.5e9 * self.rtt) as u64;
        let flight = self.data.windows(4).find(|four| four[3].at - four[0].at < half);
        flight.map_or(0.0, |four| four[0].at as f64 / 1e9)
    }

    /// Packets delivered per second between two times.
    pub(crate) fn goodput(&self, from: f64, to: f64) -> f64 {
        (self.at(to).delivered - self.at(from).delivered) as f64 / (to - from)
    }

    /// By how much the window grows per round trip between two times, packets.
    pub(crate) fn slope(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        Ok((self.window(to)? - self.window(from)?) / (to - from) * self.rtt)
    }
}

impl Cut {
    /// What is left of the window.
    pub(crate) fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

fn time(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

/// A packet with its headers, of the flows of a course.
pub(crate) const PACKET: Bytes = Bytes(1500);
/// Packets: the bandwidth-delay product of the widest and longest path of the checks, and some more.
const MOST_IN_FLIGHT: f64 = 200_000.0;
/// Of a formula in a plot.
const POINTS: u32 = 200;
