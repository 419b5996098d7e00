"""The project's own models: Python files under models/ that declare them with @model."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from windrow.errors import ConfigError
from windrow.model import Model


def load_models(folder: Path, project_dir: Path) -> list[Model]:
    """Every model that a Python file under the folder declares, in the order of file and line."""
    found: list[Model] = []
    for path in sorted(folder.rglob("*.py")):
        shown = path.relative_to(project_dir).as_posix()
        found += [replace(member, path=shown) for member in _models_in(path)]
    return found


def _models_in(path: Path) -> list[Model]:
    spec = importlib.util.spec_from_file_location(f"windrow_models_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Model) and value.function.__module__ == module.__name__
    ]
