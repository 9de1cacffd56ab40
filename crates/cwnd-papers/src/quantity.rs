//! One rule of tolerance for each kind of quantity.
//!
//! A row of `published.toml` names its kind (`quantity = "rate"`), and the rule makes the tolerance from the published number. No row has
//! a tolerance of its own, except a bound that the paper itself states, an order, and an `exception` with its reason.

use serde::Deserialize;

use super::tolerance::Tolerance;

/// The kind of quantity of a row.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// A number that the paper computed by a formula: one unit of its last printed digit, at most a tenth.
    Formula,
    /// A value that follows exactly from equations: 0.1 %, or 1e-9 where it is 0. A statement is of an error of 0.
    Exact,
    /// A discrete algorithm, or random draws, against a continuous formula: 5 %, or 0.05 where it is 0.
    Approximate,
    /// A number of things: equal. A statement is of none.
    Count,
    /// A rate of data: 10 %. Repeated stages of a printed experiment differ by up to 3 %.
    Rate,
    /// A part of a whole: 0.1, and between half and twice.
    Share,
    /// A fairness index: what it lacks of 1 between half and twice, or 0.01 where that is wider.
    Index,
    /// A standard deviation over its mean: between half and twice.
    Oscillation,
    /// A loss rate: within a factor of 3, since some are printed as powers of ten; 0 is at most 1e-6, the least that is printed.
    Loss,
    /// Delivered share of the sent data, per cent: the lost share within a factor of 3, as a loss rate.
    Delivered,
    /// A duration in seconds or round trips: 25 %.
    Time,
    /// A window or a gap between windows: 25 %.
    Window,
    /// A rate over a rate: 20 %, a tenth for each.
    Ratio,
    /// The number is an upper bound.
    AtMostPrinted,
    /// The number is a lower bound.
    AtLeastPrinted,
    /// One is more than the other: their difference is above 0.
    More,
    /// One is less than the other: their difference is below 0.
    Less,
    /// One is not less than the other: their difference is at least 0.
    NoLess,
    /// One is not more than the other: their difference is at most 0.
    NoMore,
    /// One is more than the other: their ratio is above 1.
    AboveOne,
    /// One is less than the other: their ratio is below 1.
    BelowOne,
    /// "Nearly equal", "about the same", "close to": a ratio between 0.8 and 1.25.
    Alike,
    /// "Little change", "similar", "among the best": a difference of shares of at most 0.05.
    Little,
    /// "Slightly more": a ratio from 1 to 1.25.
    Slightly,
    /// "Much", "significantly", "strongly" more: a ratio above 1.25.
    Much,
    /// A difference of shares above 0.05.
    Clearly,
    /// A difference of shares below -0.05.
    ClearlyLess,
    /// "About" the one number of the statement: between four fifths of it and 1.25 times it.
    About,
    /// "Most": a share above a half.
    Majority,
    /// "Converges", "fair": a fairness index of at least 0.95.
    Converged,
    /// "Does not converge": a fairness index below 0.95.
    Unconverged,
    /// "Efficient", "full": a utilisation of at least 0.95.
    Efficient,
    /// "Poor", "too slow", "not full": a utilisation below 0.95.
    Inefficient,
    /// "Rises with", "in the order of": a rank correlation of at least 0.6.
    Correlated,
    /// "Falls with": a rank correlation of at most -0.6.
    Opposed,
    /// A bound that the statement names, as `tolerance`.
    Bound,
    /// An order, as `tolerance`.
    Order,
}

impl Quantity {
    /// The tolerance that the rule derives from a published value; none where the row states it, or where the rule needs a number.
    pub(super) fn tolerance(self, number: Option<f64>, statement: &str) -> Option<Tolerance> {
        let around = |by: f64| Some(Tolerance::Relative(by)).filter(|_| number.is_some());
        let tolerance = match self {
            Self::Formula => Tolerance::Absolute(last_digit(number?).min(number?.abs() / 10.0)),
            Self::Exact => error(number, 0.001, 1e-9),
            Self::Approximate => error(number, 0.05, 0.05),
            Self::Count => number.map_or(Tolerance::Between([0.0; 2]), |_| Tolerance::Absolute(0.0)),
            Self::Rate => return around(0.1),
            Self::Share => {
                let share = number?;
                Tolerance::Between([(share - 0.1).max(share / 2.0), (share + 0.1).min(share * 2.0)].map(rounded))
            }
            Self::Index => {
                let lack = 1.0 - number?;
                let low = rounded(1.0 - (2.0 * lack).max(lack + 0.01));
                // An index is at most 1: an interval that reaches above says nothing.
                match (lack / 2.0).min(lack - 0.01) {
                    least if least > 0.0 => Tolerance::Between([low, rounded(1.0 - least)]),
                    _ => Tolerance::AtLeast(low),
                }
            }
            Self::Oscillation => Tolerance::RatioWithin(2.0),
            Self::Loss if number == Some(0.0) => Tolerance::AtMost(1e-6),
            Self::Loss => Tolerance::RatioWithin(3.0),
            Self::Delivered => {
                let lost = 100.0 - number?;
                Tolerance::Between([3.0 * lost, lost / 3.0].map(|one| rounded(100.0 - one)))
            }
            Self::Time | Self::Window => return around(0.25),
            Self::Ratio => return around(0.2),
            Self::AtMostPrinted => Tolerance::AtMost(number?),
            Self::AtLeastPrinted => Tolerance::AtLeast(number?),
            Self::More => Tolerance::Above(0.0),
            Self::Less => Tolerance::Below(0.0),
            Self::NoLess => Tolerance::AtLeast(0.0),
            Self::NoMore => Tolerance::AtMost(0.0),
            Self::AboveOne => Tolerance::Above(1.0),
            Self::BelowOne => Tolerance::Below(1.0),
            Self::Alike => Tolerance::Between([0.8, 1.25]),
            Self::Little => Tolerance::Between([-0.05, 0.05]),
            Self::Slightly => Tolerance::Between([1.0, 1.25]),
            Self::Much => Tolerance::Above(1.25),
            Self::Clearly => Tolerance::Above(0.05),
            Self::ClearlyLess => Tolerance::Below(-0.05),
            Self::About => {
                let [number] = numbers(statement)[..] else { return None };
                Tolerance::Between([0.8 * number, 1.25 * number].map(rounded))
            }
            Self::Majority => Tolerance::Above(0.5),
            Self::Converged | Self::Efficient => Tolerance::AtLeast(0.95),
            Self::Unconverged | Self::Inefficient => Tolerance::Below(0.95),
            Self::Correlated => Tolerance::AtLeast(0.6),
            Self::Opposed => Tolerance::AtMost(-0.6),
            Self::Bound | Self::Order => return None,
        };
        Some(tolerance)
    }

    /// The keys that a row of this kind needs, as the end of a sentence.
    pub(super) fn needs(self) -> &'static str {
        match self {
            Self::About => "one number in `published`",
            Self::Bound => "a `tolerance` with a number that `published` names",
            Self::Order => "a `tolerance` with an `ordering`",
            _ => "a `published` number",
        }
    }

    /// Which `tolerance` a row of this kind may state, as the end of a sentence.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Bound => "a number that `published` names",
            Self::Order => "an `ordering`",
            _ => "none is stated, the kind makes it",
        }
    }

    /// Whether this tolerance may stand in a row of this kind: an order, or bounds that the statement names.
    pub(super) fn allows(self, tolerance: &Tolerance, statement: &str) -> bool {
        let named = |bound: &f64| numbers(statement).iter().any(|number| (number - bound).abs() < 1e-12);
        match (self, tolerance) {
            (Self::Order, Tolerance::Ordering(_)) => true,
            (
                Self::Bound,
                Tolerance::AtLeast(bound)
                | Tolerance::AtMost(bound)
                | Tolerance::Above(bound)
                | Tolerance::Below(bound),
            ) => named(bound),
            (Self::Bound, Tolerance::Between(bounds)) => bounds.iter().all(named),
            _ => false,
        }
    }
}

/// The numbers that a statement names: `90 %` is 0.9, `1/2` and `L2/2` a half.
fn numbers(statement: &str) -> Vec<f64> {
    let mut found = Vec::new();
    let mut rest = statement;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let digits = rest[..length].trim_end_matches('.');
        let number = digits.parse::<f64>().ok().filter(|_| !before.is_alphanumeric());
        let Some(number) = number else {
            before = first;
            rest = &rest[first.len_utf8()..];
            continue;
        };
        rest = &rest[length..];
        match before {
            '/' => {
                let above = found.pop().unwrap_or(1.0);
                found.push(above / number);
            }
            _ if rest.trim_start().starts_with('%') => found.push(number / 100.0),
            _ => found.push(number),
        }
        before = '0';
    }
    found
}

/// Within a part of a number, or so much around 0; a statement is of an error of 0.
fn error(number: Option<f64>, part: f64, at_zero: f64) -> Tolerance {
    match number {
        Some(number) if number != 0.0 => Tolerance::Relative(part),
        Some(_) => Tolerance::Absolute(at_zero),
        None => Tolerance::Between([-at_zero, at_zero]),
    }
}

/// One unit of the last digit that a number is written with.
fn last_digit(number: f64) -> f64 {
    let text = number.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("1e-{decimals}").parse().unwrap_or(1.0)
}

/// Rounds to 10⁻⁶, so that ends read as people write them.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_make_the_tolerance_of_a_published_number() {
        let made = |quantity: Quantity, number: f64| quantity.tolerance(Some(number), "").map(|one| one.to_string());
        for (quantity, number, tolerance) in [
            (Quantity::Formula, 43.7, "± 0.1"),
            (Quantity::Formula, 1217.0, "± 1"),
            (Quantity::Formula, 0.5, "± 0.05"),
            (Quantity::Exact, 122.67, "± 0.1 %"),
            (Quantity::Rate, 902.0, "± 10 %"),
            (Quantity::Share, 0.4676, "0.3676 to 0.5676"),
            (Quantity::Share, 0.0326, "0.0163 to 0.0652"),
            (Quantity::Index, 0.999, "≥ 0.989"),
            (Quantity::Index, 0.966, "0.932 to 0.983"),
            (Quantity::Oscillation, 0.02, "factor 2"),
            (Quantity::Loss, 0.001, "factor 3"),
            (Quantity::Loss, 0.0, "≤ 1e-6"),
            (Quantity::Delivered, 99.41, "98.23 to 99.803333"),
            (Quantity::Time, 55.0, "± 25 %"),
            (Quantity::AtMostPrinted, 3.2, "≤ 3.2"),
        ] {
            assert_eq!(made(quantity, number).as_deref(), Some(tolerance), "{quantity:?} {number}");
        }
        assert_eq!(Quantity::Rate.tolerance(None, "fast"), None);
        assert_eq!(Quantity::About.tolerance(None, "about 5").map(|one| one.to_string()).as_deref(), Some("4 to 6.25"));
    }

    #[test]
    fn a_bound_is_a_number_of_the_statement() {
        for (statement, found) in [
            ("higher than 0.95", &[0.95][..]),
            ("more than 90 %", &[0.9]),
            ("at least 1/2", &[0.5]),
            ("at least L2/2", &[0.5]),
            ("12 to 15 packets", &[12.0, 15.0]),
            ("at most 1", &[1.0]),
            ("TCP has the lowest", &[]),
        ] {
            assert_eq!(numbers(statement), found, "{statement}");
        }
        assert!(Quantity::Bound.allows(&Tolerance::AtLeast(0.95), "higher than 0.95"));
        assert!(!Quantity::Bound.allows(&Tolerance::AtLeast(0.93), "higher than 0.95"));
        assert!(!Quantity::Bound.allows(&Tolerance::Relative(0.95), "higher than 0.95"));
        assert!(!Quantity::Order.allows(&Tolerance::AtLeast(0.95), "higher than 0.95"));
    }
}
