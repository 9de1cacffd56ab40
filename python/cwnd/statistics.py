"""Intervals over independent runs, and where a run has left its beginning behind.

Every sample here is one number of one independent run: a seed's goodput, say, in any unit. Samples within one run
depend on each other, and an interval over them would be too narrow by far. A run that has no value, ``nan`` in the
tables of this package, is left out. Intervals come in the unit of the samples. Where nothing can be said the answer is
None, never a made-up number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from cwnd import _native
from cwnd._arguments import real
from cwnd._numbers import array, numbers
from cwnd.errors import ArgumentError

__all__ = ["Interval", "bca", "mser5", "paired", "t_interval"]

Statistic: TypeAlias = (
    Literal["mean", "ratio"] | tuple[Literal["quantile"], float] | Callable[[npt.NDArray[np.float64]], float]
)
"""The statistic for which :func:`bca` computes an interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A statistic of independent runs with its confidence interval.

    Attributes
    ----------
    value : float
        The statistic of the runs as they are, in the unit of the samples.
    low, high : float
        The ends of the interval, in the same unit.
    n : int
        How many runs it is of.
    confidence : float
        The probability of the interval, 0 to 1.
    """

    value: float
    low: float
    high: float
    n: int
    confidence: float

    @property
    def half(self) -> float:
        """Half the width; that of a bootstrap interval need not lie around the value."""
        return (self.high - self.low) / 2

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return _native.written(self.value, self.half, 1, self.low, self.high)


def t_interval(samples: npt.ArrayLike, confidence: float = 0.95) -> Interval | None:
    """Estimate a mean with its Student t interval.

    Right for means of a handful of runs or more whose values are not too skewed. For ratios and quantiles, see
    :func:`bca`.

    Parameters
    ----------
    samples : array_like
        One value per independent run, in any unit; ``nan`` where a run has none.
    confidence : float
        The probability of the interval, above 0 and below 1.

    Returns
    -------
    Interval or None
        In the unit of `samples`; None below two values.

    References
    ----------
    Law, "Simulation Modeling and Analysis", 5th ed. (2015), section 4.5. The quantiles of t are those of Abramowitz and
    Stegun, 26.7.3 and 26.7.4.

    Examples
    --------
    >>> import cwnd
    >>> print(cwnd.statistics.t_interval([1.2, 1.5, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.5, 1.09], confidence=0.9))
    1.34 (1.11 to 1.58)
    """
    return _interval(_native.t_interval(_runs(samples, 1).tolist(), _probability(confidence)), confidence)


def bca(
    samples: npt.ArrayLike,
    statistic: Statistic,
    confidence: float = 0.95,
) -> Interval | None:
    """Estimate a statistic other than a mean of a few equal runs by the bias-corrected and accelerated bootstrap.

    4000 resamples, whose draws come from a stream of their own: the same samples give the same interval. Below some
    ten runs the interval is too narrow, as every bootstrap's is. Of a quantile it ends at samples that were seen, or
    between two: an outer quantile of few runs is known no better than that.

    Parameters
    ----------
    samples : array_like
        One value per independent run, in any unit, or one row of values: pairs for ``"ratio"``, anything for a
        function. Runs that lack a value (``nan``) are left out.
    statistic : str, tuple or function
        ``"mean"``; ``"ratio"``, the sum of the first column over that of the second; ``("quantile", q)`` with `q` from
        0 to 1, linear between the ordered values; or a function of the array of the runs that were drawn.
    confidence : float
        The probability of the interval, above 0 and below 1.

    Returns
    -------
    Interval or None
        In the unit of the statistic; None below three runs, or where the statistic of the runs is no finite number.

    References
    ----------
    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 14.3. Hyndman and Fan, "Sample quantiles in
    statistical packages" (1996), type 7.

    Examples
    --------
    Payload over sent bytes, of five runs:

    >>> import cwnd
    >>> runs = [(9.5, 10.0), (9.1, 10.0), (18.8, 20.0), (9.7, 10.0), (9.2, 10.0)]
    >>> found = cwnd.statistics.bca(runs, "ratio")
    >>> round(found.value, 4), found.low < found.value < found.high
    (0.9383, True)
    """
    level = _probability(confidence)
    match statistic:
        case "mean":
            found = _native.bca(_runs(samples, 1).tolist(), None, level)
        case ("quantile", q) if 0 <= q <= 1:
            found = _native.bca(_runs(samples, 1).tolist(), float(q), level)
        case "ratio":
            pairs = _runs(samples, 2)
            if pairs.shape[1] != 2:
                raise ArgumentError(f"samples: expected pairs for a ratio, got rows of {pairs.shape[1]}")
            found = _native.bca_ratio([(over, under) for over, under in pairs.tolist()], level)
        case of if callable(of):
            runs = _runs(samples, np.ndim(samples))
            found = _native.bca_by(len(runs), lambda drawn: float(of(runs[drawn])), level)
        case other:
            accepted = '"mean", "ratio", ("quantile", q) with q from 0 to 1, or a function'
            raise ArgumentError(f"statistic: expected {accepted}, got {other!r}")
    return _interval(found, confidence)


def paired(a: npt.ArrayLike, b: npt.ArrayLike, confidence: float = 0.95) -> Interval | None:
    """Estimate the mean difference ``a - b`` over common seeds with its Student t interval.

    Runs of one seed share its random numbers, so their difference varies less than either, and the interval of the
    difference decides where overlapping intervals of `a` and `b` do not.

    Parameters
    ----------
    a, b : array_like
        One value per seed, in the same unit and in the same order of seeds; ``nan`` where a run has none. Seeds that
        lack either are left out.
    confidence : float
        The probability of the interval, above 0 and below 1.

    Returns
    -------
    Interval or None
        In the unit of `a` and `b`; None below two pairs.

    References
    ----------
    Law, "Simulation Modeling and Analysis", 5th ed. (2015), section 10.2.1.

    Examples
    --------
    >>> import cwnd
    >>> print(cwnd.statistics.paired([9.1, 8.7, 9.4], [8.9, 8.4, 9.3]))
    0.20 (-0.05 to 0.45)
    """
    first, second = array("a", a, 1), array("b", b, 1)
    if len(first) != len(second):
        raise ArgumentError(f"b: expected {len(first)} values, one per value of a, got {len(second)}")
    both = _finite("a, b", np.column_stack([first, second]))
    found = _native.paired(both[:, 0].tolist(), both[:, 1].tolist(), _probability(confidence))
    return _interval(found, confidence)


def mser5(series: npt.ArrayLike) -> int | None:
    """Find how many observations of one run to leave out at its beginning, by MSER-5.

    Observations are put together by fives, and cut where the mean of the rest has the least squared standard error.
    ``cwnd.compare(..., warmup="auto")`` applies it to the goodput of all flows in intervals of 200 ms.

    Parameters
    ----------
    series : array_like
        Observations of one run in equal intervals, in their order and in any unit.

    Returns
    -------
    int or None
        A multiple of five; None below ten observations, and where the cut would lie in the second half: the run is too
        short to tell, or has no steady state.

    References
    ----------
    White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", Winter Simulation
    Conference (2000).

    Examples
    --------
    >>> import cwnd
    >>> cwnd.statistics.mser5([0, 2, 4, 6, 8] + [9, 11] * 20)
    5
    """
    observations = numbers("series", series)
    if not np.isfinite(observations).all():
        raise ArgumentError("series: expected finite numbers")
    return _native.mser5(observations)


def _runs(samples: npt.ArrayLike, dimensions: int) -> npt.NDArray[np.float64]:
    return _finite("samples", array("samples", samples, dimensions))


def _finite(name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Leave out the runs that lack a value."""
    kept = values[~np.isnan(values).any(axis=tuple(range(1, values.ndim)))]
    if not np.isfinite(kept).all():
        raise ArgumentError(f"{name}: expected finite numbers")
    return kept


def _probability(confidence: float) -> float:
    if 0 < real("confidence", confidence) < 1:
        return confidence
    raise ArgumentError(f"confidence: expected a probability above 0 and below 1, got {confidence}")


def _interval(found: tuple[float, float, float, int] | None, confidence: float) -> Interval | None:
    return None if found is None else Interval(*found, confidence)
