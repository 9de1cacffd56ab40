//! One flow on paper: the growth of SIMD, the condition of its friendliness, and TCP's throughput with timeouts.

use cwnd::{Bytes, Packets, Span};
use cwnd_model::convergence::Scheme;
use cwnd_model::friendly::{Timeouts, aimd_rate_with_timeouts, simd_alpha_periodic};
use cwnd_model::growth::{Growth, after_congestion};
use cwnd_model::response::{Law, PathParameters};
use cwnd_model::{bernoulli, friendly};

use super::{SIMD, TCP};
use crate::change::{self, set_algorithm};
use crate::model::registered;
use crate::{Bench, Computed, Curve, Figure, Findings, MaxError, OverTime, Result};

const B: f64 = 1.0 / 16.0;

/// A window that was cut at `peak`, acknowledgement by acknowledgement.
fn grown(text: &str, peak: f64, rounds: f64) -> Growth {
    after_congestion(&registered(text), Packets(peak), rounds).expect("algorithms of this file set windows")
}

pub(super) fn figure_1(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let curve = |peak: f64, t: f64| {
        let alpha = friendly::simd_alpha_random(B, peak);
        (1.0 - B) * peak + alpha * alpha * t * t / 4.0
    };
    let simd = grown(SIMD, PEAK, 120.0);
    let mut path = MaxError::default();
    for (t, window) in simd.windows.iter().filter(|(t, _)| *t >= 1.0) {
        path.relative(*window, curve(PEAK, *t));
    }
    let (mut closed, mut per_ack) = (MaxError::default(), MaxError::default());
    for [w1, w2] in [[20.0, 40.0], [30.0, 50.0], [10.0, 80.0]] {
        // The sum does not matter: both rise for the same time.
        let (_, [peak1, peak2]) = Scheme::simd(B).rise(100.0, w1, w2);
        closed.relative((peak1 - w1) / (peak2 - w2), w2 / w1);
        let [gain1, gain2] = [w1, w2].map(|w| {
            let windows = grown(SIMD, w / (1.0 - B), 100.0).windows;
            windows.last().map_or(f64::NAN, |(_, last)| last - w)
        });
        per_ack.relative(gain1 / gain2, w2 / w1);
    }
    findings.value("per acknowledgement against w0 + alpha^2 t^2/4, t = 1 to 120 RTT, largest relative error", path);
    findings.value("closed form: growth of two flows over W2/W1, largest relative error", closed);
    findings
        .value("per acknowledgement: growth of two flows after 100 RTT over W2/W1, largest relative error", per_ack);
    let line = |name: &str, points: Vec<(f64, f64)>| Curve::new(name, points);
    let sparse = |growth: &Growth| growth.windows.iter().copied().step_by(100).collect::<Vec<_>>();
    findings.figure(Figure {
        title: "Growth after congestion at 100 packets",
        caption: "SIMD and AIMD with b = 1/16, acknowledgement by acknowledgement, and the curve of eq. 2.".to_string(),
        x: "Round trips",
        y: "Window, packets",
        log: (false, false),
        curves: vec![
            line("SIMD", sparse(&simd)),
            line("AIMD", sparse(&grown("aimd:b=1/16", PEAK, 120.0))),
            Curve::printed("w0 + alpha^2 t^2/4", (0..=120).step_by(5).map(f64::from).map(|t| (t, curve(PEAK, t)))),
        ],
    });
    Ok(())
}

/// The window at congestion of Fig. 1, packets.
const PEAK: f64 = 100.0;

/// The window of a flow under random loss, epoch after epoch.
pub(super) fn figure_2(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let flow = bench.scenario("friendliness", |document| {
        change::dumbbell(document).loss = P.to_string().parse()?;
        set_algorithm(&mut document.flow, SIMD)
    })?;
    let Some(run) = OverTime::of(bench, &flow)? else { return Ok(()) };
    let shown = |(at, _): &(f64, f64)| SHOWN.contains(at);
    findings.figure(Figure {
        title: "The window over time",
        caption: "A flow of SIMD(1/16) that loses one packet in a thousand at random. An epoch begins with (1 - b) of the window at a loss, and \
                  ends with the next loss."
            .to_string(),
        x: "Time, s",
        y: "Window, packets",
        log: (false, false),
        curves: vec![Curve::new("SIMD", run.window(1).into_iter().filter(shown))],
    });
    Ok(())
}

/// A dozen epochs, seconds.
const SHOWN: std::ops::Range<f64> = 30.0..80.0;

pub(super) fn equation_8(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let path = Timeouts { rtt: 0.1, timeout: bench.assumed_as("timeout")?, max_window: 128.0 };
    let window = |(a, b): (f64, f64), p| aimd_rate_with_timeouts(a, b, p, path) * path.rtt;
    let losses = [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];
    let tcp = (1.0, 0.5);
    for (name, law) in [("TCP", tcp), ("AIMD(1/5, 1/8)", (0.2, 0.125)), ("AIMD(3/31, 1/16)", (3.0 / 31.0, B))] {
        let ratios = losses.map(|p| (p, window(law, p) / window(tcp, p)));
        for p in losses {
            findings.value(format!("{name}, p = {p}"), window(law, p));
        }
        if law == tcp {
            continue;
        }
        let low = ratios.iter().filter(|(p, _)| *p <= 0.01).map(|(_, ratio)| *ratio).fold(f64::INFINITY, f64::min);
        let (at, least) = ratios
            .into_iter()
            .fold((f64::NAN, f64::INFINITY), |least, point| if point.1 < least.1 { point } else { least });
        let last = ratios.last().map_or(f64::NAN, |(_, ratio)| ratio - 1.0);
        findings.value(format!("{name} over TCP at p <= 0.01, smallest"), low);
        findings.value(format!("{name} over TCP at p = 0.3, less 1"), last);
        findings.value(format!("{name} over TCP, smallest"), least);
        findings.value(format!("{name} over TCP: loss rate of the smallest"), at);
    }
    Ok(())
}

pub(super) fn alpha(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let used = |text: &str| {
        let internals = grown(text, PEAK, 1.0).internals;
        internals.iter().find(|(name, _)| *name == "alpha").map_or(f64::NAN, |(_, alpha)| *alpha)
    };
    findings.value(
        "alpha_P of the algorithm over alpha_R, relative to sqrt(2)",
        used(SIMD_PERIODIC) / used(SIMD) / core::f64::consts::SQRT_2,
    );
    let (mut length, mut packets, mut rate) = (MaxError::default(), MaxError::default(), MaxError::default());
    let path = PathParameters { rtt: 0.1, packet: Bytes(1000) };
    for p in [1e-5, 1e-4, 1e-3, 1e-2] {
        let Some(response) = (Law::Simd { b: B, periodic: true }).response(p, path) else { continue };
        let epoch = 2.0 * libm::sqrt(B * response.peak) / simd_alpha_periodic(B, response.peak);
        length.relative(response.rounds, epoch);
        packets.relative(1.0 / p, (1.0 - 2.0 * B / 3.0) * response.peak * response.rounds);
        rate.relative(response.mean, libm::sqrt(1.5 / p));
    }
    findings.value("periodic loss: length of an epoch against 2 sqrt(b W)/alpha_P, largest relative error", length);
    findings.value("periodic loss: packets of an epoch against (1 - 2b/3) W T, largest relative error", packets);
    findings.value("periodic loss: rate against sqrt(1.5/p), largest relative error", rate);
    let rtt = Span::from_millis(100);
    for (name, text) in [("SIMD, alpha", SIMD), ("SIMD, alpha_P", SIMD_PERIODIC), ("TCP", TCP)] {
        let mean = bernoulli::mean_window_periodic(&registered(text), 1000, 3_000_000, rtt);
        findings.value(format!("one loss in 1000 packets: {name}"), mean.unwrap_or(f64::NAN));
    }
    // The sum over j of j^2 (1 - p)^j p, far into its tail.
    let (square, _) = (0..100_000).fold((0.0, P), |(sum, weight), j| {
        let j = f64::from(j);
        (sum + j * j * weight, weight * (1.0 - P))
    });
    findings.value("random loss: E[X^2] p^2, geometric X", square * P * P);
    let (seeds, packets) = bench.by_scale((10, 2_000_000), (10, 10_000_000));
    for (name, text) in [("SIMD, alpha", SIMD), ("SIMD, alpha_P", SIMD_PERIODIC), ("AIMD", "aimd:b=1/16"), ("TCP", TCP)]
    {
        let means =
            (1..=seeds).filter_map(|seed| bernoulli::mean_window(&registered(text), P, packets, rtt, seed, &|| true));
        findings.value(format!("random loss of {P}: {name}"), Computed::Runs(means.collect()));
    }
    Ok(())
}

const SIMD_PERIODIC: &str = "simd:beta=1/16,loss=periodic";
/// A loss low enough that the response functions hold.
const P: f64 = 1e-3;
