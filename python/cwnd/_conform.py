"""Judging an algorithm clause by clause."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import Algorithm, label
from cwnd._documented import Calls, Named, Reported, write
from cwnd._estimates import Estimate
from cwnd._html import page
from cwnd._kept import Made
from cwnd._table import frame_of
from cwnd.errors import ArgumentError
from cwnd.plot._colour import GRID
from cwnd.plot._judged import BAD, GOOD, OPEN, counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Conformance", "ConformanceCheck", "conform"]


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """A check and its outcome.

    Attributes
    ----------
    id : str
        Its name, such as ``9438-beta``.
    suite : str
        The document, such as ``rfc9438``.
    section : str
        The clause.
    level : str
        How much the document asks for it: ``must``, ``should``, ``recommended``, ``step`` or ``may``.
    requirement : str
        The requirement.
    looks : str
        ``wire``, or ``window`` where a check looks at the congestion window too.
    verdict : str
        ``meets``, ``departs`` (it deviates), ``unclear`` or ``not_applicable``.
    measured : str
        The measured quantity, with its unit.
    value : Estimate or None
        The number over the seeds; None where there is none.
    accepted : tuple of float or None
        The least and the most that is accepted, fixed before the first run; None for no bound.
    note : str or None
        Why there is no number, why it is not clear, or why some seeds are left out.
    """

    id: str
    suite: str
    section: str
    level: str
    requirement: str
    looks: str
    verdict: str
    measured: str
    value: Estimate | None
    accepted: tuple[float | None, float | None]
    note: str | None


class Conformance(Reported[_native.Conformed], Named[ConformanceCheck]):
    """The results of :func:`conform`. ``print`` shows deviations and unclear checks, as the command line does.

    It is a mapping of the checks by their ids.
    """

    _calls: ClassVar[Calls] = (("to_json",), ("text", False), ("text", True), ("junit",))

    @property
    def subject(self) -> str:
        """The algorithm as it was written."""
        name: str = self.document["subject"]
        return name

    @cached_property
    def checks(self) -> tuple[ConformanceCheck, ...]:
        """All checks, in the order of the documents."""
        return tuple(_check(check) for check in self.document["checks"])

    @property
    def departures(self) -> tuple[ConformanceCheck, ...]:
        """The checks that it deviates from. Some deviations are choices that other documents allow."""
        return tuple(check for check in self.checks if check.verdict == "departs")

    @property
    def warnings(self) -> list[str]:
        """The parameters that were given although no check depends on them, a sentence each."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    def junit(self, path: str | os.PathLike[str]) -> Path:
        """Write the verdicts as JUnit XML, with deviations and unclear checks as failures.

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
        return write(path, self._native.junit())

    def _page(self) -> str:
        # Its curves need one more run of each check.
        native: Any = self._native if self._made is None else self._made.again()
        html: str = native.html(self._command)
        return html

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            A row per check.
        """
        return frame_of(self.checks)

    def _named(self) -> dict[str, ConformanceCheck]:
        return {check.id: check for check in self.checks}

    def __str__(self) -> str:
        return self._native.text(False)

    def __repr__(self) -> str:
        verdicts = [check.verdict for check in self.checks]
        counted = ", ".join(f"{verdicts.count(verdict)} {words}" for verdict, words in VERDICTS.items())
        return f"<cwnd.Conformance of {self.subject}: {counted}>"

    def _repr_html_(self) -> str:
        head = ["check", "section", "level", "requirement", "verdict", "measured", "value", "accepted"]
        deviating = [check for check in self.checks if check.verdict in ("departs", "unclear")]
        rows = (
            (
                one.id,
                one.section,
                one.level,
                one.requirement,
                "deviates" if one.verdict == "departs" else one.verdict,
                one.measured,
                one.value,
                _range(one.accepted),
            )
            for one in deviating
        )
        rest = (
            "The table has what deviates or is unclear. `.checks` and `.frame()` have all, `[id]` is one, "
            "`.report(path)` writes the page."
        )
        return page(repr(self)[1:-1], head, rows, notes=self.warnings, draw=self._figure, rest=rest)

    def _figure(self) -> Figure:
        """Draw how often each verdict was given, by document."""
        suites: dict[str, list[str]] = {}
        for check in self.checks:
            suites.setdefault(check.suite, []).append(VERDICTS[check.verdict])
        return counts(suites.items(), dict(zip(VERDICTS.values(), (GOOD, BAD, OPEN, GRID), strict=True)))


def _range(accepted: tuple[float | None, float | None]) -> str:
    low, high = ("" if end is None else f"{end:g}" for end in accepted)
    return f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"


VERDICTS = {"meets": "met", "departs": "deviated from", "unclear": "unclear", "not_applicable": "not applicable"}


def conform(
    algorithm: Algorithm,
    *,
    suites: Iterable[str] | None = None,
    checks: Iterable[str] | None = None,
    seeds: int = 3,
    law: str | None = None,
    hystart: bool = False,
    allow_unclear: bool = False,
) -> Conformance:
    """Judge an algorithm clause by clause, by the checks of ``cwnd conform``.

    Each check runs a path in the simulator and compares a number with a range that was fixed beforehand; the page
    ``docs/conform.md`` of the repository lists them. Those of an algorithm in Python go on one after the other.

    Parameters
    ----------
    algorithm : algorithm
        Text such as ``cubic`` or ``aimd:b=1/8``, or one in Python.
    suites : iterable of str, optional
        Documents, such as ``rfc9438``; all if not given.
    checks : iterable of str, optional
        Ids of checks, such as ``9438-beta``; all of the suites if not given.
    seeds : int
        Independent runs of each check, 1 to 1000.
    law : str, optional
        The law that it claims to follow in congestion avoidance: ``reno``, ``cubic``, ``bbr`` or ``other``. Clauses
        about another law do not apply. By default its name decides.
    hystart : bool
        Whether it leaves slow start by RFC 9406.
    allow_unclear : bool
        Whether a check that is unclear fails nothing in :meth:`Conformance.junit`.

    Returns
    -------
    Conformance
        The verdicts.

    Raises
    ------
    AlgorithmError
        The algorithm is unknown or one of its parameters is not accepted.
    ArgumentError
        Another argument is not accepted.
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import cwnd
    >>> judged = cwnd.conform("reno", suites=["rfc5681"], seeds=1)
    >>> judged["5681-halve"].verdict
    'meets'
    """
    count = arguments.whole("seeds", seeds, 1, 1000)
    named = arguments.optional(arguments.text, "law", law, "reno")
    flags = (arguments.flag("hystart", hystart), arguments.flag("allow_unclear", allow_unclear))
    settings = (_names("suites", suites), _names("checks", checks), count, named, *flags)
    made = Made("conform", (algorithm, settings, True))
    return Conformance(_native.conform(algorithm, settings, False), made, f"cwnd.conform({label(algorithm)!r})")


def _names(argument: str, given: Iterable[str] | None) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentError(f"{argument}: expected a list of names, got {given!r}")
    return [arguments.text(argument, name, "rfc9438") for name in given]


def _check(document: Mapping[str, Any]) -> ConformanceCheck:
    kept = {name: document[name] for name in ConformanceCheck.__slots__}
    value, accepted = document["value"], document["accepted"]
    estimate = None if value is None else Estimate(**value)
    return ConformanceCheck(**{**kept, "value": estimate, "accepted": (accepted["from"], accepted["to"])})
