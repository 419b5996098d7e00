"""What the driver, or one task, has of a run is bounded; beyond the bound rows are the same.

Which bounds there are: docs/scale.md, and tests/test_driver.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from event_tables import TableSite
from normalized import Normalized, entry
from plan_texts import optimized_plan
from random_runs import days_become_old
from traffic import END, consent_and_vitals, loaded, traffic
from website import Site, contents, event, event_frame
from windrow.atomic.entity_columns import WEB_PAGE
from windrow.engine.intake import window
from windrow.tables import frames

MANY = 20_000


def test_rows_are_sent_to_the_others_only_while_they_are_few(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(frames, "MOST_SENT", 10)

    def joined(at_most: int) -> str:
        keys = spark.createDataFrame([(3,)], "id bigint")
        rows = spark.range(9).join(frames.few(keys, at_most), "id")
        return optimized_plan(rows)

    assert "strategy=broadcast" in joined(10)
    assert "strategy=broadcast" not in joined(11)


@pytest.mark.ci
@days_become_old()
def test_a_run_of_more_keys_than_are_sent_makes_the_same_tables(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options = {"max_session_days": 10, "lookback_window_hours": 1}
    whole = loaded(spark, tmp_path / "whole", 1, **options)
    whole.run(END)
    monkeypatch.setattr(frames, "MOST_SENT", -1)
    few, asked = frames.few, set[str]()
    # Every module has the function under its own name.
    for name in ("key_days", "intake.session_events"):

        def noted(rows: DataFrame, at_most: int, name: str = name) -> DataFrame:
            asked.add(name)
            return few(rows, at_most)

        monkeypatch.setattr(f"windrow.engine.{name}.few", noted)
    site = TableSite(spark, tmp_path / "site", **options)
    events = [*traffic(1), *consent_and_vitals(1)]
    # The second half is late, so that stored keys are looked for on old days.
    for batch in (events[1::2], events[::2]):
        site.arrive(*batch)
        assert not site.run(END).has_failed
    assert contents(site) == contents(whole)
    assert asked == {"key_days", "intake.session_events"}


@pytest.mark.ci
def test_of_very_many_names_of_events_every_model_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(window, "MOST_NAMES", 2)
    tables = [
        entry(name, event_columns=["page_url"], table_name=name, version="1")
        for name in ("page_view", "purchase")
    ]
    site = Normalized(spark, tmp_path, events=tables)
    names = ("page_view", "page_ping", "other")
    site.arrive(*(event(f"e-{name}", None, "2024-01-02 10:00", name) for name in names))
    run = site.run("2024-01-03 00:00")
    # Nobody can tell that there is no purchase, so its table is made, without rows.
    assert {it.name: it.rows for it in run.models} == {"page_view_1": 1, "purchase_1": 0}
    assert site.rows("purchase_1", "event_id") == []


def many(spark: SparkSession, one: DataFrame, session: str, page: str) -> DataFrame:
    """An event many times over, a second apart; `n` is its number."""
    later = F.expr("make_interval(0, 0, 0, 0, 0, 0, n)")
    times = [name for name, kind in one.dtypes if kind == "timestamp"]
    given = one.crossJoin(spark.range(MANY).withColumnRenamed("id", "n"))
    return given.withColumns(
        {
            **{name: F.col(name) + later for name in times},
            "event_id": F.expr(f"concat({session}, '-', n)"),
            "domain_sessionid": F.expr(session),
            WEB_PAGE.name: F.expr(f"array(named_struct('id', {page}))"),
        }
    ).drop("n")


@pytest.mark.ci
def test_one_session_and_one_user_of_very_many_events_are_added_up(
    spark: SparkSession, tmp_path: Path
):
    site = Site(spark, tmp_path)
    site.arrive(event("e1", "s1", "2024-01-02 10:00", page="p1", cookie="anna"))
    begin = "2024-01-02 11:00"
    view = event_frame(spark, [event("v", "long", begin, page="endless", cookie="robot")])
    ping = event_frame(spark, [event("x", "x", begin, "page_ping", cookie="robot")])
    visit = event_frame(spark, [event("y", "y", begin, cookie="regular")])
    # A page that is open for hours, and somebody whose every view is a session of its own.
    pings = many(spark, ping, "'long'", "'endless'")
    visits = many(spark, visit, "concat('v', n)", "concat('p', n)")
    for rows in (view, pings, visits):
        place = str(tmp_path / "events")
        rows.write.mode("append").parquet(place)
    run = site.run("2024-01-03 00:00")
    assert run.outcome == "succeeded"

    assert run.counts is not None
    assert run.counts["events"] == 2 * MANY + 2
    sessions = site.table("sessions").where("domain_sessionid = 'long'")
    ((events, views, seconds),) = sessions.select(
        "total_events", "page_views", "engaged_time_in_s"
    ).collect()
    assert (events, views) == (MANY + 1, 1)
    # A ping every second is a heartbeat every ten.
    assert abs(seconds - MANY) <= 20
    assert site.rows("users", "domain_userid", "sessions") == [
        *(("anna", 1), ("regular", MANY), ("robot", 1))
    ]
