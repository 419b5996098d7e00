"""The configuration layer: windrow.yml, --vars and the environment -> frozen settings."""

from windrow.config.ecommerce import EcommerceSettings
from windrow.config.events import EventsSource
from windrow.config.extras import Aggregation, Passthrough
from windrow.config.identifiers import ATOMIC, IdentifierSource, flat, of_entity
from windrow.config.iglu import SchemaField, SchemaUri, snake_case
from windrow.config.load import find_project, load
from windrow.config.media_player import MediaPlayerSettings
from windrow.config.mobile import MobileSettings
from windrow.config.normalize import EventTable, NormalizeSettings
from windrow.config.options import ModelSettings, PackageSettings
from windrow.config.packages import PACKAGES
from windrow.config.problems import InvalidConfigError, Problem
from windrow.config.project_file import Config, Schemas, SparkSettings, Target
from windrow.config.schema import json_schema
from windrow.config.secrets import looks_secret, redacted
from windrow.config.web import ConversionEvent, ReferenceLists, WebSettings

__all__ = [
    "ATOMIC",
    "PACKAGES",
    "Aggregation",
    "Config",
    "ConversionEvent",
    "EcommerceSettings",
    "EventTable",
    "EventsSource",
    "IdentifierSource",
    "InvalidConfigError",
    "MediaPlayerSettings",
    "MobileSettings",
    "ModelSettings",
    "NormalizeSettings",
    "PackageSettings",
    "Passthrough",
    "Problem",
    "ReferenceLists",
    "SchemaField",
    "SchemaUri",
    "Schemas",
    "SparkSettings",
    "Target",
    "WebSettings",
    "find_project",
    "flat",
    "json_schema",
    "load",
    "looks_secret",
    "of_entity",
    "redacted",
    "snake_case",
]
