"""What every table format must do: one suite, run on Delta and on Iceberg."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from filled_tables import filled_by
from tables.rows import COLUMNS, ORDERS, orders, stored
from temp_views import temp_views
from windrow.columns.rules import column
from windrow.errors import TableError
from windrow.tables import DELETED, FileSizes, TableName, Tables
from windrow.tables.days import DayRange

A = ("a", "2024-01-01", 1, "x")
B = ("b", "2024-01-02", 2, "y")
C = ("c", "2024-01-03", 3, "z")


def two_orders(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    tables.append(ORDERS, orders(spark, A, B))


@pytest.fixture
def filled(spark: SparkSession, tables: Tables, tmp_path: Path) -> Tables:
    """The orders a and b in a table partitioned by day."""
    return filled_by(two_orders, spark, tables, tmp_path)


def test_create_makes_an_empty_table_with_columns_and_comments(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    assert not tables.exists(ORDERS)

    columns = {
        **COLUMNS,
        "note": column("string", "it's a \\ 'note'"),
        "items": "array<struct<sku:string,n:bigint>>",
    }
    tables.create(ORDERS, columns, partition_by=["day"])

    assert tables.exists(ORDERS)
    assert (tmp_path / "derived" / "orders").is_dir()
    assert tables.columns(ORDERS) == columns
    assert stored(tables.read(ORDERS)) == []
    assert comments(spark, tables) == {"note": "it's a \\ 'note'"}


def test_a_schema_tells_its_tables(filled: Tables) -> None:
    assert filled.names("derived") == ["orders"]
    assert filled.names("nowhere") == []


def test_files_are_told_by_their_days_without_reading_them(
    spark: SparkSession, tables: Tables
) -> None:
    second, third = date(2024, 1, 2), date(2024, 1, 3)
    later = [DayRange(second, second), DayRange(third, date(2024, 2, 1))]
    # By day of a partition, and by statistics of a table that has none.
    for partition in (["day"], []):
        table = TableName("derived", f"orders{len(partition)}")
        tables.create(table, COLUMNS, partition_by=partition)
        for row in (A, B, C):
            with tables.commits_of("run-1"):
                # Delta counts the empty file of an empty partition, and does not keep it.
                tables.append(table, orders(spark, row).coalesce(1))
        every = tables.files_on(table, None, ())
        assert every is not None
        written = [it for it in tables.history(table) if it.run_id == "run-1"]
        assert every == FileSizes(
            sum(it.files_added or 0 for it in written), sum(it.bytes_added or 0 for it in written)
        )
        assert every.files == 3
        two = tables.files_on(table, "day", later)
        assert two is not None
        assert (two.files, 0 < two.bytes < every.bytes) == (2, True)
        nothing = tables.files_on(table, "day", [DayRange(date(2023, 1, 1), date(2023, 1, 2))])
        assert nothing == FileSizes(0, 0)


def test_a_table_knows_its_key(tables: Tables) -> None:
    # Spark hides what it takes for an address or a secret.
    tables.create(ORDERS, {"page_url": "string", "token": "string"}, key=["page_url"])
    assert tables.note(ORDERS).key == ("page_url",)
    tables.set_key(ORDERS, ["page_url", "token"])
    assert tables.note(ORDERS).key == ("page_url", "token")


def test_added_columns_have_comments_too(spark: SparkSession, filled: Tables) -> None:
    filled.add_columns(ORDERS, {"paid": column("boolean", "Whether it was paid."), "by": "string"})

    assert filled.columns(ORDERS) == {**COLUMNS, "paid": "boolean", "by": "string"}
    assert comments(spark, filled) == {"paid": "Whether it was paid."}


def comments(spark: SparkSession, tables: Tables) -> dict[str, str]:
    """The comments of the columns that have one."""
    described = spark.sql(f"describe table {tables.identifier(ORDERS)}").collect()
    rows = {row["col_name"]: row["comment"] for row in reversed(described)}
    return {name: rows[name] for name in tables.columns(ORDERS) if rows[name]}


def test_create_leaves_an_existing_table_alone(filled: Tables) -> None:
    filled.create(ORDERS, {"other": "int"})

    assert filled.columns(ORDERS) == COLUMNS
    assert stored(filled.read(ORDERS)) == [A, B]


def test_many_may_create_the_same_table_at_once(tables: Tables) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(tables.create, ORDERS, COLUMNS) for _ in range(4)]
    assert [d.result() for d in done] == [None] * 4
    assert tables.columns(ORDERS) == COLUMNS


def test_append_matches_columns_by_name_and_fills_the_others(
    spark: SparkSession, filled: Tables
) -> None:
    filled.append(ORDERS, orders(spark, (3, "2024-01-03", "c"), columns="amount day order_id"))

    assert stored(filled.read(ORDERS)) == [A, B, ("c", "2024-01-03", 3, None)]


def test_append_writes_one_file_per_partition(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    many = [(str(n), f"2024-01-0{1 + n % 2}", n, None) for n in range(16)]

    tables.append(ORDERS, orders(spark, *many).repartition(4))

    assert len(list(tmp_path.rglob("day=*/*.parquet"))) == 2


def test_a_large_day_is_written_by_several_tasks_where_spark_is_adaptive(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    note = F.sha2(F.col("id").cast("string"), 512)
    rows = spark.range(0, 20_000, numPartitions=8).select(
        F.col("id").cast("string").alias("order_id"),
        F.lit("2024-01-01").cast("date").alias("day"),
        F.col("id").cast("int").alias("amount"),
        F.concat(note, F.reverse(note)).alias("note"),
    )
    adaptive = {
        "spark.sql.adaptive.enabled": "true",
        # What a task is to get, by Spark's word for it and by Iceberg's.
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1m",
        "spark.sql.iceberg.advisory-partition-size": str(2**20),
    }
    before = {key: spark.conf.get(key, None) for key in adaptive}
    try:
        for key, value in adaptive.items():
            spark.conf.set(key, value)
        tables.append(ORDERS, rows)
    finally:
        for key, found in before.items():
            if found is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, found)

    files = list(tmp_path.rglob("day=2024-01-01/*.parquet"))
    assert 3 <= len(files) <= 8
    assert tables.read(ORDERS).count() == 20_000


def test_merge_inserts_updates_and_deletes_by_key(spark: SparkSession, filled: Tables) -> None:
    changes = orders(
        spark,
        ("a", "2024-01-01", 10, "new", None),
        ("b", "2024-01-02", 2, "y", True),
        ("c", "2024-01-03", 3, "z", False),
        ("unknown", "2024-01-03", 4, "never stored", True),
        columns="order_id day amount note __deleted",
    )
    filled.merge(ORDERS, changes, key=["order_id"])

    assert stored(filled.read(ORDERS)) == [("a", "2024-01-01", 10, "new"), C]
    assert not [name for name in temp_views(spark) if name.startswith("windrow_")]


def test_merge_of_some_columns_leaves_the_others(spark: SparkSession, filled: Tables) -> None:
    changes = orders(spark, (10, "a"), (3, "c"), columns="amount order_id")
    filled.merge(ORDERS, changes, key=["order_id"])

    assert stored(filled.read(ORDERS)) == [("a", "2024-01-01", 10, "x"), B, ("c", None, 3, None)]


def test_merge_by_several_keys_moves_a_row_to_another_partition(
    spark: SparkSession, filled: Tables
) -> None:
    changes = orders(spark, ("a", "2024-01-05", 1, "x"), ("b", "2024-01-05", 9, "y"))
    bound = "t.day between date'2024-01-01' and date'2024-01-02' or t.day = date'2024-01-05'"
    filled.merge(ORDERS, changes, key=["order_id", "amount"], bound=bound)

    assert stored(filled.read(ORDERS)) == [
        ("a", "2024-01-05", 1, "x"),
        B,
        ("b", "2024-01-05", 9, "y"),
    ]


def test_a_null_key_matches_nothing(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS)
    nameless = orders(spark, (None, "2024-01-01", 1, "x"))
    tables.append(ORDERS, nameless)
    tables.merge(ORDERS, nameless, key=["order_id"])

    assert tables.read(ORDERS).count() == 2


def test_a_table_may_be_nothing_but_its_key(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, {"order_id": "string"})
    for _ in range(2):
        tables.merge(ORDERS, orders(spark, ("a",), columns="order_id"), key=["order_id"])

    assert stored(tables.read(ORDERS)) == [("a",)]


def test_a_bounded_merge_reads_and_rewrites_only_files_within_the_bound(
    spark: SparkSession, format: str, tables: Tables, tmp_path: Path
) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    days = [f"2024-01-{day:02}" for day in range(1, 13)]
    tables.append(ORDERS, orders(spark, *((f"o{day}", day, 1, "x") for day in days)))
    # Whoever reads a file outside the bound finds it gone.
    for folder in tmp_path.rglob("day=*"):
        if folder.name not in ("day=2024-01-05", "day=2024-01-06"):
            shutil.rmtree(folder)

    changes = orders(spark, ("o2024-01-05", "2024-01-06", 2, "moved"))
    bound = "t.day >= date'2024-01-05' and t.day <= date'2024-01-06'"
    tables.merge(ORDERS, changes, key=["order_id"], bound=bound)

    assert _files_removed(spark, format, tables) in ("1", "2")
    within = tables.read(ORDERS).where("day between '2024-01-05' and '2024-01-06'")
    assert stored(within) == [
        ("o2024-01-05", "2024-01-06", 2, "moved"),
        ("o2024-01-06", "2024-01-06", 1, "x"),
    ]
    with pytest.raises(TableError, match=r"Could not merge into derived\.orders"):
        tables.merge(ORDERS, changes, key=["order_id"])


def _files_removed(spark: SparkSession, format: str, tables: Tables) -> str:
    name = tables.identifier(ORDERS)
    if format == "delta":
        [last] = spark.sql(f"describe history {name} limit 1").collect()
        return str(last["operationMetrics"]["numTargetFilesRemoved"])
    newest_first = f"select summary from {name}.snapshots order by committed_at desc"
    return str(spark.sql(newest_first).collect()[0]["summary"]["deleted-data-files"])


def test_added_columns_are_null_before_and_merged_after(
    spark: SparkSession, filled: Tables
) -> None:
    filled.add_columns(ORDERS, {"coupon": "string", "tags": "array<string>"})
    changes = orders(spark, ("a", "SALE"), columns="order_id coupon")
    filled.merge(ORDERS, changes, key=["order_id"])

    assert list(filled.columns(ORDERS)) == [*COLUMNS, "coupon", "tags"]
    assert stored(filled.read(ORDERS)) == [(*A, "SALE", None), (*B, None, None)]


def test_overwrite_replaces_all_rows_in_one_commit(spark: SparkSession, filled: Tables) -> None:
    before = len(filled.history(ORDERS))
    filled.overwrite(ORDERS, orders(spark, C))

    assert stored(filled.read(ORDERS)) == [C]
    assert len(filled.history(ORDERS)) == before + 1


def test_history_says_which_run_wrote_how_many_rows(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS)
    with tables.commits_of("run-1"):
        tables.append(ORDERS, orders(spark, A, B))
    changes = orders(
        spark,
        ("a", 5, False),
        ("b", 2, True),
        ("c", 3, False),
        ("d", 4, False),
        columns="order_id amount __deleted",
    )
    with tables.commits_of("run-2"):
        tables.merge(ORDERS, changes, key=["order_id"])
    tables.append(ORDERS, orders(spark, A))

    untagged, merged, appended, *_ = tables.history(ORDERS)

    assert (untagged.run_id, untagged.rows_inserted) == (None, 1)
    assert (appended.run_id, appended.rows_inserted) == ("run-1", 2)
    counts = (merged.rows_inserted, merged.rows_updated, merged.rows_deleted)
    assert (merged.run_id, counts) == ("run-2", (2, 1, 1))
    assert all(commit.bytes_added for commit in (untagged, merged, appended))
    assert tables.history(ORDERS, newest=2) == [untagged, merged]


def test_run_id_is_put_back_after_the_block(spark: SparkSession, tables: Tables) -> None:
    def tag() -> str | None:
        return spark.conf.get(tables.run_id_setting, None)  # type: ignore[attr-defined]

    with tables.commits_of("outer"):
        with tables.commits_of("inner"):
            assert tag() == "inner"
        assert tag() == "outer"
    assert tag() is None


def test_an_old_version_can_be_read(spark: SparkSession, filled: Tables) -> None:
    version = filled.history(ORDERS)[0].version
    filled.overwrite(ORDERS, orders(spark, C))

    assert stored(filled.read(ORDERS, version=version)) == [A, B]


def test_restore_takes_rows_and_history_back(spark: SparkSession, filled: Tables) -> None:
    version = filled.history(ORDERS)[0].version
    with filled.commits_of("undone"):
        filled.append(ORDERS, orders(spark, C, C))

    with filled.commits_of("restoring"):
        filled.restore(ORDERS, version)
    assert stored(filled.read(ORDERS)) == [A, B]
    assert "undone" not in {commit.run_id for commit in filled.history(ORDERS)}

    filled.append(ORDERS, orders(spark, C))
    assert stored(filled.read(ORDERS)) == [A, B, C]
    assert "undone" not in {commit.run_id for commit in filled.history(ORDERS)}


def test_restore_to_nothing_empties_the_table(spark: SparkSession, tables: Tables) -> None:
    tables.create(ORDERS, COLUMNS, partition_by=["day"])
    with tables.commits_of("undone"):
        tables.append(ORDERS, orders(spark, A))

    for _ in range(2):
        tables.restore(ORDERS, None)

    assert tables.exists(ORDERS)
    assert stored(tables.read(ORDERS)) == []
    assert "undone" not in {commit.run_id for commit in tables.history(ORDERS)}


def test_a_merge_that_takes_the_last_rows_out_can_be_taken_back(
    spark: SparkSession, filled: Tables
) -> None:
    before = filled.version(ORDERS)
    gone = orders(spark, A, B).select("order_id").withColumn(DELETED, F.lit(True))
    with filled.commits_of("emptying"):
        filled.merge(ORDERS, gone, key=["order_id"], insert=False)
    assert stored(filled.read(ORDERS)) == []
    assert [it.version for it in filled.history(ORDERS)][1] == before

    filled.restore(ORDERS, before)
    assert stored(filled.read(ORDERS)) == [A, B]


def test_drop_removes_the_table_and_its_past(filled: Tables) -> None:
    filled.drop(ORDERS)
    assert not filled.exists(ORDERS)

    filled.drop(ORDERS)
    filled.create(ORDERS, {"other": "int"})
    assert filled.columns(ORDERS) == {"other": "int"}
    assert stored(filled.read(ORDERS)) == []


def test_names_are_quoted(spark: SparkSession, tables: Tables) -> None:
    odd = TableName("my schema", "it's; drop `table` -- x")
    tables.create(odd, {"select": "string", "a.b-c`d": "int"})
    for n in (1, 2):
        tables.merge(
            odd, spark.createDataFrame([("k", n)], tables.read(odd).schema), key=["select"]
        )
    version = tables.history(odd)[0].version
    tables.restore(odd, version)

    assert stored(tables.read(odd, version=version)) == [("k", 2)]


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\nb"])
def test_a_name_that_is_no_folder_name_is_refused(tables: Tables, name: str) -> None:
    with pytest.raises(TableError, match="cannot name a schema or a table"):
        tables.exists(TableName("derived", name))


def test_a_missing_table_is_named(spark: SparkSession, tables: Tables) -> None:
    for attempt in (
        lambda: tables.read(ORDERS),
        lambda: tables.columns(ORDERS),
        lambda: tables.append(ORDERS, orders(spark, A)),
        lambda: tables.overwrite(ORDERS, orders(spark, A)),
        lambda: tables.merge(ORDERS, orders(spark, A), key=["order_id"]),
        lambda: tables.add_columns(ORDERS, {"x": "int"}),
        lambda: tables.history(ORDERS),
        lambda: tables.restore(ORDERS, "1"),
        lambda: tables.restore(ORDERS, None),
    ):
        with pytest.raises(TableError, match=r"derived\.orders") as caught:
            attempt()
        assert caught.value.__cause__ is not None


def test_wrong_requests_are_refused_before_anything_is_written(
    spark: SparkSession, filled: Tables
) -> None:
    misspelt = orders(spark, ("a", "x"), columns="order_id notes")
    with pytest.raises(TableError, match=r"no column 'notes'\. Did you mean 'note'\?"):
        filled.merge(ORDERS, misspelt, key=["order_id"])
    with pytest.raises(TableError, match="no column 'notes'"):
        filled.append(ORDERS, misspelt)
    with pytest.raises(TableError, match="expected a key"):
        filled.merge(ORDERS, orders(spark, A), key=[])
    with pytest.raises(TableError, match="no version '1; drop'"):
        filled.restore(ORDERS, "1; drop")
    with pytest.raises(TableError, match="Could not restore"):
        filled.restore(ORDERS, "77")
    with pytest.raises(TableError, match="Could not merge"):
        filled.merge(ORDERS, orders(spark, A, A), key=["order_id"])

    assert stored(filled.read(ORDERS)) == [A, B]
