"""Keys made of several parts."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_NULL = "_dbt_utils_surrogate_key_null_"
"""What stands for an unknown part in the SQL packages; keys there and here must be the same."""


def surrogate_key(*parts: Column, null: str = _NULL) -> Column:
    """The MD5 of the parts as text, joined by hyphens."""
    texts = (F.coalesce(part.cast("string"), F.lit(null)) for part in parts)
    return F.md5(F.concat_ws("-", *texts))
