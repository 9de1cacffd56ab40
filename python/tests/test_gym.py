"""Environments for learners: the interfaces' own checkers, determinism, and the physics seen through them."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import cwnd
import cwnd.gym
from cwnd.gym._options import DEFAULTS

PATH: dict[str, Any] = {"rate": "12mbit", "rtt": "100ms", "queue": 1.0, "loss": 0.0}


def walk(env: cwnd.gym.BottleneckVectorEnv, seed: int, steps: int) -> np.ndarray[Any, Any]:
    """Take actions that depend on what is seen, and note all of that."""
    observations, _ = env.reset(seed=seed)
    seen: list[np.ndarray[Any, Any]] = [observations]
    for _ in range(steps):
        observations, rewards, _, truncated, _ = env.step(0.3 - observations[:, 1:2] - observations[:, 3:4])
        seen += [observations, rewards[:, None], truncated[:, None]]
    return np.concatenate([np.asarray(part, np.float64).ravel() for part in seen])


def test_gymnasium_finds_nothing_wrong() -> None:
    env = gymnasium.make("cwnd/Bottleneck-v0", steps=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_env(env.unwrapped)


def test_pettingzoo_finds_nothing_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        parallel_api_test(cwnd.gym.SharedBottleneckEnv(3, steps=20), num_cycles=100)
        parallel_seed_test(lambda: cwnd.gym.SharedBottleneckEnv(2, steps=20), num_cycles=50)


def test_equal_seeds_are_equal_episodes() -> None:
    first = walk(cwnd.gym.BottleneckVectorEnv(5, steps=30), 7, 70)
    assert np.all(np.isfinite(first))
    np.testing.assert_array_equal(first, walk(cwnd.gym.BottleneckVectorEnv(5, steps=30), 7, 70))
    assert not np.array_equal(first, walk(cwnd.gym.BottleneckVectorEnv(5, steps=30), 8, 70))


def test_one_of_many_is_one() -> None:
    many = gymnasium.make_vec("cwnd/Bottleneck-v0", num_envs=4, vectorization_mode="vector_entry_point", steps=25)
    single = cwnd.gym.BottleneckEnv(steps=25)
    rows, _ = many.reset(seed=10)
    row, _ = single.reset(seed=13)
    np.testing.assert_array_equal(rows[3], row)
    for _ in range(25):
        rows, rewards, _, ended, infos = many.step(np.full((4, 1), 0.1, np.float32))
        row, reward, _, truncated, info = single.step([0.1])
        np.testing.assert_array_equal(rows[3], row)
        assert (rewards[3], ended[3]) == (np.float32(reward), truncated)
    assert infos["cwnd"]["episode"]["reward"][3] == info["cwnd"]["episode"]["reward"]
    # The step after is the first of the next episode.
    rows, rewards, _, ended, _ = many.step(np.ones((4, 1), np.float32))
    row, _ = single.reset()
    np.testing.assert_array_equal(rows[3], row)
    assert not rewards.any()
    assert not ended.any()


def test_memory_is_not_copied() -> None:
    env = cwnd.gym.BottleneckVectorEnv(2, copy=False, **PATH)
    first, _ = env.reset(seed=1)
    second, *_ = env.step(np.zeros((2, 1), np.float32))
    assert np.shares_memory(first, second)
    del env
    assert np.all(np.isfinite(second)), "the array keeps the memory"
    kept, _ = cwnd.gym.BottleneckVectorEnv(2, **PATH).reset(seed=1)
    assert kept.flags.owndata


def test_a_window_of_one_product_fills_the_path() -> None:
    # 12 Mbit/s and 100 ms are 100 packets of 1500 bytes; the first window has 10.
    env = cwnd.gym.BottleneckEnv(gain=9.0, **PATH)
    env.reset(seed=1)
    env.step([1.0])
    for _ in range(30):
        observation, reward, *_ = env.step([0.0])
    seen = dict(zip(cwnd.gym.FEATURES, observation.tolist(), strict=True))
    assert reward == pytest.approx(1.0, abs=0.05)
    assert seen["window"] == pytest.approx(0.0, abs=0.1)
    assert seen["delay"] < 0.1
    assert seen["loss"] == 0.0


def test_algorithms_are_measured_like_learners() -> None:
    reno = cwnd.gym.evaluate("reno", episodes=4, seed=1, **PATH)
    still = cwnd.gym.evaluate(lambda seen: np.zeros((len(seen), 1)), episodes=4, seed=1, **PATH)
    assert reno.goodput > 0.9
    assert reno.delay > 1.2
    # Ten packets of a hundred, alone.
    assert still.goodput == pytest.approx(0.1, abs=0.02)
    assert still.delay == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("known", cwnd.algorithms(), ids=lambda known: known.name)
def test_every_algorithm_scores_what_it_delivers_alone(known: cwnd.AlgorithmInfo) -> None:
    path = cwnd.Scenario.dumbbell(known.name, rate="20mbit", rtt="40ms", duration="20s", warmup="0s", seeds=1)
    path["variation"] = {"rtt": 0, "jitter": 0, "start": "0s"}
    evaluate = partial(cwnd.gym.evaluate, known.name, episodes=1, steps=1_000_000, scenario=path)
    if known.transport != "acked":
        with pytest.raises(cwnd.ArgumentError, match="acknowledgements of every packet"):
            evaluate()
        return
    # An episode is measured from the end of its first step, which takes the slowest algorithm two seconds.
    env = cwnd.gym.BottleneckEnv(scenario=path, action=("over", known.name))
    begin = env.reset()[1]["cwnd"]["time"]
    path["warmup"] = f"{begin}s"
    alone = float(cwnd.run(path).flows["goodput_bps"][0]) / (20e6 * 1460 / 1500)
    # The sender counts a packet half a round trip after the receiver, and a flow of another seed draws other numbers.
    assert evaluate().goodput == pytest.approx(alone, abs=0.01)


def test_flows_of_a_scenario_arrive_when_it_says() -> None:
    scenario = cwnd.Scenario.dumbbell(["reno", "reno", "cubic"], rate="12mbit", rtt="40ms", duration="20s", warmup="0s")
    scenario["flow.1.start"] = "5s"
    env = cwnd.gym.SharedBottleneckEnv([0, 1], scenario=scenario, rate=None, rtt=None, queue=None, loss=None)
    observations, _ = env.reset(seed=1)
    rewards, waited = {"flow_1": 0.0}, 0
    while not observations["flow_1"].any():
        assert rewards["flow_1"] == 0.0
        observations, rewards, *_ = env.step({})
        waited += 1
    assert waited > 20


def test_what_is_refused() -> None:
    with pytest.raises(cwnd.ArgumentError, match="gain must be above 0"):
        cwnd.gym.BottleneckEnv(gain=0.0)
    with pytest.raises(cwnd.ArgumentError, match="rate: "):
        cwnd.gym.BottleneckEnv(rate="fast")
    with pytest.raises(cwnd.ArgumentError, match="agents: there is no flow 3"):
        cwnd.gym.BottleneckEnv(agents=[3], scenario=cwnd.Scenario.dumbbell("reno"))
    with pytest.raises(cwnd.ArgumentError, match="algorithm: `udt` cannot steer here"):
        cwnd.gym.BottleneckEnv(algorithm="udt")
    with pytest.raises(cwnd.AlgorithmError, match="did you mean `reno`"):
        cwnd.gym.BottleneckEnv(algorithm="rneo")
    with pytest.raises(cwnd.ArgumentError, match="num_envs: expected a whole number from 1 to 65536, got 0"):
        cwnd.gym.BottleneckVectorEnv(0)
    with pytest.raises(cwnd.ArgumentError, match="reward: expected"):
        cwnd.gym.BottleneckEnv(reward="praise")
    with pytest.raises(cwnd.ArgumentError, match="agents: one flow is steered here"):
        cwnd.gym.BottleneckEnv(agents=2)


def test_docs_state_the_defaults() -> None:
    expected = {
        name: str(value) if value is None else repr(value).replace("'", '"') for name, value in DEFAULTS.items()
    }
    text = (Path(__file__).parents[1] / "docs" / "gym.md").read_text(encoding="utf-8")
    table = text.partition("| option | default | meaning |")[2].partition("\n\n")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", table, re.MULTILINE)) == expected
    said = dict(re.findall(r"^    (\w+) : .*, default (.*)$", cwnd.gym.BottleneckEnv.__doc__ or "", re.MULTILINE))
    assert said == expected


def test_a_scenario_keeps_its_path_unless_an_option_changes_it() -> None:
    scenario = cwnd.Scenario.dumbbell("reno", rate="7mbit", rtt="33ms", queue="droptail:17p", loss=0.03, duration="9s")
    env = cwnd.gym.BottleneckEnv(scenario=scenario)
    own = {"rate": 7e6, "rtt": pytest.approx(0.033), "queue": 17, "loss": 0.03}
    assert env.reset(seed=1)[1]["cwnd"]["path"] == own
    assert env.reset(seed=1, options={"rate": "3.5mbit"})[1]["cwnd"]["path"] == {**own, "rate": 3.5e6, "queue": 9}
    late = cwnd.gym.BottleneckEnv()
    late.reset(seed=1)
    assert late.reset(seed=1, options={"scenario": scenario})[1]["cwnd"]["path"] == own
    # It lasts 9 s, not 400 steps.
    truncated = False
    while not truncated:
        *_, truncated, info = late.step([0.0])
    assert info["cwnd"]["time"] == pytest.approx(9.0)


def test_a_drawn_network_runs_again() -> None:
    many = cwnd.gym.BottleneckVectorEnv(3, steps=4, loss=(0.0, 0.02), algorithm="reno")
    _, infos = many.reset(seed=1)
    first = infos["cwnd"]["seed"].copy()
    for _ in range(5):
        *_, infos = many.step(np.zeros((3, 1)))
    assert infos["cwnd"]["_seed"].all()
    assert not (infos["cwnd"]["seed"] == first).any()
    path = {name: float(values[1]) for name, values in infos["cwnd"]["path"].items() if not name.startswith("_")}
    scenario = cwnd.Scenario.dumbbell(
        "reno",
        rate=f"{path['rate']:.0f}bit",
        rtt=f"{path['rtt']:.9f}s",
        queue=f"droptail:{path['queue']:.0f}p",
        loss=path["loss"],
        duration="10s",
        warmup="0s",
        seeds=1,
    )
    scenario["first_seed"] = int(infos["cwnd"]["seed"][1])
    again = cwnd.gym.BottleneckEnv(scenario=scenario)
    assert again.reset(seed=1)[1]["cwnd"]["path"] == pytest.approx(path)
    assert cwnd.run(scenario).flows["goodput_bps"][0] > 0


def test_a_late_flow_is_measured_from_its_start() -> None:
    scenario = cwnd.Scenario.dumbbell("reno", rate="12mbit", rtt="40ms", duration="20s", warmup="0s")
    scenario["flow.0.start"] = "10s"
    score = cwnd.gym.evaluate("reno", episodes=1, scenario=scenario, steps=10**6)
    assert score.goodput > 0.9


def test_what_is_wrong_is_named() -> None:
    def nothing(*_: object) -> None:
        return None

    with pytest.raises(cwnd.ArgumentError, match=r"rate must be .* first value 40000000 is above its last, 4000000"):
        cwnd.gym.BottleneckEnv(rate=("40mbit", "4mbit"))
    with pytest.raises(cwnd.ArgumentError, match=r'"linear" has 3 weights \(goodput, delay, loss\), got 2'):
        cwnd.gym.BottleneckEnv(reward=("linear", (1.0, 2.0)))
    with pytest.raises(cwnd.ArgumentError, match=r'"power" has 2 weights \(loss, margin\), got 1'):
        cwnd.gym.BottleneckEnv(reward=("power", (1.0,)))
    for count in (1, 3):
        env = cwnd.gym.BottleneckVectorEnv(count, reward=nothing)
        env.reset(seed=1)
        with pytest.raises(cwnd.ArgumentError, match="reward: the function returned None"):
            env.step(np.zeros((count, 1)))
        own: Any = (nothing, gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32))
        with pytest.raises(cwnd.ArgumentError, match="observation: the function returned None"):
            cwnd.gym.BottleneckVectorEnv(count, observation=own).reset(seed=1)
    with pytest.raises(cwnd.ArgumentError, match="gain must be above 0"):
        cwnd.gym.algorithm(lambda seen: seen[:, :1], gain=-1)
    with pytest.raises(cwnd.ArgumentError, match="num_envs: there is no such option, expected `episodes`"):
        cwnd.gym.evaluate("reno", num_envs=2)  # type: ignore[call-arg]


def test_the_example_trains() -> None:
    example = Path(__file__).parents[1] / "examples" / "train.py"
    tiny = ["--generations", "1", "--episodes", "2", "--paths", "1", "--seeds", "1"]
    shown = subprocess.run([sys.executable, str(example), *tiny], check=True, capture_output=True, text=True).stdout
    assert "generation  1" in shown
    first = [line.split()[0] for line in shown.splitlines() if line]
    assert first[-7:-3] == ["learner", "reno", "cubic", "vegas"]
    assert [line.split()[3] for line in shown.splitlines()[-2:]] == ["learner", "cubic"]
