"""What all environments share: the network, the options, and the memory they see it in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from cwnd import _native
from cwnd._arguments import optional, plain, real, reals, text, whole
from cwnd._scenario import Scenario
from cwnd.errors import ArgumentError, SimulationError

__all__ = ["FEATURES", "Course", "Drawn", "Feature", "Number", "Reals", "Reward", "episode", "refuse_rendering"]

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
        count = whole("num_envs", num_envs, 1, 1 << 16)
        flows = _flows(agents)
        if scenario is None:
            # An episode ends after so many steps: the end of the run is only far away.
            scenario = Scenario.dumbbell(flows=max(flows, default=0) + 1 if flows else 1, duration="10000s")
            scenario["sampling"] = "off"
        elif not isinstance(scenario, Scenario):
            raise ArgumentError(f"scenario: expected a cwnd.Scenario, got {scenario!r}")
        document, outside = scenario.serialized()
        if outside:
            raise ArgumentError(f"flow.{outside[0][0]}.algorithm is in Python: in an environment only a learner may be")
        if flows is None:
            flows = range(int(scenario.complete()["flow.0.count"]))
        settings = {
            "gain": real("gain", gain),
            "packets": whole("packets", packets, 1, 2**53),
            "steps": whole("steps", steps, 1, 2**32 - 1),
            "reward": _reward(reward),
            "rate": _range("rate", rate, lambda name, end: text(name, end, "4mbit")),
            "rtt": _range("rtt", rtt, lambda name, end: text(name, end, "10ms")),
            "queue": _range("queue", queue, real),
            "loss": _range("loss", loss, real),
            "algorithm": optional(text, "algorithm", algorithm, "reno"),
        }
        self.native = _native.Environments(document, list(flows), count, settings)
        self._seeded = False
        self._running = False
        actions, observations, rewards, ended = self.native.memory()
        self.actions: Reals = np.asarray(actions)
        self.observations: Reals = np.asarray(observations)
        self.rewards: Reals = np.asarray(rewards)
        self.ended: NDArray[np.bool_] = np.asarray(ended)
        self.names: list[str] = self.native.names()

    def reset(self, seed: int | None, draw: Callable[[], int]) -> None:
        """Start the next episode; the first takes its seed from `draw` if none is given."""
        given = None if seed is None else whole("seed", seed, 0, 2**64 - 1)
        if given is None and not self._seeded:
            given = draw()
        self._seeded = self._running = True
        self.native.reset(given)

    def step(self, name: str, actions: object, shapes: Sequence[tuple[int, ...]]) -> None:
        """Take actions, one number for each steered flow, of one of these shapes, and let a step pass."""
        if not self._running:
            raise SimulationError("step: there is no episode, call reset() first")
        self.actions[:] = self.read(name, actions, shapes).reshape(self.actions.shape)
        self.native.step()

    def end(self) -> None:
        """Let the next step wait for a reset."""
        self._running = False

    @staticmethod
    def read(name: str, actions: object, shapes: Sequence[tuple[int, ...]]) -> Reals:
        """Read actions of one of these shapes, all finite."""
        wanted = " or ".join(str(shape) for shape in shapes)
        try:
            with np.errstate(over="ignore"):
                found = np.asarray(math.nan if actions is None else actions, np.float32)
        except (TypeError, ValueError):
            raise ArgumentError(f"{name}: expected numbers of shape {wanted}, got {actions!r}") from None
        if not np.isfinite(found).all():
            raise ArgumentError(f"{name}: expected finite numbers, got {actions!r}")
        if found.shape not in shapes:
            raise ArgumentError(f"{name}: expected shape {wanted}, got {found.shape}")
        return found

    @staticmethod
    def observation_space() -> Space[Reals]:
        """Make the space of one flow's observations."""
        low, high, _ = zip(*FEATURES.values(), strict=True)
        return cast("Space[Reals]", Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32))

    @staticmethod
    def action_space() -> Space[Any]:
        """Make the space of one flow's actions."""
        return Box(-1.0, 1.0, (1,), np.float32)


def _flows(agents: object) -> range | list[int] | None:
    agents = plain(agents)
    if agents is None:
        return None
    if isinstance(agents, Iterable) and not isinstance(agents, str):
        return [whole("agents", agent, 0, MAX_FLOWS) for agent in agents]
    return range(whole("agents", agents, 1, MAX_FLOWS))


def _range(name: str, given: object, read: Callable[[str, object], Any]) -> tuple[Any, Any] | None:
    given = plain(given)
    if given is None:
        return None
    if isinstance(given, (tuple, list)):
        if len(given) != ENDS:
            raise ArgumentError(f"{name}: expected a value, or where it begins and ends, got {given!r}")
        return read(name, given[0]), read(name, given[1])
    return read(name, given), read(name, given)


def _reward(given: object) -> tuple[str, list[float]]:
    if isinstance(given, str):
        return given, []
    if isinstance(given, (tuple, list)) and len(given) == ENDS:
        return text("reward", given[0], "linear"), reals("reward", given[1])
    raise ArgumentError(f'reward: expected "linear", "power", or one of these with its weights, got {given!r}')


def refuse_rendering(render_mode: object) -> None:
    """Refuse every way of rendering."""
    if render_mode is not None:
        raise ArgumentError(f"render_mode: there is nothing to render, got {render_mode!r}")


# Numbers of a range, and parts of a reward.
ENDS = 2
# What a scenario accepts.
MAX_FLOWS = 4_000_000


def episode(totals: tuple[float, float, float, float]) -> dict[str, Any]:
    """Name what a flow got over an episode."""
    goodput, delay, loss, reward = totals
    return {"goodput": goodput, "delay": delay, "loss": loss, "reward": reward}
