"""page_views: one row per page view, with time engaged and how far it was scrolled."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.devices import device_category, screen_resolution
from windrow.columns.engagement import engaged_seconds, percent, ping_bucket, within
from windrow.columns.marketing import content_group
from windrow.columns.rules import column
from windrow.columns.timestamps import literal, seconds_between
from windrow.models.checks import NotNull, OneValuePer, Unique
from windrow.models.extras import Extras
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.first_events import (
    EARLIEST,
    first_of_each,
    not_had_before,
    with_rows,
)
from windrow.models.parts.people import is_human
from windrow.models.parts.time_columns import MODEL_TSTAMP, START_DATE
from windrow.packages.web.channels import default_channel_group, with_source_category
from windrow.packages.web.enrichments import enabled_entities, enrichment_fields
from windrow.packages.web.event_fields import (
    CHANNEL_GROUP,
    ENRICHED,
    GEO,
    MARKETING,
    PAGE,
    PAGE_VIEW_ID,
    REFERRER,
    fields,
)
from windrow.packages.web.settings import WebSettings
from windrow.reference.frames import ReferenceFrames
from windrow.tables import Columns

COLUMNS: Columns = {
    **PAGE_VIEW_ID,
    "event_id": column("string", "Id of the page view's earliest event, whose values the row has."),
    **fields("app_id", "platform", "user_id", "domain_userid", "network_userid"),
    **fields("domain_sessionid", "domain_sessionidx"),
    "page_view_in_session_index": column(
        "int", "Place of the page view among those of its session, from 1, by time."
    ),
    "page_views_in_session": column("int", "Number of rows that the session has in this table."),
    **fields("dvce_created_tstamp", "collector_tstamp", "derived_tstamp"),
    "start_tstamp": column("timestamp", "When the page view began: its `derived_tstamp`."),
    "end_tstamp": column(
        "timestamp",
        "Time of the last page ping, of the same session with `limit_page_views_to_session`; "
        "the start if there was none.",
    ),
    **MODEL_TSTAMP,
    "engaged_time_in_s": column(
        "bigint",
        "Engaged seconds: `min_visit_length` for the first heartbeat with a page ping, `heartbeat` "
        "for every further one, 0 without pings.",
    ),
    "absolute_time_in_s": column("bigint", "Whole seconds from `start_tstamp` to `end_tstamp`."),
    "horizontal_pixels_scrolled": column(
        "int",
        "Greatest horizontal scroll offset in pixels, from 0 to the document's width; "
        "null if the document's size is unknown.",
    ),
    "vertical_pixels_scrolled": column(
        "int",
        "Greatest vertical scroll offset in pixels, from 0 to the document's height; "
        "null if the document's size is unknown.",
    ),
    "horizontal_percentage_scrolled": column(
        "float",
        "Share of the document's width that came into view, in whole percent; "
        "null if the size of document or viewport is unknown.",
    ),
    "vertical_percentage_scrolled": column(
        "float",
        "Share of the document's height that came into view, in whole percent; "
        "null if the size of document or viewport is unknown.",
    ),
    **fields("doc_width", "doc_height"),
    "content_group": column(
        "string",
        "Group of the page by its URL: `PDP` (`/product`), `PLP` (`/list`), `checkout`, `homepage` "
        "(`/home`) or `other`; the hook `content_group` may say otherwise.",
    ),
    **fields(*PAGE, *MARKETING, "page_referrer", *REFERRER),
    **CHANNEL_GROUP,
    **fields(*GEO, "user_ipaddress", "useragent", "br_lang", "br_viewwidth", "br_viewheight"),
    **fields("br_colordepth", "br_renderengine", "os_timezone"),
    **ENRICHED,
    **START_DATE,
}

_COPIED = tuple(
    name
    for name in COLUMNS
    if name in fields(*PAGE, *MARKETING, *REFERRER, *GEO)
    or name in ("event_id", "app_id", "platform", "user_id", "network_userid", "domain_sessionidx")
    or name in ("dvce_created_tstamp", "collector_tstamp", "derived_tstamp", "page_referrer")
    or name in ("doc_width", "doc_height", "user_ipaddress", "useragent", "br_lang")
    or name in ("br_viewwidth", "br_viewheight", "br_colordepth", "br_renderengine", "os_timezone")
)


def _reads(settings: WebSettings) -> tuple[str, ...]:
    offsets = ("pp_xoffset_min", "pp_xoffset_max", "pp_yoffset_min", "pp_yoffset_max")
    screen = ("dvce_screenwidth", "dvce_screenheight")
    entities = (entity.name for entity in enabled_entities(settings))
    return ("event_name", "domain_sessionid", *_COPIED, *offsets, *screen, *entities)


_SIZES = ("doc_width", "doc_height", "br_viewwidth", "br_viewheight")


def _is_view() -> Column:
    return (F.col("event_name") == "page_view") & F.col("page_view_id").isNotNull()


@model(
    key="page_view_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    reads=Reads(
        _reads,
        extras=Extras(
            "events", by=("page_view_id", "domain_sessionid"), first=EARLIEST, of=_is_view
        ),
    ),
    storage=Storage(steps=("page_views_this_run", "pv_engaged_time", "pv_scroll_depth")),
    checks=(
        *(Unique("event_id"), NotNull("event_id"), NotNull("domain_sessionid")),
        Unique(("domain_sessionid", "page_view_in_session_index")),
        OneValuePer("page_views_in_session", per="domain_sessionid"),
        NotNull(("page_view_in_session_index", "page_views_in_session")),
        NotNull(("start_tstamp", "end_tstamp", "engaged_time_in_s", "absolute_time_in_s")),
        NotNull(("dvce_created_tstamp", "collector_tstamp", "derived_tstamp"), severity="warn"),
        NotNull(("domain_sessionidx", "page_url"), severity="warn"),
    ),
)
def page_views(
    events: DataFrame,
    nearby: DataFrame,
    settings: WebSettings,
    hooks: Hooks,
    reference: ReferenceFrames,
    now: datetime,
) -> DataFrame:
    """One row per page view: what was seen, for how long, how far down, and where it came from."""
    # Which events they are, in which order, and what pings add is found out on a few columns; the
    # others come in at the end, without being sorted or sent anywhere.
    page_of = ["page_view_id"]
    if settings.limit_page_views_to_session:
        page_of.append("domain_sessionid")

    views = events.where(_is_view() & is_human(settings, hooks))
    firsts = first_of_each(
        views.select("page_view_id", "domain_sessionid", *EARLIEST), "page_view_id"
    )
    if not settings.compat:
        firsts = not_had_before(firsts, nearby, "page_view_id")

    in_session = W.partitionBy("domain_sessionid")
    indexed = firsts.withColumns(
        {
            "page_view_in_session_index": F.row_number().over(in_session.orderBy(*EARLIEST)),
            "page_views_in_session": F.count(F.lit(1)).over(in_session),
        }
    )
    found = indexed.drop("derived_tstamp", "dvce_created_tstamp").join(
        page_engagement(events, settings, page_of), page_of, how="left"
    )
    wide = events.where(_is_view()).drop("page_view_id")
    rows = with_rows(wide, found, "event_id", "domain_sessionid")
    grouped = with_source_category(rows, reference, settings)
    return select_declared(grouped, COLUMNS, _values(settings, hooks, now))


def _values(settings: WebSettings, hooks: Hooks, now: datetime) -> dict[str, Column]:
    """The columns that are not simply those of the page view's event."""
    start = F.col("derived_tstamp")
    end = F.coalesce("last_ping", start)
    enriched = enrichment_fields(settings, hooks)
    return {
        "start_tstamp": start,
        "end_tstamp": end,
        "model_tstamp": literal(now),
        "engaged_time_in_s": F.coalesce("engaged_time_in_s", F.lit(0)),
        "absolute_time_in_s": seconds_between(start, end),
        "horizontal_pixels_scrolled": F.col("hmax"),
        "vertical_pixels_scrolled": F.col("vmax"),
        "horizontal_percentage_scrolled": F.col("relative_hmax"),
        "vertical_percentage_scrolled": F.col("relative_vmax"),
        "content_group": hooks.column("content_group", content_group(F.col("page_url"))),
        "default_channel_group": hooks.column("channel_group", default_channel_group(settings)),
        "device_category": device_category(enriched["device_class"]),
        "screen_resolution": screen_resolution(
            F.col("dvce_screenwidth"), F.col("dvce_screenheight")
        ),
        "start_tstamp_date": F.to_date(start),
        **enriched,
    }


def page_engagement(events: DataFrame, settings: WebSettings, page_of: list[str]) -> DataFrame:
    """Per page: the last ping, the engaged seconds that its pings stand for, how far it was seen.

    Both are null for a page without pings, and the latter for one whose size is unknown.
    """
    is_ping = F.col("event_name") == "page_ping"
    has_size = (F.col("doc_height") > 0) & (F.col("doc_width") > 0)
    bucket = ping_bucket(F.col("dvce_created_tstamp"), settings.heartbeat)
    of_pages = events.where(
        F.col("event_name").isin("page_view", "page_ping") & F.col("page_view_id").isNotNull()
    )

    def offset(name: str) -> Column:
        return F.when(has_size, F.coalesce(name, F.lit(0)))

    pages = of_pages.groupBy(*page_of).agg(
        F.max(F.when(is_ping, F.col("derived_tstamp"))).alias("last_ping"),
        F.count_if(is_ping).alias("pings"),
        F.size(F.collect_set(F.when(is_ping, bucket))).alias("buckets"),
        *(F.max(F.when(has_size, F.col(size))).alias(size) for size in _SIZES),
        *(F.min(offset(f"pp_{a}offset_min")).alias(f"{a}_least") for a in "xy"),
        *(F.max(offset(f"pp_{a}offset_max")).alias(f"{a}_greatest") for a in "xy"),
    )
    seconds = engaged_seconds(
        F.col("buckets"),
        F.lit(1),
        heartbeat=settings.heartbeat,
        min_visit_length=settings.min_visit_length,
    )
    engaged = seconds if settings.compat else F.greatest(seconds, F.lit(0))
    return pages.select(
        *page_of,
        "last_ping",
        F.when(F.col("pings") > 0, engaged).alias("engaged_time_in_s"),
        *(value.alias(name) for name, value in scroll_depth(settings).items()),
    )


def scroll_depth(settings: WebSettings) -> dict[str, Column]:
    """The furthest offsets in pixels, and what share of the document came into view."""
    width, height = F.col("doc_width"), F.col("doc_height")

    def pixels(offset: str, document: Column) -> Column:
        return F.when(document.isNotNull(), within(F.col(offset), document))

    hmin, hmax = pixels("x_least", width), pixels("x_greatest", width)
    vmin, vmax = pixels("y_least", height), pixels("y_greatest", height)

    def in_view(offset: Column, viewport: str, document: Column) -> Column:
        reached = F.least(offset + F.col(viewport), document)
        share = percent(reached, document)
        # `least` ignores the unknown: the reference calls an unknown viewport fully scrolled.
        return share if settings.compat else F.when(F.col(viewport).isNotNull(), share)

    return {
        "hmin": hmin,
        "hmax": hmax,
        "vmin": vmin,
        "vmax": vmax,
        "relative_hmin": percent(F.greatest(hmin, F.lit(0)), width),
        "relative_hmax": in_view(hmax, "br_viewwidth", width),
        "relative_vmin": percent(F.greatest(vmin, F.lit(0)), height),
        "relative_vmax": in_view(vmax, "br_viewheight", height),
    }
