"""Papers, closed forms and metrics."""

import copy
import itertools
import pickle
from collections.abc import Callable
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np
import polars as pl
import pytest

import cwnd


def test_papers_are_listed_and_run() -> None:
    by_name = {paper.name: paper for paper in cwnd.papers()}
    assert set(by_name) == {"daimd", "simd", "exptcp", "newaimd", "aiad", "bbr3", "starvation", "l4s-tests"}
    rows = cwnd.paper("simd", by_name["simd"].results[0].name)
    assert len(rows) > 0
    assert sum(rows.counts.values()) == len(rows)
    assert pl.DataFrame(list(rows), strict=False).height == len(rows)
    assert rows[:1][0] == rows[0]
    with pytest.raises(cwnd.ArgumentError, match="did you mean `simd`"):
        cwnd.paper("simmd")


def test_the_response_of_reno_is_known() -> None:
    rows = cwnd.model.response(["reno", "vegas"], loss=[1e-4, 1e-2])
    # sqrt(3/(2p)).
    assert [row.window_packets for row in rows[:2]] == pytest.approx([122.47, 12.247], rel=1e-3)
    assert rows[2].kind == "not defined"
    assert pl.DataFrame(rows).height == 4


def test_rounds_of_reno_halve_the_gap() -> None:
    [walk] = cwnd.model.rounds(["reno"], capacity=100, start=[10, 40], events=3)
    gaps = [abs(event.before_packets[1] - event.before_packets[0]) for event in walk.events]
    assert gaps == pytest.approx([30.0, 15.0, 7.5], abs=0.1)
    assert {"time_ns", "window_packets"} <= set(walk.trace.columns)


def test_udt_needs_its_window_on_long_paths() -> None:
    found = cwnd.model.udt("1gbit", delays=["1s"])
    [row] = found.delays
    assert row.loss < 0.1 * row.loss_by_rate_alone
    assert [stage.stage for stage in found.stages] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "call",
    [
        "rounds(['reno'], capacity=1e9, start=[1, 2], rounds=1_000_000, steps=4096)",
        "rounds([Reno], capacity=1e9, start=[1, 2], rounds=1_000_000, steps=4096)",
        "response(['reno'], loss=[1e-7], random=2)",
        "response([Reno], loss=[1e-7], random=2)",
        "convergence([Reno], capacity=1e9, start=(1, 2))",
    ],
)
def test_ctrl_c_ends_models(call: str, ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c(f"cwnd.model.{call}")


def test_what_a_rule_raises_in_a_model_ends_it_at_once() -> None:
    class Fails(cwnd.WindowRule):
        def grow(self, w: float, view: cwnd.View) -> float:
            raise LookupError("no growth")

        def cut(self, w: float, view: cwnd.View) -> float:
            return w / 2

    with pytest.raises(LookupError, match="no growth"):
        cwnd.model.rounds([Fails], capacity=1e9, start=[1, 2], rounds=1_000_000, steps=4096)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"capacity": 0.0}, "capacity: expected a number of packets"),
        ({"start": [60, 60]}, "add up to more"),
        ({"rtt": "1us"}, "rtt: expected a time from 1ms"),
        ({"flow_rtt": ["1s"]}, "flow_rtt: expected 2 times"),
        ({"steps": 0}, "steps: expected a whole number from 1 to 4096"),
        ({"algorithms": ["xcp"]}, "algorithms: `xcp` is not defined under synchronous feedback"),
        ({"algorithms": []}, "at least one"),
    ],
)
def test_arguments_of_models_are_checked(given: dict[str, object], message: str) -> None:
    arguments = {"algorithms": ["reno"], **given}
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.model.rounds(**arguments)  # type: ignore[arg-type]


def test_metrics_take_arrays_and_lists() -> None:
    assert cwnd.metrics.jain(np.array([1.0, 1.0, 0.0])) == pytest.approx(2 / 3)
    assert cwnd.metrics.jain([]) is None
    assert cwnd.metrics.relative_range([2, 4, 6]) == 1.0
    # Two bottlenecks (Bertsekas and Gallager, section 6.5.2): the flow that asks for less leaves the rest to the other.
    assert cwnd.metrics.max_min([10.0], [[0], [0]], [3.0, None]).tolist() == [3.0, 7.0]
    found = cwnd.metrics.estimate([1, 2, 3, 4, 5])
    assert found is not None
    # Student's t with 4 degrees of freedom: 2.776 sqrt(2.5 / 5).
    assert (found.mean, found.n) == (3.0, 5)
    assert found.ci95 == pytest.approx(1.963, abs=5e-4)


@pytest.mark.parametrize("wrong", [[[1.0], [2.0]], "x", [None, "a"]])
def test_metrics_refuse_what_is_not_a_list_of_numbers(wrong: object) -> None:
    with pytest.raises(cwnd.ArgumentError, match="shares: expected"):
        cwnd.metrics.jain(wrong)  # type: ignore[arg-type]


def test_routes_and_demands_belong_together() -> None:
    with pytest.raises(cwnd.ArgumentError, match="one per route"):
        cwnd.metrics.max_min([1.0], [[0]], [1.0, 2.0])
    with pytest.raises(cwnd.ArgumentError, match="routes: expected a whole number from 0 to 0, got -1"):
        cwnd.metrics.max_min([1.0], [[-1]])


# Of every measure: how it is made of a list of numbers, and between which values it lies.
MEASURES: dict[str, tuple[Callable[[list[float]], Any], float, float]] = {
    "coefficient_of_variation": (cwnd.metrics.coefficient_of_variation, 0.0, inf),
    "estimate": (lambda values: getattr(cwnd.metrics.estimate(values), "mean", None), -inf, inf),
    "jain": (cwnd.metrics.jain, 0.0, 1.0),
    "kendall": (lambda values: cwnd.metrics.kendall(values, values[::-1]), -1.0, 1.0),
    "max_min": (lambda values: max(cwnd.metrics.max_min(values, [[at] for at in range(len(values))])), 0.0, inf),
    "relative_range": (cwnd.metrics.relative_range, 0.0, inf),
    "spearman": (lambda values: cwnd.metrics.spearman(values, values[::-1]), -1.0, 1.0),
    "stability_index": (lambda values: cwnd.metrics.stability_index([values]), 0.0, inf),
}
ODD = [-inf, -1e308, -1.0, -5e-324, 0.0, 5e-324, 1e-200, 1.0, 3.0, 1e200, 1.7e308, inf, nan]


@pytest.mark.parametrize("name", cwnd.metrics.__all__)
def test_a_measure_is_none_or_in_its_range(name: str) -> None:
    measure, least, most = MEASURES[name]
    for values in itertools.chain.from_iterable(itertools.product(ODD, repeat=count) for count in range(1, 4)):
        given = list(values)
        try:
            found = measure(given)
        except cwnd.ArgumentError:
            assert name == "max_min", given
            assert not min(given) >= 0 or any(map(isnan, given)), given
            continue
        if found is None:
            continue
        assert least <= found <= most * (1 + 1e-12), f"{given}: {found}"
        assert name in ("max_min", "kendall", "spearman") or isfinite(found), f"{given}: {found}"
        if name in ("jain", "relative_range", "stability_index"):
            assert all(value >= 0 and isfinite(value) for value in given), f"{given}: {found}"
        if name in ("coefficient_of_variation", "estimate"):
            assert all(map(isfinite, given)), f"{given}: {found}"
        assert not any(map(isnan, given)), f"{given}: {found}"


@pytest.mark.parametrize("name", ["coefficient_of_variation", "jain", "relative_range", "stability_index"])
def test_a_measure_of_shares_knows_no_unit(name: str) -> None:
    measure, _, _ = MEASURES[name]
    expected = measure([1.0, 2.0, 4.5])
    for unit in (1e-300, 1e-160, 1e-3, 1e160, 3e307):
        assert measure([unit, 2 * unit, 4.5 * unit]) == pytest.approx(expected, rel=1e-9)


def test_measures_of_nothing_are_none() -> None:
    nothing: list[float] = []
    for name in set(MEASURES) - {"max_min"}:
        assert MEASURES[name][0](nothing) is None, name
    assert cwnd.metrics.max_min([], []).tolist() == []


@pytest.mark.parametrize(
    "call",
    [
        "cwnd.paper(full=True)",
        "cwnd.conform('bbr3', seeds=1000)",
        "cwnd.compare(['reno', 'cubic'], rate='1gbit', duration='10000s')",
        "cwnd.sweep(cwnd.Sweep(cwnd.Scenario.dumbbell(rate='1gbit', duration='10000s')), store=False)",
        "__import__('cwnd.gym').gym.evaluate('reno', episodes=2000, steps=10**6)",
    ],
)
def test_ctrl_c_ends_everything(call: str, ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c(call)


def test_models_name_what_has_no_effect() -> None:
    response = cwnd.model.response(["dctcp", "reno"], packet="9000B")
    assert [warning.split(":")[0] for warning in response.warnings] == ["`packet` has no effect on dctcp"]
    [given] = cwnd.model.convergence(["aimd:ecn_beta=0.7"]).warnings
    assert given.startswith("aimd:ecn_beta=0.7: `ecn_beta=0.7` has no effect")
    walks = cwnd.model.rounds(["reno"], rtt="50ms", seed=3)
    assert [warning.split(":")[0] for warning in walks.warnings] == [
        "`rtt` has no effect on reno",
        "`seed` has no effect on reno",
    ]
    assert "nothing is drawn" in walks._repr_html_()
    assert cwnd.model.axioms("aimd:ecn_beta=0.7").warnings != []
    for rows in (cwnd.model.response(["reno"]), cwnd.model.convergence(["reno"]), cwnd.model.axioms("reno")):
        assert rows.warnings == []
    copies = [copy.copy(walks), copy.deepcopy(walks), pickle.loads(pickle.dumps(walks))]
    assert [copied.warnings for copied in copies] == [walks.warnings] * 3
