"""Estimates over independent seeds, and the measures they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwnd import _native
from cwnd._html import page

__all__ = ["SHOWN", "Estimate", "Estimates", "units"]

_MEASURES = _native.measures()

SHOWN = ("goodput_bps", "utilisation", "jain", "queue_delay_mean_s", "loss_rate")
"""Measures of the table in a notebook."""


def units() -> dict[str, str]:
    """Give the unit of every measure."""
    return {name: unit for name, unit, _ in _MEASURES}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over independent seeds, and how far it can be trusted.

    Attributes
    ----------
    mean : float
        The mean, in the unit of the quantity.
    ci95 : float or None
        Half the width of the 95 % Student t interval ``mean ± ci95``, whatever values are possible; None with a single
        run.
    n : int
        How many runs had a value.
    low : float
        The lower end of the shown interval: below five runs the smallest value, from five on the lower end of the 95 %
        interval, but no value that the quantity cannot have.
    high : float
        The upper end of the shown interval, by the rules of `low`.
    """

    mean: float
    ci95: float | None
    n: int
    low: float
    high: float

    def overlaps(self, other: Estimate) -> bool:
        """Whether neither mean can be called the larger.

        Parameters
        ----------
        other : Estimate
            An estimate of the same measure.

        Returns
        -------
        bool
            Whether their intervals (`low` to `high`) overlap; always for single runs.
        """
        if self.ci95 is None or other.ci95 is None:
            return True
        return self.low <= other.high and other.low <= self.high

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return _native.written(self.mean, self.ci95, self.n, self.low, self.high)


class Estimates(Mapping[str, Estimate]):
    """Measures over all seeds by their names, which carry their unit.

    A measure that no run could answer is missing.
    """

    __slots__ = ("_measures", "flow_goodput_bps")

    flow_goodput_bps: tuple[Estimate | None, ...]
    """Payload of each flow that arrived for the first time, bit/s, in order of the scenario; None if not there."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        found = {name: document.get(name) for name, _, _ in _MEASURES}
        self._measures = {name: Estimate(**value) for name, value in found.items() if value is not None}
        self.flow_goodput_bps = tuple(
            None if value is None else Estimate(**value) for value in document.get("flow_goodput_bps", ())
        )

    def __getitem__(self, measure: str) -> Estimate:
        return self._measures[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())

    def _repr_html_(self) -> str:
        known = units()
        rows = ((name, value, known[name]) for name, value in self.items())
        return page(self._title(), ["measure", "value", "unit"], rows, rest="`[measure]` is an estimate.")

    def _title(self) -> str:
        return "Estimates"
