"""Which events the package sees, whose they are, and what columns they get."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from plan_texts import executed_plan
from shop import action, base_events, base_of, product
from website import at, event, event_frame, rows
from windrow.atomic.entity_columns import CLIENT_SESSION, ECOMMERCE_CART, ECOMMERCE_PRODUCT, SCREEN
from windrow.atomic.source import open_source
from windrow.config import EventsSource
from windrow.engine.intake.session_events import scan
from windrow.packages.ecommerce.base_events import SWITCHES
from windrow.packages.ecommerce.settings import EcommerceSettings

APP = {
    CLIENT_SESSION.name: [
        dict.fromkeys(CLIENT_SESSION.fields) | {"session_id": "m1", "user_id": "u1"}
    ],
    SCREEN.name: [dict.fromkeys(SCREEN.fields) | {"id": "screen", "name": "Home"}],
}
EVENTS = [
    action("web", "s1", "2024-01-02 10:00", "product_view", page="p1"),
    action("app", None, "2024-01-02 10:01", "list_view", cookie=None, **APP),
    action("both", "s1", "2024-01-02 10:00", None, page="p2", user_id="anna", **APP),
    event("view", "s1", "2024-01-02 09:00"),
]
PLAN_LENGTH = "spark.sql.maxMetadataStringLength"
IDS = ("event_id", "domain_sessionid", "domain_userid", "original_domain_sessionid")


def test_web_sessions_are_those_of_the_tracker(spark: SparkSession):
    frame, _ = base_events(spark, EVENTS)
    names = (*IDS, "original_domain_userid", "page_view_id", "session_id", "screen_view_id")
    assert rows(frame.select(*names)) == [
        ("app", None, None, None, None, None, None, None),
        ("both", "s1", "cookie", "s1", "cookie", "p2", None, None),
        ("web", "s1", "cookie", "s1", "cookie", "p1", None, None),
    ]


def test_mobile_sessions_come_first_when_enabled(spark: SparkSession):
    frame, _ = base_events(spark, EVENTS, enable_mobile_events=True)
    names = (*IDS, "page_view_id", "mobile_user_id", "screen_view_name")
    assert rows(frame.select(*names)) == [
        ("app", "m1", "u1", None, "screen", "u1", "Home"),
        ("both", "m1", "u1", "s1", "screen", "u1", "Home"),
        ("web", "s1", "cookie", "s1", "p1", None, None),
    ]


def test_configured_identifiers_take_the_place_of_ours(spark: SparkSession):
    entity = {"schema": CLIENT_SESSION.name, "field": "user_id"}
    frame, settings = base_events(
        spark,
        EVENTS,
        session_sql=f"coalesce(e.domain_sessionid, e.{CLIENT_SESSION.name}[0].session_id)",
        user_identifiers=[entity, "user_id"],
    )
    assert rows(frame.select(*IDS[:3])) == [
        ("app", "m1", "u1"),
        ("both", "s1", "u1"),
        ("web", "s1", None),
    ]
    needed = base_of(settings).columns(settings)
    assert {"domain_sessionid", "user_id", CLIENT_SESSION.name} <= set(needed)


@pytest.mark.parametrize("compat", [False, True])
def test_rank_counts_e_commerce_events_and_ties_share_it(spark: SparkSession, compat: bool):
    frame, _ = base_events(spark, EVENTS, compat=compat)
    ranked = frame.where("domain_sessionid = 's1'").select("event_id", "event_in_session_index")
    assert rows(ranked) == [("both", 1), ("web", 1)]


def test_a_switched_off_entity_is_not_read_and_its_columns_stay(spark: SparkSession):
    every = base_of(EcommerceSettings())
    assert len(every.made) == 47
    for switch, entity in SWITCHES.items():
        without = base_of(EcommerceSettings(**{switch: True}))
        assert set(every.reads) - set(without.reads) == {entity.name}
        assert without.made == every.made


def test_null_stands_in_for_a_missing_entity(spark: SparkSession):
    settings = EcommerceSettings(disable_ecommerce_carts=True)
    frame = event_frame(spark, EVENTS).drop(ECOMMERCE_CART.name)
    added = frame.withColumns(base_of(settings).adds())
    assert dict(added.dtypes)["cart_total_value"] == "decimal(9,2)"
    assert added.where("cart_id IS NOT NULL").isEmpty()


def names_kept(spark: SparkSession, **options: object) -> list[tuple[object, ...]]:
    events = [
        event(name, "s1", "2024-01-02 10:00", name)
        for name in ("page_view", "snowplow_ecommerce_action", "Snowplow_Ecommerce_Action")
    ]
    return rows(base_events(spark, events, **options)[0].select("event_name"))


def test_event_names_are_told_apart_by_case_unless_compat(spark: SparkSession):
    assert names_kept(spark) == [("snowplow_ecommerce_action",)]
    assert len(names_kept(spark, compat=True)) == 2
    assert names_kept(spark, ecommerce_event_names=["Page_View"]) == [("page_view",)]
    assert len(names_kept(spark, ecommerce_event_names=[])) == 3


@pytest.mark.parametrize("shape", ["structs", "JSON text"])
def test_the_source_looks_for_the_event_names_itself(
    spark: SparkSession, tmp_path: Path, shape: str
):
    events = [*EVENTS, action("e", "s1", "2024-01-02 10:00", "list_view", products=[product("1")])]
    frame = event_frame(spark, events)
    if shape == "JSON text":
        frame = frame.withColumn(ECOMMERCE_PRODUCT.name, F.to_json(ECOMMERCE_PRODUCT.name))
    frame.write.parquet(str(tmp_path / "events"))
    source = open_source(
        spark, EventsSource(path=str(tmp_path / "events")), time_column="collector_tstamp"
    )
    base = base_of(EcommerceSettings())
    assert base.keeps is not None
    found = scan(
        source,
        base,
        at("2024-01-01"),
        at("2024-01-03"),
        ("event_id", "domain_sessionid", ECOMMERCE_PRODUCT.name),
        keeps=base.keeps(),
    )
    spark.conf.set(PLAN_LENGTH, 10_000)
    plan = executed_plan(found)
    spark.conf.unset(PLAN_LENGTH)
    pushed = next(line for line in plan.splitlines() if "PushedFilters" in line)
    assert "EqualTo(event_name,snowplow_ecommerce_action)" in pushed
    assert found.count() == 4
