"""Whether a project can run here: configuration, Java, Spark, warehouse, events; and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from windrow.config import Config, Target
from windrow.engine.events import readable_source
from windrow.engine.privileges import TRIED, attempts, is_needed, written_schemas
from windrow.engine.workspace import Workspace
from windrow.errors import WindrowError
from windrow.models.model import Model
from windrow.spark.java import find_java


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, or what is wrong and what to do."""

    name: str
    is_fine: bool
    detail: str
    exit_code: int = 0


class Patient(Protocol):
    """All that the doctor looks at of a project."""

    @property
    def config(self) -> Config: ...
    @property
    def target(self) -> Target: ...
    @property
    def spark(self) -> SparkSession: ...
    def package_names(self) -> list[str]: ...
    def models(self, package: str) -> list[Model]: ...
    def workspace(self, package: str) -> Workspace: ...


def checks(load: Callable[[], Patient]) -> Iterator[Check]:
    """Look at one thing after another; stops where the next one could not be looked at."""
    try:
        project = load()
        packages = project.package_names()
        models = {name: project.models(name) for name in packages}
    except WindrowError as error:
        yield Check("configuration", False, str(error), exit_code=2)
        return
    yield Check("configuration", True, _described(project, sum(map(len, models.values()))))

    if not project.target.spark.remote:
        java = _looked("Java", _java)
        yield java
        if not java.is_fine:
            return
    spark = _looked("Spark", partial(_spark, project))
    yield spark
    if not spark.is_fine:
        return
    at_once = _writers_at_once(project.target, project.spark)
    if at_once:
        yield Check("commits", True, at_once)
    yield from _tables_and_events(project, packages)


def _tables_and_events(project: Patient, packages: list[str]) -> Iterator[Check]:
    found: dict[str, Workspace] = {}
    for package in packages:
        try:
            found[package] = project.workspace(package)
        except WindrowError as error:
            yield Check(f"package {package}", False, str(error), exit_code=2)
    schemas = project.config.schemas
    for schema in dict.fromkeys((schemas.derived, schemas.scratch, schemas.manifest)):
        writers = [package for package, ws in found.items() if schema in written_schemas(ws)]
        if writers:
            yield _schema(found[writers[0]], schema, writers)
        elif found:
            yield Check(f"schema {schema}", True, "not needed: no package has keep_this_run")
    for package, ws in found.items():
        yield _looked(f"events of {package}", partial(_events, ws))


def _looked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except WindrowError as error:
        return Check(name, False, str(error), exit_code=1)
    # Whatever a cluster or an object store answers is what the doctor is asked to find out.
    except Exception as error:
        lines = str(error).strip().splitlines() or ["no reason given"]
        return Check(name, False, f"{type(error).__name__}: {lines[0]}", exit_code=1)


def _described(project: Patient, models: int) -> str:
    config = project.config
    packages = ", ".join(project.package_names()) or "no package"
    text = f"{config.project_dir / 'windrow.yml'}, target {config.target}, {packages}"
    text += f", {models} models"
    if config.ignored_options:
        text += f"; ignored, as they mean nothing on Spark: {', '.join(config.ignored_options)}"
    return text


def _java() -> str:
    java = find_java()
    return f"{java.version} at {java.path} (from {java.source})"


def _spark(project: Patient) -> str:
    settings = project.target.spark
    where = settings.conf.get("spark.master") or settings.master
    if settings.remote:
        # What follows the semicolon may hold a token.
        where = settings.remote.partition(";")[0]
    return f"{project.spark.version} on {where}, {project.target.format} tables"


def _writers_at_once(target: Target, spark: SparkSession) -> str | None:
    """What S3 cannot do for the format: nothing fails, until two runs start at the same moment."""
    store = urlsplit(target.warehouse or "").scheme
    if store not in ("s3", "s3a"):
        return None
    if target.format == "iceberg":
        return (
            f"Iceberg without a catalog commits by renaming, which on {store}:// two runs that "
            "start at once may both do; use a catalog"
        )
    log_store = f"spark.delta.logStore.{store}.impl"
    if spark.conf.get(log_store, None):
        return f"by {spark.conf.get(log_store)}"
    return (
        f"Delta on {store}:// is safe with one driver at a time: of two runs that start at once on "
        f"two machines, both may believe to be alone. Let one scheduler start them, or set "
        f"{log_store}; docs/where-it-runs.md has more"
    )


def _schema(ws: Workspace, schema: str, writers: list[str]) -> Check:
    """Whether each privilege on the schema is there; those that are missing, in words."""
    used_by = f"written to by {', '.join(writers)}"
    tried = list(attempts(ws, schema))
    needed = [it for it in tried if is_needed(ws, it)]
    missing = [f"{it.privilege} ({it.problem})" for it in needed if it.problem]
    if not missing:
        done = "a table was created, written, altered, read and dropped"
        beside = [f"{it.verb} ({it.problem})" for it in tried if it.problem]
        if beside:
            done = f"all that runs do there is allowed; not allowed: {'; '.join(beside)}"
        return Check(f"schema {schema}", True, f"{done}; {used_by}")
    text = f"Missing: {'; '.join(missing)}."
    if len(tried) < len(TRIED):
        text += f" Not tried without it: {', '.join(TRIED[len(tried) :])}."
    text += f" The schema is {used_by}; docs/privileges.md says what grants each of them."
    return Check(f"schema {schema}", False, text, exit_code=1)


def _events(ws: Workspace) -> str:
    source = readable_source(ws, ws.meant_models)
    return f"readable, {len(source.raw.columns)} columns, none missing"
