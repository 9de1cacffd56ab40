//! Runs that would need all memory, or stay at one instant: each ends with an error that names what to change.

use std::num::NonZeroU32;
use std::sync::Arc;

use cwnd::window::{Window, WindowRule};
use cwnd::{Ack, Congestion, CongestionControl, Control, Maker, Pacing, Packets, Rate, Span, Spec, Start, View};
use cwnd_sim::{
    CbrSetup, Class, Dumbbell, Era, Interarrival, QueueLimit, RateSchedule, Sampling, Setup, SetupError, SetupPart,
    Simulation, Source,
};

/// A bulk flow of `algorithm` over 10 Mbit/s and 20 ms.
fn setup(spec: Spec) -> Setup {
    let bell = Dumbbell::new(10_000_000, Span::from_millis(20), QueueLimit::Packets(50));
    bell.setup(&[spec], Era::MODERN, Span::from_secs(5), Span::ZERO, 1)
}

fn reno() -> Setup {
    setup(Spec::parse("reno").expect("registered"))
}

/// The error of a run with 16 MiB of memory.
fn error(setup: &Setup) -> SetupError {
    Simulation::new(setup).expect("it is accepted").within(16 << 20).finish(setup, &mut |_| true).expect_err("too much")
}

/// What a memory error names.
fn named(setup: &Setup) -> SetupPart {
    match error(setup) {
        SetupError::Memory { part, most: 0x100_0000, .. } => part,
        other => panic!("{other}"),
    }
}

fn a_flow(part: &SetupPart) -> bool {
    matches!(part, SetupPart::Flow(_))
}

#[test]
fn a_bulk_flow_over_links_without_a_rate_is_named() {
    let mut setup = reno();
    setup.links.iter_mut().for_each(|link| link.rate = None);
    assert!(matches!(named(&setup), SetupPart::Flow(_) | SetupPart::Link(_)));
}

#[test]
fn time_that_stands_still_is_named() {
    let mut setup = reno();
    for link in &mut setup.links {
        (link.rate, link.delay) = (None, Span::ZERO);
    }
    setup.flows[0].access_rtt = Span::ZERO;
    // With a window of its own it is not memory that ends the run.
    setup.flows[0].max_window = Some(4.0);
    let SetupError::Stalled { part, events, .. } = error(&setup) else { panic!("time passes") };
    assert!(a_flow(&part) && events >= 1 << 24, "{part}");
    setup.flows[0].max_window = None;
    assert!(matches!(error(&setup), SetupError::Memory { .. } | SetupError::Stalled { .. }));
}

#[test]
fn a_queue_without_a_limit_is_named() {
    let mut setup = reno();
    // No loss is ever reported to the sender, and the line takes years.
    for link in &mut setup.links {
        link.queue = QueueLimit::Unlimited;
    }
    setup.links[0].rate = Some(1000);
    setup.variation.jitter = 0.0;
    setup.cbr = vec![CbrSetup { stop: None, ..flood(&setup, 100_000_000_000) }];
    assert_eq!(named(&setup), SetupPart::Link(setup.links[0].name.clone()));
    setup.links[0].discipline = cwnd_sim::Discipline::CoDel(cwnd_sim::CoDelSetup::default());
    assert_eq!(named(&setup), SetupPart::Link(setup.links[0].name.clone()));
}

/// `droptail:unlimited` at 100 Tbit/s.
#[test]
fn a_fast_line_with_an_unlimited_queue_ends() {
    let bell = Dumbbell::new(100_000_000_000_000, Span::from_millis(50), QueueLimit::Unlimited);
    let reno = Spec::parse("reno").expect("registered");
    let setup = bell.setup(&[reno], Era::MODERN, Span::from_secs(60), Span::ZERO, 1);
    assert!(matches!(named(&setup), SetupPart::Flow(_) | SetupPart::Link(_)));
}

#[test]
fn samples_count_too() {
    let mut setup = reno();
    setup.sampling = Some(Sampling { interval: Span::from_nanos(1), internals: true });
    assert_eq!(named(&setup), SetupPart::Field("sampling"));
}

/// Traffic without congestion control of `rate` bit/s over the first link, for a second.
fn flood(setup: &Setup, rate: u64) -> CbrSetup {
    CbrSetup {
        name: "flood".to_string(),
        from: setup.links[0].from,
        to: setup.links[0].to,
        start: setup.flows[0].start,
        stop: Some(setup.flows[0].start + Span::from_secs(1)),
        pauses: Vec::new(),
        access_delay: Span::ZERO,
        packet: setup.flows[0].packet,
        rate: RateSchedule::constant(rate),
        class: Class::Out,
        hosts: cwnd_sim::HostPair::default(),
    }
}

/// What a run with 1 MiB of memory says, whatever is left of it when the memory is full.
fn of_a_mebibyte(of: impl Fn(&mut Setup)) -> String {
    let error = |seconds| {
        let mut setup = reno();
        setup.duration = Span::from_secs(seconds);
        (setup.sampling, setup.variation.rtt) = (None, 0.0);
        of(&mut setup);
        let simulation = Simulation::new(&setup).expect("it is accepted").within(1 << 20);
        let error = simulation.finish(&setup, &mut |_| true).expect_err("too much");
        assert!(matches!(error, SetupError::Memory { at, .. } if at < 1.0), "{error}");
        error.to_string()
    };
    let (short, long) = (error(3), error(30));
    assert_eq!(short, long, "the end of the run has no part in it");
    short
}

/// What fills the memory is named, with what would make it less, and the time at which it was full.
#[test]
fn what_fills_the_memory_is_named() {
    let says = |of: fn(&mut Setup), part: &str, what: &str, remedy: &str| {
        let error = of_a_mebibyte(of);
        let named = error.starts_with(&format!("{part}: 0.")) || error.starts_with(&format!("{part}: the"));
        assert!(named && error.contains(what) && error.contains(remedy), "{part}, {what}, {remedy}: {error}");
    };
    let queue = "the packets in its queue";
    says(
        |setup| {
            setup.links[0].queue = QueueLimit::Unlimited;
            setup.cbr = vec![flood(setup, 1_000_000_000)];
        },
        "link `bottleneck`",
        queue,
        "give its queue a limit",
    );
    says(
        |setup| {
            setup.links[0].queue = QueueLimit::Packets(1_000_000);
            setup.cbr = vec![flood(setup, 1_000_000_000)];
        },
        "link `bottleneck`",
        queue,
        "a lower limit",
    );
    says(
        |setup| {
            (setup.links[0].rate, setup.links[0].delay) = (Some(10_000_000_000), Span::from_secs(1));
            setup.cbr = vec![flood(setup, 1_000_000_000)];
        },
        "link `bottleneck`",
        "on their way over it",
        "lower its rate or its delay",
    );
    says(
        |setup| {
            (setup.links[0].rate, setup.links[0].delay) = (None, Span::from_secs(1));
            setup.cbr = vec![flood(setup, 1_000_000_000)];
        },
        "link `bottleneck`",
        "on their way over it",
        "give it a rate",
    );
    says(
        |setup| setup.cbr = vec![CbrSetup { access_delay: Span::from_secs(1), ..flood(setup, 1_000_000_000) }],
        "cbr `flood`",
        "its access line",
        "lower its rate",
    );
    says(
        |setup| {
            let mut flow = setup.flows[0].clone();
            (flow.name, flow.access_rtt) = ("web".to_string(), Span::from_secs(2));
            setup.flow_arrivals = vec![cwnd_sim::FlowArrivalsSetup {
                flow,
                gap: Interarrival::Constant(Span::from_micros(50)),
                sizes: cwnd_sim::Sizes::Constant(10),
                pages: None,
                rtt_spread: Span::ZERO,
                limit: const { NonZeroU32::new(1_000_000).expect("above zero") },
            }];
        },
        "arrivals `web`",
        "its access lines",
        "its limit",
    );
    says(
        |setup| {
            setup.flows[0].access_rtt = Span::from_secs(2);
            setup.flows = vec![setup.flows[0].clone(); 10_000];
        },
        "flows",
        "their access lines",
        "take fewer flows",
    );
    says(
        |setup| setup.sampling = Some(Sampling { interval: Span::from_nanos(1000), internals: false }),
        "sampling",
        "the samples of the run",
        "take fewer samples",
    );
}

/// A sample of 2000 flows is a single event, and the work of 2000.
#[test]
fn progress_is_asked_between_samples_of_many_flows() {
    let bell = Dumbbell::new(10_000_000, Span::from_millis(20), QueueLimit::Packets(50));
    let flows = vec![Spec::parse("reno").expect("registered"); 2000];
    let mut setup = bell.setup(&flows, Era::MODERN, Span::from_secs(1), Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: Span::from_millis(1), internals: false });
    let mut asked = 0;
    let simulation = Simulation::new(&setup).expect("it is accepted");
    let trace = simulation.finish(&setup, &mut |_| {
        asked += 1;
        true
    });
    let samples = trace.expect("it ends").at.len() as u64 * 2000;
    // Once in 65,536 samples, and once more for those of the last event.
    assert!(asked >= samples / (65_536 + 2000), "{asked} times in {samples} samples");
}

#[test]
fn what_is_requested_faster_than_time_resolves_is_refused() {
    let mut setup = reno();
    setup.flows[0].source = Source::Rate(RateSchedule::constant(1_000_000_000_000_000));
    let refused = setup.check().expect_err("more than a packet per nanosecond").to_string();
    assert!(setup.check().is_ok() || refused.contains("10^9 packets"), "{refused}");
    setup.flows[0].packet = cwnd::Bytes(1);
    setup.flows[0].payload = cwnd::Bytes(1);
    assert!(setup.check().expect_err("more than a packet per nanosecond").to_string().contains("10^9 packets"));
    let mut setup = reno();
    setup.flow_arrivals = vec![cwnd_sim::FlowArrivalsSetup {
        flow: setup.flows[0].clone(),
        gap: Interarrival::Constant(Span::from_nanos(1)),
        sizes: cwnd_sim::Sizes::Constant(1),
        pages: None,
        rtt_spread: Span::ZERO,
        limit: const { NonZeroU32::new(10).expect("above zero") },
    }];
    assert!(setup.check().expect_err("a billion a second").to_string().contains("at least 1us"));
}

/// An algorithm from outside that requests everything at once.
#[derive(Clone, Debug)]
struct Everything(Control);

impl CongestionControl for Everything {
    fn control(&self) -> Control {
        self.0
    }

    fn on_ack(&mut self, _view: &View, _ack: &Ack) {}

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Maker for Everything {
    fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// A rule that grows by a billion packets for each acknowledgement.
#[derive(Clone, Debug)]
struct Leap;

impl WindowRule for Leap {
    fn grow(&mut self, _w: f64, _view: &View) -> f64 {
        1e9
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w
    }
}

impl Maker for Leap {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Window::new(self.clone(), &start.with_threshold(Packets(1.0))))
    }
}

#[test]
fn an_algorithm_that_requests_everything_is_named() {
    let endless = Control::window(Packets(f64::INFINITY));
    let at = |rate| endless.with_pacing(Pacing::At(Rate(rate)));
    for control in
        [endless, at(1e18), at(f64::INFINITY), at(f64::NAN), endless.with_pacing(Pacing::Spread { gain: 1e300 })]
    {
        let mut setup = setup(Spec::outside("everything", Arc::new(Everything(control))));
        for log in [None, Some(1000)] {
            setup.packet_log = log;
            assert!(a_flow(&named(&setup)), "{control:?}, log of {log:?}");
        }
    }
    assert!(a_flow(&named(&setup(Spec::outside("leap", Arc::new(Leap))))));
}
