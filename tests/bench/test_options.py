"""The options of the benchmark."""

from __future__ import annotations

import pytest

from bench.options import parse


def test_settings_and_commands_may_be_given_several_times():
    found = parse(
        [
            *("--conf", "spark.a=1", "--conf", "spark.b=x=y"),
            *("--against", "one", "--against", "two"),
            *("--vars", '{"enable_consent": true}'),
        ]
    )
    assert found.conf == {"spark.a": "1", "spark.b": "x=y"}
    assert found.against == ["one", "two"]
    assert found.vars == {"enable_consent": True}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--conf", "spark.a"], "spark.a is not KEY=VALUE"),
        (["--vars", "[1]"], "[1] is not JSON like"),
        (["--vars", "{"], "{ is not JSON like"),
        (["--repeat", "0"], "0 is less than 1"),
        (["--format", "parquet"], "invalid choice"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert problem in capsys.readouterr().err
