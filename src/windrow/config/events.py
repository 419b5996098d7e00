"""Where the events are: a path or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from windrow.config.fields import Frozen, TableName, Text, TextMap
from windrow.config.paths import resolved

_REMEMBERING = ("delta", "iceberg")
"""Formats whose tables know what was committed when."""


class EventsSource(Frozen):
    """The atomic events: files under `path`, or a `table` Spark knows by name."""

    path: Text | None = Field(
        default=None, description="Folder, file or object-store prefix that holds the events."
    )
    table: TableName | None = Field(
        default=None, description="Name of the events table, with schema and catalog where needed."
    )
    format: Literal["parquet", "delta", "iceberg", "json", "csv", "enriched"] = Field(
        default="parquet",
        description="File format under `path`; a table knows its own. `enriched`: the lines of "
        "the collector's pipeline.",
    )
    options: TextMap = Field(
        default={}, description="Options handed to Spark's reader, such as `header` for csv."
    )
    read_once: bool = Field(
        default=True,
        description="Packages that run in one command keep what they all need, rather than each "
        "reading it.",
    )

    new_by: Literal["collector", "commit", "load"] = Field(
        default="collector",
        description="What makes an event new: its collector time, within the look-back; or also "
        "that it was added since the last run, however old it is, by the commits of a Delta or "
        "Iceberg table (`commit`), or by `load_tstamp` or the time of its file (`load`).",
    )

    @model_validator(mode="after")
    def _is_in_one_place(self) -> EventsSource:
        if (self.path is None) == (self.table is None):
            raise ValueError("exactly one of `path` and `table`")
        if self.table is not None and self.format == "enriched":
            raise ValueError("`format: enriched` is of files: `path` in place of `table`")
        if self.new_by == "commit" and self.path is not None and self.format not in _REMEMBERING:
            raise ValueError(
                f"`new_by: commit` takes a Delta or Iceberg table, and `format` is {self.format}"
            )
        if self.new_by == "load" and self.format == "enriched":
            raise ValueError("`new_by: load` does not go with `format: enriched`")
        return self

    def under(self, project_dir: Path) -> EventsSource:
        """The same source with a relative path seen from the project's folder."""
        if self.path is None:
            return self
        return self.model_copy(update={"path": resolved(self.path, project_dir)})


def table_if_text(value: Any) -> Any:
    """A bare name means a table."""
    return {"table": value} if isinstance(value, str) else value


EventsSourceOrTable = Annotated[
    EventsSource, BeforeValidator(table_if_text, json_schema_input_type=EventsSource | TableName)
]
"""An events source, or just the name of a table."""
