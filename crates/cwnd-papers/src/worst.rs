//! The largest of many errors: how a formula is compared with what it describes.

use super::ours::Ours;

/// The largest of errors seen so far.
#[derive(Debug, Default)]
pub(super) struct Worst(f64);

impl Worst {
    /// The error of `found` relative to what is expected.
    pub(super) fn see(&mut self, found: f64, expected: f64) {
        self.see_error(found / expected - 1.0);
    }

    /// An error that is one already.
    pub(super) fn see_error(&mut self, error: f64) {
        // A missing value must not pass as a small one.
        self.0 = if error.is_nan() { f64::INFINITY } else { self.0.max(error.abs()) };
    }

    pub(super) fn ours(&self) -> Ours {
        Ours::Exact(self.0)
    }
}
