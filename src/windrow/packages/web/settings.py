"""The options of the web package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from windrow.config.fields import (
    Count,
    Frozen,
    Number,
    Pattern,
    Positive,
    TableName,
    Text,
    no_repeats,
    one_as_many,
)
from windrow.config.options import PackageSettings
from windrow.config.reference_lists import ReferenceLists

CONVERSION_NAME = r"^[A-Za-z0-9_]+$"
_TOTALS_NAME = "_all"


class ConversionEvent(Frozen):
    """One kind of conversion, counted per session under `cv_<name>_…`."""

    name: str = Field(
        description="Name used in the columns cv_<name>_…: letters, digits and underscores.",
        json_schema_extra={"pattern": CONVERSION_NAME},
    )
    condition: Text = Field(description="SQL expression that is true for a converting event.")
    value: Text | None = Field(
        default=None, description="SQL expression for what a conversion is worth."
    )
    default_value: Number = Field(
        default=0, description="Worth of a conversion whose value is null, or text but no number."
    )
    list_events: bool = Field(
        default=False, description="Also list the ids of the converting events."
    )

    @field_validator("name")
    @classmethod
    def _fits_in_a_column_name(cls, name: str) -> str:
        if re.fullmatch(CONVERSION_NAME, name) is None:
            raise ValueError("letters, digits and underscores only")
        if name == _TOTALS_NAME:
            raise ValueError(f"another name: cv_{name}_… are the totals over all conversions")
        return name


ConversionEvents = Annotated[
    tuple[ConversionEvent, ...],
    BeforeValidator(
        one_as_many, json_schema_input_type=ConversionEvent | tuple[ConversionEvent, ...]
    ),
]


class WebSettings(PackageSettings):
    """How the web package runs."""

    ignored_options: ClassVar[tuple[str, ...]] = (
        *PackageSettings.ignored_options,
        "page_view_context",
        "iab_context",
        "ua_parser_context",
        "yauaa_context",
        "consent_cmp_visible",
        "consent_preferences",
        "cwv_context",
    )

    min_visit_length: Count = Field(
        default=5, description="Seconds on a page before the tracker's first page ping."
    )
    heartbeat: Positive = Field(default=10, description="Seconds between the tracker's page pings.")
    ua_bot_filter: bool = Field(
        default=True, description="Leave out events of user agents that are bots."
    )
    ua_bot_pattern: Pattern | None = Field(
        default=None,
        description="Regular expression for bot user agents, in place of the built-in one.",
    )
    use_refr_if_mkt_null: bool = Field(
        default=False, description="Use the referrer for marketing fields where those are null."
    )
    enable_iab: bool = Field(default=False, description="Fill the IAB spiders and robots columns.")
    enable_ua: bool = Field(default=False, description="Fill the UA parser columns.")
    enable_yauaa: bool = Field(default=False, description="Fill the YAUAA columns.")
    limit_page_views_to_session: bool = Field(
        default=True, description="Count pings for a page view only within its own session."
    )
    session_stitching: bool = Field(
        default=True, description="Keep the stitched user id on sessions up to date."
    )
    list_event_counts: bool = Field(
        default=False, description="Add a map of event counts by name to sessions."
    )
    conversion_events: ConversionEvents = Field(
        default=(), description="Conversions to count in each session."
    )
    total_all_conversions: bool = Field(
        default=False, description="Add totals over all conversions to sessions."
    )
    sessions_table: TableName | None = Field(
        default=None, description="Table the users are built from, in place of our sessions."
    )
    enable_consent: bool = Field(default=False, description="Build the consent tables.")
    enable_cwv: bool = Field(default=False, description="Build the core web vitals tables.")
    cwv_days_to_measure: Positive = Field(
        default=28, description="Days of web vitals that a measurement covers."
    )
    cwv_percentile: Annotated[int, Field(ge=1, le=99)] = Field(
        default=75, description="Percentile of web vitals that is measured."
    )
    reference: ReferenceLists = Field(
        default=ReferenceLists(), description="Your own lists in place of the ones windrow ships."
    )

    @field_validator("conversion_events")
    @classmethod
    def _names_differ(cls, conversions: tuple[ConversionEvent, ...]) -> tuple[ConversionEvent, ...]:
        no_repeats("conversions", (conversion.name for conversion in conversions))
        return conversions

    @field_validator("total_all_conversions")
    @classmethod
    def _totals_something(cls, is_on: bool, info: ValidationInfo) -> bool:
        if is_on and info.data.get("conversion_events") == ():
            raise ValueError("false, or at least one entry in conversion_events")
        return is_on

    def under(self, project_dir: Path) -> Self:
        """The same settings with relative paths seen from the project's folder."""
        settings = super().under(project_dir)
        return settings.model_copy(update={"reference": self.reference.under(project_dir)})
