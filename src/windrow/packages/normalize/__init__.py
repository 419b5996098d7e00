"""normalize: a table per event type, as a configuration asks for, and users and their routes.

It has no sessions: a run takes in the events of its window, each once, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from windrow.models.foundation import Foundation
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages.normalize.event_table import event_table
from windrow.packages.normalize.filtered_events import filtered_events
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.stored_columns import reshape
from windrow.packages.normalize.tables import check_columns, event_tables, users_table
from windrow.packages.normalize.users import users

__all__ = ["NORMALIZE"]


def _models(settings: NormalizeSettings) -> Sequence[Model]:
    check_columns(settings, {})
    tables = event_tables(settings)
    filtered = settings.config.filtered_events_table_name
    of_users = users_table(settings)
    return [
        *(event_table(table) for table in tables),
        *([filtered_events(filtered, tables)] if filtered else []),
        *([users(of_users)] if of_users else []),
    ]


def _foundation(settings: NormalizeSettings) -> Foundation:
    return Foundation(
        has_sessions=False, has_quarantine=False, reshapes=partial(reshape, settings=settings)
    )


NORMALIZE = Package(
    "normalize", NormalizeSettings, _models, foundation=_foundation, has_prefixed_tables=False
)
