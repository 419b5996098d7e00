"""docs/events-table.md: what the events must have, from what packages declare that they read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import ENTITY_COLUMNS
from windrow.columns.rules import rule_of
from windrow.models.foundation import Foundation
from windrow.models.package import Package
from windrow.packages import PACKAGES, SETTINGS

VENDOR = re.compile(
    "^(contexts|unstruct_event)_(com_snowplowanalytics(_snowplow)?|com_iab_snowplow|nl_basjes"
    "|com_youtube|org_whatwg)_"
)

INTRO = """# The events table

One row per event, in the columns of the canonical event model: a loader's table, files in
Parquet, JSON or CSV, or [an archive of enriched events](enriched-events.md). windrow reads
columns by name. It reads those that the run's models ask for, and no others; which further
columns there are does not matter.

A column that is needed and missing stops the command with exit code 2, before anything is
written; the message names the column, and the model or the option that asks for it.
`windrow doctor` looks, too.

## Shapes

| of the events | may be |
|---|---|
| a time | `timestamp` or `timestamp_ntz`, taken as UTC; `date`; text |
| a number | any type of number; text |
| text, true or false | that; true and false also as text |
| an entity (`contexts_…`) | an array of structs, one struct, or JSON text |
| a self-describing event (`unstruct_event_…`) | a struct, an array of structs, or JSON text |
| fields of either | in snake_case or as trackers spell them; missing ones are null |
| versions of its schema | one column for all (`…_web_page_1`), or one each (`…_web_page_1_0_0`) |

Text that is not of its column's type stops the run with exit code 2, and the message has an
example. JSON text of an entity that cannot be read is null, and counted in the run's result.
Copies of an event, with the same `event_id`, are taken once.

Files that Spark has written are told apart by their folders only: partition events by
`load_tstamp_date`, the day on which they were loaded, or by another means that lets files be left
out by `collector_tstamp`, so that a run need not open them all.

Where session and user stand elsewhere than the package looks, `session_identifiers` and
`user_identifiers` say so ([operating](operating.md#columns-models-and-identifiers-of-your-own)).

## What every run needs

| package | columns |
|---|---|
"""

ENTITIES = """
## Entities and self-describing events

Packages, with the option that asks for the column. For a website's page views, sessions and users
the first is all that is needed.

| column | asked for by |
|---|---|
"""

STANDARD = """
## Standard columns

With the packages whose tables are made from a column, all their options on. A column that no
package reads is there for models of your own.

| column | type | what it is | read by |
|---|---|---|---|
"""


def events_page(settings_of: Mapping[str, Any]) -> str:
    """The page. `settings_of`: package -> its settings with all options on."""
    reads = {name: dict(_read(PACKAGES[name], own)) for name, own in settings_of.items()}
    every = "\n".join(
        f"| {name} | {_code(_every_run(package, settings_of))} |"
        for name, package in PACKAGES.items()
    )
    entities = "\n".join(
        f"| [`{entity.name}`](#{_short(entity.name)}) | {_askers(entity.name, reads)} |"
        for entity in ENTITY_COLUMNS
    )
    fields = "\n".join(_fields(entity.name, entity.fields) for entity in ENTITY_COLUMNS)
    standard = "\n".join(
        f"| `{name}` | `{kind}` | {rule_of(kind)} | {', '.join(_readers(name, reads))} |"
        for name, kind in STANDARD_COLUMNS.items()
    )
    return "".join(
        [INTRO, every, "\n", ENTITIES, entities, "\n\n", fields, STANDARD, standard, "\n"]
    )


def _foundation(package: Package, settings_of: Mapping[str, Any]) -> tuple[Foundation, Any]:
    # A package without a base of its own runs on another's.
    base = PACKAGES[package.foundation_name]
    plain = settings_of[base.name] if base.name == "normalize" else SETTINGS[base.name]()
    return base.foundation(plain), plain


def _every_run(package: Package, settings_of: Mapping[str, Any]) -> list[str]:
    foundation, plain = _foundation(package, settings_of)
    needed = dict.fromkeys((*foundation.columns(plain), *foundation.reads))
    optional = {*foundation.may_lack, *package.options_of_columns}
    return [name for name in needed if name not in optional]


def _read(package: Package, own: Any) -> Iterator[tuple[str, str]]:
    """Every column that the package can read -> the option that asks for it, or nothing."""
    foundation = package.foundation(own) if package.stands_on is None else None
    names = [*foundation.columns(own), *foundation.reads] if foundation else []
    for member in package.enabled_models(own):
        names += member.event_columns_for(own) or ()
    for name in dict.fromkeys(names):
        yield name, package.options_of_columns.get(name, "")


def _askers(name: str, reads: Mapping[str, Mapping[str, str]]) -> str:
    found = {package: columns[name] for package, columns in reads.items() if name in columns}
    return ", ".join(f"{it} (`{option}`)" if option else it for it, option in found.items())


def _readers(name: str, reads: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [package for package, columns in reads.items() if name in columns]


def _fields(name: str, fields: Mapping[str, str]) -> str:
    rows = [f"| `{field}` | `{kind}` | {rule_of(kind)} |" for field, kind in fields.items()]
    head = ["| field | type | what it is |", "|---|---|---|"]
    return "\n".join([f"### {_short(name)}", "", f"`{name}`", "", *head, *rows, ""])


def _short(name: str) -> str:
    """An entity's name without its vendor: full names are alike where they begin."""
    return VENDOR.sub("", name).removesuffix("_1")


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
