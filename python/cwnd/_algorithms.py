"""The registered algorithms."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cwnd import _native
from cwnd._arguments import text
from cwnd._table import Rows

__all__ = ["AlgorithmInfo", "Parameter", "algorithm", "algorithms"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an algorithm.

    Attributes
    ----------
    name : str
        Its key in ``name:key=value``.
    help : str
        Its effect.
    unit : str
        Its unit; empty for a plain number.
    default : str
        Its default, or how that is derived.
    accepted : str
        The accepted values.
    """

    name: str
    help: str
    unit: str
    default: str
    accepted: str


@dataclass(frozen=True, slots=True)
class AlgorithmInfo:
    """The description of a built-in algorithm.

    Attributes
    ----------
    name : str
        Its name everywhere.
    aliases : tuple of str
        Other names that are understood.
    title : str
        One line about it.
    family : str
        ``core`` (subject of a paper), ``baseline`` (what others compare with), ``named`` (only mentioned) or ``own``
        (a rule given as text).
    transport : str
        Its requirement of the transport: ``acked``, ``reported``, ``datagram`` or ``routed``.
    source : str
        Paper and equation, RFC and section, or the code it follows.
    deviations : tuple of str
        Where it departs from its source.
    parameters : tuple of Parameter
        Its parameters.
    """

    name: str
    aliases: tuple[str, ...]
    title: str
    family: str
    transport: str
    source: str
    deviations: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def algorithms() -> Rows[AlgorithmInfo]:
    """List every built-in algorithm.

    Returns
    -------
    list of AlgorithmInfo
        In the order of the project's table.

    Examples
    --------
    >>> import cwnd
    >>> "simd" in [known.name for known in cwnd.algorithms()]
    True
    """
    return Rows(_info(known) for known in json.loads(_native.algorithms()))


def algorithm(name: str) -> AlgorithmInfo:
    """Describe one built-in algorithm.

    Parameters
    ----------
    name : str
        Its name, or its name with parameters, which are checked.

    Returns
    -------
    AlgorithmInfo
        Its source, its parameters and where it deviates.

    Raises
    ------
    AlgorithmError
        There is none of this name, or a parameter is refused; the message has the nearest.

    Examples
    --------
    >>> import cwnd
    >>> [parameter.name for parameter in cwnd.algorithm("aimd").parameters]
    ['a', 'b', 'ecn_beta']
    """
    return _info(json.loads(_native.algorithm(text("name", name, "simd"))))


def _info(known: dict[str, Any]) -> AlgorithmInfo:
    parameters = tuple(Parameter(**parameter) for parameter in known.pop("parameters"))
    lists = {key: tuple(known[key]) for key in ("aliases", "deviations")}
    return AlgorithmInfo(**{**known, **lists, "parameters": parameters})
