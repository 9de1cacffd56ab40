//! Connections that wait for the thread of their port.

use std::collections::VecDeque;

/// Places of connections in the table of their port, each at most once, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct PlaceQueue {
    queue: VecDeque<usize>,
    /// By place, whether it is in the queue.
    queued: Vec<bool>,
}

impl PlaceQueue {
    /// Adds a place, unless it is in the queue.
    pub(super) fn push(&mut self, place: usize) {
        if self.queued.len() <= place {
            self.queued.resize(place + 1, false);
        }
        if !std::mem::replace(&mut self.queued[place], true) {
            self.queue.push_back(place);
        }
    }

    /// Removes the place that was added first.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let place = self.queue.pop_front()?;
        self.queued[place] = false;
        Some(place)
    }

    /// Whether a place is in the queue.
    pub(super) fn contains(&self, place: usize) -> bool {
        self.queued.get(place).is_some_and(|queued| *queued)
    }

    /// Removes the places for which `keep` is false.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let queued = &mut self.queued;
        self.queue.retain(|place| {
            queued[*place] = keep(*place);
            queued[*place]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_queued_once_until_it_is_removed() {
        let mut queue = PlaceQueue::default();
        for place in [3, 1, 3, 2] {
            queue.push(place);
        }
        assert_eq!(queue.pop(), Some(3));
        queue.push(3);
        queue.retain(|place| place != 1);
        assert!(!queue.contains(1) && queue.contains(2));
        queue.push(1);
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [2, 3, 1]);
    }
}
