"""Plots of runs, comparisons and sweeps.

``result.plot`` draws on matplotlib, ``result.chart`` on Altair, both the same numbers in the colours of the command
line's reports. Neither library is needed for anything else: ``pip install 'cwnd[plot]'`` gets them.
"""

from __future__ import annotations

from cwnd.plot._charts import ComparisonCharts, RunCharts, SweepCharts
from cwnd.plot._colour import colour
from cwnd.plot._figures import ComparisonPlots, RunPlots, SweepPlots, heatmap

__all__ = [
    "ComparisonCharts",
    "ComparisonPlots",
    "RunCharts",
    "RunPlots",
    "SweepCharts",
    "SweepPlots",
    "colour",
    "heatmap",
]
