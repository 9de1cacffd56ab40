"""Numbers as people give them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cwnd.errors import ArgumentError

__all__ = ["array", "numbers"]


def array(name: str, values: npt.ArrayLike, dimensions: int) -> npt.NDArray[np.float64]:
    """Read an array with a number of dimensions.

    Parameters
    ----------
    name : str
        The name of the argument.
    values : array_like
        The given value.
    dimensions : int
        How many it must have.

    Returns
    -------
    ndarray
        Of floating-point numbers.
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: expected numbers: {error}") from None
    if found.ndim != dimensions:
        wanted = "one dimension" if dimensions == 1 else f"{dimensions} dimensions"
        raise ArgumentError(f"{name}: expected {wanted}, got {found.ndim}")
    return found


def numbers(name: str, values: npt.ArrayLike) -> list[float]:
    """Read a list of numbers.

    Parameters
    ----------
    name : str
        The name of the argument.
    values : array_like
        The given value, of one dimension.

    Returns
    -------
    list of float
        As the extension takes them.
    """
    read: list[float] = array(name, values, 1).tolist()
    return read
