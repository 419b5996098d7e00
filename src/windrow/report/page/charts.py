"""The charts of the report: runs one after the other, days one after the other, small lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup
from matplotlib.ticker import FuncFormatter, MaxNLocator

from windrow.report.page.drawing import as_svg, colour, drawing, figure, plain_axes

WIDTH, HEIGHT = 280, 140
_SPARK = (120, 22)
_LABEL = 54
"""Pixels that a label below a bar takes."""
_FEW_BARS = 12
"""Fewer bars than this stand as if there were so many, so that one is not a wall."""


@dataclass(frozen=True)
class Bar:
    """One bar: how high, in which colour, what it is called below and what it tells."""

    value: float
    role: str
    label: str
    tip: str


def bar_chart(
    name: str, label: str, bars: Sequence[Bar], *, shown: Callable[[float], str]
) -> Markup:
    """Bars side by side, some of them with their label below."""
    with drawing():
        drawn = figure(WIDTH, HEIGHT)
        axes = plain_axes(drawn, left=40, right=14)
        drawn_bars = axes.bar(
            range(len(bars)),
            [bar.value for bar in bars],
            width=0.8,
            color=[colour(bar.role) for bar in bars],
        )
        tips = {f"bar{index}": bar.tip for index, bar in enumerate(bars)}
        for gid, patch in zip(tips, drawn_bars, strict=True):
            patch.set_gid(gid)
        missing = max(0, _FEW_BARS - len(bars))
        axes.set_xlim(-0.6, len(bars) + missing - 0.4)
        axes.set_ylim(0, max((bar.value for bar in bars), default=0) * 1.08 or 1)
        axes.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
        places = _spread(len(bars), (WIDTH - 54) / (len(bars) + missing))
        axes.set_xticks(places, [bars[place].label for place in places])
        return as_svg(drawn, name, label, tips)


def _spread(count: int, pixels: float) -> list[int]:
    """Places, among bars that are so many pixels apart, that have room for a label."""
    step = max(1, math.ceil(_LABEL / pixels))
    return list(range(0, count, step))


def daily_chart(name: str, label: str, rows: Mapping[date, int], days: Sequence[date]) -> Markup:
    """A bar for each day; where there is none, one sees a hole."""
    bars = [
        Bar(rows.get(it, 0), "accent", f"{it:%-d %b}", f"{it.isoformat()}: {rows.get(it, 0):,}")
        for it in days
    ]
    return bar_chart(name, label, bars, shown=compact)


def spark_line(name: str, label: str, values: Sequence[float | None], role: str) -> Markup:
    """A line without axes, as high as its greatest value; None leaves a gap in it."""
    with drawing():
        drawn = figure(*_SPARK)
        axes = drawn.add_axes((0.02, 0.1, 0.96, 0.8))
        axes.axis("off")
        known = [value for value in values if value is not None]
        heights = [float("nan") if value is None else value for value in values]
        axes.plot(heights, color=colour(role), linewidth=1.4, solid_joinstyle="round")
        if values and values[-1] is not None:
            axes.plot([len(values) - 1], [values[-1]], "o", color=colour(role), markersize=3.5)
        axes.set_xlim(-0.5, max(len(values) - 0.5, 1))
        top = max(known, default=0) or 1
        axes.set_ylim(-0.08 * top, top * 1.08)
        return as_svg(drawn, name, label)


def compact(value: float) -> str:
    """`950`, `1.2k`, `34k`, `5M`: a number that fits beside an axis."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
