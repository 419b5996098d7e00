"""Shapes and words on a picture, as SVG: one style, readable on light and on dark pages.

Words are text in the page's own colour; shapes are of colours that show on both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import escape

STYLE = """
.wr { --wr-ink: #1f2933; --wr-muted: #5b6673; color: var(--wr-ink); }
@media (prefers-color-scheme: dark) { .wr { --wr-ink: #e6e9ee; --wr-muted: #a3adba; } }
.wr text { font: 13px system-ui, sans-serif; fill: var(--wr-ink); }
.wr .wr-small { font-size: 12px; fill: var(--wr-muted); }
.wr .wr-strong { font-weight: 600; }
.wr .wr-line { stroke: var(--wr-muted); stroke-width: 1; fill: none; }
.wr .wr-dashed { stroke: var(--wr-muted); stroke-width: 1; stroke-dasharray: 3 3; }
.wr .wr-blue { fill: #4f7fdc; stroke: #4f7fdc; }
.wr .wr-amber { fill: #d9901f; stroke: #d9901f; }
.wr .wr-green { fill: #2f9e6e; stroke: #2f9e6e; }
.wr .wr-red { fill: #d9534f; stroke: #d9534f; }
.wr .wr-grey { fill: #8a94a3; stroke: #8a94a3; }
.wr rect { fill-opacity: .28; stroke-width: 1.2; }
.wr .wr-open { fill-opacity: 0; stroke-width: 1.6; }
""".strip()


@dataclass
class Picture:
    """A picture that grows shape by shape."""

    name: str
    title: str
    description: str
    """What it shows, for those who cannot see it."""
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, *, at: str = "start", look: str = "") -> None:
        """Words whose baseline is at y, beginning, centred or ending at x."""
        kind = f' class="{_classes(look)}"' if look else ""
        place = f'x="{x:g}" y="{y:g}" text-anchor="{at}"'
        self.parts.append(f"<text {place}{kind}>{escape(words, quote=False)}</text>")

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A rectangle."""
        size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect {size} rx="3" class="{_classes(colour)}"/>')

    def dot(self, x: float, y: float, colour: str, *, size: float = 4.5) -> None:
        """A circle."""
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{size:g}" class="{_classes(colour)}"/>'
        )

    def cross(self, x: float, y: float, *, size: float = 6) -> None:
        """What did not happen, or ended badly."""
        arms = f"M{x - size:g} {y - size:g}l{2 * size:g} {2 * size:g}m0 {-2 * size:g}"
        path = f"{arms}l{-2 * size:g} {2 * size:g}"
        self.parts.append(f'<path d="{path}" class="wr-red" stroke-width="2.5"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, look: str = "line") -> None:
        """A straight line."""
        ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
        self.parts.append(f'<line {ends} class="{_classes(look)}"/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A line across or down, with a head at its end."""
        self.line(x1, y1, x2, y2)
        if y1 == y2:
            back = 6 if x2 > x1 else -6
            head = f"M{x2 - back:g} {y2 - 4:g}L{x2:g} {y2:g}L{x2 - back:g} {y2 + 4:g}"
        else:
            back = 6 if y2 > y1 else -6
            head = f"M{x2 - 4:g} {y2 - back:g}L{x2:g} {y2:g}L{x2 + 4:g} {y2 - back:g}"
        self.parts.append(f'<path d="{head}" class="wr-line"/>')

    def legend(self, x: float, y: float, entries: list[tuple[str, str]]) -> None:
        """What the colours mean, in one line."""
        for colour, words in entries:
            self.box(x, y - 10, 16, 11, colour)
            self.text(x + 22, y, words, look="small")
            x += 22 + 6.4 * len(words) + 22

    def svg(self) -> str:
        """The picture as a file; no line of it is empty, so that it can stand in a page."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="wr" role="img" '
                f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" aria-labelledby="{self.name}-title {self.name}-desc">',
                f'<title id="{self.name}-title">{escape(self.title)}</title>',
                f'<desc id="{self.name}-desc">{escape(self.description)}</desc>',
                f"<style>\n{STYLE}\n</style>",
                *self.parts,
                "</svg>",
                "",
            ]
        )


@dataclass(frozen=True)
class TimeLine:
    """Moments as places on a line across a picture."""

    first: datetime
    last: datetime
    left: float
    right: float

    def x(self, moment: datetime) -> float:
        """Where a moment lies."""
        share = (moment - self.first) / (self.last - self.first)
        return round(self.left + share * (self.right - self.left), 1)

    def draw(self, picture: Picture, y: float, *, every_days: int) -> None:
        """The line with its days."""
        picture.arrow(self.left, y, self.right + 12, y)
        day = self.first
        while day <= self.last:
            x = self.x(day)
            picture.line(x, y - 3, x, y + 3)
            picture.text(x, y + 18, f"{day:%b} {day.day}", at="middle", look="small")
            day += timedelta(days=every_days)

    def span(
        self, picture: Picture, begin: datetime, end: datetime, y: float, colour: str, height=18
    ) -> None:
        """A stretch of time as a bar."""
        x = self.x(begin)
        picture.box(x, y, round(self.x(end) - x, 1), height, colour)


def _classes(look: str) -> str:
    return " ".join(f"wr-{word}" for word in look.split())
