"""Which rows were added when, where files remember no commits: by load time, or by file.

Neither is as exact as a commit: a batch may be stamped a while before it can be seen. So each look
begins a while before the end of the last one; a session that is processed twice is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.atomic.arrivals.values import Arrived, lost
from windrow.atomic.source import Source, reading_events
from windrow.columns.timestamps import from_micros, micros

LOADED = "load_tstamp"
_OVERLAP = timedelta(minutes=30)
"""Between the stamp of a batch and the moment from which it can be read."""


@dataclass(frozen=True)
class LoadTimes:
    """Events with the time at which each was loaded."""

    source: Source

    def version(self, known: str | None = None) -> str | None:
        since = None if known is None else _moment("loaded", known)
        rows = self.source.raw if since is None else self.source.loaded_since(since)
        with reading_events():
            newest = rows.agg(micros(F.max(self.source.adapted[LOADED]))).collect()[0][0]
        found = from_micros(newest)
        return known if found is None else f"loaded:{max(filter(None, (found, since))).isoformat()}"

    def since(self, version: str, *, until: str, before: datetime) -> Arrived:
        moment = _moment("loaded", version)
        if moment is None:
            return lost(_OTHER)
        if version == until:
            return Arrived()
        return Arrived(self.source.loaded_since(moment - _OVERLAP))


@dataclass(frozen=True)
class FileTimes:
    """Files of events, each with the time at which it was written."""

    spark: SparkSession
    read: Callable[[dict[str, str]], DataFrame]
    """The events as stored, under options of Spark's reader."""

    def version(self, known: str | None = None) -> str | None:
        # The machine's clock, not the run's: `--now` means the time of events.
        return f"files:{datetime.now(UTC).isoformat()}"

    def since(self, version: str, *, until: str, before: datetime) -> Arrived:
        moment = _moment("files", version)
        if moment is None:
            return lost(_OTHER)
        zone = ZoneInfo(str(self.spark.conf.get("spark.sql.session.timeZone")))
        after = (moment - _OVERLAP).astimezone(zone)
        return Arrived(self.read({"modifiedAfter": f"{after:%Y-%m-%dT%H:%M:%S}"}))


_OTHER = "At the last run, events.new_by or the place of the events was another."


def _moment(kind: str, version: str) -> datetime | None:
    found, _, text = version.partition(":")
    return datetime.fromisoformat(text) if found == kind else None
