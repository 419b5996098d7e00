"""The reference lists as small frames to join with, keyed so that case does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from windrow import reference
from windrow.config import ReferenceLists
from windrow.tables.frames import frame_of


@dataclass(frozen=True)
class ReferenceFrames:
    """Countries, languages and traffic sources; each key occurs once, in lower case."""

    countries: DataFrame
    """country_key, country_name, continent"""
    languages: DataFrame
    """language_key, language_name"""
    source_categories: DataFrame
    """source_key, source_category"""


def reference_frames(spark: SparkSession, lists: ReferenceLists) -> ReferenceFrames:
    """The lists that the settings name, or ours."""

    def path(name: str | Path | None) -> Path | None:
        return None if name is None else Path(name)

    countries = [
        (code.lower(), name, region)
        for code, name, region in reference.countries(path(lists.countries))
    ]
    languages = [(tag.lower(), name) for tag, name in reference.languages(path(lists.languages))]
    sources = [
        (source.lower(), category)
        for source, category in reference.source_categories(path(lists.sources))
    ]
    return ReferenceFrames(
        frame_of(spark, countries, _strings("country_key", "country_name", "continent")),
        frame_of(spark, languages, _strings("language_key", "language_name")),
        frame_of(spark, sources, _strings("source_key", "source_category")),
    )


def _strings(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "string")
