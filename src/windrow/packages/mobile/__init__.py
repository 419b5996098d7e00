"""mobile: screen views, sessions, users, the user mapping and the errors of applications.

Differences from the web package: the session and the device's id come from the client-session
entity, events keep their own device id, and no session is quarantined unless `quarantine` is on.
The end of a session is capped either way.
"""

from __future__ import annotations

from collections.abc import Sequence

from windrow.atomic.entity_columns import APPLICATION_ERROR, CLIENT_SESSION, SCREEN_VIEW
from windrow.config import of_entity
from windrow.models.foundation import Foundation, Identifier
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages.mobile.app_errors import app_errors
from windrow.packages.mobile.event_fields import (
    CONTEXTS,
    added_fields,
    entities,
    fields_in_session,
)
from windrow.packages.mobile.hooks import HOOKS
from windrow.packages.mobile.screen_views import screen_views
from windrow.packages.mobile.sessions import sessions
from windrow.packages.mobile.settings import MobileSettings
from windrow.packages.mobile.user_mapping import user_mapping
from windrow.packages.mobile.users import users

__all__ = ["MOBILE"]


def _models(settings: MobileSettings) -> Sequence[Model]:
    return [
        *((app_errors,) if settings.enable_app_errors_module else ()),
        *(screen_views, user_mapping, sessions, users),
    ]


def _foundation(settings: MobileSettings) -> Foundation:
    return Foundation(
        session="session_id",
        user="device_user_id",
        view="screen_view_id",
        session_from=Identifier((of_entity(CLIENT_SESSION.name, "session_id"),)),
        user_from=Identifier((of_entity(CLIENT_SESSION.name, "user_id"),)),
        recorded_user="device_user_id",
        has_quarantine=settings.quarantine,
        has_one_user_per_session=False,
        platforms=settings.platform,
        reads=tuple(entity.name for entity in entities(settings)),
        may_lack=(SCREEN_VIEW.name,),
        adds=lambda: added_fields(settings),
        adds_in_session=fields_in_session,
    )


MOBILE = Package(
    "mobile",
    MobileSettings,
    _models,
    hooks=HOOKS,
    foundation=_foundation,
    sessions="sessions",
    own_sessions_table=lambda settings: settings.sessions_table,
    options_of_columns={
        **{entity.name: option for option, (entity, _) in CONTEXTS.items()},
        APPLICATION_ERROR.name: "enable_app_errors_module",
    },
)
