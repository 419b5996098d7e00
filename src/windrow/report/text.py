"""Plans, runs and states as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from rich.box import SIMPLE_HEAD
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from windrow.engine.plan import Plan
from windrow.engine.result import RunResult
from windrow.models.model import Model
from windrow.operations.doctor import Check
from windrow.operations.freshness import Freshness
from windrow.operations.several_packages import PackageRuns
from windrow.operations.status import PackageStatus
from windrow.report import words
from windrow.report.check_lines import check_lines
from windrow.report.counts import LEFT_OUT, LEFT_OUT_OF_SESSIONS
from windrow.report.documents import inputs_of
from windrow.report.freshness import freshness_sentences
from windrow.report.volumes import volumes_sentence, volumes_text
from windrow.state.leases import Lease
from windrow.state.limits import State
from windrow.state.runs import RunRecord

_MALFORMED = "malformed_"


def plain_table(*columns: str, numbers: Iterable[str] = ()) -> Table:
    """An empty table in our style; the columns named in `numbers` stand to the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        justify: JustifyMethod = "right" if column in numbers else "left"
        table.add_column(column, justify=justify, overflow="fold")
    return table


def title(package: str, target: str) -> str:
    """What the lines below are about."""
    return f"{package} on {target}"


# --- runs ------------------------------------------------------------------------------------


def runs_text(done: Mapping[str, PackageRuns]) -> RenderableType:
    """What the runs of each package did, after they ended."""
    return Group(*(run_text(package, result) for package, it in done.items() for result in it.runs))


def run_text(package: str, result: RunResult) -> RenderableType:
    """What one run did, and what was done beside it for models that lag."""
    parts = [_run_heading(package, result), *indent(_run_sentences(result))]
    parts += [run_text(f"{package}, late events", late) for late in result.late]
    if result.catch_up is not None:
        parts.append(run_text(f"{package}, catching up", result.catch_up))
    return Group(*parts)


def _run_heading(package: str, result: RunResult) -> Text:
    if result.outcome == "nothing_to_do":
        return Text(f"{package}: nothing to do", "bold")
    heading = Text().append(f"{package}: ", "bold")
    heading.append(result.outcome, "bold red" if result.has_failed else "bold green")
    return heading.append(f" in {words.duration(result.seconds)} (run {result.run_id})")


def _run_sentences(result: RunResult) -> Iterator[str]:
    for run_id in result.undone:
        yield f"Run {run_id} had been killed half-way and was undone first."
    yield from result.plan.notes
    if result.plan.nothing_because:
        yield f"Why: {result.plan.nothing_because}"
        return

    counts = result.counts or {}
    if counts.get("late_events"):
        limits = result.plan.limits
        yield (
            f"Loaded late: {words.count(counts['late_events'], 'event')} of "
            f"{limits.lower:%Y-%m-%d} to {limits.upper:%Y-%m-%d}; their sessions were processed "
            "whole."
        )
    yield (
        f"Took in {words.count(counts.get('events', 0), 'event')} "
        f"of {words.count(counts.get('sessions', 0), 'session')}."
    )
    yield from _rows_by_model(result)
    yield from _left_out(counts)
    yield from _troubles(result)
    if result.checks:
        yield from check_lines(result.checks)
    if result.outcome == "rejected":
        yield "Nothing of this run was kept: the tables are as they were before it."
    else:
        yield from _how_far(result)


def _rows_by_model(result: RunResult) -> Iterator[str]:
    names = {member.full_name: member.name for member in result.plan.models}
    written = [
        f"{names.get(outcome.name, outcome.name)} {outcome.rows or 0:,}"
        for outcome in result.models
        if outcome.outcome == "succeeded"
    ]
    if written:
        yield f"Rows: {', '.join(written)}."


def _left_out(counts: Mapping[str, int]) -> Iterator[str]:
    parts = [
        f"{words.count(counts[name], 'event')} {reason}"
        for name, reason in (LEFT_OUT | LEFT_OUT_OF_SESSIONS).items()
        if counts.get(name)
    ]
    if counts.get("duplicates"):
        parts.append(words.count(counts["duplicates"], "duplicate"))
    if parts:
        yield f"Left out: {words.join_words(parts)}."
    if counts.get("quarantined"):
        sessions = words.count(counts["quarantined"], "session")
        yield f"Quarantined: {sessions}; later events of theirs are left out."
    if counts.get("capped"):
        sessions = words.count(counts["capped"], "session")
        yield f"Reached their cap: {sessions}; later events of theirs are left out."
    if counts.get("sessions_without_row"):
        sessions = words.count(counts["sessions_without_row"], "session")
        yield (
            f"Without a row in the sessions table: {sessions}; no event of theirs counts there, "
            "such as those of bots or outside page views."
        )
    if counts.get("malformed_entities"):
        yield _malformed(counts)
    if counts.get("bad_lines"):
        lines = words.count(counts["bad_lines"], "line")
        yield f"Not enriched events, and kept aside in the manifest schema: {lines}."


def _malformed(counts: Mapping[str, int]) -> str:
    entities = words.count(counts["malformed_entities"], "entity", "entities")
    parts = [
        f"{number:,} in {name.removeprefix(_MALFORMED)}"
        for name, number in counts.items()
        if name.startswith(_MALFORMED) and name != "malformed_entities"
    ]
    where = f": {words.join_words(parts)}" if parts else ""
    return f"Not to be read as JSON, and taken for null: {entities}{where}."


def _troubles(result: RunResult) -> Iterator[str]:
    names = {member.full_name: member.name for member in result.plan.models}
    for outcome in result.models:
        if outcome.outcome in ("failed", "skipped"):
            yield f"{names.get(outcome.name, outcome.name)} {outcome.outcome}: {outcome.error}"


def _how_far(result: RunResult) -> Iterator[str]:
    if result.plan.limits.state.is_past:
        return
    own = {name for member in result.plan.models for name in member.tracked_names}
    known = [at for name, at in result.plan.positions.items() if name in own]
    before = max(known, default=None)
    if result.reached is None:
        yield "There was no usable event in the window."
    elif before is not None and result.reached <= before:
        yield f"There was no event after {words.instant(before)}, where the last run had ended."
    else:
        yield f"Reached {words.instant(result.reached)}."
    if not result.is_caught_up:
        yield "More is left: run again or use --until-caught-up."


# --- plans -----------------------------------------------------------------------------------


def plans_text(plans: Iterable[Plan]) -> RenderableType:
    """What the next run of each package would do."""
    return Group(*(part for plan in plans for part in _plan(plan)))


def _plan(plan: Plan) -> Iterator[RenderableType]:
    yield Text(title(plan.package, plan.target), "bold")
    yield from indent(plan_sentences(plan))
    for part in (plan, plan.catch_up):
        if part is not None and part.volumes is not None:
            told = volumes_sentence(part.volumes)
            yield from indent([told if part is plan else f"Beside that: {told}"])
            table = plain_table("table", "reads", "writes", numbers=("reads", "writes"))
            yield volumes_text(part.volumes, part.reads, table)


def plan_sentences(plan: Plan) -> Iterator[str]:
    """State, window and models of a run that would be made."""
    yield from _window(plan)
    yield from plan.notes
    for step in plan.late:
        events = words.count(step.late_events, "event")
        first, last = step.limits.lower, step.limits.upper
        yield f"Loaded late: {events} of {first:%Y-%m-%d} to {last:%Y-%m-%d}, taken in beside that."
    if plan.nothing_because:
        return
    if plan.reads is not None:
        files, size = words.count(plan.reads.files, "file"), words.size(plan.reads.bytes)
        yield f"Would read at most {files}, {size}, of the events."
    yield (
        f"Would run {words.count(len(plan.models), 'model')}: "
        f"{', '.join(member.name for member in plan.models)}."
    )
    for days in sorted({*plan.looks_back.values()}):
        names = [name for name, its_days in plan.looks_back.items() if its_days == days]
        yield (
            f"An id of {words.join_words(names)} that comes back in another session is found "
            f"within {words.count(days, 'day')} (upsert_lookback_days), not later."
        )
    for name, why in plan.unbounded.items():
        yield f"{name} costs more the longer the history is: {why}."
    if plan.catch_up is not None:
        yield "Beside that, for models that lag behind:"
        yield from (f"  {sentence}" for sentence in plan_sentences(plan.catch_up))


def _window(plan: Plan) -> Iterator[str]:
    state, window = plan.limits.sentences
    yield state
    if plan.nothing_because:
        yield f"Nothing to do: {plan.nothing_because}"
        return
    yield window
    if plan.settled_sentence:
        yield plan.settled_sentence
    if plan.gap:
        begin, end = map(words.instant, plan.gap)
        yield f"Skips a gap: there is no usable event between {begin} and {end}."


# --- states ----------------------------------------------------------------------------------


def statuses_text(statuses: Iterable[PackageStatus]) -> RenderableType:
    """Where each package stands."""
    return Group(*(_status(status) for status in statuses))


def _status(status: PackageStatus) -> RenderableType:
    parts: list[RenderableType] = [
        Text(title(status.package, status.target), "bold"),
        *indent(_status_sentences(status)),
    ]
    if status.last_runs:
        parts += [Text(), Padding(_last_runs(status.last_runs), (0, 0, 0, 2), expand=False)]
    return Group(*parts)


def _status_sentences(status: PackageStatus) -> Iterator[str | Text]:
    if status.lease:
        yield _running(status.lease, status.is_running)
    if status.problem:
        yield f"No run is possible: {status.problem}"
    elif status.plan:
        state, *rest = _window(status.plan)
        yield f"Next run: {state}"
        yield from rest
        if status.plan.catch_up:
            state, *rest = _window(status.plan.catch_up)
            yield f"Beside it: {state}"
            yield from rest
    yield from _positions(status.positions, status.freshness)
    if status.freshness:
        yield from freshness_sentences(status.freshness)
    if status.positions and status.out_of_sync:
        yield f"Out of sync: {', '.join(status.out_of_sync)}."
    yield from _edited(status)
    if status.quarantined:
        yield f"Quarantine: {words.count(status.quarantined, 'session')}."


def _edited(status: PackageStatus) -> Iterator[str]:
    """What someone did to the manifest, and the way to do what they mean."""
    by_change: dict[str, list[str]] = {}
    for it in status.edited:
        then, now = (words.instant(at) if at else "no row" for at in (it.then, it.now))
        by_change.setdefault(f"from {then} to {now}", []).append(it.name)
    for change, names in by_change.items():
        yield f"Moved outside windrow: {', '.join(names)} {change}."
    if status.left_behind:
        yield f"Made from these, and not moved along: {', '.join(status.left_behind)}."
    if status.edited:
        first = min(at for it in status.edited for at in (it.then, it.now) if at)
        yield (
            f"`windrow rerun --from {first:%Y-%m-%d}` processes days again without such edits, "
            "with all models that read what it makes."
        )


def _running(lease: Lease, is_running: bool) -> str:
    begun = f"{words.instant(lease.started_at)} by {lease.holder}"
    if is_running:
        return f"Running since {begun} (run {lease.run_id})."
    return f"Run {lease.run_id}, begun {begun}, was killed: the next run undoes it first."


def _positions(positions: Mapping[str, datetime], found: Freshness | None) -> Iterator[str]:
    if not positions:
        yield "Manifest: empty; nothing has been consumed yet."
        return
    by_time: dict[datetime, list[str]] = {}
    for model, at in sorted(positions.items()):
        by_time.setdefault(at, []).append(model)
    if len(by_time) == 1:
        (at,) = by_time
        (first, *others) = positions
        what = f"all {len(positions)} models" if others else first
        yield f"Manifest: {what} at {words.instant(at)}{_ago(at, found)}."
        return
    for at, models in sorted(by_time.items(), reverse=True):
        yield f"Manifest: {words.instant(at)}{_ago(at, found)} {', '.join(models)}."


def _ago(moment: datetime, found: Freshness | None) -> str:
    return "" if found is None else f", {words.span(found.age(moment))} ago"


def _last_runs(records: Sequence[RunRecord]) -> Table:
    numbers = ("events", "rows", "took")
    table = plain_table("run", "outcome", "state", "window", *numbers, numbers=numbers)
    for record in records:
        rows = sum(outcome.rows or 0 for outcome in record.models)
        took = (record.finished_at - record.started_at).total_seconds()
        table.add_row(
            record.run_id,
            Text(record.outcome, "default" if record.outcome == "succeeded" else "red"),
            State(record.state).value.replace("_", " ") if record.state else "",
            _window_of(record),
            f"{record.counts.get('events', 0):,}",
            f"{rows:,}",
            words.duration(took),
        )
        troubles = [outcome.name for outcome in record.models if outcome.outcome == "failed"]
        if troubles or record.error:
            table.add_row("", Text(record.error or f"failed: {', '.join(troubles)}", "red"))
    return table


def _window_of(record: RunRecord) -> str:
    if record.lower_limit is None or record.upper_limit is None:
        return ""
    return f"{record.lower_limit:%Y-%m-%d %H:%M} to {record.upper_limit:%Y-%m-%d %H:%M}"


# --- models and checks -----------------------------------------------------------------------


def models_text(models: Mapping[str, Sequence[Model]]) -> RenderableType:
    """The models of each package, in the order in which they run."""
    table = plain_table("model", "package", "kind", "key", "reads", "tags")
    for package, members in models.items():
        for member in members:
            reads = [f"{name} (stored)" if stored else name for name, stored in inputs_of(member)]
            table.add_row(
                member.name,
                package,
                member.kind,
                ", ".join(member.key),
                ", ".join(reads),
                ", ".join(member.tags),
            )
    return table


def lines(words: Iterable[str]) -> RenderableType:
    """One word on each line, however long, for a shell to read."""
    return Text("\n".join(words), no_wrap=True, overflow="ignore")


def check_text(check: Check) -> Text:
    """One thing that the doctor looked at."""
    sign = ("✓ ", "green") if check.is_fine else ("✗ ", "red")
    return Text().append(*sign).append(check.name, "bold").append(f": {check.detail}")


def indent(sentences: Iterable[str | Text]) -> list[RenderableType]:
    """Sentences below a heading."""
    texts = [Text(it) if isinstance(it, str) else it for it in sentences]
    return [Padding(text, (0, 0, 0, 2), expand=False) for text in texts]
