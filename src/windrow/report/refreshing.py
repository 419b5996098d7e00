"""Manifests that were made anew, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from windrow.models.base_names import INCREMENTAL_MANIFEST, LIFECYCLE_MANIFEST
from windrow.operations.refresh_manifests import RefreshedManifest, RefreshedManifests
from windrow.report import words
from windrow.report.documents import Document
from windrow.report.text import indent, title


def refreshed_text(it: RefreshedManifests) -> RenderableType:
    """What became of the manifests."""
    return Group(Text(title(it.package, it.target), "bold"), *indent(_sentences(it)))


def _sentences(it: RefreshedManifests) -> Iterator[str]:
    for run_id in it.undone:
        yield f"Run {run_id} had been killed half-way and was undone first."
    is_anew = any(made.name == INCREMENTAL_MANIFEST for made in it.manifests)
    for made in it.manifests:
        yield f"{made.table}: {_what(made, it, is_anew=is_anew)}"
    yield f"`windrow rollback {it.run_id}` takes it back."


def _what(made: RefreshedManifest, it: RefreshedManifests, *, is_anew: bool) -> str:
    if made.name == INCREMENTAL_MANIFEST:
        since = f"{it.start_date:%Y-%m-%d}"
        return f"empty. The next run begins at {since}; rows stay until they are replaced."
    sessions = f"{words.count(made.rows, 'session')}, {made.rows_before:,} before."
    if made.name == LIFECYCLE_MANIFEST:
        return "empty. The next runs fill it." if is_anew else f"{sessions} Made from the events."
    return (
        f"{sessions} Who was put in by hand is free. Events that were left out meanwhile come in "
        "with the session's next one, or with `windrow rerun --from`."
    )


def refreshed_document(it: RefreshedManifests) -> Document:
    """What `windrow run --refresh-manifests --select MANIFEST --json` prints."""
    return {
        "package": it.package,
        "target": it.target,
        "run_id": it.run_id,
        "undone": list(it.undone),
        "manifests": [
            {
                "manifest": made.name,
                "table": str(made.table),
                "rows_before": made.rows_before,
                "rows": made.rows,
            }
            for made in it.manifests
        ],
    }
