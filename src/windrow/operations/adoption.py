"""Going on from tables and manifests that the SQL packages made: what `windrow adopt` does.

A run takes such tables as they are where nothing is in its way. Adopting them finds out what is,
before anything is written; then it gives tables their key, columns and types, and notes in the
ledger what they were at: from there on it shows when anyone else writes to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from windrow.engine.events import checked_source
from windrow.engine.holding import Seen, end, held, look, refuse_if_held, settle
from windrow.engine.options import RunOptions
from windrow.engine.plan import Plan, next_plan
from windrow.engine.privileges import refuse_unwritable
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError, UsageError, WindrowError
from windrow.operations.inherited import Inherited, expected_tables, look_at
from windrow.packages import PACKAGES
from windrow.state import manifest
from windrow.state.leases import Intent, Kind
from windrow.state.runs import Outcome, RunRecord, new_run_id

ADOPT = "adopt"
"""What the ids of adoptions begin with."""


@dataclass(frozen=True)
class Adoption:
    """What was found of a package's tables, and what taking them over means."""

    package: str
    target: str
    tables: tuple[Inherited, ...]
    positions: Mapping[str, datetime]
    """Model -> how far the SQL package came: every row of its manifest."""
    switched_off: tuple[str, ...] = ()
    """Models that the manifest has and the project does not enable: they stay as they are."""
    forgotten: tuple[str, ...] = ()
    """Models whose rows leave the manifest, since they were views: the next runs fill them."""
    plan: Plan | None = None
    """What the next run would do; None: there are problems."""
    problems: tuple[str, ...] = ()
    """Why nothing can be taken over."""
    run_id: str | None = None
    """The adoption in the ledger; None: nothing was written."""
    is_done_before: bool = False
    """True when an earlier call has done all this, and nobody has written since."""

    @property
    def found(self) -> tuple[Inherited, ...]:
        """The tables that are there."""
        return tuple(it for it in self.tables if it.is_there)


def plan_adoption(ws: Workspace, *, now: datetime) -> Adoption:
    """What taking over the package's tables would mean; writes nothing."""
    seen = look(ws)
    refuse_if_held(ws, seen)
    return _plan(ws, seen, now)


def adopt(ws: Workspace, *, now: datetime, listener: Listener = say_nothing) -> Adoption:
    """Take the package's tables over, or refuse before anything is written."""
    seen = settle(ws, listener)
    adoption = _plan(ws, seen, now)
    if adoption.problems:
        raise RefusedError(f"Nothing of {ws.name} was taken over. " + " ".join(adoption.problems))
    if adoption.is_done_before:
        return adoption
    refuse_unwritable(ws, ws.meant_models)
    run_id = f"{ADOPT}-{new_run_id(now)}"
    models = tuple(it.model for it in adoption.found if it.model)
    with held(ws, run_id, Intent(kind=Kind.ADOPT, models=models), seen) as lease:
        # The manifest comes last: its commit decides that the adoption happened.
        for found in sorted(adoption.found, key=lambda it: it.table == ws.manifest):
            if not found.is_ready:
                listener(Step(found.table.name, "started"))
                _make_ready(ws, found)
        if adoption.forgotten:
            manifest.forget(ws.spark, ws.tables, ws.manifest, adoption.forgotten)
        versions = ws.versions_of([it.table for it in adoption.found])
        end(
            ws,
            lease,
            Outcome.ADOPTED,
            clock=now,
            reached=max(adoption.positions.values(), default=None),
            counts={"tables": len(adoption.found)},
            table_versions=versions,
            settings_fingerprint=ws.fingerprint(),
            options=ws.changed_options(),
        )
    return replace(adoption, run_id=run_id)


def _make_ready(ws: Workspace, found: Inherited) -> None:
    tables, table = ws.tables, found.table
    if found.changes:
        tables.recast(table, found.wanted_types)
    if found.adds:
        tables.add_columns(table, found.adds)
    if found.model is not None and not found.is_noted:
        member = next(m for m in ws.stored_models if m.full_name == found.model)
        columns = member.columns_for(ws.settings_of(member)) or {}
        tables.note_columns(table, {*tables.note(table).columns, *columns})
        tables.set_key(table, found.key)


def _plan(ws: Workspace, seen: Seen, now: datetime) -> Adoption:
    _refuse_nothing_to_adopt(ws, seen)
    tables = tuple(look_at(ws, it) for it in expected_tables(ws))
    known, enabled = _known_models(ws), {n for m in ws.models for n in m.tracked_names}
    there = {it.model for it in tables if it.is_there}
    forgotten = tuple(n for n in _views(ws) if n in seen.positions and n not in there)
    adoption = Adoption(
        ws.name,
        ws.target,
        tables,
        seen.positions,
        switched_off=tuple(sorted({*seen.positions} & known - enabled)),
        forgotten=forgotten,
    )
    problems = [*_problems(ws, adoption, known | enabled)]
    if problems:
        return replace(adoption, problems=tuple(problems))
    left = {name: at for name, at in seen.positions.items() if name not in forgotten}
    try:
        source = checked_source(ws, ws.meant_models)
        plan = next_plan(ws, replace(seen, positions=left), source, RunOptions(), now)
    except WindrowError as error:
        return replace(adoption, problems=(str(error),))
    return replace(adoption, plan=plan, is_done_before=_is_done(ws, seen, adoption))


def _refuse_nothing_to_adopt(ws: Workspace, seen: Seen) -> None:
    if ws.tables.format != "delta":
        raise UsageError(
            f"The target '{ws.target}' has {ws.tables.format} tables. What the SQL packages make "
            "on Spark are Delta tables: adopt them in a target with `format: delta`."
        )
    if seen.last_run is not None:
        raise RefusedError(
            f"windrow has run here (run {seen.last_run.run_id}): the tables of {ws.name} are its "
            "own, and there is nothing to adopt."
        )
    if not ws.tables.exists(ws.manifest):
        raise UsageError(
            f"There is no {ws.manifest}, so there is nothing to go on from: set schemas.manifest, "
            "and warehouse or catalog of the target, to where the SQL package keeps it. Without "
            "it nobody knows which events the tables hold; then begin with `windrow run`."
        )


def _problems(ws: Workspace, adoption: Adoption, known: set[str]) -> Iterator[str]:
    """Everything that stands in the way, so that all of it can be mended at once."""
    if not any(it.model for it in adoption.found):
        yield (
            f"There is no table of {ws.name} in schema '{ws.schemas.derived}': set "
            "schemas.derived to where they lie."
        )
        return
    unknown = sorted({*adoption.positions} - known - {*ws.settings.models_to_remove})
    if unknown:
        yield (
            f"{ws.manifest} has models that windrow does not know: {', '.join(unknown)}. Bring "
            "them along as models of your own of the same name, or give them up: name them in "
            "models_to_remove."
        )
    yield from (it.problem for it in adoption.found if it.problem)


def _known_models(ws: Workspace) -> set[str]:
    """The names of all models that there are on the base, whatever is switched on."""
    names: set[str] = set()
    for package in PACKAGES.values():
        if package.foundation_name != ws.package.foundation_name:
            continue
        given = ws.settings if package is ws.package else ws.others.get(package.name)
        for member in package.every_model(given):
            names |= {*member.tracked_names}
    return names


def _views(ws: Workspace) -> list[str]:
    views = {
        f"{PACKAGES[member.package].prefix}{name}"
        for member in ws.models
        if member.package in PACKAGES
        for name in PACKAGES[member.package].views_in_reference
    }
    return sorted(m.full_name for m in ws.models if m.full_name in views and m.kind != "rebuilt")


def _is_done(ws: Workspace, seen: Seen, adoption: Adoption) -> bool:
    last = _last_adoption(seen.newest_runs)
    if last is None or adoption.forgotten or not all(it.is_ready for it in adoption.found):
        return False
    return ws.versions_of([it.table for it in adoption.found]) == last.table_versions


def _last_adoption(runs: Sequence[RunRecord]) -> RunRecord | None:
    return next((it for it in runs if it.outcome is Outcome.ADOPTED), None)
