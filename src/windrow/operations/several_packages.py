"""Several packages in one command: each runs by itself, and what they all read is read once.

Packages over the same events, whose windows overlap, need the same stretch of them. Its rows, with
the columns that any of them asks for, are kept from the first package that reads them to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from windrow.atomic.source import KeptRows, only
from windrow.engine.intake import columns_read
from windrow.engine.model_run import event_columns
from windrow.engine.options import RunOptions
from windrow.engine.result import RunResult
from windrow.engine.run import Decided, carry_out, decide
from windrow.engine.steps import Listener, Step, say_nothing
from windrow.engine.workspace import Workspace
from windrow.errors import WindrowError
from windrow.spark.run_size import sized_for


@dataclass(frozen=True)
class Chosen:
    """A package that takes part in a command, and what is asked of it."""

    ws: Workspace
    options: RunOptions


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


def run_packages(
    chosen: Sequence[Chosen],
    *,
    now: datetime,
    until_caught_up: bool = False,
    listener: Listener = say_nothing,
    begin: Callable[[str], None] = say_nothing,
) -> dict[str, PackageRuns]:
    """Run packages one after the other; with `until_caught_up`, in rounds until none has more.

    An error of one is kept for the result, and does not keep the others from running.
    """
    done = {it.ws.name: PackageRuns() for it in chosen}
    waiting = list(chosen)
    while waiting:
        _run_round(waiting, done, now, listener, begin)
        waiting = [
            replace(it, options=it.options.once_more())
            for it in waiting
            if until_caught_up and not done[it.ws.name].is_done
        ]
    return done


def _run_round(
    waiting: Sequence[Chosen],
    done: Mapping[str, PackageRuns],
    now: datetime,
    listener: Listener,
    begin: Callable[[str], None],
) -> None:
    """Decide for all, then carry out one by one what was decided."""
    decided: dict[str, Decided] = {}

    def attempt(name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except WindrowError as error:
            if len(done) == 1:
                raise
            done[name].error = error

    for it in waiting:
        name = it.ws.name

        def plan(it: Chosen = it, name: str = name) -> None:
            decided[name] = decide(it.ws, it.options, now=now, listener=listener)

        attempt(name, plan)
    workspaces = {it.ws.name: it.ws for it in waiting}
    with _sharing_events(workspaces, decided, listener) as shared:
        for name, ws in workspaces.items():
            begin(name)
            if name not in decided:
                continue

            def run(name: str = name, ws: Workspace = ws) -> None:
                done[name].runs.append(carry_out(ws, shared[name], listener))

            attempt(name, run)


@dataclass(frozen=True)
class _Reader:
    """What a package's next run would read."""

    ws: Workspace
    decided: Decided
    columns: tuple[str, ...]

    @property
    def first(self) -> datetime:
        return self.decided.plan.limits.lower

    @property
    def last(self) -> datetime:
        return self.decided.plan.limits.upper

    def could_share(self, other: _Reader) -> bool:
        is_same = (self.ws.events, self.decided.source.time_column) == (
            other.ws.events,
            other.decided.source.time_column,
        )
        return is_same and self.first <= other.last and other.first <= self.last


@contextmanager
def _sharing_events(
    workspaces: Mapping[str, Workspace], decided: Mapping[str, Decided], listener: Listener
) -> Iterator[dict[str, Decided]]:
    """What was decided, while the block runs: what several packages read is read once."""
    shared, kept = dict(decided), list[KeptRows]()
    for readers in _in_common(_readers(workspaces, decided)):
        names = [it.ws.name for it in readers]
        rows = _kept(readers)
        kept.append(rows)
        for name in names:
            shared[name] = replace(decided[name], source=replace(decided[name].source, kept=rows))
        stretch = f"{rows.first:%Y-%m-%d %H:%M:%S} to {rows.last:%Y-%m-%d %H:%M:%S}"
        listener(Step("events", "info", detail=f"{' and '.join(names)} share {stretch}"))
    try:
        yield shared
    finally:
        for rows in kept:
            rows.rows.unpersist()


def _readers(
    workspaces: Mapping[str, Workspace], decided: Mapping[str, Decided]
) -> Iterator[_Reader]:
    """The packages whose next run reads events, where it can be told which."""
    if len(decided) < 2:
        return
    for name, it in decided.items():
        ws = workspaces[name]
        is_anew = it.options.is_refresh or it.plan.nothing_because
        if ws.events is None or not ws.events.read_once or is_anew:
            continue
        asked = columns_read(ws, it.source, event_columns(ws, it.plan.models))
        columns = it.source.stored_for(asked)
        if columns is not None:
            yield _Reader(ws, it, tuple(columns))


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
    source = readers[0].decided.source.with_entities(columns)
    rows = only(source.rows_between(first, last), columns)
    ws, sizes = readers[0].ws, [reader.decided.plan.window_events for reader in readers]
    size = max((it for it in sizes if it is not None), default=None)
    # How rows are kept is settled here, not when the first package reads them.
    with sized_for(ws.spark, size, chosen=ws.spark_keys):
        return KeptRows(first, last, rows.persist())
