//! Two flows after all others have stopped: Table 3, Figs. 10 and 11.

use cwnd::Span;
use cwnd_model::convergence::{Convergence, Scheme, Start};

use super::{IIAD, SIMD, TCP};
use crate::change::{self, set_algorithm};
use crate::{Bench, Computed, Curve, Figure, Findings, Result};
use cwnd_run::measure::{coefficient_of_variation, mean};
use cwnd_run::probe::{Probe, Reduction};
use cwnd_run::scenario::Queue;
use cwnd_sim::{Discipline, RedSetup};

/// An algorithm in both experiments.
struct Runs {
    name: &'static str,
    scheme: Scheme,
    kept: Vec<Reduction>,
    /// Round trips for which the windows must stay close.
    hold: usize,
}

/// Names, closed forms, and the windows that the paper's two runs of each start from.
fn printed() -> [(&'static str, Scheme, [[f64; 2]; 2]); 4] {
    [
        ("TCP", Scheme::TCP, [[6.1, 99.6], [8.8, 13.8]]),
        ("SIMD", Scheme::simd(1.0 / 16.0), [[6.6, 96.3], [10.2, 33.2]]),
        ("AIMD", Scheme::aimd(1.0 / 16.0), [[7.9, 99.2], [12.7, 31.0]]),
        ("IIAD", Scheme::iiad(2.0 / 3.0), [[7.7, 99.8], [11.8, 31.2]]),
    ]
}

/// The sum of the two windows on the efficiency line, packets, in all of the paper's analytic values.
const CAPACITY: f64 = 110.0;
/// Windows closer than this are equal.
const EPSILON: f64 = 10.0;

impl Runs {
    /// Experiment 1 or 2 under every algorithm, in the order in which T2 is claimed to grow.
    fn all(bench: &Bench<'_>, experiment: usize) -> Result<Vec<Self>> {
        let name = ["convergence-1", "convergence-2"][experiment - 1];
        let aimd = bench.assumed("aimd")?;
        let byte_mode = change::counts_bytes(bench)?;
        let hold = bench.assumed_as("hold")?;
        let scenarios = [TCP, SIMD, &aimd, IIAD].into_iter().map(|algorithm| {
            bench.scenario(name, |document| {
                let alone = if algorithm == IIAD { LONG } else { SHORT };
                document.duration = change::span(*document.warmup.value() + alone)?;
                for queue in document.link.iter_mut().filter_map(|link| link.queue.as_mut()) {
                    if let Queue { limit, discipline: Discipline::Red(red) } = *queue.value() {
                        let red = RedSetup { byte_mode, ..red };
                        *queue = Queue { limit, discipline: Discipline::Red(red) }.into();
                    }
                }
                set_algorithm(&mut document.flow, algorithm)
            })
        });
        let kept = bench.run_all(scenarios, Probe::ROUNDS)?;
        Ok(printed().into_iter().zip(kept).map(|((name, scheme, _), kept)| Self { name, scheme, kept, hold }).collect())
    }

    /// The median over runs; what no run reaches is infinite.
    fn median(&self, of: impl Fn(&Self, &Reduction) -> Option<f64>) -> Computed {
        Computed::Median(self.kept.iter().map(|kept| of(self, kept).unwrap_or(f64::INFINITY)).collect())
    }

    /// Round trips from the stop of the others until the windows stay within epsilon.
    fn t2(&self, kept: &Reduction) -> Option<f64> {
        let close: Vec<bool> = windows(kept).map(|[w1, w2]| (w1 - w2).abs() < EPSILON).collect();
        let held = close.windows(self.hold.max(1)).position(|held| held.iter().all(|close| *close));
        held.map(|round| round as f64)
    }

    /// Round trips from there until the middle link refuses a packet.
    fn t1(&self, kept: &Reduction) -> Option<f64> {
        kept.all("link_first_drop_round").get(MIDDLE).copied()
    }

    /// The gap of the windows in that round trip.
    fn gap_at_first_loss(&self, kept: &Reduction) -> Option<f64> {
        let round = self.t1(kept).filter(|round| round.is_finite())?;
        windows(kept).nth(round as usize).map(|[w1, w2]| (w1 - w2).abs())
    }

    /// The gap that is left, over the gap at the stop of the others.
    fn gap_kept(&self, kept: &Reduction) -> Option<f64> {
        let [w1, w2] = before(kept)?;
        Some(self.gap_at_first_loss(kept)? / (w2 - w1).abs())
    }

    /// The analytic T2 from the windows at the stop of the others.
    fn analytic_t2(&self, kept: &Reduction) -> Option<f64> {
        let [w1, w2] = before(kept)?;
        Some(t2_on_the_line(self.scheme, (w2 - w1).abs()))
    }

    /// The analytic T1 from there.
    fn analytic_t1(&self, kept: &Reduction) -> Option<f64> {
        let [w1, w2] = before(kept)?;
        let start = Start { capacity: CAPACITY, w1: w1.min(w2), w2: w1.max(w2), epsilon: EPSILON };
        Some(self.scheme.convergence(start).t1).filter(|t1| *t1 > 0.0)
    }

    /// Coefficient of variation of a window over the last round trips, mean of both flows; none where the run ends too soon after
    /// the windows have met.
    fn variation(&self, kept: &Reduction) -> Option<f64> {
        let tails = ["window_1", "window_2"].map(|name| {
            let all = kept.all(name);
            all.len().checked_sub(STEADY).and_then(|from| coefficient_of_variation(&all[from..]))
        });
        let settled = self.t2(kept)? + STEADY as f64 <= kept.all("window_1").len() as f64;
        let [one, other] = tails;
        mean(&[one?, other?]).filter(|_| settled)
    }
}

/// Round trips over which the variation of converged windows is taken: many epochs of every algorithm.
const STEADY: usize = 500;
/// The link between b2 and b3: the third of the trace, for every link has one back.
const MIDDLE: usize = 2;
/// Time after all others have stopped: several times what windows need to meet. IIAD needs the most.
const SHORT: Span = Span::from_secs(150);
const LONG: Span = Span::from_secs(600);

fn windows(kept: &Reduction) -> impl Iterator<Item = [f64; 2]> {
    kept.all("window_1").iter().zip(kept.all("window_2")).map(|(w1, w2)| [*w1, *w2])
}

fn before(kept: &Reduction) -> Option<[f64; 2]> {
    kept.all("window_before").try_into().ok()
}

/// T2 of Table 1 for a gap of the windows on the efficiency line.
fn t2_on_the_line(scheme: Scheme, gap: f64) -> f64 {
    let (w1, w2) = ((CAPACITY - gap) / 2.0, (CAPACITY + gap) / 2.0);
    scheme.convergence(Start { capacity: CAPACITY, w1, w2, epsilon: EPSILON }).t2
}

pub(super) fn table_3(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let mut order = Vec::new();
    for (name, scheme, [[w1, w2], [v1, v2]]) in printed() {
        let t2 = t2_on_the_line(scheme, w2 - w1);
        let Convergence { t1, delta, .. } =
            scheme.convergence(Start { capacity: CAPACITY, w1: v1, w2: v2, epsilon: EPSILON });
        findings.value(format!("{name}, analytic: T2 of experiment 1"), t2);
        findings.value(format!("{name}, analytic: T1 of experiment 2"), t1);
        findings.value(format!("{name}, analytic: Delta of experiment 2"), delta);
        match name {
            "IIAD" => {
                findings.value(format!("{name}, analytic: T2 of experiment 1, by the formula"), t2);
            }
            "TCP" => {
                findings.value(format!("{name}, analytic: Delta of experiment 2, by the formula"), delta);
            }
            _ => {}
        }
        order.push((name, Computed::Exact(t2)));
    }
    findings.order("T2 of experiment 1, analytic", order);
    let (first, second) = (Runs::all(bench, 1)?, Runs::all(bench, 2)?);
    for (number, experiment) in [(1, &first), (2, &second)] {
        for runs in experiment {
            for (flow, label) in ["W1", "W2"].into_iter().enumerate() {
                findings.value(
                    format!("{}, simulated: {label} of experiment {number}", runs.name),
                    runs.median(|_, kept| Some(before(kept)?[flow])),
                );
            }
        }
    }
    let over_analytic = |runs: &Runs| runs.median(|runs, kept| Some(runs.t2(kept)? / runs.analytic_t2(kept)?));
    for runs in &first {
        let name = runs.name;
        findings.value(format!("{name}, simulated: T2 of experiment 1"), runs.median(Runs::t2));
        findings.value(format!("{name}: simulated T2 over the analytic one"), over_analytic(runs));
    }
    findings.order("T2 of experiment 1, simulated", first.iter().map(|runs| (runs.name, runs.median(Runs::t2))));
    if let Some(simd) = first.iter().find(|runs| runs.name == "SIMD") {
        for other in first.iter().filter(|runs| runs.name != "SIMD") {
            findings.order(
                format!("simulated T2 over the analytic one, SIMD and {}", other.name),
                [simd, other].map(|runs| (runs.name, over_analytic(runs))),
            );
        }
    }
    for runs in &second {
        findings.value(format!("{}, simulated: T1 of experiment 2", runs.name), runs.median(Runs::t1));
        findings.extra(
            format!("{}: simulated T1 over the analytic one from the same windows", runs.name),
            "",
            runs.median(|runs, kept| Some(runs.t1(kept)? / runs.analytic_t1(kept)?)),
        );
        findings
            .value(format!("{}, simulated: Delta of experiment 2", runs.name), runs.median(Runs::gap_at_first_loss));
    }
    findings.order("T1 of experiment 2, simulated", second.iter().map(|runs| (runs.name, runs.median(Runs::t1))));
    Ok(())
}

pub(super) fn figure_10(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let all = Runs::all(bench, 1)?;
    findings.order("T2", all.iter().map(|runs| (runs.name, runs.median(Runs::t2))));
    let named = |name: &str| all.iter().find(|runs| runs.name == name);
    if let (Some(simd), Some(aimd), Some(iiad)) = (named("SIMD"), named("AIMD"), named("IIAD")) {
        let times = aimd.median(Runs::t2).per(&simd.median(Runs::t2));
        findings.value("T2 of AIMD over that of SIMD", times);
        for other in all.iter().filter(|runs| runs.name != "IIAD") {
            findings.order(
                format!("variation of the windows, IIAD and {}", other.name),
                [iiad, other].map(|runs| (runs.name, runs.median(Runs::variation))),
            );
        }
    }
    for runs in &all {
        findings.extra(format!("{}: variation of the windows", runs.name), "", runs.median(Runs::variation));
    }
    draw(findings, &all);
    Ok(())
}

pub(super) fn figure_11(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let all = Runs::all(bench, 2)?;
    findings.order("T1", all.iter().map(|runs| (runs.name, runs.median(Runs::t1))));
    if let Some(tcp) = all.iter().find(|runs| runs.name == "TCP") {
        for other in all.iter().filter(|runs| runs.name != "TCP") {
            findings.order(
                format!("variation of the windows, {} and TCP", other.name),
                [other, tcp].map(|runs| (runs.name, runs.median(Runs::variation))),
            );
        }
    }
    for runs in &all {
        let row = match runs.name {
            "AIMD" | "SIMD" => format!("{}: gap at the first loss over that before", runs.name),
            name => {
                findings.extra(
                    format!("{name}: gap at the first loss over that before"),
                    "",
                    runs.median(Runs::gap_kept),
                );
                continue;
            }
        };
        findings.value(row, runs.median(Runs::gap_kept));
    }
    draw(findings, &all);
    Ok(())
}

/// The windows of the first run of each algorithm.
fn draw(findings: &mut Findings, all: &[Runs]) {
    for runs in all {
        let Some(kept) = runs.kept.first() else { continue };
        let columns = ["window_1", "window_2"].map(|name| kept.all(name));
        let step = columns[0].len().div_ceil(DRAWN).max(1);
        let line = |(flow, column): (usize, &&[f64])| {
            Curve::new(
                format!("flow {}", flow + 1),
                column.iter().enumerate().step_by(step).map(|(round, w)| (round as f64, *w)),
            )
        };
        findings.figure(Figure {
            title: match runs.name {
                "TCP" => "Windows of TCP",
                "SIMD" => "Windows of SIMD",
                "AIMD" => "Windows of AIMD",
                _ => "Windows of IIAD",
            },
            caption: "Mean windows per round trip after all other flows have stopped; the first run.".to_string(),
            x: "Round trips",
            y: "Window, packets",
            log: (false, false),
            curves: columns.iter().enumerate().map(line).collect(),
        });
    }
}

/// Points of a drawn curve.
const DRAWN: usize = 1000;
