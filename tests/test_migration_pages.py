"""The pages for those who come from the SQL packages name what there is, and nothing else."""

import re
from pathlib import Path

import pytest

from windrow.config.overrides import ignored_options
from windrow.packages import SETTINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coming-from-media-and-normalize.md"


def options_named(package: str) -> set[str]:
    """What the package's part of the page names in tables of options, and as new."""
    (part,) = re.findall(
        rf"^## The {package} package\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    (table,) = re.findall(r"^\| option \| here \|\n.*?(?=\n\n)", part, re.DOTALL | re.MULTILINE)
    new = re.findall(r"^New here: (.*?) for what", part, re.DOTALL | re.MULTILINE)
    firsts = [row.split("|")[1] for row in table.splitlines()]
    return {name for text in (*firsts, *new) for name in re.findall(r"`(\w+)`", text)}


def test_every_option_of_the_media_player_package_is_named():
    options = set(SETTINGS["media_player"].model_fields)
    assert options - options_named("media player") == set()


@pytest.mark.parametrize("package", ["media_player", "normalize"])
def test_no_option_is_named_that_is_not_accepted(package: str):
    fields = set(SETTINGS[package].model_fields)
    accepted = fields | ignored_options(package, SETTINGS)
    assert options_named(package.replace("_", " ")) - accepted == set()
