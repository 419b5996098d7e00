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
from windrow.report.documents import inputs_of
from windrow.report.page.drawing import as_svg, colour, drawing, figure
from windrow.report.page.names import anchor

EVENTS = "events"
_BOX = (196, 40)
_STEP = 252
"""From the left of a column to the left of the next."""
_GAP, _BEND = 14, 18
"""Pixels between two boxes, and for a line that passes between them."""
_MARGIN = 10
_LONGEST_NAME = 26

Passing = tuple[str, int]
"""Lines from a box, where they pass a column on their way to a further one."""


@dataclass(frozen=True)
class Arrangement:
    """Where everything lies: the events and each model in a column, all at their heights."""

    columns: Mapping[str, int]
    reads: Mapping[str, tuple[str, ...]]
    middles: Mapping[Passing, float]
    """The height, in pixels, of a box, or of lines from it, in a column."""

    def way(self, origin: str, end: str) -> list[tuple[int, float]]:
        """The columns and heights of a line from one box to another."""
        last = self.columns[end]
        between = range(self.columns[origin], last)
        return [
            *((it, self.middles[origin, it]) for it in between),
            (last, self.middles[end, last]),
        ]


def arranged(models: Sequence[Model]) -> Arrangement:
    """Each model in the column after those it reads, near them; the models come in order."""
    known = [member.name for member in models]
    reads = {
        member.name: tuple(name for name in known if name in member.parents) or (EVENTS,)
        for member in models
    }
    columns = {EVENTS: 0}
    for name in known:
        columns[name] = 1 + max(columns[it] for it in reads[name])
    last = {name: columns[name] for name in columns}
    for name, origins in reads.items():
        for origin in origins:
            last[origin] = max(last[origin], columns[name] - 1)
    middles: dict[Passing, float] = {(EVENTS, 0): _MARGIN + _BOX[1] / 2}
    for column in range(1, max(columns.values()) + 1):
        # Where it would like to be: at the height of what leads to it.
        wanted = {
            name: sum(middles[it, column - 1] for it in reads[name]) / len(reads[name])
            if columns[name] == column
            else middles[name, column - 1]
            for name in (EVENTS, *known)
            if columns[name] <= column <= last[name] and not (name == EVENTS and column == 0)
        }
        top = float(_MARGIN)
        for name in sorted(wanted, key=wanted.__getitem__):
            height = _BOX[1] if columns[name] == column else _BEND - _GAP
            middles[name, column] = top + height / 2
            top += height + _GAP
    return Arrangement(columns, reads, middles)


def lineage_picture(package: PackageOverview) -> Markup | None:
    """The models of a package; a box leads to what the reference says of its table."""
    models = {it.model.name: it.model for it in package.tables}
    if not models:
        return None
    plan = arranged(list(models.values()))
    positions = package.status.positions
    ahead = max(positions.values(), default=None)
    width = max(plan.columns.values()) * _STEP + _BOX[0] + 2 * _MARGIN
    height = round(max(plan.middles.values()) + _BOX[1] / 2 + _MARGIN)
    with drawing():
        drawn = figure(width, height)
        axes = drawn.add_axes((0, 0, 1, 1))
        axes.axis("off")
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        for name, origins in plan.reads.items():
            for origin in origins:
                axes.add_patch(_line(plan.way(origin, name)))
        tips: dict[str, str] = {}
        for index, (name, column) in enumerate(plan.columns.items()):
            member = models.get(name)
            at = None if member is None else positions.get(member.full_name)
            grade = _grade(member, at, ahead)
            x, y = _left(column), plan.middles[name, column] - _BOX[1] / 2
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
                box.set_url(f"#{anchor('table', package.status.package, name)}")
            tips[f"node{index}"] = _tip(member, at)
            axes.add_patch(box)
            axes.text(x + 10, y + 17, _cut(name), color=colour("ink"), size=12, weight="bold")
            axes.text(x + 10, y + 32, _under(member, at, ahead), color=colour("soft"), size=11)
        label = (
            f"Lineage of {words.count(len(models), 'model')} of {package.status.package}; the "
            "tables below tell what each reads."
        )
        return as_svg(drawn, anchor(package.status.package, "lineage"), label, tips)


def _left(column: int) -> float:
    return _MARGIN + column * _STEP


def _line(way: Sequence[tuple[int, float]]) -> PathPatch:
    """A soft line from the right of one box to the left of another, between those on its way."""
    (column, height), *others = way
    points = [(_left(column) + _BOX[0], height)]
    codes = [Path.MOVETO]
    for column, height in others:
        start, stop = points[-1], (_left(column), height)
        middle = (start[0] + stop[0]) / 2
        points += [(middle, start[1]), (middle, stop[1]), stop]
        codes += [Path.CURVE4] * 3
        if (column, height) != way[-1]:
            points.append((stop[0] + _BOX[0], height))
            codes.append(Path.LINETO)
    path = Path(points, codes)
    return PathPatch(path, facecolor="none", edgecolor=colour("soft"), linewidth=1, alpha=0.6)


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


def _tip(member: Model | None, at: datetime | None) -> str:
    if member is None:
        return "The events table"
    came = f"; came to {words.instant(at)}" if at is not None else ""
    reads = dict.fromkeys(name for name, _ in inputs_of(member) if name != member.name)
    return f"{member.full_name} reads {', '.join(reads)}{came}"


def _cut(name: str) -> str:
    """A name that fits its box; SVG has no words for control characters."""
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
