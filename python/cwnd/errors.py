"""The exceptions, as a small tree.

All of them are a :class:`CwndError`; each is also the built-in exception that a caller without knowledge of cwnd would
catch. The messages are those of the command line: they name the place and the accepted values.
"""

from __future__ import annotations

__all__ = [
    "AlgorithmError",
    "ArgumentError",
    "CwndError",
    "FileError",
    "ScenarioError",
    "SimulationError",
    "StoreError",
]


class CwndError(Exception):
    """Anything that cwnd refuses or fails at."""


class ArgumentError(CwndError, ValueError):
    """An argument of a function is not accepted; the message names it."""


class AlgorithmError(CwndError, ValueError):
    """An algorithm is unknown, or one of its parameters is not accepted."""


class FileError(CwndError, OSError):
    """A file that an argument names cannot be read or written."""


class ScenarioError(CwndError, ValueError):
    """A scenario cannot be run; the message shows the line and the accepted values."""


class SimulationError(CwndError, RuntimeError):
    """The input was right, and yet a run could not be finished."""


class StoreError(CwndError, OSError):
    """The results of a run cannot be written to their directory."""
