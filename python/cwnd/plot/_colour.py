"""One colour per algorithm, as in the reports of the command line, and the colours of everything else."""

from __future__ import annotations

from cwnd import _native
from cwnd._arguments import text

__all__ = ["GRID", "MUTED", "SHADE", "TEXT", "colour"]


def colour(algorithm: str) -> str:
    """Return the colour of an algorithm: the same in every plot, and in the reports of the command line.

    Parameters
    ----------
    algorithm : str
        As it was written; its parameters do not change the colour.

    Returns
    -------
    str
        ``#rrggbb``, with a contrast of at least 3:1 to white.

    Examples
    --------
    >>> from cwnd.plot import colour
    >>> colour("simd:beta=1/8")
    '#1f6cb0'
    """
    return _native.colour(text("algorithm", algorithm, "simd"))


TEXT, MUTED, GRID, SHADE = "#16191d", "#59616b", "#e3e6ea", "#eceef1"
"""Text, faint text, grid lines, the warm-up."""
