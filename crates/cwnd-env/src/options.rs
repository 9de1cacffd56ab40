//! The actions of a learner, and the settings that vary between episodes.

use cwnd::Spec;
use cwnd::random::uniform;
use cwnd::registry::Transport;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bounds::MAX_PACKETS;
use crate::error::CourseError;
use crate::reward::Reward;

/// The actions of a learner, and the settings that vary between episodes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The target of an action.
    pub lever: Lever,
    /// The gain of an action: see [`Lever`].
    pub gain: f64,
    /// A step lasts until this many packets were delivered on average per steered flow; 1 to [`MAX_PACKETS`].
    pub packets: u64,
    /// An episode ends after this many steps, or at the end of the setup's duration if that is earlier; at least 1.
    pub steps: u32,
    /// The reward.
    pub reward: Reward,
    /// Rate of the bottleneck, bit/s, log-uniform; the rates of the other links are scaled in proportion.
    pub rate: Option<Range>,
    /// Round-trip time of the first steered flow without queueing, seconds, log-uniform; other delays are scaled in proportion.
    pub rtt: Option<Range>,
    /// Size of the queue of every link with a rate, in bandwidth-delay products, log-uniform. Without it queues are scaled with that
    /// product. Thresholds of a queue discipline stay as they are.
    pub queue: Option<Range>,
    /// Probability of random loss on the bottleneck, uniform.
    pub loss: Option<Range>,
    /// An algorithm that controls the flows instead of the learner, whose actions are ignored: to measure both in the same way.
    pub algorithm: Option<Spec>,
}

/// The effect of an action `a` from -1 to 1.
#[derive(Clone, Debug, Default)]
pub enum Lever {
    /// The window `w`: to `w (1 + gain a)` for `a >= 0`, to `w / (1 - gain a)` for `a < 0`. The gain is above 0 and at most 15.
    #[default]
    Window,
    /// The rate, likewise. This is Aurora's rule; Aurora has a gain of 0.025. It begins with the rate of the initial window; at most
    /// four times what the path has been seen to hold is in flight.
    Rate,
    /// The window, and the rate if there is one, of an algorithm that sees every signal: it is multiplied by `2^(gain a)`. Orca does so
    /// with CUBIC and a gain of 2. Orca sets CUBIC's own window; here the algorithm keeps its own. The gain is above 0 and at most 4.
    Over(Spec),
}

/// The way in which a learner or its policy steers a flow.
#[derive(Clone, Debug)]
pub struct Steering {
    /// The target of an action.
    pub lever: Lever,
    /// The gain of an action: see [`Lever`].
    pub gain: f64,
    /// A step lasts a smoothed round trip, and until this many packets were delivered; 1 to [`MAX_PACKETS`].
    pub packets: u64,
}

/// The range from which a quantity is drawn; equal ends fix it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl Options {
    /// Checks the ranges of all options.
    pub(crate) fn check(&self) -> Result<(), CourseError> {
        self.steering().check()?;
        let ranges = [("rate", self.rate), ("rtt", self.rtt), ("queue", self.queue), ("loss", self.loss)];
        for (option, range) in ranges {
            if let Some(Range { low, high }) = range.filter(|range| range.low > range.high) {
                return Err(CourseError::Backwards { option, low, high });
            }
        }
        let within = |range: Option<Range>, least, most| range.is_none_or(|range| range.is_within(least, most));
        require(self.steps > 0, "steps", "at least 1")?;
        require(within(self.rate, 1e3, 1e12), "rate", "a range within 1 kbit/s and 1 Tbit/s")?;
        require(within(self.rtt, 1e-6, 100.0), "rtt", "a range within 1 us and 100 s")?;
        require(within(self.queue, 1e-3, 1e3), "queue", "a range within 0.001 and 1000 bandwidth-delay products")?;
        require(within(self.loss, 0.0, 0.9), "loss", "a range within 0 and 0.9")?;
        let weights = match self.reward {
            Reward::Linear { goodput, delay, loss } => [goodput, delay, loss].iter().all(|weight| weight.is_finite()),
            Reward::Power { loss, margin } => loss.is_finite() && margin >= 1.0,
        };
        require(weights, "the reward", "of finite weights, with a margin of at least 1")?;
        self.algorithm.as_ref().map_or(Ok(()), acked)
    }

    /// The way in which flows are steered.
    pub(crate) fn steering(&self) -> Steering {
        Steering { lever: self.lever.clone(), gain: self.gain, packets: self.packets }
    }
}

impl Steering {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A number is outside its range, or the algorithm below does not run over acknowledgements of every packet.
    pub fn check(&self) -> Result<(), CourseError> {
        let within = |most| self.gain > 0.0 && self.gain <= most;
        match &self.lever {
            Lever::Over(spec) => {
                acked(spec)?;
                require(within(MAX_OCTAVES), "gain", "above 0 and at most 4 over an algorithm")?;
            }
            Lever::Window | Lever::Rate => require(within(MAX_GAIN), "gain", "above 0 and at most 15")?,
        }
        require((1..=MAX_PACKETS).contains(&self.packets), "packets", "from 1 to 1048576")
    }
}

fn require(holds: bool, option: &'static str, accepted: &'static str) -> Result<(), CourseError> {
    if holds { Ok(()) } else { Err(CourseError::Option { option, accepted }) }
}

fn acked(spec: &Spec) -> Result<(), CourseError> {
    if spec.entry().transport == Transport::Acked {
        Ok(())
    } else {
        Err(CourseError::Algorithm(spec.label().to_string()))
    }
}

impl Default for Options {
    /// A window is doubled or halved at most, as slow start and Reno do in a round trip. With ten packets a loss rate can be measured.
    fn default() -> Self {
        Self {
            lever: Lever::Window,
            gain: 1.0,
            packets: 10,
            steps: 400,
            reward: Reward::default(),
            rate: None,
            rtt: None,
            queue: None,
            loss: None,
            algorithm: None,
        }
    }
}

impl Range {
    /// Whether the ends are in order and within `least` and `most`.
    pub(crate) fn is_within(self, least: f64, most: f64) -> bool {
        least <= self.low && self.low <= self.high && self.high <= most
    }

    /// A log-uniform value.
    pub(crate) fn draw_log(self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let share = uniform(random.next_u64());
        self.low * libm::pow(self.high / self.low, share)
    }

    /// A uniform value.
    pub(crate) fn draw(self, random: &mut Xoshiro256PlusPlus) -> f64 {
        self.low + (self.high - self.low) * uniform(random.next_u64())
    }
}

/// One action multiplies a window by 16 at most, which bounds the burst that follows.
const MAX_GAIN: f64 = 15.0;
/// As much, in octaves.
const MAX_OCTAVES: f64 = 4.0;
