"""A project: a folder with windrow.yml, and beside it hooks.py and models/ of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from pyspark.sql import SparkSession

from windrow.assembly import Assembly, Choice
from windrow.atomic.source import open_source
from windrow.config import Config, Target, find_project, load
from windrow.engine import run as runs
from windrow.engine.checking import CheckReport, check_last_run
from windrow.engine.events import checked_source
from windrow.engine.holding import look
from windrow.engine.model_run import planned_tables
from windrow.engine.options import RunKeywords, RunOptions, clock_of
from windrow.engine.plan import Plan, chosen_models, next_plan, with_reads
from windrow.engine.result import RunResult
from windrow.engine.steps import Listener, say_nothing
from windrow.engine.watching import Watcher
from windrow.engine.workspace import Workspace
from windrow.models.model import Model
from windrow.operations.adoption import Adoption, adopt, plan_adoption
from windrow.operations.diff import Diff, Wanted, diff, keys_of
from windrow.operations.explain import Explanation, Kind, can_explain, explain
from windrow.operations.maintain import Upkeep, maintain
from windrow.operations.metrics import Sample, package_metrics
from windrow.operations.overview import DAYS, RUNS, Overview, package_overview
from windrow.operations.quarantine import (
    Added,
    Quarantine,
    Released,
    add_to_quarantine,
    quarantined,
    release,
)
from windrow.operations.refresh_manifests import (
    RefreshedManifests,
    manifests_on,
    refresh_manifests,
)
from windrow.operations.rerun import RerunPlan, plan_rerun, rerun
from windrow.operations.rollback import Rollback, plan_rollback, roll_back
from windrow.operations.several_packages import Chosen, PackageRuns, run_packages
from windrow.operations.sides import side_of
from windrow.operations.status import PackageStatus, package_status
from windrow.operations.unlock import unlock
from windrow.packages import PACKAGES, SETTINGS
from windrow.packages.normalize.suggestion import Suggestion, suggest
from windrow.spark import session as sessions
from windrow.state.leases import Leases
from windrow.state.runs import Runs, new_run_id
from windrow.tables import Columns, open_tables


@dataclass(frozen=True)
class Project:
    """A loaded project on one target. Starts Spark when something first needs it, or uses yours."""

    config: Config
    _spark: SparkSession | None = None
    _announce: Callable[[str], None] = say_nothing
    _watchers: tuple[Watcher, ...] = ()

    @staticmethod
    def load(
        project_dir: str | Path = ".",
        *,
        target: str | None = None,
        spark: SparkSession | None = None,
        vars: Mapping[str, Any] | None = None,
        announce: Callable[[str], None] = say_nothing,
    ) -> Project:
        """Read and check a project; the folder may also be one below it."""
        config = load(find_project(Path(project_dir)), SETTINGS, target=target, vars=vars)
        return Project(config, spark, announce)

    def watched_by(self, *watchers: Watcher) -> Project:
        """The same project, whose runs these are told of, too."""
        return replace(self, _watchers=(*self._watchers, *watchers))

    @property
    def target(self) -> Target:
        """The target that was chosen."""
        return self.config.chosen_target

    @property
    def spark(self) -> SparkSession:
        """The session: the one handed in, or one of the target's own."""
        return self.start_spark()

    def start_spark(self, *, is_brief: bool = False) -> SparkSession:
        """The session, started now unless there is one.

        `is_brief`: for the work of some seconds, such as a run over a few thousand events; other
        work is done too, but takes longer.
        """
        formats = self._formats()
        if self._spark is not None:
            sessions.check_session(self._spark, formats)
            return self._spark
        return sessions.start(
            self.target.spark,
            formats=formats,
            log_dir=self.config.project_dir / ".windrow" / "logs",
            announce=self._announce,
            is_brief=is_brief,
        )

    def _formats(self) -> list[str]:
        used = {self.target.format}
        for name in self.config.packages:
            source = self.config.foundation_settings(name).events or self.config.events
            if source is not None and source.format in ("delta", "iceberg"):
                used.add(source.format)
        return sorted(used)

    @cached_property
    def _assembly(self) -> Assembly:
        return Assembly(self.config)

    def package_names(self, package: str | None = None) -> list[str]:
        """The packages that a command means: the one named, or all enabled ones.

        Packages that share a foundation run together, as `web+media_player`.
        """
        return self._assembly.package_names(package)

    def models(self, package: str) -> list[Model]:
        """The package's models and the project's own, each after those it reads."""
        return self._assembly.models(package)

    def choices(
        self, packages: Sequence[str], select: str | None = None, exclude: str | None = None
    ) -> list[Choice]:
        """What a selection means for each package; those that it leaves nothing of are left out.

        Every part of it must mean something in one of them.
        """
        return self._assembly.choices(packages, select, exclude)

    def workspace(self, package: str) -> Workspace:
        """All that a run of the package needs at hand."""
        foundation = self._assembly.foundation_of(package)
        meant = tuple(package.split("+"))
        settings = self.config.foundation_settings(meant[0])
        members = self._assembly.standing_on(foundation)
        models = tuple(self._assembly.models_on(foundation))
        spark = self.spark
        tables = open_tables(
            spark,
            format=self.target.format,
            warehouse=self.target.warehouse,
            catalog=self.target.catalog,
        )
        ws = Workspace(
            spark=spark,
            tables=tables,
            leases=Leases(spark, tables, self.config.schemas.manifest),
            runs=Runs(spark, tables, self.config.schemas.manifest),
            package=PACKAGES[foundation],
            settings=settings,
            models=models,
            hooks=self._assembly.hooks,
            schemas=self.config.schemas,
            target=self.target.name,
            events=settings.events or self.config.events,
            others={name: self.config.packages[name] for name in members if name != foundation},
            options_of_columns={
                column: option
                for name in members
                for column, option in PACKAGES[name].options_of_columns.items()
            },
            spark_keys=frozenset(self.target.spark.conf),
            means=meant,
            watchers=self._watchers,
        )
        ws.check_layout_names()
        return ws

    def _workspace_of_base(self, package: str) -> Workspace:
        """The workspace of all packages on one's base: they have one quarantine."""
        foundation = self._assembly.foundation_of(package)
        return self.workspace("+".join(self._assembly.standing_on(foundation)))

    def plan(
        self,
        package: str,
        *,
        now: datetime | None = None,
        with_bytes: bool = False,
        **options: Unpack[RunKeywords],
    ) -> Plan:
        """What the next run would do; writes nothing.

        `with_bytes`, it also looks up which files of each table it would read, and how much the
        last such run wrote there.
        """
        ws, asked = self.workspace(package), RunOptions(**options)
        source = checked_source(ws, chosen_models(ws, asked))
        seen = look(ws)
        plan = next_plan(ws, seen, source, asked, clock_of(now))
        return with_reads(ws, plan, source, seen.newest_runs, with_bytes=with_bytes)

    def run(
        self,
        package: str,
        *,
        now: datetime | None = None,
        listener: Listener = say_nothing,
        **options: Unpack[RunKeywords],
    ) -> RunResult:
        """Carry out the next run of a package; with `check`, only if its rows pass their checks."""
        asked = RunOptions(**options)
        return runs.run(self.workspace(package), asked, now=clock_of(now), listener=listener)

    def run_until_caught_up(
        self,
        package: str,
        *,
        now: datetime | None = None,
        listener: Listener = say_nothing,
        **options: Unpack[RunKeywords],
    ) -> list[RunResult]:
        """Run again and again at one clock until nothing is left, or a model or check fails."""
        chosen = [Chosen(self.workspace(package), RunOptions(**options))]
        done = run_packages(chosen, now=clock_of(now), until_caught_up=True, listener=listener)
        return done[package].runs

    def manifests(self, package: str) -> tuple[str, ...]:
        """The manifests that a package's base has, without their prefix; starts no Spark."""
        base = PACKAGES[self._assembly.foundation_of(package)]
        settings = self.config.foundation_settings(package.split("+")[0])
        return manifests_on(base.foundation(settings))

    def refresh_manifests(
        self,
        package: str,
        names: Sequence[str],
        *,
        now: datetime | None = None,
        listener: Listener = say_nothing,
    ) -> RefreshedManifests:
        """Make single manifests anew; tables of models stay as they are, and no model runs.

        `names`: some of those that `manifests` gives, with or without prefix.
        """
        ws = self._workspace_of_base(package)
        return refresh_manifests(ws, names, now=clock_of(now), listener=listener)

    def run_all(
        self,
        choices: Sequence[Choice] | None = None,
        *,
        now: datetime | None = None,
        until_caught_up: bool = False,
        listener: Listener = say_nothing,
        begin: Callable[[str], None] = say_nothing,
        **options: Unpack[RunKeywords],
    ) -> dict[str, PackageRuns]:
        """Run all packages, or those chosen; events that several of them need are read once.

        An error of one package does not keep the others from running, unless it is the only one.
        """
        meant = self.choices(self.package_names()) if choices is None else choices
        asked = RunOptions(**options)
        return run_packages(
            [
                Chosen(
                    self.workspace(it.package),
                    replace(asked, select=it.select, exclude=it.exclude),
                )
                for it in meant
            ],
            now=clock_of(now),
            until_caught_up=until_caught_up,
            listener=listener,
            begin=begin,
        )

    def plan_rerun(
        self,
        package: str,
        *,
        first: datetime,
        last: datetime | None = None,
        now: datetime | None = None,
        select: str | None = None,
        restart: bool = False,
        despite_missing_events: bool = False,
    ) -> RerunPlan:
        """What processing a past window again would do; writes nothing."""
        return plan_rerun(
            self.workspace(package),
            first=clock_of(first),
            last=None if last is None else clock_of(last),
            now=clock_of(now),
            select=select,
            restart=restart,
            despite_missing_events=despite_missing_events,
        )

    def rerun(
        self, package: str, plan: RerunPlan, *, listener: Listener = say_nothing
    ) -> list[RunResult]:
        """Process a past window again, step by step; live runs go on from where they were."""
        return list(rerun(self.workspace(package), plan, listener=listener))

    def plan_rollback(self, package: str, run_id: str) -> Rollback:
        """What going back to before a run would take back; writes nothing."""
        return plan_rollback(self.workspace(package), run_id)

    def rollback(self, package: str, run_id: str, *, now: datetime | None = None) -> Rollback:
        """Take a package back to where a run found it."""
        clock = clock_of(now)
        ws = self.workspace(package)
        return roll_back(ws, run_id, new_id=new_run_id(clock))

    def unlock(
        self,
        package: str,
        *,
        force: bool = False,
        abandon: Sequence[str] = (),
        listener: Listener = say_nothing,
    ) -> str | None:
        """End the lease of a dead run and take back what it wrote; gives that run's id, if any.

        Tables named in `abandon` stay as the run left them.
        """
        ws = self.workspace(package)
        return unlock(ws, force=force, abandon=abandon, listener=listener)

    def test(
        self, package: str, *, select: str | None = None, exclude: str | None = None
    ) -> CheckReport:
        """Check the rows that the package's last run wrote; writes nothing."""
        return check_last_run(self.workspace(package), select=select, exclude=exclude)

    def maintain(
        self,
        package: str,
        *,
        retention_days: int = 7,
        select: str | None = None,
        delete: bool = False,
        dry_run: bool = False,
        now: datetime | None = None,
        listener: Listener = say_nothing,
    ) -> Upkeep:
        """Lay out, compact and, if told to delete, expire a package's tables."""
        return maintain(
            self.workspace(package),
            now=clock_of(now),
            retention_days=retention_days,
            select=select,
            delete=delete,
            dry_run=dry_run,
            listener=listener,
        )

    def normalized_tables(self) -> dict[str, tuple[Model, Columns]]:
        """The tables that the normalize package makes of the events; reads none, writes nothing."""
        ws = self.workspace("normalize")
        return planned_tables(ws, checked_source(ws, ws.models))

    def suggest_normalize(self, *, since: datetime | None = None) -> Suggestion:
        """A configuration of the normalize package, proposed from the events."""
        is_configured = "normalize" in self.config.packages
        events = self.config.events_of("normalize") if is_configured else self.config.events
        source = open_source(self.spark, events, time_column="collector_tstamp")
        rows = source.raw if since is None else source.rows_since(clock_of(since))
        return suggest(rows)

    def explain(
        self,
        kind: Kind | str,
        id: str,
        *,
        package: str | None = None,
        first: datetime | None = None,
        last: datetime | None = None,
        now: datetime | None = None,
    ) -> list[Explanation]:
        """Where a session, event, user or page view is, and why it is not in the tables.

        Of every package that has such ids, or of one. Events are looked at where the id is known to
        lie, or between `first` and `last`. Writes nothing.
        """
        asked = Kind(kind)
        workspaces = [self.workspace(name) for name in self.package_names(package)]
        meant = [ws for ws in workspaces if package is not None or can_explain(ws, asked)]
        return [
            explain(
                ws,
                asked,
                id,
                now=clock_of(now),
                first=None if first is None else clock_of(first),
                last=None if last is None else clock_of(last),
            )
            for ws in meant
        ]

    def quarantined(self, package: str, *, limit: int = 100) -> Quarantine:
        """Who is in a package's quarantine, since when and why; writes nothing."""
        return quarantined(self._workspace_of_base(package), limit=limit)

    def add_to_quarantine(
        self, package: str, sessions: Sequence[str], *, now: datetime | None = None
    ) -> Added:
        """Put sessions into quarantine: runs do not carry them on. Their rows stay."""
        ws = self._workspace_of_base(package)
        return add_to_quarantine(ws, sessions, now=clock_of(now))

    def release_from_quarantine(
        self,
        package: str,
        sessions: Sequence[str],
        *,
        now: datetime | None = None,
        listener: Listener = say_nothing,
    ) -> Released:
        """Take sessions out of quarantine, and process each of them again, whole."""
        ws = self._workspace_of_base(package)
        return release(ws, sessions, now=clock_of(now), listener=listener)

    def status(self, package: str, *, now: datetime | None = None) -> PackageStatus:
        """Where a package stands and what its next run would do; writes nothing."""
        return package_status(self.workspace(package), clock_of(now))

    def metrics(
        self, package: str | None = None, *, now: datetime | None = None
    ) -> tuple[Sample, ...]:
        """The numbers of one package or of all, for monitoring; writes nothing.

        `windrow.neighbours.prometheus.text` makes Prometheus' text of them.
        """
        clock = clock_of(now)
        return tuple(
            sample
            for name in self.package_names(package)
            for sample in package_metrics(self.workspace(name), self.config.name, clock)
        )

    def plan_adoption(self, package: str, *, now: datetime | None = None) -> Adoption:
        """What taking over tables of the SQL package would mean; writes nothing."""
        return plan_adoption(self.workspace(package), now=clock_of(now))

    def adopt(
        self, package: str, *, now: datetime | None = None, listener: Listener = say_nothing
    ) -> Adoption:
        """Take over tables and manifests of the SQL package, so that the next run goes on."""
        return adopt(self.workspace(package), now=clock_of(now), listener=listener)

    def diff(
        self,
        a: str,
        b: str,
        *,
        key: Sequence[str] = (),
        where: str | None = None,
        ignore: Sequence[str] = (),
        tolerance: float = 0.0,
        examples: int = 3,
    ) -> Diff:
        """Compare two tables, `schema.table`, or all tables of two schemas, by key; writes nothing.

        `target:schema.table` is one of another target of the project.
        """
        wanted = Wanted(tuple(key), where, tuple(ignore), tolerance, examples)
        keys: dict[str, tuple[str, ...]] = {}
        for package in self.package_names():
            keys |= keys_of(self.workspace(package))
        left, right = (side_of(self.spark, self.config, text) for text in (a, b))
        return diff(left, right, wanted, keys)

    def report(
        self,
        package: str | None = None,
        *,
        now: datetime | None = None,
        runs: int = RUNS,
        days: int = DAYS,
        with_bytes: bool = False,
    ) -> Overview:
        """All that the report tells, of one package or of all; writes nothing.

        `windrow.report.page.write_page` makes a page of it. It looks at the last `runs` of each
        package and counts the rows of the last `days` of its tables; `with_bytes`, it also looks
        up in every table's history how much each run wrote.
        """
        clock = clock_of(now)
        return Overview(
            project=self.config.name,
            target=self.target.name,
            format=self.target.format,
            now=clock,
            packages=tuple(
                package_overview(
                    self.workspace(name), clock, runs=runs, days=days, with_bytes=with_bytes
                )
                for name in self.package_names(package)
            ),
        )
