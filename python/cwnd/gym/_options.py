"""The options of environments: their types, and how they are read."""

from __future__ import annotations

import copy
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias, TypedDict, TypeVar, cast

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import EzPickle
from numpy.typing import ArrayLike, NDArray

from cwnd._algorithm import OUTSIDE, Algorithm
from cwnd._arguments import mapping, optional, plain, real, reals, text, whole
from cwnd._kept import carried
from cwnd._scenario import Scenario
from cwnd.errors import ArgumentError
from cwnd.gym._step import Path, Step

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "DEFAULTS",
    "Action",
    "Drawn",
    "KeywordError",
    "Number",
    "Observation",
    "Options",
    "Reals",
    "Repeatable",
    "Reward",
    "checked",
    "completed",
    "flows",
    "lever",
    "refuse_rendering",
    "scenarios",
    "settings",
]

Reals: TypeAlias = NDArray[np.float32]
Drawn: TypeAlias = str | tuple[str, str] | None
Number: TypeAlias = float | tuple[float, float] | None
Reward: TypeAlias = str | tuple[str, Sequence[float]] | Callable[[Step, Path], Any]
Action: TypeAlias = Literal["window", "rate", "over"] | tuple[Literal["over"], Algorithm]
Observation: TypeAlias = tuple[Callable[[Step], ArrayLike], Box]


class Options(TypedDict, total=False):
    """The options of every environment, for type checkers and editors; :class:`BottleneckEnv` says what they mean."""

    scenario: Scenario | Sequence[Scenario] | None
    agents: int | Sequence[int] | None
    rate: Drawn
    rtt: Drawn
    queue: Number
    loss: Number
    action: Action
    gain: float | None
    packets: SupportsIndex
    steps: SupportsIndex
    reward: Reward
    observation: Observation | None
    algorithm: Algorithm | None


DEFAULTS: Options = {
    "scenario": None,
    "agents": None,
    "rate": ("4mbit", "40mbit"),
    "rtt": ("10ms", "100ms"),
    "queue": (0.5, 2.0),
    "loss": 0.0,
    "action": "window",
    "gain": None,
    "packets": 10,
    "steps": 400,
    "reward": "linear",
    "observation": None,
    "algorithm": None,
}


NETWORK = ("rate", "rtt", "queue", "loss")
"""The options that change a network: without a value a scenario keeps its own."""


class KeywordError(ArgumentError, TypeError):
    """A keyword is not accepted. Also the exception of Python for that case, for callers that try without it."""


Made = TypeVar("Made", bound=type)


def completed(made: Made) -> Made:
    """Show the options in the signature of a class that takes them as ``**options``, where editors look for them."""
    own = [one for one in inspect.signature(made).parameters.values() if one.kind is not one.VAR_KEYWORD]
    names = {one.name for one in own}
    hints = Options.__annotations__
    more = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=getattr(hints[name], "__forward_arg__", hints[name]),
        )
        for name, default in DEFAULTS.items()
        if name not in names
    ]
    made.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
    return made


class Repeatable(EzPickle):
    """Pickles and copies of an environment: another one with the same options, which begins with a reset."""

    _ezpickle_args: tuple[Any, ...]
    _ezpickle_kwargs: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        options = {name: carried(name, value) for name, value in self._ezpickle_kwargs.items()}
        return {"_ezpickle_args": self._ezpickle_args, "_ezpickle_kwargs": options}

    def __copy__(self) -> Self:
        return type(self)(*self._ezpickle_args, **self._ezpickle_kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(*self._ezpickle_args, **copy.deepcopy(self._ezpickle_kwargs, memo))


def checked(given: Mapping[str, Any], place: str = "") -> Options:
    """Refuse names that no option has, and put the defaults in for the others; `place` says where they were given.

    A scenario that was given keeps its own path unless an option changes it.
    """
    for name in given:
        if name in OF_SOME:
            raise KeywordError(f"{place}{name}: there is no such option here, {OF_SOME[name]}")
        if name not in DEFAULTS:
            near = difflib.get_close_matches(name, DEFAULTS, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else f"expected one of {', '.join(DEFAULTS)}"
            raise KeywordError(f"{place}{name}: there is no such option, {hint}")
    own: Iterable[str] = NETWORK if given.get("scenario") is not None else ()
    return cast("Options", {**DEFAULTS, **dict.fromkeys(own), **given})


def changed(before: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Lay the options of a reset over those that were given before; None if there are none."""
    if given is None or not mapping("options", given):
        return None
    checked(given, "options: ")
    return {**before, **given}


def scenarios(given: object, agents: range | list[int] | None) -> list[Scenario]:
    """Read the networks, of which one is drawn for each episode."""
    if given is None:
        # An episode ends after a number of steps, long before the end of the run.
        if agents and max(agents) >= MAX_AGENTS:
            raise ArgumentError(f"agents: without a scenario flows are below {MAX_AGENTS}, got {max(agents)}")
        made = Scenario.dumbbell(flows=max(agents, default=0) + 1 if agents else 1, duration="10000s")
        made["sampling"] = "off"
        return [made]
    found = [given] if isinstance(given, Scenario) else given
    if isinstance(found, (list, tuple)) and found and all(isinstance(one, Scenario) for one in found):
        return list(found)
    raise ArgumentError(f"scenario: expected a cwnd.Scenario or a list of them, got {given!r}")


def flows(agents: object) -> range | list[int] | None:
    """Read which flows are steered."""
    agents = plain(agents)
    if agents is None:
        return None
    if isinstance(agents, Iterable) and not isinstance(agents, str):
        return [whole("agents", agent, 0, MAX_FLOWS) for agent in agents]
    return range(whole("agents", agents, 1, MAX_FLOWS))


def lever(action: object, gain: object) -> dict[str, object]:
    """Read the target of an action, and the size of the change."""
    over: object = None
    if isinstance(action, (tuple, list)) and len(action) == ENDS and action[0] == "over":
        action, over = action
    elif isinstance(action, str) and action == "over":
        over = "cubic"
    if not isinstance(action, str) or action not in GAINS:
        raise ArgumentError(f'action: expected "window", "rate" or ("over", "cubic"), got {action!r}')
    if over is not None and not isinstance(over, (str, *OUTSIDE)):
        raise ArgumentError(f'action: expected an algorithm such as "cubic" below the learner, got {over!r}')
    return {"lever": action, "over": over, "gain": GAINS[action] if gain is None else real("gain", gain)}


def settings(given: Options) -> dict[str, object]:
    """Read the options of the extension."""
    algorithm = given["algorithm"]
    if algorithm is not None and not isinstance(algorithm, OUTSIDE):
        algorithm = text("algorithm", algorithm, "reno")
    return {
        **lever(given["action"], given["gain"]),
        "packets": whole("packets", given["packets"], 1, MAX_PACKETS),
        "steps": whole("steps", given["steps"], 1, 2**32 - 1),
        "reward": ("linear", []) if callable(given["reward"]) else _reward(given["reward"]),
        "rate": _range("rate", given["rate"], lambda name, end: text(name, end, "4mbit")),
        "rtt": _range("rtt", given["rtt"], lambda name, end: text(name, end, "10ms")),
        "queue": _range("queue", given["queue"], real),
        "loss": _range("loss", given["loss"], real),
        "algorithm": algorithm,
    }


def observation(given: object) -> Observation | None:
    """Read an observation of one's own, and its space."""
    if given is None:
        return None
    if isinstance(given, (tuple, list)) and len(given) == ENDS and callable(given[0]) and isinstance(given[1], Box):
        return given[0], given[1]
    raise ArgumentError(f"observation: expected a function of a step and a gymnasium.spaces.Box, got {given!r}")


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
    raise ArgumentError(
        f'reward: expected "linear", "power", one of these with its weights, or a function, got {given!r}'
    )


def seeds(given: object, count: int) -> list[int | None] | None:
    """Read the seeds of `count` environments: the first of a row, or a list."""
    given = plain(given)
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ArgumentError(f"seed: expected {count} of them, got {len(given)}")
        return [optional(whole, "seed", one, 0, 2**64 - 1) for one in given]
    first = optional(whole, "seed", given, 0, 2**64 - 1)
    return None if first is None else [(first + nth) % 2**64 for nth in range(count)]


def refuse_rendering(render_mode: object) -> None:
    """Refuse every way of rendering."""
    if render_mode is not None:
        raise KeywordError(f"render_mode: there is nothing to render, got {render_mode!r}")


# Options of only one of the environments, with the reason.
OF_SOME = {
    "num_envs": "BottleneckVectorEnv takes it",
    "copy": "BottleneckVectorEnv takes it",
    "render_mode": "there is nothing to render",
}
# The default effect of an action of 1: doubles a window, Aurora's step of a rate, Orca's two octaves.
GAINS = {"window": 1.0, "rate": 0.025, "over": 2.0}
# Numbers of a range, and parts of a pair.
ENDS = 2
# The limits of scenarios.
MAX_FLOWS = 4_000_000
# Steered flows of a network that no scenario gives.
MAX_AGENTS = 1 << 16
# That a step waits for.
MAX_PACKETS = 1 << 20
