"""Figures as a table."""

from __future__ import annotations

from bench.anatomy import Place
from bench.figures import Figures, median
from bench.table import Row, detail, table

FLOOR = Figures(2.0, 4.0, 900e6, 3e6, 12, 5, 6, 7, 8, 9.9e6, 10, 0.25e6)
COMMAND = Figures(5.0, 6.0, 100e6, 0, 0)


def test_a_table_has_ratios_beside_the_floor_and_a_dash_where_nobody_counted():
    first, _, floor, command = table([Row("floor", FLOOR), Row("x", COMMAND, FLOOR)]).splitlines()
    assert [title.strip() for title in first.strip("|").split("|")] == [
        *("step", "s", "x floor", "CPU s", "x floor", "executions", "with inner", "jobs", "tasks"),
        *("read MB", "files", "written MB", "files", "shuffled MB", "peak MB"),
    ]
    assert floor.replace("|", "").split() == [
        *("floor", "2.0", "4.0", "5", "6", "7", "8", "9.9", "10", "3.0", "12", "0.2", "900")
    ]
    assert command.replace("|", "").split() == [
        *("x", "5.0", "2.50", "6.0", "1.50", "-", "-", "-", "-", "-", "-", "0.0", "0", "-", "100")
    ]
    assert len(first) == len(floor) == len(command)


def test_a_long_command_leaves_room_for_its_figures():
    line = table([Row("first run: cat events | ./tool --with many --long options", FLOOR)])
    label = line.splitlines()[-1].split("|")[1].strip()
    assert label == "first run: cat events / ./tool --with many --long…"


def test_medians_are_taken_figure_by_figure():
    other = Figures(1.0, 9.0, 1e6, 1e6, 20, 6, 8, 9, 10, 1e6, 2, 1e6)
    third = Figures(9.0, 5.0, 2e6, 2e6, 30, 7, 9, 8, 7, 2e6, 3, 2e6)
    assert median([FLOOR, other, third]) == Figures(2.0, 5.0, 2e6, 2e6, 20, 6, 8, 8, 8, 2e6, 3, 1e6)


def test_what_was_not_counted_in_one_round_has_no_median():
    assert median([FLOOR, COMMAND]).tasks is None


def test_details_are_a_line_per_place():
    found = detail("first run", [Place("collect at windrow/a.py:1", 3, 1.25, 4)])
    assert found.splitlines() == [
        "first run: 3 executions, by where they come from",
        "   3 executions     1.2 s    4 jobs  collect at windrow/a.py:1",
    ]
