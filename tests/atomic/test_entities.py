"""What is stored of an entity, in several columns and by several spellings, is one column."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.atomic.entities import StoredEntity, known_entity, stored_fields, stored_versions
from windrow.atomic.entity_columns import MEDIA_ELEMENT, WEB_VITALS
from windrow.errors import SourceError

MEDIA = MEDIA_ELEMENT.name


def events(spark: SparkSession, *rows: dict[str, str], **types: str) -> DataFrame:
    """Events with these columns; values are SQL expressions, missing ones null."""
    frames = [
        spark.range(1).select(
            *(F.expr(row.get(name, "null")).cast(kind).alias(name) for name, kind in types.items())
        )
        for row in rows
    ]
    found = frames[0]
    for frame in frames[1:]:
        found = found.union(frame)
    return found


def types_of(frame: DataFrame) -> dict[str, object]:
    return {field.name: field.dataType for field in frame.schema.fields}


def test_versions_are_one_column_whatever_their_shapes(spark: SparkSession):
    frame = events(
        spark,
        {f"{MEDIA}_0_0": "named_struct('htmlId', 'a')"},
        {f"{MEDIA}_0_1": """'[{"htmlId": "b", "mediaType": "AUDIO"}, {"html_id": "c"}]'"""},
        {MEDIA.upper(): "array(named_struct('html_id', 'd', 'other', 1))"},
        {f"{MEDIA}_0_1": "'nonsense'"},
        {},
        **{
            MEDIA.upper(): "array<struct<html_id:string,other:int>>",
            f"{MEDIA}_0_0": "struct<htmlId:string>",
            f"{MEDIA}_0_1": "string",
        },
    )
    stored = known_entity(MEDIA_ELEMENT, types_of(frame))
    assert list(stored.columns) == [MEDIA.upper(), f"{MEDIA}_0_0", f"{MEDIA}_0_1"]
    made = frame.select(stored.column().alias("made"), stored.is_malformed().alias("is_malformed"))
    assert dict(made.dtypes)["made"] == MEDIA_ELEMENT.type
    found = [
        ([tuple(it) for it in row.made] if row.made else row.made, row.is_malformed)
        for row in made.collect()
    ]
    assert found == [
        ([("a", None, None)], False),
        ([("b", None, "AUDIO"), ("c", None, None)], False),
        ([("d", None, None)], False),
        (None, True),
        (None, False),
    ]


def test_a_self_describing_event_is_that_of_whichever_version_has_it(spark: SparkSession):
    first, second = (f"{WEB_VITALS.name}_0_{number}" for number in (0, 1))
    kind = "struct<lcp:double,navigationType:string>"
    frame = events(
        spark, {second: "named_struct('l', 1.5, 'n', 'reload')"}, **{first: kind, second: kind}
    )
    made = frame.select(known_entity(WEB_VITALS, types_of(frame)).column().alias("made"))
    (row,) = made.select("made.lcp", "made.navigation_type").collect()
    assert tuple(row) == (1.5, "reload")


def test_fields_with_runs_of_capitals_are_found_in_structs_and_in_text(spark: SparkSession):
    frame = events(
        spark,
        {"e_1": "named_struct('a', 'x')"},
        {"e_1_0_1": """'{"iECompatibilityVersion": "y"}'"""},
        e_1="struct<iECompatibilityVersion:string>",
        e_1_0_1="string",
    )
    columns = stored_versions(types_of(frame), "e_1")
    assert stored_fields(columns) == {"i_e_compatibility_version": "string"}
    stored = StoredEntity(columns, stored_fields(columns), False, ("iECompatibilityVersion",))
    rows = frame.select(stored.column().alias("made")).select("made.*").collect()
    assert [row.asDict() for row in rows] == [
        {"i_e_compatibility_version": "x"},
        {"i_e_compatibility_version": "y"},
    ]


def test_a_column_of_another_type_is_refused(spark: SparkSession):
    frame = events(spark, {}, **{MEDIA: "array<int>"})
    with pytest.raises(SourceError, match=r"has type array<int>, expected structs or JSON text\."):
        known_entity(MEDIA_ELEMENT, types_of(frame))
