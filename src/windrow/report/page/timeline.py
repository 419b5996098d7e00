"""The windows of the runs on a line of collector time: which stretch each run took in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes

from windrow.operations.overview import PackageOverview
from windrow.report import words
from windrow.report.page.drawing import as_svg, colour, drawing, figure, plain_axes
from windrow.report.page.names import anchor
from windrow.report.page.windows import Stretch, counting, coverage, gaps, overlaps, with_window
from windrow.state.limits import State
from windrow.state.runs import RunRecord

_WIDTH = 720
_MOST_TOLD = 10
_ROLES = {
    State.FIRST_RUN.value: "series-3",
    State.NEW_MODEL.value: "series-1",
    State.OUT_OF_SYNC.value: "series-1",
    State.RERUN.value: "series-2",
}


@dataclass(frozen=True)
class TimelineView:
    """The picture, what its colours mean, and the gaps and overlaps in words."""

    picture: Markup | None
    legend: tuple[tuple[str, str], ...]
    """Colour and meaning."""
    gaps: tuple[str, ...]
    overlaps: str


def timeline_view(package: PackageOverview) -> TimelineView:
    """The windows of the runs shown."""
    runs = with_window(package.status.last_runs)
    kept = counting(package.status.last_runs)
    ids = {run.run_id for run in kept}
    return TimelineView(
        picture=_picture(package.status.package, runs, ids, coverage(kept)) if runs else None,
        legend=tuple(_legend(runs, ids)),
        gaps=tuple(_told(it) for it in gaps(kept)[:_MOST_TOLD]),
        overlaps=_overlaps(overlaps(kept)),
    )


def _told(stretch: Stretch) -> str:
    begin, end = words.minute(stretch.begin), words.minute(stretch.end)
    return f"{begin} to {end} ({words.span(stretch.length)})"


def _overlaps(found: Sequence[Stretch]) -> str:
    if not found:
        return "No two windows overlap."
    longest = max(found, key=lambda it: it.length)
    return (
        f"{words.count(len(found), 'stretch is', 'stretches are')} covered by more than one "
        f"window, as every run looks back; the longest is {_told(longest)}, by "
        f"{words.count(longest.windows, 'window')}."
    )


def _role(run: RunRecord, kept: set[str]) -> str:
    if run.run_id not in kept:
        return "note"
    return _ROLES.get(run.state or "", "accent")


def _legend(runs: Sequence[RunRecord], kept: set[str]) -> list[tuple[str, str]]:
    meanings = {
        "accent": "standard run",
        "series-3": "first run",
        "series-1": "catching up",
        "series-2": "past window again",
        "note": "not kept, or taken back",
    }
    roles = {_role(run, kept) for run in runs}
    shown = [(role, meaning) for role, meaning in meanings.items() if role in roles]
    return [*shown, ("fine", "covered"), ("bad", "covered by no window")]


def _picture(
    package: str, runs: Sequence[RunRecord], kept: set[str], covered: Sequence[Stretch]
) -> Markup:
    lane = max(3.0, min(14.0, 220 / len(runs)))
    height = round(lane * len(runs)) + 64
    with drawing():
        drawn = figure(_WIDTH, height)
        axes = plain_axes(drawn, left=20, right=20, bottom=26)
        axes.yaxis.grid(False)
        axes.set_yticks([])
        tips: dict[str, str] = {}
        windows = [it for run in runs if (it := _window(run)) is not None]
        places = [-(index + 0.5) * lane for index in range(len(runs))]
        roles = [_role(run, kept) for run in runs]
        _lay(axes, "window", windows, places, lane * 0.7, roles)
        tips |= {f"window{index}": _tip(run) for index, run in enumerate(runs)}
        strip = -len(runs) * lane - 8
        roles = ["fine" if it.windows else "bad" for it in covered]
        depths = [min(0.35 + 0.2 * it.windows, 1.0) if it.windows else 1.0 for it in covered]
        _lay(axes, "covered", covered, [strip - 5.0] * len(covered), 10, roles, depths)
        tips |= {f"covered{index}": _covered(it) for index, it in enumerate(covered)}
        axes.set_ylim(strip - 14, 4)
        axes.margins(x=0.01)
        axes.xaxis.get_offset_text().set_color(colour("soft"))
        axes.xaxis.grid(True, color=colour("line"), linewidth=0.6)
        label = (
            f"Windows of {words.count(len(runs), 'run')} of {package} by collector time, oldest on "
            "top; the strip below shows what they cover."
        )
        return as_svg(drawn, anchor(package, "windows"), label, tips)


def _lay(
    axes: Axes,
    name: str,
    stretches: Sequence[Stretch],
    places: Sequence[float],
    height: float,
    roles: Sequence[str],
    depths: Sequence[float] | None = None,
) -> None:
    """Bars from the begin to the end of each stretch, at these heights."""
    bars = axes.barh(
        places,
        [it.length for it in stretches],  # type: ignore[arg-type]  # it takes times too
        left=[it.begin for it in stretches],  # type: ignore[arg-type]  # times here too
        height=height,
        color=[colour(role) for role in roles],
    )
    for index, bar in enumerate(bars):
        bar.set_gid(f"{name}{index}")
        if depths is not None:
            bar.set_alpha(depths[index])


def _window(run: RunRecord) -> Stretch | None:
    if run.lower_limit is None or run.upper_limit is None:
        return None
    return Stretch(run.lower_limit, max(run.lower_limit, run.upper_limit))


def _tip(run: RunRecord) -> str:
    window = _window(run)
    state = f"{run.outcome}, {run.state}".replace("_", " ")
    return f"{_told(window)}: {state} (run {run.run_id})" if window else ""


def _covered(it: Stretch) -> str:
    by = words.count(it.windows, "window") if it.windows else "no window"
    return f"{_told(it)}: covered by {by}"
