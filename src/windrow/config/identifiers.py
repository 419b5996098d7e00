"""Where a session's or a user's id is found in an event: a column, or a field of an entity."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from windrow.config.fields import Frozen, Identifier, Many

ATOMIC = "atomic"


class IdentifierSource(Frozen):
    """One place to look for an id; a bare name means a standard column."""

    table: Identifier = Field(
        default=ATOMIC,
        alias="schema",
        description="Entity or event column that holds the field; `atomic`: the event's own.",
    )
    field: Identifier = Field(description="Column of the event, or field of the entity.")

    @property
    def column(self) -> str:
        """The event column that must be read for it."""
        return self.field if self.table == ATOMIC else self.table


def _field_if_text(value: Any) -> Any:
    return {"field": value} if isinstance(value, str) else value


SourceOrColumn = Annotated[
    IdentifierSource,
    BeforeValidator(_field_if_text, json_schema_input_type=IdentifierSource | Identifier),
]
IdentifierSources = Many[SourceOrColumn]


def flat(name: str) -> IdentifierSource:
    """A standard column as a place to look."""
    return IdentifierSource.model_validate({"field": name})


def of_entity(column: str, field: str) -> IdentifierSource:
    """A field of an entity's first element as a place to look."""
    return IdentifierSource.model_validate({"schema": column, "field": field})
