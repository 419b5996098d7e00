"""The reference pages say what the code declares, and the code declares all that they need."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from package_pages import tables_of
from state_page import state_tables
from table_sections import Table, page

import windrow
from windrow.cli.app import build_app
from windrow.cli.call import INTERRUPTED, TERMINATED
from windrow.columns.rules import column, rule_of
from windrow.config.overrides import ignored_options
from windrow.packages import HOOKS, PACKAGES, SETTINGS
from windrow.packages.web.settings import WebSettings

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "tools" / "docs" / "build.py"
PROMISES = (ROOT / "docs" / "promises.md").read_text()


def test_generated_pages_are_up_to_date():
    command = [sys.executable, str(BUILD), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.fixture(params=[*PACKAGES, "state"])
def tables(request: pytest.FixtureRequest) -> list:
    return state_tables() if request.param == "state" else tables_of(PACKAGES[request.param])


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


def test_a_page_shows_grain_layout_and_the_option_that_makes_a_table():
    table = Table(
        name="t",
        description="One row per day: how it was.",
        grain="one row per day",
        key=("day",),
        columns={"day": column("date", "The day | in UTC.")},
        date="day",
        partition=("day",),
        options=("enable_days",),
    )
    assert page("# Days\n", [table]).splitlines() == [
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


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """What links may point to: the headings of a page, as they are written in addresses."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", it.lower()).replace(" ", "-") for it in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    broken = []
    for link in links:
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_production_page_says_what_to_do_after_every_exit_code():
    page = (ROOT / "docs" / "production.md").read_text()
    told = {
        int(it) for row in re.findall(r"^\| ([\d, ]+)", page, re.MULTILINE) for it in row.split(",")
    }
    errors = [it for it in vars(windrow.errors).values() if isinstance(it, type)]
    given = {it.exit_code for it in errors if issubclass(it, windrow.WindrowError)}
    assert given == {1, 2, 3, 4}
    assert {0, *given, INTERRUPTED, TERMINATED} <= told
    for script in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        compile(script, "production.md", "exec")


def commands_in(text: str) -> list[list[str]]:
    """The words of every call of windrow in code."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`(windrow [^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    lines = [line for block in blocks for line in block.splitlines()]
    calls = [re.match(r"(?:\$ )?(?:\S*/)?(windrow [a-z].*)", line.strip()) for line in lines]
    found = [*(call[1] for call in calls if call), *spans]
    return [re.split(r"\s+", call.partition(" #")[0])[1:] for call in found]


def test_commands_and_options_of_the_pages_are_there():
    app = typer.main.get_command(build_app())
    options = {
        name: {word for it in command.params for word in (*it.opts, *it.secondary_opts)}
        for name, command in app.commands.items()
    }
    calls = [(page.name, call) for page in PAGES for call in commands_in(page.read_text())]
    assert len(calls) > 50
    assert [(page, call) for page, call in calls if call[0] not in options] == []
    wrong = [
        (page, call[0], word)
        for page, call in calls
        for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(call))
        if word not in options[call[0]] | {"--help"}
    ]
    assert wrong == []
    known = set().union(*options.values())
    others = {
        (page.name, word)
        for page in PAGES
        for word in re.findall(r"`(--[a-z][a-z-]*)", page.read_text())
        # That page tells of the benchmark's own options too.
        if page.name != "performance.md"
    }
    assert [(page, word) for page, word in others if word not in known] == []


def test_the_rooms_are_drawn_as_the_linter_has_them():
    (drawn,) = re.findall(
        r"## The rooms.*?```\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL
    )
    rooms = [re.split(r" {2,}", line)[0] for line in drawn.splitlines() if line[0] != " "]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [it["layers"] for it in contracts["contracts"] if it["id"] == "rooms"]
    assert [re.findall(r"\w+", room) for room in rooms] == [
        re.findall(r"\w+", layer) for layer in layers
    ]


def part_of_migration(heading: str) -> str:
    page = (ROOT / "docs" / "coming-from-sql-packages.md").read_text()
    (part,) = re.findall(rf"^## {heading}\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    return part


def test_the_migration_page_names_every_option_of_web_and_no_other():
    part = part_of_migration("Options")
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    new = set(re.findall(r"`(\w+)`", re.findall(r"New here: (.*?)\. See", part, re.DOTALL)[0]))
    options = set(WebSettings.model_fields)
    assert named | new >= options
    assert named & new == set()
    assert named | new <= options | ignored_options("web", SETTINGS)
    without_effect = {
        name
        for row in re.findall(r"^\| (`.*without effect.*)", part, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row.split("|")[0])
    }
    assert without_effect == named & ignored_options("web", SETTINGS)


def test_the_migration_page_names_every_hook():
    macros = part_of_migration("Macros")
    named = set(re.findall(r"`(\w+)(?:\(.*?\))?`", macros))
    beginnings = tuple(re.findall(r"`(\w+_)…`", macros))
    assert [
        it.name for it in HOOKS if it.name not in named and not it.name.startswith(beginnings)
    ] == []
    of_reference = {it.reference_name for it in HOOKS if it.reference_name}
    assert of_reference <= named


NAMED_TEST = re.compile(
    r"(?<![\w/.*-])((?:[\w*-]+/)*test_\w*[\w*]*\.py)?(?:::)?(test_\w+\b(?!\.py))?"
)


def functions_of(file: Path) -> set[str]:
    return {*re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)}


def test_pages_name_tests_that_are_there():
    tests = ROOT / "tests"
    everywhere = set().union(*(functions_of(it) for it in tests.rglob("test_*.py")))
    named, gone = 0, []
    for page_file in (ROOT / "docs").rglob("*.md"):
        for found in NAMED_TEST.finditer(page_file.read_text()):
            path, name = found.groups()
            if path or name:
                named += 1
                files = [] if path is None else [*tests.rglob(path.removeprefix("tests/"))]
                known = set().union(*map(functions_of, files)) if files else everywhere
                if (path and not files) or (name and name not in known):
                    gone.append(f"{page_file.name}: {found[0]}")
    assert named > 200
    assert gone == []


def test_every_promise_is_held_by_tests_that_are_there():
    rows = re.findall(r"^\| (?!promise|--)(.+) \| (.+) \|$", PROMISES, re.MULTILINE)
    held = {promise: re.findall(r"`([^`]+)`", by) for promise, by in rows}
    assert len(held) > 20
    assert {promise for promise, paths in held.items() if not paths} == set()
    everything = [path for paths in held.values() for path in paths]
    assert [it for it in everything if not [*(ROOT / "tests").glob(it)]] == []
