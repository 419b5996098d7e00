"""Fields of the entities that an option of a package turns on."""

from __future__ import annotations

from pyspark.sql import Column

from windrow.atomic.entity_columns import EntityColumn
from windrow.atomic.fields import first_of, unknown


def fields_of_first(entity: EntityColumn, *, is_read: bool) -> dict[str, Column]:
    """Field -> its value in the first entity of the kind; all null where the kind is not read."""
    value = first_of if is_read else unknown
    return {name: value(entity, name).cast(kind) for name, kind in entity.fields.items()}
