//! Conformance tests of congestion control, clause by clause, in the packet simulator.
//!
//! A [`Check`] is data: a clause of an RFC in our words, a scenario, the measured quantity and the accepted range, fixed before the first
//! run. [`Plan::judge`] runs checks against a [`Subject`] over seeds and gives a [`Verdict`] for each. A subject is any sender of
//! a simulated flow: a built-in algorithm, one of the caller ([`Spec::outside`](cwnd::Spec::outside)), or a whole
//! stack behind the trait of `cwnd-stack`.
//!
//! [`conform!`] makes a test of each check, for the tests of a stack. A subject that violates a clause *deviates*: some deviations are
//! intended.
//!
//! AIMD that cuts its window by a quarter deviates from Reno:
//!
//! ```
//! use cwnd::Spec;
//! use cwnd_conform::{Law, Plan, Subject, Verdict, text};
//!
//! let gentle = Spec::parse("aimd:a=1,b=1/4").expect("registered");
//! let subject = Subject::new("gentle", Law::Reno, gentle);
//! let plan = Plan { only: vec!["5681-halve".to_string()], seeds: 1, ..Plan::default() };
//! let result = plan.judge(&subject);
//! assert_eq!(result.checks[0].verdict, Verdict::Deviates, "{}", text::conformance(&result, true));
//! assert_eq!(result.checks[0].section, "3.1, equation 4");
//! ```
//!
//! This crate has no plots and no command line. Start reading at [`check`], then any file below `checks`.

pub mod baseline;
mod bbr;
mod causes;
pub mod check;
mod checks;
pub mod judge;
pub mod junit;
mod lab;
mod record;
pub mod reference;
pub mod scenario;
mod subject;
mod suites;
mod testbed;
pub mod testing;
pub mod text;
mod unfit;

pub use check::{Absence, Applies, Check, Level, Looks, Range, Suite};
pub use judge::{Conformance, Curves, Judged, Plan, Verdict, judge, span};
pub use lab::{Curve, Lab};
pub use subject::{Host, Law, Subject};
pub use unfit::Unfit;

/// All checks, in the order of the suites.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    checks::CHECKS.iter().copied().flatten()
}

/// Makes a test of each check of the named suites for a [`Subject`]: `conforms::rfc5681_halve` and so on, each of which fails where its check
/// deviates, or is unclear and the subject does not [allow](Subject::allow_unclear) that.
///
/// ```
/// # use cwnd_conform::{Subject, conform};
/// conform!(Subject::parse("reno").expect("registered"), suites = ["rfc5681", "rfc3168"]);
/// ```
///
/// With a baseline, a file as `cwnd conform --baseline` writes it, known deviations do not fail, and fixed ones do:
///
/// ```
/// # use cwnd_conform::{Subject, conform};
/// conform!(Subject::parse("reno").expect("registered"), suites = ["rfc5681"], baseline = "conform.txt");
/// ```
///
/// Below `target/conform/`, in a directory named after the subject, each test leaves a JUnit file. A check that does not apply passes, but
/// `conforms::rfc5681_applies` fails where no check of the suite is meant for the subject.
#[macro_export]
macro_rules! conform {
    ($subject:expr, suites = [$($suite:tt),+ $(,)?] $(,)?) => {
        #[cfg(test)]
        mod conforms {
            #[allow(unused_imports, reason = "a subject may need nothing of its surroundings")]
            use super::*;
            $($crate::conform_suite!($suite, $subject, None);)+
        }
    };
    ($subject:expr, suites = [$($suite:tt),+ $(,)?], baseline = $baseline:literal $(,)?) => {
        #[cfg(test)]
        mod conforms {
            #[allow(unused_imports, reason = "a subject may need nothing of its surroundings")]
            use super::*;
            $($crate::conform_suite!($suite, $subject, Some($baseline));)+
        }
    };
}

/// The tests that [`conform!`] makes of some checks.
#[doc(hidden)]
#[macro_export]
macro_rules! conform_checks {
    ($subject:expr, $baseline:expr, $($name:ident $id:literal)+) => {
        $(#[test]
        fn $name() {
            $crate::testing::assert_test(
                &$subject,
                $id,
                $baseline,
                (env!("CARGO_PKG_NAME"), concat!(module_path!(), "::", stringify!($name))),
            );
        })+
    };
}
