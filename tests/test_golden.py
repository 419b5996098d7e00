"""Small cases of our own, whole: events in, tables out, reviewed by hand, a file per package.

They prove the five packages where the published fixtures are not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from large_runs import as_large_runs
from media import MediaSite, media_event
from normalized import Normalized
from phone_app import App, app_event
from shop import Shop, action, product
from website import Event, Site, event
from windrow.atomic.entity_columns import CMP_VISIBLE

CASES = Path(__file__).parent / "golden"


def made(build: Callable[..., Event], **row: Any) -> Event:
    """An event of a case's row."""
    row["when"] = str(row["when"])
    row["delay"] = timedelta(days=row.pop("days_late", 0))
    if products := row.pop("products", None):
        row["products"] = [product(**fields) for fields in products]
    if (elapsed := row.pop("banner", None)) is not None:
        row[CMP_VISIBLE.name] = {"elapsed_time": elapsed}
    return build(**row)


SITES: dict[str, tuple[type[Site], Callable[..., Event]]] = {
    "web": (Site, event),
    "mobile": (App, app_event),
    "ecommerce": (Shop, action),
    "media_player": (MediaSite, media_event),
    "normalize": (Normalized, event),
}


def test_every_package_has_a_case():
    assert {file.stem for file in CASES.glob("*.yml")} == SITES.keys()


@pytest.mark.parametrize("package", SITES)
def test_events_become_these_tables(spark: SparkSession, tmp_path: Path, package: str):
    assert_tables_of_the_case(spark, tmp_path, package)


@pytest.mark.ci
@pytest.mark.parametrize("package", SITES)
def test_they_do_so_too_as_spark_is_set_for_large_runs(
    spark: SparkSession, tmp_path: Path, package: str
):
    with as_large_runs(spark):
        assert_tables_of_the_case(spark, tmp_path, package)


def assert_tables_of_the_case(spark: SparkSession, folder: Path, package: str) -> None:
    case = yaml.safe_load((CASES / f"{package}.yml").read_text())
    site_type, build = SITES[package]
    site = site_type(spark, folder, **case.get("options", {}))
    site.arrive(*(made(build, **row) for row in case["events"]))
    assert not site.run(case["now"]).has_failed
    for name, table in case["tables"].items():
        assert _texts(site.rows(name, *table["columns"])) == _texts(table["rows"]), name


def _texts(rows: Iterable[Iterable[Any]]) -> list[list[str]]:
    """As they are written in a case, whatever the types."""
    return [["null" if value is None else str(value) for value in row] for row in rows]
