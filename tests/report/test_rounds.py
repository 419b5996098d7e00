"""What is told of rounds: their keys are a contract too."""

from __future__ import annotations

from report.values import a_failed_result, a_result, at, ran
from windrow.errors import LockedError
from windrow.operations.several_packages import PackageRuns
from windrow.report.documents import error_document
from windrow.report.rounds import Round, next_sentence, round_document

BEGAN, NEXT = at(5, 18), at(5, 19)
HELD = PackageRuns(error=LockedError("held"))


def test_a_round_document_has_exactly_its_documented_keys() -> None:
    done = Round(2, BEGAN, 1.23456, 0, ran(a_result()))
    document = round_document(done, NEXT)
    assert document.keys() == {"round", "packages", "error"}
    assert document["round"] == {
        "number": 2,
        "began": "2024-03-05T18:00:00.000000Z",
        "seconds": 1.235,
        "exit_code": 0,
        "next": "2024-03-05T19:00:00.000000Z",
    }
    assert [it["package"] for it in document["packages"]] == ["web"]
    assert document["error"] is None


def test_a_round_that_ran_nothing_has_the_same_keys() -> None:
    stopped = Round(1, BEGAN, 0.5, 3, {}, error_document("LockedError", "held", 3))
    document = round_document(stopped, None)
    assert document.keys() == {"round", "packages", "error"}
    assert (document["packages"], document["round"]["next"]) == ([], None)
    assert document["error"] == {"type": "LockedError", "message": "held", "exit_code": 3}


def test_a_round_is_in_vain_when_no_package_came_through() -> None:
    good, bad = ran(a_result())["web"], ran(a_failed_result())["web"]
    assert Round(1, BEGAN, 1, 3, {}).is_in_vain
    assert Round(1, BEGAN, 1, 3, {"web": bad, "mobile": HELD}).is_in_vain
    assert not Round(1, BEGAN, 1, 3, {"web": good, "mobile": HELD}).is_in_vain
    assert not Round(1, BEGAN, 1, 0, {"web": good}).is_in_vain


def test_the_next_round_is_told_with_its_reason() -> None:
    assert next_sentence(NEXT, 0, is_late=False) == "Next round at 2024-03-05 19:00:00 UTC."
    assert next_sentence(NEXT, 1, is_late=False) == "Next round at 2024-03-05 19:00:00 UTC."
    assert next_sentence(NEXT, 3, is_late=False) == (
        "Next round at 2024-03-05 19:00:00 UTC. 3 rounds in a row came to nothing."
    )
    assert next_sentence(NEXT, 0, is_late=True).endswith("begins now.")
