"""Results in pickles: what the extension said of them, and the call that makes them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cwnd import _native
from cwnd._table import Table

__all__ = ["Kept", "Made"]


@dataclass(frozen=True, slots=True)
class Made:
    """The call that made a result. The same call makes the same result, on every machine.

    Attributes
    ----------
    function : str
        A function of the extension.
    arguments : tuple
        What it was given.
    part : tuple
        The method that gives a part of what it returned, and the arguments of that; empty for all of it.
    """

    function: str
    arguments: tuple[Any, ...]
    part: tuple[Any, ...] = ()

    def again(self) -> Any:
        """Make it again."""
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
        return Kept, (self._answers, self._made)
