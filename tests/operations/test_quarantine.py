"""Who is in quarantine and why, in by hand, and out again: one site, and what happens to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Event, Site, at, event
from windrow.cli import main
from windrow.engine.holding import look
from windrow.engine.options import RunOptions
from windrow.engine.refresh import fresh_start
from windrow.errors import RefusedError, UsageError
from windrow.operations import rerun

pytestmark = pytest.mark.ci

LONGER = {"web": {"max_session_days": 10}}


def view(session: str, when: str) -> Event:
    return event(f"{session} {when}", session, when, page=f"{session} {when}")


@pytest.fixture(scope="module", params=["delta", "iceberg"])
def site(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Site:
    """A session that lasted too long, and one that somebody put into quarantine before it ended."""
    folder = tmp_path_factory.mktemp("quarantine")
    site = Site(spark, folder, format=request.param, **ONLY_PAGE_VIEWS)
    site.arrive(
        *(view("long", f"2024-01-0{day} 10:00") for day in (2, 4, 6)),
        view("probe", "2024-01-05 10:00"),
        view("other", "2024-01-06 20:00"),
    )
    assert site.run("2024-01-07 00:00").outcome == "succeeded"
    added = site.project().add_to_quarantine("web", ["probe", "long", "probe", "it's"])
    assert (added.added, added.there_before) == (("probe", "it's"), ("long",))
    site.arrive(view("probe", "2024-01-06 21:00"), view("other", "2024-01-06 21:00"))
    done = site.run("2024-01-07 01:00")
    assert (done.counts or {})["window_quarantined"] == 1
    return site


def in_quarantine(site: Site) -> list[str]:
    return [row[0] for row in site.rows("quarantine", "session_id")]


def views(site: Site, session: str) -> list[Any]:
    found = site.rows("page_views", "domain_sessionid", "start_tstamp", "page_views_in_session")
    return [row[1:] for row in found if row[0] == session]


def test_the_list_tells_why_since_when_and_by_whom(site: Site, capsys: Any) -> None:
    listed = site.project().quarantined("web")
    found = {it.session: (it.reason, it.start, it.end) for it in listed.sessions}
    assert listed.total == 3
    assert found == {
        "long": ("max_session_days", at("2024-01-02 10:00"), at("2024-01-05 10:00")),
        "probe": ("by_hand", at("2024-01-05 10:00"), at("2024-01-05 10:00")),
        "it's": ("by_hand", None, None),
    }
    first_run = site.workspace.runs.last("web", 3)[2]
    of_long = next(it for it in listed.sessions if it.session == "long")
    assert (of_long.run_id, of_long.since) == (first_run.run_id, at("2024-01-07 00:00"))
    asked = ["quarantine", "ls", "--limit", "1", "--project-dir", str(site.folder), "-q"]
    assert main(asked, spark=site.spark) == 0
    assert "These are 1 of 3 sessions, the newest first; --limit shows more." in (
        capsys.readouterr().out
    )


def test_a_session_that_would_come_back_at_once_is_not_released(site: Site) -> None:
    runs = site.workspace.runs.last("web", 5)
    with pytest.raises(RefusedError, match="long would be quarantined again by the next run, as"):
        site.project().release_from_quarantine("web", ["probe", "long"])
    with pytest.raises(UsageError, match=r"Not in the quarantine of web: prob\. Did you mean"):
        site.project().release_from_quarantine("web", ["prob"])
    assert in_quarantine(site) == ["it's", "long", "probe"]
    assert site.workspace.runs.last("web", 5) == runs


def test_a_release_that_is_stopped_leaves_the_session_in(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        assert in_quarantine(site) == ["it's", "long"]
        raise KeyboardInterrupt

    monkeypatch.setattr(rerun, "process", stop)
    with pytest.raises(KeyboardInterrupt):
        site.project().release_from_quarantine("web", ["probe"])
    assert in_quarantine(site) == ["it's", "long", "probe"]
    assert len(site.project().quarantined("web").sessions) == 3


def test_a_released_session_is_processed_again_whole_and_alone(site: Site, capsys: Any) -> None:
    assert views(site, "probe") == [("2024-01-05 10:00:00", 1)]
    before = site.rows("manifest", "model", "last_success")
    asked = ["quarantine", "release", "probe", "it's", "--now", "2024-01-07 02:00", "--json", "-q"]
    assert main([*asked, "--project-dir", str(site.folder)], spark=site.spark) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["released"], document["unknown"]) == (["probe", "it's"], ["it's"])
    (run,) = document["runs"]
    assert (run["counts"]["events"], run["counts"]["sessions"]) == (2, 1)
    assert views(site, "probe") == [("2024-01-05 10:00:00", 2), ("2024-01-06 21:00:00", 2)]
    assert views(site, "other") == [("2024-01-06 20:00:00", 2), ("2024-01-06 21:00:00", 2)]
    assert in_quarantine(site) == ["long"]
    assert site.rows("manifest", "model", "last_success") == before
    (told,) = site.project().explain("session", "other", now=at("2024-01-07 02:00"))
    assert run["run_id"] not in [it.run_id for it in told.runs]


def test_an_over_long_session_is_whole_once_it_may_be_longer(site: Site) -> None:
    released = site.project(LONGER).release_from_quarantine("web", ["long"])
    assert (released.released, released.again) == (("long",), ())
    days = [("2024-01-02 10:00:00", 3), ("2024-01-04 10:00:00", 3), ("2024-01-06 10:00:00", 3)]
    assert views(site, "long") == days
    assert in_quarantine(site) == []

    # What was done by hand is taken back like the work of runs, the notes too.
    (run,) = released.runs
    back = site.project().plan_rollback("web", str(run.run_id))
    names = {change.table.name for change in back.tables}
    assert {"snowplow_web_base_quarantined_sessions", "snowplow_web_quarantine_notes"} <= names
    ws = site.workspace
    fresh = fresh_start(ws, ws.models, look(ws).positions, RunOptions(full_refresh=True))
    assert ws.quarantine_notes in fresh.empties


def test_a_project_without_a_run_says_so(spark: SparkSession, tmp_path: Path) -> None:
    site = Site(spark, tmp_path, format="delta", **ONLY_PAGE_VIEWS)
    assert site.project().quarantined("web").sessions == ()
    with pytest.raises(UsageError, match="No run of web has happened yet"):
        site.project().add_to_quarantine("web", ["x"])
