"""Tables that several tests begin with: made once, and copied where the format can be."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from website import session_folder
from windrow.tables import Tables

Make = Callable[[SparkSession, Tables], None]

_MADE: WeakKeyDictionary[SparkSession, dict[Make, Path]] = WeakKeyDictionary()
"""Session -> what fills tables -> the warehouse it left."""


def filled_by(make: Make, spark: SparkSession, tables: Tables, warehouse: Path) -> Tables:
    """The tables as `make` leaves them in this warehouse, where nothing is yet."""
    if tables.format != "delta":  # Iceberg's hold their own place.
        make(spark, tables)
        return tables
    made = _MADE.setdefault(spark, {})
    if make in made:
        shutil.copytree(made[make], warehouse, dirs_exist_ok=True)
    else:
        make(spark, tables)
        kept = Path(tempfile.mkdtemp(dir=session_folder(spark))) / "warehouse"
        made[make] = shutil.copytree(warehouse, kept)
    return tables
