"""Write the reference pages from the declarations that make them true.

python tools/docs/build.py            write docs/configuration.md and docs/web.md
python tools/docs/build.py --check    change nothing; exit 1 if a page would change
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from pydantic.fields import FieldInfo

from windrow.base import Base
from windrow.config import PackageSettings, WebSettings
from windrow.hooks import SIGNATURES
from windrow.manifest import MANIFEST
from windrow.packages.web import WEB
from windrow.tables import Columns

DOCS = Path(__file__).resolve().parents[2] / "docs"

CONFIGURATION = """# Configuration

`windrow.yml` is found by walking up from the current folder, or given with `--project-dir`.
Unknown keys are errors that name the key, its path and the nearest known one. `${VAR}` and
`${VAR:-default}` are taken from the environment. `windrow init` writes a commented file, and a JSON
Schema for your editor.

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
| `schemas.derived`, `.scratch`, `.manifest` | names of the three schemas |
| `events.path` or `events.table` | where the events are |
| `events.format`, `events.options` | how to read them |
"""

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

WEB_INTRO = """# The web package

Tables of the package, with their keys and columns. Names are those of the SQL package, so existing
queries keep working. Where windrow's values differ from it by default:
[what `compat: true` changes](coming-from-sql-packages.md#what-compat-true-changes).
What the consent and vitals tables cost per run:
[how a run works](how-a-run-works.md#what-the-consent-and-vitals-tables-cost).

"""


def configuration() -> str:
    """Targets, options and hooks."""
    own = {
        name: f
        for name, f in WebSettings.model_fields.items()
        if name not in PackageSettings.model_fields
    }
    return "\n".join(
        [
            CONFIGURATION,
            "## Options of every package\n",
            _options(PackageSettings.model_fields),
            "\n## Options of the web package\n",
            _options(own),
            "",
            HOOKS + _hooks(),
            "",
        ]
    )


def _options(fields: dict[str, FieldInfo]) -> str:
    rows = [
        f"| `{name}` | {_default(field.default)} | {field.description} |"
        for name, field in fields.items()
    ]
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if isinstance(value, int | str | date) and value != "" else ""


def _hooks() -> str:
    return "\n".join(
        f"| `{name}` | `{', '.join(SIGNATURES.get(name, ('default',)))}` | {text} |"
        for name, text in sorted(WEB.hooks.items())
    )


def web() -> str:
    """Every table of the web package."""
    settings = WebSettings(enable_consent=True, enable_cwv=True)
    parts = [WEB_INTRO]
    for member in WEB.enabled_models(settings):
        columns = member.columns_for(settings)
        assert columns is not None
        parts.append(_table(member.full_name, member.description, member.key, columns))
    base: tuple[tuple[str, str, Columns, str], ...] = (
        ("incremental_manifest", "How far every model has come.", MANIFEST, "model"),
        (
            "base_sessions_lifecycle_manifest",
            "Every session's start and end.",
            Base().lifecycle,
            "session_id",
        ),
        (
            "base_quarantined_sessions",
            "Sessions that take in no more events.",
            Base().quarantine,
            "session_id",
        ),
    )
    for name, text, columns, key in base:
        parts.append(_table(WEB.prefix + name, text, (key,), columns))
    return "\n".join(parts)


def _table(name: str, text: str, key: tuple[str, ...], columns: Columns) -> str:
    rows = [
        f"| {number} | `{column}` | {kind} |"
        for number, (column, kind) in enumerate(columns.items(), 1)
    ]
    head = [f"## {name}\n", f"{text} Key: {', '.join(f'`{part}`' for part in key)}.\n"]
    return "\n".join([*head, "| # | column | type |", "|---|---|---|", *rows, ""])


def main() -> int:
    """Write the pages, or tell whether they are up to date."""
    pages = {DOCS / "configuration.md": configuration(), DOCS / "web.md": web()}
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        sys.stderr.writelines(f"{path} is stale: run tools/docs/build.py\n" for path in stale)
        return 1 if stale else 0
    for path in stale:
        path.write_text(pages[path])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
