"""Write the reference pages from the declarations that make them true.

python tools/docs/build.py            write configuration.md, state.md, events-table.md, cli.md,
                                      python.md, a page per package, and the pictures
python tools/docs/build.py --check    change nothing; exit 1 if a page would change
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic.fields import FieldInfo

from windrow.columns.rules import column, rule_of
from windrow.config import ModelSettings, PackageSettings
from windrow.engine.bad_lines import BAD_LINES
from windrow.engine.bad_lines import KEY as BAD_LINES_KEY
from windrow.engine.destination import Destination
from windrow.engine.key_days import KEY_DAYS
from windrow.engine.quarantine import QUARANTINE_NOTES
from windrow.models.foundation import Foundation
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages import HOOKS as ALL_HOOKS
from windrow.packages import PACKAGES, SETTINGS
from windrow.packages.normalize.event_table import event_table
from windrow.packages.normalize.filtered_events import COLUMNS as FILTERED_COLUMNS
from windrow.packages.normalize.filtered_events import filtered_events
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.tables import (
    EVENT_COLUMNS,
    LATEST_COLUMNS,
    event_tables,
    users_table,
)
from windrow.packages.normalize.users import users
from windrow.packages.web.settings import ConversionEvent
from windrow.state.leases import Lease
from windrow.state.manifest import MANIFEST
from windrow.state.records import columns_of
from windrow.state.runs import RunRecord
from windrow.tables import Columns, TableName

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cli_page import cli_page
from events_page import events_page
from pictures import pictures
from python_page import python_page

DOCS = Path(__file__).resolve().parents[2] / "docs"

CONFIGURATION = """# Configuration

`windrow.yml` is found by walking up from the current folder, or given with `--project-dir`.
Unknown keys are errors that name the key, its path and the nearest known one. `${VAR}` and
`${VAR:-default}` are taken from the environment. `windrow init` writes a commented file, and a JSON
Schema [for your editor](neighbours.md#editors). A key stands once. Times and dates are from
1900-01-01 to 2999-12-31.

Options may be written with the prefix `snowplow__` of the SQL packages. What each of theirs is
here: [coming from the SQL packages](coming-from-sql-packages.md#options).
`--vars '{"web": {"backfill_limit_days": 2}}'` overrides options for one run.

## Targets

| key | meaning |
|---|---|
| `targets.<name>.warehouse` | folder or prefix; tables lie at `<warehouse>/<schema>/<table>` |
| `targets.<name>.catalog` | a Spark catalog instead: `<catalog>.<schema>.<table>` |
| `targets.<name>.format` | `delta` or `iceberg` |
| `targets.<name>.spark.master` | `local[*]`, `spark://…`, `yarn`, `k8s://…` |
| `targets.<name>.spark.remote` | a Spark Connect server, `sc://host:15002`, instead of a master |
| `targets.<name>.spark.conf` | settings of the Spark session |
| `targets.<name>.spark.jars` | local jar files, for machines without a network |
| `targets.<name>.schemas` | schemas of its own, for a [shadow run](comparing.md) |
| `schemas.derived`, `.scratch`, `.manifest` | names of the three schemas |
| `events.path` or `events.table` | where the events are |
| `events.format` | `parquet`, `delta`, `iceberg`, `json`, `csv`, [`enriched`](enriched-events.md) |
| `events.options` | options for Spark's reader |
| `events.read_once` | `true`: packages of one command read what they all need once |
| `events.new_by` | `collector`, `commit` or `load`: how [late data](late-data.md) is found |

## Secrets

Take them from the environment: `spark.hadoop.fs.s3a.secret.key: ${S3_SECRET}`. What stands under a
key, or comes from a variable, whose name has one of these in it is shown as `***` wherever windrow
prints or logs it: password, passwd, passphrase, pwd, secret, token, key, credential, authorization,
bearer, or sas or sig as a word. So are logins in addresses (`https://name:password@host`). Spark's
settings are handed to it in a file that only you can read and that is gone once Spark has started;
none is on a command line, where every user of the machine could see it. (Java's own options,
`spark.driver.extraJavaOptions`, are: Java takes them no other way.)
"""

WITHOUT_EFFECT = """## Options without effect

These options of the SQL packages are accepted for compatibility, without effect. `windrow doctor`
lists those that a project has.

| package | options |
|---|---|"""

HOOKS = """## Hooks

A function in the project's `hooks.py` replaces a piece of ours, by name. It gets our own answer as
`default`, so that it can wrap it:

```python
from pyspark.sql import Column, functions as F


def filter_bots(default: Column) -> Column:  # true = keep
    return default & ~F.col("useragent").contains("AcmeProbe")
```

| hook | parameters | decides |
|---|---|---|
"""

PACKAGE_INTRO = """# The {name} package

The package's tables: what a row is, key, layout, and every column with its type and its rule. The
rules are also the columns' comments in the tables. Names are those of the SQL package, so existing
queries keep working. Where windrow's values differ from it by default:
[what `compat: true` changes](compat.md).
What windrow remembers between runs: [state.md](state.md). What a run costs:
[how a run works](how-a-run-works.md).

"""

INTROS = {
    "normalize": """# The normalize package

A table per event type, with the fields of its payload as columns; a table that says which events
went where; a table of users. Which there are, and which columns they have, your configuration says:
[how to write it](normalizing.md). Below are the kinds of tables there are.

"""
}
"""Package -> what its page begins with, where it is not PACKAGE_INTRO."""

STATE_INTRO = """# What windrow remembers

The tables of the manifest schema. Runs read and write them; change nothing there by hand. The first
six are there once for every package: notes on the quarantine once a session is in it, bad lines
once there are any, the days of keys after two weeks of events.

"""

OPTIONAL_COLUMNS: dict[str, dict[str, object]] = {
    "web": {
        "list_event_counts": True,
        "total_all_conversions": True,
        "conversion_events": (
            # The name stands for any: it is no valid one.
            ConversionEvent.model_construct(
                name="<name>", condition="true", value="1", default_value=0, list_events=True
            ),
        ),
    },
    "ecommerce": {"count_distinct_products_viewed": True},
    # The package does not run without a player; two of them make no other tables than one.
    "media_player": {"enable_youtube": True, "enable_whatwg_media": True},
}
"""Package -> options that add columns to its tables, beside the `enable_…` ones."""


@dataclass(frozen=True)
class Table:
    """A table as a reference page shows it."""

    name: str
    description: str
    grain: str
    key: tuple[str, ...]
    columns: Columns
    date: str | None = None
    partition: Sequence[str] = ()
    is_rebuilt: bool = False
    is_state: bool = False
    options: Sequence[str] = ()
    """The options without which the table is not made."""


def configuration() -> str:
    """Targets, options and hooks."""
    parts = [
        CONFIGURATION,
        "## Options of every package\n",
        _options(ModelSettings.model_fields),
        "\n## Options of every package but media_player\n",
        "media_player runs on the base of web, so that these options of web hold for it too.\n",
        _options(_beyond(PackageSettings, ModelSettings)),
    ]
    for name, settings in SETTINGS.items():
        own = _beyond(settings, PackageSettings)
        parts += [f"\n## Options of the {name} package\n", _options(own, settings.written_as)]
    return "\n".join([*parts, "", WITHOUT_EFFECT, _without_effect(), "", HOOKS + _hooks(), ""])


def _beyond(settings: type[ModelSettings], known: type[ModelSettings]) -> dict[str, FieldInfo]:
    """The options that the one has and the other has not."""
    return {
        option: field
        for option, field in settings.model_fields.items()
        if option not in known.model_fields
    }


def _options(fields: dict[str, FieldInfo], written_as: Mapping[str, str] | None = None) -> str:
    others = {
        name: f" or `{other}`" for name, other in (written_as or {}).items() if other not in fields
    }
    rows = [
        f"| `{name}`{others.get(name, '')} | {_default(field.default)} | {field.description} |"
        for name, field in fields.items()
    ]
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{', '.join(map(str, value))}`" if value else ""
    return f"`{value}`" if isinstance(value, int | float | str | date) and value != "" else ""


def _without_effect() -> str:
    every = ModelSettings.ignored_options
    rows = {"every": every} | {
        name: [option for option in settings.ignored_options if option not in every]
        for name, settings in SETTINGS.items()
    }
    return "\n".join(f"| {name} | {_code(options)} |" for name, options in rows.items() if options)


def _hooks() -> str:
    shown = {hook.name: hook for hook in ALL_HOOKS if hook.table is None}
    return "\n".join(
        f"| `{name}` | `{', '.join(hook.parameters)}` | {hook.decides} |"
        for name, hook in sorted(shown.items())
    )


def tables_of(package: Package) -> list[Table]:
    """Every table that the package can make, with every column that an option can add."""
    if package.name == "normalize":
        return normalize_tables()
    everything = _settings(package, *_enabling(package))
    return [
        _described(package, member, everything)
        for member in package.enabled_models(everything)
        if member.kind != "this_run"
    ]


def _everything(package: Package) -> ModelSettings:
    """The package's settings with every option on that adds tables or columns."""
    if package.name == "normalize":
        return _some_normalized()
    return _settings(package, *_enabling(package))


def _some_normalized() -> NormalizeSettings:
    entry = {"event_names": ["<event_name>"], "event_columns": []}
    return NormalizeSettings.model_validate({"events": [entry], "users": {"user_columns": []}})


def normalize_tables() -> list[Table]:
    """The kinds of tables that normalize makes: which there are, a project's configuration says."""
    settings = _some_normalized()
    (of_events,) = event_tables(settings)
    of_users = users_table(settings)
    assert of_users is not None
    own = {"<event column>": column("as stored", "Column of the event, as `event_columns` lists.")}
    fields = {
        "<alias>_<field>": column(
            "as stored", "Field of a self-describing event, or of the first context of a kind."
        )
    }
    user_id = {of_users.key: column("as stored", "Id of the user, under the alias given.")}
    of_user = {
        "<user column>": column("as stored", "Column of the latest event, as `user_columns` lists.")
    }
    kinds = {
        "<prefix>_<event name>_<version>": (
            event_table(of_events),
            {**EVENT_COLUMNS, **own, **fields},
        ),
        "<filtered_events_table_name>": (
            filtered_events("filtered", [of_events]),
            FILTERED_COLUMNS,
        ),
        "<users_table_name>": (
            users(of_users),
            {
                **user_id,
                **LATEST_COLUMNS,
                **of_user,
                "<field>": fields["<alias>_<field>"],
            },
        ),
    }
    return [
        Table(
            name,
            member.description,
            member.grain,
            member.key,
            columns,
            date=member.date,
            partition=(f"{member.date}_date",),
        )
        for name, (member, columns) in kinds.items()
    ]


def state_tables() -> list[Table]:
    """The tables in which windrow remembers."""
    return [
        Table(
            "snowplow_<package>_incremental_manifest",
            "How far every model has come.",
            "one row per model",
            ("model",),
            MANIFEST,
        ),
        Table(
            "snowplow_<package>_base_sessions_lifecycle_manifest",
            "Every session's start and end.",
            "one row per session",
            ("session_id",),
            Foundation().lifecycle,
            date="start_tstamp",
            partition=("start_tstamp_date",),
        ),
        Table(
            "snowplow_<package>_base_quarantined_sessions",
            "Sessions that take in no more events.",
            "one row per quarantined session",
            ("session_id",),
            Foundation().quarantine,
        ),
        Table(
            "snowplow_<package>_quarantine_notes",
            "Why sessions are in quarantine, since when and by whom.",
            "one row per quarantined session",
            ("session_id",),
            QUARANTINE_NOTES,
        ),
        Table(
            "snowplow_<package>_bad_lines",
            "Lines that are no events, of `events.format: enriched`.",
            "one row per file and line",
            BAD_LINES_KEY,
            BAD_LINES,
        ),
        Table(
            "snowplow_<package>_key_days",
            "On which of its old days a table may hold rows of a key.",
            "one row per table, key and day",
            ("of", "day", "key_hash"),
            KEY_DAYS,
            partition=("of",),
        ),
        Table(
            "windrow_runs",
            "The run ledger: how every run ended.",
            "one row per finished run",
            ("run_id",),
            columns_of(RunRecord),
            partition=("package",),
        ),
        Table(
            "windrow_leases",
            "Who holds each package, and what its run intends.",
            "one row per package",
            ("package",),
            columns_of(Lease),
        ),
    ]


def _enabling(package: Package) -> list[str]:
    fields = SETTINGS[package.name].model_fields
    return [name for name in fields if name.startswith("enable_")]


def _settings(package: Package, *options: str) -> ModelSettings:
    """The package's settings with the named options on, and all that adds columns."""
    extra = OPTIONAL_COLUMNS.get(package.name, {})
    return SETTINGS[package.name].model_validate({**dict.fromkeys(options, True), **extra})


def _described(package: Package, member: Model, settings: ModelSettings) -> Table:
    columns = member.columns_for(settings) or {}
    # The schema does not matter for the layout.
    destination = Destination(TableName("", member.full_name), member.key, member.date)
    return Table(
        member.full_name,
        member.description,
        member.grain,
        member.key,
        columns,
        date=member.date,
        partition=destination.partition(columns),
        is_rebuilt=member.kind == "rebuilt",
        is_state=member.is_state,
        options=_options_of(package, member),
    )


def _options_of(package: Package, member: Model) -> list[str]:
    """The options that, each by itself, make the model one of the package's."""

    def has_it(*options: str) -> bool:
        models = package.enabled_models(_settings(package, *options))
        return any(other.name == member.name for other in models)

    return [] if has_it() else [option for option in _enabling(package) if has_it(option)]


def page(intro: str, tables: Iterable[Table]) -> str:
    """A page of tables."""
    return "\n".join([intro, *(_section(table) for table in tables)])


def _section(table: Table) -> str:
    facts = {
        "Grain": table.grain,
        "Key": _code(table.key),
        "Date column": _code([table.date]) if table.date else "",
        "Layout": f"partitioned by {_code(table.partition)}" if table.partition else "",
        "Made": "anew in every run" if table.is_rebuilt else "",
        "Lies": "with the manifests" if table.is_state else "",
        "Only with": _code(table.options),
    }
    rows = [
        f"| `{name}` | `{type_}` | {rule_of(type_).replace('|', chr(92) + '|')} |"
        for name, type_ in table.columns.items()
    ]
    return "\n".join(
        [
            f"## {_code([table.name])}\n",
            f"{table.description}\n",
            *(f"- {name}: {text}" for name, text in facts.items() if text),
            "",
            "| column | type | rule |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def pages() -> dict[Path, str]:
    """Every generated page and picture, by its file."""
    everything = {name: _everything(package) for name, package in PACKAGES.items()}
    return {
        **{DOCS / "images" / name: svg for name, svg in pictures().items()},
        DOCS / "cli.md": cli_page(),
        DOCS / "events-table.md": events_page(everything),
        DOCS / "python.md": python_page(),
        DOCS / "configuration.md": configuration(),
        DOCS / "state.md": page(STATE_INTRO, state_tables()),
        **{
            DOCS / f"{name}.md": page(
                INTROS.get(name, PACKAGE_INTRO.format(name=name)), tables_of(package)
            )
            for name, package in PACKAGES.items()
        },
    }


def main() -> int:
    """Write the pages, or tell whether they are up to date."""
    texts = pages()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        sys.stderr.writelines(f"{path} is stale: run tools/docs/build.py\n" for path in stale)
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
