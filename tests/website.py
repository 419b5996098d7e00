"""A little website for tests: literal events in, runs at pinned clocks, rows out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from literal_rows import literal_rows
from windrow import Project, RunResult
from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import ENTITY_COLUMNS, WEB_PAGE
from windrow.atomic.fields import page_view_id
from windrow.engine.workspace import Workspace

Event = dict[str, Any]

SCHEMA = ", ".join(
    f"`{name}` {'string' if kind == 'timestamp' else kind}"
    for name, kind in {
        **STANDARD_COLUMNS,
        **{entity.name: entity.type for entity in ENTITY_COLUMNS},
    }.items()
)
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0"


def at(text: str) -> datetime:
    """`2024-01-10 10:00` as an instant; UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def event(
    event_id: str,
    session: str | None,
    when: str,
    name: str = "page_view",
    *,
    page: str | None = None,
    cookie: str | None = "cookie",
    delay: timedelta = timedelta(0),
    **columns: Any,
) -> Event:
    """An event collected at `when`, made `delay` earlier on the device."""
    collected = at(when)
    created = collected - delay
    return {
        "event_id": event_id,
        "domain_sessionid": session,
        "domain_userid": cookie,
        "event_name": name,
        "event": name if name in ("page_view", "page_ping") else "unstruct",
        "app_id": "shop",
        "platform": "web",
        "collector_tstamp": collected,
        "derived_tstamp": created,
        "dvce_created_tstamp": created,
        "dvce_sent_tstamp": collected,
        "etl_tstamp": collected,
        "load_tstamp": collected,
        "domain_sessionidx": 1,
        "network_userid": "network",
        "useragent": CHROME,
        "page_url": "https://shop.example/home",
        WEB_PAGE.name: [{"id": page}] if page else None,
        **columns,
    }


def event_frame(spark: SparkSession, events: Iterable[Event]) -> DataFrame:
    """The events as a source table has them."""
    names = [*STANDARD_COLUMNS, *(entity.name for entity in ENTITY_COLUMNS)]
    rows = [tuple(_value(row.get(name)) for name in names) for row in events]
    frame = literal_rows(spark, rows, SCHEMA)
    return frame.select(
        *(
            F.col(name).cast("timestamp")
            if STANDARD_COLUMNS.get(name) == "timestamp"
            else F.col(name)
            for name in names
        )
    )


def events_this_run(spark: SparkSession, events: Iterable[Event]) -> DataFrame:
    """The events as models get them, with their page view ids."""
    frame = event_frame(spark, events).withColumn("page_view_id", page_view_id())
    return frame.localCheckpoint()


def _value(value: Any) -> Any:
    return f"{value:%Y-%m-%d %H:%M:%S.%f}Z" if isinstance(value, datetime) else value


ONLY_PAGE_VIEWS: dict[str, Any] = {"disabled_models": ["sessions", "users", "user_mapping"]}
"""Options for tests of how runs go on, whatever they compute: one model is quicker than four."""


_FIRST_RUNS: WeakKeyDictionary[SparkSession, dict[str, tuple[Path, RunResult]]] = (
    WeakKeyDictionary()
)
"""Session -> a site as its first run found it -> its warehouse afterwards, and the result."""


def _first_runs(spark: SparkSession) -> dict[str, tuple[Path, RunResult]]:
    return _FIRST_RUNS.setdefault(spark, {})


def session_folder(spark: SparkSession) -> Path:
    """The folder of the suite's session, which pytest looks after."""
    return Path(urlsplit(str(spark.conf.get("spark.sql.warehouse.dir"))).path)


class Site:
    """A project with one package over events that arrive as the test goes on."""

    package = "web"

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        *,
        format: str = "delta",
        target: str = "dev",
        **options: Any,
    ) -> None:
        self.spark, self.folder, self.format = spark, folder, format
        self.arrivals: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"start_date": "2024-01-01", **options}
        (folder / "windrow.yml").write_text(
            yaml.safe_dump(
                {
                    "name": "site",
                    "target": target,
                    "targets": {
                        name: {"warehouse": "./warehouse", "format": format}
                        for name in ("dev", "prod")
                    },
                    "events": {"path": "./events"},
                    "packages": self.packages(settings),
                }
            )
        )

    def packages(self, settings: dict[str, Any]) -> dict[str, Any]:
        """What windrow.yml says under `packages:`."""
        return {self.package: settings}

    def arrive(self, *events: Event) -> None:
        """Events are loaded."""
        self.arrivals.append(repr(events))
        frame = event_frame(self.spark, events).coalesce(1)
        frame.write.mode("append").parquet(str(self.folder / "events"))

    def arrive_by_day(self, *events: Event) -> None:
        """Events are loaded, a folder for each day on which they were; always so, or never."""
        self.arrivals.append(f"by day {events!r}")
        frame = event_frame(self.spark, events).coalesce(1)
        dated = frame.withColumn("load_tstamp_date", F.to_date("load_tstamp"))
        place = str(self.folder / "events")
        dated.write.mode("append").partitionBy("load_tstamp_date").parquet(place)

    def project(self, vars: Mapping[str, Any] | None = None) -> Project:
        return Project.load(self.folder, spark=self.spark, vars=vars)

    def run(self, now: str, vars: Mapping[str, Any] | None = None, **options: Any) -> RunResult:
        return self.project(vars).run(self.package, now=at(now), **options)

    def first_run(self, now: str) -> RunResult:
        """The first run, where it is only where the test begins: sites that are alike share it.

        Another site of this process may have had the same files, events and clock: then its tables
        are copied, in place of a run of seconds. (Iceberg's hold their own place, and cannot be.)
        """
        key = repr((type(self), now, self.arrivals, self._own_files()))
        warehouse, made = self.folder / "warehouse", _first_runs(self.spark)
        assert not warehouse.exists()
        assert self.format == "delta"
        assert self.arrivals
        if key not in made:
            result = self.run(now)
            kept = Path(tempfile.mkdtemp(dir=session_folder(self.spark))) / "warehouse"
            shutil.copytree(warehouse, kept)
            made[key] = kept, result
        else:
            shutil.copytree(made[key][0], warehouse)
        return made[key][1]

    def copied(self, folder: Path) -> Self:
        """The same site once more, to go on from where this one is without touching it."""
        assert self.format == "delta", "Iceberg's tables hold their own place"
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        twin = copy(self)
        twin.folder, twin.arrivals = folder, list(self.arrivals)
        return twin

    def _own_files(self) -> dict[str, str]:
        """What the project consists of, events and Python's own leavings aside."""
        return {
            str(path.relative_to(self.folder)): path.read_text()
            for path in sorted(self.folder.rglob("*"))
            if path.suffix in (".yml", ".py", ".sql")
        }

    @property
    def workspace(self) -> Workspace:
        return self.project().workspace(self.package)

    def table(self, name: str) -> DataFrame:
        """A derived table, or one of the manifests, by its short name."""
        ws = self.workspace
        base = {"lifecycle": ws.lifecycle, "quarantine": ws.quarantine, "manifest": ws.manifest}
        return ws.tables.read(base.get(name) or ws.table(ws.model(name)))

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """The columns of all rows, sorted; instants as text."""
        return rows(self.table(name).select(*columns))


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All rows, sorted; instants as text without trailing zeros."""
    text = frame.select(
        *(
            F.date_format(name, "yyyy-MM-dd HH:mm:ss.SSS").alias(name)
            if kind == "timestamp"
            else F.col(name)
            for name, kind in frame.dtypes
        )
    )
    found = [tuple(_plain(value) for value in row) for row in text.collect()]
    return sorted(found, key=repr)


def _plain(value: Any) -> Any:
    return value.removesuffix(".000") if isinstance(value, str) else value


def contents(site: Site) -> dict[str, list[tuple[Any, ...]]]:
    """Every table, but not when each row was made: what any split into runs must agree on."""
    models = [member.name for member in site.workspace.models]
    names = (*models, "lifecycle", "quarantine")
    found = {name: rows(site.table(name).drop("model_tstamp")) for name in names}
    # Sites without a row would agree, whatever became of their events.
    assert any(found[name] for name in models)
    return found
