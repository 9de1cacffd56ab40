"""What comes of runs."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._html import page
from cwnd._kept import Kept, Made
from cwnd._table import Columns, Table
from cwnd.plot import ComparisonCharts, ComparisonPlots, RunCharts, RunPlots

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Comparison", "ComparisonRow", "Estimate", "Estimates", "RunResult", "Stationarity", "Versus"]

_MEASURES = _native.measures()

Native = TypeVar(
    "Native",
    bound=_native.Runs | _native.Compared | _native.Evaluated | _native.Conformed | _native.Overlaid | _native.Swept,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent seeds, and how far it can be trusted.

    Attributes
    ----------
    mean : float
        The mean, in the unit of what is estimated.
    ci95 : float or None
        Half the width of the 95 % Student t interval ``mean ± ci95``, whatever values are possible; None with a single
        run.
    n : int
        How many runs had a value.
    low : float
        The lower end of what is shown: below five runs the smallest value, from five on the lower end of the 95 %
        interval, but no value that the quantity cannot have.
    high : float
        The upper end, likewise.
    """

    mean: float
    ci95: float | None
    n: int
    low: float
    high: float

    def overlaps(self, other: Estimate) -> bool:
        """Whether neither mean can be called the larger.

        Parameters
        ----------
        other : Estimate
            An estimate of the same measure.

        Returns
        -------
        bool
            Whether what is shown of them (`low` to `high`) overlaps; always for single runs.
        """
        if self.ci95 is None or other.ci95 is None:
            return True
        return self.low <= other.high and other.low <= self.high

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return _native.written(self.mean, self.ci95, self.n, self.low, self.high)


class Estimates(Mapping[str, Estimate]):
    """Measures over all seeds by their names, which carry their unit.

    A measure that no run could answer is missing.
    """

    __slots__ = ("_measures", "flow_goodput_bps")

    flow_goodput_bps: tuple[Estimate | None, ...]
    """Payload of each flow that arrived for the first time, bit/s, in order of the scenario; None if not there."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        found = {name: document.get(name) for name, _, _ in _MEASURES}
        self._measures = {name: Estimate(**value) for name, value in found.items() if value is not None}
        self.flow_goodput_bps = tuple(
            None if value is None else Estimate(**value) for value in document.get("flow_goodput_bps", ())
        )

    def __getitem__(self, measure: str) -> Estimate:
        return self._measures[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())

    def _repr_html_(self) -> str:
        units = {name: unit for name, unit, _ in _MEASURES}
        rows = ((name, value, units[name]) for name, value in self.items())
        return page(self._title(), ["measure", "value", "unit"], rows, rest="`[measure]` is an estimate.")

    def _title(self) -> str:
        return "Estimates"


Calls = tuple[tuple[Any, ...], ...]
"""Methods of the extension's results with their arguments."""


class Documented(Generic[Native]):
    """What the command line prints as one document. It never changes: equal documents are equal results."""

    _calls: ClassVar[Calls] = (("to_json",), ("text",))
    """What a pickle has of the extension's result."""

    def __init__(self, native: Native, made: Made | None = None, command: str = "") -> None:
        self._native: Native = native
        self._made = made
        self._command = command

    def _asked(self) -> Calls:
        return self._calls

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything that was measured, as ``--json`` of the command prints it. Keys carry their unit."""
        loaded: dict[str, Any] = json.loads(self._native.to_json())
        return loaded

    def __eq__(self, other: object) -> bool:
        return self.document == other.document if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.to_json())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        cached = [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]
        native: object = self._native
        kept = native if isinstance(native, Kept) else Kept.of(native, self._asked(), self._made)
        return {**{name: value for name, value in vars(self).items() if name not in cached}, "_native": kept}


class Reported(Documented[Native]):
    """What has a report."""

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report of the command line, one HTML page that refers to nothing outside itself.

        Parameters
        ----------
        path : path
            The file; one that exists is replaced.

        Returns
        -------
        Path
            The same.

        Raises
        ------
        FileError
            It cannot be written; then nothing of it is there.
        """
        return write(path, self._page())

    def _page(self) -> str:
        native: Any = self._native
        html: str = native.html(self._command)
        return html


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text to a file: whole or not at all."""
    target = arguments.path("path", path)
    _native.write(target, text)
    return Path(target)


Found = TypeVar("Found")


class Named(ABC, Generic[Found]):
    """A mapping of names, in order, to what they are the names of.

    It is no :class:`collections.abc.Mapping`: polars would take that for columns, and not ask for the table.
    """

    @abstractmethod
    def _named(self) -> dict[str, Found]:
        """Give all of it."""

    def __getitem__(self, name: str) -> Found:
        """Find one by its name; the error says what names there are."""
        known = self._named()
        if name not in known:
            raise KeyError(f"no `{name}`, expected one of {', '.join(known)}")
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._named())

    def __len__(self) -> int:
        return len(self._named())

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __array__(self, *_: object, **__: object) -> NoReturn:
        # pandas would make a column of the names.
        raise TypeError("no array: `.frame()` is a data frame of pandas, `.table` has the columns")

    def keys(self) -> KeysView[str]:
        """Name all.

        Returns
        -------
        collections.abc.KeysView
            In order.
        """
        return self._named().keys()

    def values(self) -> ValuesView[Found]:
        """List all.

        Returns
        -------
        collections.abc.ValuesView
            In order.
        """
        return self._named().values()

    def items(self) -> ItemsView[str, Found]:
        """List all with their names.

        Returns
        -------
        collections.abc.ItemsView
            In order.
        """
        return self._named().items()

    def get(self, name: str, default: Found | None = None) -> Found | None:
        """Find one by its name.

        Parameters
        ----------
        name : str
            Its name.
        default : object
            What to return where there is none of it.

        Returns
        -------
        object
            What was found.
        """
        return self._named().get(name, default)


class RunResult(Reported[_native.Runs], Columns):
    """The runs of one scenario over its seeds. ``print`` shows what the command line shows.

    It is a table itself, that of :attr:`summary`: ``polars.DataFrame(result)`` has a row per seed.
    """

    _calls: ClassVar[Calls] = (
        *Documented._calls,
        *(("table", name) for name in ("summary", "flows", "trace", "links", "link_trace")),
    )

    @cached_property
    def estimates(self) -> Estimates:
        """Every measure of all flows together, over all seeds."""
        return Estimates(self.document)

    @cached_property
    def summary(self) -> Table:
        """Every measure, a row per seed."""
        return Table(self._native.table("summary"))

    @cached_property
    def flows(self) -> Table:
        """What every flow is and how it fared, a row per seed and flow."""
        return Table(self._native.table("flows"))

    @cached_property
    def trace(self) -> Table:
        """What every flow did, a row per seed, flow and sampled instant. Counts are since the start of the run."""
        return Table(self._native.table("trace"))

    @cached_property
    def links(self) -> Table:
        """What every link is, a row per seed and link."""
        return Table(self._native.table("links"))

    @cached_property
    def link_trace(self) -> Table:
        """What every link did, a row per seed, link and sampled instant. Counts are since the start of the run."""
        return Table(self._native.table("link_trace"))

    @property
    def warnings(self) -> list[str]:
        """What to look at before believing the numbers."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    @property
    def path(self) -> str:
        """The path in one line: what the scenario sets of it, and the era."""
        path: str = self.document["path"]
        return path

    @property
    def digests(self) -> list[str]:
        """A digest of everything each run delivered, per seed. Equal digests are equal runs."""
        digests: list[str] = self.document["digests"]
        return digests

    def _as_table(self) -> Table:
        return self.summary

    def export(self, folder: str | os.PathLike[str], formats: str | Iterable[str]) -> Path:
        """Write the traces for other tools, as ``cwnd run --trace`` does.

        Parameters
        ----------
        folder : path
            Where; the files are in its folder ``traces``.
        formats : str or iterable of str
            Some of ``pcapng`` (Wireshark), ``qlog`` or ``qlog:legacy`` (qvis), ``flent`` and ``parquet``. The first two
            have every packet at the senders in the first seed, which is run again for that.

        Returns
        -------
        Path
            The folder ``traces``.

        Raises
        ------
        ArgumentError
            There is no such format.
        FileError
            A file cannot be written.
        """
        target = arguments.path("folder", folder)
        chosen = [formats] if isinstance(formats, str) else arguments.texts("formats", formats, "pcapng")
        self._native.export(target, chosen, self._command)
        return Path(target) / "traces"

    @property
    def plot(self) -> RunPlots:
        """Plots on matplotlib; ``result.plot()`` draws the usual ones, its methods one each."""
        return RunPlots(self._native)

    @property
    def chart(self) -> RunCharts:
        """Charts on Altair, one per method."""
        return RunCharts(self._native)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<cwnd.RunResult of {len(self.digests)} seeds>"

    def _repr_html_(self) -> str:
        flows = self.flows
        names = ["seed", "flow", "algorithm", "goodput_bps", "loss_rate"]
        names = [name for name in names if name in flows]
        rest = (
            "`.plot()` draws more, `.frame()` has the measures per seed, `.flows` and `.trace` are tables, "
            "`.report(path)` writes the page, `print` shows the text."
        )
        rows = zip(*(flows[name].tolist() for name in names), strict=True)
        draw = partial(_figure_of, self.plot.goodput)
        return page(f"Runs: {self.path}", names, rows, notes=self.warnings, draw=draw, rest=rest)


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
    """What is known of the window in which an algorithm was measured.

    Attributes
    ----------
    stationary : bool
        At least five cycles of every flow lie in the window, and its halves agree. Only then may a value be called the
        best.
    cycles : int or None
        The least number of cycles of a flow in the window of a run; None for flows at rest.
    counted : str
        What was counted: ``congestion events``, or ``turns of the window`` or ``turns of the rate`` where there were
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
    """Measures in which it is better than all others: what is shown of it (`low` to `high`) overlaps with that of no
    other. None unless every algorithm was measured in a stationary window, over three seeds at least."""
    stationarity: Stationarity
    """Whether it was measured in a stationary window."""
    differences: Mapping[str, Estimate]
    """How far it is from the first algorithm, by the names of the measures that are compared: the mean over seeds of
    its value less that of the first, with the interval of that mean. Empty for the first."""
    result: RunResult
    """Its runs, all flows its own."""
    versus: Versus | None
    """Its runs together with the algorithm it was set against."""

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
    interval, the ends of what is shown and the number of runs.
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
        """What to look at before believing the numbers."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    @property
    def path(self) -> str:
        """The path in one line: what was set of it, and the era."""
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
        units = {name: unit for name, unit, _ in _MEASURES}
        measures = [name for name in SHOWN if any(name in row for row in self.rows)]
        head = ["algorithm", *(f"{name} ({units[name]})" if units[name] else name for name in measures)]
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
        draw = partial(_figure_of, self.plot.trade_off)
        return page(f"Comparison: {self.path}", head, rows, notes=self.warnings, draw=draw, rest=rest)


def _figure_of(draw: Callable[[], Any]) -> Any:
    return draw().figure


SHOWN = ("goodput_bps", "utilisation", "jain", "queue_delay_mean_s", "loss_rate")
"""Measures of the table in a notebook."""
