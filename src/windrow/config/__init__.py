"""The configuration layer: windrow.yml, --vars and the environment -> frozen settings."""

from windrow.config.events import EventsSource
from windrow.config.load import find_project, load
from windrow.config.options import PackageSettings
from windrow.config.packages import PACKAGES
from windrow.config.problems import InvalidConfigError, Problem
from windrow.config.project_file import Config, Schemas, SparkSettings, Target
from windrow.config.schema import json_schema
from windrow.config.secrets import looks_secret, redacted
from windrow.config.web import ConversionEvent, ReferenceLists, WebSettings

__all__ = [
    "PACKAGES",
    "Config",
    "ConversionEvent",
    "EventsSource",
    "InvalidConfigError",
    "PackageSettings",
    "Problem",
    "ReferenceLists",
    "Schemas",
    "SparkSettings",
    "Target",
    "WebSettings",
    "find_project",
    "json_schema",
    "load",
    "looks_secret",
    "redacted",
]
