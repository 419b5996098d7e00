"""The options of the normalize package: which events become which tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    field_serializer,
    model_validator,
)

from windrow.atomic.names import snake_case
from windrow.config.events import EventsSource, table_if_text
from windrow.config.fields import Frozen, Many, NamePart, TableName, Text, Texts, one_as_many
from windrow.config.options import PackageSettings
from windrow.config.paths import resolved
from windrow.config.problems import InvalidConfigError, check
from windrow.errors import ConfigError
from windrow.packages.normalize.iglu import SchemaUri
from windrow.packages.normalize.schema_documents import (
    Fields,
    Find,
    first_of,
    found_fields,
    in_folder,
    in_mapping_file,
    in_registries,
    read_json,
)

PUBLIC_REGISTRY = "default"
"""Stands for the public registry, which windrow does not ask: stored columns tell the fields."""

VERSION = r"^([0-9]+|[A-Za-z0-9_])$"


def _uri(text: str) -> str:
    return str(SchemaUri.parse(text))


def _version(text: str) -> str:
    if re.fullmatch(VERSION, text) is None:
        raise ValueError("digits, or a single character")
    return text


Uri = Annotated[str, AfterValidator(_uri)]
Uris = Annotated[
    tuple[Uri, ...], BeforeValidator(one_as_many, json_schema_input_type=Uri | tuple[Uri, ...])
]


class TablesConfig(Frozen):
    """What all tables have in common."""

    resolver_file_path: Text = Field(
        default=PUBLIC_REGISTRY,
        description="Resolver file whose registries tell the fields of schemas; `default`: none.",
    )
    filtered_events_table_name: NamePart | None = Field(
        default=None, description="Name of the table of all events and where each went; none: none."
    )
    users_table_name: NamePart = Field(
        default="snowplow_events_users", description="Name of the users table."
    )
    validate_schemas: bool = Field(
        default=True, description="Refuse schema documents that describe themselves wrongly."
    )
    overwrite: bool = Field(default=True, description="Accepted for compatibility, without effect.")
    models_folder: str = Field(
        default="snowplow_normalized_events",
        description="Accepted for compatibility, without effect.",
    )
    models_prefix: str = Field(
        default="snowplow", description="What table names begin with that are not given."
    )

    @field_serializer("resolver_file_path", when_used="json")
    def _file_name(self, path: str) -> str:
        return Path(path).name


class EventTable(Frozen):
    """One table: the events of some names, and what becomes its columns."""

    event_names: Annotated[Texts, Field(min_length=1)] = Field(
        description="Values of `event_name` that go into the table."
    )
    event_columns: Texts = Field(default=(), description="Columns of the events to include.")
    self_describing_event_schemas: Uris = Field(
        default=(), description="Self-describing events whose fields become columns."
    )
    self_describing_event_aliases: Texts = Field(
        default=(), description="What the columns of each begin with."
    )
    context_schemas: Uris = Field(default=(), description="Contexts whose fields become columns.")
    context_aliases: Texts = Field(default=(), description="What the columns of each begin with.")
    table_name: NamePart | None = Field(
        default=None, description="Name of the table without its version."
    )
    version: Annotated[str, AfterValidator(_version)] | None = Field(
        default=None,
        description="Version that the table's name ends in.",
        json_schema_extra={"pattern": VERSION},
    )

    @model_validator(mode="after")
    def _has_columns_and_a_name(self) -> EventTable:
        columns = ("event_columns", "self_describing_event_schemas", "context_schemas")
        if not self.model_fields_set & set(columns):
            raise ValueError(f"at least one of {', '.join(columns)}")
        if len(self.event_names) > 1 and not (self.table_name and self.version):
            raise ValueError("a table_name and a version, because there are several event_names")
        for kind in ("self_describing_event", "context"):
            schemas, aliases = (getattr(self, f"{kind}_{what}") for what in ("schemas", "aliases"))
            if aliases and len(aliases) != len(schemas):
                raise ValueError(
                    f"as many {kind}_aliases ({len(aliases)}) as {kind}_schemas ({len(schemas)})"
                )
        return self

    def name(self, prefix: str, *, compat: bool = False) -> str:
        """The table's name; `compat` takes the version as the reference does."""
        suffix = self.version or "1"
        if len(self.self_describing_event_schemas) == 1:
            schema = self.self_describing_event_schemas[0]
            suffix = SchemaUri.parse(schema).major
            if compat:
                # The reference takes the one character before the first hyphen, wherever it is.
                suffix = schema[schema.index("-") - 1]
        if self.table_name:
            return f"{self.table_name}_{suffix}"
        prefix = f"{prefix}_" if prefix else ""
        return f"{prefix}{self.event_names[0]}_{suffix}"


class UserId(Frozen):
    """Where the id of an event's user is."""

    id_column: Text = Field(description="Column of the events, or field of the schema below.")
    id_self_describing_event_schema: Uri | None = Field(
        default=None, description="Self-describing event that has the id."
    )
    id_context_schema: Uri | None = Field(default=None, description="Context that has the id.")
    alias: Text = Field(default="user_id", description="Name of the id in the users table.")


class Users(Frozen):
    """The users table."""

    user_id: UserId = Field(
        default=UserId(id_column="user_id"), description="Where the user's id is."
    )
    user_contexts: Uris = Field(default=(), description="Contexts whose fields become columns.")
    user_columns: Texts = Field(default=(), description="Columns of the events to include.")

    @model_validator(mode="after")
    def _has_columns(self) -> Users:
        if not self.model_fields_set & {"user_contexts", "user_columns"}:
            raise ValueError("at least one of user_contexts, user_columns")
        return self

    @property
    def has_two_ids(self) -> bool:
        """True when both a self-describing event and a context are said to have the id."""
        it = self.user_id
        return bool(it.id_self_describing_event_schema and it.id_context_schema)


EventTables = Many[EventTable]


class NormalizeFile(Frozen):
    """A configuration file of the SQL package, as it is."""

    class FileConfig(TablesConfig):
        """As in windrow.yml, but the resolver must be named."""

        resolver_file_path: Text = Field(description="Resolver file, or `default`.")

    config: FileConfig
    events: Annotated[EventTables, Field(min_length=1)]
    users: Users | None = None


class NormalizeSettings(PackageSettings):
    """How the normalize package runs, and which tables it makes."""

    written_as: ClassVar[dict[str, str]] = {"event_tables": "events"}

    config_file: Text | None = Field(
        default=None,
        description="Configuration file of the SQL package, instead of `config`, `events`, "
        "`users`.",
    )
    config: TablesConfig = Field(
        default=TablesConfig(), description="What all tables have in common."
    )
    events: Annotated[
        EventsSource | None,
        BeforeValidator(
            table_if_text, json_schema_input_type=EventsSource | TableName | EventTables | None
        ),
    ] = Field(
        default=None,
        description="A list: the event tables. Otherwise events of this package, in place of the "
        "project's.",
    )
    event_tables: EventTables = Field(
        default=(), description="The event tables, where `events` says where events are."
    )
    users: Users | None = Field(default=None, description="The users table; none: none.")
    schemas: Text | None = Field(
        default=None,
        description="Folder of Iglu schemas, or JSON file that maps schema URIs to fields.",
    )

    @model_validator(mode="before")
    @classmethod
    def _a_list_of_events_is_the_tables(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("events"), list | tuple):
            return data
        if data.get("event_tables"):
            raise ValueError("the event tables once only: in `events` or in `event_tables`")
        rest = {name: value for name, value in data.items() if name != "events"}
        return {**rest, "event_tables": data["events"]}

    @model_validator(mode="after")
    def _has_tables_from_one_place(self) -> Self:
        inline = self.model_fields_set & {"config", "event_tables", "users"}
        if self.config_file is not None and inline:
            raise ValueError("either a config_file or config, events and users, not both")
        if self.config_file is None and not self.event_tables:
            raise ValueError(
                "a list of event tables under `events`, or a config_file. "
                "`windrow normalize --suggest` proposes one"
            )
        return self

    @field_serializer("config_file", "schemas", when_used="json-unless-none")
    def _file_name(self, path: str) -> str:
        return Path(path).name

    def under(self, project_dir: Path) -> Self:
        """The settings with relative paths seen from the project, and the file's tables in them."""
        settings = super().under(project_dir)
        paths = {
            name: resolved(path, project_dir)
            for name, path in (("config_file", self.config_file), ("schemas", self.schemas))
            if path is not None
        }
        settings = settings.model_copy(update=paths)
        if settings.config_file is not None:
            settings = settings._with_file(Path(settings.config_file))
        resolver = settings.config.resolver_file_path
        if resolver != PUBLIC_REGISTRY:
            place = Path(resolved(resolver, project_dir))
            if settings.config_file is not None and not place.exists():
                place = Path(settings.config_file).parent / resolver
            config = settings.config.model_copy(update={"resolver_file_path": str(place)})
            settings = settings.model_copy(update={"config": config})
        settings._check_names()
        return settings

    def _with_file(self, file: Path) -> Self:
        tree = read_json(file, "packages.normalize.config_file")
        found, problems = check(NormalizeFile, tree, lambda path: (file.name, path))
        if found is None:
            raise InvalidConfigError(problems)
        tables = {"config": found.config, "event_tables": found.events, "users": found.users}
        return self.model_copy(update=tables)

    @property
    def models_prefix(self) -> str:
        """What names begin with that are made of an event's name."""
        return self.config.models_prefix or ("snowplow" if self.compat else "")

    @property
    def table_names(self) -> tuple[str, ...]:
        """The name of each event table, in the order given."""
        return tuple(it.name(self.models_prefix, compat=self.compat) for it in self.event_tables)

    def _check_names(self) -> None:
        names = list(self.table_names)
        if self.config.filtered_events_table_name:
            names.append(self.config.filtered_events_table_name)
        if self.users is not None or self.compat:
            names.append(self.config.users_table_name)
        twice = sorted(name for name, count in Counter(map(str.lower, names)).items() if count > 1)
        if twice:
            raise ConfigError(
                f"packages.normalize: several tables would have the same name: {', '.join(twice)}. "
                "Give one of them a table_name or a version of its own."
            )
        for name in names:
            if re.fullmatch(r"[A-Za-z0-9_-]+", name) is None:
                raise ConfigError(
                    f"packages.normalize: '{name}' cannot be the name of a table. Give the entry "
                    "a table_name of letters, digits, hyphens and underscores."
                )

    @property
    def schemas_with_columns(self) -> tuple[SchemaUri, ...]:
        """Every schema whose fields become columns."""
        users = () if self.users is None else self.users.user_contexts
        per_table = (
            (*it.self_describing_event_schemas, *it.context_schemas) for it in self.event_tables
        )
        texts: Iterable[str] = (uri for uris in (*per_table, users) for uri in uris)
        return tuple(dict.fromkeys(SchemaUri.parse(text) for text in texts))

    @cached_property
    def fields(self) -> dict[str, Fields]:
        """Schema URI -> its fields. Empty when no documents are to be had: the events tell then."""
        places = tuple(self._places())
        if not places:
            return {}
        validate = self.config.validate_schemas or self.compat
        return found_fields(self.schemas_with_columns, first_of(places), validate=validate)

    def _places(self) -> Iterator[Find]:
        if self.schemas is not None:
            place = Path(self.schemas)
            if not place.exists():
                raise ConfigError(f"packages.normalize.schemas: there is no {place}.")
            yield in_mapping_file(place) if place.is_file() else in_folder(place)
        elif self.config.resolver_file_path != PUBLIC_REGISTRY:
            yield in_registries(Path(self.config.resolver_file_path))

    @property
    def id_alias(self) -> str:
        """The key of the users table."""
        assert self.users is not None
        return snake_case(self.users.user_id.alias)
