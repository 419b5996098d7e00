"""Many conditions as one."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column


def any_of(conditions: Sequence[Column]) -> Column:
    """True where one of the conditions is, which are looked at in their order.

    In halves, so that thirty of them nest five deep and not thirty: Spark Connect sends a query as
    a message that may nest a hundred deep and no deeper.
    """
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return any_of(conditions[:middle]) | any_of(conditions[middle:])
