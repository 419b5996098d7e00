"""session_stats: one row per session with media, with how much it saw and heard."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.models.model import model, stored
from windrow.models.parts.time_columns import START_DATE
from windrow.packages.media_player.play_averages import exact_average, share_played
from windrow.packages.web.event_fields import fields
from windrow.tables import Columns

COLUMNS: Columns = {
    **fields("domain_sessionid", "domain_userid"),
    "impressions": column("bigint", "Number of media elements on the session's page views."),
    "videos_played": column("bigint", "Number of different videos that were played."),
    "audio_played": column("bigint", "Number of different audio media that were played."),
    "video_plays": column("bigint", "Number of plays of videos."),
    "audio_plays": column("bigint", "Number of plays of audio media."),
    "valid_video_plays": column("bigint", "Number of valid plays of videos."),
    "valid_audio_plays": column("bigint", "Number of valid plays of audio media."),
    "start_tstamp": column("timestamp", "Time of the session's earliest media event."),
    "end_tstamp": column("timestamp", "Time of the session's latest media event."),
    "seeks": column("bigint", "Number of seeks."),
    "play_time_min": column("double", "Minutes of play time."),
    "play_time_min_muted": column("double", "Minutes of play time with the player muted."),
    "avg_play_time_min": column("double", "Average minutes of play time of a play; 0 if none."),
    "avg_percent_played": column(
        "double", "Average of the plays' shares of play time in the duration; 0 if none."
    ),
    "complete_plays": column("bigint", "Number of complete plays."),
    **START_DATE,
}


@model(kind="rebuilt", key="domain_sessionid", date="start_tstamp", columns=COLUMNS)
def session_stats(plays: DataFrame = stored("base")) -> DataFrame:
    """One row per session with media: impressions, plays and play time."""
    is_played, is_valid = F.col("is_played"), F.col("is_valid_play")
    is_video, is_audio = F.col("media_type") == "video", F.col("media_type") == "audio"
    zero = F.lit(0.0)

    def different(is_counted: Column) -> Column:
        return F.count_distinct(F.when(is_counted, F.col("media_id")))

    share = F.coalesce(share_played(), zero)
    return (
        plays.groupBy("domain_sessionid", "domain_userid")
        .agg(
            F.count(F.lit(1)).alias("impressions"),
            different(is_video & is_played).alias("videos_played"),
            different(is_audio & is_played).alias("audio_played"),
            F.count_if(is_video & is_played).alias("video_plays"),
            F.count_if(is_audio & is_played).alias("audio_plays"),
            F.count_if(is_video & is_valid).alias("valid_video_plays"),
            F.count_if(is_audio & is_valid).alias("valid_audio_plays"),
            F.min("start_tstamp").alias("start_tstamp"),
            F.max("end_tstamp").alias("end_tstamp"),
            F.sum("seeks").alias("seeks"),
            (F.sum("play_time_sec") / 60).alias("play_time_min"),
            (F.sum("play_time_sec_muted") / 60).alias("play_time_min_muted"),
            (F.coalesce(F.avg(F.when(is_played, F.col("play_time_sec"))), zero) / 60).alias(
                "avg_play_time_min"
            ),
            F.coalesce(exact_average(share, is_played), zero).alias("avg_percent_played"),
            F.count_if("is_complete_play").alias("complete_plays"),
        )
        .withColumn("start_tstamp_date", F.to_date("start_tstamp"))
        .select(*COLUMNS)
    )
