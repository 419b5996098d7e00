"""Names as the page writes them: short ones of models, and anchors that links lead to."""

from __future__ import annotations

import re

from windrow.operations.overview import PackageOverview


def anchor(*parts: str) -> str:
    """An id of the page's own, whatever characters the names have."""
    return "-".join(re.sub(r"[^A-Za-z0-9_]+", "-", part).strip("-") for part in parts)


def short_names(package: PackageOverview) -> dict[str, str]:
    """Name of the table -> name of the model."""
    return {it.model.full_name: it.model.name for it in package.tables}
