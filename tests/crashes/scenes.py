"""What is going on when the plug is pulled, and what must be true after the next run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from crashes.kills import Change, Moment, changes_of, plug_pulled
from website import ONLY_PAGE_VIEWS, Site, at, contents, event, rows
from windrow.tables import TableName

LEDGER = TableName("snowplow_manifest", "windrow_runs")
MANIFEST = "_incremental_manifest"

OWN_MODEL = """
from pyspark.sql import functions as F
from windrow import model

@model(key={key}, date="start_tstamp")
def own_views(page_views):
    return page_views.select(
        "page_view_id", "domain_sessionid", "start_tstamp", F.lit({number}).alias("number")
    )
"""

DAY_ONE = (
    event("e1", "s1", "2024-01-01 10:00", page="p1"),
    event("e2", "s2", "2024-01-01 22:00", page="p2"),
    event("e3", "long", "2024-01-01 09:00", page="p3"),
)
# s2 goes on, so that its rows are replaced; `long` lasts longer than the day it may.
DAY_TWO = (
    event("e4", "s2", "2024-01-02 01:00", page="p4"),
    event("e5", "s3", "2024-01-02 12:00", page="p5"),
    event("e6", "long", "2024-01-02 20:00", page="p6"),
)
DAY_THREE = (event("e8", "s4", "2024-01-03 12:00", page="p8"),)
LOADED_LATE = event("e7", "s1", "2024-01-01 10:30", page="p7")


@dataclass(frozen=True)
class Scene:
    """A command on a site with some history, and what is done once it was killed."""

    history: Callable[[Site], None]
    command: Callable[[Site], Any]
    then: Callable[[Site], Any] | None = None
    """What comes next, killed or not; None: the command is given again if it was killed."""
    is_repeatable: bool = False
    """True when the command, given again, does all of it again: a re-run, a refresh."""
    is_given_up: bool = False
    """True when the command must leave no trace, as nobody gives it again."""


def nothing_yet(site: Site) -> None:
    site.arrive(*DAY_ONE)


def one_run(site: Site) -> None:
    site.arrive(*DAY_ONE)
    site.run("2024-01-02 00:00")
    site.arrive(*DAY_TWO)


def two_runs(site: Site) -> None:
    one_run(site)
    site.run("2024-01-03 00:00")
    site.arrive(LOADED_LATE)


def one_run_with_an_own_model(site: Site) -> None:
    write_own_model(site, key='"page_view_id"', number="1")
    one_run(site)


def refresh(site: Site) -> None:
    """Rebuild after a model of the user's got another type and another key."""
    write_own_model(site, key='("page_view_id", "domain_sessionid")', number="'one'")
    site.run("2024-01-03 00:00", full_refresh=True)


def run_without_refresh(site: Site) -> None:
    """As if nobody had asked for another type and a refresh."""
    write_own_model(site, key='"page_view_id"', number="1")
    site.run("2024-01-03 00:00")


def write_own_model(site: Site, *, key: str, number: str) -> None:
    models = site.folder / "models"
    models.mkdir(exist_ok=True)
    (models / "own.py").write_text(OWN_MODEL.format(key=key, number=number))


def rerun(site: Site) -> None:
    project = site.project()
    clock, first, last = (at(f"2024-01-0{day} 00:00") for day in (3, 1, 2))
    project.rerun("web", project.plan_rerun("web", first=first, last=last, now=clock))


def rollback(site: Site) -> None:
    """Back to before the second run."""
    newest = site.workspace.tables.read(LEDGER).orderBy("started_at").collect()[-1]
    site.project().rollback("web", newest["run_id"])


def maintain(site: Site) -> None:
    """Another layout for the page views, few files, no old versions."""
    by_session = {"web": {"cluster_by": {"page_views": ["domain_sessionid"]}}}
    site.project(by_session).maintain("web", retention_days=0, delete=True)


def run_at(now: str) -> Callable[[Site], Any]:
    return lambda site: site.run(now)


SCENES = {
    "first run": Scene(nothing_yet, run_at("2024-01-02 00:00")),
    "standard run": Scene(one_run, run_at("2024-01-03 00:00")),
    "rerun": Scene(two_runs, rerun, is_repeatable=True),
    "refresh": Scene(one_run_with_an_own_model, refresh, is_repeatable=True),
    "refresh given up": Scene(
        one_run_with_an_own_model, refresh, then=run_without_refresh, is_given_up=True
    ),
    "rollback": Scene(two_runs, rollback, then=run_at("2024-01-03 00:00")),
    "maintain": Scene(one_run, maintain, then=run_at("2024-01-03 00:00")),
}


class Stage:
    """A site that can be put back to where the history of a scene left it, as often as needed."""

    def __init__(self, spark: SparkSession, folder: Path, format: str, scene: Scene) -> None:
        self.scene, self.spark, self.folder = scene, spark, folder
        self.site = Site(
            spark, folder / "site", format=format, max_session_days=1, **ONLY_PAGE_VIEWS
        )
        scene.history(self.site)
        shutil.copytree(self.site.folder, folder / "before")
        self.changes: list[Change] = changes_of(lambda: scene.command(self.site))
        if scene.is_given_up:
            self.put_back()
        if scene.then is not None:
            scene.then(self.site)
        self.expected = state_of(self.site)
        """What the tables are when nothing is killed: the twin."""
        self.windows = Counter(windows_done(self.site))

    def put_back(self) -> None:
        """The site as it was before the command, at the same place: Iceberg notes paths."""
        shutil.rmtree(self.site.folder)
        shutil.copytree(self.folder / "before", self.site.folder)
        # What Delta remembers of tables at these paths is of others.
        self.spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def is_decided(self, moment: Moment) -> bool:
        """True when the command has committed the manifest by then, and so has happened.

        A command that leaves the manifest as it is happened once all its changes are made.
        """
        commits = [n for n, it in enumerate(self.changes, 1) if it.table.endswith(MANIFEST)]
        last = max(commits, default=len(self.changes))
        return moment.number > last or (moment.number == last and moment.is_after)

    def problems_after(self, first: Moment, *more: Moment) -> list[str]:
        """Kill the command, and what comes next, at these moments; then let it come next."""
        self.put_back()
        with plug_pulled(first) as watch:
            self.scene.command(self.site)
        if not watch.is_dead:
            return [f"nothing was stopped {first}; changes: {list(map(str, watch.changes))}"]
        then = self.scene.then or self.scene.command
        for moment in more:
            with plug_pulled(moment):
                then(self.site)
        then(self.site)
        return self.problems(self.is_decided(first))

    def problems(self, is_decided: bool) -> list[str]:
        """What differs from the undisturbed twin."""
        found = differences(state_of(self.site), self.expected)
        done = Counter(windows_done(self.site))
        again = 1 if self.scene.is_repeatable and is_decided else 0
        for window in done | self.windows:
            if not done[window]:
                found.append(f"the ledger has no succeeded run of {window}")
            if done[window] > max(self.windows[window] + again, 1):
                found.append(f"the ledger has {done[window]} succeeded runs of {window}")
        if left := self.site.project().unlock("web"):
            found.append(f"run {left} was left unfinished")
        return found


def state_of(site: Site) -> dict[str, Any]:
    """All that two sites must agree on: rows, columns, types, noted keys, how far models are."""
    ws = site.workspace
    tables = {member.name: ws.table(member) for member in ws.models}
    return {
        **contents(site),
        "manifest": rows(site.table("manifest")),
        **{f"columns of {name}": site.table(name).dtypes for name in tables},
        **{f"key of {name}": ws.tables.note(table).key for name, table in tables.items()},
    }


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """In words, shortly: rows are wide."""
    return [
        f"{name}: {_short(found.get(name))}, expected {_short(value)}"
        for name, value in expected.items()
        if found.get(name) != value
    ]


def _short(value: Any) -> str:
    if isinstance(value, Sequence) and value and isinstance(value[0], tuple) and len(value[0]) > 9:
        return f"{len(value)} rows {[row[0] for row in value]}"
    return str(value)


def windows_done(site: Site) -> list[tuple[str, str, str]]:
    """State and limits of every run that the ledger calls succeeded."""
    runs = site.workspace.tables.read(LEDGER).where(F.col("outcome") == "succeeded")
    return rows(runs.select("state", "lower_limit", "upper_limit"))


def outcomes(site: Site) -> list[str]:
    """How the runs in the ledger ended, in their order."""
    runs = site.workspace.tables.read(LEDGER).orderBy("started_at", "finished_at")
    return [row["outcome"] for row in runs.select("outcome").collect()]


def keys_stored_twice(site: Site) -> list[str]:
    """The models whose tables hold a key more than once."""
    ws = site.workspace
    return [
        member.name
        for member in ws.models
        if site.table(member.name).groupBy(*member.key).count().where("count > 1").count()
    ]
