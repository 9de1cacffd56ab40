"""One colour per algorithm and one dash per flow of it, as in the reports of the command line."""

from __future__ import annotations

import colorsys

__all__ = ["DASHES", "DROP", "GRID", "MUTED", "SHADE", "TABLE", "TEXT", "colour"]


def colour(algorithm: str) -> str:
    """Say the colour of an algorithm: the same in every plot, and in the reports of the command line.

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
    name = algorithm.split(":", maxsplit=1)[0].strip()
    if name in TABLE:
        return TABLE[name]
    channels = colorsys.hls_to_rgb(_fnv1a(name.encode()) % 360 / 360, 0.33, 0.65)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def _fnv1a(text: bytes) -> int:
    found = 0x811C9DC5
    for byte in text:
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found


TABLE = {
    "reno": "#383838",
    "cubic": "#7b4c00",
    "simd": "#1f6cb0",
    "daimd": "#cc6004",
    "udt": "#279ea4",
    "exp-tcp": "#301195",
    "new-aimd": "#8f3e77",
    "aiad": "#6c0b04",
    "iiad": "#412963",
    "sqrt": "#a35764",
    "aimd": "#2b85aa",
    "binomial": "#653784",
    "highspeed": "#cb7d70",
    "scalable": "#0c6944",
    "mimd": "#2c3cb6",
    "miad": "#99533b",
}
"""Colours on white. Those of the papers' algorithms stay apart for readers with protanopia or deuteranopia."""

DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 2), (12, 4), (1, 3), (6, 2, 1, 2, 1, 2))
"""Lengths drawn and left out, of the flows of one algorithm."""

TEXT, MUTED, GRID, SHADE, DROP = "#16191d", "#59616b", "#e3e6ea", "#eceef1", "#c0182b"
"""What is written, what stands back, grid lines, the warm-up, losses."""
