"""consent_log: one row per consent event: banners shown, and what people answered."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES
from windrow.columns.rules import column, with_note
from windrow.models.checks import AcceptedValues
from windrow.models.hooks import Hooks
from windrow.models.model import Reads, Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.people import is_human
from windrow.models.parts.time_columns import DERIVED_DATE
from windrow.packages.web.event_fields import PAGE_VIEW_ID, fields
from windrow.packages.web.settings import WebSettings
from windrow.tables import Columns

BANNER = "cmp_visible"
PREFERENCES = "consent_preferences"

_CHOSEN = ("event_type", "basis_for_processing", "consent_url", "consent_version")
"""Fields of the preferences that the log has as they are."""

ANSWER: Columns = {
    **{name: CONSENT_PREFERENCES.fields[name] for name in _CHOSEN},
    "consent_scopes": column(
        "string", "Scopes that the answer is about, with a comma and a blank between."
    ),
    "domains_applied": column(
        "string", "Domains that the answer holds for, with a comma and a blank between."
    ),
}
"""The answer itself."""

CMP_LOAD_TIME: Columns = {
    "cmp_load_time": column("float", "Time until the banner showed, as the tracker measured it.")
}
EVENT_TYPES = (
    *("allow_all", "allow_selected", "deny_all", "pending"),
    *("implicit_consent", "withdrawn", "expired"),
)

COLUMNS: Columns = {
    **fields("event_id", "domain_userid", "user_id", "geo_country"),
    **PAGE_VIEW_ID,
    **fields("domain_sessionid", "derived_tstamp", "load_tstamp"),
    "event_name": column("string", f"`{BANNER}` for a banner, `{PREFERENCES}` for an answer."),
    **with_note(ANSWER, "null for a banner"),
    "gdpr_applies": column(
        "boolean", "Whether the GDPR applies; false where the event does not say so."
    ),
    **with_note(CMP_LOAD_TIME, "null for an answer"),
    **DERIVED_DATE,
}


@model(
    key="event_id",
    date="derived_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    reads=Reads(
        (
            *("event_id", "user_id", "geo_country", "domain_sessionid", "derived_tstamp"),
            *("load_tstamp", "event_name", "useragent"),
            *(CONSENT_PREFERENCES.name, CMP_VISIBLE.name),
        )
    ),
    storage=Storage(steps=("consent_events_this_run",)),
    checks=(AcceptedValues("event_type", EVENT_TYPES, severity="warn"),),
)
def consent_log(events: DataFrame, settings: WebSettings, hooks: Hooks) -> DataFrame:
    """One row per consent event: the banner's load time, or the preferences that were chosen."""
    is_consent = F.col("event_name").isin(BANNER, PREFERENCES)
    consents = events.where(is_consent & is_human(settings, hooks))

    preferences = F.col(CONSENT_PREFERENCES.name)

    def join_list(name: str) -> Column:
        return F.array_join(preferences.getField(name), ", ")

    values: dict[str, Column] = {
        **{name: preferences.getField(name) for name in _CHOSEN},
        "consent_scopes": join_list("consent_scopes"),
        "domains_applied": join_list("domains_applied"),
        "gdpr_applies": F.coalesce(preferences.getField("gdpr_applies"), F.lit(False)),
        "cmp_load_time": F.col(CMP_VISIBLE.name).getField("elapsed_time"),
        "derived_tstamp_date": F.to_date("derived_tstamp"),
    }
    return select_declared(consents, COLUMNS, values)
