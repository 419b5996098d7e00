"""What `windrow test` found, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from windrow.engine.checking import CheckReport
from windrow.report.check_lines import check_lines
from windrow.report.documents import Document, check_document
from windrow.report.text import title


def reports_document(reports: Iterable[CheckReport]) -> Document:
    """What `windrow test --json` prints."""
    return {
        "packages": [
            {
                "package": report.package,
                "target": report.target,
                "run_id": report.run_id,
                "has_failed": report.has_failed,
                "checks": [check_document(result) for result in report.results],
            }
            for report in reports
        ]
    }


def reports_text(reports: Iterable[CheckReport]) -> RenderableType:
    """The failing checks of each package, and how many passed."""
    return Group(*(_report(report) for report in reports))


def _report(report: CheckReport) -> RenderableType:
    heading = Text(title(report.package, report.target), "bold")
    if report.run_id is None:
        return Group(heading, Text("  Nothing to check: there has been no run yet."))
    heading.append(f", run {report.run_id}")
    lines = (
        Padding(Text(line), (0, 0, 0, 2), expand=False) for line in check_lines(report.results)
    )
    return Group(heading, *lines)
