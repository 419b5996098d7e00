"""Who holds a package: told apart from whoever has the same number, and only once at a time."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow import LockedError
from windrow.errors import TableError
from windrow.state.fence import Fence
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Kind, Leases
from windrow.tables import Tables, open_tables

NOW = datetime(2024, 1, 2, tzinfo=UTC)


def test_a_process_is_gone_when_another_one_has_its_number():
    us = Holder.this_process()
    assert not us.is_gone(seen_from=Holder.this_process())
    assert replace(us, process="1").is_gone(seen_from=us)
    assert Holder(us.host, 2**22 + 1).is_gone(seen_from=us)
    # Only its own host can tell.
    assert not Holder("elsewhere", 2**22 + 1).is_gone(seen_from=us)
    # Of a lease that an earlier version wrote, the number is all that is known.
    assert not Holder(platform.node(), os.getpid()).is_gone(seen_from=us)


def test_two_holders_of_one_process_are_told_apart():
    assert Holder.this_process() != Holder.this_process()


def test_a_fence_closes_when_the_lease_lapses_and_says_why_it_was_not_renewed():
    clock = [NOW]
    fence = Fence("The lease is lost.", NOW + timedelta(minutes=1), lambda: clock[0])
    fence()

    def fail() -> datetime:
        raise TableError("the disk is full")

    fence._renew(fail)
    fence()
    clock[0] += timedelta(minutes=1)
    with pytest.raises(LockedError, match=r"is lost\. Renewing it failed: the disk is full"):
        fence()
    fence._renew(lambda: clock[0] + timedelta(minutes=1))
    fence()


def test_a_fence_looks_again_whose_the_lease_is_once_some_seconds_have_gone_by():
    clock, owners = [NOW], [True]
    until = NOW + timedelta(minutes=10)
    fence = Fence("The lease is lost.", until, lambda: clock[0], lambda: owners[0])
    owners[0] = False
    fence()
    clock[0] += timedelta(seconds=5)
    with pytest.raises(LockedError, match="is lost"):
        fence()
    # Once lost, it stays lost.
    with pytest.raises(LockedError, match="is lost"):
        fence()


@pytest.fixture
def leases(spark: SparkSession, format: str, tmp_path: Path) -> Leases:
    tables: Tables = open_tables(spark, format=format, warehouse=str(tmp_path))
    made = Leases(spark, tables, "m", wall_clock=lambda: NOW)
    made.prepare()
    return made


def test_a_lease_is_held_until_it_lapses_or_its_process_is_gone(leases: Leases):
    lease = leases.take("web", "run-1", Intent(), 10, after=None)
    assert leases.is_held(lease)
    assert leases.is_held(replace(lease, holder=Holder("elsewhere", 1)))
    assert not leases.is_held(replace(lease, holder=replace(lease.holder, process="1")))
    assert not leases.is_held(replace(lease, lease_until=NOW))


def test_a_lease_keeps_what_was_intended_and_only_one_of_two_takes_it(
    spark: SparkSession, leases: Leases
):
    rival = Leases(spark, leases._tables, "m", wall_clock=lambda: NOW)
    intent = Intent(
        kind=Kind.ROLLBACK,
        models=("page_views", "users"),
        goes_back_before="run-0",
        restores={"derived.page_views": "3", "derived.users": None},
        kept_since=NOW,
    )
    ours = leases.take("web", "run-1", intent, 10, after=None)
    assert leases.last("web") == ours
    assert leases.last("mobile") is None
    with pytest.raises(LockedError, match="started at the same moment"):
        rival.take("web", "run-2", Intent(), 10, after=None)
    assert leases.is_ours(ours)

    # Whoever takes a dead run's lease over is the only one who may take it back.
    theirs = rival.take_over(ours, 10)
    assert rival.is_ours(theirs)
    assert not leases.is_ours(ours)
    with pytest.raises(LockedError):
        leases.take_over(ours, 10)
    other = leases.take("mobile", "run-3", Intent(), 10, after=None)
    assert leases.last("mobile") == other
    assert rival.is_ours(theirs)
