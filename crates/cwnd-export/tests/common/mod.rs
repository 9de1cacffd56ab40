//! A run to export.

use cwnd::{Span, Spec};
use cwnd_export::About;
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, Sampling, Setup, Trace};

/// The description in the files of a test.
pub(crate) const ABOUT: About<'static> =
    About { title: "a test", program: "cwnd 0", command: "cwnd run x.toml", seed: 7 };

/// A flow of each protocol for five seconds over a path that loses packets.
pub(crate) fn trace() -> Trace {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(2e-3),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
    };
    let specs = ["reno", "udt"].map(|name| Spec::parse(name).expect("registered"));
    let setup = bell.setup(&specs, Era::MODERN, Span::from_secs(5), Span::from_secs(1), ABOUT.seed);
    let sampling = Some(Sampling { interval: Span::from_millis(50), internals: true });
    cwnd_sim::run(&Setup { packet_log: Some(usize::MAX), sampling, ..setup }, &mut |_| true).expect("a valid setup")
}
