"""Learners compared with built-in algorithms, by the same measures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from typing_extensions import Unpack

from cwnd._algorithm import OUTSIDE, Algorithm, Learnt, label
from cwnd._arguments import whole
from cwnd._html import page
from cwnd.errors import AlgorithmError, ArgumentError
from cwnd.gym._course import Course
from cwnd.gym._options import KeywordError, Options, checked
from cwnd.gym._policy import Policy, chooser
from cwnd.gym._vector import BottleneckVectorEnv

__all__ = ["Score", "evaluate"]


class Score(NamedTuple):
    """Means over episodes, of each from the end of the step of the reset to the end.

    Attributes
    ----------
    goodput : float
        Packets delivered, as a share of those the bottleneck could have carried.
    delay : float
        Mean round-trip time of the steps, weighted by the packets that each delivered, as a multiple of that of a
        packet that meets no other.
    loss : float
        Share of packets lost.
    reward : float
        Sum over an episode.
    of : str
        The evaluated learner or algorithm: ``policy``, or ``algorithm`` and its name.
    """

    goodput: float
    delay: float
    loss: float
    reward: float
    of: str

    def _repr_html_(self) -> str:
        rest = "Goodput is a share of the capacity, delay a multiple of the empty path's."
        return page("Means over episodes", self._fields, [self], rest=rest)


def evaluate(
    policy: Policy | Algorithm,
    *,
    episodes: int = 32,
    seed: int = 0,
    **options: Unpack[Options],
) -> Score:
    """Let a policy, or an algorithm in its place, go through episodes.

    Parameters
    ----------
    policy : callable, object, str, CongestionControl, WindowRule or a class of these
        Makes actions ``(episodes, 1)`` of observations ``(episodes, features)``; or an object whose ``predict`` does;
        or an algorithm, as text or in Python. ``Score.of`` has the kind.
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
    algorithm = policy if isinstance(policy, (str, *OUTSIDE)) else None
    choose = None if algorithm is not None else chooser("policy", policy)
    if options.get("algorithm") is not None:
        raise ArgumentError("algorithm: the policy is one already")
    if "num_envs" in options:
        raise KeywordError("num_envs: there is no such option, expected `episodes`: as many environments run at once")
    checked(options)
    episodes = whole("episodes", episodes, 1, 1 << 16)
    given: Options = {**options, "algorithm": algorithm}
    try:
        env = BottleneckVectorEnv(episodes, **given)
    except (AlgorithmError, ArgumentError) as error:
        # There it is an argument of its own.
        said = str(error)
        if algorithm is None or not said.startswith("algorithm: "):
            raise
        raise type(error)(f"policy: {said.removeprefix('algorithm: ')}") from None
    observations, _ = env.reset(seed=seed)
    actions: Any = np.zeros((episodes, 1), np.float32)
    found: dict[int, tuple[float, ...]] = {}
    while len(found) < episodes:
        if choose is not None:
            actions = Course.read("policy", choose(observations), [(episodes, 1), (episodes,)]).reshape(episodes, 1)
        observations, _, _, _, infos = env.step(actions)
        totals = infos["cwnd"].get("episode", {})
        for index in np.flatnonzero(infos["cwnd"].get("_episode", False)):
            found.setdefault(int(index), tuple(float(totals[name][index]) for name in Score._fields[:-1]))
    goodput, delay, loss, reward = np.mean(list(found.values()), axis=0).tolist()
    return Score(goodput, delay, loss, reward, _taken(algorithm))


def _taken(algorithm: Algorithm | None) -> str:
    """Name the evaluated learner or algorithm."""
    if algorithm is None:
        return "policy"
    return f"{'policy' if isinstance(algorithm, Learnt) else 'algorithm'} {label(algorithm)}"
