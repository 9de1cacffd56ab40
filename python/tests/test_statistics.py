"""Intervals with known answers."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import cwnd
from cwnd.statistics import bca, mser5, paired, t_interval

SCHOOLS = [
    *((576, 3.39), (635, 3.30), (558, 2.81), (578, 3.03), (666, 3.44), (580, 3.07), (555, 3.00), (661, 3.43)),
    *((651, 3.36), (605, 3.13), (653, 3.12), (575, 2.74), (545, 2.76), (572, 2.88), (594, 2.96)),
]
"""The law school data: test score and grade point average (Efron and Tibshirani 1993, table 3.1)."""

PATCHES = [
    (8406, -1200),
    (2342, 2601),
    (8187, -2705),
    (8459, 1982),
    (4795, -1290),
    (3516, 351),
    (4796, -638),
    (10238, -2719),
]
"""Hormone: old patch less placebo, and new patch less old patch (the same, table 10.1)."""

CONTROLS = [52, 104, 146, 10, 51, 30, 40, 27, 46]
"""Days that untreated mice survived (the same, table 2.1)."""

SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
"""Hours of sleep gained under two drugs (Student 1908), R's data set of that name."""


def ends(interval: cwnd.statistics.Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_a_mean_as_law_computes_it() -> None:
    # Law, example 4.27: 1.34 ± 0.24 at 90 %.
    found = t_interval([1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09], confidence=0.9)
    assert found is not None
    assert (round(found.value, 2), round(found.half, 2), found.n) == (1.34, 0.24, 10)


def test_it_is_the_interval_of_estimates() -> None:
    estimate = cwnd.metrics.estimate(CONTROLS)
    assert estimate is not None
    assert ends(t_interval(CONTROLS)) == (estimate.low, estimate.high)


def test_paired_differences_as_r_computes_them() -> None:
    # t.test(sleep$extra[1:10], sleep$extra[11:20], paired = TRUE): -2.4598858 -0.7001142.
    assert ends(paired(*SLEEP)) == pytest.approx((-2.4598858, -0.7001142), abs=1e-7)
    # A seed that lacks either is in neither.
    lacking = [[*SLEEP[0], math.nan, 7.0], [*SLEEP[1], 5.0, math.nan]]
    assert paired(lacking[0], lacking[1]) == paired(*SLEEP)


def test_the_law_schools() -> None:
    def correlation(schools: npt.NDArray[np.float64]) -> float:
        score, grade = (schools - schools.mean(axis=0)).T
        return float(score @ grade / np.sqrt((score @ score) * (grade @ grade)))

    found = bca(SCHOOLS, correlation, confidence=0.9)
    assert found is not None
    assert (round(found.value, 3), found.n) == (0.776, 15)
    # Efron, "Better bootstrap confidence intervals" (1987): 0.43 to 0.92.
    assert ends(found) == pytest.approx((0.43, 0.92), abs=0.02)
    assert bca(SCHOOLS, correlation, confidence=0.9) == found


@pytest.mark.parametrize(
    ("samples", "statistic", "value", "expected", "off"),
    [
        # The intervals are of 400 000 resamples, drawn and put together by NumPy apart from this package.
        (CONTROLS, "mean", 56.2222, (38.67, 85.33), 1.5),
        (CONTROLS, ("quantile", 0.5), 46.0, (30.0, 52.0), 0.01),
        ([(new, old) for old, new in PATCHES], "ratio", -0.0713, (-0.2030, 0.1385), 0.012),
    ],
    ids=["mean", "median", "ratio"],
)
def test_the_bootstrap_has_known_ends(
    samples: Any, statistic: Any, value: float, expected: tuple[float, float], off: float
) -> None:
    found = bca(samples, statistic, confidence=0.9)
    assert found is not None
    assert found.value == pytest.approx(value, abs=1e-4)
    assert ends(found) == pytest.approx(expected, abs=off)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 0.99, 1.0])
def test_quantiles_are_numpys(q: float) -> None:
    found = bca(CONTROLS, ("quantile", q))
    assert found is not None
    assert found.value == pytest.approx(np.quantile(CONTROLS, q))
    assert ends(found) == pytest.approx(ends(bca(CONTROLS, lambda drawn: float(np.quantile(drawn, q)))))


def test_a_wider_probability_is_a_wider_interval() -> None:
    for of in (t_interval, lambda samples, level: bca(samples, "mean", level)):
        wide, narrow = of(CONTROLS, 0.99), of(CONTROLS, 0.9)
        assert wide is not None
        assert narrow is not None
        assert wide.low < narrow.low < narrow.high < wide.high


def test_too_little_has_no_answer() -> None:
    assert t_interval([7.0]) is None
    assert t_interval([]) is None
    assert t_interval([7.0, math.nan]) is None
    assert bca([1.0, 2.0], "mean") is None
    assert bca([(1.0, 0.0)] * 4, "ratio") is None
    assert paired([1.0], [2.0]) is None


def by_definition(series: npt.NDArray[np.float64]) -> int | None:
    """MSER-5 as White, Cobb and Spratt say it, the last five means left out."""
    means = series[: len(series) // 5 * 5].reshape(-1, 5).mean(axis=1)
    cut = int(np.argmin([means[k:].var() / len(means[k:]) for k in range(len(means) - 5)]))
    return cut * 5 if 2 * cut <= len(means) else None


@pytest.mark.parametrize("seed", range(5))
def test_warm_up_by_its_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    series = 100 * (1 - np.exp(-np.arange(400) / 20)) + random.normal(0, 3, 400)
    found = mser5(series)
    assert found == by_definition(series)
    assert found is not None
    assert 30 < found < 150
    assert mser5(np.arange(400.0)) is None


def test_what_a_statistic_raises_comes_out() -> None:
    def fails(_: object) -> float:
        raise RuntimeError("as it says")

    with pytest.raises(RuntimeError, match="as it says"):
        bca(CONTROLS, fails)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t_interval([1, 2], confidence=95), "confidence: .*got 95"),
        (lambda: t_interval([[1, 2]]), "samples: expected one dimension"),
        (lambda: t_interval([1.0, math.inf]), "samples: expected finite"),
        (lambda: bca([1, 2, 3], "median"), "statistic: expected"),  # type: ignore[arg-type]
        (lambda: bca([1, 2, 3], ("quantile", 90)), "statistic: expected"),
        (lambda: bca([1, 2, 3], "ratio"), "samples: expected 2 dimensions"),
        (lambda: bca([(1, 2, 3)], "ratio"), "samples: expected pairs"),
        (lambda: paired([1, 2], [1]), "b: expected 2 values"),
        (lambda: mser5([math.nan] * 20), "series: expected finite"),
    ],
)
def test_errors_name_the_argument(call: Any, message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        call()
