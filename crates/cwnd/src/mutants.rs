//! Deliberate mistakes in the window algorithms, one at a time, for the tests of conformance checks.
//!
//! A check that finds none of them proves nothing. They exist only with the feature `mutants`, which test builds turn on; without it
//! `or` is its second argument.

#[cfg(feature = "mutants")]
use core::sync::atomic::{AtomicU8, Ordering};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mutant {
    /// CUBIC cuts to half.
    CubicBeta = 1,
    /// CUBIC's C is ten times what it should be.
    CubicC,
    /// CUBIC's target is not bounded by 1.5 windows.
    CubicUnbounded,
    /// CUBIC's clock runs on while the window is not used.
    CubicIdleClock,
    /// CUBIC's clock goes on from the last epoch.
    CubicEpochKept,
    /// CUBIC is never raised to the window of Reno.
    CubicUnfriendly,
    /// CUBIC's estimate of Reno grows by one packet per round trip from the start of the epoch.
    CubicAlphaOne,
    /// CUBIC's estimate of Reno never grows by one packet per round trip.
    CubicAlphaKept,
    /// CUBIC cuts by fast convergence once more: to 0.595.
    CubicConvergesWindow,
    /// CUBIC has no fast convergence.
    CubicNoConvergence,
    /// CUBIC's K is computed from what a cut leaves instead of what it takes.
    CubicKOfBeta,
    /// CUBIC's curve has its middle at the window after the cut.
    CubicWMaxAfterCut,
    /// Reno grows by two packets per round trip.
    RenoTwice,
    /// Reno takes a quarter away.
    RenoQuarter,
    /// The window grows during recovery.
    GrowsInRecovery,
    /// The window grows while the application limits the sender.
    GrowsUnused,
    /// Each loss cuts, also of the same window.
    CutsPerLoss,
    /// A mark changes nothing.
    IgnoresMarks,
    /// Each mark cuts, also of the same window.
    CutsPerMark,
    /// A timeout is a cut like any other.
    TimeoutKeepsWindow,
    /// After a timeout slow start has no threshold.
    TimeoutForgetsThreshold,
    /// What a cut leaves is not the threshold of slow start.
    CutForgetsThreshold,
    /// A spurious loss doubles the window that was there before it.
    UndoDoubles,
    /// Slow start grows by two packets for each one acknowledged.
    SlowStartTwice,
    /// Slow start grows by one packet per acknowledgement, whatever that acknowledges.
    SlowStartPerAck,
    /// The window after a pause is the one before it.
    RestartKeepsWindow,
    /// The first window is four times what the host says.
    InitialFourfold,
    /// `HyStart++` leaves slow start at the first rise of the delay.
    HyStartAtOnce,
    /// `HyStart++` does not slow down when the delay rises.
    HyStartUndivided,
    /// `HyStart++` looks at no rise of the delay.
    HyStartBlind,
    /// `HyStart++` never goes back from conservative slow start.
    HyStartNeverResumes,
    /// Neither the threshold of slow start nor the window after a loss has a floor of two packets.
    NoThresholdFloor,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::CubicBeta,
        Self::CubicC,
        Self::CubicUnbounded,
        Self::CubicIdleClock,
        Self::CubicEpochKept,
        Self::CubicUnfriendly,
        Self::CubicAlphaOne,
        Self::CubicAlphaKept,
        Self::CubicConvergesWindow,
        Self::CubicNoConvergence,
        Self::CubicKOfBeta,
        Self::CubicWMaxAfterCut,
        Self::RenoTwice,
        Self::RenoQuarter,
        Self::GrowsInRecovery,
        Self::GrowsUnused,
        Self::CutsPerLoss,
        Self::IgnoresMarks,
        Self::CutsPerMark,
        Self::TimeoutKeepsWindow,
        Self::TimeoutForgetsThreshold,
        Self::CutForgetsThreshold,
        Self::UndoDoubles,
        Self::SlowStartTwice,
        Self::SlowStartPerAck,
        Self::RestartKeepsWindow,
        Self::InitialFourfold,
        Self::HyStartAtOnce,
        Self::HyStartUndivided,
        Self::HyStartBlind,
        Self::HyStartNeverResumes,
        Self::NoThresholdFloor,
    ];
}

/// From now on every algorithm of the process makes this mistake; none makes none.
#[cfg(feature = "mutants")]
pub fn select(mutant: Option<Mutant>) {
    SELECTED.store(mutant.map_or(0, |mutant| mutant as u8), Ordering::Relaxed);
}

/// `wrong` where `mutant` is selected, else `right`.
#[inline(always)]
pub(crate) fn or<T>(mutant: Mutant, wrong: T, right: T) -> T {
    if is(mutant) { wrong } else { right }
}

/// Whether `mutant` is selected.
#[cfg(feature = "mutants")]
#[inline(always)]
pub(crate) fn is(mutant: Mutant) -> bool {
    SELECTED.load(Ordering::Relaxed) == mutant as u8
}

/// Whether `mutant` is selected: never in this build.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
pub(crate) const fn is(_: Mutant) -> bool {
    false
}

#[cfg(feature = "mutants")]
static SELECTED: AtomicU8 = AtomicU8::new(0);
