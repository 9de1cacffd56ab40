"""The common part of all environments: the networks, and the memory of their observations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from cwnd import _native
from cwnd._arguments import whole
from cwnd.errors import ArgumentError, SimulationError
from cwnd.gym import _options
from cwnd.gym._options import Observation, Options, Reals
from cwnd.gym._step import NAMES, Path, Step, split

__all__ = ["FEATURES", "Course", "Feature", "episode"]


class Feature(NamedTuple):
    """A number of an observation.

    Attributes
    ----------
    low : float
        The least it can be.
    high : float
        Its maximum; larger values are clipped.
    help : str
        Its meaning.
    """

    low: float
    high: float
    help: str


FEATURES: dict[str, Feature] = {name: Feature(low, high, text) for name, low, high, text in _native.features()}
"""The numbers of an observation by their names, in order. A real sender knows all of them."""


class Course:
    """Environments on networks, and arrays of NumPy on their memory.

    Attributes
    ----------
    given : dict
        The options that were given.
    options : dict
        All of them.
    actions, observations, rewards, ended, measured : numpy.ndarray
        ``(num_envs, agents)``, ``(num_envs, agents, …)``, ``(num_envs, agents)``, ``(num_envs,)`` and
        ``(num_envs, agents, numbers)``. A step reads the first and writes the others where they are.
    names : list of str
        The steered flows.
    """

    def __init__(self, num_envs: int, given: Mapping[str, Any]) -> None:
        count = whole("num_envs", num_envs, 1, 1 << 16)
        self.given = dict(given)
        self.options: Options = _options.checked(given)
        flows = _options.flows(self.options["agents"])
        settings = _options.settings(self.options)
        scenarios = _options.scenarios(self.options["scenario"], flows)
        documents = []
        for scenario in scenarios:
            document, outside = scenario.serialized()
            if outside:
                raise ArgumentError(
                    f"scenario: flow.{outside[0][0]}.algorithm is in Python: in an environment only a learner may be"
                )
            documents.append(document)
        if flows is None:
            flows = range(int(scenarios[0].complete()["flow.0.count"]))
        own = _options.observation(self.options["observation"])
        self.native = _native.Environments(documents, list(flows), count, settings)
        self._seeded = False
        self._running = False
        actions, observations, rewards, ended, measured = self.native.memory()
        self.actions: Reals = np.asarray(actions)
        self.observations: Reals = np.asarray(observations)
        self.rewards: Reals = np.asarray(rewards)
        self.ended: NDArray[np.bool_] = np.asarray(ended)
        self.measured: NDArray[np.float64] = np.asarray(measured)
        self.names: list[str] = self.native.names()
        self._observe: Callable[[Step], Any] | None = None
        self._earn: Callable[[Step, Path], Any] | None = None
        self.space: Space[Any] = observation_space(own)
        if own is not None:
            self._observe = own[0]
            self.observations = np.zeros((*self.rewards.shape, *(own[1].shape)), own[1].dtype)
        if callable(self.options["reward"]):
            self._earn = self.options["reward"]
            self.rewards = np.zeros_like(self.rewards)
            self._earned = np.zeros(self.rewards.shape)

    def changed(self, given: Mapping[str, Any] | None) -> Course | None:
        """Make the course that options of a reset ask for; None if they ask for nothing."""
        options = _options.changed(self.given, given)
        if options is None:
            return None
        other = Course(len(self.ended), options)
        if len(other.names) != len(self.names):
            raise ArgumentError(f"options: agents: {len(self.names)} of them here, got {len(other.names)}")
        if other.space != self.space:
            raise ArgumentError("options: observation: the space of observations stays the same")
        return other

    def reset(self, seeds: list[int | None] | None, draw: Callable[[], int]) -> None:
        """Start the next episode; the first takes its seeds from `draw` if none is given."""
        if seeds is None and not self._seeded:
            seeds = _options.seeds(draw(), len(self.ended))
        self._seeded, self._running = True, False
        self.native.reset(seeds)
        if self._earn:
            self.rewards.fill(0.0)
            self._earned.fill(0.0)
        self._look()
        self._running = True

    def step(self, name: str, actions: object, shapes: Sequence[tuple[int, ...]]) -> None:
        """Take actions, one number for each steered flow, of one of these shapes, and let a step pass."""
        if not self._running:
            raise SimulationError("step: there is no episode, call reset() first")
        self.actions[:] = self.read(name, actions, shapes).reshape(self.actions.shape)
        before = self.ended.copy() if self._earn else None
        try:
            self.native.step()
            if before is not None:
                self._reward(before)
            self._look()
        except BaseException:
            self._running = False
            raise

    def end(self) -> None:
        """Let the next step wait for a reset."""
        self._running = False

    def totals(self, index: int) -> list[dict[str, float]]:
        """Return the results of the flows of an environment over its episode, by name."""
        totals = [episode(total) for total in self.native.totals(index)]
        if self._earn:
            for agent, total in enumerate(totals):
                total["reward"] = float(self._earned[index, agent])
        return totals

    def drawn(self, index: int) -> dict[str, Any]:
        """Return the random draw for the episode of an environment, by name."""
        seed, scenario, path = self.native.episode(index)
        return {"seed": seed, "scenario": scenario, "path": dict(zip(_options.NETWORK, path, strict=True))}

    def all_drawn(self, where: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the random draws for the episodes of these environments, named as in Gymnasium; elsewhere zeros."""
        found: dict[str, Any] = {"path": {}}
        for index in np.flatnonzero(where):
            drawn = self.drawn(int(index))
            path = drawn.pop("path")
            for into, numbers in ((found, drawn), (found["path"], path)):
                for name, number in numbers.items():
                    kind = np.int64 if isinstance(number, int) else np.float64
                    into.setdefault(name, np.zeros(len(where), kind))[index] = number
        found["path"] |= {f"_{name}": where for name in found["path"]}
        return found | {f"_{name}": where for name in found}

    def info(self, index: int, agent: int) -> dict[str, Any]:
        """Return the measurements of a step of a flow, by name."""
        return dict(zip(NAMES, self.measured[index, agent].tolist(), strict=True))

    def _begun(self) -> NDArray[np.bool_]:
        """Say which flows have had a packet delivered; of the others there is nothing to see."""
        return self.measured[:, :, NAMES.index("min_rtt")] > 0.0

    def _numbers(self, flows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Give the numbers of these flows in rows, those of a flow alone as they are."""
        rows = self.measured[flows]
        return cast("NDArray[np.float64]", rows[0] if self.rewards.size == 1 else rows)

    def _look(self) -> None:
        if self._observe is None:
            return
        begun = self._begun()
        self.observations[~begun] = 0
        if begun.any():
            seen = self._observe(split(self._numbers(begun))[0])
            self.observations[begun] = shaped("observation", seen, self.observations[begun].shape)

    def _reward(self, before: NDArray[np.bool_]) -> None:
        """Reward by a function of one's own; `before` are the environments that have just begun an episode."""
        self.rewards.fill(0.0)
        self._earned[before] = 0.0
        begun = self._begun() & ~before[:, None]
        if self._earn is not None and begun.any():
            earned = self._earn(*split(self._numbers(begun)))
            self.rewards[begun] = shaped("reward", earned, (int(begun.sum()),))
        self._earned += self.rewards

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
    def action_space() -> Space[Any]:
        """Make the space of one flow's actions."""
        return Box(-1.0, 1.0, (1,), np.float32)


def observation_space(own: Observation | None) -> Space[Any]:
    """Make the space of one flow's observations."""
    if own is not None:
        return cast("Space[Any]", own[1])
    low, high, _ = zip(*FEATURES.values(), strict=True)
    return cast("Space[Any]", Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32))


def shaped(name: str, found: object, shape: tuple[int, ...]) -> NDArray[Any]:
    """Read the result of a custom function, for one flow or for all of them."""
    accepted = [shape, shape[1:]] if shape[0] == 1 else [shape]
    if found is None:
        raise ArgumentError(f"{name}: the function returned None, expected numbers")
    try:
        numbers = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: the function returned {found!r}, expected numbers") from None
    if numbers.shape not in accepted:
        wanted = " or ".join(str(one) for one in accepted)
        raise ArgumentError(f"{name}: the function returned the shape {numbers.shape}, expected {wanted}")
    if not np.isfinite(numbers).all():
        raise ArgumentError(f"{name}: the function returned {found!r}, expected finite numbers")
    return numbers.reshape(shape)


def episode(totals: tuple[float, float, float, float]) -> dict[str, float]:
    """Return the results of a flow over an episode, by name."""
    goodput, delay, loss, reward = totals
    return {"goodput": goodput, "delay": delay, "loss": loss, "reward": reward}
