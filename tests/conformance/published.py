"""The published events and expected tables beside the checkout, and how to compare with them."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping, Set
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow import Project, RunResult
from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.packages import PACKAGES

FIXTURES = Path(__file__).resolve().parents[3] / "shared" / "fixtures"

WAIVER = "WINDROW_WITHOUT_CONFORMANCE"


def need_fixtures() -> None:
    """Fail where the published tables are missing; skip for whoever has said to do without."""
    if os.environ.get(WAIVER) == "1":
        pytest.skip(f"without conformance: {WAIVER} is 1")
    missing = [name for name in PACKAGES if not (FIXTURES / name).is_dir()]
    if missing:
        pytest.fail(
            f"The published fixtures of {', '.join(missing)} are not in {FIXTURES}. Put them "
            f"there, or do without conformance: {WAIVER}=1",
            pytrace=False,
        )


def published_events(spark: SparkSession, file: Path) -> DataFrame:
    """Typed standard columns; the JSON columns as the text they are."""
    with file.open(newline="", encoding="utf-8") as lines:
        rows = [
            {
                name: None if value == "" or value.lower() == "null" else value
                for name, value in row.items()
            }
            for row in csv.DictReader(lines)
        ]
    schema = ", ".join(f"`{name}` string" for name in rows[0])
    text = spark.createDataFrame([tuple(row.values()) for row in rows], schema)
    return text.select(
        *(
            F.col(name).try_cast(STANDARD_COLUMNS.get(name, "string")).alias(name)
            for name in text.columns
        )
    )


class Runs:
    """Runs a project's package at one clock and reads what it left."""

    package: str
    now: datetime

    def __init__(self, spark: SparkSession, project_dir: Path) -> None:
        self.spark, self.project_dir = spark, project_dir

    def project(self, vars: dict | None = None) -> Project:
        return Project.load(self.project_dir, spark=self.spark, vars=vars)

    def run(self, vars: dict | None = None, **options) -> RunResult:
        return self.project(vars).run(self.package, now=self.now, **options)

    def table(self, model: str) -> DataFrame:
        ws = self.project().workspace(self.package)
        return ws.tables.read(ws.table(ws.model(model)))


def window(result: RunResult) -> tuple[int, str, str]:
    """State, lower and upper limit of a run, as the published checkpoints write them."""
    limits = result.plan.limits
    return (
        limits.state.number,
        f"{limits.lower:%Y-%m-%d %H:%M:%S.%f}"[:-3],
        f"{limits.upper:%Y-%m-%d %H:%M:%S.%f}"[:-3],
    )


def expected_rows(file: Path) -> tuple[list[str], list[dict[str, str]]]:
    with file.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        rows = list(reader)
        return list(reader.fieldnames or []), rows


def plain(value: object, tolerance_digits: int = 6) -> object:
    """One way to write a value, whether it comes from a table or from a published file."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "null")):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (int, float, Decimal)):
        return round(float(value), tolerance_digits)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, dict):
        return tuple((key, plain(item)) for key, item in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    text = str(value)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (_number, _instant, _array, _map):
        found = read(text)
        if found is not None:
            return found
    return text


def _number(text: str) -> object:
    try:
        return round(float(text), 6) if not text.startswith(("+", "0x")) else None
    except ValueError:
        return None


def _instant(text: str) -> object:
    trimmed = text.removesuffix(" UTC").removesuffix("+00:00")
    if len(trimmed) < 10 or trimmed[4:5] != "-":
        return None
    try:
        return datetime.fromisoformat(trimmed).isoformat(sep=" ")
    except ValueError:
        return None


def _array(text: str) -> object:
    if not text.startswith("["):
        return None
    try:
        return tuple(plain(item) for item in json.loads(text))
    except ValueError:
        return None


def _map(text: str) -> object:
    if not (text.startswith("{") and "->" in text):
        return None
    pairs = (pair.split(" -> ") for pair in text.strip("{}").split(", "))
    return tuple(sorted((key, plain(value)) for key, value in pairs))


def assert_equals_published(
    table: DataFrame,
    file: Path,
    *,
    leave_out: Set[str] = frozenset(),
    within: Mapping[str, float] | None = None,
) -> None:
    """Same rows, compared by column name; the columns of `within` may differ by so much."""
    tolerances = within or {}
    names, published = expected_rows(file)
    assert set(names) - leave_out == set(table.columns) - leave_out
    names = [name for name in names if name not in leave_out]
    # Exact columns first: they decide which rows are compared with one another.
    names.sort(key=lambda name: name in tolerances)
    text = table.select(
        *(
            F.date_format(name, "yyyy-MM-dd HH:mm:ss.SSSSSS").alias(name)
            if kind == "timestamp"
            else F.col(name)
            for name, kind in table.select(*names).dtypes
        )
    )
    found = sorted((tuple(plain(row[n]) for n in names) for row in text.collect()), key=repr)
    wanted = sorted((tuple(plain(row[n]) for n in names) for row in published), key=repr)
    assert len(found) == len(wanted)
    for have, want in zip(found, wanted, strict=True):
        differences = {
            name: (h, w)
            for name, h, w in zip(names, have, want, strict=True)
            if h != w and not _is_near(h, w, tolerances.get(name))
        }
        assert not differences


def _is_near(have: object, want: object, tolerance: float | None) -> bool:
    if tolerance is None or not isinstance(have, float) or not isinstance(want, float):
        return False
    return abs(have - want) <= tolerance + 1e-9
