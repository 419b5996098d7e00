"""Questions that the makers of an app have, put to the derived tables of the demo."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import functions as F

from windrow.engine.workspace import Workspace


@dataclass(frozen=True)
class Device:
    """How the app does on one operating system."""

    system: str
    devices: int
    sessions: int
    installs: int
    with_errors: int
    with_fatal_errors: int
    """Sessions, each."""


@dataclass(frozen=True)
class Screen:
    """How often one screen was seen."""

    name: str
    views: int
    devices: int


@dataclass(frozen=True)
class AppAnswers:
    """What the tables say about the app."""

    devices: tuple[Device, ...]
    screens: tuple[Screen, ...]


def app_answers(ws: Workspace) -> AppAnswers:
    """The app's devices and screens."""
    sessions = ws.tables.read(ws.table(ws.model("sessions")))
    screen_views = ws.tables.read(ws.table(ws.model("screen_views")))
    systems = (
        sessions.groupBy(F.concat_ws(" ", "os_type", "os_version").alias("system"))
        .agg(
            F.count_distinct("device_user_id"),
            F.count(F.lit(1)).alias("sessions"),
            F.count_if("has_install"),
            F.count_if(F.col("app_errors") > 0),
            F.count_if(F.col("fatal_app_errors") > 0),
        )
        .orderBy(F.desc("sessions"), "system")
    )
    screens = (
        screen_views.groupBy("screen_view_name")
        .agg(F.count(F.lit(1)).alias("views"), F.count_distinct("device_user_id"))
        .orderBy(F.desc("views"), "screen_view_name")
    )
    return AppAnswers(
        devices=tuple(Device(row[0] or "unknown", *row[1:]) for row in systems.collect()),
        screens=tuple(Screen(row[0] or "unknown", *row[1:]) for row in screens.collect()),
    )
