"""Lines of enriched events are read as the published SDK reads them, and bad ones are told."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pyspark.sql import Row, SparkSession
from snowplow_analytics_sdk import event_transformer as sdk

from enriched_lines import OURS, contexts, line, unstruct_event, write_lines
from website import rows
from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.enriched import FIELDS, bad_lines_of
from windrow.atomic.entity_columns import IAB, WEB_PAGE, WEB_VITALS
from windrow.atomic.source import Source, check_lines, open_source
from windrow.config import EventsSource
from windrow.errors import SourceError

ACME = "iglu:com.acme-shop.web"
IN_CONTEXTS = {
    WEB_PAGE.name: (f"{OURS}/web_page/jsonschema/1-0-0", {"id": "p1"}),
    "contexts_com_acme_shop_web_cart_item_2": (
        f"{ACME}/cartItem/jsonschema/2-3-4",
        {"unitPrice": 1.10, "tags": ["a", 'b "c"'], "note": "tab \t and \u00fc"},
    ),
}
DERIVED = {IAB.name: ("iglu:com.iab.snowplow/spiders_and_robots/jsonschema/1-0-3", {"reason": "x"})}
VITALS = (f"{OURS}/web_vitals/jsonschema/1-0-0", {"lcp": 12.5, "navigationType": "reload"})
WHOLE = {
    **{n: "text of " + n for n, kind in STANDARD_COLUMNS.items() if kind == "string"},
    **{n: n.count("_") + 7 for n, kind in STANDARD_COLUMNS.items() if kind == "int"},
    **{n: "12.50" for n, kind in STANDARD_COLUMNS.items() if kind.startswith("decimal")},
    **{n: len(n) % 2 == 0 for n, kind in STANDARD_COLUMNS.items() if kind == "boolean"},
    **{n: "2024-01-02 03:04:05.678" for n, k in STANDARD_COLUMNS.items() if k == "timestamp"},
    **{"geo_latitude": "-51.5", "geo_longitude": "0.25", "se_value": "3.75"},
    "contexts": contexts(*IN_CONTEXTS.values()),
    "derived_contexts": contexts(*DERIVED.values()),
    "unstruct_event": unstruct_event(*VITALS),
}
del WHOLE["load_tstamp"]


def opened(spark: SparkSession, path: Path, *asked: str) -> Source:
    source = EventsSource(path=str(path), format="enriched")
    known = (WEB_PAGE.name, IAB.name, WEB_VITALS.name)
    return open_source(spark, source, time_column="collector_tstamp", asked=(*known, *asked))


def events_in(spark: SparkSession, folder: Path, lines: list[str], *asked: str) -> list[Row]:
    write_lines(folder / "lines.tsv", lines)
    return opened(spark, folder, *asked).raw.orderBy("event_id").collect()


def as_the_sdk_has_it(name: str, value: Any) -> Any:
    """A value of ours as the SDK would say it."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"
    if name.startswith(("contexts_", "unstruct_event_")):
        return json.loads(value)
    if name == "se_value":
        return str(value)
    return float(value) if isinstance(value, Decimal) else value


def assert_same(row: Row, of_sdk: dict[str, Any]) -> None:
    renamed = {"refr_device_tstamp": "refr_dvce_tstamp"}
    expected = {renamed.get(n, n): v for n, v in of_sdk.items() if n != "geo_location"}
    # The SDK leaves hyphens in the names of columns, which no table has.
    expected = {n.replace("-", "_"): value for n, value in expected.items()}
    values = {n: as_the_sdk_has_it(n, v) for n, v in row.asDict().items() if v is not None}
    del values["load_tstamp"]
    assert values == expected


def test_fields_are_those_of_the_sdk_in_its_order():
    names = [name for name, _ in sdk.ENRICHED_EVENT_FIELD_TYPES]
    assert [n.replace("refr_device_", "refr_dvce_") for n in names] == list(FIELDS)
    assert len(FIELDS) == 131


def test_every_field_and_entity_is_as_the_sdk_reads_it(spark, tmp_path):
    each = [{n: v} for n, v in WHOLE.items() if n not in ("event_id", "collector_tstamp")]
    given = [WHOLE, {}, *each, {"page_title": " ", "contexts": contexts()}]
    lines = [line(**{**fields, "event_id": f"e{n:03}"}) for n, fields in enumerate(given)]
    found = events_in(spark, tmp_path, lines, *IN_CONTEXTS)
    assert len(found) == len(lines) > 100
    for row, text in zip(found, lines, strict=True):
        assert_same(row, sdk.transform(text))
    assert set(found[0].asDict()) >= {WEB_VITALS.name, *IN_CONTEXTS, *DERIVED}


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=8)
SOME = {"page_title": TEXT, "useragent": TEXT, "page_url": TEXT, "se_label": TEXT}


@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.fixed_dictionaries(SOME, optional={"tag": TEXT}), min_size=10, max_size=40))
def test_odd_values_are_as_the_sdk_reads_them(spark, tmp_path, drawn):
    lines = []
    for number, values in enumerate(drawn):
        entity = (IN_CONTEXTS[WEB_PAGE.name][0], {"id": values.pop("tag", "")})
        fields = {**values, "event_id": f"e{number:03}", "contexts": contexts(entity)}
        lines.append(line(**fields))
    found = events_in(spark, tmp_path, lines)
    assert len(found) == len(lines)
    for row, text in zip(found, lines, strict=True):
        assert_same(row, sdk.transform(text))


def test_an_event_has_its_entities_in_the_shape_that_models_take(spark, tmp_path):
    write_lines(tmp_path / "lines.tsv", [line(**WHOLE)])
    source = opened(spark, tmp_path)
    columns = [WEB_PAGE.name, IAB.name, WEB_VITALS.name, "br_cookies", "load_tstamp"]
    day = datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 3, tzinfo=UTC)
    (row,) = source.between(*day, columns).collect()
    assert (row[0][0].id, row[1][0].reason) == ("p1", "x")
    assert (row[2].lcp, row[2].navigation_type, row[3]) == (12.5, "reload", True)
    assert row[4] is not None


def test_several_entities_of_a_kind_and_both_spellings_of_a_name_are_found(spark, tmp_path):
    item, page = (f"{ACME}/cartItem/jsonschema/2-0-0", f"{OURS}/web_page/jsonschema/1-0-0")
    sent = contexts((item, {"n": 1}), (page, {"id": "p"}), (item, {"n": 2}))
    other = contexts((f"{ACME}/cartItem/jsonschema/3-0-0", {"n": 3}), (item, {"n": 4}))
    names = [f"contexts_com_acme_shop_web_{it}_2" for it in ("cart_item", "cartitem")]
    (row,) = events_in(spark, tmp_path, [line(contexts=sent, derived_contexts=other)], *names)
    assert [json.loads(row[name]) for name in names] == [[{"n": 1}, {"n": 2}, {"n": 4}]] * 2


BAD = {
    "one\ttwo": "2 fields, expected 131",
    line() + "\t": "132 fields, expected 131",
    line(event_id=""): "event_id is empty",
    line(collector_tstamp="yesterday"): "collector_tstamp is no time",
    line(collector_tstamp=""): "collector_tstamp is no time",
    line(doc_width="wide"): "doc_width is not of type int",
    line(br_cookies="maybe"): "br_cookies is not of type boolean",
    line(contexts='{"schema": "a", "data": [{"sch'): "contexts is not self-describing JSON",
    line(contexts="{'schema': 'a', 'data': []}"): "contexts is not self-describing JSON",
    line(contexts='{"data": [{"data": {}}]}'): "contexts is not self-describing JSON",
    line(derived_contexts="[]"): "derived_contexts is not self-describing JSON",
    line(unstruct_event="nonsense"): "unstruct_event is not self-describing JSON",
    line(unstruct_event='{"schema": "a"}'): "unstruct_event is not self-describing JSON",
}
TOLERATED = ("event_id is empty", "collector_tstamp is no time")
"""What the SDK lets pass, as it only turns fields into values."""


def test_bad_lines_are_left_out_each_with_its_reason(spark, tmp_path):
    found = events_in(spark, tmp_path, [line(event_id="good"), "", *BAD])
    assert [row["event_id"] for row in found] == ["good"]
    lines = opened(spark, tmp_path).lines
    assert lines is not None
    told = bad_lines_of(lines).collect()
    assert {row["line"]: row["reason"] for row in told} == BAD
    assert {row["file"].rpartition("/")[2] for row in told} == {"lines.tsv"}


@pytest.mark.parametrize("text", [it for it, reason in BAD.items() if reason not in TOLERATED])
def test_the_sdk_refuses_what_is_left_out(text: str):
    with pytest.raises(sdk.SnowplowEventTransformationException):
        sdk.transform(text)


def test_gzip_is_read_as_plain_text_is(spark, tmp_path):
    lines = [line(event_id=f"e{n}", page_title=f"t{n}") for n in range(5)]
    write_lines(tmp_path / "plain" / "lines.tsv", lines)
    (tmp_path / "packed").mkdir()
    packed = gzip.compress("\n".join(lines).encode())
    (tmp_path / "packed" / "lines.tsv.gz").write_bytes(packed)
    plain, unpacked = (
        rows(opened(spark, tmp_path / name).raw.select("event_id", "page_title"))
        for name in ("plain", "packed")
    )
    assert plain == unpacked == [(f"e{n}", f"t{n}") for n in range(5)]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["app_id\tevent_id", "a\tb"], r"the first line of \S+ has 2 and begins with 'app_id"),
        (["", ""], "have no line: is the folder empty"),
    ],
)
def test_files_without_an_enriched_event_are_refused(spark, tmp_path, lines, wrong):
    write_lines(tmp_path / "lines.tsv", lines)
    with pytest.raises(SourceError, match=wrong) as error:
        check_lines(opened(spark, tmp_path), str(tmp_path))
    assert error.value.exit_code == 2


def test_a_table_is_not_of_lines():
    with pytest.raises(ValidationError, match="is of files"):
        EventsSource(table="atomic.events", format="enriched")
