"""Runs cut at random: any split of the same events must end in the same tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from website import Site, at
from windrow.engine import key_days

BEGIN = "2024-01-01"


@contextmanager
def days_become_old(*, recent: int = 1) -> Iterator[None]:
    """Let days be old so soon that a week has some: keys are looked up where they were noted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_days, "RECENT_DAYS", recent)
        patch.setattr(key_days, "EVERY_DAYS", 1)
        yield


def few_examples(count: int) -> settings:
    """Each example takes many runs: a few, others every time, none tried again smaller."""
    return settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def any_cuts(*, days: int = 7, most: int = 4) -> Callable[..., Callable[..., None]]:
    """Gives a test the `seed` of its events, the hours of its `cuts`, and which to run `again`."""
    return given(
        seed=st.integers(2, 10_000),
        cuts=st.lists(st.integers(1, 24 * days), min_size=1, max_size=most),
        again=st.integers(0, most - 1),
    )


def run_in_pieces(
    site: Site,
    cuts: list[int],
    again: int,
    *,
    days: int = 7,
    after_each: Callable[[Site], None] = lambda site: None,
) -> None:
    """Run at each cut and at the end, one of them twice."""
    for number, hours in enumerate([*sorted(cuts), 24 * days]):
        now = f"{at(BEGIN) + timedelta(hours=hours):%Y-%m-%d %H:%M}"
        assert not site.run(now).has_failed
        if number == again:
            assert not site.run(now).has_failed
        after_each(site)
