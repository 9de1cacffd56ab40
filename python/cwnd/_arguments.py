"""Arguments as people give them: each is read by one of these, whose error names it."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from cwnd.errors import ArgumentError

__all__ = ["algorithms", "flag", "mapping", "optional", "path", "plain", "real", "reals", "text", "texts", "whole"]


def plain(value: Any) -> Any:
    """Convert values of NumPy and its relatives to those of Python.

    Parameters
    ----------
    value : object
        The given value.

    Returns
    -------
    object
        A number or text for a scalar, a list for an array, a series or a range, text with its unit for a length of
        time; everything else as it is.
    """
    if isinstance(value, (np.timedelta64, timedelta)):
        exact = np.timedelta64(getattr(value, "asm8", value))  # that of pandas
        return value if np.isnat(exact) else f"{_nanoseconds(exact)}ns"
    if isinstance(value, np.floating):
        # The shortest number of its own precision: 0.1 and not 0.10000000149.
        return float(str(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, range):
        return list(value)
    if hasattr(value, "__array__") and hasattr(value, "dtype") and not isinstance(value, type):
        array = np.asarray(value)
        return [plain(item) for item in array] if array.ndim else plain(array[()])
    return value


def _nanoseconds(length: np.timedelta64) -> int:
    span = length.item()
    if not isinstance(span, timedelta):
        return int(length.astype("timedelta64[ns]").astype(np.int64))
    # Nanoseconds of NumPy end after 292 years, and begin again.
    return span // timedelta(microseconds=1) * 1000


def text(name: str, value: object, example: str) -> str:
    """Read text.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
        The given value.
    example : str
        The accepted values.

    Returns
    -------
    str
        The value.
    """
    found = plain(value)
    if isinstance(found, str):
        return found
    raise ArgumentError(f'{name}: expected text such as "{example}", got {value!r}')


def texts(name: str, values: object, example: str) -> list[str]:
    """Read a list of texts."""
    values = plain(values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentError(f'{name}: expected a list of texts such as ["{example}"], got {values!r}')
    return [text(name, value, example) for value in values]


def whole(name: str, value: object, least: int, most: int) -> int:
    """Read a whole number from `least` to `most`."""
    found = plain(value)
    try:
        number = None if isinstance(found, bool) else operator.index(found)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, got {value!r}")
    return number


def real(name: str, value: object) -> float:
    """Read a finite number."""
    found = plain(value)
    try:
        number = math.nan if isinstance(found, (bool, str)) else float(found)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ArgumentError(f"{name}: expected a finite number, got {value!r}")
    return number


def reals(name: str, values: object) -> list[float]:
    """Read a list of finite numbers."""
    values = plain(values)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name}: expected a list of numbers, got {values!r}")
    return [real(name, value) for value in values]


def flag(name: str, value: object) -> bool:
    """Read True or False."""
    found = plain(value)
    if isinstance(found, bool):
        return found
    raise ArgumentError(f"{name}: expected True or False, got {value!r}")


def path(name: str, value: object) -> str:
    """Read a path."""
    try:
        found = os.fspath(value)  # type: ignore[call-overload]
    except TypeError:
        found = None
    if not isinstance(found, str):
        raise ArgumentError(f"{name}: expected a path, got {value!r}")
    return found


def optional(read: Any, name: str, value: object, *more: object) -> Any:
    """Read a value by `read`, or None."""
    return None if value is None else read(name, value, *more)


def mapping(name: str, value: object) -> Mapping[str, Any]:
    """Read a dictionary with text as its keys."""
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return value
    raise ArgumentError(f"{name}: expected a dictionary with text as its keys, got {value!r}")


def algorithms(name: str, values: object) -> list[Any]:
    """Read a list of algorithms, each as text or in Python; the extension reads these."""
    values = plain(values)
    if isinstance(values, (str, type)) or not isinstance(values, Iterable):
        raise ArgumentError(f'{name}: expected a list of algorithms such as ["reno"], got {values!r}')
    found = list(values)
    if not found:
        raise ArgumentError(f"{name}: name at least one")
    return found
