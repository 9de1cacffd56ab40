//! Measures of a run: pure functions over a [`Trace`] or over plain numbers.
//!
//! Whatever host wrote the trace, a measure means the same. Every definition is given where it is computed, with its source.
//! Times are nanoseconds as in the trace, results are in base units: bit/s, seconds, shares between 0 and 1. A measure that a
//! trace cannot answer (no packet queued, too few samples, a threshold never reached) is `None`, never a made-up number.
//!
//! [`MEASURES`] lists all measures; [`summarise`] takes them of one run, [`Estimates::over`] the runs of independent seeds.
//!
//! [`Trace`]: cwnd_trace::Trace

mod convergence;
mod correlation;
mod curve;
pub mod digits;
mod entry;
mod fair;
mod fairness;
mod life;
mod link;
mod load;
mod maxmin;
mod rank;
mod run;
mod sender;
mod speed;
mod statistics;
mod summary;
pub mod table;
mod throughput;

pub(crate) use convergence::convergence_time;
pub use correlation::{kendall, spearman};
pub use curve::{Curve, Window, first_window};
pub use entry::{Better, Measure, Reach, Scale, Subject};
pub use fair::fair_shares;
pub use fairness::{jain, relative_range};
pub use life::{is_there, life_of_arrivals, lifetime, seconds_of_cbr, stages};
pub(crate) use link::queue_delay_mean;
pub use link::{LinkCount, link_rate, mean_capacity, recovery_time, utilisation, utilisation_series};
pub use maxmin::{RoutedFlow, max_min};
pub(crate) use rank::goodput_fraction;
pub use rank::{Best, Rank, ranks};
pub use sender::{
    FlowDelay, flow_delay, flow_loss_rate, grew_on, peer_limited_share, retransmission_ratio, source_limited_share,
};
pub use speed::{aggressiveness, responsiveness};
pub use statistics::{
    Domain, ENOUGH_FOR_INTERVAL, Estimate, Resampled, Spread, Until, bca, differences, mean, mser5, paired, quantile,
    ratio, sample_deviation, t_interval,
};
pub use summary::{Estimates, Summary, summarise};
pub use table::{MEASURES, Measures};
pub use throughput::{
    coefficient_of_variation, goodput, goodput_series, goodputs_over_time, stability_index, wire_throughput,
};

/// The interval of [`stability_index`]: 1 s. The stages of `daimd` §V last 100 s; it does not print its sampling interval, and 100
/// samples a stage is the usual choice.
pub(crate) const STABILITY_INTERVAL: u64 = 1_000_000_000;

/// The interval of short-term series, of smoothness and of the time to 90 % utilisation: 200 ms. Traces sampled more coarsely
/// than this leave those measures out.
pub const SHORT_INTERVAL: u64 = 200_000_000;
