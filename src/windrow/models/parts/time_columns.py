"""Columns that the tables of several packages have: their days, and the clock of the run."""

from __future__ import annotations

from windrow.columns.rules import column
from windrow.tables import Columns

MODEL_TSTAMP: Columns = {"model_tstamp": column("timestamp", "Clock of the run that made the row.")}
START_DATE: Columns = {"start_tstamp_date": column("date", "Day of `start_tstamp` in UTC.")}
DERIVED_DATE: Columns = {"derived_tstamp_date": column("date", "Day of `derived_tstamp` in UTC.")}
