//! Algorithms that are not in the registry, in packets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Ack, Congestion, CongestionControl, Control, Maker, Packets, Span, Spec, Start, View};
use cwnd_sim::{Dumbbell, Era, LinuxHost, QueueLimit, Setup, SetupError};

fn cell(spec: &Spec) -> Setup {
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60));
    bell.setup(&[spec.clone(), spec.clone()], Era::MODERN, Span::from_secs(4), Span::from_secs(1), 1)
}

/// A built-in algorithm behind a box.
#[derive(Debug)]
struct Boxed(Spec);

impl Maker for Boxed {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        self.0.start(start).boxed_clone()
    }
}

#[test]
fn a_box_changes_nothing() {
    let plain = LinuxHost::default();
    let hosts = [plain, LinuxHost { fq: true, ..plain }, LinuxHost { tso: true, ..plain }];
    for entry in ALGORITHMS.iter().filter(|entry| entry.transport == Transport::Acked) {
        let spec = Spec::parse(entry.name).expect("registered");
        for host in hosts {
            let run = |spec: &Spec| {
                let mut setup = cell(spec);
                setup.flows.iter_mut().for_each(|flow| flow.host = host);
                cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").digest
            };
            let boxed = Spec::outside(entry.name, Arc::new(Boxed(spec.clone())));
            assert_eq!(run(&boxed), run(&spec), "{}, {host:?}", entry.name);
        }
    }
}

/// Fails at its third acknowledgement.
#[derive(Clone, Debug)]
struct Failing {
    acks: u32,
    failed: Arc<AtomicBool>,
}

impl CongestionControl for Failing {
    fn control(&self) -> Control {
        Control::window(Packets(2.0))
    }

    fn on_ack(&mut self, _view: &View, _ack: &Ack) {
        self.acks += 1;
        if self.acks == 3 {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Maker for Failing {
    fn start(&self, _start: &Start) -> Box<dyn CongestionControl> {
        self.boxed_clone()
    }
}

#[test]
fn one_that_fails_ends_the_run() {
    let failed = Arc::new(AtomicBool::new(false));
    let spec = Spec::outside("failing", Arc::new(Failing { acks: 0, failed: Arc::clone(&failed) }));
    let setup = Setup { duration: Span::from_secs(4000), ..cell(&spec) };
    let mut reached = 0;
    let ended = cwnd_sim::run(&setup, &mut |now| {
        reached = now;
        !failed.load(Ordering::Relaxed)
    });
    assert_eq!(ended.map(|trace| trace.digest), Err(SetupError::Interrupted));
    assert!(reached < Span::from_secs(2000).as_nanos(), "it went on to {reached} ns");
}
