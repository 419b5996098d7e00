"""The packages windrow knows, and the settings each one takes."""

from __future__ import annotations

from windrow.config.ecommerce import EcommerceSettings
from windrow.config.media_player import MediaPlayerSettings
from windrow.config.mobile import MobileSettings
from windrow.config.normalize import NormalizeSettings
from windrow.config.options import ModelSettings
from windrow.config.web import WebSettings

PACKAGES: dict[str, type[ModelSettings]] = {
    "web": WebSettings,
    "mobile": MobileSettings,
    "ecommerce": EcommerceSettings,
    "media_player": MediaPlayerSettings,
    "normalize": NormalizeSettings,
}
