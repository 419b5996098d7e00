"""windrow ls: the models, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Windrow


def test_ls_lists_the_models_in_the_order_in_which_they_run(windrow: Windrow, shop: Path) -> None:
    (package,) = windrow("ls", "--json").document["packages"]
    names = [member["name"] for member in package["models"]]
    assert set(names) >= {"page_views", "sessions", "users", "daily_pages"}
    assert names.index("page_views") < names.index("daily_pages")
    assert names.index("sessions") < names.index("users")


@pytest.mark.usefixtures("no_spark")
def test_ls_starts_no_spark(windrow: Windrow, shop: Path) -> None:
    assert windrow("ls").exit_code == 0


def test_ls_takes_a_selection(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--select", "tag:daily", "--json")
    assert [m["name"] for m in outcome.document["packages"][0]["models"]] == ["daily_pages"]


def test_several_selections_are_joined(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--select", "users", "--select", "daily_pages", "--json")
    names = {member["name"] for member in outcome.document["packages"][0]["models"]}
    assert names == {"users", "daily_pages"}


def test_ls_leaves_out_what_is_excluded(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--exclude", "users", "--json")
    assert "users" not in {m["name"] for m in outcome.document["packages"][0]["models"]}


def test_an_unknown_model_gets_a_suggestion_and_exit_code_2(windrow: Windrow, shop: Path) -> None:
    outcome = windrow("ls", "--select", "page_viws")
    assert outcome.exit_code == 2
    assert outcome.err == "Error: No model matches 'page_viws'. Did you mean 'page_views'?\n"


def test_ls_reads_the_project_that_project_dir_names(
    windrow: Windrow, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert windrow("ls").exit_code == 2
    assert windrow("ls", "--project-dir", "shop").exit_code == 0


def test_ls_text_names_kind_key_and_inputs(windrow: Windrow, shop: Path) -> None:
    lines = windrow("ls", "--select", "daily_pages").out.splitlines()
    assert lines[-1].split() == [
        *("daily_pages", "web", "incremental", "page_date,", "page_urlpath"),
        *("page_views", "(stored)", "daily"),
    ]
