"""The reference pages say what the code declares, and the code declares all that they need."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from windrow.columns.rules import column, rule_of
from windrow.packages import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "tools" / "docs" / "build.py"


def test_generated_pages_are_up_to_date():
    command = [sys.executable, str(BUILD), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks for the module that it is declared in.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=[*PACKAGES, "state"])
def tables(request: pytest.FixtureRequest, build: ModuleType) -> list:
    if request.param == "state":
        return build.state_tables()
    return build.tables_of(PACKAGES[request.param])


def test_every_column_has_a_rule_of_one_sentence(tables: list):
    rules = {
        f"{t.name}.{name}": rule_of(type_) for t in tables for name, type_ in t.columns.items()
    }
    one_sentence = re.compile(r"[A-Z0-9`]([^.\n]|\.(?! ))*\.")
    assert rules
    assert [name for name, rule in rules.items() if not one_sentence.fullmatch(rule)] == []


def test_every_table_has_a_grain_and_a_key_of_its_own_columns(tables: list):
    assert [t.name for t in tables if not t.grain.startswith("one row per ")] == []
    assert [t.name for t in tables if not t.key or set(t.key) - set(t.columns)] == []


def test_a_page_shows_grain_layout_and_the_option_that_makes_a_table(build: ModuleType):
    table = build.Table(
        name="t",
        description="One row per day: how it was.",
        grain="one row per day",
        key=("day",),
        columns={"day": column("date", "The day | in UTC.")},
        date="day",
        partition=("day",),
        options=("enable_days",),
    )
    assert build.page("# Days\n", [table]).splitlines() == [
        "# Days",
        "",
        "## `t`",
        "",
        "One row per day: how it was.",
        "",
        "- Grain: one row per day",
        "- Key: `day`",
        "- Date column: `day`",
        "- Layout: partitioned by `day`",
        "- Only with: `enable_days`",
        "",
        "| column | type | rule |",
        "|---|---|---|",
        "| `day` | `date` | The day \\| in UTC. |",
    ]


def test_every_promise_names_tests_that_are_there():
    rows = (ROOT / "docs" / "promises.md").read_text().splitlines()
    promises = [row for row in rows if row.startswith("| ") and not row.startswith("| promise")]
    assert len(promises) > 10
    for promise in promises:
        named = re.findall(r"`([\w/*]+(?:\.py|/))`", promise.split("|")[2])
        assert named, promise
        assert [name for name in named if not [*(ROOT / "tests").glob(name)]] == []
