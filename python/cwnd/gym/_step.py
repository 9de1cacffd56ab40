"""The measurements of a step, for custom rewards, observations and records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwnd import _native

__all__ = ["MASKS", "MEASURED", "NAMES", "Path", "Step", "infos", "split"]


class Step(NamedTuple):
    """The measurements of a sender in a step. Each is a number, or an array with an element per environment.

    Attributes
    ----------
    time : float
        When the step ended, seconds since the run began.
    duration : float
        How long it was, seconds.
    sent : float
        New packets sent, and packets found lost, which are sent again.
    delivered : float
        Packets delivered.
    lost : float
        Packets found lost.
    marked : float
        Acknowledged packets whose acknowledgement echoed a congestion mark.
    rtt : float
        Mean round-trip time, seconds.
    rtt_before : float
        That of the step before, seconds.
    min_rtt : float
        The smallest round-trip time of the flow so far, seconds; 0 before the first.
    best_rate : float
        The largest delivery rate of a step so far, packets per second.
    window : float
        The window at its end, packets; where a rate is steered, the packets sent in a smoothed round trip.
    """

    time: Any
    duration: Any
    sent: Any
    delivered: Any
    lost: Any
    marked: Any
    rtt: Any
    rtt_before: Any
    min_rtt: Any
    best_rate: Any
    window: Any


class Path(NamedTuple):
    """Measurements of a step that only the simulator knows: for rewards. Each is a number, or an array.

    Attributes
    ----------
    capacity : float
        The capacity of the bottleneck, packets per second.
    empty_rtt : float
        Round trip of a packet that meets no other, seconds.
    """

    capacity: Any
    empty_rtt: Any


MEASURED: dict[str, tuple[str, str]] = {name: (unit, text) for name, unit, text in _native.measured()}
"""Unit and meaning of the entries of ``info["cwnd"]`` for each step, by name and in order."""

NAMES = [*Step._fields, *Path._fields]
MASKS = [f"_{name}" for name in NAMES]


def split(measured: Any) -> tuple[Step, Path]:
    """Take the numbers of a step apart: the last axis has them."""
    numbers = np.moveaxis(measured, -1, 0) if measured.ndim > 1 else measured.tolist()
    known = len(Step._fields)
    return Step(*numbers[:known]), Path(*numbers[known:])


def infos(measured: NDArray[np.float64], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Name the numbers of many environments, a row each, as Gymnasium names them."""
    return {**dict(zip(NAMES, measured.T, strict=True)), **dict.fromkeys(MASKS, mask)}
