"""Events that are loaded long after they were collected are taken in, where the source can tell."""

from __future__ import annotations

import os
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from event_tables import TableSite
from normalized import entry
from random_runs import days_become_old, few_examples
from traffic import END, EVERYTHING, consent_and_vitals, loaded, traffic
from website import Event, Site, at, contents, event, event_frame
from windrow.engine.steps import Step
from windrow.state.limits import State, late_limits

FIRST = (
    event("e1", "s1", "2024-01-02 10:00", page="p1", cookie="anna"),
    event("e2", "s2", "2024-01-09 12:00", page="p2", cookie="ben"),
)
LATE = (
    # Of a session that is known, before its start; and of one that nobody has heard of.
    event("l1", "s1", "2024-01-02 09:00", page="p0", cookie="anna"),
    event("l2", "s9", "2024-01-05 09:00", page="p9", cookie="cleo"),
    # Nobody's, and from before the start date.
    event("l3", None, "2024-01-05 09:30"),
    event("l4", "s8", "2023-12-05 09:30", page="p8"),
)
ON_TIME = event("e3", "s2", "2024-01-09 12:30", page="p3", cookie="ben")


class Unplugged(KeyboardInterrupt):
    """Someone stops the run."""


class StopsAtSecondIntake:
    """A listener that stops a command when its second run takes in events."""

    def __init__(self) -> None:
        self.intakes = 0

    def __call__(self, step: Step) -> None:
        self.intakes += (step.name, step.status) == ("events", "done")
        if self.intakes == 2:
            raise Unplugged


def views(site: Site) -> list[str]:
    return [row[0] for row in site.rows("page_views", "page_view_id")]


def test_late_days_become_steps_that_leave_out_what_lies_between():
    days = [at("2023-03-05").date(), *(at(f"2024-01-{day:02d}").date() for day in (1, 3, 4, 9))]
    steps = late_limits(days, before=at("2024-01-09 06:00"), backfill_limit_days=3)
    assert [(it.lower, it.upper.date()) for it in steps] == [
        (at("2023-03-05"), at("2023-03-05").date()),
        (at("2024-01-01"), at("2024-01-03").date()),
        (at("2024-01-04"), at("2024-01-04").date()),
        (at("2024-01-09"), at("2024-01-09").date()),
    ]
    assert steps[-1].upper < at("2024-01-09 06:00")
    assert {it.state for it in steps} == {State.LATE}


@pytest.mark.ci
def test_late_events_come_in_even_after_a_run_that_was_stopped(spark: SparkSession, tmp_path: Path):
    site = TableSite(spark, tmp_path / "site")
    site.arrive(*FIRST)
    site.run("2024-01-10 00:00")
    site.arrive(*LATE, ON_TIME)
    plan = site.project().plan("web", now=at("2024-01-10 01:00"))
    assert [step.late_events for step in plan.late] == [2]

    with pytest.raises(Unplugged):
        site.run("2024-01-10 01:00", listener=StopsAtSecondIntake())
    assert views(site) == ["p1", "p2", "p3"]

    # The window has nothing new any more, and what was late is not forgotten.
    result = site.run("2024-01-10 01:00")
    assert result.outcome == "nothing_to_do"
    (late,) = result.late
    assert late.outcome == "succeeded"
    assert late.counts is not None
    told = ("late_events", "sessions", "window_events", "window_left_out", "window_without_session")
    assert [late.counts[name] for name in told] == [2, 2, 3, 1, 1]
    ledger = site.workspace.runs.last("web", 1)[0]
    assert (ledger.state, ledger.counts["late_events"]) == ("late", 2)
    assert ledger.source_version

    whole = Site(spark, tmp_path / "whole")
    whole.arrive(*FIRST, *LATE, ON_TIME)
    whole.run("2024-01-10 01:00")
    assert contents(site) == contents(whole)

    site.compact()
    again = site.run("2024-01-10 01:00")
    assert (again.outcome, again.late, again.plan.notes) == ("nothing_to_do", (), ())


@pytest.mark.ci
@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_nobody_loses_late_events_to_a_selection_or_in_silence(
    spark: SparkSession, tmp_path: Path, format: str
):
    options = {"disabled_models": ["users"]}
    site = TableSite(spark, tmp_path / "site", format=format, **options)
    site.arrive(*FIRST)
    site.run("2024-01-10 00:00")
    site.arrive(*LATE)
    assert site.run("2024-01-10 01:00", select="page_views").late[0].outcome == "succeeded"
    assert views(site) == ["p0", "p1", "p2", "p9"]
    # Sessions were not among the models that took them in.
    assert [row[0] for row in site.rows("sessions", "domain_sessionid")] == ["s1", "s2"]
    site.run("2024-01-10 01:00")
    assert [row[0] for row in site.rows("sessions", "domain_sessionid")] == ["s1", "s2", "s9"]
    assert not site.run("2024-01-10 01:00").late

    # What was committed before history was lost is told of, and what comes then is caught again.
    site.arrive(event("l5", "s5", "2024-01-04 09:00", page="p5"))
    site.arrive(event("e4", "s2", "2024-01-09 12:40", page="p4"))
    site.lose_history()
    result = site.run("2024-01-10 02:00")
    assert result.outcome == "succeeded"
    assert not result.late
    assert "collector time decides" in result.plan.notes[0]
    assert "p5" not in views(site)
    site.arrive(event("l6", "s5", "2024-01-04 09:10", page="p6"))
    assert not site.run("2024-01-10 03:00").plan.notes
    assert "p6" in views(site)


@pytest.mark.ci
def test_late_events_change_what_others_have(spark: SparkSession, tmp_path: Path):
    known = (
        # Of two sessions with the same page view the later one is known first.
        event("b1", "sB", "2024-01-05 10:00", page="shared", cookie="ben", user_id="bert"),
        event("b2", "sB", "2024-01-05 10:05", page="own", cookie="ben"),
        # Of a session with two cookies, the later one; it has told who its other session is of.
        event("c1", "sC", "2024-01-03 10:00", page="pC", cookie="rotated", user_id="carl"),
        event("d2", "sD", "2024-01-04 11:00", page="pD", cookie="rotated", user_id="dora"),
        # And of one more, the only session that its cookie has.
        event("e2", "sE", "2024-01-06 11:00", page="pE", cookie="once", user_id="emil"),
        event("z1", "sZ", "2024-01-09 12:00", page="pZ", cookie="zoe"),
    )
    late = (
        event("a1", "sA", "2024-01-02 10:00", page="shared", cookie="anna"),
        event("d1", "sD", "2024-01-04 10:00", page="pD", cookie="first"),
        event("e1", "sE", "2024-01-06 10:00", page="pE", cookie="before"),
    )
    whole = Site(spark, tmp_path / "whole")
    whole.arrive(*known, *late)
    whole.run("2024-01-10 00:00")
    site = TableSite(spark, tmp_path / "site")
    site.arrive(*known)
    site.run("2024-01-10 00:00")
    assert site.rows("user_mapping", "domain_userid", "user_id") == [
        *(("ben", "bert"), ("once", "emil"), ("rotated", "dora"))
    ]
    site.arrive(*late)
    (run,) = site.run("2024-01-10 01:00").late
    assert run.counts is not None
    # sB, whose page view went to sA, and sC, the other session of the cookie that lost sD.
    assert [run.counts[name] for name in ("sessions", "sessions_along")] == [5, 2]
    assert site.rows("user_mapping", "domain_userid", "user_id") == [
        *(("before", "emil"), ("ben", "bert"), ("first", "dora"), ("rotated", "carl"))
    ]
    assert site.rows("page_views", "page_view_id", "domain_sessionid", "page_views_in_session") == [
        *(("own", "sB", 1), ("pC", "sC", 1), ("pD", "sD", 1), ("pE", "sE", 1)),
        *(("pZ", "sZ", 1), ("shared", "sA", 1)),
    ]
    assert contents(site) == contents(whole)


def arriving(site: TableSite, batches: list[list[Event]]) -> None:
    """Run after each of the batches that arrive."""
    for batch in batches:
        site.arrive(*batch)
        assert not site.run(END).has_failed


def shuffled(seed: int, order: int, parts: int) -> list[list[Event]]:
    """A week's events in any order, in so many batches."""
    events = [*traffic(seed), *consent_and_vitals(seed)]
    random.Random(order).shuffle(events)
    return [events[number::parts] for number in range(parts)]


LONG_LIVES: dict[str, Any] = {
    **EVERYTHING,
    "max_session_days": 10,
    "upsert_lookback_days": 30,
    "lookback_window_hours": 1,
}
"""Who is in quarantine takes in nothing more, so that it would depend on what came first."""


@pytest.mark.ci
@days_become_old()
def test_any_order_of_arrival_ends_in_the_tables_of_one_run(spark: SparkSession, tmp_path: Path):
    whole = loaded(spark, tmp_path / "whole", 1, **LONG_LIVES)
    whole.run(END)
    site = TableSite(spark, tmp_path / "site", **LONG_LIVES)
    arriving(site, shuffled(1, 7, 3))
    assert contents(site) == contents(whole)


class FolderSite(Site):
    """Plain files, of which those count that came since the last run, by the time of each."""

    def __init__(self, spark: SparkSession, folder: Path, **options: Any) -> None:
        super().__init__(spark, folder, **options)
        file = folder / "windrow.yml"
        project = yaml.safe_load(file.read_text())
        project["events"] = {"path": "./events", "new_by": "load"}
        file.write_text(yaml.safe_dump(project))

    def arrive(self, *events: Event) -> None:
        rows = event_frame(self.spark, events).drop("load_tstamp").coalesce(1)
        rows.write.mode("append").parquet(str(self.folder / "events"))

    def hours_go_by(self) -> None:
        """The files that are there were written hours ago."""
        for file in (self.folder / "events").glob("*.parquet"):
            written = file.stat().st_mtime - 2 * 3600
            os.utime(file, (written, written))


class StampedSite(FolderSite):
    """Plain files, whose events say when they were loaded: at the turn of an hour."""

    hour = 0

    def arrive(self, *events: Event) -> None:
        loaded_at = at(END) + timedelta(hours=self.hour)
        Site.arrive(self, *({**it, "load_tstamp": loaded_at} for it in events))

    def hours_go_by(self) -> None:
        self.hour += 1


@pytest.mark.ci
@pytest.mark.parametrize("kind", [FolderSite, StampedSite])
@days_become_old()
def test_any_order_of_arrival_in_a_folder_ends_in_the_tables_of_one_run(
    spark: SparkSession, tmp_path: Path, kind: type[FolderSite]
):
    options = {"disabled_models": ["users"], "max_session_days": 10, "upsert_lookback_days": 30}
    events = traffic(1)
    random.Random(7).shuffle(events)
    whole = kind(spark, tmp_path / "whole", **options)
    whole.arrive(*events)
    whole.run(END)

    site = kind(spark, tmp_path / "site", **options)
    late = []
    for number in range(2):
        site.arrive(*events[number::2])
        late.append(len(site.run(END).late))
        site.hours_go_by()
    # All days of the second half lie before its window, but for the last.
    assert late == [0, 1]
    assert contents(site) == contents(whole)
    again = site.run(END)
    assert (again.outcome, again.late, again.plan.notes) == ("nothing_to_do", (), ())


@pytest.mark.slow
@few_examples(3)
@given(seed=st.integers(0, 99), order=st.integers(0, 999), parts=st.integers(2, 5))
def test_random_orders_of_arrival_end_in_the_tables_of_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    order: int,
    parts: int,
):
    folder = tmp_path_factory.mktemp("orders")
    whole = loaded(spark, folder / "whole", seed, **LONG_LIVES)
    whole.run(END)
    format = random.Random(order).choice(["delta", "iceberg"])
    site = TableSite(spark, folder / "site", format=format, **LONG_LIVES)
    arriving(site, shuffled(seed, order, parts))
    assert contents(site) == contents(whole)


class NormalizedTable(TableSite):
    """Events of a table, as they are, in a package without sessions."""

    package = "normalize"


@pytest.mark.ci
def test_a_package_without_sessions_takes_late_events_in(spark: SparkSession, tmp_path: Path):
    views = entry("page_view", event_columns=["page_url"], table_name="views", version="1")
    site = NormalizedTable(spark, tmp_path, events=[views])
    site.arrive(*FIRST)
    site.run("2024-01-10 00:00")
    site.arrive(*LATE)
    (late,) = site.run("2024-01-10 01:00").late
    assert late.counts is not None
    assert late.counts["late_events"] == 3
    stored = [row[0] for row in site.rows("views_1", "event_id")]
    assert stored == ["e1", "e2", "l1", "l2", "l3"]
