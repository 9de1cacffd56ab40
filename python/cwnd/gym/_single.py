"""One steered flow, as Gymnasium has it."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
from gymnasium.utils import EzPickle
from numpy.typing import ArrayLike

from cwnd._arguments import optional, whole
from cwnd.errors import ArgumentError
from cwnd.gym._course import Course, Reals, episode, refuse_rendering

__all__ = ["BottleneckEnv"]


class BottleneckEnv(gymnasium.Env[Reals, ArrayLike], EzPickle):
    """A learner sets the window of one flow.

    A step is one smoothed round trip, and goes on until ``packets`` packets were delivered. An action ``a`` from -1 to
    1 makes the window ``1 + gain a`` times as large, or, below 0, ``1 - gain a`` times smaller. An observation has the
    numbers of :data:`FEATURES`. An episode is cut (``truncated``) after ``steps`` steps; the last ``info`` then has
    ``episode``: goodput as a share of the capacity, delay as a multiple of the empty path's, share of packets lost,
    and the sum of the rewards.

    Pickles and copies have the options, not the episode: they begin with a reset.

    Parameters
    ----------
    scenario : Scenario, optional
        The network and all its flows; one flow through a bottleneck if not given.
    agents : int or sequence of int, optional
        Which flows are steered, counted from 0 over all groups; the first group if not given. A number ``n`` means the
        first ``n``.
    rate : str or (str, str), optional
        Rate of the bottleneck, or from where to where it is drawn for each episode, evenly over its logarithm. ``None``
        keeps the scenario's, here and below.
    rtt : str or (str, str), optional
        Round-trip time without queueing, likewise.
    queue : float or (float, float), optional
        How much may wait, in bandwidth-delay products, likewise.
    loss : float or (float, float), optional
        Probability of random loss; drawn evenly.
    gain : float
        What an action of 1 adds to the window, as a share of it.
    packets : int
        The least number of packets delivered in a step.
    steps : int
        The length of an episode.
    reward : str or (str, sequence of float)
        ``"linear"``: ``u - 0.5 (d - 1) - l`` for goodput ``u``, delay ``d`` and loss ``l`` as in ``episode``;
        ``("linear", (goodput, delay, loss))`` with other weights. ``"power"``: Orca's, ``(u - 5 x) / d`` with lost
        packets ``x`` as a share of the capacity, where a delay up to 1.25 counts as none;
        ``("power", (loss, margin))`` with other numbers.
    algorithm : str, optional
        A built-in algorithm in the learner's place: actions then change nothing.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(self, render_mode: None = None, **options: Any) -> None:
        refuse_rendering(render_mode)
        EzPickle.__init__(self, **options)
        self.render_mode = None
        self._course = Course(1, **options)
        if len(self._course.names) != 1:
            raise ArgumentError("agents: one flow is steered here; SharedBottleneckEnv is for several")
        self.observation_space = Course.observation_space()
        self.action_space = Course.action_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Reals, dict[str, Any]]:
        """Start the next episode.

        Parameters
        ----------
        seed : int, optional
            Starts a series of episodes; without it the series goes on.
        options : dict, optional
            There are none.

        Returns
        -------
        observation : numpy.ndarray
            What the first step, in which the learner has no say, looked like.
        info : dict
            Empty.
        """
        super().reset(seed=optional(whole, "seed", seed, 0, 2**64 - 1), options=options)
        self._course.reset(seed, lambda: int(self.np_random.integers(2**63)))
        return self._course.observations[0, 0].copy(), {}

    def step(self, action: ArrayLike) -> tuple[Reals, float, bool, bool, dict[str, Any]]:
        """Take an action, and let a step pass.

        Parameters
        ----------
        action : array_like
            One number from -1 to 1.

        Returns
        -------
        observation : numpy.ndarray
            What the step looked like.
        reward : float
            For the step.
        terminated : bool
            Never: flows go on for ever.
        truncated : bool
            The episode has had all its steps.
        info : dict
            ``episode`` at its end.
        """
        course = self._course
        course.step("action", action, [(1,), ()])
        truncated = bool(course.ended[0])
        info = {"episode": episode(course.native.totals(0)[0])} if truncated else {}
        if truncated:
            course.end()
        return course.observations[0, 0].copy(), float(course.rewards[0, 0]), False, truncated, info
