//! One direction of the path.

use std::collections::VecDeque;

use cwnd::{Span, Time};

use crate::plan::{Draw, LinePlan};

/// A line with a queue before it, and what happens to datagrams on it.
pub(crate) struct Line {
    plan: LinePlan,
    draw: Draw,
    free: Time,
    departures: VecDeque<Time>,
    pub(crate) met: PathCounts,
}

/// The faults that datagrams met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathCounts {
    pub(crate) carried: u64,
    pub(crate) lost: u64,
    pub(crate) overflowed: u64,
    pub(crate) blacked_out: u64,
    pub(crate) reordered: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
    pub(crate) forged: u64,
}

/// How a datagram arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    /// With a bit flipped, which the checksum of UDP finds.
    Corrupt,
    /// As a copy from an address that is not its sender's.
    Foreign,
    /// As bytes that never were a packet.
    Garbage,
}

impl Line {
    pub(crate) fn new(plan: LinePlan, seed: u64) -> Self {
        Self { plan, draw: Draw::new(seed), free: Time::ZERO, departures: VecDeque::new(), met: PathCounts::default() }
    }

    /// When and how a datagram of `size` bytes arrives that leaves now; several times, or never.
    pub(crate) fn carry(&mut self, now: Time, size: usize) -> Vec<(Time, How)> {
        let Self { plan, draw, met, .. } = self;
        met.carried += 1;
        self.departures.drain(..self.departures.partition_point(|departure| *departure <= now));
        if self.departures.len() >= plan.queue {
            met.overflowed += 1;
            return Vec::new();
        }
        let rate = plan.rates.iter().rev().find(|(from, _)| *from <= now).map_or(plan.rates[0].1, |(_, rate)| *rate);
        self.free = self.free.max(now) + Span::from_secs_f64((size + 28) as f64 * 8.0 / rate);
        self.departures.push_back(self.free);
        if plan.blackouts.iter().any(|(from, to)| (*from..*to).contains(&now)) {
            met.blacked_out += 1;
            return Vec::new();
        }
        if draw.chance(plan.loss) {
            met.lost += 1;
            return Vec::new();
        }
        let mut arrival = self.free + plan.delay + plan.jitter.mul_f64(draw.unit());
        if draw.chance(plan.reorder) {
            met.reordered += 1;
            arrival += plan.late.mul_f64(draw.unit());
        }
        let how = if draw.chance(plan.corrupt) { How::Corrupt } else { How::Whole };
        met.corrupted += u64::from(how == How::Corrupt);
        let mut arrivals = vec![(arrival, how)];
        if draw.chance(plan.duplicate) {
            met.duplicated += 1;
            arrivals.push((arrival + plan.late.mul_f64(draw.unit()), How::Whole));
        }
        if draw.chance(plan.forge) {
            met.forged += 1;
            let how = draw.pick(&[How::Foreign, How::Garbage]);
            arrivals.push((arrival + plan.late.mul_f64(draw.unit()), how));
        }
        arrivals
    }
}

impl PathCounts {
    /// Adds what another line met.
    pub(crate) fn add(&mut self, other: &Self) {
        self.carried += other.carried;
        self.lost += other.lost;
        self.overflowed += other.overflowed;
        self.blacked_out += other.blacked_out;
        self.reordered += other.reordered;
        self.duplicated += other.duplicated;
        self.corrupted += other.corrupted;
        self.forged += other.forged;
    }
}
