"""Whether a project can run here: configuration, Java, Spark, warehouse, events; and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from pyspark.sql import functions as F

from windrow.errors import WindrowError
from windrow.java import find_java
from windrow.plan import checked_source
from windrow.project import Project
from windrow.tables import TableName
from windrow.workspace import Workspace


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, or what is wrong and what to do."""

    name: str
    is_fine: bool
    detail: str
    exit_code: int = 0


def checks(load: Callable[[], Project]) -> Iterator[Check]:
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
    yield from _tables_and_events(project, packages)


def _tables_and_events(project: Project, packages: list[str]) -> Iterator[Check]:
    schemas, warehouse = project.config.schemas, project.target.warehouse
    for position, package in enumerate(packages):
        try:
            ws = project.workspace(package)
        except WindrowError as error:
            yield Check(f"package {package}", False, str(error), exit_code=2)
            continue
        if position == 0:
            for schema in dict.fromkeys((schemas.derived, schemas.scratch, schemas.manifest)):
                probe = TableName(schema, f"windrow_doctor_{uuid4().hex[:8]}")
                yield _looked(f"schema {schema}", partial(_writable, ws, probe, warehouse))
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


def _described(project: Project, models: int) -> str:
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


def _spark(project: Project) -> str:
    settings = project.target.spark
    where = settings.conf.get("spark.master") or settings.master
    if settings.remote:
        # What follows the semicolon may hold a token.
        where = settings.remote.partition(";")[0]
    return f"{project.spark.version} on {where}, {project.target.format} tables"


def _writable(ws: Workspace, probe: TableName, warehouse: str | None) -> str:
    """Create, write, read and remove a table, and leave no trace of it."""
    folder = Path(warehouse, probe.schema) if warehouse and warehouse.startswith("/") else None
    is_new = folder is not None and not folder.exists()
    try:
        ws.tables.create(probe, {"number": "bigint"})
        ws.tables.append(probe, ws.spark.range(1).select(F.col("id").alias("number")))
        rows = ws.tables.read(probe).count()
    finally:
        ws.tables.drop(probe)
        if is_new and folder is not None and folder.exists():
            _remove_if_empty(folder)
    return f"a table was created, written, read ({rows} row) and removed"


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()


def _events(ws: Workspace) -> str:
    source = checked_source(ws, ws.meant_models)
    return f"readable, {len(source.raw.columns)} columns, none missing"
