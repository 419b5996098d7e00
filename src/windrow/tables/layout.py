"""How a table's rows are laid out in files: what it is partitioned by, what it is clustered by.

A project names keys; from their kinds follows the layout. A date column, or a transform of Iceberg
such as `days(start_tstamp)`, partitions; any other column clusters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from windrow.errors import ConfigError, did_you_mean
from windrow.tables.seam import Columns, Layout
from windrow.tables.sql import quoted

MOST_CLUSTERED_ON_DELTA = 4

_TIME_TRANSFORMS = {
    "years": ("date", "timestamp"),
    "months": ("date", "timestamp"),
    "days": ("date", "timestamp"),
    "hours": ("timestamp",),
}
_WIDTH_TRANSFORMS = ("bucket", "truncate")
_WITHOUT_ORDER = ("array", "map", "struct", "variant", "boolean", "binary")

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_KEY = re.compile(
    rf"(?P<plain>{_NAME})"
    rf"|(?P<time>{'|'.join(_TIME_TRANSFORMS)})\(\s*(?P<of_time>{_NAME})\s*\)"
    rf"|(?P<width_of>{'|'.join(_WIDTH_TRANSFORMS)})"
    rf"\(\s*(?P<width>[1-9][0-9]{{0,8}})\s*,\s*(?P<of_width>{_NAME})\s*\)"
)


@dataclass(frozen=True)
class Key:
    """One thing to lay a table out by: a column, or a transform of one."""

    column: str
    transform: str | None = None
    width: int | None = None

    def __str__(self) -> str:
        return self._written(self.column)

    @property
    def sql(self) -> str:
        """The key as SQL text: days(ts) -> days(`ts`)."""
        return self._written(quoted(self.column))

    def _written(self, column: str) -> str:
        if self.transform is None:
            return column
        width = "" if self.width is None else f"{self.width}, "
        return f"{self.transform}({width}{column})"


def parse_key(text: str) -> Key:
    """`day`, `days(start_tstamp)` or `bucket(16, user_id)`; anything else must not reach SQL."""
    found = _KEY.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"cluster_by: '{text}' is no key. Expected a column, or on Iceberg one of years(x), "
            "months(x), days(x), hours(x), bucket(n, x) and truncate(n, x)."
        )
    if found["plain"]:
        return Key(found["plain"])
    if found["time"]:
        return Key(found["of_time"], found["time"])
    return Key(found["of_width"], found["width_of"], int(found["width"]))


def keys_sql(keys: Sequence[str]) -> str:
    """The keys as a list in SQL, each checked."""
    return ", ".join(parse_key(key).sql for key in keys)


def layout_of(table: str, chosen: Sequence[str], columns: Columns, *, format: str) -> Layout:
    """What a table with these columns is laid out by, when a project chose these keys."""
    keys = list(dict.fromkeys(parse_key(text) for text in chosen))
    for key in keys:
        _check(table, key, columns, format)
    days = [key for key in keys if key.transform or columns[key.column] == "date"]
    others = [key for key in keys if key not in days]
    if format == "delta" and others:
        # A Delta table is partitioned or clustered, never both.
        if len(keys) > MOST_CLUSTERED_ON_DELTA:
            raise ConfigError(
                f"cluster_by: {table} has {len(keys)} keys, but Delta clusters by "
                f"{MOST_CLUSTERED_ON_DELTA} columns at most. Keep those that queries filter by."
            )
        days, others = [], keys
    return Layout(tuple(sorted(map(str, days))), tuple(map(str, others)))


def _check(table: str, key: Key, columns: Columns, format: str) -> None:
    if key.column not in columns:
        raise ConfigError(
            f"cluster_by: {table} has no column '{key.column}'." + did_you_mean(key.column, columns)
        )
    if key.transform and format == "delta":
        raise ConfigError(
            f"cluster_by: {table} is a Delta table, which knows no '{key}'. Name the column "
            f"'{key.column}' itself to cluster by it, or a date column to partition by it."
        )
    kind = columns[key.column]
    wanted = _TIME_TRANSFORMS.get(key.transform or "")
    if wanted and not kind.startswith(wanted):
        raise ConfigError(
            f"cluster_by: '{key}' of {table} needs a {' or '.join(wanted)}, but '{key.column}' "
            f"is {kind}."
        )
    if kind.startswith(_WITHOUT_ORDER):
        raise ConfigError(
            f"cluster_by: '{key.column}' of {table} is {kind}, which has no order to lay rows out "
            "by. Take a column of times, numbers or text."
        )
