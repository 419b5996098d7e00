"""docs/state.md: the tables in which windrow remembers."""

from __future__ import annotations

from table_sections import Table, page

from windrow.engine.bad_lines import BAD_LINES
from windrow.engine.bad_lines import KEY as BAD_LINES_KEY
from windrow.engine.key_days import KEY_DAYS
from windrow.engine.quarantine import QUARANTINE_NOTES
from windrow.models.foundation import Foundation
from windrow.state.leases import Lease
from windrow.state.manifest import MANIFEST
from windrow.state.records import columns_of
from windrow.state.runs import RunRecord

INTRO = """# What windrow remembers

The tables of the manifest schema. Runs read and write them; change nothing there by hand. The first
six are there once for every package: notes on the quarantine once a session is in it, bad lines
once there are any, the days of keys after two weeks of events.

"""


def state_page() -> str:
    """The page."""
    return page(INTRO, state_tables())


def state_tables() -> list[Table]:
    """The tables in which windrow remembers."""
    return [
        Table(
            "snowplow_<package>_incremental_manifest",
            "How far every model has come.",
            "one row per model",
            ("model",),
            MANIFEST,
        ),
        Table(
            "snowplow_<package>_base_sessions_lifecycle_manifest",
            "Every session's start and end.",
            "one row per session",
            ("session_id",),
            Foundation().lifecycle,
            date="start_tstamp",
            partition=("start_tstamp_date",),
        ),
        Table(
            "snowplow_<package>_base_quarantined_sessions",
            "Sessions that take in no more events.",
            "one row per quarantined session",
            ("session_id",),
            Foundation().quarantine,
        ),
        Table(
            "snowplow_<package>_quarantine_notes",
            "Why sessions are in quarantine, since when and by whom.",
            "one row per quarantined session",
            ("session_id",),
            QUARANTINE_NOTES,
        ),
        Table(
            "snowplow_<package>_bad_lines",
            "Lines that are no events, of `events.format: enriched`.",
            "one row per file and line",
            BAD_LINES_KEY,
            BAD_LINES,
        ),
        Table(
            "snowplow_<package>_key_days",
            "On which of its old days a table may hold rows of a key.",
            "one row per table, key and day",
            ("of", "day", "key_hash"),
            KEY_DAYS,
            partition=("of",),
        ),
        Table(
            "windrow_runs",
            "The run ledger: how every run ended.",
            "one row per finished run",
            ("run_id",),
            columns_of(RunRecord),
            partition=("package",),
        ),
        Table(
            "windrow_leases",
            "Who holds each package, and what its run intends.",
            "one row per package",
            ("package",),
            columns_of(Lease),
        ),
    ]
