"""Write the reference pages from the declarations that make them true.

python tools/docs/build.py            write configuration.md, state.md, events-table.md, cli.md,
                                      python.md, a page per package, and the pictures
python tools/docs/build.py --check    change nothing; exit 1 if a page would change
"""

from __future__ import annotations

import sys
from pathlib import Path

from windrow.packages import PACKAGES

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cli_page import cli_page
from configuration_page import configuration_page
from events_page import events_page
from package_pages import everything_on, package_page
from pictures import pictures
from python_page import python_page
from state_page import state_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def pages() -> dict[Path, str]:
    """Every generated page and picture, by its file."""
    everything = {name: everything_on(package) for name, package in PACKAGES.items()}
    return {
        **{DOCS / "images" / name: svg for name, svg in pictures().items()},
        DOCS / "cli.md": cli_page(),
        DOCS / "events-table.md": events_page(everything),
        DOCS / "python.md": python_page(),
        DOCS / "configuration.md": configuration_page(),
        DOCS / "state.md": state_page(),
        **{DOCS / f"{name}.md": package_page(package) for name, package in PACKAGES.items()},
    }


def main() -> int:
    """Write the pages, or tell whether they are up to date."""
    texts = pages()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        sys.stderr.writelines(f"{path} is stale: run tools/docs/build.py\n" for path in stale)
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
