//! Parts of a link that change from phase to phase.

use cwnd::Time;

use super::setup::LinkSetup;
use super::steps::Steps;

/// One value for each phase of a link, of which one holds at a time. Equal settings share a value, and so its state.
#[derive(Debug)]
pub(crate) struct Phases<T> {
    steps: Steps<usize>,
    /// Nanoseconds at which the present phase ends.
    until: u64,
    present: usize,
    /// For each phase, the index of its value.
    index: Vec<usize>,
    values: Vec<T>,
}

impl<T> Phases<T> {
    /// The values that `make` builds from the settings of each phase, numbered in order of their first use. None if all phases of the
    /// link have equal settings.
    pub(crate) fn new<S: PartialEq>(
        link: &LinkSetup,
        setting: impl Fn(&super::setup::Phase) -> S,
        mut make: impl FnMut(usize, &S) -> T,
    ) -> Option<Self> {
        let steps = Steps::new(0, &link.phase_indexes())?;
        let (mut settings, mut index) = (Vec::new(), Vec::new());
        for phase in &link.all_phases() {
            let new = setting(phase);
            let known = settings.iter().position(|known| *known == new);
            index.push(known.unwrap_or(settings.len()));
            if known.is_none() {
                settings.push(new);
            }
        }
        if settings.len() == 1 {
            return None;
        }
        let values = settings.iter().enumerate().map(|(number, setting)| make(number, setting)).collect();
        Some(Self { steps, until: 0, present: 0, index, values })
    }

    /// The value at `now`, which must not decrease from call to call.
    pub(crate) fn at(&mut self, now: Time) -> &mut T {
        let now = now.as_nanos();
        if now >= self.until {
            let (phase, until) = self.steps.at(now);
            (self.present, self.until) = (self.index[phase], until);
        }
        &mut self.values[self.present]
    }
}
