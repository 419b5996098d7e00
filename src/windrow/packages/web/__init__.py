"""web: page views, sessions, users and the user mapping of websites."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.config import WebSettings
from windrow.event_columns import WEB_PAGE
from windrow.model import Model, Package
from windrow.packages.web.enrichments import ENRICHMENTS
from windrow.packages.web.page_views import page_views
from windrow.packages.web.sessions import sessions
from windrow.packages.web.user_mapping import user_mapping
from windrow.packages.web.users import users

__all__ = ["WEB"]


def _models(settings: WebSettings) -> Sequence[Model]:
    return [page_views, user_mapping, sessions, users]


WEB = Package(
    name="web",
    models=_models,
    hooks={
        "filter_bots": "which user agents are kept",
        "content_group": "the content group of a page view",
        "channel_group": "the default channel group of a page view or session",
        "engaged_session": "whether a session is engaged",
        "stitch_user_identifiers": "the stitched user id of a session",
        "quarantine_sessions": "which sessions take in no more events",
        "cluster_by": "the columns by which a table is laid out",
        "allow_refresh": "whether protected tables may be rebuilt",
    },
    reads=(WEB_PAGE.name,),
    options_of_columns={entity.name: option for option, entity in ENRICHMENTS.items()},
)
