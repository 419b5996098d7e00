"""The configuration layer: windrow.yml, --vars and the environment -> frozen settings.

It knows no package: which there are, and the settings that each takes, is handed in.
"""

from windrow.config.events import EventsSource
from windrow.config.extras import Aggregation, Passthrough
from windrow.config.identifiers import ATOMIC, IdentifierSource, flat, of_entity
from windrow.config.load import find_project, load
from windrow.config.options import Known, ModelSettings, PackageSettings
from windrow.config.problems import InvalidConfigError, Problem
from windrow.config.project_file import Config, Schemas, SparkSettings, Target
from windrow.config.reference_lists import ReferenceLists
from windrow.config.schema import json_schema

__all__ = [
    "ATOMIC",
    "Aggregation",
    "Config",
    "EventsSource",
    "IdentifierSource",
    "InvalidConfigError",
    "Known",
    "ModelSettings",
    "PackageSettings",
    "Passthrough",
    "Problem",
    "ReferenceLists",
    "Schemas",
    "SparkSettings",
    "Target",
    "find_project",
    "flat",
    "json_schema",
    "load",
    "of_entity",
]
