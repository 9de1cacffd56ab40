"""How many steps a second environments do, compared with a plain environment of the same shape.

The plain environment computes nothing: its time is that of Gymnasium and Python. The last column is the speed as a
share of that of the plain environment in the same arrangement: how much of the time is Python's anyway. On one core
processor time is counted, so that the numbers mean the same on a machine that does other work as well; with processes
it is the clock, on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import cwnd.gym

SMALL: dict[str, Any] = {"rate": ("2mbit", "4mbit"), "rtt": ("20ms", "40ms")}


class Plain(gymnasium.Env[Any, Any]):
    """An environment of the same spaces and length of episodes, which computes nothing."""

    def __init__(self) -> None:
        ours = cwnd.gym.BottleneckEnv()
        self.observation_space, self.action_space = ours.observation_space, ours.action_space
        self._seen = np.zeros(8, np.float32)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self._steps = 0
        return self._seen.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count."""
        self._steps += 1
        return self._seen.copy(), 0.0, False, self._steps >= 400, {}


class PlainArray(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """As many of them in one array, which compute nothing."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self._seen = np.zeros((num_envs, 8), np.float32)
        self._rewards = np.zeros(num_envs, np.float32)
        self._flags = np.zeros(num_envs, np.bool_)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode everywhere."""
        super().reset(seed=seed)
        return self._seen, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Do nothing."""
        return self._seen, self._rewards, self._flags, self._flags, {}


def act(seen: Any, noise: Any) -> Any:
    """Keep windows near one bandwidth-delay product by a rule of thumb, with noise."""
    delay, loss, window = seen[..., 1:2], seen[..., 3:4], seen[..., 5:6]
    return np.clip(noise - 0.4 * delay - loss - 0.3 * (window - 0.3), -1.0, 1.0)


def single(env: gymnasium.Env[Any, Any], steps: int, clock: Callable[[], float]) -> float:
    """Count the steps per second of one environment."""
    seen, _ = env.reset(seed=1)
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, (steps, 1)).astype(np.float32)
    began = clock()
    for random in noise:
        seen, _, _, truncated, _ = env.step(act(seen, random))
        if truncated:
            seen, _ = env.reset()
    return steps / (clock() - began)


def many(env: Any, steps: int, clock: Callable[[], float]) -> float:
    """Count the steps per second of a vector of environments, all of them together."""
    seen, _ = env.reset(seed=1)
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, (steps, env.num_envs, 1)).astype(np.float32)
    began = clock()
    for random in noise:
        seen, *_ = env.step(act(seen, random))
    taken = clock() - began
    env.close()
    return steps * int(env.num_envs) / taken


def ours(**options: Any) -> gymnasium.Env[Any, Any]:
    """Make an environment without the wrappers of ``gymnasium.make``."""
    return cwnd.gym.BottleneckEnv(**options)


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the steps that are counted otherwise")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cpu, wall, processes = time.process_time, time.perf_counter, arguments.processes
    steps = [max(int(count * arguments.share), 2) for count in (20000, 3000, 4000)]
    vector = cwnd.gym.BottleneckVectorEnv
    # Each is compared with the plain one before it.
    cases: dict[str, Callable[[], float]] = {
        "1, plain": lambda: single(Plain(), steps[0], cpu),
        "1, some 10 packets a step": lambda: single(ours(**SMALL), steps[0], cpu),
        "1, as it comes": lambda: single(ours(), steps[0], cpu),
        "64 in one array, plain": lambda: many(PlainArray(64), steps[1], cpu),
        "64 in one array, some 10 packets a step": lambda: many(vector(64, copy=False, **SMALL), steps[1], cpu),
        "64 in one array, as they come": lambda: many(vector(64, copy=False), steps[1], cpu),
        "8 in SyncVectorEnv, plain": lambda: many(SyncVectorEnv([Plain] * 8), steps[2], cpu),
        "8 in SyncVectorEnv, as they come": lambda: many(SyncVectorEnv([ours] * 8), steps[2], cpu),
        f"{processes} processes, plain": lambda: many(AsyncVectorEnv([Plain] * processes), steps[2], wall),
        f"{processes} processes, as they come": lambda: many(AsyncVectorEnv([ours] * processes), steps[2], wall),
    }
    plain = 0.0
    for name, case in cases.items():
        speed = case()
        plain = speed if name.endswith("plain") else plain
        print(f"{speed:12,.0f} steps/s  {name:42} {speed / plain:6.1%}")


if __name__ == "__main__":
    main()
