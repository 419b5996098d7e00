"""The published cases of the normalize package: names, columns and their sources, users, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conformance.published import FIXTURES, published_events
from windrow.atomic.names import snake_case
from windrow.config import load
from windrow.errors import ConfigError
from windrow.models.model import Model
from windrow.packages import SETTINGS
from windrow.packages.normalize import NORMALIZE
from windrow.packages.normalize.iglu import SchemaField, SchemaUri, property_type
from windrow.packages.normalize.payloads import Payload, payloads
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.tables import NormalizedTable, event_tables, users_table

from normalized import Normalized  # isort: skip

pytestmark = pytest.mark.conformance

SOURCE, EXPECTED = FIXTURES / "normalize" / "source", FIXTURES / "normalize" / "expected"


def published(name: str) -> Any:
    return json.loads((EXPECTED / f"{name}.json").read_text())


def cases(name: str) -> list[Any]:
    """The cases of a file; one that is never begun where there is no file."""
    found = published(name) if EXPECTED.exists() else [{"case": "missing"}]
    return [pytest.param(it, id=it["case"]) for it in found]


def configured(folder: Path, **options: Any) -> NormalizeSettings:
    """Settings as windrow.yml with these options of normalize gives them."""
    tree = {
        "name": "published",
        "targets": {"dev": {"warehouse": "./warehouse"}},
        "packages": {"normalize": options},
    }
    (folder / "windrow.yml").write_text(yaml.safe_dump(tree))
    settings = load(folder, SETTINGS).packages["normalize"]
    assert isinstance(settings, NormalizeSettings)
    return settings


def test_helpers_give_the_published_answers():
    helpers = published("helper_cases")
    assert [snake_case(text) for text, _ in helpers["snake_case"]] == [
        expected for _, expected in helpers["snake_case"]
    ]
    for path, suffix in helpers["schema_path_to_column_suffix"]:
        (column,) = SchemaUri.parse(f"iglu:{path}").columns("contexts")
        assert column == "contexts_" + "_".join(suffix.split("_")[:-2])
    for rule, expected in helpers["property_types"]:
        if expected == "ERROR":
            with pytest.raises(ValueError, match="type"):
                property_type(rule)
        else:
            assert property_type(rule) == expected


def test_tables_have_the_published_names(tmp_path: Path):
    for case in published("helper_cases")["table_names"]:
        entry = {
            "event_names": case["event_names"],
            "event_columns": [],
            "self_describing_event_schemas": case["schemas"],
            "version": case["version"],
            "table_name": case["table_name"],
        }
        settings = configured(tmp_path, events=[entry], config={"models_prefix": case["prefix"]})
        assert settings.table_names == (case["expected"],)


def test_the_published_configuration_makes_the_published_tables(tmp_path: Path):
    expected = published("tables_from_test_config")
    settings = configured(
        tmp_path,
        config_file=str(SOURCE / "test_normalize_config.json"),
        schemas=str(SOURCE / "schema_fields.json"),
    )
    tables = event_tables(settings)
    assert [(it.name, list(it.event_names), list(it.columns), it.names({})) for it in tables] == [
        (it["table"], it["event_names"], it["flat_columns"], it["output_columns"])
        for it in expected["event_tables"]
    ]
    for table, wanted in zip(tables, expected["event_tables"], strict=True):
        found = [(it.column, it.alias) for it in table.payloads]
        sources = [*wanted["self_describing_events"], *wanted["contexts"]]
        assert found == [(it["events_column"], it["alias"]) for it in sources]
    models = {member.full_name: member for member in NORMALIZE.enabled_models(settings)}
    for wanted in expected["event_tables"]:
        assert key_of(models[wanted["table"]]) == (wanted["unique_key"], wanted["upsert_date_key"])
    users = users_table(settings)
    assert users is not None
    assert users.names({}) == expected["users"]["output_columns"]
    wanted = expected["users"]
    assert (users.name, *key_of(models[users.name])) == (
        wanted["table"],
        wanted["unique_key"],
        wanted["upsert_date_key"],
    )
    assert users.id_payload is not None
    assert {"events_column": users.id_payload.column, "field": users.id_column} == (
        wanted["user_id_source"]
    )
    filtered = models[expected["filtered_events"]["table"]]
    assert (
        list(filtered.columns_for(settings) or ())
        == (expected["filtered_events"]["output_columns"])
    )
    assert [(it.name, list(it.event_names)) for it in tables] == [
        (it["event_table_name"], it["event_names"]) for it in expected["filtered_events"]["routes"]
    ]
    assert list(models) == [*(it.name for it in tables), "test_normalized_events", users.name]


def key_of(member: Model) -> tuple[str, str | None]:
    (key,) = member.key
    return key, member.date


def test_the_documented_example_makes_its_tables(tmp_path: Path):
    tree = json.loads((SOURCE / "example_normalize_config.json").read_text())
    tree["config"]["resolver_file_path"] = "default"
    (tmp_path / "example.json").write_text(json.dumps(tree))
    settings = configured(tmp_path, config_file="example.json")
    names = [member.full_name for member in NORMALIZE.enabled_models(settings)]
    assert names == [
        "snowplow_page_events_1",
        "snowplow_link_click_1",
        "snowplow_events_normalized",
        "snowplow_context_users",
    ]
    assert settings.users is not None
    assert settings.users.has_two_ids


def test_published_mistakes_are_refused(tmp_path: Path):
    schemas = {"schemas": str(SOURCE / "schema_fields.json")}
    duplicate, clash, _ = published("helper_cases")["config_errors"]
    with pytest.raises(ConfigError, match=f"same name: {duplicate['duplicates'][0]}"):
        configured(tmp_path, config_file=str(SOURCE / duplicate["config"]), **schemas)
    settings = configured(tmp_path, config_file=str(SOURCE / clash["config"]), **schemas)
    with pytest.raises(ConfigError, match=f"the user id is called '{clash['alias']}'"):
        NORMALIZE.enabled_models(settings)


def as_schema(column: str) -> str:
    """A schema that has this column; the published columns have no vendor."""
    name = column.removeprefix("unstruct_event_").removeprefix("contexts_")
    name, *version = name.removeprefix("context_").rsplit("_", 3)
    return f"iglu:v/{name}/jsonschema/{'-'.join(version)}"


def with_vendor(source: dict[str, Any]) -> dict[str, Any]:
    column = source.get("column", "")
    for prefix, ours in (
        ("unstruct_event_", "unstruct_event_v_"),
        ("contexts_", "contexts_v_"),
        ("context_", "contexts_v_"),
    ):
        if column.startswith(prefix):
            return {**source, "column": ours + column.removeprefix(prefix)}
    return source


def fields_file(folder: Path, columns: list[str], keys: list[list[str]]) -> str:
    fields = {
        as_schema(column): [{"name": key, "type": "string"} for key in names]
        for column, names in zip(columns, keys, strict=True)
    }
    (folder / "fields.json").write_text(json.dumps(fields))
    return "fields.json"


def sources(found: tuple[Payload, ...]) -> list[dict[str, Any]]:
    return [
        {
            "name": it.name,
            "source": {
                "column": payload.column,
                **({"element": 0} if payload.is_context else {}),
                "field": it.field,
            },
        }
        for payload in found
        for it in payload.field_columns(None)
    ]


@pytest.mark.parametrize("case", cases("normalize_events_cases"))
def test_event_tables_have_the_published_columns(case: dict[str, Any]):
    given, expected = case["input"], case["expected"]
    # These cases come after default aliases are chosen: no alias means none.
    fields = {
        as_schema(column): tuple(SchemaField(key, "string") for key in keys)
        for kind in ("sde", "context")
        for column, keys in zip(given[f"{kind}_cols"], given[f"{kind}_keys"], strict=True)
    }
    found = [
        payload
        for kind in ("sde", "context")
        for payload in payloads(
            list(map(as_schema, given[f"{kind}_cols"])),
            given[f"{kind}_aliases"] or [""] * len(given[f"{kind}_cols"]),
            is_context=kind == "context",
            fields=fields,
        )
    ]
    table = NormalizedTable(
        "t", tuple(given["event_names"]), tuple(given["flat_cols"]), tuple(found)
    )
    flat = [{"name": name, "source": {"column": name}} for name in table.columns]
    assert list(table.event_names) == expected["event_name_filter"]
    assert [*flat, *sources(table.payloads)] == [
        {**it, "source": with_vendor(it["source"])} for it in expected["columns"][3:]
    ]
    assert [it["name"] for it in expected["columns"]] == table.names({})


@pytest.mark.parametrize("case", cases("users_table_cases"))
def test_users_have_the_published_columns(tmp_path: Path, case: dict[str, Any]):
    given, expected = case["input"], case["expected"]
    user_id: dict[str, Any] = {"id_column": given["user_id_field"], "alias": given["user_id_alias"]}
    if given["user_id_sde"]:
        user_id["id_self_describing_event_schema"] = as_schema(given["user_id_sde"])
    if given["user_id_context"]:
        user_id["id_context_schema"] = as_schema(given["user_id_context"])
    users = {
        "user_id": user_id,
        "user_contexts": list(map(as_schema, given["user_cols"])),
        "user_columns": given["flat_cols"],
    }
    settings = configured(
        tmp_path,
        events=[{"event_names": "e", "event_columns": []}],
        users=users,
        schemas=fields_file(tmp_path, given["user_cols"], given["user_keys"]),
    )
    table = users_table(settings)
    assert table is not None
    found: dict[str, Any] = {"column": table.id_column}
    if table.id_payload is not None:
        element = {"element": 0} if table.id_payload.is_context else {}
        found = {"column": table.id_payload.column, **element, "field": table.id_column}
    flat = [{"name": name, "source": {"column": name}} for name in table.columns]
    wanted = [{**it, "source": with_vendor(it["source"])} for it in expected["columns"]]
    assert {"name": table.key, "source": found} == wanted[0]
    assert [*flat, *sources(table.payloads)] == wanted[3:]
    assert table.key == expected["one_row_per"]
    assert table.names({}) == [it["name"] for it in wanted]


def test_the_published_event_is_flattened(spark: SparkSession, tmp_path: Path):
    event, context = "unstruct_event_test_1_0_1", "contexts_test2_1_0_5"
    keys = [["testId", "testClass"], ["contextTestId2", "contextTestClass2"]]
    entry = {
        "event_names": "'demo'",
        "event_columns": ["app_id"],
        "self_describing_event_schemas": [as_schema(event)],
        "context_schemas": [as_schema(context)],
        "table_name": "demo",
    }
    site = Normalized(
        spark,
        tmp_path,
        start_date="2022-10-01",
        backfill_limit_days=2,
        events=[entry],
        schemas="fields.json",
    )
    fields_file(tmp_path, [event, context], keys)
    rows = published_events(spark, SOURCE / "snowplow_norm_dummy_events.csv")
    vendored = {name: with_vendor({"column": name})["column"] for name in rows.columns}
    rows = rows.withColumnsRenamed(vendored)
    rows.withColumn("etl_tstamp", F.lit(None).cast("timestamp")).write.parquet(
        str(tmp_path / "events")
    )
    site.run("2022-10-03 00:00")
    assert site.table("demo_1").columns[3:] == [
        "app_id",
        "test_id",
        "test_class",
        "context_test_id2",
        "context_test_class2",
    ]
    assert site.rows("demo_1", "event_id", "test_id", "context_test_class2") == [
        ("'demo'", "demo", "demo")
    ]
