//! Expressions of a rule of one's own: arithmetic over a few named numbers, without loops, memory or anything to call but functions of
//! numbers. What is read once is a list of steps for a stack of known height.

use std::sync::Arc;

use thiserror::Error;

/// An expression that was read.
#[derive(Clone, Debug)]
pub(crate) struct Expression(Arc<[Step]>);

/// What an expression may name, by its place in [`NAMES`].
pub(crate) type Numbers = [f64; NAMES.len()];

/// An expression cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum ExpressionError {
    #[error("expected {expected} at character {at}, found {found}")]
    Expected { expected: &'static str, at: usize, found: String },
    #[error("an expression of more than {MAX_STEPS} steps, or brackets more than {MAX_DEPTH} deep")]
    Long,
    #[error("unknown name `{name}` at character {at}: there are {}, and the functions {}", NAMES.join(", "), functions())]
    Unknown { name: String, at: usize },
}

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;

#[derive(Clone, Copy, Debug)]
enum Step {
    Number(f64),
    Name(usize),
    Negate,
    Two(Two),
    One(One),
}

impl Expression {
    /// Reads `text`.
    pub(crate) fn read(text: &str) -> Result<Self, ExpressionError> {
        let mut reader = Reader { text: text.as_bytes(), at: 0, depth: 0, steps: Vec::new() };
        reader.sum()?;
        match reader.next() {
            None => Ok(Self(reader.steps.into())),
            Some(_) => Err(reader.expected("an operator or the end")),
        }
    }

    /// Its value.
    pub(crate) fn value(&self, numbers: &Numbers) -> f64 {
        // No step takes more than there is: the grammar pushes before it takes. Its height is bounded by the number of steps.
        let mut stack = [0.0; MAX_STEPS];
        let mut top = 0;
        for step in &*self.0 {
            match *step {
                Step::Number(number) => (stack[top], top) = (number, top + 1),
                Step::Name(index) => (stack[top], top) = (numbers[index], top + 1),
                Step::Negate => stack[top - 1] = -stack[top - 1],
                Step::One(of) => stack[top - 1] = of(stack[top - 1]),
                Step::Two(of) => {
                    top -= 1;
                    stack[top - 1] = of(stack[top - 1], stack[top]);
                }
            }
        }
        stack[0]
    }
}

/// Reads by recursive descent: a sum of products of powers.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    steps: Vec<Step>,
}

impl Reader<'_> {
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
            self.push(Step::Two(of))?;
        }
    }

    fn product(&mut self) -> Result<(), ExpressionError> {
        self.signed()?;
        loop {
            let of: Two = match self.next() {
                Some(b'*') => |a, b| a * b,
                Some(b'/') => |a, b| a / b,
                _ => return Ok(()),
            };
            self.at += 1;
            self.signed()?;
            self.push(Step::Two(of))?;
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
        self.push(Step::Two(libm::pow))
    }

    fn value(&mut self) -> Result<(), ExpressionError> {
        match self.next() {
            Some(b'(') => {
                self.at += 1;
                self.nested(Self::sum)?;
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
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => self.push(Step::Number(number)),
            _ => {
                self.at = start;
                Err(self.expected("a number"))
            }
        }
    }

    fn name(&mut self) -> Result<(), ExpressionError> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if let Some(index) = NAMES.iter().position(|known| *known == name) {
            return self.push(Step::Name(index));
        }
        let one = ONE.iter().find(|(known, _)| *known == name).map(|(_, of)| Step::One(*of));
        let two = TWO.iter().find(|(known, _)| *known == name).map(|(_, of)| Step::Two(*of));
        let step = one.or(two).ok_or(ExpressionError::Unknown { name, at: start + 1 })?;
        self.close(b'(', "`(`")?;
        self.nested(Self::sum)?;
        if matches!(step, Step::Two(_)) {
            self.close(b',', "`,`")?;
            self.nested(Self::sum)?;
        }
        self.close(b')', "`)`")?;
        self.push(step)
    }

    fn nested(&mut self, part: fn(&mut Self) -> Result<(), ExpressionError>) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::Long);
        }
        part(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn push(&mut self, step: Step) -> Result<(), ExpressionError> {
        if self.steps.len() == MAX_STEPS {
            return Err(ExpressionError::Long);
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

fn functions() -> String {
    let names: Vec<&str> = ONE.iter().map(|(name, _)| *name).chain(TWO.iter().map(|(name, _)| *name)).collect();
    names.join(", ")
}

/// The window, the smoothed and the shortest round-trip time in seconds, the seconds since the last cut, and the window before it.
pub(crate) const NAMES: [&str; 5] = ["w", "rtt", "min_rtt", "age", "peak"];

const ONE: [(&str, One); 6] = [
    ("abs", libm::fabs),
    ("cbrt", libm::cbrt),
    ("exp", libm::exp),
    ("floor", libm::floor),
    ("ln", libm::log),
    ("sqrt", libm::sqrt),
];
const TWO: [(&str, Two); 2] = [("max", libm::fmax), ("min", libm::fmin)];
/// Enough for CUBIC with its region beside Reno, and evaluated for each acknowledged packet.
const MAX_STEPS: usize = 64;
const MAX_DEPTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        Expression::read(text).unwrap_or_else(|error| panic!("{text}: {error}")).value(&[100.0, 0.05, 0.04, 2.0, 80.0])
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
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text}: {}", value(text));
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_place() {
        let error = |text: &str| Expression::read(text).expect_err(text).to_string();
        assert_eq!(error(""), "expected a number, a name or `(` at character 1, found the end");
        assert_eq!(error("1 +"), "expected a number, a name or `(` at character 4, found the end");
        assert_eq!(error("1 2"), "expected an operator or the end at character 3, found `2`");
        assert_eq!(error("(w"), "expected `)` at character 3, found the end");
        assert_eq!(error("max(w)"), "expected `,` at character 6, found `)`");
        assert_eq!(error("1.2.3"), "expected a number at character 1, found `1`");
        assert!(error("2*v").starts_with("unknown name `v` at character 3: there are w, rtt, min_rtt, age, peak"));
        assert!(error("π").starts_with("expected a number"));
        assert!(error(&"(".repeat(1000)).contains("brackets"));
        assert!(error(&"-".repeat(100_000)).contains("brackets"));
        assert!(error(&"1+".repeat(1000)).contains("steps"));
    }
}
