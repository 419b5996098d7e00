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
        *("page_views", "(stored)", "daily,", "snowplow_web_incremental"),
    ]


@pytest.mark.parametrize("option", ["--select", "-s", "--models", "-m", "--m"])
def test_one_select_takes_several_words(windrow: Windrow, shop: Path, option: str) -> None:
    outcome = windrow("ls", option, "users", "snowplow_web.page_views", "--output", "name")
    assert outcome.out.splitlines() == ["snowplow_web_page_views", "snowplow_web_users"]


def test_ls_lists_names_paths_and_json(windrow: Windrow, shop: Path) -> None:
    def listed(output: str) -> str:
        return windrow("ls", "-m", "users", "daily_pages", "--output", output).out

    assert set(listed("name").splitlines()) == {"snowplow_web_users", "daily_pages"}
    assert set(listed("path").splitlines()) == {
        "windrow/packages/web/users.py",
        "models/daily_pages.py",
    }
    assert listed("json") == windrow("ls", "-m", "users", "daily_pages", "--json").out


def test_the_tag_of_the_sql_package_means_all_models_of_its_manifest(
    windrow: Windrow, shop: Path
) -> None:
    every = windrow("ls", "--output", "name").out
    assert windrow("ls", "-s", "tag:snowplow_web_incremental", "--output", "name").out == every


def test_what_ls_lists_goes_into_models_to_run(windrow: Windrow, shop: Path) -> None:
    listed = windrow("ls", "--m", "+snowplow_web.users", "--output", "name").out.strip()
    again = windrow("ls", "--vars", f"{{'models_to_run': '{listed}'}}", "--select", "users")
    assert "\n" in listed
    assert again.exit_code == 0
