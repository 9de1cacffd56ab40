//! The cycles of two flows under synchronous feedback: what the host does against what the paper derives.

use cwnd::Packets;
use cwnd_model::new_aimd::{Start, Totals};
use cwnd_model::rounds::{Clock, Setup, run};

use crate::model::flows;
use crate::{Bench, Computed, Curve, Figure, Findings, MaxError, Result};
use cwnd_run::probe::Probe;

/// A cycle as the host went through it.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// Round trips of increase.
    increments: f64,
    /// The windows when congestion ends it, the smaller flow's first.
    windows: [f64; 2],
    /// The sum of windows at its start.
    from: f64,
    /// By how much congestion at its end lowers the sum.
    decrease: f64,
}

impl Cycle {
    fn sum(&self) -> f64 {
        self.windows[0] + self.windows[1]
    }

    fn gap(&self) -> f64 {
        self.windows[1] - self.windows[0]
    }

    /// One round trip at each of the loads from the first to the last, of which the paper counts k + 1.
    fn packets(&self) -> f64 {
        (1.0 + self.increments) * (self.from + self.sum()) / 2.0
    }
}

/// The first `cycles` of two flows under `algorithm`, with a round trip for each decrease as the paper counts it.
fn cycles(algorithm: &str, start: Start, cycles: usize) -> Vec<Cycle> {
    let setup = Setup {
        flows: flows(algorithm, &[start.x1, start.x2]),
        capacity: Packets(start.capacity),
        clock: Clock::Continuous { steps: 1 },
        decrease_rounds: 1,
        rounds: 1e6,
        events: cycles,
        ..Setup::default()
    };
    // The first cycle has no decrease before it.
    let (mut last, mut from) = (-1.0, start.x1 + start.x2);
    let mut found = Vec::new();
    for event in run(&setup).events {
        let (before, after): (f64, f64) = (event.before.iter().sum(), event.after.iter().sum());
        found.push(Cycle {
            increments: event.at - last - 1.0,
            windows: [event.before[0], event.before[1]],
            from,
            decrease: before - after,
        });
        (last, from) = (event.at, after);
    }
    found
}

/// New AIMD as its equations say, without a floor, and AIMD.
const NEW: &str = "new-aimd:variant=E,floor=0";
const AIMD: &str = "aimd:a=1,b=1/2";

/// The worked example.
const EXAMPLE: Start = Start { capacity: 600.0, x1: 10.0, x2: 140.0 };

/// Cycles that stand for the limit of fairness: 2^-40 is far below the tolerance.
const MANY: usize = 40;

/// Starts spread evenly over capacities of 200 to 2000 packets and over the triangle x1 < x2, x1 + x2 < W (a Kronecker sequence).
/// Windows of two packets and more: below them every window algorithm is in slow start.
fn starts() -> impl Iterator<Item = Start> {
    let part = |k: usize, step: f64| (k as f64 * step).fract();
    (1..=STARTS).map(move |k| {
        // Powers of the plastic number's generalisation to three dimensions.
        let [a, b, c] =
            [0.819_172_513_396_164_4, 0.671_043_606_703_789_3, 0.549_700_477_901_971].map(|step| part(k, step));
        let capacity = 200.0 + 1800.0 * a;
        let sum = capacity * (0.05 + 0.9 * b);
        let x1 = (sum / 2.0 * (0.02 + 0.96 * c)).max(2.0);
        Start { capacity, x1, x2: sum - x1 }
    })
}

const STARTS: usize = 200;

pub(super) fn equations(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut errors: [MaxError; 10] = Default::default();
    let [k1, k2, km, aimd_k, packets, rounds, smoothness, efficiency, gap, aimd_gap] = &mut errors;
    let mut more_cycles = 0.0;
    for start in starts() {
        let n = start.x2 - start.x1;
        let m = start.cycles_to_equilibrium().max(3) as usize;
        let new = cycles(NEW, start, m);
        let aimd = cycles(AIMD, start, m);
        k1.relative(new[0].increments, (start.capacity - start.x1 - start.x2) / 2.0);
        k2.relative(new[1].increments, (start.x1 + start.x2) / 4.0);
        for (i, cycle) in (1_i32..).zip(&new) {
            let k = start.increments(i as u32);
            if i > 2 {
                km.relative(cycle.increments, new[1].increments / libm::exp2(f64::from(i - 2)));
            }
            packets.relative(cycle.packets(), (1.0 + k) * (start.capacity - k));
            smoothness.relative(cycle.decrease, (start.x1 + start.x2) / libm::exp2(f64::from(i)));
            gap.relative(cycle.gap(), n / libm::exp2(f64::from(i - 1)));
        }
        for (i, cycle) in (1_i32..).zip(&aimd) {
            if i > 1 {
                aimd_k.relative(cycle.increments, start.capacity / 4.0);
            }
            aimd_gap.relative(cycle.gap(), n / libm::exp2(f64::from(i - 1)));
        }
        let left = 1.0 - libm::exp2(1.0 - m as f64);
        let increments = new[0].increments + (start.capacity - 2.0 * new[0].increments) / 2.0 * left;
        rounds.relative(new.iter().map(|cycle| 1.0 + cycle.increments).sum(), m as f64 + increments);
        let last = &new[m - 1];
        let mean_load = (last.from + last.sum()) / 2.0 / start.capacity;
        efficiency.relative(mean_load, 1.0 - last.increments / start.capacity);
        more_cycles +=
            (to_fairness(&cycles(NEW, start, MANY)) - to_fairness(&cycles(AIMD, start, MANY))) / STARTS as f64;
    }
    for (row, error) in [
        ("k1 = (W - x1 - x2)/2, largest relative error", k1),
        ("k2 = (x1 + x2)/4, largest relative error", k2),
        ("k_m = k2/2^(m-2), largest relative error", km),
        ("AIMD: k_i = W/4, largest relative error", aimd_k),
        ("packets in a cycle, (1 + k_i)(W - k_i), largest relative error", packets),
        ("round trips to equilibrium, largest relative error", rounds),
        ("smoothness (x1 + x2)/2^i, largest relative error", smoothness),
        ("efficiency 1 - k_m/W, largest relative error", efficiency),
        ("gap after event i = n/2^i, largest relative error", gap),
        ("AIMD: gap after event i = n/2^i, largest relative error", aimd_gap),
    ] {
        findings.value(row, *error);
    }
    findings.value("cycles to fairness beyond those of AIMD, mean", more_cycles);
    Ok(())
}

/// Cycles until the windows differ by less than a packet.
fn to_fairness(cycles: &[Cycle]) -> f64 {
    cycles.iter().take_while(|cycle| cycle.gap().abs() >= 1.0).count() as f64
}

fn ratio(cycle: &Cycle) -> f64 {
    cycle.windows[0] / cycle.windows[1]
}

pub(super) fn fairness(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let example = cycles(NEW, EXAMPLE, 8);
    let Start { x1, x2, .. } = EXAMPLE;
    let (n, k1, k2) = (x2 - x1, example[0].increments, example[1].increments);
    let printed = [1.0 - n / (x1 + n + k1), 1.0 - n / (2.0 * (x1 / 2.0 + n / 2.0 + k1 + k2))];
    for (row, (cycle, printed)) in ["f_1 = 1 - n/(x1 + n + k1), error", "f_2 = 1 - n/(2 (x1/2 + n/2 + k1 + k2)), error"]
        .into_iter()
        .zip(example.iter().zip(printed))
    {
        findings.value(row, (ratio(cycle) - printed).abs());
    }
    for (i, cycle) in (1..).zip(&example) {
        findings.value(format!("f_{i}"), ratio(cycle));
    }
    let (mut rise, mut short) = (f64::INFINITY, 0.0_f64);
    for start in starts() {
        let ratios: Vec<f64> = cycles(NEW, start, MANY).iter().map(ratio).collect();
        rise = ratios.windows(2).map(|pair| pair[1] - pair[0]).fold(rise, f64::min);
        short = short.max(1.0 - ratios.last().copied().unwrap_or(f64::NAN));
    }
    findings.value("smallest f_(i+1) - f_i over 40 events and 200 starts", rise);
    findings.value("largest 1 - f_40 over 200 starts", short);
    let line = |name: &str, algorithm| {
        Curve::new(name, (1..).map(f64::from).zip(cycles(algorithm, EXAMPLE, 8).iter().map(ratio)))
    };
    let derived = (1..=8).map(|i| (f64::from(i), EXAMPLE.fairness(i)));
    findings.figure(Figure {
        title: "Fairness at the end of each cycle",
        caption: "Synchronous model, W = 600, (10, 140). One event halves the gap of both algorithms.".to_string(),
        x: "Cycle",
        y: "x1/x2",
        log: (false, false),
        curves: vec![Curve::printed("by the printed formula", derived), line("New AIMD", NEW), line("AIMD", AIMD)],
    });
    Ok(())
}

/// Totals over cycles of the host.
fn totals(cycles: &[Cycle], capacity: f64) -> Totals {
    let packets = cycles.iter().map(Cycle::packets).sum();
    let rounds = cycles.iter().map(|cycle| 1.0 + cycle.increments).sum();
    Totals { packets, rounds, average_efficiency: packets / (capacity * rounds) }
}

pub(super) fn average(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let w = EXAMPLE.capacity;
    let m = EXAMPLE.cycles_to_equilibrium();
    let example = cycles(NEW, EXAMPLE, m as usize);
    let new = totals(&example, w);
    let aimd = totals(&cycles(AIMD, EXAMPLE, m as usize), w);
    let k: Vec<f64> = example.iter().map(|cycle| cycle.increments).collect();
    let (sum, squares): (f64, f64) = (k.iter().sum(), k.iter().map(|k| k * k).sum());
    // The bracket closes one term too late in print.
    let left = 1.0 - libm::exp2(1.0 - f64::from(m));
    let bracket = (k[0] + (w - 2.0 * k[0]) / 2.0) * left;
    let printed = f64::from(m) * w + (w - 1.0) * bracket - squares;
    for (row, value) in [
        ("packets", new.packets),
        ("round trips", new.rounds),
        ("average, divided by all round trips", new.average_efficiency),
        ("average with the printed divisor", new.packets / (w * sum)),
        ("average with the printed bracket", printed / (w * new.rounds)),
        ("average with the printed bracket and divisor", printed / (w * sum)),
        ("AIMD: packets", aimd.packets),
        ("AIMD: round trips", aimd.rounds),
        ("AIMD: average", aimd.average_efficiency),
        ("round trips to equilibrium over those of AIMD", new.rounds / aimd.rounds),
    ] {
        findings.value(row, value);
    }
    Ok(())
}

pub(super) fn efficiency(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let (mean_load, formula) = example_efficiency();
    findings.value("mean load of cycle 8 over W", mean_load);
    findings.value("the same, by the printed formula", formula);
    for flows in super::dumbbell::FLOWS {
        let runs = super::dumbbell::runs(bench, flows)?;
        let row = format!("utilisation of the dumbbell, {flows} flows (not claimed)");
        findings.extra(row, "", Computed::mean(&runs, "utilisation"));
    }
    Ok(())
}

/// Efficiency of the example's last cycle: its mean load over W, and the printed formula with the k1 and m of the run.
fn example_efficiency() -> (f64, f64) {
    let w = EXAMPLE.capacity;
    let m = EXAMPLE.cycles_to_equilibrium();
    let example = cycles(NEW, EXAMPLE, m as usize);
    let last = &example[example.len() - 1];
    let formula = 1.0 - (w - 2.0 * example[0].increments) / 4.0 / (libm::exp2(f64::from(m) - 2.0) * w);
    ((last.from + last.sum()) / 2.0 / w, formula)
}

pub(super) fn metrics(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let (new, aimd) = (cycles(NEW, EXAMPLE, 8), cycles(AIMD, EXAMPLE, 8));
    findings.value("responsiveness m + sum k_i", totals(&new, EXAMPLE.capacity).rounds);
    findings.value("AIMD: responsiveness", totals(&aimd, EXAMPLE.capacity).rounds);
    for (i, cycle) in (1..).zip(&new) {
        findings.value(format!("smoothness after cycle {i}"), cycle.decrease);
    }
    let runs = bench.run(bench.scenario("transfer", |_| Ok(()))?, Probe::TRANSFER)?;
    let first = runs.first();
    let ratio =
        |of: fn(&cwnd_run::probe::Reduction) -> Option<f64>| Computed::Exact(first.and_then(of).unwrap_or(f64::NAN));
    let row = "throughput r = f/D of a transfer, over what the trace delivered in D";
    findings.value(
        row,
        ratio(|kept| Some(throughput(kept, "flow_size_packets")? / throughput(kept, "flow_delivered_packets")?)),
    );
    let row = "utilisation p_u = r/B of a transfer, over what the trace delivered in D";
    findings.value(
        row,
        ratio(|kept| {
            let rate = kept.one("rate_bps")?;
            Some(throughput(kept, "flow_size_packets")? / rate / (throughput(kept, "flow_delivered_packets")? / rate))
        }),
    );
    if let Some(kept) = first {
        let rate = throughput(kept, "flow_size_packets").unwrap_or(f64::NAN);
        findings.extra("throughput r of a transfer of 10000 packets", "Mbit/s", rate * 1e-6);
    }
    Ok(())
}

/// Bits of `packets` packets over the time of the transfer.
fn throughput(kept: &cwnd_run::probe::Reduction, packets: &str) -> Option<f64> {
    Some(kept.one(packets)? * kept.one("payload_bits")? / kept.one("flow_completed_s")?)
}

pub(super) fn example(_: &Bench<'_>, findings: &mut Findings) -> Result {
    for (i, cycle) in (1..).zip(cycles(NEW, EXAMPLE, 8)) {
        findings.value(format!("k{i}"), cycle.increments);
    }
    findings.value("cycles m", f64::from(EXAMPLE.cycles_to_equilibrium()));
    let (_, formula) = example_efficiency();
    findings.value("efficiency by the printed formula", formula);
    findings.value("efficiency", formula);
    for (name, algorithm) in [("C", "new-aimd:variant=C,floor=0"), ("P", "new-aimd:variant=P,floor=0"), ("AIMD", AIMD)]
    {
        let other = cycles(algorithm, EXAMPLE, 8);
        if let Some(last) = other.last() {
            findings.extra(format!("{name}: k8"), "RTT", last.increments);
            findings.extra(format!("{name}: x1/x2 after 8 cycles"), "", ratio(last));
        }
    }
    Ok(())
}
