"""SQL text that Delta and Iceberg both take. Names are always quoted, texts always escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.columns.rules import rule_of
from windrow.errors import TableError
from windrow.tables.seam import DELETED, Columns


def quoted(name: str) -> str:
    """The name as a SQL identifier: order id -> `order id`."""
    return "`" + name.replace("`", "``") + "`"


def quoted_parts(name: str) -> str:
    """A table's name as people write it, each part quoted: lake.events -> `lake`.`events`."""
    return ".".join(quoted(part) for part in name.split("."))


IS_DELETED = f"coalesce(s.{quoted(DELETED)}, false)"


def literal(text: str) -> str:
    """The text as a SQL string: it's -> 'it\\'s'."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def check_name(name: str) -> str:
    """The name itself, if it can stand for a schema or a table, which may also be a folder."""
    if not name.strip(". ") or any(c in "/\\" or not c.isprintable() for c in name):
        raise TableError(
            f"{name!r} cannot name a schema or a table: expected at least one character that is "
            "neither a dot nor a blank, and no slash, backslash or control character."
        )
    return name


def create_table(
    identifier: str,
    columns: Columns,
    *,
    using: str,
    partition_by: str,
    cluster_by: str = "",
    properties: Mapping[str, str],
) -> str:
    """CREATE TABLE IF NOT EXISTS; what it is laid out by comes in as SQL."""
    definitions = ", ".join(_definition(c, t) for c, t in columns.items())
    text = f"create table if not exists {identifier} ({definitions}) using {using}"
    if partition_by:
        text += f" partitioned by ({partition_by})"
    if cluster_by:
        text += f" cluster by ({cluster_by})"
    if properties:
        pairs = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in properties.items())
        text += f" tblproperties ({pairs})"
    return text


def add_columns(identifier: str, columns: Columns) -> str:
    """ALTER TABLE ADD COLUMNS, with column comments."""
    definitions = ", ".join(_definition(c, t) for c, t in columns.items())
    return f"alter table {identifier} add columns ({definitions})"


def merge(
    identifier: str,
    source: str,
    columns: Sequence[str],
    *,
    key: Sequence[str],
    bound: str | None,
    has_tombstones: bool,
    insert: bool = True,
    update: bool = True,
    nulls_match: bool = False,
) -> str:
    """The upsert: stored rows are `t`, changes are `s`; a null key matches nothing unless asked."""
    equals = "<=>" if nulls_match else "="
    condition = " and ".join(f"t.{quoted(c)} {equals} s.{quoted(c)}" for c in key)
    if bound:
        condition += f" and ({bound})"
    clauses = [f"merge into {identifier} as t using {source} as s on {condition}"]

    if has_tombstones:
        clauses.append(f"when matched and {IS_DELETED} then delete")
    values = [c for c in columns if c not in key]
    if update and values:
        updates = ", ".join(f"t.{quoted(c)} = s.{quoted(c)}" for c in values)
        clauses.append(f"when matched then update set {updates}")
    if len(clauses) == 1:
        # A merge that only inserts is an append to Spark, and on Iceberg no append is ever in
        # conflict: two that insert the same key at once would both succeed. This changes nothing.
        first = quoted(key[0])
        clauses.append(f"when matched and t.{first} is null then update set t.{first} = s.{first}")
    if insert:
        is_new = f"when not matched and not {IS_DELETED}" if has_tombstones else "when not matched"
        inserts = ", ".join(f"s.{quoted(c)}" for c in columns)
        clauses.append(f"{is_new} then insert ({_join_names(columns)}) values ({inserts})")

    return "\n".join(clauses)


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(quoted(n) for n in names)


def _definition(name: str, type_: str) -> str:
    rule = rule_of(type_)
    return f"{quoted(name)} {type_}" + (f" comment {literal(rule)}" if rule else "")
