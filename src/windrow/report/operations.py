"""Re-runs, rollbacks, unlocks and upkeep as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from windrow.engine.result import RunResult
from windrow.operations.maintain import TableUpkeep, Upkeep
from windrow.operations.rerun import RerunPlan
from windrow.operations.rollback import Rollback
from windrow.report import words
from windrow.report.text import indent, run_text, title
from windrow.tables import Layout


def rerun_text(plans: Iterable[RerunPlan]) -> RenderableType:
    """What processing a past window again would do."""
    return Group(
        *(
            Group(Text(title(plan.package, plan.target), "bold"), *indent(_would(plan)))
            for plan in plans
        )
    )


def _would(plan: RerunPlan) -> Iterator[str]:
    yield f"Would process {_window(plan)} again, in {words.count(len(plan.steps), 'step')}."
    if plan.done:
        yield f"{words.count(plan.done, 'step')} before these were done by an interrupted call."
    yield f"Models: {', '.join(member.name for member in plan.models)}."
    yield from _beyond(plan)


def _beyond(plan: RerunPlan) -> Iterator[str]:
    if plan.beyond:
        names = ", ".join(member.name for member in plan.beyond)
        yield f"Rows of {names} rest on more than the window; they are brought up to date too."


def _window(plan: RerunPlan) -> str:
    return f"{words.instant(plan.first)} to {words.instant(plan.last)}"


def reruns_text(
    plans: Iterable[RerunPlan], results: Mapping[str, Sequence[RunResult]]
) -> RenderableType:
    """What processing a past window again did."""
    parts: list[RenderableType] = []
    for plan in plans:
        runs = results.get(plan.package, ())
        parts += [run_text(plan.package, result) for result in runs]
        left = len(plan.steps) - sum(not run.has_failed for run in runs)
        sentences = [
            f"{words.count(left, 'step')} left: mend the cause and give the same command again."
            if left
            else f"Processed {_window(plan)} again.",
            *_beyond(plan),
            "Live runs go on from where they were.",
        ]
        parts += indent(sentences)
    return Group(*parts)


def rollback_text(rollback: Rollback, *, is_done: bool) -> RenderableType:
    """What going back to before a run means, or has changed."""
    heading = Text(title(rollback.package, rollback.target), "bold")
    return Group(heading, *indent(_rollback_sentences(rollback, is_done)))


def _rollback_sentences(rollback: Rollback, is_done: bool) -> Iterator[str]:
    if not rollback.tables:
        yield f"Nothing was written since before run {rollback.run_id}."
        return
    yield (
        f"{'Took' if is_done else 'Would take'} back "
        f"{words.count(len(rollback.runs), 'run')}: {', '.join(rollback.runs)}."
    )
    for change in rollback.tables:
        then = "no rows" if change.then is None else f"version {change.then}"
        yield f"{change.table}: from version {change.now} to {then}"
    yield (
        "The next run goes on from there."
        if is_done
        else "Nothing was changed yet: add --yes to do it."
    )


def unlocks_text(ended: Mapping[str, str | None]) -> RenderableType:
    """Which locks were ended."""
    return Group(
        *(
            Text(
                f"{package}: not locked."
                if run is None
                else f"{package}: the lock of run {run} is ended and what it wrote taken back."
            )
            for package, run in ended.items()
        )
    )


def upkeeps_text(upkeeps: Iterable[Upkeep]) -> RenderableType:
    """What was done for the tables of each package, or would be."""
    return Group(
        *(
            Group(Text(title(upkeep.package, upkeep.target), "bold"), *indent(_kept_up(upkeep)))
            for upkeep in upkeeps
        )
    )


def _kept_up(upkeep: Upkeep) -> Iterator[str]:
    if not upkeep.tables:
        yield "There are no tables yet."
        return
    for run in upkeep.undone:
        yield f"First took back what the killed run {run} had written."
    for table in upkeep.tables:
        yield f"{table.table}: {'; '.join(_for_table(table, upkeep))}."
    if upkeep.has_deleted:
        yield f"Rollbacks reach back to {words.instant(upkeep.kept_since)} from now on."
    elif upkeep.run_id is None:
        yield "Nothing was written. Without --dry-run, layouts are changed and files compacted."
    else:
        yield (
            f"Nothing was deleted: add --delete to give up what only versions from before "
            f"{words.instant(upkeep.kept_since)} need."
        )


def _for_table(table: TableUpkeep, upkeep: Upkeep) -> Iterator[str]:
    if table.problem is not None:
        yield f"left as it is, {table.problem}"
        return
    if table.new_layout is not None:
        verb = "would change" if upkeep.run_id is None else "changed"
        yield f"layout {verb} from {layout_text(table.layout)} to {layout_text(table.new_layout)}"
    if table.compaction is not None:
        before, after = table.compaction.files_before, table.compaction.files_after
        yield words.count(after, "file") + (f", {before} before" if before != after else "")
    if table.expiry is not None:
        number = words.count(table.expiry.count, table.expiry.unit)
        more = " or more" if table.expiry.is_more else ""
        yield f"{number}{more} {'deleted' if upkeep.has_deleted else 'could be deleted'}"


def layout_text(layout: Layout) -> str:
    """What a table is laid out by."""
    parts = [
        f"{word} {', '.join(keys)}"
        for word, keys in (
            ("partitioned by", layout.partition_by),
            ("clustered by", layout.cluster_by),
        )
        if keys
    ]
    return " and ".join(parts) or "none"
