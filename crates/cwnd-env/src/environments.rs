//! Many environments in one array.

use std::sync::Arc;

use crate::course::Course;
use crate::environment::{Environment, Episode, Outcome, Totals};
use crate::observation::FEATURES;

/// Environments on one course that are stepped together, on the thread of the caller.
///
/// One whose episode has ended starts the next with the step after: that step takes no action and has no reward, and its observation is
/// the first of the new episode (Gymnasium calls this autoreset mode "next step").
pub struct Environments {
    members: Vec<Environment>,
    ended: Vec<bool>,
}

impl Environments {
    /// `count` environments, of which number `n` has the seed `seed + n`.
    #[must_use]
    pub fn new(course: &Arc<Course>, count: usize, seed: u64) -> Self {
        let member = |nth: usize| Environment::new(Arc::clone(course), seed.wrapping_add(nth as u64));
        Self { members: (0..count).map(member).collect(), ended: vec![false; count] }
    }

    /// Starts the next episode in all environments; number `n` starts the first episode of the seed `seeds(n)` if there is one.
    ///
    /// # Panics
    /// `observations` does not have [`FEATURES`] numbers per steered flow and environment.
    pub fn reset(&mut self, seeds: impl Fn(usize) -> Option<u64>, observations: &mut [f32]) {
        self.ended.fill(false);
        let width = self.width(observations.len());
        for ((nth, member), observations) in
            self.members.iter_mut().enumerate().zip(observations.chunks_exact_mut(width))
        {
            member.reset(seeds(nth));
            member.observe(observations);
        }
    }

    /// Applies an action per steered flow of each environment, and runs a step in all of them. `ended` says in which ones it was the last
    /// of its episode.
    ///
    /// # Panics
    /// `actions` and `rewards` do not have a number per steered flow and environment, `observations` not [`FEATURES`] numbers per steered
    /// flow and environment, or `ended` not an element per environment.
    pub fn step(&mut self, actions: &[f32], observations: &mut [f32], rewards: &mut [f32], ended: &mut [bool]) {
        let width = self.width(observations.len());
        let steered = width / FEATURES.len();
        assert!(actions.len() == rewards.len() && actions.len() == self.members.len() * steered, "one action each");
        assert_eq!(ended.len(), self.members.len(), "one end each");
        let actions = actions.chunks_exact(steered);
        let outcomes = observations.chunks_exact_mut(width).zip(rewards.chunks_exact_mut(steered));
        let members = self.members.iter_mut().zip(&mut self.ended);
        for ((((member, over), actions), (observations, rewards)), ended) in
            members.zip(actions).zip(outcomes).zip(ended)
        {
            *over = if *over {
                member.reset(None);
                member.observe(observations);
                rewards.fill(0.0);
                false
            } else {
                member.step(actions, observations, rewards)
            };
            *ended = *over;
        }
    }

    /// The number of environments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no environments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The measures of each steered flow of environment `index` over the episode so far.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    pub fn totals(&self, index: usize) -> impl Iterator<Item = Totals> {
        self.members[index].totals()
    }

    /// What the last step of each steered flow was, of all environments one after the other.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.members.iter().flat_map(Environment::outcomes)
    }

    /// The draws of the current episode of environment `index`.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn episode(&self, index: usize) -> Episode {
        self.members[index].episode()
    }

    /// The length of one environment's observation.
    fn width(&self, whole: usize) -> usize {
        let width = self.members.first().map_or(FEATURES.len(), |member| member.course().steered() * FEATURES.len());
        assert_eq!(whole, self.members.len() * width, "an observation per steered flow");
        width
    }
}
