//! Expressions, as of [a rule of one's own](super::rule): arithmetic and choices over a few variables, without loops. An expression is
//! read once, into steps for a stack of bounded height.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression(Arc<[Step]>);

/// Why an expression cannot be read, as what would be accepted and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressionError {
    /// Something else stands there. Characters are counted from 1.
    Expected {
        /// What would be accepted.
        expected: &'static str,
        /// The character.
        at: usize,
        /// What stands there.
        found: String,
    },
    /// It is longer or deeper than an expression may be.
    TooLong,
    /// Neither a variable nor a function.
    UnknownName {
        /// As it was written.
        name: String,
        /// The character.
        at: usize,
        /// The variables, with commas between.
        variables: String,
    },
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { expected, at, found } => write!(out, "{expected} at character {at}, where {found} stands"),
            Self::TooLong => write!(
                out,
                "at most {MAX_LENGTH} characters, {MAX_STEPS} numbers, names and operators, and brackets {MAX_DEPTH} deep"
            ),
            Self::UnknownName { name, at, variables } => write!(
                out,
                "one of the variables {variables} or of the functions {} at character {at}, where `{name}` stands",
                names(&FUNCTIONS)
            ),
        }
    }
}

impl core::error::Error for ExpressionError {}

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;
type Three = fn(f64, f64, f64) -> f64;

#[derive(Clone, Copy, Debug)]
enum Step {
    Number(f64),
    Name(usize),
    Negate,
    Three(Three),
    Two(Two, Reach),
    One(One),
}

/// How the values of an operation follow from the ranges of its two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It grows or falls with each number, so that the ends of the ranges give the extremes.
    Monotone,
    /// The ends give the extremes, and zero times a number without bound is zero.
    Product,
    /// Monotone unless the divisor can be zero.
    Quotient,
    /// Monotone unless the base can be negative.
    Power,
}

impl Expression {
    /// Reads `text` over `variables`.
    ///
    /// # Errors
    /// The text is no expression, or has other names.
    pub fn read(text: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        if text.len() > MAX_LENGTH {
            return Err(ExpressionError::TooLong);
        }
        let mut reader = Reader { text: text.as_bytes(), at: 0, depth: 0, steps: Vec::new(), variables };
        reader.comparison()?;
        match reader.next() {
            None => Ok(Self(reader.steps.into())),
            Some(_) => Err(reader.expected("an operator or the end")),
        }
    }

    /// Its value with the variables' `numbers`, in the order of [`read`](Self::read). A variable without a number is undefined.
    #[must_use]
    pub fn value(&self, numbers: &[f64]) -> f64 {
        // No step takes more than there is: the grammar pushes before it takes. Its height is bounded by the number of steps.
        let mut stack = [0.0; MAX_STEPS];
        let mut top = 0;
        for step in &*self.0 {
            match *step {
                Step::Number(number) => (stack[top], top) = (number, top + 1),
                Step::Name(index) => {
                    (stack[top], top) = (numbers.get(index).copied().unwrap_or(f64::NAN), top + 1);
                }
                Step::Negate => stack[top - 1] = -stack[top - 1],
                Step::One(of) => stack[top - 1] = of(stack[top - 1]),
                Step::Two(of, _) => {
                    top -= 1;
                    stack[top - 1] = of(stack[top - 1], stack[top]);
                }
                Step::Three(of) => {
                    top -= 2;
                    stack[top - 1] = of(stack[top - 1], stack[top], stack[top + 1]);
                }
            }
        }
        stack[0]
    }

    /// Whether the variable at this index stands in it.
    #[must_use]
    pub fn uses(&self, variable: usize) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Name(index) if *index == variable))
    }

    /// Its value, where that is one whatever the variables are: no variable stands in it, or a part that always counts is undefined.
    #[must_use]
    pub fn constant(&self) -> Option<f64> {
        let mut stack: Vec<Option<f64>> = Vec::new();
        for step in &*self.0 {
            let value = match *step {
                Step::Number(number) => Some(number),
                Step::Name(_) => None,
                Step::Negate => stack.pop()?.map(|value| -value),
                Step::One(of) => stack.pop()?.map(of),
                Step::Two(of, _) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    let undefined = [left, right].into_iter().flatten().find(|value| value.is_nan());
                    undefined.or_else(|| left.zip(right).map(|(left, right)| of(left, right)))
                }
                Step::Three(of) => {
                    let (otherwise, then, condition) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    match condition {
                        Some(condition) if condition.is_nan() => Some(condition),
                        // The part that is not chosen may be anything.
                        Some(0.0) => otherwise,
                        Some(_) => then,
                        None => then
                            .zip(otherwise)
                            .filter(|(then, otherwise)| then.total_cmp(otherwise).is_eq())
                            .map(|(then, _)| of(1.0, then, then)),
                    }
                }
            };
            stack.push(value);
        }
        stack.pop().flatten()
    }

    /// The least and the largest value that it may have, where each variable is in its range of `ranges`, in the order of
    /// [`read`](Self::read). No value lies outside, and not each inside need be reached: two places of a variable count as two variables.
    #[must_use]
    pub fn range(&self, ranges: &[[f64; 2]]) -> [f64; 2] {
        let mut stack: Vec<[f64; 2]> = Vec::new();
        for step in &*self.0 {
            let mut take = || stack.pop().unwrap_or(ANY);
            let range = match *step {
                Step::Number(number) => [number; 2],
                Step::Name(index) => ranges.get(index).copied().unwrap_or(ANY),
                Step::Negate => {
                    let [low, high] = take();
                    [-high, -low]
                }
                // A magnitude is least at zero; the others only grow.
                Step::One(of) => {
                    let [low, high] = take();
                    hull(&[of(low), of(high), of(0.0_f64.clamp(low, high))])
                }
                Step::Two(of, reach) => {
                    let (right, left) = (take(), take());
                    reach.range(of, left, right)
                }
                Step::Three(_) => {
                    let (otherwise, then, condition) = (take(), take(), take());
                    match condition {
                        [0.0, 0.0] => otherwise,
                        [low, high] if low > 0.0 || high < 0.0 => then,
                        _ => hull(&[then, otherwise].concat()),
                    }
                }
            };
            stack.push(range);
        }
        stack.pop().unwrap_or(ANY)
    }
}

impl Reach {
    fn range(self, of: Two, left: [f64; 2], right: [f64; 2]) -> [f64; 2] {
        let ends = left.map(|left| right.map(|right| of(left, right)));
        // No variable is infinite: a product with zero is zero, and a quotient of two large numbers is above zero.
        let bounded =
            || hull(&ends.concat().iter().map(|end| if end.is_nan() { 0.0 } else { *end }).collect::<Vec<f64>>());
        match self {
            Self::Monotone => hull(&ends.concat()),
            Self::Product => bounded(),
            Self::Quotient if right[0] > 0.0 || right[1] < 0.0 => bounded(),
            Self::Quotient if right[0] == 0.0 && right[1] > 0.0 && left[0] >= 0.0 => {
                [if right[1].is_finite() { left[0] / right[1] } else { 0.0 }, f64::INFINITY]
            }
            Self::Power if left[0] >= 0.0 => hull(&ends.concat()),
            Self::Quotient | Self::Power => ANY,
        }
    }
}

/// The range of some values; any number if one of them is undefined.
fn hull(values: &[f64]) -> [f64; 2] {
    if values.iter().any(|value| value.is_nan()) {
        return ANY;
    }
    values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(*value), high.max(*value)])
}

const ANY: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// `of`, undefined where either number is: C's functions hide that.
macro_rules! strict {
    ($of:path) => {
        |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { $of(a, b) }
    };
}

/// Reads by recursive descent: a comparison of sums of products of powers.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    steps: Vec<Step>,
    variables: &'a [&'a str],
}

impl Reader<'_> {
    /// At most one: `a < b < c` would compare a truth with a number.
    fn comparison(&mut self) -> Result<(), ExpressionError> {
        self.sum()?;
        let of: Two = match self.next() {
            Some(b'<') => strict!(less),
            Some(b'>') => strict!(more),
            _ => return Ok(()),
        };
        self.at += 1;
        self.sum()?;
        self.push(Step::Two(of, Reach::Monotone))
    }

    fn sum(&mut self) -> Result<(), ExpressionError> {
        self.product()?;
        loop {
            let of: Two = match self.next() {
                Some(b'+') => |a, b| a + b,
                Some(b'-') => |a, b| a - b,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.push(Step::Two(of, Reach::Monotone))?;
        }
    }

    fn product(&mut self) -> Result<(), ExpressionError> {
        self.signed()?;
        loop {
            let (of, reach): (Two, Reach) = match self.next() {
                Some(b'*') => (|a, b| a * b, Reach::Product),
                Some(b'/') => (|a, b| a / b, Reach::Quotient),
                _ => return Ok(()),
            };
            self.at += 1;
            self.signed()?;
            self.push(Step::Two(of, reach))?;
        }
    }

    fn signed(&mut self) -> Result<(), ExpressionError> {
        if self.next() != Some(b'-') {
            return self.power();
        }
        self.at += 1;
        self.nested(Self::signed)?;
        self.push(Step::Negate)
    }

    /// Binds to the right, and tighter than a sign before it.
    fn power(&mut self) -> Result<(), ExpressionError> {
        self.value()?;
        if self.next() != Some(b'^') {
            return Ok(());
        }
        self.at += 1;
        self.nested(Self::signed)?;
        self.push(Step::Two(strict!(libm::pow), Reach::Power))
    }

    fn value(&mut self) -> Result<(), ExpressionError> {
        match self.next() {
            Some(b'(') => {
                self.at += 1;
                self.nested(Self::comparison)?;
                self.close(b')', "`)`")
            }
            Some(first) if first.is_ascii_digit() || first == b'.' => self.number(),
            Some(first) if first.is_ascii_alphabetic() => self.name(),
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn number(&mut self) -> Result<(), ExpressionError> {
        let start = self.at;
        let digits = |reader: &mut Self| {
            while reader.text.get(reader.at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
                reader.at += 1;
            }
        };
        digits(self);
        if self.text.get(self.at).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e')) {
            let sign = self.text.get(self.at + 1).is_some_and(|byte| b"+-".contains(byte));
            self.at += 1 + usize::from(sign);
            digits(self);
        }
        let text = core::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => self.push(Step::Number(number)),
            read => {
                let expected = if read.is_ok() { "a number below 1.8e308" } else { "a number" };
                let cut = if text.len() > MAX_SHOWN { "…" } else { "" };
                let found = format!("`{}{cut}`", &text[..text.len().min(MAX_SHOWN)]);
                Err(ExpressionError::Expected { expected, at: start + 1, found })
            }
        }
    }

    fn name(&mut self) -> Result<(), ExpressionError> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if let Some(index) = self.variables.iter().position(|known| *known == name) {
            return self.push(Step::Name(index));
        }
        let Some(step) = function(&name) else {
            return Err(ExpressionError::UnknownName { name, at: start + 1, variables: self.variables.join(", ") });
        };
        self.close(b'(', "`(`")?;
        self.nested(Self::comparison)?;
        let more = match step {
            Step::Three(_) => 2,
            Step::Two(..) => 1,
            _ => 0,
        };
        for _ in 0..more {
            self.close(b',', "`,`")?;
            self.nested(Self::comparison)?;
        }
        self.close(b')', "`)`")?;
        self.push(step)
    }

    fn nested(&mut self, part: fn(&mut Self) -> Result<(), ExpressionError>) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::TooLong);
        }
        part(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn push(&mut self, step: Step) -> Result<(), ExpressionError> {
        if self.steps.len() == MAX_STEPS {
            return Err(ExpressionError::TooLong);
        }
        self.steps.push(step);
        Ok(())
    }

    fn close(&mut self, byte: u8, expected: &'static str) -> Result<(), ExpressionError> {
        if self.next() != Some(byte) {
            return Err(self.expected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expected(&mut self, expected: &'static str) -> ExpressionError {
        let rest = String::from_utf8_lossy(&self.text[self.at.min(self.text.len())..]).into_owned();
        let found = rest.chars().next().map_or("the end".to_string(), |character| format!("`{character}`"));
        ExpressionError::Expected { expected, at: self.at + 1, found }
    }
}

/// The effect of a function on the stack; none of an unknown name.
fn function(name: &str) -> Option<Step> {
    Some(match name {
        "abs" => Step::One(libm::fabs),
        "cbrt" => Step::One(libm::cbrt),
        "exp" => Step::One(libm::exp),
        "floor" => Step::One(libm::floor),
        "if" => Step::Three(choose),
        "ln" => Step::One(libm::log),
        "max" => Step::Two(strict!(libm::fmax), Reach::Monotone),
        "min" => Step::Two(strict!(libm::fmin), Reach::Monotone),
        "sqrt" => Step::One(libm::sqrt),
        _ => return None,
    })
}

/// 1 where the first number is smaller, 0 elsewhere.
fn less(a: f64, b: f64) -> f64 {
    f64::from(u8::from(a < b))
}

/// 1 where the first number is larger, 0 elsewhere.
fn more(a: f64, b: f64) -> f64 {
    less(b, a)
}

/// The value of `if`; an undefined condition has none.
fn choose(condition: f64, then: f64, otherwise: f64) -> f64 {
    if condition.is_nan() {
        condition
    } else if condition == 0.0 {
        otherwise
    } else {
        then
    }
}

/// The names in a table, with commas between.
fn names(table: &[(&str, &str)]) -> String {
    table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The functions of an expression: name, meaning.
pub const FUNCTIONS: [(&str, &str); 9] = [
    ("abs", "the magnitude of a number"),
    ("cbrt", "the cube root"),
    ("exp", "e to a power"),
    ("floor", "the largest whole number that is not above"),
    (
        "if",
        "the second number where the first is not 0, elsewhere the third: `if(age < 1, 1/w, 2/w)`; `a < b` and `a > b` are 1 or 0",
    ),
    ("ln", "the natural logarithm"),
    ("max", "the larger of two numbers: `max(1/w, 0.01)`"),
    ("min", "the smaller of two numbers"),
    ("sqrt", "the square root"),
];

/// A reader takes in no more at a glance, and numbers are the only part of an expression that the steps do not bound.
const MAX_LENGTH: usize = 500;
/// Enough for CUBIC with its Reno-friendly region, and evaluated for each acknowledged packet.
const MAX_STEPS: usize = 64;
const MAX_DEPTH: usize = 32;
/// Characters of a number in an error.
const MAX_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::rule::VARIABLES;

    fn read(text: &str) -> Result<Expression, ExpressionError> {
        Expression::read(text, &VARIABLES.map(|(name, _)| name))
    }

    fn value(text: &str) -> f64 {
        read(text).unwrap_or_else(|error| panic!("{text}: {error}")).value(&[100.0, 0.05, 0.04, 2.0, 80.0, 3.0, 4.0])
    }

    #[test]
    fn arithmetic_binds_as_on_paper() {
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("(1+2)*3", 9.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("8/4/2", 1.0),
            ("1-2-3", -4.0),
            ("1e-3*1.5E3", 1.5),
            ("--3", 3.0),
            ("1/w", 0.01),
            ("w * (1 - 1/8)", 87.5),
            ("max(min(w, peak), 3)", 80.0),
            ("sqrt(w) + cbrt(8) + abs(-1) + floor(1.9) + ln(exp(2))", 16.0),
            ("age * (rtt - min_rtt)", 0.02),
            ("u + v", 7.0),
            ("1+1 < 3", 1.0),
            ("2 > 2", 0.0),
            ("(w > peak) * 5", 5.0),
            ("if(w < peak, 1, 2)", 2.0),
            ("if(age, if(u > v, 7, 8), 9)", 8.0),
            ("if(w > 1, 1, ln(-1))", 1.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text}: {}", value(text));
        }
    }

    #[test]
    fn nothing_hides_an_undefined_part() {
        for text in [
            "max(ln(-w), 3)",
            "min(3, ln(-w))",
            "ln(-w)^0",
            "1^ln(-w)",
            "abs(ln(-w))",
            "-sqrt(-w)",
            "ln(-w) < 1",
            "if(ln(-w), 1, 1)",
            "if(1, ln(-w), 1)",
        ] {
            assert!(value(text).is_nan(), "{text}");
            let constant = text.replace('w', "1");
            assert!(read(&format!("w + {constant}")).is_ok_and(|read| read.constant().is_some_and(f64::is_nan)));
        }
    }

    #[test]
    fn a_range_holds_each_value_and_is_narrow_where_a_variable_stands_once() {
        const INF: f64 = f64::INFINITY;
        // w: 0 to 1, rtt: at least 0, min_rtt: 0.2 to 1, age: any.
        let ranges = [[0.0, 1.0], [0.0, INF], [0.2, 1.0], ANY, [0.0, 2.0], [-1.0, 3.0], [1.0, 2.0]];
        for (text, range) in [
            ("w", [0.0, 1.0]),
            ("min_rtt * 1", [0.2, 1.0]),
            ("1 - 2*w", [-1.0, 1.0]),
            ("-rtt", [-INF, 0.0]),
            ("0 * rtt", [0.0, 0.0]),
            ("rtt - rtt", ANY),
            ("1 / min_rtt", [1.0, 5.0]),
            ("v / w", [1.0, INF]),
            ("w / rtt", [0.0, INF]),
            ("rtt / v", [0.0, INF]),
            ("1 / u", ANY),
            ("abs(u)", [0.0, 3.0]),
            ("u^2", ANY),
            ("v^u", [0.5, 8.0]),
            ("exp(w)", [1.0, core::f64::consts::E]),
            ("ln(u)", ANY),
            ("sqrt(4*w) + floor(v) + cbrt(8)", [3.0, 6.0]),
            ("max(w, 0.5)", [0.5, 1.0]),
            ("min(age, 3)", [-INF, 3.0]),
            ("w < 2", [1.0, 1.0]),
            ("min_rtt > w", [0.0, 1.0]),
            ("if(w < 2, 3, age)", [3.0, 3.0]),
            ("if(w > 2, age, peak)", [0.0, 2.0]),
            ("if(w > 0.5, peak, -1)", [-1.0, 2.0]),
        ] {
            let found = read(text).expect(text).range(&ranges);
            assert!(
                found.iter().zip(range).all(|(found, end)| *found == end || (found - end).abs() < 1e-12),
                "{text}: {found:?}"
            );
            for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let of = |[low, high]: [f64; 2]| low.max(-9.0) + share * (high.min(9.0) - low.max(-9.0));
                let value = read(text).expect(text).value(&ranges.map(of));
                assert!(
                    !value.is_finite() || found[0] - 1e-12 <= value && value <= found[1] + 1e-12,
                    "{text}: {value}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_variable_is_constant() {
        let constant = |text: &str| read(text).expect(text).constant();
        assert_eq!(["2*3 - max(1, 2)", "1/0", "-1"].map(constant), [Some(4.0), Some(f64::INFINITY), Some(-1.0)]);
        assert_eq!(["w", "1/w + 2", "0*age", "w < 3", "if(w > 1, 1, ln(-1))"].map(constant), [None; 5]);
        assert_eq!(["if(1 < 2, 3, w)", "if(w, 3, 3)"].map(constant), [Some(3.0); 2]);
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_place() {
        let error = |text: &str| read(text).expect_err(text).to_string();
        assert_eq!(error(""), "a number, a name or `(` at character 1, where the end stands");
        assert_eq!(error("1 +"), "a number, a name or `(` at character 4, where the end stands");
        assert_eq!(error("1 2"), "an operator or the end at character 3, where `2` stands");
        assert_eq!(error("(w"), "`)` at character 3, where the end stands");
        assert_eq!(error("max(w)"), "`,` at character 6, where `)` stands");
        assert_eq!(error("if(1, 2)"), "`,` at character 8, where `)` stands");
        assert_eq!(error("1 < w < 3"), "an operator or the end at character 7, where `<` stands");
        assert_eq!(error("1 <= w"), "a number, a name or `(` at character 4, where `=` stands");
        assert_eq!(error("1.2.3"), "a number at character 1, where `1.2.3` stands");
        assert_eq!(error("1e"), "a number at character 1, where `1e` stands");
        assert_eq!(error("w + 1e999"), "a number below 1.8e308 at character 5, where `1e999` stands");
        assert_eq!(error(&"1.".repeat(40)), "a number at character 1, where `1.1.1.1.1.1.1.1.1.1.…` stands");
        assert_eq!(
            error("2*x"),
            "one of the variables w, rtt, min_rtt, age, peak, u, v or of the functions abs, cbrt, exp, floor, if, ln, max, min, sqrt \
             at character 3, where `x` stands"
        );
        assert!(error("π").starts_with("a number, a name"));
        for long in ["(".repeat(100), "-".repeat(100_000), "1+".repeat(100), "1".repeat(1000), "max(".repeat(60)] {
            assert_eq!(error(&long), ExpressionError::TooLong.to_string());
        }
    }

    #[test]
    fn an_expression_has_the_variables_that_it_was_read_with() {
        let read = |text| Expression::read(text, &["a_1", "b"]);
        let expression = read("a_1 - 2*b").expect("its names are known");
        assert_eq!((expression.value(&[3.0, 0.5]), expression.uses(0), expression.uses(2)), (2.0, true, false));
        assert!(expression.value(&[3.0]).is_nan());
        let error = read("w").expect_err("a variable of other expressions").to_string();
        assert!(error.starts_with("one of the variables a_1, b or of the functions abs,"), "{error}");
    }

    #[test]
    fn every_name_of_the_tables_is_read() {
        for (name, meaning) in VARIABLES {
            assert!(read(name).is_ok() && function(name).is_none() && !meaning.is_empty(), "{name}");
        }
        for (name, meaning) in FUNCTIONS {
            let text = match function(name) {
                Some(Step::Three(_)) => "(1, 2, 3)",
                Some(Step::Two(..)) => "(1, 2)",
                _ => "(1)",
            };
            assert!(read(&format!("{name}{text}")).is_ok() && !meaning.is_empty(), "{name}");
        }
    }
}
