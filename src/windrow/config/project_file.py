"""windrow.yml: its shape as written (ProjectFile) and as the rest of windrow uses it (Config)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from windrow.config.events import EventsSource, EventsSourceOrTable
from windrow.config.fields import Frozen, Identifier, NamePart, Text, TextMap, Texts
from windrow.config.options import ModelSettings, PackageSettings
from windrow.config.paths import resolved
from windrow.errors import ConfigError, did_you_mean

FILE_NAME = "windrow.yml"
LOCAL_MASTER = "local[*]"
_OWN = "Schema of the target's {}, where it is not the project's."


def _master_unless_remote(data: Mapping[str, Any]) -> str | None:
    return None if data.get("remote") else LOCAL_MASTER


def _connect_address(text: str) -> str:
    if not text.startswith("sc://"):
        raise ValueError("a Spark Connect address such as sc://host:15002")
    return text


ConnectAddress = Annotated[
    str, AfterValidator(_connect_address), Field(json_schema_extra={"pattern": "^sc://"})
]


class SparkSettings(Frozen):
    """The Spark a target runs on: a master, or a Spark Connect server."""

    remote: ConnectAddress | None = Field(
        default=None,
        description="Spark Connect server, such as sc://host:15002, instead of a master.",
    )
    master: Text | None = Field(
        default_factory=_master_unless_remote,
        description="Spark master: local[*], spark://…, yarn or k8s://….",
        json_schema_extra={"default": LOCAL_MASTER},
    )
    conf: TextMap = Field(default={}, description="Spark settings for the session.")
    jars: Texts = Field(
        default=(), description="Jar files on this machine to use instead of downloading."
    )

    @model_validator(mode="after")
    def _is_one_spark(self) -> SparkSettings:
        if self.master is not None and self.remote is not None:
            raise ValueError("only one of `master` and `remote`")
        return self

    def under(self, project_dir: Path) -> SparkSettings:
        """The same settings with relative jars seen from the project's folder."""
        jars = tuple(resolved(jar, project_dir) for jar in self.jars)
        return self.model_copy(update={"jars": jars})


class Schemas(Frozen):
    """The schemas (or folders of the warehouse) that windrow writes to."""

    derived: Identifier = Field(default="derived", description="Schema of the derived tables.")
    scratch: Identifier = Field(default="scratch", description="Schema of this-run tables.")
    manifest: Identifier = Field(
        default="snowplow_manifest", description="Schema of the manifests and the quarantine."
    )


class TargetSchemas(Frozen):
    """Schemas of one target's own; what it does not name is the project's."""

    derived: Identifier | None = Field(default=None, description=_OWN.format("derived tables"))
    scratch: Identifier | None = Field(default=None, description=_OWN.format("this-run tables"))
    manifest: Identifier | None = Field(default=None, description=_OWN.format("manifests"))

    def over(self, schemas: Schemas) -> Schemas:
        """The schemas of the target: its own, or else the project's."""
        return schemas.model_copy(update=self.model_dump(exclude_none=True))


class TargetSettings(Frozen):
    """A target as windrow.yml describes it."""

    warehouse: Text | None = Field(
        default=None, description="Folder or object-store prefix under which the tables lie."
    )
    catalog: NamePart | None = Field(
        default=None, description="Configured Spark catalog that holds the tables."
    )
    format: Literal["delta", "iceberg"] = Field(default="delta", description="Table format.")
    spark: SparkSettings = Field(
        default=SparkSettings(), description="The Spark this target runs on."
    )
    schemas: TargetSchemas = Field(
        default=TargetSchemas(),
        description="Schemas of its own, as for a shadow run beside another target.",
    )

    @model_validator(mode="after")
    def _tables_are_in_one_place(self) -> TargetSettings:
        if (self.warehouse is None) == (self.catalog is None):
            raise ValueError("exactly one of `warehouse` and `catalog`")
        return self

    def named(self, name: str, project_dir: Path) -> Target:
        """The target itself, relative paths seen from the project's folder."""
        warehouse = self.warehouse and resolved(self.warehouse, project_dir)
        return Target(
            name=name,
            warehouse=warehouse,
            catalog=self.catalog,
            format=self.format,
            spark=self.spark.under(project_dir),
            schemas=self.schemas,
        )


class Target(TargetSettings):
    """A named environment: where tables lie, in which format, and the Spark that writes them."""

    name: str


class ProjectFile(Frozen):
    """Everything in windrow.yml but its packages, whose options differ by package."""

    name: Text = Field(description="Name of the project.")
    target: Text | None = Field(
        default=None, description="Target used when none is asked for; needed if there are several."
    )
    targets: Annotated[dict[Text, TargetSettings], Field(min_length=1)] = Field(
        description="Environments to run in, by name."
    )
    schemas: Schemas = Field(
        default=Schemas(), description="Names of the schemas windrow writes to."
    )
    events: EventsSourceOrTable | None = Field(
        default=None, description="Where the events are, unless a package says otherwise."
    )


@dataclass(frozen=True)
class Config:
    """A project's configuration, checked: paths resolved, variables filled in, target chosen."""

    name: str
    target: str
    targets: dict[str, Target]
    schemas: Schemas
    events: EventsSource | None
    packages: dict[str, ModelSettings]
    project_dir: Path
    ignored_options: tuple[str, ...] = ()
    """Paths of accepted options that mean nothing on Spark."""

    @property
    def chosen_target(self) -> Target:
        """The target that `target` names."""
        return self.targets[self.target]

    def events_of(self, package: str) -> EventsSource:
        """Where a package's events are: its own source, else the project's."""
        if package not in self.packages:
            raise ConfigError(
                f"{FILE_NAME} has no package '{package}'.{did_you_mean(package, self.packages)}"
            )
        source = self.foundation_settings(package).events or self.events
        if source is None:
            raise ConfigError(
                f"{FILE_NAME} does not say where the events of '{package}' are. "
                "Write `events:` with a `path:` or a `table:` below it."
            )
        return source

    def foundation_settings(self, package: str) -> PackageSettings:
        """How a package runs: its own options, or those of the package it stands on."""
        own = self.packages[package]
        settings = self.packages[own.stands_on] if own.stands_on else own
        assert isinstance(settings, PackageSettings)
        return settings
