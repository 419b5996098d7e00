"""Packages that run in one command: each as if alone, and events that both need read once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from phone_app import App, app_event
from website import ONLY_PAGE_VIEWS, Event, Site, at, event, rows
from windrow import Project, UsageError
from windrow.cli import main
from windrow.engine.steps import Step
from windrow.state.leases import Intent

pytestmark = pytest.mark.ci

LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
INTO: Any = {"ignore": shutil.ignore_patterns("_SUCCESS*", "._*"), "dirs_exist_ok": True}


class Both(App):
    """A project with web and mobile over the same events."""

    def packages(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {"mobile": settings, "web": dict(settings)}

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every table of both packages, but not when each row was made."""
        found = {}
        for package in ("web", "mobile"):
            ws = self.project().workspace(package)
            tables = [*(ws.table(member) for member in ws.models), ws.lifecycle, ws.manifest]
            for table in tables:
                found[str(table)] = rows(ws.tables.read(table).drop("model_tstamp"))
        return found


def visits(day: int) -> list[Event]:
    """A day on the site and in the app; one session of each began the day before."""
    on, before = f"2024-01-{day:02d}", f"2024-01-{day - 1:02d}"
    return [
        event(f"w{day}", f"s{day}", f"{on} 10:00", page=f"p{day}"),
        event(f"w{day}n", f"n{day}", f"{before} 23:58", page=f"n{day}"),
        event(f"w{day}m", f"n{day}", f"{on} 00:05", "page_ping", page=f"n{day}"),
        app_event(f"m{day}", f"a{day}", f"{on} 11:00", screen=f"c{day}", user_id="anna"),
        app_event(f"m{day}n", f"b{day}", f"{before} 23:57", screen=f"d{day}"),
        app_event(f"m{day}m", f"b{day}", f"{on} 00:06", screen=f"e{day}"),
    ]


def test_events_that_two_packages_need_are_read_once(spark: SparkSession, tmp_path: Path):
    both = Both(spark, tmp_path / "both", **ONLY_PAGE_VIEWS)
    late = event("late", "s2", "2024-01-02 10:30", page="late")
    # By another process: what this session writes, it reads anew.
    elsewhere = Both(spark, tmp_path / "elsewhere", **ONLY_PAGE_VIEWS)
    elsewhere.arrive(late)
    told: list[str] = []

    def arrive_late(package: str) -> None:
        if package == "web":
            shutil.copytree(elsewhere.folder / "events", both.folder / "events", **INTO)

    def run(now: str, begin: Callable[[str], None] = lambda package: None) -> None:
        done = both.project().run_all(
            now=at(now), begin=begin, listener=lambda step: told.append(step.detail)
        )
        assert [runs.runs[0].outcome for runs in done.values()] == ["succeeded"] * 2

    both.arrive(*visits(2))
    run("2024-01-03 00:00", arrive_late)
    # What mobile had read, web did not read again: it could not see what had come in between.
    web = both.project().workspace("web")
    pages = web.tables.read(web.table(web.model("page_views"))).select("page_view_id")
    assert rows(pages) == [("n2",), ("p2",)]
    both.arrive(*visits(5))
    run("2024-01-06 00:00")
    assert [line for line in told if " share " in line] == [
        "mobile and web share 2024-01-01 00:00:00 to 2024-01-03 00:00:00",
        "mobile and web share 2024-01-02 05:00:00 to 2024-01-06 00:00:00",
    ]

    elsewhere.arrive(*visits(2), *visits(5))
    for package in ("web", "mobile"):
        elsewhere.project().run(package, now=at("2024-01-06 00:00"))
    expected = elsewhere.contents()
    assert all(expected.values())
    assert both.contents() == expected


def test_what_a_command_looks_at_first_is_as_small_as_in_a_run_alone(
    spark: SparkSession, tmp_path: Path
):
    both = Both(spark, tmp_path, **ONLY_PAGE_VIEWS)
    both.arrive(*visits(2))
    seen: list[str | None] = []

    def look(step: Step) -> None:
        if step.name == "plan":
            seen.append(spark.conf.get(LISTING))

    both.project().run_all(now=at("2024-01-03 00:00"), listener=look)
    assert spark.conf.get(LISTING) != "64"
    assert seen == ["64"] * 4


def test_an_error_of_one_package_does_not_stop_the_other(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    both = Both(spark, tmp_path)
    both.arrive(*visits(2))
    held = both.project().workspace("web")
    held.leases.prepare()
    held.runs.prepare()
    held.leases.take("web", "another-run", Intent(), 10, after=None)
    command = ("run", "--project-dir", str(tmp_path), "--now", "2024-01-03", "--json")
    chosen = ("--select", "page_views", "--select", "screen_views")
    assert main((*command, *chosen), spark=spark) == 3
    mobile, web = json.loads(capsys.readouterr().out)["packages"]
    assert (web["runs"], web["error"]["type"]) == ([], "LockedError")
    assert mobile["error"] is None
    assert [it["name"] for it in mobile["runs"][0]["models"]] == ["snowplow_mobile_screen_views"]


def test_a_selection_may_leave_a_package_out(tmp_path: Path, spark: SparkSession):
    project: Project = Both(spark, tmp_path).project()
    (only,) = project.choices(["web", "mobile"], "+screen_views", "page_views")
    assert (only.package, only.select, only.exclude) == ("mobile", "+screen_views", None)
    with pytest.raises(UsageError, match="No model matches 'tag:none'"):
        project.choices(["web", "mobile"], "screen_views", "tag:none")
    with pytest.raises(UsageError, match="leaves no model"):
        project.choices(["web", "mobile"], "page_views,screen_views")


@pytest.mark.parametrize("own_events", [True, False])
def test_packages_share_nothing_over_other_events_or_if_told_so(
    spark: SparkSession, tmp_path: Path, own_events: bool
):
    both = Both(spark, tmp_path, **ONLY_PAGE_VIEWS)
    both.arrive(*visits(2))
    file = yaml.safe_load((tmp_path / "windrow.yml").read_text())
    if own_events:
        elsewhere = Site(spark, tmp_path / "elsewhere")
        elsewhere.arrive(event("x", "x", "2024-01-02 10:00", page="x"))
        file["packages"]["web"]["events"] = {"path": str(tmp_path / "elsewhere" / "events")}
    else:
        file["events"]["read_once"] = False
    (tmp_path / "windrow.yml").write_text(yaml.safe_dump(file, sort_keys=False))
    told: list[str] = []
    both.project().run_all(
        now=at("2024-01-03 00:00"), listener=lambda step: told.append(step.detail)
    )
    assert not [line for line in told if "share" in line]
    assert both.rows("screen_views", "screen_view_id") == [("c2",), ("d2",), ("e2",)]
