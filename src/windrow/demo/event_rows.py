"""Event rows: every column of the events table, worked out from what is known of an event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import ENTITY_COLUMNS, WEB_PAGE
from windrow.demo.devices import device_columns
from windrow.demo.draws import between, draw, key, one_of, uuid
from windrow.demo.media import media_columns
from windrow.demo.places import place_columns
from windrow.demo.self_describing import self_describing_columns
from windrow.demo.shopping import ACTION, shopping_columns

# The loader commits what has arrived at every full five minutes.
LOADED_EVERY_MS = 300_000

COLUMN_TYPES = STANDARD_COLUMNS | {column.name: column.type for column in ENTITY_COLUMNS}

# What the base layer and the packages read, and what tells events apart.
NEEDED_COLUMNS = (
    {
        name
        for name in STANDARD_COLUMNS
        if name.startswith(("page_", "mkt_", "geo_", "pp_", "doc_", "domain_", "event"))
    }
    | {f"refr_{name}" for name in ("medium", "source", "term")}
    | {f"refr_url{part}" for part in ("scheme", "host", "path", "query", "fragment")}
    | {f"{name}_tstamp" for name in ("collector", "dvce_created", "dvce_sent", "derived")}
    | {"etl_tstamp", "load_tstamp", "app_id", "platform", "user_id", "network_userid"}
    | {"user_ipaddress", "useragent", "os_timezone", "dvce_screenwidth", "dvce_screenheight"}
    | {f"br_{name}" for name in ("lang", "renderengine", "viewwidth", "viewheight", "colordepth")}
    | {"name_tracker", "v_tracker"}
    | {"se_category", "se_action", "tr_orderid", "tr_total", "tr_currency"}
    | {column.name for column in ENTITY_COLUMNS}
)


def event_rows(named_events: DataFrame, site: str, *, media: bool = False) -> DataFrame:
    """The events with all columns, standard ones first; those without a value are null."""
    keyed = named_events.withColumn("event_key", key(F.col("session_key"), F.col("position")))
    timed = keyed.withColumns(_clock()).withColumn(
        "collector_ms",
        F.col("sent_ms") + F.floor(draw("latency", F.col("event_key")) * 280) + 20,
    )
    with_device = timed.withColumns(device_columns(F.col("device")))
    with_height = with_device.withColumn("doc_height", _doc_height())

    values = {
        **{name: F.col(name) for name in with_height.columns},
        **_fixed_columns(),
        **place_columns(F.col("place")),
        **_time_columns(),
        **_kind_columns(),
        **_scroll_columns(),
        **self_describing_columns(site),
        **shopping_columns(),
        **(media_columns(site) if media else {}),
    }
    return with_height.select(
        *[
            values.get(name, F.lit(None)).cast(type_).alias(name)
            for name, type_ in COLUMN_TYPES.items()
        ]
    )


def _clock() -> dict[str, Column]:
    return {"sent_ms": F.col("created_ms") + F.floor(draw("sent", F.col("event_key")) * 800) + 10}


def _time_columns() -> dict[str, Column]:
    created, sent, collector = F.col("created_ms"), F.col("sent_ms"), F.col("collector_ms")
    enriched = collector + F.floor(draw("enriched", F.col("event_key")) * 4_000) + 1_000
    loaded = (F.floor(enriched / LOADED_EVERY_MS) + 1) * LOADED_EVERY_MS
    return {
        "dvce_created_tstamp": F.timestamp_millis(created),
        "dvce_sent_tstamp": F.timestamp_millis(sent),
        "collector_tstamp": F.timestamp_millis(collector),
        "derived_tstamp": F.timestamp_millis(collector - (sent - created)),
        "etl_tstamp": F.timestamp_millis(enriched),
        "load_tstamp": F.timestamp_millis(loaded),
    }


def _fixed_columns() -> dict[str, Column]:
    return {
        "app_id": F.lit("shop"),
        "platform": F.lit("web"),
        "name_tracker": F.lit("sp"),
        "v_tracker": F.lit("js-3.23.0"),
        "v_collector": F.lit("ssc-3.1.2-kafka"),
        "v_etl": F.lit("enrich-kafka-4.2.0"),
        "doc_charset": F.lit("UTF-8"),
        "event_format": F.lit("jsonschema"),
        "event_version": F.lit("1-0-0"),
    }


def _kind_columns() -> dict[str, Column]:
    """What follows from the event's name: its type and vendor, its ids and own fields."""
    name, event_key = F.col("event_name"), F.col("event_key")
    is_struct, is_purchase = name == "event", name == "purchase"
    is_page = name.isin("page_view", "page_ping")
    total = between(990, 24_990, "total", event_key) / 100
    return {
        "event": F.when(is_page, name).when(is_struct, "struct").otherwise("unstruct"),
        "event_vendor": F.when(is_struct, "com.google.analytics")
        .when(is_purchase, "example.shop")
        .when(name == ACTION, "com.snowplowanalytics.snowplow.ecommerce")
        .otherwise("com.snowplowanalytics.snowplow"),
        "event_id": uuid("event", event_key),
        "event_fingerprint": F.lower(F.hex(key("fingerprint", event_key))),
        "domain_sessionidx": F.col("visit_number"),
        "user_id": F.when(F.col("position") >= F.col("login_position"), F.col("account")),
        WEB_PAGE.name: F.array(F.struct(F.col("page_view_id").alias("id"))),
        "se_category": F.when(is_struct, "basket"),
        "se_action": F.when(is_struct, one_of(("add", "remove", "open"), "action", event_key)),
        "se_value": F.when(is_struct, between(1, 3, "pieces", event_key)),
        "tr_orderid": F.when(is_purchase, F.hex(event_key)),
        "tr_total": F.when(is_purchase, total),
        "tr_total_base": F.when(is_purchase, total),
        "tr_currency": F.when(is_purchase, "EUR"),
        "base_currency": F.when(is_purchase, "EUR"),
    }


def _doc_height() -> Column:
    return F.floor(F.col("br_viewheight") * F.col("doc_screens_percent") / 100)


def _scroll_columns() -> dict[str, Column]:
    """How far a ping says the page was scrolled: further with every beat, down to its end."""
    is_ping = F.col("event_name") == "page_ping"
    lowest = F.col("doc_height") - F.col("br_viewheight")
    step = F.col("br_viewheight") * (draw("scroll", F.col("page_key")) * 0.6 + 0.2)
    return {
        "pp_xoffset_min": F.when(is_ping, 0),
        "pp_xoffset_max": F.when(is_ping, 0),
        "pp_yoffset_min": F.when(is_ping, F.least(F.floor((F.col("slot") - 1) * step), lowest)),
        "pp_yoffset_max": F.when(is_ping, F.least(F.floor(F.col("slot") * step), lowest)),
    }
