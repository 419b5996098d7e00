"""A project with the normalize package for tests, and how to write what it is to make."""

from __future__ import annotations

from typing import Any

import yaml
from pyspark.sql import SparkSession

from website import Site
from windrow.packages.normalize.settings import NormalizeSettings

PAGE = "iglu:com.snowplowanalytics.snowplow/web_page/jsonschema/1-0-0"
BANNER = "iglu:com.snowplowanalytics.snowplow/cmp_visible/jsonschema/1-0-0"
VITALS = "iglu:com.snowplowanalytics.snowplow/web_vitals/jsonschema/1-0-0"
ROBOTS = "iglu:com.iab.snowplow/spiders_and_robots/jsonschema/1-0-0"


def entry(*names: str, **options: Any) -> dict[str, Any]:
    """An entry of `events`."""
    return {"event_names": list(names), **options}


def settings(*events: dict[str, Any], **options: Any) -> NormalizeSettings:
    """Settings with these event tables."""
    return NormalizeSettings.model_validate({"events": list(events), **options})


class Normalized(Site):
    """A project with the normalize package over events that arrive as the test goes on."""

    package = "normalize"

    def configure(self, **options: Any) -> None:
        """Change options, as an editor of windrow.yml would."""
        file = self.folder / "windrow.yml"
        tree = yaml.safe_load(file.read_text())
        tree["packages"][self.package] |= options
        file.write_text(yaml.safe_dump(tree))


def names_of(spark: SparkSession, site: Site, table: str) -> list[str]:
    """The columns of a table, in order."""
    return site.table(table).columns
