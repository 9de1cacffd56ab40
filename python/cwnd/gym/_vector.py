"""Many environments of one steered flow each, in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from cwnd._arguments import optional, whole
from cwnd.errors import ArgumentError
from cwnd.gym._course import Course, Reals, episode, refuse_rendering

__all__ = ["BottleneckVectorEnv"]


class BottleneckVectorEnv(VectorEnv[Reals, ArrayLike, NDArray[Any]], EzPickle):
    """Environments as :class:`BottleneckEnv`, stepped together on one core, without a Python object between them.

    One whose episode has ended starts the next with the step after, whose action counts for nothing and whose reward
    is 0 (Gymnasium's autoreset mode "next step"). Environment ``n`` has the seed ``seed + n``. The interpreter's lock
    is released meanwhile: one object in each of several threads uses as many cores.

    Parameters
    ----------
    num_envs : int
        How many.
    copy : bool
        Return copies. Without, what is returned is the memory the next step writes to: for callers that need
        nothing of it by then.
    **options
        Those of :class:`BottleneckEnv`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - the base class declares it so
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, num_envs: int = 1, *, copy: bool = True, render_mode: None = None, **options: Any) -> None:
        refuse_rendering(render_mode)
        num_envs = whole("num_envs", num_envs, 1, 1 << 16)
        EzPickle.__init__(self, num_envs, copy=copy, **options)
        self.render_mode = None
        self.num_envs = num_envs
        self._course = Course(num_envs, **options)
        if len(self._course.names) != 1:
            raise ArgumentError("agents: one flow is steered here; SharedBottleneckEnv is for several")
        self.single_observation_space = Course.observation_space()
        self.single_action_space = Course.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._copy = copy
        self._terminated = np.zeros(num_envs, np.bool_)
        course = self._course
        self._seen: tuple[Reals, Reals, NDArray[np.bool_]] = (
            course.observations[:, 0],
            course.rewards[:, 0],
            course.ended,
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Reals, dict[str, Any]]:
        """Start the next episode everywhere.

        Parameters
        ----------
        seed : int, optional
            Environment ``n`` starts the series of ``seed + n``; without it the series go on.
        options : dict, optional
            There are none.

        Returns
        -------
        observations : numpy.ndarray
            One row per environment.
        infos : dict
            Empty.
        """
        super().reset(seed=optional(whole, "seed", seed, 0, 2**64 - 1), options=options)
        self._course.reset(seed, lambda: int(self.np_random.integers(2**63)))
        observations = self._seen[0]
        return observations.copy() if self._copy else observations, {}

    def step(self, actions: ArrayLike) -> tuple[Reals, Reals, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take an action in each environment, and let a step pass everywhere.

        Parameters
        ----------
        actions : array_like
            One row per environment, of one number from -1 to 1.

        Returns
        -------
        observations, rewards, terminations, truncations : numpy.ndarray
            As :meth:`BottleneckEnv.step`, one row per environment.
        infos : dict
            Where episodes have ended: ``episode``, arrays of its four numbers, and ``_episode``, where they count.
        """
        course = self._course
        course.step("actions", actions, [(self.num_envs, 1)])
        observations, rewards, ended = self._seen
        infos = self._episodes() if ended.any() else {}
        if self._copy:
            return observations.copy(), rewards.copy(), self._terminated.copy(), ended.copy(), infos
        return observations, rewards, self._terminated, ended, infos

    def _episodes(self) -> dict[str, Any]:
        ended = self._course.ended.copy()
        totals: dict[str, Any] = {}
        for index in np.flatnonzero(ended):
            for name, value in episode(self._course.native.totals(int(index))[0]).items():
                totals.setdefault(name, np.zeros(self.num_envs))[index] = value
        return {"episode": totals, "_episode": ended}
