"""The results of a sweep."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from cwnd import _native
from cwnd._documented import Calls, Reported
from cwnd._estimates import SHOWN, Estimates
from cwnd._html import page
from cwnd._table import Columns, Table
from cwnd.plot import SweepCharts, SweepPlots

__all__ = ["FailedCell", "SweepPoint", "SweepResult"]


@dataclass(frozen=True)
class FailedCell:
    """A run of a sweep that has no measures.

    Attributes
    ----------
    cell : int
        Its place in the sweep, from 0.
    seed : int
        Its seed.
    set : dict
        The settings of the sweep there.
    error : str
        Why.
    """

    cell: int
    seed: int
    set: dict[str, str]
    error: str


class SweepPoint(Estimates):
    """A point of a sweep: its measures by their names, as in :class:`Estimates`."""

    __slots__ = ("failed", "set")

    set: dict[str, str]
    """The settings of the sweep there, as written."""
    failed: int
    """Its runs that failed; no measure has them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)
        self.set = {setting["key"]: setting["value"] for setting in document["set"]}
        self.failed = document["failed"]

    def _title(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.set.items())


class SweepResult(Reported[_native.Swept], Columns):
    """The results of a sweep, or of a shard of it. ``print`` shows the output of the command line.

    It is a table itself: ``polars.DataFrame(result)`` has a row per cell.
    """

    _calls: ClassVar[Calls] = (("to_json",), ("html",), ("table",), ("keys",), ("failed",))

    def __init__(self, native: _native.Swept, out: Path | None, counts: tuple[int, int, int]) -> None:
        super().__init__(native)
        self.out = out
        """The directory of its files, if there is one."""
        self.computed, self.stored, _ = counts

    computed: int
    """Cells that were run now, or are equal to one that was."""
    stored: int
    """Cells that were in the store."""

    @cached_property
    def points(self) -> tuple[SweepPoint, ...]:
        """Every point with its measures over all seeds, in the order of the sweep."""
        return tuple(SweepPoint(point) for point in self.document["points"])

    @cached_property
    def table(self) -> Table:
        """A row per cell: ``cell``, the keys of the sweep, ``seed``, ``error``, and every measure."""
        return Table(self._native.table())

    @cached_property
    def failed(self) -> tuple[FailedCell, ...]:
        """Cells without measures, each with its error. The next attempt runs them again."""
        return tuple(FailedCell(cell, seed, dict(set_), error) for cell, seed, set_, error in self._native.failed())

    @property
    def keys(self) -> list[str]:
        """The keys of the scenario that its points set."""
        return self._native.keys()

    @property
    def warnings(self) -> list[str]:
        """Warnings to read before the numbers: settings without effect, and at how many points."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    def _page(self) -> str:
        return self._native.html()

    @property
    def plot(self) -> SweepPlots:
        """Plots on matplotlib; ``result.plot()`` draws heat maps of a measure over all keys."""
        return SweepPlots(self.table, self.keys)

    @property
    def chart(self) -> SweepCharts:
        """Charts on Altair, one per method."""
        return SweepCharts(self.table, self.keys)

    def _as_table(self) -> Table:
        return self.table

    def __str__(self) -> str:
        return self._native.text(*self._directory())

    def _asked(self) -> Calls:
        return (*self._calls, ("text", *self._directory()))

    def _directory(self) -> tuple[str, ...]:
        return () if self.out is None else (os.fspath(self.out),)

    def __repr__(self) -> str:
        return f"<cwnd.SweepResult of {len(self.table)} cells, {len(self.failed)} failed>"

    def _repr_html_(self) -> str:
        keys = self.keys
        measures = [name for name in SHOWN if any(name in point for point in self.points)]
        rows = (
            [*(point.set.get(key) for key in keys), *(point.get(name) for name in measures)] for point in self.points
        )
        notes = [*self.warnings, *(f"{one.set}, seed {one.seed}: {one.error}" for one in self.failed[:3])]
        rest = (
            "`.plot(measure)` draws others, `.points` has every measure, `.frame()` a row per run, `.failed` what "
            "failed, `print` shows the text."
        )
        draw = partial(self.plot, most=4)
        return page(repr(self)[1:-1], [*keys, *measures], rows, notes=notes, draw=draw, rest=rest)
