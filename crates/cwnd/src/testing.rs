//! Hostile inputs, and the contract every algorithm keeps whatever signals it gets. Behind the feature `testing`.
//!
//! Property tests, the fuzz target and the replay of its corpus all read bytes as a [`Case`] and hand it to [`check`].

mod forwarding;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::builtin::Algorithm;
use crate::control::{CongestionControl, Control, Pacing, Probe};
use crate::entry::Family;
use crate::registry::Spec;
use crate::signal::{Ack, Cause, Congestion, Limit, RateSample, Remote, Resume, Rtt, Signal, Start, View};
use crate::units::{Packets, Rate, Span, Time};
use crate::window::{FirstCut, Policy, RateLimited, SlowStart};

pub use forwarding::not_forwarded;

/// How a flow begins, and every signal from its host.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// How it begins.
    pub start: Start,
    /// The signals. Time never runs backwards; nothing else can be relied on.
    pub signals: Vec<Signal>,
}

impl Case {
    /// Reads any bytes as a case of at most [`MAX_SIGNALS`] signals.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let mut host = Host { bytes: bytes.iter(), now: Time::ZERO, next: 0, delivered: 0, lost: 0, round: 0 };
        let start = host.start();
        let mut signals = Vec::new();
        while signals.len() < MAX_SIGNALS
            && let Some(code) = host.bytes.next()
        {
            signals.push(host.signal(*code));
        }
        Self { start, signals }
    }
}

/// Runs `spec` through `case`.
///
/// # Panics
/// If the algorithm panics or breaks the contract between algorithm and host, or the window shell breaks its own.
pub fn check(spec: &Spec, case: &Case) {
    let mut algorithm = spec.start(&case.start);
    let mut replay = algorithm.clone();
    let in_shell = in_shell(&algorithm);
    check_control(spec, &algorithm.control());
    for (at, signal) in case.signals.iter().enumerate() {
        signal.deliver(&mut algorithm);
        if in_shell {
            check_shell(spec, signal, &replay, &algorithm);
        }
        signal.deliver(&mut replay);
        let control = algorithm.control();
        check_control(spec, &control);
        assert_eq!(control, algorithm.control(), "{}: reading the control changed it at {at}", spec.label());
        assert_eq!(control, algorithm.clone().control(), "{}: a copy differs at {at}", spec.label());
        assert_eq!(control, replay.control(), "{}: a replay differs at {at}", spec.label());
        if let Signal::Wake(view) = signal {
            let later = control.wake.is_none_or(|wake| wake > view.now);
            assert!(later, "{}: woken at {}, asks for {:?}", spec.label(), view.now, control.wake);
        }
    }
}

/// A text of [`RULE`](crate::window::rule::RULE) made of any bytes: one part of an expression for each, so that many are valid.
#[must_use]
pub fn rule(bytes: &[u8]) -> String {
    let parts: String = bytes.iter().take(MAX_PARTS).map(|byte| PARTS[usize::from(*byte) % PARTS.len()]).collect();
    format!("rule:grow={parts}")
}

/// Whether a window algorithm runs in the shell of this crate: it shows the shell's threshold.
#[must_use]
pub fn in_shell(algorithm: &Algorithm) -> bool {
    let mut found = false;
    algorithm.inspect(&mut |name, _| found |= name == "ssthresh");
    found
}

/// Whether a window algorithm follows the delay, so that its window may fall without congestion: it shows the packets it has in queues, or their delay.
fn follows_delay(algorithm: &Algorithm) -> bool {
    let mut found = false;
    algorithm.inspect(&mut |name, _| found |= matches!(name, "queued" | "queueing"));
    found
}

/// What a host may rely on in a control.
fn check_control(spec: &Spec, control: &Control) {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let (rate_holds, pacing) = match control.pacing {
        Pacing::Off => (false, true),
        Pacing::Spread { gain } => (false, positive(gain)),
        Pacing::At(rate) => (true, positive(rate.0)),
    };
    let window = control.window.0 >= 1.0 && (control.window.0.is_finite() || rate_holds);
    let probe = !matches!(control.probe, Probe::PairEvery(0 | 1));
    assert!(window && pacing && probe, "{}: {control:?}", spec.label());
}

/// Congestion never opens the window, an acknowledgement never closes it unless the delay or the end of a jump does, and the second
/// report of one congestion event changes nothing. `earlier` has not received the signal, `later` has.
fn check_shell(spec: &Spec, signal: &Signal, earlier: &Algorithm, later: &Algorithm) {
    let [before, after] = [earlier, later].map(|algorithm| algorithm.control().window);
    match signal {
        Signal::Congestion(view, event) => {
            assert!(after <= before, "{}: congestion took {before:?} to {after:?}", spec.label());
            if event.cause != Cause::Timeout && !event.separate && event.first < view.next {
                let mut told_again = later.clone();
                signal.deliver(&mut told_again);
                assert_eq!(told_again.control().window, after, "{}: cut twice for one window of data", spec.label());
            }
        }
        Signal::Ack(..) => {
            assert!(
                after >= before
                    || follows_delay(later)
                    || spec.entry().family == Family::Own
                    || is_unvalidated(earlier),
                "{}: an acknowledgement took {before:?} to {after:?}",
                spec.label()
            );
        }
        _ => {}
    }
}

/// Whether a window algorithm has jumped to a saved window, and not yet learned whether it is valid: the window then becomes that of the packets in flight
/// (Careful Resume).
fn is_unvalidated(algorithm: &Algorithm) -> bool {
    let mut found = false;
    algorithm.inspect(&mut |name, value| found |= name == "resume" && value == UNVALIDATED);
    found
}

/// The state from which views are made, and the bytes that drive it. After their end they are zeros.
struct Host<'a> {
    bytes: core::slice::Iter<'a, u8>,
    now: Time,
    next: u64,
    delivered: u64,
    lost: u64,
    round: u64,
}

impl Host<'_> {
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    fn start(&mut self) -> Start {
        let habits = self.byte();
        let bit = |at: u8| habits >> at & 1 == 1;
        let slow_start = match bit(0) {
            false => SlowStart::Standard,
            true if bit(1) && bit(5) => SlowStart::Search,
            true if bit(1) => SlowStart::HyStart,
            true => SlowStart::Limited { max_threshold: 100 },
        };
        let policy = Policy {
            slow_start,
            first_cut: if bit(1) { FirstCut::Half } else { FirstCut::Rule },
            timeout_halves: bit(2),
            truncate: bit(3),
            rate_limited: match (bit(4), bit(6), bit(7)) {
                (false, ..) => RateLimited::None,
                (true, false, _) => RateLimited::Rfc9002,
                (true, true, false) => RateLimited::Linux,
                (true, true, true) => RateLimited::Draft11,
            },
            validate: bit(4),
            per_ack: bit(5),
            loss_floor: 1 + u8::from(!bit(2)),
            mark_floor: 1 + u8::from(bit(4)),
        };
        Start {
            window: Packets(1.0 + f64::from(self.byte()) / 4.0),
            threshold: bit(6).then(|| Packets(f64::from(self.byte()))),
            max_window: Packets(if bit(7) { 1.0 + f64::from(self.byte()) } else { f64::INFINITY }),
            seed: u64::from(self.byte()),
            resume: (bit(0) && bit(7)).then_some(Resume { window: Packets(300.0), rtt: Span::from_millis(50) }),
            policy,
            ..Start::default()
        }
    }

    fn signal(&mut self, code: u8) -> Signal {
        let passed = self.span();
        self.now += passed;
        match code % 16 {
            0..=8 => {
                let ack = self.ack();
                self.delivered = self.delivered.saturating_add(u64::from(ack.newly));
                Signal::Ack(self.view(code), ack)
            }
            9..=11 => {
                let event = self.congestion(code);
                self.lost = self.lost.saturating_add(u64::from(event.lost));
                Signal::Congestion(self.view(code), event)
            }
            12 => Signal::Recovered(self.view(code)),
            13 => Signal::Wake(self.view(code)),
            14 => Signal::Restart(self.view(code), self.span()),
            _ => Signal::Spurious(self.view(code)),
        }
    }

    fn view(&mut self, code: u8) -> View {
        let facts = self.byte();
        self.next = self.next.saturating_add(u64::from(self.count()));
        self.round += u64::from(facts >> 7);
        View {
            now: self.now,
            next: self.next,
            in_flight: u64::from(self.count()),
            in_recovery: code >= 192,
            delivered: self.delivered,
            lost: self.lost,
            rtt: (facts & 1 == 1).then(|| self.rtt()),
            timeout: (facts & 16 == 16).then(|| self.span()),
            round: self.round,
            limit: [Limit::Window, Limit::Rate, Limit::Source, Limit::Peer][usize::from(facts >> 1 & 3)],
            peer_window: Packets(if facts & 8 == 0 { f64::INFINITY } else { self.real() }),
            packet: Start::default().packet,
            payload: Start::default().payload,
        }
    }

    fn rtt(&mut self) -> Rtt {
        let latest = self.span();
        let other = self.span();
        Rtt { latest, smoothed: other, variation: latest.abs_diff(other), min: latest.min(other), ack_delay: other }
    }

    fn ack(&mut self) -> Ack {
        let facts = self.byte();
        let newly = self.count();
        Ack {
            acks: if facts & 1 == 0 { newly } else { self.count() },
            newly,
            marked: if facts & 6 == 6 { self.count() } else { 0 },
            sent_at: Time::from_nanos(self.now.as_nanos().saturating_sub(self.span().as_nanos())),
            sample: (facts & 8 == 8).then(|| self.sample()),
            remote: if facts & 16 == 16 { self.remote() } else { Remote::default() },
        }
    }

    fn sample(&mut self) -> RateSample {
        RateSample {
            delivered: u64::from(self.count()),
            lost: u64::from(self.count()),
            interval: self.span(),
            prior_delivered: self.delivered.saturating_sub(u64::from(self.count())),
            prior_in_flight: u64::from(self.count()),
            limited: self.byte() & 1 == 1,
        }
    }

    fn remote(&mut self) -> Remote {
        let has = self.byte();
        let bit = |at: u8| has >> at & 1 == 1;
        Remote {
            arrival_rate: bit(0).then(|| Rate(self.real())),
            capacity: bit(1).then(|| Rate(self.real())),
            window: bit(2).then(|| Packets(self.real())),
            loss_event_rate: bit(3).then(|| self.real()),
            one_way_delay: bit(4).then(|| self.span()),
            grant: bit(5).then(|| Packets(self.real())),
            load: bit(6).then(|| self.byte()),
        }
    }

    fn congestion(&mut self, code: u8) -> Congestion {
        let facts = self.byte();
        Congestion {
            cause: [Cause::Loss, Cause::Mark, Cause::Delay, Cause::Timeout][usize::from(facts & 3)],
            first: if facts & 4 == 0 { self.next.saturating_sub(u64::from(self.count())) } else { u64::MAX },
            lost: self.count(),
            restart: facts & 24 == 24,
            separate: facts & 192 == 192,
            persistent: facts & 32 == 32,
            sample: (code & 16 == 16).then(|| self.sample()),
        }
    }

    /// Mostly a few packets, sometimes up to all that a field can hold.
    fn count(&mut self) -> u32 {
        match self.byte() {
            count @ 0..=239 => u32::from(count),
            255 => u32::MAX,
            large => 1 << (large - 224),
        }
    }

    /// From nothing over the scales of networks to half a minute; at the end of the scale, the hours a machine may sleep.
    fn span(&mut self) -> Span {
        match self.byte() {
            255 => Span::from_secs(9 * 3600),
            code => Span::from_nanos(u64::from(code & 7) << (code >> 3)),
        }
    }

    /// A number in a report of the receiver, valid or not.
    fn real(&mut self) -> f64 {
        match self.byte() {
            0 => 0.0,
            1 => -1.0,
            2 => f64::NAN,
            3 => f64::INFINITY,
            4 => f64::NEG_INFINITY,
            5 => f64::MAX,
            6 => f64::MIN,
            7 => f64::MIN_POSITIVE,
            8 => -f64::MIN_POSITIVE,
            9 => f64::EPSILON,
            code => libm::pow(1.1, f64::from(code) - 40.0),
        }
    }
}

/// Of a rule: names, numbers and signs of an expression, separators, and characters that do not belong into one.
const PARTS: [&str; 38] = [
    "w", "rtt", "min_rtt", "age", "peak", "0", "1", "2.5", "1e300", "1e-300", "1.2.3", "+", "-", "*", "/", "^", "(",
    ")", "(", ")", "max(", "min(", ",", "sqrt(", "ln(", "exp(", "abs(", "cbrt(", "floor(", " ", ",cut=", "é", "u", "v",
    "if(", "<", ">", ",u=",
];
const MAX_PARTS: usize = 80;

/// More signals find no more errors, and a case stays fast.
pub const MAX_SIGNALS: usize = 200;
/// The phase in which Careful Resume has jumped, as algorithms show it.
const UNVALIDATED: f64 = 1.0;
