"""What the key of a SQL model is made of, worked out from its query."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from windrow.models.model import KeySource
from windrow.models.sql_keys import key_source


def of(text: str, *key: str) -> KeySource:
    query = sqlglot.parse_one(text, dialect="spark")
    assert isinstance(query, exp.Query)
    return key_source(query, key, "v_this_run")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select k, count(*) from v_this_run group by k", "k"),
        ("select a as k from v_this_run", "a"),
        ("select v_this_run.a as k from v_this_run", "a"),
        ("select x.a as K from v_this_run as x", "a"),
        ("select x.a as k from v_this_run x join t on t.a = x.a", "a"),
        ("select distinct lower(trim(a)) as k from v_this_run", "LOWER(TRIM(a))"),
        ("select to_date(at) as k from v_this_run group by 1", "TO_DATE(at)"),
        ("select cast(at as date) as k from v_this_run", "CAST(at AS DATE)"),
        ("select date(at) as k from v_this_run", "CAST(at AS DATE)"),
        (
            "select case when a > 1 then 'x' else b end as k from v_this_run where a > 0",
            "CASE WHEN a > 1 THEN 'x' ELSE b END",
        ),
        ("select * from v_this_run", "k"),
    ],
)
def test_plain_expressions_over_the_input_are_found(text: str, expected: str):
    assert of(text, "k") == KeySource({"k": expected})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("with x as (select * from v_this_run) select k from x", "more than one plain SELECT"),
        ("select k from v_this_run union all select k from t", "more than one plain SELECT"),
        ("select k from (select k from v_this_run)", "more than one plain SELECT"),
        ("select k from v_this_run where k in (select k from t)", "more than one plain SELECT"),
        ("select k, sum(count(*)) over () from v_this_run group by k", "window function"),
        ("select k from v_this_run order by a limit 10", "LIMIT"),
        ("select max(a) as k from v_this_run", "'k' is no plain expression"),
        ("select uuid() as k from v_this_run", "'k' is no plain expression"),
        ("select date_diff(current_date(), a) as k from v_this_run", "'k' is no plain"),
        ("select 'all' as k from v_this_run", "'k' is no plain expression"),
        ("select explode(a) as k from v_this_run", "'k' is no plain expression"),
        ("select a from v_this_run", "'k' is no plain expression"),
        ("select k from v_this_run join t using (a)", "'k' is no plain expression"),
        ("select t.k from v_this_run join t using (a)", "'k' is no plain expression"),
    ],
)
def test_what_cannot_be_told_is_named(text: str, why: str):
    assert why in of(text, "k").unclear
