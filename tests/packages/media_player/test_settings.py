"""The options of the media player package, and where those of its base belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from windrow.config import InvalidConfigError, load
from windrow.packages import SETTINGS
from windrow.packages.media_player.settings import MediaPlayerSettings

PLAYER = {"enable_youtube": True}


def loaded(folder: Path, **packages: Any):
    tree = {"name": "site", "targets": {"dev": {"warehouse": "."}}, "packages": packages}
    (folder / "windrow.yml").write_text(yaml.safe_dump(tree))
    return load(folder, SETTINGS)


def problem(folder: Path, **packages: Any) -> str:
    with pytest.raises(InvalidConfigError) as caught:
        loaded(folder, **packages)
    return str(caught.value)


def test_its_run_options_are_those_of_web(tmp_path: Path):
    config = loaded(tmp_path, web={"backfill_limit_days": 2}, media_player=PLAYER)
    assert config.foundation_settings("media_player").backfill_limit_days == 2
    assert config.foundation_settings("web") is config.packages["web"]


def test_an_option_of_the_base_is_told_where_it_belongs(tmp_path: Path):
    media = {**PLAYER, "snowplow__start_date": "2024-01-01"}
    assert problem(tmp_path, web={}, media_player=media) == (
        "The configuration has 1 problem:\n"
        "  windrow.yml: packages.media_player.snowplow__start_date is "
        '"2024-01-01"; there is no such key. '
        "media_player runs on the base of web: write packages.web.start_date."
    )


def test_it_does_not_stand_without_web(tmp_path: Path):
    assert "packages.web is missing, expected the options of the base" in problem(
        tmp_path, media_player=PLAYER
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "enable_youtube or enable_whatwg_media to be true"),
        ({**PLAYER, "enable_whatwg_video": True}, "enable_whatwg_media to be true where"),
        ({**PLAYER, "percent_progress_boundaries": [10, 101]}, "a number of at most 100"),
        ({**PLAYER, "percent_progress_boundaries": [-1]}, "a number of at least 0"),
        ({**PLAYER, "percent_progress_boundaries": [12.5]}, "a whole number"),
    ],
)
def test_impossible_options_are_refused(tmp_path: Path, options: dict[str, Any], message: str):
    assert message in problem(tmp_path, web={}, media_player=options)


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ([10, 25, 50, 75], {10: 10, 25: 15, 50: 25, 75: 25, 100: 25}),
        ([], {100: 100}),
        ([50, 100, 50, 0], {0: 0, 50: 50, 100: 50}),
    ],
)
def test_boundaries_end_at_100_come_once_and_their_weights_sum_to_100(
    given: list[int], weights: dict[int, int], compat: bool
):
    settings = MediaPlayerSettings(
        percent_progress_boundaries=tuple(given), enable_youtube=True, compat=compat
    )
    assert settings.weights == weights
    assert sum(settings.weights.values()) == 100
