//! The plan of a seed: two ends, a path between them, and its faults.

use std::fmt;

use cwnd::{Span, Spec, Time};
use cwnd_udt::{Mode, Seq, Settings};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub(crate) struct Draw(Xoshiro256PlusPlus);

/// Everything about a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) settings: Settings,
    /// Numbers begin here, shortly before they wrap; anywhere if none.
    pub(crate) initial_number: Option<Seq>,
    /// Both ends call each other; otherwise the second listens.
    pub(crate) rendezvous: bool,
    /// Full packets' worth of data, each way.
    pub(crate) packets: u64,
    /// Messages live this long, some of them.
    pub(crate) ttl: Option<Span>,
    /// The applications read this many packets at a time, this far apart.
    pub(crate) reads: Option<(u64, Span)>,
    /// The applications pause between writes now and then.
    pub(crate) pauses: bool,
    pub(crate) lines: [LinePlan; 2],
    pub(crate) hosts: [HostPlan; 2],
}

/// One direction of the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinePlan {
    /// Bits per second, from these instants on; the first is the start.
    pub(crate) rates: Vec<(Time, f64)>,
    pub(crate) delay: Span,
    /// Packets that may wait for the line.
    pub(crate) queue: usize,
    /// The probability of each, per packet.
    pub(crate) loss: f64,
    pub(crate) reorder: f64,
    pub(crate) duplicate: f64,
    pub(crate) corrupt: f64,
    pub(crate) forge: f64,
    /// How much later a packet out of order or a second copy comes.
    pub(crate) late: Span,
    pub(crate) jitter: Span,
    /// Nothing arrives that leaves between these.
    pub(crate) blackouts: Vec<(Time, Time)>,
}

/// The fault of an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostPlan {
    /// It does not run between these, and finds all that came in the meantime at once.
    pub(crate) stalls: Vec<(Time, Time)>,
    /// Its clock goes ahead by this much at this instant.
    pub(crate) jumps: Vec<(Time, Span)>,
}

/// Faults other than loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Reordering,
    Duplication,
    Corruption,
    Forgery,
    Jitter,
    RateChange,
    Blackout,
    ClockJump,
    Stall,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        cwnd::random::uniform(self.next())
    }

    /// Uniform over `low..high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() as u64) as usize]
    }

    /// Evenly over the orders of magnitude between `low` and `high`.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    fn millis(&mut self, low: u64, high: u64) -> Span {
        Span::from_micros(self.between(low * 1000, high * 1000))
    }

    fn instant(&mut self) -> Time {
        Time::ZERO + self.millis(0, 15_000)
    }
}

impl Plan {
    /// The plan of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let draw = &mut draw;
        let algorithm = if draw.chance(0.7) { "udt:profile=udt4" } else { draw.pick(&OTHER_ALGORITHMS) };
        let mode = draw.pick(&[Mode::Stream, Mode::Messages]);
        let mut settings = Settings::new(Spec::parse(algorithm).expect("an algorithm of the registry"));
        settings.mode = mode;
        settings.mss = draw.pick(&[76, 576, 1500, 1500, 9000]);
        settings.send_buffer = draw.between(32, 2000) as u32;
        settings.receive_buffer = draw.between(32, 2000) as u32;
        settings.connect_timeout = Span::from_secs(10);
        settings.linger = Span::from_secs(3600);
        // Not drawn, so that the rest of a seed's plan is the same with and without.
        settings.prove_acks = seed % 2 == 1;
        let packets_per_second = draw.magnitude(200.0, 20_000.0);
        let bits = f64::from(settings.mss) * 8.0 * packets_per_second;
        let delay = Span::from_secs_f64(draw.magnitude(0.0001, 0.15));
        let loss = if draw.chance(0.2) { 0.0 } else { draw.unit() * 0.1 };
        let line = LinePlan {
            rates: vec![(Time::ZERO, bits)],
            delay,
            queue: draw.magnitude(5.0, 500.0) as usize,
            loss,
            ..LinePlan::default()
        };
        let mut plan = Self {
            seed,
            initial_number: draw.chance(0.25).then(|| near_the_wrap(draw)),
            rendezvous: draw.chance(0.3),
            packets: draw.between(1000, 1500),
            ttl: (mode == Mode::Messages && draw.chance(0.3)).then(|| draw.millis(1, 2000)),
            reads: draw.chance(0.2).then(|| (draw.between(1, 50), draw.millis(1, 20))),
            pauses: draw.chance(0.3),
            lines: [line.clone(), line],
            hosts: [HostPlan::default(), HostPlan::default()],
            settings,
        };
        for _ in 0..draw.between(1, 4) {
            let fault = draw.pick(&FAULTS);
            plan.add(fault, draw);
        }
        plan
    }

    /// The faults it has.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let line = |has: fn(&LinePlan) -> bool| self.lines.iter().any(has);
        let host = |has: fn(&HostPlan) -> bool| self.hosts.iter().any(has);
        let has = [
            line(|line| line.reorder > 0.0),
            line(|line| line.duplicate > 0.0),
            line(|line| line.corrupt > 0.0),
            line(|line| line.forge > 0.0),
            line(|line| line.jitter > Span::ZERO),
            line(|line| line.rates.len() > 1),
            line(|line| !line.blackouts.is_empty()),
            host(|host| !host.jumps.is_empty()),
            host(|host| !host.stalls.is_empty()),
        ];
        FAULTS.into_iter().zip(has).filter(|(_, has)| *has).map(|(fault, _)| fault).collect()
    }

    /// The path or an end may be gone for long enough to be given up: then, and only then, an error is an answer.
    pub(crate) fn harsh(&self) -> bool {
        let long = |(from, to): &(Time, Time)| to.since(*from) >= Span::from_secs(2);
        let lines = self.lines.iter().any(|line| line.blackouts.iter().any(long));
        let hosts = self.hosts.iter();
        lines
            || hosts
                .clone()
                .any(|host| host.stalls.iter().any(long) || host.jumps.iter().any(|jump| jump.1 >= Span::from_secs(2)))
    }

    fn add(&mut self, fault: Fault, draw: &mut Draw) {
        let side = draw.between(0, 2) as usize;
        let (line, host) = (&mut self.lines[side], &mut self.hosts[side]);
        line.late = draw.millis(1, 300);
        match fault {
            Fault::Reordering => line.reorder = draw.unit() * 0.2,
            Fault::Duplication => line.duplicate = draw.unit() * 0.2,
            Fault::Corruption => line.corrupt = draw.unit() * 0.05,
            Fault::Forgery => line.forge = draw.unit() * 0.2,
            Fault::Jitter => line.jitter = draw.millis(1, 50),
            Fault::RateChange => {
                let bits = line.rates[0].1;
                let mut changes: Vec<_> =
                    (0..draw.between(1, 10)).map(|_| (draw.instant(), bits * draw.magnitude(0.1, 4.0))).collect();
                changes.sort_by_key(|(at, _)| *at);
                line.rates.extend(changes);
            }
            Fault::Blackout => {
                // One in eight is longer than any timeout.
                let length = if draw.chance(0.125) { draw.millis(10_000, 30_000) } else { draw.millis(100, 2000) };
                let from = draw.instant();
                self.lines.iter_mut().for_each(|line| line.blackouts.push((from, from + length)));
            }
            Fault::ClockJump => {
                let ahead = if draw.chance(0.125) { draw.millis(10_000, 100_000_000) } else { draw.millis(1, 2000) };
                host.jumps.push((draw.instant(), ahead));
                host.jumps.sort();
            }
            Fault::Stall => {
                let length = if draw.chance(0.125) { draw.millis(10_000, 30_000) } else { draw.millis(1, 2000) };
                let from = draw.instant();
                host.stalls.push((from, from + length));
                host.stalls.sort();
            }
        }
    }
}

/// One line for people.
impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, settings, rendezvous, packets, ttl, reads, lines, .. } = self;
        write!(
            out,
            "seed {seed}: {} {:?}, {}, {packets} packets of {} bytes each way, {:.2} Mbit/s, {}, queue {}, loss {:.3}, buffers {}/{}, \
             ttl {ttl:?}, reads {reads:?}, {:?}",
            settings.algorithm.label(),
            settings.mode,
            if *rendezvous { "rendezvous" } else { "client and server" },
            settings.mss,
            lines[0].rates[0].1 / 1e6,
            lines[0].delay,
            lines[0].queue,
            lines[0].loss,
            settings.send_buffer,
            settings.receive_buffer,
            self.faults(),
        )
    }
}

fn near_the_wrap(draw: &mut Draw) -> Seq {
    Seq::new(Seq::MAX.get() - draw.between(0, 1000) as u32).expect("31 bits")
}

pub(crate) const FAULTS: [Fault; 9] = [
    Fault::Reordering,
    Fault::Duplication,
    Fault::Corruption,
    Fault::Forgery,
    Fault::Jitter,
    Fault::RateChange,
    Fault::Blackout,
    Fault::ClockJump,
    Fault::Stall,
];

/// Any algorithm can drive a connection: rates, windows, old and new.
const OTHER_ALGORITHMS: [&str; 6] = ["udt:profile=paper", "udt:profile=ns2-2.2", "daimd", "cubic", "aimd", "simd"];
