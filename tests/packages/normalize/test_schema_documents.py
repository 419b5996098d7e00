"""Documents of schemas: from a folder, a mapping file, or the registries of a resolver file."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from project_files import Loaded
from windrow.errors import ConfigError
from windrow.packages.normalize.settings import NormalizeSettings

from .test_settings import with_normalize

URI = "iglu:com.acme/thing/jsonschema/1-0-0"
PATH = "com.acme/thing/jsonschema/1-0-0"
DOCUMENT = {
    "self": {"vendor": "com.acme", "name": "thing", "format": "jsonschema", "version": "1-0-0"},
    "properties": {"userId": {"type": "string"}, "size": {"type": ["integer", "null"]}},
}
EVENTS = [{"event_names": ["thing"], "self_describing_event_schemas": [URI]}]


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A registry that knows one schema, and wants a key below /private/api."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_private = self.path.startswith("/private")
            is_there = self.path.endswith(f"/schemas/{PATH}")
            code = 403 if is_private and self.headers.get("apikey") != "k3y" else 200
            self.send_response(code if is_there else 404)
            self.end_headers()
            self.wfile.write(json.dumps(DOCUMENT).encode() if code == 200 else b"{}")

        def log_message(self, *_: Any) -> None:
            return None

    with HTTPServer(("127.0.0.1", 0), Answer) as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        yield registry
        registry.shutdown()


def write(folder: Path, name: str, content: Any) -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))
    return str(file)


def fields(loaded: Loaded, **options: Any) -> list[tuple[str, str, str]]:
    settings = loaded(with_normalize(events=EVENTS, **options)).packages["normalize"]
    assert isinstance(settings, NormalizeSettings)
    return [(it.name, it.column, it.spark_type) for it in settings.fields.get(URI, ())]


EXPECTED = [("userId", "user_id", "string"), ("size", "size", "bigint")]


def test_documents_lie_in_a_folder(loaded: Loaded, tmp_path: Path) -> None:
    write(tmp_path, f"schemas/{PATH}", DOCUMENT)
    assert fields(loaded, schemas="./schemas") == EXPECTED
    assert fields(loaded) == []


def test_a_mapping_file_lists_fields(loaded: Loaded, tmp_path: Path) -> None:
    listed = [{"name": "userId", "type": "string"}, {"name": "size", "type": "integer"}]
    write(tmp_path, "fields.json", {URI: listed})
    assert fields(loaded, schemas="fields.json") == EXPECTED


def registry(priority: int, **connection: Any) -> dict[str, Any]:
    return {
        "name": f"r{priority}",
        "priority": priority,
        "vendorPrefixes": [],
        "connection": connection,
    }


def resolver(folder: Path, *registries: dict[str, Any]) -> dict[str, Any]:
    data = {"cacheSize": 1, "cacheTtl": None, "repositories": list(registries)}
    write(folder, "resolver.json", {"schema": "iglu:x", "data": data})
    return {"config": {"resolver_file_path": "resolver.json"}}


def test_registries_are_asked_in_order(loaded: Loaded, tmp_path: Path, server: HTTPServer) -> None:
    address = f"http://127.0.0.1:{server.server_port}"
    other = {**DOCUMENT, "properties": {"fromFolder": {"type": "boolean"}}}
    write(tmp_path, f"embedded/schemas/{PATH}", other)
    folder = registry(2, embedded={"path": "embedded"})
    found = fields(loaded, **resolver(tmp_path, folder, registry(1, http={"uri": address})))
    assert found == EXPECTED
    found = fields(loaded, **resolver(tmp_path, folder, registry(3, http={"uri": address})))
    assert [name for name, *_ in found] == ["fromFolder"]
    private = registry(1, http={"uri": f"{address}/private/api", "apikey": "k3y"})
    assert fields(loaded, **resolver(tmp_path, private)) == EXPECTED
    refused = registry(1, http={"uri": f"{address}/private/api"})
    with pytest.raises(ConfigError, match="answers 403"):
        fields(loaded, **resolver(tmp_path, refused))


@pytest.mark.parametrize(
    ("connection", "message"),
    [
        ({"http": {"uri": "http://h/x", "apikey": "k3y"}}, "a uri that ends in /api"),
        ({"http": {"uri": "http://h"}, "embedded": {"path": "p"}}, "exactly one of"),
        ({"http": {"uri": "ftp://h"}}, "no http or https address"),
        ({"http": {"uri": "http://127.0.0.1:9"}}, "cannot be asked"),
        ({"embedded": {"path": "nowhere"}}, f"Schema {URI} is nowhere to be found"),
    ],
)
def test_wrong_resolvers_say_what_is_wrong(
    loaded: Loaded, tmp_path: Path, connection: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        fields(loaded, **resolver(tmp_path, registry(1, **connection)))
    assert "k3y" not in str(error.value)


def test_documents_that_cannot_be_used_are_named(loaded: Loaded, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no"):
        fields(loaded, schemas="nowhere")
    with pytest.raises(ConfigError, match="cannot read"):
        fields(loaded, config={"resolver_file_path": "nowhere.json"})
    place = f"schemas/{PATH}.json"
    write(tmp_path, place, {**DOCUMENT, "self": {**DOCUMENT["self"], "name": "other"}})
    with pytest.raises(ConfigError, match="describes itself as"):
        fields(loaded, schemas="schemas")
    unchecked = {"schemas": "schemas", "config": {"validate_schemas": False}}
    assert fields(loaded, **unchecked) == EXPECTED
    with pytest.raises(ConfigError, match="describes itself as"):
        fields(loaded, **unchecked, compat=True)
    write(tmp_path, place, {"properties": {"a": {}}})
    with pytest.raises(ConfigError, match=f"{URI} cannot be used"):
        fields(loaded, schemas="schemas")
    write(tmp_path, place, [])
    with pytest.raises(ConfigError, match="no JSON object"):
        fields(loaded, schemas="schemas")
