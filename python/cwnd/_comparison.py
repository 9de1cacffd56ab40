"""Compared algorithms, the results of :func:`cwnd.compare`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from cwnd import _native
from cwnd._documented import Calls, Named, Reported
from cwnd._estimates import SHOWN, Estimate, Estimates, units
from cwnd._html import page
from cwnd._kept import Made
from cwnd._runs import RunResult
from cwnd._table import Table
from cwnd.plot import ComparisonCharts, ComparisonPlots

__all__ = ["Comparison", "ComparisonRow", "Stationarity", "Versus"]


@dataclass(frozen=True)
class Versus:
    """An algorithm together with another, the same number of flows each.

    Attributes
    ----------
    algorithm : str
        The other algorithm.
    share : Estimate or None
        The share of the goodput of all flows that the first one had, 0 to 1.
    goodput_ratio : Estimate or None
        The mean goodput of its flows over that of the other's.
    result : RunResult
        The runs: its flows first.
    """

    algorithm: str
    share: Estimate | None
    goodput_ratio: Estimate | None
    result: RunResult


@dataclass(frozen=True, slots=True)
class Stationarity:
    """Whether the window in which an algorithm was measured is stationary.

    Attributes
    ----------
    stationary : bool
        At least five cycles of every flow lie in the window, and its halves agree. Only then may a value be called the
        best.
    cycles : int or None
        The least number of cycles of a flow in the window of a run; None for flows at rest.
    counted : str
        The counted events: ``congestion events``, or ``turns of the window`` or ``turns of the rate`` where there were
        more of these.
    reason : str or None
        Why the window is too short; None where it is not.
    try_duration_s : float or None
        A duration that should be enough, seconds; None where it is enough, and where nothing is known.
    """

    stationary: bool
    cycles: int | None
    counted: str
    reason: str | None
    try_duration_s: float | None


class ComparisonRow(Estimates):
    """One algorithm of a comparison: its measures by their names, as in :class:`Estimates`."""

    __slots__ = ("algorithm", "best_in", "differences", "result", "stationarity", "versus")

    algorithm: str
    """The algorithm as it was written."""
    best_in: tuple[str, ...]
    """Measures in which it is better than all others: its interval (`low` to `high`) overlaps that of no
    other. None unless every algorithm was measured in a stationary window, over three seeds at least."""
    stationarity: Stationarity
    """Whether it was measured in a stationary window."""
    differences: Mapping[str, Estimate]
    """How far it is from the first algorithm, by the names of the measures that are compared: the mean over seeds of
    its value less that of the first, with the interval of that mean. Empty for the first."""
    result: RunResult
    """Its runs, all flows its own."""
    versus: Versus | None
    """Its runs together with its opponent."""

    def __init__(self, document: Mapping[str, Any], alone: RunResult, against: RunResult | None) -> None:
        super().__init__(document)
        self.algorithm = document["algorithm"]
        self.best_in = tuple(document["best_in"])
        self.stationarity = Stationarity(**document["stationarity"])
        self.differences = {one["key"]: Estimate(**one["difference"]) for one in document["differences"]}
        self.result = alone
        self.versus = None
        other = document["versus"]
        if other is not None and against is not None:
            share, ratio = (
                None if value is None else Estimate(**value) for value in (other["share"], other["goodput_ratio"])
            )
            self.versus = Versus(other["algorithm"], share, ratio, against)

    def __repr__(self) -> str:
        return f"<cwnd.ComparisonRow of {self.algorithm}>"

    def _title(self) -> str:
        return self.algorithm


class Comparison(Reported[_native.Compared], Named[ComparisonRow]):
    """Algorithms compared on one path. ``print`` shows the table of the command line.

    It is a mapping of algorithms, as they were written, to their rows. To libraries that read Arrow it is a table:
    ``polars.DataFrame(result)`` has a row per algorithm and measure, with the mean, half the width of its 95 %
    interval, the ends of the shown interval and the number of runs.
    """

    _calls: ClassVar[Calls] = (
        ("to_json",),
        ("text", False),
        ("text", True),
        ("table",),
        ("differences",),
    )

    def __init__(
        self, native: _native.Compared, paired: bool = False, made: Made | None = None, command: str = ""
    ) -> None:
        super().__init__(native, made, command)
        self._paired = paired

    @cached_property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """One row per algorithm, in the order asked for."""

        def row(index: int, document: Mapping[str, Any]) -> ComparisonRow:
            against = self._native.versus(index)
            alone = RunResult(self._native.alone(index), self._part("alone", index), self._command)
            pair = None if against is None else RunResult(against, self._part("versus", index), self._command)
            return ComparisonRow(document, alone, pair)

        return tuple(row(index, document) for index, document in enumerate(self.document["algorithms"]))

    def _part(self, *part: Any) -> Made | None:
        return None if self._made is None else Made(self._made.function, self._made.arguments, part)

    def _named(self) -> dict[str, ComparisonRow]:
        found: dict[str, ComparisonRow] = {}
        for row in self.rows:
            found.setdefault(row.algorithm, row)
        return found

    @cached_property
    def table(self) -> Table:
        """A row per algorithm and measure, with the columns algorithm, measure, unit, mean, ci95, low, high, n."""
        return Table(self._native.table())

    @cached_property
    def differences(self) -> Table:
        """How far each algorithm is from the first, seed by seed: the columns of :attr:`table`, of the differences."""
        return Table(self._native.differences())

    @property
    def warnings(self) -> list[str]:
        """Warnings to read before the numbers."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    @property
    def path(self) -> str:
        """The path in one line: its settings, and the era."""
        path: str = self.document["path"]
        return path

    @property
    def plot(self) -> ComparisonPlots:
        """Plots on matplotlib; ``comparison.plot()`` draws the usual ones, its methods one each."""
        return ComparisonPlots(self._native)

    @property
    def chart(self) -> ComparisonCharts:
        """Charts on Altair, one per method."""
        return ComparisonCharts(self._native)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand :attr:`table` over through Arrow's C stream interface."""
        return self.table.__arrow_c_stream__(requested_schema)

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            That of :attr:`table`.
        """
        return self.table.to_pandas()

    def __str__(self) -> str:
        return self._native.text(self._paired)

    def __repr__(self) -> str:
        return f"<cwnd.Comparison of {', '.join(row.algorithm for row in self.rows)}>"

    def _repr_html_(self) -> str:
        rest = (
            "`.plot()` draws more, `.frame()` has every measure, `[algorithm].result` the runs, `.report(path)` writes "
            "the page, `print` shows the text."
        )
        known = units()
        measures = [name for name in SHOWN if any(name in row for row in self.rows)]
        head = ["algorithm", *(f"{name} ({known[name]})" if known[name] else name for name in measures)]
        share = any(row.versus for row in self.rows)
        head += ["share versus"] if share else []
        rows = (
            [
                row.algorithm,
                *(row.get(name) for name in measures),
                *([row.versus and row.versus.share] if share else []),
            ]
            for row in self.rows
        )
        return page(
            f"Comparison: {self.path}",
            head,
            rows,
            notes=self.warnings,
            draw=lambda: self.plot.trade_off().figure,
            rest=rest,
        )
