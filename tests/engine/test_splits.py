"""Any split of the same events into runs gives the same tables."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from own_models import write_own_models
from random_runs import any_cuts, days_become_old, few_examples, run_in_pieces
from traffic import END, EVERYTHING, ONLY_CONSENT_AND_VITALS, loaded
from website import contents

pytestmark = pytest.mark.ci


@days_become_old()
def test_daily_runs_equal_one_run(spark: SparkSession, tmp_path: Path):
    for name in ("whole", "daily"):
        write_own_models(tmp_path / name)
    whole = loaded(spark, tmp_path / "whole", seed=1)
    assert not whole.run(END).has_failed
    daily = loaded(spark, tmp_path / "daily", seed=1)
    for day in range(2, 9, 2):
        assert not daily.run(f"2024-01-{day:02d} 00:00").has_failed
    expected = contents(whole)
    assert contents(daily) == expected
    assert all(expected[member.name] for member in whole.workspace.models)
    assert daily.workspace.runs.last("web", 1)[0].key_days


def test_consent_and_vitals_do_not_depend_on_how_runs_are_cut(spark: SparkSession, tmp_path: Path):
    whole = loaded(spark, tmp_path / "whole", seed=1, **ONLY_CONSENT_AND_VITALS)
    whole.run(END)
    cut = loaded(spark, tmp_path / "cut", seed=1, **ONLY_CONSENT_AND_VITALS)
    for now in ("2024-01-04 00:00", END):
        cut.run(now)
    expected = contents(whole)
    assert contents(cut) == expected
    assert all(expected[member.name] for member in whole.workspace.models)


@pytest.mark.slow
@pytest.mark.parametrize("has_old_days", [False, True])
@few_examples(4)
@any_cuts()
def test_random_runs_with_reruns_equal_one_run(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    has_old_days: bool,
    seed: int,
    cuts: list[int],
    again: int,
):
    folder = tmp_path_factory.mktemp("splits")
    whole = loaded(spark, folder / "whole", seed, **EVERYTHING)
    assert not whole.run(END).has_failed
    split = loaded(spark, folder / "split", seed, **EVERYTHING)
    with days_become_old() if has_old_days else nullcontext():
        run_in_pieces(split, cuts, again)
    assert contents(split) == contents(whole)
