"""What `windrow adopt` found and did, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from windrow.operations.adoption import Adoption
from windrow.operations.inherited import Inherited, TypeChange
from windrow.report import words
from windrow.report.documents import Document, layout_document, moment, plan_document
from windrow.report.operations import layout_text
from windrow.report.text import indent, plan_sentences, title


def adoptions_document(adoptions: Iterable[Adoption]) -> Document:
    """What `windrow adopt --json` prints."""
    return {
        "packages": [
            {
                "package": it.package,
                "target": it.target,
                "run_id": it.run_id,
                "is_done_before": it.is_done_before,
                "problems": list(it.problems),
                "manifest": {model: moment(at) for model, at in sorted(it.positions.items())},
                "switched_off": list(it.switched_off),
                "forgotten": list(it.forgotten),
                "tables": [_table(table) for table in it.tables],
                "next_run": None if it.plan is None else plan_document(it.plan),
            }
            for it in adoptions
        ]
    }


def _table(table: Inherited) -> Document:
    return {
        "table": str(table.table),
        "model": table.model,
        "is_there": table.is_there,
        "rows": table.rows,
        "key": list(table.key),
        "duplicate_keys": table.duplicates,
        "layout": layout_document(table.layout),
        "adds": {name: str(kind) for name, kind in table.adds.items()},
        "unknown": list(table.unknown),
        "types": [
            {
                "column": it.column,
                "stored": it.stored,
                "wanted": it.wanted,
                "misfits": it.misfits,
                "is_safe": it.is_safe,
            }
            for it in table.changes
        ],
        "is_noted": table.is_noted,
        "problem": table.problem,
    }


def adoptions_text(adoptions: Iterable[Adoption], *, is_asked: bool) -> RenderableType:
    """Package by package what was found, what it means, and what would come next."""
    return Group(
        *(
            Group(Text(title(it.package, it.target), "bold"), *indent(_sentences(it, is_asked)))
            for it in adoptions
        )
    )


def _sentences(adoption: Adoption, is_asked: bool) -> Iterator[str]:
    is_done = adoption.run_id is not None
    yield _positions(adoption)
    for table in adoption.tables:
        first, *more = _about(table, adoption, is_done)
        yield f"{table.table}: {first}."
        yield from (f"  {sentence}." for sentence in more)
    if adoption.switched_off:
        names = ", ".join(adoption.switched_off)
        yield f"Switched off here, and left as they are: {names}."
    if adoption.forgotten:
        yield (
            f"Views so far, tables from now on: {', '.join(adoption.forgotten)}. Their rows of the "
            "manifest are taken out, and runs fill them from the start date."
        )
    if adoption.problems:
        yield "This cannot be taken over as it is:"
        yield from (f"  {problem}" for problem in adoption.problems)
        yield "Nothing was changed."
        return
    if adoption.plan is not None:
        yield "The next run:"
        yield from (f"  {sentence}" for sentence in plan_sentences(adoption.plan))
    if is_done:
        yield f"Taken over ({adoption.run_id}). `windrow run` goes on from here."
    elif adoption.is_done_before:
        yield "This was taken over before, and nothing has changed since. `windrow run` goes on."
    elif is_asked:
        yield "Nothing was changed, as another package cannot be taken over."
    else:
        yield "Nothing was changed yet: stop what writes these tables, then add --apply."


def _positions(adoption: Adoption) -> str:
    at = sorted(adoption.positions.values())
    if not at:
        return "The manifest has no rows: nothing was consumed yet."
    rows = words.count(len(at), "row")
    if at[0] == at[-1]:
        return f"The manifest has {rows}, all at {words.instant(at[0])}."
    return f"The manifest has {rows}, from {words.instant(at[0])} to {words.instant(at[-1])}."


def _about(table: Inherited, adoption: Adoption, is_done: bool) -> Iterator[str]:
    if not table.is_there:
        is_known = table.model in adoption.positions and table.model not in adoption.forgotten
        yield "not there" if is_known else "not there, runs make it"
        return
    if table.problem is not None and not table.rows:
        yield "cannot be gone on from"
        return
    yield f"{words.count(table.rows, 'row')}, {_laid_out(table)}"
    if table.adds:
        columns = _columns(table.adds)
        yield f"Added the {columns}" if is_done else f"Would add the {columns}"
    for change in table.changes:
        yield _change(change, is_done)
    if table.unknown:
        yield f"Keeps the {_columns(table.unknown)}, null in new rows"
    if table.duplicates:
        yield f"Has {words.count(table.duplicates, 'key')} more than once"
    if table.model is not None and not table.is_noted and not (table.adds or table.changes):
        yield "Noted its key" if is_done else "Would note its key"


def _laid_out(table: Inherited) -> str:
    text = layout_text(table.layout)
    return "not partitioned" if text == "none" else text


def _columns(names: Iterable[str]) -> str:
    listed = [*names]
    return f"{'column' if len(listed) == 1 else 'columns'} {', '.join(listed)}"


def _change(change: TypeChange, is_done: bool) -> str:
    types = f"{change.column} from {change.stored} to {change.wanted}"
    if not change.is_safe:
        return f"Cannot change {types}"
    return f"Changed {types}" if is_done else f"Would change {types}"
