"""Plots of verdicts and of numbers with references, for notebooks, with few rows, so that a page stays small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cwnd.errors import ArgumentError
from cwnd.plot._colour import MUTED, TEXT
from cwnd.plot._figures import new_figure
from cwnd.plot._literal import literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BAD", "GOOD", "MOST_ROWS", "OPEN", "counts", "ratios"]

Ratio = tuple[str, Sequence[tuple[str, float]]]


def ratios(rows: Iterable[Ratio], title: str, colours: dict[str, str]) -> Figure:
    """Draw a row of points per number, as multiples of its reference.

    Parameters
    ----------
    rows : iterable of (str, sequence of (str, float))
        The title of a row, and its points: of what, and how large. Points that are not above 0 are left out, and so are
        rows without points and those after the first :data:`MOST_ROWS`.
    title : str
        The title of the axis.
    colours : dict
        The colour of each that has points, in the order of the legend.

    Returns
    -------
    matplotlib.figure.Figure
        One plot.
    """
    positive = [(text, [point for point in points if 0.0 < point[1] < float("inf")]) for text, points in rows]
    drawn = [row for row in positive if row[1]][:MOST_ROWS]
    if not drawn:
        raise ArgumentError("no row has a number above 0 that can be drawn")
    figure, cells = new_figure((7, 0.9 + 0.17 * len(drawn)), (1, 1))
    axes = cells.item()
    axes.axvline(1.0, color=TEXT, linewidth=0.8)
    for name, shade in colours.items():
        points = [(value, -at) for at, (_, row) in enumerate(drawn) for one, value in row if one == name]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=shade, markersize=4, label=literal(name))
    axes.set_yticks([-at for at in range(len(drawn))], [literal(text) for text, _ in drawn], fontsize=6)
    values = [value for _, points in drawn for _, value in points]
    low, high = min(0.5, min(values) / 1.2), max(2.0, max(values) * 1.2)
    axes.set(xscale="log", xlabel=title, xlim=(low, high), ylim=(0.7 - len(drawn), 0.7))
    marks = [one * 10.0**power for power in range(-9, 10) for one in (1, 2, 5)]
    shown = [mark for mark in marks if low <= mark <= high]
    shown = shown if len(shown) < MOST_MARKS else [mark for mark in shown if f"{mark:e}".startswith("1")]
    axes.set_xticks(shown, [f"{mark:g}" for mark in shown])
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=7, edgecolor="none", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def counts(rows: Iterable[tuple[str, Sequence[str]]], verdicts: dict[str, str]) -> Figure:
    """Draw a bar per row that is cut into how often each verdict was given.

    Parameters
    ----------
    rows : iterable of (str, sequence of str)
        The title of a row, and its verdicts; the first :data:`MOST_ROWS` are drawn.
    verdicts : dict
        The colour of each verdict, in order.

    Returns
    -------
    matplotlib.figure.Figure
        One plot.
    """
    drawn = list(rows)[:MOST_ROWS]
    if not drawn:
        raise ArgumentError("there is no verdict")
    figure, cells = new_figure((6, 0.9 + 0.2 * len(drawn)), (1, 1))
    axes = cells.item()
    before = [0] * len(drawn)
    for verdict, shade in verdicts.items():
        widths = [list(given).count(verdict) for _, given in drawn]
        if any(widths):
            places = [-at for at in range(len(drawn))]
            axes.barh(places, widths, left=before, color=shade, height=0.7, label=literal(verdict))
            before = [left + width for left, width in zip(before, widths, strict=True)]
    axes.set_yticks([-at for at in range(len(drawn))], [literal(text) for text, _ in drawn], fontsize=7)
    axes.set_xlabel("Verdicts")
    axes.legend(fontsize=7, edgecolor="none", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


MOST_ROWS = 30
MOST_MARKS = 10
GOOD, BAD, OPEN = "#5a8b1d", "#af240a", MUTED
"""The colours of success, failure and neither."""
