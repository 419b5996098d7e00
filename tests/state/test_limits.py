"""Limits are arithmetic: every published and worked example, then the laws behind them."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import ConfigError
from windrow.state.limits import State, past_gap, run_limits, why_inverted


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def limits_of(positions, tracked, now, start="2024-01-01", backfill=30, lookback=6, compat=False):
    return run_limits(
        positions,
        tracked,
        start_date=date.fromisoformat(start),
        backfill_limit_days=backfill,
        lookback_window_hours=lookback,
        now=at(now),
        looks_back_before_start=compat,
    )


TWELVE = [f"m{i}" for i in range(12)]
THIRTEEN = [*TWELVE, "m12"]
LIVE = "2024-03-09 22:10:00"


def everyone(when: str, models=TWELVE) -> dict[str, datetime]:
    return {model: at(when) for model in models}


@pytest.mark.parametrize(
    ("positions", "tracked", "start", "now", "state", "lower", "upper"),
    [
        ({}, TWELVE, "2024-01-01", "2024-03-10 08:00:00", 1, "2024-01-01", "2024-01-31"),
        ({}, TWELVE, "2024-03-01", "2024-03-10 08:00:00", 1, "2024-03-01", "2024-03-10 08:00:00"),
        (
            everyone("2024-01-30 23:59:58"), TWELVE, "2024-01-01", "2024-03-10 08:00:00",
            4, "2024-01-30 17:59:58", "2024-02-29 23:59:58",
        ),
        (
            everyone(LIVE), TWELVE, "2024-01-01", "2024-03-10 08:00:00",
            4, "2024-03-09 16:10:00", "2024-03-10 08:00:00",
        ),
        (
            everyone(LIVE), THIRTEEN, "2024-01-01", "2024-03-10 08:00:00",
            2, "2024-01-01", "2024-01-31",
        ),
        (
            everyone(LIVE) | {"m12": at("2024-01-30 23:59:58")}, THIRTEEN, "2024-01-01",
            "2024-03-10 09:00:00", 3, "2024-01-30 17:59:58", "2024-02-29 23:59:58",
        ),
        (
            everyone(LIVE) | {"m12": at("2024-02-29 23:50:00")}, THIRTEEN, "2024-01-01",
            "2024-03-10 10:00:00", 3, "2024-02-29 17:50:00", LIVE,
        ),
        (
            everyone(LIVE, THIRTEEN), THIRTEEN, "2024-01-01", "2024-03-10 11:00:00",
            4, "2024-03-09 16:10:00", "2024-03-10 11:00:00",
        ),
    ],
)  # fmt: skip
def test_worked_example(positions, tracked, start, now, state, lower, upper):
    limits = limits_of(positions, tracked, now, start)
    assert (limits.state.number, limits.lower, limits.upper) == (state, at(lower), at(upper))


@pytest.mark.parametrize(
    ("least", "greatest", "rows", "tracked", "lower", "upper"),
    [
        (None, None, 0, 10, "2021-01-01", "2021-01-31"),
        ("2021-03-01", "2021-03-01", 5, 10, "2021-01-01", "2021-01-31"),
        ("2021-03-01", "2021-03-05", 10, 10, "2021-02-28 18:00", "2021-03-05"),
        ("2021-03-01", "2021-05-01", 10, 10, "2021-02-28 18:00", "2021-03-31"),
        ("2021-03-01", "2021-03-01", 10, 10, "2021-02-28 18:00", "2021-03-31"),
    ],
)
def test_published_case(least, greatest, rows, tracked, lower, upper):
    names = [f"m{i}" for i in range(tracked)]
    positions = {name: at(least) for name in names[:rows]}
    if rows:
        positions[names[0]] = at(greatest)
    limits = limits_of(positions, names, "2022-01-01", start="2021-01-01")
    assert (limits.lower, limits.upper) == (at(lower), at(upper))


def test_short_backfill_limit_still_rereads_the_whole_lookback():
    limits = limits_of(everyone(LIVE), TWELVE, "2024-06-01", backfill=1, lookback=72)
    assert limits.lower == at("2024-03-06 22:10:00")
    assert limits.upper == at("2024-03-10 22:10:00")


def test_zero_backfill_limit_rereads_only_what_is_processed():
    assert limits_of(everyone(LIVE), TWELVE, "2024-06-01", backfill=0).upper == at(LIVE)


@pytest.mark.parametrize("compat", [False, True])
def test_start_date_in_the_future_is_an_inverted_window_that_says_so(compat):
    limits = limits_of({}, TWELVE, "2023-06-01", compat=compat)
    assert limits.is_inverted
    assert "start_date 2024-01-01 is in the future" in why_inverted(limits)


@pytest.mark.parametrize("compat", [False, True])
def test_start_date_after_the_live_models_is_an_inverted_window_that_says_so(compat):
    limits = limits_of(everyone("2023-06-01"), THIRTEEN, "2024-06-01", compat=compat)
    assert limits.is_inverted
    assert "Set start_date to an earlier day" in why_inverted(limits)


@pytest.mark.parametrize("compat", [False, True])
def test_limits_keep_fractions_of_a_second(compat):
    limits = limits_of(everyone("2024-03-09 22:10:00.123456"), TWELVE, "2024-06-01", compat=compat)
    assert limits.lower == at("2024-03-09 16:10:00.123456")
    assert limits.upper == at("2024-04-08 22:10:00.123456")


def test_no_tracked_model_is_an_error():
    with pytest.raises(ConfigError, match="nothing to run"):
        limits_of({}, [], "2024-06-01")


def test_rows_of_untracked_models_are_ignored():
    positions = everyone(LIVE) | {"gone": at("2024-01-05")}
    assert limits_of(positions, TWELVE, "2024-03-10").state is State.STANDARD


def test_window_over_a_gap_keeps_the_lookback_and_reaches_past_the_next_event():
    limits = limits_of(everyone("2024-01-05"), TWELVE, "2024-06-01")
    reaching = past_gap(limits, at("2024-04-01 12:00"), backfill_limit_days=30)
    assert (reaching.lower, reaching.upper) == (at("2024-01-04 18:00"), at("2024-05-01 12:00"))


def test_window_over_a_gap_without_end_reaches_the_clock():
    limits = limits_of(everyone("2024-01-05"), TWELVE, "2024-06-01")
    assert past_gap(limits, None, backfill_limit_days=30).upper == at("2024-06-01")


def test_the_window_in_words():
    limits = limits_of(everyone("2021-01-05 23:59:32"), TWELVE, "2021-01-07 23:59:32")
    assert limits.sentences == (
        "Standard incremental run",
        "Processing data between 2021-01-05 17:59:32 and 2021-01-07 23:59:32",
    )


instants = st.datetimes(datetime(2022, 1, 1), datetime(2025, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)


@given(
    st.lists(st.none() | instants, min_size=1, max_size=6),
    instants,
    st.integers(0, 60),
    st.integers(0, 96),
)
def test_a_window_never_passes_the_clock_nor_the_leading_model(stands, now, backfill, lookback):
    names = [f"m{i}" for i in range(len(stands))]
    positions = {n: s for n, s in zip(names, stands, strict=True) if s is not None}
    limits = run_limits(
        positions,
        names,
        start_date=date(2022, 1, 1),
        backfill_limit_days=backfill,
        lookback_window_hours=lookback,
        now=now,
    )
    assert limits.upper <= limits.ceiling
    if limits.state in (State.FIRST_RUN, State.STANDARD):
        assert limits.upper <= now
    else:
        assert limits.upper <= max(positions.values())
    begin = limits.progress or datetime(2022, 1, 1, tzinfo=UTC)
    assert limits.upper - begin <= timedelta(days=backfill)


@given(st.dictionaries(st.sampled_from(TWELVE), instants), instants)
def test_exactly_one_state_and_it_follows_the_rule(positions, now):
    limits = run_limits(
        positions,
        TWELVE,
        start_date=date(2022, 1, 1),
        backfill_limit_days=30,
        lookback_window_hours=6,
        now=now,
    )
    expected = (
        State.FIRST_RUN
        if not positions
        else State.NEW_MODEL
        if len(positions) < len(TWELVE)
        else State.OUT_OF_SYNC
        if len(set(positions.values())) > 1
        else State.STANDARD
    )
    assert limits.state is expected


def test_the_first_run_of_a_selection_is_not_called_that_of_the_package():
    of_package = limits_of({}, TWELVE, "2024-03-10")
    assert of_package.sentences[0] == "First run of the package"
    of_selection = limits_of(everyone(LIVE), ["m12"], "2024-03-10")
    assert of_selection.sentences[0] == "New model introduced: first run of this selection"
    assert of_selection.state is State.FIRST_RUN
    assert (of_selection.lower, of_selection.upper) == (of_package.lower, of_package.upper)
