//! Windows that are not used: growth is withheld where the era validates windows, for every window algorithm.

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Algorithm, CongestionControl, Entry, Pacing, Span, Spec, Start};
use cwnd_sim::{Dumbbell, Era, FlowSetup, QueueLimit, RateSchedule, RecoveryScheme, Sampling, Source};

/// The window of a flow, every 100 ms, that the receiver or the application holds to about 10 packets in the network: 1000
/// packets per second on a round trip of 100 ms would be 100.
fn windows(algorithm: &str, era: Era, hold: impl Fn(&mut FlowSetup)) -> Vec<f64> {
    let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Unlimited);
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    let mut setup = bell.setup(&[spec], era, Span::from_secs(20), Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: Span::from_millis(100), internals: false });
    hold(&mut setup.flows[0]);
    cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").flows.remove(0).window
}

fn by_the_receiver(flow: &mut FlowSetup) {
    flow.max_window = Some(10.0);
}

/// 95 packets per second.
fn by_the_application(flow: &mut FlowSetup) {
    flow.source = Source::Rate(RateSchedule::constant(1_140_000));
}

fn window_algorithms() -> impl Iterator<Item = &'static str> {
    let windowed = |entry: &&&Entry<Algorithm>| {
        let algorithm = Spec::parse(entry.name).expect("registered").start(&Start::default());
        entry.transport == Transport::Acked && !matches!(algorithm.control().pacing, Pacing::At(_))
    };
    ALGORITHMS.iter().filter(windowed).map(|entry| entry.name)
}

#[test]
fn no_window_grows_while_neither_it_nor_a_rate_is_the_limit() {
    for algorithm in window_algorithms() {
        for era in [Era::MODERN, Era::LINUX_2_6] {
            for (by, hold) in [("receiver", by_the_receiver as fn(&mut _)), ("application", by_the_application)] {
                let windows = windows(algorithm, era, hold);
                let case = format!("{algorithm}, {}, held by the {by}", era.name);
                let (settled, last) = (windows[20], windows[windows.len() - 1]);
                // It is the limit until it is above what is sent, and what has waited meanwhile is sent too.
                assert!((10.0..=30.0).contains(&last), "{case}: {last}");
                assert_eq!(settled, last, "{case}");
            }
        }
    }
}

#[test]
fn ns2_lets_unused_windows_grow() {
    for algorithm in window_algorithms() {
        for era in [Era::NS2_2001, Era::NS2_2004, Era::NS2_2006] {
            for (by, hold) in [("receiver", by_the_receiver as fn(&mut _)), ("application", by_the_application)] {
                let windows = windows(algorithm, era, hold);
                let last = windows[windows.len() - 1];
                // Twenty seconds of packets would be 200; Vegas takes the jitter of a window it does not use for a queue.
                assert!(
                    last > if algorithm == "vegas" { 50.0 } else { 100.0 },
                    "{algorithm}, {}, held by the {by}: {last}",
                    era.name
                );
            }
        }
    }
}

/// ns-2's `window()`: what a sender cuts is what it could have had in the network. The schemes agree on that.
#[test]
fn an_unused_window_is_cut_to_half_of_what_the_receiver_allowed() {
    for scheme in RecoveryScheme::ALL {
        let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Unlimited);
        let reno = Spec::parse("reno").expect("a registered algorithm");
        let mut setup = bell.setup(&[reno], Era::NS2_2006, Span::from_secs(3), Span::ZERO, 1);
        setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: true });
        by_the_receiver(&mut setup.flows[0]);
        setup.flows[0].recovery = scheme;
        let fault = cwnd_sim::Fault::Data { flow: 0, number: 100, transmission: 1 };
        setup.taps = vec![cwnd_sim::Tap { link: cwnd_sim::LinkId(0), faults: vec![fault] }];
        let flow = &cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").flows[0];
        let cut = flow.window.windows(2).position(|pair| pair[1] < pair[0]).expect("a cut");
        assert!(flow.window[cut] > 50.0, "{}: {}", scheme.name(), flow.window[cut]);
        let (_, threshold) = flow.internals.iter().find(|(name, _)| *name == "ssthresh").expect("of the shell");
        assert_eq!(threshold[cut + 1], 5.0, "{}", scheme.name());
    }
}
