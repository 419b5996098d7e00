"""Conversions: columns of sessions that count and value the events a project calls a success."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.columns.expressions import columns_in
from windrow.columns.rules import column
from windrow.errors import ConfigError
from windrow.models.hooks import Hooks
from windrow.packages.web.settings import ConversionEvent, WebSettings
from windrow.tables import Columns

_VALUE = "double"


def columns(settings: WebSettings) -> Columns:
    """The columns that the configured conversions add to sessions, in order."""
    found: dict[str, str] = {}
    for conversion in settings.conversion_events:
        found |= _columns_of(conversion)
    if settings.total_all_conversions:
        found |= {
            "cv__all_volume": column(
                "bigint",
                "Number of the session's conversions of every kind; "
                "there only with `total_all_conversions`.",
            ),
            "cv__all_total": column(
                _VALUE,
                "Sum of the values of the session's conversions of every kind; "
                "there only with `total_all_conversions`.",
            ),
        }
    return found


def _columns_of(conversion: ConversionEvent) -> Columns:
    prefix, kind = f"cv_{conversion.name}", f"`{conversion.name}`"
    ids = column(
        "array<string>", f"Ids of the session's events that are {kind} conversions, by time."
    )
    values = column(
        f"array<{_VALUE}>",
        f"Values of the session's {kind} conversions, by time; the default where there is none.",
    )
    total = column(_VALUE, f"Sum of the values of the session's {kind} conversions.")
    return {
        f"{prefix}_volume": column(
            "bigint", f"Number of the session's events that are {kind} conversions."
        ),
        **({f"{prefix}_events": ids} if conversion.list_events else {}),
        **({f"{prefix}_values": values, f"{prefix}_total": total} if conversion.value else {}),
        f"{prefix}_first_conversion": column(
            "timestamp", f"Time of the session's first {kind} conversion; null if it has none."
        ),
        f"{prefix}_converted": column("boolean", f"Whether the session has a {kind} conversion."),
    }


def reads(settings: WebSettings) -> tuple[str, ...]:
    """The event columns that the conversions' expressions name."""
    found: dict[str, None] = {}
    for conversion in settings.conversion_events:
        for text in filter(None, (conversion.condition, conversion.value)):
            try:
                found |= dict.fromkeys(columns_in(text))
            except ConfigError as error:
                raise ConfigError(
                    f"packages.web.conversion_events: '{conversion.name}': {error}"
                ) from None
    return tuple(found)


def aggregates(settings: WebSettings) -> list[Column]:
    """Per conversion, the converting events of a session in order, with their values."""
    return [_events_of(conversion) for conversion in settings.conversion_events]


def _events_of(conversion: ConversionEvent) -> Column:
    value = F.lit(None).cast(_VALUE)
    if conversion.value:
        # Text that is no number is no value: one event with it must not stop every run.
        known = F.expr(conversion.value).try_cast(_VALUE)
        value = F.coalesce(known, F.lit(conversion.default_value).cast(_VALUE))
    event = F.struct("derived_tstamp", "dvce_created_tstamp", "event_id", value.alias("value"))
    converts = F.coalesce(F.expr(conversion.condition), F.lit(False))
    events = F.collect_list(F.when(converts, event))
    return F.sort_array(events).alias(_events_column(conversion))


def values(settings: WebSettings, hooks: Hooks) -> dict[str, Column]:
    """The conversion columns, made of the aggregates."""
    found: dict[str, Column] = {}
    for conversion in settings.conversion_events:
        events = F.col(_events_column(conversion))
        worths = F.transform(events, lambda event: event["value"])
        total = F.aggregate(worths, F.lit(0.0), lambda sum_, value: sum_ + value)
        every = {
            "volume": F.size(events).cast("bigint"),
            "events": F.transform(events, lambda event: event["event_id"]),
            "values": worths,
            "total": total,
            "first_conversion": F.array_min(
                F.transform(events, lambda event: event["derived_tstamp"])
            ),
            "converted": F.size(events) > 0,
        }
        prefix = f"cv_{conversion.name}_"
        ours = {name: every[name.removeprefix(prefix)] for name in _columns_of(conversion)}
        found |= hooks.columns("get_conversion_columns", ours, conversion=conversion.name)
    if settings.total_all_conversions:
        volumes = [found[f"cv_{c.name}_volume"] for c in settings.conversion_events]
        totals = [found[f"cv_{c.name}_total"] for c in settings.conversion_events if c.value]
        found["cv__all_volume"] = sum(volumes[1:], volumes[0])
        found["cv__all_total"] = sum(totals, F.lit(0.0))
    return found


def _events_column(conversion: ConversionEvent) -> str:
    return f"converting_{conversion.name}"
