//! Increases that fall in stages: Figs. 1 to 4, Table 6, section III.

use cwnd::units::{BitRate, Span};
use cwnd_model::bernoulli::mean_window_periodic;
use cwnd_model::fluid::{self, Fluid};
use cwnd_model::highspeed;
use cwnd_model::response::{Law, PathParameters};
use cwnd_model::udt::{self, Sharing, equilibrium, equilibrium_rate, sharing, stage, stage_at};

use super::{PACKET, errors, mbit};
use crate::model::registered;
use crate::{Bench, Curve, Figure, Findings, MaxError, Result};

fn law(text: &str) -> Law {
    Law::of(&registered(text)).expect("algorithms of this file have a law")
}

/// The increase of a power law in a round trip at window `w`.
fn per_round(law: Law, w: f64) -> f64 {
    match law {
        Law::Power { k, a, .. } => a / libm::pow(w, k),
        _ => f64::NAN,
    }
}

pub(super) fn figure_1(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let windows: Vec<f64> = (0..8).map(|n| 100.0 * f64::from(1 << n)).collect();
    let at = |of: &dyn Fn(f64) -> f64| windows.iter().map(|w| of(*w)).collect::<Vec<f64>>();
    let reno = at(&|w| per_round(law("reno"), w));
    let scalable = at(&|w| per_round(law("scalable"), w));
    let highspeed = at(&|w| highspeed::row(highspeed::ns2(38.0), w).increase);
    let rates: Vec<f64> = (0..=1000).map(|n| 1e6 * f64::from(n)).collect();
    let udt: Vec<f64> = rates.iter().map(|rate| cwnd::rate::udt::increase(BitRate(GIGABIT - rate), PACKET).0).collect();
    let steps = |values: &[f64]| values.windows(2).map(|pair| pair[1] / pair[0]).collect::<Vec<f64>>();
    let (mut one, mut two) = (MaxError::default(), MaxError::default());
    reno.iter().for_each(|increase| one.absolute(increase - 1.0));
    steps(&scalable).iter().for_each(|ratio| two.absolute(ratio - 2.0));
    findings.value("Reno: largest distance from one packet", one);
    findings.value("Scalable: increase over that at half the window, largest distance from 2", two);
    let ratios = steps(&highspeed);
    findings.value("HighSpeed: smallest a(2w)/a(w)", least(ratios.iter().copied()));
    findings.value("HighSpeed: largest a(2w)/a(w)", most(ratios.iter().copied()));
    let rises = udt.windows(2).map(|pair| pair[1] - pair[0]);
    findings.value("UDT at 1 Gbit/s: largest alpha(i+1) - alpha(i)", most(rises));
    findings.value("UDT at 1 Gbit/s: increase at the capacity", udt.last().copied().unwrap_or(f64::NAN));
    let line = |name: &str, values: &[f64]| Curve::new(name, windows.iter().copied().zip(values.iter().copied()));
    findings.figure(Figure {
        title: "Increase against window",
        caption: "What a window gains in a round trip without loss.".to_string(),
        x: "Window, packets",
        y: "Increase, packets per round trip",
        log: (true, true),
        curves: vec![line("Reno", &reno), line("Scalable", &scalable), line("HighSpeed", &highspeed)],
    });
    findings.figure(Figure {
        title: "Increase of UDT against rate",
        caption: "Eq. 8 for a capacity of 1 Gbit/s; nothing at the capacity.".to_string(),
        x: "Rate, Mbit/s",
        y: "Increase, packets per SYN",
        log: (false, true),
        curves: vec![Curve::new(
            "UDT",
            rates.iter().map(|rate| rate * 1e-6).zip(udt).filter(|(_, alpha)| *alpha > 0.0),
        )],
    });
    Ok(())
}

pub(super) fn figure_2(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let (first, second) = (1.0, 0.1);
    let staged = |length: f64| Fluid { increase: move |x| if x < length { first } else { second }, b: 1.0 / 9.0 };
    let reached = LENGTHS.map(|length| staged(length).integrate(0.0, 0.0, AT, AT as u32));
    let mut slopes = MaxError::default();
    for length in LENGTHS {
        let gain = |x: f64| staged(length).integrate(x, 0.0, 1.0, 1) - x;
        slopes.relative(gain(2.0 * length) / gain(length / 4.0), second / first);
    }
    let gains = reached.windows(2).map(|pair| pair[1] - pair[0]);
    findings.value("smallest gain in rate at a fixed time over the next shorter first stage", least(gains));
    findings.value(
        "increase per interval in the second stage over the first against alpha_1/alpha_0, largest relative error",
        slopes,
    );
    let reached = |length: f64, t: u32| staged(length).integrate(0.0, 0.0, f64::from(t), t.max(1));
    let path =
        |length: f64| (0..=AT as u32).step_by(10).map(move |t| (f64::from(t), reached(length, t))).collect::<Vec<_>>();
    findings.figure(Figure {
        title: "A longer first stage is more aggressive",
        caption: "Fluid model from rest without loss: 1 packet per interval in the first stage, 0.1 in the second."
            .to_string(),
        x: "Control intervals",
        y: "Rate, packets per interval",
        log: (false, false),
        curves: LENGTHS.map(|length| Curve::new(format!("first stage up to {length} packets"), path(length))).into(),
    });
    Ok(())
}

/// How long the first stage is, packets per interval, and after how many intervals to look.
const LENGTHS: [f64; 5] = [100.0, 200.0, 300.0, 400.0, 500.0];
const AT: f64 = 600.0;

pub(super) fn figure_3(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let udt = fluid::udt(BitRate(GIGABIT), PACKET);
    // Observed stages: the slope of the first step and the number of steps like it.
    let mut stages: Vec<(f64, f64)> = Vec::new();
    let mut spread = MaxError::default();
    let mut rate = 0.0;
    let mut path = Vec::new();
    for interval in 0..4 * 750 + 10 {
        let next = rate + (udt.increase)(rate);
        let slope = next - rate;
        match stages.last_mut() {
            Some((first, length)) if slope > *first / 2.0 => {
                spread.relative(slope, *first);
                *length += 1.0;
            }
            _ => stages.push((slope, 1.0)),
        }
        path.push((f64::from(interval), mbit(rate)));
        rate = next;
    }
    for (k, pair) in stages.windows(2).take(3).enumerate() {
        findings.value(format!("slope of stage {} over that of stage {k}", k + 1), pair[1].0 / pair[0].0);
    }
    findings.value("largest relative spread of the slope within a stage", spread);
    for (k, (_, length)) in stages.iter().enumerate().take(4).skip(1) {
        findings.value(format!("length of stage {k}"), *length);
    }
    findings.figure(Figure {
        title: "Rate without loss",
        caption: "Eqs. 8 and 15 from rest on 1 Gbit/s: each stage takes 750 SYN and leaves a tenth of the spare capacity. Diamond: the \
                  printed 750 SYN to 90 % of the capacity."
            .to_string(),
        x: "SYN",
        y: "Mbit/s",
        log: (false, false),
        curves: vec![
            Curve::new("UDT", path.into_iter().step_by(10)),
            Curve::printed("UDT", [(750.0, 0.9 * GIGABIT * 1e-6)]),
        ],
    });
    Ok(())
}

/// Rates, bit/s, at which flows with capacities `l1` > `l2` rest that lose the same share of their packets and fill `l1` together.
fn at_rest(l1: f64, l2: f64) -> [f64; 2] {
    let rates = |log_p: f64| [l1, l2].map(|l| mbit(fluid::udt(BitRate(l), PACKET).equilibrium(libm::exp(log_p))) * 1e6);
    let (mut low, mut high) = (libm::log(LEAST_LOSS), 0.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        let [x1, x2] = rates(middle);
        if x1 + x2 > l1 { low = middle } else { high = middle }
    }
    rates(high)
}

/// At this loss probability every flow of the grid has all of its capacity.
const LEAST_LOSS: f64 = 1e-18;
const BISECTIONS: usize = 100;

pub(super) fn figure_4(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let (mut share, mut spare, mut high, mut broken) = (f64::INFINITY, f64::INFINITY, f64::INFINITY, 0);
    for (at, l1) in CAPACITIES.into_iter().enumerate() {
        for l2 in CAPACITIES.into_iter().take(at) {
            let [x1, x2] = at_rest(l1, l2);
            share = share.min(x2 / l2);
            spare = spare.min((l1 - x1) / (l2 - x2));
            if sharing(x1, l1, x2, l2) == Sharing::AlmostAll {
                high = high.min(x2 / l2);
            }
            let apart = (x1 - x2).abs() > 0.1 * l2 && x1 > 1.05 * (l1 - l2);
            if stage_at(l2, x2, PACKET).index == 1 && apart {
                broken += 1;
            }
        }
    }
    findings.value("smallest x2/L2", share);
    findings.value("smallest (L1 - x1)/(L2 - x2)", spare);
    findings.value("smallest x2/L2 where flow 2 is in stage 2 or above", high);
    findings.value("pairs with flow 2 in stage 1 and neither equal shares nor x1 below L1 - L2", f64::from(broken));
    errors::draw_two(bench, findings)
}

/// 28 pairs.
const CAPACITIES: [f64; 8] = [1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 9e8, 1e9];

/// How many losses BIC's mean is taken over; the first tenth is forgotten.
const EPOCHS: u64 = 60;

pub(super) fn table_6(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let path = PathParameters { rtt: 0.1, packet: PACKET };
    for (text, p) in [("1e-4", 1e-4), ("1e-5", 1e-5), ("1e-6", 1e-6)] {
        let response = |algorithm: &str| law(algorithm).response(p, path);
        let mean = |algorithm| response(algorithm).map_or(f64::NAN, |response| response.mean);
        let peak = response("scalable").map_or(f64::NAN, |response| response.peak);
        findings.value(format!("Reno: sawtooth mean at p = {text}"), mean("reno"));
        findings.value(format!("Scalable: window at loss, p = {text}"), peak);
        findings.value(format!("HighSpeed: sawtooth mean at p = {text}"), mean("highspeed"));
        for k in 0..3 {
            let alpha = stage(GIGABIT, k, PACKET).increase;
            let over = equilibrium_rate(alpha, p) / (3.0 * libm::sqrt(alpha / p));
            findings.value(format!("UDT, stage {k}: rate at rest over 3 sqrt(alpha_k/p), p = {text}"), over);
        }
    }
    // The parameters that the text gives: 32, 1/8 and 0.01 packets.
    let bic = registered("bic:s_max=32,b=1/8,s_min=0.01");
    for (text, period) in [("1e4", 10_000_u64), ("1e5", 100_000), ("1e6", 1_000_000)] {
        let mean = mean_window_periodic(&bic, period, EPOCHS * period, Span::from_millis(100));
        findings.value(format!("BIC: mean window at one loss in {text} packets"), mean.unwrap_or(f64::NAN));
    }
    Ok(())
}

pub(super) fn equilibria(_: &Bench<'_>, findings: &mut Findings) -> Result {
    for (name, capacity, p) in EQUILIBRIA {
        let found = equilibrium(capacity, p, PACKET);
        let mut value = |what: &str, value: f64| findings.value(format!("{name}: {what}"), value);
        value("stage k", f64::from(found.stage.index));
        value("x*, exact root", found.packets_per_syn);
        value("x* by eq. 10", found.approximation);
        value("X", found.rate * 1e-6);
        if found.clipped > found.rate {
            // From rest, long enough for the last of these stages.
            let udt = fluid::udt(BitRate(capacity), PACKET);
            value("fluid model at rest", mbit(udt.integrate(1.0, p, 40_000.0, 400_000)));
        }
    }
    let x = |p: f64| udt::equilibrium_rate(stage(GIGABIT, 0, PACKET).increase, p);
    let slope = libm::log(x(1e-4) / x(1e-6)) / libm::log(1e-4 / 1e-6);
    findings.value("slope of log x_0* over log p from 1e-6 to 1e-4", slope);
    let mut constant = MaxError::default();
    for p in [1e-3, 1e-4, 1e-5] {
        let fluid = Fluid { increase: |_| 1.0, b: 1.0 / 9.0 };
        constant.relative(fluid.integrate(10.0, p, 20_000.0, 20_000), x(p));
    }
    findings.value("fluid model with constant alpha: largest relative distance from x_0*, p = 1e-3 to 1e-5", constant);
    Ok(())
}

const EQUILIBRIA: [(&str, f64, f64); 5] = [
    ("L = 1e9, p = 1e-3", 1e9, 1e-3),
    ("L = 1e9, p = 1e-4", 1e9, 1e-4),
    ("L = 1e9, p = 1e-5", 1e9, 1e-5),
    ("L = 1e9, p = 1e-6", 1e9, 1e-6),
    ("L = 1e8, p = 1e-3", 1e8, 1e-3),
];

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

const GIGABIT: f64 = 1e9;
