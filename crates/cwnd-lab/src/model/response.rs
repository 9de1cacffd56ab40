//! Windows against loss.

use cwnd::Spec;
use cwnd::units::{Bytes, Packets, Span};
use cwnd_model::bernoulli;
use cwnd_model::response::{Law, PathParameters};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CLOSED_FORM, Idle, ModelError, ShouldContinue};
use cwnd_run::measure::{Domain, Estimate};

/// Windows against loss: `cwnd model response --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Responses {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// Round trip, seconds. It matters to algorithms that grow by the clock, and to rates.
    pub rtt_s: f64,
    /// Size of a packet on the wire, bytes.
    pub packet_bytes: u32,
    /// One object per algorithm and loss probability.
    pub rows: Vec<ResponseRow>,
}

/// An algorithm at a loss probability.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ResponseRow {
    /// The algorithm as it was written.
    pub algorithm: String,
    /// Loss probability per packet: one loss per 1/p packets.
    pub loss: f64,
    /// The kind of all numbers except `random_window_packets`: `closed form`, or `not defined` where none is known: for algorithms that
    /// answer to delay, to routers or to a measured capacity, and for rules that outgrow every loss rate.
    pub kind: &'static str,
    /// The mean under random loss instead, by renewal Monte Carlo over the seeds; null unless requested, and for algorithms that
    /// set a rate or follow the delay.
    pub random_window_packets: Option<Estimate>,
    /// Packets per round trip, mean; null where no closed form is known.
    pub window_packets: Option<f64>,
    /// The window at each loss, packets.
    pub peak_packets: Option<f64>,
    /// Round trips between two losses.
    pub epoch_rtt: Option<f64>,
    /// The mean as a rate on the wire, bit/s.
    pub rate_bps: Option<f64>,
    /// The mean over that of TCP, `sqrt(3/(2p))`.
    pub over_tcp: Option<f64>,
}

/// The deterministic response of `algorithms` at each of `losses`, and that under random loss over `random_seeds` seeds from 1 on.
#[must_use]
pub fn responses(
    algorithms: &[&Spec],
    losses: &[f64],
    rtt: Span,
    packet: Bytes,
    random_seeds: u32,
    should_continue: ShouldContinue<'_>,
) -> Responses {
    let path = PathParameters { rtt: rtt.as_secs_f64(), packet };
    let mut rows = Vec::new();
    for spec in algorithms {
        let law = Law::of(spec);
        for loss in losses {
            let response = law.and_then(|law| law.response(*loss, path));
            let mean = response.map(|response| response.mean);
            rows.push(ResponseRow {
                algorithm: spec.label().to_string(),
                loss: *loss,
                kind: if response.is_some() { CLOSED_FORM } else { NOT_DEFINED },
                random_window_packets: random_window(spec, *loss, rtt, random_seeds, should_continue),
                window_packets: mean,
                peak_packets: response.map(|response| response.peak),
                epoch_rtt: response.map(|response| response.rounds),
                rate_bps: mean.map(|mean| (Packets(mean) / rtt).to_bits(packet).0),
                over_tcp: mean.map(|mean| mean / cwnd_model::friendly::tcp_rate(*loss, 1.0)),
            });
        }
    }
    Responses { version: cwnd_run::VERSION, rtt_s: path.rtt, packet_bytes: packet.0, rows }
}

/// Whether the runs of [`responses`] under random loss are few enough to be made.
///
/// # Errors
/// They would take more than 10¹¹ packets.
pub fn bounded(algorithms: &[&Spec], losses: &[f64], random_seeds: u32) -> Result<(), ModelError> {
    let runs = algorithms.iter().filter(|spec| bernoulli::is_defined(spec)).count() as f64 * f64::from(random_seeds);
    let packets = losses.iter().map(|loss| LOSSES / loss).sum::<f64>() * runs;
    if packets <= MOST_PACKETS { Ok(()) } else { Err(ModelError::Packets { packets }) }
}

/// The default round trip and packet size of a response.
pub const USUAL_PATH: (Span, Bytes) = (Span::from_millis(100), Bytes(1500));

/// The round trip and the packet of `path` where they are not those of [`USUAL_PATH`] and no number of an algorithm depends on them, and seeds
/// for one that is not run under random loss.
#[must_use]
pub fn idle_of_responses(algorithms: &[&Spec], losses: &[f64], path: (Span, Bytes), random: bool) -> Vec<Idle> {
    let at = |spec: &Spec, (rtt, packet): (Span, Bytes)| {
        let parameters = PathParameters { rtt: rtt.as_secs_f64(), packet };
        let response = |loss: &f64| {
            let mean = Law::of(spec).and_then(|law| law.response(*loss, parameters))?.mean;
            Some((mean, (Packets(mean) / rtt).to_bits(packet)))
        };
        let closed: Vec<_> = losses.iter().map(response).collect();
        // A loss in fifty is enough to see whether time counts.
        let ran = random.then(|| bernoulli::mean_window(spec, 0.02, (LOSSES / 0.02) as u64, rtt, 1, &|| true));
        (closed, ran)
    };
    let idle = |spec: &&Spec| {
        let (usual, found) = (USUAL_PATH, at(spec, path));
        let rtt = path.0 != usual.0 && at(spec, (usual.0, path.1)) == found;
        let packet = path.1 != usual.1 && at(spec, (path.0, usual.1)) == found;
        let algorithm = spec.label().to_string();
        let no_rate = "no closed form is known that gives a rate";
        let not_run = random && !bernoulli::is_defined(spec);
        let no_run =
            "its rate under random loss depends on more than the loss: it sets a rate, or follows queues or routers";
        let all = [(rtt, "rtt", no_rate), (packet, "packet", no_rate), (not_run, "random", no_run)];
        let idle = all.into_iter().filter(|(is_idle, ..)| *is_idle);
        idle.map(move |(_, setting, why)| Idle { setting, algorithm: algorithm.clone(), why: why.to_string() })
    };
    algorithms.iter().flat_map(idle).collect()
}

fn random_window(
    spec: &Spec,
    loss: f64,
    rtt: Span,
    seeds: u32,
    should_continue: ShouldContinue<'_>,
) -> Option<Estimate> {
    let packets = (LOSSES / loss) as u64;
    let runs: Vec<u64> = (1..=u64::from(seeds)).collect();
    let mean = |seed: &u64| bernoulli::mean_window(spec, loss, packets, rtt, *seed, should_continue);
    Estimate::over(&runs.par_iter().filter_map(mean).collect::<Vec<f64>>(), Domain::POSITIVE)
}

const NOT_DEFINED: &str = "not defined";
/// Losses of a run under random loss: a seed's mean is then good to about two percent.
pub(super) const LOSSES: f64 = 3000.0;
/// The maximum packets of all runs under random loss together: about half an hour of a processor.
pub(super) const MOST_PACKETS: f64 = 1e11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_without_a_law_has_a_row_without_numbers() {
        let specs = ["new-aimd", "reno"].map(|text| Spec::parse(text).expect("registered"));
        let document = responses(&specs.each_ref(), &[1e-4, 1e-2], Span::from_millis(100), Bytes(1500), 0, &|| true);
        let windows: Vec<_> = document.rows.iter().map(|row| row.window_packets.map(f64::round)).collect();
        assert_eq!(windows, [None, None, Some(122.0), Some(12.0)]);
    }
}
