"""Which runs took in a stretch of collector time, as far as their work still counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.columns.timestamps import from_micros, literal, micros
from windrow.state.limits import State
from windrow.state.records import collect_together, records_in
from windrow.state.runs import ModelFate, Outcome, RunRecord, Runs, in_order, is_kept, newest_first

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


def consumed_versions(runs: Runs, package: str, models: Collection[str]) -> dict[str, str]:
    """Model -> the version of the events until which it has taken in late ones, oldest first.

    Of models that never did, there is none; what was rolled back counts no more.
    """
    rows = runs.rows_of(package)
    if rows is None or "source_version" not in rows.columns or not models:
        return {}
    took_back = rows.where(F.col("outcome") == Outcome.ROLLED_BACK.value).select(
        F.col("goes_back_before").alias("first_gone"), F.col("started_at").alias("taken_back_at")
    )
    began = rows.select(F.col("run_id").alias("first_gone"), F.col("started_at").alias("gone_from"))
    gone = took_back.join(began, "first_gone")
    is_gone = F.col("started_at").between(F.col("gone_from"), F.col("taken_back_at"))
    kept = rows.where(is_kept() & F.col("source_version").isNotNull())
    succeeded = (
        kept.join(gone, is_gone, how="left_anti")
        .select("started_at", "source_version", F.explode("models").alias("model"))
        .where(F.col("model.outcome") == ModelFate.SUCCEEDED.value)
        .where(F.col("model.name").isin(*models))
    )
    newest = succeeded.groupBy("model.name").agg(
        F.max("started_at").alias("at"),
        F.max_by("source_version", "started_at").alias("version"),
    )
    found = newest.select("name", "version", micros(F.col("at")).alias("at")).collect()
    return {row["name"]: row["version"] for row in sorted(found, key=lambda row: row["at"])}


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
