//! The missed conditions, and the rules of the draft that may be the reason: each is left out alone (`bbr3:without=RULE`).

use cwnd::Spec;

use super::cases::{self, Condition};
use super::figures;

/// A group of conditions of which some are missed.
pub(crate) struct Miss {
    pub(crate) title: &'static str,
    pub(crate) conditions: fn(&Spec) -> Vec<Condition>,
    /// By their names in the registry.
    pub(crate) rules: &'static [&'static str],
}

/// All of them. What follows from a number of the draft by arithmetic alone has its contrast in the case itself.
pub(crate) const MISSES: [Miss; 8] = [
    Miss {
        title: "Random loss at 200 Mbit/s and 50 ms",
        conditions: figures::random_loss,
        rules: &["short-term", "short-term-rate", "short-term-volume", "margin"],
    },
    Miss { title: "A tenth of the bandwidth", conditions: figures::a_tenth, rules: &["probe-rtt", "short-term"] },
    Miss { title: "The queue of one flow", conditions: figures::queueing, rules: &["patience", "probe-rtt"] },
    Miss {
        title: "Two flows started 10 s apart",
        conditions: figures::two_flows,
        rules: &["short-term", "long-term", "probe-rtt", "patience", "margin"],
    },
    Miss {
        title: "Case 6, Exiting PROBE_UP on Loss When Application-Limited",
        conditions: cases::up_loss,
        rules: &["limited-loss"],
    },
    Miss {
        title: "Case 9, Exiting PROBE_DOWN After Max Time",
        conditions: cases::down_time,
        rules: &["probe-rtt", "margin"],
    },
    Miss {
        title: "Case 16, Decreasing Bandwidth 10x, behind a twentieth of a BDP",
        conditions: |own| cases::a_tenth_behind(own, 0.05),
        rules: &[],
    },
    Miss {
        title: "Case 19, Handling Spurious RTO Recovery",
        conditions: cases::spurious_timeout,
        rules: &["timeout-saves", "probe-rtt"],
    },
];
