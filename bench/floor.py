"""The floor: one plain Spark job that turns a window of events into views, sessions and users.

The least that any system must do for rows of the same grain and about the same width. It keeps no
state, takes no event's history into account, drops no duplicates and merges into nothing: each time
it writes three new tables. It runs in the session that windrow runs in, so that settings and jars
are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

CATALOG = "floor"
"""Spark's catalog of the floor's Iceberg tables."""

DATE = "start_tstamp_date"
PING_SECONDS = 10

BOTS = (
    "bot|crawl|slurp|spider|archiv|spinn|sniff|seo|audit|survey|pingdom|worm|capture"
    "|browsershots|screenshots|analyz|index|thumb|check|facebook"
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COPIED = _names("""
    app_id platform user_id network_userid domain_sessionidx dvce_created_tstamp collector_tstamp
    derived_tstamp doc_width doc_height page_title page_url page_urlscheme page_urlhost page_urlpath
    page_urlquery page_urlfragment mkt_medium mkt_source mkt_term mkt_content mkt_campaign
    mkt_clickid mkt_network page_referrer refr_urlscheme refr_urlhost refr_urlpath refr_urlquery
    refr_urlfragment refr_medium refr_source refr_term geo_country geo_region geo_region_name
    geo_city geo_zipcode geo_latitude geo_longitude geo_timezone user_ipaddress useragent br_lang
    br_viewwidth br_viewheight br_colordepth br_renderengine os_timezone dvce_screenwidth
    dvce_screenheight
""")
"""What a row takes over from an event as it is."""

COUNTED = _names("event_id event_name pp_xoffset_max pp_yoffset_max")
"""What else of an event the rows are made of."""

LAST_OF_SESSION = _names("page_title page_url page_urlpath geo_country br_lang")

OF_USER = _names("""
    page_title page_url page_urlpath mkt_medium mkt_source mkt_campaign refr_medium geo_country
    br_lang app_id platform
""")


@dataclass(frozen=True)
class Grain:
    """Where an event says which session, user and view it belongs to, and which event is a view."""

    session: Column
    user: Column
    view: Column
    view_event: str


def grain_of(package: str) -> Grain:
    """Screen views of applications for mobile, page views of websites for every other package."""
    if package == "mobile":
        client = F.col("contexts_com_snowplowanalytics_snowplow_client_session_1")[0]
        screen = F.col("unstruct_event_com_snowplowanalytics_mobile_screen_view_1")
        return Grain(client["session_id"], client["user_id"], screen["id"], "screen_view")
    page = F.col("contexts_com_snowplowanalytics_snowplow_web_page_1")[0]
    return Grain(F.col("domain_sessionid"), F.col("domain_userid"), page["id"], "page_view")


@dataclass(frozen=True)
class Floor:
    """The job: which events, which grain, and the format that it writes."""

    spark: SparkSession
    events: str
    grain: Grain
    format: str

    def run(self, first: datetime, last: datetime, folder: Path) -> None:
        """Make the tables of the events that were collected in [first, last), in a new folder."""
        rows = self._window(first, last).repartition("session_id").persist()
        viewed = views(rows, self.grain.view_event).persist()
        visits = sessions(rows, viewed).persist()
        tables = {"views": viewed, "sessions": visits, "users": users(visits)}
        for name, frame in tables.items():
            self._write(frame, folder, name, [DATE] if DATE in frame.columns else [])
        for frame in (rows, viewed, visits):
            frame.unpersist()

    def _window(self, first: datetime, last: datetime) -> DataFrame:
        collected = F.col("collector_tstamp")
        is_bot = F.coalesce(F.lower("useragent").rlike(BOTS), F.lit(False))
        return (
            self.spark.read.parquet(self.events)
            .where((collected >= F.lit(first)) & (collected < F.lit(last)))
            .where(self.grain.session.isNotNull() & ~is_bot)
            .select(
                self.grain.session.alias("session_id"),
                self.grain.user.alias("device_id"),
                self.grain.view.alias("view_id"),
                *COPIED,
                *COUNTED,
            )
        )

    def _write(self, frame: DataFrame, folder: Path, name: str, days: Sequence[str]) -> None:
        if self.format == "delta":
            frame.write.format("delta").partitionBy(*days).save(str(folder / name))
            return
        for setting, value in _catalog_over(folder.parent).items():
            self.spark.conf.set(setting, value)
        writer = frame.writeTo(f"{CATALOG}.`{folder.name}`.{name}").using("iceberg")
        for day in days:
            writer = writer.partitionedBy(F.col(day))
        writer.create()


def _catalog_over(folder: Path) -> Mapping[str, str]:
    """A catalog that has a namespace for each folder in a folder."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "hadoop",
        f"{prefix}.warehouse": str(folder),
        f"{prefix}.cache-enabled": "false",
    }


def views(rows: DataFrame, view_event: str) -> DataFrame:
    """One row per view: its first event, how far it was scrolled, how long it was looked at."""
    is_view = F.col("event_name") == view_event
    is_ping = F.col("event_name") == "page_ping"
    order = F.when(is_view, F.struct("derived_tstamp", "dvce_created_tstamp", "event_id"))
    tick = F.floor(F.unix_timestamp("dvce_created_tstamp") / PING_SECONDS)

    by_view = rows.where(F.col("view_id").isNotNull()).groupBy("session_id", "view_id")
    grouped = by_view.agg(
        F.min_by(F.struct("event_id", "device_id", *COPIED), order).alias("first"),
        F.max(F.when(is_ping, F.col("derived_tstamp"))).alias("last_ping"),
        F.size(F.collect_set(F.when(is_ping, tick))).alias("ticks"),
        F.max("pp_xoffset_max").alias("horizontal_pixels_scrolled"),
        F.max("pp_yoffset_max").alias("vertical_pixels_scrolled"),
    )

    flat = grouped.where(F.col("first").isNotNull()).select("*", "first.*").drop("first")
    engaged = F.col("ticks") * PING_SECONDS - PING_SECONDS // 2
    return flat.withColumns(
        {
            "start_tstamp": F.col("derived_tstamp"),
            "end_tstamp": F.coalesce("last_ping", "derived_tstamp"),
            "engaged_time_in_s": F.when(F.col("ticks") > 0, engaged).otherwise(0),
            DATE: F.to_date("derived_tstamp"),
        }
    )


def sessions(rows: DataFrame, viewed: DataFrame) -> DataFrame:
    """One row per session: its first event, where it ended, what its views add up to."""
    order = F.struct("derived_tstamp", "event_id")
    totals = rows.groupBy("session_id").agg(
        F.min_by(F.struct("event_id", "device_id", *COPIED), order).alias("first"),
        F.max_by(F.struct(*LAST_OF_SESSION), order).alias("last"),
        F.min("derived_tstamp").alias("start_tstamp"),
        F.max("derived_tstamp").alias("end_tstamp"),
        F.count(F.lit(1)).alias("total_events"),
        F.max("user_id").alias("stitched_user_id"),
    )
    of_views = viewed.groupBy("session_id").agg(
        F.count(F.lit(1)).alias("views"), F.sum("engaged_time_in_s").alias("engaged_time_in_s")
    )

    return totals.join(of_views, "session_id", how="left").select(
        "session_id",
        "first.*",
        *_renamed("last", LAST_OF_SESSION),
        *("start_tstamp", "end_tstamp", "total_events", "stitched_user_id"),
        *("views", "engaged_time_in_s"),
        F.to_date("start_tstamp").alias(DATE),
    )


def users(visits: DataFrame) -> DataFrame:
    """One row per user: the first and the last session, and what all of them add up to."""
    order = F.struct("start_tstamp", "session_id")
    grouped = visits.groupBy("device_id").agg(
        F.min_by(F.struct(*OF_USER), order).alias("first"),
        F.max_by(F.struct(*OF_USER), order).alias("last"),
        F.min("start_tstamp").alias("start_tstamp"),
        F.max("end_tstamp").alias("end_tstamp"),
        F.sum("views").alias("views"),
        F.count(F.lit(1)).alias("sessions"),
        F.sum("engaged_time_in_s").alias("engaged_time_in_s"),
    )
    return grouped.select(
        "device_id",
        *_renamed("first", OF_USER),
        *_renamed("last", OF_USER),
        *("start_tstamp", "end_tstamp", "views", "sessions", "engaged_time_in_s"),
    )


def _renamed(struct: str, names: Sequence[str]) -> list[Column]:
    return [F.col(f"{struct}.{name}").alias(f"{struct}_{name}") for name in names]
