"""The options of the mobile package."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from windrow.config.fields import TableName, Texts
from windrow.config.options import PackageSettings


class MobileSettings(PackageSettings):
    """How the mobile package runs."""

    ignored_options: ClassVar[tuple[str, ...]] = (
        *PackageSettings.ignored_options,
        "session_context",
        "mobile_context",
        "geolocation_context",
        "application_context",
        "screen_context",
        "app_errors_table",
        "screen_view_events",
    )

    platform: Texts = Field(
        default=("mob",), description="Platforms whose events are processed; empty means all."
    )
    enable_mobile_context: bool = Field(
        default=False, description="Fill the device, carrier and network columns."
    )
    enable_geolocation_context: bool = Field(
        default=False, description="Fill the columns of the device's own location."
    )
    enable_application_context: bool = Field(
        default=False, description="Fill the build and version columns."
    )
    enable_screen_context: bool = Field(
        default=False, description="Fill the columns of the screen that an event happened on."
    )
    enable_app_errors_module: bool = Field(
        default=False, description="Build the application errors and count them in sessions."
    )
    session_stitching: bool = Field(
        default=True, description="Keep the stitched user id on sessions up to date."
    )
    merge_anonymous_devices: bool = Field(
        default=False,
        description="Take all devices that hide their id behind zeros for one user.",
    )
    quarantine: bool = Field(
        default=False, description="List sessions that reached their cap, and skip them early."
    )
    sessions_table: TableName | None = Field(
        default=None, description="Table the users are built from, in place of our sessions."
    )
