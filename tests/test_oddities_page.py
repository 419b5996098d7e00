"""docs/compat.md has every known oddity, and each names tests, which try both settings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "compat.md").read_text()
HOW_MANY = {
    "Base": {"B": 15},
    "Web": {"W": 19, "C": 8, "V": 7},
    "Media player": {"M": 21},
    "Mobile": {"O": 19},
    "E-commerce": {"O": 17},
    "Normalize": {"N": 22},
}
PARTS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("part", HOW_MANY)
def test_every_oddity_is_there_once_in_its_order(part: str) -> None:
    found = re.findall(r"^\| ([A-Z]\d+) \|", PARTS[part], re.MULTILINE)
    assert found == [f"{x}{n + 1}" for x, number in HOW_MANY[part].items() for n in range(number)]


WITHOUT_SETTINGS = {
    "Web": {"W13": "the model takes no settings"},
    "Media player": {
        "M12": "events are read before any setting counts",
        "M21": "documentation",
    },
    "Mobile": {"O16": "checks belong to the model, whatever the settings", "O18": "documentation"},
    "E-commerce": {"O14": "documentation"},
    "Normalize": {"N5": "a schema's column is the same in both", "N21": "documentation"},
}
"""Oddities in which nothing could differ, so that there is nothing to try twice."""


def rows_of(part: str) -> dict[str, list[tuple[str, str]]]:
    """Row -> file and name of the tests that hold it."""
    rows = [it for it in PARTS[part].splitlines() if re.match(r"\| (?!id |in the |--)\w", it)]
    assert len(rows) >= sum(HOW_MANY[part].values())
    return {row: re.findall(r"`([\w/]+\.py)::(test_\w+)`", row.split(" | ")[-1]) for row in rows}


def source_of(file: str, name: str) -> str:
    """A test as it is written, with its decorators and the fixtures that its file has for it."""
    text = (ROOT / "tests" / file).read_text()
    functions = {it.name: it for it in ast.parse(text).body if isinstance(it, ast.FunctionDef)}
    asked = [name, *(it.arg for it in functions[name].args.args)]
    lines = text.splitlines()
    return "\n".join(
        "\n".join(lines[min(it.lineno for it in (one, *one.decorator_list)) - 1 : one.end_lineno])
        for one in (functions[it] for it in asked if it in functions)
    )


@pytest.mark.parametrize("part", HOW_MANY)
def test_every_oddity_names_tests_that_are_there(part: str) -> None:
    for row, tests in rows_of(part).items():
        assert tests, row
        for file, name in tests:
            assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(), (file, name)


@pytest.mark.parametrize("part", HOW_MANY)
def test_every_oddity_is_tried_in_both_settings(part: str) -> None:
    """`compat` or the reference's settings are spelled out in a test; the rest is for readers."""
    alike = WITHOUT_SETTINGS.get(part, {})
    without = {
        row.split(" | ")[0].removeprefix("| ")
        for row, tests in rows_of(part).items()
        if not any(re.search(r"\bcompat\b|REFERENCE|as_merged", source_of(*test)) for test in tests)
    }
    assert without == {*alike}
