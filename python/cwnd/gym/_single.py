"""One steered flow, as Gymnasium has it."""

from __future__ import annotations

from inspect import Signature
from typing import Any, ClassVar

import gymnasium
from numpy.typing import ArrayLike
from typing_extensions import Unpack

from cwnd._arguments import optional, whole
from cwnd.errors import ArgumentError
from cwnd.gym._course import Course
from cwnd.gym._options import Options, Reals, Repeatable, completed, refuse_rendering, seeds

__all__ = ["BottleneckEnv"]


@completed
class BottleneckEnv(gymnasium.Env[Reals, ArrayLike], Repeatable):
    """A learner steers one flow.

    A step ends with the first acknowledgement by which a smoothed round trip has passed and ``packets`` packets were
    delivered. An action ``a`` from -1 to 1 makes the window ``1 + gain a`` times as large, or, below 0, ``1 - gain a``
    times smaller. An observation has the numbers of :data:`FEATURES`. An episode is cut (``truncated``) after ``steps``
    steps, or at the end of a scenario's ``duration`` if that is earlier: its last step may then be a short one.

    ``info["cwnd"]`` has the measurements of each step, the numbers of :class:`Step` and :class:`Path` by their names.
    After a reset it also has the ``seed`` of the simulation, the number of the ``scenario`` and ``path``, which was
    drawn: ``rate`` in bit/s, ``rtt`` in seconds, ``queue`` in packets and ``loss``, a probability, or NaN where losses
    are not independent. At the end of an episode it has ``episode``, all over the steps after the reset's: goodput as a
    share of the capacity; delay, the steps' mean round-trip times weighted by the packets that each delivered, as a
    multiple of the empty path's; share of packets lost; and the sum of the rewards.

    Pickles and copies have the options, not the episode: they begin with a reset.

    Parameters
    ----------
    scenario : Scenario or sequence of Scenario, default None
        The network and all its flows; one flow through a bottleneck if not given. Of several one is drawn for each
        episode: so competitors, traces of capacity and topologies vary.
    agents : int or sequence of int, default None
        Which flows are steered, counted from 0 over all groups; the first group if not given. A number ``n`` means the
        first ``n``.
    rate : str or (str, str), default ("4mbit", "40mbit")
        Rate of the bottleneck, or from where to where it is drawn for each episode, evenly over its logarithm. ``None``
        keeps the scenario's, and is the default where ``scenario`` is given, here and in the next three.
    rtt : str or (str, str), default ("10ms", "100ms")
        Round-trip time without queueing, or the range from which it is drawn, as for ``rate``.
    queue : float or (float, float), default (0.5, 2.0)
        Size of the queue in bandwidth-delay products, or the range from which it is drawn, as for ``rate``.
    loss : float or (float, float), default 0.0
        Probability of random loss; drawn evenly.
    action : str or (str, Algorithm), default "window"
        The target of an action: the ``"window"``; the ``"rate"`` in the same way, which is Aurora's; or, with
        ``("over", "cubic")``, the window or rate of an algorithm, multiplied by ``2 ** (gain * a)`` as Orca does.
    gain : float, default None
        How much; 1 for a window, Aurora's 0.025 for a rate, Orca's 2 over an algorithm.
    packets : int, default 10
        The least number of packets delivered in a step.
    steps : int, default 400
        The length of an episode.
    reward : str, (str, sequence of float) or callable, default "linear"
        ``"linear"``: ``u - 0.5 (d - 1) - l`` for goodput ``u``, delay ``d`` and loss ``l`` as in ``episode``;
        ``("linear", (goodput, delay, loss))`` with other weights. ``"power"``: Orca's, ``(u - 5 x) / d`` with lost
        packets ``x`` as a share of the capacity, where a delay up to 1.25 counts as none;
        ``("power", (loss, margin))`` with other numbers. Or a function of a :class:`Step` and a :class:`Path`, whose
        fields are numbers, or arrays where there are many environments: arithmetic that works for both.
    observation : (callable, gymnasium.spaces.Box), default None
        A function of a :class:`Step`, which is called as ``reward`` is, and the space of its values, the last axes of
        its result.
    algorithm : str, CongestionControl or WindowRule, default None
        An algorithm in the learner's place: actions then change nothing.
    """

    __signature__: ClassVar[Signature]
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(self, render_mode: str | None = None, **options: Unpack[Options]) -> None:
        refuse_rendering(render_mode)
        Repeatable.__init__(self, **options)
        self.render_mode = None
        self._course = Course(1, options)
        if len(self._course.names) != 1:
            raise ArgumentError("agents: one flow is steered here; SharedBottleneckEnv is for several")
        self.observation_space = self._course.space
        self.action_space = Course.action_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Reals, dict[str, Any]]:
        """Start the next episode.

        Parameters
        ----------
        seed : int, optional
            Starts a series of episodes; without it the series goes on.
        options : dict, optional
            Options of the constructor, which hold from this episode on: ``{"rate": "8mbit"}``. They begin another
            series, whose seed is drawn from that of the last.

        Returns
        -------
        observation : numpy.ndarray
            The observation of the first step, in which the learner does not act.
        info : dict
            ``cwnd``: the measurements of the step, and the random draw.
        """
        super().reset(seed=optional(whole, "seed", seed, 0, 2**64 - 1), options=options)
        if (changed := self._course.changed(options)) is not None:
            self._course = changed
            self._ezpickle_kwargs |= options or {}
        self._course.reset(seeds(seed, 1), lambda: int(self.np_random.integers(2**63)))
        return self._course.observations[0, 0].copy(), {"cwnd": {**self._course.info(0, 0), **self._course.drawn(0)}}

    def step(self, action: ArrayLike) -> tuple[Reals, float, bool, bool, dict[str, Any]]:
        """Take an action, and let a step pass.

        Parameters
        ----------
        action : array_like
            One number from -1 to 1.

        Returns
        -------
        observation : numpy.ndarray
            The observation of the step.
        reward : float
            For the step.
        terminated : bool
            Never: flows go on for ever.
        truncated : bool
            The episode has had all its steps, or its scenario has ended.
        info : dict
            ``cwnd``: the measurements of the step, and ``episode`` at its end.
        """
        course = self._course
        course.step("action", action, [(1,), ()])
        truncated = bool(course.ended[0])
        info = course.info(0, 0)
        if truncated:
            info["episode"] = course.totals(0)[0]
            course.end()
        return course.observations[0, 0].copy(), float(course.rewards[0, 0]), False, truncated, {"cwnd": info}
