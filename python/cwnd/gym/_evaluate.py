"""Learners beside built-in algorithms, by the same measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cwnd._arguments import whole
from cwnd._html import page
from cwnd.errors import AlgorithmError, ArgumentError
from cwnd.gym._course import Reals
from cwnd.gym._vector import BottleneckVectorEnv

__all__ = ["Score", "evaluate"]


class Score(NamedTuple):
    """Means over episodes.

    Attributes
    ----------
    goodput : float
        Packets delivered, as a share of those the bottleneck could have carried.
    delay : float
        Round-trip time, as a multiple of that of a packet that meets no other.
    loss : float
        Share of packets lost.
    reward : float
        Sum over an episode.
    """

    goodput: float
    delay: float
    loss: float
    reward: float

    def _repr_html_(self) -> str:
        rest = "Goodput is a share of the capacity, delay a multiple of the empty path's."
        return page("Means over episodes", self._fields, [self], rest=rest)


def evaluate(
    policy: str | Callable[[Reals], ArrayLike],
    *,
    episodes: int = 32,
    seed: int = 0,
    **options: Any,
) -> Score:
    """Let a policy, or a built-in algorithm in its place, go through episodes.

    Parameters
    ----------
    policy : callable or str
        Makes actions ``(episodes, 1)`` of observations ``(episodes, features)``; or the text of an algorithm.
    episodes : int
        How many, all at once.
    seed : int
        Equal seeds are equal networks, whatever the policy.
    **options
        Those of :class:`BottleneckEnv`.

    Returns
    -------
    Score
        Means over the episodes.

    Examples
    --------
    >>> import cwnd.gym
    >>> reno = cwnd.gym.evaluate("reno", episodes=2, rate="8mbit", rtt="40ms", queue=1.0, steps=100)
    >>> reno.goodput > 0.8
    True
    """
    algorithm = policy if isinstance(policy, str) else None
    if algorithm is None and not callable(policy):
        raise ArgumentError(f'policy: expected a function, or an algorithm such as "reno", got {policy!r}')
    if "algorithm" in options:
        raise ArgumentError("algorithm: the policy is one already")
    episodes = whole("episodes", episodes, 1, 1 << 16)
    try:
        env = BottleneckVectorEnv(episodes, algorithm=algorithm, **options)
    except AlgorithmError as error:
        # There it is an argument of its own.
        raise AlgorithmError(f"policy: {str(error).removeprefix('algorithm: ')}") from None
    observations, _ = env.reset(seed=seed)
    idle = np.zeros((episodes, 1), np.float32)
    found: dict[int, tuple[float, ...]] = {}
    while len(found) < episodes:
        actions = idle if isinstance(policy, str) else policy(observations)
        observations, _, _, _, infos = env.step(actions)
        if infos:
            for index in np.flatnonzero(infos["_episode"]):
                totals = infos["episode"]
                found.setdefault(int(index), tuple(float(totals[name][index]) for name in Score._fields))
    goodput, delay, loss, reward = np.mean(list(found.values()), axis=0).tolist()
    return Score(goodput, delay, loss, reward)
