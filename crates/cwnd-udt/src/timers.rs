//! When each of many connections wants to be woken.

use std::collections::BTreeSet;

use cwnd::Time;

/// At most one time for each place of a table, in order. Places without a time cost nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    order: BTreeSet<(Time, u32)>,
    times: Vec<Option<Time>>,
}

impl Timers {
    /// From now on `place` is due at `time`, or never.
    pub(crate) fn set(&mut self, place: u32, time: Option<Time>) {
        if self.times.len() <= place as usize {
            self.times.resize(place as usize + 1, None);
        }
        let known = std::mem::replace(&mut self.times[place as usize], time);
        if known == time {
            return;
        }
        if let Some(known) = known {
            self.order.remove(&(known, place));
        }
        if let Some(time) = time {
            self.order.insert((time, place));
        }
    }

    /// Takes out the place that is due first, if it is due by `now`.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<u32> {
        let (time, place) = *self.order.first()?;
        if time > now {
            return None;
        }
        self.set(place, None);
        Some(place)
    }

    /// When the next is due.
    pub(crate) fn first(&self) -> Option<Time> {
        self.order.first().map(|(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_due_once_at_the_time_set_last() {
        let at = Time::from_nanos;
        let mut timers = Timers::default();
        timers.set(3, Some(at(30)));
        timers.set(1, Some(at(30)));
        timers.set(0, Some(at(10)));
        timers.set(0, Some(at(40)));
        timers.set(2, Some(at(5)));
        timers.set(2, None);
        assert_eq!(timers.first(), Some(at(30)));
        assert_eq!(timers.take_due(at(29)), None);
        let due: Vec<_> = std::iter::from_fn(|| timers.take_due(at(40))).collect();
        assert_eq!(due, [1, 3, 0]);
        assert_eq!(timers.first(), None);
    }
}
