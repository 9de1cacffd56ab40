//! A trained policy as an algorithm of any host.

use std::fmt::Debug;
use std::sync::Arc;

use cwnd::Spec;

use crate::error::CourseError;
use crate::observation::StepReport;
use crate::options::Steering;
use crate::steered::PolicyMaker;

/// Chooses the actions of flows. It keeps no state: flows share it.
pub trait Policy: Debug + Send + Sync {
    /// The action for the step that begins, from -1 to 1, after the `step` that has ended.
    fn act(&self, step: &StepReport) -> f64;
}

/// The algorithm `label` in which `policy` steers a flow as it would in an [`Environment`](crate::Environment) of one steered flow: with
/// the same signals its steps, reports and actions are the same, to the last bit.
///
/// # Errors
/// `steering` is out of range.
pub fn learnt(label: &str, policy: Arc<dyn Policy>, steering: Steering) -> Result<Spec, CourseError> {
    steering.check()?;
    Ok(Spec::outside(label, Arc::new(PolicyMaker { steering, policy })))
}
