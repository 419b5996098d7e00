"""What only Delta needs: statistics for wide tables, and the lineage behind DESCRIBE HISTORY."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from tables.rows import COLUMNS, ORDERS, orders, stored
from windrow.columns.rules import column
from windrow.tables import DeltaTables, Layout, TableName, delta_log
from windrow.tables.delta import indexed_columns, lineage

WIDE = {
    **{f"c{n}": "string" for n in range(40)},
    "day": "date",
    "start_tstamp": "timestamp",
    "page_view_id": "string",
    "is_valid": "boolean",
}


def test_a_wide_table_has_statistics_of_times_and_ids() -> None:
    assert indexed_columns(WIDE, Layout(("day",))) == ["`start_tstamp`", "`page_view_id`"]
    assert indexed_columns(WIDE, Layout((), ("c7",)))[:2] == ["`c7`", "`day`"]
    wider = WIDE | {f"x{n}_id": "string" for n in range(20)}
    assert len(indexed_columns(wider, Layout())) == 2 + 2


def test_a_narrow_table_is_left_to_delta() -> None:
    assert indexed_columns({"start_tstamp": "timestamp"}, Layout()) == []


def test_delta_takes_the_statistics_columns(spark: SparkSession, tmp_path: Path) -> None:
    tables = DeltaTables(spark, warehouse=str(tmp_path))
    tables.create(ORDERS, WIDE, partition_by=["day"])

    detail = spark.sql(f"describe detail {tables.identifier(ORDERS)}").first()
    assert detail is not None
    indexed = detail["properties"]["delta.dataSkippingStatsColumns"]
    assert indexed == "`start_tstamp`,`page_view_id`"


def test_columns_are_recast_with_their_rows(spark: SparkSession, tmp_path: Path) -> None:
    tables = DeltaTables(spark, warehouse=str(tmp_path))
    columns = {**COLUMNS, "amount": column("int", "What was paid.")}
    tables.create(ORDERS, columns, key=["order_id"], partition_by=["day"])
    tables.append(ORDERS, orders(spark, ("a", "2024-01-01", 1, "x"), ("b", None, None, "y")))

    tables.recast(ORDERS, {"amount": "bigint"})

    assert tables.columns(ORDERS) == {**COLUMNS, "amount": "bigint"}
    assert stored(tables.read(ORDERS)) == [("a", "2024-01-01", 1, "x"), ("b", None, None, "y")]
    assert tables.layout(ORDERS).partition_by == ("day",)
    assert tables.note(ORDERS).key == ("order_id",)
    assert tables.read(ORDERS).schema["amount"].metadata == {"comment": "What was paid."}


def test_versions_are_the_same_where_the_log_cannot_be_asked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = DeltaTables(spark, warehouse=str(tmp_path))
    tables.create(ORDERS, {"id": "int"})
    tables.append(ORDERS, spark.range(1).selectExpr("cast(id as int) id"))
    gone = TableName(ORDERS.schema, "gone")

    def found() -> list[object]:
        return [tables.exists(ORDERS), tables.version(ORDERS), tables.exists(gone)]

    asked = found()
    assert delta_log.ask(spark, tables.place.path(ORDERS)) == delta_log.Told(1)
    monkeypatch.setattr(delta_log, "ask", lambda *_: None)
    assert found() == asked == [True, "1", False]


def commit(version: int, operation: str, /, *, rows: int = 1, **parameters: str) -> Row:
    metrics = {"numOutputRows": str(rows)} if operation == "WRITE" else {}
    return Row(
        version=version,
        operation=operation,
        operationParameters=parameters,
        operationMetrics=metrics,
    )


def test_lineage_leaves_out_what_a_restore_took_back() -> None:
    commits = [
        commit(5, "WRITE", mode="Append"),
        commit(4, "RESTORE", version="2"),
        commit(3, "MERGE"),
        commit(2, "RESTORE", version="0"),
        commit(1, "MERGE"),
        commit(0, "CREATE TABLE"),
    ]
    assert [c["version"] for c in lineage(commits)] == [5, 4, 2, 0]


def test_lineage_ends_where_the_table_was_emptied() -> None:
    commits = [
        commit(3, "MERGE"),
        commit(2, "WRITE", mode="Overwrite", rows=0),
        commit(1, "WRITE", mode="Overwrite", rows=7),
        commit(0, "CREATE TABLE"),
    ]
    assert [c["version"] for c in lineage(commits)] == [3, 2]
    assert [c["version"] for c in lineage(commits[2:])] == [1, 0]
