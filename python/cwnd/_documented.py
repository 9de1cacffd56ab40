"""The base classes of results: documents, with a report, as mappings of names."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._kept import Kept, Made

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Calls", "Documented", "Named", "Reported", "write"]

Native = TypeVar(
    "Native",
    bound=_native.Runs
    | _native.Compared
    | _native.Evaluated
    | _native.Conformed
    | _native.Falsified
    | _native.Overlaid
    | _native.Swept,
)

Calls = tuple[tuple[Any, ...], ...]
"""Methods of the extension's results with their arguments."""


class Documented(Generic[Native]):
    """The JSON document of the command line. It never changes: equal documents are equal results."""

    _calls: ClassVar[Calls] = (("to_json",), ("text",))
    """The part of the extension's result that a pickle contains."""

    def __init__(self, native: Native, made: Made | None = None, command: str = "") -> None:
        self._native: Native = native
        self._made = made
        self._command = command

    def _asked(self) -> Calls:
        return self._calls

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything that was measured, as ``--json`` of the command prints it. Keys carry their unit."""
        loaded: dict[str, Any] = json.loads(self._native.to_json())
        return loaded

    def __eq__(self, other: object) -> bool:
        return self.document == other.document if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._native.to_json())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        cached = [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]
        native: object = self._native
        kept = native if isinstance(native, Kept) else Kept.of(native, self._asked(), self._made)
        own = {name: value for name, value in vars(self).items() if name not in cached}
        return {**own, "_native": kept, "_made": self._made and self._made.carried()}


class Reported(Documented[Native]):
    """A result with a report."""

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report of the command line, one HTML page that refers to nothing outside itself.

        Parameters
        ----------
        path : path
            The file; one that exists is replaced.

        Returns
        -------
        Path
            The same.

        Raises
        ------
        FileError
            It cannot be written; then nothing of it is there.
        """
        return write(path, self._page())

    def _page(self) -> str:
        native: Any = self._native
        html: str = native.html(self._command)
        return html


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text to a file: whole or not at all."""
    target = arguments.path("path", path)
    _native.write(target, text)
    return Path(target)


Found = TypeVar("Found")


class Named(ABC, Generic[Found]):
    """A mapping from names to their values, in order.

    It is no :class:`collections.abc.Mapping`: polars would take that for columns, and not ask for the table.
    """

    @abstractmethod
    def _named(self) -> dict[str, Found]:
        """Give all of it."""

    def __getitem__(self, name: str) -> Found:
        """Find one by its name; the error lists the names."""
        known = self._named()
        if name not in known:
            raise KeyError(f"no `{name}`, expected one of {', '.join(known)}")
        return known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._named())

    def __len__(self) -> int:
        return len(self._named())

    def __contains__(self, name: object) -> bool:
        return name in self._named()

    def __array__(self, *_: object, **__: object) -> NoReturn:
        # pandas would make a column of the names.
        raise TypeError("no array: `.frame()` is a data frame of pandas, `.table` has the columns")

    def keys(self) -> KeysView[str]:
        """Name all.

        Returns
        -------
        collections.abc.KeysView
            In order.
        """
        return self._named().keys()

    def values(self) -> ValuesView[Found]:
        """List all.

        Returns
        -------
        collections.abc.ValuesView
            In order.
        """
        return self._named().values()

    def items(self) -> ItemsView[str, Found]:
        """List all with their names.

        Returns
        -------
        collections.abc.ItemsView
            In order.
        """
        return self._named().items()

    def get(self, name: str, default: Found | None = None) -> Found | None:
        """Find one by its name.

        Parameters
        ----------
        name : str
            Its name.
        default : object
            The value to return if there is none.

        Returns
        -------
        object
            The value.
        """
        return self._named().get(name, default)
