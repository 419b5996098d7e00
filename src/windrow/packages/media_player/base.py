"""base: one row per media element on a page view, played or only shown."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.checks import Expression, NotNull
from windrow.models.model import Model, Storage, model, stored
from windrow.models.parts.declared_columns import select_declared
from windrow.models.parts.time_columns import START_DATE
from windrow.packages.media_player.interactions import MEDIA, PLAY_ID
from windrow.packages.media_player.play_parts import DESCRIPTION, MEASURES, VISIT, part_measures
from windrow.packages.media_player.settings import MediaPlayerSettings
from windrow.packages.web.event_fields import PAGE_VIEW_ID, fields
from windrow.tables import Columns
from windrow.tables.frames import few, measured

_VISIT = list(VISIT)

COLUMNS: Columns = {
    **PLAY_ID,
    **PAGE_VIEW_ID,
    "media_id": MEDIA["media_id"],
    "media_label": MEDIA["media_label"],
    **fields("domain_sessionid", "domain_userid"),
    "duration": column(
        "double", "Duration of the media in whole seconds: the greatest that any event told."
    ),
    "media_type": MEDIA["media_type"],
    "media_player_type": MEDIA["media_player_type"],
    **{name: VISIT[name] for name in _VISIT[:2]},
    "source_url": MEASURES["source_url"],
    **{name: VISIT[name] for name in _VISIT[2:]},
    "start_tstamp": MEASURES["start_tstamp"],
    "end_tstamp": MEASURES["end_tstamp"],
    "play_time_sec": column(
        "bigint",
        "Seconds of play time: each boundary reached counts all seconds since the one before, "
        "again when it is reached again.",
    ),
    "play_time_sec_muted": MEASURES["play_time_sec_muted"],
    "is_played": column("boolean", "True if playback began; false for an impression."),
    "is_valid_play": column("boolean", "True if the play time is more than `valid_play_sec`."),
    "is_complete_play": column(
        "boolean",
        "True if the play time is at least `complete_play_rate` of the duration; "
        "false if that is unknown.",
    ),
    "avg_playback_rate": column(
        "double", "Average playback rate by play time; the greatest rate without play time."
    ),
    "retention_rate": column(
        "double", "Greatest progress before the first seek, from 0 to 1; 0 if there is none."
    ),
    "seeks": MEASURES["seeks"],
    "percent_progress_reached": column(
        "string", "All progress that was reported, in ascending order, with commas between."
    ),
    **START_DATE,
}

CHECKS = (
    NotNull(("start_tstamp", "end_tstamp", "retention_rate")),
    Expression("end_tstamp >= start_tstamp"),
    Expression("retention_rate BETWEEN 0 AND 1"),
)


def is_complete(play_time: Column, duration: Column, settings: MediaPlayerSettings) -> Column:
    """Whether so much play time of so long media is a complete play."""
    is_enough = play_time / duration >= F.lit(settings.complete_play_rate)
    return F.coalesce(F.when(duration > 0, is_enough), F.lit(False))


def greatest(progress: Column) -> Column:
    """The greatest percent among reports of progress; null if there is none."""
    return F.array_max(F.transform(progress, lambda report: report["percent_progress"]))


def plays(measured: DataFrame, retained: Column, settings: MediaPlayerSettings) -> DataFrame:
    """The rows of base from measured plays; `retained`: the percent that retention goes by."""
    play_time = F.col("play_time_sec")
    percents = F.array_sort(F.transform("progress", lambda report: report["percent_progress"]))
    text = F.array_join(percents, ",")
    rate = F.col("weighted_rate").cast("double") / F.nullif(play_time, F.lit(0))
    values: dict[str, Column] = {
        "is_played": F.col("plays") > 0,
        "is_valid_play": play_time > F.lit(settings.valid_play_sec),
        "is_complete_play": is_complete(play_time, F.col("duration"), settings),
        "avg_playback_rate": F.coalesce(rate, "greatest_rate"),
        "retention_rate": F.coalesce(retained, F.lit(0)) / 100,
        "percent_progress_reached": F.when(F.size(percents) > 0, text),
        "start_tstamp_date": F.to_date("start_tstamp"),
    }
    return select_declared(measured, COLUMNS, values)


def amend_durations(table: str) -> Model:
    """The model that amends stored plays of a table where this run tells how long media last."""

    @model(kind="this_run")
    def plays_with_new_durations(
        media_durations: DataFrame,
        settings: MediaPlayerSettings,
        most_events: int,
        stored_plays: DataFrame = stored(table),
        known: DataFrame | None = stored(
            "media_durations", before_this_run=True, in_step_with="media_durations"
        ),
    ) -> DataFrame:
        """One row per stored play whose media turn out to last longer, or shorter, than it says."""
        now_known = media_durations.withColumnRenamed("duration", "known_duration")
        is_new = ~F.col("duration").eqNullSafe(F.col("known_duration"))
        if known is not None:
            # Of media that nobody knew there are no plays, and few others become longer.
            changed = now_known.join(known, "media_id", how="inner").where(is_new).drop("duration")
            now_known, found = measured(changed, {"media": F.count(F.lit(1))})
            if not found["media"]:
                return _amended(
                    stored_plays.limit(0).withColumn("known_duration", F.lit(0.0)), settings
                )
        changed = stored_plays.join(few(now_known, most_events), "media_id", how="inner")
        return _amended(changed.where(is_new), settings)

    return plays_with_new_durations


def _amended(plays: DataFrame, settings: MediaPlayerSettings) -> DataFrame:
    duration = F.col("known_duration")
    return plays.select(
        "play_id",
        "start_tstamp_date",
        duration.alias("duration"),
        is_complete(F.col("play_time_sec"), duration, settings).alias("is_complete_play"),
    )


@model(
    key="play_id",
    date="start_tstamp",
    columns=COLUMNS,
    replaces="domain_sessionid",
    storage=Storage(steps=("base_this_run",), amend=amend_durations("base")),
    checks=CHECKS,
)
def base(
    play_parts: DataFrame, media_durations: DataFrame, settings: MediaPlayerSettings
) -> DataFrame:
    """One row per media element on a page view: what was played of it, when, where and by whom.

    Descriptive columns are those of the play's earliest event, its session among them. All plays
    of the same media have the same duration.
    """
    in_order = F.struct("start_tstamp", "first_event_id")
    whole = (
        play_parts.groupBy("play_id", "page_view_id", "media_id")
        .agg(
            F.min_by(F.struct("domain_sessionid", *DESCRIPTION), in_order).alias("first"),
            *(value.alias(name) for name, value in part_measures().items()),
        )
        .select("*", "first.*")
    )
    first_seek = F.col("first_seek")
    before_seek = F.filter(
        "progress", lambda report: first_seek.isNull() | (report["start_tstamp"] <= first_seek)
    )
    return plays(
        whole.join(media_durations, "media_id", how="left"), greatest(before_seek), settings
    )
