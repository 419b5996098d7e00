"""Upserts: by key, exactly bounded, on both formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from filled_tables import filled_by
from plan_texts import executed_plan
from windrow.engine import upsert as upserts
from windrow.engine.destination import Destination, prepare, refuse_other_keys
from windrow.engine.upsert import Amended, Replaced, Touched, upsert
from windrow.errors import RefusedError, TableError
from windrow.state.undo import beginning_of, undo
from windrow.tables import Layout, TableName, Tables
from windrow.tables.days import day_ranges
from windrow.tables.frames import frame_of, materialize

COLUMNS = {"id": "int", "session": "string", "seen": "timestamp", "seen_date": "date"}
TABLE = Destination(TableName("derived", "things"), ("id",), "seen")

# What a format does itself is tested on both in tests/tables: of what upserts do above that, some
# is looked at on Iceberg too by CI only.
mostly_on_delta = pytest.mark.parametrize(
    "format", ["delta", pytest.param("iceberg", marks=pytest.mark.ci)]
)


def things(spark: SparkSession, *rows: tuple[int | None, str]) -> DataFrame:
    """Rows of id and day; the session of a row is its id's."""
    return materialize(
        frame_of(
            spark,
            [(number, f"s{number}", f"{day} 10:00:00", day) for number, day in rows],
            COLUMNS,
        )
    )


def stored(tables: Tables) -> list[tuple[int, str]]:
    rows = tables.read(TABLE.table).select("id", "seen_date").collect()
    return sorted((row["id"], row["seen_date"].isoformat()) for row in rows)


def four_things(spark: SparkSession, tables: Tables) -> None:
    prepare(tables, TABLE, COLUMNS, layout=Layout(("seen_date",)))
    first = things(
        spark, (1, "2021-01-01"), (2, "2021-03-01"), (3, "2021-03-03"), (4, "2021-03-04")
    )
    upsert(tables, TABLE, first)


@pytest.fixture
def filled(spark: SparkSession, tables: Tables, tmp_path: Path) -> Tables:
    return filled_by(four_things, spark, tables, tmp_path)


@contextmanager
def nothing_sent(spark: SparkSession) -> Iterator[None]:
    """Spark sends no side of a join to the other unless it is told to."""
    name = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(name)
    spark.conf.set(name, "-1")
    yield
    spark.conf.set(name, str(before))


@pytest.fixture(params=["days written anew", "rows merged"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to replace rows, however many there are."""
    if request.param == "rows merged":
        monkeypatch.setattr(upserts, "_FEW_ROWS", 0)
        monkeypatch.setattr(upserts, "_STORED_PER_CHANGED", 0)


@pytest.mark.usefixtures("either_way")
def test_a_key_that_is_not_known_is_stored_once_but_for_a_plain_merge(
    spark: SparkSession, filled: Tables
):
    def unknown() -> list[str]:
        found = filled.read(TABLE.table).where("id is null").collect()
        return sorted(row["seen_date"].isoformat() for row in found)

    for day in ("2021-03-03", "2021-03-04"):
        upsert(filled, TABLE, things(spark, (None, day), (4, day)))
    assert unknown() == ["2021-03-04"]
    upsert(filled, TABLE, things(spark, (None, "2021-03-05"), (4, "2020-01-05")), as_merged=True)
    assert unknown() == ["2021-03-04", "2021-03-05"]
    # A key that is known is stored once then too, however far its day moved.
    four = filled.read(TABLE.table).where("id = 4").collect()
    assert [row["seen_date"].isoformat() for row in four] == ["2020-01-05"]


@mostly_on_delta
@pytest.mark.usefixtures("either_way")
def test_a_key_is_stored_once_however_far_its_day_moved(spark: SparkSession, filled: Tables):
    changed = things(
        spark, (1, "2021-03-05"), (2, "2021-02-02"), (3, "2021-03-07"), (5, "2021-03-08")
    )
    upsert(filled, TABLE, changed)
    # Later or earlier than it was: the run's row is the one that stays.
    assert stored(filled) == [
        (1, "2021-03-05"),
        (2, "2021-02-02"),
        (3, "2021-03-07"),
        (4, "2021-03-04"),
        (5, "2021-03-08"),
    ]


@mostly_on_delta
def test_the_earlier_or_the_later_row_of_a_key_stays(spark: SparkSession, filled: Tables):
    changed = things(
        spark, (1, "2020-12-31"), (2, "2021-03-02"), (3, "2021-03-03"), (5, "2021-03-08")
    )
    upsert(filled, TABLE, changed, keeps="earliest")
    after = [(1, "2020-12-31"), (2, "2021-03-01"), (3, "2021-03-03"), (4, "2021-03-04")]
    assert stored(filled) == [*after, (5, "2021-03-08")]
    upsert(filled, TABLE, things(spark, (1, "2021-01-01"), (2, "2021-02-28")), keeps="latest")
    assert stored(filled)[:2] == [(1, "2021-01-01"), (2, "2021-03-01")]


@pytest.mark.parametrize("format", ["delta"])
def test_columns_may_be_called_anything(spark: SparkSession, tables: Tables):
    columns = {"id": "int", "is_stored": "string", "stored_at": "string", **COLUMNS}
    prepare(tables, TABLE, columns, layout=Layout(("seen_date",)))
    for day in ("2021-03-01", "2021-03-02"):
        named = {"is_stored": F.lit("no"), "stored_at": F.lit("here")}
        upsert(tables, TABLE, things(spark, (1, day)).withColumns(named), keeps="latest")
    assert stored(tables) == [(1, "2021-03-02")]


@mostly_on_delta
@pytest.mark.usefixtures("either_way")
def test_rows_that_a_session_no_longer_has_are_deleted(spark: SparkSession, filled: Tables):
    sessions = frame_of(spark, [("s2",), ("s3",)], {"session": "string"})
    kept = things(spark, (3, "2021-03-03"))
    upsert(filled, TABLE, kept, replaced=Replaced(("session",), sessions))
    assert stored(filled) == [(1, "2021-01-01"), (3, "2021-03-03"), (4, "2021-03-04")]


THIRD = (date(2021, 3, 3),)


def was_merged(tables: Tables) -> bool:
    """Whether the last commit was a merge: of those alone a format says what they updated."""
    return tables.history(TABLE.table, newest=1)[0].rows_updated is not None


# Up to 200,000 stored rows, or twenty for each one that changes.
BY_COUNTS = {
    (200_000, 1): True,
    (200_001, 1): False,
    (200_020, 10_001): True,
    (200_021, 10_001): False,
}


@mostly_on_delta
def test_days_that_are_partitions_are_written_anew_up_to_a_bound_by_counts(
    spark: SparkSession, filled: Tables
):
    def is_written_anew(rows: DataFrame, stored_rows: int, changed: int) -> bool:
        touched = Touched(THIRD, stored_rows, changed)
        return upserts._can_be_written_anew(filled, TABLE, was, rows, touched)

    was, rows = filled.read(TABLE.table), things(spark, (3, "2021-03-03"))
    assert {counts: is_written_anew(rows, *counts) for counts in BY_COUNTS} == BY_COUNTS
    assert not is_written_anew(rows.drop("session"), 1, 1)
    filled.change_layout(TABLE.table, Layout(("session",)))
    assert not is_written_anew(rows, 1, 1)


@pytest.mark.ci
def test_the_counts_of_a_look_decide_how_rows_are_written(spark: SparkSession, filled: Tables):
    merged = []
    for counts in BY_COUNTS:
        row = things(spark, (3, "2021-03-03"))
        upsert(filled, TABLE, row, touched=Touched(THIRD, *counts))
        merged.append(was_merged(filled))
    assert merged == [not is_anew for is_anew in BY_COUNTS.values()]
    assert [number for number, _ in stored(filled)] == [1, 2, 3, 4]


@pytest.mark.ci
def test_rows_are_merged_where_days_are_no_partitions(spark: SparkSession, tables: Tables):
    for by in ((), ("session",)):
        place = replace(TABLE, table=TableName("derived", f"by {by}"))
        prepare(tables, place, COLUMNS, layout=Layout(by))
        upsert(tables, place, things(spark, (1, "2021-03-03"), (2, "2021-03-03")))
        upsert(tables, place, things(spark, (1, "2021-03-04")))
        assert tables.history(place.table, newest=1)[0].rows_updated == 1
        days = tables.read(place.table).select("id", F.date_format("seen_date", "dd")).collect()
        assert sorted(days) == [(1, "04"), (2, "03")]


@pytest.mark.ci
def test_a_column_that_the_rows_do_not_have_stays_as_it_is(spark: SparkSession, filled: Tables):
    upsert(filled, TABLE, things(spark, (3, "2021-03-05"), (5, "2021-03-05")).drop("session"))
    assert was_merged(filled)
    rows = filled.read(TABLE.table).where("id in (3, 5)").select("id", "session", "seen_date")
    assert sorted(rows.collect()) == [
        (3, "s3", date(2021, 3, 5)),
        (5, None, date(2021, 3, 5)),
    ]


TELLS_ROWS_THAT_ARE_GONE = {
    "delta": {"delta.enableDeletionVectors": "true"},
    "iceberg": {f"write.{what}.mode": "merge-on-read" for what in ("merge", "update", "delete")},
}
"""What the owner of a table sets to have rows marked as gone rather than files written anew."""


def has_marks(spark: SparkSession, tables: Tables) -> bool:
    """Whether rows of files that the table still has are marked as gone."""
    name = tables.identifier(TABLE.table)
    if tables.format == "iceberg":
        return not spark.table(f"{name}.delete_files").isEmpty()
    last = spark.sql(f"describe history {name} limit 1").collect()[0]["operationMetrics"]
    return last.get("numTargetDeletionVectorsAdded", "0") != "0"


@pytest.mark.ci
def test_rows_are_exact_where_the_owner_has_gone_rows_marked(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
):
    prepare(tables, TABLE, COLUMNS, layout=Layout(("seen_date",)))
    pairs = [f"'{k}' = '{v}'" for k, v in TELLS_ROWS_THAT_ARE_GONE[tables.format].items()]
    name = tables.identifier(TABLE.table)
    spark.sql(f"alter table {name} set tblproperties ({', '.join(pairs)})")
    first, second = "2021-03-01", "2021-03-02"
    upsert(
        tables, TABLE, things(spark, *((n, first) for n in range(1, 7)), (7, second)).coalesce(1)
    )

    gone = Replaced(("session",), frame_of(spark, [("s3",)], {"session": "string"}))
    with monkeypatch.context() as patch:
        patch.setattr(upserts, "_FEW_ROWS", 0)
        patch.setattr(upserts, "_STORED_PER_CHANGED", 0)
        upsert(tables, TABLE, things(spark, (1, second), (2, first)), replaced=gone)
    assert has_marks(spark, tables)
    merged = tables.version(TABLE.table)
    assert stored(tables) == [
        *((1, second), (2, first), (4, first), (5, first), (6, first), (7, second))
    ]
    # Written anew, days have what their marks leave of them.
    upsert(tables, TABLE, things(spark, (2, first), (4, second), (8, first)))
    assert not was_merged(tables)
    after = [*((1, second), (2, first), (4, second), (5, first), (6, first)), (7, second)]
    assert stored(tables) == [*after, (8, first)]

    tables.compact(TABLE.table)
    assert stored(tables) == [*after, (8, first)]
    tables.restore(TABLE.table, merged)
    assert len(stored(tables)) == 6


@pytest.mark.parametrize("format", ["delta"])
def test_keys_are_sent_to_many_stored_rows_unless_there_may_be_too_many(
    spark: SparkSession, filled: Tables, monkeypatch: pytest.MonkeyPatch
):
    plans: list[str] = []

    def explain(
        tables: Tables,
        table: TableName,
        where: str,
        rows: Callable[[DataFrame], DataFrame],
        **_: object,
    ) -> None:
        plans.append(executed_plan(rows(tables.read(table).where(where))))

    monkeypatch.setattr(type(filled), "rewrite", explain)
    # Of frames as small as these Spark would send any.
    with nothing_sent(spark):
        for count, number in ((20_000, 1), (20_001, 500_000), (20_001, 500_001), (20_001, None)):
            look = Touched(THIRD, count, 1)
            row = things(spark, (3, "2021-03-03"))
            upsert(filled, TABLE, row, number=number, touched=look)
    assert ["BroadcastHashJoin" in plan for plan in plans] == [False, True, False, False]


@mostly_on_delta
@pytest.mark.parametrize("most_keys", [0, 1, 2])
def test_rows_are_the_same_when_keys_are_sent_to_many_stored_ones(
    spark: SparkSession, filled: Tables, monkeypatch: pytest.MonkeyPatch, most_keys: int
):
    monkeypatch.setattr(upserts, "_MANY_STORED", 0)
    monkeypatch.setattr(upserts, "_MOST_KEYS", most_keys)
    sessions = frame_of(spark, [("s2",), ("s3",)], {"session": "string"})
    replaced = Replaced(("session",), sessions, at_most=2)
    unknown = things(spark, (None, "2021-03-04"))
    upsert(filled, TABLE, unknown, number=1)
    upsert(filled, TABLE, things(spark, (3, "2021-03-03")), replaced=replaced, number=1)
    upsert(filled, TABLE, unknown, number=1)
    found = filled.read(TABLE.table).where("id is null").collect()
    assert [row["seen_date"].isoformat() for row in found] == ["2021-03-04"]
    known = filled.read(TABLE.table).where("id is not null").collect()
    assert sorted(row["id"] for row in known) == [1, 3, 4]


@pytest.mark.usefixtures("either_way")
def test_amended_rows_change_where_they_lie_and_keep_their_other_columns(
    spark: SparkSession, filled: Tables
):
    columns = {"id": "int", "seen_date": "date", "session": "string"}
    rows = [(1, "2021-01-01", "other"), (3, "2021-03-03", "gone"), (4, "2021-03-04", "older")]
    changed = materialize(frame_of(spark, rows, columns))
    upsert(
        filled,
        TABLE,
        things(spark, (4, "2021-03-05")),
        replaced=Replaced(("id",), frame_of(spark, [(3,), (4,)], {"id": "int"})),
        search=day_ranges([date(2021, 3, 3), date(2021, 3, 4)]),
        amended=Amended(changed, tuple(date.fromisoformat(day) for _, day, _ in rows)),
    )
    found = filled.read(TABLE.table).select("id", "session", F.date_format("seen", "yyyy-MM-dd"))
    assert sorted(tuple(row) for row in found.collect()) == [
        (1, "other", "2021-01-01"),
        (2, "s2", "2021-03-01"),
        (4, "s4", "2021-03-05"),
    ]


@mostly_on_delta
@pytest.mark.usefixtures("either_way")
def test_only_the_days_of_the_search_are_looked_at(spark: SparkSession, filled: Tables):
    search = day_ranges([date(2021, 3, 1)])
    upsert(filled, TABLE, things(spark, (2, "2021-03-09"), (9, "2021-03-09")), search=search)
    assert stored(filled)[1:] == [
        (2, "2021-03-09"),
        (3, "2021-03-03"),
        (4, "2021-03-04"),
        (9, "2021-03-09"),
    ]


def test_rows_without_a_forerunner_are_appended(spark: SparkSession, filled: Tables):
    before = filled.history(TABLE.table)
    upsert(filled, TABLE, things(spark, (7, "2021-04-01")))
    newest = filled.history(TABLE.table)[0]
    assert len(filled.history(TABLE.table)) == len(before) + 1
    assert newest.operation in ("WRITE", "append")


def test_a_column_that_came_later_is_added(spark: SparkSession, filled: Tables):
    wider = {**COLUMNS, "note": "string"}
    prepare(filled, TABLE, wider)
    assert list(filled.columns(TABLE.table)) == list(wider)


def test_a_column_of_another_type_needs_a_rebuild(filled: Tables):
    with pytest.raises(TableError, match="--full-refresh"):
        prepare(filled, TABLE, {**COLUMNS, "id": "string"})


def test_another_key_needs_a_rebuild(filled: Tables):
    other = replace(TABLE, key=("id", "session"))
    with pytest.raises(
        TableError, match="told apart by id, but the model's key is now id, session"
    ):
        prepare(filled, other, COLUMNS)
    with pytest.raises(RefusedError, match="--full-refresh"):
        refuse_other_keys(filled, [other])
    refuse_other_keys(filled, [TABLE])


class PulledPlugError(BaseException):
    """Stands for the process being killed."""


def pull_plug(*_: object) -> None:
    raise PulledPlugError


def before_the_commit(restore: Callable[..., None]) -> Callable[..., None]:
    """Restoring that is killed at the latest where it would be done."""

    def restored(tables: Tables, *arguments: object) -> None:
        if tables.format == "iceberg":
            restore(tables, *arguments)
        raise PulledPlugError

    return restored


def test_types_and_key_change_in_an_emptied_table_and_back(
    spark: SparkSession, filled: Tables, monkeypatch: pytest.MonkeyPatch
):
    rows = stored(filled)
    other, columns = replace(TABLE, key=("id", "session")), {**COLUMNS, "id": "string"}
    with filled.commits_of(beginning_of("r")):
        filled.restore(TABLE.table, None)
    with filled.commits_of("r"):
        assert prepare(filled, other, columns).has_new_key
        filled.append(TABLE.table, things(spark, (9, "2021-01-09")).withColumn("id", F.lit("x")))
    assert filled.columns(TABLE.table) == columns
    assert filled.layout(TABLE.table).partition_by == ("seen_date",)

    with monkeypatch.context() as patch:
        # Killed while it is taken back: the rows are there yet, under the types of before.
        patch.setattr(type(filled), "overwrite", pull_plug)
        patch.setattr(type(filled), "restore", before_the_commit(type(filled).restore))
        with pytest.raises(PulledPlugError):
            undo(filled, "r", [TABLE.table])
    assert undo(filled, "r", [TABLE.table]).back == (TABLE.table,)
    assert undo(filled, "r", [TABLE.table]).back == ()
    assert filled.columns(TABLE.table) == COLUMNS
    assert filled.note(TABLE.table).key == TABLE.key
    assert stored(filled) == rows
    upsert(filled, TABLE, things(spark, (1, "2021-01-02")))
    assert stored(filled)[0] == (1, "2021-01-02")


def test_a_table_that_is_written_anew_takes_any_type(spark: SparkSession, filled: Tables):
    columns = {**COLUMNS, "session": "int"}
    prepare(filled, TABLE, columns, is_rewritten=True)
    filled.overwrite(TABLE.table, things(spark, (9, "2021-01-09")).withColumn("session", F.lit(7)))
    assert [row["session"] for row in filled.read(TABLE.table).collect()] == [7]
