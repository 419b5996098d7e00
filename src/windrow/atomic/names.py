"""How windrow spells the fields of schemas: snake_case, by one rule, wherever they come from."""

from __future__ import annotations

import re

WORD_BOUNDARIES = (r"([A-Z]+)([A-Z][a-z])", r"([a-z0-9])([A-Z])")
"""Where a name in camelCase has the end of a word and the begin of the next, by these in turn."""


def snake_case(text: str) -> str:
    """The name that a field of a schema has as a column; the SQL packages name columns so, too.

    A run of capitals is one word, but its last one begins the next word where a small letter
    follows:

    >>> snake_case("iECompatibilityVersion"), snake_case("userID"), snake_case("link-click")
    ('i_e_compatibility_version', 'user_id', 'link_click')
    """
    for boundary in WORD_BOUNDARIES:
        text = re.sub(boundary, r"\1_\2", text)
    return text.replace("-", "_").lower()


def camel_case(name: str) -> str:
    """The spelling of a snake_case name that trackers use.

    >>> camel_case("primary_impact")
    'primaryImpact'
    """
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
