"""The JSON documents: their keys are a contract, their instants are ISO 8601 in UTC."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from report.values import (
    MODELS,
    a_diff,
    a_failed_result,
    a_lease,
    a_plan,
    a_rejected_result,
    a_rerun,
    a_result,
    a_rollback,
    a_run_that_begins,
    a_status,
    an_adoption,
    an_upkeep,
    at,
    ran,
    some_checks,
    some_volumes,
)
from windrow.engine.checking import CheckReport
from windrow.engine.steps import Step
from windrow.operations.doctor import Check
from windrow.operations.freshness import Freshness, Pauses
from windrow.operations.metrics import LAG, Sample
from windrow.report.adoptions import adoptions_document
from windrow.report.checks import reports_document
from windrow.report.differences import diff_document
from windrow.report.documents import (
    checks_document,
    error_document,
    metrics_document,
    models_document,
    moment,
    plans_document,
    rerun_document,
    rollback_document,
    runs_document,
    statuses_document,
    unlocks_document,
    upkeeps_document,
)
from windrow.report.step_documents import step_document
from windrow.report.tally import Tally
from windrow.state.limits import Limits, State
from windrow.tables import FileSizes

RUN_KEYS = {
    *("run_id", "outcome", "state", "state_number", "lower_limit", "upper_limit", "reached"),
    *("models", "counts", "nothing_because", "is_caught_up", "undone", "checks", "seconds"),
    *("notices", "late", "catch_up"),
}
CHECK_KEYS = {"table", "check", "severity", "outcome", "failures", "sample"}
MODEL_KEYS = {"name", "outcome", "rows", "seconds", "error"}


def test_a_run_document_has_exactly_its_documented_keys() -> None:
    document = runs_document(ran(a_result()))
    assert document.keys() == {"packages"}
    (package,) = document["packages"]
    assert package.keys() == {"package", "runs", "error"}
    assert package["error"] is None
    (run,) = package["runs"]
    assert run.keys() == RUN_KEYS
    assert all(outcome.keys() == MODEL_KEYS for outcome in run["models"])


def test_a_run_document_tells_state_window_and_rows() -> None:
    (run,) = runs_document(ran(a_result()))["packages"][0]["runs"]
    assert (run["state"], run["state_number"]) == ("standard", 4)
    assert run["lower_limit"] == "2024-03-05T18:00:00.000000Z"
    assert run["reached"] == "2024-03-06T23:00:00.000000Z"
    assert run["models"][0]["name"] == "snowplow_web_page_views"
    assert run["models"][0]["rows"] == 1200


def test_a_run_that_did_nothing_has_the_same_keys() -> None:
    plan = replace(a_plan(), nothing_because="there is no usable event.")
    nothing = replace(
        a_result(), run_id=None, plan=plan, outcome="nothing_to_do", models=(), counts=None
    )
    (run,) = runs_document(ran(nothing))["packages"][0]["runs"]
    assert run.keys() == RUN_KEYS
    assert (run["run_id"], run["models"], run["counts"]) == (None, [], {})
    assert run["nothing_because"] == "there is no usable event."


def test_a_failed_model_keeps_its_error() -> None:
    (run,) = runs_document(ran(a_failed_result()))["packages"][0]["runs"]
    assert [outcome["error"] for outcome in run["models"]] == [
        "no such column [x]",
        "reads page_views, which failed",
    ]


def test_a_rejected_run_tells_its_checks() -> None:
    (run,) = runs_document(ran(a_rejected_result()))["packages"][0]["runs"]
    assert run.keys() == RUN_KEYS
    assert (run["outcome"], run["reached"]) == ("rejected", None)
    assert [check["outcome"] for check in run["checks"]] == ["warned", "failed", "passed"]


def test_a_checks_document_has_exactly_its_documented_keys() -> None:
    report = CheckReport("web", "dev", "20240307T000000-ab12cd34", some_checks())
    nothing = CheckReport("web", "dev", None)
    document = reports_document([report, nothing])
    package, empty = document["packages"]
    assert package.keys() == {"package", "target", "run_id", "has_failed", "checks"}
    assert all(check.keys() == CHECK_KEYS for check in package["checks"])
    assert package["has_failed"] is True
    assert package["checks"][0]["sample"] == [{"page_view_id": "p2", "page_url": None}]
    assert (empty["run_id"], empty["has_failed"], empty["checks"]) == (None, False, [])
    assert json.loads(json.dumps(document)) == document


def test_a_plan_document_has_exactly_its_documented_keys() -> None:
    (plan,) = plans_document([a_plan()])["packages"]
    assert plan.keys() == {
        *("package", "target", "now", "state", "state_number", "lower_limit", "upper_limit"),
        *("models", "tracked", "nothing_because", "gap", "settled_until", "reads", "volumes"),
        "unbounded",
        *("looks_back", "notices", "late", "catch_up"),
    }
    assert plan["gap"] is None
    assert plan["models"] == ["snowplow_web_page_views", "snowplow_web_users"]


def test_freshness_has_exactly_its_documented_keys() -> None:
    pauses = Pauses(14, 0, timedelta(hours=2))
    positions = a_status().positions
    found = Freshness(at(7), timedelta(hours=6), at(6, 15), positions, (), pauses)
    (status,) = statuses_document([replace(a_status(), freshness=found)])["packages"]
    assert status["newest_event"] == "2024-03-06T15:00:00.000000Z"
    assert status["freshness"] == {
        "is_stale": True,
        "stale_after_hours": 6,
        "flow": "stopped",
        "newest_event_age_seconds": 32400.0,
        "model_age_seconds": {"snowplow_web_page_views": 86400.0, "snowplow_web_users": 86400.0},
        "behind": [],
        "pauses": {"days": 14, "days_as_long": 0, "longest_seconds": 7200.0},
    }


def test_what_is_done_beside_a_run_has_the_same_shape() -> None:
    lagging = replace(a_result(), plan=replace(a_plan(), models=MODELS[1:]), catch_up=None)
    (run,) = runs_document(ran(replace(a_result(), catch_up=lagging)))["packages"][0]["runs"]
    assert run["catch_up"].keys() == RUN_KEYS
    plan = replace(a_plan(), models=MODELS[:1], catch_up=replace(a_plan(), models=MODELS[1:]))
    (document,) = plans_document([plan])["packages"]
    assert document["catch_up"]["models"] == ["snowplow_web_users"]
    (status,) = statuses_document([replace(a_status(), plan=plan)])["packages"]
    assert status["catch_up"]["state"] == "standard"


def test_late_events_are_told_beside_a_plan_and_a_run() -> None:
    step = replace(a_plan(), limits=Limits(State.LATE, at(1), at(2), None, at(2)), late_events=7)
    plan = replace(a_plan(), late=(step,), notes=("History is gone.",))
    (document,) = plans_document([plan])["packages"]
    assert document["notices"] == ["History is gone."]
    assert [(it["state"], it["state_number"], it["events"]) for it in document["late"]] == [
        ("late", None, 7)
    ]
    result = replace(a_result(), plan=plan, late=(replace(a_result(), plan=step),))
    (run,) = runs_document(ran(result))["packages"][0]["runs"]
    assert [it.keys() for it in run["late"]] == [RUN_KEYS]
    assert run["late"][0]["lower_limit"] == "2024-03-01T00:00:00.000000Z"
    assert not result.has_failed
    assert replace(result, late=(a_failed_result(),)).has_failed


def test_a_rerun_document_has_exactly_its_documented_keys() -> None:
    plan = a_rerun()
    (document,) = rerun_document([plan], {"web": [a_result()]})["packages"]
    assert document.keys() == {
        *("package", "target", "from", "to", "models", "beyond_window"),
        *("steps_done_before", "steps", "runs"),
    }
    assert document["from"] == "2024-03-01T00:00:00.000000Z"
    assert [step.keys() for step in document["steps"]] == [{"lower_limit", "upper_limit"}] * 2
    assert document["beyond_window"] == ["snowplow_web_users"]
    assert document["runs"][0].keys() == RUN_KEYS


def test_documents_of_the_ways_back_have_exactly_their_documented_keys() -> None:
    document = rollback_document(a_rollback(), is_done=True)
    assert document.keys() == {"package", "target", "run_id", "is_done", "runs", "tables"}
    assert document["tables"] == [
        {"table": "derived.snowplow_web_users", "from_version": "9", "to_version": "7"},
        {"table": "derived.pages", "from_version": "3", "to_version": None},
    ]
    unlocked = unlocks_document({"web": "20240307T000000-ab12cd34", "mobile": None})
    assert unlocked["packages"] == [
        {"package": "web", "run_id": "20240307T000000-ab12cd34"},
        {"package": "mobile", "run_id": None},
    ]


def test_a_plan_document_tells_what_would_be_read() -> None:
    plan = replace(a_plan(), reads=FileSizes(files=3, bytes=1_234_567))
    assert plans_document([plan])["packages"][0]["reads"] == {"files": 3, "bytes": 1_234_567}


def test_a_plan_document_with_bytes_has_every_table() -> None:
    (plan,) = plans_document([replace(a_plan(), volumes=some_volumes())])["packages"]
    assert plan["volumes"] == {
        "like_run": "20240306T000000-ab12cd34",
        "tables": [
            {
                "table": "derived.page_views",
                "reads": {"files": 2, "bytes": 300_000},
                "writes": {"files": 3, "bytes": 450_000},
            },
            {"table": "derived.daily", "reads": None, "writes": None},
        ],
    }


def test_a_plan_over_a_gap_names_both_its_ends() -> None:
    (plan,) = plans_document([replace(a_plan(), gap=(at(1), at(5)))])["packages"]
    assert plan["gap"] == ["2024-03-01T00:00:00.000000Z", "2024-03-05T00:00:00.000000Z"]


def test_a_status_document_has_exactly_its_documented_keys() -> None:
    (status,) = statuses_document([replace(a_status(), lease=a_lease())])["packages"]
    assert status.keys() == {
        *("package", "target", "now", "state", "state_number", "lower_limit", "upper_limit"),
        *("nothing_because", "catch_up", "problem", "manifest", "out_of_sync", "quarantined"),
        *("edited", "left_behind", "newest_event", "freshness"),
        *("lease", "is_running", "last_runs"),
    }
    assert status["lease"].keys() == {
        *("run_id", "host", "pid", "started_at", "lease_until", "lower_limit", "upper_limit"),
    }
    assert status["last_runs"][0].keys() == {
        *("run_id", "outcome", "state", "state_number", "lower_limit", "upper_limit", "reached"),
        *("now", "started_at", "finished_at", "models", "counts", "error"),
    }
    assert status["manifest"]["snowplow_web_users"] == "2024-03-06T00:00:00.000000Z"


def test_a_status_without_a_plan_has_the_same_keys() -> None:
    broken = replace(a_status(), plan=None, problem="The events cannot be used.")
    whole = statuses_document([a_status()])["packages"][0]
    (status,) = statuses_document([broken])["packages"]
    assert status.keys() == whole.keys()
    assert (status["state"], status["problem"]) == (None, "The events cannot be used.")


def test_a_models_document_tells_frames_from_settings_and_stored_from_this_run() -> None:
    (package,) = models_document({"web": MODELS})["packages"]
    assert [member.keys() for member in package["models"]] == [
        {"name", "table", "kind", "key", "date", "grain", "tags", "inputs", "path", "description"}
    ] * 2
    assert [m["grain"] for m in package["models"]] == ["one row per page view", "one row per user"]
    assert package["models"][0]["inputs"] == [{"name": "events", "is_stored": False}]
    assert package["models"][1]["inputs"] == [
        {"name": "page_views", "is_stored": False},
        {"name": "users", "is_stored": True},
    ]


def test_a_doctor_document_is_fine_only_when_every_check_is() -> None:
    checks = [Check("Java", True, "17"), Check("Spark", False, "no", exit_code=1)]
    document = checks_document(checks)
    assert document["is_fine"] is False
    assert document["checks"][0] == {"name": "Java", "is_fine": True, "detail": "17"}


def test_an_upkeep_document_has_exactly_its_documented_keys() -> None:
    (upkeep,) = upkeeps_document([an_upkeep()])["packages"]
    assert upkeep.keys() == {
        *("package", "target", "run_id", "kept_since", "has_deleted", "undone", "tables"),
    }
    changed, skipped = upkeep["tables"]
    assert changed.keys() == skipped.keys()
    assert changed == {
        "table": "derived.snowplow_web_page_views",
        "layout": {"partition_by": ["start_tstamp_date"], "cluster_by": []},
        "new_layout": {"partition_by": [], "cluster_by": ["app_id"]},
        "files_before": 48,
        "files_after": 1,
        "expired": {"count": 1000, "unit": "file", "is_more": True},
        "problem": None,
    }
    assert (skipped["new_layout"], skipped["files_after"], skipped["expired"]) == (None, None, None)


def test_an_adoption_document_has_exactly_its_documented_keys() -> None:
    (package,) = adoptions_document([an_adoption()])["packages"]
    assert package.keys() == {
        *("package", "target", "run_id", "is_done_before", "problems", "manifest"),
        *("switched_off", "forgotten", "tables", "next_run"),
    }
    users, missing = package["tables"]
    assert users.keys() == missing.keys()
    assert users.keys() == {
        *("table", "model", "is_there", "rows", "key", "duplicate_keys", "layout", "adds"),
        *("unknown", "types", "is_noted", "problem"),
    }
    assert users["types"] == [
        {"column": "sessions", "stored": "int", "wanted": "bigint", "misfits": 0, "is_safe": True}
    ]
    assert package["next_run"]["state"] == "standard"


def test_a_diff_document_has_exactly_its_documented_keys() -> None:
    document = diff_document(a_diff())
    assert document.keys() == {"a", "b", "where", "is_equal", "only_a", "only_b", "tables"}
    compared, skipped = document["tables"]
    assert compared.keys() == skipped.keys() == {"a", "b", "is_equal", "problem", "comparison"}
    assert (skipped["comparison"], skipped["problem"]) == (None, "The key is not known.")
    assert compared["comparison"].keys() == {
        *("key", "rows_a", "rows_b", "keys_in_both", "keys_only_a", "keys_only_b"),
        *("duplicate_keys_a", "duplicate_keys_b", "null_keys_a", "null_keys_b", "compared"),
        *("differing", "columns_only_a", "columns_only_b", "other_types", "ignored"),
    }
    assert compared["comparison"]["differing"] == [
        {"column": "app_id", "rows": 2, "examples": [{"key": ["s1", None], "a": "x", "b": None}]}
    ]


def test_an_error_document_names_type_message_and_exit_code() -> None:
    assert error_document("UsageError", "No model matches 'x'.", 2) == {
        "error": {"type": "UsageError", "message": "No model matches 'x'.", "exit_code": 2}
    }


def test_a_step_document_has_exactly_its_documented_keys() -> None:
    tally = Tally()
    tally.take(Step("run", "started", kind="run", run=a_run_that_begins()))
    step = Step("users", "done", rows=3, seconds=0.5, kind="model")
    tally.take(step)
    assert step_document(step, "web", at(7) + timedelta(seconds=10), tally) == {
        "time": "2024-03-07T00:00:10.000000Z",
        "event": "model_done",
        "package": "web",
        "run_id": "20240307T000000-ab12cd34",
        "step": "users",
        "status": "done",
        "rows": 3,
        "seconds": 0.5,
        "detail": "",
        "models_done": 1,
        "models_total": 2,
        "seconds_left": 32.0,
        "run": None,
    }


def test_a_step_outside_of_a_run_has_the_same_keys_and_a_run_tells_what_it_will_do() -> None:
    outside = step_document(Step("plan", "nothing", detail="none"), None, at(7), Tally())
    assert outside["event"] == "note"
    assert {outside[it] for it in ("run_id", "models_done", "models_total", "run")} == {None}
    begins = Step("run", "started", kind="run", run=a_run_that_begins())
    assert step_document(begins, "web", at(7), Tally())["run"] == {
        "state": "standard",
        "lower_limit": "2024-03-05T18:00:00.000000Z",
        "upper_limit": "2024-03-07T00:00:00.000000Z",
        "models": ["page_views", "users"],
        "window_events": 2010,
        "expected_seconds": 42.0,
    }


def test_moments_are_utc_whatever_their_zone() -> None:
    there = datetime(2024, 3, 7, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert moment(there) == "2024-03-06T23:30:00.000000Z"
    assert moment(None) is None


def test_every_document_can_be_written_as_json() -> None:
    documents = [
        runs_document(ran(a_result(), a_failed_result())),
        plans_document([a_plan()]),
        statuses_document([replace(a_status(), lease=a_lease())]),
        models_document({"web": MODELS}),
    ]
    assert json.loads(json.dumps(documents)) == documents


def test_the_document_of_metrics():
    document = metrics_document([Sample(LAG, 86_400.0, {"package": "web"})])
    assert document.keys() == {"metrics"}
    assert document["metrics"] == [
        {
            "name": "windrow_model_lag_seconds",
            "kind": "gauge",
            "labels": {"package": "web"},
            "value": 86_400.0,
        }
    ]
