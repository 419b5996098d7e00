"""Several packages in one command: what is measured beside what."""

from __future__ import annotations

from bench.figures import Figures
from bench.measuring import Measurement
from bench.steps import steps
from bench.table import table
from bench.together import ONE_BY_ONE, TOGETHER, rows_of


def measured(who: str, seconds: float) -> list[Measurement]:
    every = steps(days=3, repeat=2)
    return [Measurement(who, it, Figures(seconds + it.round, 2 * seconds, 0, 0, 0)) for it in every]


def test_every_way_has_how_many_times_one_by_one_it_takes():
    found = [*measured(TOGETHER, 4.5), *measured(ONE_BY_ONE, 1.5)]
    lines = table(list(rows_of(found)), than=ONE_BY_ONE).splitlines()
    head, _, base, beside, *others = (line.strip("|").split("|") for line in lines)
    assert [it.strip() for it in head[:5]] == [
        *("step", "s", "x one by one", "CPU s", "x one by one")
    ]
    assert [it.strip() for it in base[:5]] == ["first run: one by one", "3.0", "", "3.0", ""]
    assert [it.strip() for it in beside[:5]] == [
        "first run: together",
        "6.0",
        "2.00",
        "9.0",
        "3.00",
    ]
    assert len(others) == 4
