//! Texts that are no property.

use cwnd::window::expression::ExpressionError;
use cwnd_text::exact;
use thiserror::Error;

/// An error in the text of a property.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PropertyError {
    /// The bound is no number.
    #[error("cannot read `{0}` as a bound: expected a finite number")]
    Bound(String),
    /// No number of the property lies on that side of the bound, or each does.
    #[error("the bound of `{name}` is {}: accepted is {accepted}", exact(*.bound))]
    Range {
        /// The property or the measure.
        name: &'static str,
        /// As it was given.
        bound: f64,
        /// In words.
        accepted: String,
    },
    /// A measure or an expression has no default bound.
    #[error("the {what} `{text}` needs a bound, such as `{text} > 0.5`")]
    NoBound {
        /// `measure` or `expression`.
        what: &'static str,
        /// As it was given.
        text: String,
    },
    /// It is no expression over measures.
    #[error("cannot read `{text}`: expected {error}")]
    Expression {
        /// As it was given.
        text: String,
        /// Why.
        error: ExpressionError,
    },
    /// An expression whose value is that of no run.
    #[error("`{text}` is always {}: expected an expression whose value depends on measures", undefined(*.value))]
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
    /// Neither a property nor a measure, or an expression has such a name.
    #[error("{0}")]
    Unknown(String),
}

/// A value in words.
fn undefined(value: f64) -> String {
    if value.is_nan() { "undefined".to_string() } else { exact(value) }
}
