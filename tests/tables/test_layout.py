"""What tables are laid out by: chosen by kind of column, changed in place, the same rows after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable
from pyspark.sql import Row, SparkSession

from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.columns.rules import column
from windrow.errors import ConfigError, TableError
from windrow.tables import Commit, DeltaTables, Layout, TableName, Tables, layout_of
from windrow.tables.iceberg import describe_partitions, oldest_kept, ordered_columns
from windrow.tables.layout import parse_key
from windrow.tables.refusals import REFUSALS

VIEWS = {
    "view_id": "string",
    "start_tstamp": "timestamp",
    "start_tstamp_date": "date",
    "app_id": "string",
    "is_bot": "boolean",
    "visits": "int",
}

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")
C = ("c", "2024-01-01", 3, "z")


@pytest.mark.parametrize(
    ("format", "chosen", "expected"),
    [
        ("delta", [], Layout()),
        ("delta", ["start_tstamp_date"], Layout(("start_tstamp_date",))),
        ("delta", ["app_id"], Layout((), ("app_id",))),
        (
            "delta",
            ["start_tstamp_date", "app_id"],
            Layout((), ("start_tstamp_date", "app_id")),
        ),
        ("iceberg", ["app_id", "app_id"], Layout((), ("app_id",))),
        (
            "iceberg",
            ["days( start_tstamp )", "bucket(16,view_id)", "app_id"],
            Layout(("bucket(16, view_id)", "days(start_tstamp)"), ("app_id",)),
        ),
        (
            "iceberg",
            ["app_id", "start_tstamp_date"],
            Layout(("start_tstamp_date",), ("app_id",)),
        ),
    ],
)
def test_dates_and_transforms_partition_and_the_rest_clusters(
    format: str, chosen: list[str], expected: Layout
) -> None:
    assert layout_of("views", chosen, VIEWS, format=format) == expected


@pytest.mark.parametrize(
    ("format", "key", "message"),
    [
        ("delta", "app_ids", "views has no column 'app_ids'. Did you mean 'app_id'?"),
        ("delta", "days(start_tstamp)", r"Delta table, which knows no 'days\(start_tstamp\)'"),
        ("iceberg", "hours(start_tstamp_date)", "needs a timestamp, but .* is date"),
        ("iceberg", "days(app_id)", "needs a date or timestamp, but 'app_id' is string"),
        ("iceberg", "is_bot", "is boolean, which has no order"),
        ("iceberg", "bucket(0, app_id)", "is no key"),
        ("iceberg", "days(a), drop table x", "is no key"),
    ],
)
def test_a_key_that_cannot_be_is_an_error_that_says_why(
    format: str, key: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        layout_of("views", [key], VIEWS, format=format)


def test_delta_clusters_by_four_columns_at_most() -> None:
    keys = ["view_id", "start_tstamp", "start_tstamp_date", "app_id", "visits"]
    assert len(layout_of("views", keys[:4], VIEWS, format="delta").cluster_by) == 4
    with pytest.raises(ConfigError, match="has 5 keys, but Delta clusters by 4"):
        layout_of("views", keys, VIEWS, format="delta")


def test_names_reach_sql_quoted() -> None:
    assert parse_key("truncate(3, app_id)").sql == "truncate(3, `app_id`)"
    assert parse_key("app_id").sql == "`app_id`"


def test_iceberg_tells_its_layout_in_two_ways() -> None:
    def described(*pairs: tuple[str, str]) -> list[Row]:
        return [Row(col_name=name, data_type=kind) for name, kind in pairs]

    columns = [("id", "string"), ("day", "date")]
    plain = [("# Partition Information", ""), ("# col_name", "data_type"), ("day", "date")]
    other = [("", ""), ("# Partitioning", ""), ("Part 0", "days(ts)"), ("Part 1", "day"), ("", "")]
    assert list(describe_partitions(described(*columns))) == []
    assert list(describe_partitions(described(*columns, *plain))) == ["day"]
    assert list(describe_partitions(described(*columns, *other))) == ["days(ts)", "day"]
    assert ordered_columns("n ASC NULLS FIRST, id ASC NULLS FIRST") == ["n", "id"]
    assert ordered_columns("unsorted") == ordered_columns("") == []


def test_the_version_that_was_current_at_the_moment_is_kept() -> None:
    moment = datetime(2024, 1, 10, tzinfo=UTC)
    micros = int(moment.timestamp() * 1_000_000)
    history = [Commit(version, None, "append") for version in ("new", "then", "before")]
    times = {"new": micros + 5, "then": micros - 5, "before": micros - 50}

    assert oldest_kept(history, times, moment) == "then"
    assert oldest_kept(history[:1], times, moment) is None


def layouts(format: str) -> tuple[Layout, Layout]:
    """One to begin with, one to change to."""
    if format == "delta":
        return Layout(("day",)), Layout((), ("order_id", "day"))
    return Layout(("day",)), Layout(("months(day)",), ("order_id",))


def seen_by_others(folder: Path, format: str) -> list[tuple[Any, ...]]:
    """The rows as a client without Spark finds them."""
    place = folder / ORDERS.schema / ORDERS.name
    if format == "delta":
        table = pa.table(DeltaTable(str(place)).to_pyarrow_table())
    else:
        version = (place / "metadata" / "version-hint.text").read_text().strip()
        latest = place / "metadata" / f"v{version}.metadata.json"
        table = StaticTable.from_metadata(str(latest)).scan().to_arrow()
    return sorted(
        (r["order_id"], str(r["day"]), r["amount"], r["note"])
        for r in table.select(list(COLUMNS)).to_pylist()
    )


@pytest.mark.filterwarnings("ignore")
def test_a_layout_changes_and_the_rows_stay(
    spark: SparkSession, tables: Tables, format: str, tmp_path: Path
) -> None:
    first, second = layouts(format)
    noted = {**COLUMNS, "note": column("string", "a note")}
    tables.create(ORDERS, noted, partition_by=first.partition_by)
    tables.append(ORDERS, orders(spark, A, B))
    tables.append(ORDERS, orders(spark, C))
    assert tables.layout(ORDERS) == first
    before = tables.version(ORDERS)

    with tables.commits_of("maintain-1"):
        tables.change_layout(ORDERS, second)
        compaction = tables.compact(ORDERS)
    assert tables.layout(ORDERS) == second
    assert compaction.files_after == 1
    assert stored(tables.read(ORDERS)) == [A, B, C]
    assert seen_by_others(tmp_path, format) == [A, B, C]
    described = spark.sql(f"describe table {tables.identifier(ORDERS)}").collect()
    assert {row["col_name"]: row["comment"] for row in described}["note"] == "a note"
    # What was before the change can still be had.
    assert before is not None
    assert stored(tables.read(ORDERS, version=before)) == [A, B, C]


@pytest.mark.ci
def test_what_was_replaced_before_the_retention_goes(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS)
    tables.append(ORDERS, orders(spark, A))
    before = tables.version(ORDERS)
    tables.overwrite(ORDERS, orders(spark, B))
    now = datetime.now(UTC) + timedelta(seconds=1)

    assert tables.expire(ORDERS, now - timedelta(days=1), delete=True).count == 0
    would = tables.expire(ORDERS, now, delete=False)
    assert would.count > 0
    assert stored(tables.read(ORDERS, version=before)) == [A]
    assert tables.expire(ORDERS, now, delete=True) == would
    assert stored(tables.read(ORDERS)) == [B]
    with pytest.raises((TableError, *REFUSALS)):
        stored(tables.read(ORDERS, version=before))


@pytest.mark.slow
def test_every_layout_changes_into_every_other(
    spark: SparkSession, tables: Tables, format: str
) -> None:
    transformed = Layout(("bucket(4, order_id)", "day"))
    every = [
        Layout(),
        Layout(("day",)),
        Layout((), ("order_id",)),
        transformed if format == "iceberg" else Layout((), ("amount", "day")),
    ]
    for before in every:
        for after in every:
            table = TableName("derived", f"t{every.index(before)}{every.index(after)}")
            tables.create(
                table, COLUMNS, partition_by=before.partition_by, cluster_by=before.cluster_by
            )
            tables.append(table, orders(spark, A, B))
            assert tables.layout(table) == before
            tables.change_layout(table, after)
            assert tables.layout(table) == after
            tables.merge(table, orders(spark, C, A), key=["order_id"])
            assert stored(tables.read(table)) == [A, B, C]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_wide_table_has_statistics_of_its_days_whatever_it_was_laid_out_by(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = DeltaTables(spark, warehouse=str(tmp_path))
    tables.create(
        ORDERS, {**COLUMNS, **{f"c{n}": "string" for n in range(40)}}, partition_by=["day"]
    )
    tables.append(ORDERS, orders(spark, A))
    for layout in (Layout((), ("c39",)), Layout(("day",)), Layout(), Layout((), ("note",))):
        tables.change_layout(ORDERS, layout)
        assert tables.layout(ORDERS) == layout
        assert tables.read(ORDERS).count() == 1
        if not layout.partition_by:
            place = str(tmp_path / ORDERS.schema / ORDERS.name)
            actions = pa.table(DeltaTable(place).get_add_actions(flatten=True))
            assert [str(day) for day in actions["min.day"].to_pylist()] == ["2024-01-01"]
