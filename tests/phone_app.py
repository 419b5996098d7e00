"""A little app for tests: literal events of phones in, runs at pinned clocks, rows out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from website import Event, Site, event, event_frame, rows
from windrow.atomic.entity_columns import CLIENT_SESSION, SCREEN_VIEW
from windrow.packages.mobile import MOBILE
from windrow.packages.mobile.settings import MobileSettings

NOBODY = "00000000-0000-0000-0000-000000000000"


def app_event(
    event_id: str,
    session: str | None,
    when: str,
    name: str = "screen_view",
    *,
    screen: str | None = None,
    screen_name: str | None = None,
    device: str | None = "device",
    delay: timedelta = timedelta(0),
    **columns: Any,
) -> Event:
    """An event of a phone, collected at `when`; `screen`: the id of the screen view it is."""
    shown = {"id": screen, "name": screen_name or screen, "type": "Activity"}
    identity = {
        "session_id": session,
        "session_index": 3,
        "previous_session_id": "before",
        "user_id": device,
        "first_event_id": "FIRST",
    }
    return {
        **event(event_id, None, when, name, cookie=None, delay=delay),
        "platform": "mob",
        "domain_sessionidx": None,
        "page_url": None,
        CLIENT_SESSION.name: [dict.fromkeys(CLIENT_SESSION.fields) | identity],
        SCREEN_VIEW.name: {field: shown.get(field) for field in SCREEN_VIEW.fields}
        if name == "screen_view"
        else None,
        **columns,
    }


def app_events_this_run(
    spark: SparkSession, events: Iterable[Event], settings: MobileSettings
) -> DataFrame:
    """The events as the models of a run get them."""
    foundation = MOBILE.foundation(settings)
    identified = foundation.identified(event_frame(spark, events)).withColumns(foundation.adds())
    return identified.withColumns(foundation.adds_in_session()).localCheckpoint()


class App(Site):
    """A project with the mobile package over events that arrive as the test goes on."""

    package = "mobile"


def app_contents(app: App) -> dict[str, list[tuple[Any, ...]]]:
    """Every table, but not when each row was made: what any split into runs must agree on."""
    models = [member.name for member in app.workspace.models]
    found = {name: rows(app.table(name).drop("model_tstamp")) for name in (*models, "lifecycle")}
    assert any(found[name] for name in models)
    return found
