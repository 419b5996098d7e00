"""The reference lists: countries, languages and traffic sources, ours or a user's own.

    for alpha_2, name, region in countries():
        ...

Each function takes the path of a CSV with a header, which replaces our list as a whole. Ours have
the values that Snowplow's web package publishes; the files and NOTICE say so.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import yaml

from windrow.errors import ConfigError

__all__ = ["countries", "languages", "source_categories"]


def countries(path: Path | None = None) -> list[tuple[str, str, str | None]]:
    """Country code, name and region; Antarctica, for one, has no region."""
    rows = _rows(path, "countries.csv", required=("alpha_2", "name"), optional=("region",))
    return [(row["alpha_2"], row["name"], row["region"] or None) for row in rows]


def languages(path: Path | None = None) -> list[tuple[str, str]]:
    """Language tag and the name of that language."""
    rows = _rows(path, "languages.csv", required=("lang_tag", "name"))
    return [(row["lang_tag"], row["name"]) for row in rows]


def source_categories(path: Path | None = None) -> list[tuple[str, str]]:
    """Traffic source and its category, e.g. `("google", "SOURCE_CATEGORY_SEARCH")`."""
    if path is None:
        return list(_our_sources())
    rows = _rows(path, "", required=("source", "source_category"))
    return [(row["source"], row["source_category"]) for row in rows]


def _our_sources() -> Iterator[tuple[str, str]]:
    sources_by_category = yaml.safe_load(_our_text("sources.yml"))
    for category, sources in sources_by_category.items():
        for source in sources:
            yield source, f"SOURCE_CATEGORY_{category.upper()}"


def _rows(
    path: Path | None, ours: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[dict[str, str]]:
    """The named columns of every row; the first required column is the key."""
    where = f"windrow/reference/{ours}" if path is None else str(path)
    columns = (*required, *optional)
    key = required[0]
    text = _our_text(ours) if path is None else _user_text(path, columns)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)

    rows: list[dict[str, str]] = []
    line_by_key: dict[str, int] = {}
    try:
        _check_header(where, list(reader.fieldnames or ()), columns)
        for cells in reader:
            row = {column: (cells[column] or "").strip() for column in columns}
            _check_filled(where, reader.line_num, row, required)
            # The joins ignore case, so two spellings of one key would double the rows they meet.
            first_line = line_by_key.setdefault(row[key].lower(), reader.line_num)
            if first_line != reader.line_num:
                raise ConfigError(
                    f"{where}, line {reader.line_num}: {key} '{row[key]}' is already on line "
                    f"{first_line}. Expected every {key} once, ignoring case; remove one."
                )
            rows.append(row)
    except csv.Error as error:
        raise ConfigError(
            f"{where}, line {reader.line_num}: {error}. Expected comma-separated text with double "
            "quotes around a cell that holds a comma."
        ) from error
    return rows


def _our_text(name: str) -> str:
    """A list of ours, without the lines above it that tell where it comes from."""
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return re.sub(r"\A(#.*\n)*", "", text)


def _user_text(path: Path, columns: tuple[str, ...]) -> str:
    expected = f"Expected a CSV in UTF-8 with the columns {', '.join(columns)}."
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist. {expected}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. {expected}") from error


def _check_header(where: str, found: list[str], columns: tuple[str, ...]) -> None:
    for column in columns:
        if column not in found:
            raise ConfigError(
                f"{where}, line 1: no column '{column}' among {', '.join(found) or 'none'}. "
                f"Expected {', '.join(columns)}; other columns are ignored."
            )


def _check_filled(where: str, line: int, row: dict[str, str], required: tuple[str, ...]) -> None:
    for column in required:
        if not row[column]:
            raise ConfigError(
                f"{where}, line {line}: {column} is empty. Expected a value in {column} on every "
                "line; fill it in or remove the line."
            )
