"""The models as a picture: who reads whom, and how far each has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from windrow.models.model import Model
from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.drawing import as_svg, colour, drawing, figure
from windrow.report.page.names import anchor

EVENTS = "events"
_BOX = (196, 40)
_STEP = (252, 54)
_MARGIN = 10
_LONGEST_NAME = 26


@dataclass(frozen=True)
class Node:
    """A box: a model or the events, in a column and a row, and whose boxes lie before it."""

    name: str
    column: int
    row: float
    reads: tuple[str, ...]


def read_by(member: Model, known: Sequence[str]) -> tuple[str, ...]:
    """What a model reads: other models, or the events where it reads none."""
    parents = tuple(name for name in known if name in member.parents)
    return parents or (EVENTS,)


def arranged(models: Sequence[Model]) -> list[Node]:
    """Each model in the column after those it reads, near them; the models come in order."""
    known = [member.name for member in models]
    column = {EVENTS: 0}
    reads = {member.name: read_by(member, known) for member in models}
    for member in models:
        column[member.name] = 1 + max(column[name] for name in reads[member.name])
    row = {EVENTS: 0.0}
    for number in range(1, max(column.values()) + 1):
        here = [name for name in known if column[name] == number]
        wanted = {name: sum(row[it] for it in reads[name]) / len(reads[name]) for name in here}
        here.sort(key=lambda name: wanted[name])
        row |= {name: float(place) for place, name in enumerate(here)}
    row[EVENTS] = 0.0
    return [
        Node(EVENTS, 0, row[EVENTS], ()),
        *(Node(name, column[name], row[name], reads[name]) for name in known),
    ]


def how_far(member: Model, positions: Mapping[str, datetime]) -> datetime | None:
    """Where the model stands; None where the manifest does not say."""
    return positions.get(member.full_name)


def lineage_picture(package: PackageOverview) -> Markup | None:
    """The models of a package; a box leads to what the reference says of its table."""
    models = {it.model.name: it.model for it in package.tables}
    if not models:
        return None
    nodes = arranged(list(models.values()))
    positions = package.status.positions
    ahead = max(positions.values(), default=None)
    width = (max(it.column for it in nodes) * _STEP[0]) + _BOX[0] + 2 * _MARGIN
    height = round(max(it.row for it in nodes) * _STEP[1]) + _BOX[1] + 2 * _MARGIN
    with drawing():
        drawn = figure(width, height)
        axes = drawn.add_axes((0, 0, 1, 1))
        axes.axis("off")
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        places = {it.name: _corner(it) for it in nodes}
        for node in nodes:
            for name in node.reads:
                axes.add_patch(_edge(places[name], places[node.name]))
        tips: dict[str, str] = {}
        for index, node in enumerate(nodes):
            member = models.get(node.name)
            at = None if member is None else how_far(member, positions)
            grade = _grade(member, at, ahead)
            x, y = places[node.name]
            box = FancyBboxPatch(
                (x, y),
                *_BOX,
                boxstyle="round,pad=0,rounding_size=6",
                facecolor=colour("paper"),
                edgecolor=colour(grade),
                linewidth=1.4,
                linestyle="--" if member is not None and member.kind == "this_run" else "-",
            )
            box.set_gid(f"node{index}")
            if member is not None:
                box.set_url(f"#{anchor('table', package.status.package, node.name)}")
            tips[f"node{index}"] = _tip(node, member, at)
            axes.add_patch(box)
            axes.text(x + 10, y + 17, _cut(node.name), color=colour("ink"), size=12, weight="bold")
            axes.text(x + 10, y + 32, _under(member, at, ahead), color=colour("soft"), size=11)
        label = (
            f"Lineage of {words.count(len(models), 'model')} of {package.status.package}; the "
            "tables below tell what each reads."
        )
        return as_svg(drawn, anchor(package.status.package, "lineage"), label, tips)


def _corner(node: Node) -> tuple[float, float]:
    return _MARGIN + node.column * _STEP[0], _MARGIN + node.row * _STEP[1]


def _edge(origin: tuple[float, float], end: tuple[float, float]) -> PathPatch:
    """A soft line from the right of one box to the left of another."""
    start = (origin[0] + _BOX[0], origin[1] + _BOX[1] / 2)
    stop = (end[0], end[1] + _BOX[1] / 2)
    bend = max(28.0, (stop[0] - start[0]) / 2)
    points = [start, (start[0] + bend, start[1]), (stop[0] - bend, stop[1]), stop]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    return PathPatch(path, facecolor="none", edgecolor=colour("soft"), linewidth=1, alpha=0.55)


def _grade(member: Model | None, at: datetime | None, ahead: datetime | None) -> str:
    if member is None or not member.tracked_names or ahead is None:
        return "line"
    return "fine" if at == ahead else "warn"


def _under(member: Model | None, at: datetime | None, ahead: datetime | None) -> str:
    if member is None:
        return "the source"
    if member.kind == "this_run":
        return "computed, not stored"
    if not member.tracked_names:
        return "made anew in every run"
    if at is None:
        return "has consumed nothing yet"
    if ahead is not None and at < ahead:
        return f"{words.span(ahead - at)} behind the others"
    return words.minute(at)


def _tip(node: Node, member: Model | None, at: datetime | None) -> str:
    if member is None:
        return "The events table"
    came = f"; came to {words.instant(at)}" if at is not None else ""
    return f"{member.full_name} reads {', '.join(node.reads)}{came}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
