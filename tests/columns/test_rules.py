"""Column types that carry a rule: plain text to everything but the documentation."""

from __future__ import annotations

import copy
import json
import pickle

from windrow import column
from windrow.columns.rules import rule_of, with_note

TITLE = column("string", "Title of the page.")


def test_a_type_with_a_rule_is_the_type():
    assert TITLE == "string"
    assert {"page_title": TITLE} == {"page_title": "string"}
    assert f"page_title {TITLE}" == "page_title string"
    assert json.dumps(TITLE) == '"string"'


def test_the_rule_stays_with_the_type():
    assert rule_of(TITLE) == "Title of the page."
    assert rule_of(copy.deepcopy(TITLE)) == "Title of the page."
    assert rule_of(pickle.loads(pickle.dumps(TITLE))) == "Title of the page."


def test_a_plain_type_has_no_rule():
    assert rule_of("string") == ""


def test_a_note_goes_behind_the_rule_and_leaves_the_original_alone():
    first = with_note({"page_title": TITLE}, "of the first page", prefix="first_")
    assert first == {"first_page_title": "string"}
    assert rule_of(first["first_page_title"]) == "Title of the page; of the first page."
    assert rule_of(TITLE) == "Title of the page."
