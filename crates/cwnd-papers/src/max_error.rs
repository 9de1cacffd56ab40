//! The largest of many errors: how a formula is compared with what it describes.

use super::computed::Computed;

/// The largest of the errors added so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxError(f64);

impl MaxError {
    /// Adds the error of `found` relative to `expected`.
    pub(super) fn relative(&mut self, found: f64, expected: f64) {
        self.absolute(found / expected - 1.0);
    }

    /// Adds an error. One that is no number counts as infinite: a missing value must not pass as a small one.
    pub(super) fn absolute(&mut self, error: f64) {
        self.0 = if error.is_nan() { f64::INFINITY } else { self.0.max(error.abs()) };
    }
}

impl From<MaxError> for Computed {
    fn from(error: MaxError) -> Self {
        Self::Exact(error.0)
    }
}
