"""Trained policies: as they are called, and as algorithms of every experiment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cwnd import _native
from cwnd._algorithm import Learnt
from cwnd._arguments import text, whole
from cwnd._kept import carried
from cwnd.errors import ArgumentError
from cwnd.gym import _options
from cwnd.gym._course import Course, shaped
from cwnd.gym._options import Action, Observation
from cwnd.gym._step import Step

__all__ = ["Policy", "algorithm", "chooser"]

Policy: TypeAlias = Any
"""A function of observations, a row each, to actions, a row each; or an object with such a method ``predict``."""

Chooser: TypeAlias = Callable[[NDArray[Any]], ArrayLike]


def algorithm(
    policy: Policy,
    *,
    name: str = "learnt",
    action: Action = "window",
    gain: float | None = None,
    packets: int = 10,
    observation: Observation | None = None,
) -> Learnt:
    """Make an algorithm of a trained policy, for wherever an algorithm is named.

    It goes through the steps of an environment with one steered flow: on the same network of the same seed
    (``info["cwnd"]["seed"]`` after a reset) a policy sees the same numbers to the last bit, and acts equally.

    Parameters
    ----------
    policy : callable or object
        Makes actions ``(n, 1)`` of observations ``(n, features)``, as :func:`evaluate` takes it: here of one row. Or an
        object whose ``predict`` does, such as a model of Stable-Baselines3. It keeps no state: all flows share it.
    name : str
        The name in tables.
    action, gain, packets, observation
        Those of the :class:`BottleneckEnv` in which it was trained.

    Returns
    -------
    Learnt
        For :func:`cwnd.compare`, :func:`cwnd.evaluate`, :func:`cwnd.conform`, :func:`evaluate` and scenarios.

    Examples
    --------
    >>> import cwnd.gym
    >>> careful = cwnd.gym.algorithm(lambda seen: 0.4 - seen[:, 1:2] - 4 * seen[:, 3:4], name="careful")
    >>> result = cwnd.compare([careful, "cubic"], rate="8mbit", rtt="40ms", duration="10s", warmup="2s", seeds=1)
    >>> result["careful"]["queue_delay_mean_s"].mean < result["cubic"]["queue_delay_mean_s"].mean
    True
    """
    choose, name = chooser("policy", policy), text("name", name, "learnt")
    steering = {**_options.lever(action, gain), "packets": whole("packets", packets, 1, _options.MAX_PACKETS)}
    _native.check_steering(steering)
    return PolicyAlgorithm(choose, name, steering, _options.observation(observation))


class PolicyAlgorithm(Learnt):
    """The result of :func:`algorithm`."""

    def __init__(
        self, choose: Chooser, name: str, steering: Mapping[str, object], observation: Observation | None
    ) -> None:
        self.name = name
        self._choose = choose
        self._steering = steering
        self._observation = observation

    def steering(self) -> Mapping[str, object]:
        """Return the target of an action, and the length of a step."""
        return self._steering

    def act(self, observation: Sequence[float], step: Sequence[float]) -> float:
        """Choose the action for the step that begins."""
        if self._observation is None:
            seen: NDArray[Any] = np.array(observation, np.float32)
        else:
            observe, space = self._observation
            seen = shaped("observation", observe(Step(*step)), (1, *space.shape))[0].astype(space.dtype)
        return float(Course.read("policy", self._choose(seen[None]), [(1, 1), (1,), ()]).item())

    def __getstate__(self) -> dict[str, Any]:
        return {name: carried(name.removeprefix("_"), value) for name, value in vars(self).items()}

    def __deepcopy__(self, memo: dict[int, Any]) -> PolicyAlgorithm:
        return self  # it keeps no state

    def __repr__(self) -> str:
        return f"cwnd.gym.algorithm(…, name={self.name!r})"


def chooser(name: str, policy: Policy) -> Chooser:
    """Read a policy, which the argument `name` has."""
    predict = getattr(policy, "predict", None)
    if callable(predict) and not isinstance(policy, type):
        return _Predicting(predict)
    if callable(policy) and not isinstance(policy, type):
        chosen: Chooser = policy
        return chosen
    raise ArgumentError(
        f'{name}: expected a function, an object with a method predict, or an algorithm such as "reno", got {policy!r}'
    )


class _Predicting:
    """A method ``predict``, which may return a state with the actions, and draw them unless it is told not to."""

    def __init__(self, predict: Callable[..., Any]) -> None:
        self._predict = predict
        try:
            draws = "deterministic" in inspect.signature(predict).parameters
        except (TypeError, ValueError):
            draws = False
        self._settings = {"deterministic": True} if draws else {}

    def __call__(self, observations: NDArray[Any]) -> ArrayLike:
        found = self._predict(observations, **self._settings)
        actions: ArrayLike = found[0] if isinstance(found, tuple) else found
        return actions
