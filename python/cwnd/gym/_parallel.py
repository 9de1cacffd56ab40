"""Several steered flows on one network, as PettingZoo has it."""

from __future__ import annotations

from inspect import Signature
from typing import Any, ClassVar

from gymnasium.spaces import Space
from gymnasium.utils import seeding
from numpy.typing import ArrayLike
from pettingzoo import ParallelEnv
from typing_extensions import Unpack

from cwnd._arguments import mapping
from cwnd.errors import ArgumentError
from cwnd.gym._course import Course
from cwnd.gym._options import Options, Reals, Repeatable, completed, refuse_rendering, seeds

__all__ = ["SharedBottleneckEnv"]


@completed
class SharedBottleneckEnv(ParallelEnv[str, Reals, ArrayLike], Repeatable):
    """Learners steer flows that share a network; each agent is a flow.

    A step is the longest of their smoothed round trips, and goes on until ``packets`` packets per flow were delivered,
    on average. Until a flow has started and had a packet delivered, its observation and its reward are 0. All agents
    are there from the start to the end.

    Parameters
    ----------
    agents : int or sequence of int
        The steered flows: the number of the first ones, or the numbers of each.
    **options
        Those of :class:`BottleneckEnv`. Goodput counts as a share of the whole capacity.
    """

    __signature__: ClassVar[Signature]
    metadata: ClassVar[dict[str, Any]] = {"name": "cwnd_shared_bottleneck_v0", "render_modes": []}

    def __init__(  # type: ignore[misc]  # `agents` is an option too
        self, agents: Any = 2, *, render_mode: str | None = None, **options: Unpack[Options]
    ) -> None:
        refuse_rendering(render_mode)
        Repeatable.__init__(self, **{"agents": agents, **options})
        self.render_mode = None
        self._course = Course(1, {"agents": agents, **options})
        self.possible_agents = [f"flow_{index}" for index in range(len(self._course.names))]
        self.agents: list[str] = []
        self._random: Any = None
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._course.space)
        self.action_spaces = {agent: Course.action_space() for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Space[Any]:
        """Give the space of an agent's observations.

        Parameters
        ----------
        agent : str
            The agent.

        Returns
        -------
        gymnasium.spaces.Space
            The same object each time.
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Give the space of an agent's actions.

        Parameters
        ----------
        agent : str
            The agent.

        Returns
        -------
        gymnasium.spaces.Space
            The same object each time.
        """
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Reals], dict[str, dict[str, Any]]]:
        """Start the next episode.

        Parameters
        ----------
        seed : int, optional
            Starts a series of episodes; without it the series goes on.
        options : dict, optional
            Options of the constructor, as :meth:`BottleneckEnv.reset` has them.

        Returns
        -------
        observations : dict
            By agent.
        infos : dict
            By agent, as :meth:`BottleneckEnv.reset` has them.
        """
        given = seeds(seed, 1)
        if given is not None or self._random is None:
            self._random, _ = seeding.np_random(given[0] if given else None)
        draw = self._random
        # PettingZoo's own test of the interface gives an option of this name.
        options = {name: value for name, value in (options or {}).items() if name != "options"}
        if (changed := self._course.changed(options)) is not None:
            self._course = changed
            self._ezpickle_kwargs |= options or {}
        self._course.reset(given, lambda: int(draw.integers(2**63)))
        self.agents = list(self.possible_agents)
        measured = self._measured()
        infos = {agent: {"cwnd": {**measured[agent], **self._course.drawn(0)}} for agent in self.agents}
        return self._observations(), infos

    def step(
        self, actions: dict[str, ArrayLike]
    ) -> tuple[dict[str, Reals], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take an action for each flow, and let a step pass.

        Parameters
        ----------
        actions : dict
            One number from -1 to 1 by agent; that of an agent that is missing counts as 0.

        Returns
        -------
        observations, rewards, terminations, truncations, infos : dict
            As :meth:`BottleneckEnv.step`, by agent.
        """
        course = self._course
        given = mapping("actions", actions)
        unknown = next((agent for agent in given if agent not in self.possible_agents), None)
        if unknown is not None:
            raise ArgumentError(f"actions: unknown agent {unknown!r}, expected {', '.join(self.possible_agents)}")
        single = [
            Course.read(f"actions[{agent!r}]", given.get(agent, 0.0), [(1,), ()]) for agent in self.possible_agents
        ]
        course.step("actions", [action.item() for action in single], [(len(single),)])
        agents = self.agents
        over = bool(course.ended[0])
        observations = self._observations()
        rewards = {agent: float(reward) for agent, reward in zip(agents, course.rewards[0], strict=True)}
        measured = self._measured()
        for agent, total in zip(agents, course.totals(0) if over else [], strict=False):
            measured[agent]["episode"] = total
        infos: dict[str, dict[str, Any]] = {agent: {"cwnd": measured[agent]} for agent in agents}
        if over:
            self.agents = []
            course.end()
        return observations, rewards, dict.fromkeys(agents, False), dict.fromkeys(agents, over), infos

    def _observations(self) -> dict[str, Reals]:
        return {agent: seen.copy() for agent, seen in zip(self.agents, self._course.observations[0], strict=True)}

    def _measured(self) -> dict[str, dict[str, Any]]:
        return {agent: self._course.info(0, index) for index, agent in enumerate(self.agents)}
