//! The parameters of algorithms: names, defaults, ranges, and values that were checked against them.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::quantity;

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key in `name:key=value`.
    pub name: &'static str,
    /// What it does, in half a line.
    pub help: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Its type, default and range.
    pub kind: Kind,
}

/// The type, default and range of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A real number.
    Number {
        /// None where the algorithm derives it from others.
        default: Option<f64>,
        /// How a derived default comes about; empty otherwise.
        derived: &'static str,
        /// The accepted values.
        range: Range,
    },
    /// One of a few words.
    Choice {
        /// The default.
        default: &'static str,
        /// All of them.
        options: &'static [&'static str],
    },
    /// A rate with its unit, in bits per second; none unless given.
    BitRate,
    /// A time with its unit, in seconds; none unless given.
    Span,
    /// Text that the algorithm reads itself.
    Text {
        /// The default.
        default: &'static str,
        /// What it accepts.
        syntax: &'static str,
    },
}

/// An interval of real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    low_open: bool,
    high_open: bool,
}

/// Checked values of an entry's parameters.
#[derive(Clone, Debug)]
pub struct Values {
    parameters: &'static [Parameter],
    pub(crate) given: Vec<Option<Value>>,
    /// Which of them an algorithm has asked for.
    asked: Arc<[AtomicBool]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Choice(&'static str),
    Text(String),
}

impl Parameter {
    /// A number with a default.
    #[must_use]
    pub const fn number(name: &'static str, default: f64, help: &'static str) -> Self {
        let kind = Kind::Number { default: Some(default), derived: "", range: Range::ALL };
        Self { name, help, unit: "", kind }
    }

    /// A number that the algorithm derives from others unless it is given; `rule` says how.
    #[must_use]
    pub const fn derived(name: &'static str, rule: &'static str, help: &'static str) -> Self {
        let kind = Kind::Number { default: None, derived: rule, range: Range::ALL };
        Self { name, help, unit: "", kind }
    }

    /// One of a few words, the first of them the default.
    #[must_use]
    pub const fn choice(name: &'static str, options: &'static [&'static str], help: &'static str) -> Self {
        Self { name, help, unit: "", kind: Kind::Choice { default: options[0], options } }
    }

    /// A rate in bits per second, none unless given.
    #[must_use]
    pub const fn bit_rate(name: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: "bit/s", kind: Kind::BitRate }
    }

    /// A time in seconds, none unless given.
    #[must_use]
    pub const fn span(name: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: "s", kind: Kind::Span }
    }

    /// Text that the algorithm reads itself.
    #[must_use]
    pub const fn text(name: &'static str, default: &'static str, syntax: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: "", kind: Kind::Text { default, syntax } }
    }

    /// The same parameter with a unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The same number, at least `low`.
    #[must_use]
    pub const fn at_least(self, low: f64) -> Self {
        self.low(low, false)
    }

    /// The same number, above `low`.
    #[must_use]
    pub const fn above(self, low: f64) -> Self {
        self.low(low, true)
    }

    /// The same number, at most `high`.
    #[must_use]
    pub const fn at_most(self, high: f64) -> Self {
        self.high(high, false)
    }

    /// The same number, below `high`.
    #[must_use]
    pub const fn below(self, high: f64) -> Self {
        self.high(high, true)
    }

    /// The default, as a person would write it.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.kind {
            Kind::Number { default: Some(default), .. } => default.to_string(),
            Kind::Number { derived, .. } => derived.to_string(),
            Kind::Choice { default, .. } | Kind::Text { default, .. } => default.to_string(),
            Kind::BitRate | Kind::Span => "none".to_string(),
        }
    }

    /// The accepted values, as a person would say it.
    #[must_use]
    pub fn accepted(&self) -> String {
        match self.kind {
            Kind::Number { range, .. } => range.to_string(),
            Kind::Choice { options, .. } => options.join(" | "),
            Kind::BitRate => "a rate with its unit, such as `1gbit`".to_string(),
            Kind::Span => "a time with its unit, such as `10ms`".to_string(),
            Kind::Text { syntax, .. } => syntax.to_string(),
        }
    }

    const fn low(mut self, low: f64, open: bool) -> Self {
        if let Kind::Number { default, derived, range } = self.kind {
            self.kind = Kind::Number { default, derived, range: Range { low, low_open: open, ..range } };
        }
        self
    }

    const fn high(mut self, high: f64, open: bool) -> Self {
        if let Kind::Number { default, derived, range } = self.kind {
            self.kind = Kind::Number { default, derived, range: Range { high, high_open: open, ..range } };
        }
        self
    }

    pub(crate) fn read(&self, text: &str) -> Option<Value> {
        match self.kind {
            Kind::Number { range, .. } => {
                quantity::number(text).ok().filter(|value| range.contains(*value)).map(Value::Number)
            }
            Kind::Choice { options, .. } => {
                options.iter().find(|option| option.eq_ignore_ascii_case(text)).map(|option| Value::Choice(option))
            }
            Kind::BitRate => quantity::bit_rate(text).ok().map(|rate| Value::Number(rate.0)),
            Kind::Span => quantity::span(text).ok().map(|span| Value::Number(span.as_secs_f64())),
            Kind::Text { .. } => Some(Value::Text(text.to_string())),
        }
    }
}

impl Range {
    /// Every finite number.
    pub const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, low_open: true, high_open: true };

    /// Whether `value` lies inside.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        let low = if self.low_open { value > self.low } else { value >= self.low };
        let high = if self.high_open { value < self.high } else { value <= self.high };
        low && high
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_open { "above" } else { "at least" };
        let high = if self.high_open { "below" } else { "at most" };
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => write!(out, "{low} {} and {high} {}", self.low, self.high),
            (true, false) => write!(out, "{low} {}", self.low),
            (false, true) => write!(out, "{high} {}", self.high),
            (false, false) => write!(out, "any number"),
        }
    }
}

impl Values {
    pub(crate) fn none(parameters: &'static [Parameter]) -> Self {
        let asked = parameters.iter().map(|_| AtomicBool::new(false)).collect();
        Self { parameters, given: vec![None; parameters.len()], asked }
    }

    /// The same, of which no algorithm has asked for any.
    pub(crate) fn unread(&self) -> Self {
        Self { given: self.given.clone(), ..Self::none(self.parameters) }
    }

    /// The indices of those that are given although no algorithm has asked for them.
    pub(crate) fn unasked(&self) -> impl Iterator<Item = usize> + '_ {
        let unasked = |index: &usize| self.given[*index].is_some() && !self.asked[*index].load(Ordering::Relaxed);
        (0..self.given.len()).filter(unasked)
    }

    /// The number given for `name`, or its default; in bit/s and seconds for rates and times.
    ///
    /// # Panics
    /// If the entry declares no such number with a default: an error in the entry, found by the test that builds them all.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        let default = match self.parameter(name).kind {
            Kind::Number { default, .. } => default,
            _ => None,
        };
        self.given(name).or(default).unwrap_or_else(|| panic!("`{name}` has no default: ask for `given`"))
    }

    /// The number given for `name`, if one was.
    ///
    /// # Panics
    /// If the entry declares no such parameter.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The word chosen for `name`.
    ///
    /// # Panics
    /// If the entry declares no such choice.
    #[must_use]
    pub fn choice(&self, name: &str) -> &'static str {
        match (self.value(name), self.parameter(name).kind) {
            (Some(Value::Choice(word)), _) => word,
            (_, Kind::Choice { default, .. }) => default,
            _ => panic!("`{name}` is not a choice"),
        }
    }

    /// The text given for `name`, or its default.
    ///
    /// # Panics
    /// If the entry declares no such text.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match (self.value(name), self.parameter(name).kind) {
            (Some(Value::Text(text)), _) => text,
            (_, Kind::Text { default, .. }) => default,
            _ => panic!("`{name}` is not a text"),
        }
    }

    fn index(&self, name: &str) -> usize {
        let found = self.parameters.iter().position(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("no parameter `{name}` declared"))
    }

    pub(crate) fn parameter(&self, name: &str) -> &'static Parameter {
        &self.parameters[self.index(name)]
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let index = self.index(name);
        self.asked[index].store(true, Ordering::Relaxed);
        self.given[index].as_ref()
    }
}
