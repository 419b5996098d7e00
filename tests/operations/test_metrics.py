"""A project's numbers, from literal states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from report.values import a_failed_result, a_lease, a_record, at
from windrow.engine.holding import Seen
from windrow.neighbours.prometheus import text
from windrow.operations.metrics import METRICS, samples_of
from windrow.state.runs import Outcome

LABELS = {"project": "shop", "target": "dev", "package": "web"}
STATE = Seen(
    positions={"snowplow_web_page_views": at(6), "snowplow_web_users": at(5)},
    last_lease=None,
    newest_runs=(replace(a_record(), number=7),),
)


def told(
    seen: Seen, labels: Mapping[str, str] = LABELS, *, is_running: bool = False
) -> dict[tuple[str, ...], float]:
    """Name and own labels -> value, as Prometheus reads the text."""
    samples = samples_of(seen, labels, at(7), quarantined=3, is_running=is_running)
    return {
        (it.name, *(it.labels[own] for own in sorted(set(it.labels) - set(labels)))): it.value
        for family in text_string_to_metric_families(text(samples))
        for it in family.samples
        if labels.items() <= it.labels.items()
    }


def test_the_newest_run_and_the_positions_are_told():
    found = told(STATE)
    assert found["windrow_runs_total",] == 7
    assert found["windrow_run_seconds",] == 65
    assert found["windrow_run_count", "window_too_late"] == 1
    assert found["windrow_model_rows", "snowplow_web_users"] == 80
    assert found["windrow_model_seconds", "snowplow_web_page_views"] == 3.1
    assert found["windrow_model_lag_seconds", "snowplow_web_users"] == 2 * 86_400
    assert found["windrow_quarantined_sessions",] == 3
    ended = (at(6) + timedelta(seconds=65)).timestamp()
    assert found["windrow_last_run_timestamp_seconds", "succeeded"] == ended


def test_a_failure_is_told_and_leaves_what_succeeded_before_it():
    failed = replace(
        a_record(),
        outcome=Outcome.FAILED,
        models=a_failed_result().models[:1],
        started_at=at(7),
        finished_at=at(7),
    )
    upkeep = replace(a_record(), outcome=Outcome.MAINTAINED, started_at=at(8), finished_at=at(8))
    found = told(replace(STATE, newest_runs=(upkeep, failed, *STATE.newest_runs)))
    assert found["windrow_recent_runs", "failed"] == found["windrow_recent_runs", "succeeded"] == 1
    assert found["windrow_recent_runs", "undone"] == 0
    assert found["windrow_model_failed", "snowplow_web_page_views"] == 1
    assert found["windrow_model_failed", "snowplow_web_users"] == 0
    # Rows are unknown where the model failed.
    assert ("windrow_model_rows", "snowplow_web_page_views") not in found
    assert found["windrow_last_run_timestamp_seconds", "failed"] == at(7).timestamp()


def test_a_run_that_goes_on_and_one_that_was_killed_are_told_apart():
    state = replace(STATE, unfinished=a_lease())
    going_on, killed = told(state, is_running=True), told(state)
    assert (going_on["windrow_running",], going_on["windrow_killed_run",]) == (1, 0)
    assert (killed["windrow_running",], killed["windrow_killed_run",]) == (0, 1)


def test_before_the_first_run_there_is_nothing_to_be_made_up():
    found = told(Seen(positions={}, last_lease=None))
    assert {name for name, *_ in found} == {
        *("windrow_recent_runs", "windrow_quarantined_sessions"),
        *("windrow_running", "windrow_killed_run", "windrow_tables_to_rebuild"),
    }


def test_a_project_may_be_called_anything():
    name = 'my "shop"\\\n{x="y"} 1\r'
    assert told(STATE, {**LABELS, "project": name})["windrow_runs_total",] == 7


def test_names_are_told_once_each():
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_every_metric_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "neighbours.md").read_text()
    names = [f"{it.name}_total" if it.kind == "counter" else it.name for it in METRICS]
    assert [name for name in names if f"`{name}`" not in page] == []
