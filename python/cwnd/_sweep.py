"""Sweeps: one scenario at many points, here or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._files import read_text
from cwnd._html import page
from cwnd._progress import reporting
from cwnd._results import SHOWN, Calls, Estimates, Reported
from cwnd._scenario import Scenario, overrides, written
from cwnd._table import Columns, Table
from cwnd.errors import ArgumentError
from cwnd.plot import SweepCharts, SweepPlots

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["FailedCell", "Sweep", "SweepPoint", "SweepResult", "sweep"]


class Sweep:
    """One scenario at many points, each with many seeds.

    Every setting of `cells` is run at every combination of `grid`, with every seed of the base. A sweep is checked when
    it is made, all its points included.

    Parameters
    ----------
    base : Scenario, mapping or path
        What stays the same; a path names a scenario file.
    grid : mapping, optional
        Dotted keys of the scenario, each with its values: ``{"dumbbell.rtt": ["20ms", "100ms"]}``. The last key
        changes fastest.
    cells : sequence of mapping, optional
        What is set together: ``[{"dumbbell.rate": "1gbit", "duration": "20s"}, ...]``.
    seeds : int, optional
        Runs of every point; those of the base if not given.
    title : str, optional
        What it shows, in a line.
    by : str, optional
        The measure that its points are ranked by, such as ``queue_delay_p99_s``; ``goodput_bps`` if not given.

    Raises
    ------
    ScenarioError
        The first thing wrong with the base or a point.
    ArgumentError
        Another argument is not accepted.

    Examples
    --------
    >>> import cwnd
    >>> base = cwnd.Scenario.dumbbell("reno", rate="20mbit", duration="4s", warmup="1s")
    >>> sweep = cwnd.Sweep(base, grid={"dumbbell.rtt": ["20ms", "40ms"], "flow.0.count": [1, 2, 4]}, seeds=2)
    >>> sweep.points, sweep.cells
    (6, 12)
    """

    def __init__(
        self,
        base: Scenario | Mapping[str, Any] | str | os.PathLike[str],
        *,
        grid: Mapping[str, Sequence[object]] | None = None,
        cells: Sequence[Mapping[str, object]] | None = None,
        seeds: int | None = None,
        title: str | None = None,
        by: str | None = None,
    ) -> None:
        if isinstance(base, (str, os.PathLike)):
            path = arguments.path("base", base)
            base = Scenario(json.loads(_native.scenario(path, read_text("base", path), [])))
        scenario = Scenario(base.document if isinstance(base, Scenario) else arguments.mapping("base", base))
        if seeds is not None:
            scenario["seeds"] = arguments.whole("seeds", seeds, 1, 100_000)
        scenario.to_toml()  # refuses what a file, and so another machine, cannot have
        plain, _ = scenario.serialized()
        about = {} if title is None else {"title": arguments.text("title", title, "buffers")}
        parts = [_native.to_toml(json.dumps({**about, "base": json.loads(plain)}))]
        if grid is not None and arguments.mapping("grid", grid):
            parts.append("[grid]\n" + _lines("grid", grid))
        parts += ["[[cell]]\n" + _lines("cells", cell) for cell in _list("cells", cells)]
        native = _native.Sweep("sweep", "\n".join(parts), "", [])
        self._native = native if by is None else native.ranked_by(arguments.text("by", by, "loss_rate"))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], *, changes: Mapping[str, object] | None = None) -> Sweep:
        """Read a sweep file.

        Parameters
        ----------
        path : path
            A TOML file, such as those below ``scenarios/sweep/`` of the project.
        changes : mapping, optional
            Dotted keys of the base and what to set them to: ``{"duration": "20s"}``.

        Returns
        -------
        Sweep
            Checked.

        Raises
        ------
        ScenarioError
            The first thing wrong with it, with its line.
        FileError
            The file cannot be read.
        """
        text = read_text("path", path)
        return cls._read(os.fspath(path), text, os.fspath(Path(path).parent), overrides("changes", changes))

    @classmethod
    def from_text(cls, text: str, *, changes: Mapping[str, object] | None = None) -> Sweep:
        """Read the text of a sweep file.

        Parameters
        ----------
        text : str
            A TOML document. A scenario's file that it names is looked for in the working directory.
        changes : mapping, optional
            Dotted keys of the base and what to set them to.

        Returns
        -------
        Sweep
            Checked.

        Raises
        ------
        ScenarioError
            The first thing wrong with it, with its line.
        """
        return cls._read("sweep", arguments.text("text", text, "[base]"), "", overrides("changes", changes))

    @classmethod
    def _read(cls, name: str, text: str, folder: str, overrides: list[str]) -> Sweep:
        sweep = cls.__new__(cls)
        sweep._native = _native.Sweep(name, text, folder, overrides)
        return sweep

    @property
    def keys(self) -> list[str]:
        """The keys of the scenario that its points set, those of `cells` first."""
        return self._native.keys()

    @property
    def points(self) -> int:
        """How many scenarios it has."""
        return self._native.size()[0]

    @property
    def cells(self) -> int:
        """How many runs it has: points times seeds."""
        return self._native.size()[1]

    @property
    def id(self) -> str:
        """Its identity: another for another sweep, and for a program whose sources differ in what a run computes."""
        return self._native.id()

    def chunks(self, chunk: str = "10s") -> int:
        """Count the pieces it is cut into.

        Parameters
        ----------
        chunk : str
            How long each takes on one core, by a rule of thumb.

        Returns
        -------
        int
            Files of rows, and tasks on a cluster.
        """
        return self._native.chunks(arguments.text("chunk", chunk, "10s"))

    def to_toml(self) -> str:
        """Write the sweep as a sweep file.

        Returns
        -------
        str
            TOML that needs no other file.
        """
        return self._native.to_toml()

    def __eq__(self, other: object) -> bool:
        return self.to_toml() == other.to_toml() if isinstance(other, Sweep) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __copy__(self) -> Sweep:
        return self

    def __deepcopy__(self, memo: object) -> Sweep:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Sweep.from_text, (self.to_toml(),)

    def __repr__(self) -> str:
        return f"<cwnd.Sweep of {self.points} points, {self.cells} cells: {', '.join(self.keys)}>"


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
        What the sweep set there.
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
    """What the sweep sets there, as it was written."""
    failed: int
    """Its runs that failed; no measure has them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document)
        self.set = {setting["key"]: setting["value"] for setting in document["set"]}
        self.failed = document["failed"]

    def _title(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.set.items())


class SweepResult(Reported[_native.Swept], Columns):
    """What came of a sweep, or of a shard of it. ``print`` shows what the command line shows: what is best where.

    It is a table itself: ``polars.DataFrame(result)`` has a row per cell.
    """

    _calls: ClassVar[Calls] = (("to_json",), ("html",), ("table",), ("keys",), ("failed",))

    def __init__(self, native: _native.Swept, out: Path | None, counts: tuple[int, int, int]) -> None:
        super().__init__(native)
        self.out = out
        """The folder of its files, if there is one."""
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
        """What to look at before believing the numbers: settings that change nothing, and at how many points."""
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
        return self._native.text(*self._folder())

    def _asked(self) -> Calls:
        return (*self._calls, ("text", *self._folder()))

    def _folder(self) -> tuple[str, ...]:
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


def sweep(
    sweep: Sweep | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | bool = True,
    set: Mapping[str, object] | None = None,  # noqa: A002  (the word of the command line)
    shard: str | None = None,
    chunk: str = "10s",
    format: str | None = None,  # noqa: A002  (the word of the command line)
    client: Client | str | None = None,
    memory: str | None = None,
    progress: bool | Callable[[int, int, int], object] | None = None,
) -> SweepResult:
    """Run a sweep: on all cores of this machine, or on a Dask cluster.

    Runs that were done before are found in the store, so that a sweep that was interrupted, by Ctrl-C or otherwise,
    goes on when it is called again. A run that fails is a row with its error, and the others go on.

    Parameters
    ----------
    sweep : Sweep, path or str
        What to run: made here, a sweep file, or the text of one (anything with more than one line).
    out : path, optional
        A folder for the files of ``cwnd sweep``, a new one or that of the same sweep; none are written if not given.
    store : path or bool
        The folder in which single runs are kept. True: ``cwnd/cells`` in the user's folder for caches, as the command
        line does. False: nothing is kept, and an interrupted sweep starts anew.
    set : mapping, optional
        Dotted keys of the base and what to set them to: ``{"duration": "20s"}``. Not of a :class:`Sweep`, which has its
        own.
    shard : str, optional
        Run one part of several, such as ``"3/8"``; all parts together are the sweep.
    chunk : str
        How much work goes into a file and into a task of a cluster: time on one core, by a rule of thumb.
    format : str, optional
        How rows are written to `out`: ``parquet`` (if not given), ``csv`` or ``jsonl``.
    client : distributed.Client or str, optional
        Run on the workers of this Dask cluster; text is the address of its scheduler. Store and folder are those of
        this machine, which all rows come back to. The workers need the same build of cwnd.
    memory : str, optional
        What all runs together may use for packets and samples, such as ``4GB``; half of the machine's if not given. A
        run that needs more is a failed cell. Not of a cluster, whose workers take half of their machine's.
    progress : bool or callable, optional
        True shows a bar on standard error, False none; if not given there is one if that is a terminal. A function is
        called with the cells that are done, those of them that failed, and all.

    Returns
    -------
    SweepResult
        A row per cell, estimates per point, and what failed.

    Raises
    ------
    ScenarioError
        The first thing wrong with the sweep, its base or a point, with its line.
    ArgumentError
        Another argument is not accepted, or the folder holds something else.
    StoreError
        The folder of results cannot be written.
    SimulationError
        The workers cannot run the tasks: another build of cwnd, say.
    KeyboardInterrupt
        Ctrl-C. Cells that were done are in the store.

    Examples
    --------
    >>> import cwnd
    >>> base = cwnd.Scenario.dumbbell("reno", rate="20mbit", duration="4s", warmup="1s", seeds=2)
    >>> grid = {"flow.0.algorithm": ["reno", "simd"], "dumbbell.rtt": ["20ms", "40ms"]}
    >>> result = cwnd.sweep(cwnd.Sweep(base, grid=grid), store=False)
    >>> len(result.table), len(result.failed)
    (8, 0)
    >>> result.points[0].set
    {'flow.0.algorithm': 'reno', 'dumbbell.rtt': '20ms'}
    """
    chosen = _chosen(sweep, set)
    folder = arguments.optional(arguments.path, "out", out)
    chosen_store = arguments.plain(store)
    place = chosen_store if isinstance(chosen_store, bool) else arguments.path("store", chosen_store)
    budget = arguments.optional(arguments.text, "memory", memory, "4GB")
    if client is not None and budget is not None:
        raise ArgumentError("memory: the workers of a cluster take half of their machine's")
    sweeping = _native.Sweeping(
        chosen._native,
        arguments.text("chunk", chunk, "10s"),
        arguments.optional(arguments.text, "shard", shard, "3/8"),
        place,
        folder,
        arguments.optional(arguments.text, "format", format, "csv"),
    )
    with reporting(sweeping, progress) as report:
        if client is None:
            sweeping.run(report, budget)
        else:
            from cwnd import _dask  # noqa: PLC0415  (what it needs is optional)

            _dask.run(sweeping, client, report)
    result = SweepResult(sweeping.swept(), None if folder is None else Path(folder), sweeping.counts())
    if result.out is not None:
        result.report(result.out / "report.html")
    return result


def _chosen(sweep: Sweep | str | os.PathLike[str], changes: Mapping[str, object] | None) -> Sweep:
    if isinstance(sweep, Sweep):
        if arguments.optional(arguments.mapping, "set", changes):
            raise ArgumentError("set: a cwnd.Sweep has its base; change that, or give the file of a sweep")
        return sweep
    if isinstance(sweep, str) and "\n" in sweep:
        return Sweep._read("sweep", sweep, "", overrides("set", changes))
    path = arguments.path("sweep", sweep)
    return Sweep._read(path, read_text("sweep", path), os.fspath(Path(path).parent), overrides("set", changes))


def _list(name: str, values: object) -> list[Any]:
    """Read a list of dictionaries, or a data frame with a row for each."""
    if values is None:
        return []
    if hasattr(values, "to_dicts"):
        return list(values.to_dicts())  # polars
    if hasattr(values, "to_dict") and hasattr(values, "columns"):
        return list(values.to_dict("records"))  # pandas
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name}: expected a list of dictionaries, got {values!r}")
    return list(values)


def _lines(name: str, values: object) -> str:
    """Keys and values as TOML, in their order, which decides the order of the cells."""
    given = arguments.mapping(name, values).items()
    return "".join(f"{_literal(name, key)} = {_literal(f'{name}: {key}', value)}\n" for key, value in given)


def _literal(name: str, value: object) -> str:
    value = arguments.plain(value)
    return _native.literal(json.dumps(value) if isinstance(value, str) else written(name, value))
