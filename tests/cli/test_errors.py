"""How commands end when something is wrong: exit code, sentence, document."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import NoReturn

import pytest

import windrow as library
from windrow import LockedError, RefusedError, TableError
from windrow.assembly import Assembly

from .conftest import Windrow

# Each line is nine times the one before: 9 ** 12 values in 600 characters.
ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join(9 * [f'*a{n - 1}'])}]\n" for n in range(1, 12)
)


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(Assembly, "models", fail)


def test_without_a_project_the_exit_code_is_2(
    windrow: Windrow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = windrow("ls")
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert "There is no windrow.yml" in outcome.err


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [(LockedError("held"), 3), (RefusedError("protected"), 4), (TableError("no"), 1)],
)
def test_the_exit_code_is_the_errors(
    windrow: Windrow,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: library.WindrowError,
    exit_code: int,
) -> None:
    raising(monkeypatch, error)
    outcome = windrow("ls")
    assert outcome.exit_code == exit_code
    assert outcome.err == f"Error: {error}\n"


def test_with_json_an_error_is_a_document_too(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--select", "nothing_like_it", "--json")
    error = outcome.document["error"]
    assert error.keys() == {"type", "message", "exit_code"}
    assert (error["type"], error["exit_code"]) == ("UsageError", 2)


def test_a_wrong_option_is_a_sentence_and_a_document(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--selekt", "x", "--json")
    assert outcome.exit_code == 2
    assert re.search("No such option.* .?--selekt", outcome.err)
    assert outcome.document["error"]["exit_code"] == 2


def test_a_wrong_word_is_told_with_those_that_are_known_and_where_to_look(
    windrow: Windrow, shop: Path
) -> None:
    assert windrow("explain", "sesion", "x").err == (
        "Error: Invalid value for 'kind': 'sesion' is not one of 'session', 'event', 'user', "
        "'page-view'.\nSee: windrow explain --help\n"
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["session", ""], "The session's id is empty."),
        (
            ["event", "x", "--from", "2024-01-03", "--to", "2024-01-02"],
            "--from is 2024-01-03 00:00, which is after --to.",
        ),
    ],
)
def test_a_question_without_an_answer_is_refused_before_spark_starts(
    windrow: Windrow, shop: Path, no_spark: None, asked: list[str], message: str
) -> None:
    outcome = windrow("explain", *asked)
    assert (outcome.exit_code, outcome.err) == (2, f"Error: {message}\n")


def test_brackets_in_a_message_are_shown(
    windrow: Windrow, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, TableError("[DELTA_X] see [/docs]"))
    assert windrow("ls").err == "Error: [DELTA_X] see [/docs]\n"


def test_an_unexpected_error_is_one_line_and_a_log(
    windrow: Windrow, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, RuntimeError("out of cheese\nand crackers"))
    outcome = windrow("ls")
    assert outcome.exit_code == 1
    first, second = outcome.err.splitlines()
    assert first == "Error: RuntimeError: out of cheese"
    (log,) = (shop / ".windrow" / "logs").glob("error-*.log")
    assert second.endswith(str(log))
    assert "Traceback" in log.read_text()
    assert "Traceback (most" not in outcome.err


def test_debug_shows_the_traceback(
    windrow: Windrow, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, RuntimeError("out of cheese"))
    assert "Traceback (most recent call last)" in windrow("ls", "--debug").err


def test_ctrl_c_ends_a_run_with_130_and_one_sentence(
    windrow: Windrow, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    outcome = windrow("run")
    assert outcome.exit_code == 130
    assert outcome.err == "Interrupted. Nothing of this run was kept.\n"


def test_sigterm_ends_a_run_with_143_and_one_sentence(
    windrow: Windrow, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def terminate(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

    monkeypatch.setattr(Assembly, "models", terminate)
    outcome = windrow("run", "--json")
    assert outcome.exit_code == 143
    assert outcome.err == "Terminated. Nothing of this run was kept.\n"
    assert outcome.document["error"]["type"] == "Terminated"
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[1, 2]", "--vars is a list"),
        ("", "--vars is empty"),
        ("{web: ", "--vars, line 1, column 7: not valid YAML"),
        (
            "web: {heartbeat: 1, heartbeat: 2}",
            "the key 'heartbeat' stands here for the second time",
        ),
        ("web: {start_date: 2024-02-30}", 'web.start_date is "2024-02-30", expected a date'),
        ("[" * 2000, "--vars nests too deeply"),
        (ALIAS_BOMB, "--vars has more than 100,000 values when its aliases"),
        ('{"web": {"backfil_limit_days": 2}}', "Did you mean 'backfill_limit_days'?"),
    ],
)
def test_wrong_vars_are_a_sentence_and_exit_code_2(
    windrow: Windrow, shop: Path, text: str, found: str
) -> None:
    outcome = windrow("ls", "--vars", text)
    assert outcome.exit_code == 2
    assert found in outcome.err


def test_an_alias_bomb_in_the_file_is_refused_at_once(windrow: Windrow, shop: Path) -> None:
    with (shop / "windrow.yml").open("a") as file:
        file.write(ALIAS_BOMB)
    began = time.monotonic()
    outcome = windrow("ls")
    assert outcome.exit_code == 2
    assert "windrow.yml has more than 100,000 values when its aliases" in outcome.err
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "text",
    ['{"web": {"disabled_models": ["users"]}}', "web: {disabled_models: [users]}"],
)
def test_vars_may_be_json_or_yaml(windrow: Windrow, shop: Path, text: str) -> None:
    outcome = windrow("ls", "--vars", text, "--json")
    assert "users" not in {m["name"] for m in outcome.document["packages"][0]["models"]}


@pytest.mark.parametrize(
    ("model", "cure"),
    [
        ("sessions", "or add users to it, or set packages.web.sessions_table."),
        ("user_mapping", "or add sessions and users to it."),
    ],
)
def test_switching_off_what_others_are_made_from_names_the_option_and_the_cure(
    windrow: Windrow, shop: Path, model: str, cure: str
) -> None:
    outcome = windrow("ls", "--vars", f"web: {{disabled_models: [{model}]}}")
    assert outcome.exit_code == 2
    assert f"packages.web.disabled_models switches off '{model}'" in outcome.err
    assert cure in outcome.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--vars", "web: {disabled_models: [sesions]}"], "Did you mean 'sessions'?"),
        (["--select", "consent_log"], "It is made with packages.web.enable_consent: true."),
        (
            ["--vars", "web: {disabled_models: [users]}", "-s", "snowplow_web.snowplow_web_users"],
            "packages.web.disabled_models switches it off.",
        ),
    ],
)
def test_a_name_that_means_no_model_is_told_with_the_way_to_it(
    windrow: Windrow, shop: Path, words: list[str], told: str
) -> None:
    outcome = windrow("ls", *words)
    assert outcome.exit_code == 2
    assert told in outcome.err


@pytest.mark.usefixtures("no_spark")
def test_a_manifest_that_several_packages_have_is_asked_for_by_its_package(
    windrow: Windrow, shop: Path
) -> None:
    file = shop / "windrow.yml"
    file.write_text(file.read_text().replace("packages:", "packages:\n  ecommerce: {}", 1))
    words = ("run", "--refresh-manifests", "--select", "base_quarantined_sessions")
    outcome = windrow(*words)
    assert outcome.exit_code == 2
    assert "Which package? Use --package with one of: ecommerce, web" in outcome.err


@pytest.mark.parametrize("command", ["run", "plan", "status"])
def test_a_wrong_clock_is_a_sentence_and_exit_code_2(
    windrow: Windrow, shop: Path, command: str
) -> None:
    outcome = windrow(command, "--now", "yesterday")
    assert outcome.exit_code == 2
    assert "--now is 'yesterday', expected a time like 2024-03-05" in outcome.err


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--now", "0001-01-01"),
        ("--now", "0001-01-01T00:00:00+14:00"),
        ("--now", "9999-12-31T23:59:59-12:00"),
        ("--now", "1899-12-31"),
        ("--now", "3000-01-01"),
        ("--from", "0001-01-01"),
        ("--to", "9999-12-31"),
    ],
)
def test_a_time_without_room_around_it_is_refused_with_the_range(
    windrow: Windrow, shop: Path, option: str, text: str
) -> None:
    others = () if option == "--from" else ("--from", "2024-01-01")
    outcome = windrow("rerun", option, text, *others)
    assert outcome.exit_code == 2
    assert f"{option} is {text}" in outcome.err
    assert "expected a time from 1900-01-01 to 2999-12-31." in outcome.err


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31"])
def test_an_absurd_start_date_is_refused_with_the_range(
    windrow: Windrow, shop: Path, text: str
) -> None:
    outcome = windrow("run", "--vars", f"start_date: {text}")
    assert outcome.exit_code == 2
    assert "start_date" in outcome.err
    assert "expected a date from 1900-01-01 to 2999-12-31." in outcome.err


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize("command", ["run", "plan"])
def test_an_unknown_model_is_found_before_spark_starts(
    windrow: Windrow, shop: Path, command: str
) -> None:
    outcome = windrow(command, "--select", "sesions")
    assert outcome.exit_code == 2
    assert "Did you mean 'sessions'?" in outcome.err


def test_an_unknown_package_is_a_sentence(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("run", "--package", "wep")
    assert outcome.exit_code == 2
    assert "Did you mean 'web'?" in outcome.err


def test_a_project_without_packages_is_told_to_have_one(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("run", "--vars", "web: {enabled: false}")
    assert outcome.exit_code == 2
    assert "windrow.yml enables no package" in outcome.err


def test_version_is_printed(windrow: Windrow) -> None:
    assert windrow("--version").out == f"windrow {library.__version__}\n"


def test_without_arguments_there_is_help(windrow: Windrow) -> None:
    outcome = windrow()
    assert outcome.exit_code == 0
    assert "windrow demo" in outcome.out


@pytest.mark.parametrize(
    "command", ["plan", "run", "status", "ls", "generate", "doctor", "maintain"]
)
def test_every_command_on_a_project_takes_the_common_options(
    windrow: Windrow, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    out = windrow(command, "--help").out
    options = ("--project-dir", "--target", "--vars", "--log-format", "--quiet", "--json")
    assert [option for option in options if option not in out] == []
