"""Columns that a project adds to our tables by configuration alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from windrow.config.fields import Frozen, Identifier, Many, Text

Aggregate = Literal["count", "sum", "min", "max", "avg", "countd"]


class Passthrough(Frozen):
    """A value carried into a table as it is; a bare name means a column, under its own name."""

    sql: Text = Field(description="Column, or SQL expression over one row of what is carried.")
    alias: Identifier = Field(description="Name of the column in the table.")


class Aggregation(Frozen):
    """A value made of all rows that a table's row stands for."""

    type: Aggregate = Field(description="`count`, `sum`, `min`, `max`, `avg` or `countd`.")
    field: Text = Field(default="1", description="Column or SQL expression that is aggregated.")
    alias: Identifier = Field(description="Name of the column in the table.")

    @model_validator(mode="after")
    def _has_field(self) -> Aggregation:
        if self.type != "count" and "field" not in self.model_fields_set:
            raise ValueError(f"a field, as `{self.type}` aggregates something")
        return self


def _named_if_text(value: Any) -> Any:
    return {"sql": value, "alias": value} if isinstance(value, str) else value


PassthroughOrName = Annotated[
    Passthrough, BeforeValidator(_named_if_text, json_schema_input_type=Passthrough | Identifier)
]
Passthroughs = Many[PassthroughOrName]
Aggregations = Many[Aggregation]
