//! Delivery-rate samples of TCP senders (draft-ietf-ccwg-bbr section 4.1).

use std::sync::{Arc, Mutex};

use cwnd::{
    Ack, Algorithm, Cause, Congestion, CongestionControl, Maker, RateSample, Span, Spec, Start, Time, View, Wrapped,
    Wrapper,
};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, RateSchedule, RecoveryScheme, Setup, Source};
use proptest::prelude::*;

/// An algorithm of the registry that asks for samples, and its input.
#[derive(Clone, Debug)]
struct Asking {
    inner: Algorithm,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    acks: Vec<(View, RateSample)>,
    losses: Vec<(View, Congestion)>,
}

impl Wrapper for Asking {
    type Inner = Algorithm;

    fn inner(&self) -> &Algorithm {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut Algorithm {
        &mut self.inner
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let sample = ack.sample.expect("each acknowledgement has one");
        self.seen.lock().expect("nothing panics with it").acks.push((*view, sample));
        self.inner.on_ack(view, ack);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.seen.lock().expect("nothing panics with it").losses.push((*view, *event));
        self.inner.on_congestion(view, event);
    }

    fn wants_samples(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct Asks(Spec, Arc<Mutex<Seen>>);

impl Maker for Asks {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Wrapped(Asking { inner: self.0.start(start), seen: Arc::clone(&self.1) }))
    }
}

/// A flow of `algorithm` on 20 Mbit/s and 40 ms.
fn setup(algorithm: &str, seen: &Arc<Mutex<Seen>>) -> Setup {
    let spec = Spec::parse(algorithm).expect("registered");
    let asking = Spec::outside(algorithm, Arc::new(Asks(spec, Arc::clone(seen))));
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    bell.setup(&[asking], Era::MODERN, Span::from_secs(10), Span::ZERO, 1)
}

/// What an algorithm of the registry is passed in a run that `change` has changed.
fn seen(algorithm: &str, change: impl FnOnce(&mut Setup)) -> Seen {
    let seen = Arc::default();
    let mut setup = setup(algorithm, &seen);
    change(&mut setup);
    cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    let seen = seen.lock().expect("nothing panics with it");
    seen.clone()
}

#[test]
fn the_best_rate_is_that_of_the_bottleneck() {
    let seen = seen("reno", |_| {});
    let rates = seen.acks.iter().filter_map(|(_, sample)| sample.rate());
    let best = rates.map(|rate| rate.0).fold(0.0, f64::max);
    let line = 20e6 / 12_000.0;
    assert!((best / line - 1.0).abs() < 0.01, "{best} packets/s on a line of {line}");
    assert!(seen.acks.iter().all(|(_, sample)| !sample.limited), "its source never ends");
    let left = seen.acks.iter().map(|(_, sample)| sample.prior_in_flight).max();
    let arrived = seen.acks.iter().map(|(view, _)| view.in_flight).max();
    assert!(left >= Some(127) && left <= arrived, "{left:?} and {arrived:?}: queue and path hold 127");
}

#[test]
fn a_source_below_the_line_marks_its_samples() {
    let seen = seen("reno", |setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(8_000_000)));
    let after = |(view, _): &&(View, RateSample)| view.now > Time::ZERO + Span::from_secs(1);
    let late: Vec<_> = seen.acks.iter().filter(after).map(|(_, sample)| *sample).collect();
    assert!(late.len() > 2500 && late.iter().all(|sample| sample.limited));
    let best = late.iter().filter_map(RateSample::rate).map(|rate| rate.0).fold(0.0, f64::max);
    assert!((best / (8e6 / 12_000.0) - 1.0).abs() < 0.05, "{best} packets/s");
}

#[test]
fn the_receivers_window_marks_them_too() {
    let seen = seen("reno", |setup| setup.flows[0].max_window = Some(20.0));
    let marked = seen.acks.iter().filter(|(_, sample)| sample.limited).count();
    assert!(marked * 100 > seen.acks.len() * 95, "{marked} of {}", seen.acks.len());
}

/// Taking samples changes nothing where nothing is lost: all schemes send the same, packet by packet.
#[test]
fn samples_change_no_run_without_losses() {
    for algorithm in ["reno", "cubic", "fast"] {
        let asking = Arc::default();
        let with = |spec: Option<Spec>, scheme| {
            let mut setup = setup(algorithm, &asking);
            setup.links[0].queue = QueueLimit::Unlimited;
            setup.flows[0].recovery = scheme;
            if let Some(spec) = spec {
                setup.flows[0].algorithm = spec;
            }
            cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").digest
        };
        for scheme in RecoveryScheme::ALL {
            let spec = Spec::parse(algorithm).expect("registered");
            assert_eq!(with(None, scheme), with(Some(spec), scheme), "{algorithm}, {}", scheme.name());
        }
    }
}

/// BBR sets its window at each acknowledgement of a recovery: with three packets of a hundred lost it is hardly ever in anything else, and
/// proportional rate reduction, which sends no more than what arrives, would never let it grow again.
#[test]
fn an_algorithm_that_follows_samples_is_not_reduced_proportionally() {
    for (algorithm, loss) in [("bbr", 0.03), ("bbr3", 0.01)] {
        let spec = Spec::parse(algorithm).expect("registered");
        let bell = Dumbbell {
            loss: Loss::Bernoulli(loss),
            ..Dumbbell::new(50_000_000, Span::from_millis(40), QueueLimit::Packets(167))
        };
        let setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(20), Span::ZERO, 1);
        let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
        let delivered = *trace.flows[0].delivered.last().expect("a sample") as f64;
        let share = delivered * 12_000.0 / (20.0 * 50e6);
        assert!(share > 0.75, "{algorithm}: {share} of the link");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is lost, samples and views count alike.
    #[test]
    fn samples_agree_with_the_counters(
        scheme in (0..RecoveryScheme::ALL.len()).prop_map(|index| RecoveryScheme::ALL[index]),
        loss in 0.0..0.2_f64,
        ack_loss in 0.0..0.3_f64,
        delayed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let seen = seen("reno", |setup| {
            setup.links[0].loss = Loss::Bernoulli(loss);
            setup.links[1].loss = Loss::Bernoulli(ack_loss);
            setup.flows[0].recovery = scheme;
            setup.flows[0].delayed_ack = delayed.then(|| Span::from_millis(100));
            setup.seed = seed;
        });
        for (view, sample) in &seen.acks {
            prop_assert_eq!(sample.prior_delivered + sample.delivered, view.delivered);
            prop_assert!(sample.prior_in_flight > 0);
            let reliable = view.rtt.is_none_or(|rtt| sample.interval >= rtt.min || sample.interval == Span::ZERO);
            prop_assert!(reliable, "{sample:?} in {view:?}");
        }
        let selective = matches!(scheme, RecoveryScheme::Sack | RecoveryScheme::Rack);
        let mut lost = 0;
        for (view, event) in &seen.losses {
            lost += u64::from(event.lost);
            let timeout = event.cause == Cause::Timeout;
            prop_assert!(event.lost == 1 || timeout);
            // What a tail loss probe has repaired before it was missed has no sample.
            if let Some(sample) = event.sample.filter(|_| selective) {
                // Of several in one acknowledgement, the first does not count the others yet.
                prop_assert!(sample.lost > 0 && lost <= view.lost);
                prop_assert!(!timeout || lost == view.lost);
            }
        }
        let known = seen.losses.iter().filter(|(_, event)| event.sample.is_some()).count();
        prop_assert!(!selective || known * 10 >= seen.losses.len() * 9);
        prop_assert!(seen.losses.last().is_none_or(|(view, _)| lost == view.lost));
    }
}
