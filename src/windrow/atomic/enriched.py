"""Lines of enriched events, as the collector's pipeline archives them -> the atomic shape.

A line has 131 fields with tabs between them and no header. Three of them are JSON: the entities
that the tracker sent, those that the enrichment added, and the self-describing event. A line that
is no such event is left out, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.names import WORD_BOUNDARIES
from windrow.columns.rules import column
from windrow.errors import SourceError

_JSON_BEFORE = {
    "se_category": ("contexts",),
    "tr_orderid": ("unstruct_event",),
    "domain_sessionid": ("derived_contexts",),
}
FIELDS = tuple(
    field
    for name in STANDARD_COLUMNS
    # Whoever loads events into a table adds this one.
    if name != "load_tstamp"
    for field in (*_JSON_BEFORE.get(name, ()), name)
)
"""The fields of a line, in order."""

_ENTITIES = "array<struct<schema:string,data:string>>"
_JSON_TYPES = {
    "contexts": f"struct<data:{_ENTITIES}>",
    "derived_contexts": f"struct<data:{_ENTITIES}>",
    "unstruct_event": "struct<data:struct<schema:string,data:string>>",
}
_STRICT = {"allowSingleQuotes": "false"}
_ENTITY_NAME = re.compile(r"(contexts|unstruct_event)_\w+_\d+", re.IGNORECASE)
_SHOWN = 40

BAD_LINE = {
    "file": column("string", "File that the line is in."),
    "line": column("string", "The line as it is."),
    "reason": column("string", "Why it is no event."),
}


def events_of(lines: DataFrame, asked: Iterable[str]) -> DataFrame:
    """The events that the lines are, in the atomic shape; of entities those `asked` for, as JSON.

    Any entity can be asked for, by the name of the column that a loader would put it into.
    """
    parts = _whole(lines).select(F.inline(F.filter(_read_lines(), lambda it: _reason(it).isNull())))
    named = parts.select("fields", _all_entities().alias("entities"), _described_event())
    fields = F.col("fields")
    return named.select(
        *(_value(fields, name).alias(name) for name in FIELDS if name not in _JSON_TYPES),
        # Consent is judged in the order of loading, and these events were never loaded.
        F.coalesce(_value(fields, "etl_tstamp"), _value(fields, "collector_tstamp")).alias(
            "load_tstamp"
        ),
        *(_entity(it).alias(it) for it in dict.fromkeys(asked) if _ENTITY_NAME.fullmatch(it)),
    )


def bad_lines_of(lines: DataFrame) -> DataFrame:
    """The lines that are no events, each with its file and the reason."""
    bad = F.filter(_read_lines(), lambda it: _reason(it).isNotNull())
    found = _whole(lines).select(_file(), F.col("value").alias("line"), F.inline(bad))
    return found.select(*BAD_LINE)


def refuse_other_files(lines: DataFrame, place: str) -> None:
    """Stop if no line at all has as many fields as an enriched event."""
    number = F.size(F.split("value", "\t"))
    if _whole(lines).where(number == len(FIELDS)).limit(1).count():
        return
    first = _whole(lines).select(_file(), number.alias("number"), "value").limit(1).collect()
    if not first:
        raise SourceError(f"The events at {place} have no line: is the folder empty?")
    found = f"the first line of {first[0]['file']} has {first[0]['number']} and begins with "
    raise SourceError(
        f"The events at {place} are not enriched events: no line has {len(FIELDS)} fields with "
        f"tabs between them; {found}{first[0]['value'][:_SHOWN]!r}. Check events.path and "
        "events.format in windrow.yml."
    )


def _whole(lines: DataFrame) -> DataFrame:
    """The lines without empty ones, which are nothing, neither good nor bad."""
    return lines.where(F.col("value") != "")


def _file() -> Column:
    return F.col("_metadata.file_path").alias("file")


def _read_lines() -> Column:
    """An array of one struct: the fields, what is read of the JSON ones, and why it is no event.

    It is one value, made in one place. Of plain columns Spark would split each line anew for
    every condition that it moves towards the files.
    """
    parts = F.transform(F.array(F.split("value", "\t")), _with_json)
    return F.transform(parts, _judged)


def _with_json(fields: Column) -> Column:
    read = (
        F.from_json(_text(fields, name), kind, _STRICT).alias(name)
        for name, kind in _JSON_TYPES.items()
    )
    return F.struct(fields.alias("fields"), *read)


def _judged(parts: Column) -> Column:
    names = ("fields", *_JSON_TYPES)
    return F.struct(
        *(parts.getField(name).alias(name) for name in names), _why_bad(parts).alias("reason")
    )


def _reason(judged: Column) -> Column:
    return judged.getField("reason")


def _why_bad(parts: Column) -> Column:
    """The first reason why a line is no event; null where it is one."""
    fields = parts.getField("fields")
    number = F.size(fields)
    reasons = [
        (number != len(FIELDS), _told(number, f" fields, expected {len(FIELDS)}")),
        (_is_blank(fields, "event_id"), F.lit("event_id is empty")),
        (_value(fields, "collector_tstamp").isNull(), F.lit("collector_tstamp is no time")),
    ]
    for name, kind in STANDARD_COLUMNS.items():
        if name in FIELDS and kind != "string":
            is_misfit = ~_is_blank(fields, name) & _value(fields, name).isNull()
            reasons.append((is_misfit, F.lit(f"{name} is not of type {kind}")))
    for name in _JSON_TYPES:
        is_malformed = _text(fields, name).isNotNull() & ~_is_read(parts.getField(name), name)
        reasons.append((is_malformed, F.lit(f"{name} is not self-describing JSON")))
    return F.coalesce(*(F.when(is_so, reason) for is_so, reason in reasons))


def _told(number: Column, words: str) -> Column:
    return F.concat(number.cast("string"), F.lit(words))


def _is_blank(fields: Column, name: str) -> Column:
    return F.coalesce(F.trim(_text(fields, name)) == "", F.lit(True))


def _is_read(part: Column, name: str) -> Column:
    """Whether all that a JSON field holds says what it is; false where it cannot be read."""
    data = part.getField("data")
    if name == "unstruct_event":
        return data.getField("schema").isNotNull()
    is_known = F.forall(data, lambda it: it.getField("schema").isNotNull())
    return F.coalesce(is_known, F.lit(False))


def _text(fields: Column, name: str) -> Column:
    """A field of the line; null where it is empty, or where the line is too short."""
    return F.nullif(F.get(fields, F.lit(FIELDS.index(name))), F.lit(""))


def _value(fields: Column, name: str) -> Column:
    kind = STANDARD_COLUMNS[name]
    return _text(fields, name) if kind == "string" else _text(fields, name).try_cast(str(kind))


def _all_entities() -> Column:
    """All entities of an event, those that the tracker sent first."""
    nothing = F.array().cast(_ENTITIES)
    sent, added = (
        F.coalesce(F.col(f"{name}.data"), nothing) for name in ("contexts", "derived_contexts")
    )
    return F.transform(F.concat(sent, added), _squeezed)


def _described_event() -> Column:
    return _squeezed(F.col("unstruct_event.data")).alias("event_data")


def _squeezed(item: Column) -> Column:
    """A self-describing JSON, and its schema's letters and digits: what is quick to compare."""
    schema = item.getField("schema")
    squeezed = F.lower(F.translate(schema, "_.-/", ""))
    return F.struct(schema.alias("schema"), item.getField("data"), squeezed.alias("squeezed"))


def _entity(name: str) -> Column:
    """An entity as JSON text, all of an event in one array, or a self-describing event."""
    if not name.lower().startswith("contexts_"):
        described = F.col("event_data")
        return F.when(_is_of(described, name), described.getField("data"))
    found = F.filter("entities", lambda it: _is_of(it, name))
    texts = F.transform(found, lambda it: it.getField("data"))
    return F.when(F.size(texts) > 0, F.concat(F.lit("["), F.array_join(texts, ","), F.lit("]")))


def _is_of(item: Column, column: str) -> Column:
    """Whether a loader would put a self-describing JSON into the column.

    Of most it is told at once that they are others: taking names apart is dear.
    """
    _, _, plain = re.split("^(contexts|unstruct_event)_", column.lower())
    beginning = "iglu:" + plain.rpartition("_")[0].replace("_", "")
    is_near = item.getField("squeezed").startswith(beginning)
    return is_near & F.lit(plain).isin(*_spellings(item.getField("schema")))


def _spellings(schema: Column) -> list[Column]:
    """What loaders call the column of a schema, without the prefix: words as one, and parted."""
    vendor = F.split_part(F.split_part(schema, F.lit("/"), F.lit(1)), F.lit(":"), F.lit(2))
    name = F.split_part(schema, F.lit("/"), F.lit(2))
    major = F.split_part(F.split_part(schema, F.lit("/"), F.lit(4)), F.lit("-"), F.lit(1))
    parted = reduce(lambda it, words: F.regexp_replace(it, words, "$1_$2"), WORD_BOUNDARIES, name)
    whole = (F.concat_ws("_", vendor, it, major) for it in (name, parted))
    return [F.lower(F.translate(it, ".-", "__")) for it in whole]
