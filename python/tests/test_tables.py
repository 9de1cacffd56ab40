"""Tables in the hands of the libraries that people use."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cwnd


@pytest.fixture(scope="module")
def result() -> cwnd.RunResult:
    scenario = cwnd.Scenario.dumbbell(["reno", "simd"], rate="20mbit", rtt="20ms", duration="4s", warmup="1s", seeds=2)
    return cwnd.run(scenario)


TABLES = ["summary", "flows", "trace", "links", "link_trace"]


@pytest.mark.parametrize("name", TABLES)
def test_every_library_reads_the_same(result: cwnd.RunResult, name: str) -> None:
    table: cwnd.Table = getattr(result, name)
    assert len(table) > 0
    arrow, polars, pandas = pa.table(table), pl.DataFrame(table), pd.DataFrame.from_arrow(table)
    assert arrow.shape == polars.shape == pandas.shape == (len(table), len(table.columns))
    duck = duckdb.sql("select count(*) from arrow")
    assert duck is not None
    assert duck.fetchall() == [(len(table),)]
    for column in table.columns:
        ours = table[column]
        theirs = np.asarray(polars[column].fill_null(float("nan")) if ours.dtype == np.float64 else polars[column])
        assert np.array_equal(ours, theirs, equal_nan=ours.dtype == np.float64)
    assert table.to_polars().equals(polars)
    assert table.to_arrow().equals(arrow)
    assert list(table.to_pandas().columns) == table.columns


@pytest.mark.parametrize("name", TABLES)
def test_every_column_says_what_it_is(result: cwnd.RunResult, name: str) -> None:
    table: cwnd.Table = getattr(result, name)
    schema = pa.schema(table)
    for field in table.fields:
        assert field.description
        metadata = schema.field(field.name).metadata
        assert metadata == {b"unit": field.unit.encode(), b"description": field.description.encode()}
        unit_in_name = {"s": "_s", "bit/s": "_bps", "byte": "_bytes", "ns": "_ns"}.get(field.unit, "")
        assert field.name.endswith(unit_in_name)


def test_duckdb_queries_a_table_by_its_name(result: cwnd.RunResult) -> None:
    trace = result.trace.to_arrow()  # noqa: F841  (DuckDB finds it)
    flows = duckdb.sql("select count(distinct flow) from trace")
    assert flows is not None
    assert flows.fetchall() == [(2,)]


def test_internals_of_algorithms_are_columns(result: cwnd.RunResult) -> None:
    trace = pl.DataFrame(result.trace)
    alpha = trace.group_by("flow").agg(pl.col("alpha").drop_nulls().len())
    assert dict(alpha.iter_rows())["reno"] == 0
    assert dict(alpha.iter_rows())["simd"] > 0


def test_a_column_that_is_not_there(result: cwnd.RunResult) -> None:
    with pytest.raises(KeyError, match="cwnd"):
        result.trace["cwnd"]


def test_rows_are_dictionaries(result: cwnd.RunResult) -> None:
    rows = list(result.summary)
    assert [row["seed"] for row in rows] == [1, 2]
