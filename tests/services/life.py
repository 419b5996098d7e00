"""A project's life on one target, in a process of its own: python life.py WHICH FOLDER TARGET."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from windrow import Project, RefusedError, RunResult, compare
from windrow.columns.rules import rule_of
from windrow.engine.privileges import written_schemas
from windrow.engine.scratch import write_scratch
from windrow.engine.workspace import Workspace
from windrow.operations.doctor import checks
from windrow.tables import TableName

# The function is the module's, not the model's: executors, which have no such module, must get
# the function itself.
OWN_MODEL = """
from pyspark.sql import functions as F
from windrow import model

MARKS = "!!"

def shouted(text):
    return (text or "").upper() + MARKS

@model(key="page_view_id", date="start_tstamp")
def loud_views(page_views):
    loud = F.udf(shouted, "string")("page_url").alias("loud")
    return page_views.select("page_view_id", "domain_sessionid", "start_tstamp", loud)
"""
URL_LENGTH = """, loud, F.length("page_url").alias(
        "url_length", metadata={"comment": "Number of characters."}
    ))"""
WIDER_MODEL = OWN_MODEL.replace(", loud)", URL_LENGTH)
KEPT = "as-one-local-run-made-them"


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say how long it took."""
    begun = time.monotonic()
    yield
    sys.stdout.write(f"{name}: {time.monotonic() - begun:.0f} s\n")
    sys.stdout.flush()


def well(*results: RunResult) -> None:
    """They all did what they were asked to."""
    both = [it for result in results for it in (result, result.catch_up) if it is not None]
    models = [model for result in both for model in result.models]
    errors = [f"{model.name}: {model.error}" for model in models if model.error]
    assert results
    assert not any(result.has_failed for result in results), errors


def comments(ws: Workspace, table: TableName) -> dict[str, str]:
    """What a table says of each of its columns."""
    fields = ws.tables.read(table).schema.fields
    return {field.name: field.metadata.get("comment", "") for field in fields}


class Life:
    """What happens to a project on one target, step by step."""

    def __init__(self, folder: Path, target: str) -> None:
        self.folder, self.target = folder, target
        self.own = folder / "models" / "loud_views.py"

    def project(self) -> Project:
        """Loaded anew each time, as by a command."""
        return Project.load(self.folder, target=self.target)

    def on_this_machine(self) -> None:
        """One run over all of it; its tables are kept, for others to be compared with."""
        self.own.write_text(OWN_MODEL)
        self._run_until_caught_up(5)
        ws = self.project().workspace("web")
        for member in self.project().models("web"):
            rows = ws.tables.read(ws.table(member))
            rows.write.parquet(str(self.folder / KEPT / member.name))

    def whole(self) -> None:
        """All that a project does in its life."""
        self.own.unlink(missing_ok=True)
        with step("first run"):
            self._run_until_caught_up(3)
        with step("a new model, and two days more"):
            self.own.write_text(OWN_MODEL)
            *_, last = self._run_until_caught_up(5)
        with step("rollback"):
            self.project().rollback("web", last.run_id)
        with step("standard run of a subset"):
            well(self.project().run("web", now=day(5), select="page_views"))
        with step("the others catch up"):
            self._run_until_caught_up(5)
        self._rerun_and_maintain()
        self._doctor()
        self.compare()

    def short(self) -> None:
        """What a store or a catalog has to stand, after a first run up to the third day."""
        self._doctor()
        with step("a column more, and two days"):
            self.own.write_text(WIDER_MODEL)
            *_, last = self._run_until_caught_up(5)
        self._columns()
        self._scratch()
        with step("a full refresh is refused"), pytest.raises(RefusedError, match="allow_refresh"):
            self.project().run("web", now=day(5), full_refresh=True)
        with step("rollback"):
            self.project().rollback("web", last.run_id)
        with step("run again"):
            self._run_until_caught_up(5)
        self._rerun_and_maintain()
        self.compare()

    def _rerun_and_maintain(self) -> None:
        with step("rerun"):
            plan = self.project().plan_rerun("web", first=day(3), last=day(4), now=day(5))
            well(*self.project().rerun("web", plan))
        with step("maintain"):
            self.project().maintain("web", delete=True, now=day(5))

    def compare(self) -> None:
        """The tables are those of one local run; nothing more is in them but columns."""
        project = self.project()
        ws = project.workspace("web")
        members = project.models("web")
        with step("compare"):
            for member in members:
                kept = ws.spark.read.parquet(str(self.folder / KEPT / member.name))
                rows = ws.tables.read(ws.table(member)).select(*kept.columns)
                found = compare(rows, kept, member.key)
                assert found.rows_a > 0, member.name
                assert found.is_equal, (member.name, found)
        assert len(members) == len(list((self.folder / KEPT).iterdir()))

    def _doctor(self) -> None:
        with step("doctor"):
            found = [check for check in checks(self.project) if not check.is_fine]
            assert not found, found
        ws = self.project().workspace("web")
        if ws.tables.place.catalog:
            names = [name for schema in written_schemas(ws) for name in ws.tables.names(schema)]
            assert names
            assert not [name for name in names if name.startswith("windrow_doctor")]

    def _columns(self) -> None:
        """The column that came later is there; what is said of columns is in the tables."""
        with step("columns"):
            ws = self.project().workspace("web")
            for member in self.project().models("web"):
                declared = member.columns_for(ws.settings) or {}
                told = {name: rule_of(type_) for name, type_ in declared.items()}
                if member.path:
                    told = {"url_length": "Number of characters."}
                stored = comments(ws, ws.table(member))
                assert {name: stored.get(name) for name in told} == told, member.name

    def _scratch(self) -> None:
        """A table of the last run's makes way for one of other columns."""
        with step("scratch"):
            ws = self.project().workspace("web")
            table = ws.this_run_table("trial")
            first = ws.spark.range(1).selectExpr("id as number", "id as kind")
            second = ws.spark.range(2).selectExpr("'new' as kind", "id as other")
            for rows in (first, second):
                write_scratch(ws, table, rows)
                stored = ws.tables.read(table).select(rows.columns)
                assert sorted(stored.collect()) == sorted(rows.collect())
            ws.tables.drop(table)
            # Delta tables by path on a store cannot be dropped: they stay, empty.
            is_dropped = not ws.tables.exists(table)
            assert is_dropped or not (ws.tables.place.catalog or ws.tables.read(table).count())

    def _run_until_caught_up(self, until: int) -> list[RunResult]:
        results = self.project().run_until_caught_up("web", now=day(until))
        well(*results)
        return results


if __name__ == "__main__":
    _, which, folder, target = sys.argv
    getattr(Life(Path(folder), target), which)()
