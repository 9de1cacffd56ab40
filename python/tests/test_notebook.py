"""What every result is in a notebook and in other people's hands: shown, contained, copied and pickled."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import polars as pl
import pytest

import cwnd
import cwnd.gym

SHORT: dict[str, Any] = {"rate": "4mbit", "rtt": "20ms", "duration": "3s", "warmup": "1s", "seeds": 2}
EVIL = "_$^$<script>alert('&')</script>"


class Named(cwnd.WindowRule):
    """Reno by a name that is no good HTML, and that matplotlib would read and leave out."""

    name = EVIL

    def grow(self, w: float, view: cwnd.View) -> float:
        return 1 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2


class Seen(Named):
    """Keeps what it was shown."""

    name = ""
    shown: dict[str, Any] = {}  # noqa: RUF012

    def start(self, start: cwnd.Start) -> None:
        self.shown["Start"] = start

    def observe(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        if view.rtt is not None:
            self.shown.update(View=view, Ack=ack, Rtt=view.rtt, Remote=ack.remote)


class Sampled(cwnd.CongestionControl):
    def control(self) -> float:
        return 20.0

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        if ack.sample is not None:
            Seen.shown["RateSample"] = ack.sample

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
        Seen.shown["Congestion"] = event

    def wants_samples(self) -> bool:
        return True


def run() -> cwnd.RunResult:
    return cwnd.run(cwnd.Scenario.dumbbell([Named, "simd"], **SHORT))


def compare() -> cwnd.Comparison:
    return cwnd.compare([Named, "simd"], versus="reno", **SHORT)


def sweep() -> cwnd.SweepResult:
    base = cwnd.Scenario.dumbbell("reno", **SHORT)
    grid: dict[str, list[object]] = {"flow.0.algorithm": [Named, "simd"], "dumbbell.rtt": ["10ms", "20ms"]}
    return cwnd.sweep(cwnd.Sweep(base, grid=grid), store=False)


def overlay() -> cwnd.Overlay:
    with TemporaryDirectory() as directory:
        scenario = Path(directory, "scenario.toml")
        scenario.write_text(cwnd.Scenario.dumbbell("reno", **SHORT).to_toml(), encoding="utf-8")
        return cwnd.overlay(scenario)


def shown(name: str) -> Any:
    if name not in Seen.shown:
        cwnd.run(cwnd.Scenario.dumbbell([Seen, Sampled], loss=0.05, **SHORT))
    return Seen.shown[name]


def falsify() -> cwnd.Findings:
    return cwnd.falsify("bbr", "starvation", profile="anything", search="random", evaluations=16, seeds=1, answers=1)


@cache
def made(name: str) -> Any:
    return MADE[name]()


# What algorithms are shown.
SHOWN = [f"cwnd.{name}" for name in ("Start", "View", "Rtt", "Ack", "Remote", "RateSample", "Congestion")]
# One of every public class that is a result, a record or an environment.
MADE: dict[str, Callable[[], Any]] = {
    "cwnd.AlgorithmInfo": lambda: cwnd.algorithm("reno"),
    "cwnd.Parameter": lambda: cwnd.algorithm("aimd").parameters[0],
    "cwnd.Comparison": compare,
    "cwnd.ComparisonRow": lambda: compare().rows[0],
    "cwnd.Conformance": lambda: cwnd.conform("reno", checks=["5681-halve"], seeds=1),
    "cwnd.ConformanceCheck": lambda: cwnd.conform("reno", checks=["5681-halve"], seeds=1).checks[0],
    "cwnd.Control": lambda: cwnd.Control(2.5, rate=3.0, quantum=3000, pair_every=16, wake=0.25),
    "cwnd.Estimate": lambda: cwnd.metrics.estimate([1.0, 2.0]),
    "cwnd.Estimates": lambda: run().estimates,
    "cwnd.Evaluation": lambda: cwnd.evaluate("reno", quick=True, seeds=1),
    "cwnd.EvaluationRow": lambda: made("cwnd.Evaluation").sections[1].rows[0],
    "cwnd.EvaluationSection": lambda: made("cwnd.Evaluation").sections[0],
    "cwnd.Counterexample": lambda: falsify().counterexamples[0],
    "cwnd.FailedCell": lambda: cwnd.FailedCell(1, 2, {}, "no"),
    "cwnd.Field": lambda: run().flows.fields[0],
    "cwnd.Findings": falsify,
    "cwnd.OverlaidFlow": lambda: made("cwnd.Overlay").flows[0],
    "cwnd.Overlay": overlay,
    "cwnd.Paper": lambda: cwnd.papers()[0],
    "cwnd.PaperResult": lambda: cwnd.papers()[0].results[0],
    "cwnd.PaperRow": lambda: made("cwnd.PaperRows")[0],
    "cwnd.PaperRows": lambda: cwnd.paper("newaimd", "table-1"),
    "cwnd.Rows": cwnd.algorithms,
    "cwnd.RunResult": run,
    "cwnd.Scenario": lambda: cwnd.Scenario.dumbbell([Named, "simd"], **SHORT),
    "cwnd.Stationarity": lambda: compare().rows[0].stationarity,
    "cwnd.Sweep": lambda: cwnd.Sweep(cwnd.Scenario.dumbbell(**SHORT)),
    "cwnd.SweepPoint": lambda: sweep().points[0],
    "cwnd.SweepResult": sweep,
    "cwnd.Table": lambda: run().trace,
    "cwnd.Versus": lambda: compare().rows[1].versus,
    **{name: partial(shown, name.removeprefix("cwnd.")) for name in SHOWN},
    "cwnd.model.Axiom": lambda: cwnd.model.axioms("reno")[0],
    "cwnd.model.ConvergenceRow": lambda: cwnd.model.convergence(["reno"])[0],
    "cwnd.model.DelayRow": lambda: cwnd.model.udt().delays[0],
    "cwnd.model.EquilibriumRow": lambda: cwnd.model.udt().equilibria[0],
    "cwnd.model.PathRow": lambda: cwnd.model.rounds(["reno"], events=2)[0].events[0],
    "cwnd.model.ResponseRow": lambda: cwnd.model.response(["reno"])[0],
    "cwnd.model.ResponseRows": lambda: cwnd.model.response([Named, "simd"]),
    "cwnd.model.Stage": lambda: cwnd.model.udt().stages[0],
    "cwnd.model.UdtStages": cwnd.model.udt,
    "cwnd.model.Walk": lambda: cwnd.model.rounds(["reno"], events=2)[0],
    "cwnd.model.Walks": lambda: cwnd.model.rounds([Named, "simd"], events=2),
    "cwnd.gym.BottleneckEnv": lambda: cwnd.gym.BottleneckEnv(rate="4mbit", steps=np.int64(5)),
    "cwnd.gym.BottleneckVectorEnv": lambda: cwnd.gym.BottleneckVectorEnv(2, steps=5, copy=False),
    "cwnd.gym.SharedBottleneckEnv": lambda: cwnd.gym.SharedBottleneckEnv(2, steps=5),
    "cwnd.gym.Feature": lambda: next(iter(cwnd.gym.FEATURES.values())),
    "cwnd.gym.Path": lambda: cwnd.gym.Path(700.0, 0.02),
    "cwnd.gym.Step": lambda: cwnd.gym.Step(*map(float, range(11))),
    "cwnd.gym.Score": lambda: cwnd.gym.evaluate("reno", episodes=1, steps=5, rate="4mbit"),
    "cwnd.statistics.Interval": lambda: cwnd.statistics.t_interval([1.0, 2.0, 4.0]),
}
# What people subclass or what only works.
NOT_MADE = {"cwnd.CongestionControl", "cwnd.WindowRule", "cwnd.gym.Options"}
# What a notebook shows as a page, with a plot where there is something to draw.
PAGES = {
    "cwnd.Comparison": True,
    "cwnd.Conformance": True,
    "cwnd.Evaluation": True,
    "cwnd.Findings": False,
    "cwnd.Overlay": True,
    "cwnd.PaperRows": True,
    "cwnd.Rows": False,
    "cwnd.RunResult": True,
    "cwnd.SweepResult": True,
    "cwnd.Table": False,
    "cwnd.Estimates": False,
    "cwnd.ComparisonRow": False,
    "cwnd.SweepPoint": False,
    "cwnd.model.ResponseRows": True,
    "cwnd.model.UdtStages": False,
    "cwnd.model.Walks": True,
    "cwnd.gym.Score": False,
}
MODULES = ("cwnd", "cwnd.model", "cwnd.statistics", "cwnd.metrics", "cwnd.gym")


def classes() -> Iterable[str]:
    for name in MODULES:
        module = importlib.import_module(name)
        for word in module.__all__:
            found = getattr(module, word)
            if inspect.isclass(found) and not issubclass(found, BaseException):
                yield f"{name}.{word}"


def test_every_public_class_is_here() -> None:
    assert set(classes()) == set(MADE) | NOT_MADE


def test_every_container_has_a_page() -> None:
    shown = {
        name for name in MADE if isinstance(made(name), (cwnd.Table, cwnd.Rows)) or hasattr(made(name), "document")
    }
    assert shown - {"cwnd.Scenario"} <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_shows_it(name: str) -> None:
    html = made(name)._repr_html_()
    assert html.count("<table") == 1
    assert ("<img" in html) == PAGES[name]
    assert len(html) < 200_000
    # It needs nothing from elsewhere, and what others have written is text.
    assert "http" not in html
    assert "<script" not in html
    if name in {"cwnd.Comparison", "cwnd.RunResult", "cwnd.model.Walks"}:
        assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;" in html


def test_a_page_leaves_no_figure_open() -> None:
    from matplotlib import pyplot  # noqa: PLC0415

    pyplot.close("all")
    made("cwnd.RunResult")._repr_html_()
    assert pyplot.get_fignums() == []


def test_a_page_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install" in made("cwnd.RunResult")._repr_html_()


def test_a_figure_is_shown_once() -> None:
    from matplotlib import pyplot  # noqa: PLC0415

    figure: Any = made("cwnd.RunResult").plot()
    assert pyplot.fignum_exists(figure.number)
    # Asked by a notebook for the result of a cell.
    assert figure._repr_mimebundle_(include=None, exclude=None) is None
    assert not pyplot.fignum_exists(figure.number)
    copied = pickle.loads(pickle.dumps(figure))
    assert len(copied.axes) == len(figure.axes)
    pyplot.close("all")


@pytest.mark.parametrize("name", MADE)
def test_copies_and_pickles_are_equal(name: str) -> None:
    whole = made(name)
    copies = [copy.copy(whole), copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))]
    for copied in copies:
        assert type(copied) is type(whole)
        if isinstance(whole, (gymnasium.Env, gymnasium.vector.VectorEnv, cwnd.gym.SharedBottleneckEnv)):
            assert copied.reset(seed=3)[0] is not None
        elif name in [*SHOWN, "cwnd.Control"]:
            assert repr(copied) == repr(whole)
        else:
            assert copied == whole
        if hasattr(whole, "_repr_html_"):
            assert copied._repr_html_() == whole._repr_html_()


@pytest.mark.parametrize("name", MADE)
def test_a_container_is_whole(name: str) -> None:
    whole = made(name)
    if not hasattr(whole, "__getitem__") or isinstance(whole, tuple):
        return
    listed = list(whole)
    assert len(whole) == len(listed)
    if hasattr(whole, "items") and not isinstance(whole, cwnd.Table):
        assert listed == list(whole.keys())
        assert list(reversed(whole)) == listed[::-1]
        assert whole.get("no such name") is None
        assert all(key in whole and whole[key] is not None for key in listed)
        assert [key for key, _ in whole.items()] == listed
        assert "no such name" not in whole
        with pytest.raises(KeyError):
            whole["no such name"]
    else:
        assert str(list(reversed(whole))) == str(listed[::-1])
        assert str(whole[0]) == str(listed[0])
        assert str(list(whole[:2])) == str(listed[:2])
        with pytest.raises(IndexError):
            whole[len(listed)]


@pytest.mark.parametrize(
    "name",
    ["cwnd.Comparison", "cwnd.Evaluation", "cwnd.Overlay", "cwnd.RunResult", "cwnd.SweepResult", "cwnd.Table"],
)
def test_data_frames_are_made_of_them(name: str) -> None:
    whole = made(name)
    polars, pandas = pl.DataFrame(whole), whole.frame()
    assert list(pandas.columns) == polars.columns
    assert len(pandas) == len(polars)
    assert list(pd.DataFrame.from_arrow(whole).columns) == polars.columns
    if hasattr(whole, "items") and not isinstance(whole, cwnd.Table):
        # It would take the names alone.
        with pytest.raises(TypeError, match=r"`\.frame\(\)`"):
            pd.DataFrame(whole)
    else:
        assert pd.DataFrame(whole).shape == pandas.shape


@pytest.mark.parametrize("name", ["cwnd.Conformance", "cwnd.PaperRows", "cwnd.Rows", "cwnd.model.Walks"])
def test_records_are_frames(name: str) -> None:
    whole = made(name)
    records = whole.checks if isinstance(whole, cwnd.Conformance) else list(whole)
    frame = whole.frame()
    assert list(frame.columns) == [field.name for field in dataclasses.fields(records[0])]
    assert len(frame) == len(records)


def test_legends_have_names_as_they_are() -> None:
    from matplotlib import pyplot  # noqa: PLC0415

    runs, compared = made("cwnd.RunResult"), made("cwnd.Comparison")
    for axes in (runs.plot.goodput(), runs.plot.window(), compared.plot.trade_off()):
        axes.figure.draw_without_rendering()
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        assert sum(r"_\$^\$<script>" in name for name in names) == 1
    pyplot.close("all")


def test_what_algorithms_are_shown_is_pickled_with_all_that_is_there() -> None:
    for name in [*SHOWN, "cwnd.Control"]:
        whole = made(name)
        copied = pickle.loads(pickle.dumps(whole))
        fields = [field for field in dir(whole) if not field.startswith("_")]
        assert [repr(getattr(copied, field)) for field in fields] == [repr(getattr(whole, field)) for field in fields]
    assert made("cwnd.View").timeout >= 0.2
    assert repr(made("cwnd.Control")) == "Control(2.5, rate=3, quantum=3000, pair_every=16, wake=0.25)"


def local() -> Any:
    """Give a rule whose class and whose function are in no module."""

    class Local(Named):
        name = "local"

        def __init__(self) -> None:
            self.by: Callable[[float], float] = lambda w: 1 / w

        def grow(self, w: float, view: cwnd.View) -> float:
            return self.by(w)

    return Local()


def policy() -> Any:
    return cwnd.gym.algorithm(lambda rows: 0.4 - rows[:, 1:2] - 4 * rows[:, 3:4], name="careful")


LOCAL: dict[str, Callable[[Any], Any]] = {
    "run": lambda algorithm: cwnd.run(cwnd.Scenario.dumbbell(algorithm, **SHORT)),
    "compare": lambda algorithm: cwnd.compare([algorithm, "reno"], versus="cubic", **SHORT),
    "conform": lambda algorithm: cwnd.conform(algorithm, checks=["5681-halve"], seeds=1),
    "sweep": lambda algorithm: cwnd.sweep(
        cwnd.Sweep(cwnd.Scenario.dumbbell(algorithm, **SHORT), grid={"dumbbell.rtt": ["10ms"]}), store=False
    ),
}


@pytest.mark.parametrize("algorithm", [local, policy])
@pytest.mark.parametrize("name", LOCAL)
def test_results_of_what_no_module_has_are_pickled(
    name: str, algorithm: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = LOCAL[name](algorithm())
    copied = pickle.loads(pickle.dumps(whole))
    assert copied == whole
    assert copied.report(tmp_path / "copy.html").read_text() == whole.report(tmp_path / "whole.html").read_text()
    # Without the package that pickles by value, all is there that needs no further run.
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    bare = pickle.loads(pickle.dumps(whole))
    assert bare == whole
    assert str(bare) == str(whole)
    if name != "sweep":
        with pytest.raises(cwnd.SimulationError, match=r"cannot be run again.*algorithm: cannot pickle .*cloudpickle"):
            bare.report(tmp_path / "bare.html")


@pytest.mark.parametrize("algorithm", [local, policy])
def test_what_no_module_has_is_pickled_before_it_runs(
    algorithm: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = cwnd.Scenario.dumbbell(algorithm(), **SHORT)
    own = cwnd.Sweep(scenario, grid={"dumbbell.rtt": ["10ms"]})
    kept = pickle.dumps([scenario, own])
    again, own_again = pickle.loads(kept)
    assert cwnd.run(again) == cwnd.run(scenario)
    assert cwnd.sweep(own_again, store=False) == cwnd.sweep(own, store=False)
    # A copy shares the functions, and nothing that can be changed.
    for copied in (copy.copy(scenario), copy.deepcopy(scenario)):
        copied["duration"] = "7s"
        assert cwnd.Sweep(copied, cells=[{"duration": "3s"}]).points == 1
    assert scenario["duration"] == "3s"
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    for one in (scenario, own):
        with pytest.raises(pickle.PicklingError, match=r"algorithm: cannot pickle .*cloudpickle"):
            pickle.dumps(one)


@pytest.mark.parametrize("name", [name for name in MADE if name.endswith("Env")])
def test_environments_of_lambdas_are_pickled(name: str) -> None:
    kind: Any = getattr(cwnd.gym, name.removeprefix("cwnd.gym."))
    env = kind(reward=lambda step, path: step.delivered / path.capacity, steps=5)
    np.testing.assert_equal(pickle.loads(pickle.dumps(env)).reset(seed=1), env.reset(seed=1))
    gate = threading.Lock()
    with pytest.raises(pickle.PicklingError, match="reward: cannot pickle"):
        pickle.dumps(kind(reward=lambda *_: gate.locked(), steps=5))


def test_a_pickled_result_draws_and_reports(tmp_path: Path) -> None:
    whole = made("cwnd.RunResult")
    copied = pickle.loads(pickle.dumps(whole))
    assert copied.digests == whole.digests
    assert copied.trace == whole.trace
    assert copied.chart.goodput().to_dict() == whole.chart.goodput().to_dict()
    again = pickle.loads(pickle.dumps(copied))
    assert again.report(tmp_path / "run.html").read_text() == whole.report(tmp_path / "whole.html").read_text()
    row = pickle.loads(pickle.dumps(made("cwnd.Comparison")))["simd"]
    assert row.versus.result.chart.goodput() is not None
