//! A quantity of a link that changes at known instants.

use cwnd::Span;

use crate::error::{SetupError, SetupPart, require};

/// Values that a quantity takes one after the other; without steps it is constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule<T> {
    /// An instant and the value from then on; instants grow strictly.
    pub steps: Vec<(Span, T)>,
    /// The first so much time repeats, with the initial value until the first step; later than the last step.
    pub repeat: Option<Span>,
}

/// What a link was set up with, and the schedule it follows from then on.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    initial: T,
    /// Nanoseconds and the value from then on; times grow strictly.
    steps: Vec<(u64, T)>,
    period: Option<u64>,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { steps: Vec::new(), repeat: None }
    }
}

impl<T> Schedule<T> {
    pub(super) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let ordered = self.steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        require(ordered, part, "the instants of a schedule must grow")?;
        let last = self.steps.last().map_or(Span::ZERO, |(at, _)| *at);
        let repeats_later = self.repeat.is_none_or(|period| period > last);
        require(repeats_later, part, "a schedule must repeat after its last step")
    }
}

impl<T: Copy> Steps<T> {
    /// The schedule of a link set up with `initial`; none if that holds for ever.
    pub(crate) fn new(initial: T, schedule: &Schedule<T>) -> Option<Self> {
        let steps: Vec<_> = schedule.steps.iter().map(|(at, value)| (at.as_nanos(), *value)).collect();
        let period = schedule.repeat.map(Span::as_nanos);
        (!steps.is_empty()).then_some(Self { initial, steps, period })
    }

    /// The value at an instant, and until when it holds.
    pub(crate) fn at(&self, at: u64) -> (T, u64) {
        let offset = self.period.map_or(at, |period| at % period);
        let next = self.steps.partition_point(|(from, _)| *from <= offset);
        let value = next.checked_sub(1).map_or(self.initial, |last| self.steps[last].1);
        let end = self.steps.get(next).map(|(from, _)| *from).or(self.period);
        (value, end.map_or(u64::MAX, |end| (at - offset).saturating_add(end)))
    }
}

impl Steps<u64> {
    /// The schedule limited to `most` at any time.
    pub(crate) fn limited(mut self, most: u64) -> Self {
        self.initial = self.initial.min(most);
        self.steps.iter_mut().for_each(|(_, rate)| *rate = most.min(*rate));
        self
    }

    /// The lower of two rates at any time; both repeat alike.
    pub(crate) fn least(&self, other: &Self) -> Self {
        let mut instants: Vec<u64> = self.steps.iter().chain(&other.steps).map(|(at, _)| *at).collect();
        instants.sort_unstable();
        instants.dedup();
        let steps = instants.into_iter().map(|at| (at, self.at(at).0.min(other.at(at).0))).collect();
        Self { initial: self.initial.min(other.initial), steps, period: self.period }
    }

    /// The integral of the rate from time 0, in bits per second times nanoseconds.
    pub(crate) fn integral(&self, until: u64) -> u128 {
        let (whole, rest) = match self.cycle() {
            Some((period, carried)) => (u128::from(until / period) * carried, until % period),
            None => (0, until),
        };
        whole + self.first_integral(rest)
    }

    /// The period of a schedule that repeats, and what a period carries, in the unit of [`integral`](Self::integral).
    pub(crate) fn cycle(&self) -> Option<(u64, u128)> {
        self.period.map(|period| (period, self.first_integral(period)))
    }

    /// [`integral`](Self::integral) within the first period.
    fn first_integral(&self, until: u64) -> u128 {
        let (mut from, mut carried) = (0, 0);
        while from < until {
            let (rate, end) = self.at(from);
            let end = end.min(until);
            carried += u128::from(rate) * u128::from(end - from);
            from = end;
        }
        carried
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn steps(repeat: Option<u64>) -> Steps<u64> {
        let at = |nanos, rate| (Span::from_nanos(nanos), rate);
        let schedule = Schedule { steps: vec![at(10, 5), at(30, 0)], repeat: repeat.map(Span::from_nanos) };
        Steps::new(7, &schedule).expect("it has steps")
    }

    #[test]
    fn values_hold_from_their_step_to_the_next() {
        let once = steps(None);
        let expected = [(0, (7, 10)), (9, (7, 10)), (10, (5, 30)), (30, (0, u64::MAX)), (u64::MAX, (0, u64::MAX))];
        assert!(expected.iter().all(|(at, value)| once.at(*at) == *value));
        let again = steps(Some(40));
        let expected = [(39, (0, 40)), (40, (7, 50)), (50, (5, 70)), (1_000_009, (7, 1_000_010))];
        assert!(expected.iter().all(|(at, value)| again.at(*at) == *value));
    }

    #[test]
    fn a_rate_is_integrated() {
        // 10 x 7, then 20 x 5, then 10 x 0.
        for (until, carried) in [(0, 0), (10, 70), (11, 75), (30, 170), (40, 170), (45, 205), (80, 340), (121, 517)] {
            assert_eq!(steps(Some(40)).integral(until), carried, "{until}");
        }
        assert_eq!(steps(None).integral(1000), 170);
    }

    #[test]
    fn no_step_is_no_schedule() {
        assert!(Steps::new(7, &Schedule { steps: Vec::new(), repeat: Some(Span::from_nanos(9)) }).is_none());
    }
}
