"""The packages: one folder each, one module per table, and the one list of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.config import Known
from windrow.models.hooks import COMMON_HOOKS, Hook
from windrow.models.package import Package
from windrow.packages.ecommerce import ECOMMERCE
from windrow.packages.media_player import MEDIA_PLAYER
from windrow.packages.mobile import MOBILE
from windrow.packages.normalize import NORMALIZE
from windrow.packages.web import WEB

__all__ = ["HOOKS", "PACKAGES", "SETTINGS"]

PACKAGES: Mapping[str, Package] = {
    package.name: package for package in (WEB, MOBILE, ECOMMERCE, MEDIA_PLAYER, NORMALIZE)
}

SETTINGS: Known = {name: package.settings for name, package in PACKAGES.items()}
"""What configuration must know of them."""

HOOKS: tuple[Hook, ...] = (
    *COMMON_HOOKS,
    *(hook for package in PACKAGES.values() for hook in package.hooks),
)
"""All that a project's hooks.py may replace."""
