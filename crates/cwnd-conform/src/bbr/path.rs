//! One path with a flow of BBR, looked at between events, and what happens to it when the flow enters a state.

use std::sync::Arc;

use cwnd::{Span, Spec, Time};
use cwnd_sim::{Dumbbell, Era, Fault, FlowState, LinkId, Pause, QueueLimit, Schedule, Setup, Simulation, Source, Tap};

/// The number of a state in the internal `state`.
pub(crate) const STARTUP: u8 = 0;
pub(crate) const DRAIN: u8 = 1;
pub(crate) const DOWN: u8 = 2;
pub(crate) const CRUISE: u8 = 3;
pub(crate) const REFILL: u8 = 4;
pub(crate) const UP: u8 = 5;
pub(crate) const PROBE_RTT: u8 = 6;

/// A bottleneck and a flow over it.
#[derive(Clone)]
pub(crate) struct PathSetup {
    /// Bit/s.
    pub(crate) rate: u64,
    pub(crate) rtt: Span,
    /// In bandwidth-delay products, at least ten packets.
    pub(crate) queue: f64,
    pub(crate) seconds: u64,
    pub(crate) algorithm: Spec,
    /// The data that the application hands over.
    pub(crate) source: Source,
    /// Anything else.
    pub(crate) adapt: fn(&mut Setup),
    /// A change when the flow enters a state for the n-th time.
    pub(crate) when: Option<(u8, usize)>,
    pub(crate) changes: &'static [Change],
}

/// A change of the path or the application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// The rate of the bottleneck becomes this share of the previous one.
    Rate(f64),
    /// The application hands over data only in the first milliseconds, of this number, of every ten, for this time in milliseconds.
    Limit(u64, u64),
    /// The application hands over nothing for this number of milliseconds.
    Pause(u64),
    /// Every n-th of the packets sent from then on is lost, from the first to the second of these numbers on.
    Lose(u64, u64, u64),
    /// The path is longer by this number of milliseconds for a tenth of a second.
    Detour(u64),
}

/// A flow between two events.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Seconds.
    pub(crate) at: f64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) in_flight: u64,
    pub(crate) cwnd: f64,
    names: Arc<[&'static str]>,
    values: Vec<f64>,
}

/// The looks at a flow, one for each change of its state, round, bounds or flags.
pub(crate) struct Log {
    /// Packets per second.
    pub(crate) capacity: f64,
    /// Seconds.
    #[cfg_attr(not(test), expect(dead_code, reason = "of the figures"))]
    pub(crate) rtt: f64,
    /// When the changes happened, seconds.
    pub(crate) changed: f64,
    pub(crate) looks: Vec<Look>,
}

impl PathSetup {
    /// 10 Mbit/s, 40 ms and a queue of 4 BDP, with a bulk flow of `own`.
    pub(crate) fn of(own: &Spec) -> Self {
        Self {
            rate: 10_000_000,
            rtt: Span::from_millis(40),
            queue: 4.0,
            seconds: 10,
            algorithm: own.clone(),
            source: Source::Bulk,
            adapt: |_| {},
            when: None,
            changes: &[],
        }
    }

    pub(crate) fn capacity(&self) -> f64 {
        self.rate as f64 / (1500.0 * 8.0)
    }

    /// Packets of a bandwidth-delay product.
    pub(crate) fn bdp(&self) -> f64 {
        self.capacity() * self.rtt.as_secs_f64()
    }

    pub(crate) fn setup(&self, algorithms: &[Spec]) -> Setup {
        let queue = QueueLimit::Packets((self.queue * self.bdp()).round().max(10.0) as u32);
        let bell = Dumbbell::new(self.rate, self.rtt, queue);
        let mut setup =
            bell.setup(algorithms, Era::MODERN, Span::from_secs(self.seconds), Span::from_secs(self.seconds) / 4, 1);
        for flow in &mut setup.flows {
            flow.source = self.source;
        }
        (self.adapt)(&mut setup);
        setup
    }

    /// Runs it, twice if something happens on the way: the first run tells when.
    pub(crate) fn run(&self) -> Log {
        let setup = self.setup(std::slice::from_ref(&self.algorithm));
        let Some((state, nth)) = self.when else { return self.trace(&setup, 0.0) };
        let mut simulation = Simulation::new(&setup).expect("a valid setup");
        let (mut entered, mut last) = (0, u8::MAX);
        let end = simulation.end();
        let met = !simulation.advance(end, |now| {
            let present = number(now.flow(0), "state") as u8;
            entered += usize::from(present == state && last != state);
            last = present;
            entered < nth
        });
        assert!(met, "state {state} was entered {entered} times, not {nth}");
        let now = simulation.state().now();
        let next = simulation.state().flow(0).sent() - simulation.state().flow(0).lost();
        let changed = self.changed(setup, now.since(Time::ZERO), next);
        self.trace(&changed, now.as_secs_f64())
    }

    fn changed(&self, mut setup: Setup, now: Span, next: u64) -> Setup {
        for change in self.changes {
            match *change {
                Change::Rate(share) => {
                    let rate = (self.rate as f64 * share) as u64;
                    setup.links[0].rate_steps = Schedule { steps: vec![(now, rate)], repeat: None };
                }
                Change::Limit(on, millis) => {
                    let pause = |at: u64| Pause {
                        from: Time::ZERO + now + Span::from_millis(at + on),
                        to: Time::ZERO + now + Span::from_millis(at + 10),
                    };
                    setup.flows[0].pauses = (0..millis).step_by(10).map(pause).collect();
                }
                Change::Pause(millis) => {
                    let from = Time::ZERO + now;
                    setup.flows[0].pauses = vec![Pause { from, to: from + Span::from_millis(millis) }];
                }
                Change::Lose(nth, from, to) => {
                    let fault = |number| Fault::Data { flow: 0, number, transmission: 1 };
                    let faults = (next + from..next + to).step_by(nth as usize).map(fault).collect();
                    setup.taps = vec![Tap { link: LinkId(0), faults, record: true }];
                }
                Change::Detour(millis) => {
                    let delay = setup.links[0].delay;
                    let steps = vec![(now, delay + Span::from_millis(millis)), (now + Span::from_millis(100), delay)];
                    setup.links[0].delay_steps = Schedule { steps, repeat: None };
                }
            }
        }
        setup
    }

    fn trace(&self, setup: &Setup, changed: f64) -> Log {
        let mut simulation = Simulation::new(setup).expect("a valid setup");
        let mut names = Vec::new();
        simulation.state().flow(0).inspect(&mut |name, _| names.push(name));
        let names: Arc<[&'static str]> = names.into();
        let mut looks: Vec<Look> = Vec::new();
        let mut seen = (u64::MAX, u64::MAX, false);
        let end = simulation.end();
        simulation.advance(end, |now| {
            let flow = now.flow(0);
            // Nothing changes but with an acknowledgement or a restart.
            let counts = (flow.delivered(), flow.lost(), flow.sent() == flow.delivered() + flow.lost());
            if counts == seen {
                return true;
            }
            seen = counts;
            let mut values = Vec::with_capacity(names.len());
            flow.inspect(&mut |_, value| values.push(value));
            let look = Look {
                at: now.now().as_secs_f64(),
                delivered: flow.delivered(),
                lost: flow.lost(),
                // A packet found lost may arrive all the same.
                in_flight: flow.sent().saturating_sub(flow.delivered() + flow.lost()),
                cwnd: flow.window().0,
                names: Arc::clone(&names),
                values,
            };
            if looks.last().is_none_or(|last| last.differs(&look)) {
                looks.push(look);
            }
            true
        });
        Log { capacity: self.capacity(), rtt: self.rtt.as_secs_f64(), changed, looks }
    }
}

impl Look {
    /// An internal by its name.
    pub(crate) fn get(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|each| *each == name).expect("an internal of bbr3");
        self.values[at]
    }

    pub(crate) fn state(&self) -> u8 {
        self.get("state") as u8
    }

    fn differs(&self, later: &Self) -> bool {
        const WATCHED: [&str; 7] = [
            "state",
            "round_count",
            "bw_shortterm",
            "inflight_longterm",
            "full_bw_now",
            "full_bw_reached",
            "idle_restart",
        ];
        WATCHED.iter().any(|name| self.get(name).to_bits() != later.get(name).to_bits())
    }
}

impl Log {
    /// The looks at which the flow had just entered `state`.
    pub(crate) fn entered(&self, state: u8) -> Vec<usize> {
        (1..self.looks.len())
            .filter(|at| self.looks[*at].state() == state && self.looks[*at - 1].state() != state)
            .collect()
    }

    /// The first look at `state` from look `from` on that follows one at another state.
    pub(crate) fn next(&self, state: u8, from: usize) -> Option<usize> {
        self.entered(state).into_iter().find(|at| *at >= from)
    }

    /// The first look at a state other than that at `from`.
    pub(crate) fn left(&self, from: usize) -> Option<usize> {
        (from..self.looks.len()).find(|at| self.looks[*at].state() != self.looks[from].state())
    }

    /// The looks of a state, from look `from` on.
    pub(crate) fn during(&self, state: u8) -> impl Iterator<Item = &Look> {
        self.looks.iter().filter(move |look| look.state() == state)
    }

    /// The first look at or after a time in seconds.
    pub(crate) fn at(&self, secs: f64) -> Option<usize> {
        self.looks.iter().position(|look| look.at >= secs)
    }

    /// Delivered packets per second between two times, as a share of `capacity` packets per second.
    pub(crate) fn share(&self, from: f64, to: f64, capacity: f64) -> f64 {
        let [first, last] = [from, to].map(|at| self.at(at).unwrap_or(self.looks.len() - 1));
        let (first, last) = (&self.looks[first], &self.looks[last]);
        (last.delivered - first.delivered) as f64 / (last.at - first.at) / capacity
    }

    /// The flow at the end.
    pub(crate) fn last(&self) -> &Look {
        self.looks.last().expect("there is a state at the start")
    }

    /// The lost share of the packets sent between two times in seconds.
    pub(crate) fn lost_share(&self, from: f64, to: f64) -> f64 {
        let [first, last] = [from, to].map(|at| self.at(at).unwrap_or(self.looks.len() - 1));
        let (first, last) = (&self.looks[first], &self.looks[last]);
        let lost = (last.lost - first.lost) as f64;
        lost / ((last.delivered - first.delivered) as f64 + lost)
    }
}

/// An internal of a flow by its name.
pub(crate) fn number(flow: FlowState<'_>, name: &str) -> f64 {
    let mut found = f64::NAN;
    flow.inspect(&mut |each, value| found = if each == name { value } else { found });
    found
}
