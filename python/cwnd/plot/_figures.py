"""Plots on matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cwnd._arguments import optional, reals, text
from cwnd._table import Table
from cwnd.errors import ArgumentError
from cwnd.plot._colour import GRID, MUTED, SHADE, TEXT
from cwnd.plot._curves import (
    Axis,
    Curves,
    Grid,
    Phase,
    averaged,
    grids,
    of_comparison,
    of_run,
    only,
    shares,
    shown,
    trade_off,
)
from cwnd.plot._literal import literal

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwnd import _native

__all__ = ["ComparisonPlots", "RunPlots", "SweepPlots", "heatmap", "new_figure"]


class RunPlots:
    """Plots of a run on matplotlib: ``result.plot()`` shows the usual ones, its methods one each.

    Every method draws into `ax` if that is given, and returns the axes, whose titles, limits and lines are free to be
    changed. Runs of one seed are drawn: the first, unless `seed` says otherwise. Up to eight flows are drawn, the same
    number of each algorithm, unless `flows` names them. The warm-up is shaded.
    """

    def __init__(self, runs: _native.Runs) -> None:
        self._runs = runs

    def __call__(self, *, seed: int | None = None) -> Figure:
        """Draw window, goodput, queue, round-trip time, fairness over time, and the phase plane where flows share.

        Parameters
        ----------
        seed : int, optional
            The run to draw.

        Returns
        -------
        matplotlib.figure.Figure
            Six plots; four for a single flow.
        """
        several = len(set(Table(self._runs.table("flows"))["flow"].tolist())) > 1
        figure, grid = new_figure((9, 7.5), (3, 2)) if several else new_figure((9, 5), (2, 2))
        cells = grid.flat
        self.window(seed=seed, ax=next(cells))
        self.goodput(seed=seed, ax=next(cells))
        self.queue(seed=seed, ax=next(cells))
        self.rtt(seed=seed, ax=next(cells))
        if several:
            self.fairness(seed=seed, ax=next(cells))
            self.phase(seed=seed, ax=next(cells))
        return figure

    def series(
        self,
        column: str,
        *,
        flows: Sequence[str] | None = None,
        seed: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a column of the traces over time: of every flow, or of the bottleneck.

        Parameters
        ----------
        column : str
            A column of ``result.trace``, internals of algorithms included, or of ``result.link_trace``.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per flow.
        """
        return _curves(of_run(self._runs, "series", seed, column=column, flows=flows), ax)

    def window(self, *, flows: Sequence[str] | None = None, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the congestion window of every flow over time, packets.

        Parameters
        ----------
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per flow.
        """
        return self.series("window_packets", flows=flows, seed=seed, ax=ax)

    def rtt(self, *, flows: Sequence[str] | None = None, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the smoothed round-trip time of every flow over time, ms.

        Parameters
        ----------
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per flow.
        """
        return self.series("srtt_s", flows=flows, seed=seed, ax=ax)

    def queue(self, *, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the packets that wait at the bottleneck over time.

        Parameters
        ----------
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With one line.
        """
        return self.series("queue_packets", seed=seed, ax=ax)

    def goodput(
        self,
        *,
        interval: float | None = None,
        flows: Sequence[str] | None = None,
        seed: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the goodput of every flow over time, Mbit/s, below the rate of the bottleneck.

        Parameters
        ----------
        interval : float, optional
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per flow, and a dashed one for the bottleneck.
        """
        return _curves(of_run(self._runs, "goodput", seed, flows=flows, interval=interval), ax)

    def utilisation(self, *, interval: float | None = None, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the share of the bottleneck's rate that was carried, over time.

        Parameters
        ----------
        interval : float, optional
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With one line.
        """
        return _curves(of_run(self._runs, "utilisation", seed, interval=interval), ax)

    def fairness(self, *, interval: float = 1.0, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw Jain's index of the goodputs of the flows that are there over time.

        Parameters
        ----------
        interval : float
            Averaging interval of goodputs, seconds: the shorter, the less fair.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With one line, and a dashed one at the least there can be.
        """
        return _curves(of_run(self._runs, "fairness", seed, interval=interval), ax)

    def phase(
        self,
        flows: tuple[str, str] | None = None,
        *,
        interval: float | None = None,
        seed: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the phase plane: the goodput of one flow against that of another (Chiu and Jain 1989).

        Parameters
        ----------
        flows : tuple of str, optional
            Two flows; the first, and the first of another algorithm if there is one.
        interval : float, optional
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            Dashed: max-min fair shares. Dotted: the bottleneck is full. Points get stronger with time; the ring is the
            end.
        """
        phase = Phase.of(of_run(self._runs, "phase", seed, flows=flows, interval=interval)[0])
        axes = _axes(ax, (4, 4))
        x, y = phase.fair
        axes.plot([0.0, x], [0.0, y], color=MUTED, linewidth=1, dashes=(6, 4), label="fair shares")
        if phase.full is not None:
            axes.plot(
                [0, phase.full], [phase.full, 0], color=MUTED, linewidth=1, dashes=(2, 3), label="bottleneck full"
            )
        axes.plot(phase.first, phase.second, color=phase.colour, linewidth=0.8, alpha=0.35)
        strength = np.linspace(0.15, 1.0, len(phase.first))
        axes.scatter(phase.first, phase.second, s=7, color=phase.colour, alpha=strength, linewidths=0, zorder=3)  # type: ignore[arg-type]
        axes.plot(phase.first[-1:], phase.second[-1:], "o", color=TEXT, fillstyle="none", label="end")
        _ends(axes, phase.x, phase.y)
        _titled(axes, "Phase plane")
        axes.set_aspect("equal")
        _legend(axes)
        return axes

    def cdf(
        self,
        column: str = "srtt_s",
        *,
        flows: Sequence[str] | None = None,
        seed: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the distribution of a column over the sampled instants after the warm-up.

        Parameters
        ----------
        column : str
            A column of ``result.trace`` or ``result.link_trace``, or ``goodput_bps`` for averages over 0.2 s.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per flow, or one for the bottleneck.
        """
        return _curves(of_run(self._runs, "cdf", seed, column=column, flows=flows), ax)


class ComparisonPlots:
    """Plots of a comparison on matplotlib: ``comparison.plot()`` shows the usual ones, its methods one each."""

    def __init__(self, compared: _native.Compared) -> None:
        self._compared = compared

    def __call__(self) -> Figure:
        """Draw the delay at each utilisation, and the share of every flow.

        Returns
        -------
        matplotlib.figure.Figure
            Two plots.
        """
        figure, grid = new_figure((9, 3.8), (1, 2))
        left, right = grid.flat
        self.trade_off(ax=left)
        self.shares(ax=right)
        return figure

    def trade_off(self, *, ax: Axes | None = None) -> Axes:
        """Draw utilisation against the mean queueing delay: better is up and to the left (RFC 7928).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a point per algorithm and its 95 % intervals over seeds.
        """
        axes = _axes(ax, (4.5, 3.6))
        points, x, y = trade_off(self._compared)
        for index, point in enumerate(points):
            axes.errorbar(
                point.x[0],
                point.y[0],
                xerr=_whiskers(point.x),
                yerr=_whiskers(point.y),
                fmt=MARKERS[index % len(MARKERS)],
                color=point.colour,
                elinewidth=1.0,
                label=literal(point.label),
            )
        _ends(axes, x, y)
        _titled(axes, "Utilisation and delay")
        _legend(axes)
        return axes

    def shares(self, *, ax: Axes | None = None) -> Axes:
        """Draw the goodput of every flow, with its 95 % interval over seeds.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a bar per flow, Mbit/s.
        """
        axes = _axes(ax, (4.5, 3.6))
        bars = shares(self._compared)
        rows = list(dict.fromkeys(bar.group for bar in bars))
        for bar in bars:
            each = 0.8 / max(sum(other.group == bar.group for other in bars), 1)
            height = rows.index(bar.group) - 0.4 + each * (int(bar.label) - 0.5)
            axes.barh(
                height, bar.x[0], height=0.9 * each, xerr=_whiskers(bar.x), color=bar.colour, alpha=0.75,
                error_kw={"elinewidth": 1.0, "ecolor": TEXT},
            )  # fmt: skip
        axes.set_yticks(range(len(rows)), [literal(row) for row in rows])
        axes.invert_yaxis()
        _ends(axes, Axis("Goodput (Mbit/s)", low=0.0), Axis(""))
        _titled(axes, "Shares of flows")
        return axes

    def cdf(self, column: str = "srtt_s", *, seed: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the distribution of a column for every algorithm, over the sampled instants after the warm-up.

        Parameters
        ----------
        column : str
            As in :meth:`RunPlots.cdf`; the flows of an algorithm count together.
        seed : int, optional
            The runs to draw; the first if not given.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With a line per algorithm.
        """
        return _curves(of_comparison(self._compared, "cdf", column, seed), ax)


class SweepPlots:
    """Plots of a sweep on matplotlib: ``result.plot()`` shows a measure over all keys, its methods one plot each."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        self._table = table
        self._keys = keys

    def __call__(
        self,
        measure: str = "utilisation",
        *,
        x: str | None = None,
        y: str | None = None,
        where: Mapping[str, object] | None = None,
        most: int = 12,
    ) -> Figure:
        """Draw heat maps of a measure: one for every combination of the keys that are not on the axes.

        Parameters
        ----------
        measure : str
            A column of ``result.table`` with a number per run.
        x, y : str, optional
            Keys of the sweep, or ``seed``; the last two that vary if not given.
        where : mapping, optional
            Draw only the cells with these values: ``{"flow.0.algorithm": "simd"}``.
        most : int
            Refuse to draw more heat maps than this.

        Returns
        -------
        matplotlib.figure.Figure
            With the means over seeds, all in the same colours.

        Raises
        ------
        ArgumentError
            There is no such measure, key or value, or there would be too many plots.
        """
        found = grids(self._table, self._keys, measure, x=x, y=y, where=where)
        if len(found) > most:
            others = ", ".join(f"`{key}`" for key in found[0].setting)
            raise ArgumentError(f"where: {len(found)} plots are too many; give values of {others}")
        across = min(len(found), 3)
        down = -(-len(found) // across)
        width, height = _size(found[0])
        figure, cells = new_figure((width * across, height * down), (down, across))
        numbers = np.concatenate([grid.values.ravel() for grid in found])
        numbers = numbers[np.isfinite(numbers)]
        limits = (float(numbers.min()), float(numbers.max())) if len(numbers) else None
        for grid, axes in zip(found, cells.flat, strict=False):
            _grid(grid, limits, axes)
        for axes in list(cells.flat)[len(found) :]:
            axes.set_axis_off()
        return figure

    def heatmap(
        self,
        measure: str = "utilisation",
        *,
        x: str | None = None,
        y: str | None = None,
        where: Mapping[str, object] | None = None,
        limits: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a measure over two keys of the sweep.

        Parameters
        ----------
        measure : str
            A column of ``result.table`` with a number per run.
        x, y : str, optional
            Keys of the sweep, or ``seed``; the last two that vary if not given.
        where : mapping, optional
            The values of the other keys: ``{"flow.0.algorithm": "simd"}``.
        limits : tuple of float, optional
            The values at the ends of the colours; the least and the largest if not given.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib.axes.Axes
            With the mean over seeds written into each cell, if they are not many.

        Raises
        ------
        ArgumentError
            There is no such measure, key or value, or another key varies.
        """
        grid = only(grids(self._table, self._keys, measure, x=x, y=y, where=where))
        return _grid(grid, limits, _axes(ax, _size(grid)))


def heatmap(
    rows: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Any,
    x: str,
    y: str,
    value: str,
    *,
    title: str | None = None,
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a grid of results: a cell per value of `x` and `y`, coloured by `value`.

    Parameters
    ----------
    rows : data frame, mapping of columns, or iterable of mappings
        One row per run: a data frame of polars or pandas, a :class:`cwnd.Table`, or plain dictionaries.
    x, y : str
        The columns that say where a row belongs. Numbers are put in order; text keeps the order it comes in.
    value : str
        The column to draw. Rows of one cell, seeds mostly, are averaged; a cell without a number stays empty.
    title : str, optional
        The title of the colours, with the unit; the name of the column if not given.
    limits : tuple of float, optional
        The values at the ends of the colours; the least and the largest if not given.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        With the mean written into each cell, if they are not many.

    Raises
    ------
    ArgumentError
        There is no such column.

    Examples
    --------
    >>> from cwnd import plot
    >>> rows = [{"rate": "10mbit", "loss": p, "share": 0.5 - p} for p in (0.0, 0.1)]
    >>> axes = plot.heatmap(rows, "rate", "loss", "share")
    >>> [text.get_text() for text in axes.texts]
    ['0.5', '0.4']
    """
    columns = [_column(rows, argument, name) for argument, name in (("x", x), ("y", y), ("value", value))]
    shown_as = optional(text, "title", title, "loss") or value
    grid = averaged(*columns, x=x, y=y, title=shown_as)
    return _grid(grid, limits, _axes(ax, _size(grid)))


def _column(rows: Any, argument: str, name: str) -> list[Any]:
    text(argument, name, "loss")
    if not hasattr(rows, "columns") and not isinstance(rows, Mapping):
        given = list(rows) if isinstance(rows, Iterable) else [rows]
        if not given or not all(isinstance(row, Mapping) for row in given):
            raise ArgumentError(f"rows: expected a data frame, columns, or dictionaries, got {rows!r}")
        rows, columns = given, given[0].keys()
    else:
        columns = rows.keys() if isinstance(rows, Mapping) else rows.columns
    if name not in columns:
        raise ArgumentError(f"{argument}: no column `{name}` in `rows`, expected one of {', '.join(map(str, columns))}")
    values = [row[name] for row in rows] if isinstance(rows, list) else rows[name]
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _limits(limits: object) -> tuple[float, float]:
    found = reals("limits", limits)
    if len(found) != 2:
        raise ArgumentError(f"limits: expected two numbers, got {limits!r}")
    return found[0], found[1]


def _size(grid: Grid) -> tuple[float, float]:
    return max(1.2 + 0.75 * len(grid.across), 3.5), max(1.0 + 0.5 * len(grid.down), 2.5)


def _grid(grid: Grid, limits: tuple[float, float] | None, axes: Axes) -> Axes:
    low, high = (None, None) if limits is None else _limits(limits)
    image = axes.imshow(grid.values, cmap="viridis", vmin=low, vmax=high, aspect="auto", origin="lower")
    axes.set_xticks(range(len(grid.across)), [literal(shown(name)) for name in grid.across])
    axes.set_yticks(range(len(grid.down)), [literal(shown(name)) for name in grid.down])
    axes.set(xlabel=literal(grid.x), ylabel=literal(grid.y))
    axes.grid(visible=False)
    bar = axes.figure.colorbar(image, ax=axes)
    bar.set_label(grid.title, fontsize=8)
    bar.ax.tick_params(labelsize=8)
    if grid.setting:
        _titled(axes, ", ".join(f"{key} {shown(value)}" for key, value in grid.setting.items()))
    if grid.values.size <= WRITTEN_CELLS:
        for (row, column), number in np.ndenumerate(grid.values):
            if np.isfinite(number):
                dark = float(image.norm(float(number))) < 0.6  # type: ignore[arg-type]  # where white is easier to read on viridis than black
                axes.text(
                    column, row, f"{number:.3g}", ha="center", va="center", fontsize=7, color="white" if dark else TEXT
                )
    return axes


def _curves(plot: tuple[str, str], ax: Axes | None) -> Axes:
    curves = Curves.of(plot[0])
    axes = _axes(ax, (6, 3))
    if curves.warmup > 0:
        axes.axvspan(0, curves.warmup, color=SHADE, linewidth=0, zorder=0)
    for curve in curves.curves:
        (line,) = axes.plot(curve.x, curve.y, color=curve.colour, linewidth=1.2, label=literal(curve.label))
        if curve.dash[1]:
            line.set_dashes(curve.dash)
        if curves.steps:
            line.set_drawstyle("steps-post")
    for rule in curves.rules:
        axes.axhline(rule.y, color=MUTED, linewidth=1, dashes=(4, 3), zorder=1, label=literal(rule.words))
    _ends(axes, curves.x, curves.y)
    _titled(axes, curves.title)
    if len(curves.curves) + len(curves.rules) > 1:
        _legend(axes)
    return axes


def _ends(axes: Axes, x: Axis, y: Axis) -> None:
    axes.set(xlabel=literal(x.title), ylabel=literal(y.title))
    if x.log:
        axes.set_xscale("log")
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)


def _whiskers(ends: tuple[float, float, float]) -> npt.NDArray[np.float64]:
    mean, low, high = ends
    return np.array([[mean - low], [high - mean]])


def _legend(axes: Axes) -> None:
    axes.legend(fontsize=7, handlelength=2.8, edgecolor="none", framealpha=0.8)


def _titled(axes: Axes, title: str) -> None:
    axes.set_title(literal(title), loc="left", fontsize=9)


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        if not hasattr(ax, "imshow"):
            raise ArgumentError(f"ax: expected axes of matplotlib, got {ax!r}")
        return ax
    axes: Axes = new_figure(size, (1, 1))[1].item()
    return axes


def new_figure(size: tuple[float, float], cells: tuple[int, int]) -> tuple[Figure, Any]:
    """Make a figure of a size in inches, and its axes, in rows and columns."""
    # The figure comes first: it starts the backend of a notebook, which must outlive the context.
    pyplot = _pyplot()
    from cwnd.plot._once import Once  # noqa: PLC0415  (an optional dependency)

    figure = pyplot.figure(figsize=size, dpi=110, layout="constrained", FigureClass=Once)
    with pyplot.rc_context(STYLE):
        return figure, figure.subplots(*cells, squeeze=False)


def _pyplot() -> ModuleType:
    try:
        from matplotlib import pyplot  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'cwnd[plot]'") from error
    return pyplot


STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": TEXT,
    "axes.labelsize": 8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.color": MUTED,
    "ytick.labelsize": 8,
}
"""Of axes made here; the axes of others keep theirs."""

MARKERS = "os^DvXPh"
WRITTEN_CELLS = 120
"""Numbers in more cells than this cannot be read."""
