"""Environment variables in windrow.yml."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project_files import Loaded, Problems, Web, with_web
from windrow.config.substitution import substitute


@pytest.mark.parametrize(
    ("text", "environ", "filled"),
    [
        ("${A}", {"A": "x"}, "x"),
        ("a/${A}/${B}", {"A": "x", "B": "y"}, "a/x/y"),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-d}", {"A": "x"}, "x"),
        ("${A:-}", {}, ""),
        ("${A}", {"A": ""}, ""),
        ("${A}", {"A": "${B}"}, "${B}"),
        ("$${A}", {"A": "x"}, "${A}"),
        ("$A", {"A": "x"}, "$A"),
    ],
)
def test_variables_are_filled_in(text: str, environ: Any, filled: str) -> None:
    assert substitute(text, environ, "f") == (filled, [])


@pytest.mark.parametrize(
    ("line", "value", "option", "expected"),
    [
        ("heartbeat: ${V}", "7", "heartbeat", 7),
        ('heartbeat: "${V}"', "7", "heartbeat", 7),
        ("heartbeat: ${V:-7}", "", "heartbeat", 7),
        ("compat: ${V}", "true", "compat", True),
        ("start_date: ${V}", "2024-01-31", "start_date", date(2024, 1, 31)),
        ("app_id: ${V}", "007", "app_id", ("007",)),
        ("dev_target_name: ${V}", "2024", "dev_target_name", "2024"),
        ("heartbeat: ${V}", "", "heartbeat", 10),
        ("app_id: ${V:-}", "", "app_id", ()),
    ],
)
def test_a_whole_variable_takes_the_type_of_the_option(
    web: Web, line: str, value: str, option: str, expected: Any
) -> None:
    assert getattr(web(line, environ={"V": value}), option) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("x", "a whole number"), ("-1", "a number of at least 1")]
)
def test_a_variable_of_the_wrong_type_is_a_problem(
    problems: Problems, value: str, expected: str
) -> None:
    (problem,) = problems(with_web("heartbeat: ${V}"), environ={"V": value})
    assert problem.expected == expected


def test_conf_from_a_variable_stays_text(loaded: Loaded) -> None:
    text = "name: x\ntargets: {dev: {warehouse: w, spark: {conf: {a: '${V}'}}}}"
    assert loaded(text, environ={"V": "0123"}).chosen_target.spark.conf == {"a": "0123"}


def test_missing_variables_are_all_named_with_their_paths(problems: Problems) -> None:
    found = problems(with_web("app_id: ['${ONE}', 'x-${TWO}']"))
    assert [(p.path, p.found) for p in found] == [
        ("packages.web.app_id.0", "${ONE}"),
        ("packages.web.app_id.1", "${TWO}"),
    ]
    assert "ONE to be set" in str(found[0])


@pytest.mark.parametrize("text", ["${A", "${}", "${1A}", "${A:d}", "${A:-${B}}", "x${A B}"])
def test_a_misspelt_variable_is_a_problem(text: str) -> None:
    (problem,) = substitute(text, {"A": "x"}, "windrow.yml", ("name",))[1]
    assert problem.expected.startswith("${VAR} or ${VAR:-default}")


TARGETS = """
name: x
target: ${TARGET:-dev}
targets:
  dev: {warehouse: w}
  prod: {catalog: "${CATALOG}"}
"""


def test_variables_of_another_target_need_not_be_set(loaded: Loaded) -> None:
    assert loaded(TARGETS).target == "dev"


def test_variables_of_the_chosen_target_must_be_set(problems: Problems) -> None:
    assert [p.path for p in problems(TARGETS, target="prod")] == ["targets.prod.catalog"]
    assert [p.path for p in problems(TARGETS, environ={"TARGET": "prod"})] == [
        "targets.prod.catalog"
    ]


def test_default_target_may_be_a_variable_that_must_be_set(problems: Problems) -> None:
    assert [p.path for p in problems(TARGETS.replace(":-dev", ""))] == ["target"]


@given(st.text())
def test_text_without_variables_is_left_alone(text: str) -> None:
    quiet = text.replace("${", "")
    assert substitute({"a": [quiet]}, {}, "f") == ({"a": [quiet]}, [])


@given(st.text(), st.text())
def test_what_a_variable_holds_is_taken_as_it_is(value: str, around: Any) -> None:
    around = around.replace("$", "")
    assert substitute(f"{around}${{V}}", {"V": value}, "f") == (around + value, [])
