"""A project folder whose windrow.yml a test writes: fixtures for tests of configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from windrow.config import Config, InvalidConfigError, Problem, load
from windrow.packages import SETTINGS

MINIMAL = """
name: shop
targets:
  dev: {warehouse: ./warehouse}
"""

Loaded = Callable[..., Config]
Web = Callable[..., Any]
Problems = Callable[..., tuple[Problem, ...]]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Load a windrow.yml of this text, from an empty environment unless told otherwise."""

    def load_text(text: str, environ: Mapping[str, str] | None = None, **arguments: Any) -> Config:
        (tmp_path / "windrow.yml").write_text(text, encoding="utf-8")
        return load(tmp_path, SETTINGS, environ=environ or {}, **arguments)

    return load_text


@pytest.fixture
def web(loaded: Loaded) -> Web:
    """The web settings that these option lines give."""

    def settings(lines: str = "", **arguments: Any) -> Any:
        return loaded(with_web(lines), **arguments).packages["web"]

    return settings


@pytest.fixture
def problems(loaded: Loaded) -> Problems:
    """What is wrong with a windrow.yml of this text."""

    def found(text: str, **arguments: Any) -> tuple[Problem, ...]:
        with pytest.raises(InvalidConfigError) as error:
            loaded(text, **arguments)
        return error.value.problems

    return found


def with_web(lines: str) -> str:
    """A minimal windrow.yml with these lines as options of web."""
    block = "".join(f"    {line}\n" for line in lines.splitlines())
    return f"{MINIMAL}packages:\n  web:\n{block}"
