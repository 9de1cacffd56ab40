"""Searching for the path on which an algorithm breaks a property."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import Algorithm
from cwnd._documented import Documented, write
from cwnd._html import page
from cwnd._kept import carried
from cwnd._runs import RunResult
from cwnd._scenario import Scenario
from cwnd.errors import ArgumentError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Counterexample", "Findings", "falsify", "worker"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A path on which an algorithm breaks a property with every seed.

    Attributes
    ----------
    algorithm : algorithm
        The algorithm, as it was given.
    evaluation : int
        The evaluation that found it, from 1.
    needs : tuple of str
        The parts of the path without which the property holds.
    value : float
        The number of the property, with the seed that breaks it least.
    margin : float
        The distance of that number to the bound in units of the bound, below 0.
    without : dict
        The number without each of its parts; None where the run says nothing.
    toml : str
        The file: a scenario with the property in its first line. ``cwnd falsify --regress`` judges it again, unless the
        property is a function.
    link : str, optional
        The fragment of an address that opens it in the live page; None for an algorithm that the page lacks.
    """

    algorithm: Algorithm
    evaluation: int
    needs: tuple[str, ...]
    value: float
    margin: float
    without: dict[str, float | None]
    toml: str
    link: str | None

    @property
    def scenario(self) -> Scenario:
        """The scenario, for :func:`run`."""
        if isinstance(self.algorithm, str):
            return Scenario.from_text(self.toml)
        # No text can name an algorithm in Python: Reno takes its place, and it takes Reno's.
        lines = self.toml.splitlines()
        subject = next(line for line in lines if line.startswith("algorithm = "))
        scenario = Scenario.from_text("\n".join('algorithm = "reno"' if line == subject else line for line in lines))
        for flow in scenario["flow"]:
            if flow.get("name") != "competitor":
                flow["algorithm"] = self.algorithm
        return scenario

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file.

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
        return write(path, self.toml)


class Findings(Documented[_native.Falsified]):
    """The results of :func:`falsify`. ``print`` shows them in a few lines."""

    def __init__(self, native: _native.Falsified, given: Algorithm) -> None:
        super().__init__(native)
        self._given = given

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_given": carried("algorithm", self._given)}

    @property
    def algorithm(self) -> str:
        """The algorithm as it was written."""
        name: str = self.document["algorithm"]
        return name

    @property
    def property(self) -> str:
        """The property with its bound."""
        text: str = self.document["property"]
        return text

    @cached_property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """The counterexamples, the simplest first; each needs other parts."""
        return tuple(_counterexample(self._given, one) for one in self.document["counterexamples"])

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        found = len(self.counterexamples)
        evaluations = self.document["evaluations"]
        return f"<cwnd.Findings of {self.algorithm}, {self.property}: {found} in {evaluations} evaluations>"

    def _repr_html_(self) -> str:
        head = ["needs", "value", "margin", "evaluation"]
        rows = ((", ".join(one.needs), one.value, one.margin, one.evaluation) for one in self.counterexamples)
        rest = "`.counterexamples` has the scenarios, and `.document` the path that came closest."
        return page(repr(self)[1:-1], head, rows, rest=rest)


def _counterexample(algorithm: Algorithm, document: Mapping[str, Any]) -> Counterexample:
    return Counterexample(
        algorithm=algorithm,
        evaluation=document["evaluation"],
        needs=tuple(document["needs"]),
        value=document["value"],
        margin=document["margin"],
        without={one["part"]: one["value"] for one in document["without"]},
        toml=document["scenario"],
        link=document["link"],
    )


def _named(function: Callable[[RunResult], float | None]) -> tuple[str, Callable[[_native.Runs], float | None]]:
    name = str(getattr(function, "__name__", type(function).__name__))

    def margin(runs: _native.Runs) -> float | None:
        found = function(RunResult(runs, command="cwnd.run(scenario)"))
        return None if found is None else arguments.real(f"property: the margin by `{name}`", found)

    return name, margin


def worker() -> list[str]:
    """Return the command of a process that evaluates: this interpreter, with the paths of its modules.

    Returns
    -------
    list of str
        A program and its arguments.
    """
    code = f"import sys; sys.path[:] = {sys.path!r}; from cwnd import _native; _native.falsify_worker()"
    return [os.fsdecode(get_executable()), "-c", code]


def falsify(
    algorithm: Algorithm,
    property: str | Callable[[RunResult], float | None],  # noqa: A002  (the word of the command)
    *,
    profile: str = "home",
    search: str = "elites",
    seed: int = 1,
    evaluations: int = 1000,
    first: bool = False,
    seeds: int = 3,
    answers: int = 3,
    memory: str | None = None,
    corpus: str | os.PathLike[str] | None = None,
    client: Client | str | None = None,
) -> Findings:
    """Search for plausible paths on which an algorithm breaks a property, as ``cwnd falsify`` does.

    The page ``docs/falsify.md`` of the repository lists the properties and the parts of a path. The same arguments give
    the same findings, if a function among them has no state.

    With an algorithm and a property as text, evaluations run in processes of this interpreter
    (``multiprocessing.set_executable`` names another), one per core. A run that does not go on for 60 s, or ends its
    process, is a failed evaluation.

    An algorithm or a function in Python runs in this process, an algorithm on the thread that calls, one run after the
    other. Nothing ends it if it never returns. Ctrl-C ends an algorithm that runs Python code; a function it does not
    end. Call ``falsify`` in a ``multiprocessing.Process`` to bound the time of both: ``join(timeout)`` it, and
    ``terminate()`` it then.

    Parameters
    ----------
    algorithm : algorithm
        Text such as ``bbr`` or ``aimd:b=1/8``, or one in Python.
    property : str or callable
        A property such as ``starvation`` or ``steady-loss < 0.2``, a measure with a bound (``utilisation > 0.5``), or
        an expression over measures with a bound: ``utilisation - 2*loss_rate > 0.4``. A function takes the result of a
        run with one seed, and returns its margin: a finite number, negative if the run breaks the property, or None if
        it says nothing. The first flow of the run is that of the algorithm, and a path may have each part.
    profile : str
        The paths that are plausible: ``home``, ``mobile``, ``datacentre``, ``satellite`` or ``anything``.
    search : str
        How paths are proposed: ``elites`` (variants of the closest ones) or ``random``.
    seed : int
        The seed by which the search draws its paths: another one, other paths.
    evaluations : int
        The budget, 1 to 10000000 runs.
    first : bool
        Stop at the first counterexample.
    seeds : int
        How many seeds of the simulator each counterexample is run with, 1 to 100; all of them break the property, and,
        from 2 on, ten others.
    answers : int
        The most counterexamples, 1 to 100.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``, at least 64 MB; half of the machine's if
        not given.
    corpus : path, optional
        A file for the outcomes, also of a search that is interrupted. The same call continues from it, with as many
        evaluations or more. It needs an algorithm and a property as text.
    client : distributed.Client or str, optional
        Evaluate on the workers of this Dask cluster; text is the address of its scheduler. At most 16 evaluations run
        at once. The findings are those without it, and the corpus is a file of this machine. The workers need the same
        build of cwnd, and the algorithm and the property are text. A worker evaluates in a process of its own.

    Returns
    -------
    Findings
        The counterexamples, and the path that came closest.

    Raises
    ------
    AlgorithmError
        The algorithm is unknown or one of its parameters is not accepted.
    ArgumentError
        Another argument is not accepted, a function returns something else than a margin, or the corpus is of another
        search.
    FileError
        The corpus cannot be written.
    SimulationError
        The workers cannot evaluate: another build of cwnd, say.
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import cwnd
    >>> found = cwnd.falsify("bbr", "starvation", profile="anything", search="random", evaluations=16, answers=1)
    >>> found.counterexamples[0].margin < 0.0
    True
    >>> full = lambda run: run.summary["utilisation"][0] - 0.5
    >>> cwnd.falsify("reno", full, evaluations=4, seeds=1, answers=1).property
    '<lambda> >= 0'
    """
    given = (
        _named(property) if callable(property) else arguments.text("property", property, "starvation"),
        arguments.text("profile", profile, "home"),
        arguments.text("search", search, "elites"),
        arguments.whole("seed", seed, 0, 2**64 - 1),
    )
    budget = (
        arguments.whole("evaluations", evaluations, 1, 10_000_000),
        arguments.flag("first", first),
        arguments.whole("seeds", seeds, 1, 100),
        arguments.whole("answers", answers, 1, 100),
    )
    limit = arguments.optional(arguments.text, "memory", memory, "4GB")
    kept = arguments.optional(arguments.path, "corpus", corpus)
    text = isinstance(algorithm, str) and isinstance(property, str)
    if client is None:
        # An interpreter within another program may have no name.
        place = worker() if text and get_executable() else None
        return Findings(_native.falsify(algorithm, given, budget, kept, (limit, place)), algorithm)
    if not text:
        raise ArgumentError("client: workers have no function of yours: expected an algorithm and a property as text")
    from cwnd import _dask  # noqa: PLC0415  (its dependency is optional)

    with _dask.evaluating(client) as evaluate:
        return Findings(_native.falsify(algorithm, given, budget, kept, (limit, evaluate)), algorithm)
