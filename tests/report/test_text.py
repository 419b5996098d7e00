"""The text reports, on literal values."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console, RenderableType

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
    a_status,
    an_adoption,
    an_upkeep,
    at,
    ran,
    some_checks,
    some_volumes,
)
from windrow.engine.checking import CheckReport
from windrow.operations.doctor import Check
from windrow.operations.edited_positions import EditedPosition
from windrow.operations.freshness import Freshness, Pauses
from windrow.report import words
from windrow.report.adoptions import adoptions_text
from windrow.report.checks import reports_text
from windrow.report.differences import diff_text
from windrow.report.freshness import freshness_sentences
from windrow.report.operations import (
    rerun_text,
    reruns_text,
    rollback_text,
    unlocks_text,
    upkeeps_text,
)
from windrow.report.text import (
    check_text,
    models_text,
    plans_text,
    runs_text,
    statuses_text,
)
from windrow.state.limits import Limits, State
from windrow.tables import FileSizes


def shown(text: RenderableType) -> list[str]:
    console = Console(file=StringIO(), width=180)
    console.print(text)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_run_tells_what_it_took_in_left_out_and_how_far_it_came() -> None:
    assert shown(runs_text(ran(a_result()))) == [
        "web: succeeded in 12.3 s (run 20240307T000000-ab12cd34)",
        "  Took in 2,010 events of 180 sessions.",
        "  Rows: page_views 1,200, users 80.",
        "  Left out: 21 events without a session id, 1 event sent too late and 20 duplicates.",
        "  Quarantined: 1 session; later events of theirs are left out.",
        "  Reached 2024-03-06 23:00:00.",
    ]


def test_a_run_tells_of_absurd_times_quarantine_sessions_without_rows_and_bad_json() -> None:
    counts = {
        "events": 10,
        "sessions": 3,
        "window_absurd_time": 2,
        "window_quarantined": 1,
        "window_past_cap": 3,
        "malformed_entities": 4,
        "malformed_contexts_page_1": 3,
        "malformed_unstruct_event_click_1": 1,
        "sessions_without_row": 1,
        "bad_lines": 1200,
    }
    assert shown(runs_text(ran(replace(a_result(), counts=counts))))[3:7] == [
        "  Left out: 2 events at an absurd or unknown time, 1 event of quarantined sessions and 3 "
        "events past a session's cap.",
        "  Without a row in the sessions table: 1 session; no event of theirs counts there, "
        "such as those of bots or outside page views.",
        "  Not to be read as JSON, and taken for null: 4 entities: 3 in contexts_page_1 and 1 in "
        "unstruct_event_click_1.",
        "  Not enriched events, and kept aside in the manifest schema: 1,200 lines.",
    ]


def test_a_run_that_is_not_caught_up_says_how_to_go_on() -> None:
    lines = shown(runs_text(ran(replace(a_result(), is_caught_up=False))))
    assert lines[-1] == "  More is left: run again or use --until-caught-up."


def test_a_run_without_anything_new_says_since_when() -> None:
    lines = shown(runs_text(ran(replace(a_result(), reached=at(6)))))
    assert "  There was no event after 2024-03-06 00:00:00, where the last run had ended." in lines


def test_a_run_that_did_nothing_says_why() -> None:
    plan = replace(a_plan(), nothing_because="start_date is in the future.")
    nothing = replace(a_result(), run_id=None, plan=plan, outcome="nothing_to_do")
    assert shown(runs_text(ran(nothing))) == [
        "web: nothing to do",
        "  Why: start_date is in the future.",
    ]


def test_a_failed_run_names_the_model_and_shows_brackets_in_its_error() -> None:
    lines = shown(runs_text(ran(a_failed_result())))
    assert lines[0].startswith("web: failed in")
    assert "  page_views failed: no such column [x]" in lines
    assert "  users skipped: reads page_views, which failed" in lines


def test_a_rejected_run_shows_what_failed_and_that_nothing_was_kept() -> None:
    lines = shown(runs_text(ran(a_rejected_result())))
    assert lines[0] == "web: rejected in 12.3 s (run 20240307T000000-ab12cd34)"
    assert lines[-6:] == [
        "  ✗ snowplow_web_page_views unique(page_view_id): 1 failure (error)",
        "      page_view_id = p1, times = 2",
        "  ! snowplow_web_page_views not_null(page_url): 1 failure (warn)",
        "      page_view_id = p2, page_url = null",
        "  3 checks: 1 passed, 1 warned and 1 failed.",
        "  Nothing of this run was kept: the tables are as they were before it.",
    ]


def test_a_test_tells_failures_or_only_how_many_passed() -> None:
    good = CheckReport("web", "dev", "20240307T000000-ab12cd34", some_checks()[2:])
    assert shown(reports_text([good, CheckReport("web", "prod", None)])) == [
        "web on dev, run 20240307T000000-ab12cd34",
        "  1 check: 1 passed.",
        "web on prod",
        "  Nothing to check: there has been no run yet.",
    ]


def test_a_run_that_undid_a_killed_one_says_so() -> None:
    lines = shown(runs_text(ran(replace(a_result(), undone=("20240306T000000-dead",)))))
    assert lines[1] == "  Run 20240306T000000-dead had been killed half-way and was undone first."


def test_a_plan_tells_state_window_and_models() -> None:
    assert shown(plans_text([a_plan()])) == [
        "web on dev",
        "  Standard incremental run",
        "  Processing data between 2024-03-05 18:00:00 and 2024-03-07 00:00:00",
        "  Would run 2 models: page_views, users.",
    ]


def test_a_plan_tells_for_how_long_an_id_that_comes_back_is_found() -> None:
    lines = shown(plans_text([replace(a_plan(), looks_back={"page_views": 30, "vitals": 30})]))
    assert lines[-1] == (
        "  An id of page_views and vitals that comes back in another session is found within 30 "
        "days (upsert_lookback_days), not later."
    )


def test_a_plan_over_a_gap_says_what_it_skips() -> None:
    lines = shown(plans_text([replace(a_plan(), gap=(at(1), at(5)))]))
    gap = "there is no usable event between 2024-03-01 00:00:00 and 2024-03-05 00:00:00."
    assert f"  Skips a gap: {gap}" in lines


def test_a_plan_without_anything_to_do_names_no_window() -> None:
    plan = replace(a_plan(), nothing_because="there is no usable event after 2024-03-06.")
    assert shown(plans_text([plan])) == [
        "web on dev",
        "  Standard incremental run",
        "  Nothing to do: there is no usable event after 2024-03-06.",
    ]


def test_a_plan_says_what_it_would_read_when_it_knows() -> None:
    plan = replace(a_plan(), reads=FileSizes(files=3, bytes=1_234_567))
    assert "  Would read at most 3 files, 1.2 MB, of the events." in shown(plans_text([plan]))


def test_a_plan_with_bytes_has_a_line_for_each_table_and_their_sums() -> None:
    plan = replace(a_plan(), reads=FileSizes(3, 1_200_000), volumes=some_volumes())
    lines = shown(plans_text([plan]))
    at_table = next(number for number, line in enumerate(lines) if "reads" in line.split())
    assert lines[at_table - 2] == (
        "  Of its tables it would read about this, and write about what run "
        "20240306T000000-ab12cd34 wrote, the last of its kind:"
    )
    assert [line.split() for line in lines[at_table + 2 : at_table + 6]] == [
        ["events", "3", "files,", "1.2", "MB"],
        ["derived.page_views", "2", "files,", "300.0", "kB", "3", "files,", "450.0", "kB"],
        ["derived.daily", "-", "-"],
        ["together", "5", "files,", "1.5", "MB", "3", "files,", "450.0", "kB"],
    ]
    first = replace(plan, volumes=replace(some_volumes(), like=None))
    assert any("no run of this kind went before" in line for line in shown(plans_text([first])))


def test_a_status_tells_next_window_manifest_quarantine_and_last_runs() -> None:
    lines = shown(statuses_text([a_status()]))
    assert lines[:6] == [
        "web on dev",
        "  Next run: Standard incremental run",
        "  Processing data between 2024-03-05 18:00:00 and 2024-03-07 00:00:00",
        "  Manifest: all 2 models at 2024-03-06 00:00:00.",
        "  Quarantine: 1 session.",
        "",
    ]
    assert " ".join(lines[-1].split()) == (
        "20240306T000000-ab12cd34 succeeded first run "
        "2024-03-04 00:00 to 2024-03-06 00:00 2,010 1,280 1 min 5 s"
    )


def test_a_status_tells_of_positions_that_were_moved_by_hand() -> None:
    edited = tuple(EditedPosition(name, at(6), at(2)) for name in ("page_views", "pv_scroll_depth"))
    status = replace(a_status(), edited=edited, left_behind=("daily_pages",))
    lines = shown(statuses_text([status]))
    moved = "from 2024-03-06 00:00:00 to 2024-03-02 00:00:00."
    assert f"  Moved outside windrow: page_views, pv_scroll_depth {moved}" in lines
    assert "  Made from these, and not moved along: daily_pages." in lines
    assert any(line.startswith("  `windrow rerun --from 2024-03-02` ") for line in lines)


@pytest.mark.parametrize(
    ("hours_old", "pauses", "lines"),
    [
        (2, None, ["Newest event: 2024-03-06 22:00:00, 2 h ago."]),
        (
            9,
            Pauses(14, 0, timedelta(hours=2)),
            [
                "Newest event: 2024-03-06 15:00:00, 9 h ago.",
                "Stale: no event for 9 h, more than stale_after_hours (6) allows; at this time of "
                "day, on the 14 days before, the newest was at most 2 h old. It looks as if the "
                "tracker, or what loads its events, has stopped.",
            ],
        ),
        (
            9,
            Pauses(14, 3, timedelta(hours=10)),
            [
                "Newest event: 2024-03-06 15:00:00, 9 h ago.",
                "No event for 9 h, and at this time of day, on 3 of the 14 days before, the newest "
                "was as old or older, up to 10 h: it looks like a quiet time.",
            ],
        ),
        (
            9,
            None,
            [
                "Newest event: 2024-03-06 15:00:00, 9 h ago.",
                "Stale: no event for 9 h, more than stale_after_hours (6) allows; whether that is "
                "usual cannot be told without sessions of 3 days before it.",
            ],
        ),
        (None, None, ["Newest event: none was found that the next run could take in."]),
    ],
)
def test_a_status_tells_a_stopped_tracker_from_a_quiet_time(
    hours_old: int | None, pauses: Pauses | None, lines: list[str]
) -> None:
    newest = None if hours_old is None else at(7) - timedelta(hours=hours_old)
    found = Freshness(at(7), timedelta(hours=6), newest, pauses=pauses)
    assert [str(it) for it in freshness_sentences(found)] == lines
    status = shown(statuses_text([replace(a_status(), freshness=found)]))
    assert f"  {lines[0]}" in status
    assert "  Manifest: all 2 models at 2024-03-06 00:00:00, 1 day ago." in status


def test_a_status_tells_of_events_that_wait_for_models() -> None:
    positions = {"users": at(6), "page_views": at(6, 23)}
    behind = ("sessions", "users")
    found = Freshness(at(7), timedelta(hours=6), at(6, 23), positions, behind)
    assert str([*freshness_sentences(found)][1]) == (
        "Stale: 2 models have not taken in events of more than stale_after_hours (6) ago: "
        "sessions, users. The furthest back stands at 2024-03-06 00:00:00. windrow has not run "
        "since, has more to catch up with, or its runs fail."
    )


def test_a_manifest_of_one_row_names_it() -> None:
    status = replace(a_status(), positions={"page_days": at(6)})
    assert "  Manifest: page_days at 2024-03-06 00:00:00." in shown(statuses_text([status]))


def test_a_status_lists_models_that_are_out_of_sync() -> None:
    positions = {"snowplow_web_page_views": at(6), "snowplow_web_users": at(5)}
    plan = replace(
        a_plan(),
        positions=positions,
        limits=Limits(State.OUT_OF_SYNC, at(4, 18), at(6), at(5), at(6)),
    )
    lines = shown(statuses_text([replace(a_status(), positions=positions, plan=plan)]))
    assert "  Next run: Models out of sync: catching up" in lines
    assert "  Manifest: 2024-03-06 00:00:00 snowplow_web_page_views." in lines
    assert "  Manifest: 2024-03-05 00:00:00 snowplow_web_users." in lines
    assert "  Out of sync: snowplow_web_users." in lines


def test_a_status_shows_the_problem_that_prevents_a_plan() -> None:
    broken = replace(a_status(), plan=None, problem="The events cannot be used.")
    assert "  No run is possible: The events cannot be used." in shown(statuses_text([broken]))


@pytest.mark.parametrize(
    ("is_running", "line"),
    [
        (
            True,
            "  Running since 2024-03-07 00:00:00 by process 4711 on host-1 "
            "(run 20240307T000000-dead0000).",
        ),
        (
            False,
            "  Run 20240307T000000-dead0000, begun 2024-03-07 00:00:00 by process 4711 on host-1, "
            "was killed: the next run undoes it first.",
        ),
    ],
)
def test_a_status_tells_a_running_run_from_a_killed_one(is_running: bool, line: str) -> None:
    status = replace(a_status(), lease=a_lease(), is_running=is_running)
    assert shown(statuses_text([status]))[1] == line


def test_models_are_listed_with_kind_key_inputs_and_tags() -> None:
    header, _, *rows = shown(models_text({"web": MODELS}))
    assert header.split() == ["model", "package", "kind", "key", "reads", "tags"]
    assert rows[1].split() == [
        *("users", "web", "incremental", "domain_userid"),
        *("page_views,", "users", "(stored)", "nightly"),
    ]


def test_a_check_says_whether_it_is_fine() -> None:
    assert shown(check_text(Check("Java", True, "17"))) == ["✓ Java: 17"]
    assert shown(check_text(Check("Java", False, "none [x]", 1))) == ["✗ Java: none [x]"]


def test_an_upkeep_tells_layout_files_and_what_could_go() -> None:
    lines = shown(upkeeps_text([an_upkeep()]))
    assert lines[0] == "web on dev"
    assert lines[1].strip() == (
        "derived.snowplow_web_page_views: layout changed from partitioned by start_tstamp_date to "
        "clustered by app_id; 1 file, 48 before; 1,000 files or more could be deleted."
    )
    assert lines[2].strip() == "derived.snowplow_web_users: left as it is, it was busy."
    assert lines[3].strip().startswith("Nothing was deleted: add --delete")


def test_a_rerun_tells_window_steps_and_what_lies_beyond() -> None:
    assert shown(rerun_text([replace(a_rerun(), done=1)])) == [
        "web on dev",
        "  Would process 2024-03-01 00:00:00 to 2024-03-05 00:00:00 again, in 2 steps.",
        "  1 step before these were done by an interrupted call.",
        "  Models: page_views, users.",
        "  Rows of users rest on more than the window; they are brought up to date too.",
    ]
    half = shown(reruns_text([a_rerun()], {"web": [a_result()]}))
    assert "  1 step left: mend the cause and give the same command again." in half
    whole = shown(reruns_text([a_rerun()], {"web": [a_result(), a_result()]}))
    assert "  Processed 2024-03-01 00:00:00 to 2024-03-05 00:00:00 again." in whole


def test_the_ways_back_say_what_they_change_and_whether_they_did() -> None:
    would = shown(rollback_text(a_rollback(), is_done=False))
    assert "  derived.snowplow_web_users: from version 9 to version 7" in would
    assert "  derived.pages: from version 3 to no rows" in would
    assert would[-1] == "  Nothing was changed yet: add --yes to do it."
    assert shown(rollback_text(a_rollback(), is_done=True))[-1] == (
        "  The next run goes on from there."
    )
    assert shown(unlocks_text({"web": "x", "mobile": None})) == [
        "web: the lock of run x is ended and what it wrote taken back.",
        "mobile: not locked.",
    ]


def test_late_events_are_told_below_their_run_and_in_the_plan() -> None:
    step = replace(a_plan(), limits=Limits(State.LATE, at(1), at(2), None, at(2)), late_events=7)
    plan = replace(a_plan(), late=(step,), notes=("History is gone.",))
    late = replace(a_result(), plan=step, counts={"late_events": 7, "filtered_bot": 2})
    text = shown(runs_text(ran(replace(a_result(), plan=plan, late=(late,)))))
    assert "  History is gone." in text
    below = text[next(n for n, line in enumerate(text) if line.startswith("web, late events: ")) :]
    assert below[1] == (
        "  Loaded late: 7 events of 2024-03-01 to 2024-03-02; their sessions were processed whole."
    )
    assert "  Left out: 2 events of bots." in below
    assert not any(line.startswith("  Reached") for line in below)
    assert "  Loaded late: 7 events of 2024-03-01 to 2024-03-02, taken in beside that." in shown(
        plans_text([plan])
    )


def test_a_catch_up_is_told_below_its_run() -> None:
    text = shown(runs_text(ran(replace(a_result(), catch_up=a_failed_result()))))
    assert any(line.startswith("web, catching up: failed") for line in text)
    plan = replace(a_plan(), catch_up=replace(a_plan(), models=MODELS[1:]))
    assert "  Beside that, for models that lag behind:" in shown(plans_text([plan]))
    status = shown(statuses_text([replace(a_status(), plan=plan)]))
    assert "  Beside it: Standard incremental run" in status


def test_an_adoption_tells_what_it_finds_and_what_it_would_do() -> None:
    lines = shown(adoptions_text([an_adoption()], is_asked=False))
    assert [*lines[:9], lines[-1]] == [
        "web on prod",
        "  The manifest has 2 rows, from 2024-03-05 00:00:00 to 2024-03-06 00:00:00.",
        "  derived.snowplow_web_users: 1,200 rows, partitioned by start_tstamp_date.",
        "    Would add the column screen.",
        "    Would change sessions from int to bigint.",
        "    Keeps the column note, null in new rows.",
        "    Has 2 keys more than once.",
        "  derived.new: not there, runs make it.",
        "  Switched off here, and left as they are: snowplow_web_vitals.",
        "  Nothing was changed yet: stop what writes these tables, then add --apply.",
    ]
    done = shown(adoptions_text([replace(an_adoption(), run_id="adopt-1")], is_asked=True))
    assert "    Added the column screen." in done
    assert "    Changed sessions from int to bigint." in done
    assert done[-1] == "  Taken over (adopt-1). `windrow run` goes on from here."


def test_an_adoption_that_is_refused_says_why() -> None:
    refused = replace(an_adoption(), plan=None, problems=("x is a view.",))
    assert shown(adoptions_text([refused], is_asked=True))[-3:] == [
        "  This cannot be taken over as it is:",
        "    x is a view.",
        "  Nothing was changed.",
    ]


def test_a_diff_tells_table_by_table_what_differs() -> None:
    assert shown(diff_text(a_diff())) == [
        "derived.sessions and shadow.sessions",
        "  4 rows in A, 3 in B; 2 keys in both (domain_sessionid, part).",
        "  1 key only in A, such as s0, 1.",
        "  1 key more than once in B, such as s2, 1; their values were not compared.",
        "  The key, or a part of it, is null in 1 row of A and 0 of B.",
        "  Only A has the column note.",
        "  views is int in A and bigint in B, compared as bigint.",
        "  Ignored: model_tstamp.",
        "  app_id differs in 2 rows.",
        "      s1, null: x in A, null in B",
        "derived.other and shadow.other",
        "  Not compared: The key is not known.",
        "Only in shadow, not in derived: new.",
        "2 of 2 tables differ.",
    ]


def test_numbers_are_written_for_people() -> None:
    assert [words.duration(s) for s in (0.44, 12.34, 125.2)] == ["0.4 s", "12.3 s", "2 min 5 s"]
    assert [words.size(n) for n in (512, 1_234_567)] == ["512 bytes", "1.2 MB"]
    assert [words.count(n, "row") for n in (0, 1, 2010)] == ["0 rows", "1 row", "2,010 rows"]
    assert [words.share(1, 3), words.share(0, 0)] == ["33 %", "-"]
    assert [words.join_words(w) for w in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        *("a", "a and b", "a, b and c"),
    ]
