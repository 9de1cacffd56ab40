//! Rates that change in steps.

use cwnd::{Bytes, Span, Time};

use crate::error::{SetupError, SetupPart, in_range};
use crate::net::setup::MAX_RATE;
use crate::random::Stream;
use crate::traffic::Video;

/// A rate that holds for a step and changes at its end. All rates count whole packets on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSchedule {
    /// The rate of the first step, B0; bit/s, at most 1 Pbit/s.
    pub initial: u64,
    /// The length of a step; above zero. Steps count from the start of the flow and continue while it pauses.
    pub step: Span,
    /// The relation of the rate of the next step to the present one.
    pub change: RateChange,
    /// A lower rate becomes this, bit/s.
    pub floor: u64,
    /// A higher rate becomes this, bit/s; at least `floor`.
    pub ceiling: u64,
    /// The schedule is the rate left to others of this total, bit/s: the flow sends the difference.
    pub rest_of: Option<u64>,
}

/// The rate B' that follows a rate B at the end of a step. `U[x, y]` is a uniform draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateChange {
    /// B' = B.
    Constant,
    /// A square wave: `initial` and this in turn, bit/s.
    Square(u64),
    /// A random walk: B' is U[B - D, B + D], zero where that is negative; D in bit/s.
    Walk(u64),
    /// No memory: B' is U[0, B0].
    Uniform,
    /// B' is U[0, B + D]; D in bit/s. Its mean settles at D wherever it starts.
    AdditiveWalk(u64),
    /// B' is U[0, m B]; m above 0. Its logarithm drifts by ln m - 1 each step, so that with m below e the rate decays to 0: there
    /// must be a `floor`.
    MultiplicativeWalk(f64),
    /// Frames rather than single packets; B0 is their mean rate, and neither steps nor bounds matter.
    Frames(Video),
}

/// A schedule being followed.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    schedule: RateSchedule,
    stream: Stream,
    /// As scheduled, within floor and ceiling.
    scheduled: u64,
    steps: u64,
    step_end: Time,
}

impl RateSchedule {
    /// Always `rate` bit/s.
    #[must_use]
    pub fn constant(rate: u64) -> Self {
        Self::stepping(rate, Span::MAX, RateChange::Constant)
    }

    /// `initial` bit/s at first, changed after each step; between zero and 1 Pbit/s.
    #[must_use]
    pub fn stepping(initial: u64, step: Span, change: RateChange) -> Self {
        Self { initial, step, change, floor: 0, ceiling: MAX_RATE, rest_of: None }
    }

    /// The frames of a video.
    #[must_use]
    pub fn video(video: Video) -> Self {
        Self::stepping(video.mean_rate(), Span::MAX, RateChange::Frames(video))
    }

    /// The rates of the steps from `start` on, each with its begin.
    pub(crate) fn rates(&self, start: Time, stream: Stream) -> impl Iterator<Item = (Time, u64)> {
        let first = (start, Rates::new(*self, start, stream));
        let next = |(_, rates): &(Time, Rates)| {
            let mut rates = rates.clone();
            let end = rates.step_end();
            rates.next_step();
            (end < Time::MAX && rates.step_end() > end).then_some((end, rates))
        };
        std::iter::successors(Some(first), next).map(|(at, rates)| (at, rates.rate()))
    }

    pub(crate) fn check(&self, part: &SetupPart, field: &'static str, packet: Bytes) -> Result<(), SetupError> {
        in_range(self.step >= LEAST_STEP, part, field, "a rate with steps of at least 1us")?;
        in_range(self.floor <= self.ceiling, part, field, "a rate whose floor is not above its ceiling")?;
        let rates = [self.initial, self.ceiling, self.rest_of.unwrap_or(0)];
        in_range(rates.iter().all(|rate| *rate <= MAX_RATE), part, field, "at most 1 Pbit/s")?;
        let other = if let RateChange::Square(other) = self.change { other } else { 0 };
        let per_second = self.initial.max(other) as f64 / packet.bits();
        in_range(per_second <= MOST_PACKETS, part, field, "at most 10^9 packets per second")?;
        match self.change {
            RateChange::Square(other) => in_range(other <= MAX_RATE, part, field, "at most 1 Pbit/s"),
            RateChange::Frames(video) => video.check(part, field),
            RateChange::MultiplicativeWalk(factor) => {
                in_range(
                    factor > 0.0 && factor.is_finite(),
                    part,
                    field,
                    "a multiplicative walk with a factor above 0",
                )?;
                in_range(
                    self.floor > 0,
                    part,
                    field,
                    "a multiplicative walk with a floor above 0, without which it decays to 0",
                )
            }
            _ => Ok(()),
        }
    }
}

impl Rates {
    /// The first step begins at `start`.
    pub(super) fn new(schedule: RateSchedule, start: Time, stream: Stream) -> Self {
        let scheduled = schedule.initial.clamp(schedule.floor, schedule.ceiling);
        Self { schedule, stream, scheduled, steps: 0, step_end: start + schedule.step }
    }

    /// The present rate of the flow, bit/s.
    pub(super) fn rate(&self) -> u64 {
        self.schedule.rest_of.map_or(self.scheduled, |all| all.saturating_sub(self.scheduled))
    }

    /// When the step ends.
    pub(super) fn step_end(&self) -> Time {
        self.step_end
    }

    /// Goes on to the next step.
    pub(super) fn next_step(&mut self) {
        let RateSchedule { initial, change, floor, ceiling, step, .. } = self.schedule;
        self.steps += 1;
        self.step_end += step;
        let now = self.scheduled as f64;
        let next = match change {
            RateChange::Constant | RateChange::Frames(_) => return,
            RateChange::Square(other) => [initial, other][(self.steps % 2) as usize],
            RateChange::Walk(reach) => self.draw(now - reach as f64, now + reach as f64),
            RateChange::Uniform => self.draw(0.0, initial as f64),
            RateChange::AdditiveWalk(reach) => self.draw(0.0, now + reach as f64),
            RateChange::MultiplicativeWalk(factor) => self.draw(0.0, now * factor),
        };
        self.scheduled = next.clamp(floor, ceiling);
    }

    /// Uniform between the two, in whole bit/s; negative draws become zero.
    fn draw(&mut self, from: f64, to: f64) -> u64 {
        libm::round(from + (to - from) * self.stream.unit()) as u64
    }
}

/// Packets per second: the resolution of time.
const MOST_PACKETS: f64 = 1e9;
/// As the mean gap of a group.
const LEAST_STEP: Span = Span::from_micros(1);

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    fn rates(change: RateChange, initial: u64) -> Rates {
        let schedule = RateSchedule::stepping(initial, Span::from_secs(5), change);
        Rates::new(schedule, Time::ZERO, Stream::new(3, "rates"))
    }

    /// The rates of the first `steps` steps.
    fn walk(mut rates: Rates, steps: usize) -> Vec<u64> {
        let mut walked = vec![rates.rate()];
        walked.extend((1..steps).map(|_| {
            rates.next_step();
            rates.rate()
        }));
        walked
    }

    fn mean(rates: &[u64]) -> f64 {
        rates.iter().sum::<u64>() as f64 / rates.len() as f64
    }

    #[test]
    fn a_square_wave_alternates_and_its_steps_are_equally_long() {
        let mut square = rates(RateChange::Square(5 * MBIT), 10 * MBIT);
        assert_eq!(square.step_end(), Time::ZERO + Span::from_secs(5));
        assert_eq!(walk(square.clone(), 4), [10 * MBIT, 5 * MBIT, 10 * MBIT, 5 * MBIT]);
        square.next_step();
        assert_eq!(square.step_end(), Time::ZERO + Span::from_secs(10));
    }

    #[test]
    fn draws_have_the_range_and_mean_of_their_rule() {
        let uniform = walk(rates(RateChange::Uniform, 10 * MBIT), 20_000);
        assert!(uniform.iter().all(|rate| *rate <= 10 * MBIT));
        // Half of B0, with a standard error of B0 / sqrt(12 n) = 0.02 Mbit/s.
        assert!((mean(&uniform) / 1e6 - 5.0).abs() < 0.08, "{}", mean(&uniform));

        let walked = walk(rates(RateChange::Walk(MBIT / 2), MBIT), 20_000);
        assert!(walked.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= MBIT / 2));
        assert!(walked.contains(&0), "an unbounded walk comes to zero in the end");

        // Whatever the start: the mean of an additive walk is D.
        for initial in [MBIT, 100 * MBIT] {
            let walked = walk(rates(RateChange::AdditiveWalk(MBIT / 4), initial), 20_000);
            assert!((mean(&walked[100..]) / 1e6 - 0.25).abs() < 0.01, "{}", mean(&walked));
        }
    }

    #[test]
    fn a_multiplicative_walk_dies_away_to_its_floor() {
        let schedule = RateSchedule {
            floor: 1,
            ceiling: u64::MAX,
            ..RateSchedule::stepping(1 << 60, Span::from_secs(5), RateChange::MultiplicativeWalk(5.0 / 3.0))
        };
        // ln(5/3) - 1 = -0.489 a step; the logarithm of a uniform draw has variance 1: 60 steps lose 29.4 +- 7.7.
        let ends: Vec<f64> = (0..400)
            .map(|seed| {
                let walked = walk(Rates::new(schedule, Time::ZERO, Stream::new(seed, "rates")), 61);
                (walked[60] as f64 / walked[0] as f64).ln()
            })
            .collect();
        let drift = ends.iter().sum::<f64>() / 400.0 / 60.0;
        assert!((drift + 0.489).abs() < 0.03, "{drift}");
        let long = walk(Rates::new(schedule, Time::ZERO, Stream::new(1, "rates")), 1000);
        assert!(long[500..].iter().all(|rate| *rate < 1000) && long.contains(&1));
    }

    #[test]
    fn rates_are_clamped_and_may_be_what_others_leave() {
        let schedule = RateSchedule {
            floor: 3 * MBIT,
            ceiling: 8 * MBIT,
            rest_of: Some(10 * MBIT),
            ..RateSchedule::stepping(10 * MBIT, Span::from_secs(5), RateChange::Square(MBIT))
        };
        assert_eq!(walk(Rates::new(schedule, Time::ZERO, Stream::new(1, "rates")), 3), [2 * MBIT, 7 * MBIT, 2 * MBIT]);
    }
}
