//! The parameters of algorithms: names, defaults, ranges, and values that were checked against them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::quantity;
use crate::units::Span;

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Its key in `name:key=value`.
    pub name: &'static str,
    /// Its effect, in half a line.
    pub help: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Its type, default and range.
    pub kind: Kind,
}

/// The type, default and range of a parameter.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "lists of parameters have words for each kind")]
pub enum Kind {
    /// A real number.
    Number {
        /// None where the algorithm derives it from others.
        default: Option<f64>,
        /// The derivation of the default; empty if it is not derived.
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
    /// A quantity with its unit.
    Quantity {
        /// Of which it is so much.
        measure: Measure,
        /// None where it is derived from something else, or absent unless given.
        default: Option<f64>,
        /// The derivation of the default; empty if it is not derived.
        derived: &'static str,
        /// The accepted values.
        range: Range,
    },
    /// A word that stands without a value, or is left out.
    Flag,
    /// Text that the algorithm reads itself.
    Text {
        /// The default.
        default: &'static str,
        /// The accepted values.
        syntax: &'static str,
    },
}

/// The dimension of a quantity, and the unit of its stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "lists of parameters have a unit for each measure")]
pub enum Measure {
    /// Bits per second.
    BitRate,
    /// Seconds.
    Span,
    /// Bytes of a packet or a queue, below 4 GiB.
    Bytes,
    /// Bytes of memory or data.
    Memory,
}

/// An interval of real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    low_open: bool,
    high_open: bool,
    whole: bool,
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
    Flag,
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
        Self::quantity(name, Measure::BitRate, None, "none", help)
    }

    /// A time in seconds, none unless given.
    #[must_use]
    pub const fn span(name: &'static str, help: &'static str) -> Self {
        Self::quantity(name, Measure::Span, None, "none", help)
    }

    /// A quantity with its unit: by default `default`, or else what the rule `derived` says.
    #[must_use]
    pub const fn quantity(
        name: &'static str,
        measure: Measure,
        default: Option<f64>,
        derived: &'static str,
        help: &'static str,
    ) -> Self {
        let unit = match measure {
            Measure::BitRate => "bit/s",
            Measure::Span => "s",
            Measure::Bytes | Measure::Memory => "bytes",
        };
        Self { name, help, unit, kind: Kind::Quantity { measure, default, derived, range: Range::ALL } }
    }

    /// `yes` or `no`.
    #[must_use]
    pub const fn switch(name: &'static str, default: bool, help: &'static str) -> Self {
        Self::choice(name, if default { &["yes", "no"] } else { &["no", "yes"] }, help)
    }

    /// A word that stands without a value.
    #[must_use]
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: "", kind: Kind::Flag }
    }

    /// Text that the algorithm reads itself.
    #[must_use]
    pub const fn text(name: &'static str, default: &'static str, syntax: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: "", kind: Kind::Text { default, syntax } }
    }

    /// Adds a unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Accepts numbers from `low` on.
    #[must_use]
    pub const fn at_least(self, low: f64) -> Self {
        self.low(low, false)
    }

    /// Accepts numbers above `low`.
    #[must_use]
    pub const fn above(self, low: f64) -> Self {
        self.low(low, true)
    }

    /// Accepts numbers up to `high`.
    #[must_use]
    pub const fn at_most(self, high: f64) -> Self {
        self.high(high, false)
    }

    /// Accepts numbers below `high`.
    #[must_use]
    pub const fn below(self, high: f64) -> Self {
        self.high(high, true)
    }

    /// Accepts whole numbers.
    #[must_use]
    pub const fn whole(self) -> Self {
        match self.range() {
            Some(range) => self.ranged(Range { whole: true, ..range }),
            None => self,
        }
    }

    /// The default, as a person would write it.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.kind {
            Kind::Number { default: Some(default), .. } => default.to_string(),
            Kind::Number { derived, .. } => derived.to_string(),
            Kind::Choice { default, .. } | Kind::Text { default, .. } => default.to_string(),
            Kind::Quantity { default: Some(default), measure, .. } => measure.write(default),
            Kind::Quantity { derived, .. } => derived.to_string(),
            Kind::Flag => "no".to_string(),
        }
    }

    /// The accepted values, as a person would say it.
    #[must_use]
    pub fn accepted(&self) -> String {
        match self.kind {
            Kind::Number { range, .. } => range.to_string(),
            Kind::Choice { options, .. } => options.join(" | "),
            Kind::Quantity { measure, range, .. } => {
                let (what, example) = measure.named();
                match range.shown(|value| measure.write(value)) {
                    Some(range) => format!("{what} {range}, such as `{example}`"),
                    None => format!("{what} with its unit, such as `{example}`"),
                }
            }
            Kind::Flag => "the word alone, without a value".to_string(),
            Kind::Text { syntax, .. } => syntax.to_string(),
        }
    }

    const fn low(self, low: f64, open: bool) -> Self {
        match self.range() {
            Some(range) => self.ranged(Range { low, low_open: open, ..range }),
            None => self,
        }
    }

    const fn high(self, high: f64, open: bool) -> Self {
        match self.range() {
            Some(range) => self.ranged(Range { high, high_open: open, ..range }),
            None => self,
        }
    }

    /// The accepted values of a number or a quantity.
    #[must_use]
    pub const fn range(&self) -> Option<Range> {
        match self.kind {
            Kind::Number { range, .. } | Kind::Quantity { range, .. } => Some(range),
            _ => None,
        }
    }

    const fn ranged(mut self, range: Range) -> Self {
        self.kind = match self.kind {
            Kind::Number { default, derived, .. } => Kind::Number { default, derived, range },
            Kind::Quantity { measure, default, derived, .. } => Kind::Quantity { measure, default, derived, range },
            other => other,
        };
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
            Kind::Quantity { measure, range, .. } => {
                measure.read(text).filter(|value| range.contains(*value)).map(Value::Number)
            }
            Kind::Flag => None,
            Kind::Text { .. } => Some(Value::Text(text.to_string())),
        }
    }
}

impl Range {
    /// Every finite number.
    pub const ALL: Self =
        Self { low: f64::NEG_INFINITY, high: f64::INFINITY, low_open: true, high_open: true, whole: false };

    /// Whether `value` lies inside.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        let low = if self.low_open { value > self.low } else { value >= self.low };
        let high = if self.high_open { value < self.high } else { value <= self.high };
        low && high && (!self.whole || value % 1.0 == 0.0)
    }

    /// It in words, of numbers as `write` has them; none where every number is accepted.
    fn shown(&self, write: impl Fn(f64) -> String) -> Option<String> {
        let low = if self.low_open { "above" } else { "at least" };
        let high = if self.high_open { "below" } else { "at most" };
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => Some(format!("{low} {} and {high} {}", write(self.low), write(self.high))),
            (true, false) => Some(format!("{low} {}", write(self.low))),
            (false, true) => Some(format!("{high} {}", write(self.high))),
            (false, false) => None,
        }
    }
}

impl Measure {
    /// Reads a quantity of this measure.
    fn read(self, text: &str) -> Option<f64> {
        match self {
            Self::BitRate => quantity::bit_rate(text).ok().map(|rate| rate.0),
            Self::Span => quantity::span(text).ok().map(Span::as_secs_f64),
            Self::Bytes => quantity::bytes(text).ok().map(|size| f64::from(size.0)),
            Self::Memory => quantity::memory(text).ok().map(|size| size as f64),
        }
    }

    /// A value with the largest unit of which it is a whole number, so that it reads back as it was.
    #[must_use]
    pub fn write(self, value: f64) -> String {
        let (scaled, units): (f64, &[(u64, &str)]) = match self {
            Self::BitRate => (value, &[(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1000, "kbit"), (1, "bit")]),
            Self::Span => {
                (libm::round(value * 1e9), &[(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")])
            }
            Self::Bytes | Self::Memory => (value, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB"), (1, "B")]),
        };
        let whole = scaled as u64;
        let last = units.last().map_or("", |(_, unit)| unit);
        if whole as f64 != scaled {
            return format!("{scaled}{last}");
        }
        match units.iter().find(|(size, _)| whole.is_multiple_of(*size)) {
            Some((size, unit)) => format!("{}{unit}", whole / size),
            None => format!("{whole}{last}"),
        }
    }

    /// It as the object of a sentence, and an example.
    fn named(self) -> (&'static str, &'static str) {
        match self {
            Self::BitRate => ("a rate", "1gbit"),
            Self::Span => ("a time", "10ms"),
            Self::Bytes => ("a size", "1500B"),
            Self::Memory => ("a size", "32MB"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown(|value| value.to_string());
        match (shown, self.whole) {
            (Some(range), false) => out.write_str(&range),
            (Some(range), true) => write!(out, "a whole number, {range}"),
            (None, false) => out.write_str("any number"),
            (None, true) => out.write_str("any whole number"),
        }
    }
}

impl Values {
    pub(crate) fn none(parameters: &'static [Parameter]) -> Self {
        let asked = parameters.iter().map(|_| AtomicBool::new(false)).collect();
        Self { parameters, given: vec![None; parameters.len()], asked }
    }

    /// These values, none of which an algorithm has read yet.
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
            Kind::Number { default, .. } | Kind::Quantity { default, .. } => default,
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

    /// The name of the parameter called `name`, if a value was given for it; none if there is no such parameter either.
    #[must_use]
    pub fn given_as(&self, name: &str) -> Option<&'static str> {
        let index = self.parameters.iter().position(|parameter| parameter.name == name)?;
        self.given[index].as_ref().map(|_| self.parameters[index].name)
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

    /// Whether the switch `name` is on, or the flag `name` there.
    ///
    /// # Panics
    /// If the entry declares neither.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        match self.parameter(name).kind {
            Kind::Flag => self.value(name).is_some(),
            _ => self.choice(name) == "yes",
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

    /// The parameters that the values are of.
    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        self.parameters
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
