//! The algorithms, path and opponent of a comparison that names none.

use cwnd::Span;
use cwnd_run::scenario::{Document, Dumbbell, Schedule, Step, Written};

/// The path and the times of a comparison for which no path is described: flows share 50 Mbit/s behind a short queue. On it most rules
/// differ in what they use, lose, and take from Reno. Before measuring starts, the rate falls to a quarter for 5 s, so that the flows have
/// something to recover; it does not where a `warmup` ends too soon after. Without a `warmup`, measuring starts after 25 s, and at most half
/// of `duration`.
#[must_use]
pub fn default_base(duration: Written<Span>, warmup: Option<Written<Span>>) -> Document {
    let step = |at, rate| Step { rate: Some(Written::literal(rate)), ..Step::new(Written::literal(at)) };
    let half = *duration.value() / 2;
    let usual: Written<Span> = Written::literal(WARMUP);
    let warmup = warmup.unwrap_or_else(|| if half < *usual.value() { half.into() } else { usual.clone() });
    let dip = Schedule { repeat: None, steps: vec![step("5s", "12.5mbit"), step("10s", "50mbit")] };
    Document {
        dumbbell: Some(Dumbbell {
            rate: Written::literal("50mbit"),
            queue: Written::literal("droptail:0.25bdp"),
            schedule: (warmup.value() >= usual.value()).then_some(dip),
            ..Dumbbell::default()
        }),
        duration,
        warmup,
        ..Document::default()
    }
}

/// The opponent of each algorithm on the path of [`default_base`].
pub const DEFAULT_OPPONENT: &str = "reno";

/// The algorithms compared by default: Reno, CUBIC and BBRv3 with the algorithms of the five papers.
pub const DEFAULT: [&str; 13] = [
    "reno",
    "cubic",
    "bbr3",
    "aimd:b=1/8",
    "aiad",
    "iiad",
    "simd",
    "exp-tcp",
    "new-aimd",
    "daimd",
    "udt",
    "highspeed",
    "scalable",
];

/// Fifteen seconds after the rate is back, every algorithm of [`DEFAULT`] uses the path again: a Reno-friendly AIMD that cuts by an eighth needs twelve.
const WARMUP: &str = "25s";
