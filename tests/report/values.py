"""Literal plans, runs and states, made without Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame

from windrow.engine.plan import Plan
from windrow.engine.result import RunResult
from windrow.engine.steps import RunFacts
from windrow.engine.volumes import TableVolume, Volumes
from windrow.models.checks import CheckResult
from windrow.models.model import Model, model, stored
from windrow.operations.adoption import Adoption
from windrow.operations.diff import Diff, TableDiff
from windrow.operations.inherited import Inherited, TypeChange
from windrow.operations.maintain import TableUpkeep, Upkeep
from windrow.operations.rerun import RerunPlan
from windrow.operations.rollback import Rollback, TableRollback
from windrow.operations.several_packages import PackageRuns
from windrow.operations.status import PackageStatus
from windrow.state.holder import Holder
from windrow.state.leases import Intent, Lease
from windrow.state.limits import Limits, State
from windrow.state.runs import ModelFate, ModelOutcome, Outcome, RunRecord
from windrow.tables import Compaction, Expiry, FileSizes, Layout, TableName
from windrow.tables.comparison import Comparison, Example, Found, OtherType


@model(key="page_view_id", date="start_tstamp")
def page_views(events: DataFrame, settings: object) -> DataFrame:
    """One row per page view."""
    return events


@model(key="domain_userid", tags=["nightly"])
def users(page_views: DataFrame, known: DataFrame = stored("users")) -> DataFrame:
    """One row per user."""
    return page_views


MODELS: tuple[Model, ...] = tuple(
    replace(member, package="web", prefix="snowplow_web_") for member in (page_views, users)
)


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2024, 3, day, hour, tzinfo=UTC)


def a_plan() -> Plan:
    return Plan(
        package="web",
        target="dev",
        now=at(7),
        limits=Limits(State.STANDARD, at(5, 18), at(7), at(6), at(7)),
        models=MODELS,
        tracked=("snowplow_web_page_views", "snowplow_web_users"),
        positions={"snowplow_web_page_views": at(6), "snowplow_web_users": at(6)},
    )


def some_volumes() -> Volumes:
    return Volumes(
        tables=(
            TableVolume("derived.page_views", FileSizes(2, 300_000), FileSizes(3, 450_000)),
            TableVolume("derived.daily"),
        ),
        like="20240306T000000-ab12cd34",
    )


def a_run_that_begins() -> RunFacts:
    return RunFacts(
        run_id="20240307T000000-ab12cd34",
        state="standard",
        lower_limit=at(5, 18),
        upper_limit=at(7),
        models=("page_views", "users"),
        began=at(7),
        window_events=2010,
        expected_seconds=42.0,
    )


def a_rerun() -> RerunPlan:
    steps = (
        Limits(State.RERUN, at(1), at(3), None, at(5)),
        Limits(State.RERUN, at(3), at(5), None, at(5)),
    )
    return RerunPlan(
        package="web",
        target="dev",
        first=at(1),
        last=at(5),
        models=MODELS,
        beyond=MODELS[1:],
        steps=tuple(replace(a_plan(), limits=limits) for limits in steps),
    )


def a_rollback() -> Rollback:
    return Rollback(
        run_id="20240307T000000-ab12cd34",
        package="web",
        target="dev",
        runs=("20240307T000000-ab12cd34",),
        tables=(
            TableRollback(TableName("derived", "snowplow_web_users"), "9", "7"),
            TableRollback(TableName("derived", "pages"), "3", None),
        ),
    )


def a_result() -> RunResult:
    return RunResult(
        run_id="20240307T000000-ab12cd34",
        plan=a_plan(),
        outcome=Outcome.SUCCEEDED,
        models=(
            ModelOutcome("snowplow_web_page_views", ModelFate.SUCCEEDED, 1200, 3.1),
            ModelOutcome("snowplow_web_users", ModelFate.SUCCEEDED, 80, 1.5),
        ),
        counts={
            "events": 2010,
            "sessions": 180,
            "window_without_session": 21,
            "window_too_late": 1,
            "window_other_app": 0,
            "duplicates": 20,
            "quarantined": 1,
        },
        reached=at(6, 23),
        seconds=12.34,
    )


def a_failed_result() -> RunResult:
    return replace(
        a_result(),
        outcome=Outcome.FAILED,
        models=(
            ModelOutcome(
                "snowplow_web_page_views", ModelFate.FAILED, None, 3.1, "no such column [x]"
            ),
            ModelOutcome(
                "snowplow_web_users", ModelFate.SKIPPED, error="reads page_views, which failed"
            ),
        ),
    )


def some_checks() -> tuple[CheckResult, ...]:
    table = "snowplow_web_page_views"
    twice: dict[str, str | None] = {"page_view_id": "p1", "times": "2"}
    nameless: dict[str, str | None] = {"page_view_id": "p2", "page_url": None}
    return (
        CheckResult(table, "not_null(page_url)", "warn", 1, (nameless,)),
        CheckResult(table, "unique(page_view_id)", "error", 1, (twice,)),
        CheckResult(table, "not_null(page_view_id)", "error"),
    )


def a_rejected_result() -> RunResult:
    return replace(a_result(), outcome=Outcome.REJECTED, reached=None, checks=some_checks())


def a_status() -> PackageStatus:
    return PackageStatus(
        package="web",
        target="dev",
        positions=a_plan().positions,
        plan=a_plan(),
        problem=None,
        quarantined=1,
        lease=None,
        is_running=False,
        last_runs=(a_record(),),
    )


def a_record() -> RunRecord:
    result = a_result()
    return RunRecord(
        run_id="20240306T000000-ab12cd34",
        package="web",
        outcome=Outcome.SUCCEEDED,
        started_at=at(6),
        finished_at=at(6) + timedelta(seconds=65),
        clock=at(6),
        state="first_run",
        lower_limit=at(4),
        upper_limit=at(6),
        reached=at(5, 23),
        models=result.models,
        counts=dict(result.counts or {}),
    )


def a_lease() -> Lease:
    return Lease(
        package="web",
        run_id="20240307T000000-dead0000",
        holder=Holder("host-1", 4711),
        started_at=at(7),
        lease_until=at(7, 1),
        intent=Intent(state="standard", lower_limit=at(5, 18), upper_limit=at(7)),
    )


def an_upkeep() -> Upkeep:
    return Upkeep(
        package="web",
        target="dev",
        run_id="maintain-20240307T000000-ab12cd34",
        kept_since=at(1),
        has_deleted=False,
        tables=(
            TableUpkeep(
                TableName("derived", "snowplow_web_page_views"),
                Layout(("start_tstamp_date",)),
                Layout((), ("app_id",)),
                Compaction(48, 1),
                Expiry(1000, "file", is_more=True),
            ),
            TableUpkeep(
                TableName("derived", "snowplow_web_users"),
                Layout(),
                None,
                None,
                None,
                "it was busy",
            ),
        ),
    )


def ran(*results: RunResult) -> dict[str, PackageRuns]:
    """What a command did that ran web."""
    return {"web": PackageRuns(list(results))}


def an_adoption() -> Adoption:
    """Tables that were looked at: one to change, one that is not there."""
    return Adoption(
        package="web",
        target="prod",
        tables=(
            Inherited(
                TableName("derived", "snowplow_web_users"),
                "snowplow_web_users",
                ("domain_userid",),
                rows=1200,
                duplicates=2,
                layout=Layout(("start_tstamp_date",)),
                adds={"screen": "string"},
                unknown=("note",),
                changes=(TypeChange("sessions", "int", "bigint", 0),),
            ),
            Inherited(TableName("derived", "new"), "new", ("id",), is_there=False),
        ),
        positions={"snowplow_web_users": at(5), "snowplow_web_page_views": at(6)},
        switched_off=("snowplow_web_vitals",),
        plan=a_plan(),
    )


def a_diff() -> Diff:
    """Two tables of two schemas, of which one could not be compared."""
    compared = Comparison(
        key=("domain_sessionid", "part"),
        rows_a=4,
        rows_b=3,
        keys_in_both=2,
        only_a=Found(1, (Example(("s0", "1")),)),
        only_b=Found(),
        duplicates_a=Found(),
        duplicates_b=Found(1, (Example(("s2", "1")),)),
        null_keys_a=1,
        null_keys_b=0,
        compared=("app_id", "views"),
        differing={"app_id": Found(2, (Example(("s1", None), "x", None),))},
        columns_only_a=("note",),
        columns_only_b=(),
        other_types=(OtherType("views", "int", "bigint", "bigint"),),
        ignored=("model_tstamp",),
    )

    def named(table: str) -> tuple[TableName, TableName]:
        return TableName("derived", table), TableName("shadow", table)

    return Diff(
        a="derived",
        b="shadow",
        where=None,
        tables=(
            TableDiff(*named("sessions"), compared),
            TableDiff(*named("other"), None, "The key is not known."),
        ),
        only_b=("new",),
    )
