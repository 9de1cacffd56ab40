//! Texts that are no property.

use cwnd::window::expression::ExpressionError;
use cwnd_text::exact;
use thiserror::Error;

/// An error in the text of a property. Long texts are cut.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PropertyError {
    /// There is no text, or none before the bound.
    #[error("there is no property{}: expected {FORM}", before(*.0))]
    Empty(Option<char>),
    /// A comparison with an equals sign.
    #[error("`{sign}=` is no comparison of a property: expected `{sign}`, and the bound itself breaks the property")]
    Equals {
        /// The side as a sign.
        sign: char,
    },
    /// There is nothing after the side.
    #[error("there is no bound after `{0}`: expected a finite number")]
    NoNumber(char),
    /// The bound is no number.
    #[error("cannot read `{}` as a bound: expected a finite number", short(.0))]
    Bound(String),
    /// No number of the property lies on that side of the bound, or each does.
    #[error("the bound of `{}` is {}: accepted is {accepted}", short(.name), exact(*.bound))]
    Range {
        /// The property, the measure or the expression.
        name: String,
        /// As it was given.
        bound: f64,
        /// In words.
        accepted: String,
    },
    /// A measure or an expression has no default bound.
    #[error("the {what} `{}` needs a bound, such as `{} > 0.5`", short(.text), short(.text))]
    NoBound {
        /// `measure` or `expression`.
        what: &'static str,
        /// As it was given.
        text: String,
    },
    /// It is no expression over measures.
    #[error("cannot read `{}`: expected {error}", short(.text))]
    Expression {
        /// As it was given.
        text: String,
        /// Why.
        error: ExpressionError,
    },
    /// An expression whose value is that of no run.
    #[error("`{}` is always {}: expected an expression whose value depends on measures", short(.text), undefined(*.value))]
    Constant {
        /// As it was given.
        text: String,
        /// Its value.
        value: f64,
    },
    /// The registry has the property with the other side.
    #[error("`{name}` is promised {side} a bound: write `{name} {sign} {bound}`")]
    Side {
        /// The property.
        name: &'static str,
        /// Its side in words,
        side: &'static str,
        /// as a sign,
        sign: char,
        /// and its default bound.
        bound: f64,
    },
    /// Neither a property, a measure nor a function.
    #[error("{0}")]
    Unknown(String),
}

/// A value in words.
fn undefined(value: f64) -> String {
    if value.is_nan() { "undefined".to_string() } else { exact(value) }
}

/// Where the text of a property is missing.
fn before(sign: Option<char>) -> String {
    sign.map_or_else(String::new, |sign| format!(" before `{sign}`"))
}

/// A text as an error shows it.
pub(crate) fn short(text: &str) -> String {
    let cut = text.char_indices().nth(MOST_SHOWN).map(|(at, _)| &text[..at]);
    cut.map_or_else(|| text.to_string(), |cut| format!("{cut}…"))
}

/// What a property may be.
const FORM: &str = "a name of `cwnd falsify --list`, or measures and a bound, such as `utilisation > 0.5`";
/// Characters of a text in an error.
const MOST_SHOWN: usize = 60;
