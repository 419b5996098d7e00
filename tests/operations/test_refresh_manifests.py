"""Single manifests made anew: what is known again, what is refused, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from website import ONLY_PAGE_VIEWS, Event, Site, at, contents, event
from windrow.cli import main
from windrow.errors import RefusedError, UsageError
from windrow.operations import refresh_manifests

pytestmark = pytest.mark.ci

LIFECYCLE = "snowplow_web_base_sessions_lifecycle_manifest"
LIFE = ("session_id", "domain_userid", "start_tstamp", "end_tstamp", "start_tstamp_date")


def view(session: str, when: str, **columns: Any) -> Event:
    return event(f"{session} {when}", session, when, page=f"{session} {when}", **columns)


@pytest.fixture(scope="module")
def site(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Sessions of several runs: one over-long, one put into quarantine, one that goes on."""
    site = Site(spark, tmp_path_factory.mktemp("refreshed"), **ONLY_PAGE_VIEWS)
    site.arrive(
        *(view("long", f"2024-01-0{day} 10:00") for day in (2, 4, 6)),
        view("probe", "2024-01-05 10:00"),
        view("goes on", "2024-01-06 20:00", cookie="first"),
    )
    site.run("2024-01-07 00:00")
    site.project().add_to_quarantine("web", ["probe"])
    site.arrive(
        view("probe", "2024-01-06 21:00"), view("goes on", "2024-01-07 19:00", cookie="then")
    )
    site.run("2024-01-08 00:00", {"web": {"lookback_window_hours": 1}})
    return site


def asked(site: Site, *words: str) -> list[str]:
    return ["run", *words, "--project-dir", str(site.folder), "--now", "2024-01-08 01:00", "-q"]


def sessions_in(site: Site, name: str) -> list[str]:
    return [row[0] for row in site.rows(name, "session_id")]


def test_sessions_are_known_again_from_the_events_and_go_on_where_they_began(
    site: Site, capsys: Any
) -> None:
    lives, everything = site.rows("lifecycle", *LIFE), contents(site)
    words = ("--refresh-manifests", "--select", LIFECYCLE, "--json")
    assert main(asked(site, *words), spark=site.spark) == 0
    (made,) = json.loads(capsys.readouterr().out)["manifests"]
    assert (made["manifest"], made["rows_before"], made["rows"]) == (
        "base_sessions_lifecycle_manifest",
        *(3, 3),
    )
    assert site.rows("lifecycle", *LIFE) == lives
    assert contents(site) == everything
    site.arrive(view("goes on", "2024-01-08 00:30"))
    site.run("2024-01-08 02:00", {"web": {"lookback_window_hours": 1}})
    found = site.rows("page_views", "domain_sessionid", "start_tstamp", "page_views_in_session")
    assert [row[1:] for row in found if row[0] == "goes on"] == [
        ("2024-01-06 20:00:00", 3),
        ("2024-01-07 19:00:00", 3),
        ("2024-01-08 00:30:00", 3),
    ]


def test_a_lifecycle_manifest_that_was_dropped_is_made_again(site: Site) -> None:
    lives = [row for row in site.rows("lifecycle", *LIFE) if row[0] != "probe"]
    ws = site.workspace
    ws.tables.drop(ws.lifecycle)
    with pytest.raises(RefusedError, match=f"--refresh-manifests --select {LIFECYCLE}"):
        site.run("2024-01-08 03:00")
    with pytest.raises(RefusedError, match=f"--refresh-manifests --select {LIFECYCLE}"):
        site.project().refresh_manifests("web", ["base_quarantined_sessions"])
    site.project().refresh_manifests("web", [LIFECYCLE])
    assert [row for row in site.rows("lifecycle", *LIFE) if row[0] != "probe"] == lives


def test_sessions_whose_events_are_gone_stay_known(site: Site) -> None:
    lives = site.rows("lifecycle", *LIFE)
    without = {"web": {"start_date": "2024-01-06"}}
    site.project(without).refresh_manifests("web", ["base_sessions_lifecycle_manifest"])
    assert site.rows("lifecycle", *LIFE) == lives


def test_the_quarantine_is_made_from_the_sessions_and_a_rollback_brings_the_others_back(
    site: Site, capsys: Any
) -> None:
    assert sessions_in(site, "quarantine") == ["long", "probe"]
    words = ("--full-refresh", "--select", "base_quarantined_sessions")
    assert main(asked(site, *words), spark=site.spark) == 0
    told = capsys.readouterr().out
    assert "snowplow_manifest.snowplow_web_base_quarantined_sessions: 1 session, 2 before." in told
    assert sessions_in(site, "quarantine") == ["long"]
    (note,) = site.project().quarantined("web").sessions
    assert (note.reason, note.end) == ("max_session_days", at("2024-01-05 10:00"))
    site.project().rollback("web", str(note.run_id))
    assert sessions_in(site, "quarantine") == ["long", "probe"]
    assert {it.reason for it in site.project().quarantined("web").sessions} == {
        *("max_session_days", "by_hand")
    }


def test_one_that_is_stopped_leaves_all_as_it_was(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: rows_of(site, name) for name in ("manifest", "lifecycle", "quarantine")}

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(refresh_manifests, "end", stop)
    every = ["incremental_manifest", LIFECYCLE, "base_quarantined_sessions"]
    with pytest.raises(KeyboardInterrupt):
        site.project().refresh_manifests("web", every)
    assert {name: rows_of(site, name) for name in before} == before


def rows_of(site: Site, name: str) -> list[tuple[Any, ...]]:
    return site.rows(name, *site.table(name).columns)


def test_forgetting_how_far_models_came_leaves_sessions_and_rows(site: Site) -> None:
    before, positions = contents(site), rows_of(site, "manifest")
    words = ("--refresh-manifests", "-m", "incremental_manifest")
    assert main(asked(site, *words), spark=site.spark) == 0
    assert rows_of(site, "manifest") == []
    assert contents(site) == before
    site.project().run_until_caught_up("web", now=at("2024-01-08 02:00"))
    assert rows_of(site, "manifest") == positions
    assert without_probe(contents(site)) == without_probe(before)


def without_probe(tables: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows but those of the session whose later events come in when its days are met again."""
    return {name: [row for row in rows if "probe" not in row[0]] for name, rows in tables.items()}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--select", LIFECYCLE], "--refresh-manifests --select base_sessions_lifecycle"),
        (["--refresh-manifests", "-s", LIFECYCLE, "page_views"], "leave out 'page_views'"),
        (["--full-refresh", "-s", LIFECYCLE, "--until-caught-up"], "leave out --until-caught-up"),
    ],
)
def test_what_cannot_be_meant_is_told(site: Site, capsys: Any, words: list[str], hint: str) -> None:
    assert main(asked(site, *words), spark=site.spark) == 2
    assert hint in capsys.readouterr().err


def test_manifests_are_protected_outside_dev_and_have_to_be_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    prod = Site(spark, tmp_path, target="prod", **ONLY_PAGE_VIEWS)
    for name in ("incremental_manifest", LIFECYCLE, "base_quarantined_sessions"):
        with pytest.raises(RefusedError, match=rf"{name} anew on target 'prod'.*allow_refresh"):
            prod.project().refresh_manifests("web", [name])
    allowed = prod.project({"web": {"allow_refresh": True}})
    with pytest.raises(UsageError, match="No run of web has happened yet"):
        allowed.refresh_manifests("web", [LIFECYCLE])
    with pytest.raises(UsageError, match=r"has no manifest 'lifecycle_manifest'\. Did you mean"):
        allowed.refresh_manifests("web", ["lifecycle_manifest"])


def test_what_was_emptied_comes_back_with_a_rollback_on_iceberg_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    site = Site(spark, tmp_path, format="iceberg", **ONLY_PAGE_VIEWS)
    site.arrive(*(view("long", f"2024-01-0{day} 10:00") for day in (2, 4, 6)))
    site.run("2024-01-07 00:00")
    before = contents(site), rows_of(site, "manifest")
    refreshed = site.project().refresh_manifests("web", site.project().manifests("web"))
    assert [made.rows for made in refreshed.manifests] == [0, 0, 0]
    site.project().rollback("web", refreshed.run_id)
    assert (contents(site), rows_of(site, "manifest")) == before
    rebuilt = site.run("2024-01-07 00:00", full_refresh=True)
    site.project().rollback("web", str(rebuilt.run_id))
    assert (contents(site), rows_of(site, "manifest")) == before
