"""Measures over plain numbers: lists or NumPy arrays.

They are those of the lab, so that a number computed here and one in a report mean the same. A measure that the numbers
cannot answer is None, never a made-up number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from cwnd import _native
from cwnd._arguments import real, whole
from cwnd._estimates import Estimate
from cwnd._numbers import numbers
from cwnd.errors import ArgumentError

__all__ = [
    "coefficient_of_variation",
    "estimate",
    "jain",
    "kendall",
    "max_min",
    "relative_range",
    "spearman",
    "stability_index",
]


def jain(shares: npt.ArrayLike) -> float | None:
    """Compute Jain's fairness index, (Σx)² / (n Σx²): 1 for equal shares, 1/n when one of n has everything.

    Parameters
    ----------
    shares : array_like
        The share of each flow, in any unit; not below zero.

    Returns
    -------
    float or None
        None without flows, when all of them have nothing, or where a share is negative or not finite.

    References
    ----------
    Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination", DEC-TR-301 (1984).

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.jain([1, 1, 0, 0])
    0.5
    """
    return _native.jain(numbers("shares", shares))


def relative_range(shares: npt.ArrayLike) -> float | None:
    """Compute (max - min) / mean: 0 for equal shares.

    Parameters
    ----------
    shares : array_like
        The share of each flow, in any unit; not below zero.

    Returns
    -------
    float or None
        None without flows, when all of them have nothing, or where a share is negative or not finite.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.relative_range([3, 1])
    1.0
    """
    return _native.relative_range(numbers("shares", shares))


def coefficient_of_variation(values: npt.ArrayLike) -> float | None:
    """Compute the standard deviation (m - 1 in the denominator) as a share of the mean.

    Parameters
    ----------
    values : array_like
        The throughput of a flow over short intervals, say.

    Returns
    -------
    float or None
        None below two values, for a mean that is not above zero, or where a value is not finite.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.coefficient_of_variation([2.0, 2.0])
    0.0
    """
    return _native.coefficient_of_variation(numbers("values", values))


def stability_index(series: Iterable[npt.ArrayLike]) -> float | None:
    """Compute the mean over flows of :func:`coefficient_of_variation`: 0 is perfectly stable.

    Parameters
    ----------
    series : iterable of array_like
        The throughputs of each flow in intervals of equal length. Flows that deliver nothing are left out.

    Returns
    -------
    float or None
        None if no flow is left, with fewer than two intervals, or where a throughput is negative or not finite.

    References
    ----------
    Gu, Hong and Grossman, "Experiences in design and implementation of a high performance transport protocol" (2004),
    eq. 18.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.stability_index([[2, 2], [1, 3]])
    0.3535533905932738
    """
    if isinstance(series, (str, bytes)) or not isinstance(series, Iterable):
        raise ArgumentError(f"series: expected a list of throughputs for each flow, got {series!r}")
    return _native.stability_index([numbers("series", flow) for flow in series])


def max_min(
    capacity: npt.ArrayLike,
    routes: Sequence[Sequence[int]],
    demands: Sequence[float | None] | None = None,
) -> npt.NDArray[np.float64]:
    """Compute max-min fair rates by progressive filling.

    Parameters
    ----------
    capacity : array_like
        Of each link, in any unit.
    routes : sequence of sequence of int
        For each flow, the indices of its links.
    demands : sequence of float or None, optional
        The maximum of each flow; unlimited if not given.

    Returns
    -------
    ndarray
        The rate of each flow, in the unit of `capacity`; infinite where nothing bounds it.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.max_min([10, 4], [[0], [0, 1], [1]])
    array([8., 2., 2.])
    """
    carried = numbers("capacity", capacity)
    if any(not rate >= 0 for rate in carried):
        raise ArgumentError("capacity: expected numbers of at least 0")
    try:
        given = [list(route) for route in routes]
    except TypeError:
        raise ArgumentError(f"routes: expected a list of links for each flow, got {routes!r}") from None
    if not carried and any(given):
        raise ArgumentError("routes: there are no links in `capacity`")
    paths = [[whole("routes", link, 0, len(carried) - 1) for link in route] for route in given]
    if demands is not None and not isinstance(demands, Iterable):
        raise ArgumentError(f"demands: expected a list of numbers, got {demands!r}")
    asked = [None] * len(paths) if demands is None else list(demands)
    if len(asked) != len(paths):
        raise ArgumentError(f"demands: expected {len(paths)}, one per route, got {len(asked)}")
    wanted = [None if demand is None else real("demands", demand) for demand in asked]
    if any(demand is not None and demand < 0 for demand in wanted):
        raise ArgumentError("demands: expected numbers of at least 0")
    return np.array(_native.max_min(carried, list(zip(paths, wanted, strict=True))))


def spearman(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Compute Spearman's rho, the correlation of ranks.

    Parameters
    ----------
    one, other : array_like
        Values of the same things, in the same order.

    Returns
    -------
    float or None
        -1 to 1; None where the lists differ in length, have fewer than two values, one of them ranks nothing, or a
        value is NaN.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.spearman([1, 2, 3], [10, 20, 40])
    1.0
    """
    return _native.spearman(numbers("one", one), numbers("other", other))


def kendall(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Compute Kendall's tau-b: pairs in the same order less pairs in the opposite one, corrected for ties.

    Parameters
    ----------
    one, other : array_like
        Values of the same things, in the same order.

    Returns
    -------
    float or None
        -1 to 1; None as for :func:`spearman`.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.metrics.kendall([1, 2, 3], [3, 2, 1])
    -1.0
    """
    return _native.kendall(numbers("one", one), numbers("other", other))


def estimate(values: npt.ArrayLike) -> Estimate | None:
    """Estimate a mean with its 95 % Student t interval.

    Parameters
    ----------
    values : array_like
        One value per independent run. Samples within one run depend on each other and do not belong here.

    Returns
    -------
    Estimate or None
        None of nothing, or where a value is not finite.

    Examples
    --------
    >>> import cwnd
    >>> print(cwnd.metrics.estimate([1, 2, 3, 4, 5]))
    3.0 ± 2.0
    """
    found = _native.estimate(numbers("values", values))
    return None if found is None else Estimate(*found)
