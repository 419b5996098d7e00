"""vitals: the core web vitals of each page view."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.marketing import content_group
from windrow.config import WebSettings
from windrow.event_columns import IAB, WEB_VITALS, YAUAA
from windrow.hooks import Hooks
from windrow.model import model
from windrow.packages.web.enrichments import enrichment_fields
from windrow.packages.web.event_fields import strings, typed
from windrow.packages.web.people import is_human
from windrow.packages.web.vital_results import RESULTS, results
from windrow.parts.first_events import first_of_each, not_had_before
from windrow.tables import Columns

_MEASURE = "decimal(14,4)"
_VITALS = ("lcp", "fcp", "fid", "cls", "inp", "ttfb")
_DEVICE = ("device_name", "agent_name", "agent_version", "operating_system_name")

COLUMNS: Columns = {
    **typed("event_id", "event_name", "app_id", "platform", "domain_userid", "user_id"),
    "page_view_id": "string",
    **typed("domain_sessionid", "collector_tstamp", "derived_tstamp", "load_tstamp"),
    **typed("geo_country", "page_url"),
    "url_group": "string",
    **typed("page_title", "useragent"),
    **strings("device_class", *_DEVICE),
    **dict.fromkeys(_VITALS, _MEASURE),
    "navigation_type": "string",
    "dedupe_index": "int",
    **strings(*RESULTS),
    "derived_tstamp_date": "date",
}

_FIRST = ("derived_tstamp", "event_id")
"""What makes one web vitals event earlier than another; the id settles ties."""

_FIRST_OF_THE_REFERENCE = ("derived_tstamp", "dvce_created_tstamp", "event_id")


def _reads(settings: WebSettings) -> tuple[str, ...]:
    return (
        *("event_id", "event_name", "app_id", "platform", "user_id", "domain_sessionid"),
        *("collector_tstamp", "derived_tstamp", "dvce_created_tstamp", "load_tstamp"),
        *("geo_country", "page_url", "page_title", "useragent", WEB_VITALS.name),
        *((IAB.name,) if settings.enable_iab else ()),
        *((YAUAA.name,) if settings.enable_yauaa else ()),
    )


@model(
    key="page_view_id",
    date="derived_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    steps=("vital_events_this_run", "vitals_this_run"),
    reads=_reads,
)
def vitals(events: DataFrame, nearby: DataFrame, settings: WebSettings, hooks: Hooks) -> DataFrame:
    """One row per page view that sent web vitals: its measures, each with a verdict.

    The device is known with `enable_yauaa` only.
    """
    order = _FIRST_OF_THE_REFERENCE if settings.compat else _FIRST
    firsts = first_of_each(events.where(_is_measured(settings, hooks)), "page_view_id", order)
    if not settings.compat:
        firsts = not_had_before(firsts, nearby, "page_view_id", order)

    enriched = enrichment_fields(settings)
    vital = F.col(WEB_VITALS.name)

    def or_unknown(value: Column, name: str) -> Column:
        return F.coalesce(value, F.lit(f"unknown_{name}"))

    values: dict[str, Column] = {
        "geo_country": or_unknown(F.col("geo_country"), "geo_country"),
        "page_url": or_unknown(F.col("page_url"), "page_url"),
        "url_group": hooks.column("core_web_vital_page_groups", content_group(F.col("page_url"))),
        "device_class": or_unknown(F.lower(enriched["device_class"]), "device_class"),
        **{name: enriched[name] for name in _DEVICE},
        **{name: _rounded_up(vital.getField(name), decimals=3) for name in _VITALS},
        "lcp": _rounded_up(vital.getField("lcp"), decimals=0) / 1000,
        "navigation_type": vital.getField("navigation_type"),
        "dedupe_index": F.lit(1),
        "derived_tstamp_date": F.to_date("derived_tstamp"),
    }
    measured = firsts.select(
        *(
            values.get(name, F.col(name)).cast(kind).alias(name)
            for name, kind in COLUMNS.items()
            if name not in RESULTS
        )
    )
    return measured.withColumns(results(hooks)).select(*COLUMNS)


def _is_measured(settings: WebSettings, hooks: Hooks) -> Column:
    """True for the web vitals events of people's page views.

    The reference filters bots whatever `ua_bot_filter` says, and takes what IAB does not know for
    robots.
    """
    is_vital = (F.col("event_name") == "web_vitals") & F.col("page_view_id").isNotNull()
    is_robot = enrichment_fields(settings)["spider_or_robot"]
    if settings.compat:
        always = settings.model_copy(update={"ua_bot_filter": True})
        is_vital &= is_human(always, hooks)
        return is_vital & ~is_robot if settings.enable_iab else is_vital
    return is_vital & is_human(settings, hooks) & ~F.coalesce(is_robot, F.lit(False))


def _rounded_up(measure: Column, *, decimals: int) -> Column:
    # A number too large to be a measurement is none.
    return F.ceil(measure.try_cast(_MEASURE), F.lit(decimals))
