"""Whether runs are told to OpenLineage: when the environment says where to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windrow.errors import UsageError
from windrow.project import Project


def is_configured(environ: Mapping[str, str]) -> bool:
    """True when the library would find in the environment where to send events."""
    if environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    named = environ.get("OPENLINEAGE_URL") or environ.get("OPENLINEAGE_CONFIG")
    return bool(named) or any(name.startswith("OPENLINEAGE__TRANSPORT") for name in environ)


def with_lineage(
    project: Project, environ: Mapping[str, str], announce: Callable[[str], None]
) -> Project:
    """The project with its runs told to OpenLineage, if that is asked for and can be done."""
    if not is_configured(environ):
        return project
    try:
        from windrow.neighbours.openlineage import OpenLineage
    except UsageError as error:
        announce(f"Runs are not told to OpenLineage. {error}")
        return project
    return project.watched_by(OpenLineage(project))
