"""The documentation site: what is done to the pages before it is built, and what is found after."""

from pathlib import Path

from build_site import write_schema
from built_links import problems
from pictures import pictures
from site_pages import expanded, lay_out, made_fit, on_site, pages_in, with_wide_lists

ROOT = Path(__file__).resolve().parents[1]


def test_links_out_of_docs_become_pages_of_the_site_or_names_of_files():
    text = "[rooms](../CONTRIBUTING.md#the-rooms), [licence](../LICENSE), [web](web.md#x)"
    assert on_site(text, "state.md") == (
        "[rooms](contributing.md#the-rooms), licence (`LICENSE`), [web](web.md#x)"
    )
    assert on_site("[web](docs/web.md)", "contributing.md") == "[web](web.md)"
    assert on_site("[o](../operating.md)", "decisions/0001.md") == "[o](../operating.md)"
    assert on_site("[gone](../docs/gone.md)", "state.md") == "[gone](gone.md)"


def test_headings_have_the_addresses_that_github_gives_them():
    text = "# `a_<b>_c`\n\n```sh\n# no heading\n```\n\n## Same\n\n## Same\n"
    assert made_fit(text, "state.md", ROOT / "docs") == (
        "# `a_<b>_c` { #a_b_c }\n\n```sh\n# no heading\n```\n\n"
        "## Same { #same }\n\n## Same { #same-1 }\n"
    )


def test_what_belongs_to_an_entry_of_a_list_stays_in_it():
    text = "1. One:\n\n   ```sh\n   ls\n   ```\n\n   more\n2. Two\n\n```yaml\n- a\n  b\n```\n"
    assert with_wide_lists(text) == (
        "1. One:\n\n    ```sh\n    ls\n    ```\n\n    more\n\n2. Two\n\n```yaml\n- a\n  b\n```\n"
    )


def test_a_page_that_nav_does_not_name_goes_to_the_pattern_that_fits_best():
    nav = [{"A": ["a.md", "*.md"]}, {"B": [{"Named": "b.md"}, "from-*.md"]}, {"C": ["c/*.md"]}]
    assert expanded(nav, ["a.md", "b.md", "c/one.md", "from-x.md", "new.md"]) == [
        {"A": ["a.md", "new.md"]},
        {"B": [{"Named": "b.md"}, "from-x.md"]},
        {"C": ["c/one.md"]},
    ]


def test_every_page_has_its_place_in_the_nav(tmp_path: Path):
    import yaml

    pages = lay_out(tmp_path / "docs")
    nav = expanded(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"], pages)
    assert sorted(pages_in(nav)) == pages


def test_what_leads_nowhere_or_is_fetched_is_found(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top"><a href="#top"><a href="b.html#there"><a href="https://elsewhere">'
        '<a href="b.html#gone"><a href="c.html"><script src="https://elsewhere/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there"><img src="no.png">')
    assert problems(tmp_path) == [
        "a.html: <a> b.html#gone",
        "a.html: <a> c.html",
        "a.html: <script> https://elsewhere/x.js",
        "b.html: <img> no.png",
    ]


def test_pictures_say_what_they_show_and_take_the_pages_colours():
    for name, svg in pictures().items():
        assert "<title" in svg, name
        assert "<desc" in svg, name
        # An empty line would end the picture where it stands in a page.
        assert "\n\n" not in svg, name
        assert "var(--wr-ink)" in svg, name


def test_the_schema_of_windrow_yml_lies_beside_the_pages(tmp_path: Path):
    import json

    from windrow.config import json_schema
    from windrow.packages import SETTINGS

    write_schema(tmp_path)
    assert json.loads((tmp_path / "windrow.schema.json").read_text()) == json_schema(SETTINGS)
