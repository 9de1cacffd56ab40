"""Scenarios as plain dictionaries."""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, NoReturn

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import OUTSIDE, Algorithm, Outside
from cwnd._arguments import mapping, plain
from cwnd._files import read_text
from cwnd._kept import carried
from cwnd.errors import ScenarioError

__all__ = ["Scenario", "copied", "written"]


class Scenario(MutableMapping[str, Any]):
    """A scenario: a topology, flows, and how long and how often to run them.

    A scenario is a nested dictionary with the keys of a scenario file, and may be edited like one. Keys may be
    dotted: ``scenario["dumbbell.rate"]`` is ``scenario["dumbbell"]["rate"]``, and ``scenario["flow.0.count"]`` the
    first group of flows. Quantities are text with their unit, as in a file. Whatever was written is checked when the
    scenario is used, with the messages of the command line.

    Parameters
    ----------
    document : mapping
        The keys of a scenario file.

    Examples
    --------
    >>> import cwnd
    >>> scenario = cwnd.Scenario.dumbbell(["reno", "cubic"], rate="50mbit", rtt="40ms")
    >>> scenario["dumbbell.queue"] = "droptail:0.5bdp"
    >>> scenario["flow.1.start"] = "5s"
    >>> scenario.check()
    """

    __slots__ = ("document",)

    document: dict[str, Any]
    """The keys of a scenario file, as plain dictionaries and lists."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = {key: copied(key, value) for key, value in mapping("document", document).items()}

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], *, changes: Mapping[str, object] | None = None) -> Scenario:
        """Read a scenario file.

        Parameters
        ----------
        path : path
            A TOML file, such as those below ``scenarios/`` of the project.
        changes : mapping, optional
            Dotted keys and their values: ``{"dumbbell.rate": "1gbit"}``.

        Returns
        -------
        Scenario
            With its defaults spelt out.

        Raises
        ------
        ScenarioError
            The first thing wrong with it, with its line.
        FileError
            The file cannot be read.
        """
        name = arguments.path("path", path)
        return cls(json.loads(_native.scenario(name, read_text("path", name), overrides("changes", changes))))

    @classmethod
    def from_text(cls, text: str) -> Scenario:
        """Read the text of a scenario file.

        Parameters
        ----------
        text : str
            A TOML document.

        Returns
        -------
        Scenario
            With its defaults spelt out.

        Raises
        ------
        ScenarioError
            The first thing wrong with it, with its line.
        """
        document = arguments.text("text", text, "[dumbbell]")
        return cls(json.loads(_native.scenario("scenario", document, [])))

    @classmethod
    def dumbbell(
        cls,
        algorithms: Algorithm | Sequence[Algorithm] = "reno",
        *,
        rate: str = "100mbit",
        rtt: str = "50ms",
        queue: str = "droptail:1bdp",
        loss: str | float = 0,
        flows: int = 1,
        duration: str = "60s",
        warmup: str | None = None,
        seeds: int = 5,
        **others: object,
    ) -> Scenario:
        """Make flows that share one bottleneck.

        Parameters
        ----------
        algorithms : algorithm or sequence of these
            Text such as ``aimd:b=1/8``, or algorithms in Python. One group of flows for each.
        rate : str
            The rate of the bottleneck.
        rtt : str
            The round-trip time without queueing.
        queue : str
            The queue of the bottleneck: a discipline and a size, in bandwidth-delay products (``bdp``), packets
            (``p``) or bytes (``kB``).
        loss : str or float
            Random loss at the bottleneck, a probability, or ``periodic:1000`` for every thousandth packet.
        flows : int
            Flows of each group.
        duration : str
            The length of a run.
        warmup : str, optional
            Measure after this time; after ten seconds if not given, and at most half of `duration`.
        seeds : int
            Independent runs.
        **others
            Any other key of a scenario at its top level, such as ``era="ns2-2001"``.

        Returns
        -------
        Scenario
            Not yet checked.
        """
        named = plain(algorithms)
        named = [named] if isinstance(named, (str, type)) or not isinstance(named, Iterable) else named
        return cls(
            {
                "duration": duration,
                **({} if warmup is None else {"warmup": warmup}),
                "seeds": seeds,
                **others,
                "dumbbell": {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss},
                "flow": [{"algorithm": algorithm, "count": flows} for algorithm in named],
            }
        )

    def check(self) -> None:
        """Check the scenario as a run would.

        Raises
        ------
        ScenarioError
            The first thing wrong with it.
        """
        self.complete()

    def complete(self) -> Scenario:
        """Spell the defaults out.

        Returns
        -------
        Scenario
            The scenario with every key that has a default.

        Raises
        ------
        ScenarioError
            The first thing wrong with it.
        """
        plain, outside = self.serialized()
        complete = Scenario(json.loads(_native.complete(plain)))
        for group, algorithm in outside:
            complete.document["flow"][group]["algorithm"] = algorithm
        return complete

    def serialized(
        self, stand_in: Callable[[Outside], str] = lambda _: "reno"
    ) -> tuple[str, list[tuple[int, Outside]]]:
        """Write the scenario as JSON, with its algorithms in Python apart.

        Parameters
        ----------
        stand_in : callable
            Gives the text of the built-in algorithm that stands for one in Python.

        Returns
        -------
        str
            The keys as they are, with a built-in algorithm in place of each that is in Python.
        list of tuple
            Those, with the numbers of their groups of flows.
        """
        document = _plain("", self.document)
        outside = []
        flows = document.get("flow")
        for index, group in enumerate(flows if isinstance(flows, list) else []):
            algorithm = group.get("algorithm") if isinstance(group, dict) else None
            if isinstance(algorithm, OUTSIDE):
                outside.append((index, algorithm))
                group["algorithm"] = stand_in(algorithm)
        return json.dumps(document, default=_no_value), outside

    def to_toml(self) -> str:
        """Write the scenario as a scenario file.

        Returns
        -------
        str
            TOML with the keys as they are.

        Raises
        ------
        ScenarioError
            An algorithm is in Python, which a file cannot hold.
        """
        plain, outside = self.serialized()
        if outside:
            raise ScenarioError(f"flow.{outside[0][0]}.algorithm is in Python: a file cannot hold it")
        return _native.to_toml(plain)

    def copy(self) -> Scenario:
        """Copy the scenario.

        Returns
        -------
        Scenario
            Nothing of it is shared.
        """
        return Scenario(self.document)

    def __getitem__(self, key: str) -> Any:
        value: Any = self.document
        for part in key.split("."):
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]
            except (IndexError, TypeError, ValueError) as error:
                raise KeyError(key) from error
        return value

    def __setitem__(self, key: str, value: object) -> None:
        value = plain(value)
        *parents, last = key.split(".")
        table: Any = self.document
        for part in parents:
            try:
                table = table[int(part)] if isinstance(table, list) else table.setdefault(part, {})
            except (AttributeError, IndexError, TypeError, ValueError) as error:
                raise KeyError(key) from error
        if isinstance(table, list):
            table[int(last)] = value
        elif isinstance(table, dict):
            table[last] = value
        else:
            raise KeyError(key)

    def __delitem__(self, key: str) -> None:
        parent, _, last = key.rpartition(".")
        table: Any = self[parent] if parent else self.document
        del table[int(last) if isinstance(table, list) else last]

    def __iter__(self) -> Any:
        return iter(self.document)

    def __reversed__(self) -> Any:
        return reversed(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __copy__(self) -> Scenario:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Scenario:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario, (carried("algorithm", self.document),)

    def __repr__(self) -> str:
        return f"Scenario({self.document!r})"


def copied(key: str, value: object) -> Any:
    """Copy a part of a scenario, whose place is called `key`."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {name: copied(f"{key}.{name}", item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(f"{key}.{index}", item) for index, item in enumerate(value)]
    try:
        return copy.deepcopy(value)
    except Exception as error:
        raise ScenarioError(f"{key}: cannot copy {value!r}: {error}") from None


def _plain(key: str, value: object) -> Any:
    """Drop None, which TOML cannot express, and refuse numbers that TOML cannot express; `key` is the place."""
    value = plain(value)
    if isinstance(value, Mapping):
        items = {str(name): item for name, item in value.items() if item is not None}
        return {name: _plain(f"{key}.{name}" if key else name, item) for name, item in items.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(f"{key}.{index}", item) for index, item in enumerate(value)]
    algorithm = isinstance(value, OUTSIDE)
    finite = isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    if algorithm or finite:
        return value
    raise ScenarioError(f"{key}: expected text, a finite number, a list or a dictionary, got {value!r}")


def _no_value(value: object) -> NoReturn:
    raise ScenarioError(f"only `algorithm` of a flow can be in Python, got {value!r}")


def overrides(name: str, changes: Mapping[str, object] | None) -> list[str]:
    """Write changes as ``--set`` takes them."""
    given = {} if changes is None else mapping(name, changes)
    return [f"{key}={written(f'{name}: {key}', value)}" for key, value in given.items()]


def written(name: str, value: object) -> str:
    """Write a value as ``--set`` takes it; `name` is its name."""

    def refuse(outside: object) -> NoReturn:
        raise ScenarioError(f"{name}: an algorithm in Python cannot be written as text, got {outside!r}")

    return value if isinstance(value, str) else json.dumps(_plain(name, value), default=refuse)
