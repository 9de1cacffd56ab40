//! The load of a group: what an ideal network would carry for it.

use cwnd_trace::{FlowArrivalsTrace, Trace};

use super::curve::{Curve, Window};

/// A group as a number of flows of a constant rate.
///
/// Under max–min fairness finite flows that arrive at random are carried as they come where no link is asked for more than it can carry
/// (de Veciana, Lee, Konstantopoulos, "Stability and performance analysis of networks supporting elastic services", IEEE/ACM ToN 9(1),
/// 2001): together they demand their average. Each of them has at most the rate of another flow, so that a transfer that is too
/// large for the window and a group that grows without end leave the others their shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// How many flows of the group are there on average, and at least one.
    pub(super) flows: u64,
    /// What each of them wants, bit/s on the wire.
    pub(super) each: f64,
}

impl Load {
    /// Of a group whose flows may arrive in `window`.
    pub(super) fn of(trace: &Trace, group: &FlowArrivalsTrace, window: Window) -> Self {
        let requested = Curve::new(&trace.at, &group.requested).per_second(window).unwrap_or(0.0);
        let samples = trace.at.iter().zip(group.arrived.iter().zip(&group.refused).zip(&group.completed));
        let inside = samples.filter(|(at, _)| (window.from..window.to).contains(*at));
        let (count, present) = inside.fold((0_u64, 0_u64), |(count, sum), (_, ((arrived, refused), completed))| {
            (count + 1, sum + arrived.saturating_sub(refused + completed))
        });
        let flows = ((present as f64 / count.max(1) as f64).round() as u64).max(1);
        Self { flows, each: requested * f64::from(group.packet) * 8.0 / flows as f64 }
    }
}
