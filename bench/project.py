"""The benchmark's own project: its windrow.yml, and events of a shop's website or app."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

from bench.options import Options
from bench.steps import START
from windrow.demo.events import APPS, WEBSITES, GenerateOptions, generate, write


def write_project(folder: Path, options: Options, events: Path, conf: Mapping[str, str]) -> Path:
    """Make a project of a new folder: tables under it, the package asked for, these settings."""
    run = {"start_date": START.isoformat()}
    packages = packages_of(options.package, run, options.vars)
    return write_config(folder, options.format, events, packages, conf)


def write_config(
    folder: Path,
    format: str,
    events: Path,
    packages: Mapping[str, Mapping[str, Any]],
    conf: Mapping[str, str] | None = None,
) -> Path:
    """Make a project of a folder: tables under it, these packages, these settings of Spark."""
    folder.mkdir(parents=True, exist_ok=True)
    target = {"warehouse": "./warehouse", "format": format, "spark": {"conf": dict(conf or {})}}
    text = {
        "name": "bench",
        "targets": {"dev": target},
        "events": {"path": str(events)},
        "packages": dict(packages),
    }
    (folder / "windrow.yml").write_text(yaml.safe_dump(text))
    return folder


def write_events(spark: SparkSession, options: Options, path: Path) -> None:
    """Events of every day that a step takes in, as parquet files."""
    asked = GenerateOptions(
        start=START,
        days=options.days + options.repeat,
        events_per_day=options.events_per_day,
        platforms=(APPS,) if options.package == "mobile" else (WEBSITES,),
        media="media_player" in options.package,
    )
    write(generate(spark, asked), str(path))


def packages_of(
    package: str, run: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Of `web+media_player` the first says how to run, and the options asked for are the last's."""
    names = package.split("+")
    settings: dict[str, dict[str, Any]] = {name: {} for name in names}
    settings[names[0]] |= run
    settings[names[-1]] |= options
    return settings
