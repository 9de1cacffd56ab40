"""The curves of plots as plain numbers, for any plotting library: of runs and comparisons, those of the reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cwnd import _native
from cwnd._table import Table
from cwnd.errors import ArgumentError

__all__ = [
    "Axis",
    "Curve",
    "Curves",
    "Grid",
    "Interval",
    "Phase",
    "Rule",
    "averaged",
    "grids",
    "of_comparison",
    "of_run",
    "only",
    "shares",
    "shown",
    "trade_off",
]

Numbers = npt.NDArray[np.float64]


def of_run(
    runs: _native.Runs,
    kind: str,
    seed: int | None,
    *,
    column: str | None = None,
    flows: Sequence[str] | None = None,
    interval: float | None = None,
) -> tuple[str, str]:
    """Ask for a plot of the run of a seed, the first if not given: its numbers and its Vega-Lite, both JSON."""
    names = None if flows is None else list(flows)
    return runs.plot(seed, {"kind": kind, "column": column, "flows": names, "interval": interval})


def of_comparison(compared: _native.Compared, kind: str, column: str = "", seed: int | None = None) -> tuple[str, str]:
    """Ask for a plot of a comparison: its numbers if it has lines, and its Vega-Lite, both JSON."""
    return compared.plot(kind, column, seed)


@dataclass(frozen=True)
class Axis:
    """A title with its unit, the factor to that unit, the ends if they are fixed, and whether it is logarithmic."""

    title: str
    scale: float = 1.0
    low: float | None = None
    high: float | None = None
    log: bool = False

    @staticmethod
    def of(loaded: dict[str, Any]) -> Axis:
        """Take the ends to the unit of the title."""
        scale = loaded["scale"]
        low, high = (None, None) if loaded["domain"] is None else (end * scale for end in loaded["domain"])
        return Axis(loaded["title"], scale, low, high)

    def scaled(self, values: list[float | None]) -> Numbers:
        """Take values to the unit of the title; none becomes ``nan``."""
        return np.array(values, dtype=np.float64) * self.scale


@dataclass(frozen=True)
class Curve:
    """A line, in the units of its axes."""

    label: str
    x: Numbers
    y: Numbers
    colour: str
    dash: tuple[int, ...]


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
    warmup: float
    rules: tuple[Rule, ...]
    steps: bool

    @staticmethod
    def of(numbers: str) -> Curves:
        """Read the numbers of a plot."""
        loaded = json.loads(numbers)
        x, y = Axis.of(loaded["x"]), Axis.of(loaded["y"])
        curves = tuple(
            Curve(line["name"], x.scaled(line["x"]), y.scaled(line["y"]), line["colour"], tuple(line["dash"]))
            for line in loaded["lines"]
        )
        rules = tuple(Rule(rule["at"] * y.scale, rule["name"]) for rule in loaded["rules"])
        return Curves(loaded["title"], x, y, curves, loaded["warmup"] * x.scale, rules, loaded["steps"])


@dataclass(frozen=True)
class Phase:
    """The goodput of one flow against that of another, Mbit/s.

    Their sum at a full bottleneck is `full`; max-min fair shares lead to `fair`.
    """

    x: Axis
    y: Axis
    first: Numbers
    second: Numbers
    colour: str
    full: float | None
    fair: tuple[float, float]

    @staticmethod
    def of(numbers: str) -> Phase:
        """Read the numbers of a plot."""
        loaded = json.loads(numbers)
        x, y = Axis.of(loaded["x"]), Axis.of(loaded["y"])
        first, second = x.scaled(loaded["first_bps"]), y.scaled(loaded["second_bps"])
        full = None if loaded["full_bps"] is None else loaded["full_bps"] * x.scale
        fair = (loaded["fair_bps"][0] * x.scale, loaded["fair_bps"][1] * y.scale)
        return Phase(x, y, first, second, loaded["colour"], full, fair)


@dataclass(frozen=True)
class Interval:
    """Means with the ends of their 95 % intervals, in the units of the axes."""

    label: str
    group: str
    colour: str
    x: tuple[float, float, float]
    y: tuple[float, float, float] = (0.0, 0.0, 0.0)


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

    def chart(self, limits: tuple[float, float] | None) -> str:
        """Write its Vega-Lite."""
        known = {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "across": [shown(value) for value in self.across],
            "down": [shown(value) for value in self.down],
            "values": [[value if np.isfinite(value) else None for value in row] for row in self.values.tolist()],
            "limits": limits,
        }
        return _native.heatmap(json.dumps(known))


def trade_off(compared: _native.Compared) -> tuple[tuple[Interval, ...], Axis, Axis]:
    """Set utilisation, %, against the mean queueing delay, ms (RFC 7928 section 4), on these axes."""
    rows, layer = _table(of_comparison(compared, "trade_off")[1])
    colours = _colours(layer)
    points = tuple(
        Interval(
            row["algorithm"],
            row["algorithm"],
            colours[row["algorithm"]],
            _ends(row, ("queue_delay_mean_s", "queue_delay_low_s", "queue_delay_high_s"), 1e3),
            _ends(row, ("utilisation", "utilisation_low", "utilisation_high"), 1e2),
        )
        for row in rows
    )
    (left, right), (low, high) = (layer["encoding"][channel]["scale"]["domain"] for channel in ("x", "y"))
    x, y = (layer["encoding"][channel]["title"] for channel in ("x", "y"))
    log = layer["encoding"]["x"]["scale"].get("type") == "log"
    return points, Axis(x, low=1e3 * left, high=1e3 * right, log=log), Axis(y, low=1e2 * low, high=1e2 * high)


def shares(compared: _native.Compared) -> tuple[Interval, ...]:
    """List the goodput of every flow of every row, Mbit/s."""
    rows, layer = _table(of_comparison(compared, "shares")[1])
    colours = _colours(layer)
    names = ("goodput_bps", "goodput_low_bps", "goodput_high_bps")
    return tuple(
        Interval(row["position"], row["algorithm"], colours[row["name"]], _ends(row, names, 1e-6)) for row in rows
    )


def _table(specification: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Find the rows that a specification draws, and its first layer."""
    loaded = json.loads(specification)
    return loaded["datasets"]["table"], loaded["layer"][0]


def _colours(layer: dict[str, Any]) -> dict[str, str]:
    scale = layer["encoding"]["color"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def _ends(row: dict[str, float], names: tuple[str, str, str], scale: float) -> tuple[float, float, float]:
    mean, low, high = (scale * row[name] for name in names)
    return mean, low, high


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
    table: Table,
    keys: Sequence[str],
    measure: str,
    *,
    x: str | None,
    y: str | None,
    where: Mapping[str, object] | None,
) -> tuple[Grid, ...]:
    """Average a measure of a sweep over seeds, for two of its keys: a grid for every combination of the others."""
    known = [*keys, "seed"]
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
    varied = [key for key in keys if len(_order(columns[key])) > 1]
    x = x or next((key for key in reversed(varied) if key != y), keys[-1])
    y = y or next((key for key in reversed(varied) if key != x), "seed")
    others = [key for key in varied if key not in (x, y)]
    title, scale = _native.axis(measure)
    title = title if title != measure else measure.replace("_", " ").capitalize()
    numbers = (table[measure][chosen] * scale).tolist()
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
