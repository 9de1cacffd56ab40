//! The units of congestion control, and the only place where they meet.
//!
//! Windows are real numbers of packets and rates are packets per second, as in the papers; time is integer nanoseconds.
//! `Packets / Span` is a [`Rate`] and `Packets / Rate` a [`Span`], so an inverted formula does not compile.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// An instant: nanoseconds since the host's epoch (the start of a simulation, the opening of a connection).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// A real number of packets: a window, a share of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_structs, reason = "a unit around a number")]
pub struct Packets(pub f64);

/// Packets per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_structs, reason = "a unit around a number")]
pub struct Rate(pub f64);

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_structs, reason = "a unit around a number")]
pub struct BitRate(pub f64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a unit around a number")]
pub struct Bytes(pub u32);

impl Time {
    /// The host's epoch.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the epoch.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The span since `earlier`, or nothing at all where `earlier` lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longer than every run.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of whole nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of whole microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_SECOND)
    }

    /// The span nearest to `secs` seconds; nothing below zero, [`Span::MAX`] beyond the range.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        // Adding a half and truncating rounds; the cast saturates at both ends and maps NaN to zero.
        Self((secs * NANOS_PER_SECOND as f64 + 0.5) as u64)
    }

    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// This span `factor` times; saturating, and nothing for a negative factor.
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor + 0.5) as u64)
    }

    /// The absolute difference of two spans.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Packets {
    /// How many whole packets fit: what a host may have in flight. Nothing for a negative or undefined window.
    #[must_use]
    pub const fn whole(self) -> u64 {
        self.0 as u64
    }
}

impl Rate {
    /// The time between two packets at this rate; [`Span::MAX`] for a rate of zero.
    #[must_use]
    pub fn interval(self) -> Span {
        Packets(1.0) / self
    }

    /// This rate in bits per second for packets of `size`.
    #[must_use]
    pub fn to_bits(self, size: Bytes) -> BitRate {
        BitRate(self.0 * size.bits())
    }
}

impl BitRate {
    /// This rate in packets of `size` per second.
    ///
    /// ```
    /// use cwnd::{BitRate, Bytes, Span};
    ///
    /// let rate = BitRate(100e6).to_packets(Bytes(1500));
    /// // The bandwidth-delay product of 100 Mbit/s and 48 ms.
    /// assert_eq!((rate * Span::from_millis(48)).whole(), 400);
    /// ```
    #[must_use]
    pub fn to_packets(self, size: Bytes) -> Rate {
        Rate(self.0 / size.bits())
    }
}

impl Bytes {
    /// The size in bits, as a real number.
    #[must_use]
    pub fn bits(self) -> f64 {
        f64::from(self.0) * 8.0
    }
}

impl Add<Span> for Time {
    type Output = Self;

    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Saturates at [`Span::ZERO`]: a difference of lengths that would be negative is a length of nothing.
impl Sub for Span {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        // WebAssembly has no product of 128 bits by which an overflow is seen: there a function computes it.
        if cfg!(target_family = "wasm") && (self.0 | times) >> u32::BITS == 0 {
            return Self(self.0 * times);
        }
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Span {
    type Output = Self;

    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Add for Packets {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Packets {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Packets {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<Span> for Packets {
    type Output = Rate;

    fn div(self, span: Span) -> Rate {
        Rate(self.0 / span.as_secs_f64())
    }
}

impl Div<Rate> for Packets {
    type Output = Span;

    fn div(self, rate: Rate) -> Span {
        Span::from_secs_f64(self.0 / rate.0)
    }
}

impl Mul<Span> for Rate {
    type Output = Packets;

    fn mul(self, span: Span) -> Packets {
        Packets(self.0 * span.as_secs_f64())
    }
}

impl Mul<f64> for Rate {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_over_time_and_back() {
        let rate = Packets(50.0) / Span::from_millis(100);
        assert_eq!(rate, Rate(500.0));
        assert_eq!(Packets(50.0) / rate, Span::from_millis(100));
        assert_eq!(rate.interval(), Span::from_millis(2));
        assert_eq!(rate * Span::from_secs(2), Packets(1000.0));
    }

    #[test]
    fn bits_and_packets() {
        assert_eq!(BitRate(1e9).to_packets(Bytes(1500)).to_bits(Bytes(1500)), BitRate(1e9));
        assert_eq!(BitRate(12_000.0).to_packets(Bytes(1500)), Rate(1.0));
    }

    #[test]
    fn times_saturate_instead_of_wrapping() {
        assert_eq!(Rate(0.0).interval(), Span::MAX);
        assert_eq!(Time::MAX + Span::from_secs(1), Time::MAX);
        assert_eq!(Time::ZERO.since(Time::from_nanos(5)), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Packets(-3.5).whole(), 0);
        assert_eq!(Packets(3.99).whole(), 3);
    }
}
