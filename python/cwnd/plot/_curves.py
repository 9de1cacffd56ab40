"""What plots show, as plain numbers: computed once, for whichever library draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cwnd import metrics
from cwnd.errors import ArgumentError
from cwnd.plot._colour import DASHES, MUTED, colour

if TYPE_CHECKING:
    from cwnd._results import Comparison, Estimate, RunResult
    from cwnd._sweep import SweepResult
    from cwnd._table import Table

__all__ = [
    "Axis",
    "Curve",
    "Curves",
    "Grid",
    "Interval",
    "Phase",
    "Rule",
    "Run",
    "averaged",
    "grids",
    "only",
    "pooled",
    "shares",
    "shown",
    "trade_off",
    "trade_off_axes",
]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """A title with its unit, what numbers are multiplied by to be in it, and the ends if they are fixed."""

    title: str
    scale: float = 1.0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A line, in the units of its axes."""

    label: str
    x: Numbers
    y: Numbers
    colour: str
    dash: tuple[int, ...] = DASHES[0]


@dataclass(frozen=True)
class Rule:
    """A line across the plot at a height."""

    y: float
    words: str


@dataclass(frozen=True)
class Curves:
    """Lines on common axes; the warm-up is shaded up to `warmup`."""

    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    warmup: float = 0.0
    rules: tuple[Rule, ...] = ()
    steps: bool = False


@dataclass(frozen=True)
class Phase:
    """The goodput of one flow against that of another, Mbit/s; their sum at a full bottleneck is `full`."""

    x: Axis
    y: Axis
    path: Curve
    largest: float
    full: float | None


@dataclass(frozen=True)
class Interval:
    """Means with the ends of their 95 % intervals, in the units of the axes."""

    label: str
    group: str
    colour: str
    x: tuple[float, float, float]
    y: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Grid:
    """Means over a grid: `values` has a row per entry of `down`, a column per entry of `across`, ``nan`` for none."""

    across: list[Any]
    down: list[Any]
    values: Numbers
    x: str = ""
    y: str = ""
    title: str = ""
    setting: dict[str, Any] = field(default_factory=dict)


class Run:
    """The run of one seed, in arrays.

    Parameters
    ----------
    result : RunResult
        Runs of a scenario.
    seed : int, optional
        Which; the first if not given.
    """

    def __init__(self, result: RunResult, seed: int | None = None) -> None:
        seeds = result.summary["seed"].tolist()
        self.seed = seeds[0] if seed is None else seed
        if self.seed not in seeds:
            raise ArgumentError(f"seed: {seed} was not run, expected one of {', '.join(map(str, seeds))}")
        document = result.document
        self.warmup = float(document["warmup_s"])
        self.duration = float(document["duration_s"])
        self.bottleneck = document["bottleneck"]
        self._result = result
        self.flows: list[dict[str, Any]] = [row for row in result.flows if row["seed"] == self.seed]
        [self.link] = [row for row in result.links if row["seed"] == self.seed and row["link"] == self.bottleneck]

    def series(self, column: str, flows: Sequence[str] | None = None) -> Curves:
        """Follow a column of the traces over time: of every flow, or of the bottleneck."""
        axis = _axis(column)
        time = Axis("Time (s)", low=0.0, high=self.duration)
        if column in self._result.trace.columns:
            curves = self._of_flows(lambda flow: self._followed(column, "flow", flow["flow"]), flows)
        elif column in self._result.link_trace.columns:
            curves = (self._of_link(self._followed(column, "link", self.bottleneck)),)
        else:
            known = [*self._result.trace.columns, *self._result.link_trace.columns]
            raise ArgumentError(f"column: no `{column}` in the traces, which have {', '.join(dict.fromkeys(known))}")
        scaled = tuple(Curve(c.label, c.x, c.y * axis.scale, c.colour, c.dash) for c in curves)
        return Curves(axis.title, time, axis, scaled, self.warmup)

    def goodput(self, interval: float | None = None, flows: Sequence[str] | None = None) -> Curves:
        """Average the goodput of every flow over intervals."""
        step = self._interval(interval)
        curves = self._of_flows(lambda flow: self._goodput(flow, step, 1e-6), flows)
        rule = () if np.isnan(self.link["rate_bps"]) else (Rule(self.link["rate_bps"] / 1e6, "rate of the bottleneck"),)
        axis = Axis("Goodput (Mbit/s)", 1e-6, low=0.0)
        return Curves("Goodput", Axis("Time (s)", low=0.0, high=self.duration), axis, curves, self.warmup, rule)

    def utilisation(self, interval: float | None = None) -> Curves:
        """Average the share of the bottleneck's rate that was carried."""
        step = self._interval(interval)
        at, carried = self._samples("carried_bytes", "link", self.bottleneck)
        times, rates = _rises(at, carried, step, self.duration)
        curve = self._of_link((times, rates * 8 / self.link["rate_bps"]))
        axis = Axis("Utilisation", low=0.0, high=1.05)
        return Curves("Utilisation", Axis("Time (s)", low=0.0, high=self.duration), axis, (curve,), self.warmup)

    def fairness(self, interval: float = 1.0) -> Curves:
        """Compute Jain's index of all flows' goodputs in every interval."""
        step = self._interval(interval)
        series = [self._goodput(flow, step) for flow in self.flows]
        index = [metrics.jain(shares) for shares in np.array([rates for _, rates in series]).T]
        values = np.array([np.nan if value is None else value for value in index])
        curve = Curve("Jain's index", series[0][0], values, self.colour)
        axis = Axis("Jain's index", low=0.0, high=1.05)
        rules = (Rule(1 / len(self.flows), "one flow has everything"),)
        return Curves("Fairness", Axis("Time (s)", low=0.0, high=self.duration), axis, (curve,), self.warmup, rules)

    def phase(self, flows: tuple[str, str] | None = None, interval: float | None = None) -> Phase:
        """Set the goodput of one flow against that of another."""
        one, other = self._pair() if flows is None else (self._flow(name) for name in flows)
        step = self._interval(interval)
        (_, x), (_, y) = (self._goodput(flow, step, 1e-6) for flow in (one, other))
        rate = float(self.link["rate_bps"]) * one["payload_bytes"] / one["packet_bytes"] / 1e6
        full = None if np.isnan(rate) else rate
        largest = max(full or 0.0, float(x.max(initial=0.0)), float(y.max(initial=0.0))) or 1.0
        horizontal, vertical = (
            Axis(f"Goodput of {flow['flow']} (Mbit/s)", 1e-6, low=0.0, high=1.02 * largest) for flow in (one, other)
        )
        return Phase(horizontal, vertical, Curve("", x, y, self.colour), largest, full)

    def cdf(self, column: str, flows: Sequence[str] | None = None) -> Curves:
        """Sort what a column had at the sampled instants after the warm-up."""
        found = self.goodput(flows=flows) if column == "goodput_bps" else self.series(column, flows)
        curves = tuple(_sorted(c, c.y[(c.x >= self.warmup) & np.isfinite(c.y)]) for c in found.curves)
        if all(len(curve.x) == 0 for curve in curves):
            raise ArgumentError(f"column: `{column}` has no numbers after the warm-up")
        x = Axis(found.y.title, found.y.scale)
        return Curves(
            f"Distribution of {_word(column)}", x, Axis("Share of samples", low=0.0, high=1.0), curves, steps=True
        )

    @property
    def colour(self) -> str:
        """The colour of the whole run: that of its first flow."""
        return colour(self.flows[0]["algorithm"]) if self.flows else MUTED

    def _of_flows(
        self, values: Callable[[dict[str, Any]], tuple[Numbers, Numbers]], names: Sequence[str] | None
    ) -> tuple[Curve, ...]:
        chosen = self._few() if names is None else [self._flow(name) for name in names]
        mixed = len({flow["algorithm"] for flow in self.flows}) > 1
        curves = []
        for flow in chosen:
            algorithm = flow["algorithm"]
            label = f"{flow['flow']} · {algorithm}" if mixed and algorithm not in flow["flow"] else flow["flow"]
            alike = [other["flow"] for other in chosen if other["algorithm"] == algorithm]
            dash = DASHES[alike.index(flow["flow"]) % len(DASHES)]
            curves.append(Curve(label, *values(flow), colour(algorithm), dash))
        return tuple(curves)

    def _of_link(self, values: tuple[Numbers, Numbers]) -> Curve:
        return Curve(self.bottleneck, *values, self.colour)

    def _few(self) -> list[dict[str, Any]]:
        """Choose flows to draw: the same number of each algorithm, as many as can be told apart."""
        each = max(MAX_FLOWS // max(len({flow["algorithm"] for flow in self.flows}), 1), 1)
        taken: dict[str, int] = {}
        chosen = []
        for flow in self.flows:
            taken[flow["algorithm"]] = taken.get(flow["algorithm"], 0) + 1
            if taken[flow["algorithm"]] <= each:
                chosen.append(flow)
        return chosen

    def _flow(self, name: str) -> dict[str, Any]:
        for flow in self.flows:
            if flow["flow"] == name:
                return flow
        known = ", ".join(f"`{flow['flow']}`" for flow in self.flows)
        raise ArgumentError(f"flows: no `{name}`, expected some of {known}")

    def _pair(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Take the first flow and the first of another algorithm, or the first two."""
        if len(self.flows) < 2:
            raise ArgumentError("flows: a phase plane has two of them, and the run has one")
        others = [flow for flow in self.flows if flow["algorithm"] != self.flows[0]["algorithm"]]
        return self.flows[0], (others or self.flows[1:])[0]

    def _interval(self, asked: float | None) -> float:
        """Average over what was asked for; else not finer than a round trip, than samples, or than can be seen."""
        at, _ = self._samples("carried_bytes", "link", self.bottleneck)
        finest = float(np.diff(at).max(initial=0.0))
        if asked is None:
            longest = max((float(flow["base_rtt_s"]) for flow in self.flows), default=0.0)
            return max(SHORT_INTERVAL, longest, finest, self.duration / MAX_INTERVALS)
        if not finest * (1 - 1e-9) <= asked <= self.duration:
            raise ArgumentError(f"interval: expected {finest:g} to {self.duration:g} seconds, got {asked:g}")
        return asked

    def _goodput(self, flow: dict[str, Any], step: float, scale: float = 1.0) -> tuple[Numbers, Numbers]:
        at, delivered = self._samples("delivered_packets", "flow", flow["flow"])
        times, rates = _rises(at, delivered, step, self.duration)
        return times, rates * (8 * flow["payload_bytes"] * scale)

    def _followed(self, column: str, key: str, name: str) -> tuple[Numbers, Numbers]:
        at, values = self._samples(column, key, name)
        return at, np.where(np.isfinite(values), values, np.nan)  # an infinite threshold has no place on an axis

    def _samples(self, column: str, key: str, name: str) -> tuple[Numbers, Numbers]:
        table: Table = self._result.trace if key == "flow" else self._result.link_trace
        if table[column].dtype == object:
            raise ArgumentError(f"column: `{column}` is text")
        chosen = (table["seed"] == self.seed) & (table[key] == name)
        return table["time_ns"][chosen] / 1e9, table[column][chosen].astype(np.float64)


def pooled(comparison: Comparison, column: str, seed: int | None = None) -> Curves:
    """Draw the distribution of a column for every row of a comparison, all its flows together."""
    curves = []
    for index, (row, label) in enumerate(zip(comparison.rows, _labels(comparison), strict=True)):
        run = Run(row.result, seed)
        found = run.cdf(column, [flow["flow"] for flow in run.flows])
        together = np.concatenate([curve.x for curve in found.curves])
        blank = Curve(label, together, together, colour(row.algorithm), DASHES[index % len(DASHES)])
        curves.append(_sorted(blank, together))
    return Curves(found.title, found.x, found.y, tuple(curves), steps=True)


def trade_off(comparison: Comparison) -> tuple[Interval, ...]:
    """Set utilisation against the 95th percentile of queueing delay, ms (RFC 7928 section 4)."""
    return tuple(
        Interval(
            label,
            label,
            colour(row.algorithm),
            _ends(row["queue_delay_p95_s"], 1e3, np.inf),
            _ends(row["utilisation"], 1.0, 1.0),
        )
        for row, label in zip(comparison.rows, _labels(comparison), strict=True)
        if "queue_delay_p95_s" in row and "utilisation" in row
    )


def trade_off_axes(points: Sequence[Interval]) -> tuple[Axis, Axis]:
    """Title and bound the axes of :func:`trade_off`, so that differences below a per cent do not look large."""
    low = min(max(min((point.y[1] for point in points), default=1.0) - 0.02, 0.0), 0.9)
    right = 1.05 * max((point.x[2] for point in points), default=1.0)
    return (
        Axis("95th percentile of queueing delay (ms)", low=0.0, high=right),
        Axis("Utilisation", low=low, high=1 + 0.04 * (1 - low)),
    )


def shares(comparison: Comparison) -> tuple[Interval, ...]:
    """List the goodput of every flow of every row, Mbit/s."""
    return tuple(
        Interval(str(position + 1), label, colour(row.algorithm), _ends(goodput, 1e-6, np.inf))
        for row, label in zip(comparison.rows, _labels(comparison), strict=True)
        for position, goodput in enumerate(row.flow_goodput_bps[:MAX_FLOWS])
    )


def averaged(right: Sequence[Any], up: Sequence[Any], numbers: Sequence[Any], /, **about: Any) -> Grid:
    """Average the numbers of each cell; along the axes numbers are put in order, text is left as it comes."""
    across, down = _order(right), _order(up)
    cells: dict[tuple[int, int], list[float]] = {}
    for at_x, at_y, number in zip(right, up, numbers, strict=True):
        if number is not None and np.isfinite(number):
            cells.setdefault((down.index(at_y), across.index(at_x)), []).append(float(number))
    values = np.full((len(down), len(across)), np.nan)
    for place, found in cells.items():
        values[place] = np.mean(found)
    return Grid(across, down, values, **about)


def grids(
    result: SweepResult, measure: str, x: str | None, y: str | None, where: Mapping[str, object] | None
) -> tuple[Grid, ...]:
    """Average a measure of a sweep over seeds, for two of its keys: a grid for every combination of the others."""
    table = result.table
    known = [*result.keys, "seed"]
    measures = [name for name in table.columns if name not in {*known, "cell", "error"} and table[name].dtype != object]
    if measure not in measures:
        raise ArgumentError(f"measure: no `{measure}`, expected one of {', '.join(measures)}")
    columns = {key: [_set(value) for value in table[key].tolist()] for key in known}
    for key in [*(where or {}), *(name for name in (x, y) if name is not None)]:
        if key not in columns:
            raise ArgumentError(f"no key `{key}` in this sweep, expected one of {', '.join(known)}")
    rows = np.ones(len(table), dtype=bool)
    for key, value in (where or {}).items():
        rows &= np.array([found == value for found in columns[key]])
        if not rows.any():
            raise ArgumentError(f"where: no cells with `{key}` at {value!r}; it has {_list(columns[key])}")
    chosen = np.flatnonzero(rows)
    columns = {key: [values[row] for row in chosen] for key, values in columns.items()}
    varied = [key for key in result.keys if len(_order(columns[key])) > 1]
    x = x or next((key for key in reversed(varied) if key != y), result.keys[-1])
    y = y or next((key for key in reversed(varied) if key != x), "seed")
    others = [key for key in varied if key not in (x, y)]
    axis = _axis(measure)
    title = axis.title if axis.title != measure else measure.replace("_", " ").capitalize()
    numbers = (table[measure][chosen] * axis.scale).tolist()
    settings = [tuple(columns[key][row] for key in others) for row in range(len(chosen))]
    found = []
    for setting in dict.fromkeys(settings):
        own = [row for row, other in enumerate(settings) if other == setting]
        places = ([values[row] for row in own] for values in (columns[x], columns[y], numbers))
        found.append(averaged(*places, x=x, y=y, title=title, setting=dict(zip(others, setting, strict=True))))
    return tuple(found)


def only(found: tuple[Grid, ...]) -> Grid:
    """Take the one grid there is; several differ in keys that belong into `where`."""
    if len(found) > 1:
        values = {key: [grid.setting[key] for grid in found] for key in found[0].setting}
        missing = "; ".join(f"`{key}`, which has {_list(own)}" for key, own in values.items())
        raise ArgumentError(f"where: give a value of {missing}")
    return found[0]


def shown(value: Any) -> str:
    """Write a value of a key as an axis has it; none where the base's value stays."""
    return "base" if value is None else f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _set(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _list(values: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in _order(values))


def _order(values: Sequence[Any]) -> list[Any]:
    found = list(dict.fromkeys(values))
    return sorted(found) if all(isinstance(value, (int, float)) for value in found) else found


def _labels(comparison: Comparison) -> list[str]:
    """Name the rows; an algorithm that is there twice has its place in front."""
    names = [row.algorithm for row in comparison.rows]
    return [f"{place}. {name}" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]


def _ends(estimate: Estimate, scale: float, most: float) -> tuple[float, float, float]:
    low, high = max(estimate.low, 0.0), min(estimate.high, most)
    return scale * estimate.mean, scale * low, scale * high


def _rises(at: Numbers, counts: Numbers, step: float, end: float) -> tuple[Numbers, Numbers]:
    """Find by how much a count rose per second in every whole interval; times are their middles."""
    edges = np.arange(int(end / step + 1e-9) + 1, dtype=np.float64) * step
    rates: Numbers = np.asarray(np.diff(np.interp(edges, at, counts)) / step, dtype=np.float64)
    return edges[:-1] + step / 2, rates


def _sorted(curve: Curve, values: Numbers) -> Curve:
    share = np.arange(1, len(values) + 1) / max(len(values), 1)
    return Curve(curve.label, np.sort(values), share, curve.colour, curve.dash)


def _word(column: str) -> str:
    return _axis(column).title.split(" (", maxsplit=1)[0].lower()


def _axis(column: str) -> Axis:
    """Title a column by its name, which ends in its unit; internals of algorithms have none."""
    if column in TITLES:
        return Axis(*TITLES[column])
    for ending, (unit, scale) in UNITS.items():
        if column.endswith(ending):
            return Axis(f"{column.removesuffix(ending).replace('_', ' ').capitalize()} ({unit})", scale)
    return Axis(column)


UNITS = {
    "_packets_per_s": ("packets/s", 1.0),
    "_packets": ("packets", 1.0),
    "_bytes": ("bytes", 1.0),
    "_bps": ("Mbit/s", 1e-6),
    "_ns": ("s", 1e-9),
    "_s": ("ms", 1e3),
}
TITLES = {
    "jain": ("Jain's index", 1.0),
    "queue_delay_mean_s": ("Mean queueing delay (ms)", 1e3),
    "queue_delay_p95_s": ("95th percentile of queueing delay (ms)", 1e3),
    "queue_delay_p99_s": ("99th percentile of queueing delay (ms)", 1e3),
    "srtt_s": ("Round-trip time (ms)", 1e3),
    "timeouts": ("Time-outs", 1.0),
}

MAX_FLOWS = 8
"""More lines than this in one plot cannot be told apart."""
SHORT_INTERVAL = 0.2
"""The interval of the short-term measures, seconds."""
MAX_INTERVALS = 800
"""More points than this along an axis cannot be seen."""
