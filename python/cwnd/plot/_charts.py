"""Charts on Altair: the Vega-Lite of the reports of the command line, with the data in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cwnd.plot._curves import grids, of_comparison, of_run, only

if TYPE_CHECKING:
    import altair

    from cwnd import _native
    from cwnd._table import Table

__all__ = ["ComparisonCharts", "RunCharts", "SweepCharts"]


class RunCharts:
    """Charts of a run on Altair, one per method; the arguments are those of :class:`RunPlots`.

    A chart shows itself in a notebook, is saved with ``chart.save("window.html")``, and is changed like any other of
    Altair. Its data is in it, in the units of the tables' columns.
    """

    def __init__(self, runs: _native.Runs) -> None:
        self._runs = runs

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
        return _chart(of_run(self._runs, "series", seed, column=column, flows=flows)[1])

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
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        flows : sequence of str, optional
            The flows to draw.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With a line per flow, and a dashed one for the bottleneck.
        """
        return _chart(of_run(self._runs, "goodput", seed, flows=flows, interval=interval)[1])

    def utilisation(self, *, interval: float | None = None, seed: int | None = None) -> altair.LayerChart:
        """Chart the share of the bottleneck's rate that was carried, over time.

        Parameters
        ----------
        interval : float, optional
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With one line.
        """
        return _chart(of_run(self._runs, "utilisation", seed, interval=interval)[1])

    def fairness(self, *, interval: float = 1.0, seed: int | None = None) -> altair.LayerChart:
        """Chart Jain's index of the goodputs of the flows that are there over time.

        Parameters
        ----------
        interval : float
            Averaging interval of goodputs, seconds: the shorter, the less fair.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            With one line, and a dashed one at the least there can be.
        """
        return _chart(of_run(self._runs, "fairness", seed, interval=interval)[1])

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
        return _chart(of_run(self._runs, "cdf", seed, column=column, flows=flows)[1])

    def phase(
        self, flows: tuple[str, str] | None = None, *, interval: float | None = None, seed: int | None = None
    ) -> altair.LayerChart:
        """Chart the phase plane: the goodput of one flow against that of another (Chiu and Jain 1989).

        Parameters
        ----------
        flows : tuple of str, optional
            Two flows; the first, and the first of another algorithm if there is one.
        interval : float, optional
            Averaging interval, seconds; by default 0.2, or a round trip if that is longer.
        seed : int, optional
            The run to draw.

        Returns
        -------
        altair.LayerChart
            Dashed: max-min fair shares. Dotted: the bottleneck is full. Points get stronger with time; the ring is the
            end.
        """
        return _chart(of_run(self._runs, "phase", seed, flows=flows, interval=interval)[1])


class ComparisonCharts:
    """Charts of a comparison on Altair, one per method; the arguments are those of :class:`ComparisonPlots`."""

    def __init__(self, compared: _native.Compared) -> None:
        self._compared = compared

    def trade_off(self) -> altair.LayerChart:
        """Chart utilisation against the mean queueing delay: better is up and to the left (RFC 7928).

        Returns
        -------
        altair.LayerChart
            With a point per algorithm and its 95 % intervals over seeds.
        """
        return _chart(of_comparison(self._compared, "trade_off")[1])

    def shares(self) -> altair.LayerChart:
        """Chart the goodput of every flow, with its 95 % interval over seeds.

        Returns
        -------
        altair.LayerChart
            With a bar per flow, Mbit/s.
        """
        return _chart(of_comparison(self._compared, "shares")[1])

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
        return _chart(of_comparison(self._compared, "cdf", column, seed)[1])


class SweepCharts:
    """Charts of a sweep on Altair, one per method; the arguments are those of :class:`SweepPlots`."""

    def __init__(self, table: Table, keys: Sequence[str]) -> None:
        self._table = table
        self._keys = keys

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
        return _chart(only(grids(self._table, self._keys, measure, x=x, y=y, where=where)).chart(limits))


def _chart(specification: str) -> altair.LayerChart:
    try:
        import altair  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise ImportError("charts need Altair: pip install 'cwnd[plot]'") from error
    return altair.LayerChart.from_dict(json.loads(specification))
