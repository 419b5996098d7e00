"""What built pages point to: it must be there, and nothing may be fetched from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script", "link", "img", "iframe", "source"}
"""Tags whose address a browser fetches by itself; it follows others when asked."""


@dataclass
class _Pointers(HTMLParser):
    """A page's addresses, and the anchors that it has."""

    text: str
    found: list[tuple[str, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.found.append((tag, value))


def problems(site: Path) -> list[str]:
    """A line for every address that leads nowhere, or is fetched from elsewhere."""
    pages = {path: _Pointers(path.read_text()) for path in sorted(site.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        # Its addresses begin at the root of a server that is not there.
        if path.name == "404.html":
            continue
        for tag, address in page.found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                wrong = tag in FETCHED and parts.scheme != "data"
            else:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                wrong = not target.exists() or (
                    target in pages
                    # "__" begins what the theme's own script makes.
                    and bool(parts.fragment)
                    and not parts.fragment.startswith("__")
                    and unquote(parts.fragment) not in pages[target].anchors
                )
            if wrong:
                lines.append(f"{path.relative_to(site)}: <{tag}> {address}")
    return lines
