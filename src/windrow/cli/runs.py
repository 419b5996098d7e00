"""Commands that run models, or say what a run would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import typer

from windrow.assembly import Choice
from windrow.cli.call import ProjectCall, RunCall
from windrow.cli.last_runs import note_last_runs, takes_in_little
from windrow.cli.options import Exclude, Now, Package, Select
from windrow.cli.rounds import run_every
from windrow.cli.timetable import Timetable
from windrow.cli.values import joined, parse_interval, parse_now
from windrow.engine.plan import Plan
from windrow.errors import UsageError, WindrowError
from windrow.models.base_names import without_limits, without_manifests
from windrow.operations.several_packages import PackageRuns
from windrow.project import Project
from windrow.report.documents import plans_document, runs_document
from windrow.report.refreshing import refreshed_document, refreshed_text
from windrow.report.text import plans_text, runs_text, title

FullRefresh = Annotated[
    bool, typer.Option("--full-refresh", help="Empty the models' tables and begin anew.")
]
RefreshManifests = Annotated[
    bool,
    typer.Option(
        "--refresh-manifests",
        help="Begin anew, but leave rows until they are replaced; or only a manifest to --select.",
    ),
]
UntilCaughtUp = Annotated[
    bool, typer.Option("--until-caught-up", help="Run again until nothing is left to do.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Keep nothing of a run whose rows fail a check.")
]
AcceptChangedOptions = Annotated[
    bool,
    typer.Option("--accept-changed-options", help="Go on though an option changed what rows mean."),
]
Bytes = Annotated[
    bool,
    typer.Option("--bytes", help="Say how much of each table is read and written; takes longer."),
]
Every = Annotated[
    str | None,
    typer.Option(help="Stay, and run again this often on the same Spark: 30s, 5m, 1h."),
]


def run(
    call: RunCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
    full_refresh: FullRefresh = False,
    refresh_manifests: RefreshManifests = False,
    until_caught_up: UntilCaughtUp = False,
    check: Check = False,
    accept_changed_options: AcceptChangedOptions = False,
    every: Every = None,
) -> int:
    """Take in new events and bring the tables up to date."""
    select, packages = _without_limits(call, package, select)
    if packages and not select:
        return _say_limits(call, packages, parse_now(now))
    if full_refresh or refresh_manifests:
        named = _named_manifests(call, package, select)
        if named is not None:
            beside = {"--exclude": exclude, "--until-caught-up": until_caught_up, "--every": every}
            _refuse_beside_manifests([option for option, is_given in beside.items() if is_given])
            return _refresh_manifests(call, *named, parse_now(now))

    def is_brief(project: Project, choices: Sequence[Choice]) -> bool:
        is_all_anew = full_refresh or refresh_manifests
        return every is None and not is_all_anew and takes_in_little(project, choices)

    def once() -> dict[str, PackageRuns]:
        clock = parse_now(now)
        project, choices = call.chosen(package, select, exclude, is_brief=is_brief)
        if every is not None:
            call.keep_warm(project)
        done = project.run_all(
            choices,
            now=clock,
            full_refresh=full_refresh,
            refresh_manifests=refresh_manifests,
            until_caught_up=until_caught_up,
            check=check,
            accept_changed_options=accept_changed_options,
            listener=call.progress,
            begin=lambda name: call.progress.begin(name, title(name, project.target.name)),
        )
        note_last_runs(project, done)
        return done

    if every is not None:
        call.is_in_lines = True
        _refuse_to_repeat(
            {
                "--now": now is not None,
                "--full-refresh": full_refresh,
                "--refresh-manifests": refresh_manifests,
                "--accept-changed-options": accept_changed_options,
            }
        )
        return run_every(call, Timetable(parse_interval(every)), once)
    done = once()
    call.report(runs_document(done), runs_text(done))
    call.say_errors(done)
    return max(runs.exit_code for runs in done.values())


def _refuse_to_repeat(options: Mapping[str, bool]) -> None:
    """Stop if one of these is given: each is right once and wrong every few minutes."""
    for option, is_given in options.items():
        if is_given:
            raise UsageError(
                f"{option} is for a single run, and --every would repeat it. "
                "Use it in a run of its own first, or leave --every out."
            )


def _named_manifests(
    call: ProjectCall, package: str | None, select: list[str] | None
) -> tuple[str, Sequence[str]] | None:
    """The package and those of its manifests that the selection names; None: it names models."""
    if not select:
        return None
    project = call.project()
    rest, named = without_manifests(joined(select), call.packages(project, package))
    if not named:
        return None
    if rest:
        _refuse_beside_manifests([f"'{rest}'"])
    having = {it: names for it, names in named.items() if {*names} & {*project.manifests(it)}}
    if len(having) > 1:
        raise UsageError(
            f"Which package? Use --package with one of: {', '.join(having)}; or write the "
            "manifest's whole name, with its prefix."
        )
    return next(iter((having or named).items()))


def _refuse_beside_manifests(others: Sequence[str]) -> None:
    """Stop where something is given that means nothing while single manifests are made anew."""
    if others:
        raise UsageError(
            f"Manifests are made anew by themselves, and no model runs: leave out {others[0]}, and "
            "give it to a run of its own."
        )


def _refresh_manifests(
    call: RunCall, package: str, manifests: Sequence[str], clock: datetime
) -> int:
    """Make the named manifests of a package anew."""
    project = call.project()
    call.start_spark(project)
    call.progress.begin(package, title(package, project.target.name))
    done = project.refresh_manifests(package, manifests, now=clock, listener=call.progress)
    call.report(refreshed_document(done), refreshed_text(done))
    return 0


def _without_limits(
    call: ProjectCall, package: str | None, select: list[str] | None
) -> tuple[list[str] | None, tuple[str, ...]]:
    """The selection without `base_new_event_limits`, and the packages whose limits that means."""
    if not select:
        return select, ()
    rest, packages = without_limits(joined(select), call.packages(call.project(), package))
    return None if rest is None else [rest], packages


def _say_limits(call: ProjectCall, packages: Sequence[str], clock: datetime) -> int:
    """Say state and window of these packages, as a plan does; writes nothing."""
    project = call.project()
    choices = project.choices(packages)
    call.start_spark(project, is_brief=True)
    return _say_plans(call, project, choices, clock)


def plan(
    call: ProjectCall,
    package: Package = None,
    select: Select = None,
    exclude: Exclude = None,
    now: Now = None,
    with_bytes: Bytes = False,
) -> int:
    """Say what the next run would do: window, models, what it would read. Writes nothing."""
    clock = parse_now(now)
    select, packages = _without_limits(call, package, select)
    if packages and not select:
        return _say_limits(call, packages, clock)
    project, choices = call.chosen(package, select, exclude, is_brief=lambda *_: not with_bytes)
    return _say_plans(call, project, choices, clock, with_bytes=with_bytes)


def _say_plans(
    call: ProjectCall,
    project: Project,
    choices: Sequence[Choice],
    clock: datetime,
    *,
    with_bytes: bool = False,
) -> int:
    plans: list[Plan] = []
    errors: dict[str, WindrowError] = {}
    for it in choices:
        try:
            plan = project.plan(
                it.package,
                now=clock,
                with_bytes=with_bytes,
                select=it.select,
                exclude=it.exclude,
            )
            plans.append(plan)
        except WindrowError as error:
            if len(choices) == 1:
                raise
            errors[it.package] = error
    call.report(plans_document(plans, errors), plans_text(plans))
    for name, problem in errors.items():
        call.say_error(f"{name}: {problem}")
    return max((problem.exit_code for problem in errors.values()), default=0)
