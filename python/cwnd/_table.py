"""Tables that any data-frame library takes without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cwnd import _native

if TYPE_CHECKING:
    import polars

__all__ = ["Field", "Table"]


@dataclass(frozen=True, slots=True)
class Field:
    """What a column holds.

    Attributes
    ----------
    name : str
        Its name, with the unit at its end where it has one.
    unit : str
        Its unit; empty for a plain number or text.
    description : str
        What it is.
    """

    name: str
    unit: str
    description: str


class Table:
    """Columns of equal length, each with its unit.

    A table has Arrow's PyCapsule interface, so that ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)`` and DuckDB's queries take it as it is, without a copy. Unit and
    description of a column are in the metadata of its field. ``table["name"]`` is a NumPy array.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every column with its unit and description."""
        return tuple(Field(*field) for field in self._native.fields())

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as dictionaries; a number that is not there is ``nan``."""
        columns = {name: self[name].tolist() for name in self.columns}
        return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        """Copy a column; numbers that are not there are ``nan``, text and lists come as objects."""
        kind, values = self._native.column(column)
        if isinstance(values, bytes):
            return np.frombuffer(values, dtype=kind)
        objects = np.empty(len(values), dtype=object)
        objects[:] = values  # lists of equal length would become a second dimension otherwise
        return objects

    def __repr__(self) -> str:
        return f"<cwnd.Table of {len(self)} rows: {', '.join(self.columns)}>"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand the table over through Arrow's C stream interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Hand the schema over through Arrow's C data interface."""
        return self._native.__arrow_c_schema__()

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
