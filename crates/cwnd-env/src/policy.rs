//! What a trained policy is.

use std::fmt::Debug;

use crate::observation::StepReport;

/// Chooses the actions of flows. It keeps no state: flows share it.
pub trait Policy: Debug + Send + Sync {
    /// The action for the step that begins, from -1 to 1, after the `step` that has ended.
    fn act(&self, step: &StepReport) -> f64;
}
