"""Models in SQL: what a header says, which tables a query names, what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from temp_views import temp_views
from windrow import ConfigError
from windrow.models.graph import in_order
from windrow.models.model import Model, Stored
from windrow.models.sql_models import load_sql_model


def written(folder: Path, text: str, name: str = "own.sql") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_tables_in_a_query_are_inputs(tmp_path: Path):
    member = load_sql_model(
        written(
            tmp_path,
            """
            -- key: a, b
            -- date: day
            -- tags: nightly
            -- a remark that says nothing about the model
            with recent as (select * from page_views_this_run)
            select * from recent
            join derived.snowplow_web_sessions s using (domain_sessionid)
            join snowplow_web_base_events_this_run e on true
            join base_sessions_this_run on true
            join other_catalog.somewhere.else_ on true
            """,
        )
    )
    assert (member.name, member.kind, member.key) == ("own", "incremental", ("a", "b"))
    assert (member.date, member.tags) == ("day", ("nightly",))
    assert member.inputs == {
        "page_views_this_run": "page_views",
        "snowplow_web_sessions": Stored("snowplow_web_sessions", or_outside=True),
        "snowplow_web_base_events_this_run": "events",
        "base_sessions_this_run": "sessions_this_run",
    }


def test_a_misspelt_table_is_refused_and_one_with_a_schema_is_not(tmp_path: Path):
    views = Model("page_views", lambda: None, key=("page_view_id",), prefix="snowplow_web_")
    for wrong, meant in {
        "page_viewz": "page_views",
        "snowplow_web_pageviews": "snowplow_web_page_views",
        "PAGE_VIEWS": "page_views",
        "event": "events",
    }.items():
        own = load_sql_model(written(tmp_path, f"select * from {wrong}"))
        with pytest.raises(ConfigError, match=f"'own' reads '{wrong}'.*Did you mean '{meant}'"):
            in_order([views, own])
    for outside in ("prices", "lake.page_viewz", "derived.page_viewz"):
        own = load_sql_model(written(tmp_path, f"select * from {outside}"))
        assert in_order([views, own])[-1].inputs == {}


def test_without_a_key_a_table_is_rebuilt(tmp_path: Path):
    assert load_sql_model(written(tmp_path, "select 1 as one")).kind == "rebuilt"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- kee: a\nselect 1", "'kee' says nothing about a model. Did you mean 'key'"),
        ("-- kind: sometimes\nselect 1", "kind is 'sometimes'"),
        ("-- kind: incremental\nselect 1", "needs a key"),
        ("-- kind: rebuilt\n-- replaces: a\nselect 1 as a", "'own' .*Leave out replaces"),
        ("select from where", "is not SQL"),
        ("drop table x", "expected one SELECT"),
        ("select 1; select 2", "expected one SELECT"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str):
    with pytest.raises(ConfigError, match=message):
        load_sql_model(written(tmp_path, text))


def test_the_query_sees_its_inputs_under_the_names_it_uses(spark: SparkSession, tmp_path: Path):
    text = """
        -- key: id
        select events.id, `page_views_this_run`.page, 'events' as word -- events
        from events join page_views_this_run using (id)
        where exists (select 1 from events as again where again.id = events.id)
    """
    member = load_sql_model(written(tmp_path, text))
    frames = {
        "events": spark.sql("select * from values (1), (2) as t(id)"),
        "page_views_this_run": spark.sql("select 2 as id, 'home' as page"),
    }
    assert [tuple(row) for row in member(**frames).collect()] == [(2, "home", "events")]
    assert not [name for name in temp_views(spark) if name.startswith("windrow_")]
