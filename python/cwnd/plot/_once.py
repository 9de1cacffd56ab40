"""Figures that a notebook shows once. Needs matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure

__all__ = ["Once"]


class Once(Figure):
    """A figure that is no longer open once it was shown as the result of a cell.

    A notebook shows the result of a cell, and after that every figure that is open.
    """

    def set(self, **kwargs: Any) -> list[Any]:
        """Set properties; matplotlib would give every class of its own another signature, which stubs do not know."""
        return super().set(**kwargs)

    def _repr_mimebundle_(self, **_: Any) -> None:
        # The usual formatters of figures do the rest.
        pyplot.close(self)
