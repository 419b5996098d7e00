"""A project's tables as assets of Dagster, brought up to date by one run.

    defs = dagster.Definitions(assets=windrow_assets("/srv/shop", target="prod"))

One asset per table, with what it is made from; any part of them can be materialized by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from windrow.columns.rules import rule_of
from windrow.config import Config
from windrow.models.model import Model
from windrow.neighbours.missing import needing
from windrow.neighbours.process import NOT_HEALED_BY_RETRIES, Ended, RunCommand, RunProcess
from windrow.project import Project

with needing("dagster"):
    import dagster as dg


def windrow_assets(
    project_dir: str,
    *,
    target: str | None = None,
    package: str | None = None,
    vars: Mapping[str, Any] | None = None,
    until_caught_up: bool = False,
    check: bool = False,
    key_prefix: Sequence[str] = (),
    events: Sequence[str] = ("events",),
    command: Sequence[str] = ("windrow",),
    retry_policy: Any = None,
) -> list[Any]:
    """The assets of a package, or of all that the project enables: a definition for each run.

    `events`: the asset key of the events, which tables depend on that are made from nothing else.
    The project is read, no Spark is started. With `retry_policy`, runs are retried that may succeed
    the next time; those that cannot are not.
    """
    project = Project.load(project_dir, target=target, vars=vars)
    source = dg.AssetKey([*key_prefix, *events])
    definitions = []
    for name in project.package_names(package):
        models = project.models(name)
        keys = {it.name: dg.AssetKey([*key_prefix, it.full_name]) for it in _stored(models)}
        asked = RunCommand(
            project_dir=str(project.config.project_dir),
            target=project.target.name,
            package=name,
            vars=vars,
            until_caught_up=until_caught_up,
            check=check,
            command=tuple(command),
        )
        plain = re.sub(r"\W", "_", name)
        decorate = dg.multi_asset(
            name=f"windrow_{plain}",
            specs=[
                _spec(it, models, keys, source, project.config, group=plain)
                for it in _stored(models)
            ],
            can_subset=True,
            retry_policy=retry_policy,
        )
        named = {keys[it.name]: it.full_name for it in _stored(models)}
        definitions.append(decorate(_materializing(asked, named)))
    return definitions


def _materializing(asked: RunCommand, named: Mapping[Any, str]) -> Callable[..., Iterator[Any]]:
    """What Dagster calls: one run of the tables that were selected."""

    def materialize(context) -> Iterator[Any]:  # type: ignore[no-untyped-def]  # it looks at hints
        chosen = [key for key in named if key in context.selected_asset_keys]
        # All of them is what a plain run is about.
        select = [named[key] for key in chosen] if len(chosen) < len(named) else []
        arguments = RunCommand(**{**vars(asked), "select": select})
        ended = RunProcess(arguments).wait(context.log.info)
        if ended.exit_code in (0, 1):
            for key in chosen:
                found = _metadata(ended, named[key])
                if found is not None:
                    yield dg.MaterializeResult(asset_key=key, metadata=found)
        if ended.exit_code:
            can_heal = ended.exit_code not in NOT_HEALED_BY_RETRIES
            raise dg.Failure(ended.message, allow_retries=can_heal)

    return materialize


def _metadata(ended: Ended, table: str) -> dict[str, Any] | None:
    """What the runs did for a table; None where it failed, or a check kept its rows from it."""
    runs = [run for run in ended.runs if run["outcome"] != "rejected"]
    took_part = [(run, it) for run in runs for it in run["models"] if it["name"] == table]
    if any(it["outcome"] != "succeeded" for _, it in took_part):
        return None
    if not took_part:
        # Nothing new: the table is up to date as it is.
        reasons = [run["nothing_because"] for run in runs if run["nothing_because"]]
        return {"rows": 0, "nothing_because": reasons[0]} if reasons else None
    first, last = took_part[0][0], took_part[-1][0]
    return {
        "rows": sum(it["rows"] or 0 for _, it in took_part),
        "seconds": round(sum(it["seconds"] for _, it in took_part), 3),
        "window_from": first["lower_limit"],
        "window_to": last["upper_limit"],
        "run_id": last["run_id"],
    }


def _stored(models: Sequence[Model]) -> list[Model]:
    return [it for it in models if it.kind != "this_run"]


def _spec(
    member: Model,
    models: Sequence[Model],
    keys: Mapping[str, Any],
    events: Any,
    config: Config,
    *,
    group: str,
) -> Any:
    sources = _stored_sources(member, {it.name: it for it in models})
    columns = member.columns_for(config.packages[member.package]) or {}
    schema = dg.TableSchema(
        [dg.TableColumn(name, str(kind), rule_of(kind) or None) for name, kind in columns.items()]
    )
    return dg.AssetSpec(
        keys[member.name],
        deps=[keys[name] for name in sources if name in keys] or [events],
        description=member.description or None,
        group_name=group,
        kinds={"windrow", "spark"},
        # A model that failed has no result, and the others do.
        skippable=True,
        metadata={"dagster/column_schema": schema} if columns else {},
    )


def _stored_sources(member: Model, by_name: Mapping[str, Model]) -> list[str]:
    """The tables that a model is made from, those behind models that are only computed, too."""
    found: dict[str, None] = {}
    for name in sorted(member.parents - {member.name}):
        parent = by_name.get(name)
        if parent is not None and parent.kind == "this_run":
            found |= dict.fromkeys(_stored_sources(parent, by_name))
        elif parent is not None:
            found[name] = None
    return list(found)
