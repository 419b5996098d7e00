"""docs/configuration.md: targets, options and hooks, from the settings and hooks themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pydantic.fields import FieldInfo
from table_sections import code

from windrow.config import ModelSettings, PackageSettings
from windrow.packages import HOOKS as ALL_HOOKS
from windrow.packages import SETTINGS

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


def configuration_page() -> str:
    """The page."""
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
    return "\n".join(f"| {name} | {code(options)} |" for name, options in rows.items() if options)


def _hooks() -> str:
    shown = {hook.name: hook for hook in ALL_HOOKS if hook.table is None}
    return "\n".join(
        f"| `{name}` | `{', '.join(hook.parameters)}` | {hook.decides} |"
        for name, hook in sorted(shown.items())
    )
