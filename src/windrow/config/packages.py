"""The packages windrow knows, and the settings each one takes."""

from __future__ import annotations

from windrow.config.mobile import MobileSettings
from windrow.config.normalize import NormalizeSettings
from windrow.config.options import PackageSettings
from windrow.config.web import WebSettings

PACKAGES: dict[str, type[PackageSettings]] = {
    "web": WebSettings,
    "mobile": MobileSettings,
    "normalize": NormalizeSettings,
}
