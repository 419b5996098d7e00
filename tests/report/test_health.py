"""What the report finds: all is well, or what is not, the worst first."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from report.overviews import (
    PAGE_VIEWS,
    USERS,
    a_package,
    a_project_that_has_not_run,
    a_run,
    an_overview,
)
from report.values import a_lease, a_plan, at
from windrow.operations.edited_positions import EditedPosition
from windrow.operations.freshness import Freshness, Pauses
from windrow.operations.overview import DailyRows, Overview
from windrow.report.page.health import Grade, health_document, health_of
from windrow.report.page.left_out import left_out_view
from windrow.report.page.windows import Stretch, counting, gaps, overlaps
from windrow.state.limits import State
from windrow.state.runs import FailedCheck, ModelFate, ModelOutcome, Outcome, RunRecord

RUNS = tuple(a_run(number) for number in range(6))


def found(overview: Overview) -> list[tuple[Grade, str]]:
    return [(it.grade, it.text) for it in health_of(overview).findings]


def test_all_is_well_where_nothing_is_to_be_found():
    health = health_of(an_overview(*RUNS))
    assert (health.findings, health.grade, health.verdict) == ((), Grade.FINE, "All is well")
    assert health_document(health) == {"health": "fine", "findings": []}


def test_a_project_that_has_not_run_is_neither_well_nor_ill():
    overview = a_project_that_has_not_run()
    (package,) = overview.packages
    ready = replace(package, status=replace(package.status, problem=None))
    health = health_of(replace(overview, packages=(ready,)))
    assert health.verdict == "Nothing has run yet"
    assert health_document(health)["health"] == "not_run"
    assert found(overview)[0] == (Grade.WARN, "No run is possible: There are no events.")


def test_a_model_that_failed_is_told_with_its_reason_until_it_succeeds():
    failed = a_run(
        5,
        Outcome.FAILED,
        models=(
            ModelOutcome(PAGE_VIEWS, ModelFate.FAILED, error="ValueError: no cheese"),
            ModelOutcome(USERS, ModelFate.SKIPPED, error="reads page_views, which failed"),
        ),
    )
    text = f"{PAGE_VIEWS} failed in run {failed.run_id}: ValueError: no cheese"
    skipped = f"Skipped, because they read one that failed: {USERS}."
    assert found(an_overview(*RUNS[:5], failed)) == [(Grade.BAD, text), (Grade.WARN, skipped)]
    assert found(an_overview(*RUNS[:5], failed, a_run(6))) == []


@pytest.mark.parametrize(
    ("outcome", "grade", "text"),
    [
        (Outcome.REJECTED, Grade.BAD, "was rejected by its checks. Why."),
        (Outcome.UNDONE, Grade.WARN, "did not come to its end and was taken back. Why."),
    ],
)
def test_a_last_run_that_was_not_kept_is_told(outcome: Outcome, grade: Grade, text: str):
    last = a_run(5, outcome, error="Why.")
    ((seen, told),) = found(an_overview(*RUNS[:5], last))
    assert seen is grade
    assert told.endswith(text)


def test_a_warning_of_the_last_runs_checks_is_told():
    warned = (FailedCheck("t", "not_null(x)", "warn", 3),)
    overview = an_overview(*RUNS[:5], a_run(5, failed_checks=warned))
    assert found(overview) == [(Grade.WARN, "1 check of the last run warned: t not_null(x).")]


def test_a_run_that_stays_away_longer_than_usual_is_missed():
    assert found(an_overview(*RUNS, now=at(7) + timedelta(days=2))) == []
    assert found(an_overview(*RUNS, now=at(7) + timedelta(days=4))) == [
        (Grade.WARN, "The last run was 4 days ago; usually one comes every 1 day.")
    ]


@pytest.mark.parametrize(
    ("days_as_long", "grade", "text"),
    [
        (0, Grade.WARN, "It looks as if the tracker, or what loads its events, has stopped."),
        (5, Grade.NOTE, "it looks like a quiet time."),
    ],
)
def test_a_stopped_tracker_is_told_from_a_quiet_time(days_as_long: int, grade: Grade, text: str):
    pauses = Pauses(14, days_as_long, timedelta(hours=12))
    found_old = Freshness(at(7), timedelta(hours=6), at(6, 12), pauses=pauses)
    ((seen, told),) = found(an_overview(*RUNS, freshness=found_old))
    assert (seen, told.endswith(text)) == (grade, True), told


def test_events_that_nobody_takes_in_and_events_that_are_not_there_are_told():
    behind = Freshness(at(7), timedelta(hours=6), at(6, 23), {USERS: at(6)}, (USERS,))
    ((grade, text),) = found(an_overview(*RUNS, freshness=behind))
    assert (grade, text.startswith("Stale: 1 model has not taken in events")) == (Grade.WARN, True)
    none = Freshness(at(7), timedelta(hours=6), None)
    assert found(an_overview(*RUNS, freshness=none)) == [
        (Grade.WARN, "No event was found that the next run could take in.")
    ]
    # Where the events cannot be read, that is what is wrong.
    ((grade, text),) = found(an_overview(*RUNS, freshness=none, problem="There are no events."))
    assert text == "No run is possible: There are no events."


def test_models_that_lag_edits_and_a_killed_run_are_told():
    positions = {PAGE_VIEWS: at(7), USERS: at(6)}
    overview = an_overview(
        *RUNS,
        plan=replace(a_plan(), positions=positions),
        lease=a_lease(),
        edited=(EditedPosition(USERS, at(7), at(6)),),
    )
    assert [text.partition(":")[0].partition(",")[0] for _, text in found(overview)] == [
        "1 model lags behind the others",
        "Run 20240307T000000-dead0000",
        "Rows of the manifest were moved outside windrow",
    ]


def test_a_day_without_rows_between_days_with_rows_is_a_hole():
    rows = {date(2024, 3, day): 10 for day in (1, 2, 5)}
    package = a_package(
        status=an_overview(*RUNS).packages[0].status, daily=(DailyRows("page_views", rows),)
    )
    overview = replace(an_overview(*RUNS), packages=(package,))
    text = "page_views has no row on 2 days: 2024-03-03, 2024-03-04."
    assert found(overview) == [(Grade.WARN, text)]
    unsteady = replace(overview, packages=(replace(package, steady=None),))
    assert found(unsteady) == []


# --- windows ---------------------------------------------------------------------------------


def test_windows_of_runs_one_after_the_other_overlap_by_their_look_back():
    assert gaps(RUNS) == []
    assert overlaps(RUNS[:2]) == [Stretch(at(1, 18), at(2), 2)]


def test_a_stretch_that_no_kept_run_took_in_is_a_gap():
    hole = Stretch(at(3), at(3, 18), 0)
    assert gaps(counting([RUNS[0], RUNS[1], RUNS[3]])) == [hole]
    rejected = a_run(2, Outcome.REJECTED)
    assert gaps(counting([RUNS[0], RUNS[1], rejected, RUNS[3]])) == [hole]
    ((grade, text),) = found(an_overview(RUNS[0], RUNS[1], RUNS[3]))
    assert grade is Grade.WARN
    assert "2024-03-03 00:00 to 2024-03-03 18:00" in text


def test_runs_that_were_rolled_back_or_begun_anew_do_not_count():
    back = replace(
        a_run(9, Outcome.ROLLED_BACK), error=f"Back to before run {RUNS[2].run_id}.", models=()
    )
    assert counting([*RUNS[:4], back]) == [*RUNS[:2]]
    of_old = replace(back, error="Back to before run 20200101T000000-00000000.")
    assert counting([*RUNS[:4], of_old]) == []
    anew: RunRecord = a_run(9, state="first_run")
    assert counting([*RUNS[:4], anew]) == [anew]


def test_late_events_are_a_trend_and_no_window():
    counts = {"late_events": 34, "window_events": 40, "window_left_out": 6}
    late = a_run(2, state=State.LATE.value, lower_limit=at(1), upper_limit=at(2), counts=counts)
    runs = [a_run(0), a_run(1), late]
    assert counting(runs) == runs[:2]
    trends = {it.what: it for it in left_out_view(an_overview(*runs).packages[0]).trends}
    assert trends["Events that were loaded late, and taken in"].total == "34"
    # Of the events that these runs had in their windows.
    assert trends["Events left out, for any of these reasons"].share == "15 %"
