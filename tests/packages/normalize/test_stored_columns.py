"""Payloads in every shape in which they are stored, and what cannot be used."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from normalized import entry, settings
from windrow.errors import ConfigError, SourceError
from windrow.packages.normalize.event_table import event_table
from windrow.packages.normalize.iglu import SchemaField
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.stored_columns import reshape
from windrow.packages.normalize.tables import event_tables, users_table

THING = "iglu:com.acme/bigThing/jsonschema/1-0-0"
NEWER = "iglu:com.acme/bigThing/jsonschema/1-1-0"
LABEL = "iglu:com.acme/label/jsonschema/1-0-0"
FIELDS = {
    THING: (SchemaField("thingId", "string"), SchemaField("size", "integer")),
    NEWER: (SchemaField("thingId", "string"), SchemaField("sinceThen", "number")),
    LABEL: (SchemaField("text", "string"),),
}


def with_fields(known: NormalizeSettings) -> NormalizeSettings:
    """The settings as if a folder held the documents."""
    known.__dict__["fields"] = FIELDS
    return known


def things(**options: Any) -> NormalizeSettings:
    return settings(
        entry("thing", self_describing_event_schemas=[THING], context_schemas=[LABEL]), **options
    )


def flattened(raw: DataFrame, known: NormalizeSettings) -> DataFrame:
    """The rows that the event table gets."""
    shaped = reshape(raw, known)
    named = raw.withColumns(
        {
            "event_id": F.lit("e"),
            "event_name": F.lit("thing"),
            "collector_tstamp": F.lit("2024-01-01").cast("timestamp"),
            **shaped.columns,
        }
    )
    table = event_table(event_tables(known)[0])(named)
    return table.drop("event_id", "collector_tstamp", "collector_tstamp_date")


def values(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.collect()]


STORED = "named_struct('thingId', 'a', 'size', 3)"


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # As loaders store them; without a document all fields that are stored.
        (
            {
                "unstruct_event_com_acme_bigthing_1": "named_struct('thing_id', 'a', 'size', 3)",
                "contexts_com_acme_label_1": "array(named_struct('text', 'b'),"
                " named_struct('text', 'c'))",
            },
            {"thing_id": "a", "size": 3, "text": "b"},
        ),
        # The name in snake_case, the fields in camelCase; an empty array is no context.
        (
            {
                "UNSTRUCT_EVENT_com_acme_big_thing_1": STORED,
                "contexts_com_acme_label_1": "filter(array(named_struct('text', 'b')), x -> false)",
            },
            {"thing_id": "a", "size": 3, "text": None},
        ),
        # A column per minor version.
        (
            {
                "unstruct_event_com_acme_bigthing_1_0_0": f"if(true, null, {STORED})",
                "unstruct_event_com_acme_bigthing_1_0_1": "named_struct('thingId', 'a', 'more', 1)",
                "contexts_com_acme_label_1": "array(named_struct('text', 'b'))",
            },
            {"thing_id": "a", "size": None, "more": 1, "text": "b"},
        ),
    ],
)
def test_stored_structs_are_flattened(
    spark: SparkSession, columns: dict[str, str], expected: dict[str, Any], compat: bool
):
    raw = spark.range(1).select(*(F.expr(it).alias(name) for name, it in columns.items()))
    assert values(flattened(raw, things(compat=compat))) == [expected]


@pytest.mark.parametrize("compat", [False, True])
def test_an_event_of_the_name_is_in_the_table_whoever_s_schema_it_has(
    spark: SparkSession, compat: bool
):
    theirs = "named_struct('colour', 'red')"
    raw = spark.range(2).select(
        F.expr(f"if(id = 0, {STORED}, null)").alias("unstruct_event_com_acme_bigthing_1"),
        F.expr(f"if(id = 1, {theirs}, null)").alias("unstruct_event_org_other_thing_1"),
        F.expr("array(named_struct('text', 'b'))").alias("contexts_com_acme_label_1"),
    )
    assert values(flattened(raw, things(compat=compat))) == [
        {"thing_id": "a", "size": 3, "text": "b"},
        {"thing_id": None, "size": None, "text": "b"},
    ]


def test_json_text_is_read_by_the_documents_of_its_schemas(spark: SparkSession):
    raw = spark.sql(
        """select * from values
            ('{"thingId": "a", "size": "3", "x": 1}', '[{"text": {"de": "b"}}, {"text": "c"}]'),
            ('{"thing_id": "a", "size": "many"}', null),
            ('nonsense', '[]')
            as events(unstruct_event_com_acme_bigthing_1, contexts_com_acme_label_1)"""
    )
    known = with_fields(things())
    table = flattened(raw, known)
    assert dict(table.dtypes) == {"thing_id": "string", "size": "bigint", "text": "string"}
    assert values(table) == [
        {"thing_id": "a", "size": 3, "text": '{"de":"b"}'},
        {"thing_id": "a", "size": None, "text": None},
        {"thing_id": None, "size": None, "text": None},
    ]
    bad = reshape(raw, known).malformed["unstruct_event_com_acme_bigthing_1"]
    assert raw.where(bad).count() == 1
    with pytest.raises(SourceError, match=r"is text, presumably JSON.*normalize\.schemas"):
        reshape(raw, things())


@pytest.mark.parametrize("compat", [False, True])
def test_what_the_events_lack_is_null_and_told(spark: SparkSession, compat: bool):
    raw = spark.range(1).select(
        F.expr("named_struct('size', 3)").alias("unstruct_event_com_acme_bigthing_1")
    )
    known = with_fields(things(compat=compat))
    assert values(flattened(raw, known)) == [{"thing_id": None, "size": 3, "text": None}]
    assert reshape(raw, known).notes == (
        "The events have no column contexts_com_acme_label_1 yet: what is made of it is null.",
        "The events lack these fields of schemas, which are null: "
        "unstruct_event_com_acme_bigthing_1.thing_id.",
    )
    with pytest.raises(SourceError, match="no column contexts_com_acme_label_1, and windrow has"):
        reshape(raw, things())
    both = "unstruct_event_com_acme_bigthing_1 or unstruct_event_com_acme_big_thing_1"
    with pytest.raises(SourceError, match=both):
        reshape(raw.select(F.lit(1).alias("x")), things())


@pytest.mark.parametrize(("compat", "alias"), [(False, "big_thing"), (True, "bigThing")])
def test_versions_of_one_schema_are_one_source(compat: bool, alias: str):
    both = entry("t", self_describing_event_schemas=[THING, NEWER])
    (table,) = event_tables(with_fields(settings(both, compat=compat)))
    fields = ("thing_id", "size", "since_then")
    assert table.names({})[3:] == [f"{alias}_{field}" for field in fields]


@pytest.mark.parametrize(("compat", "alias"), [(False, "big_thing"), (True, "bigThing")])
def test_aliases_made_of_schema_names_are_in_snake_case_unless_compat(compat: bool, alias: str):
    known = settings(entry("t", context_schemas=[THING, LABEL]), compat=compat)
    (table,) = event_tables(known)
    assert [payload.alias for payload in table.payloads] == [alias, "label"]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(("alias", "key"), [(None, "user_id"), ("userId", "user_id")])
def test_a_column_of_users_that_is_named_twice_or_is_the_id_comes_once(
    alias: str | None, key: str, compat: bool
):
    user_id = {"id_column": "domain_userid"} | ({} if alias is None else {"alias": alias})
    columns = ["app_id", "user_id", "app_id", "domain_userid"]
    users = {"user_id": user_id, "user_columns": columns}
    found = users_table(settings(entry("e", event_columns=[]), users=users, compat=compat))
    assert found is not None
    assert (found.key, found.columns) == (key, ("app_id", "domain_userid"))


@pytest.mark.parametrize("compat", [False, True])
def test_columns_that_come_twice_are_refused_before_anything_is_touched(
    spark: SparkSession, compat: bool
):
    raw = spark.range(1).select(
        F.expr(STORED).alias("unstruct_event_com_acme_bigthing_1"),
        F.expr("array(named_struct('Size', 1))").alias("contexts_com_acme_label_1"),
    )
    with pytest.raises(
        ConfigError, match="'snowplow_thing_1' would have these columns twice: size"
    ):
        reshape(raw, things(compat=compat))
    reshape(
        raw,
        settings(
            entry(
                "thing",
                self_describing_event_schemas=[THING],
                context_schemas=[LABEL],
                context_aliases=["label"],
            ),
            compat=compat,
        ),
    )
    users = {"user_id": {"id_column": "domain_userid", "alias": "thingID"}, "user_columns": ["x"]}
    users["user_contexts"] = [THING]
    with pytest.raises(ConfigError, match="the user id is called 'thing_id'"):
        reshape(
            raw.select(F.expr(f"array({STORED})").alias("contexts_com_acme_bigthing_1")),
            settings(entry("e", event_columns=[]), users=users, compat=compat),
        )


def test_the_id_of_a_user_may_lie_in_a_payload_that_has_no_document(spark: SparkSession):
    users = {
        "user_id": {
            "id_column": "thingId",
            "id_context_schema": LABEL,
            "id_self_describing_event_schema": THING,
        },
        "user_columns": ["app_id"],
    }
    known = settings(entry("e", event_columns=["APP_ID"]), users=users)
    raw = spark.range(1).select(
        F.lit('{"thingId": "a"}').alias("unstruct_event_com_acme_bigthing_1"),
        F.lit("shop").alias("app_id"),
    )
    shaped = reshape(raw, known)
    assert shaped.notes == ("users.user_id names two schemas: the self-describing event is used.",)
    found = raw.select(*(it.alias(name) for name, it in shaped.columns.items())).collect()[0]
    assert found["unstruct_event_com_acme_bigthing_1"].asDict() == {"thing_id": "a"}
    assert found["APP_ID"] == "shop"
