"""Many environments of one steered flow each, in one array."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Signature
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from cwnd._arguments import whole
from cwnd.errors import ArgumentError
from cwnd.gym._course import Course
from cwnd.gym._options import Options, Reals, Repeatable, completed, refuse_rendering, seeds
from cwnd.gym._step import infos

__all__ = ["BottleneckVectorEnv"]


@completed
class BottleneckVectorEnv(VectorEnv[Reals, ArrayLike, NDArray[Any]], Repeatable):
    """Environments as :class:`BottleneckEnv`, stepped together on one core, without a Python object between them.

    One whose episode has ended starts the next with the step after, whose action counts for nothing and whose reward
    is 0 (Gymnasium's autoreset mode "next step"). Environment ``n`` has the seed ``seed + n``. The interpreter's lock
    is released meanwhile: one object in each of several threads uses as many cores.

    Parameters
    ----------
    num_envs : int
        How many.
    copy : bool
        Return copies. Without, the returned arrays are the memory that the next step writes to: for callers that need
        nothing of it by then.
    **options
        Those of :class:`BottleneckEnv`.
    """

    __signature__: ClassVar[Signature]
    metadata: dict[str, Any] = {  # noqa: RUF012 - the base class declares it so
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, num_envs: int = 1, *, copy: bool = True, render_mode: str | None = None, **options: Unpack[Options]
    ) -> None:
        refuse_rendering(render_mode)
        num_envs = whole("num_envs", num_envs, 1, 1 << 16)
        Repeatable.__init__(self, num_envs, copy=copy, **options)
        self.render_mode = None
        self.num_envs = num_envs
        self._course = Course(num_envs, options)
        if len(self._course.names) != 1:
            raise ArgumentError("agents: one flow is steered here; SharedBottleneckEnv is for several")
        self.single_observation_space = self._course.space
        self.single_action_space = Course.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._copy = copy
        self._terminated = np.zeros(num_envs, np.bool_)
        self._all = np.ones(num_envs, np.bool_)

    @property
    def _seen(self) -> tuple[Reals, Reals, NDArray[np.bool_], NDArray[np.float64]]:
        course = self._course
        seen = course.observations[:, 0], course.rewards[:, 0], course.ended, course.measured[:, 0]
        return tuple(array.copy() for array in seen) if self._copy else seen  # type: ignore[return-value]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Reals, dict[str, Any]]:
        """Start the next episode everywhere.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Environment ``n`` starts the series of ``seed + n``, or of element ``n``; without it the series go on.
        options : dict, optional
            Options of the constructor, as :meth:`BottleneckEnv.reset` has them.

        Returns
        -------
        observations : numpy.ndarray
            One row per environment.
        infos : dict
            ``cwnd``: arrays of the measurements of the first step, and of the random draws.
        """
        given = seeds(seed, self.num_envs)
        super().reset(seed=None if given is None else given[0], options=options)
        if (changed := self._course.changed(options)) is not None:
            self._course = changed
            self._ezpickle_kwargs |= options or {}
        self._course.reset(given, lambda: int(self.np_random.integers(2**63)))
        observations, _, _, measured = self._seen
        found = infos(measured, self._all)
        found |= self._course.all_drawn(self._all)
        return observations, {"cwnd": found, "_cwnd": self._all}

    def step(self, actions: ArrayLike) -> tuple[Reals, Reals, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take an action in each environment, and let a step pass everywhere.

        Parameters
        ----------
        actions : array_like
            One row per environment, of one number from -1 to 1; or the numbers alone.

        Returns
        -------
        observations, rewards, terminations, truncations : numpy.ndarray
            As :meth:`BottleneckEnv.step`, one row per environment.
        infos : dict
            ``cwnd``: arrays of the measurements; where episodes have ended also ``episode``, arrays of its four
            numbers, and ``_episode``, where they count; where episodes have begun the random draws, as after a reset.
            ``_name`` says where ``name`` counts, as Gymnasium has it.
        """
        begun = self._course.ended.copy()
        self._course.step("actions", actions, [(self.num_envs, 1), (self.num_envs,)])
        observations, rewards, ended, measured = self._seen
        found = infos(measured, self._all)
        if begun.any():
            found |= self._course.all_drawn(begun)
        if ended.any():
            found |= {"episode": self._episodes(ended), "_episode": ended.copy()}
        terminated = self._terminated.copy() if self._copy else self._terminated
        return observations, rewards, terminated, ended, {"cwnd": found, "_cwnd": self._all}

    def _episodes(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        totals: dict[str, Any] = {}
        for index in np.flatnonzero(ended):
            for name, value in self._course.totals(int(index))[0].items():
                totals.setdefault(name, np.zeros(self.num_envs))[index] = value
        return totals | {f"_{name}": ended.copy() for name in list(totals)}
