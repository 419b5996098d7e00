"""Where a path written in windrow.yml lies."""

from __future__ import annotations

import os
import re
from pathlib import Path

# s3://…, abfss://…, dbfs:/…; also C:\…, which is just as absolute.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def resolved(path: str, project_dir: Path) -> str:
    """The path as given if it is absolute or a URL, otherwise seen from the project's folder.

    >>> resolved("./warehouse", Path("/shop"))
    '/shop/warehouse'
    """
    if _SCHEME.match(path):
        return path
    if path.startswith("~/"):
        path = os.path.expanduser(path)
    return os.path.normpath(project_dir / path)
