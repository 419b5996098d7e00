"""users: what is the first visit's, what the last one's, and what all add up to."""

from __future__ import annotations

from datetime import date
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from website import at, rows
from windrow.models.parts.users import Visits
from windrow.packages.web.session_columns import columns
from windrow.packages.web.settings import WebSettings
from windrow.packages.web.users import COLUMNS, users
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


DESCRIBING = {
    **{"first_page_title": "first_page_title", "first_geo_country": "geo_country"},
    **{"first_br_lang": "br_lang", "last_page_title": "last_page_title"},
    **{"last_geo_country": "last_geo_country", "last_br_lang": "last_br_lang"},
}
"""Column of users -> the column of the session that it comes from."""


def session(name: str, day: int, starts: str, ends: str, **columns: Any) -> dict[str, Any]:
    """A session of which each column tells whose it is: page `first a`, country `last a` …"""
    return {
        **{"domain_sessionid": name, "domain_userid": "cookie", "page_views": 1},
        **{
            "start_tstamp": f"2024-01-{day:02d} {starts}",
            "end_tstamp": f"2024-01-{day:02d} {ends}",
        },
        **{it: f"{it} of {name}" for it in (*DESCRIBING.values(), "referrer", "mkt_source")},
        "engaged_time_in_s": 10,
        **columns,
    }


def users_of(spark: SparkSession, *sessions: dict[str, Any]) -> dict[str, Any]:
    """User -> row."""
    declared = columns(WebSettings())
    stored = frame_of(spark, [[it.get(name) for name in declared] for it in sessions], declared)
    found = users(Visits(stored, None, lambda _: stored), at("2024-02-01 00:00"))
    assert dict(found.dtypes) == COLUMNS
    timed = found.withColumns(
        {name: F.date_format(name, "dd HH:mm") for name in ("start_tstamp", "end_tstamp")}
    )
    return {row["domain_userid"]: row for row in timed.collect()}


def test_a_user_is_described_by_the_first_visit_and_the_last(spark: SparkSession) -> None:
    found = users_of(
        spark,
        session("b", 2, "10:00:00", "10:30:00", engaged_time_in_s=None),
        # It begins later, and is over earlier.
        session("c", 2, "10:10:00", "10:20:00", page_views=5),
        session("a", 1, "10:00:00", "10:05:00", last_page_title=None, referrer=None),
        session("d", 3, "10:00:00", "10:05:00", domain_userid="other"),
    )
    assert {name: row["sessions"] for name, row in found.items()} == {"cookie": 3, "other": 1}
    row = found["cookie"]
    assert (row["start_tstamp"], row["end_tstamp"]) == ("01 10:00", "02 10:30")
    assert (row["page_views"], row["engaged_time_in_s"]) == (7, 20)
    assert {name: row[name] for name in DESCRIBING} == {
        name: f"{of} of {'a' if name.startswith('first') else 'b'}"
        for name, of in DESCRIBING.items()
    }
    # What the first session does not know is not taken from a later one.
    assert (row["referrer"], row["mkt_source"]) == (None, "mkt_source of a")
    assert row["start_tstamp_date"] == date(2024, 1, 1)


def test_of_sessions_at_the_same_time_the_greater_id_describes_the_user(
    spark: SparkSession,
) -> None:
    found = users_of(
        spark,
        session("a", 1, "10:00:00", "10:30:00"),
        session("c", 1, "10:00:00", "10:20:00"),
        session("b", 1, "10:00:00", "10:30:00"),
    )
    row = found["cookie"]
    assert (row["first_page_title"], row["mkt_source"]) == (
        *("first_page_title of c", "mkt_source of c"),
    )
    assert (row["last_page_title"], row["sessions"]) == ("last_page_title of b", 3)
