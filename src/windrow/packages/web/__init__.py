"""web: page views, sessions, users and the user mapping of websites."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES, WEB_PAGE, WEB_VITALS
from windrow.atomic.fields import page_view_id
from windrow.models.foundation import Foundation
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.models.parts.people import is_human
from windrow.packages.web.consent_cmp_stats import consent_cmp_stats
from windrow.packages.web.consent_log import consent_log
from windrow.packages.web.consent_scope_status import consent_scope_status
from windrow.packages.web.consent_totals import consent_totals
from windrow.packages.web.consent_users import consent_users
from windrow.packages.web.consent_versions import consent_versions
from windrow.packages.web.enrichments import ENRICHMENTS
from windrow.packages.web.hooks import HOOKS
from windrow.packages.web.page_views import page_views
from windrow.packages.web.sessions import is_page_event, sessions
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.user_mapping import user_mapping
from windrow.packages.web.users import users
from windrow.packages.web.vital_measurements import vital_measurements
from windrow.packages.web.vitals import vitals

__all__ = ["WEB"]


_CONSENT = (
    consent_log,
    consent_versions,
    consent_users,
    consent_totals,
    consent_scope_status,
    consent_cmp_stats,
)
_VITALS = (vitals, vital_measurements)


def _models(settings: WebSettings) -> Sequence[Model]:
    return [
        *(page_views, user_mapping, sessions, users),
        *(_CONSENT if settings.enable_consent else ()),
        *(_VITALS if settings.enable_cwv else ()),
    ]


WEB = Package(
    "web",
    WebSettings,
    _models,
    hooks=HOOKS,
    foundation=lambda settings: Foundation(
        view="page_view_id",
        reads=(WEB_PAGE.name,),
        adds=lambda: {"page_view_id": page_view_id()},
    ),
    sessions="sessions",
    filters=lambda settings, hooks: {"bot": is_human(settings, hooks)},
    # Else a page view has pings of other sessions.
    stands_alone=lambda settings: settings.limit_page_views_to_session,
    begins_row=is_page_event,
    own_sessions_table=lambda settings: settings.sessions_table,
    reference_lists=lambda settings: settings.reference,
    options_of_columns={
        **{entity.name: option for option, entity in ENRICHMENTS.items()},
        CONSENT_PREFERENCES.name: "enable_consent",
        CMP_VISIBLE.name: "enable_consent",
        WEB_VITALS.name: "enable_cwv",
    },
)
