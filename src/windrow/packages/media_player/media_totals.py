"""media_totals: what the plays of each media item come to, in a form that runs can carry on."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import STATE, model, stored
from windrow.packages.media_player.carrying_on import (
    carried,
    is_as_great,
    is_as_little,
    taken_away,
)
from windrow.packages.media_player.interactions import MEDIA
from windrow.tables import Columns
from windrow.tables.frames import few, measured

_COUNTS = "array<struct<value:bigint,number:bigint>>"
_EXACT = "decimal(28,12)"
"""Of decimals a sum does not depend on the order in which rows come, and can be taken back."""

_ADDED: Columns = {
    "impressions": column("bigint", "Number of page views that had the media, played or not."),
    "plays": column("bigint", "Number of plays."),
    "seconds_of_plays": column("bigint", "Seconds of play time of plays."),
    "rates": column("bigint", "Number of plays whose playback rate is known."),
    "sum_of_rates": column(_EXACT, "Sum of the playback rates of plays."),
}
_COUNTED: Columns = {
    "play_times": column(_COUNTS, "Seconds of play time, and how many impressions have them."),
    "watched": column(_COUNTS, "Percents that plays came to without seeking, and how many did."),
    "reached": column(_COUNTS, "Greatest percents that plays came to, and how many did."),
    "reported": column(_COUNTS, "Percents, and how often each was reported."),
}

COLUMNS: Columns = {
    "media_id": MEDIA["media_id"],
    "latest": column(
        "struct<start_tstamp:timestamp,play_id:string,media_label:string,media_type:string,"
        "media_player_type:string>",
        "The latest play or impression, and what it says of the media.",
    ),
    "duration": column("double", "Greatest duration of the media in whole seconds."),
    "first_play": column("timestamp", "Start of the first play; null if never played."),
    "last_play": column("timestamp", "Start of the last play; null if never played."),
    **_ADDED,
    **_COUNTED,
}


@model(key="media_id", columns=COLUMNS, storage=STATE)
def media_totals(
    base: DataFrame,
    media_durations: DataFrame,
    sessions_this_run: DataFrame,
    most_events: int,
    before: DataFrame = stored("base", before_this_run=True, near=True),
    plays: DataFrame = stored("base"),
    known: DataFrame = stored("media_totals"),
    going_on: DataFrame | None = stored("media_totals", in_step_with="base"),
) -> DataFrame:
    """One row per media item: what all its plays and impressions come to.

    Those that the run touched are carried on from what was known (`carrying_on`).
    """
    if going_on is None:
        return _with_those_without_plays(totals(plays), known)

    former = taken_away(before, base, sessions_this_run, most_events)
    touched = former.select("media_id").union(base.select("media_id"))
    media = _of_known_media(touched).distinct()
    of_run = going_on.join(few(media, most_events), "media_id", how="left_semi")
    told = media_durations.withColumnRenamed("duration", "told")
    after, found = measured(
        _carried_on(of_run, former, base)
        .join(told, "media_id", how="left")
        .withColumn("duration", F.coalesce("told", "duration"))
        .drop("told"),
        {"unsure": F.count_if("is_unsure")},
    )
    sure = after.where(~F.col("is_unsure")).select(*COLUMNS)
    if not found["unsure"]:
        return sure
    unsure = after.where("is_unsure").select("media_id")
    of_unsure = plays.join(few(unsure, most_events), "media_id", how="left_semi")
    return sure.unionByName(_with_those_without_plays(totals(of_unsure), unsure))


def totals(plays: DataFrame) -> DataFrame:
    """What rows of base come to, per media item, where they are all there are of it."""
    nothing = plays.limit(0)
    known = nothing.select(*(F.lit(None).cast(kind).alias(it) for it, kind in COLUMNS.items()))
    return _carried_on(known, nothing, plays).select(*COLUMNS)


def number_of(
    counts: str, is_meant: Callable[[Column], Column] | None = None, *, times_value: bool = False
) -> Column:
    """How many a column of counts has of the values that are meant, or what these add up to."""
    pairs = (
        F.col(counts) if is_meant is None else F.filter(counts, lambda it: is_meant(it["value"]))
    )
    nothing = F.lit(0).cast("bigint")
    summed = F.aggregate(
        pairs,
        nothing,
        lambda total, it: total + (it["value"] * it["number"] if times_value else it["number"]),
    )
    return F.coalesce(summed, nothing)


def _of_known_media(plays: DataFrame) -> DataFrame:
    return plays.where(F.col("media_id").isNotNull())


def _with_those_without_plays(rows: DataFrame, media: DataFrame) -> DataFrame:
    """The rows, and one of nothing for each of the media that has lost every play."""
    gone = media.select("media_id").join(rows.select("media_id"), "media_id", how="left_anti")
    zeros = (F.lit(0).cast(kind).alias(name) for name, kind in _ADDED.items())
    return rows.unionByName(gone.select("media_id", *zeros), allowMissingColumns=True)


def _carried_on(known: DataFrame, former: DataFrame, base: DataFrame) -> DataFrame:
    """The totals with the rows of base that went taken out of them, and the new ones taken in.

    `is_unsure`: the first play went, or the last, and who knows which is the first one now.
    """
    signed = _signed(former, -1).unionByName(_signed(base, 1))
    before = known.select("media_id", F.struct("*").alias("known"))
    changed = _changes(signed).join(before, "media_id", how="left")
    counts = _counts(signed, known)
    was = F.col("known")
    known_rows = F.aggregate(
        was["play_times"], F.lit(0).cast("bigint"), lambda n, it: n + it["number"]
    )
    # Nothing beside the run's plays: what it has is all there is.
    is_all = was.isNull() | (F.col("old_rows") == known_rows)
    extremes = {
        name: carried(
            F.when(~is_all, was[name]), F.col(f"old_{name}"), F.col(f"new_{name}"), is_beyond
        )
        for name, is_beyond in (
            ("latest", _is_as_late),
            ("first_play", is_as_little),
            ("last_play", is_as_great),
        )
    }
    added = {name: _sum(was[name], F.col(name), kind) for name, kind in _ADDED.items()}
    return changed.join(counts, "media_id", how="left").select(
        "media_id",
        *(it.value.alias(name) for name, it in extremes.items()),
        F.coalesce("new_duration", was["duration"]).alias("duration"),
        *(value.alias(name) for name, value in added.items()),
        *(F.col(name) for name in _COUNTED),
        reduce(Column.__or__, (it.is_unsure for it in extremes.values())).alias("is_unsure"),
    )


def _sum(known: Column, change: Column, kind: str) -> Column:
    """What a number comes to. The sum of two wider decimals would lose digits."""
    before, more = (F.coalesce(it.try_cast(kind), F.lit(0).cast(kind)) for it in (known, change))
    return (before + more).try_cast(kind)


def _is_as_late(play: Column, than: Column) -> Column:
    """For `carried`: the play that started last, and of two the one with the greater id."""
    own, other = (F.struct(it["start_tstamp"], it["play_id"]) for it in (play, than))
    return own >= other


def _signed(plays: DataFrame, sign: int) -> DataFrame:
    """Rows of base as what they add to totals, or take away."""
    pieces = F.split("percent_progress_reached", ",")
    return _of_known_media(plays).select(
        "media_id",
        F.lit(sign).alias("sign"),
        "is_played",
        F.col("page_view_id").isNotNull().alias("has_page_view"),
        "start_tstamp",
        F.struct(
            *("start_tstamp", "play_id", "media_label", "media_type", "media_player_type")
        ).alias("latest"),
        "duration",
        F.coalesce("play_time_sec", F.lit(0)).cast("bigint").alias("seconds"),
        F.col("avg_playback_rate").try_cast(_EXACT).alias("rate"),
        F.round(F.col("retention_rate") * 100).cast("bigint").alias("watched"),
        F.transform(pieces, lambda piece: piece.cast("bigint")).alias("percents"),
    )


def _changes(signed: DataFrame) -> DataFrame:
    """Per media item: what the rows add up to, and their extremes, old and new."""
    sign, is_played = F.col("sign"), F.col("is_played")
    is_old, is_new = sign < 0, sign > 0
    rate = F.when(is_new, F.col("rate")).otherwise(-F.col("rate"))
    played_at = F.when(is_played, F.col("start_tstamp"))
    return signed.groupBy("media_id").agg(
        F.count_if(is_old).alias("old_rows"),
        F.sum(F.when(F.col("has_page_view"), sign)).alias("impressions"),
        F.sum(F.when(is_played, sign)).alias("plays"),
        F.sum(F.when(is_played, sign * F.col("seconds"))).alias("seconds_of_plays"),
        F.sum(F.when(is_played & F.col("rate").isNotNull(), sign)).alias("rates"),
        F.sum(F.when(is_played, rate)).alias("sum_of_rates"),
        F.max(F.when(is_new, F.col("duration"))).alias("new_duration"),
        *(
            value.alias(f"{prefix}_{name}")
            for prefix, is_it in (("old", is_old), ("new", is_new))
            for name, value in {
                "latest": F.max(F.when(is_it, F.col("latest"))),
                "first_play": F.min(F.when(is_it, played_at)),
                "last_play": F.max(F.when(is_it, played_at)),
            }.items()
        ),
    )


def _counts(signed: DataFrame, known: DataFrame) -> DataFrame:
    """Per media item: the columns of counts, what was known among them."""

    def entry(kind: str, value: Column, number: Column) -> Column:
        return F.struct(
            F.lit(kind).alias("kind"),
            value.alias("value"),
            number.cast("bigint").alias("number"),
        )

    def entries_of(kind: str) -> Column:
        """What was known, as entries."""
        found = F.transform(kind, lambda pair: entry(kind, pair["value"], pair["number"]))
        return F.coalesce(found, F.array())

    sign, is_played = F.col("sign"), F.col("is_played")
    furthest = F.array_max("percents")
    of_play = F.array_compact(
        F.array(
            entry("play_times", F.col("seconds"), sign),
            F.when(is_played, entry("watched", F.col("watched"), sign)),
            F.when(is_played & furthest.isNotNull(), entry("reached", furthest, sign)),
        )
    )
    reported = F.transform("percents", lambda percent: entry("reported", percent, sign))
    of_plays = F.concat(of_play, F.coalesce(reported, F.array()))
    of_known = F.concat(*map(entries_of, _COUNTED))
    entries = signed.select("media_id", F.inline(of_plays)).unionByName(
        known.select("media_id", F.inline(of_known))
    )
    numbers = entries.groupBy("media_id", "kind", "value").agg(F.sum("number").alias("number"))
    pair = F.struct("value", "number")
    return (
        numbers.where(F.col("number") != 0)
        .groupBy("media_id")
        .agg(
            *(
                F.array_sort(F.collect_list(F.when(F.col("kind") == name, pair))).alias(name)
                for name in _COUNTED
            )
        )
    )
