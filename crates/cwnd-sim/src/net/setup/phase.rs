//! Conditions of a link that change in time.

use cwnd::Span;

use super::{Impairments, LinkSetup, Loss, QueueLimit};
use crate::error::{SetupError, SetupPart, require};
use crate::net::steps::Schedule;

/// The losses, the impairments and the queue limit of a link from an instant on.
///
/// A loss model or a policer that equals one of an earlier phase continues where that one stopped: its stream of random numbers, its
/// state and its tokens are shared by both phases. Tokens accumulate while another phase lasts. Packets that wait when a queue limit
/// falls remain; those that arrive are refused until the queue is below the new limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Random loss before the queue.
    pub loss: Loss,
    /// Impairments; the `shaper` must be that of the link.
    pub impairments: Impairments,
    /// Limit of the queue.
    pub queue: QueueLimit,
}

impl LinkSetup {
    /// The phase that holds until the first of [`phases`](Self::phases).
    #[must_use]
    pub fn first_phase(&self) -> Phase {
        Phase { loss: self.loss, impairments: self.impairments.clone(), queue: self.queue }
    }

    /// All phases in order of time, the first one included.
    #[must_use]
    pub fn all_phases(&self) -> Vec<Phase> {
        let later = self.phases.steps.iter().map(|(_, phase)| phase.clone());
        std::iter::once(self.first_phase()).chain(later).collect()
    }

    /// When each of [`all_phases`](Self::all_phases) begins, as indexes of that list.
    pub(crate) fn phase_indexes(&self) -> Schedule<usize> {
        let begin = |(index, (at, _)): (usize, &(Span, Phase))| (*at, index + 1);
        Schedule { steps: self.phases.steps.iter().enumerate().map(begin).collect(), repeat: self.phases.repeat }
    }

    pub(super) fn check_phases(&self, part: &SetupPart) -> Result<(), SetupError> {
        self.phases.check(part)?;
        for (_, phase) in &self.phases.steps {
            phase.loss.check(part)?;
            phase.impairments.check(part)?;
            let shaper = phase.impairments.shaper == self.impairments.shaper;
            require(shaper, part, "a shaper must stay the same for the whole run")?;
        }
        Ok(())
    }
}
