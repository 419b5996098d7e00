"""What the tests of services share: one project, whose tables were made on this machine first."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from services.projects import make_shop


@pytest.fixture(scope="session")
def made_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("services") / "shop")


@pytest.fixture
def shop(made_shop: Path, tmp_path: Path) -> Path:
    """The project once more: a test may change its models and events."""
    return Path(copytree(made_shop, tmp_path / "shop"))
