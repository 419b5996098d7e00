"""What tables of interactions have in common: a row per event, or per product of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.config import Passthrough
from windrow.models.extras import Extras
from windrow.models.model import Model, Reads, Storage, model
from windrow.models.parts.declared_columns import select_declared
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns


def interactions(
    *,
    key: str,
    columns: Callable[[EcommerceSettings], Columns],
    reads: Callable[[EcommerceSettings], tuple[str, ...]],
) -> Callable[[Callable[..., DataFrame]], Model]:
    """Declare the decorated function a table of interactions.

    A run replaces those of its sessions; a project's own columns come from the row's event.
    """

    def declare(function: Callable[..., DataFrame]) -> Model:
        of_event = Extras("events", by=("event_id", "domain_sessionid"), first=("event_id",))
        return model(
            key=key,
            date="derived_tstamp",
            columns=columns,
            replaces="domain_sessionid",
            reads=Reads(reads, extras=of_event),
            storage=Storage(steps=(f"{function.__name__}_this_run",)),
        )(function)

    return declare


def describe_events(
    events: DataFrame,
    columns: Columns,
    values: Mapping[str, Column],
    passed_through: Sequence[Passthrough],
) -> DataFrame:
    """A row per event: its columns as worked out or as they are, and those passed through."""
    known = {
        "derived_tstamp_date": F.to_date("derived_tstamp"),
        **values,
        **passthroughs.values(passed_through),
    }
    return select_declared(events.alias("e"), columns, known)
