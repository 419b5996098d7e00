"""The options every package has: windows, lateness, sessions, refresh protection."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from windrow.config.events import EventsSourceOrTable
from windrow.config.extras import Aggregations, Passthroughs
from windrow.config.fields import (
    TABLE_NAME,
    Count,
    CountOrOff,
    Frozen,
    Identifier,
    IsoDate,
    LayoutKey,
    NamePart,
    Positive,
    Text,
    Texts,
)
from windrow.config.identifiers import IdentifierSources

NOT_IN_FINGERPRINT = frozenset(
    {
        "lease_minutes",
        "stale_after_hours",
        "replay",
        "backfill_limit_days",
        "models_to_run",
        "models_to_remove",
        "keep_this_run",
        "allow_refresh",
        "dev_target_name",
        "cluster_by",
        "events",
        "atomic_schema",
        "events_table",
        "databricks_catalog",
    }
)
"""Options that say how, where or how much to run, not what the tables hold."""


class ModelSettings(Frozen):
    """What every package's models take, whether or not the package has a base of its own."""

    stands_on: ClassVar[str | None] = None
    """The package whose base options hold for this one too; None: it has its own."""
    written_as: ClassVar[dict[str, str]] = {}
    """Options that people may write under another name -> that name."""
    ignored_options: ClassVar[tuple[str, ...]] = (
        "database",
        "query_tag",
        "derived_tstamp_partitioned",
        "enable_load_tstamp",
        "disable_errors",
        "entities_or_sdes",
        "has_log_enabled",
    )
    """Options of the SQL package that are accepted for compatibility, without effect."""

    passthrough: dict[Identifier, Passthroughs] = Field(
        default={}, description="Columns of your own carried into tables, by table."
    )
    aggregations: dict[Identifier, Aggregations] = Field(
        default={}, description="Columns of your own that count or sum up, by table."
    )
    compat: bool = Field(
        default=False, description="Reproduce the known oddities of the reference packages."
    )
    enabled: bool = Field(default=True, description="Run this package.")
    disabled_models: Texts = Field(default=(), description="Models of this package that never run.")
    cluster_by: dict[Identifier, list[LayoutKey]] = Field(
        default={},
        description="What tables are laid out by: dates partition, others cluster; [] is nothing.",
    )

    def under(self, project_dir: Path) -> Self:
        """The same settings with relative paths seen from the project's folder."""
        return self

    def is_wanted(self, asked: bool | None) -> bool:
        """Whether to make a table that the SQL package does not have; `asked`: its option.

        With `compat` the manifest holds the reference's rows, unless someone asks for more.
        """
        return not self.compat if asked is None else asked

    def fingerprint(self) -> str:
        """A digest of the options that decide what the tables hold."""
        options = self.model_dump(mode="json", exclude=set(NOT_IN_FINGERPRINT))
        return hashlib.sha256(_compact(options).encode()).hexdigest()

    def changed(self) -> dict[str, str]:
        """Those options as JSON, where they are not the default."""
        options = self.model_dump(
            mode="json", exclude=set(NOT_IN_FINGERPRINT), exclude_defaults=True
        )
        return {name: _compact(value) for name, value in options.items()}


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class PackageSettings(ModelSettings):
    """How a package with a base of its own runs."""

    start_date: IsoDate = Field(
        default=date(2020, 1, 1), description="First day of events to process, in UTC."
    )
    backfill_limit_days: Positive = Field(
        default=30, description="Most days of new events that one run takes in."
    )
    lookback_window_hours: Count = Field(
        default=6, description="Hours before the last processed event that a run reads again."
    )
    session_lookback_days: Count = Field(
        default=730,
        description="With `compat`: days back in which a session with a new event is looked up.",
    )
    days_late_allowed: CountOrOff = Field(
        default=3,
        description="Days between creation and sending after which an event is dropped; -1: never.",
    )
    max_session_days: Positive = Field(
        default=3, description="Days after which a session is capped and quarantined."
    )
    upsert_lookback_days: Count = Field(
        default=30,
        description="Days back in which the same key of another session is looked for.",
    )
    app_id: Texts = Field(
        default=(), description="Applications whose events are processed; empty means all."
    )
    dev_target_name: str = Field(
        default="dev", description="Target in which a full refresh may rebuild everything."
    )
    allow_refresh: bool = Field(
        default=False, description="Let a full refresh rebuild manifests outside the dev target."
    )
    session_timestamp: Identifier = Field(
        default="collector_tstamp", description="Event column that orders sessions and bounds runs."
    )
    session_identifiers: IdentifierSources = Field(
        default=(), description="Where an event's session id is found; the first known one counts."
    )
    user_identifiers: IdentifierSources = Field(
        default=(), description="Where an event's user id is found; the first known one counts."
    )
    session_sql: Text | None = Field(
        default=None, description="SQL expression over an event `e` that gives its session id."
    )
    user_sql: Text | None = Field(
        default=None, description="SQL expression over an event `e` that gives its user id."
    )
    models_to_run: str = Field(
        default="", description="Names of the models to run, separated by spaces."
    )
    models_to_remove: Texts = Field(
        default=(), description="Models to take out of the manifest when the run starts."
    )
    replay: Literal["beside", "exclusive"] = Field(
        default="beside",
        description="Whether models that lag catch up `beside` the others, which go on, or not.",
    )
    keep_this_run: bool = Field(
        default=False, description="Write this-run rows to the scratch schema, for debugging."
    )
    lease_minutes: Positive = Field(
        default=10, description="Minutes without a sign of life after which a run's lock lapses."
    )
    stale_after_hours: Positive = Field(
        default=36,
        description="Hours without a new event, or behind it, after which `status` warns.",
    )
    atomic_schema: NamePart | None = Field(
        default=None, description="Schema of the events table; `atomic` if only its name is given."
    )
    events_table: NamePart | None = Field(
        default=None, description="Name of the events table; `events` if only its schema is given."
    )
    databricks_catalog: NamePart | None = Field(
        default=None, description="Catalog of the events table."
    )
    events: EventsSourceOrTable | None = Field(
        default=None, description="Events of this package, in place of the project's."
    )

    @model_validator(mode="before")
    @classmethod
    def _events_from_reference_options(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("events"):
            return data
        table = _reference_table(data)
        return data if table is None else {**data, "events": {"table": table}}

    def under(self, project_dir: Path) -> Self:
        """The same settings with relative paths seen from the project's folder."""
        if self.events is None:
            return self
        return self.model_copy(update={"events": self.events.under(project_dir)})

    @property
    def begins_at(self) -> datetime:
        """Where the events begin that are processed at all."""
        return datetime.combine(self.start_date, time(), UTC)

    @property
    def has_late_limit(self) -> bool:
        """False when events are taken however late they were sent."""
        return self.days_late_allowed >= 0


Known = Mapping[str, type[ModelSettings]]
"""The packages that there are -> the settings that each takes."""


def _reference_table(data: Mapping[str, Any]) -> str | None:
    catalog, schema, table = (
        data.get(name) for name in ("databricks_catalog", "atomic_schema", "events_table")
    )
    if not (catalog or schema or table):
        return None
    parts = [part for part in (catalog, schema or "atomic", table or "events") if part]
    # A part that is no name is reported under its own key, not as a wrong table.
    is_name = all(isinstance(part, str) and re.fullmatch(TABLE_NAME, part) for part in parts)
    return ".".join(parts) if is_name else None
