"""Synthetic events: their shape, that they repeat, and that the hard cases are where asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import (
    ECOMMERCE_ACTION,
    ECOMMERCE_CART,
    ECOMMERCE_PRODUCT,
    ECOMMERCE_TRANSACTION,
    ENTITY_COLUMNS,
    MEDIA_ELEMENT,
    MEDIA_PLAYER_EVENT,
    WEB_PAGE,
    WEB_VITALS,
    YOUTUBE,
)
from windrow.demo.event_rows import NEEDED_COLUMNS
from windrow.demo.events import ALL_CASES, GenerateOptions, generate, split_arrivals, write
from windrow.errors import UsageError

# Days of traffic take their time to be made.
pytestmark = pytest.mark.ci

OPTIONS = GenerateOptions(start=date(2024, 3, 1), days=3, events_per_day=900)
HARD_OPTIONS = replace(OPTIONS, hard_cases=True)


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> Iterator[DataFrame]:
    """Three days without a hard case."""
    frame = with_page_view_id(generate(spark, OPTIONS)).cache()
    yield frame
    frame.unpersist()


@pytest.fixture(scope="module")
def hard_events(spark: SparkSession) -> Iterator[DataFrame]:
    """The same three days with all hard cases."""
    frame = with_page_view_id(generate(spark, HARD_OPTIONS)).cache()
    yield frame
    frame.unpersist()


def with_page_view_id(events: DataFrame) -> DataFrame:
    return events.withColumn("page_view_id", F.get(F.col(WEB_PAGE.name), F.lit(0))["id"])


def the_row(frame: DataFrame) -> Row:
    (row,) = frame.collect()
    return row


def checksum(events: DataFrame) -> Row:
    """Equal for equal rows in any order."""
    columns = [*STANDARD_COLUMNS, *(column.name for column in ENTITY_COLUMNS)]
    return the_row(events.agg(F.count("*"), F.bit_xor(F.xxhash64(*columns))))


# --- Shape -----------------------------------------------------------------------------------


def test_columns_are_the_standard_ones_then_the_entities(spark: SparkSession) -> None:
    entities = {column.name: column.type for column in ENTITY_COLUMNS}
    assert len(STANDARD_COLUMNS) == 129
    assert generate(spark, OPTIONS).dtypes == list((STANDARD_COLUMNS | entities).items())


def test_needed_columns_are_some_of_all_in_the_same_order(spark: SparkSession) -> None:
    everything = generate(spark, OPTIONS).columns
    needed = generate(spark, replace(OPTIONS, columns="needed")).columns
    assert needed == [name for name in everything if name in NEEDED_COLUMNS]
    assert len(needed) == len(NEEDED_COLUMNS)


def test_each_day_has_the_events_asked_for(events: DataFrame) -> None:
    by_day = events.groupBy(F.to_date("collector_tstamp").alias("day")).count().collect()
    counts = {str(row["day"]): row["count"] for row in by_day}
    assert events.count() == 2700
    for day in ("2024-03-01", "2024-03-02", "2024-03-03"):
        assert counts[day] == pytest.approx(900, rel=0.1)


def test_event_ids_are_unique(events: DataFrame) -> None:
    assert events.select("event_id").distinct().count() == events.count()


def test_each_page_view_id_has_one_page_view_and_its_other_events_follow(
    events: DataFrame,
) -> None:
    is_view = F.col("event_name") == "page_view"
    opened = events.groupBy("page_view_id").agg(
        F.count_if(is_view).alias("views"),
        F.max(F.when(is_view, F.col("derived_tstamp"))).alias("opened"),
        F.min(F.when(~is_view, F.col("derived_tstamp"))).alias("next"),
    )
    assert opened.where("views != 1 OR next <= opened").count() == 0
    assert opened.where("next IS NOT NULL").count() > 0


def test_pings_keep_the_heartbeat(events: DataFrame) -> None:
    opened = events.where("event_name = 'page_view'").select(
        "page_view_id", F.unix_millis("dvce_created_tstamp").alias("opened_ms")
    )
    pings = events.where("event_name = 'page_ping'").join(opened, on="page_view_id", how="inner")
    after_first_ms = F.unix_millis("dvce_created_tstamp") - F.col("opened_ms") - 5_000
    off_beat = pings.where((after_first_ms < 0) | (after_first_ms % 10_000 > 400))
    assert pings.count() > 0
    assert off_beat.count() == 0


def test_pings_scroll_within_the_document(events: DataFrame) -> None:
    pings = events.where("event_name = 'page_ping'")
    within = "0 <= pp_yoffset_min AND pp_yoffset_min <= pp_yoffset_max"
    within += " AND pp_yoffset_max + br_viewheight <= doc_height AND pp_xoffset_max = 0"
    assert pings.where(f"NOT ({within})").count() == 0
    assert pings.where("pp_yoffset_max > pp_yoffset_min").count() > 0


def test_times_are_in_order(events: DataFrame) -> None:
    times = ("dvce_created", "dvce_sent", "collector", "etl", "load")
    for earlier, later in pairwise(times):
        assert events.where(F.col(f"{earlier}_tstamp") > F.col(f"{later}_tstamp")).count() == 0
    delay_s = F.expr(
        "unix_micros(dvce_sent_tstamp) - unix_micros(dvce_created_tstamp)"
        " - unix_micros(collector_tstamp) + unix_micros(derived_tstamp)"
    )
    assert events.where(delay_s != 0).count() == 0


def test_sessions_last_hours_at_most_and_belong_to_one_visitor(events: DataFrame) -> None:
    sessions = events.groupBy("domain_sessionid").agg(
        (
            F.max(F.unix_seconds("collector_tstamp")) - F.min(F.unix_seconds("collector_tstamp"))
        ).alias("length_s"),
        F.count_distinct("domain_userid", "domain_sessionidx").alias("visits"),
    )
    assert sessions.where("length_s > 3 * 3600 OR visits != 1").count() == 0


def test_visitors_return_and_their_sessions_are_numbered_in_order(events: DataFrame) -> None:
    sessions = events.groupBy("domain_userid", "domain_sessionidx").agg(
        F.min("collector_tstamp").alias("start")
    )
    numbered = sessions.alias("a").join(
        sessions.alias("b"),
        on=F.expr(
            "a.domain_userid = b.domain_userid AND a.domain_sessionidx < b.domain_sessionidx"
        ),
        how="inner",
    )
    assert numbered.where("to_date(a.start) < to_date(b.start)").count() > 0
    assert numbered.where("a.start >= b.start").count() == 0


def test_users_log_in_and_stay_so(events: DataFrame) -> None:
    sides = events.alias("a").join(events.alias("b"), on="domain_userid", how="inner")
    logged_out = sides.where(
        "a.user_id IS NOT NULL AND b.user_id IS NULL AND b.derived_tstamp > a.derived_tstamp"
    )
    assert events.where("user_id IS NOT NULL").count() > 0
    assert logged_out.count() == 0


def test_there_are_all_kinds_of_events_devices_and_pages(events: DataFrame) -> None:
    row = the_row(
        events.agg(
            F.collect_set("event_name").alias("names"),
            F.collect_set("dvce_type").alias("devices"),
            F.collect_set(F.regexp_extract("page_url", r"example/(\w+)", 1)).alias("pages"),
            F.collect_set("refr_medium").alias("media"),
            F.count("tr_total").alias("orders"),
            F.count_if(F.contains("page_urlquery", F.lit("utm_source_platform="))).alias(
                "platforms"
            ),
        )
    )
    assert {"page_view", "page_ping", "link_click", "event", "purchase"} <= set(row["names"])
    assert {"cmp_visible", "consent_preferences", "web_vitals"} <= set(row["names"])
    assert set(row["devices"]) == {"Desktop", "Phone", "Tablet", "Robot"}
    assert {"home", "list", "product", "checkout"} <= set(row["pages"])
    assert {"search", "social", "internal"} <= set(row["media"])
    assert row["orders"] > 0
    assert row["platforms"] > 0


def test_web_vitals_come_once_in_a_page_view_and_fill_their_column(events: DataFrame) -> None:
    vitals = events.where("event_name = 'web_vitals'")
    assert events.where(F.col(WEB_VITALS.name).isNotNull()).count() == vitals.count()
    assert vitals.select("page_view_id").distinct().count() == vitals.count()


def test_shopping_adds_up(events: DataFrame) -> None:
    """Carts hold what was put in and not taken out; purchases are of what the cart held."""
    action = F.col(ECOMMERCE_ACTION.name)
    is_action = F.col("event_name") == "snowplow_ecommerce_action"
    assert events.where(is_action != action.isNotNull()).count() == 0

    cart = F.get(F.col(ECOMMERCE_CART.name), F.lit(0))
    bought = F.get(F.col(ECOMMERCE_TRANSACTION.name), F.lit(0))
    prices = F.transform(ECOMMERCE_PRODUCT.name, lambda product: product["price"])
    listed = F.aggregate(
        prices, F.lit(0).cast("decimal(19,2)"), lambda a, b: (a + b).cast("decimal(19,2)")
    )
    row = the_row(
        events.where(is_action).agg(
            F.collect_set(action["type"]).alias("types"),
            F.count_if(cart["total_value"] < 0).alias("debts"),
            F.count_if((action["type"] == "add_to_cart") & (cart["total_value"] < listed)).alias(
                "short"
            ),
            F.count_if(bought["revenue"] - bought["shipping"] != listed).alias("wrong"),
            F.count("*").alias("actions"),
        )
    )
    assert {"product_view", "list_view", "add_to_cart", "checkout_step"} <= set(row["types"])
    assert {"remove_from_cart", "transaction", "refund"} <= set(row["types"])
    assert (row["debts"], row["short"], row["wrong"]) == (0, 0, 0)
    assert 0.05 < row["actions"] / 2700 < 0.3


# --- Repetition ------------------------------------------------------------------------------


def test_same_seed_same_events_however_partitioned(
    spark: SparkSession, hard_events: DataFrame
) -> None:
    settings = {"spark.sql.leafNodeDefaultParallelism": "5", "spark.sql.shuffle.partitions": "3"}
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        again = checksum(generate(spark, HARD_OPTIONS).repartition(7))
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
    assert again == checksum(hard_events)


def test_another_seed_gives_other_events(spark: SparkSession, events: DataFrame) -> None:
    others = generate(spark, replace(OPTIONS, seed=2))
    assert others.join(events, on="event_id", how="left_semi").count() == 0


def test_a_day_is_the_same_alone_as_among_others(spark: SparkSession, events: DataFrame) -> None:
    alone = generate(spark, replace(OPTIONS, start=date(2024, 3, 2), days=1))
    found = events.join(alone.select("event_id"), on="event_id", how="left_semi")
    assert checksum(alone) == checksum(found)


# --- Hard cases ------------------------------------------------------------------------------


def sessions_with_several(column: str) -> Callable[[DataFrame], DataFrame]:
    return lambda events: (
        events.where("domain_sessionid IS NOT NULL")
        .groupBy("domain_sessionid")
        .agg(F.count_distinct(column).alias("several"))
        .where("several > 1")
    )


def repeated(events: DataFrame) -> DataFrame:
    return events.groupBy("event_id").count().where("count > 1")


def over_long(events: DataFrame) -> DataFrame:
    ends = events.groupBy("domain_sessionid").agg(
        F.min("collector_tstamp").alias("start"), F.max("collector_tstamp").alias("end")
    )
    return ends.where("domain_sessionid IS NOT NULL AND end > start + INTERVAL 3 DAYS")


def pings_without_their_view(events: DataFrame) -> DataFrame:
    views = events.where("event_name = 'page_view'").select("page_view_id", "domain_sessionid")
    pings = events.where("event_name = 'page_ping' AND page_view_id IS NOT NULL")
    in_session = pings.where("domain_sessionid IS NOT NULL")
    return in_session.join(views, on=["page_view_id", "domain_sessionid"], how="left_anti").where(
        F.col("page_view_id").isin([row[0] for row in views.select("page_view_id").collect()])
    )


FINDERS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "endless_sessions": over_long,
    "late_sent": lambda e: e.where("dvce_sent_tstamp > dvce_created_tstamp + INTERVAL 3 DAYS"),
    "null_device_times": lambda e: e.where("dvce_created_tstamp IS NULL"),
    "stray_pings": pings_without_their_view,
    "changing_users": lambda e: sessions_with_several("user_id")(e),
    "rotating_visitors": lambda e: sessions_with_several("domain_userid")(e),
    "null_visitors": lambda e: e.where("domain_userid IS NULL"),
    "null_page_views": lambda e: e.where("page_view_id IS NULL"),
    "null_sessions": lambda e: e.where("domain_sessionid IS NULL"),
    "duplicates": repeated,
    "late_loaded": lambda e: split_arrivals(e)[1],
}


@pytest.mark.parametrize("case", ALL_CASES)
def test_hard_case_is_there_only_when_asked_for(
    case: str, events: DataFrame, hard_events: DataFrame
) -> None:
    assert FINDERS[case](events).count() == 0
    assert FINDERS[case](hard_events).count() > 0


def test_one_hard_case_can_be_asked_for_alone(spark: SparkSession, events: DataFrame) -> None:
    named = generate(spark, replace(OPTIONS, hard_cases={"duplicates"})).cache()
    assert repeated(named).count() > 0
    assert checksum(named.dropDuplicates(["event_id"])).asDict()["count(1)"] == events.count()


def test_duplicates_are_collected_later_or_only_enriched_later(hard_events: DataFrame) -> None:
    copies = hard_events.groupBy("event_id").agg(
        F.count("*").alias("copies"),
        F.count_distinct("collector_tstamp").alias("collected"),
        F.count_distinct("etl_tstamp").alias("enriched"),
    )
    repeated_events = copies.where("copies > 1")
    assert repeated_events.where("collected = 2 AND enriched = 2").count() > 0
    assert repeated_events.where("collected = 1 AND enriched = 2").count() > 0


def test_arrivals_split_into_all_events(hard_events: DataFrame) -> None:
    on_time, late = split_arrivals(hard_events)
    assert on_time.count() + late.count() == hard_events.count()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"days": 0}, "days is 0; it must be at least 1"),
        ({"hard_cases": ["duplicate"]}, "Did you mean 'duplicates'?"),
        ({"site": "shop.example"}, "must start with http"),
    ],
)
def test_impossible_options_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        replace(OPTIONS, **change)  # type: ignore[arg-type]
    assert message in str(caught.value)


# --- Writing ---------------------------------------------------------------------------------


def test_written_events_read_back_from_a_folder_per_load_date(
    spark: SparkSession, events: DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "events"
    write(generate(spark, OPTIONS), str(folder))
    stored = spark.read.parquet(str(folder))
    days = sorted(path.name for path in folder.glob("load_tstamp_date=*"))
    assert days[:3] == [f"load_tstamp_date=2024-03-0{day}" for day in (1, 2, 3)]
    assert checksum(stored) == checksum(events)
    assert stored.where("load_tstamp_date != to_date(load_tstamp)").count() == 0


# --- Media -----------------------------------------------------------------------------------


def test_media_events_stand_in_for_pings_when_asked_for(
    spark: SparkSession, events: DataFrame
) -> None:
    with_media = generate(spark, replace(OPTIONS, media=True)).cache()
    assert with_media.count() == events.count()
    found = with_media.where("event_name = 'media_player_event'")
    row = the_row(
        found.agg(
            F.collect_set(f"{MEDIA_PLAYER_EVENT.name}.type").alias("types"),
            F.count_distinct(F.get(f"{YOUTUBE.name}.player_id", F.lit(0))).alias("videos"),
            F.collect_set(F.get(f"{MEDIA_ELEMENT.name}.media_type", F.lit(0))).alias("elements"),
        )
    )
    assert {"play", "percentprogress", "seek", "ended"} <= set(row["types"])
    assert row["videos"] > 1
    assert set(row["elements"]) == {"AUDIO", "VIDEO"}
    assert events.where("event_name = 'media_player_event'").count() == 0
