"""A Delta table as years of runs leave it: its log by Delta's own protocol, most files only named.

What a run opens is real: the files that are named only lie on days that no look reads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.ages import Age
from bench.cpu import jvm_of

_CHECKPOINT = "{:020d}.checkpoint.parquet"


def grow_old(spark: SparkSession, table: Path, age: Age) -> None:
    """Bring the table to the version that so many runs end at, with the files of all their days.

    Of versions that are no longer kept there is a checkpoint, as there would be; of each of the
    others a commit that adds a file and takes the one before away.
    """
    log = table / "_delta_log"
    known = _file_in(log)
    first = 1 + max(int(it.stem) for it in log.glob("*.json"))
    _write(log, first, ({"add": it} for it in _old_files(known, age)))
    _checkpoint(spark, table)
    # The checkpoint of all of that becomes the one of the last version that is not kept.
    base = max(first, age.runs - age.kept)
    size = _rename_checkpoint(log, first, base)
    (log / "_last_checkpoint").write_text(json.dumps({"version": base, "size": size}))
    for number in range(1, age.kept + 1):
        _write(log, base + number, _changes(known, number, age))
    _checkpoint(spark, table)


def _file_in(log: Path) -> Mapping[str, Any] | None:
    """How the log names a file of the table; None: it has no file."""
    texts = (file.read_text() for file in sorted(log.glob("*.json")))
    lines = (line for text in texts for line in text.splitlines())
    found = (json.loads(line).get("add") for line in lines)
    return next((it for it in found if it), None)


def _old_files(known: Mapping[str, Any] | None, age: Age) -> Iterator[Mapping[str, Any]]:
    if known is None or (column := _day_column(known)) is None:
        return
    for day in age.days:
        for number in range(age.files_per_day):
            yield _named(known, f"old-{number}", column, day)


def _changes(
    known: Mapping[str, Any] | None, number: int, age: Age
) -> Iterator[Mapping[str, Mapping[str, Any]]]:
    """What a run's commit does to a table; after the last, all is as it was before the first."""
    if known is None:
        return
    column = _day_column(known)
    day = age.days[-1]
    if number < age.kept:
        yield {"add": _named(known, f"run-{number}", column, day)}
    if number > 1:
        gone = _named(known, f"run-{number - 1}", column, day)
        kept = {name: gone[name] for name in ("path", "partitionValues", "size")}
        stamp = {"deletionTimestamp": _now(), "dataChange": True, "extendedFileMetadata": True}
        yield {"remove": {**kept, **stamp}}


def _named(known: Mapping[str, Any], name: str, column: str | None, day: date) -> Mapping[str, Any]:
    values = {**known["partitionValues"], **({column: day.isoformat()} if column else {})}
    folder = f"{column}={day.isoformat()}/" if column else ""
    path = f"{folder}part-{name}-{'0' * 36}.c000.snappy.parquet"
    return {**known, "path": path, "partitionValues": values, "modificationTime": _now()}


def _day_column(known: Mapping[str, Any]) -> str | None:
    """The one partition that is a day."""
    for name, value in known["partitionValues"].items():
        try:
            date.fromisoformat(value or "")
        except ValueError:
            continue
        return str(name)
    return None


def _write(log: Path, version: int, actions: Iterator[Mapping[str, Any]]) -> None:
    told = {
        "timestamp": _now(),
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[]"},
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {"numFiles": "1", "numOutputRows": "1", "numOutputBytes": "1000"},
        "userMetadata": f"run-{version}",
    }
    with (log / f"{version:020d}.json").open("w") as file:
        for action in ({"commitInfo": told}, *actions):
            file.write(json.dumps(action) + "\n")


def _checkpoint(spark: SparkSession, table: Path) -> None:
    logs = getattr(jvm_of(spark), "org.apache.spark.sql.delta.DeltaLog")
    logs.clearCache()
    logs.forTable(spark._jsparkSession, str(table)).checkpoint()
    logs.clearCache()


def _rename_checkpoint(log: Path, version: int, other: int) -> int:
    """Let a checkpoint be that of another version, and forget all before; its size in actions."""
    size = int(json.loads((log / "_last_checkpoint").read_text())["size"])
    (log / _CHECKPOINT.format(version)).rename(log / _CHECKPOINT.format(other))
    kept = {_CHECKPOINT.format(other)}
    for file in log.iterdir():
        if file.is_file() and file.name not in kept:
            file.unlink()
    return size


def _now() -> int:
    return int(time.time() * 1000)
