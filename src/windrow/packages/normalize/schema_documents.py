"""Where the documents of Iglu schemas are found: a folder, a mapping file, registries."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from windrow.config.fields import Frozen, Number, Text, Texts
from windrow.config.problems import InvalidConfigError, check
from windrow.errors import ConfigError
from windrow.packages.normalize.iglu import SchemaField, SchemaUri, fields_of

SECONDS_TO_WAIT = 20

Fields = tuple[SchemaField, ...]
Find = Callable[[SchemaUri], Mapping[str, Any] | None]
"""The document of a schema, or None where this place does not have it."""


class EmbeddedRegistry(Frozen):
    """A registry that is a folder."""

    path: Text = Field(description="The folder; schemas lie in it, or in `schemas` below it.")


class HttpRegistry(Frozen):
    """A registry that answers over HTTP."""

    uri: Text = Field(description="Its address.")
    apikey: Text | None = Field(default=None, description="The key that it asks for.")

    @model_validator(mode="after")
    def _keys_are_for_the_api(self) -> HttpRegistry:
        if self.apikey is not None and not self.uri.rstrip("/").endswith("/api"):
            raise ValueError("a uri that ends in /api, because it has an apikey")
        return self


class Connection(Frozen):
    """How a registry is reached."""

    embedded: EmbeddedRegistry | None = Field(default=None, description="A folder.")
    http: HttpRegistry | None = Field(default=None, description="A server.")

    @model_validator(mode="after")
    def _is_one(self) -> Connection:
        if (self.embedded is None) == (self.http is None):
            raise ValueError("exactly one of `embedded` and `http`")
        return self


class Registry(Frozen):
    """One registry of a resolver file."""

    name: Text = Field(description="Its name.")
    priority: Number = Field(description="Registries with smaller numbers are asked first.")
    vendorPrefixes: Texts = Field(description="Read and not used, as in the reference.")
    connection: Connection = Field(description="How it is reached.")


class Resolver(Frozen):
    """What a resolver file holds under `data`."""

    cacheSize: Number = Field(description="Read and not used.")
    cacheTtl: int | None = Field(default=None, ge=0, description="Read and not used.")
    repositories: Annotated[tuple[Registry, ...], BeforeValidator(lambda it: tuple(it))] = Field(
        description="The registries."
    )


class ResolverFile(Frozen):
    """A resolver file; only its `data` counts, whatever schema it says it keeps."""

    data: Resolver = Field(description="The registries and how to use them.")
    schema_: str = Field(default="", alias="schema", description="Read and not used.")


def read_json(file: Path, wanted_by: str) -> Any:
    """What a JSON file holds; an error names the option that wants it."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{wanted_by}: cannot read {file}: {error.strerror or error}.") from None
    except ValueError as error:
        raise ConfigError(f"{wanted_by}: {file} is not JSON: {error}.") from None


def in_folder(folder: Path) -> Find:
    """Documents under vendor/name/format/version, with or without `.json` behind."""
    roots = (folder, folder / "schemas")

    def find(uri: SchemaUri) -> Mapping[str, Any] | None:
        for root in roots:
            for file in (root / uri.path, root / f"{uri.path}.json"):
                if file.is_file():
                    return _mapping(read_json(file, str(uri)), uri)
        return None

    return find


def in_mapping_file(file: Path) -> Find:
    """A file that lists the fields of each schema: `{uri: [{"name": …, "type": …}]}`."""
    listed = read_json(file, "packages.normalize.schemas")
    if not isinstance(listed, dict):
        raise ConfigError(f"packages.normalize.schemas: {file} is no mapping of schema URIs.")

    def find(uri: SchemaUri) -> Mapping[str, Any] | None:
        fields = listed.get(str(uri))
        if fields is None:
            return None
        try:
            return {"properties": {it["name"]: {"type": it["type"]} for it in fields}}
        except (TypeError, KeyError):
            raise ConfigError(
                f"{file}: {uri} is {json.dumps(fields)[:80]}, expected a list of fields, each with "
                "a name and a type."
            ) from None

    return find


def in_registries(file: Path) -> Find:
    """The registries of a resolver file, smallest priority number first."""
    option = "packages.normalize.config.resolver_file_path"
    found, problems = check(ResolverFile, read_json(file, option), lambda p: (file.name, p))
    if found is None:
        raise InvalidConfigError(problems)
    registries = sorted(found.data.repositories, key=lambda it: it.priority)
    return first_of([_in_registry(it, file.parent) for it in registries])


def _in_registry(registry: Registry, beside: Path) -> Find:
    if registry.connection.embedded is not None:
        return in_folder(beside / registry.connection.embedded.path)
    server = registry.connection.http
    assert server is not None
    return lambda uri: _fetched(server, registry.name, uri)


def _fetched(server: HttpRegistry, name: str, uri: SchemaUri) -> Mapping[str, Any] | None:
    address = f"{server.uri.rstrip('/')}/schemas/{uri.path}"
    if not address.startswith(("http://", "https://")):
        raise ConfigError(f"Registry '{name}': {server.uri} is no http or https address.")
    request = urllib.request.Request(address, headers=_headers(server))
    try:
        with urllib.request.urlopen(request, timeout=SECONDS_TO_WAIT) as answer:
            return _mapping(json.load(answer), uri)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise ConfigError(f"Registry '{name}' answers {error.code} for {uri}.") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"Registry '{name}' cannot be asked for {uri}: {error}.") from None


def _headers(server: HttpRegistry) -> dict[str, str]:
    return {} if server.apikey is None else {"apikey": server.apikey}


def _mapping(document: Any, uri: SchemaUri) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        raise ConfigError(f"The document of {uri} is no JSON object.")
    return document


def first_of(places: Iterable[Find]) -> Find:
    """The document from the first place that has it."""
    places = tuple(places)

    def find(uri: SchemaUri) -> Mapping[str, Any] | None:
        return next((it for it in (place(uri) for place in places) if it is not None), None)

    return find


def found_fields(uris: Iterable[SchemaUri], find: Find, *, validate: bool) -> dict[str, Fields]:
    """The fields of every schema, by its URI; one that is nowhere or not valid is an error."""
    found: dict[str, Fields] = {}
    for uri in dict.fromkeys(uris):
        document = find(uri)
        if document is None:
            raise ConfigError(
                f"Schema {uri} is nowhere to be found. Put it into the folder that "
                "packages.normalize.schemas names, or correct the URI."
            )
        if validate:
            _check_self(uri, document)
        try:
            found[str(uri)] = fields_of(document)
        except ValueError as error:
            raise ConfigError(f"Schema {uri} cannot be used: expected {error}.") from None
    return found


def _check_self(uri: SchemaUri, document: Mapping[str, Any]) -> None:
    about = document.get("self")
    if about is None:
        return
    named = {"vendor": uri.vendor, "name": uri.name, "version": uri.version}
    told = {key: about.get(key) for key in named} if isinstance(about, Mapping) else about
    if told != named:
        raise ConfigError(
            f"The document of {uri} describes itself as {json.dumps(told)}. Correct it, or set "
            "config.validate_schemas to false."
        )
