"""The report's page: whole, by itself, and deaf to whatever it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from report.overviews import (
    HOSTILE,
    a_hostile_project,
    a_project_that_has_not_run,
    a_run,
    an_overview,
)
from report.values import at
from windrow.errors import UsageError
from windrow.operations.overview import Overview
from windrow.report.page import page_text, write_page
from windrow.state.runs import Outcome, RunRecord

_VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """A page as a browser takes it in: its elements, its text, and what is not as it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.unbalanced: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, attribute: str) -> list[str]:
        """Every value of an attribute."""
        return [value for _, own in self.elements if (value := own.get(attribute)) is not None]


def many_runs() -> Overview:
    return an_overview(*(a_run(number) for number in range(100)))


@cache
def written(project: Callable[[], Overview]) -> str:
    """The page of a project; it takes a second to draw."""
    return page_text(project())


PROJECTS: list[Callable[[], Overview]] = [many_runs, a_project_that_has_not_run, a_hostile_project]


@pytest.fixture(scope="module", params=PROJECTS, ids=lambda it: it.__name__)
def page(request: pytest.FixtureRequest) -> Page:
    return Page(written(request.param))


def test_a_page_is_well_formed(page: Page) -> None:
    assert (page.unbalanced, page.open) == ([], [])
    ids = page.all("id")
    assert len(ids) == len(set(ids))


def test_links_stay_in_the_page_and_lead_somewhere(page: Page) -> None:
    links = page.all("href")
    assert page.all("xlink:href") == page.all("target") == []
    assert len(links) > 3
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert {link[1:] for link in links if link.startswith("#")} <= set(page.all("id"))


def test_a_page_loads_nothing_and_runs_nothing(page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base"}
    assert page.all("src") == []
    assert [name for _, own in page.elements for name in own if name.startswith("on")] == []
    styles = " ".join(page.all("style")) + page.text
    assert not re.search(r"@import|url\((?!#)", styles)
    (policy,) = (own["content"] for _, own in page.elements if "http-equiv" in own)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_whatever_comes_from_outside_is_shown_as_text() -> None:
    text = written(a_hostile_project)
    assert "<script" not in text
    page = Page(text)
    # Project, package, problem, run, model, its error, table, column, rule, day.
    assert page.text.count(HOSTILE) > 20
    assert not [it for it in page.all("id") if re.search(r"[^\w.-]", it)]


def test_a_project_that_has_not_run_says_so() -> None:
    text = Page(written(a_project_that_has_not_run)).text
    assert "This package has not run yet" in text
    assert "page_views" in text


def test_a_page_of_a_hundred_runs_is_small_and_the_same_each_time() -> None:
    text = written(many_runs)
    assert len(text) < 400_000
    assert text == page_text(many_runs())


def test_pictures_are_in_the_pages_colours_and_have_words() -> None:
    page = Page(written(many_runs))
    pictures = [own for tag, own in page.elements if tag == "svg"]
    assert len(pictures) > 8
    assert all(own["role"] in ("img", "group") and own["aria-label"] for own in pictures)
    drawn = " ".join(page.all("style"))
    assert "var(--accent)" in drawn
    assert not re.search(r"#[0-9a-f]{6}", drawn)


def test_a_failed_run_is_seen_first() -> None:
    last = a_run(3, Outcome.REJECTED, error="Checks failed: page_views unique(page_view_id)")
    text = Page(page_text(an_overview(a_run(0), a_run(1), a_run(2), last))).text
    assert text.index("1 thing is wrong") < text.index("Checks failed") < text.index("Windows")


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    place.write_text("before")
    assert write_page(a_project_that_has_not_run(), place) == place
    assert place.read_text().rstrip().endswith("</html>")
    assert [*tmp_path.iterdir()] == [place]
    with pytest.raises(UsageError, match="is a folder"):
        write_page(a_project_that_has_not_run(), tmp_path)
    with pytest.raises(UsageError, match="There is no folder"):
        write_page(a_project_that_has_not_run(), tmp_path / "none" / "report.html")


def test_what_draws_is_loaded_only_for_a_page() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['jinja2'] = None; "
        "import windrow, windrow.cli.app, windrow.report.page; print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "fine\n"


@pytest.mark.parametrize(
    "run",
    [
        a_run(1, Outcome.UNDONE, models=(), counts={}, clock=None),
        a_run(1, lower_limit=at(2), upper_limit=at(2)),
        a_run(1, lower_limit=at(3), upper_limit=at(2), counts={}),
        a_run(1, Outcome.MAINTAINED, lower_limit=None, upper_limit=None, models=(), state=None),
    ],
    ids=["killed", "of no time", "inverted", "upkeep"],
)
def test_a_package_with_one_odd_run_has_a_page(run: RunRecord) -> None:
    page = Page(page_text(an_overview(run, positions={})))
    assert (page.unbalanced, page.open) == ([], [])
    assert run.run_id in page.text
