"""Which runs took in a stretch of collector time, as far as their work still counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import from_micros, literal
from windrow.state.limits import State
from windrow.state.records import collect_together, records_in
from windrow.state.runs import Outcome, RunRecord, Runs, in_order, is_kept, newest_first

_MOST = 50
"""A stretch is read again by the look-back of a few runs; of more where runs are frequent."""


def covering(runs: Runs, package: str, first: datetime, last: datetime) -> list[RunRecord]:
    """The newest runs whose windows meet a stretch of time, newest first."""
    rows = runs.rows_of(package)
    if rows is None:
        return []
    meets = (F.col("lower_limit") <= literal(last)) & (F.col("upper_limit") >= literal(first))
    # What came before a first run, or was rolled back, counts no more.
    begins = F.col("state") == State.FIRST_RUN.value
    ends = F.col("outcome") == Outcome.ROLLED_BACK.value
    newest = newest_first(rows.where((is_kept() & (meets | begins)) | ends)).limit(_MOST)
    found = in_order(records_in(newest, RunRecord))
    went_back_before = [run.goes_back_before for run in found if run.goes_back_before]
    counting = not_taken_back(found, _began(rows, went_back_before))
    return [run for run in counting if run.meets(first, last)]


def not_taken_back(runs: Iterable[RunRecord], began: Mapping[str, datetime]) -> Iterator[RunRecord]:
    """Of runs, newest first, those that no rollback and no new beginning came after.

    `began`: when the runs did that rollbacks went back to before.
    """
    gone_since: datetime | None = None
    for run in runs:
        if run.outcome is Outcome.ROLLED_BACK:
            back_to = began.get(run.goes_back_before or "")
            gone_since = min(filter(None, (gone_since, back_to)), default=None)
        elif gone_since is None or run.started_at < gone_since:
            yield run
            if run.state == State.FIRST_RUN.value:
                return


def _began(rows: DataFrame, run_ids: Sequence[str]) -> dict[str, datetime]:
    if not run_ids:
        return {}
    found = rows.where(F.col("run_id").isin(*run_ids)).select("run_id", "started_at")
    stored = collect_together({"runs": found})["runs"]
    times = {row["run_id"]: from_micros(row["started_at"]) for row in stored}
    return {run_id: at for run_id, at in times.items() if at is not None}
