"""A figure as SVG inside a page: in the page's colours, light or dark, with words for its marks.

matplotlib writes colours as numbers. Ours are numbers that stand for roles, and become variables of
the page's style sheet; so one drawing serves light and dark. Text stays text.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# That it looks through the machine's fonts, as it does the first time, is nobody's concern here.
logging.getLogger("matplotlib").addHandler(logging.NullHandler())

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")

ROLES = (
    *("ink", "soft", "line", "paper", "accent", "fine", "note", "warn", "bad"),
    *("series-1", "series-2", "series-3"),
)
_CODES = {role: f"#0101{number:02x}" for number, role in enumerate(ROLES, start=1)}
_ROLES_BY_CODE = {code: role for role, code in _CODES.items()}

_SETTINGS = {
    "svg.fonttype": "none",
    # A page title with dollars in it is no formula.
    "text.parse_math": False,
    "date.converter": "concise",
    "timezone": "UTC",
    "font.size": 11,
    "axes.linewidth": 0.8,
    "path.simplify": False,
}


def colour(role: str) -> str:
    """What stands for one of the page's colours, for matplotlib."""
    return _CODES[role]


def figure(width: int, height: int) -> Figure:
    """An empty figure of so many pixels, clear of everything."""
    made = Figure(figsize=(width / 72, height / 72))
    made.patch.set_visible(False)
    return made


def plain_axes(drawn: Figure, *, left: int, right: int = 8, top: int = 8, bottom: int = 22) -> Axes:
    """Axes with so many pixels around them, a line below and faint lines across."""
    width, height = drawn.get_size_inches() * 72
    axes = drawn.add_axes(
        (
            left / width,
            bottom / height,
            (width - left - right) / width,
            (height - top - bottom) / height,
        )
    )
    axes.patch.set_visible(False)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(colour("line"))
    axes.tick_params(length=0, colors=colour("soft"), labelsize=11, pad=4)
    axes.tick_params(axis="x", pad=6)
    axes.yaxis.grid(True, color=colour("line"), linewidth=0.6)
    axes.set_axisbelow(True)
    return axes


@contextmanager
def drawing() -> Iterator[None]:
    """How matplotlib draws for us, and for nobody else in the process."""
    with matplotlib.rc_context(_SETTINGS):  # type: ignore[arg-type]  # keys are literals there
        yield


def as_svg(drawn: Figure, name: str, label: str, tips: Mapping[str, str] | None = None) -> Markup:
    """The figure for a page. `label` tells what it shows to those who cannot see it.

    `name` is the figure's own in the page. `tips`: the gid of a mark -> what a pointer on it tells.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        drawn.savefig(buffer, format="svg", metadata=metadata)
    root = ElementTree.fromstring(buffer.getvalue())
    _drop(root, "metadata", "style")
    _add_tips(root, tips or {})
    _tidy_ids(root, name)
    _tidy_links(root, name)
    width, height = (drawn.get_size_inches() * 72).round()
    for attribute in ("version", "width", "height"):
        root.attrib.pop(attribute, None)
    root.set("width", f"{width:.0f}")
    root.set("height", f"{height:.0f}")
    # What is inside an image cannot be reached with the keyboard.
    root.set("role", "img" if root.find(f".//{{{_SVG}}}a") is None else "group")
    root.set("aria-label", label)
    for element in root.iter():
        # Inside HTML, an <svg> needs no namespace.
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
    text = ElementTree.tostring(root, encoding="unicode")
    # Numbers and commands of paths: a tenth of a pixel is more than anyone sees.
    text = re.sub(r'(?<= d=")[^"]*', lambda found: _rounded(found[0]), text)
    return Markup(re.sub(r"#0101[0-9a-f]{2}", _variable, text))


def _drop(root: ElementTree.Element, *tags: str) -> None:
    """Take out what a page does not need; a style of one figure would hold for all of the page."""
    unwanted = [f"{{{_SVG}}}{tag}" for tag in tags]
    for parent in list(root.iter()):
        for child in [it for it in parent if it.tag in unwanted]:
            parent.remove(child)


def _rounded(path: str) -> str:
    shorter = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}", path)
    return " ".join(shorter.split())


def _variable(found: re.Match[str]) -> str:
    return f"var(--{_ROLES_BY_CODE[found[0]]})"


def _add_tips(root: ElementTree.Element, tips: Mapping[str, str]) -> None:
    for element in root.iter():
        tip = tips.get(element.get("id", ""))
        if tip is not None:
            title = ElementTree.Element(f"{{{_SVG}}}title")
            title.text = tip
            element.insert(0, title)
            for link in element.iter(f"{{{_SVG}}}a"):
                link.set("aria-label", tip)


def _tidy_ids(root: ElementTree.Element, name: str) -> None:
    """Keep the ids that something refers to, as the figure's own: a page has many figures."""
    used = {it.get(_HREF, "")[1:] for it in root.iter(f"{{{_SVG}}}use")}
    used |= {
        found
        for element in root.iter()
        for value in element.attrib.values()
        for found in _REFERENCE.findall(value)
    }
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{name}-{own}")
        for key, value in element.attrib.items():
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))


def _tidy_links(root: ElementTree.Element, name: str) -> None:
    """Links as SVG has them today; ours stay in the page, and matplotlib's would leave it."""
    for element in root.iter():
        place = element.attrib.pop(_HREF, None)
        element.attrib.pop("target", None)
        if place is not None:
            is_use = element.tag == f"{{{_SVG}}}use"
            element.set("href", f"#{name}-{place[1:]}" if is_use else place)
