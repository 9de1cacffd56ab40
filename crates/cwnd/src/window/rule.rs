//! A rule of one's own: `rule:grow=1/w,cut=w/2` names an algorithm by two expressions.
//!
//! `grow` is what is added to the window for each acknowledged packet, `cut` the window after a loss. The shell around them is the one of
//! all window algorithms, so that the defaults are Reno's congestion avoidance to the last bit.

use alloc::format;

use super::expression::{Expression, Numbers};
pub use super::expression::{FUNCTIONS, VARIABLES};
use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Refusal, Transport};
use crate::parameter::Parameter;
use crate::signal::View;
use crate::units::Time;

/// The two expressions, and what their variables need to be remembered.
#[derive(Clone, Debug)]
pub struct Rule {
    grow: Expression,
    cut: Expression,
    /// The last cut, or the end of slow start.
    since: Time,
    /// The window before it.
    peak: f64,
}

impl Rule {
    fn numbers(&self, w: f64, view: &View) -> Numbers {
        let (rtt, least) = view.rtt.map_or((0.1, 0.1), |rtt| (rtt.smoothed.as_secs_f64(), rtt.min.as_secs_f64()));
        [w, rtt, least, view.now.since(self.since).as_secs_f64(), self.peak]
    }
}

impl WindowRule for Rule {
    fn grow(&mut self, w: f64, view: &View) -> f64 {
        let step = self.grow.value(&self.numbers(w, view));
        if step.is_nan() { 0.0 } else { step.clamp(-w.max(0.0), MOST) }
    }

    fn cut(&mut self, w: f64, view: &View) -> f64 {
        let after = self.cut.value(&self.numbers(w, view));
        if after.is_nan() { w / 2.0 } else { after.clamp(1.0, w.max(1.0)) }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, view: &View) {
        self.since = view.now;
        self.peak = before.unwrap_or(after);
    }
}

/// Registered as `rule`.
pub const RULE: Entry<Window<Rule>> = Entry {
    name: "rule",
    title: "a rule of your own: two expressions in the shell of all window algorithms",
    family: Family::Own,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "given on the command line or in a scenario",
    deviations: &[],
    parameters: &[
        Parameter::text(
            "grow",
            "1/w",
            SYNTAX,
            "packets added to the window for each acknowledged packet, from -w to 16",
        ),
        Parameter::text("cut", "w/2", SYNTAX, "window after a loss, from 2 to w packets (from 1 in the eras of ns-2)"),
    ],
    build: |values, start| {
        let read = |name, (least, most), accepted| {
            let read = Expression::read(values.text(name)).map_err(|error| Refusal::new(name, error))?;
            match read.constant() {
                Some(value) if value.is_nan() => {
                    Err(Refusal::new(name, format!("{accepted}, where this is always undefined")))
                }
                Some(value) if !(least..=most).contains(&value) => {
                    Err(Refusal::new(name, format!("{accepted}, where this is always {value}")))
                }
                _ => Ok(read),
            }
        };
        let grow = read("grow", (-f64::MAX, MOST), "from -w to 16 packets")?;
        let cut = read("cut", (LEAST, f64::MAX), "from 2 to w packets")?;
        let rule = Rule { grow, cut, since: Time::ZERO, peak: 0.0 };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

const SYNTAX: &str = "numbers, `+ - * / ^ ( )`, the variables `w rtt min_rtt age peak`, the functions `abs cbrt exp floor ln max min sqrt`";

/// Slow start adds one packet for each that is acknowledged; a rule that adds many times that sends nothing but bursts.
const MOST: f64 = 16.0;

/// What congestion leaves at least, but in the eras of ns-2.
const LEAST: f64 = 2.0;

/// What becomes of values that no window can have.
pub const BOUNDS: &str = "A value beyond the bounds of `grow` or `cut`, or infinite, counts as the bound. An undefined value, such as `0/0` or \
    `ln(-1)`, makes every expression around it undefined, `max` and `min` too: `grow` then adds nothing, and `cut` leaves w/2. An expression \
    that is always undefined, infinite or beyond the bounds is refused.";

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;
    use crate::registry::Spec;

    #[test]
    fn the_syntax_names_every_variable_and_function() {
        let listed = |table: &[(&str, &str)]| table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
        assert!(SYNTAX.contains(&listed(&VARIABLES)) && SYNTAX.contains(&listed(&FUNCTIONS)));
    }

    #[test]
    fn commas_in_brackets_belong_to_the_expression() {
        let spec = Spec::parse("rule: grow=max(1/w, 0.01), cut=min(w, max(peak, 1))/2").expect("a rule");
        let values: Vec<_> = spec.parameters().map(|(_, value)| value).collect();
        assert_eq!(values, ["max(1/w, 0.01)", "min(w, max(peak, 1))/2"]);
    }

    #[test]
    fn constants_that_no_window_can_have_are_refused() {
        let error = |text: &str| Spec::parse(text).expect_err(text).to_string();
        for (given, always) in [("1/0", "inf"), ("exp(1000)", "inf"), ("ln(-1)", "undefined"), ("100", "100")] {
            let expected =
                format!("`{given}` for `grow`: accepted is from -w to 16 packets, where this is always {always}");
            assert!(
                error(&format!("rule:grow={given}")).ends_with(&expected),
                "{}",
                error(&format!("rule:grow={given}"))
            );
        }
        for (given, always) in [("0/0", "undefined"), ("0", "0"), ("1", "1"), ("max(ln(-1), 3)", "undefined")] {
            let expected =
                format!("`{given}` for `cut`: accepted is from 2 to w packets, where this is always {always}");
            assert!(
                error(&format!("rule:cut={given}")).ends_with(&expected),
                "{}",
                error(&format!("rule:cut={given}"))
            );
        }
        for text in ["rule:grow=16", "rule:grow=0", "rule:grow=-1", "rule:cut=2", "rule:cut=w*2", "rule:cut=w-1e9"] {
            assert!(Spec::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_expression_and_the_place() {
        let error = |text: &str| Spec::parse(text).expect_err(text).to_string();
        assert_eq!(error("rule:grwo=1"), "rule has no parameter `grwo`; did you mean `grow`? (it has grow, cut)");
        assert_eq!(
            error("rule:cut=w/"),
            "rule: cannot take `w/` for `cut`: accepted is a number, a name or `(` at character 3, where the end stands"
        );
        assert!(
            error("rule:grow=1/v").contains("cannot take `1/v` for `grow`: accepted is one of the variables w, rtt")
        );
        assert!(error("rule:grow=max(1/w,cut=w/2").ends_with("at character 9, where `cut` stands"));
        assert!(error("rule:grow=1),cut=2").contains("an operator or the end at character 2, where `)` stands"));
    }
}
