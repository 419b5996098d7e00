"""What the driver holds is written down, place by place: nothing in it grows with events.

Whoever adds a `collect`, or sends a frame to every executor, says here what bounds it. The words
are those of docs/scale.md.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "windrow"
PAGE = ROOT / "docs" / "scale.md"

ASKS = {
    *("collect", "toPandas", "toLocalIterator", "toArrow", "head", "tail", "isEmpty"),
    *("foreach", "foreachPartition", "collectAsMap"),
}
"""What brings rows, or an answer, to the driver."""
ASKS_WITHOUT_ARGUMENTS = {"count", "first", "take"}
KEEPS = {"persist", "cache", "localCheckpoint", "checkpoint", "observe"}
OF_FUNCTIONS = {"broadcast", "collect_set", "collect_list"}

# What bounds it; the page has a row for each.
ANSWER = "one answer"
DAYS = "days"
HOURS = "hours"
PROJECT = "the project"
COMMITS = "kept versions"
FILES = "new files"
NAMES = "names of events"
SHOWN = "what is shown"
ASKED = "what was asked for"
SENT = "keys that are sent"
LISTS = "lists"
GROUP = "one group"
EXECUTORS = "executors"

KNOWN = {
    "atomic/arrivals/__init__.py _provider": {"collect": PROJECT},
    "atomic/arrivals/delta.py DeltaHistory._added": {"collect": FILES, "collect_list": FILES},
    "atomic/arrivals/delta.py DeltaHistory._sql": {"collect": ANSWER},
    "atomic/arrivals/iceberg.py IcebergHistory._collected": {"collect": COMMITS},
    "atomic/arrivals/loads.py LoadTimes.version": {"collect": ANSWER},
    "atomic/enriched.py refuse_other_files": {"count": ANSWER, "collect": ANSWER},
    "atomic/source.py check_readable": {"collect": ANSWER},
    "cli/projects.py generate": {"count": ANSWER},
    "cli/rounds.py _is_lost": {"count": ANSWER},
    "columns/distinct.py count_different": {"collect_set": GROUP},
    "demo/app_answers.py app_answers": {"collect": SHOWN},
    "demo/project.py _channels": {"collect": SHOWN},
    "demo/project.py _table_rows": {"count": ANSWER},
    "demo/project.py _top_pages": {"collect": SHOWN},
    "demo/project.py finish": {"count": ANSWER},
    "demo/project.py generate_events": {"collect": ANSWER},
    "engine/check_rows.py _counted": {"collect": PROJECT},
    "engine/check_rows.py _sample": {"collect": SHOWN},
    "engine/check_rows.py _without_parent": {"isEmpty": ANSWER},
    "engine/checking.py _kept": {"persist": EXECUTORS},
    "engine/destination.py prepare": {"isEmpty": ANSWER},
    "engine/holding.py look": {"collect_together": PROJECT},
    "engine/inputs.py Inputs._stored_users": {"collect_set": DAYS},
    "engine/intake/along.py sessions_along": {"collect_set": DAYS},
    "engine/intake/along.py users_made_anew": {"isEmpty": ANSWER},
    "engine/intake/copies.py copies_in_other_sessions": {"collect_list": GROUP},
    "engine/intake/copies.py has_any": {"isEmpty": ANSWER},
    "engine/intake/copies.py in_one_partition": {"coalesce": EXECUTORS},
    "engine/intake/gather.py _copies_elsewhere": {"isEmpty": ANSWER},
    "engine/intake/gather.py _seen_sessions": {"collect_set": GROUP},
    "engine/intake/gather.py _totals": {"collect_set": DAYS},
    "engine/intake/record.py _add_to_quarantine": {"count": ANSWER, "coalesce": EXECUTORS},
    "engine/intake/sessions.py _is_replay": {"isEmpty": ANSWER},
    "engine/intake/sessions.py _past_cap": {"count": ANSWER},
    "engine/intake/sessions.py find_sessions": {"collect_set": DAYS},
    "engine/intake/window.py events_of_window": {
        "collect": ANSWER,
        "collect_set": NAMES,
    },
    "engine/key_days.py KeyDays._old_days": {"collect": ANSWER, "collect_set": DAYS},
    "engine/late.py _late_events": {"collect": DAYS, "count": DAYS},
    "engine/lost_state.py _has_no_session": {"isEmpty": ANSWER},
    "engine/lost_state.py newest_event": {"isEmpty": ANSWER},
    "engine/model_run.py ModelRun._settled": {"collect_set": DAYS},
    "engine/model_run.py _check_keys": {"collect": ANSWER, "count": GROUP},
    "engine/news.py look_at_times": {"collect": HOURS},
    "engine/plan.py first_usable_event": {"collect": ANSWER},
    "engine/privileges.py _try": {"count": ANSWER},
    "engine/recompute.py Recompute.check": {"collect": ANSWER},
    "engine/recompute.py _days_of": {"collect": DAYS},
    "engine/upsert.py _days_of": {"collect": DAYS},
    "engine/upsert.py _without.sent": {"broadcast": SENT},
    "engine/upsert.py look": {"collect": DAYS},
    "models/parts/users.py Summary._carried.alike": {"collect_set": GROUP},
    "operations/explain/__init__.py _days_of_arrival": {"collect": ANSWER},
    "operations/explain/__init__.py _life": {"collect": ANSWER},
    "operations/explain/__init__.py _look_into": {"isEmpty": ANSWER},
    "operations/explain/__init__.py _with_notes": {"collect_together": SHOWN},
    "operations/explain/changed_rows.py changes_in": {"collect_together": SHOWN},
    "operations/explain/found_events.py sum_up": {"collect_set": GROUP, "collect_together": SHOWN},
    "operations/explain/stored_rows.py rows_found": {"collect_together": PROJECT},
    "operations/freshness.py _newest_event": {"collect": ANSWER},
    "operations/freshness.py _pauses": {"collect": ANSWER},
    "operations/inherited.py _count": {"collect": ANSWER},
    "operations/metrics.py package_metrics": {"count": ANSWER},
    "operations/overview.py _daily_rows": {"collect_together": DAYS},
    "operations/quarantine.py _lives": {"collect_together": ASKED},
    "operations/quarantine.py _plan_alone": {"isEmpty": ANSWER},
    "operations/quarantine.py _returning": {"collect": ASKED},
    "operations/quarantine.py _those_in": {"collect": ASKED},
    "operations/quarantine.py quarantined": {"collect_together": SHOWN},
    "operations/refresh_manifests.py _count": {"count": ANSWER},
    "operations/rerun.py _refuse_missing_events": {"collect": ANSWER},
    "operations/several_packages.py _kept": {"persist": EXECUTORS},
    "operations/status.py package_status": {"count": ANSWER},
    "packages/ecommerce/sessions.py _distinct_products": {"collect_list": GROUP},
    "packages/media_player/media_totals.py _counts": {"collect_list": GROUP},
    "packages/media_player/play_parts.py event_measures": {"collect_list": GROUP},
    "packages/media_player/play_parts.py part_measures": {"collect_list": GROUP},
    "packages/media_player/reference_base.py reference_base": {"collect_list": GROUP},
    "packages/media_player/reference_media_stats.py reference_media_stats": {"broadcast": ANSWER},
    "packages/normalize/suggestion.py suggest": {"collect": SHOWN},
    "packages/web/channels.py with_source_category": {"broadcast": LISTS},
    "packages/web/consent_load_order.py rows_loaded_since": {"broadcast": ANSWER},
    "packages/web/consent_users.py _with_flag": {"broadcast": LISTS},
    "packages/web/consent_versions.py _brought_on": {"broadcast": LISTS, "collect": ANSWER},
    "packages/web/conversions.py _events_of": {"collect_list": GROUP},
    "packages/web/page_views.py page_engagement": {"collect_set": GROUP},
    "packages/web/sessions.py _event_names": {"collect_list": GROUP},
    "packages/web/sessions.py _with_names": {"broadcast": LISTS},
    "packages/web/vital_measurements.py _with_country": {"broadcast": LISTS},
    "state/covering.py _began": {"collect_together": SHOWN},
    "state/covering.py consumed_versions": {"collect": PROJECT},
    "state/manifest.py positions": {"collect_together": PROJECT},
    "state/manifest.py positions_at": {"collect_together": PROJECT},
    "state/records.py collect_together": {"collect": SHOWN},
    "state/records.py records_in": {"collect_together": SHOWN},
    "state/runs.py Runs.outcome_of": {"collect": ANSWER},
    "state/runs.py Runs.versions_at_last_success": {"collect": ANSWER},
    "tables/comparison.py compare": {"collect": SHOWN},
    "tables/delta.py DeltaTables._detail": {"collect": ANSWER},
    "tables/delta.py DeltaTables._newest": {"collect": ANSWER},
    "tables/delta.py DeltaTables._refuse_lost_rows": {"collect": COMMITS},
    "tables/delta.py DeltaTables.compact": {"collect": ANSWER},
    "tables/delta.py DeltaTables.expire": {"collect": SHOWN},
    "tables/delta.py DeltaTables.history": {"collect": COMMITS},
    "tables/file_sizes.py _by_row": {"collect": ANSWER},
    "tables/file_sizes.py iceberg_files": {"collect": ANSWER},
    "tables/frames.py kept": {"persist": EXECUTORS},
    "tables/frames.py _way_to_settle": {"checkpoint": EXECUTORS, "localCheckpoint": EXECUTORS},
    "tables/frames.py few": {"broadcast": SENT},
    "tables/iceberg.py IcebergTables._call": {"collect": ANSWER},
    "tables/iceberg.py IcebergTables._files": {"collect": ANSWER},
    "tables/iceberg.py IcebergTables.expire": {"collect": COMMITS},
    "tables/iceberg.py IcebergTables.history": {"collect": COMMITS},
    "tables/iceberg.py IcebergTables.layout": {"collect": PROJECT},
    "tables/iceberg.py IcebergTables.versions": {"collect": PROJECT},
    "tables/observed.py Observed.figures": {"collect": ANSWER},
    "tables/observed.py Observed.over": {"observe": ANSWER},
    "tables/sql_tables.py SqlTables.names_in_catalog": {"collect": PROJECT},
    "tables/sql_tables.py SqlTables.properties": {"collect": PROJECT},
    "tables/sql_tables.py SqlTables.update": {"collect": ANSWER},
}
"""Module and function -> what it asks of Spark, and what bounds that."""


def asked_for(call: ast.Call) -> str | None:
    """What a call brings to the driver, or keeps; None: nothing."""
    match call.func:
        case ast.Name(id="collect_together"):
            return "collect_together"
        case ast.Attribute(value=ast.Name(id="F"), attr=name):
            return name if name in OF_FUNCTIONS else None
        case ast.Attribute(value=ast.Name(id="gc")):
            return None
        case ast.Attribute(attr="coalesce") if len(call.args) == 1:
            return "coalesce" if isinstance(call.args[0], ast.Constant) else None
        case ast.Attribute(attr=name):
            is_plain = name in ASKS_WITHOUT_ARGUMENTS and not call.args and not call.keywords
            return name if name in ASKS | KEEPS or is_plain else None
    return None


def places_in(node: ast.AST, names: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Function and what it asks for, of all calls below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from places_in(child, (*names, child.name))
            continue
        if isinstance(child, ast.Call) and (asked := asked_for(child)):
            yield ".".join(names), asked
        yield from places_in(child, names)


def places() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for function, asked in places_in(ast.parse(path.read_text())):
            found.setdefault(f"{path.relative_to(SOURCE)} {function}", set()).add(asked)
    return found


def test_every_place_that_brings_rows_to_the_driver_says_what_bounds_them():
    assert places() == {place: set(bounds) for place, bounds in KNOWN.items()}


def test_the_page_has_a_line_for_every_bound():
    bounds = Counter(bound for found in KNOWN.values() for bound in found.values())
    listed = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if "|" in line]
    assert {bound for bound in bounds if listed.count(bound) != 1} == set()


OVER_ALL_ROWS = {"packages/web/consent_versions.py"}
"""Of the versions of a consent text, of which there are a handful."""


def has_window_over_all_rows(tree: ast.AST) -> bool:
    """Whether a window begins with something else than what tells its groups apart."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="W"), attr="orderBy" | "rowsBetween"):
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="W"), attr="partitionBy"),
                args=[] | [ast.Call(func=ast.Attribute(attr="lit"))],
            ):
                return True
    return False


def test_no_window_puts_all_rows_into_one_task():
    modules = {path: ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}
    found = {
        str(p.relative_to(SOURCE)) for p, it in modules.items() if has_window_over_all_rows(it)
    }
    assert found == OVER_ALL_ROWS
    assert has_window_over_all_rows(ast.parse("F.rank().over(W.orderBy('id'))"))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("rows.toPandas()", "toPandas"),
        ("rows.groupBy('day').count()", "count"),
        ("rows.count()", "count"),
        ("words.count(3, 'row')", None),
        ("rows.coalesce(1)", "coalesce"),
        ("F.coalesce(a, b)", None),
        ("F.broadcast(rows)", "broadcast"),
        ("gc.collect()", None),
    ],
)
def test_a_new_one_is_noticed(text: str, asked: str | None):
    tree = ast.parse(f"def f():\n    return {text}")
    assert [it for _, it in places_in(tree)] == ([] if asked is None else [asked])
