# /// script
# dependencies = ["pycountry==26.2.16", "country_converter==1.3.2", "babel==2.18.0"]
# ///
"""Rebuild countries.csv and languages.csv of windrow.reference from public libraries.

    uv run tools/reference/build.py            # write both; `git diff` shows what changed
    uv run tools/reference/build.py --check    # write nothing; exit 1 when a file would change

countries   codes and names from pycountry (ISO 3166-1), regions from country_converter (UN M49).
languages   names composed from CLDR (babel). Which tags are listed is the earlier table's choice,
            kept by hand as the first column of languages.csv; a few name no registered language
            or country, or the wrong one (en-CB, ns, sr-SP, ps-AR).
sources     sources.yml is kept by hand; no library here has that list. Its values were taken from
            the earlier table, not from Google's own page. This script leaves it alone.

Users compare these names with the tables they had before, so where a library's name differs from
the earlier one, the earlier one stands in a table below. Delete an entry to take the library's.
"""

from __future__ import annotations

import csv
import io
import sys
from importlib import resources
from pathlib import Path

import pycountry
from babel import Locale

FOLDER = Path(__file__).parents[2] / "src/windrow/reference"

# The ISO name, where pycountry inverts or shortens it; Turkey as before its renaming in 2022.
COUNTRY_NAMES = {
    "BO": "Bolivia (Plurinational State of)",
    "CD": "Congo, Democratic Republic of the",
    "FM": "Micronesia (Federated States of)",
    "GB": "United Kingdom of Great Britain and Northern Ireland",
    "IR": "Iran (Islamic Republic of)",
    "KP": "Korea (Democratic People's Republic of)",
    "TR": "Turkey",
    "US": "United States of America",
    "VA": "Holy See",
    "VE": "Venezuela (Bolivarian Republic of)",
    "VG": "Virgin Islands (British)",
    "VI": "Virgin Islands (U.S.)",
}

# country_converter's continents differ from the regions of UN M49 for these.
REGIONS = {"AQ": "", "BV": "Americas", "GS": "Americas"} | dict.fromkeys(
    ("CC", "CX", "HM"), "Oceania"
)

LANGUAGE_NAMES = {
    "az": "Azeri",
    "fa": "Farsi",
    "mi": "Maori",
    "mk": "FYRO Macedonian",
    "nb": "Norwegian (Bokmål)",  # the facts hold a damaged letter here
    "nn": "Norwegian (Nynorsk)",
    "ns": "Northern Sotho",
    "se": "Sami",
}
LATIN_UNLESS_SAID = {"az", "sr", "uz"}
TERRITORY_NAMES = {
    "AE": "U.A.E.",
    "BA": "Bosnia and Herzegovina",
    "BN": "Brunei Darussalam",
    "CB": "Caribbean",
    "CZ": "Czech Republic",
    "HK": "Hong Kong",
    "KR": "Korea",
    "MC": "Principality of Monaco",
    "MK": "Former Yugoslav Republic of Macedonia",
    "MO": "Macau",
    "PK": "Islamic Republic of Pakistan",
    "SP": "Serbia and Montenegro",
    "TR": "Turkey",
    "TT": "Trinidad and Tobago",
    "VN": "Viet Nam",
}
TAG_NAMES = {
    "en-PH": "English (Republic of the Philippines)",
    "ps-AR": "Pashto (Afghanistan)",
    "zh-CN": "Chinese (S)",
    "zh-TW": "Chinese (T)",
}


def countries() -> list[tuple[str, ...]]:
    """Code, name and region of every ISO 3166-1 country, by code."""
    table = resources.files("country_converter").joinpath("country_data.tsv")
    lines = table.read_text(encoding="utf-8").splitlines()
    # By alpha-3: the alpha-2 column holds patterns for the United Kingdom and Greece.
    continents = {row["ISO3"]: row["continent"] for row in csv.DictReader(lines, delimiter="\t")}

    rows = []
    for country in pycountry.countries:
        code = country.alpha_2
        continent = continents[country.alpha_3].replace("America", "Americas")
        rows.append((code, COUNTRY_NAMES.get(code, country.name), REGIONS.get(code, continent)))
    return sorted(rows)


def languages(tags: list[str]) -> list[tuple[str, ...]]:
    """Tag and name of each tag, by tag."""
    return [(tag, TAG_NAMES.get(tag) or language_name(tag)) for tag in sorted(tags)]


def language_name(tag: str) -> str:
    """`uz-Cyrl-UZ` is `Uzbek (Cyrillic) (Uzbekistan)`."""
    english = Locale("en")
    language, *rest = tag.split("-")
    parts = [LANGUAGE_NAMES.get(language) or english.languages[language]]
    if language in LATIN_UNLESS_SAID and "Cyrl" not in rest:
        parts.append("(Latin)")
    for part in rest:
        name = TERRITORY_NAMES.get(part) or english.territories.get(part) or english.scripts[part]
        parts.append(f"({name})")
    return " ".join(parts)


def as_csv(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The rows as the text of one of our files."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def main(check: bool) -> int:
    """Write both files, or only say which would change."""
    old_languages = (FOLDER / "languages.csv").read_text(encoding="utf-8").splitlines()
    tags = [row["lang_tag"] for row in csv.DictReader(old_languages)]
    built = {
        "countries.csv": as_csv(("alpha_2", "name", "region"), countries()),
        "languages.csv": as_csv(("lang_tag", "name"), languages(tags)),
    }

    changed = []
    for name, text in built.items():
        file = FOLDER / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            changed.append(name)
            if not check:
                file.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"changed: {', '.join(changed) or 'nothing'}\n")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
