"""A project's own models in SQL: a query, and above it a comment that says what it makes.

    -- key: page_url
    -- package: web
    select page_url, max(start_tstamp) as last_seen
    from page_views_this_run
    where page_url is not null
    group by page_url

The tables that the query names are its inputs. `page_views_this_run` are this run's rows of a
model, and for an aggregate like this one the stored rows of the pages that the run touches;
`page_views` is its whole stored table, `events` the events of the run's sessions. Tables that no
model makes are read as they are; one whose name is close to a model's needs its schema with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args
from uuid import uuid4

import sqlglot
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from windrow.errors import ConfigError, did_you_mean, first_line
from windrow.models.model import ENGINE_INPUTS, KeySource, Kind, Model, Stored
from windrow.models.sql_keys import key_source
from windrow.tables.sql import quoted

_HEADER = re.compile(r"^\s*--\s*(?P<name>\w+)\s*:\s*(?P<value>.*?)\s*$")
_HEADINGS = ("key", "date", "package", "kind", "tags", "replaces", "description")
_ENGINE = {
    "events": "events",
    "base_events_this_run": "events",
    "base_sessions_this_run": "sessions_this_run",
    "users_touched": "users_touched",
}
"""What the query may call the engine's own inputs."""
_THIS_RUN = "_this_run"
_OWN_SCHEMAS = ("", "derived", "scratch")


@dataclass(frozen=True)
class _Mention:
    """A table as the query names it."""

    name: str
    start: int
    end: int
    has_alias: bool
    has_schema: bool


def load_sql_model(path: Path) -> Model:
    """The model that a .sql file declares."""
    text = path.read_text(encoding="utf-8")
    header = _header(path, text)
    query = _query(path, text)
    mentions = _mentions(query)
    inputs = dict(_inputs(mentions))
    key = _split_list(header.get("key", ""))
    kind = header.get("kind", "incremental" if "key" in header else "rebuilt")
    if kind not in get_args(Kind):
        raise ConfigError(
            f"{path}: kind is '{kind}', expected one of {', '.join(get_args(Kind))}."
            + did_you_mean(kind, get_args(Kind))
        )
    if kind == "incremental" and "key" not in header:
        raise ConfigError(f"{path}: an incremental model needs a key. Write `-- key: column`.")
    return Model(
        name=path.stem,
        function=_function(path, text, mentions),
        kind=cast("Kind", kind),
        key=key,
        per=_per(query, key, mentions, inputs),
        date=header.get("date"),
        replaces=header.get("replaces"),
        tags=_split_list(header.get("tags", "")),
        package=header.get("package", ""),
        description=header.get("description", ""),
        inputs=inputs,
    )


def _header(path: Path, text: str) -> dict[str, str]:
    """The `-- name: value` lines above the query."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("--"):
            break
        match = _HEADER.match(line)
        if match is None:
            continue
        name = match["name"].lower()
        if name not in _HEADINGS:
            raise ConfigError(
                f"{path}: '{name}' says nothing about a model.{did_you_mean(name, _HEADINGS)} "
                f"Known: {', '.join(_HEADINGS)}."
            )
        found[name] = match["value"]
    return found


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _per(
    query: exp.Query,
    key: tuple[str, ...],
    mentions: list[_Mention],
    inputs: Mapping[str, Stored | str],
) -> KeySource:
    """What the key is made of, for a query over one model's rows of this run."""
    of_run = [
        mention.name
        for mention in mentions
        if isinstance(inputs[mention.name], str) and inputs[mention.name] not in ENGINE_INPUTS
    ]
    if not of_run:
        return KeySource()
    if len(of_run) > 1:
        return KeySource(unclear=f"it names {' and '.join(of_run)}, where one mention can be told")
    return key_source(query, key, of_run[0])


def _query(path: Path, text: str) -> exp.Query:
    try:
        statements = [it for it in sqlglot.parse(text, dialect="spark") if it is not None]
    except sqlglot.ParseError as error:
        raise ConfigError(f"{path} is not SQL: {first_line(error)}") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise ConfigError(f"{path}: expected one SELECT, as a model is made by one query.")
    return statements[0]


def _mentions(query: exp.Query) -> list[_Mention]:
    named_here = {cte.alias for cte in query.find_all(exp.CTE)}
    return sorted(
        (
            _mention(table)
            for table in query.find_all(exp.Table)
            if table.db in _OWN_SCHEMAS and not table.catalog and table.name not in named_here
        ),
        key=lambda mention: mention.start,
    )


def _mention(table: exp.Table) -> _Mention:
    schema = table.args.get("db")
    first = schema if schema is not None else table.this
    return _Mention(
        name=table.name,
        start=first.meta["start"],
        end=table.this.meta["end"] + 1,
        has_alias=bool(table.alias),
        has_schema=schema is not None,
    )


def _inputs(mentions: list[_Mention]) -> Iterator[tuple[str, Stored | str]]:
    for mention in mentions:
        short = re.sub(r"^snowplow_[a-z]+?_(?=base_)", "", mention.name)
        if short in _ENGINE:
            yield mention.name, _ENGINE[short]
        elif mention.name.endswith(_THIS_RUN):
            yield mention.name, mention.name.removesuffix(_THIS_RUN)
        else:
            is_bare = not mention.has_schema
            yield mention.name, Stored(mention.name, or_outside=True, is_bare=is_bare)


def _function(path: Path, text: str, mentions: list[_Mention]) -> Callable[..., DataFrame]:
    def query(**frames: DataFrame) -> DataFrame:
        spark = next(iter(frames.values())).sparkSession if frames else SparkSession.active()
        with _views(frames) as names:
            return spark.sql(_with_names(text, mentions, names))

    query.__name__ = path.stem
    query.__doc__ = f"The query of {path.name}."
    return query


@contextmanager
def _views(frames: Mapping[str, DataFrame]) -> Iterator[dict[str, str]]:
    """Names under which the query finds its inputs; no two runs can mean each other's."""
    names = {name: f"windrow_{uuid4().hex}" for name in frames}
    for name, frame in frames.items():
        frame.createTempView(names[name])
    try:
        yield names
    finally:
        for name, frame in frames.items():
            frame.sparkSession.catalog.dropTempView(names[name])


def _with_names(text: str, mentions: list[_Mention], names: Mapping[str, str]) -> str:
    """The query with the views in place of its inputs, all else as it was written."""
    parts, at = [], 0
    for mention in mentions:
        if mention.name not in names:
            continue
        alias = "" if mention.has_alias else f" as {quoted(mention.name)}"
        parts += [text[at : mention.start], names[mention.name], alias]
        at = mention.end
    return "".join([*parts, text[at:]])
