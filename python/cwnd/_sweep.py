"""Sweeps: one scenario at many points, here or on a cluster."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import OUTSIDE, Outside, label
from cwnd._alike import alike
from cwnd._files import read_text
from cwnd._kept import carried
from cwnd._progress import reporting
from cwnd._scenario import Scenario, copied, overrides, written
from cwnd._swept import SweepResult
from cwnd.errors import ArgumentError, ScenarioError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Sweep", "sweep"]


class Sweep:
    """One scenario at many points, each with many seeds.

    Every setting of `cells` is run at every combination of `grid`, with every seed of the base. A sweep is checked when
    it is made, all its points included.

    Parameters
    ----------
    base : Scenario, mapping or path
        The base scenario; a path names a scenario file.
        Algorithms of its flows may be in Python, here and in the next two. They are copied when the sweep is made.
    grid : mapping, optional
        Dotted keys of the scenario, each with its values: ``{"dumbbell.rtt": ["20ms", "100ms"]}``. The last key
        changes fastest.
    cells : sequence of mapping, optional
        Settings that belong together: ``[{"dumbbell.rate": "1gbit", "duration": "20s"}, ...]``.
    seeds : int, optional
        Runs of every point; those of the base if not given.
    title : str, optional
        A title, one line.
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
        stand_ins = _StandIns()
        plain, _ = scenario.serialized(stand_ins.of)
        about = {} if title is None else {"title": arguments.text("title", title, "buffers")}
        parts = [_native.to_toml(json.dumps({**about, "base": json.loads(plain)}))]
        if grid is not None and arguments.mapping("grid", grid):
            parts.append("[grid]\n" + _lines("grid", grid, stand_ins))
        parts += ["[[cell]]\n" + _lines("cells", cell, stand_ins) for cell in _list("cells", cells)]
        ranked = None if by is None else arguments.text("by", by, "loss_rate")
        self._make("\n".join(parts), ranked, stand_ins.given)

    def _make(self, text: str, by: str | None, outside: list[tuple[str, Outside]]) -> None:
        try:
            native = _native.Sweep("sweep", text, "", [], outside)
        except ScenarioError as error:
            said = str(error)
            for stand_in, algorithm in outside:
                said = said.replace(stand_in, label(algorithm))
            raise ScenarioError(said) from None
        self._native = native if by is None else native.ranked_by(by)
        self._made = (text, by, outside)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], *, changes: Mapping[str, object] | None = None) -> Sweep:
        """Read a sweep file.

        Parameters
        ----------
        path : path
            A TOML file, such as those below ``scenarios/sweep/`` of the project.
        changes : mapping, optional
            Dotted keys of the base and their values: ``{"duration": "20s"}``.

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
            Dotted keys of the base and their values.

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
    def _read(cls, name: str, text: str, directory: str, overrides: list[str]) -> Sweep:
        sweep = cls.__new__(cls)
        sweep._native = _native.Sweep(name, text, directory, overrides)
        sweep._made = ("", None, [])
        return sweep

    @classmethod
    def _again(cls, text: str, by: str | None, outside: list[tuple[str, Outside]]) -> Sweep:
        sweep = cls.__new__(cls)
        sweep._make(text, by, outside)
        return sweep

    @property
    def _outside(self) -> list[tuple[str, Outside]]:
        """Algorithms in Python, each with the text that stands for it."""
        return self._made[2]

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
        """Its identity: another for another sweep, and for a program whose sources compute a run differently.

        None has it that has an algorithm in Python: nothing shows whether its code has changed.
        """
        self._refuse("id: it has none")
        return self._native.id()

    def _refuse(self, what: str) -> None:
        if self._outside:
            raise ArgumentError(f"{what}: the algorithm `{label(self._outside[0][1])}` of the sweep is in Python")

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

        Raises
        ------
        ArgumentError
            An algorithm is in Python, which a file cannot hold.
        """
        self._refuse("to_toml: a file cannot hold it")
        return self._native.to_toml()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sweep):
            return NotImplemented
        return self._native.to_toml() == other._native.to_toml() and alike(self._outside, other._outside)

    def __hash__(self) -> int:
        return hash(self._native.to_toml())

    def __copy__(self) -> Sweep:
        return self

    def __deepcopy__(self, memo: object) -> Sweep:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._outside:
            return Sweep.from_text, (self.to_toml(),)
        text, by, outside = self._made
        return Sweep._again, (text, by, carried("algorithm", outside))

    def __repr__(self) -> str:
        return f"<cwnd.Sweep of {self.points} points, {self.cells} cells: {', '.join(self.keys)}>"


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

    Runs with an algorithm in Python go on one after the other on the thread that calls, after all others. They are
    never in the store, and `out` and `client` are refused: nothing shows whether the code of an algorithm has changed,
    and no worker has it. An exception of a method is the error of its cell, with class and method.

    Parameters
    ----------
    sweep : Sweep, path or str
        The sweep: an object, a sweep file, or the text of one (anything with more than one line).
    out : path, optional
        A directory for the files of ``cwnd sweep``, a new one or one of this sweep; none are written if not given.
    store : path or bool
        The directory that stores single runs. True: ``cwnd/cells`` in the user's cache directory, as the command
        line does. False: nothing is stored, and an interrupted sweep starts anew.
    set : mapping, optional
        Dotted keys of the base and their values: ``{"duration": "20s"}``. Not of a :class:`Sweep`, which has its
        own.
    shard : str, optional
        Run one part of several, such as ``"3/8"``.
    chunk : str
        Work for each file and each task of a cluster: estimated time on one core.
    format : str, optional
        The format of rows in `out`: ``parquet`` (if not given), ``csv`` or ``jsonl``.
    client : distributed.Client or str, optional
        Run on the workers of this Dask cluster; text is the address of its scheduler. Store and directory are those of
        this machine, which all rows come back to. The workers need the same build of cwnd.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``; half of the machine's if not given. A
        run that needs more is a failed cell. Not of a cluster, whose workers take half of their machine's.
    progress : bool or callable, optional
        True shows a bar on standard error, False none; if not given there is one if that is a terminal. A function is
        called with the cells that are done, those of them that failed, and all.

    Returns
    -------
    SweepResult
        A row per cell, estimates per point, and failures.

    Raises
    ------
    ScenarioError
        The first thing wrong with the sweep, its base or a point, with its line.
    ArgumentError
        Another argument is not accepted, or the directory holds something else.
    StoreError
        The directory of results cannot be written.
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
    directory = arguments.optional(arguments.path, "out", out)
    chosen_store = arguments.plain(store)
    place = chosen_store if isinstance(chosen_store, bool) else arguments.path("store", chosen_store)
    budget = arguments.optional(arguments.text, "memory", memory, "4GB")
    if client is not None and budget is not None:
        raise ArgumentError("memory: the workers of a cluster take half of their machine's")
    if client is not None:
        chosen._refuse("client: workers run what is built in")
    sweeping = _native.Sweeping(
        chosen._native,
        arguments.text("chunk", chunk, "10s"),
        arguments.optional(arguments.text, "shard", shard, "3/8"),
        place,
        directory,
        arguments.optional(arguments.text, "format", format, "csv"),
    )
    with reporting(sweeping, progress) as report:
        if client is None:
            sweeping.run(report, budget)
        else:
            from cwnd import _dask  # noqa: PLC0415  (its dependency is optional)

            _dask.run(sweeping, client, report)
    result = SweepResult(sweeping.swept(), None if directory is None else Path(directory), sweeping.counts())
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


class _StandIns:
    """The substitute for algorithms in Python in the text of a sweep: a rule that nobody writes."""

    def __init__(self) -> None:
        self.given: list[tuple[str, Outside]] = []

    def of(self, algorithm: Outside) -> str:
        """Give the stand-in of an algorithm: one for a class or an object, however often it is given."""
        for stand_in, known in self.given:
            if alike(known, algorithm):
                return stand_in
        stand_in = f"rule:grow=0.{271828182845 + len(self.given)}/w,cut=w/2"
        self.given.append((stand_in, copied("algorithm", algorithm)))
        return stand_in

    def placed(self, name: str, key: str, value: object) -> object:
        """Put stand-ins in the place of algorithms among the values of a key."""
        if isinstance(value, (list, tuple)):
            return [self.placed(name, key, one) for one in value]
        if not isinstance(value, OUTSIDE):
            return value
        if not ALGORITHM.fullmatch(key):
            raise ArgumentError(f"{name}: {key}: only `flow.N.algorithm` can be in Python, got {value!r}")
        return self.of(value)


def _lines(name: str, values: object, stand_ins: _StandIns) -> str:
    """Keys and values as TOML, in their order, which decides the order of the cells."""
    given = arguments.mapping(name, values).items()
    lines = []
    for key, value in given:
        placed = stand_ins.placed(name, key, arguments.plain(value))
        lines.append(f"{_literal(name, key)} = {_literal(f'{name}: {key}', placed)}\n")
    return "".join(lines)


def _literal(name: str, value: object) -> str:
    return _native.literal(json.dumps(value) if isinstance(value, str) else written(name, value))


ALGORITHM = re.compile(r"flow\.\d+\.algorithm")
"""A key whose values may be in Python."""
