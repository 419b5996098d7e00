"""The kinds of check: what each takes for an offence, and what it shows of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from windrow import (
    AcceptedValues,
    ConfigError,
    Expression,
    NotNull,
    OneValuePer,
    Relationship,
    Unique,
    model,
)
from windrow.config import PackageSettings
from windrow.engine.check_rows import SAMPLE_ROWS, CheckedRows, check_rows
from windrow.models.checks import Check, CheckResult, has_failed
from windrow.models.package import Package
from windrow.packages.ecommerce import ECOMMERCE
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.packages.mobile import MOBILE
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.web import WEB
from windrow.packages.web.settings import WebSettings
from windrow.tables.frames import frame_of

COLUMNS = {
    **dict.fromkeys(("id", "visit"), "string"),
    **dict.fromkeys(("number", "size"), "int"),
    **dict.fromkeys(("kind", "buyer"), "string"),
}
FINE = [
    ("a", "v1", 1, 2, "open", "anna"),
    ("b", "v1", 2, 2, "paid", None),
    ("c", "v2", 1, 1, None, "berta"),
]
WRONG = [
    ("a", "v1", 1, 2, "open", "anna"),
    ("a", "v1", 2, 2, "lost", "nobody"),
    (None, "v2", 1, 1, None, "berta"),
    (None, "v2", 1, 3, "paid", None),
]
CHECKS: tuple[Check, ...] = (
    Unique("id"),
    Unique(("visit", "number")),
    NotNull(("id", "size")),
    AcceptedValues("kind", ("open", "paid"), severity="warn"),
    OneValuePer("size", per="visit"),
    Expression("number <= size", shows=("number", "size")),
    Relationship("buyer", to="buyers", to_column="name"),
)


@pytest.fixture(scope="module")
def buyers(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Those of this run, and all there are."""
    near = frame_of(spark, [("anna",), (None,)], {"name": "string"})
    return near, frame_of(spark, [("anna",), ("berta",)], {"name": "string"})


def checked(spark: SparkSession, rows: list[tuple[object, ...]], *parents: DataFrame):
    frame = frame_of(spark, rows, COLUMNS)
    return CheckedRows("orders", ("id",), frame, frame, lambda name: parents)


def test_rows_that_are_fine_pass_every_check(spark: SparkSession, buyers):
    results = check_rows(checked(spark, FINE, *buyers), CHECKS)
    assert [result.check for result in results] == [
        "unique(id)",
        "unique(visit, number)",
        "not_null(id)",
        "not_null(size)",
        "accepted_values(kind)",
        "one_value_per(size, visit)",
        "expression(number <= size)",
        "relationship(buyer -> buyers.name)",
    ]
    assert {(result.outcome, result.failures, result.sample) for result in results} == {
        ("passed", 0, ())
    }


def test_each_kind_counts_and_shows_what_offends_and_lets_nulls_be(spark: SparkSession, buyers):
    results = check_rows(checked(spark, WRONG, *buyers), CHECKS)
    assert {result.check: (result.failures, list(result.sample)) for result in results} == {
        # Two null keys are not one key twice.
        "unique(id)": (1, [{"id": "a", "times": "2"}]),
        "unique(visit, number)": (1, [{"visit": "v2", "number": "1", "times": "2"}]),
        "not_null(id)": (2, [{"id": None}, {"id": None}]),
        "not_null(size)": (0, []),
        "accepted_values(kind)": (1, [{"id": "a", "kind": "lost"}]),
        "one_value_per(size, visit)": (1, [{"visit": "v2", "values": "2"}]),
        "expression(number <= size)": (0, []),
        "relationship(buyer -> buyers.name)": (1, [{"id": "a", "buyer": "nobody"}]),
    }
    outcomes = {result.check: result.outcome for result in results}
    assert outcomes["accepted_values(kind)"] == "warned"
    assert outcomes["unique(id)"] == "failed"


def test_no_rows_pass_every_check(spark: SparkSession):
    results = check_rows(checked(spark, []), CHECKS)
    assert len(results) == 8
    assert {result.outcome for result in results} == {"passed"}


def test_a_sample_is_short_however_many_rows_offend(spark: SparkSession):
    rows = [(str(n), "v", n, 0, None, None) for n in range(1, 21)]
    (result,) = check_rows(checked(spark, rows), [CHECKS[5]])
    assert result.failures == 20
    assert len(result.sample) == SAMPLE_ROWS
    assert result.sample[0] == {"id": "1", "number": "1", "size": "0"}


def test_a_new_key_that_was_stored_before_is_a_duplicate_and_an_old_pair_is_not(
    spark: SparkSession,
):
    stored = checked(spark, [*FINE, *FINE[:2], *FINE[:1]])
    new = replace(stored, rows=stored.rows.where("id in ('b', 'c')"))
    (result,) = check_rows(new, [Unique("id")])
    assert (result.failures, result.sample) == (1, ({"id": "b", "times": "2"},))


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (NotNull("nmber"), "no column 'nmber'. Did you mean 'number'"),
        (Expression("nmber > 1"), "cannot be made"),
        (Relationship("buyer", to="buyers", to_column="nam"), "no column 'nam'. Did you mean"),
    ],
)
def test_a_check_on_a_column_that_is_not_there_is_a_configuration_error(
    spark: SparkSession, buyers, check: Check, message: str
):
    with pytest.raises(ConfigError, match=message):
        check_rows(checked(spark, FINE, *buyers), [check])


def test_an_unknown_severity_is_an_error_with_a_hint():
    with pytest.raises(ConfigError, match="Did you mean 'warn'"):
        NotNull("id", severity="warning")  # type: ignore[arg-type]


def test_only_checks_can_be_declared():
    with pytest.raises(ConfigError, match="'id' is not a check"):
        model(key="id", checks=["id"])(lambda events: events)  # type: ignore[list-item]


def test_a_key_is_checked_unasked_and_a_declared_check_may_soften_that():
    @model(key=("a", "b"), checks=[NotNull(("b", "c"), severity="warn")])
    def own(events: DataFrame) -> DataFrame:
        return events

    assert [(check.name, check.severity) for check in own.all_checks] == [
        ("unique(a, b)", "error"),
        ("not_null(a)", "error"),
        ("not_null(b)", "warn"),
        ("not_null(c)", "warn"),
    ]


def test_only_a_failed_check_of_severity_error_fails_the_whole():
    warned = CheckResult("t", "not_null(a)", "warn", failures=3)
    assert not has_failed([warned, CheckResult("t", "unique(a)", "error")])
    assert has_failed([warned, CheckResult("t", "unique(a)", "error", failures=1)])


@pytest.mark.parametrize(
    ("package", "settings"),
    [
        (WEB, WebSettings(enable_consent=True, enable_cwv=True)),
        (MOBILE, MobileSettings(enable_app_errors_module=True)),
        (ECOMMERCE, EcommerceSettings()),
        (ECOMMERCE, EcommerceSettings(compat=True)),
    ],
)
def test_every_check_of_a_package_names_columns_of_its_table(
    package: Package, settings: PackageSettings
):
    members = package.enabled_models(settings)
    assert len(members) > 3
    for member in members:
        columns = member.columns_for(settings)
        assert columns is not None
        named = {name for check in member.all_checks for name in check.reads}
        assert named <= set(columns), member.name
        assert {f"unique({', '.join(member.key)})"} <= {it.name for it in member.all_checks}


def test_the_page_on_checks_lists_those_of_the_web_package():
    page = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    members = WEB.enabled_models(WebSettings(enable_consent=True, enable_cwv=True))
    assert len(members) > 3
    for member in members:
        errors, warnings = (
            ", ".join(f"`{it.name}`" for it in member.all_checks if it.severity == severity)
            for severity in ("error", "warn")
        )
        assert f"\n| `{member.name}` | {errors} | {warnings} |\n" in page
