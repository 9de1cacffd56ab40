"""Results in pickles: the documents of the extension, and the call that makes them again."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cwnd import _native
from cwnd._table import Table
from cwnd.errors import SimulationError

__all__ = ["Kept", "Made", "carried"]


def carried(name: str, value: Any) -> Any:
    """Prepare a value for a pickle: as it is, or by value where its code is in no module that can be imported.

    Parameters
    ----------
    name : str
        Its name.
    value : object
        Such as a function or an algorithm, which may be a lambda or of a class within a function.

    Returns
    -------
    object
        The object, or one from which it can be made again.

    Raises
    ------
    PicklingError
        It cannot be pickled; the message names it.
    """
    try:
        pickle.dumps(value)
    except Exception as error:
        try:
            import cloudpickle  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415  (an optional dependency)

            return _ByValue(cloudpickle.dumps(value))
        except ImportError:
            reason = f"{error}; by value it takes the package cloudpickle"
        except Exception as deeper:
            reason = str(deeper)
        raise pickle.PicklingError(f"{name}: cannot pickle {value!r}: {reason}") from error
    return value


class _ByValue:
    """Becomes a value when it comes out of a pickle."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self._content,)


@dataclass(frozen=True, slots=True)
class Made:
    """The call that made a result. Equal calls make equal results, on every machine.

    Attributes
    ----------
    function : str
        A function of the extension.
    arguments : tuple
        Its arguments.
    part : tuple
        The method that returns a part of its result, with the arguments of that method; empty for all of it.
    missing : str
        Why it cannot be made again, where something that it was given cannot be pickled; otherwise empty.
    """

    function: str
    arguments: tuple[Any, ...]
    part: tuple[Any, ...] = ()
    missing: str = ""

    def carried(self) -> Made:
        """Prepare it for a pickle."""
        try:
            return Made(self.function, carried("algorithm", self.arguments), self.part, self.missing)
        except pickle.PicklingError as error:
            return Made(self.function, (), self.part, str(error))

    def again(self) -> Any:
        """Make it again."""
        if self.missing:
            raise SimulationError(f"this copy cannot be run again, as plots and reports need it: {self.missing}")
        found = getattr(_native, self.function)(*self.arguments)
        return getattr(found, self.part[0])(*self.part[1:]) if self.part else found


class Kept:
    """Stands for a result of the extension: has the answers to some calls, and makes the result again for others."""

    def __init__(self, answers: dict[tuple[Any, ...], Any], made: Made | None) -> None:
        self._answers = answers
        self._made = made
        self._again: Any = None

    @staticmethod
    def of(native: Any, calls: Iterable[tuple[Any, ...]], made: Made | None) -> Kept:
        """Ask a result of the extension these calls: the name of a method and its arguments."""

        def answer(name: str, *arguments: object) -> Any:
            found = getattr(native, name)(*arguments)
            return Table(found) if isinstance(found, _native.Table) else found

        return Kept({call: answer(*call) for call in calls}, made)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def answer(*arguments: Any) -> Any:
            if all(isinstance(argument, (str, bool)) for argument in arguments):
                found = self._answers.get((name, *arguments), self)
                if found is not self:
                    return found._native if isinstance(found, Table) else found
            if self._again is None:
                if self._made is None:
                    raise AttributeError(name)
                self._again = self._made.again()
            return getattr(self._again, name)(*arguments)

        return answer

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, (self._answers, self._made and self._made.carried())
