//! The observation of a step by a learner.

/// A number of an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// The smallest value.
    pub low: f32,
    /// The largest value; values outside are clamped.
    pub high: f32,
    /// Its meaning.
    pub help: &'static str,
}

/// One step of one flow as its sender measured it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// When it ended, seconds since the run began.
    pub time: f64,
    /// Its length, seconds.
    pub duration: f64,
    /// New packets sent, and packets found lost, which are sent again.
    pub sent: f64,
    /// Packets delivered.
    pub delivered: f64,
    /// Packets found lost.
    pub lost: f64,
    /// Acknowledged packets whose acknowledgement echoed a congestion mark.
    pub marked: f64,
    /// Mean round-trip time, seconds.
    pub rtt: f64,
    /// That of the step before, seconds.
    pub rtt_before: f64,
    /// The smallest round-trip time of the flow so far, seconds; 0 before the first.
    pub min_rtt: f64,
    /// The largest delivery rate of a step so far, this one included, packets per second.
    pub best_rate: f64,
    /// The window at its end, packets; where a rate is steered, what that rate sends in a smoothed round trip.
    pub window: f64,
}

/// Name, unit and meaning of the numbers of a [`StepReport`], in the order of [`StepReport::values`].
pub const MEASURED: [(&str, &str, &str); 11] = [
    ("time", "s", "when the step ended, since the run began"),
    ("duration", "s", "how long it was"),
    ("sent", "packets", "new packets sent, and packets found lost, which are sent again"),
    ("delivered", "packets", "packets delivered"),
    ("lost", "packets", "packets found lost"),
    ("marked", "packets", "acknowledged packets whose acknowledgement echoed a congestion mark"),
    ("rtt", "s", "mean round-trip time"),
    ("rtt_before", "s", "that of the step before"),
    ("min_rtt", "s", "the smallest round-trip time of the flow so far"),
    ("best_rate", "packets/s", "the largest delivery rate of a step so far"),
    ("window", "packets", "the window at its end; where a rate is steered, what it sends in a smoothed round trip"),
];

/// The numbers of an observation, in order. All of them are 0 before the flow has had a packet delivered.
pub const FEATURES: [Feature; 8] = [
    Feature {
        name: "goodput",
        low: 0.0,
        high: 1.0,
        help: "delivery rate of the step over the best of any step of the episode",
    },
    Feature { name: "delay", low: 0.0, high: 10.0, help: "mean round-trip time over the least one seen, minus 1" },
    Feature {
        name: "delay_gradient",
        low: -1.0,
        high: 1.0,
        help: "change of the mean round-trip time since the last step, per time",
    },
    Feature { name: "loss", low: 0.0, high: 1.0, help: "packets found lost, of those delivered or found lost" },
    Feature {
        name: "marks",
        low: 0.0,
        high: 1.0,
        help: "acknowledged packets that echo a congestion mark, of those delivered",
    },
    Feature {
        name: "window",
        low: -10.0,
        high: 10.0,
        help: "binary logarithm of the window over the best delivery rate times the least round-trip time",
    },
    Feature { name: "sent", low: 0.0, high: 10.0, help: "packets sent for each one delivered" },
    Feature { name: "duration", low: 0.0, high: 10.0, help: "length of the step over the least round-trip time" },
];

impl StepReport {
    /// Lost packets as a share of those delivered or lost.
    pub(crate) fn loss(&self) -> f64 {
        self.lost / (self.delivered + self.lost).max(1.0)
    }

    /// Its numbers, in the order of [`MEASURED`].
    #[must_use]
    pub fn values(&self) -> [f64; MEASURED.len()] {
        let Self { time, duration, sent, delivered, lost, marked, rtt, rtt_before, min_rtt, best_rate, window } = *self;
        [time, duration, sent, delivered, lost, marked, rtt, rtt_before, min_rtt, best_rate, window]
    }

    /// Writes the observation that a learner gets of the step: as many of the [`FEATURES`] as `into` has room for.
    pub fn observe(&self, into: &mut [f32]) {
        if self.min_rtt <= 0.0 || self.best_rate <= 0.0 {
            into.fill(0.0);
            return;
        }
        let values = [
            self.delivered / self.duration / self.best_rate,
            self.rtt / self.min_rtt - 1.0,
            (self.rtt - self.rtt_before) / self.duration,
            self.loss(),
            self.marked / self.delivered.max(1.0),
            libm::log2(self.window / (self.best_rate * self.min_rtt)),
            self.sent / self.delivered.max(1.0),
            self.duration / self.min_rtt,
        ];
        for ((slot, value), feature) in into.iter_mut().zip(values).zip(FEATURES) {
            *slot = (value as f32).clamp(feature.low, feature.high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation() {
        let report = StepReport {
            time: 3.0,
            duration: 0.2,
            sent: 30.0,
            delivered: 15.0,
            lost: 5.0,
            marked: 3.0,
            rtt: 0.15,
            rtt_before: 0.17,
            min_rtt: 0.1,
            best_rate: 150.0,
            window: 60.0,
        };
        let mut seen = [0.0; 8];
        report.observe(&mut seen);
        let expected = [0.5, 0.5, -0.1, 0.25, 0.2, 2.0, 2.0, 2.0];
        for ((found, expected), feature) in seen.iter().zip(expected).zip(FEATURES) {
            assert!((found - expected).abs() < 1e-6, "{}: {found}, not {expected}", feature.name);
        }
        StepReport { rtt: 3.0, ..report }.observe(&mut seen);
        assert!((seen[1] - 10.0).abs() < 1e-6, "cut at the edge of the space");
    }
}
