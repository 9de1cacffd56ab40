//! BBR on packets: the test cases of draft-ietf-ccwg-bbr appendix A, and how closely `bbr3` reaches its goals.
//!
//! `cases.txt` and `figures.txt` show each condition with the finding. A condition that is not met has its reason in docs/bbr.md, and
//! `rules.txt` shows the condition without a rule of the draft. `CWND_BLESS=1 cargo test -p cwnd-conform --lib bbr` records it anew; the
//! diff then shows what changed.

mod cases;
#[cfg(test)]
mod figures;
mod path;
#[cfg(test)]
mod rules;
mod spurious;
#[cfg(test)]
mod tests;

use cwnd::{CongestionControl, Start};

use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::subject::Law;
use crate::unfit::Unfit;
use cases::CASES;

/// A check for each case.
pub(crate) const CHECKS: &[Check] = &[
    check::<0>("bbr-startup-plateau"),
    check::<1>("bbr-startup-loss"),
    check::<2>("bbr-drain-inflight"),
    check::<3>("bbr-drain-time"),
    check::<4>("bbr-up-plateau"),
    check::<5>("bbr-up-loss"),
    check::<6>("bbr-never-when-limited"),
    check::<7>("bbr-down-inflight"),
    check::<8>("bbr-down-time"),
    check::<9>("bbr-probe-rtt"),
    check::<10>("bbr-probe-rtt-skipped"),
    check::<11>("bbr-startup-aggregation"),
    check::<12>("bbr-cruise-aggregation"),
    check::<13>("bbr-sub-packet"),
    check::<14>("bbr-ten-times"),
    check::<15>("bbr-a-tenth"),
    check::<16>("bbr-policer"),
    check::<17>("bbr-spurious-recovery"),
    check::<18>("bbr-spurious-timeout"),
    check::<19>("bbr-probe-rtt-in-startup"),
    check::<20>("bbr-up-loss-with-longterm"),
    check::<21>("bbr-limited-refill"),
];

const fn check<const NTH: usize>(id: &'static str) -> Check {
    Check {
        id,
        suite: Suite::Bbr,
        section: "appendix A",
        level: Level::Step,
        requirement: CASES[NTH].title,
        looks: Looks::Window,
        applies: Applies::Law(Law::Bbr),
        measured: "conditions of the case that are not met",
        accepted: Range::at_most(0.0),
        basis: "the conditions carry tolerances of their own, from the draft",
        absence: Absence::Deviates,
        assumes: "",
        measure: unmet::<NTH>,
    }
}

/// The cases look at states of BBR by the names that this program's implementation shows them with. They draw nothing: all seeds are one.
fn unmet<const NTH: usize>(lab: &Lab<'_>) -> Result<f64, Unfit> {
    let spec = lab.subject().spec();
    if spec.as_stack().is_some() {
        return Err(Unfit::NotApplicable("it does not show the states of BBR"));
    }
    let mut shown = false;
    spec.start(&Start::default()).inspect(&mut |name, _| shown |= name == "full_bw_count");
    if !shown {
        return Err(Unfit::NotApplicable("it does not show the states of BBR"));
    }
    let conditions = (CASES[NTH].conditions)(spec);
    Ok(conditions.iter().filter(|condition| !condition.met).count() as f64)
}
