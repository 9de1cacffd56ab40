"""Texts of others in figures of matplotlib, which reads formulas and hints in them."""

from __future__ import annotations

__all__ = ["literal"]


def literal(text: str) -> str:
    """Have a text drawn as it is.

    Parameters
    ----------
    text : str
        Such as the name of an algorithm.

    Returns
    -------
    str
        Without formulas, which stand between dollars; and not left out of a legend, as labels with ``_`` in front are.
    """
    shown = text.replace("$", r"\$")
    return f"{ZERO_WIDTH}{shown}" if shown.startswith("_") else shown


ZERO_WIDTH = "\u200b"
