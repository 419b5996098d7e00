"""Python files of a project, executed as modules of their own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from windrow.errors import ConfigError


def execute(path: Path, *, prefix: str) -> ModuleType:
    """The module that a file makes; what stops it names the file. Ours pass as they are."""
    spec = importlib.util.spec_from_file_location(f"{prefix}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module
