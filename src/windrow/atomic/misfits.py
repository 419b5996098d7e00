"""Text in standard columns of another type: what cannot be read as that type stops a run.

Sources in JSON or CSV have all their columns as text, others some. Blank text is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.errors import SourceError
from windrow.tables.sql import quoted

_EXAMPLE = "example of "


def text_columns(types: Mapping[str, DataType]) -> dict[str, Callable[[], Column]]:
    """Stored text that is read as another type -> true where it cannot be."""
    return {
        name: partial(_is_misfit, name)
        for name, kind in types.items()
        if isinstance(kind, StringType) and STANDARD_COLUMNS.get(name, "string") != "string"
    }


def _is_misfit(name: str) -> Column:
    text = F.col(quoted(name))
    return (F.trim(text) != "") & text.try_cast(STANDARD_COLUMNS[name]).isNull()


def misfit_measures(name: str, is_misfit: Column) -> dict[str, Column]:
    """How many values of a column cannot be read, and one of them."""
    return {
        name: F.count_if(is_misfit),
        _EXAMPLE + name: F.min(F.when(is_misfit, F.col(quoted(name)))),
    }


def refuse_misfits(figures: Mapping[str, Any]) -> None:
    """Stop if a value was found that is not of its column's type."""
    problems = list(_problems(figures))
    if problems:
        raise SourceError(
            "The events cannot be used:\n"
            + "\n".join(f"  - {problem}" for problem in problems)
            + "\nNothing of this run was kept. Mend these values, or read the events through a "
            "view (events.table) that has null in their place."
        )


def _problems(figures: Mapping[str, Any]) -> Iterator[str]:
    for measure, example in figures.items():
        name = measure.removeprefix(_EXAMPLE)
        if name != measure and example is not None:
            number, wanted = figures[name], STANDARD_COLUMNS[name]
            values = "1 value that is not" if number == 1 else f"{number:,} values that are not"
            yield f"column '{name}' is text and has {values} of type {wanted}, such as '{example}'."
