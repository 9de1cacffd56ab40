"""What all environments share: the network, the options, and the memory they see it in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from cwnd import _native
from cwnd._scenario import Scenario
from cwnd.errors import ArgumentError

__all__ = ["FEATURES", "Course", "Drawn", "Feature", "Number", "Reals", "Reward", "episode"]

Reals: TypeAlias = NDArray[np.float32]
Drawn: TypeAlias = str | tuple[str, str] | None
Number: TypeAlias = float | tuple[float, float] | None
Reward: TypeAlias = str | tuple[str, Sequence[float]]


class Feature(NamedTuple):
    """A number of an observation.

    Attributes
    ----------
    low : float
        The least it can be.
    high : float
        The most it can be; what lies above is cut.
    help : str
        What it means.
    """

    low: float
    high: float
    help: str


FEATURES: dict[str, Feature] = {name: Feature(low, high, text) for name, low, high, text in _native.features()}
"""The numbers of an observation by their names, in order. A real sender knows all of them."""


class Course:
    """Environments on one network, and arrays of NumPy on their memory.

    Attributes
    ----------
    actions, observations, rewards, ended : numpy.ndarray
        ``(num_envs, agents)``, ``(num_envs, agents, features)``, ``(num_envs, agents)`` and ``(num_envs,)``. A step
        reads the first and writes the others where they are.
    names : list of str
        The steered flows.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        scenario: Scenario | None = None,
        agents: int | Sequence[int] | None = None,
        rate: Drawn = ("4mbit", "40mbit"),
        rtt: Drawn = ("10ms", "100ms"),
        queue: Number = (0.5, 2.0),
        loss: Number = 0.0,
        gain: float = 1.0,
        packets: int = 10,
        steps: int = 400,
        reward: Reward = "linear",
        algorithm: str | None = None,
    ) -> None:
        flows = range(agents) if isinstance(agents, int) else agents
        if scenario is None:
            # An episode ends after so many steps: the end of the run is only far away.
            scenario = Scenario.dumbbell(flows=max(flows, default=0) + 1 if flows else 1, duration="10000s")
            scenario["sampling"] = "off"
        document, outside = scenario.lowered()
        if outside:
            raise ArgumentError(f"flow.{outside[0][0]}.algorithm is in Python: in an environment only a learner may be")
        if flows is None:
            flows = range(int(scenario.complete()["flow.0.count"]))
        kind, weights = (reward, ()) if isinstance(reward, str) else reward
        settings = {
            "gain": gain,
            "packets": packets,
            "steps": steps,
            "reward": (kind, [float(weight) for weight in weights]),
            "rate": (rate, rate) if isinstance(rate, str) else rate,
            "rtt": (rtt, rtt) if isinstance(rtt, str) else rtt,
            "queue": (queue, queue) if isinstance(queue, (int, float)) else queue,
            "loss": (loss, loss) if isinstance(loss, (int, float)) else loss,
            "algorithm": algorithm,
        }
        self.native = _native.Environments(document, list(flows), num_envs, settings)
        actions, observations, rewards, ended = self.native.memory()
        self.actions: Reals = np.asarray(actions)
        self.observations: Reals = np.asarray(observations)
        self.rewards: Reals = np.asarray(rewards)
        self.ended: NDArray[np.bool_] = np.asarray(ended)
        self.names: list[str] = self.native.names()

    @staticmethod
    def observation_space() -> Space[Reals]:
        """Make the space of one flow's observations."""
        low, high, _ = zip(*FEATURES.values(), strict=True)
        return cast("Space[Reals]", Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32))

    @staticmethod
    def action_space() -> Space[Any]:
        """Make the space of one flow's actions."""
        return Box(-1.0, 1.0, (1,), np.float32)


def episode(totals: tuple[float, float, float, float]) -> dict[str, Any]:
    """Name what a flow got over an episode."""
    goodput, delay, loss, reward = totals
    return {"goodput": goodput, "delay": delay, "loss": loss, "reward": reward}
