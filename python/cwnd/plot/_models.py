"""Plots of the results of models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cwnd.plot._colour import colour
from cwnd.plot._figures import new_figure
from cwnd.plot._literal import literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["lines"]

Line = tuple[str, Sequence[float], Sequence[float | None]]


def lines(found: Iterable[Line], x: str, y: str, *, logarithmic: bool = False) -> Figure:
    """Draw a line per algorithm, several of one in its colour.

    Parameters
    ----------
    found : iterable of tuple
        The algorithm, and the points of a line.
    x, y : str
        The titles of the axes.
    logarithmic : bool
        Both axes.

    Returns
    -------
    matplotlib.figure.Figure
        One plot.
    """
    figure, cells = new_figure((6, 3), (1, 1))
    axes = cells.item()
    known: list[str] = []
    for algorithm, right, up in found:
        points = [(at, value) for at, value in zip(right, up, strict=True) if value is not None]
        shown = literal(algorithm) if algorithm not in known else None
        known.append(algorithm)
        axes.plot(*zip(*points, strict=True), color=colour(algorithm), linewidth=1.2, marker=".", label=shown)
    axes.set(xlabel=x, ylabel=y)
    if logarithmic:
        axes.loglog()
    axes.legend(fontsize=7, edgecolor="none")
    return figure
