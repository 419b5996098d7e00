"""The optional enrichment entities: IAB, UA parser and YAUAA, taken from the first of each."""

from __future__ import annotations

from pyspark.sql import Column

from windrow.atomic.entity_columns import IAB, UA_PARSER, YAUAA, EntityColumn
from windrow.models.hooks import Hooks
from windrow.models.parts.entities import fields_of_first
from windrow.packages.web.settings import WebSettings

ENRICHMENTS: dict[str, EntityColumn] = {
    "enable_iab": IAB,
    "enable_ua": UA_PARSER,
    "enable_yauaa": YAUAA,
}
"""Option -> the entity that it turns on."""

HOOKS = {
    "enable_iab": "get_iab_context_fields",
    "enable_ua": "get_ua_context_fields",
    "enable_yauaa": "get_yauaa_context_fields",
}
"""Option -> the hook that makes the entity's columns in another way."""


def enabled_entities(settings: WebSettings) -> list[EntityColumn]:
    """The enrichment entities that the settings ask for."""
    return [entity for option, entity in ENRICHMENTS.items() if getattr(settings, option)]


def enrichment_fields(settings: WebSettings, hooks: Hooks) -> dict[str, Column]:
    """Output column -> value; all there, and null where the option is off."""
    fields: dict[str, Column] = {}
    for option, entity in ENRICHMENTS.items():
        ours = fields_of_first(entity, is_read=getattr(settings, option))
        fields |= hooks.columns(HOOKS[option], ours)
    return fields
