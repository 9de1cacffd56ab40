"""Papers: their printed numbers, and those computed here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._html import page
from cwnd._table import Rows, frame_of
from cwnd.plot._colour import GRID
from cwnd.plot._judged import BAD, GOOD, OPEN, counts, ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Paper", "PaperResult", "PaperRow", "PaperRows", "paper", "papers"]


@dataclass(frozen=True, slots=True)
class PaperResult:
    """A table, figure or claim of a paper.

    Attributes
    ----------
    name : str
        As :func:`paper` takes it.
    title : str
        A title, one line.
    source : str
        Where it stands.
    """

    name: str
    title: str
    source: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that is reproduced.

    Attributes
    ----------
    name : str
        As :func:`paper` takes it.
    title : str
        Its title.
    authors : tuple of str
        Its authors.
    venue : str
        Where it appeared.
    results : tuple of PaperResult
        Its tables, figures and claims.
    """

    name: str
    title: str
    authors: tuple[str, ...]
    venue: str
    results: tuple[PaperResult, ...]


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A number or a statement of a paper, compared with ours.

    Attributes
    ----------
    paper, result, row : str
        Which.
    published : float, str or None
        The printed value.
    basis : str
        Its kind: ``printed``, ``figure``, ``derived``, ``claim``, ``repeat`` or ``check``.
    reading_error : float or None
        By how much a number of a figure may be wrong; None for others.
    ours : float, str or None
        The value computed here.
    ci95 : float or None
        Half the width of the 95 % interval of `ours`; None where it is exact, words, a single run, or a median.
    low, high : float or None
        The ends of that interval, also of a median; None where there is none.
    unit : str
        Of all of these; empty for plain numbers.
    tolerance : str or None
        The condition of a match, fixed before the runs.
    verdict : str
        ``match``, ``miss``, ``undecided``, ``not reproducible`` or ``illustration``.
    reason : str or None
        Why it is not a match. Where an assumption was replaced it is that of the default run, and says so.
    ns2 : str or None
        The value of the author's own code in ns-2, with its release and the 95 % interval.
    """

    paper: str
    result: str
    row: str
    published: float | str | None
    basis: str
    reading_error: float | None
    ours: float | str | None
    ci95: float | None
    low: float | None
    high: float | None
    unit: str
    tolerance: str | None
    verdict: str
    reason: str | None
    ns2: str | None


class PaperRows(Sequence[PaperRow]):
    """Rows of papers; ``rows.frame()`` makes a data frame of them."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[PaperRow]) -> None:
        self._rows = tuple(rows)

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have which verdict."""
        counts: dict[str, int] = {}
        for row in self._rows:
            counts[row.verdict] = counts.get(row.verdict, 0) + 1
        return counts

    @overload
    def __getitem__(self, index: int) -> PaperRow: ...

    @overload
    def __getitem__(self, index: slice) -> PaperRows: ...

    def __getitem__(self, index: int | slice) -> PaperRow | PaperRows:
        return PaperRows(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == other._rows if isinstance(other, PaperRows) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows)

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            A column per attribute of a row.
        """
        return frame_of(self._rows)

    def __iter__(self) -> Iterator[PaperRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<cwnd.PaperRows: {', '.join(f'{count} {verdict}' for verdict, count in self.counts.items())}>"

    def _repr_html_(self) -> str:
        head = ["result", "row", "published", "ours", "unit", "tolerance", "verdict"]
        rows = ([getattr(row, name) for name in head] for row in self._rows)
        rest = "`.frame()` has all of it, `.counts` the verdicts, `[n].reason` says why a row is not a match."
        return page(repr(self)[1:-1], head, rows, most=25, draw=self._figure, rest=rest)

    def _figure(self) -> Figure:
        """Draw numbers as multiples of the printed ones; where there are none, how often each verdict was given."""

        def ratio(row: PaperRow) -> list[tuple[str, float]]:
            ours, published = row.ours, row.published
            numbers = isinstance(ours, (int, float)) and isinstance(published, (int, float)) and published
            return [(row.verdict, ours / published)] if numbers else []  # type: ignore[operator]

        named = [(f"{row.result}: {row.row[:56]}", ratio(row)) for row in self._rows]
        if any(found for _, found in named):
            return ratios(named, "Multiple of the printed number", VERDICTS)
        results: dict[str, list[str]] = {}
        for row in self._rows:
            results.setdefault(f"{row.paper}, {row.result}", []).append(row.verdict)
        return counts(results.items(), VERDICTS)


VERDICTS = {"match": GOOD, "miss": BAD, "undecided": OPEN, "not reproducible": GRID, "illustration": "#1f6cb0"}


def papers() -> Rows[Paper]:
    """List the papers that are reproduced.

    Returns
    -------
    list of Paper
        With their results.

    Examples
    --------
    >>> import cwnd
    >>> [paper.name for paper in cwnd.papers()]
    ['daimd', 'simd', 'exptcp', 'newaimd', 'aiad', 'bbr3', 'starvation', 'l4s-tests']
    """
    return Rows(
        Paper(
            **{
                **paper,
                "authors": tuple(paper["authors"]),
                "results": tuple(PaperResult(**result) for result in paper["results"]),
            }
        )
        for paper in json.loads(_native.papers())
    )


def paper(
    name: str | None = None,
    result: str | None = None,
    *,
    full: bool = False,
    assumptions: Mapping[str, str] | None = None,
    store: str | os.PathLike[str] | None = None,
    memory: str | None = None,
) -> PaperRows:
    """Reproduce a paper: published, ours, tolerance and verdict of its tables, figures and claims.

    Parameters
    ----------
    name : str, optional
        A paper; all of them if not given, which takes minutes.
    result : str, optional
        One of its results; all of them if not given.
    full : bool
        The published durations and at least 10 seeds, which takes long, instead of reduced ones.
    assumptions : mapping, optional
        Other assumptions where the paper is silent: ``{"floor": "0"}``.
    store : path, optional
        A directory that stores runs, so that none is done twice; nothing is stored if not given.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``; half of the machine's if not given.

    Returns
    -------
    PaperRows
        A row per number or statement.

    Raises
    ------
    ArgumentError
        There is no such paper, result or assumption.
    StoreError
        A run cannot be kept.
    KeyboardInterrupt
        Ctrl-C.
    """
    given = {} if assumptions is None else arguments.mapping("assumptions", assumptions)
    chosen = [(key, str(arguments.plain(value))) for key, value in given.items()]
    directory = arguments.optional(arguments.path, "store", store)
    asked = arguments.optional(arguments.text, "name", name, "simd")
    of = arguments.optional(arguments.text, "result", result, "table-1")
    budget = arguments.optional(arguments.text, "memory", memory, "4GB")
    rows = json.loads(_native.paper((asked, of), arguments.flag("full", full), chosen, directory, budget))
    return PaperRows([PaperRow(**row) for row in rows])
