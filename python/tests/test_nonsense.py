"""Every argument of every public function, with values that mean nothing: accepted, or an error that names it."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cwnd
import cwnd.gym
from cwnd.gym._options import DEFAULTS

SHORT: dict[str, Any] = {"rate": "2mbit", "rtt": "20ms", "duration": "1s", "seeds": 1}
BASE = cwnd.Scenario.dumbbell("reno", **SHORT)
TEXT = BASE.to_toml()
SWEEP = cwnd.Sweep(BASE)
RUNS: list[float] = [1.0, 2.0, 4.0]
# Every function of the package and its modules, and what people build, each with arguments that it accepts.
CASES: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "cwnd.Control": (cwnd.Control, {"window": 1.0}),
    "cwnd.Scenario": (lambda document: cwnd.Scenario(document).check(), {"document": {}}),
    "cwnd.Scenario.dumbbell": (
        lambda **given: cwnd.Scenario.dumbbell(**given).check(),
        {"algorithms": "reno", **SHORT},
    ),
    "cwnd.Scenario.from_text": (cwnd.Scenario.from_text, {"text": TEXT}),
    "cwnd.Scenario.from_toml": (cwnd.Scenario.from_toml, {"path": "base.toml"}),
    "cwnd.Sweep": (cwnd.Sweep, {"base": BASE}),
    "cwnd.Sweep.chunks": (SWEEP.chunks, {}),
    "cwnd.Sweep.from_text": (cwnd.Sweep.from_text, {"text": SWEEP.to_toml()}),
    "cwnd.Sweep.from_toml": (cwnd.Sweep.from_toml, {"path": "sweep.toml"}),
    "cwnd.algorithm": (cwnd.algorithm, {"name": "reno"}),
    "cwnd.algorithms": (cwnd.algorithms, {}),
    "cwnd.compare": (cwnd.compare, {"algorithms": ["reno"], "flows": 1, **SHORT}),
    "cwnd.conform": (cwnd.conform, {"algorithm": "reno", "checks": ["5681-halve"]}),
    "cwnd.evaluate": (cwnd.evaluate, {"algorithm": "reno"}),
    "cwnd.falsify": (cwnd.falsify, {"algorithm": "reno", "property": "progress", "evaluations": 1, "seeds": 1}),
    "cwnd.overlay": (lambda *, paths, **given: cwnd.overlay(paths, **given), {"paths": "base.toml"}),
    "cwnd.paper": (cwnd.paper, {"name": "newaimd", "result": "table-1"}),
    "cwnd.papers": (cwnd.papers, {}),
    "cwnd.run": (cwnd.run, {"scenario": BASE}),
    "cwnd.sweep": (cwnd.sweep, {"sweep": SWEEP, "store": False, "progress": False}),
    "cwnd.model.axioms": (cwnd.model.axioms, {"algorithm": "reno"}),
    "cwnd.model.convergence": (cwnd.model.convergence, {"algorithms": ["reno"]}),
    "cwnd.model.response": (cwnd.model.response, {"algorithms": ["reno"]}),
    "cwnd.model.rounds": (cwnd.model.rounds, {"algorithms": ["reno"], "rounds": 100}),
    "cwnd.model.udt": (cwnd.model.udt, {}),
    "cwnd.metrics.coefficient_of_variation": (cwnd.metrics.coefficient_of_variation, {"values": RUNS}),
    "cwnd.metrics.estimate": (cwnd.metrics.estimate, {"values": RUNS}),
    "cwnd.metrics.jain": (cwnd.metrics.jain, {"shares": RUNS}),
    "cwnd.metrics.kendall": (cwnd.metrics.kendall, {"one": RUNS, "other": RUNS}),
    "cwnd.metrics.max_min": (cwnd.metrics.max_min, {"capacity": [1.0], "routes": [[0]]}),
    "cwnd.metrics.relative_range": (cwnd.metrics.relative_range, {"shares": RUNS}),
    "cwnd.metrics.spearman": (cwnd.metrics.spearman, {"one": RUNS, "other": RUNS}),
    "cwnd.metrics.stability_index": (cwnd.metrics.stability_index, {"series": [RUNS]}),
    "cwnd.statistics.bca": (cwnd.statistics.bca, {"samples": RUNS, "statistic": "mean"}),
    "cwnd.statistics.mser5": (cwnd.statistics.mser5, {"series": RUNS}),
    "cwnd.statistics.paired": (cwnd.statistics.paired, {"a": RUNS, "b": RUNS[::-1]}),
    "cwnd.statistics.t_interval": (cwnd.statistics.t_interval, {"samples": RUNS}),
    "cwnd.gym.BottleneckEnv": (cwnd.gym.BottleneckEnv, {}),
    "cwnd.gym.BottleneckVectorEnv": (cwnd.gym.BottleneckVectorEnv, {}),
    "cwnd.gym.SharedBottleneckEnv": (cwnd.gym.SharedBottleneckEnv, {}),
    "cwnd.gym.algorithm": (
        lambda **given: cwnd.Scenario.dumbbell(cwnd.gym.algorithm(**given), **SHORT).check(),
        {"policy": lambda rows: rows[:, :1]},
    ),
    "cwnd.gym.evaluate": (cwnd.gym.evaluate, {"policy": "reno", "episodes": 1, "steps": 5, "rate": "4mbit"}),
    "cwnd.plot.colour": (cwnd.plot.colour, {"algorithm": "reno"}),
    "cwnd.plot.heatmap": (
        cwnd.plot.heatmap,
        {"rows": {"a": [1], "b": [1], "c": [1.0]}, "x": "a", "y": "b", "value": "c"},
    ),
}
NONSENSE: list[Any] = [
    *(
        None,
        True,
        -1,
        0,
        10**30,
        1.5,
        math.nan,
        math.inf,
        "",
        "é",
        "1e30",
        "-1",
        b"x",
        [],
        ["x"],
        [None],
        [math.nan],
        {},
    ),
    *({1: 2}, object(), (1, 2), (1, 2, 3), math),
]
# What a scenario calls these, and where the error shows the line of the text instead.
CALLED = {"flows": "count", "algorithms": "algorithm", "document": "scenario:", "text": ":"}


def works_long(name: str, parameter: str, value: object) -> bool:
    """Say where an accepted value has runs of many seconds, or a connection tried."""
    runs = name in {"cwnd.evaluate", "cwnd.paper"} and (value is None or isinstance(value, bool))
    return runs or (parameter in {"client", "store"} and isinstance(value, str))


def public() -> Iterator[str]:
    """Name every function of the package and of its modules, and what people build."""
    built = {"Control", "Scenario", "Sweep", "BottleneckEnv", "BottleneckVectorEnv", "SharedBottleneckEnv"}
    for name in ("cwnd", "cwnd.model", "cwnd.metrics", "cwnd.statistics", "cwnd.gym", "cwnd.plot"):
        module = importlib.import_module(name)
        for word in module.__all__:
            if word in built or inspect.isfunction(getattr(module, word)):
                yield f"{name}.{word}"


def parameters(name: str) -> list[str]:
    """Name the parameters of a function, those of a network where it passes them on."""
    found: Any = cwnd
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    own = inspect.signature(found).parameters.values()
    names = [one.name for one in own if one.kind is not one.VAR_KEYWORD and one.name != "self"]
    if name == "cwnd.gym.evaluate":
        names += [one for one in DEFAULTS if one not in names]
    return names


def test_every_public_function_is_among_the_cases() -> None:
    assert set(public()) <= set(CASES)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:More than 20 figures")
def test_nonsense_is_accepted_or_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base.toml").write_text(TEXT)
    (tmp_path / "sweep.toml").write_text(SWEEP.to_toml())
    monkeypatch.chdir(tmp_path)
    function, given = CASES[name]
    for parameter in parameters(name):
        for value in NONSENSE:
            if works_long(name, parameter, value):
                continue
            try:
                function(**{**given, parameter: value})
            except cwnd.CwndError as error:
                said = str(error)
                assert parameter in said or CALLED.get(parameter, parameter) in said, f"{parameter}={value!r}: {said}"


def relatives(value: object) -> Iterator[object]:
    """Give what NumPy and pandas have for a value."""
    if isinstance(value, bool):
        yield np.bool_(value)
    elif isinstance(value, int):
        yield from (np.int64(value), np.uint8(value), np.array(value))
    elif isinstance(value, float):
        yield from (np.float64(value), np.float32(value), np.array(value))
    elif isinstance(value, str):
        yield np.str_(value)
    elif isinstance(value, (list, tuple)) and value and not isinstance(value[0], (list, tuple)):
        yield from (np.array(value), pd.Series(value))
        if all(isinstance(one, int) for one in value):
            yield np.arange(value[0], value[0] + len(value))


# What is of no use to give by itself, or works long.
ALONE: dict[str, dict[str, Any]] = {
    "cwnd.run": {"seed": 3},
    "cwnd.compare": {"loss": 0.125, "versus": "reno", "paired": True, "max_seeds": 3, "until": "ci<2%"},
    "cwnd.conform": {"suites": ["rfc5681"], "hystart": True},
    "cwnd.Scenario.dumbbell": {"loss": 0.125, "flows": 2, "algorithms": ["reno", "cubic"], "start": 1},
    "cwnd.Sweep": {"seeds": 2},
    "cwnd.model.response": {"loss": [0.125, 0.25], "random": 2},
    "cwnd.model.convergence": {"capacity": 100, "start": (10, 40), "epsilon": 1.0},
    "cwnd.model.rounds": {"capacity": 100.0, "start": (35, 60), "events": 2, "steps": 2, "loss": 0.0, "seed": 2},
    "cwnd.model.udt": {"loss": [0.125], "flows": 3, "delays": ["10ms"]},
    "cwnd.statistics.bca": {"confidence": 0.75},
    "cwnd.statistics.paired": {"confidence": 0.75},
    "cwnd.statistics.t_interval": {"confidence": 0.75},
    "cwnd.gym.BottleneckEnv": {
        **{"queue": (0.5, 2.0), "loss": 0.125, "gain": 0.5, "packets": 5, "steps": 4, "agents": 1},
        "rate": ("4mbit", "8mbit"),
    },
    "cwnd.gym.BottleneckVectorEnv": {"num_envs": 2, "queue": 1.0, "copy": True},
    "cwnd.gym.SharedBottleneckEnv": {"agents": [0, 1], "loss": (0.0, 0.125)},
    "cwnd.gym.evaluate": {"seed": 3},
}


@pytest.mark.parametrize("name", sorted({*CASES} - {"cwnd.evaluate", "cwnd.paper"}))
def test_numpy_is_taken_wherever_a_number_or_a_list_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base.toml").write_text(TEXT)
    (tmp_path / "sweep.toml").write_text(SWEEP.to_toml())
    monkeypatch.chdir(tmp_path)
    function, given = CASES[name]
    given = {**given, **{key: value for key, value in ALONE.get(name, {}).items() if key != "start" or "model" in name}}
    for parameter, value in given.items():
        for relative in relatives(value):
            function(**{**given, parameter: relative})


def test_numpy_is_what_it_stands_for() -> None:
    plain = cwnd.Scenario.dumbbell(["reno", "simd"], **SHORT, loss=0.1)
    names: Any = np.array(["reno", "simd"])
    ours = cwnd.Scenario.dumbbell(names, **{**SHORT, "seeds": np.int64(1), "loss": np.float32(0.1)})
    assert ours == plain
    assert ours.to_toml() == plain.to_toml()
    ours["flow.0.count"], plain["flow.0.count"] = np.uint16(3), 3
    ours["flow.0.start"], plain["flow.0.start"] = pd.Timedelta("500ms"), "500000000ns"
    ours["flow.1.start"], plain["flow.1.start"] = np.timedelta64(2, "ms"), "2000000ns"
    assert ours.to_toml() == plain.to_toml()
    ours.check()
    counts: list[Any] = [np.arange(1, 4), pd.Series([1, 2, 3]), range(1, 4), [np.int8(1), 2, 3], pl.Series([1, 2, 3])]
    swept = {cwnd.Sweep(BASE, grid={"flow.0.count": count}).to_toml() for count in counts}
    assert len(swept) == 1
    losses: list[Any] = [np.array([0.1, 0.2], np.float32), [0.1, 0.2], pd.Series([0.1, 0.2])]
    assert len({cwnd.Sweep(BASE, grid={"dumbbell.loss": loss}).to_toml() for loss in losses}) == 1
    cells = [{"flow.0.count": 1, "dumbbell.rtt": "10ms"}, {"flow.0.count": 2, "dumbbell.rtt": "20ms"}]
    frames: list[Any] = [cells, pd.DataFrame(cells), pl.DataFrame(cells)]
    assert len({cwnd.Sweep(BASE, cells=frame).to_toml() for frame in frames}) == 1
    assert cwnd.metrics.jain(pd.Series(RUNS)) == cwnd.metrics.jain(RUNS)
