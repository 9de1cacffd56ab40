//! The table of measures: an entry for each, with the function that computes it.
//!
//! Whatever shows, stores or ranks measures walks [`MEASURES`].

use cwnd_trace::Histogram;

use super::convergence_time;
use super::entry::{Better, Measure, Reach, Scale, Subject, measures};
use super::fairness::{jain, relative_range};
use super::link::{LinkCount, queue_delay_mean, queue_delay_quantile, time_to_utilisation, utilisation};
use super::run::Run;
use super::sender::{peer_limited_share, retransmission_ratio, source_limited_share};
use super::statistics::Domain;
use super::throughput::{efficiency_index, goodput_of_all, stability_index};
use super::{SHORT_INTERVAL, STABILITY_INTERVAL};

/// A value of the run.
type One<T> = Option<T>;
/// A value of each flow.
type Each<T> = Vec<Option<T>>;

measures! {
    UTILISATION = utilisation: One {
        of: |run| run.link.and_then(|link| utilisation(run.trace, link, run.window)),
        meaning: "Share of the bottleneck's capacity that was carried, 0..=1. The capacity is the rate of the line, or of a shaper or a \
                  policer where that is less.",
        title: "utilisation",
        subject: Subject::Link,
        scale: Scale::Share,
        domain: |_| Domain::SHARE,
        better: Some(Better::Higher),
        reach: Reach::Glance,
    }
    GOODPUT = goodput_bps: One {
        of: |run| goodput_of_all(run.trace, &run.trace.flows, run.window),
        meaning: "Payload bits of all flows together that arrived for the first time, per second in which at least one of them is there.",
        title: "goodput",
        scale: Scale::Rate,
        better: Some(Better::Higher),
        reach: Reach::Glance,
    }
    FLOW_GOODPUT = flow_goodput_bps: Each {
        of: |run| run.goodputs.clone(),
        meaning: "Payload bits that arrived for the first time, per second in which it is there, for each flow in the order of the \
                  scenario; null for one that is left out.",
        title: "goodput of each flow",
        short: "goodput",
        subject: Subject::EachFlow,
        scale: Scale::Rate,
    }
    JAIN = jain: One {
        of: |run| jain(&run.known_goodputs()),
        source: "Jain, Chiu and Hawe 1984.",
        meaning: "Jain's index of the goodputs of the flows that are not left out, (Σx)²/(nΣx²): 1 where all are equal, 1/n where one flow \
                  has everything.",
        title: "Jain index",
        decimals: 2,
        domain: Domain::jain,
        better: Some(Better::Higher),
        reach: Reach::Glance,
    }
    GOODPUT_RANGE = goodput_range: One {
        of: |run| relative_range(&run.known_goodputs()),
        meaning: "Largest less smallest goodput of a flow, divided by the mean of the flows; 0 where all are equal.",
        title: "range of goodput",
        short: "range",
        decimals: 2,
        domain: Domain::relative_range,
        better: Some(Better::Lower),
        reach: Reach::Report,
    }
    EFFICIENCY_INDEX = efficiency_index_bps: One {
        of: |run| efficiency_index(run.trace, &run.trace.flows, run.window, STABILITY_INTERVAL),
        source: "EI of `daimd` §V.",
        meaning: "The sum over flows of the mean goodput per interval of 1 s, bit/s. Time without a flow does not count: it is `goodput_bps` \
                  of the whole intervals since the warm-up.",
        title: "efficiency index",
        scale: Scale::Rate,
        better: Some(Better::Higher),
        reach: Reach::Report,
    }
    STABILITY_INDEX = stability_index: One {
        of: |run| stability_index(&run.series(STABILITY_INTERVAL)?),
        source: "SI of `daimd` eq. 18.",
        meaning: "Deviation of a flow's goodput over intervals of 1 s divided by its mean, averaged over flows; 0 is perfectly stable.",
        title: "stability index",
        decimals: 2,
        better: Some(Better::Lower),
        reach: Reach::Table,
    }
    SMOOTHNESS = smoothness: One {
        of: |run| run.mean_variation(SHORT_INTERVAL),
        meaning: "Coefficient of variation of a flow's goodput over intervals of 200 ms, mean over flows; 0 is perfectly smooth.",
        title: "smoothness",
        decimals: 2,
        better: Some(Better::Lower),
        reach: Reach::Report,
    }
    LOSS_RATE = loss_rate: One {
        of: |run| run.link_rate(LinkCount::Lost),
        meaning: "Packets that the bottleneck's queue dropped, or that were lost, damaged, policed or thinned out on it, as a share of those offered to it.",
        title: "loss",
        subject: Subject::Link,
        scale: Scale::Share,
        decimals: 4,
        domain: |_| Domain::SHARE,
        better: Some(Better::Lower),
        reach: Reach::Glance,
    }
    MARK_RATE = mark_rate: One {
        of: |run| run.link_rate(LinkCount::Marked),
        meaning: "Packets marked at the bottleneck as a share of those offered to it.",
        title: "marked",
        subject: Subject::Link,
        scale: Scale::Share,
        decimals: 4,
        domain: |_| Domain::SHARE,
        reach: Reach::Report,
    }
    QUEUE_DELAY_MEAN = queue_delay_mean_s: One {
        of: |run| run.waited().and_then(queue_delay_mean),
        meaning: "Mean time packets waited at the bottleneck before their transmission began, seconds.",
        title: "mean queueing delay",
        short: "queueing delay",
        subject: Subject::Link,
        scale: Scale::Delay,
        better: Some(Better::Lower),
        reach: Reach::Glance,
    }
    QUEUE_DELAY_P95 = queue_delay_p95_s: One {
        of: |run| queue_delay_quantile(run.waited()?, 0.95),
        meaning: "95th percentile of the time packets waited at the bottleneck, seconds.",
        title: "95th percentile of queueing delay",
        short: "95th percentile",
        subject: Subject::Link,
        scale: Scale::Delay,
        known_to: Histogram::RESOLUTION,
        better: Some(Better::Lower),
        reach: Reach::Report,
    }
    QUEUE_DELAY_P99 = queue_delay_p99_s: One {
        of: |run| queue_delay_quantile(run.waited()?, 0.99),
        meaning: "99th percentile of the time packets waited at the bottleneck, seconds.",
        title: "99th percentile of queueing delay",
        short: "99th percentile",
        subject: Subject::Link,
        scale: Scale::Delay,
        known_to: Histogram::RESOLUTION,
        better: Some(Better::Lower),
        reach: Reach::Table,
    }
    RETRANSMISSION_RATIO = retransmission_ratio: One {
        of: |run| retransmission_ratio(run.trace, &run.trace.flows, run.window),
        meaning: "Retransmissions of all flows as a share of the data packets they sent.",
        title: "retransmitted",
        scale: Scale::Share,
        decimals: 4,
        domain: |_| Domain::SHARE,
        better: Some(Better::Lower),
        reach: Reach::Compared,
    }
    TIME_TO_90_UTILISATION = time_to_90_utilisation_s: One {
        of: |run| time_to_utilisation(run.trace, run.link?, 0.9, SHORT_INTERVAL),
        meaning: "Time from the first start until the bottleneck was used to 90 % for 200 ms, seconds. Runs that do not get there are left \
                  out.",
        title: "time to 90 % utilisation",
        scale: Scale::Time,
        better: Some(Better::Lower),
        reach: Reach::Compared,
    }
    CONVERGENCE_TIME = convergence_time_s: One {
        of: |run| convergence_time(run.trace, run.last_starter()?, 0.1, STABILITY_INTERVAL),
        source: "RFC 5166 §2.3 with δ = 0.1, after Bansal et al. 2001.",
        meaning: "Time from the start of the flow that started last until it had its share to within 10 % for 1 s, seconds; only where flows \
                  start at different times. Runs that do not get there are left out.",
        title: "time to a fair share",
        scale: Scale::Time,
        better: Some(Better::Lower),
        reach: Reach::Report,
    }
    SOURCE_LIMITED_SHARE = source_limited_share: One {
        of: |run| run.largest(|flow| source_limited_share(run.trace, flow, run.window)),
        meaning: "Share of the time during which the application of the most affected flow had nothing to send, 0..=1.",
        title: "limited by the source",
        scale: Scale::Share,
        domain: |_| Domain::SHARE,
    }
    PEER_LIMITED_SHARE = peer_limited_share: One {
        of: |run| run.largest(|flow| peer_limited_share(run.trace, flow, run.window)),
        meaning: "Share of the time during which the receiver's window held the most affected flow, 0..=1.",
        title: "limited by the receiver",
        scale: Scale::Share,
        domain: |_| Domain::SHARE,
    }
    COMPLETION_TIME = completion_time_s: One {
        of: |run| run.slowest(|flow| flow.completed),
        meaning: "Time from the start of a finite flow, which is that of its handshake or its first packet, to the arrival of its last packet \
                  at the receiver, of the slowest finite flow, seconds; also where it ends in the warm-up. Runs in which one has not \
                  completed are left out.",
        title: "completion of the slowest flow",
        scale: Scale::Time,
        better: Some(Better::Lower),
    }
    ACKNOWLEDGEMENT_TIME = acknowledgement_time_s: One {
        of: |run| run.slowest(|flow| flow.acknowledged),
        meaning: "Time from the start of a finite flow, which is that of its handshake or its first packet, to the last acknowledgement at \
                  its sender, of the slowest finite flow, seconds; also where it ends in the warm-up. Runs in which one has not completed \
                  are left out.",
        title: "acknowledgement of the slowest flow",
        scale: Scale::Time,
        better: Some(Better::Lower),
    }
}
