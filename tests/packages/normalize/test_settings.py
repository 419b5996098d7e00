"""The normalize package's configuration: names, rules, files, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from project_files import MINIMAL, Loaded, Problems
from windrow.config import Config
from windrow.errors import ConfigError
from windrow.packages.normalize.iglu import SchemaUri, property_type

CLICK = "iglu:com.snowplowanalytics.snowplow/link_click/jsonschema/1-0-1"
DEEP = "iglu:com.snowplowanalytics.mobile/deep_link/jsonschema/1-0-0"
ENTRY = {"event_names": ["e"], "event_columns": []}


def with_normalize(**options: Any) -> str:
    """A minimal windrow.yml with these options of normalize."""
    return MINIMAL + yaml.safe_dump({"packages": {"normalize": options}})


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        (CLICK, ("unstruct_event_com_snowplowanalytics_snowplow_link_click_1",)),
        (
            "iglu:com.google.tag-manager.server-side/exception/jsonschema/2-8-1",
            ("unstruct_event_com_google_tag_manager_server_side_exception_2",),
        ),
        (
            "iglu:COM.ACME/JSONSCHEMA/JSONSCHEMA/12-0-0",
            ("unstruct_event_com_acme_jsonschema_12",),
        ),
        (
            "iglu:com.acme/linkClick/jsonschema/1-0-0",
            ("unstruct_event_com_acme_linkclick_1", "unstruct_event_com_acme_link_click_1"),
        ),
    ],
)
def test_a_schema_names_its_column(path: str, columns: tuple[str, ...]) -> None:
    assert SchemaUri.parse(path).columns("unstruct_event") == columns


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"type": ["null", "number"]}, "number"),
        ({"type": "ARRAY"}, "array"),
        ({"type": ["boolean", "string", "object"]}, "string"),
        ({"enum": ["999", "-4", "5.7"]}, "number"),
        ({"enum": ["random", "2"]}, "string"),
        ({"type": "null"}, "boolean"),
        ({"type": ["integer", "integer"]}, "integer"),
    ],
)
def test_a_property_has_the_widest_of_its_types(rule: dict[str, Any], expected: str) -> None:
    assert property_type(rule) == expected


def test_a_property_without_a_type_is_refused() -> None:
    with pytest.raises(ValueError, match="`type` or an `enum`"):
        property_type({"typo": ["null"]})


@pytest.mark.parametrize(
    ("entry", "prefix", "expected"),
    [
        ({"event_names": "link_click", "self_describing_event_schemas": CLICK}, None, "snowplow_"),
        ({"event_names": "e", "version": "5", "event_columns": []}, "p", "p_e_5"),
        ({"event_names": "e", "version": "12", "event_columns": []}, "", "e_12"),
        ({"event_names": "e", "event_columns": []}, None, "snowplow_e_1"),
        (
            {
                "event_names": "e",
                "self_describing_event_schemas": CLICK,
                "version": "5",
                "table_name": "t",
            },
            "p",
            "t_1",
        ),
        (
            {
                "event_names": ["a", "b"],
                "self_describing_event_schemas": [CLICK, DEEP],
                "version": "5",
                "table_name": "t",
            },
            "p",
            "t_5",
        ),
    ],
)
def test_tables_are_named(
    loaded: Loaded, entry: dict[str, Any], prefix: str | None, expected: str
) -> None:
    config = {} if prefix is None else {"config": {"models_prefix": prefix}}
    names = tables(loaded(with_normalize(events=[entry], **config)))
    assert names == ["snowplow_link_click_1" if expected == "snowplow_" else expected]


def tables(config: Config) -> list[str]:
    return list(config.packages["normalize"].table_names)  # type: ignore[attr-defined]


def test_compat_names_tables_as_the_reference_does(loaded: Loaded) -> None:
    twelve = [{"event_names": "e", "version": "12", "event_columns": []}]
    assert tables(loaded(with_normalize(events=twelve, compat=True))) == ["snowplow_e_12"]
    hyphen = "iglu:com.google.analytics.measurement-protocol/user/jsonschema/1-0-0"
    entries = [
        {"event_names": "e", "self_describing_event_schemas": hyphen},
        {"event_names": "f", "event_columns": []},
    ]
    empty = {"models_prefix": ""}
    assert tables(loaded(with_normalize(events=entries, config=empty))) == ["e_1", "f_1"]
    odd = with_normalize(events=entries, config=empty, compat=True)
    assert tables(loaded(odd)) == ["snowplow_e_t", "snowplow_f_1"]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ({}, "packages.normalize", "a list of event tables"),
        ({"events": [{"event_columns": []}]}, "events.0.event_names", "a value"),
        ({"events": [{**ENTRY, "event_names": []}]}, "events.0.event_names", "at least one entry"),
        ({"events": [{"event_names": "e"}]}, "events.0", "at least one of event_columns"),
        (
            {"events": [{**ENTRY, "event_names": ["a", "b"]}]},
            "events.0",
            "a table_name and a version",
        ),
        ({"events": [{**ENTRY, "context_aliases": ["x"]}]}, "events.0", "as many context_aliases"),
        (
            {"events": [{**ENTRY, "context_schemas": [CLICK, DEEP], "context_aliases": ["x"]}]},
            "events.0",
            "as many context_aliases (1) as context_schemas (2)",
        ),
        ({"events": [{**ENTRY, "version": "1.0"}]}, "events.0.version", "digits"),
        ({"events": [{**ENTRY, "context_schemas": "page"}]}, "events.0.context_schemas.0", "URI"),
        ({"events": [{**ENTRY, "evnt": 1}]}, "events.0.evnt", ""),
        ({"events": [ENTRY], "users": {}}, "users", "at least one of user_contexts"),
        (
            {"events": [ENTRY], "users": {"user_columns": [], "user_id": {"alias": "x"}}},
            "users.user_id.id_column",
            "a value",
        ),
        ({"events": [ENTRY], "config_file": "n.json"}, "packages.normalize", "either a config"),
    ],
)
def test_wrong_configurations_say_what_is_wrong(
    problems: Problems, options: dict[str, Any], path: str, expected: str, compat: bool
) -> None:
    (found,) = problems(with_normalize(**options, compat=compat))
    assert found.path.endswith(path)
    assert expected in found.expected


def test_names_that_come_twice_are_listed(loaded: Loaded) -> None:
    twice = with_normalize(events=[ENTRY, ENTRY, {**ENTRY, "event_names": "f"}])
    with pytest.raises(ConfigError, match=r"same name: snowplow_e_1\."):
        loaded(twice)
    users = {"user_columns": ["app_id"]}
    taken = {"filtered_events_table_name": "snowplow_events_users"}
    loaded(with_normalize(events=[ENTRY], config=taken))
    with pytest.raises(ConfigError, match="same name: snowplow_events_users"):
        loaded(with_normalize(events=[ENTRY], config=taken, users=users))
    with pytest.raises(ConfigError, match="same name: snowplow_events_users"):
        loaded(with_normalize(events=[ENTRY], config=taken, compat=True))


def test_an_event_name_that_makes_no_table_name_is_refused(loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match="'snowplow_a b_1' cannot be the name of a table"):
        loaded(with_normalize(events=[{**ENTRY, "event_names": "a b"}]))


def test_a_configuration_file_is_taken_as_it_is(
    loaded: Loaded, problems: Problems, tmp_path: Path
) -> None:
    file = tmp_path / "normalize.json"
    file.write_text(json.dumps({"config": {"resolver_file_path": "default"}, "events": [ENTRY]}))
    text = with_normalize(config_file="normalize.json", start_date="2024-01-01")
    assert tables(loaded(text)) == ["snowplow_e_1"]
    file.write_text(json.dumps({"config": {}, "events": [{**ENTRY, "version": 1}], "more": 1}))
    assert {(it.file, it.path) for it in problems(text)} == {
        ("normalize.json", "config.resolver_file_path"),
        ("normalize.json", "events.0.version"),
        ("normalize.json", "more"),
    }
    file.write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        loaded(text)
    file.unlink()
    with pytest.raises(ConfigError, match="cannot read"):
        loaded(text)


def test_a_package_of_its_own_events_lists_its_tables_elsewhere(loaded: Loaded) -> None:
    settings = loaded(with_normalize(events="a.b", event_tables=[ENTRY])).packages["normalize"]
    assert settings.events is not None
    assert settings.events.table == "a.b"


def test_the_fingerprint_knows_the_tables_but_not_the_folder(
    loaded: Loaded, tmp_path: Path
) -> None:
    def fingerprint(*entries: dict[str, Any]) -> str:
        text = with_normalize(events=list(entries), schemas=str(tmp_path / str(len(entries))))
        return loaded(text).packages["normalize"].fingerprint()

    assert fingerprint(ENTRY) != fingerprint({**ENTRY, "version": "2"})
    here = loaded(with_normalize(events=[ENTRY], schemas="/a/x")).packages["normalize"]
    there = loaded(with_normalize(events=[ENTRY], schemas="/b/x")).packages["normalize"]
    assert here.fingerprint() == there.fingerprint()
