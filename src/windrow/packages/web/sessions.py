"""sessions: one row per session that has a page view or ping, stitched to the user's latest id."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.devices import device_category, screen_resolution
from windrow.columns.distinct import count_different
from windrow.columns.engagement import engaged_seconds, ping_bucket
from windrow.columns.timestamps import literal, minus_seconds, seconds_between
from windrow.models.checks import NotNull
from windrow.models.extras import Extras
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, Storage, model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.first_events import EARLIEST
from windrow.models.parts.people import is_human
from windrow.models.parts.stitching import (
    restitch_older_sessions,
    stitch_sessions,
    stitched_user_id,
)
from windrow.packages.web import conversions
from windrow.packages.web.channels import default_channel_group, with_source_category
from windrow.packages.web.enrichments import enabled_entities, enrichment_fields
from windrow.packages.web.event_fields import GEO, MARKETING, PAGE, REFERRER
from windrow.packages.web.session_columns import columns
from windrow.packages.web.settings import WebSettings
from windrow.reference.frames import ReferenceFrames

_AS_FIRST = (
    *("app_id", "platform", "domain_sessionidx", "user_id", "domain_userid", "network_userid"),
    *REFERRER,
    *MARKETING,
    *GEO,
    *("user_ipaddress", "useragent", "br_renderengine", "br_lang", "os_timezone"),
)
"""Columns that the session has from its first page event, under the event's name."""

_OF_FIRST = (
    *_AS_FIRST,
    *PAGE,
    *("page_referrer", "event_name", "derived_tstamp", "dvce_screenwidth", "dvce_screenheight"),
)
_OF_LAST = (*PAGE, "geo_country", "geo_region_name", "geo_city", "br_lang")

_LAST_IN_ORDER = 2**63 - 1


def is_page_event() -> Column:
    """True for page views and pings: a session without one of them has no row."""
    is_view_or_ping = F.col("event_name").isin("page_view", "page_ping")
    return is_view_or_ping & F.col("page_view_id").isNotNull()


def _reads(settings: WebSettings) -> tuple[str, ...]:
    entities = (entity.name for entity in enabled_entities(settings))
    return (
        *("event_id", "event_name", "domain_sessionid", "derived_tstamp", "dvce_created_tstamp"),
        *(name for name in _OF_FIRST if name != "domain_userid"),
        *entities,
        *conversions.reads(settings),
    )


def _stitched_user_id(settings: WebSettings, hooks: Hooks) -> Column | None:
    """The user's known id where there is one, the cookie's otherwise; None: stitching is off."""
    if not settings.session_stitching:
        return None
    return stitched_user_id(hooks, F.col("domain_userid"))


@model(
    key="domain_sessionid",
    date="start_tstamp",
    columns=columns,
    replaces="domain_sessionid",
    reads=Reads(
        _reads,
        extras=Extras("events", by=("domain_sessionid",), first=EARLIEST, of=is_page_event),
    ),
    storage=Storage(
        steps=("sessions_this_run",),
        amend=restitch_older_sessions(
            session="domain_sessionid", user="domain_userid", stitched_id=_stitched_user_id
        ),
    ),
    checks=(
        NotNull(("start_tstamp", "end_tstamp", "engaged_time_in_s", "absolute_time_in_s")),
        NotNull(("page_views", "total_events", "is_engaged")),
        NotNull(("domain_sessionidx", "first_page_url", "last_page_url"), severity="warn"),
    ),
)
def sessions(
    events: DataFrame,
    settings: WebSettings,
    hooks: Hooks,
    reference: ReferenceFrames,
    now: datetime,
    user_mapping: DataFrame = stored("user_mapping", of_users=True),
) -> DataFrame:
    """One row per session with a page view or ping: when, who, from where, what, how engaged."""
    human = events.where(is_human(settings, hooks))
    totals = _totals(human, settings, hooks).where(F.col("first").isNotNull())
    flat = totals.select("*", *(F.col(f"first.{name}").alias(name) for name in _AS_FIRST))

    named = _with_names(flat, reference)
    grouped = with_source_category(named, reference, settings)
    measured = _measure(grouped, settings, hooks)
    is_engaged = hooks.column("engaged_session", _is_engaged(settings))
    engaged = measured.withColumn("is_engaged", is_engaged)
    stitched = _stitched_user_id(settings, hooks)
    known = stitch_sessions(engaged, user_mapping, user="domain_userid", stitched=stitched)

    values: dict[str, Column] = {
        "model_tstamp": literal(now),
        "referrer": F.col("first.page_referrer"),
        **{f"first_{name}": F.col(f"first.{name}") for name in PAGE},
        **{f"last_{name}": _last(name, "page_url") for name in PAGE},
        "mkt_source_platform": _source_platform(F.col("first.page_urlquery")),
        "default_channel_group": hooks.column("channel_group", default_channel_group(settings)),
        **{
            f"last_{name}": _last(name, "geo_country")
            for name in ("geo_country", "geo_region_name", "geo_city")
        },
        "last_geo_country_name": _last_named("country_name", "geo_country"),
        "last_geo_continent": _last_named("continent", "geo_country"),
        "geo_country_name": F.col("first_country_name"),
        "geo_continent": F.col("first_continent"),
        "br_lang_name": F.col("first_language_name"),
        "last_br_lang": _last("br_lang", "br_lang"),
        "last_br_lang_name": _last_named("language_name", "br_lang"),
        **{name: F.col(f"first.{name}") for name in enrichment_fields(settings, hooks)},
        "device_category": device_category(F.col("first.device_class")),
        "screen_resolution": screen_resolution(
            F.col("first.dvce_screenwidth"), F.col("first.dvce_screenheight")
        ),
        "start_tstamp_date": F.to_date("start_tstamp"),
    }
    return select_declared(known, columns(settings), values)


def _totals(events: DataFrame, settings: WebSettings, hooks: Hooks) -> DataFrame:
    """Per session: its first page event, its last page view, and what all its events add up to."""
    page_view_id = F.col("page_view_id")
    is_page = is_page_event()
    is_view = (F.col("event_name") == "page_view") & page_view_id.isNotNull()
    is_ping = (F.col("event_name") == "page_ping") & page_view_id.isNotNull()
    bucket = ping_bucket(F.col("dvce_created_tstamp"), settings.heartbeat)
    page_bucket = F.struct(page_view_id, bucket)
    is_timed_ping = is_ping & bucket.isNotNull()

    def latest_first(name: str) -> Column:
        return F.coalesce(-F.unix_micros(name), F.lit(_LAST_IN_ORDER))

    from_start = F.struct(*EARLIEST)
    from_end = F.struct(
        latest_first("derived_tstamp"), latest_first("dvce_created_tstamp"), F.col("event_id")
    )
    enriched = [value.alias(name) for name, value in enrichment_fields(settings, hooks).items()]
    first = F.struct(*(F.col(name) for name in _OF_FIRST), *enriched)
    last = F.struct(*(F.col(name) for name in _OF_LAST))
    # Pings whose time is unknown are in no heartbeat; the reference counts their pages anyway.
    counted_ping = is_ping if settings.compat else is_timed_ping
    return events.groupBy("domain_sessionid").agg(
        F.min_by(first, F.when(is_page, from_start)).alias("first"),
        F.min_by(last, F.when(is_view, from_end)).alias("last"),
        F.min("derived_tstamp").alias("earliest"),
        F.max("derived_tstamp").alias("end_tstamp"),
        F.count(F.lit(1)).alias("total_events"),
        count_different(F.when(is_page, page_view_id)).alias("page_views"),
        count_different(F.when(is_timed_ping, page_bucket)).alias("ping_buckets"),
        count_different(F.when(counted_ping, page_view_id)).alias("pinged_pages"),
        *([_event_names()] if settings.list_event_counts else []),
        *conversions.aggregates(settings),
    )


def _event_names() -> Column:
    return F.sort_array(F.collect_list("event_name")).alias("event_names")


def _with_names(frame: DataFrame, reference: ReferenceFrames) -> DataFrame:
    """Country and language names of the session's first and last page."""
    for side in ("first", "last"):
        countries = reference.countries.select(
            "country_key",
            F.col("country_name").alias(f"{side}_country_name"),
            F.col("continent").alias(f"{side}_continent"),
        )
        languages = reference.languages.select(
            "language_key", F.col("language_name").alias(f"{side}_language_name")
        )
        is_country = F.lower(F.col(f"{side}.geo_country")) == F.col("country_key")
        is_language = F.lower(F.col(f"{side}.br_lang")) == F.col("language_key")
        frame = (
            frame.join(F.broadcast(countries), is_country, how="left")
            .drop("country_key")
            .join(F.broadcast(languages), is_language, how="left")
            .drop("language_key")
        )
    return frame


def _measure(frame: DataFrame, settings: WebSettings, hooks: Hooks) -> DataFrame:
    """The sessions with start, durations, event counts and conversions.

    A session that begins with a ping began a minimum visit earlier. The reference moves the start
    also when another event came before that ping.
    """
    begins_with_ping = F.col("first.event_name") == "page_ping"
    if not settings.compat:
        begins_with_ping &= F.col("first.derived_tstamp") == F.col("earliest")
    visit = settings.min_visit_length
    seconds = seconds_between(F.col("earliest"), F.col("end_tstamp"))
    engaged = engaged_seconds(
        F.col("ping_buckets"),
        F.col("pinged_pages"),
        heartbeat=settings.heartbeat,
        min_visit_length=visit,
    )
    names = F.col("event_names") if settings.list_event_counts else None
    return frame.withColumns(
        {
            "start_tstamp": F.when(
                begins_with_ping, minus_seconds(F.col("earliest"), visit)
            ).otherwise(F.col("earliest")),
            "absolute_time_in_s": seconds
            + F.when(begins_with_ping, F.lit(visit)).otherwise(F.lit(0)),
            "engaged_time_in_s": engaged,
            **({"event_counts": _event_counts(names)} if names is not None else {}),
            **conversions.values(settings, hooks),
        }
    )


def _event_counts(names: Column) -> Column:
    """Event name -> how many events of the session have it, names in ascending order."""
    kinds = F.array_distinct(names)
    return F.map_from_arrays(
        kinds,
        F.transform(
            kinds,
            lambda kind: F.size(F.filter(names, lambda name: name == kind)).cast("bigint"),
        ),
    )


def _is_engaged(settings: WebSettings) -> Column:
    """Two page views, two heartbeats, or a conversion."""
    engaged = (F.col("page_views") >= 2) | (
        F.col("engaged_time_in_s") / F.lit(settings.heartbeat) >= 2
    )
    for conversion in settings.conversion_events:
        engaged |= F.col(f"cv_{conversion.name}_converted")
    return F.coalesce(engaged, F.lit(False))


def _last(name: str, test: str) -> Column:
    return _last_or_first(F.col(f"last.{name}"), F.col(f"first.{name}"), test)


def _last_named(name: str, test: str) -> Column:
    return _last_or_first(F.col(f"last_{name}"), F.col(f"first_{name}"), test)


def _last_or_first(last: Column, first: Column, test: str) -> Column:
    """The last page view's value if it knows the test field; else whichever is known."""
    return F.when(F.col(f"last.{test}").isNotNull(), last).otherwise(F.coalesce(last, first))


def _source_platform(query: Column) -> Column:
    platform = F.regexp_extract(query, r"utm_source_platform=([^?&#]*)", 1)
    return F.nullif(platform, F.lit(""))
