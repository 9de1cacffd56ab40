//! EXP-TCP on paper: growth, epochs, two flows under synchronous feedback; and HSTCP's response.

use crate::model::{flows, registered};
use crate::{Bench, Curve, Figure, Findings, MaxError, Result};
use cwnd::Packets;
use cwnd_model::exp_tcp;
use cwnd_model::growth::after_congestion;
use cwnd_model::rounds::{Clock, Event, Setup, run};
use cwnd_model::{friendly, highspeed};

const GAMMA: f64 = 0.05;
const B: f64 = 0.125;
const EXP_TCP: &str = "exp-tcp";

/// Two flows, or one, under synchronous feedback that applies each rule once per round trip.
fn rounds(algorithm: &str, capacity: f64, windows: &[f64], (rounds, events): (f64, usize)) -> (Vec<Event>, Vec<f64>) {
    let flows = flows(algorithm, windows);
    let setup = Setup { flows, capacity: Packets(capacity), clock: Clock::Rounds, rounds, events, ..Setup::default() };
    let mut run = run(&setup);
    (run.events, run.trace.flows.swap_remove(0).window.to_vec())
}

/// The growth of the Appendix's variant in the `nth` round trip from four packets.
pub(super) fn small_window_growth(nth: usize) -> f64 {
    let (_, windows) = rounds("exp-tcp:small_window=on", 1e9, &[4.0], (nth as f64, 1));
    windows.get(nth).map_or(f64::NAN, |window| window - windows[nth - 1])
}

pub(super) fn closed_forms(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let (mut fluid, mut per_ack) = (MaxError::default(), MaxError::default());
    for cwnd0 in [16.0, 100.0, 1000.0, 1e4] {
        let (_, windows) = rounds(EXP_TCP, 1e9, &[cwnd0], (40.0, 1));
        for (i, window) in (0..=40).map(f64::from).zip(windows) {
            fluid.relative(window, exp_tcp::window(cwnd0, GAMMA, i));
        }
        for (i, window) in (0..=40).map(f64::from).zip(by_acknowledgement(EXP_TCP, cwnd0, 40)) {
            per_ack.relative(window, exp_tcp::window(cwnd0, GAMMA, i));
        }
    }
    findings.value("once per round trip against the closed form, 40 RTT, largest relative error", fluid);
    findings.value("per acknowledgement against the closed form, 40 RTT, largest relative error", per_ack);
    let grown = by_acknowledgement(EXP_TCP, 4.0, 5).last().map_or(f64::NAN, |window| window - 4.0);
    let closed = exp_tcp::window(4.0, GAMMA, 5.0) - 4.0;
    findings.value("growth from 4 packets in 5 RTT, closed form", closed);
    findings.value("growth from 4 packets in 5 RTT, per acknowledgement", grown);
    findings.value("growth from 4 packets in 5 RTT, as printed", grown);
    findings.value("small-window variant: growth in the first RTT", small_window_growth(1));
    for w in [1e2, 1e3, 1e4, 1e5] {
        let (exact, printed) = (exp_tcp::epoch(w, GAMMA, B), exp_tcp::epoch_as_printed(w, GAMMA));
        findings.value(format!("epoch at W = {w}, exact"), exact);
        findings.value(format!("epoch at W = {w}, as printed"), printed);
        let (exact, printed) = (exp_tcp::growth_at(w, GAMMA, B), GAMMA * B * w);
        findings.value(format!("growth at W = {w}, exact"), exact);
        findings.value(format!("growth at W = {w}, as printed"), printed);
        findings.value(format!("growth at W = {w}, exact over printed"), exact / printed);
    }
    findings.value("increase of an AIMD(1/8) that matches TCP", friendly::aimd_increase(B));
    Ok(())
}

/// The window at the start of each round trip, in which as many whole packets as it holds are acknowledged.
fn by_acknowledgement(algorithm: &str, cwnd0: f64, rounds: usize) -> Vec<f64> {
    // Twice as long by the clock of the growth, which counts fractions of packets.
    let growth = after_congestion(&registered(algorithm), Packets(cwnd0 / (1.0 - B)), 2.0 * rounds as f64);
    let windows = growth.map(|growth| growth.windows).unwrap_or_default();
    let mut acks = 0;
    let mut starts = Vec::new();
    while let Some((_, window)) = windows.get(acks).filter(|_| starts.len() <= rounds) {
        starts.push(*window);
        acks += *window as usize;
    }
    starts
}

pub(super) fn synchronous(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let (epochs, _) = rounds(EXP_TCP, 1000.0, &[200.0, 700.0], (1e6, EPOCHS));
    let starts = [0.0].into_iter().chain(epochs.iter().map(|epoch| epoch.at));
    for ((i, epoch), start) in (1..=5).zip(&epochs).zip(starts) {
        findings.value(format!("peak {i}: w1"), epoch.before[0]);
        findings.value(format!("peak {i}: w2"), epoch.before[1]);
        findings.value(format!("epoch {i}"), epoch.at - start);
    }
    let ratio = |epoch: &Event| epoch.before[1] / epoch.before[0];
    let steps = epochs.windows(2).map(|pair| ratio(&pair[1]) / ratio(&pair[0]));
    findings.value(
        "EXP-TCP: largest ratio w2/w1 of a peak over that before, 50 epochs",
        steps.fold(f64::NEG_INFINITY, f64::max),
    );
    let (constant, _) = rounds("scalable", 1000.0, &[200.0, 700.0], (1e6, EPOCHS));
    let mut change = MaxError::default();
    constant.iter().for_each(|epoch| change.relative(ratio(epoch), 3.5));
    findings.value("STCP: ratio w2/w1 over 50 epochs, largest relative change", change);
    let line = |name: &str, epochs: &[Event]| Curve::new(name, (1..).map(f64::from).zip(epochs.iter().map(ratio)));
    findings.figure(Figure {
        title: "Two windows under synchronous feedback",
        caption: "w2/w1 at each peak, W = 1000, from (200, 700).".to_string(),
        x: "Epoch",
        y: "w2/w1",
        log: (false, false),
        curves: vec![line("EXP-TCP", &epochs), line("STCP", &constant)],
    });
    Ok(())
}

const EPOCHS: usize = 50;

pub(super) fn highspeed(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let ends = highspeed::ns2(31.0);
    let loss = |w| highspeed::row(ends, w).loss;
    let slope = |of: &dyn Fn(f64) -> f64, from: f64, to: f64| libm::log(of(to) / of(from)) / libm::log(to / from);
    let p = slope(&loss, 1e3, 83e3);
    findings.value("exponent of w in p, 1e3 to 83000 packets", 1.0 / p);
    let product = slope(&|w| w * w * loss(w), 1e3, 83e3);
    findings.value("exponent of w^2 p in w", product);
    let increase = |w| highspeed::row(ends, w).increase;
    findings.value("exponent of a(w) in w, 1e3 to 1e4 packets", slope(&increase, 1e3, 1e4));
    findings.value("exponent of a(w) in w, 1e4 to 83000 packets", slope(&increase, 1e4, 83e3));
    Ok(())
}

pub(super) fn figure_1(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let epoch = exp_tcp::epoch(1000.0, GAMMA, B);
    let (_, windows) = rounds(EXP_TCP, 1e9, &[875.0], (libm::floor(epoch), 1));
    let bend = windows.windows(3).map(|three| three[2] - 2.0 * three[1] + three[0]).fold(f64::INFINITY, f64::min);
    findings.value("smallest second difference of the window in an epoch at W = 1000", bend);
    findings.value("epoch at W = 1000", epoch);
    findings.figure(Figure {
        title: "A window between two losses",
        caption: "EXP-TCP after a cut at 1000 packets, once per round trip.".to_string(),
        x: "Round trips",
        y: "Window, packets",
        log: (false, false),
        curves: vec![Curve::new("EXP-TCP", (0..).map(f64::from).zip(windows))],
    });
    Ok(())
}
