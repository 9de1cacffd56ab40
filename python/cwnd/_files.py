"""Files that people write, which have an end."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["read_text"]

_MOST = 16 << 20


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a scenario or a sweep: at most 16 MiB, so that a device without an end is refused."""
    with Path(path).open("rb") as file:
        content = file.read(_MOST + 1)
    if len(content) > _MOST:
        raise OSError(27, "it is longer than 16 MiB", os.fspath(path))
    return content.decode("utf-8")
