"""Whether two algorithms in Python are one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from numbers import Number
from typing import Any

import numpy as np

__all__ = ["alike"]


def alike(one: Any, other: Any) -> bool:
    """Compare the contents of two objects, as copies of them would.

    Parameters
    ----------
    one, other : object
        Such as algorithms. Their attributes may be arrays, objects without an ``==`` of their own, and themselves.

    Returns
    -------
    bool
        Nothing distinguishes them. A class and a function is only like itself, as is an object that cannot be pickled.
    """
    try:
        return _Comparing().alike(one, other)
    except Exception:
        return False


class _Comparing:
    """Compares two objects. Each pair within is compared once, so that objects may contain themselves."""

    def __init__(self) -> None:
        # The objects are kept, so that no other gets the address of one.
        self._begun: dict[tuple[int, int], tuple[Any, Any]] = {}

    def alike(self, one: Any, other: Any) -> bool:
        if one is other:
            return True
        if isinstance(one, Number) and isinstance(other, Number):
            return bool(one == other) or (_nan(one) and _nan(other))
        if type(one) is not type(other) or isinstance(one, (type, str, bytes, Set)):
            return bool(type(one) is type(other) and one == other)
        pair = (id(one), id(other))
        if pair in self._begun:
            return True
        self._begun[pair] = (one, other)
        if isinstance(one, Mapping):
            return one.keys() == other.keys() and all(self.alike(one[key], other[key]) for key in one)
        parts, others = _parts(one), _parts(other)
        return len(parts) == len(others) and all(map(self.alike, parts, others))


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, np.ndarray):
        content = value.ravel().tolist() if value.dtype == np.object_ else [value.tobytes()]
        return [value.dtype.str, value.shape, *content]
    # The contents of a copy.
    return (value.__reduce_ex__(4),)


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
