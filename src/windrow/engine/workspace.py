"""All that a run needs at hand: Spark, tables, settings, models, hooks, ledger.

A run takes in events once for all packages that share a foundation: web, and media_player on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from windrow.config import EventsSource, ModelSettings, PackageSettings, Schemas
from windrow.engine.destination import Destination
from windrow.engine.watching import Watcher
from windrow.errors import ConfigError, did_you_mean
from windrow.models.foundation import SESSION_ID, Foundation
from windrow.models.hooks import Hooks
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.state.leases import Leases
from windrow.state.manifest import MANIFEST
from windrow.state.runs import Runs
from windrow.tables import Columns, Layout, TableName, Tables, layout_of


@dataclass(frozen=True)
class Workspace:
    """One base of a project on one target, and those of its packages that a command means."""

    spark: SparkSession
    tables: Tables
    leases: Leases
    runs: Runs
    package: Package
    """The one whose base and manifests it is."""
    settings: PackageSettings
    """How that package runs."""
    models: tuple[Model, ...]
    """All enabled models on the base, ours and the project's, each after those it reads."""
    hooks: Hooks
    schemas: Schemas
    target: str
    events: EventsSource | None
    others: Mapping[str, ModelSettings] = field(default_factory=dict)
    """Settings of the packages that stand on this one's base, by name."""
    options_of_columns: Mapping[str, str] = field(default_factory=dict)
    """Event column -> the option that asks for it, of all these packages."""
    spark_keys: frozenset[str] = frozenset()
    """The settings of Spark that the target chooses itself."""
    means: tuple[str, ...] = ()
    """The packages whose models a command is about; empty: all."""
    watchers: tuple[Watcher, ...] = ()
    """Who is told of its runs."""

    @property
    def name(self) -> str:
        """What reports call this: the package, or all that run together."""
        return "+".join(self.means) or self.package.name

    @property
    def meant_models(self) -> tuple[Model, ...]:
        """The models that a command without a selection is about."""
        return tuple(m for m in self.models if not self.means or m.package in self.means)

    def settings_of(self, model: Model) -> ModelSettings:
        """The settings of the package that the model belongs to."""
        return self.others.get(model.package, self.settings)

    def fingerprint(self) -> str:
        """A digest of the options that decide what the tables hold, of all packages."""
        own = (self.settings, *(settings for _, settings in sorted(self.others.items())))
        return "-".join(settings.fingerprint() for settings in own)

    @cached_property
    def foundation(self) -> Foundation:
        """Whose sessions the package looks at, and which events."""
        return self.package.foundation(self.settings).with_own_identifiers(self.settings)

    def changed_options(self) -> dict[str, str]:
        """Option -> value, of all packages, where it decides what the tables hold."""
        every = {self.package.name: self.settings, **self.others}
        return {
            f"{package}.{option}": value
            for package, settings in every.items()
            for option, value in settings.changed().items()
        }

    @property
    def lease_name(self) -> str:
        """The package whose lease a run takes: all that share its manifests take the same one."""
        return self.package.foundation_name

    @property
    def stored_models(self) -> tuple[Model, ...]:
        """The models that have a table."""
        return tuple(member for member in self.models if member.kind != "this_run")

    @property
    def manifest(self) -> TableName:
        """Model -> last_success."""
        return self._manifest_table("incremental_manifest")

    @property
    def lifecycle(self) -> TableName:
        """Every session's start and end."""
        return self._manifest_table("base_sessions_lifecycle_manifest")

    @property
    def quarantine(self) -> TableName:
        """Sessions that take in no more events."""
        if self.foundation.quarantine_table is not None:
            return TableName(self.schemas.manifest, self.foundation.quarantine_table)
        return self._manifest_table("base_quarantined_sessions")

    @property
    def quarantine_notes(self) -> TableName:
        """Why sessions are in quarantine, since when and by whom."""
        return self._manifest_table("quarantine_notes")

    @property
    def bad_lines(self) -> TableName:
        """Lines that are no events, where events are read from lines."""
        return self._manifest_table("bad_lines")

    @property
    def key_days(self) -> TableName:
        """On which of their old days tables may hold rows of a key."""
        return self._manifest_table("key_days")

    @property
    def protected(self) -> tuple[TableName, ...]:
        """The tables that a rebuild outside dev must not touch unasked."""
        sessions = (self.lifecycle,) if self.foundation.has_sessions else ()
        quarantine = (self.quarantine,) if self.foundation.has_quarantine else ()
        return (self.manifest, *sessions, *quarantine)

    def table(self, model: Model) -> TableName:
        """Where a model's rows are stored."""
        schema = self.schemas.manifest if model.is_state else self.schemas.derived
        return TableName(schema, model.full_name)

    def this_run_table(self, name: str) -> TableName:
        """Where rows of the last run are kept for debugging."""
        return TableName(self.schemas.scratch, f"{name.removesuffix('_this_run')}_this_run")

    def destination(self, model: Model) -> Destination:
        """A model's table as an upsert sees it."""
        return Destination(self.table(model), model.key, model.date)

    @property
    def lifecycle_destination(self) -> Destination:
        """The lifecycle manifest as an upsert sees it."""
        return Destination(self.lifecycle, (self.foundation.recorded_session,), "start_tstamp")

    def written_tables(self, models: Sequence[Model]) -> list[TableName]:
        """Every table that a run over these models may write, the manifest left out."""
        is_enriched = self.events is not None and self.events.format == "enriched"
        aside = [self.bad_lines] if is_enriched else []
        aside += [self.quarantine_notes] if self.foundation.has_quarantine else []
        return [*self.protected[1:], *aside, *(self.table(member) for member in models)]

    def versions_of(self, tables: Sequence[TableName]) -> dict[str, str]:
        """What tables are at now; asked side by side, as each answer takes a while."""
        with ThreadPoolExecutor(max_workers=4) as pool:
            found = dict(zip(tables, pool.map(self.tables.version, tables), strict=True))
        return {str(table): at for table, at in found.items() if at is not None}

    def layout(self, model: Model, columns: Columns) -> Layout:
        """What a model's table is laid out by: its day, unless the project says otherwise."""
        default = self.destination(model).partition(columns)
        configured = self.settings_of(model).cluster_by
        return self._chosen_layout((model.name, model.full_name), configured, columns, default)

    @property
    def lifecycle_layout(self) -> Layout:
        """What the lifecycle manifest is laid out by."""
        names = (self.lifecycle.name,)
        configured = self.settings.cluster_by
        return self._chosen_layout(
            names, configured, self.foundation.lifecycle, ["start_tstamp_date"]
        )

    def _chosen_layout(
        self,
        names: Sequence[str],
        configured: Mapping[str, Sequence[str]],
        columns: Columns,
        default: list[str],
    ) -> Layout:
        keys = next((list(configured[name]) for name in names if name in configured), default)
        chosen = self.hooks.cluster_by(names[-1], keys)
        return layout_of(names[-1], chosen, columns, format=self.tables.format)

    def check_layout_names(self) -> None:
        """Stop at a table of `cluster_by` that the package does not have."""
        members = (*self.models, *self.package.disabled_models(self.settings))
        known = {name for member in members for name in (member.name, member.full_name)}
        known |= {self.lifecycle.name}
        for package, settings in {self.package.name: self.settings, **self.others}.items():
            for name in settings.cluster_by:
                if name not in known:
                    raise ConfigError(
                        f"packages.{package}.cluster_by: there is no table '{name}'."
                        f"{did_you_mean(name, known)} A table that is switched off has no layout."
                    )

    def prepare_manifests(self) -> None:
        """Create the manifests unless they exist."""
        self.tables.create(self.manifest, MANIFEST)
        if self.foundation.has_quarantine:
            self.tables.create(self.quarantine, self.foundation.quarantine)
        if self.foundation.has_sessions:
            layout = self.lifecycle_layout
            self.tables.create(
                self.lifecycle,
                self.foundation.lifecycle,
                partition_by=layout.partition_by,
                cluster_by=layout.cluster_by,
            )

    def known_sessions(self) -> DataFrame:
        """The lifecycle manifest's rows, under the engine's own names."""
        return self.foundation.from_record(self.tables.read(self.lifecycle))

    def quarantined_sessions(self) -> DataFrame | None:
        """The ids of the quarantined sessions; None where there is no quarantine."""
        if not self.foundation.has_quarantine or not self.tables.exists(self.quarantine):
            return None
        return self.foundation.from_record(self.tables.read(self.quarantine)).select(SESSION_ID)

    def model(self, name: str) -> Model:
        """A model by its own name."""
        return next(member for member in self.models if member.name == name)

    @property
    def sessions_model(self) -> Model | None:
        """The model that has a row per session; None where the package has none, or it is off."""
        return next((m for m in self.models if m.name == self.package.sessions), None)

    def model_of_table(self, table: str) -> Model | None:
        """The model that makes a table of this name, with or without its schema."""
        name = table.rpartition(".")[2]
        return next((member for member in self.models if member.full_name == name), None)

    def _manifest_table(self, name: str) -> TableName:
        return TableName(self.schemas.manifest, f"snowplow_{self.package.foundation_name}_{name}")
