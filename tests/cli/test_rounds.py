"""windrow run --every: rounds on one Spark session until somebody stops them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from temp_views import temp_views
from website import ONLY_PAGE_VIEWS, Site, event
from windrow.cli import main, values
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Leases

from .conftest import Windrow

pytestmark = pytest.mark.ci

Reaction = Callable[[], None]


class Rounds(StringIO):
    """The output of rounds with --json: after each document, the next reaction follows."""

    def __init__(self, *reactions: Reaction) -> None:
        super().__init__()
        self._reactions = iter(reactions)
        self.told: list[Any] = []

    def write(self, line: str) -> int:
        # All in one line: else this is no document.
        self.told.append(json.loads(line))
        next(self._reactions)()
        return len(line)


@pytest.fixture
def terminate() -> Iterator[Reaction]:
    """SIGTERM, after a round was told of; it never reaches the tests themselves."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield lambda: os.kill(os.getpid(), signal.SIGTERM)
    signal.signal(signal.SIGTERM, before)


def do_nothing() -> None:
    pass


@pytest.fixture
def site(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site with no events yet, where rounds may follow each other quickly."""
    monkeypatch.setattr(values, "SHORTEST_INTERVAL", timedelta(seconds=1))
    # Other tests share the session, and may have left something in it.
    spark.catalog.clearCache()
    for view in temp_views(spark):
        spark.catalog.dropTempView(view)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    return Site(spark, tmp_path / "site", start_date=yesterday, **ONLY_PAGE_VIEWS)


def stay(site: Site, out: StringIO, err: StringIO, *arguments: str) -> int:
    place = ("--project-dir", str(site.folder))
    with redirect_stdout(out), redirect_stderr(err):
        return main(["run", *arguments, *place], spark=site.spark)


def collected(hours_ago: int) -> str:
    return f"{datetime.now(UTC) - timedelta(hours=hours_ago):%Y-%m-%d %H:%M:%S}"


def test_rounds_go_on_after_failures_and_end_with_0_between_two(
    site: Site, terminate: Reaction
) -> None:
    file = site.folder / "windrow.yml"
    good = file.read_text()

    def bring_events() -> None:
        site.arrive(event("e1", "s1", collected(hours_ago=3), page="p1"))

    def bring_more() -> None:
        site.arrive(event("e2", "s2", collected(hours_ago=1), page="p2"))

    def misspell() -> None:
        file.write_text(good.replace("warehouse:", "warehoues:"))

    def mend() -> None:
        file.write_text(good)

    rounds = Rounds(bring_events, bring_more, misspell, mend, terminate)
    err = StringIO()
    exit_code = stay(site, rounds, err, "--every", "2s", "--json")

    lines = [line.strip() for line in err.getvalue().splitlines()]
    assert (exit_code, lines[-1]) == (0, "Stopped between two rounds.")
    assert [it["round"]["number"] for it in rounds.told] == [1, 2, 3, 4, 5]
    assert [it["round"]["exit_code"] for it in rounds.told] == [2, 0, 0, 2, 0]
    assert [it["error"] and it["error"]["type"] for it in rounds.told] == [
        *("SourceError", None, None, "InvalidConfigError", None)
    ]
    assert "Did you mean 'warehouse'?" in err.getvalue()
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",)]
    _assert_on_schedule(rounds)
    _assert_nothing_left(site.spark)


def _assert_on_schedule(rounds: Rounds) -> None:
    """No round began before the one before it said; later only if what we did took that long."""
    began = [datetime.fromisoformat(it["round"]["began"]) for it in rounds.told]
    announced = [datetime.fromisoformat(it["round"]["next"]) for it in rounds.told]
    for said, real in zip(announced[:-1], began[1:], strict=True):
        assert real - said > timedelta(seconds=-0.1)


def _assert_nothing_left(spark: SparkSession) -> None:
    """A round leaves no view and no cached frame behind."""
    assert temp_views(spark) == []
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


@pytest.mark.usefixtures("terminate")
def test_a_run_that_a_signal_meets_is_undone_as_any_run(site: Site) -> None:
    site.arrive(event("e1", "s1", collected(hours_ago=3), page="p1"))

    class Steps(StringIO):
        def write(self, line: str) -> int:
            if '"step": "events", "status": "done"' in line:
                os.kill(os.getpid(), signal.SIGTERM)
            return super().write(line)

    rounds, steps = Rounds(do_nothing), Steps()
    assert stay(site, rounds, steps, "--every", "2s", "--json", "--log-format", "json") == 143
    assert [it["error"]["type"] for it in rounds.told] == ["Terminated"]
    assert steps.getvalue().endswith("Terminated. Nothing of this run was kept.\n")
    assert site.rows("manifest", "model") == []


def test_people_get_a_heading_for_each_round_and_when_the_next_is(
    site: Site, terminate: Reaction
) -> None:
    site.arrive(event("e1", "s1", collected(hours_ago=3), page="p1"))

    class Lines(StringIO):
        def write(self, line: str) -> int:
            if "Next round" in line:
                terminate()
            return super().write(line)

    out, err = Lines(), StringIO()
    assert stay(site, out, err, "--every", "1h", "--quiet") == 0
    lines = out.getvalue().splitlines()
    assert err.getvalue() == ""
    assert lines[0].startswith("Round 1, 20")
    assert lines[1].startswith("web: succeeded in ")
    assert lines[-2].startswith("Next round at 20")
    assert lines[-1] == "Stopped between two rounds."


def test_two_of_them_take_turns(site: Site, terminate: Reaction) -> None:
    """The lease is free between rounds: what the one leaves the other goes on from."""
    theirs, errors = Rounds(terminate), [StringIO(), StringIO()]

    def let_the_other_one_run() -> None:
        site.arrive(event("e2", "s2", collected(hours_ago=2), page="p2"))
        assert stay(site, theirs, errors[1], "--every", "1h", "--json") == 0
        site.arrive(event("e3", "s3", collected(hours_ago=1), page="p3"))

    site.arrive(event("e1", "s1", collected(hours_ago=3), page="p1"))
    ours = Rounds(let_the_other_one_run, terminate)
    assert stay(site, ours, errors[0], "--every", "2s", "--json") == 0
    documents = [*ours.told, *theirs.told]
    assert [it["round"]["exit_code"] for it in documents] == [0, 0, 0]
    ran = [run["run_id"] for it in documents for run in it["packages"][0]["runs"]]
    ledger = [it.run_id for it in reversed(site.workspace.runs.last("web", 9))]
    assert ledger == [ran[0], ran[2], ran[1]]
    assert site.rows("page_views", "page_view_id") == [("p1",), ("p2",), ("p3",)]


def test_a_round_that_finds_the_package_held_has_failed_and_the_next_one_comes(
    site: Site, terminate: Reaction
) -> None:
    site.arrive(event("e1", "s1", collected(hours_ago=3), page="p1"))
    ws = site.workspace
    ws.prepare_manifests()
    other = Leases(site.spark, ws.tables, ws.schemas.manifest, holder=Holder("elsewhere", 7))
    other.prepare()
    ws.runs.prepare()
    lease = other.take("web", "20240110T000000-aaaa", Intent(), 5, after=None)
    rounds, err = Rounds(lambda: other.release(lease), terminate), StringIO()
    assert stay(site, rounds, err, "--every", "2s", "--json") == 0
    assert [it["round"]["exit_code"] for it in rounds.told] == [3, 0]
    assert "process 7 on elsewhere" in err.getvalue()
    assert site.rows("page_views", "page_view_id") == [("p1",)]


@pytest.mark.parametrize("option", ["--full-refresh", "--refresh-manifests", "--now=2024-01-01"])
def test_what_is_right_once_is_not_repeated(windrow: Windrow, shop: Path, option: str) -> None:
    outcome = windrow("run", "--every", "5m", option, "--json")
    assert outcome.exit_code == 2
    assert f"{option.partition('=')[0]} is for a single run" in outcome.document["error"]["message"]


def test_an_interval_that_is_none_stops_before_anything_else(windrow: Windrow, shop: Path) -> None:
    (shop / "windrow.yml").unlink()
    outcome = windrow("run", "--every", "often")
    assert (outcome.exit_code, outcome.out) == (2, "")
    assert outcome.err.startswith("Error: --every is 'often'")


def test_a_wrong_configuration_stops_the_first_round(windrow: Windrow, shop: Path) -> None:
    (shop / "windrow.yml").write_text("name: shop\npackages: {wbe: {}}\n")
    outcome = windrow("run", "--every", "5m", "--json")
    assert outcome.exit_code == 2
    assert len(outcome.out.splitlines()) == 1
    assert outcome.document["error"]["type"] == "InvalidConfigError"
