"""users: what is the first visit's, what the last one's, and what all add up to."""

from __future__ import annotations

from pyspark.sql import SparkSession

from website import at, rows
from windrow.models.parts.users import Visits
from windrow.packages.web.session_columns import columns
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.users import users
from windrow.tables.frames import frame_of


def test_a_user_has_the_ids_of_the_first_session(spark: SparkSession) -> None:
    first = {
        **{"domain_sessionid": "a", "domain_userid": "cookie", "network_userid": "n1"},
        **{"start_tstamp": "2024-01-01 10:00:00", "end_tstamp": "2024-01-01 10:05:00"},
        **{"page_views": 3, "engaged_time_in_s": 10},
    }
    last = {
        **first,
        **{"domain_sessionid": "b", "user_id": "anna", "network_userid": "n2"},
        **{"start_tstamp": "2024-01-02 10:00:00", "end_tstamp": "2024-01-02 10:05:00"},
    }
    declared = columns(WebSettings())
    stored = [[it.get(name) for name in declared] for it in (first, last)]
    sessions = frame_of(spark, stored, declared)
    found = users(Visits(sessions, None, lambda _: sessions), at("2024-01-03 00:00"))
    names = ("domain_userid", "user_id", "network_userid", "sessions", "page_views")
    assert rows(found.select(*names)) == [("cookie", None, "n1", 2, 6)]
