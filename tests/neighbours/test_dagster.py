"""The assets, materialized by a real Dagster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from neighbours.shops import example, make_shop, windrow
from windrow.neighbours.dagster import windrow_assets

pytestmark = pytest.mark.neighbours

VIEWS, PAGES = dg.AssetKey("snowplow_web_page_views"), dg.AssetKey("pages")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("dagster") / "shop")


@pytest.fixture(scope="module")
def definitions(shop: Path) -> Any:
    """Those of the page's example."""
    text = example("windrow_assets", shop)
    assert '["/srv/venv/bin/windrow"]' in text
    names: dict[str, Any] = {}
    exec(text.replace('["/srv/venv/bin/windrow"]', repr(windrow())), names)
    return names["defs"]


def test_tables_are_assets_with_what_they_are_made_from(definitions: Any):
    graph = definitions.resolve_asset_graph()
    assert set(graph.materializable_asset_keys) == {VIEWS, PAGES}
    assert graph.get(PAGES).parent_keys == {VIEWS}
    assert graph.get(VIEWS).parent_keys == {dg.AssetKey("events")}
    columns = graph.get(VIEWS).metadata["dagster/column_schema"].columns
    assert ("page_view_id", "string") in {(it.name, it.type) for it in columns}
    assert definitions.resolve_job_def("hourly") is not None


def test_a_part_is_one_run_of_that_part_and_tells_what_it_did(definitions: Any, shop: Path):
    done = dg.materialize(list(definitions.assets), selection=[VIEWS])
    assert done.success
    (made,) = done.get_asset_materialization_events()
    assert made.asset_key == VIEWS
    told = {name: it.value for name, it in made.materialization.metadata.items()}
    assert told.keys() == {"rows", "seconds", "window_from", "window_to", "run_id"}
    assert told["rows"] == 3
    assert told["window_from"] == "2024-01-01T00:00:00.000000Z"
    assert (shop / "warehouse" / "derived" / "snowplow_web_page_views").is_dir()
    assert not (shop / "warehouse" / "derived" / "pages").exists()


ENDINGS = """
import json, sys
models = [
    {"name": "snowplow_web_page_views", "outcome": "succeeded", "rows": 3, "error": None},
    {"name": "pages", "outcome": "failed", "rows": None, "error": "no cheese"},
]
models = [{"seconds": 1, **it} for it in models]
run = {"outcome": "failed", "models": models, "checks": [], "nothing_because": None, "run_id": "r",
       "lower_limit": "a", "upper_limit": "b", "catch_up": None}
runs = {"packages": [{"package": "web", "runs": [run], "error": None}]}
code = int(sys.argv[1])
print(json.dumps(runs if code == 1 else {"error": {"message": "refused"}}))
sys.exit(code)
"""


def materialized(shop: Path, code: int) -> Any:
    """What comes of a command that ends with this code, with retries."""
    command = [sys.executable, "-c", ENDINGS, str(code)]
    policy = dg.RetryPolicy(max_retries=1)
    assets = windrow_assets(str(shop), command=command, retry_policy=policy)
    return dg.materialize(assets, raise_on_error=False)


def test_a_model_that_fails_leaves_the_others_materialized_and_is_tried_again(shop: Path):
    done = materialized(shop, 1)
    assert not done.success
    assert VIEWS in {it.asset_key for it in done.get_asset_materialization_events()}
    assert PAGES not in {it.asset_key for it in done.get_asset_materialization_events()}
    assert len([it for it in done.all_events if it.is_step_restarted]) == 1


def test_what_no_retry_can_help_is_not_tried_again(shop: Path):
    done = materialized(shop, 4)
    assert not done.success
    assert [it for it in done.all_events if it.is_step_restarted] == []
