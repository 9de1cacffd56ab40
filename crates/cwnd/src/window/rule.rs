//! A rule of one's own: `rule:grow=1/w,cut=w/2` names an algorithm by expressions.
//!
//! `grow` is added to the window for each acknowledged packet, `cut` the window after a loss. The shell around them is the one of
//! all window algorithms, so that the defaults are Reno's congestion avoidance to the last bit.
//!
//! A rule may remember two numbers, `u` and `v`. Their expressions are evaluated before each `grow`, first `u`, then `v`.

use alloc::boxed::Box;
use alloc::format;

use super::expression::Expression;
pub use super::expression::FUNCTIONS;
use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::Parameter;
use crate::signal::View;
use crate::units::Time;

/// The expressions, and what their variables need to be remembered.
#[derive(Clone, Debug)]
pub struct Rule {
    grow: Expression,
    cut: Expression,
    /// `u` and `v`. Boxed, because each flow has room for the largest algorithm.
    own: Box<[Own; 2]>,
    /// The last cut, or the end of slow start.
    since: Time,
    /// The window before it.
    peak: f64,
}

/// A number that the rule remembers.
#[derive(Clone, Debug)]
struct Own {
    value: f64,
    /// None where it never changes.
    next: Option<Expression>,
}

impl Own {
    /// A number that never changes has its value from the start; any other begins at 0.
    fn new(next: Expression) -> Self {
        match next.constant() {
            Some(value) => Self { value, next: None },
            None => Self { value: 0.0, next: Some(next) },
        }
    }

    /// An undefined value leaves the number as it was.
    fn step(&mut self, numbers: &Numbers) {
        let Some(next) = &self.next else { return };
        let value = next.value(numbers);
        if !value.is_nan() {
            self.value = value.clamp(-f64::MAX, f64::MAX);
        }
    }
}

impl Rule {
    fn numbers(&self, w: f64, view: &View) -> Numbers {
        let (rtt, least) = view.rtt.map_or((0.1, 0.1), |rtt| (rtt.smoothed.as_secs_f64(), rtt.min.as_secs_f64()));
        [w, rtt, least, view.now.since(self.since).as_secs_f64(), self.peak, self.own[0].value, self.own[1].value]
    }
}

impl WindowRule for Rule {
    fn grow(&mut self, w: f64, view: &View) -> f64 {
        for index in 0..self.own.len() {
            let numbers = self.numbers(w, view);
            self.own[index].step(&numbers);
        }
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
    title: "a custom rule: expressions in the shell of all window algorithms",
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
        Parameter::text("u", "0", SYNTAX, "a number that the rule remembers: its next value, before each `grow`"),
        Parameter::text("v", "0", SYNTAX, "another, after `u`"),
    ],
    build: |values, start| {
        let read = |name, (least, most), accepted| {
            let read = Expression::read(values.text(name), &variables())
                .map_err(|error| InvalidParameter::new(name, error))?;
            match read.constant() {
                Some(value) if value.is_nan() => {
                    Err(InvalidParameter::new(name, format!("{accepted}, where this is always undefined")))
                }
                Some(value) if !(least..=most).contains(&value) => {
                    // The digits of a large number say less than its power of ten.
                    let value = if value.abs() < 1e15 { format!("{value}") } else { format!("{value:e}") };
                    Err(InvalidParameter::new(name, format!("{accepted}, where this is always {value}")))
                }
                _ => Ok(read),
            }
        };
        let grow = read("grow", (-f64::MAX, MOST), "from -w to 16 packets")?;
        let cut = read("cut", (LEAST, f64::MAX), "from 2 to w packets")?;
        let own = |name| read(name, (-f64::MAX, f64::MAX), "a finite number");
        let (u, v) = (own("u")?, own("v")?);
        let reads = |variable| grow.uses(variable) || cut.uses(variable);
        let idle = [("u", reads(U) || reads(V) && v.uses(U)), ("v", reads(V) || reads(U) && u.uses(V))];
        if let Some((name, _)) = idle.into_iter().find(|(name, used)| !used && values.text(name) != "0") {
            return Err(InvalidParameter::new(
                name,
                format!("none in a rule whose `grow` and `cut` do not use `{name}`"),
            ));
        }
        let own = Box::new([Own::new(u), Own::new(v)]);
        let rule = Rule { grow, cut, own, since: Time::ZERO, peak: 0.0 };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

/// The names of [`VARIABLES`].
fn variables() -> [&'static str; VARIABLES.len()] {
    VARIABLES.map(|(name, _)| name)
}

const SYNTAX: &str = "numbers, `+ - * / ^ < > ( )`, the variables `w rtt min_rtt age peak u v`, the functions `abs cbrt exp floor if ln max min sqrt`";

/// The variables of a rule's expressions: name, meaning with its unit.
pub const VARIABLES: [(&str, &str); 7] = [
    ("w", "the window, packets"),
    ("rtt", "the smoothed round-trip time, seconds"),
    ("min_rtt", "the least round-trip time so far, seconds"),
    ("age", "the time since the last cut or the end of slow start, seconds"),
    ("peak", "the window before the last cut, packets"),
    ("u", "the first number of one's own: the last value of the parameter `u`"),
    ("v", "the second number of one's own: the last value of the parameter `v`"),
];

/// The values of [`VARIABLES`], in their order.
type Numbers = [f64; VARIABLES.len()];

/// Indexes of the rule's own numbers in the variables of expressions.
const U: usize = 5;
const V: usize = 6;

/// Slow start adds one packet for each that is acknowledged; a rule that adds many times that sends nothing but bursts.
const MOST: f64 = 16.0;

/// What congestion leaves at least, but in the eras of ns-2.
const LEAST: f64 = 2.0;

/// The replacement of values that no window can have.
pub const BOUNDS: &str = "A value beyond the bounds of `grow` or `cut`, or infinite, counts as the bound. An undefined value, such as `0/0` or \
    `ln(-1)`, makes every expression around it undefined, `max` and `min` too, but not `if` where it stands in the part that is not chosen: `grow` then adds nothing, `cut` leaves \
    w/2, and `u` or `v` keeps its value. `u` and `v` begin at 0, or at the value of an expression without variables. They change before each \
    `grow`, which is in congestion avoidance and outside recovery, so a rule sees a cut by its `age`. A model without packets evaluates \
    them once for each of its steps. An expression that no variable can change is refused if it is undefined, infinite or beyond the bounds.";

/// Rules that follow a published one, or use what a rule can: name, rule.
pub const EXAMPLES: [(&str, &str); 3] = [
    (
        "LEDBAT (RFC 6817): the window falls where more than 100 ms wait in queues",
        "rule:grow=(0.1-(rtt-min_rtt))/0.1/w,cut=w/2",
    ),
    (
        "H-TCP (draft-leith-tcp-htcp): `u` is the longest round-trip time, `v` the fraction to keep",
        "rule:u=max(u, rtt),v=max(0.5, min(0.8, min_rtt/u)),\
         grow=2*(1-v)*if(age < 1, 1, 1+10*(age-1)+((age-1)/2)^2)/w,cut=max(v, 0.5)*w",
    ),
    (
        "a mean queueing delay `u` is held at 10 ms: up below it, down above it",
        "rule:u=0.9*u+0.1*(rtt-min_rtt),grow=if(u < 0.01, 1/w, -1/w)",
    ),
];

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;
    use crate::registry::Spec;
    use crate::script::view;

    #[test]
    fn the_syntax_names_every_variable_and_function() {
        let listed = |table: &[(&str, &str)]| table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
        assert!(SYNTAX.contains(&listed(&VARIABLES)) && SYNTAX.contains(&listed(&FUNCTIONS)));
    }

    /// The growth of a rule at a window of 100 packets, this many milliseconds after its last cut, one packet after the other.
    fn growth(text: &str, after: &[u64]) -> Vec<f64> {
        let built = Spec::parse(text).expect("a rule");
        let values = built.parameters().map(|(parameter, value)| (parameter.name, value)).collect::<Vec<_>>();
        let expression = |name| {
            let (_, text) = values.iter().find(|(known, _)| *known == name).expect("a parameter");
            Expression::read(text, &variables()).expect("an expression")
        };
        let mut rule = Rule {
            grow: expression("grow"),
            cut: expression("cut"),
            own: Box::new([Own::new(expression("u")), Own::new(expression("v"))]),
            since: Time::ZERO,
            peak: 200.0,
        };
        after.iter().map(|at| rule.grow(100.0, &view(*at))).collect()
    }

    #[test]
    fn numbers_are_remembered_from_one_packet_to_the_next() {
        // A count, a number that never changes, and one that is undefined at first: it stays 0.
        assert_eq!(growth("rule:u=u+1,v=0.5,grow=u*v", &[0, 1, 2]), [0.5, 1.0, 1.5]);
        assert_eq!(growth("rule:u=ln(-w),grow=u+1", &[0, 1]), [1.0, 1.0]);
        // `v` sees the new `u`.
        assert_eq!(growth("rule:u=u+1,v=u,grow=v", &[0, 1]), [1.0, 2.0]);
        assert_eq!(growth("rule:grow=if(age < 1, 1, 2)", &[999, 1000]), [1.0, 2.0]);
    }

    #[test]
    fn commas_in_brackets_belong_to_the_expression() {
        let spec = Spec::parse("rule: grow=max(1/w, 0.01), cut=min(w, max(peak, 1))/2").expect("a rule");
        let values: Vec<_> = spec.parameters().map(|(_, value)| value).collect();
        assert_eq!(values, ["max(1/w, 0.01)", "min(w, max(peak, 1))/2", "0", "0"]);
    }

    #[test]
    fn constants_that_no_window_can_have_are_refused() {
        let error = |text: &str| Spec::parse(text).expect_err(text).to_string();
        for (given, always) in [
            ("1/0", "inf"),
            ("exp(1000)", "inf"),
            ("ln(-1)", "undefined"),
            ("100", "100"),
            ("1e308", "1e308"),
            ("1e14", "100000000000000"),
        ] {
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
        assert_eq!(error("rule:grwo=1"), "rule has no parameter `grwo`; did you mean `grow`? (it has grow, cut, u, v)");
        assert_eq!(
            error("rule:cut=w/"),
            "rule: cannot take `w/` for `cut`: accepted is a number, a name or `(` at character 3, where the end stands"
        );
        assert!(
            error("rule:grow=1/x").contains("cannot take `1/x` for `grow`: accepted is one of the variables w, rtt")
        );
        assert!(error("rule:grow=max(1/w,cut=w/2").ends_with("at character 9, where `cut` stands"));
        assert!(error("rule:grow=1),cut=2").contains("an operator or the end at character 2, where `)` stands"));
    }

    #[test]
    fn a_number_that_nothing_uses_is_refused() {
        for used in ["rule:u=u+1,grow=u/w", "rule:u=u+1,v=u*2,cut=w-v", "rule:v=age,u=v,grow=u/w"] {
            assert!(crate::Spec::parse(used).is_ok(), "{used}");
        }
        for (idle, name) in [("rule:u=u+1", "`u`"), ("rule:v=u,u=1", "`u`"), ("rule:v=rtt,grow=u/w,u=age", "`v`")] {
            let error = crate::Spec::parse(idle).expect_err(idle).to_string();
            assert!(error.contains(name), "{idle}: {error}");
        }
    }
}
