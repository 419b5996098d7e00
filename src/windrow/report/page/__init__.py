"""The report: one HTML page that tells how a project is, by itself and offline.

    from windrow.report.page import write_page

    write_page(project.report(), "report.html")

What draws and writes it is loaded when a page is written, not before.
"""

from __future__ import annotations

from pathlib import Path

from windrow.operations.overview import Overview

FILE_NAME = "report.html"
"""What the page is called in the project's folder, unless one says otherwise."""


def page_text(overview: Overview) -> str:
    """The page."""
    from windrow.report.page.html import page

    return page(overview)


def write_page(overview: Overview, path: str | Path) -> Path:
    """Write the page to a file, whole or not at all; gives the file's full path."""
    from windrow.report.page.files import write_whole

    return write_whole(Path(path), page_text(overview))
