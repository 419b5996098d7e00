"""Build the documentation site into build/site: `make docs`.

A copy of the pages is made fit for it in build/docs, then zensical builds it. A link that leads
nowhere is an error. Nothing is fetched, by the build or by the pages.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from built_links import problems
from site_pages import ROOT, expanded, lay_out

from windrow.config import json_schema
from windrow.packages import SETTINGS

BUILD = ROOT / "build"


def main() -> int:
    """Lay the pages out and build the site from them."""
    pages = lay_out(BUILD / "docs")
    write_schema(BUILD / "docs")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    config |= {"docs_dir": "docs", "site_dir": "site", "nav": expanded(config["nav"], pages)}
    (BUILD / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    shutil.rmtree(BUILD / "site", ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(
        [*command, "--config-file", "mkdocs.yml"],
        cwd=BUILD,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        # The traceback under the findings says no more than they do.
        shown = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr)
        sys.stderr.write(shown.partition("Traceback")[0] or shown)
        return 1
    # What it does not look at: nav, pictures, what a page fetches.
    others = problems(BUILD / "site")
    sys.stderr.writelines(f"{line}\n" for line in others)
    sys.stdout.write("" if others else "build/site/index.html\n")
    return 1 if others else 0


def write_schema(folder: Path) -> None:
    """Put the JSON Schema of windrow.yml beside the pages, for editors that take an address."""
    text = json.dumps(json_schema(SETTINGS), indent=2) + "\n"
    (folder / "windrow.schema.json").write_text(text)


if __name__ == "__main__":
    raise SystemExit(main())
