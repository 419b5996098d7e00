"""Where the boxes of the lineage lie: after what they read, beside one another, lines between."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from report.values import MODELS
from windrow.models.model import Model
from windrow.report.page.lineage import EVENTS, arranged


def reading(name: str, *parents: str) -> Model:
    return replace(MODELS[0], name=name, inputs={it: it for it in parents or ("events",)})


FOUR = [
    reading("views"),
    reading("stays", "views"),
    reading("people", "stays"),
    reading("totals", "people", "views"),
]


def test_a_model_stands_in_the_column_after_those_it_reads():
    assert arranged(FOUR).columns == {EVENTS: 0, "views": 1, "stays": 2, "people": 3, "totals": 4}


def test_a_line_passes_between_the_boxes_on_its_way():
    plan = arranged(FOUR)
    way = plan.way("views", "totals")
    assert [column for column, _ in way] == [1, 2, 3, 4]
    passed = {column: height for column, height in way[1:-1]}
    for name, column in (("stays", 2), ("people", 3)):
        assert abs(passed[column] - plan.middles[name, column]) > 20


def test_boxes_of_a_column_do_not_touch():
    plan = arranged([reading(f"m{number}") for number in range(5)])
    heights = sorted(plan.middles[f"m{number}", 1] for number in range(5))
    assert all(lower - upper > 40 for upper, lower in pairwise(heights))
