"""The order of what is measured."""

from __future__ import annotations

from bench.steps import FIRST, NOTHING, STANDARD, at, steps


def test_standard_runs_go_on_from_the_last_first_run_a_day_each():
    assert [(it.name, it.folder, it.start, it.end) for it in steps(days=3, repeat=2)] == [
        (FIRST, "1", at(0), at(3)),
        (FIRST, "2", at(0), at(3)),
        (STANDARD, "2", at(3), at(4)),
        (STANDARD, "2", at(4), at(5)),
        (NOTHING, "2", at(5), at(5)),
        (NOTHING, "2", at(5), at(5)),
    ]


def test_the_floor_takes_the_same_window_and_a_day_where_nothing_is_new():
    assert [(it.floor_start, it.end) for it in steps(days=3, repeat=1)] == [
        (at(0), at(3)),
        (at(3), at(4)),
        (at(3), at(4)),
    ]
