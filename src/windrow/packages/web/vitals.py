"""vitals: the core web vitals of each page view."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import IAB, WEB_VITALS, YAUAA
from windrow.columns.marketing import content_group
from windrow.columns.rules import column, rule_of, with_note
from windrow.models.checks import NotNull, Unique
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.first_events import EARLIEST, first_of_each, not_had_before
from windrow.models.parts.people import is_human
from windrow.models.parts.time_columns import DERIVED_DATE
from windrow.packages.web.enrichments import enrichment_fields
from windrow.packages.web.event_fields import ENRICHED, PAGE_VIEW_ID, fields
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.vital_results import RESULTS, results
from windrow.tables import Columns

_MEASURE = "decimal(14,4)"
_ROUNDED = ("fcp", "fid", "cls", "inp", "ttfb")
"""The measures that keep their unit; lcp becomes seconds."""
_DEVICE = ("device_name", "agent_name", "agent_version", "operating_system_name")

COLUMNS: Columns = {
    "event_id": column(
        "string", "Id of the page view's earliest web vitals event, whose values the row has."
    ),
    "event_name": column("string", "Always `web_vitals`."),
    **fields("app_id", "platform", "domain_userid", "user_id"),
    **PAGE_VIEW_ID,
    **fields("domain_sessionid", "collector_tstamp", "derived_tstamp", "load_tstamp"),
    **with_note(fields("geo_country"), "`unknown_geo_country` if it is not known"),
    **with_note(fields("page_url"), "`unknown_page_url` if it is not known"),
    "url_group": column(
        "string",
        "Group of the page by its URL, as `content_group` of the page views; "
        "the hook `core_web_vital_page_groups` may say otherwise.",
    ),
    **fields("page_title", "useragent"),
    "device_class": column(
        "string",
        "Class of the device in lower case, by YAUAA; `unknown_device_class` if it is not known "
        "or without `enable_yauaa`.",
    ),
    **{name: ENRICHED[name] for name in _DEVICE},
    "lcp": column(_MEASURE, "Largest contentful paint in seconds, rounded up to milliseconds."),
    **with_note(
        {name: column(_MEASURE, rule_of(WEB_VITALS.fields[name])) for name in _ROUNDED},
        "rounded up to three decimals",
    ),
    "navigation_type": WEB_VITALS.fields["navigation_type"],
    "dedupe_index": column("int", "Always 1: of a page view's web vitals only the first count."),
    **RESULTS,
    **DERIVED_DATE,
}

_FIRST = ("derived_tstamp", "event_id")
"""What makes one web vitals event earlier than another; the reference goes by EARLIEST."""


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
    reads=Reads(_reads),
    storage=Storage(steps=("vital_events_this_run", "vitals_this_run")),
    checks=(Unique("event_id"), NotNull(("event_id", "page_url"))),
)
def vitals(events: DataFrame, nearby: DataFrame, settings: WebSettings, hooks: Hooks) -> DataFrame:
    """One row per page view that sent web vitals: its measures, each with a verdict.

    The device is known with `enable_yauaa` only.
    """
    order = EARLIEST if settings.compat else _FIRST
    firsts = first_of_each(events.where(_is_measured(settings, hooks)), "page_view_id", order)
    if not settings.compat:
        firsts = not_had_before(firsts, nearby, "page_view_id", order)

    enriched = enrichment_fields(settings, hooks)
    vital = F.col(WEB_VITALS.name)

    def or_unknown(value: Column, name: str) -> Column:
        return F.coalesce(value, F.lit(f"unknown_{name}"))

    values: dict[str, Column] = {
        "geo_country": or_unknown(F.col("geo_country"), "geo_country"),
        "page_url": or_unknown(F.col("page_url"), "page_url"),
        "url_group": hooks.column("core_web_vital_page_groups", content_group(F.col("page_url"))),
        "device_class": or_unknown(F.lower(enriched["device_class"]), "device_class"),
        **{name: enriched[name] for name in _DEVICE},
        **{name: _round_up(vital.getField(name), decimals=3) for name in _ROUNDED},
        "lcp": _round_up(vital.getField("lcp"), decimals=0) / 1000,
        "navigation_type": vital.getField("navigation_type"),
        "dedupe_index": F.lit(1),
        "derived_tstamp_date": F.to_date("derived_tstamp"),
    }
    own = {name: kind for name, kind in COLUMNS.items() if name not in RESULTS}
    measured = select_declared(firsts, own, values)
    return measured.withColumns(results(hooks)).select(*COLUMNS)


def _is_measured(settings: WebSettings, hooks: Hooks) -> Column:
    """True for the web vitals events of people's page views.

    The reference filters bots whatever `ua_bot_filter` says, and takes what IAB does not know for
    robots.
    """
    is_vital = (F.col("event_name") == "web_vitals") & F.col("page_view_id").isNotNull()
    is_robot = enrichment_fields(settings, hooks)["spider_or_robot"]
    if settings.compat:
        always = settings.model_copy(update={"ua_bot_filter": True})
        is_vital &= is_human(always, hooks)
        return is_vital & ~is_robot if settings.enable_iab else is_vital
    return is_vital & is_human(settings, hooks) & ~F.coalesce(is_robot, F.lit(False))


def _round_up(measure: Column, *, decimals: int) -> Column:
    # A number too large to be a measurement is none.
    return F.ceil(measure.try_cast(_MEASURE), F.lit(decimals))
