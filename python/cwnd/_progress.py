"""How far long work is, on a terminal or reported to a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from cwnd import _native

__all__ = ["reporting"]


@contextmanager
def reporting(
    sweeping: _native.Sweeping, progress: bool | Callable[[int, int, int], object] | None
) -> Iterator[Report]:
    """Give a function that looks how far a sweep is, and says so as `progress` wants it.

    Parameters
    ----------
    sweeping : Sweeping
        The sweep on its way.
    progress : bool, callable or None
        As in :func:`cwnd.sweep`.

    Yields
    ------
    callable
        To be called now and then.
    """
    total = sweeping.cells()

    def look() -> tuple[int, int]:
        counts = sweeping.counts()
        return sum(counts), counts[2]

    if callable(progress):
        notify = progress
        last: list[tuple[int, int]] = []

        def report() -> None:
            now = look()
            if last != [now]:
                last[:] = [now]
                notify(*now, total)

        yield report
        report()
    elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        bar = _Bar(sys.stderr, total)
        try:
            yield lambda: bar.draw(*look())
        finally:
            bar.clear()
    else:
        yield lambda: None


Report = Callable[[], None]


class _Bar:
    """A line that is written over and over."""

    def __init__(self, out: TextIO, total: int) -> None:
        self._out = out
        self._total = total
        self._began = time.monotonic()
        self._drawn = 0

    def draw(self, done: int, failed: int) -> None:
        filled = WIDTH * done // max(self._total, 1)
        rate = done / max(time.monotonic() - self._began, 1e-3)
        left = f", {_duration((self._total - done) / rate)} left" if done else ""
        line = f"{'█' * filled}{'░' * (WIDTH - filled)} {done} of {self._total} cells, {rate:.1f}/s{left}"
        line += f", {failed} failed" if failed else ""
        self._out.write("\r" + line.ljust(self._drawn))
        self._out.flush()
        self._drawn = len(line)

    def clear(self) -> None:
        self._out.write("\r" + " " * self._drawn + "\r")
        self._out.flush()


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return (
        f"{minutes // 60}h {minutes % 60}m" if minutes >= 60 else f"{minutes}m {seconds}s" if minutes else f"{seconds}s"
    )


WIDTH = 30
