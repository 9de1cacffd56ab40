//! The names of the plots of each kind of page, by which one of them is asked for before there is a page.

use crate::plot::Plot;
use crate::slug::slug;

/// Names of plots of runs and comparisons. A name that ends in `-N` stands for any with a number from 1 on there: that of the run shown.
pub const OF_RUNS: &[&str] = &[
    "trade-off",
    "delays",
    "shares",
    "window-N",
    "rate-N",
    "queue-N",
    "rtt-N",
    "utilisation-N",
    "phase-N",
    "cbr-N",
    "arrivals-N",
    "completion-N",
];
/// Names of plots of an evaluation.
pub const OF_EVALUATIONS: &[&str] = &["share", "rtt", "harm", "delay"];
/// Names of plots of overlaid recordings.
pub const OF_OVERLAYS: &[&str] = &["window", "goodput", "rtt", "in-flight", "flight", "queue"];
/// Names of plots of `cwnd model response`.
pub const OF_RESPONSES: &[&str] = &["response"];
/// Names of plots of `cwnd model convergence` and `cwnd model rounds`.
pub const OF_WALKS: &[&str] = &["windows-N", "phase-N"];
/// Names of plots of `cwnd model udt`.
pub const OF_UDT: &[&str] = &["growth", "equilibria", "delays"];
/// Names of plots of a sweep: maps of the best, and of the values.
pub const OF_SWEEPS: &[&str] = &["best-N", "values-N"];

/// Names of plots of the results of a paper: of orderings, of rows and of figures.
#[must_use]
pub fn of_results<'a>(results: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let kinds = |result| ["order", "rows", "figure"].map(|kind| format!("{result}-{kind}-N"));
    results.into_iter().flat_map(kinds).collect()
}

/// Names of plots of checks of subjects: the measured number, and the windows behind it.
#[must_use]
pub fn of_checks<'a>(subjects: &[&str], checks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let of = |subject: &&str, check| of_check(subject, check);
    checks.into_iter().flat_map(|check| subjects.iter().flat_map(move |subject| of(subject, check))).collect()
}

/// [`of_checks`], of one.
pub(super) fn of_check(subject: &str, check: &str) -> [String; 2] {
    let windows = slug(&format!("{subject}-{check}"));
    [format!("{windows}-number"), windows]
}

/// Whether a plot of a page whose plots have these names may be called `name`.
#[must_use]
pub fn is_plot(names: &[impl AsRef<str>], name: &str) -> bool {
    names.iter().map(AsRef::as_ref).any(|known| match known.strip_suffix('N') {
        Some(kind) => {
            name.strip_prefix(kind).is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number > 0))
        }
        None => known == name,
    })
}

/// Checks that the plots of a page have names that are known beforehand.
///
/// # Panics
/// In a debug build, where one has another.
pub(super) fn check<'a>(names: &[impl AsRef<str>], plots: impl IntoIterator<Item = &'a Plot>) {
    for plot in plots {
        debug_assert!(is_plot(names, &plot.id), "the name of `{}` is not among those of its page", plot.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_open() {
        for name in ["share", "window-1", "window-12"] {
            assert!(is_plot(&["share", "window-N"], name), "{name}");
        }
        for name in ["", "shares", "window-", "window-x", "window-0", "window", "window-N"] {
            assert!(!is_plot(&["share", "window-N"], name), "{name}");
        }
    }
}
