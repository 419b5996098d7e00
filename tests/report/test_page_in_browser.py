"""The report in a real browser: opened, clicked through, by day, by night, and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import CHROMIUM, WHY_NOT, Browser, browser
from report.overviews import HOSTILE, a_hostile_project, a_run, an_overview
from windrow.report.page import write_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as it:
        yield it


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    overview = an_overview(*(a_run(number) for number in range(30)))
    return write_page(overview, tmp_path_factory.mktemp("page") / "report.html")


def test_the_page_opens_by_day_by_night_and_on_a_phone(
    opened: Browser, page: Path, tmp_path: Path
) -> None:
    pictures = {}
    for name, width, dark in (("light", 1200, False), ("dark", 1200, True), ("phone", 390, False)):
        opened.show(width=width, dark=dark)
        opened.open(page)
        paper, ink = opened.ask(
            "(it => [it.backgroundColor, it.color])(getComputedStyle(document.body))"
        )
        assert (_lightness(paper) < _lightness(ink)) is dark
        assert opened.ask("document.title") == "All is well: shop on prod"
        # Tables and wide pictures scroll in their own boxes, the page does not.
        assert opened.ask("document.documentElement.scrollWidth") == width
        opened.picture(tmp_path / f"{name}.png")
        pictures[name] = (tmp_path / f"{name}.png").read_bytes()
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    assert len(set(pictures.values())) == 3
    assert opened.complaints == []


def test_what_can_be_clicked_leads_there(opened: Browser, page: Path) -> None:
    opened.show(width=1200)
    opened.open(page)
    opened.click("nav a[href='#web-reference']")
    assert opened.ask("location.hash") == "#web-reference"

    is_open = "document.getElementById('table-web-page_views').checkVisibility()"
    assert opened.ask(is_open) is False
    # A box of the lineage opens the table that it stands for; so does a model's name.
    opened.click("#web-lineage ~ .box svg a")
    assert opened.ask("location.hash") == "#table-web-page_views"
    assert opened.ask(is_open) is True
    opened.open(page)
    opened.click("#web-models ~ .box a[href='#table-web-page_views']")
    assert opened.ask(is_open) is True

    opened.click("#web-data ~ details summary")
    assert opened.ask("document.querySelector('#web-data ~ details').open") is True
    assert opened.complaints == []


def test_an_attack_is_shown_and_does_nothing(opened: Browser, tmp_path: Path) -> None:
    opened.open(write_page(a_hostile_project(), tmp_path / "report.html"))
    assert HOSTILE in opened.ask("document.body.innerText")
    assert opened.ask("document.querySelectorAll('script, img').length") == 0
    assert opened.complaints == []


def _lightness(colour: str) -> int:
    return sum(int(part) for part in colour.strip("rgb()").split(",")[:3])
