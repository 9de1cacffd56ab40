"""A congestion-control laboratory.

Algorithms are written once and run on paper, in a deterministic packet simulator, and against those of papers.

>>> import cwnd
>>> result = cwnd.compare(["reno", "simd"], rate="20mbit", rtt="20ms", duration="4s", warmup="1s", seeds=2)
>>> [row.algorithm for row in result.rows]
['reno', 'simd']
>>> result.rows[0]["utilisation"].mean > 0.9
True
"""

from __future__ import annotations

from cwnd import errors, metrics, model, plot, statistics
from cwnd._algorithm import CongestionControl, WindowRule
from cwnd._algorithms import AlgorithmInfo, Parameter, algorithm, algorithms
from cwnd._compare import compare
from cwnd._comparison import Comparison, ComparisonRow, Stationarity, Versus
from cwnd._conform import Conformance, ConformanceCheck, conform
from cwnd._estimates import Estimate, Estimates
from cwnd._evaluate import Evaluation, EvaluationRow, EvaluationSection, evaluate
from cwnd._falsify import Counterexample, Findings, falsify
from cwnd._native import VERSION as __version__  # noqa: N811  (Python's name for it)
from cwnd._native import Ack, Congestion, Control, RateSample, Remote, Rtt, Start, View
from cwnd._overlay import OverlaidFlow, Overlay, overlay
from cwnd._paper import Paper, PaperResult, PaperRow, PaperRows, paper, papers
from cwnd._run import run
from cwnd._runs import RunResult
from cwnd._scenario import Scenario
from cwnd._sweep import Sweep, sweep
from cwnd._swept import FailedCell, SweepPoint, SweepResult
from cwnd._table import Field, Rows, Table
from cwnd.errors import AlgorithmError, ArgumentError, CwndError, FileError, ScenarioError, SimulationError, StoreError

__all__ = [
    "Ack",
    "AlgorithmError",
    "AlgorithmInfo",
    "ArgumentError",
    "Comparison",
    "ComparisonRow",
    "Conformance",
    "ConformanceCheck",
    "Congestion",
    "CongestionControl",
    "Control",
    "Counterexample",
    "CwndError",
    "Estimate",
    "Estimates",
    "Evaluation",
    "EvaluationRow",
    "EvaluationSection",
    "FailedCell",
    "Field",
    "FileError",
    "Findings",
    "OverlaidFlow",
    "Overlay",
    "Paper",
    "PaperResult",
    "PaperRow",
    "PaperRows",
    "Parameter",
    "RateSample",
    "Remote",
    "Rows",
    "Rtt",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Start",
    "Stationarity",
    "StoreError",
    "Sweep",
    "SweepPoint",
    "SweepResult",
    "Table",
    "Versus",
    "View",
    "WindowRule",
    "__version__",
    "algorithm",
    "algorithms",
    "compare",
    "conform",
    "errors",
    "evaluate",
    "falsify",
    "metrics",
    "model",
    "overlay",
    "paper",
    "papers",
    "plot",
    "run",
    "statistics",
    "sweep",
]
