"""Files that people write, which have an end."""

from __future__ import annotations

import os
from pathlib import Path

from cwnd._arguments import path as read_path
from cwnd.errors import FileError

__all__ = ["read_text"]

_MOST = 16 << 20


def read_text(name: str, path: str | os.PathLike[str]) -> str:
    """Read a scenario or a sweep: at most 16 MiB, so that a device without an end is refused.

    Parameters
    ----------
    name : str
        The name of the argument.
    path : path
        The given value.

    Returns
    -------
    str
        The text.
    """
    plain = read_path(name, path)
    try:
        with Path(plain).open("rb") as file:
            content = file.read(_MOST + 1)
        if len(content) <= _MOST:
            return content.decode("utf-8")
        reason = "it is longer than 16 MiB"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    raise FileError(f"{name}: cannot read `{plain}`: {reason}")
