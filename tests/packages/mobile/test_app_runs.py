"""What runs of the mobile package do: filters, stitching, caps, missing columns, web beside it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from phone_app import App, app_event
from website import at, event, event_frame, rows
from windrow import Project, SourceError
from windrow.atomic.entity_columns import CLIENT_SESSION, MOBILE_CONTEXT, SCREEN_VIEW
from windrow.cli import main
from windrow.engine.plan import Plan
from windrow.packages.mobile import MOBILE
from windrow.packages.mobile.settings import MobileSettings

OWN_COLUMNS = {
    "screen_views": [{"sql": "upper(screen_view_name) || '!'", "alias": "shouted"}, "event"],
    "sessions": [{"sql": "event_id", "alias": "first_event"}],
    "users": [{"sql": "session_id", "alias": "first_session"}],
}
OWN_TOTALS = {
    "sessions": [{"type": "count", "alias": "steps"}],
    "users": [{"type": "sum", "field": "steps", "alias": "all_steps"}],
}


PHONE = {MOBILE_CONTEXT.name: [{**dict.fromkeys(MOBILE_CONTEXT.fields), "os_type": "ios"}]}


@pytest.mark.ci
@pytest.mark.parametrize("compat", [False, True])
def test_a_device_that_only_the_first_event_names_is_a_user_unless_compat(
    spark: SparkSession, tmp_path: Path, compat: bool
):
    app = App(spark, tmp_path, compat=compat)
    app.arrive(
        app_event("e1", "s1", "2024-01-02 10:00", screen="a", device="d1", **PHONE),
        app_event("e2", "s1", "2024-01-02 10:01", screen="b", device="d2", user_id="anna"),
        app_event("e3", "s2", "2024-01-02 11:00", screen="c", device="d3"),
        *(
            app_event(f"l{day}", "long", f"2024-01-{day:02d} 12:00", screen=f"l{day}", device="d4")
            for day in (2, 4, 6)
        ),
    )
    first = app.run("2024-01-07 00:00")
    assert app.rows("sessions", "session_id", "device_user_id", "screen_views") == [
        ("long", "d4", 2),
        ("s1", "d1", 2),
        ("s2", "d3", 1),
    ]
    users = [row[0] for row in app.rows("users", "device_user_id")]
    assert users == (["d3", "d4"] if compat else ["d1", "d3", "d4"])
    # What a session has after its cap is ignored, but not in silence.
    assert (first.counts or {})["capped"] == 1
    # It counts as consumed, but for the reference.
    assert first.reached == at("2024-01-04 12:00" if compat else "2024-01-06 12:00")

    told: list[str] = []
    own = {"device": "d2", "user_id": "ben", **PHONE}
    app.arrive(app_event("e4", "s3", "2024-01-07 10:00", screen="d", **own))
    contexts = {"mobile": {"enable_mobile_context": True}}
    app.run("2024-01-08 00:00", contexts, listener=lambda step: told.append(step.detail))
    assert app.rows("user_mapping", "device_user_id", "user_id") == [("d2", "ben")]
    # A context that is switched on later: rows of before stay, and the run tells of it.
    assert app.rows("sessions", "session_id", "os_type") == [
        *(("long", None), ("s1", None), ("s2", None), ("s3", "ios"))
    ]
    changed = "mobile.enable_mobile_context was the default, is true"
    assert f"Options changed since the last run: {changed}" in told


@pytest.mark.parametrize("compat", [False, True])
def test_no_platforms_are_all_platforms(spark: SparkSession, compat: bool):
    events = event_frame(
        spark, [app_event(name, "s", "2024-01-02 10:00", platform=name) for name in ("mob", "tv")]
    )

    def taken(**options: Any) -> list[tuple[Any, ...]]:
        settings = MobileSettings(compat=compat, **options)
        base = MOBILE.foundation(settings)
        return rows(base.identified(events).where(base.is_usable(settings)).select("platform"))

    assert taken() == [("mob",)]
    assert taken(platform=[]) == [("mob",), ("tv",)]


@pytest.mark.parametrize("compat", [False, True])
def test_events_may_lack_screen_views_but_not_client_sessions(
    spark: SparkSession, tmp_path: Path, compat: bool
):
    app = App(spark, tmp_path, compat=compat)
    app.arrive(app_event("e1", "s1", "2024-01-02 10:00", "application_install"))
    events = spark.read.parquet(str(tmp_path / "events"))

    def plan_without(column: str) -> Plan:
        events.drop(column).write.parquet(str(tmp_path / column))
        narrow = {"mobile": {"events": {"path": str(tmp_path / column)}}}
        return app.project(narrow).plan("mobile", now=at("2024-01-03"))

    assert plan_without(SCREEN_VIEW.name).models
    with pytest.raises(SourceError, match=rf"'{CLIENT_SESSION.name}' is missing \(every run needs"):
        plan_without(CLIENT_SESSION.name)


@pytest.mark.ci
def test_wanted_events_of_apps_become_sessions_and_a_login_reaches_back(
    spark: SparkSession, tmp_path: Path
):
    app = App(
        spark,
        tmp_path,
        app_id=["shop"],
        platform=["mob", "srv"],
        days_late_allowed=-1,
        passthrough=OWN_COLUMNS,
        aggregations=OWN_TOTALS,
    )
    app.arrive(
        app_event("e1", "s1", "2024-01-02 10:00", screen="a", device="d1"),
        app_event("e2", "s1", "2024-01-02 10:01", screen="b", delay=timedelta(days=9), device="d1"),
        app_event("x1", "s2", "2024-01-02 10:00", screen="c", app_id="other"),
        app_event("x2", "s3", "2024-01-02 10:00", screen="d", platform="web"),
        app_event("x3", None, "2024-01-02 10:00", screen="e"),
        app_event("e3", "s4", "2024-01-02 10:00", screen="f", platform="srv", device=None),
        *(
            app_event(f"l{day}", "s5", f"2024-01-{day:02d} 12:00", screen=f"l{day}", device="d5")
            for day in range(2, 9)
        ),
    )
    first = app.run("2024-01-09 00:00")
    assert first.counts is not None
    told = ("window_other_app", "window_other_platform", "window_without_session", "capped")
    assert [first.counts[name] for name in told] == [1, 1, 1, 1]
    assert first.counts["window_past_cap"] == 3
    assert not app.workspace.tables.exists(app.workspace.quarantine)
    assert app.rows("sessions", "session_id", "screen_views", "stitched_user_id") == [
        ("s1", 2, "d1"),
        ("s4", 1, None),
        ("s5", 4, "d5"),
    ]
    assert app.rows("lifecycle", "session_id", "device_user_id", "end_tstamp")[2] == (
        "s5",
        "d5",
        "2024-01-05 12:00:00",
    )
    assert app.rows("users", "device_user_id", "sessions") == [("d1", 1), ("d5", 1)]

    app.arrive(
        app_event("e9", "s9", "2024-01-10 10:00", screen="z", device="d1", user_id="anna"),
        app_event("l9", "s5", "2024-01-10 10:00", screen="never", device="d5"),
    )
    second = app.run("2024-01-11 00:00")
    # The window has the last event of the first run once more.
    assert (second.counts or {})["window_past_cap"] == 2
    assert app.rows("sessions", "session_id", "stitched_user_id", "user_id") == [
        ("s1", "anna", None),
        ("s4", None, None),
        ("s5", "d5", None),
        ("s9", "anna", "anna"),
    ]
    assert app.rows("users", "device_user_id", "sessions", "screen_views") == [
        ("d1", 2, 3),
        ("d5", 1, 4),
    ]
    assert app.rows("screen_views", "screen_view_id", "shouted", "event")[:2] == [
        ("a", "A!", "unstruct"),
        ("b", "B!", "unstruct"),
    ]
    assert app.rows("sessions", "session_id", "first_event", "steps")[0] == ("s1", "e2", 2)
    assert app.rows("users", "device_user_id", "first_session", "all_steps") == [
        ("d1", "s1", 3),
        ("d5", "s5", 4),
    ]


@pytest.mark.ci
def test_an_app_without_screen_views_has_sessions_but_one_without_sessions_is_refused(
    spark: SparkSession, tmp_path: Path
):
    app = App(spark, tmp_path, quarantine=True, platform=[])
    app.arrive(
        app_event("e1", "s1", "2024-01-02 10:00", "application_install", platform="tv"),
        app_event("e2", "s1", "2024-01-06 10:00", "application_background"),
    )
    events = app.spark.read.parquet(str(tmp_path / "events"))
    events.drop(SCREEN_VIEW.name).write.parquet(str(tmp_path / "unseen"))
    unseen = {"mobile": {"events": {"path": str(tmp_path / "unseen")}}}
    app.run("2024-01-07 00:00", unseen)
    assert app.rows("sessions", "session_id", "has_install", "screen_views") == [("s1", True, None)]
    assert app.rows("quarantine", "session_id") == [("s1",)]

    events.drop(CLIENT_SESSION.name, MOBILE_CONTEXT.name).write.parquet(str(tmp_path / "nobody"))
    nobody = {"path": str(tmp_path / "nobody")}
    with pytest.raises(SourceError) as error:
        app.run("2024-01-08 00:00", {"mobile": {"events": nobody, "enable_mobile_context": True}})
    assert f"'{CLIENT_SESSION.name}' is missing (every run needs it)" in str(error.value)
    assert f"'{MOBILE_CONTEXT.name}' is missing (enable_mobile_context asks" in str(error.value)


@pytest.mark.ci
def test_web_and_mobile_live_in_one_project_and_run_in_one_command(
    spark: SparkSession, tmp_path: Path
):
    app = App(spark, tmp_path)
    file = yaml.safe_load((tmp_path / "windrow.yml").read_text())
    packages = {"web": {"start_date": "2024-01-01"}, **file["packages"]}
    (tmp_path / "windrow.yml").write_text(
        yaml.safe_dump({**file, "packages": packages}, sort_keys=False)
    )
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "own.py").write_text(
        "from windrow import model\n\n"
        "@model(key='page_view_id')\ndef pages(page_views):\n    return page_views\n\n"
        "@model(key='screen_view_id', package='mobile')\n"
        "def screens(screen_views):\n    return screen_views\n"
    )
    (tmp_path / "hooks.py").write_text(
        "def mobile_cluster_by_fields_screen_views(default):\n    return ['app_id']\n"
    )
    app.arrive(
        event("w1", "site", "2024-01-02 10:00", page="p1", user_id="anna"),
        app_event("m1", "app", "2024-01-02 10:00", screen="a", user_id="anna"),
    )
    command = ("run", "--project-dir", str(tmp_path), "--now", "2024-01-03", "--quiet")
    assert main(command, spark=spark) == 0

    project = Project.load(tmp_path, spark=spark)
    for package, session, own, tracked in (
        ("web", ("domain_sessionid", "site"), "pages", 13),
        ("mobile", ("session_id", "app"), "screens", 13),
    ):
        ws = project.workspace(package)
        sessions = ws.tables.read(ws.table(ws.model("sessions"))).select(session[0])
        assert [row[0] for row in sessions.collect()] == [session[1]]
        assert ws.tables.read(ws.manifest).count() == tracked
        assert ws.tables.read(ws.table(ws.model(own))).count() == 1
    assert ws.tables.layout(ws.table(ws.model("screen_views"))).cluster_by == ("app_id",)
