"""All that a run of one package needs at hand: Spark, tables, settings, models, hooks, ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.config import EventsSource, PackageSettings, Schemas
from windrow.hooks import Hooks
from windrow.ledger import Ledger
from windrow.lifecycle import LIFECYCLE, QUARANTINE
from windrow.manifest import MANIFEST
from windrow.model import Model, Package
from windrow.tables import TableName, Tables
from windrow.upsert import Destination


@dataclass(frozen=True)
class Workspace:
    """One package of a project on one target."""

    spark: SparkSession
    tables: Tables
    ledger: Ledger
    package: Package
    settings: PackageSettings
    models: tuple[Model, ...]
    """All enabled models of the package, ours and the project's, each after those it reads."""
    hooks: Hooks
    schemas: Schemas
    target: str
    events: EventsSource | None

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
        return self._manifest_table("base_quarantined_sessions")

    @property
    def protected(self) -> tuple[TableName, ...]:
        """The tables that a rebuild outside dev must not touch unasked."""
        return (self.manifest, self.lifecycle, self.quarantine)

    def table(self, model: Model) -> TableName:
        """Where a model's rows are stored."""
        return TableName(self.schemas.derived, model.full_name)

    def this_run_table(self, name: str) -> TableName:
        """Where rows of the last run are kept for debugging."""
        return TableName(self.schemas.scratch, f"{name}_this_run")

    def destination(self, model: Model) -> Destination:
        """A model's table as an upsert sees it."""
        return Destination(self.table(model), model.key, model.date)

    @property
    def lifecycle_destination(self) -> Destination:
        """The lifecycle manifest as an upsert sees it."""
        return Destination(self.lifecycle, ("session_id",), "start_tstamp")

    def written_tables(self, models: Sequence[Model]) -> list[TableName]:
        """Every table that a run over these models may write, the manifest left out."""
        return [self.lifecycle, self.quarantine, *(self.table(member) for member in models)]

    def prepare_base(self) -> None:
        """Create the manifests unless they exist."""
        self.tables.create(self.manifest, MANIFEST)
        self.tables.create(self.quarantine, QUARANTINE)
        self.tables.create(self.lifecycle, LIFECYCLE, partition_by=["start_tstamp_date"])

    def model(self, name: str) -> Model:
        """A model by its own name."""
        return next(member for member in self.models if member.name == name)

    def _manifest_table(self, name: str) -> TableName:
        return TableName(self.schemas.manifest, self.package.prefix + name)
