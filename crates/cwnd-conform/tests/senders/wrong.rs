//! Each fault turns the check of its own clause red.

use super::way::{Fault, Way};
use cwnd_conform::{Judged, Law, Plan, Suite, Verdict};

/// A fault, whose it is, and the check of its clause.
const FAULTS: &[(Fault, Law, &str)] = &[
    (Fault::LaterLossesIgnored, Law::Reno, "9002-recovery-ends"),
    (Fault::LaterLossesIgnored, Law::Reno, "5681-halve"),
    (Fault::LaterLossesIgnored, Law::Cubic, "9002-recovery-ends"),
    (Fault::LaterLossesIgnored, Law::Cubic, "9438-beta"),
    (Fault::LossesIgnored, Law::Reno, "5681-halve"),
    (Fault::LossesIgnored, Law::Cubic, "9438-beta"),
    (Fault::LossesOfOneWindow, Law::Reno, "6582-one-cut"),
    (Fault::LossesOfOneWindow, Law::Cubic, "9438-once"),
    (Fault::GrowsInRecovery, Law::Reno, "9002-recovery-still"),
    (Fault::RecoveryEndsEarly, Law::Reno, "9002-recovery-last"),
    (Fault::RecoveryEndsEarly, Law::Cubic, "9002-recovery-last"),
    (Fault::RecoveryEndsLate, Law::Reno, "9002-recovery-first"),
    (Fault::RecoveryEndsLate, Law::Cubic, "9002-recovery-first"),
    (Fault::MarksIgnored, Law::Reno, "3168-reacts"),
    (Fault::MarksIgnored, Law::Cubic, "9438-mark"),
    (Fault::LaterMarksIgnored, Law::Reno, "3168-again"),
    (Fault::LaterMarksIgnored, Law::Cubic, "3168-again"),
    (Fault::TargetOfNow, Law::Cubic, "9438-target"),
    (Fault::TargetUnbounded, Law::Cubic, "9438-cap"),
    (Fault::TimeoutKeepsMaximum, Law::Cubic, "9438-timeout-epoch"),
    (Fault::TimeoutZeroMaximum, Law::Cubic, "9438-timeout-epoch"),
    (Fault::FriendlyKept, Law::Cubic, "9438-friendly-reset"),
    (Fault::TimeoutKeepsWindow, Law::Reno, "5681-timeout-window"),
    (Fault::TimeoutKeepsWindow, Law::Cubic, "9438-timeout-window"),
    (Fault::TimeoutForgetsThreshold, Law::Reno, "5681-timeout-threshold"),
    (Fault::TimeoutForgetsThreshold, Law::Cubic, "9438-timeout-threshold"),
    (Fault::RestartForgetsThreshold, Law::Reno, "5681-restart-threshold"),
    (Fault::RestartForgetsThreshold, Law::Cubic, "5681-restart-threshold"),
    (Fault::RestartLowersThreshold, Law::Reno, "5681-restart-threshold"),
    (Fault::RestartLowersThreshold, Law::Cubic, "5681-restart-threshold"),
    (Fault::RestartKeepsWindow, Law::Reno, "5681-restart"),
    (Fault::UndoForgetsThreshold, Law::Reno, "spurious-threshold"),
    (Fault::UndoForgetsThreshold, Law::Cubic, "spurious-threshold"),
    (Fault::UndoForgetsCurve, Law::Cubic, "9438-undo-curve"),
    (Fault::UndoDoubles, Law::Reno, "spurious"),
    (Fault::UndoDoubles, Law::Cubic, "9438-undo"),
    (Fault::PacedWithoutGain, Law::Reno, "9002-paced-start"),
    (Fault::PacedWithoutGain, Law::Cubic, "9002-paced-start"),
    (Fault::UnusedGrows, Law::Reno, "9002-underused-avoidance"),
    (Fault::UnusedGrows, Law::Cubic, "9002-underused-avoidance"),
    (Fault::LossAfterTimeoutIgnored, Law::Cubic, "5681-loss-after-timeout"),
    (Fault::TwiceAfterTimeout, Law::Reno, "5681-rate-after-timeout"),
    (Fault::TwiceAfterTimeout, Law::Cubic, "5681-rate-after-timeout"),
    (Fault::ThresholdOfWindow, Law::Reno, "5681-flight-size"),
    (Fault::CutToTen, Law::Reno, "5681-small-window"),
    (Fault::CutToTen, Law::Cubic, "9438-small-window"),
    (Fault::RestartRaises, Law::Reno, "5681-restart-window"),
    (Fault::RestartRaises, Law::Cubic, "5681-restart-window"),
    (Fault::RestartAtOnce, Law::Reno, "5681-restart-late"),
    (Fault::RestartAtOnce, Law::Cubic, "5681-restart-late"),
    (Fault::Panics, Law::Reno, "lossy"),
    (Fault::WindowUnbounded, Law::Reno, "9002-in-flight"),
    (Fault::WindowUnbounded, Law::Cubic, "9002-in-flight"),
];

fn judged(fault: Fault, law: Law, plan: &Plan) -> Vec<Judged> {
    plan.judge(&Way { fault: Some(fault), ..Way::of(law) }.subject()).checks
}

#[test]
fn each_fault_departs_by_the_check_of_its_clause() {
    let mut missed = Vec::new();
    for (fault, law, id) in FAULTS {
        let plan = Plan { only: vec![(*id).to_string()], ..Plan::default() };
        let [judged] = <[Judged; 1]>::try_from(judged(*fault, *law, &plan)).expect("there is such a check");
        let found = judged.value.as_ref().map(|value| value.mean);
        println!("{fault:?} {law:?} {id} {:?} {found:?} {:?}", judged.verdict, judged.note);
        if judged.verdict != Verdict::Departs {
            missed.push(format!("{fault:?} of {law:?} by {id}: {:?} {found:?} {:?}", judged.verdict, judged.note));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
#[ignore = "all checks for all faults take minutes: cargo xtask test --long"]
fn every_fault_departs_by_some_check_of_all() {
    let suites = Suite::ALL.into_iter().filter(|suite| *suite != Suite::Bbr).collect();
    let plan = Plan { suites, ..Plan::default() };
    let mut seen = Vec::new();
    for (fault, law, id) in FAULTS {
        if seen.contains(&(*fault, *law)) {
            continue;
        }
        seen.push((*fault, *law));
        let all = judged(*fault, *law, &plan);
        let departs: Vec<_> =
            all.iter().filter(|judged| judged.verdict == Verdict::Departs).map(|judged| judged.id).collect();
        println!("{fault:?} {law:?}: {}", departs.join(" "));
        assert!(departs.contains(id), "{fault:?} of {law:?}: {departs:?}");
    }
}
