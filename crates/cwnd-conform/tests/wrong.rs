//! Each fault of `senders` turns the check of its own clause red.

mod senders;

use cwnd_conform::{Judged, Law, Plan, Suite, Verdict};
use senders::Fault::{self, *};
use senders::Way;

/// A fault, whose it is, and the check of its clause.
const FAULTS: &[(Fault, Law, &str)] = &[
    (LaterLossesIgnored, Law::Reno, "9002-recovery-ends"),
    (LaterLossesIgnored, Law::Reno, "5681-halve"),
    (LaterLossesIgnored, Law::Cubic, "9002-recovery-ends"),
    (LaterLossesIgnored, Law::Cubic, "9438-beta"),
    (LossesIgnored, Law::Reno, "5681-halve"),
    (LossesIgnored, Law::Cubic, "9438-beta"),
    (LossesOfOneWindow, Law::Reno, "6582-one-cut"),
    (LossesOfOneWindow, Law::Cubic, "9438-once"),
    (GrowsInRecovery, Law::Reno, "9002-recovery-still"),
    (RecoveryEndsEarly, Law::Reno, "9002-recovery-last"),
    (RecoveryEndsEarly, Law::Cubic, "9002-recovery-last"),
    (RecoveryEndsLate, Law::Reno, "9002-recovery-first"),
    (RecoveryEndsLate, Law::Cubic, "9002-recovery-first"),
    (MarksIgnored, Law::Reno, "3168-reacts"),
    (MarksIgnored, Law::Cubic, "9438-mark"),
    (LaterMarksIgnored, Law::Reno, "3168-again"),
    (LaterMarksIgnored, Law::Cubic, "3168-again"),
    (TargetOfNow, Law::Cubic, "9438-target"),
    (TargetUnbounded, Law::Cubic, "9438-cap"),
    (TimeoutKeepsMaximum, Law::Cubic, "9438-timeout-epoch"),
    (TimeoutZeroMaximum, Law::Cubic, "9438-timeout-epoch"),
    (FriendlyKept, Law::Cubic, "9438-friendly-reset"),
    (TimeoutKeepsWindow, Law::Reno, "5681-timeout-window"),
    (TimeoutKeepsWindow, Law::Cubic, "9438-timeout-window"),
    (TimeoutForgetsThreshold, Law::Reno, "5681-timeout-threshold"),
    (TimeoutForgetsThreshold, Law::Cubic, "9438-timeout-threshold"),
    (RestartForgetsThreshold, Law::Reno, "5681-restart-threshold"),
    (RestartForgetsThreshold, Law::Cubic, "5681-restart-threshold"),
    (RestartLowersThreshold, Law::Reno, "5681-restart-threshold"),
    (RestartLowersThreshold, Law::Cubic, "5681-restart-threshold"),
    (RestartKeepsWindow, Law::Reno, "5681-restart"),
    (UndoForgetsThreshold, Law::Reno, "spurious-threshold"),
    (UndoForgetsThreshold, Law::Cubic, "spurious-threshold"),
    (UndoForgetsCurve, Law::Cubic, "9438-undo-curve"),
    (UndoDoubles, Law::Reno, "spurious"),
    (UndoDoubles, Law::Cubic, "9438-undo"),
    (PacedWithoutGain, Law::Reno, "9002-paced-start"),
    (PacedWithoutGain, Law::Cubic, "9002-paced-start"),
    (WindowUnbounded, Law::Reno, "9002-in-flight"),
    (WindowUnbounded, Law::Cubic, "9002-in-flight"),
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
        let found = judged.value.as_ref().map(|value| value.interval());
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
