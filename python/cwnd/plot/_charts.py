"""Charts on Altair: the marks, colours and axes of the reports of the command line, with the data in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cwnd.plot._colour import MUTED, SHADE, TEXT
from cwnd.plot._curves import Axis, Curves, Run, grids, only, pooled, shares, shown, trade_off, trade_off_axes

if TYPE_CHECKING:
    import altair

    from cwnd._results import Comparison, RunResult
    from cwnd._sweep import SweepResult

__all__ = ["ComparisonCharts", "RunCharts", "SweepCharts"]


class RunCharts:
    """Charts of a run on Altair, one per method; the arguments are those of :class:`RunPlots`.

    A chart shows itself in a notebook, is saved with ``chart.save("window.html")``, and is changed like any other of
    Altair. What it draws is in it, in the units of its axes.
    """

    def __init__(self, result: RunResult) -> None:
        self._result = result

    def series(self, column: str, *, flows: Sequence[str] | None = None, seed: int | None = None) -> altair.LayerChart:
        """Chart a column of the traces over time: of every flow, or of the bottleneck.

        Parameters
        ----------
        column : str
            A column of ``result.trace``, internals of algorithms included, or of ``result.link_trace``.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow.
        """
        return _curves(Run(self._result, seed).series(column, flows))

    def window(self, *, flows: Sequence[str] | None = None, seed: int | None = None) -> altair.LayerChart:
        """Chart the congestion window of every flow over time, packets.

        Parameters
        ----------
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow.
        """
        return self.series("window_packets", flows=flows, seed=seed)

    def rtt(self, *, flows: Sequence[str] | None = None, seed: int | None = None) -> altair.LayerChart:
        """Chart the smoothed round-trip time of every flow over time, ms.

        Parameters
        ----------
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow.
        """
        return self.series("srtt_s", flows=flows, seed=seed)

    def queue(self, *, seed: int | None = None) -> altair.LayerChart:
        """Chart the packets that wait at the bottleneck over time.

        Parameters
        ----------
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With one line.
        """
        return self.series("queue_packets", seed=seed)

    def goodput(
        self, *, interval: float | None = None, flows: Sequence[str] | None = None, seed: int | None = None
    ) -> altair.LayerChart:
        """Chart the goodput of every flow over time, Mbit/s, below the rate of the bottleneck.

        Parameters
        ----------
        interval : float, optional
            Average over so many seconds; 0.2, or a round trip if that is longer.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow, and a dashed one for the bottleneck.
        """
        return _curves(Run(self._result, seed).goodput(interval, flows))

    def utilisation(self, *, interval: float | None = None, seed: int | None = None) -> altair.LayerChart:
        """Chart the share of the bottleneck's rate that was carried, over time.

        Parameters
        ----------
        interval : float, optional
            Average over so many seconds; 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With one line.
        """
        return _curves(Run(self._result, seed).utilisation(interval))

    def fairness(self, *, interval: float = 1.0, seed: int | None = None) -> altair.LayerChart:
        """Chart Jain's index of the goodputs of all flows over time.

        Parameters
        ----------
        interval : float
            Goodputs are averages over so many seconds: the shorter, the less fair.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With one line, and a dashed one at the least there can be.
        """
        return _curves(Run(self._result, seed).fairness(interval))

    def cdf(
        self, column: str = "srtt_s", *, flows: Sequence[str] | None = None, seed: int | None = None
    ) -> altair.LayerChart:
        """Chart the distribution of a column over the sampled instants after the warm-up.

        Parameters
        ----------
        column : str
            A column of ``result.trace`` or ``result.link_trace``, or ``goodput_bps`` for averages over 0.2 s.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow, or one for the bottleneck.
        """
        return _curves(Run(self._result, seed).cdf(column, flows))

    def phase(
        self, flows: tuple[str, str] | None = None, *, interval: float | None = None, seed: int | None = None
    ) -> altair.LayerChart:
        """Chart the phase plane: the goodput of one flow against that of another (Chiu and Jain 1989).

        Parameters
        ----------
        flows : tuple of str, optional
            Two flows; the first, and the first of another algorithm if there is one.
        interval : float, optional
            Average over so many seconds; 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            Dashed: equal shares. Dotted: the bottleneck is full. Points get stronger with time; the ring is the end.
        """
        alt = _altair()
        phase = Run(self._result, seed).phase(flows, interval)
        path = phase.path
        places = [
            {"place": place, "x": x, "y": y}
            for place, (x, y) in enumerate(zip(path.x.tolist(), path.y.tolist(), strict=True))
        ]
        position = {"x": _position("x", phase.x), "y": _position("y", phase.y)}

        def line(ends: list[tuple[float, float]], dash: list[int]) -> Any:
            values = [{"x": x, "y": y} for x, y in ends]
            mark = alt.Chart(alt.Data(values=values)).mark_line(strokeWidth=1, color=MUTED, strokeDash=dash)
            return mark.encode(**position)

        layers = [line([(0.0, 0.0), (phase.largest, phase.largest)], [6, 4])]
        if phase.full is not None:
            layers.append(line([(0.0, phase.full), (phase.full, 0.0)], [2, 3]))
        drawn = alt.Chart(alt.Data(values=places))
        order = alt.Order("place", type="quantitative")
        stronger = alt.Opacity("place", type="quantitative", scale=alt.Scale(range=[0.15, 1]), legend=None)
        end = alt.Chart(alt.Data(values=places[-1:])).mark_point(size=70, strokeWidth=2, color=TEXT)
        layers += [
            drawn.mark_line(strokeWidth=0.8, opacity=0.35, color=path.colour).encode(order=order, **position),
            drawn.mark_point(filled=True, size=12, color=path.colour).encode(opacity=stronger, **position),
            end.encode(**position),
        ]
        return _finished(alt.layer(*layers), "Phase plane", 230, 230)


class ComparisonCharts:
    """Charts of a comparison on Altair, one per method; the arguments are those of :class:`ComparisonPlots`."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def trade_off(self) -> altair.LayerChart:
        """Chart utilisation against the 95th percentile of queueing delay: better is up and to the left (RFC 7928).

        Returns
        -------
        altair.LayerChart
            With a point per algorithm and its 95 % intervals over seeds.
        """
        alt = _altair()
        points = trade_off(self._comparison)
        names = ("mean", "low", "high")
        values = [
            {"algorithm": point.label}
            | {f"x_{name}": number for name, number in zip(names, point.x, strict=True)}
            | {f"y_{name}": number for name, number in zip(names, point.y, strict=True)}
            for point in points
        ]
        range_ = {"domain": [point.label for point in points], "range": [point.colour for point in points]}
        colour = alt.Color("algorithm", type="nominal", scale=alt.Scale(**range_), title=None)
        x, y = trade_off_axes(points)
        chart = alt.Chart(alt.Data(values=values))
        rule = chart.mark_rule(strokeWidth=1.2)
        layers = [
            rule.encode(x=_position("x_low", x), x2="x_high", y=_position("y_mean", y), color=colour),
            rule.encode(x=_position("x_mean", x), y=_position("y_low", y), y2="y_high", color=colour),
            chart.mark_point(filled=True, size=90, opacity=1).encode(
                x=_position("x_mean", x),
                y=_position("y_mean", y),
                color=colour,
                shape=alt.Shape("algorithm", type="nominal", scale=alt.Scale(domain=range_["domain"]), title=None),
            ),
        ]
        return _finished(alt.layer(*layers), "Utilisation and delay", 400, 300)

    def shares(self) -> altair.LayerChart:
        """Chart the goodput of every flow, with its 95 % interval over seeds.

        Returns
        -------
        altair.LayerChart
            With a bar per flow, Mbit/s.
        """
        alt = _altair()
        bars = shares(self._comparison)
        values = [
            {"algorithm": bar.group, "flow": bar.label, "goodput": bar.x[0], "low": bar.x[1], "high": bar.x[2]}
            for bar in bars
        ]
        colours = {bar.group: bar.colour for bar in bars}
        place = {
            "y": alt.Y("algorithm", type="nominal", sort=list(colours), title=None),
            "yOffset": alt.YOffset("flow", type="nominal"),
        }
        colour = alt.Color(
            "algorithm",
            type="nominal",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=None,
        )
        x = Axis("Goodput (Mbit/s)", low=0.0)
        chart = alt.Chart(alt.Data(values=values))
        layers = [
            chart.mark_bar(opacity=0.75).encode(x=_position("goodput", x), color=colour, **place),
            chart.mark_rule(strokeWidth=1.6, color=TEXT).encode(x=_position("low", x), x2="high", **place),
        ]
        return _finished(alt.layer(*layers), "Shares of flows", 400, max(13 * len(bars), 160))

    def cdf(self, column: str = "srtt_s", *, seed: int | None = None) -> altair.LayerChart:
        """Chart the distribution of a column for every algorithm, over the sampled instants after the warm-up.

        Parameters
        ----------
        column : str
            As in :meth:`RunCharts.cdf`; the flows of an algorithm count together.
        seed : int, optional
            The runs to draw; the first if not given.

        Returns
        -------
        altair.LayerChart
            With a line per algorithm.
        """
        return _curves(pooled(self._comparison, column, seed))


class SweepCharts:
    """Charts of a sweep on Altair, one per method; the arguments are those of :class:`SweepPlots`."""

    def __init__(self, result: SweepResult) -> None:
        self._result = result

    def heatmap(
        self,
        measure: str = "utilisation",
        *,
        x: str | None = None,
        y: str | None = None,
        where: Mapping[str, object] | None = None,
        limits: tuple[float, float] | None = None,
    ) -> altair.LayerChart:
        """Chart a measure over two keys of the sweep.

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

        Returns
        -------
        altair.LayerChart
            With the mean over seeds written into each cell.

        Raises
        ------
        ArgumentError
            There is no such measure, key or value, or another key varies.
        """
        alt = _altair()
        grid = only(grids(self._result, measure, x, y, where))
        across, down = ([shown(value) for value in values] for values in (grid.across, grid.down))
        values = [
            {"x": at_x, "y": at_y, "value": number, "shown": f"{number:.3g}"}
            for at_y, row in zip(down, grid.values.tolist(), strict=True)
            for at_x, number in zip(across, row, strict=True)
            if np.isfinite(number)
        ]
        place = {
            "x": alt.X("x", type="nominal", sort=across, title=grid.x, axis=alt.Axis(labelAngle=0)),
            "y": alt.Y("y", type="nominal", sort=down[::-1], title=grid.y),
        }
        numbers = [value["value"] for value in values]
        low, high = limits or (min(numbers, default=0.0), max(numbers, default=1.0))
        scale = alt.Scale(scheme="viridis", domain=[low, high])
        chart = alt.Chart(alt.Data(values=values))
        bright = alt.datum.value >= low + 0.6 * (high - low)
        layers = [
            chart.mark_rect().encode(
                color=alt.Color("value", type="quantitative", scale=scale, title=grid.title), **place
            ),
            chart.mark_text(fontSize=10).encode(
                text=alt.Text("shown", type="nominal"),
                color=alt.condition(bright, alt.value(TEXT), alt.value("white")),
                **place,
            ),
        ]
        return _finished(alt.layer(*layers), grid.title, max(60 * len(across), 180), max(36 * len(down), 120))


def _curves(curves: Curves) -> altair.LayerChart:
    alt = _altair()
    values = [
        {"flow": curve.label, "x": x, "y": y if np.isfinite(y) else None}
        for curve in curves.curves
        for x, y in zip(curve.x.tolist(), curve.y.tolist(), strict=True)
    ]
    labels = [curve.label for curve in curves.curves]
    legend = alt.Legend(orient="top", title=None, columns=4, symbolType="stroke", symbolSize=500)

    def by_flow(channel: Any, range_: list[Any]) -> Any:
        scale = alt.Scale(domain=labels, range=range_)
        return channel("flow", type="nominal", scale=scale, legend=legend if len(labels) > 1 else None)

    line = {"strokeWidth": 1.2, "strokeJoin": "round", "interpolate": "step-after" if curves.steps else "linear"}
    drawn = (
        alt.Chart(alt.Data(values=values))
        .mark_line(**line)
        .encode(
            x=_position("x", curves.x),
            y=_position("y", curves.y),
            color=by_flow(alt.Color, [curve.colour for curve in curves.curves]),
            strokeDash=by_flow(alt.StrokeDash, [list(curve.dash) for curve in curves.curves]),
        )
    )
    layers = [drawn]
    if curves.warmup > 0:
        shade = alt.Chart(alt.Data(values=[{"x": 0, "to": curves.warmup}])).mark_rect(color=SHADE, opacity=1)
        layers.insert(0, shade.encode(x=_position("x", curves.x), x2="to"))
    for rule in curves.rules:
        level = alt.Chart(alt.Data(values=[{"y": rule.y}])).mark_rule(color=MUTED, strokeDash=[4, 3])
        layers.append(level.encode(y=_position("y", curves.y)))
    return _finished(alt.layer(*layers), curves.title.split(" (", maxsplit=1)[0], 400, 210)


def _position(field: str, axis: Axis) -> Any:
    alt = _altair()
    scale: dict[str, Any] = {"nice": False, "zero": axis.low == 0.0}
    if axis.low is not None and axis.high is not None:
        scale["domain"] = [axis.low, axis.high]
    channel = alt.X if field.startswith(("x", "low", "goodput")) else alt.Y
    return channel(field, type="quantitative", title=axis.title, scale=alt.Scale(**scale))


def _finished(chart: altair.LayerChart, title: str, width: int, height: int) -> altair.LayerChart:
    return chart.properties(title=title, width=width, height=height)


def _altair() -> Any:
    try:
        import altair  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise ImportError("charts need Altair: pip install 'cwnd[plot]'") from error
    return altair
