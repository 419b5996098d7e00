"""The files that a new project starts with."""

from __future__ import annotations

import json
from pathlib import Path

from windrow.config import json_schema
from windrow.packages import SETTINGS

_FILES = Path(__file__).parent / "project"


def project_files(name: str) -> dict[str, str]:
    """Path in the project -> text, for a project that waits for its events."""
    # Quoted as JSON, which is YAML too: the folder may be called 2024, or true.
    quoted = json.dumps(name, ensure_ascii=False)
    return {"windrow.yml": _text("windrow.yml").replace("PROJECT_NAME", quoted), **_shared_files()}


def demo_files(format: str, package: str) -> dict[str, str]:
    """Path in the project -> text, for the demo's project with one package."""
    if package == "mobile":
        files = _shared_files("daily_screens.py")
        return {**files, "windrow.yml": _text("demo_mobile.yml").replace("TABLE_FORMAT", format)}
    return {
        **_shared_files(),
        "windrow.yml": _text("demo.yml").replace("TABLE_FORMAT", format),
        "hooks.py": _text("demo_hooks.py"),
    }


def write_files(folder: Path, files: dict[str, str], *, replace: frozenset[str]) -> list[str]:
    """Write the files that are not there yet, and those to `replace`; gives what was written."""
    written = []
    for path, text in files.items():
        file = folder / path
        if file.exists() and path not in replace:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _shared_files(model: str = "daily_pages.py") -> dict[str, str]:
    return {
        f"models/{model}": _text(model),
        "hooks.py": _text("hooks.py"),
        ".gitignore": _text("gitignore"),
        ".windrow/schema.json": json.dumps(json_schema(SETTINGS), indent=2) + "\n",
    }


def _text(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")
