"""Evaluates an algorithm by the criteria of RFC 9743."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import Algorithm
from cwnd._documented import Calls, Named, Reported
from cwnd._estimates import Estimate
from cwnd._html import page
from cwnd._table import Table
from cwnd.plot import colour
from cwnd.plot._judged import ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Evaluation", "EvaluationRow", "EvaluationSection", "evaluate"]


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """A number of an algorithm, with those of Reno and CUBIC in its place.

    Attributes
    ----------
    rate, rtt, queue : str
        The bottleneck: its rate, the round-trip time without queueing, and its queue.
    traffic : str
        The flows and other traffic.
    measure : str
        The measure.
    unit : str
        Of all of these; 1 for plain numbers.
    algorithm, reno, cubic : Estimate or None
        Means over seeds; None where no run could answer.
    """

    rate: str
    rtt: str
    queue: str
    traffic: str
    measure: str
    unit: str
    algorithm: Estimate | None
    reno: Estimate | None
    cubic: Estimate | None


@dataclass(frozen=True, slots=True)
class EvaluationSection:
    """A heading of the RFC.

    Attributes
    ----------
    number : str
        Its number, such as ``5.1.2``.
    title : str
        Its title.
    reading : str
        The criterion in the sense in which it is measured here, or why it is not covered.
    covered : bool
        Whether there are numbers.
    rows : tuple of EvaluationRow
        The numbers.
    """

    number: str
    title: str
    reading: str
    covered: bool
    rows: tuple[EvaluationRow, ...]


class Evaluation(Reported[_native.Evaluated], Named[EvaluationSection]):
    """The results of :func:`evaluate`. ``print`` shows the output of the command, ``evaluation["5.1.2"]`` a heading.

    It is a mapping of the headings by their numbers. To libraries that read Arrow it is a table:
    ``polars.DataFrame(evaluation)`` has a row per heading, setting, measure and algorithm.
    """

    _calls: ClassVar[Calls] = (("to_json",), ("text",), ("table",))

    def _asked(self) -> Calls:
        # To make it again takes minutes: a pickle has its report, too.
        return (*self._calls, ("html", self._command))

    @property
    def algorithm(self) -> str:
        """The algorithm as it was written."""
        name: str = self.document["algorithm"]
        return name

    @property
    def failed_cells(self) -> int:
        """How many of its runs failed; no number has them."""
        failed: int = self.document["failed_cells"]
        return failed

    @cached_property
    def sections(self) -> tuple[EvaluationSection, ...]:
        """The headings in the order of the RFC."""
        return tuple(
            EvaluationSection(**{**section, "rows": tuple(_row(row) for row in section["rows"])})
            for section in self.document["sections"]
        )

    @property
    def warnings(self) -> list[str]:
        """The parameters that were given although no run depends on them, a sentence each."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    @property
    def not_covered(self) -> dict[str, str]:
        """Headings without numbers, by ``number title``, with the reason of each."""
        return {f"{one.number} {one.title}": one.reading for one in self.sections if not one.covered}

    @property
    def left_out(self) -> list[str]:
        """Questions that the algorithm cannot answer: number of the heading, flows, and why."""
        return [f"{one['section']} ({one['traffic']}): {one['reason']}" for one in self.document["left_out"]]

    @cached_property
    def table(self) -> Table:
        """A row per heading, setting, measure and algorithm: mean, half of the 95 % interval, and number of runs."""
        return Table(self._native.table())

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            That of :attr:`table`.
        """
        return self.table.to_pandas()

    def _named(self) -> dict[str, EvaluationSection]:
        return {section.number: section for section in self.sections}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand :attr:`table` over through Arrow's C stream interface."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        covered = sum(section.covered for section in self.sections)
        return f"<cwnd.Evaluation of {self.algorithm}: {covered} of {len(self.sections)} headings covered>"

    def _repr_html_(self) -> str:
        rows = [
            (section.number, section.title, row.traffic, row.measure, row.unit, row.algorithm, row.reno, row.cubic)
            for section in self.sections
            for row in section.rows[:2]
        ]
        head = ["section", "heading", "traffic", "measure", "unit", self.algorithm, "reno", "cubic"]
        rest = (
            "`[number]` is a heading with all its rows, `.frame()` has all numbers, `.report(path)` writes the page, "
            "`print` shows the text."
        )
        return page(repr(self)[1:-1], head, rows, most=40, notes=self.warnings, draw=self._figure, rest=rest)

    def _figure(self) -> Figure:
        """Draw the first rows of each heading as multiples of Reno's."""

        def points(row: EvaluationRow) -> list[tuple[str, float]]:
            if row.reno is None or row.reno.mean == 0.0:
                return []
            others = ((self.algorithm, row.algorithm), ("cubic", row.cubic))
            return [(name, one.mean / row.reno.mean) for name, one in others if one is not None]

        rows = (
            (f"{section.number} {row.measure}: {row.traffic[:48]}", points(row))
            for section in self.sections
            for row in section.rows[:2]
        )
        return ratios(rows, "Multiple of Reno's", {one: colour(one) for one in (self.algorithm, "cubic")})


def evaluate(
    algorithm: Algorithm,
    profile: str = "rfc9743",
    *,
    quick: bool = False,
    seeds: int | None = None,
    store: str | os.PathLike[str] | None = None,
    memory: str | None = None,
) -> Evaluation:
    """Evaluate an algorithm by RFC 9743 or on access networks, compared with Reno and CUBIC in its place.

    The RFC gives criteria in words and no thresholds, so there are numbers and no verdicts. Runs take all cores; those
    of an algorithm in Python go on one after the other, which takes its time: begin with ``quick=True``.

    Parameters
    ----------
    algorithm : algorithm
        Text such as ``simd`` or ``aimd:b=1/8``, or one in Python.
    profile : str
        ``rfc9743``, the criteria of BCP 133, or ``access``, paths of access networks.
    quick : bool
        Few settings, and runs of 20 s instead of 60 s.
    seeds : int, optional
        Independent runs of each cell, 1 to 1000; 5 if not given, or 2 with `quick`.
    store : path, optional
        A directory that stores runs, so that none is done twice; nothing is stored if not given. Runs with an
        algorithm in Python are never kept: nothing shows whether its code has changed.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``; half of the machine's if not given.

    Returns
    -------
    Evaluation
        The numbers under their headings; ``print`` shows them, :meth:`Evaluation.report` writes the page.

    Raises
    ------
    AlgorithmError
        The algorithm is unknown or one of its parameters is not accepted.
    ArgumentError
        Another argument is not accepted.
    KeyboardInterrupt
        Ctrl-C. Finished runs are in the store.
    """
    paths = arguments.text("profile", profile, "rfc9743")
    directory = arguments.optional(arguments.path, "store", store)
    count = arguments.optional(arguments.whole, "seeds", seeds, 1, 1000)
    budget = arguments.optional(arguments.text, "memory", memory, "4GB")
    evaluated = _native.evaluate(algorithm, paths, (arguments.flag("quick", quick), count), directory, budget)
    named_profile = None if paths == "rfc9743" else paths
    given = {"profile": named_profile, "quick": arguments.flag("quick", quick), "seeds": count, "store": directory}
    settings = "".join(f", {key}={value!r}" for key, value in given.items() if value not in (None, False))
    named = repr(algorithm) if isinstance(algorithm, str) else json.loads(evaluated.to_json())["algorithm"]
    return Evaluation(evaluated, None, f"cwnd.evaluate({named}{settings})")


def _row(document: Mapping[str, Any]) -> EvaluationRow:
    contenders = ("algorithm", "reno", "cubic")
    estimates = {name: None if document[name] is None else Estimate(**document[name]) for name in contenders}
    return EvaluationRow(**{**document, **estimates})
