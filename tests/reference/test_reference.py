"""The reference lists: ours are sound, a user's own replaces them, a broken one is explained."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from importlib import resources
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from conformance.published import FIXTURES
from windrow import reference
from windrow.errors import ConfigError
from windrow.reference import countries, languages, source_categories

FACTS = FIXTURES / "web" / "source" / "reference"

Read = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        path = tmp_path / "mine.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_public_names_are_the_three_lists() -> None:
    assert reference.__all__ == ["countries", "languages", "source_categories"]


@pytest.mark.parametrize(
    ("read", "size"), [(countries, 249), (languages, 232), (source_categories, 819)]
)
def test_every_key_occurs_once_ignoring_case(read: Read, size: int) -> None:
    keys = [row[0].lower() for row in read()]
    assert len(keys) == size
    assert len(set(keys)) == size


@pytest.mark.parametrize(
    ("file", "table", "read"),
    [
        ("countries.csv", "dim_geo_country_mapping", countries),
        ("languages.csv", "dim_rfc_5646_language_mapping", languages),
        ("sources.yml", "dim_ga4_source_categories", source_categories),
    ],
)
def test_our_lists_and_the_notice_say_where_they_come_from(
    file: str, table: str, read: Read
) -> None:
    lines = resources.files(reference).joinpath(file).read_text(encoding="utf-8").splitlines()
    head = " ".join(takewhile(lambda line: line.startswith("#"), lines))
    assert table in head
    assert "Snowplow Analytics Ltd; Apache License, Version 2.0." in head
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    assert re.search(rf"^  {file} +{table}: all {len(read())} ", notice, re.MULTILINE)


def test_our_lists_are_sorted() -> None:
    assert countries() == sorted(countries(), key=lambda row: row[0])
    assert languages() == sorted(languages())
    assert source_categories() == sorted(
        source_categories(), key=lambda row: (row[1], row[0].lower())
    )


def test_regions_are_the_five_of_the_un_and_none_for_antarctica() -> None:
    regions = {region for _, _, region in countries()}
    assert regions == {"Africa", "Americas", "Asia", "Europe", "Oceania", None}
    assert [code for code, _, region in countries() if region is None] == ["AQ"]


def test_na_is_namibia() -> None:
    assert ("NA", "Namibia", "Africa") in countries()


def test_categories_are_the_four_that_channel_groups_ask_for() -> None:
    assert {category for _, category in source_categories()} == {
        "SOURCE_CATEGORY_SEARCH",
        "SOURCE_CATEGORY_SHOPPING",
        "SOURCE_CATEGORY_SOCIAL",
        "SOURCE_CATEGORY_VIDEO",
    }
    assert ("google", "SOURCE_CATEGORY_SEARCH") in source_categories()


def test_users_countries_replace_ours(write: Callable[[str], Path]) -> None:
    path = write('name,alpha_3,alpha_2,region\n"Korea, South",KOR,KR,\nNamibia,NAM,NA,Africa\n')
    assert countries(path) == [("KR", "Korea, South", None), ("NA", "Namibia", "Africa")]


def test_users_languages_replace_ours(write: Callable[[str], Path]) -> None:
    assert languages(write("lang_tag,name\nnb,Bokmål\n")) == [("nb", "Bokmål")]


def test_users_sources_replace_ours(write: Callable[[str], Path]) -> None:
    path = write("source,source_category\nacme,SOURCE_CATEGORY_SHOPPING\n")
    assert source_categories(path) == [("acme", "SOURCE_CATEGORY_SHOPPING")]


def test_file_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbflang_tag,name\r\nde, German \r\n\r\n")
    assert languages(path) == [("de", "German")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column 'lang_tag' among none. Expected lang_tag, name"),
        ("tag,name\nde,German\n", "line 1: no column 'lang_tag' among tag, name."),
        ("lang_tag,name\nde,German\nDE,Deutsch\n", "line 3: lang_tag 'DE' is already on line 2."),
        ("lang_tag,name\nde\n", "line 2: name is empty."),
        ("lang_tag,name\n,German\n", "line 2: lang_tag is empty."),
        ('lang_tag,name\nde,"German\n', "Expected comma-separated text"),
    ],
)
def test_broken_file_is_named_with_its_line(
    write: Callable[[str], Path], text: str, message: str
) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        languages(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert message in str(caught.value)


@pytest.mark.parametrize("read", [countries, languages, source_categories])
def test_missing_file_is_named_with_the_columns_it_needs(read: Read, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.csv does not exist\. Expected a CSV in UTF-8"):
        read(tmp_path / "nowhere.csv")


def test_folder_or_other_encoding_is_an_error_of_ours(tmp_path: Path) -> None:
    latin = tmp_path / "latin.csv"
    latin.write_bytes("lang_tag,name\nnb,Bokmål\n".encode("latin-1"))
    for path in (tmp_path, latin):
        with pytest.raises(ConfigError, match="cannot be read"):
            languages(path)


@pytest.mark.conformance
@pytest.mark.parametrize(
    ("read", "facts"),
    [
        (countries, "dim_geo_country_mapping.csv"),
        (languages, "dim_rfc_5646_language_mapping.csv"),
        (source_categories, "dim_ga4_source_categories.csv"),
    ],
)
def test_our_list_has_the_values_of_the_earlier_table(read: Read, facts: str) -> None:
    with (FACTS / facts).open(encoding="utf-8", newline="") as file:
        size = sum(1 for _ in csv.DictReader(file))
    assert len(read()) == size
    # One letter of the earlier languages was damaged on its way; ours has it mended.
    earlier = {
        tuple(cell and cell.replace("Bokm?l", "Bokmål") for cell in row)
        for row in read(FACTS / facts)
    }
    assert set(read()) == earlier
