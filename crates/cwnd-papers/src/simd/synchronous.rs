//! Two flows under synchronous feedback: Table 1, Figs. 3 and 4, section 4, appendix A.

use cwnd::{Packets, Spec};
use cwnd_model::convergence::{self, Regions, Scheme, Start};
use cwnd_model::rounds::{Clock, Event, Setup, run};

use super::{IIAD, SIMD, TCP};
use crate::model::flows;
use crate::{Bench, Computed, Curve, Figure, Findings, MaxError, Result};

const AIMD: &str = "aimd:b=1/16";

/// Name, closed form, and the algorithm itself.
fn schemes() -> [(&'static str, Scheme, &'static str); 4] {
    [
        ("TCP", Scheme::TCP, TCP),
        ("AIMD", Scheme::aimd(1.0 / 16.0), AIMD),
        ("IIAD", Scheme::iiad(2.0 / 3.0), IIAD),
        ("SIMD", Scheme::simd(1.0 / 16.0), SIMD),
    ]
}

/// The first `events` of two flows under `algorithm` that are signalled congestion when their windows add up to `capacity`.
fn events(algorithm: &str, capacity: f64, windows: [f64; 2], clock: Clock, events: usize) -> Vec<Event> {
    let flows = flows(algorithm, &windows);
    run(&Setup { flows, capacity: Packets(capacity), clock, rounds: 1e6, events, ..Setup::default() }).events
}

/// Steps per round trip for what the paper derives in continuous time.
const CONTINUOUS: Clock = Clock::Continuous { steps: 256 };

pub(super) fn table_1(_: &Bench<'_>, findings: &mut Findings) -> Result {
    for (name, scheme, algorithm) in schemes() {
        let (mut t1, mut delta) = (MaxError::default(), MaxError::default());
        for (w1, w2) in STARTS {
            let closed = scheme.convergence(Start { capacity: 100.0, w1, w2, epsilon: 1.0 });
            for (what, value) in [("T1", closed.t1), ("Delta", closed.delta), ("T2", closed.t2)] {
                findings.value(format!("({w1}, {w2}) {name}: {what}"), value);
            }
            let reached = &events(algorithm, 100.0, [w1, w2], CONTINUOUS, 1)[0];
            t1.relative(reached.at, closed.t1);
            delta.absolute(((reached.before[1] - reached.before[0]).abs() - closed.delta) / (w2 - w1));
        }
        findings.value(format!("{name} on the synchronous host: T1, largest relative error"), t1);
        findings.value(format!("{name} on the synchronous host: Delta, largest error over W2 - W1"), delta);
    }
    Ok(())
}

pub(super) fn regions(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let [_, (_, aimd, _), (_, iiad, _), (_, simd, _)] = schemes();
    let Regions { points, first_beats_second, third_slowest } = convergence::regions(100, 1.0, [simd, aimd, iiad]);
    let (all, sooner, slowest) = (f64::from(points), f64::from(first_beats_second), f64::from(third_slowest));
    let mut disagree = 0_u32;
    let mut boundary = Vec::new();
    for w1 in 1_u32..50 {
        let mut slow = None;
        for w2 in w1 + 1..100 - w1 {
            let start = Start { capacity: 100.0, w1: f64::from(w1), w2: f64::from(w2), epsilon: 1.0 };
            let (fast, other) = (simd.convergence(start), aimd.convergence(start));
            disagree += u32::from((fast.delta < other.delta) != (f64::from(w1 + w2) > 100.0 / 3.0));
            if fast.t1 + fast.t2 >= other.t1 + other.t2 {
                slow = Some(f64::from(w2));
            }
        }
        boundary.extend(slow.map(|w2| (f64::from(w1), w2)));
    }
    findings.value("points 0 < W1 < W2, W1 + W2 < 100", all);
    findings.value("points where SIMD is sooner than AIMD", sooner);
    findings.value("share of points where SIMD is sooner than AIMD", sooner / all);
    findings.value("share of points where IIAD is slower than both", slowest / all);
    findings.value("points where `SIMD is fairer on the line` and `W1 + W2 > W/3` disagree", f64::from(disagree));
    findings.figure(Figure {
        title: "Where AIMD converges sooner than SIMD",
        caption: "Closed forms, W = 100, epsilon = 1: the largest W2 for each W1 from which AIMD(1/16) is not slower."
            .to_string(),
        x: "W1, packets",
        y: "W2, packets",
        log: (false, false),
        curves: vec![
            Curve::new("AIMD is sooner up to here", boundary),
            Curve::new("W1 + W2 = W", vec![(0.0, 100.0), (50.0, 50.0)]),
        ],
    });
    findings.figure(paths_to_the_line([("AIMD", aimd), ("SIMD", simd)]));
    findings.figure(path_to_fairness(simd));
    Ok(())
}

/// Fig. 4(a): where the windows meet the efficiency line, with the printed intersections.
fn paths_to_the_line(schemes: [(&'static str, Scheme); 2]) -> Figure {
    let [w1, w2] = [10.0, 40.0];
    let mut curves = Vec::new();
    for (name, scheme) in schemes {
        let (_, [x1, x2]) = scheme.rise(100.0, w1, w2);
        curves.push(Curve::new(name, [(w1, w2), (x1, x2)]));
        let [x1, x2] =
            if name == "AIMD" { met_by_aimd(w1 / 100.0, w2 / 100.0) } else { met_by_simd(w1 / 100.0, w2 / 100.0) };
        curves.push(Curve::printed(name, [(100.0 * x1, 100.0 * x2)]));
    }
    curves.push(Curve::new("w1 + w2 = W", [(20.0, 80.0), (60.0, 40.0)]));
    curves.push(Curve::new("w1 = w2", [(10.0, 10.0), (60.0, 60.0)]));
    Figure {
        title: "Paths to the efficiency line",
        caption:
            "Closed forms from (10, 40), W = 100. Diamonds: the intersections that section 4.2 prints as formulas."
                .to_string(),
        x: "w1, packets",
        y: "w2, packets",
        log: (false, false),
        curves,
    }
}

/// Fig. 4(b): a rise to the efficiency line, and epochs along it until the windows are equal.
fn path_to_fairness(simd: Scheme) -> Figure {
    let [w1, w2] = PATH_START;
    let gap = simd.convergence(Start { capacity: 100.0, w1, w2, epsilon: 1.0 }).delta;
    let run = events(SIMD, 100.0, PATH_START, CONTINUOUS, EPOCHS);
    let apart = |w: &[f64]| (w[1] - w[0]).abs() >= 1.0;
    let epochs = run.iter().take_while(|event| apart(&event.before));
    let points = epochs.flat_map(|event| [(event.before[0], event.before[1]), (event.after[0], event.after[1])]);
    Figure {
        title: "From a start to fairness",
        caption: "Synchronous host, W = 100, from (10, 60): after T1 the windows meet the efficiency line, after T2 they are within a packet of \
                  each other. Diamond: the gap there by Table 1."
            .to_string(),
        x: "w1, packets",
        y: "w2, packets",
        log: (false, false),
        curves: vec![
            Curve::new("SIMD", std::iter::once((w1, w2)).chain(points)),
            Curve::printed("SIMD", [((100.0 - gap) / 2.0, (100.0 + gap) / 2.0)]),
            Curve::new("w1 + w2 = W", [(10.0, 90.0), (60.0, 40.0)]),
            Curve::new("w1 = w2", [(10.0, 10.0), (60.0, 60.0)]),
        ],
    }
}

/// Where growth from (x1, x2) meets x1 + x2 = 1, as section 4.2 prints it.
fn met_by_aimd(x1: f64, x2: f64) -> [f64; 2] {
    [(1.0 + x1 - x2) / 2.0, (1.0 - x1 + x2) / 2.0]
}

/// As for AIMD, under SIMD.
fn met_by_simd(x1: f64, x2: f64) -> [f64; 2] {
    [x1 - x2 + x2 / (x1 + x2), x2 - x1 + x1 / (x1 + x2)]
}

pub(super) fn paths(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut curves = Vec::new();
    for (name, algorithm) in [("AIMD", AIMD), ("SIMD", SIMD)] {
        let run = events(algorithm, 100.0, PATH_START, CONTINUOUS, EPOCHS);
        let (mut direction, mut cut, mut rise) = (MaxError::default(), MaxError::default(), 0.0_f64);
        for (one, next) in run.iter().zip(&run[1..]) {
            let growth = [0, 1].map(|flow| next.before[flow] - one.after[flow]);
            let printed = if name == "AIMD" { 1.0 } else { one.after[0] / one.after[1] };
            direction.relative(growth[1] / growth[0], printed);
            cut.relative(index(&one.after), index(&one.before));
            // Closer than this, rounding decides which window is the larger.
            if (one.after[0] - one.after[1]).abs() > 1e-6 {
                rise = rise.max(index(&next.before) / index(&one.after));
            }
        }
        let direction_row = match name {
            "AIMD" => "AIMD: dw2/dw1, largest error",
            _ => "SIMD: dw2/dw1 against w1/w2 after the cut, largest relative error",
        };
        findings.value(direction_row, direction);
        findings.value(format!("{name}: largest fairness index after an increase over that before"), rise);
        findings.value(format!("{name}: fairness index across a cut, largest relative change"), cut);
        findings.value(
            format!("{name}: fairness index after {EPOCHS} epochs"),
            run.last().map_or(f64::NAN, |last| index(&last.before)),
        );
        // By the round trip, congestion is seen at the end of one.
        let by_rounds = events(algorithm, 100.0, PATH_START, Clock::Rounds, EPOCHS);
        let beyond = by_rounds.last().map_or(f64::NAN, |last| {
            let increase = |w: f64| match name {
                "AIMD" => cwnd::window::aimd::friendly_increase(B),
                _ => cwnd::window::simd::friendly_alpha(B, w) * libm::sqrt(B * w),
            };
            (last.before.iter().sum::<f64>() - 100.0) / last.before.iter().map(|w| increase(*w)).sum::<f64>()
        });
        findings.value(format!("{name}: sum of the last peaks less W, over a round trip's increase"), beyond);
        let points = run.iter().take(DRAWN).flat_map(|event| [&event.before, &event.after]).map(|w| (w[0], w[1]));
        curves.push(Curve::new(name, [(PATH_START[0], PATH_START[1])].into_iter().chain(points)));
    }
    findings.figure(Figure {
        title: "Paths of two windows",
        caption: format!("Synchronous host, W = 100, b = 1/16, from (10, 60): the first {DRAWN} epochs."),
        x: "w1, packets",
        y: "w2, packets",
        log: (false, false),
        curves,
    });
    Ok(())
}

/// The paper's fairness index of two windows.
fn index(windows: &[f64]) -> f64 {
    convergence::ratio(windows[0], windows[1])
}

const B: f64 = 1.0 / 16.0;
const PATH_START: [f64; 2] = [10.0, 60.0];
const EPOCHS: usize = 200;
/// Epochs in the figure; further ones lie on each other.
const DRAWN: usize = 30;

pub(super) fn epochs(_: &Bench<'_>, findings: &mut Findings) -> Result {
    // After a cut, windows add up to less than this by what the cut took.
    let capacity = 100.0;
    for (text, b) in [("1/16", 1.0 / 16.0), ("1/8", 0.125), ("1/4", 0.25), ("1/2", 0.5)] {
        let error = |scheme, factor: f64| gaps(scheme, capacity, |gap| factor.abs() * gap);
        findings.value(format!("AIMD({text}): factor 1 - b, largest error"), error(Scheme::aimd(b), 1.0 - b));
        findings.value(format!("SIMD({text}): factor 1 - 2b, largest error"), error(Scheme::simd(b), 1.0 - 2.0 * b));
    }
    let [(_, tcp, _), (_, aimd, _), (_, iiad, _), (_, simd, _)] = schemes();
    findings.value(
        "IIAD(2/3): factor 1 - 2b/W of the peaks' gap, largest error",
        gaps(iiad, capacity, |gap| (1.0 - 4.0 / 3.0 / capacity) * gap),
    );
    let lengths = |scheme: Scheme, printed: &dyn Fn(f64, f64) -> f64| {
        let mut worst = MaxError::default();
        for peaks in peaks(capacity) {
            let [w1, w2] = scheme.cut(peaks);
            worst.relative(scheme.rise(capacity, w1, w2).0, printed(w1, w2));
        }
        worst
    };
    findings.value("TCP: epoch against W/4, largest relative error", lengths(tcp, &|_, _| capacity / 4.0));
    findings.value(
        "AIMD(1/16): epoch against (2 - b) W/6, largest relative error",
        lengths(aimd, &|_, _| (2.0 - B) * capacity / 6.0),
    );
    let simd_epoch = |w1: f64, w2: f64| 2.0 / 3.0 * (1.0 - 2.0 * B / 3.0) / (1.0 - B) * libm::sqrt(2.0 * w1 * w2);
    findings.value(
        "SIMD(1/16): epoch against (2/3)(1 - 2b/3)/(1 - b) sqrt(2 W1 W2), largest relative error",
        lengths(simd, &simd_epoch),
    );
    // Windows that add up to 80 are cut from a sum of 80/(1 - b).
    findings.value("SIMD(1/16): epoch from (30, 50)", simd.rise(80.0 / (1.0 - B), 30.0, 50.0).0);
    let [w, _] = iiad.cut([capacity / 2.0; 2]);
    let printed = 4.0 / 3.0 * w * w / (capacity - 4.0 / 3.0);
    findings.value(
        "IIAD(2/3): epoch at equal windows over (4/3) W1 W2/(W - 2b), less 1",
        iiad.rise(capacity, w, w).0 / printed - 1.0,
    );
    for (name, scheme, _) in schemes() {
        let start = Start { capacity, w1: 10.0, w2: 90.0, epsilon: 1.0 };
        let iterated = scheme.iterate(start);
        let (epochs, t2) = iterated.map_or((f64::NAN, f64::NAN), |found| (f64::from(found.epochs), found.t2));
        findings.value(format!("{name} from (10, 90): epochs"), epochs);
        findings.value(format!("{name} from (10, 90): T2, epoch by epoch"), t2);
        let closed = scheme.convergence(start).t2;
        findings.extra(format!("{name} from (10, 90): T2 of Table 1 over that"), "", closed / t2);
    }
    Ok(())
}

/// The largest error of the gap after an epoch against `expected` of the gap before.
fn gaps(scheme: Scheme, capacity: f64, expected: impl Fn(f64) -> f64) -> Computed {
    let mut worst = MaxError::default();
    for peaks in peaks(capacity) {
        let [w1, w2] = scheme.cut(peaks);
        let (_, [next1, next2]) = scheme.rise(capacity, w1, w2);
        worst.absolute((next2 - next1).abs() - expected(peaks[1] - peaks[0]));
    }
    worst.into()
}

/// Peaks on the efficiency line.
fn peaks(capacity: f64) -> impl Iterator<Item = [f64; 2]> {
    (1..10).map(move |k| f64::from(k) * 5.0 / 100.0 * capacity).map(move |w1| [w1, capacity - w1])
}

pub(super) fn intersections(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let [_, (_, aimd_scheme, _), _, (_, simd_scheme, _)] = schemes();
    type Point = fn(f64, f64) -> [f64; 2];
    for (name, scheme, algorithm, printed) in
        [("AIMD", aimd_scheme, AIMD, met_by_aimd as Point), ("SIMD", simd_scheme, SIMD, met_by_simd as Point)]
    {
        let (_, [x1, x2]) = scheme.rise(1.0, 0.1, 0.4);
        findings.value(format!("{name} from (0.1, 0.4): x1"), x1);
        findings.value(format!("{name} from (0.1, 0.4): x2"), x2);
        let (mut closed, mut host) = (MaxError::default(), MaxError::default());
        for (nth, [x1, x2]) in starts().enumerate() {
            let point = printed(x1, x2);
            let (_, met) = scheme.rise(1.0, x1, x2);
            (0..2).for_each(|flow| closed.absolute(met[flow] - point[flow]));
            // A rise of 10^4 packets takes many round trips, so the host runs from some of the starts only.
            if nth % 100 == 0 {
                let reached =
                    &events(algorithm, HOST_CAPACITY, [x1, x2].map(|x| x * HOST_CAPACITY), Clock::Rounds, 1)[0];
                let sum: f64 = reached.before.iter().sum();
                (0..2).for_each(|flow| host.absolute(reached.before[flow] / sum - point[flow]));
            }
        }
        findings.value(format!("{name}: 1000 starts against the printed point, largest error"), closed);
        findings.value(format!("{name} on the synchronous host: largest error"), host);
    }
    Ok(())
}

/// Footnote 5: SQRT, another binomial algorithm, between AIMD and IIAD.
pub(super) fn sqrt(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let sqrt = format!("sqrt:b={}", bench.assumed("sqrt-b")?);
    Spec::parse(&sqrt)?;
    for (w1, w2) in STARTS {
        let time = |algorithm: &str| {
            let events = events(algorithm, 100.0, [w1, w2], Clock::Rounds, LONGEST);
            let fair = events.iter().find(|event| (event.before[1] - event.before[0]).abs() < 1.0);
            Computed::Exact(fair.map_or(f64::NAN, |event| event.at))
        };
        let parts = [("AIMD", time(AIMD)), ("SQRT", time(&sqrt)), ("IIAD", time(IIAD))];
        findings.order(format!("from ({w1}, {w2}): AIMD, SQRT, IIAD"), parts);
        // The paper gives no parameters of SQRT.
        for b in ["1/2", "2/5", "1/3"] {
            findings.extra(format!("from ({w1}, {w2}): SQRT with b = {b}"), "RTT", time(&format!("sqrt:b={b}")));
        }
    }
    Ok(())
}

/// The starts for which Table 1 is evaluated.
const STARTS: [(f64, f64); 3] = [(10.0, 40.0), (10.0, 80.0), (30.0, 50.0)];
/// Twice the events until the slowest is fair.
const LONGEST: usize = 700;
const HOST_CAPACITY: f64 = 1e4;

/// A thousand starts x1 < x2, x1 + x2 < 1, spread evenly (a Kronecker sequence with the powers of the plastic number).
fn starts() -> impl Iterator<Item = [f64; 2]> {
    (1..=1000).map(|k| {
        let part = |step: f64| (f64::from(k) * step).fract();
        let sum = 0.05 + 0.9 * part(0.754_877_666_246_692_7);
        let x1 = sum / 2.0 * (0.02 + 0.96 * part(0.569_840_290_998_053_2));
        [x1, sum - x1]
    })
}
