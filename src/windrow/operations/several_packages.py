"""Several packages in one command: each runs by itself, and what they all read is read once.

Packages over the same events, whose windows overlap, need the same stretch of them. Its rows, with
the columns that any of them asks for, are kept from the first package that reads them to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from windrow.atomic.source import KeptRows, Source, only
from windrow.engine.intake.gather import columns_read
from windrow.engine.intake.lifecycle import window_floor
from windrow.engine.model_run import event_columns
from windrow.engine.plan import checked_source, chosen_models, next_limits
from windrow.engine.run import RunResult, run
from windrow.engine.steps import Listener, Step
from windrow.engine.workspace import Workspace
from windrow.errors import WindrowError


@dataclass(frozen=True)
class Chosen:
    """A package that takes part in a command, and which of its models do."""

    ws: Workspace
    select: str | None = None
    exclude: str | None = None


@dataclass
class PackageRuns:
    """What a command did for one package."""

    runs: list[RunResult] = field(default_factory=list)
    error: WindrowError | None = None
    """Why it did no more; the other packages went on."""

    @property
    def is_done(self) -> bool:
        """True when another run at the same clock would do nothing, or cannot be tried."""
        return self.error is not None or self.runs[-1].has_failed or self.runs[-1].is_caught_up

    @property
    def exit_code(self) -> int:
        """What the command line gives for it."""
        if self.error is not None:
            return self.error.exit_code
        return int(any(result.has_failed for result in self.runs))


def run_together(
    chosen: Sequence[Chosen],
    *,
    now: datetime,
    full_refresh: bool = False,
    refresh_manifests: bool = False,
    until_caught_up: bool = False,
    check: bool = False,
    listener: Listener = lambda step: None,
    begin: Callable[[str], None] = lambda package: None,
) -> dict[str, PackageRuns]:
    """Run packages one after the other; with `until_caught_up`, in rounds until none has more.

    An error of one is kept for the result, and does not keep the others from running.
    """
    done = {it.ws.name: PackageRuns() for it in chosen}
    waiting, is_first = list(chosen), True
    while waiting:
        anew = (full_refresh or refresh_manifests) and is_first
        with _sharing_events([] if anew else waiting, now, listener) as kept:
            for it in waiting:
                name = it.ws.name
                begin(name)
                try:
                    result = run(
                        replace(it.ws, kept_events=kept.get(name)),
                        now=now,
                        select=it.select,
                        exclude=it.exclude,
                        full_refresh=full_refresh and is_first,
                        refresh_manifests=refresh_manifests and is_first,
                        check=check,
                        listener=listener,
                    )
                    done[name].runs.append(result)
                except WindrowError as error:
                    if len(chosen) == 1:
                        raise
                    done[name].error = error
        is_first = False
        waiting = [it for it in waiting if until_caught_up and not done[it.ws.name].is_done]
    return done


@dataclass(frozen=True)
class _Reader:
    """What a package's next run would read."""

    ws: Workspace
    source: Source
    columns: tuple[str, ...]
    first: datetime
    last: datetime

    def could_share(self, other: _Reader) -> bool:
        is_same = (self.ws.events, self.source.time_column) == (
            other.ws.events,
            other.source.time_column,
        )
        return is_same and self.first <= other.last and other.first <= self.last


@contextmanager
def _sharing_events(
    chosen: Sequence[Chosen], now: datetime, listener: Listener
) -> Iterator[dict[str, KeptRows]]:
    """Package -> the rows that it and another will read, for as long as the block runs."""
    kept: dict[str, KeptRows] = {}
    for readers in _in_common(_readers(chosen, now)):
        names = [it.ws.name for it in readers]
        rows = _kept(readers)
        kept |= dict.fromkeys(names, rows)
        stretch = f"{rows.first:%Y-%m-%d %H:%M:%S} to {rows.last:%Y-%m-%d %H:%M:%S}"
        listener(Step("events", "info", detail=f"{' and '.join(names)} share {stretch}"))
    try:
        yield kept
    finally:
        for rows in kept.values():
            rows.rows.unpersist()


def _readers(chosen: Sequence[Chosen], now: datetime) -> Iterator[_Reader]:
    """The packages whose next run reads events, where it can be told which."""
    if len(chosen) < 2:
        return
    for it in chosen:
        ws = it.ws
        if ws.events is None or not ws.events.read_once:
            continue
        try:
            models = chosen_models(ws, it.select, it.exclude)
            source = checked_source(ws, models)
            limits = next_limits(ws, models, now)
        except WindrowError:
            # The package's own run meets the error again, and reports it.
            continue
        asked = columns_read(ws, source, event_columns(ws, models))
        columns = source.stored_for(asked)
        if columns is not None and not limits.is_inverted:
            first = window_floor(limits, ws.settings)
            yield _Reader(ws, source, tuple(columns), first, limits.upper)


def _in_common(readers: Iterator[_Reader]) -> list[list[_Reader]]:
    """The readers in groups that have a stretch of the same events in common; none alone."""
    groups: list[list[_Reader]] = []
    for reader in readers:
        group = next((g for g in groups if all(map(reader.could_share, g))), None)
        if group is None:
            groups.append([reader])
        else:
            group.append(reader)
    return [group for group in groups if len(group) > 1]


def _kept(readers: Sequence[_Reader]) -> KeptRows:
    """The rows of the stretch that all need, computed when the first of them reads."""
    first = max(reader.first for reader in readers)
    last = min(reader.last for reader in readers)
    columns = dict.fromkeys(name for reader in readers for name in reader.columns)
    rows = only(readers[0].source.rows_between(first, last), columns)
    return KeptRows(first, last, rows.persist())
