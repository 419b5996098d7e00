"""A target that cannot be written to, or events that cannot be read, stop a run beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import Site, at, event
from windrow import SourceError
from windrow.engine.privileges import attempts
from windrow.engine.run import run
from windrow.errors import TableError
from windrow.operations.doctor import checks
from windrow.tables import DeltaTables

pytestmark = pytest.mark.ci


class Elsewhere(DeltaTables):
    """Tables whose folder cannot be looked at, as on an object store."""

    def folder(self, schema: str) -> Path | None:
        return None


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path) -> Site:
    site = Site(spark, tmp_path, format="delta")
    site.arrive(event("e1", "s1", "2024-01-01 10:00", page="p1"))
    return site


def test_a_warehouse_that_cannot_be_written_to_stops_the_run(site: Site):
    # A file in its place stops root too, whom permissions do not.
    (site.folder / "warehouse").write_text("")
    before = sorted(site.folder.rglob("*"))
    with pytest.raises(TableError, match=r"may not create tables in schema .*Nothing was written"):
        site.run("2024-01-02 00:00")

    ws = site.workspace
    elsewhere = replace(ws, tables=Elsewhere(ws.spark, warehouse=str(site.folder / "warehouse")))
    with pytest.raises(TableError, match=f"may not create tables in schema {ws.schemas.manifest}"):
        run(elsewhere, now=at("2024-01-02 00:00"))

    found = {check.name: check for check in checks(site.project)}
    failed = [check for check in found.values() if not check.is_fine]
    assert [check.name for check in failed] == [
        f"schema {name}" for name in (ws.schemas.derived, ws.schemas.manifest)
    ]
    assert found[f"schema {ws.schemas.scratch}"].detail.startswith("not needed")
    assert failed[0].detail.startswith(f"Missing: create tables in schema {ws.schemas.derived} (")
    assert "Not tried without it: write, alter, read, drop." in failed[0].detail
    assert sorted(site.folder.rglob("*")) == before


def test_what_a_run_writes_to_is_what_the_doctor_tries(site: Site):
    def tried(vars: Mapping[str, Any] | None = None) -> set[str]:
        found = checks(lambda: site.project(vars))
        return {it.name.removeprefix("schema ") for it in found if "written to by web" in it.detail}

    def written() -> set[str]:
        return {folder.name for folder in (site.folder / "warehouse").iterdir()}

    assert tried() == {"derived", "snowplow_manifest"}
    site.run("2024-01-02 00:00")
    assert written() == tried()

    keeping = {"web": {"keep_this_run": True}}
    assert tried(keeping) == {"derived", "scratch", "snowplow_manifest"}
    site.arrive(event("e2", "s2", "2024-01-02 10:00", page="p2"))
    site.run("2024-01-03 00:00", keeping)
    assert written() == tried(keeping)


def test_each_privilege_is_tried_by_itself(site: Site):
    ws = site.workspace
    names = [f"{verb} tables in schema derived" for verb in ("create", "write", "alter", "read")]
    assert [(it.privilege, it.problem) for it in attempts(ws, "derived")] == [
        *((name, None) for name in names),
        ("drop tables in schema derived", None),
    ]
    assert not (site.folder / "warehouse" / "derived").exists()


def test_events_that_can_be_listed_but_not_read_stop_the_run(site: Site):
    (file,) = (site.folder / "events").glob("*.parquet")
    file.with_name(f".{file.name}.crc").unlink()
    stored = file.read_bytes()
    footer = 8 + int.from_bytes(stored[-8:-4], "little")
    file.write_bytes(b"PAR1" + bytes(len(stored) - footer - 4) + stored[-footer:])

    with pytest.raises(SourceError, match=r"The file .*\.parquet cannot be read"):
        site.run("2024-01-02 00:00")
    assert not (site.folder / "warehouse").exists()
