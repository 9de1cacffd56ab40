"""Tables that any data-frame library takes without a copy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from cwnd import _native
from cwnd._html import page

if TYPE_CHECKING:
    import polars

__all__ = ["Columns", "Field", "Rows", "Table", "frame_of", "records_html"]


@dataclass(frozen=True, slots=True)
class Field:
    """The content of a column.

    Attributes
    ----------
    name : str
        Its name, with the unit at its end where it has one.
    unit : str
        Its unit; empty for a plain number or text.
    description : str
        Its meaning.
    """

    name: str
    unit: str
    description: str


class Columns(ABC):
    """A table: a sequence of rows, each a dictionary, whose columns are found by their names."""

    __slots__ = ()

    @abstractmethod
    def _as_table(self) -> Table:
        """Give the columns."""

    def __len__(self) -> int:
        return len(self._as_table()._native)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as dictionaries; a number that is not there is ``nan``."""
        table = self._as_table()
        columns = {name: table[name].tolist() for name in table.columns}
        for row in zip(*columns.values(), strict=True):
            yield dict(zip(columns, row, strict=True))

    def __reversed__(self) -> Iterator[dict[str, Any]]:
        return iter(list(self)[::-1])

    def __contains__(self, column: object) -> bool:
        """Whether there is a column of this name."""
        return column in self._as_table().columns

    @overload
    def __getitem__(self, key: str) -> npt.NDArray[Any]: ...

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, key: str | int | slice) -> npt.NDArray[Any] | dict[str, Any] | list[dict[str, Any]]:
        """Copy a column by its name, or find a row, or rows, by number.

        Numbers that are not there are ``nan``; text and lists come as objects.
        """
        if not isinstance(key, str):
            return list(self)[key]
        kind, values = self._as_table()._native.column(key)
        if isinstance(values, bytes):
            return np.frombuffer(values, dtype=kind)
        objects = np.empty(len(values), dtype=object)
        objects[:] = values  # lists of equal length would become a second dimension otherwise
        return objects

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the table over through Arrow's C stream interface."""
        return self._as_table()._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Hand the schema over through Arrow's C data interface."""
        return self._as_table()._native.__arrow_c_schema__()

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            With a copy, as pandas keeps columns otherwise.
        """
        return self._as_table().to_pandas()


class Table(Columns):
    """Columns of equal length, each with its unit.

    A table has Arrow's PyCapsule interface, so that ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)`` and DuckDB's queries take it as it is, without a copy. Unit and
    description of a column are in the metadata of its field. ``table["name"]`` is a NumPy array, ``table[0]`` the first
    row, and ``"name" in table`` says whether there is such a column.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def _as_table(self) -> Table:
        return self

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every column with its unit and description."""
        return tuple(Field(*field) for field in self._native.fields())

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def keys(self) -> list[str]:
        """Name the columns.

        Returns
        -------
        list of str
            As :attr:`columns`: ``dict(table)`` has the arrays by their names.
        """
        return self.columns

    def values(self) -> list[npt.NDArray[Any]]:
        """Copy every column.

        Returns
        -------
        list of numpy.ndarray
            In the order of :meth:`keys`.
        """
        return [self[name] for name in self.columns]

    def items(self) -> list[tuple[str, npt.NDArray[Any]]]:
        """Copy every column with its name.

        Returns
        -------
        list of tuple
            In the order of :meth:`keys`.
        """
        return [(name, self[name]) for name in self.columns]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.fields == other.fields and all(_same(self[name], other[name]) for name in self.columns)

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: object) -> Table:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        columns = [(one.name, one.unit, one.description, *self._native.column(one.name)) for one in self.fields]
        return _travelled, (columns,)

    def __repr__(self) -> str:
        return f"<cwnd.Table of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        rest = "`.to_pandas()`, `.to_polars()` and `.to_arrow()` have all of it."
        return page(f"{len(self)} rows", self.columns, (list(row.values()) for row in self), rest=rest)

    def to_polars(self) -> polars.DataFrame:
        """Make a data frame of polars.

        Returns
        -------
        polars.DataFrame
            Without a copy.
        """
        import polars  # noqa: PLC0415  (an optional dependency)

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """Make a table of pyarrow.

        Returns
        -------
        pyarrow.Table
            Without a copy.
        """
        import pyarrow  # noqa: PLC0415  (an optional dependency)

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            With a copy, as pandas keeps columns otherwise.
        """
        import pandas  # noqa: PLC0415  (an optional dependency)

        return pandas.DataFrame({name: self[name] for name in self.columns})


Row = TypeVar("Row")


class Rows(list[Row], Generic[Row]):
    """A list of records, which a notebook shows as a table: ``rows.frame()`` is a data frame of them."""

    __slots__ = ("warnings",)

    warnings: list[str]
    """Warnings to read before the numbers, a sentence each."""

    def __init__(self, records: Iterable[Row] = (), warnings: Iterable[str] = ()) -> None:
        super().__init__(records)
        self.warnings = list(warnings)

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            A column per attribute.
        """
        return frame_of(self)

    def _repr_html_(self) -> str:
        return records_html(f"{len(self)} rows", self, notes=self.warnings)


def frame_of(records: Sequence[Any]) -> Any:
    """Make a data frame of pandas: a row per record, a column per attribute."""
    import pandas  # noqa: PLC0415  (an optional dependency)

    names = [field.name for field in fields(records[0])] if records else []
    return pandas.DataFrame({name: [getattr(record, name) for record in records] for name in names})


def records_html(title: str, records: Sequence[Any], **others: Any) -> str:
    """Write records as a notebook shows them."""
    names = [field.name for field in fields(records[0])] if records else []
    rows = ([getattr(record, name) for name in names] for record in records)
    return page(title, names, rows, **{"rest": "`.frame()` makes a data frame of them.", **others})


def _travelled(columns: list[tuple[str, str, str, str, Any]]) -> Table:
    return Table(_native.Table(columns))


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    if one.dtype == object:
        return bool(one.tolist() == other.tolist())
    return bool(np.array_equal(one, other, equal_nan=one.dtype == np.float64))
