"""Bad arguments: every error is one of cwnd's, and names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cwnd
import cwnd.gym

SHORT: dict[str, Any] = {"rate": "2mbit", "rtt": "20ms", "duration": "2s", "seeds": 1}
BASE = cwnd.Scenario.dumbbell("reno", rate="2mbit", rtt="20ms", duration="2s", seeds=1)


def compare(**given: Any) -> object:
    return cwnd.compare(**{"algorithms": ["reno"], **SHORT, **given})


def response(**given: Any) -> object:
    return cwnd.model.response(**{"algorithms": ["reno"], **given})


def convergence(**given: Any) -> object:
    return cwnd.model.convergence(**{"algorithms": ["reno"], **given})


def rounds(**given: Any) -> object:
    return cwnd.model.rounds(**{"algorithms": ["reno"], **given})


def udt(**given: Any) -> object:
    return cwnd.model.udt(**given)


def axioms(**given: Any) -> object:
    return cwnd.model.axioms(**given)


def run(**given: Any) -> object:
    return cwnd.run(**{"scenario": BASE, **given})


def evaluate(**given: Any) -> object:
    return cwnd.evaluate(**{"algorithm": "reno", "quick": True, **given})


def max_min(**given: Any) -> object:
    return cwnd.metrics.max_min(**{"capacity": [1.0], "routes": [[0]], **given})


def paper(**given: Any) -> object:
    return cwnd.paper(**{"name": "newaimd", "result": "table-1", **given})


def sweep(**given: Any) -> object:
    return cwnd.sweep(**{"sweep": cwnd.Sweep(BASE), "store": False, **given})


def dumbbell(**given: Any) -> object:
    return cwnd.Scenario.dumbbell("reno", **given).complete()


def env(**given: Any) -> object:
    return cwnd.gym.BottleneckEnv(**given)


BAD: list[tuple[Callable[..., object], str, list[Any]]] = [
    (compare, "algorithms", ["reno", 3, [], [3], ["rneo"], ["aimd:b=2"]]),
    (compare, "versus", ["rneo", 3]),
    (compare, "seeds", [-1, 0, 1.5, "5", True, 10**30]),
    (compare, "flows", [-1, 0, None, "2", 10**9]),
    (compare, "rate", [100, "100", "0mbit", "-5mbit"]),
    (compare, "rtt", [50, "-1ms"]),
    (compare, "queue", [1, "fifo", "red:1bdp,min=0.5,max=0.2"]),
    (compare, "loss", ["a", math.nan, 2, [0.1]]),
    (compare, "ecn", [True, "always"]),
    (compare, "recovery", [1, "renoo"]),
    (compare, "slow_start", [1, "fast"]),
    (compare, "host", [1, "tsoo", "gro=0s"]),
    (compare, "era", [2001, "modren"]),
    (compare, "duration", [3, "0s"]),
    (compare, "warmup", [1, "9s"]),
    (compare, "until", [2, "2%"]),
    (compare, "max_seeds", [5]),
    (compare, "memory", [10**9, "half", "0B", "1mbit"]),
    (compare, "paired", [1]),
    (response, "algorithms", ["reno", [], ["rneo"]]),
    (response, "loss", ["a", 0.1, ["a"], [2], [], [None]]),
    (response, "rtt", [1, "1us"]),
    (response, "packet", [1500, "4GB"]),
    (response, "random", [-1, 1.5, 10**6]),
    (convergence, "capacity", ["a", math.inf, 0]),
    (convergence, "start", [5, (1, 2, 3), (80, 90)]),
    (convergence, "epsilon", [None, 0]),
    (rounds, "algorithms", [["vegas"], ["xcp"]]),
    (rounds, "flow_rtt", ["50ms", ["50ms"], [50, 50]]),
    (rounds, "events", [0, 1.0]),
    (rounds, "loss", [2, "a"]),
    (rounds, "seed", [-1, 2**64]),
    (udt, "capacity", [1e9, "1e30gbit"]),
    (udt, "packet", ["4GB"]),
    (udt, "flows", [0]),
    (udt, "delays", ["1s", [1]]),
    (axioms, "algorithm", ["xcp", "vegas", "dctcp", "tfrc", "rneo", 3]),
    (run, "scenario", [3, None, "reno"]),
    (run, "seed", [-1, 1.5, "1", 2**63]),
    (run, "memory", [1, "half"]),
    (evaluate, "algorithm", ["rneo", 3]),
    (evaluate, "profile", ["rfc", 3]),
    (evaluate, "store", [False, 3]),
    (evaluate, "seeds", [0, "5"]),
    (evaluate, "quick", [1, None]),
    (evaluate, "memory", [1, "half"]),
    (max_min, "routes", [[[1]], [[-1]], [[0.5]], [0], None, [["a"]]]),
    (max_min, "capacity", [[-1.0], [math.nan], ["a"]]),
    (max_min, "demands", [[1.0, 2.0], [-1.0], ["a"]]),
    (paper, "name", [3, "simmd"]),
    (paper, "result", [3, "table-9"]),
    (paper, "assumptions", [3, {1: 2}, {"hold": "abc"}, {"floor": "abc"}]),
    (paper, "store", [3]),
    (paper, "full", ["yes"]),
    (paper, "memory", [1, "half"]),
    (sweep, "sweep", [3, None]),
    (sweep, "chunk", [10, "10"]),
    (sweep, "shard", [3, "9/3"]),
    (sweep, "out", [3]),
    (sweep, "store", [3]),
    (sweep, "format", [3, "xml"]),
    (sweep, "memory", [1, "half"]),
    (dumbbell, "seeds", [-1, "two"]),
    (dumbbell, "flows", [-1, 0]),
    (env, "scenario", [3]),
    (env, "agents", [-1, 0, 1.5, [-1], ["a"], 2]),
    (env, "rate", [100, ("1mbit",), (1, 2), "fast"]),
    (env, "queue", ["a", (1, 2, 3), math.nan, 0.0]),
    (env, "loss", [2.0, "a"]),
    (env, "gain", [math.nan, "a", 0.0]),
    (env, "packets", [0, 1.5]),
    (env, "steps", [0, -1]),
    (env, "reward", [3, "praise", ("linear", 3), ("linear", (1.0,))]),
    (env, "algorithm", [3, "rneo", "udt"]),
    (env, "render_mode", ["human"]),
]


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [(function, argument, value) for function, argument, values in BAD for value in values],
)
def test_an_error_names_the_argument(function: Callable[..., object], argument: str, value: object) -> None:
    with pytest.raises(cwnd.CwndError) as raised:
        function(**{argument: value})
    # A scenario calls flows of a group its `count`.
    called = "count" if (function, argument) == (dumbbell, "flows") else argument
    assert called in str(raised.value)


def test_messages() -> None:
    with pytest.raises(cwnd.ArgumentError, match=r'^algorithms: expected a list of algorithms such as \["reno"\], got'):
        cwnd.compare("reno")
    with pytest.raises(cwnd.ArgumentError, match=r"^seeds: expected a whole number from 1 to 100000, got -1$"):
        cwnd.compare(["reno"], seeds=-1)
    with pytest.raises(cwnd.ArgumentError, match=r'^rate: expected text such as "100mbit", got 100$'):
        cwnd.compare(["reno"], rate=100)  # type: ignore[arg-type]
    with pytest.raises(cwnd.ArgumentError, match=r"^loss: expected a list of numbers, got 'a'$"):
        cwnd.model.response(["reno"], loss="a")  # type: ignore[arg-type]
    with pytest.raises(cwnd.ArgumentError, match=r"^routes: expected a whole number from 0 to 0, got 1$"):
        cwnd.metrics.max_min([1.0], [[1]])
    with pytest.raises(cwnd.ArgumentError, match=r"^store: expected a path, got False$"):
        cwnd.evaluate("reno", store=False)  # type: ignore[arg-type]
    with pytest.raises(cwnd.ArgumentError, match=r"^max_seeds: nothing adds seeds without `until`$"):
        cwnd.compare(["reno"], max_seeds=5)
    with pytest.raises(cwnd.ArgumentError, match=r"^max_seeds: expected a whole number from 5 to 100000, got 3$"):
        cwnd.compare(["reno"], until="ci<2%", max_seeds=3)
    with pytest.raises(cwnd.ScenarioError, match=r"^variation.rtt: expected text, a finite number"):
        cwnd.Scenario({"variation": {"rtt": math.nan}}).check()


def test_the_default_warm_up_follows_the_duration() -> None:
    assert cwnd.compare(["reno"], **SHORT).document["warmup_s"] == 1.0
    assert BASE.complete()["warmup"] == "1s"


def test_runs_use_the_memory_they_may() -> None:
    link = {"delay": "10ms"}
    endless = cwnd.Scenario(
        {
            "duration": "60s",
            "warmup": "0s",
            "variation": {"rtt": 0.0},
            "link": [{"from": "a", "to": "b", **link}, {"from": "b", "to": "a", **link}],
            "flow": [{"name": "greedy", "algorithm": "reno", "from": "a", "to": "b"}],
        }
    )
    needs = pytest.raises(cwnd.SimulationError, match=r"^link `a-b`: .* the 50000000 bytes of memory .*\(`memory`\)$")
    with needs:
        cwnd.run(endless, seed=1, memory="50MB")
    endless["flow.0.algorithm"] = Doubling
    with needs:
        cwnd.run(endless, seed=1, memory="50MB")
    endless["flow.0.algorithm"] = "reno"
    swept = cwnd.sweep(cwnd.Sweep(endless, seeds=1), store=False, memory="50MB")
    assert "bytes of memory" in swept.failed[0].error
    with pytest.raises(cwnd.ArgumentError, match=r"^memory: the workers of a cluster"):
        cwnd.sweep(cwnd.Sweep(BASE), store=False, memory="50MB", client="tcp://127.0.0.1:1")


class Doubling(cwnd.WindowRule):
    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2


@pytest.mark.parametrize("action", [None, math.nan, [math.inf], "left", [0.0, 0.0], [[0.0]], [], {}])
def test_an_environment_refuses_what_is_no_action(action: Any) -> None:
    single = cwnd.gym.BottleneckEnv(steps=5)
    single.reset(seed=1)
    with pytest.raises(cwnd.ArgumentError, match=r"^action: expected "):
        single.step(action)
    many = cwnd.gym.BottleneckVectorEnv(3, steps=5)
    many.reset(seed=1)
    with pytest.raises(cwnd.ArgumentError, match=r"^actions: expected "):
        many.step(action)
    shared = cwnd.gym.SharedBottleneckEnv(2, steps=5)
    shared.reset(seed=1)
    with pytest.raises(cwnd.ArgumentError, match=r"^actions\['flow_1'\]: expected "):
        shared.step({"flow_1": action})
    # Nothing of this has changed the episode.
    fresh = cwnd.gym.BottleneckEnv(steps=5)
    fresh.reset(seed=1)
    np.testing.assert_array_equal(single.step(0.5)[0], fresh.step([0.5])[0])


def test_an_environment_has_an_episode_only_after_a_reset() -> None:
    no_episode = pytest.raises(cwnd.SimulationError, match=r"call reset\(\) first")
    single = cwnd.gym.BottleneckEnv(steps=1)
    with no_episode:
        single.step([0.0])
    single.reset(seed=1)
    assert single.step([0.0])[3]
    with no_episode:
        single.step([0.0])
    with no_episode:
        cwnd.gym.BottleneckVectorEnv(2).step(np.zeros((2, 1)))
    with no_episode:
        cwnd.gym.SharedBottleneckEnv(2).step({})
    with pytest.raises(cwnd.ArgumentError, match=r"^seed: "):
        single.reset(seed=-1)
    shared = cwnd.gym.SharedBottleneckEnv(2)
    shared.reset(seed=1)
    with pytest.raises(cwnd.ArgumentError, match=r"^actions: unknown agent 'flow_9', expected flow_0, flow_1$"):
        shared.step({"flow_9": 0.0})
