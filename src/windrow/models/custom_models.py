"""The project's own models: files under models/, Python with @model or SQL with a header."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from windrow.models.files import execute
from windrow.models.model import Model
from windrow.models.sql_models import load_sql_model


def load_models(folder: Path, project_dir: Path) -> list[Model]:
    """Every model that a file under the folder declares, in the order of file and line."""
    found: list[Model] = []
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.sql")]):
        shown = path.relative_to(project_dir).as_posix()
        members = [load_sql_model(path)] if path.suffix == ".sql" else _models_in(path)
        found += [replace(member, path=shown) for member in members]
    return found


def _models_in(path: Path) -> list[Model]:
    module = execute(path, prefix="windrow_models")
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Model) and value.function.__module__ == module.__name__
    ]
