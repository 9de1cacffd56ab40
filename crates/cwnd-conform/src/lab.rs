//! Runs of a subject, and the measures taken from them.

use std::cell::{OnceCell, RefCell};

use cwnd::registry::Transport;
use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, LinkId, QueueLimit, Simulation, Source, Tap, Variation};

use crate::record::{Look, Record};
use crate::scenario;
use crate::subject::Subject;
use crate::testbed::Testbed;
use crate::unfit::Unfit;

/// Where a check runs its subject with one seed.
#[derive(Debug)]
pub struct Lab<'a> {
    subject: &'a Subject,
    seed: u64,
    handshake: OnceCell<f64>,
    curve: RefCell<Option<Curve>>,
    formula: RefCell<Option<Curve>>,
    /// The title of links to the runs; none if nobody asks for them.
    title: Option<String>,
    link: RefCell<Option<String>>,
}

/// A quantity over time: seconds, and packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Packets.
    pub packets: Vec<f64>,
}

impl<'a> Lab<'a> {
    /// A lab for `subject` with `seed`.
    #[must_use]
    pub fn new(subject: &'a Subject, seed: u64) -> Self {
        let (curve, formula, link) = Default::default();
        Self { subject, seed, handshake: OnceCell::new(), curve, formula, title: None, link }
    }

    /// Makes the lab keep a link to its last run, a scenario of this title.
    pub(crate) fn titled(self, title: String) -> Self {
        Self { title: Some(title), ..self }
    }

    /// The link to the run that was measured last.
    pub(crate) fn into_link(self) -> Option<String> {
        self.link.into_inner()
    }

    /// The judged subject.
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
            let record = Record::of(&self.testbed(100, 100, 20_000, 1.0).setup);
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

    /// A path of `mbit` Mbit/s and `rtt_ms` with a queue of `queue` packets, for `seconds`. Every packet is acknowledged at once.
    pub(crate) fn testbed(&self, mbit: u64, rtt_ms: u64, queue: u32, seconds: f64) -> Testbed {
        self.testbed_of(self.subject.spec().clone(), mbit, rtt_ms, queue, seconds)
    }

    /// A path as of [`testbed`](Self::testbed) for another sender in the subject's place.
    pub(crate) fn testbed_of(&self, spec: Spec, mbit: u64, rtt_ms: u64, queue: u32, seconds: f64) -> Testbed {
        let own = spec.label() == self.subject.spec().label();
        let bell = Dumbbell::new(mbit * 1_000_000, Span::from_millis(rtt_ms), QueueLimit::Packets(queue));
        let duration = Span::from_secs_f64(seconds);
        let mut setup = bell.setup(&[spec], Era::MODERN, duration, Span::ZERO, self.seed);
        // Nearly all of the delay lies on the links, so that packets pass the bottleneck's tap soon after they were sent. The seeds vary
        // the rest, on the access line.
        let whole = Span::from_millis(rtt_ms);
        setup.links.iter_mut().for_each(|link| link.delay = whole.mul_f64(0.47));
        setup.flows[0].access_rtt = whole.mul_f64(0.06);
        setup.links[1].queue = QueueLimit::Unlimited;
        setup.variation = Variation { start: None, rtt: 0.05, jitter: 0.0 };
        setup.taps = vec![Tap { link: LinkId(0), faults: Vec::new(), record: true }];
        let flow = &mut setup.flows[0];
        // A run must end, also of a rule whose window has no bound. Whole stacks bring theirs.
        flow.max_window = flow.algorithm.as_stack().is_none().then_some(MOST_IN_FLIGHT);
        flow.delayed_ack = None;
        if own {
            self.subject.put(flow);
        }
        let testbed = Testbed { setup };
        let acks = self.subject.host().acks;
        if own && acks > 1 { testbed.acks_of(acks) } else { testbed }
    }

    /// Runs `testbed`; its window over time becomes what a plot shows.
    ///
    /// # Errors
    /// The simulator refuses the setup of `testbed`, or the subject has failed in the run; [`Unfit::NotApplicable`] if a transfer is asked of
    /// a subject that repeats nothing.
    pub(crate) fn run(&self, testbed: &Testbed) -> Result<Record, Unfit> {
        let flow = &testbed.setup.flows[0];
        if flow.algorithm.entry().transport == Transport::Datagram && matches!(flow.source, Source::Packets(_)) {
            return Err(Unfit::NotApplicable("it repeats no packet, so that a transfer may never be complete"));
        }
        let record = Record::of(&testbed.setup)?;
        let seen = |look: &Look| look.window.is_finite();
        let time_s = record.looks.iter().filter(|look| seen(look)).map(|look| look.at).collect();
        let packets = record.looks.iter().filter(|look| seen(look)).map(|look| look.window).collect();
        *self.curve.borrow_mut() = Some(Curve { time_s, packets });
        if let Some(title) = &self.title {
            *self.link.borrow_mut() = scenario::link(title, &testbed.setup, &record);
        }
        Ok(record)
    }

    /// The first of the internals called `names` that the subject shows, at the end of `testbed`, and the round trip of the path in seconds;
    /// none if it shows none of them.
    ///
    /// # Errors
    /// The simulator refuses the setup of `testbed`.
    pub(crate) fn shown(&self, testbed: &Testbed, names: &[&str]) -> Result<Option<(f64, f64)>, Unfit> {
        let mut simulation = Simulation::new(&testbed.setup).map_err(|error| Unfit::Unclear(error.to_string()))?;
        let end = simulation.end();
        simulation.advance(end, |_| true);
        let flow = simulation.state().flow(0);
        let mut found = None;
        flow.inspect(&mut |name, value| found = if names.contains(&name) { found.or(Some(value)) } else { found });
        Ok(found.map(|value| (value, flow.base_rtt().as_secs_f64())))
    }

    /// The values of a formula between two times in seconds.
    pub(crate) fn formula(&self, from: f64, to: f64, of: impl Fn(f64) -> f64) {
        let time_s: Vec<f64> = (0..=POINTS).map(|n| from + (to - from) * f64::from(n) / f64::from(POINTS)).collect();
        let packets = time_s.iter().map(|at| of(*at)).collect();
        *self.formula.borrow_mut() = Some(Curve { time_s, packets });
    }
}

/// Packets: the bandwidth-delay product of the widest and longest path of the checks, and some more.
const MOST_IN_FLIGHT: f64 = 200_000.0;
/// The points of a formula in a plot.
const POINTS: u32 = 200;
