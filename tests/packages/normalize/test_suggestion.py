"""A configuration proposed from the events is one that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from normalized import PAGE, ROBOTS, VITALS, Normalized, entry
from website import event
from windrow.atomic.entity_columns import IAB, WEB_VITALS
from windrow.cli import main


@pytest.mark.ci
def test_what_is_suggested_can_be_run(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    site = Normalized(spark, tmp_path, events=[entry("page_view", event_columns=[])])
    schema = {"event_vendor": "com.snowplowanalytics.snowplow", "event_format": "jsonschema"}
    vitals = {WEB_VITALS.name: {**dict.fromkeys(WEB_VITALS.fields), "lcp": 1.0}}
    site.arrive(
        event("e1", "s", "2024-01-02 10:00", page="p", **{IAB.name: [dict.fromkeys(IAB.fields)]}),
        event("e2", "s", "2024-01-02 10:01", page="p", user_id="u", **{IAB.name: []}),
        event("e3", "s", "2024-01-02 10:02", "web vitals", **vitals, **schema),
        event(
            "e4", "s", "2024-01-02 10:03", "web_vitals", event_version="1-0-2", **vitals, **schema
        ),
    )
    assert (
        main(["normalize", "--suggest", "--json", "--project-dir", str(tmp_path)], spark=spark) == 0
    )
    found = json.loads(capsys.readouterr().out)
    types = {it["event_name"]: it for it in found["event_types"]}
    assert [it["events"] for it in found["event_types"]] == [2, 1, 1]
    assert types["page_view"]["contexts"] == {PAGE: 2, ROBOTS: 1}
    assert types["page_view"]["schema"] is None
    assert types["web vitals"]["schema"] == VITALS
    assert types["web_vitals"]["schema"] == VITALS.replace("1-0-0", "1-0-2")
    assert {"page_url", "user_id"} <= set(types["page_view"]["columns"])
    assert "page_title" not in types["page_view"]["columns"]

    site.configure(**found["configuration"])
    assert main(["normalize", "--json", "--project-dir", str(tmp_path)], spark=spark) == 0
    tables = {it["table"]: it for it in json.loads(capsys.readouterr().out)["tables"]}
    assert list(tables) == [
        "snowplow_page_view_1",
        "web_vitals_1",
        "snowplow_web_vitals_1",
        "snowplow_events_normalized",
        "snowplow_events_users",
    ]
    assert all(table["columns"] for table in tables.values())
    assert all(it["rule"] for table in tables.values() for it in table["columns"])
    assert main(["normalize", "--suggest", "--project-dir", str(tmp_path)], spark=spark) == 0
    assert "context_schemas:" in capsys.readouterr().out
    result = site.run("2024-01-03 00:00")
    assert {it.name: it.rows for it in result.models} == {
        "snowplow_page_view_1": 2,
        "web_vitals_1": 1,
        "snowplow_web_vitals_1": 1,
        "snowplow_events_normalized": 4,
        "snowplow_events_users": 1,
    }
