"""Environments below what others put around them, and policies in the place of algorithms."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, get_args, get_type_hints

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import vector as vector_wrappers
from pettingzoo.test import parallel_api_test

import cwnd
import cwnd.gym
from cwnd.gym._options import DEFAULTS

NAME = "cwnd/Bottleneck-v0"
OPTIONS: dict[str, Any] = {"steps": 12, "rate": "8mbit", "rtt": "20ms"}
TOTALS = ["goodput", "delay", "loss", "reward"]


def make(**options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(NAME, **{**OPTIONS, **options})


def clean() -> gymnasium.Env[Any, Any]:
    """Chain what CleanRL's ``ppo_continuous_action.py`` chains."""
    env: gymnasium.Env[Any, Any] = wrappers.FlattenObservation(make())
    env = wrappers.RecordEpisodeStatistics(env)
    env = wrappers.ClipAction(env)
    env = wrappers.NormalizeObservation(env)
    env = wrappers.TransformObservation(env, lambda seen: np.clip(seen, -10, 10), env.observation_space)
    env = wrappers.NormalizeReward(env, gamma=0.99)
    return wrappers.TransformReward(env, lambda reward: float(np.clip(float(reward), -10, 10)))


def through(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """Go through an episode; give the last info."""
    env.reset(seed=1)
    info: dict[str, Any] = {}
    for _ in range(1000):
        _, _, terminated, truncated, info = env.step(env.action_space.sample() * 0.0)
        if terminated or truncated:
            return info
    raise AssertionError("the episode does not end")


WRAPPED: dict[str, Callable[[], gymnasium.Env[Any, Any]]] = {
    "make": make,
    "RecordEpisodeStatistics": lambda: wrappers.RecordEpisodeStatistics(make()),
    "TimeLimit": lambda: wrappers.TimeLimit(make(), 5),
    "FrameStackObservation": lambda: wrappers.FrameStackObservation(make(), 4),
    "NormalizeObservation": lambda: wrappers.NormalizeObservation(make()),
    "RescaleAction": lambda: wrappers.RescaleAction(make(), np.float32(0.0), np.float32(1.0)),
    "CleanRL's chain": clean,
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wrappers_of_gymnasium_go_around_an_environment(name: str) -> None:
    info = through(WRAPPED[name]())
    assert info["cwnd"]["delivered"] >= 10
    if name != "TimeLimit":
        assert list(info["cwnd"]["episode"]) == TOTALS
    if name in {"RecordEpisodeStatistics", "CleanRL's chain"}:
        assert info["episode"]["l"] == 12
        assert info["episode"]["r"] == pytest.approx(info["cwnd"]["episode"]["reward"], rel=1e-4)


VECTORS: dict[str, Callable[[], Any]] = {
    "SyncVectorEnv": lambda: SyncVectorEnv([make, make]),
    "AsyncVectorEnv": lambda: AsyncVectorEnv([make, make], context="spawn"),
    "make_vec, sync": lambda: gymnasium.make_vec(NAME, 2, "sync", **OPTIONS),
    "make_vec, async": lambda: gymnasium.make_vec(NAME, 2, "async", **OPTIONS),
    "make_vec, its own": lambda: gymnasium.make_vec(NAME, 2, "vector_entry_point", **OPTIONS),
    "RecordEpisodeStatistics": lambda: vector_wrappers.RecordEpisodeStatistics(
        gymnasium.make_vec(NAME, 2, "vector_entry_point", **OPTIONS)
    ),
    "NormalizeReward": lambda: vector_wrappers.NormalizeReward(
        gymnasium.make_vec(NAME, 2, "vector_entry_point", **OPTIONS)
    ),
    "DictInfoToList": lambda: vector_wrappers.DictInfoToList(
        gymnasium.make_vec(NAME, 2, "vector_entry_point", **OPTIONS)
    ),
    "CleanRL's chain": lambda: SyncVectorEnv([clean, clean]),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_vectors_of_gymnasium_hold_environments(name: str) -> None:
    env = VECTORS[name]()
    try:
        rows, _ = env.reset(seed=[3, 4])
        again, _ = env.reset(seed=3)
        np.testing.assert_allclose(rows, again, atol=5)
        for _ in range(12):
            rows, _, _, ended, infos = env.step(np.zeros((2, 1), np.float32))
        assert ended.all()
        if name == "DictInfoToList":
            assert [info["cwnd"]["episode"]["goodput"] > 0 for info in infos] == [True, True]
        else:
            assert infos["cwnd"]["episode"]["goodput"].shape == (2,)
            assert infos["cwnd"]["_delivered"].all()
        if name in {"RecordEpisodeStatistics", "CleanRL's chain"}:
            assert list(infos["episode"]["l"]) == [12, 12]
    finally:
        env.close()


def test_own_vectors_and_gymnasiums_name_the_same_numbers() -> None:
    ours: Any = gymnasium.make_vec(NAME, 2, "vector_entry_point", **OPTIONS)
    theirs: Any = gymnasium.make_vec(NAME, 2, "sync", **OPTIONS)
    for env in (ours, theirs):
        env.reset(seed=[5, 9])
    for _ in range(13):
        found = [env.step(np.full((2, 1), 0.2, np.float32)) for env in (ours, theirs)]
        for one, other in zip(found[0][:4], found[1][:4], strict=True):
            np.testing.assert_array_equal(one, other)
        infos = [env["cwnd"] for *_, env in found]
        names = {*infos[0]} & {*infos[1]} - {"episode", "path"}
        assert {"delivered", "_delivered", "capacity"} <= names
        for name in names:
            np.testing.assert_array_equal(infos[0][name], infos[1][name])
    ours.close()
    theirs.close()


def test_the_checkers_find_nothing_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_env(make().unwrapped)
        check_env(make(action=("over", "cubic"), reward=reward, observation=OWN).unwrapped)
        parallel_api_test(cwnd.gym.SharedBottleneckEnv(2, **OPTIONS), num_cycles=30)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_stable_baselines3_trains() -> None:
    missing = "Stable-Baselines3 and PyTorch are not among what the tests install"
    sb3 = pytest.importorskip("stable_baselines3", reason=missing)
    common = partial(importlib.import_module, package="stable_baselines3.common")
    common(".env_checker").check_env(cwnd.gym.BottleneckEnv(**OPTIONS))
    envs = common(".env_util").make_vec_env(NAME, n_envs=2, seed=1, env_kwargs=OPTIONS)
    model = sb3.PPO("MlpPolicy", envs, n_steps=50, batch_size=50, n_epochs=1, seed=1, device="cpu")
    model.learn(100)
    assert len(model.ep_info_buffer) > 0, "its Monitor notes episodes"
    assert cwnd.gym.evaluate(model, episodes=2, **OPTIONS).of == "policy"
    run = cwnd.run(cwnd.Scenario.dumbbell(cwnd.gym.algorithm(model), rate="4mbit", rtt="20ms", duration="3s", seeds=1))
    assert run.summary["utilisation"][0] > 0.0


def reward(step: cwnd.gym.Step, path: cwnd.gym.Path) -> Any:
    return step.delivered / step.duration / path.capacity - step.lost / (step.delivered + step.lost)


def seen(step: cwnd.gym.Step) -> Any:
    lost = step.lost / (step.delivered + step.lost)
    return np.stack([step.rtt / step.min_rtt, lost, step.window / 100], axis=-1)


OWN = (seen, gymnasium.spaces.Box(0.0, 100.0, (3,), np.float32))
MADE: dict[str, Callable[[], Any]] = {
    "single": lambda: cwnd.gym.BottleneckEnv(**OPTIONS, reward=reward, observation=OWN),
    "vector": lambda: cwnd.gym.BottleneckVectorEnv(2, **OPTIONS, reward=reward, observation=OWN),
    "shared": lambda: cwnd.gym.SharedBottleneckEnv(2, **OPTIONS, reward=reward, observation=OWN),
    "over": lambda: cwnd.gym.BottleneckEnv(**OPTIONS, action=("over", "cubic")),
}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
@pytest.mark.parametrize("name", MADE)
def test_copies_are_environments_of_the_same_options(name: str, copied: Callable[[Any], Any]) -> None:
    env = MADE[name]()
    twin = copied(env)
    action: Any = {} if name == "shared" else np.full((2, 1) if name == "vector" else (1,), 0.1, np.float32)
    found = []
    for one in (env, twin):
        first, _ = one.reset(seed=2)
        found.append((first, *one.step(action)))
    np.testing.assert_equal(found[0], found[1])


def test_options_of_a_reset_hold_from_then_on() -> None:
    for env in (cwnd.gym.BottleneckEnv(**OPTIONS), cwnd.gym.BottleneckVectorEnv(2, **OPTIONS)):
        capacity = [np.unique(env.reset(seed=1)[1]["cwnd"]["capacity"])]
        capacity += [np.unique(env.reset(options={"rate": "16mbit", "steps": np.int64(3)})[1]["cwnd"]["capacity"])]
        capacity += [np.unique(env.reset()[1]["cwnd"]["capacity"])]
        assert np.concatenate(capacity) == pytest.approx([8e6 / 12e3, 16e6 / 12e3, 16e6 / 12e3])
        ends = [bool(np.all(env.step(np.zeros(env.action_space.shape))[3])) for _ in range(3)]
        assert ends == [False, False, True]
    fresh = cwnd.gym.BottleneckEnv(**{**OPTIONS, "rate": "16mbit"})
    changed = cwnd.gym.BottleneckEnv(**OPTIONS)
    first, _ = changed.reset(seed=5, options={"rate": "16mbit"})
    np.testing.assert_array_equal(first, fresh.reset(seed=5)[0])
    np.testing.assert_array_equal(first, copy.deepcopy(changed).reset(seed=5)[0])
    shared = cwnd.gym.SharedBottleneckEnv(2, **OPTIONS)
    _, infos = shared.reset(seed=1, options={"rate": "16mbit"})
    assert infos["flow_0"]["cwnd"]["capacity"] == pytest.approx(16e6 / 12e3)


def test_unknown_options_are_refused_with_the_nearest() -> None:
    with pytest.raises(cwnd.ArgumentError, match=r"^rat: there is no such option, did you mean `rate`\?$"):
        cwnd.gym.BottleneckEnv(rat="8mbit")  # type: ignore[call-arg]
    with pytest.raises(cwnd.ArgumentError, match=r"^options: queues: there is no such option, did you mean `queue`"):
        cwnd.gym.BottleneckEnv().reset(options={"queues": 1.0})
    with pytest.raises(cwnd.ArgumentError, match=r"^zzz: there is no such option, expected one of scenario, agents, "):
        cwnd.gym.evaluate("reno", zzz=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="render_mode: there is nothing to render"):
        cwnd.gym.BottleneckEnv(render_mode="human")
    with pytest.raises(cwnd.ArgumentError, match="seed: expected 2 of them, got 3"):
        cwnd.gym.BottleneckVectorEnv(2).reset(seed=[1, 2, 3])
    with pytest.raises(cwnd.ArgumentError, match=r"options: agents: 1 of them here, got 2"):
        cwnd.gym.BottleneckEnv().reset(options={"agents": 2})


def test_rewards_and_observations_of_ones_own_mean_the_same_everywhere() -> None:
    single, many = (MADE[name]() for name in ("single", "vector"))
    first, _ = single.reset(seed=8)
    rows, _ = many.reset(seed=[8, 20])
    np.testing.assert_array_equal(rows[0], first)
    total = 0.0
    for _ in range(12):
        row, earned, _, _, info = single.step([0.3])
        rows, rewards, _, _, infos = many.step(np.full((2, 1), 0.3, np.float32))
        np.testing.assert_array_equal(rows[0], row)
        assert rewards[0] == np.float32(earned)
        counted = info["cwnd"]
        assert earned == pytest.approx(
            counted["delivered"] / counted["duration"] / counted["capacity"]
            - counted["lost"] / (counted["delivered"] + counted["lost"]),
            rel=1e-6,
        )
        total += earned
    assert info["cwnd"]["episode"]["reward"] == pytest.approx(total)
    assert infos["cwnd"]["episode"]["reward"][0] == pytest.approx(total)
    bad = cwnd.gym.BottleneckEnv(**OPTIONS, reward=lambda *_: [1.0, 2.0])
    bad.reset(seed=1)
    with pytest.raises(
        cwnd.ArgumentError, match=r"^reward: the function returned the shape \(2,\), expected \(1,\) or"
    ):
        bad.step([0.0])


def test_networks_are_drawn_from_a_list() -> None:
    others = [["reno", "reno"], ["reno", "cubic", "bbr"]]
    scenarios = [cwnd.Scenario.dumbbell(flows, rate="8mbit", rtt="20ms", duration="1000s") for flows in others]
    env = cwnd.gym.BottleneckEnv(scenario=scenarios, agents=1, steps=2)
    drawn = [env.reset(seed=seed)[1]["cwnd"]["scenario"] for seed in range(30)]
    assert {*drawn} == {0, 1}
    with pytest.raises(cwnd.ArgumentError, match=r"agents: there is no flow 2"):
        cwnd.gym.SharedBottleneckEnv(3, scenario=scenarios)


LEVERS: dict[str, Any] = {"window": "window", "rate": "rate", "over": ("over", "cubic")}


@pytest.mark.parametrize("own", [None, OWN], ids=["features", "own"])
@pytest.mark.parametrize("lever", LEVERS)
def test_a_policy_is_in_a_run_what_it_is_in_an_environment(lever: str, own: Any) -> None:
    notes: list[list[Any]] = [[], []]

    def policy(rows: Any, into: int) -> Any:
        notes[into].append(rows.copy())
        wish = 0.5 - 0.4 * rows[:, 1:2] - rows[:, 3:4] if own is None else 0.9 - 0.4 * rows[:, :1] - rows[:, 1:2]
        return np.clip(wish, -1, 1)

    kind: dict[str, Any] = {"action": LEVERS[lever], "observation": own}
    path: dict[str, Any] = dict.fromkeys(("rate", "rtt", "queue", "loss"))
    scenario = cwnd.Scenario.dumbbell(
        ["reno", "cubic"], rate="10mbit", rtt="30ms", loss=0.001, duration="10s", warmup="0s", seeds=1
    )
    env = cwnd.gym.BottleneckEnv(scenario=scenario, steps=10**6, **kind, **path)
    seen, info = env.reset(seed=4)
    truncated = False
    while not truncated:
        seen, _, _, truncated, last = env.step(policy(seen[None], 0)[0])
    scenario["first_seed"] = info["cwnd"]["seed"]
    scenario["flow.0.algorithm"] = cwnd.gym.algorithm(lambda rows: policy(rows, 1), name="own", **kind)
    flows = cwnd.run(scenario).flows
    assert len(notes[0]) > 50
    assert len(notes[1]) in {len(notes[0]), len(notes[0]) - 1}, "the last step of the environment ends with the run"
    for one, other in zip(*notes, strict=False):
        np.testing.assert_array_equal(one, other)
    delivered = last["cwnd"]["episode"]["goodput"] * 10e6 * 1460 / 1500
    assert float(flows["goodput_bps"][0]) == pytest.approx(delivered, rel=0.02)


def test_a_policy_goes_through_every_experiment() -> None:
    careful = cwnd.gym.algorithm(lambda rows: 0.4 - rows[:, 1:2] - 4 * rows[:, 3:4], name="careful")
    short: dict[str, Any] = {"rate": "4mbit", "rtt": "20ms", "duration": "3s", "warmup": "1s", "seeds": 1}
    compared = cwnd.compare([careful, "reno"], versus="cubic", **short)
    assert compared["careful"]["utilisation"].mean > 0.3
    assert cwnd.conform(careful, checks=["5681-halve"]).subject == "careful"
    policy = cwnd.gym.evaluate(lambda rows: 0.4 - rows[:, 1:2] - 4 * rows[:, 3:4], episodes=3, seed=1, **OPTIONS)
    placed = cwnd.gym.evaluate(careful, episodes=3, seed=1, **OPTIONS)
    assert placed[:4] == policy[:4]
    assert (policy.of, placed.of) == ("policy", "policy careful")

    class Broken:
        def predict(self, rows: Any) -> Any:
            raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine"):
        cwnd.run(cwnd.Scenario.dumbbell(cwnd.gym.algorithm(Broken()), **short))
    with pytest.raises(cwnd.ArgumentError, match=r"^policy: expected shape"):
        cwnd.run(cwnd.Scenario.dumbbell(cwnd.gym.algorithm(lambda _: [1.0, 2.0]), **short))


class Aimd(cwnd.WindowRule):
    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2


class Failing(Aimd):
    def grow(self, w: float, view: cwnd.View) -> float:
        raise LookupError("of mine")


def test_evaluate_says_what_it_took() -> None:
    given: dict[str, Any] = {"episodes": 3, "seed": 1, **OPTIONS, "steps": 60}
    reno = cwnd.gym.evaluate("reno", **given)
    for rule in (Aimd, Aimd()):
        score = cwnd.gym.evaluate(rule, **given)
        assert score.of == "algorithm Aimd"
        assert score[:4] == pytest.approx(reno[:4], rel=0.05)
    assert reno.of == "algorithm reno"
    with pytest.raises(LookupError, match="of mine"):
        cwnd.gym.evaluate(Failing, **given)
    env = cwnd.gym.BottleneckEnv(algorithm=Failing, **{**OPTIONS, "steps": 100})
    for _ in range(2):
        with pytest.raises(LookupError, match="of mine"):
            through(env)
    with pytest.raises(cwnd.ArgumentError, match=r"^policy: expected a function, an object with a method predict"):
        cwnd.gym.evaluate(3)


KINDS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "rate": {"action": "rate"},
    "over": {"action": ("over", "cubic"), "gain": 1.0},
    "power": {"reward": "power"},
    "weights": {"reward": ("linear", (1.0, 2.0, 3.0))},
    "own": {"reward": reward, "observation": OWN},
    "packets": {"packets": 25},
    "drawn": {"rate": ("4mbit", "8mbit"), "rtt": ("10ms", "20ms"), "queue": (0.5, 1.0), "loss": (0.0, 0.02)},
    "placed": {"algorithm": "reno"},
    "scenarios": {
        "scenario": [cwnd.Scenario.dumbbell(flows, duration="1000s") for flows in (["reno"], ["reno", "cubic"])],
        "agents": 1,
    },
}
ENDS = (1, 4)


@pytest.mark.parametrize("count", ENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_environments_agree(kind: str, count: int) -> None:
    options = {**OPTIONS, "steps": 8, **KINDS[kind]}
    singles = [cwnd.gym.BottleneckEnv(**options) for _ in range(count)]
    many = cwnd.gym.BottleneckVectorEnv(count, **options)
    shared = cwnd.gym.SharedBottleneckEnv(**{"agents": 1, **options})
    rows, infos = many.reset(seed=5)
    begun = [single.reset(seed=5 + nth) for nth, single in enumerate(singles)]
    alone, _ = shared.reset(seed=5)
    assert many.single_observation_space == singles[0].observation_space == shared.observation_space("flow_0")
    assert many.single_action_space == singles[0].action_space == shared.action_space("flow_0")
    np.testing.assert_array_equal(rows, [row for row, _ in begun])
    np.testing.assert_array_equal(rows[0], alone["flow_0"])
    for name in ("seed", "scenario", "delivered", "capacity"):
        np.testing.assert_array_equal(infos["cwnd"][name], [info["cwnd"][name] for _, info in begun])
    for nth in range(8):
        actions = np.linspace(-0.8, 1.2, count) * (-1) ** nth
        rows, rewards, terminated, ended, infos = many.step(actions)
        steps = [single.step(action) for single, action in zip(singles, actions, strict=True)]
        np.testing.assert_array_equal(rows, [one[0] for one in steps])
        np.testing.assert_array_equal(rewards, np.array([one[1] for one in steps], np.float32))
        assert ended.tolist() == [one[3] for one in steps] == [nth == 7] * count
        assert not terminated.any()
        for name in cwnd.gym.MEASURED:
            np.testing.assert_array_equal(infos["cwnd"][name], [one[4]["cwnd"][name] for one in steps])
        seen, earned, _, over, own = shared.step({"flow_0": actions[0]})
        np.testing.assert_array_equal(rows[0], seen["flow_0"])
        assert (np.float32(earned["flow_0"]), over["flow_0"]) == (rewards[0], nth == 7)
    for name in TOTALS:
        found = [one[4]["cwnd"]["episode"][name] for one in steps]
        np.testing.assert_array_equal(infos["cwnd"]["episode"][name], found)
        assert own["flow_0"]["cwnd"]["episode"][name] == found[0]


TAKES: dict[str, Callable[..., object]] = {
    "single": cwnd.gym.BottleneckEnv,
    "vector": cwnd.gym.BottleneckVectorEnv,
    "shared": cwnd.gym.SharedBottleneckEnv,
    "make": partial(gymnasium.make, NAME),
    "make_vec": partial(gymnasium.make_vec, NAME, 2, "vector_entry_point"),
    "evaluate": partial(cwnd.gym.evaluate, "reno"),
    "single, reset": lambda **given: cwnd.gym.BottleneckEnv().reset(options=given),
    "vector, reset": lambda **given: cwnd.gym.BottleneckVectorEnv().reset(options=given),
    "shared, reset": lambda **given: cwnd.gym.SharedBottleneckEnv().reset(options=given),
}


@pytest.mark.parametrize("where", TAKES)
@pytest.mark.parametrize("option", DEFAULTS)
def test_an_unknown_option_is_refused_everywhere_with_the_nearest(where: str, option: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=rf"{option}x: there is no such option, did you mean `{option}`\?"):
        TAKES[where](**{f"{option}x": 1})


@pytest.mark.parametrize("where", ["single", "shared", "single, reset", "vector, reset", "shared, reset"])
def test_an_option_of_another_environment_is_refused_by_its_name(where: str) -> None:
    for option in ("num_envs", "copy"):
        with pytest.raises(cwnd.ArgumentError, match=f"{option}: there is no such option here, BottleneckVectorEnv"):
            TAKES[where](**{option: 2})


EXTREMES = list(itertools.product(("1kbit", "1tbit"), ("1us", "100s"), (0.001, 1000.0), (1, 1000)))


@pytest.mark.parametrize("name", ["single", "vector", "shared"])
@pytest.mark.parametrize(("rate", "rtt", "queue", "packets"), EXTREMES)
def test_extreme_paths_are_run_or_refused(name: str, rate: str, rtt: str, queue: float, packets: int) -> None:
    options: dict[str, Any] = {"rate": rate, "rtt": rtt, "queue": queue, "packets": packets, "steps": 3}
    if (rate, rtt) == ("1tbit", "100s"):
        accepted = r"^rate, rtt and queue must be of a path that holds at most 1048576 packets: the largest holds \d+$"
        with pytest.raises(cwnd.ArgumentError, match=accepted):
            TAKES[name](**options)
        return
    env: Any = TAKES[name](**options)
    env.reset(seed=1)
    *_, over, info = env.step({} if name == "shared" else np.ones(env.action_space.shape))
    first = info["flow_0"] if name == "shared" else info
    ended = np.any([*over.values()] if name == "shared" else over)
    assert ended or np.all(first["cwnd"]["time"] > 0)


def test_what_is_too_large_is_refused_with_what_is_accepted() -> None:
    wide: dict[str, Any] = {"rate": "10gbit", "rtt": "100ms", "queue": 1.0}
    with pytest.raises(cwnd.ArgumentError, match=r"^num_envs: expected 1 to \d+ where a path holds \d+ packets"):
        cwnd.gym.BottleneckVectorEnv(65536, **wide)
    for packets in (0, (1 << 20) + 1):
        with pytest.raises(cwnd.ArgumentError, match=r"^packets: expected a whole number from 1 to 1048576"):
            cwnd.gym.BottleneckEnv(packets=packets)
    with pytest.raises(cwnd.ArgumentError, match=r"^agents: without a scenario flows are below 65536, got 4000000"):
        cwnd.gym.SharedBottleneckEnv([4_000_000])
    endless = cwnd.Scenario.dumbbell("reno", queue="droptail:unlimited")
    with pytest.raises(cwnd.ArgumentError, match=r"^queue must have a limit"):
        cwnd.gym.BottleneckEnv(scenario=endless)
    cwnd.gym.BottleneckEnv(scenario=endless, queue=1.0).reset(seed=1)


@pytest.mark.parametrize(
    "taking", [cwnd.gym.BottleneckEnv, cwnd.gym.BottleneckVectorEnv, cwnd.gym.SharedBottleneckEnv, cwnd.gym.evaluate]
)
def test_types_of_options_are_there_for_what_asks_at_run_time(taking: Any) -> None:
    # What fills in options from a file or a command line asks so.
    hints = get_type_hints(vars(taking).get("__init__", taking))
    assert get_args(hints["options"]) == (cwnd.gym.Options,)
